// The search for a depth: the largest whole-dollar size whose gap is within a limit.
//
// Outputs are whole numbers, so whether an amount passes is a saw-tooth: one may fail and a larger
// one pass. The search is the format page's, move by move: it counts its comparisons, and every
// verifier gives up the same ones.

import { ceilDiv, firstEndingAt, least } from './pools.mjs';

/** How often an amount and an output may be compared with the limit. */
const MAX_COMPARISONS = 8192;
/** Segments of the shortest piece of a curve that is searched; each further piece doubles it. */
const FIRST_PIECE = 16;
/** Outputs without rounding are kept to 2^-64 of a unit, rounded up. */
const FRACTION = 1n << 64n;

class GivenUp extends Error {}

/** A limit, given what a unit of the output and of the input weigh, which counts comparisons. */
class Limit {
  #left = MAX_COMPARISONS;

  constructor([outWeight, inWeight]) {
    Object.assign(this, { outWeight, inWeight });
  }

  /** By how much an output outweighs its input: not below zero where it passes. */
  excess(input, out) {
    return out * this.outWeight - input * this.inWeight;
  }

  count() {
    if (this.#left === 0) throw new GivenUp();
    this.#left -= 1;
  }

  passes(input, out) {
    this.count();
    return out > 0n && this.excess(input, out) >= 0n;
  }

  /** The largest input that passes with an output. */
  enoughFor(out) {
    return (out * this.outWeight) / this.inWeight;
  }
}

/** Whether nothing past a segment, the `index`th from 0 on, passes, for what is brought up to it. */
function endsIn(segment, index, limit) {
  const [numerator, denominator] = segment.midAfter;
  // No rounding up to there took more.
  const taken = BigInt(index + 1) * (2n * (numerator / denominator + 1n) + 1n);
  return limit.excess(segment.end, segment.outEnd + taken) < 0n;
}

/** The segments to search: the shortest piece of the curve past which nothing passes. */
function pieceOf(pool, limit) {
  let length = FIRST_PIECE;
  const more = () => pool.segment(length) !== undefined;
  while (more() && !endsIn(pool.segment(length - 1), length - 1, limit)) length *= 2;
  const segments = [];
  for (let index = 0; index < length && pool.segment(index) !== undefined; index += 1) {
    segments.push(pool.segment(index));
  }
  return segments;
}

/** The last whole number from `low` on and below `high` up to which `holds` holds, as it does there. */
function lastOf(low, high, holds) {
  let [last, past] = [low, high];
  while (past - last > 1n) {
    const middle = last + (past - last) / 2n;
    if (holds(middle)) last = middle;
    else past = middle;
  }
  return last;
}

/** Whether an amount that ends inside a segment is not ruled out, nor all that are above it. */
function isOpen({ limit }, segment, startPasses, amount) {
  if (startPasses && limit.passes(amount, segment.out(amount))) return true;
  limit.count();
  const added = amount - segment.start;
  const [numerator, denominator] = segment.ideal(added);
  const ideal = ceilDiv(numerator * FRACTION, denominator);
  // Where the start fails, what is added to it must make up for that by itself.
  return startPasses
    ? limit.excess(amount * FRACTION, segment.outStart * FRACTION + ideal) >= 0n
    : limit.excess(added * FRACTION, ideal) >= 0n;
}

/** An amount of a segment that no passing one is above; its start where there is none. */
function boundIn(search, segment) {
  const { limit, fee: [part, whole] } = search;
  const { start, outStart, end, outEnd, mid: [numerator, denominator] } = segment;
  if (start === end || !limit.passes(start + 1n, outEnd)) return start;
  if (limit.passes(end, outEnd)) return end;
  const startPasses = start === 0n || limit.excess(start, outStart) >= 0n;
  const improves = limit.excess(denominator * whole, numerator * (whole - part)) > 0n;
  if (!startPasses && !improves) return start;
  const open = (amount) => isOpen(search, segment, startPasses, amount);
  return open(end) ? end - 1n : lastOf(start, end, open);
}

/** An amount up to `ceiling` that no passing one of the first segments is above, and its segment. */
function lastBound(search, count, ceiling) {
  for (let index = count - 1; index >= 0; index -= 1) {
    const segment = search.segments[index];
    if (segment.start >= ceiling) continue;
    const bound = boundIn(search, segment);
    if (bound > segment.start) return { index, amount: least(bound, ceiling) };
  }
  return undefined;
}

/** An amount that no passing one is above, and its segment. */
function highestBound(search) {
  const { segments, limit } = search;
  const { end, outEnd } = segments.at(-1);
  if (limit.passes(end, outEnd)) return { index: segments.length - 1, amount: end };
  // Segment `index` may hold a passing amount where nothing before it tells otherwise.
  const last = lastOf(0n, BigInt(segments.length), (index) => {
    limit.count();
    const before = Number(index) - 1;
    return !endsIn(segments[before], before, limit);
  });
  return lastBound(search, Number(last) + 1, end);
}

/** The largest amount asked about that passes, from a bound on down; zero where none does. */
function descend(search, from) {
  const { limit, dollars } = search;
  let { index, amount: ceiling } = from;
  for (;;) {
    const segment = search.segments[index];
    const amount = dollars.fine ? ceiling : dollars.amountOf(dollars.within(ceiling));
    if (amount <= segment.start) {
      const below = lastBound(search, index, amount);
      if (below === undefined) return 0n;
      ({ index, amount: ceiling } = below);
      continue;
    }
    const out = segment.out(amount);
    if (limit.passes(amount, out)) return amount;
    ceiling = least(limit.enoughFor(out), amount - 1n);
  }
}

function search({ pool, weights, dollars }) {
  const limit = new Limit(weights);
  const found = { limit, dollars, fee: pool.fee, segments: pieceOf(pool, limit) };
  if (found.segments.length === 0) return 0n;
  const highest = highestBound(found);
  if (highest === undefined) return 0n;
  const amount = dollars.amountOf(dollars.within(highest.amount));
  if (amount === 0n) return 0n;
  const index = firstEndingAt(found.segments, amount);
  const largest = descend(found, { index, amount });
  return largest === 0n ? 0n : dollars.within(largest);
}

/**
 * The depth of a pool in whole dollars, or null where the search is given up. `weights` are those
 * of a raw unit bought and of one sold, at which the limit is met; `dollars` tells the amount a
 * whole-dollar size stands for, the most dollars `within` an amount, and whether they are `fine`
 * enough that every amount stands for some.
 */
export function depthOf(sale) {
  try {
    return search(sale);
  } catch (error) {
    if (error instanceof GivenUp) return null;
    throw error;
  }
}
