// What a pool can add at most to a plan's worth under given prices: for `route/1`, by the law of each kind of pool.
//
// A direction sells one token, whose raw units have the price `q`, for another with the price `p`. Its gain is at least
// what any amount sold brings at `p`, less what that amount is worth at `q`. All numbers are whole.

import { lawOf } from './law.mjs';
import { ceilDiv, least } from './pools.mjs';
import { squareRoot } from './square.mjs';
import { sqrtPriceAt } from './ticks.mjs';

const Q96 = 2n ** 96n;
const Q192 = 2n ** 192n;
const U256_MAX = 2n ** 256n - 1n;
const PIPS = 1_000_000n;
/** What formulas bring is counted in parts of a raw unit. */
const PARTS = 2n ** 64n;
/** How far what a formula brings may be off, in these parts. */
const OFF = 2n ** 32n;
const FEE_WHOLE = 10_000n;
const LAST_POWER = 240;
const FINE = 20;
const FAR = 2n ** 255n;

const RANGES = ['concentrated_liquidity', 'concentrated_v4', 'concentrated_linked'];
const FORMULAS = ['stableswap', 'stable_v2', 'stable_v3', 'solidly'];

const most = (a, b) => (a > b ? a : b);
const notBelow = (value) => most(value, 0n);

/** Whether the law of a pool is known. */
export function isLawful({ protocol, ng, offpegFeeMultiplier }) {
  if (protocol === 'stableswap' && ng && offpegFeeMultiplier > 10n ** 10n) return false;
  return protocol === 'constant_product' || RANGES.includes(protocol) || FORMULAS.includes(protocol);
}

/** Of a product of two reserves. */
function productGain([x, y], [part, whole], q, p) {
  const [a, b] = [p * y, (q * x * whole) / (whole - part)];
  return b >= a ? 0n : a + b - 2n * squareRoot(a * b);
}

/** Of a range from the price `a` to that of a tick, with token 0 sold. */
function fallGain({ a, b, L, R, k, q, p }) {
  const c = most(b, R + 1n);
  return ceilDiv((a - most(b, R)) * L * (p * k * a * c - q * PIPS * Q192), a * c * k * Q96);
}

/** Of a range from the price `a` to that of a tick, with token 1 sold. */
function riseGain({ a, b, L, R, k, q, p }) {
  const c = least(b, R);
  return ceilDiv((least(b, R + 1n) - a) * L * (p * k * Q192 - q * PIPS * a * c), a * c * k * Q96);
}

function rangesGain({ sqrtPrice, tick, liquidity, ticks, feePips }, base, q, p) {
  const down = base === 0;
  const k = PIPS - BigInt(feePips[base]);
  const square = down ? (q * PIPS * Q192) / (p * k) : (p * k * Q192) / (q * PIPS);
  const R = least(squareRoot(square), U256_MAX);
  const crossed = down ? ticks.filter((one) => one.tick <= tick).reverse() : ticks.filter((one) => one.tick > tick);
  let [a, L, sum] = [sqrtPrice, liquidity, 0n];
  for (const one of crossed) {
    if (down ? a <= R : a >= R) break;
    const b = sqrtPriceAt(one.tick);
    sum += (down ? fallGain : riseGain)({ a, b, L, R, k, q, p });
    L += down ? -one.net : one.net;
    a = b;
  }
  return sum;
}

/** The amount up to which a formula brings more than what is sold, roughly. */
function peakOf(brings, q, p) {
  const isReached = (x) => {
    const h = most(1n, x >> 20n);
    return notBelow(p * (brings(x) - brings(x - h))) >= q * h * PARTS;
  };
  let top = 0;
  while (top < LAST_POWER && isReached(2n ** BigInt(top))) top += 1;
  let peak = 0n;
  for (let power = top - 1; power >= Math.max(0, top - FINE); power -= 1) {
    const next = peak + 2n ** BigInt(power);
    if (isReached(next)) peak = next;
  }
  return peak;
}

/** Amounts around a peak, and from there on until a formula brings too little more. */
function placesOf(brings, q, p) {
  const peak = peakOf(brings, q, p);
  const h = most(1n, peak >> 20n);
  const around = [-4n, -2n, -1n, 0n, 1n, 2n, 4n].map((times) => notBelow(peak + times * h));
  const places = [...new Set([0n, ...around])];
  const goesOn = () => {
    const [before, last] = places.slice(-2);
    return p * brings(last) + p * OFF > p * brings(before) + q * (last - before) * PARTS && last < FAR;
  };
  while (goesOn()) places.push(2n * places.at(-1));
  return places;
}

/** Of a formula that has no closed form: from its places, and what a concave one can be at most between two of them. */
function formulaGain(formula, q, p) {
  const known = new Map();
  const brings = (x) => {
    if (!known.has(x)) known.set(x, formula(x));
    return known.get(x);
  };
  const places = placesOf(brings, q, p);
  const end = places.at(-1);
  const kept = (x) => q * (end - x) * PARTS;
  const high = places.map((x) => p * brings(x) + kept(x));
  const low = places.map((x) => notBelow(p * brings(x) - p * OFF) + kept(x));
  let best = high.reduce(most);
  for (let at = 0; at + 1 < places.length; at += 1) {
    const width = places[at + 1] - places[at];
    if (width <= 1n) continue;
    // As it rises up to one end, and as it falls from the other.
    const from = (one, other) => high[one]
      + ceilDiv(notBelow(high[one] - low[other]) * width, most(places[one] - places[other], places[other] - places[one]));
    const lines = [];
    if (at > 0) lines.push(from(at, at - 1));
    if (at + 2 < places.length) lines.push(from(at + 1, at + 2));
    best = most(best, lines.reduce(least));
  }
  return ceilDiv(notBelow(best - q * end * PARTS), PARTS);
}

/** The gain of a direction of a snapshot's pool: `base` of its two tokens sold at `q`, the other bought at `p`. */
export function gainOf({ state, pair }, base, q, p) {
  const { protocol, reserves } = state;
  if (RANGES.includes(protocol)) return rangesGain(state, base, q, p);
  const own = () => [reserves[base], reserves[1 - base]];
  if (protocol === 'constant_product') return productGain(own(), state.fee, q, p);
  if (protocol === 'solidly' && !state.stable) {
    return productGain(own(), [state.fee, FEE_WHOLE], q, p) + ceilDiv(q * FEE_WHOLE, FEE_WHOLE - state.fee);
  }
  return formulaGain(lawOf(state, pair[base], pair[1 - base]), q, p);
}
