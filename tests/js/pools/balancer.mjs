// Balancer's pools, of vaults 2 and 3: weighted ones, and stable ones.

import { mulDown, mulUp, powUp } from './power.mjs';
import { add, div, divUp, mul, ONE, refuse, settle, sub, word } from './word.mjs';

const AMP_PRECISION = 1000n;
/** The least that vault 3 trades, in 18 decimals. */
const LEAST_TRADE = 10n ** 6n;
/** How many times the least balance the most one may be in the third release. */
const MOST_IMBALANCE = 10_000n;

function weightedOut([balanceIn, weightIn], [balanceOut, weightOut], amount) {
  if (amount > mulDown(balanceIn, 3n * 10n ** 17n)) refuse('more than 30 % of the balance');
  const base = divUp(mul(balanceIn, ONE), add(balanceIn, amount));
  const power = powUp(base, div(mul(weightIn, ONE), weightOut));
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
  const square = mul(d, d);
  const whole = mul(ann, product);
  const c = vault === 3
    ? mul(divUp(mul(square, AMP_PRECISION), whole), balances[j])
    : mul(divUp(square, whole), AMP_PRECISION, balances[j]);
  const others = sub(add(0n, ...balances), balances[j]);
  const b = add(others, vault === 3
    ? div(mul(d, AMP_PRECISION), ann) : mul(div(d, ann), AMP_PRECISION));
  const start = divUp(add(square, c), add(d, b));
  return settled(start, (y) => divUp(add(mul(y, y), c), sub(add(mul(2n, y), b), d)));
}

function stableOut(state, balances, i, j, amount) {
  const d = invariant(state.amp, balances);
  const after = balances.map((balance, token) => (token === i ? add(balance, amount) : balance));
  return sub(sub(balances[j], balanceFor(state, after, j, d)), 1n);
}

function fillV2(state, i, j, amount) {
  const { balances, scalingFactors, rates, weights } = state;
  if (amount === 0n) refuse('nothing sold');
  const kept = sub(amount, mulUp(amount, state.swapFee));
  const factors = scalingFactors.map((factor, token) => mul(factor, rates[token]));
  const scaled = balances.map((balance, token) => mulDown(balance, factors[token]));
  const given = mulDown(kept, factors[i]);
  const gross = weights === undefined
    ? stableOut(state, scaled, i, j, given)
    : weightedOut([scaled[i], weights[i]], [scaled[j], weights[j]], given);
  const out = div(mul(gross, ONE), factors[j]);
  if (balances[i] + amount >= 1n << 112n) refuse('more than 112 bits');
  if (out > balances[j]) refuse('more than the balance');
  return out;
}

function weightedV3({ live, weights, minBalances, version }, i, j, given) {
  const guarded = version === 'v3_2';
  const balanceIn = guarded ? live[i] + 1n : live[i];
  if (guarded && balanceIn < minBalances[i]) refuse('below the least balance');
  const gross = weightedOut([balanceIn, weights[i]], [live[j], weights[j]], given);
  if (guarded && live[j] - gross < minBalances[j]) refuse('below the least balance');
  return gross;
}

function stableV3(state, i, j, given) {
  const { live, version } = state;
  const gross = stableOut(state, live, i, j, given);
  if (version !== 'v3_3') return gross;
  const all = [...live, live[i] + given, live[j] - gross];
  const [least, most] = all.reduce(([a, b], x) => [x < a ? x : a, x > b ? x : b], [all[0], all[0]]);
  if (least === 0n || most / least >= MOST_IMBALANCE) refuse('too far out of balance');
  return gross;
}

function fillV3(state, i, j, amount) {
  const { balances, scalingFactors, rates } = state;
  if (amount === 0n) refuse('nothing sold');
  const scaled = mulDown(mul(amount, scalingFactors[i]), rates[i]);
  const given = sub(scaled, mulUp(scaled, state.swapFee));
  if (given < LEAST_TRADE) refuse('too little sold');
  const gross = (state.weights === undefined ? stableV3 : weightedV3)(state, i, j, given);
  if (gross < LEAST_TRADE) refuse('too little bought');
  const rateUp = rates[j] % ONE === 0n ? rates[j] : rates[j] + 1n;
  const out = div(mul(gross, ONE), mul(scalingFactors[j], rateUp));
  const held = word(balances[i] + amount);
  sub(balances[j], out);
  const live = mulDown(mul(held, scalingFactors[i]), rates[i]);
  if (held >= 1n << 128n || live >= 1n << 128n) refuse('more than 128 bits');
  return out;
}

/** What a sale brings, and the rate of its fee. */
export function fill(state, i, j, amount) {
  const out = (state.vault === 3 ? fillV3 : fillV2)(state, i, j, amount);
  return { out, fee: [state.swapFee, ONE] };
}
