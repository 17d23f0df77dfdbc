// Aerodrome's first pools: a product of reserves, or x³y + y³x of scaled ones.

import { priceOf } from './price.mjs';
import { add, div, mul, ONE, refuse, refusing, sub } from './word.mjs';

const FEE_WHOLE = 10_000n;

/** x³y + y³x. */
function curve(x, y) {
  return mul(mul(x, y) / ONE, add(mul(x, x) / ONE, mul(y, y) / ONE)) / ONE;
}

/** The slope of `curve` in y. */
function slope(x, y) {
  return add(mul(mul(3n, x), mul(y, y) / ONE) / ONE, mul(mul(x, x) / ONE, x) / ONE);
}

const scaled = (value, unit) => mul(value, ONE) / unit;

/** The curve of balances in the tokens' units. */
function curveOf([a, b], [unitA, unitB]) {
  return curve(scaled(a, unitA), scaled(b, unitB));
}

/** Newton's search for the other balance. `units` scale once more at the one place that does so. */
function otherBalance(x, wanted, start, units) {
  let y = start;
  for (let round = 0; round < 255; round += 1) {
    const found = curve(x, y);
    const below = found < wanted;
    let step = div(mul(below ? wanted - found : found - wanted, ONE), slope(x, y));
    if (step === 0n) {
      const again = () => refusing(() => curveOf([x, add(y, 1n)], units), false);
      if (below && again() > wanted) return y + 1n;
      if (!below && (found === wanted || curve(x, sub(y, 1n)) < wanted)) return y;
      step = 1n;
    }
    y = below ? add(y, step) : sub(y, step);
  }
  return refuse('a curve that does not converge');
}

function quote({ stable, reserves, units }, i, kept) {
  const j = 1 - i;
  if (!stable) return div(mul(kept, reserves[j]), add(reserves[i], kept));
  const [own, other] = [scaled(reserves[i], units[i]), scaled(reserves[j], units[j])];
  const wanted = curveOf(reserves, units);
  const left = otherBalance(add(scaled(kept, units[i]), own), wanted, other, units);
  return mul(sub(other, left), units[j]) / ONE;
}

/** What a sale brings, and the rate of its fee. */
export function fill(state, i, j, amount) {
  const { stable, reserves, units } = state;
  const feePart = mul(amount, state.fee) / FEE_WHOLE;
  const out = quote(state, i, sub(amount, feePart));
  if (amount === 0n || out === 0n) refuse('nothing sold or bought');
  if (out >= reserves[j]) refuse('more than the reserve');
  // The fee is shared out by a product with one.
  mul(feePart, ONE);
  const after = [...reserves];
  after[i] = sub(add(reserves[i], amount), feePart);
  after[j] -= out;
  const product = (pair) => (stable ? curveOf(pair, units) : mul(...pair));
  if (product(after) < product(reserves)) refuse('K');
  const left = { ...state, reserves: after, balances: after };
  return { out, fee: [state.fee, FEE_WHOLE], after: left };
}

/** `K` of the reserves, which must fit. */
export function invariantOf({ stable, reserves, units }) {
  return stable ? curveOf(reserves, units) : mul(...reserves);
}

/**
 * What no sale of an amount between two brings more than. A search ends at no balance whose curve
 * without roundings is below what is wanted.
 */
export function atMost(state, i, j, from, to) {
  const { stable, reserves, units } = state;
  const left = to - (to * state.fee) / FEE_WHOLE;
  if (!stable) return (left * reserves[j]) / (reserves[i] + left);
  const [own, other] = [scaled(reserves[i], units[i]), scaled(reserves[j], units[j])];
  const x = own + (left * ONE) / units[i];
  const wanted = curveOf(reserves, units) * ONE ** 3n;
  let [low, high] = [-1n, other];
  while (high - low > 1n) {
    const y = (low + high) / 2n;
    if (x * y * (x * x + y * y) >= wanted) high = y;
    else low = y;
  }
  return ((other - high) * units[j]) / ONE;
}

/** The price before the fee, of raw units. */
export function mid({ stable, reserves, units }, i, j) {
  if (!stable) return priceOf([1n, reserves[j]], [1n, reserves[i]]);
  const [x, y] = [i, j].map((token) => scaled(reserves[token], units[token]));
  return priceOf([units[j], 3n * x * x * y + y ** 3n], [units[i], x ** 3n + 3n * x * y * y]);
}
