// Liquidation exposure, `exposure/1` and `exposure/2`: whether the market of each slot could have absorbed a liquidation after a fall.

import { percentage } from './decimal.mjs';
import { readSize, saleOf } from './method.mjs';
import { fields, require, slot } from './shape.mjs';
import { splitSize } from './split.mjs';
import {
  bookOf, causesOf, depthAt, extreme, fallenSale, median, ONE, readPercent, readReference, readVenues, requireOneToken, takePart,
} from './venues.mjs';

const MAX_SLOTS = 2016;
const NEEDED_SLOTS = 1916;
const DOLLAR = 1_000_000n;
const TWO_PERCENT = 2n * DOLLAR;

const FIELDS = ['bonus_pct', 'cascade_usd', 'fall_pct', 'from', 'protocol_fee_pct', 'to', 'venues'];

/** What is asked; a `reference` of the second version alone. */
export function readExposure(value, version = 1) {
  const asked = fields(value, version === 1 ? FIELDS : [...FIELDS, 'reference']);
  const { from, to } = asked;
  [from, to].forEach(slot);
  require(from <= to && to - from < MAX_SLOTS, 'not a period of 1 to 2016 slots');
  const venues = readVenues(asked.venues);
  return {
    from,
    to,
    venues,
    pools: venues.map(({ pool }) => pool),
    cascade: readSize(asked.cascade_usd),
    // Of the bonus, what is kept: whoever liquidates gets 1 + kept / 10^16 for each dollar.
    kept: readPercent(asked.bonus_pct, ONE) * (ONE - readPercent(asked.protocol_fee_pct, ONE)),
    fall: readPercent(asked.fall_pct, 99n * DOLLAR),
    reference: version === 1 ? undefined : readReference(asked.reference),
  };
}

const breakEvenOf = ({ kept }) => (kept * ONE) / (ONE * ONE + kept);

/** The sale of a snapshot after the fall. Without one the second version has every kind. */
function fallenOf({ fall, reference }, snapshot, base) {
  const isStill = reference !== undefined && fall === 0n;
  return isStill ? saleOf(snapshot, base) : fallenSale(snapshot, snapshot.state, base, fall);
}

/** What a slot says; nothing where a search was given up. */
function measured(asked, venues, snapshots) {
  const fallen = venues.map(({ base }, at) => fallenOf(asked, snapshots[at], base));
  if (fallen.includes(undefined)) return undefined;
  const measure = asked.reference === 'mid' ? bookOf : depthAt;
  const own = venues.map(({ base }, at) => measure(saleOf(snapshots[at], base), TWO_PERCENT));
  if (own.includes(null)) return undefined;
  const breakEven = fallen.map((sale) => measure(sale, breakEvenOf(asked)));
  if (breakEven.includes(null)) return undefined;
  const split = splitSize(fallen, asked.cascade);
  if (split.gap === undefined && split.beyond === undefined) return undefined;
  if (asked.reference !== undefined && split.gap !== undefined && split.fromMids === undefined) return undefined;
  const gap = asked.reference === 'mid' ? split.fromMids : split.gap;
  return { own, breakEven: breakEven.reduce((sum, usd) => sum + usd, 0n), split, gap };
}

const below = (a, b) => a < b;
const above = (a, b) => a > b;

const ratio = (usd, micros) => (usd * DOLLAR * DOLLAR) / micros;
const written = (millionths) => `${millionths / DOLLAR}.${String(millionths % DOLLAR).padStart(6, '0')}`;
const orNull = (value, write = String) => (value === undefined ? null : write(value));
const percent = (millionths) => percentage([millionths, ONE]);

/** What liquidators lose at a gap, whole dollars rounded up. */
function shortfall({ cascade, kept }, gap) {
  const factor = ONE * ONE + kept;
  const lost = gap * factor - kept * ONE;
  if (lost <= 0n) return 0n;
  const per = factor * ONE * DOLLAR;
  return (lost * cascade + per - 1n) / per;
}

function bandOf(enough, unfillable, coverage, breakEven) {
  if (!enough) return 'unrated';
  if (unfillable > 0) return 'unfillable';
  if (breakEven === undefined || breakEven < DOLLAR) return 'exposed';
  return coverage >= DOLLAR ? 'covered' : 'strained';
}

/** The figure of the standing slots of a period: `[slot, snapshots by venue]`, ascending. */
export function exposure(asked, slots) {
  const isSecond = asked.reference !== undefined;
  const { venues, seen, whole, left } = takePart(asked, slots, isSecond && asked.fall > 0n);
  const looked = [];
  for (const [at, snapshots] of whole) {
    requireOneToken(venues, snapshots);
    const found = measured(asked, venues, snapshots);
    if (found !== undefined) looked.push({ slot: at, ...found });
  }
  const lowest = venues.map((_, at) => extreme(looked, ({ own }) => own[at], below));
  const breakEven = extreme(looked, (one) => one.breakEven, below);
  const worst = extreme(looked, ({ gap }) => gap, above);
  const fillable = extreme(looked, ({ split }) => split.beyond, below);
  const unfillable = looked.filter(({ split }) => split.beyond !== undefined).length;
  const enough = looked.length >= NEEDED_SLOTS;
  const sum = ({ own }) => own.reduce((all, usd) => all + usd, 0n);
  const coverage = lowest.includes(undefined) ? undefined
    : ratio(lowest.reduce((all, { value }) => all + value, 0n), asked.cascade);
  const covered = breakEven && ratio(breakEven.value, asked.cascade);
  const stranded = ({ value }) => {
    const missing = asked.cascade - value * DOLLAR;
    return String(missing > 0n ? (missing + DOLLAR - 1n) / DOLLAR : 0n);
  };
  const all = slots.flatMap(([, snapshots]) => snapshots.filter((one) => one !== undefined));
  const live = slots.length > 0 && all.every(({ kind }) => kind === 'live');
  return {
    band: bandOf(enough, unfillable, coverage, covered),
    break_even_depth_now_usd: orNull(looked.at(-1)?.breakEven),
    break_even_depth_q50_usd: orNull(median(looked.map((one) => one.breakEven))),
    break_even_gap_pct: percent(breakEvenOf(asked)),
    ...(isSecond ? { causes: causesOf(looked, breakEvenOf(asked)) } : {}),
    coverage: orNull(coverage, written),
    coverage_break_even: orNull(covered, written),
    depth_now_usd: orNull(looked.at(-1), (last) => String(sum(last))),
    depth_q50_usd: orNull(median(looked.map(sum))),
    enough,
    have_slots: looked.length,
    least_fillable_usd: orNull(fillable, ({ value }) => String(value / DOLLAR)),
    ...(left.length > 0 ? { left_out: left } : {}),
    lowest_break_even_depth_usd: orNull(breakEven, ({ value }) => String(value)),
    lowest_break_even_slot: orNull(breakEven, (found) => found.slot),
    needed_slots: NEEDED_SLOTS,
    shortfall_usd: orNull(worst, ({ value }) => String(shortfall(asked, value))),
    slots_incomplete: seen.length - whole.length,
    slots_missing: asked.to - asked.from + 1 - seen.length,
    slots_unanswered: whole.length - looked.length,
    slots_unfillable: unfillable,
    status: live ? 'live' : 'preview',
    stranded_usd: orNull(breakEven, stranded),
    venues: venues.map(({ pool }, at) => ({
      lowest_depth_usd: orNull(lowest[at], ({ value }) => String(value)),
      lowest_slot: orNull(lowest[at], (found) => found.slot),
      pool: pool.name,
    })),
    worst_gap_pct: orNull(worst, ({ value }) => percent(value)),
    worst_slot: orNull(worst, (found) => found.slot),
  };
}
