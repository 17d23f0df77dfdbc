// Whole numbers of 256 bits without sign, as contracts compute with them: what leaves them refuses.

/**
 * The contract refuses the sale: for too much, and then every larger one, or because there is
 * nothing to pay for it.
 */
export class Reverted extends Error {
  constructor(reason, tooMuch) {
    super(reason);
    this.tooMuch = tooMuch;
  }
}

const LIMIT = 1n << 256n;

/** 10^18, what one is in fixed point. */
export const ONE = 10n ** 18n;

export function refuse(reason) {
  throw new Reverted(reason, false);
}

export function refuseTooMuch(reason) {
  throw new Reverted(reason, true);
}

/** Whatever refuses in `run` does so for too much; or, where that is said, never does. */
export function refusing(run, tooMuch = true) {
  try {
    return run();
  } catch (error) {
    throw error instanceof Reverted ? new Reverted(error.message, tooMuch) : error;
  }
}

/** What `run` comes to, or undefined where the contract refuses that. */
export function unlessRefused(run) {
  try {
    return run();
  } catch (error) {
    if (error instanceof Reverted) return undefined;
    throw error;
  }
}

/** A number that must fit the word. */
export function word(value) {
  if (value < 0n) refuse('below zero');
  return value < LIMIT ? value : refuseTooMuch('more than 256 bits');
}

/** A signed number that must fit the word; it is not refused for being below zero. */
export function signed(value) {
  return value >= -LIMIT / 2n && value < LIMIT / 2n ? value : refuseTooMuch('more than 256 bits');
}

/** Refuses what is not from `least` to `most`. */
export function within(value, least, most) {
  if (value < least || value > most) refuseTooMuch('out of bounds');
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
