// Curve's StableSwap: `exchange` of plain pools of every rule, and of NG 7.0.0.

import { add, div, mul, ONE, refuse, settle, sub } from './word.mjs';

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
  const product = others.reduce((c, x) => div(mul(c, d), mul(x, count)), d);
  const c = div(mul(product, d, state.aPrecision), mul(ann, count));
  const b = add(0n, ...others, div(mul(d, state.aPrecision), ann));
  return settled(state, d, (y) => div(add(mul(y, y), c), sub(add(mul(2n, y), b), d)));
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
  if (d >= 1n << 128n) refuse('an invariant of more than 128 bits');
}

/** What the contract must still be able to write down and pay after a sale. */
function requireKept(state, sale) {
  const { i, j, amount, out, feePart, after } = sale;
  const { balances, rates, adminFee } = state;
  const admin = mul(mul(feePart, adminFee) / FEE_WHOLE, ONE) / rates[j];
  if (state.ng || state.lessOne === 1n) {
    add(balances[i], amount);
    sub(sub(balances[j], out), admin);
    return;
  }
  // The oldest pools write balances back from the scaled ones.
  div(mul(after[i], ONE), rates[i]);
  div(mul(add(after[j], feePart - mul(feePart, adminFee) / FEE_WHOLE), ONE), rates[j]);
}

/** What a sale brings, and the rate of its fee. */
export function fill(state, i, j, amount) {
  if (state.ng && amount === 0n) refuse('nothing sold');
  const { rates, balances, ng } = state;
  const count = BigInt(balances.length);
  const before = balances.map((balance, token) => mul(rates[token], balance) / ONE);
  const after = [...before];
  after[i] = add(before[i], mul(amount, rates[i]) / ONE);
  const d = invariant(state, before, count);
  after[j] = balanceFor(state, after, j, d, count);
  const gross = sub(before[j], add(after[j], state.lessOne));
  const fee = ng
    ? offpegFee(state, add(before[i], after[i]) / 2n, add(before[j], after[j]) / 2n) : state.fee;
  const feePart = mul(gross, fee) / FEE_WHOLE;
  const out = div(mul(sub(gross, feePart), ONE), rates[j]);
  if (ng) requireOracle(state, after, d, count);
  requireKept(state, { i, j, amount, out, feePart, after });
  return { out, fee: [fee, FEE_WHOLE] };
}
