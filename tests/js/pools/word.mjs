// Whole numbers of 256 bits without sign, as contracts compute with them: what leaves them refuses.

/** The contract refuses the sale. */
export class Reverted extends Error {}

const LIMIT = 1n << 256n;

/** 10^18, what one is in fixed point. */
export const ONE = 10n ** 18n;

export function refuse(reason) {
  throw new Reverted(reason);
}

/** A number that must fit the word. */
export function word(value) {
  return value >= 0n && value < LIMIT ? value : refuse('more than 256 bits, or below zero');
}

export function mul(...factors) {
  return factors.reduce((product, factor) => word(product * factor));
}

export function add(...parts) {
  return parts.reduce((sum, part) => word(sum + part));
}

export function sub(a, b) {
  return word(a - b);
}

/** Rounded down. */
export function div(a, b) {
  return b === 0n ? refuse('a division by zero') : a / b;
}

/** Rounded up. */
export function divUp(a, b) {
  if (b === 0n) refuse('a division by zero');
  return a === 0n ? 0n : (a - 1n) / b + 1n;
}

/** `next` from a start on until two results differ by one at most; undefined if 255 do not do. */
export function settle(start, next) {
  let last = start;
  for (let round = 0; round < 255; round += 1) {
    const value = next(last);
    const apart = value > last ? value - last : last - value;
    if (apart <= 1n) return { value, settled: true };
    last = value;
  }
  return { value: last, settled: false };
}
