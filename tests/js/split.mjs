// One size split over several venues, as the sources' exit/split does it: steps of the amount go where each brings most,
// then smaller ones; each leg is a size of its own. How far from the best split that can be is not computed here.

import { inRange, millionthsOf, oneMinus } from './decimal.mjs';
import { amountOf, largestSizeOf, LEAST_SIZE } from './method.mjs';
import { least } from './pools.mjs';

const FIRST_STEP = 6n;
const LAST_STEP = 22n;
const WEIGHT_BITS = 160;

function gcd(a, b) {
  while (b !== 0n) [a, b] = [b, a % b];
  return a;
}

/** What a raw unit bought is worth at each venue, in whole weights; and what comparisons take of them. */
function weightsOf(venues) {
  // All worths over one denominator.
  const parts = [...venues.map(({ quoteUnit }) => quoteUnit), venues[0].baseUnit, [1n, 1_000_000n]];
  const common = parts.reduce((all, [, below]) => (all * below) / gcd(all, below), 1n);
  const whole = parts.map(([above, below]) => above * (common / below));
  const divisor = whole.reduce(gcd);
  const longest = Math.max(...whole.map((weight) => (weight / divisor).toString(2).length));
  const cut = BigInt(Math.max(0, longest - WEIGHT_BITS));
  const full = whole.slice(0, venues.length).map((weight) => weight / divisor);
  return { full, low: full.map((weight) => weight >> cut) };
}

/** What a venue pays for an amount; `undefined` where it does not take it. */
function paid({ pool, most }, amount) {
  if (amount === 0n) return 0n;
  return amount > most ? undefined : pool.sell(amount).out;
}

const worthAt = (venue, amount) => {
  const out = paid(venue, amount);
  return out === undefined ? undefined : out * venue.low;
};

/** Hands steps to whom each brings most, while one is left and someone takes it. */
function handOut(takers, left, step) {
  const look = (taker) => { taker.next = worthAt(taker.venue, taker.part + step); };
  takers.forEach(look);
  while (left >= step) {
    let best;
    for (const taker of takers) {
      if (taker.next === undefined) continue;
      const gain = taker.next > taker.worth ? taker.next - taker.worth : 0n;
      if (best === undefined || gain > best.gain) best = { gain, taker };
    }
    if (best === undefined) break;
    const { taker } = best;
    taker.part += step;
    taker.worth = taker.next;
    look(taker);
    left -= step;
  }
  return left;
}

function inSteps(venues, amount) {
  const takers = venues.map((venue) => ({ venue, part: 0n, worth: 0n, next: undefined }));
  const set = (taker, part) => {
    taker.part = part;
    taker.worth = worthAt(taker.venue, part) ?? 0n;
  };
  let left = amount;
  for (let scale = FIRST_STEP; scale <= LAST_STEP; scale += 1n) {
    const step = amount >> scale > 1n ? amount >> scale : 1n;
    left = handOut(takers, left, step);
    if (scale === LAST_STEP || step === 1n) break;
    for (const taker of takers.filter(({ part }) => part >= step)) {
      set(taker, taker.part - step);
      left += step;
    }
  }
  if (left > 0n) left = handOut(takers, left, left);
  for (const taker of takers) {
    if (left === 0n) break;
    const free = taker.venue.most - taker.part;
    const room = least(free > 0n ? free : 0n, left);
    set(taker, taker.part + room);
    left -= room;
  }
  return left === 0n ? takers.map(({ part }) => part) : undefined;
}

/** The place of the largest, the last of equals. */
const largestOf = (parts) => parts.reduce((best, part, at) => (part >= parts[best] ? at : best), 0);

/** Legs that are paid nothing are sold with the largest other one; where that is refused itself, some of it with another. */
function withoutUnpaid(venues, parts) {
  const isPaid = (at, part) => (paid(venues[at], part) ?? 0n) > 0n;
  const largest = largestOf(parts);
  const kept = [...parts];
  for (const [at, part] of parts.entries()) {
    if (at !== largest && part > 0n && !isPaid(at, part)) {
      kept[at] = 0n;
      kept[largest] += part;
    }
  }
  const whole = kept[largest];
  if (isPaid(largest, whole)) return kept;
  for (let moved = 1n; moved <= whole; moved <<= 1n) {
    const rest = whole - moved;
    if (rest > 0n && !isPaid(largest, rest)) continue;
    const other = kept.findIndex((part, at) => at !== largest && isPaid(at, part + moved));
    if (other < 0) continue;
    kept[largest] = rest;
    kept[other] += moved;
    return kept;
  }
  return undefined;
}

/** What each venue sells; never worth less than any venue alone. */
function allot(venues, amount) {
  const worthOf = (parts) => parts.reduce((sum, part, at) => sum + (worthAt(venues[at], part) ?? 0n), 0n);
  const steps = inSteps(venues, amount);
  const split = steps && withoutUnpaid(venues, steps);
  let best = split && { worth: worthOf(split), parts: split };
  for (const [at, venue] of venues.entries()) {
    const out = paid(venue, amount) ?? 0n;
    if (out === 0n) continue;
    const worth = out * venue.low;
    if (best === undefined || worth > best.worth) best = { worth, parts: venues.map((_, of) => (of === at ? amount : 0n)) };
  }
  return best?.parts;
}

/** The largest size that a venue takes, micro-dollars. */
function mostOf(venue) {
  return (paid(venue, venue.most) ?? 0n) === 0n ? 0n : largestSizeOf(venue.most, venue.baseUnit);
}

/** The size that stands for an amount. */
function sizeOf(amount, baseUnit) {
  if (amount === 0n) return 0n;
  return least(largestSizeOf(amount - 1n, baseUnit) + 1n, largestSizeOf(amount, baseUnit));
}

/** Amounts as sizes that add up to the whole; nothing where the venues do not take these. */
function inSizes(venues, size, amounts) {
  const { baseUnit } = venues[0];
  const most = venues.map(mostOf);
  const isPaid = (at, micros) => micros >= LEAST_SIZE && (paid(venues[at], amountOf(micros, baseUnit)) ?? 0n) > 0n;
  const largest = largestOf(amounts);
  const sizes = amounts.map(() => 0n);
  let left = size;
  for (const at of amounts.keys()) {
    if (at === largest) continue;
    const own = least(least(sizeOf(amounts[at], baseUnit), most[at]), left);
    if (own >= LEAST_SIZE && isPaid(at, own)) {
      sizes[at] = own;
      left -= own;
    }
  }
  for (const at of [largest, ...amounts.keys()]) {
    const free = most[at] - sizes[at];
    const room = least(free > 0n ? free : 0n, left);
    if (sizes[at] + room >= LEAST_SIZE) {
      sizes[at] += room;
      left -= room;
    }
  }
  return left === 0n && sizes.every((own, at) => own === 0n || isPaid(at, own)) ? sizes : undefined;
}

/** The gap of what amounts by venue bring, as a fraction; nothing where they are no sale. */
function gapOf(venues, amounts) {
  const worth = venues.map(({ quoteUnit }, at) => {
    const out = paid(venues[at], amounts[at]) ?? 0n;
    return [out * quoteUnit[0], quoteUnit[1]];
  });
  const brought = worth.reduce(([a, b], [c, d]) => [a * d + c * b, b * d], [0n, 1n]);
  const sold = amounts.reduce((sum, amount) => sum + amount, 0n);
  const [base, below] = venues[0].baseUnit;
  return oneMinus([brought[0] * below, brought[1] * sold * base]);
}

/** The gap of such amounts from the venues' own mids, in millionths of a percent; nothing where it has no figure. */
function gapFromMids(venues, amounts) {
  const sum = (of) => venues.reduce((all, venue, at) => all + venue.full * of(venue, amounts[at]), 0n);
  const brought = sum((venue, amount) => paid(venue, amount) ?? 0n);
  const sold = sum(({ pool: { mid: [above, below] } }, amount) => (amount * above) / below);
  if (sold === 0n) return undefined;
  const gap = oneMinus([brought, sold]);
  return inRange(gap) ? millionthsOf(gap) : undefined;
}

/**
 * The gap of a size split over venues, in millionths of a percent, and that of the same amounts from the venues' mids, where it
 * has a figure: `{gap, fromMids}`, or `{beyond}`, the most they take together in
 * micro-dollars, or neither where there is no answer. A venue is a sale: `pool`, `baseUnit`, `quoteUnit`, `basis`.
 */
export function splitSize(sales, size) {
  if (!sales.every(({ basis }) => inRange(basis))) return {};
  const amount = amountOf(size, sales[0].baseUnit);
  if (amount === 0n) return {};
  const { full, low } = weightsOf(sales);
  const venues = sales.map((sale, at) => ({ ...sale, full: full[at], low: low[at], most: sale.pool.largest(amount) }));
  if (venues.reduce((sum, { most }) => sum + most, 0n) < amount) {
    const sum = venues.map(mostOf).reduce((all, most) => all + most, 0n);
    return { beyond: least(sum, 10n ** 15n) };
  }
  const amounts = allot(venues, amount);
  if (amounts === undefined) return {};
  const gaps = [];
  const note = (parts) => {
    const legs = parts.map((_, at) => parts.map((part, of) => (of === at ? part : 0n)));
    const gap = gapOf(venues, parts);
    const whole = parts.some((part) => part > 0n)
      && legs.every((leg, at) => leg[at] === 0n || inRange(gapOf(venues, leg))) && inRange(gap);
    if (whole) gaps.push({ gap: millionthsOf(gap), parts });
  };
  const sizes = inSizes(venues, size, amounts);
  if (sizes !== undefined) note(sizes.map((own) => (own === 0n ? 0n : amountOf(own, venues[0].baseUnit))));
  for (const at of venues.keys()) {
    if ((paid(venues[at], amount) ?? 0n) > 0n) note(venues.map((_, of) => (of === at ? amount : 0n)));
  }
  if (gaps.length === 0) return {};
  const { gap, parts } = gaps.reduce((best, one) => (one.gap < best.gap ? one : best));
  return { gap, fromMids: gapFromMids(venues, parts) };
}
