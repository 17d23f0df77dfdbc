// Prices as fractions, and what is computed of a state once.

const MOST_BITS = 320;

function gcd(a, b) {
  return b === 0n ? a : gcd(b, a % b);
}

/**
 * A price, each side what a raw unit counts and the rest: the units in lowest terms, and of a side of
 * more than 320 bits only so many, and of the other as many less.
 */
export function priceOf([unitAbove, above], [unitBelow, below]) {
  const common = gcd(unitAbove, unitBelow);
  const terms = [(unitAbove / common) * above, (unitBelow / common) * below];
  const bits = Math.max(...terms.map((term) => term.toString(2).length));
  const cut = BigInt(Math.max(bits - MOST_BITS, 0));
  const [numerator, denominator] = terms.map((term) => term >> cut);
  return [numerator, denominator > 0n ? denominator : 1n];
}

/** A function of a state that computes it once. */
export function remembered(compute) {
  const known = new WeakMap();
  return (state) => {
    if (!known.has(state)) known.set(state, compute(state));
    return known.get(state);
  };
}
