// Tricrypto-NG 2.0.0 and Twocrypto-NG 2.1.0: what a sale brings. What it leaves is not computed, and
// so no second sale and no depth.

import { beside, limitOf } from './cubic.mjs';
import { priceOf } from './price.mjs';
import { add, div, mul, ONE, refuse, refuseTooMuch, refusing, sub } from './word.mjs';

const FEE_WHOLE = 10n ** 10n;

/** Balances in units of the first token, of eighteen decimals. */
function scaledOf({ precisions, scales }, balances) {
  return balances.map((balance, token) => (token === 0
    ? mul(balance, precisions[0])
    : mul(balance, scales[token], precisions[token]) / ONE));
}

/** How alike the balances are, of eighteen decimals: one where all are the same. */
function alike(x) {
  const sum = x.reduce((all, balance) => all + balance, 0n);
  if (x.length === 2) return div(div(4n * ONE * x[0], sum) * x[1], sum);
  return x.reduce((rest, balance) => div(rest * 3n * balance, sum), ONE);
}

/** The fee of a sale that leaves these balances: the further apart they lie, the more. */
function feeOf({ fees: [least, most], feeGamma }, x) {
  const k = alike(x);
  const share = feeGamma === 0n && x.length === 3 ? k
    : div(feeGamma * ONE, sub(feeGamma + ONE, k));
  return (least * share + most * sub(ONE, share)) / ONE;
}

/** What a sale brings and the rate of its fee; the pool it leaves stands as it was. */
export function fill(state, i, j, amount) {
  if (amount === 0n) refuse('nothing sold');
  const { amp, gamma, d, balances, precisions, scales } = state;
  const [x, y] = refusing(() => {
    const sold = balances.map((balance, token) => (token === i ? add(balance, amount) : balance));
    const scaled = scaledOf(state, sold);
    const others = scaled.filter((_, token) => token !== j);
    return [scaled, beside({ amp, gamma, d, limit: limitOf(gamma) }, others)];
  });
  const gross = x[j] - y - 1n;
  if (gross < 0n) refuse('nothing to pay');
  x[j] = y;
  return refusing(() => {
    const priced = j === 0 ? gross : mul(gross, ONE) / scales[j];
    const raw = priced / precisions[j];
    const fee = feeOf(state, x);
    const out = raw - mul(fee, raw) / FEE_WHOLE;
    if (out > balances[j]) refuseTooMuch('more than the balance');
    return { out, fee: [fee, FEE_WHOLE], after: state };
  });
}

/** The price of the contract's last sale, of raw units: no sale here moves it. */
export function mid({ lastPrices, precisions }, i, j) {
  return priceOf([precisions[i], lastPrices[i]], [precisions[j], lastPrices[j]]);
}

/** It is a part of the state. */
export const invariantOf = ({ d }) => d;

/** The most that is taken where every smaller amount is, searched for from the balance on. */
export function most({ balances }, i, takes) {
  if (!takes(1n)) return 0n;
  let [low, high] = [1n, balances[i] > 2n ? balances[i] : 2n];
  const last = 2n ** 256n - 1n;
  while (takes(high)) {
    if (high === last) return high;
    [low, high] = [high, 2n * high < last ? 2n * high : last];
  }
  while (high - low > 1n) {
    const middle = (low + high) / 2n;
    if (takes(middle)) low = middle;
    else high = middle;
  }
  return low;
}
