// What a pool gives for what is sold to it, as its contract computes it.
//
// Every kind of pool is offered the same way: `mid`, the price before the sale (raw units of the
// quote token for one of the base token), `fee`, both as fractions, and
//   givesNothing   whether the contract takes an amount for which it gives nothing,
//   largest(n)     the largest amount up to `n` that is taken whole,
//   sell(n)        for such an amount `{out, after}`: what it brings, and the mid price after it,
//                  and where the fee depends on that, `fee`; of ranges of prices also the `end`, price,
//                  tick and liquidity,
//   segment(i)     the curve's segment `i`, counted from the start of the sale, if there is one;
//                  the kinds of `pools/` have none, and say there what they have instead.
//
// On a segment one formula holds. It has `start`, `outStart`, `end` and `outEnd`, what was sold and
// brought up to its ends, `mid` and `midAfter`, the prices there, and
//   out(n)         what an amount brings that ends inside it,
//   ideal(n)       what `n` units sold from its start on bring if nothing were rounded, as a fraction.

import { isKind, poolOfKind } from './pools/kinds.mjs';
import { MAX_SQRT_PRICE, MIN_SQRT_PRICE, nextStop, sqrtPriceAt, tickAt } from './ticks.mjs';

const Q96 = 1n << 96n;
const U112_MAX = 2n ** 112n - 1n;
const U256_MAX = 2n ** 256n - 1n;
const PIPS = 1_000_000n;

export function ceilDiv(numerator, denominator) {
  return (numerator + denominator - 1n) / denominator;
}

export function least(a, b) {
  return a < b ? a : b;
}

/** Uniswap v2's pair: `getAmountOut` with any fee, on one segment. */
function constantProduct({ reserves, fee }, base) {
  const [reserveIn, reserveOut] = [reserves[base], reserves[1 - base]];
  const [feeNumerator, feeDenominator] = fee;
  const ideal = (amount) => {
    const kept = amount * (feeDenominator - feeNumerator);
    return [kept * reserveOut, reserveIn * feeDenominator + kept];
  };
  const out = (amount) => {
    const [numerator, denominator] = ideal(amount);
    return numerator / denominator;
  };
  const midAfter = (amount) => [reserveOut - out(amount), reserveIn + amount];
  // The pair keeps its reserves in 112 bits and refuses more.
  const most = U112_MAX - reserveIn;
  const whole = { start: 0n, outStart: 0n, end: most, outEnd: out(most), mid: midAfter(0n),
    midAfter: midAfter(most), out, ideal };
  return {
    mid: whole.mid,
    fee,
    // The pair refuses a swap without output.
    givesNothing: false,
    largest: (amount) => least(amount, most),
    sell: (amount) => ({ out: out(amount), after: midAfter(amount) }),
    segment: (index) => (index === 0 ? whole : undefined),
  };
}

/** v3's SqrtPriceMath, for an amount sold: the price it moves to, rounded against the seller. */
function nextPrice(price, liquidity, amount, down) {
  if (!down) return price + (amount * Q96) / liquidity;
  if (amount === 0n) return price;
  const numerator = liquidity * Q96;
  const product = amount * price;
  const denominator = numerator + product;
  const fits = product <= U256_MAX && denominator <= U256_MAX;
  if (fits) return ceilDiv(numerator * price, denominator);
  // The contract's second formula, which it takes where the first overflows 256 bits.
  return ceilDiv(numerator, numerator / price + amount);
}

/** What moving the price from `price` to `target` takes, before the fee. */
function amountIn(price, target, liquidity, down) {
  if (!down) return ceilDiv(liquidity * (target - price), Q96);
  return ceilDiv(ceilDiv(liquidity * Q96 * (price - target), price), target);
}

/** What moving the price from `price` to `target` gives. */
function amountOut(price, target, liquidity, down) {
  if (down) return (liquidity * (price - target)) / Q96;
  return (liquidity * Q96 * (target - price)) / target / price;
}

/**
 * The steps of v3's swap loop, each taken whole. A step is taken whole exactly where what is left
 * covers its amount and fee, so how far a sale gets does not change the steps before: one walk
 * serves all sizes.
 */
function* walk(state, down, fee) {
  const limit = down ? MIN_SQRT_PRICE + 1n : MAX_SQRT_PRICE - 1n;
  const spacing = state.protocol === 'concentrated_linked' ? undefined : state.spacing;
  let { sqrtPrice: price, tick, liquidity } = state;
  let [start, outStart] = [0n, 0n];
  while (down ? price > limit : price < limit) {
    const stop = nextStop(state.ticks, tick, spacing, down, liquidity);
    const stopPrice = sqrtPriceAt(stop.tick);
    const beyond = down ? stopPrice < limit : stopPrice > limit;
    const target = beyond ? limit : stopPrice;
    const taken = amountIn(price, target, liquidity, down);
    const end = start + taken + ceilDiv(taken * fee, PIPS - fee);
    const outEnd = outStart + amountOut(price, target, liquidity, down);
    const left = target === stopPrice
      ? { sqrtPrice: target, tick: stop.tick - (down ? 1 : 0), liquidity: liquidity + (down ? -stop.net : stop.net) }
      : { sqrtPrice: target, tick: tickAt(target), liquidity };
    yield { price, tick, target, liquidity, start, end, outStart, outEnd, left };
    [start, outStart, price] = [end, outEnd, target];
    ({ tick, liquidity } = left);
  }
}

/** What part of a step brings if nothing were rounded, as a fraction. */
function idealOut({ price, liquidity }, keptPips, down, added) {
  const kept = added * keptPips;
  return down
    ? [liquidity * price * price * kept, Q96 * (liquidity * Q96 * PIPS + kept * price)]
    : [Q96 * Q96 * kept * liquidity, price * (price * liquidity * PIPS + kept * Q96)];
}

/** Uniswap v3's pool and its kin, each step of the loop a segment. */
function concentrated(state, base) {
  const down = base === 0;
  const fee = BigInt(state.feePips[base]);
  const keptPips = PIPS - fee;
  const segments = [];
  const rest = walk(state, down, fee);
  const midAt = (price) => (down ? [price * price, Q96 * Q96] : [Q96 * Q96, price * price]);

  /** Where a sale ends inside a step: the price, and all it brought. */
  function partOf(step, amount) {
    if (amount === step.end) return { out: step.outEnd, end: step.left };
    const kept = ((amount - step.start) * keptPips) / PIPS;
    const price = nextPrice(step.price, step.liquidity, kept, down);
    const tick = () => (price === step.price ? step.tick : tickAt(price));
    const end = price === step.target ? step.left : { sqrtPrice: price, tick: tick(), liquidity: step.liquidity };
    return { out: step.outStart + amountOut(step.price, price, step.liquidity, down), end };
  }

  /** Takes one step more; whether there was one. */
  function extend() {
    const { value: step, done } = rest.next();
    if (done) return false;
    segments.push({
      ...step,
      mid: midAt(step.price),
      midAfter: midAt(step.target),
      out: (amount) => partOf(step, amount).out,
      ideal: (added) => idealOut(step, keptPips, down, added),
    });
    return true;
  }

  const end = () => segments.at(-1)?.end ?? 0n;
  return {
    mid: midAt(state.sqrtPrice),
    fee: [fee, PIPS],
    givesNothing: true,
    largest(amount) {
      while (end() < amount && extend());
      return least(amount, end());
    },
    sell(amount) {
      // Nothing sold leaves the price where it is.
      const { sqrtPrice, tick, liquidity } = state;
      if (amount === 0n) return { out: 0n, after: midAt(sqrtPrice), end: { sqrtPrice, tick, liquidity } };
      const { out, end } = partOf(segments[firstEndingAt(segments, amount)], amount);
      return { out, after: midAt(end.sqrtPrice), end };
    },
    segment(index) {
      while (segments.length <= index && extend());
      return segments[index];
    },
  };
}

/** The first of these segments that does not end before an amount, which one of them reaches. */
export function firstEndingAt(segments, amount) {
  let [from, to] = [0, segments.length - 1];
  while (from < to) {
    const middle = (from + to) >> 1;
    if (segments[middle].end >= amount) to = middle;
    else from = middle + 1;
  }
  return from;
}

/** The pool of a snapshot's state, for selling token `base` of these two of its tokens. */
export function poolOf(state, base, pair = [0, 1]) {
  if (isKind(state.protocol)) return poolOfKind(state, [pair[base], pair[1 - base]]);
  const build = state.protocol === 'constant_product' ? constantProduct : concentrated;
  return build(state, base);
}
