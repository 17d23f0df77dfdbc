// Balancer's pools, of vaults 2 and 3: weighted ones, and stable ones.

import { mulDown, mulUp, powBelow, powUp } from './power.mjs';
import { priceOf, remembered } from './price.mjs';
import { amplifiedMid, SLACK } from './stableswap.mjs';
import { add, div, divUp, mul, ONE, refuse, refuseTooMuch, refusing, settle, sub, word } from './word.mjs';

const AMP_PRECISION = 1000n;
/** The least that vault 3 trades, in 18 decimals. */
const LEAST_TRADE = 10n ** 6n;
/** How many times the least balance the most one may be in the third release. */
const MOST_IMBALANCE = 10_000n;

function weightedOut([balanceIn, weightIn], [balanceOut, weightOut], amount, powerOf = powUp) {
  if (amount > mulDown(balanceIn, 3n * 10n ** 17n)) refuseTooMuch('more than 30% of the balance');
  const base = divUp(mul(balanceIn, ONE), add(balanceIn, amount));
  const power = powerOf(base, div(mul(weightIn, ONE), weightOut));
  return mulDown(balanceOut, power < ONE ? ONE - power : 0n);
}

function settled(start, next) {
  const { value, settled: done } = settle(start, next);
  return done ? value : refuse('a curve that does not converge');
}

function invariant(amp, balances) {
  const count = BigInt(balances.length);
  const sum = add(0n, ...balances);
  if (sum === 0n) return 0n;
  const ann = mul(amp, count);
  return settled(sum, (d) => {
    const product = balances.reduce((p, x) => div(mul(p, d), mul(x, count)), d);
    const top = mul(add(mul(ann, sum) / AMP_PRECISION, mul(product, count)), d);
    const below = mul(sub(ann, AMP_PRECISION), d) / AMP_PRECISION;
    return div(top, add(below, mul(count + 1n, product)));
  });
}

/** The balance of token `j` that keeps `d`; the vaults differ in where the precision goes in. */
function balanceFor({ amp, vault }, balances, j, d) {
  const count = BigInt(balances.length);
  const ann = mul(amp, count);
  const product = balances.slice(1)
    .reduce((p, x) => div(mul(mul(p, x), count), d), mul(balances[0], count));
  const whole = mul(ann, product);
  const little = (run) => refusing(run, false);
  // More sold makes it smaller: what overflows here is too little.
  const c = little(() => (vault === 3
    ? mul(divUp(mul(d, d, AMP_PRECISION), whole), balances[j])
    : mul(divUp(mul(d, d), whole), AMP_PRECISION, balances[j])));
  const others = sub(add(0n, ...balances), balances[j]);
  const b = add(others, vault === 3
    ? div(mul(d, AMP_PRECISION), ann) : mul(div(d, ann), AMP_PRECISION));
  const above = (y) => little(() => add(mul(y, y), c));
  const start = divUp(above(d), add(d, b));
  return settled(start, (y) => divUp(above(y), sub(add(mul(2n, y), b), d)));
}

/** What a raw unit of each token counts, times 10^18. */
const factorsOf = ({ scalingFactors, rates }) =>
  scalingFactors.map((factor, token) => mul(factor, rates[token]));

/** The balances that the pool computes with. */
export const liveOf = remembered((state) => state.live
  ?? factorsOf(state).map((factor, token) => mulDown(state.balances[token], factor)));

/** `D` of a stable pool. */
export const invariantOf = remembered((state) => invariant(state.amp, liveOf(state)));

function stableOut(state, i, j, amount, slack = 0n) {
  const balances = liveOf(state);
  const d = invariantOf(state);
  const after = balances.map((balance, token) => (token === i ? add(balance, amount) : balance));
  return sub(add(sub(balances[j], balanceFor(state, after, j, d)), slack), 1n);
}

/** What vault 2 gives a pool of an amount, its fee taken off. */
function givenV2(state, i, amount) {
  return mulDown(sub(amount, mulUp(amount, state.swapFee)), factorsOf(state)[i]);
}

function grossV2(state, i, j, given) {
  if (state.weights === undefined) return stableOut(state, i, j, given);
  const side = (token) => [liveOf(state)[token], state.weights[token]];
  return weightedOut(side(i), side(j), given);
}

function fillV2(state, i, j, amount) {
  const { balances } = state;
  if (amount === 0n) refuse('nothing sold');
  const gross = grossV2(state, i, j, givenV2(state, i, amount));
  const out = paidV2(state, j, gross);
  if (balances[i] + amount >= 1n << 112n) refuseTooMuch('more than 112 bits');
  if (out > balances[j]) refuseTooMuch('more than the balance');
  return out;
}

function paidV2(state, j, gross) {
  return div(mul(gross, ONE), factorsOf(state)[j]);
}

function weightedV3({ live, weights, minBalances, version }, i, j, given) {
  const guarded = version === 'v3_2';
  const balanceIn = guarded ? live[i] + 1n : live[i];
  if (guarded && balanceIn < minBalances[i]) refuseTooMuch('below the least balance');
  const gross = weightedOut([balanceIn, weights[i]], [live[j], weights[j]], given);
  if (guarded && live[j] - gross < minBalances[j]) refuseTooMuch('below the least balance');
  return gross;
}

function stableV3(state, i, j, given) {
  const { live, version } = state;
  const gross = stableOut(state, i, j, given);
  if (version !== 'v3_3') return gross;
  const all = [...live, live[i] + given, live[j] - gross];
  const [least, most] = all.reduce(([a, b], x) => [x < a ? x : a, x > b ? x : b], [all[0], all[0]]);
  if (least === 0n || most / least >= MOST_IMBALANCE) refuseTooMuch('too far out of balance');
  return gross;
}

/** What vault 3 gives a pool of an amount, its fee taken off. */
function givenV3(state, i, amount) {
  const scaled = mulDown(mul(amount, state.scalingFactors[i]), state.rates[i]);
  return sub(scaled, mulUp(scaled, state.swapFee));
}

function paidV3({ rates, scalingFactors }, j, gross) {
  const rateUp = rates[j] % ONE === 0n ? rates[j] : rates[j] + 1n;
  return div(mul(gross, ONE), mul(scalingFactors[j], rateUp));
}

function fillV3(state, i, j, amount) {
  const { balances, scalingFactors, rates } = state;
  if (amount === 0n) refuse('nothing sold');
  const given = givenV3(state, i, amount);
  if (given < LEAST_TRADE) refuse('too little sold');
  const gross = (state.weights === undefined ? stableV3 : weightedV3)(state, i, j, given);
  if (gross < LEAST_TRADE) refuse('too little bought');
  const out = paidV3(state, j, gross);
  const held = word(balances[i] + amount);
  if (out > balances[j]) refuseTooMuch('more than the balance');
  const live = mulDown(mul(held, scalingFactors[i]), rates[i]);
  if (held >= 1n << 128n || live >= 1n << 128n) refuseTooMuch('more than 128 bits');
  return out;
}

/** The pool after a sale: what was sold comes whole to the balance, and both are scaled anew. */
function afterSale(state, i, j, amount, out) {
  const balances = [...state.balances];
  balances[i] += amount;
  balances[j] -= out;
  if (state.live === undefined) return { ...state, balances };
  const live = [...state.live];
  for (const token of [i, j]) live[token] = mulDown(balances[token], factorsOf(state)[token]);
  return { ...state, balances, live };
}

/** What a sale brings, the rate of its fee, and the pool after it. */
export function fill(state, i, j, amount) {
  const out = (state.vault === 3 ? fillV3 : fillV2)(state, i, j, amount);
  return { out, fee: [state.swapFee, ONE], after: afterSale(state, i, j, amount, out) };
}

/** What no sale of an amount between two brings more than. */
export function atMost(state, i, j, from, to) {
  const { vault, weights } = state;
  const given = (vault === 3 ? givenV3 : givenV2)(state, i, to);
  const paid = vault === 3 ? paidV3 : paidV2;
  if (weights === undefined) return paid(state, j, stableOut(state, i, j, given, SLACK));
  const side = (token, more) => [liveOf(state)[token] + more, weights[token]];
  const own = side(i, state.version === 'v3_2' ? 1n : 0n);
  return paid(state, j, weightedOut(own, side(j, 0n), given, powBelow));
}

/** The price before the fee, of raw units. */
export function mid(state, i, j) {
  const [x, u] = [liveOf(state), factorsOf(state)];
  if (state.weights !== undefined) {
    return priceOf([u[i], x[j] * state.weights[i]], [u[j], x[i] * state.weights[j]]);
  }
  const ann = state.amp * BigInt(x.length);
  return amplifiedMid({ x, ann, precision: AMP_PRECISION, findD: () => invariantOf(state), u }, i, j);
}
