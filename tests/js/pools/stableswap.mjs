// Curve's StableSwap: `exchange` of plain pools of every rule, and of NG 7.0.0.

import { priceOf, remembered } from './price.mjs';
import { add, div, mul, ONE, refuse, refuseTooMuch, refusing, settle, sub, unlessRefused } from './word.mjs';

const FEE_WHOLE = 10n ** 10n;

/** What each rule of D multiplies into the product that Newton's step rests on. */
const PRODUCTS = {
  each_n: (start, balances, count) =>
    balances.reduce((p, x) => div(mul(p, start), mul(x, count)), start),
  each_n_plus_1: (start, balances, count) =>
    balances.reduce((p, x) => div(mul(p, start), add(mul(x, count), 1n)), start),
  n_pow_n: (start, balances, count) =>
    balances.reduce((p, x) => div(mul(p, start), x), start) / count ** count,
};

/** Newton's result. With an A of precision 1 pools go on with what 255 rounds came to. */
function settled({ aPrecision }, start, next) {
  const { value, settled: done } = settle(start, next);
  return done || aPrecision === 1n ? value : refuse('a curve that does not converge');
}

function invariant(state, balances, count) {
  const { aPrecision: precision, amp } = state;
  const sum = add(0n, ...balances);
  if (sum === 0n) return 0n;
  const ann = mul(amp, count);
  return settled(state, sum, (d) => {
    const product = PRODUCTS[state.dRule](d, balances, count);
    const top = mul(add(mul(ann, sum) / precision, mul(product, count)), d);
    return div(top, add(mul(sub(ann, precision), d) / precision, mul(count + 1n, product)));
  });
}

/** The balance of token `j` that keeps `d`, with `balances` the others' after the sale. */
function balanceFor(state, balances, j, d, count) {
  const others = balances.filter((_, token) => token !== j);
  const ann = mul(state.amp, count);
  const divisors = others.map((x) => mul(x, count));
  // More sold makes these smaller: what overflows here is too little.
  const c = refusing(() => {
    const product = divisors.reduce((rest, divisor) => div(mul(rest, d), divisor), d);
    return div(mul(product, d, state.aPrecision), mul(ann, count));
  }, false);
  const b = add(0n, ...others, div(mul(d, state.aPrecision), ann));
  const square = (y) => refusing(() => add(mul(y, y), c), false);
  return settled(state, d, (y) => div(square(y), sub(add(mul(2n, y), b), d)));
}

/** NG's fee of a sale, which grows the further the two balances lie apart. */
function offpegFee({ fee, offpegFeeMultiplier: multiplier }, a, b) {
  if (multiplier <= FEE_WHOLE) return fee;
  const sum = add(a, b);
  const weight = div(mul(multiplier - FEE_WHOLE, 4n, a, b), mul(sum, sum));
  return mul(multiplier, fee) / add(weight, FEE_WHOLE);
}

/** What NG computes for its price oracle after a sale; its divisions and products may refuse. */
function requireOracle({ amp, aPrecision }, balances, d, count) {
  const spread = balances.reduce((rest, x) => div(mul(rest, d), x), d / count ** count);
  const first = mul(mul(amp, count), balances[0]) / aPrecision;
  for (const x of balances.slice(1)) {
    div(mul(ONE, add(first, div(mul(spread, balances[0]), x))), add(first, spread));
  }
  if (d >= 1n << 128n) refuseTooMuch('an invariant of more than 128 bits');
}

/** The balances that the contract writes down after a sale, which it must be able to. */
function balancesAfter(state, sale) {
  const { i, j, amount, out, feePart, after } = sale;
  const { rates, adminFee } = state;
  const balances = [...state.balances];
  const admin = mul(feePart, adminFee) / FEE_WHOLE;
  if (state.lessOne === 1n) {
    balances[i] = add(balances[i], amount);
    balances[j] = sub(sub(balances[j], out), mul(admin, ONE) / rates[j]);
    return balances;
  }
  // The oldest pools write balances back from the scaled ones.
  balances[i] = div(mul(after[i], ONE), rates[i]);
  balances[j] = div(mul(add(after[j], feePart - admin), ONE), rates[j]);
  return balances;
}

/** The balances that a pool computes with. */
export const scaledOf = remembered(({ balances, rates }) =>
  balances.map((balance, token) => mul(rates[token], balance) / ONE));

/** `D` of a pool's balances. */
export const invariantOf = remembered((state) =>
  invariant(state, scaledOf(state), BigInt(state.balances.length)));

/** The scaled balances after an amount was sold. */
function moved(state, i, j, amount) {
  const after = [...scaledOf(state)];
  after[i] = add(after[i], mul(amount, state.rates[i]) / ONE);
  after[j] = balanceFor(state, after, j, invariantOf(state), BigInt(after.length));
  return after;
}

/** What of a balance is paid for, and by which fee: `{ out, feePart }`. */
function paidOf({ rates }, j, gross, fee) {
  const feePart = mul(gross, fee) / FEE_WHOLE;
  return { out: div(mul(sub(gross, feePart), ONE), rates[j]), feePart };
}

const middle = (a, b) => add(a, b) / 2n;

/** What a sale brings, the rate of its fee, and the pool after it. */
export function fill(state, i, j, amount) {
  if (state.ng && amount === 0n) refuse('nothing sold');
  const before = scaledOf(state);
  const after = moved(state, i, j, amount);
  const gross = sub(before[j], add(after[j], state.lessOne));
  const fee = state.ng
    ? offpegFee(state, middle(before[i], after[i]), middle(before[j], after[j])) : state.fee;
  const { out, feePart } = paidOf(state, j, gross, fee);
  const balances = refusing(() => {
    if (state.ng) requireOracle(state, after, invariantOf(state), BigInt(after.length));
    return balancesAfter(state, { i, j, amount, out, feePart, after });
  });
  return { out, fee: [fee, FEE_WHOLE], after: { ...state, balances } };
}

/** The search for a balance ends less than this above the equation's root, which falls with what is sold. */
export const SLACK = 3n;

/** A fee that no sale between two pays less than, the balances after each given. */
function leastFee(state, i, j, first, last) {
  if (!state.ng || state.offpegFeeMultiplier <= FEE_WHOLE) return state.fee;
  const before = scaledOf(state);
  const [own, other] = [i, j].map((token) => (after) => middle(before[token], after[token]));
  // It is least where the two are alike.
  if (own(last) + SLACK < other(last)) return offpegFee(state, own(last), other(last) - SLACK);
  if (own(first) > other(first) + SLACK) return offpegFee(state, own(first), other(first) + SLACK);
  return state.fee;
}

/** What no sale of an amount between two brings more than. */
export function atMost(state, i, j, from, to) {
  const [first, last] = [from, to].map((amount) => moved(state, i, j, amount));
  const left = last[j] > SLACK ? last[j] - SLACK : 0n;
  return paidOf(state, j, scaledOf(state)[j] - left, leastFee(state, i, j, first, last)).out;
}

/**
 * The price of amplified pools, with `u` what a raw unit of each token counts. Where a sale left
 * balances without an invariant, their sum stands for it.
 */
export function amplifiedMid({ x, ann, precision, findD, u }, i, j) {
  const count = BigInt(x.length);
  const d = unlessRefused(findD) ?? x.reduce((sum, balance) => sum + balance);
  const most = 1n << 400n;
  const capped = (r) => (r < most ? r : most);
  const r = x.reduce((rest, balance) => (balance === 0n ? most : capped((rest * d) / balance)),
    d / count ** count);
  const slope = (token) => ann * x[token] + precision * r;
  return priceOf([u[i], x[j] * slope(i)], [u[j], x[i] * slope(j)]);
}

/** The price before the fee, of raw units. */
export function mid(state, i, j) {
  const x = scaledOf(state);
  const ann = state.amp * BigInt(x.length);
  return amplifiedMid({ x, ann, precision: state.aPrecision, findD: () => invariantOf(state), u: state.rates }, i, j);
}
