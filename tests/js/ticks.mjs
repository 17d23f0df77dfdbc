// Ticks and square root prices, as Uniswap v3's TickMath has them.

export const MIN_TICK = -887272;
export const MAX_TICK = 887272;
export const MIN_SQRT_PRICE = 4295128739n;
export const MAX_SQRT_PRICE = 1461446703485210103287273052203988822378723970342n;

/** `2^128 / sqrt(1.0001)^(2^i)` for each bit `i` of a tick's size, as the contract rounds it. */
const FACTORS = [
  0xfffcb933bd6fad37aa2d162d1a594001n, 0xfff97272373d413259a46990580e213an,
  0xfff2e50f5f656932ef12357cf3c7fdccn, 0xffe5caca7e10e4e61c3624eaa0941cd0n,
  0xffcb9843d60f6159c9db58835c926644n, 0xff973b41fa98c081472e6896dfb254c0n,
  0xff2ea16466c96a3843ec78b326b52861n, 0xfe5dee046a99a2a811c461f1969c3053n,
  0xfcbe86c7900a88aedcffc83b479aa3a4n, 0xf987a7253ac413176f2b074cf7815e54n,
  0xf3392b0822b70005940c7a398e4b70f3n, 0xe7159475a2c29b7443b29c7fa6e889d9n,
  0xd097f3bdfd2022b8845ad8f792aa5825n, 0xa9f746462d870fdf8a65dc1f90e061e5n,
  0x70d869a156d2a1b890bb3df62baf32f7n, 0x31be135f97d08fd981231505542fcfa6n,
  0x9aa508b5b7a84e1c677de54f3e99bc9n, 0x5d6af8dedb81196699c329225ee604n,
  0x2216e584f5fa1ea926041bedfe98n, 0x48a170391f7dc42444e8fa2n,
];

/** The square root price at a tick, times 2^96. */
export function sqrtPriceAt(tick) {
  const size = Math.abs(tick);
  let ratio = 1n << 128n;
  FACTORS.forEach((factor, bit) => {
    if ((size >> bit) & 1) ratio = (ratio * factor) >> 128n;
  });
  if (tick > 0) ratio = (2n ** 256n - 1n) / ratio;
  const rest = ratio & 0xffffffffn;
  return (ratio >> 32n) + (rest === 0n ? 0n : 1n);
}

/** The greatest tick whose ratio is not above a √price. */
export function tickAt(price) {
  let [low, high] = [MIN_TICK, MAX_TICK];
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if (sqrtPriceAt(middle) <= price) low = middle;
    else high = middle - 1;
  }
  return low;
}

/**
 * Where a swap stops next, going `down` or up from `tick`: an initialised tick or the edge of a
 * word of the tick bitmap, whichever comes first. `ticks` are the initialised ones from the lowest.
 * Where they are linked (`spacing` is undefined) there are no words, and no edges.
 *
 * Without liquidity nothing is taken or given, so the edges up to the next initialised tick round
 * nothing and are left out.
 */
export function nextStop(ticks, tick, spacing, down, liquidity) {
  // The first initialised tick above `tick`; the one before it is the last at or below.
  let [from, to] = [0, ticks.length];
  while (from < to) {
    const middle = (from + to) >> 1;
    if (ticks[middle].tick > tick) to = middle;
    else from = middle + 1;
  }
  const initialised = ticks[down ? from - 1 : from];
  const bound = down ? MIN_TICK : MAX_TICK;
  if (spacing === undefined) return initialised ?? { tick: bound, net: 0n };
  const place = Math.floor(tick / spacing);
  const word = (down ? place : place + 1) >> 8;
  const edge = (down ? word << 8 : (word << 8) + 255) * spacing;
  const within = initialised !== undefined
    && (liquidity === 0n || (down ? initialised.tick >= edge : initialised.tick <= edge));
  if (within) return { tick: initialised.tick, net: initialised.net };
  const clamped = down ? Math.max(edge, bound) : Math.min(edge, bound);
  return { tick: liquidity === 0n ? bound : clamped, net: 0n };
}
