// What a pool gives for what is sold to it, as its contract computes it.
//
// Both pools are offered the same way: `mid`, the price before the sale (raw units of the quote
// token for one of the base token), `fee`, both as fractions, and
//   givesNothing   whether an amount worth no unit is taken all the same,
//   largest(n)     the largest amount up to `n` that is taken whole,
//   sell(n)        for such an amount `{out, after}`: what it brings, and the mid price after it,
//   stretchAt(n)   the stretch of the curve `n` lies on: its `start`, and `bound(m)`, a concave
//                  fraction that on this stretch is never below what selling `m` brings.

import { MAX_SQRT_PRICE, MIN_SQRT_PRICE, nextStop, sqrtPriceAt } from './ticks.mjs';

const Q96 = 1n << 96n;
const U112_MAX = 2n ** 112n - 1n;
const U256_MAX = 2n ** 256n - 1n;
const PIPS = 1_000_000n;

function ceilDiv(numerator, denominator) {
  return (numerator + denominator - 1n) / denominator;
}

export function least(a, b) {
  return a < b ? a : b;
}

/** Uniswap v2's pair: `getAmountOut` with any fee. */
function constantProduct({ reserves, fee }, base) {
  const [reserveIn, reserveOut] = [reserves[base], reserves[1 - base]];
  const [feeNumerator, feeDenominator] = fee;
  const exactOut = (amount) => {
    const kept = amount * (feeDenominator - feeNumerator);
    return [kept * reserveOut, reserveIn * feeDenominator + kept];
  };
  const stretch = { start: 0n, bound: exactOut };
  return {
    mid: [reserveOut, reserveIn],
    fee,
    // The pair refuses a swap without output.
    givesNothing: false,
    // The pair keeps its reserves in 112 bits and refuses more.
    largest: (amount) => least(amount, U112_MAX - reserveIn),
    sell(amount) {
      const [numerator, denominator] = exactOut(amount);
      const out = numerator / denominator;
      return { out, after: [reserveOut - out, reserveIn + amount] };
    },
    stretchAt: () => stretch,
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
 * serves all sizes. Steps that take nothing give nothing and are left out.
 */
function* walk(state, down) {
  const limit = down ? MIN_SQRT_PRICE + 1n : MAX_SQRT_PRICE - 1n;
  const fee = BigInt(state.feePips);
  let { sqrtPrice: price, tick, liquidity } = state;
  let [before, outBefore] = [0n, 0n];
  while (down ? price > limit : price < limit) {
    const stop = nextStop(state.ticks, tick, state.spacing, down, liquidity);
    const stopPrice = sqrtPriceAt(stop.tick);
    const beyond = down ? stopPrice < limit : stopPrice > limit;
    const target = beyond ? limit : stopPrice;
    const taken = amountIn(price, target, liquidity, down);
    const end = before + taken + ceilDiv(taken * fee, PIPS - fee);
    const outEnd = outBefore + amountOut(price, target, liquidity, down);
    if (end > before) yield { price, target, liquidity, before, end, outBefore, outEnd };
    [before, outBefore, price] = [end, outEnd, target];
    if (target === stopPrice) {
      liquidity += down ? -stop.net : stop.net;
      tick = down ? stop.tick - 1 : stop.tick;
    }
  }
}

/** What part of a step brings if nothing were rounded, as a fraction. Rounding only takes away. */
function stepBound(step, keptPips, down, amount) {
  const { price, liquidity, before, outBefore } = step;
  const kept = (amount - before) * keptPips;
  const [numerator, denominator] = down
    ? [liquidity * price * price * kept, Q96 * (liquidity * Q96 * PIPS + kept * price)]
    : [Q96 * Q96 * kept * liquidity, price * (price * liquidity * PIPS + kept * Q96)];
  return [outBefore * denominator + numerator, denominator];
}

/** Uniswap v3's pool. */
function concentrated(state, base) {
  const down = base === 0;
  const keptPips = PIPS - BigInt(state.feePips);
  const steps = [];
  const rest = walk(state, down);
  const end = () => steps.at(-1)?.end ?? 0n;
  const midAt = (price) => (down ? [price * price, Q96 * Q96] : [Q96 * Q96, price * price]);

  /** The step in which a sale of `amount`, which the pool takes whole, ends. */
  function stepOf(amount) {
    let [from, to] = [0, steps.length - 1];
    while (from < to) {
      const middle = (from + to) >> 1;
      if (steps[middle].end >= amount) to = middle;
      else from = middle + 1;
    }
    return steps[from];
  }

  return {
    mid: midAt(state.sqrtPrice),
    fee: [BigInt(state.feePips), PIPS],
    givesNothing: true,
    largest(amount) {
      while (end() < amount) {
        const { value, done } = rest.next();
        if (done) break;
        steps.push(value);
      }
      return least(amount, end());
    },
    sell(amount) {
      const step = stepOf(amount);
      if (amount === step.end) return { out: step.outEnd, after: midAt(step.target) };
      const kept = ((amount - step.before) * keptPips) / PIPS;
      const price = nextPrice(step.price, step.liquidity, kept, down);
      const out = step.outBefore + amountOut(step.price, price, step.liquidity, down);
      return { out, after: midAt(price) };
    },
    stretchAt(amount) {
      const step = stepOf(amount);
      return { start: step.before, bound: (part) => stepBound(step, keptPips, down, part) };
    },
  };
}

/** The pool of a snapshot's state, for selling token `base`. */
export function poolOf(state, base) {
  const build = state.protocol === 'constant_product' ? constantProduct : concentrated;
  return build(state, base);
}
