// Liquidation exposure, `exposure/1`: whether the market of each slot could have absorbed a liquidation after a fall.

import { percentage } from './decimal.mjs';
import { depth, readSize } from './method.mjs';
import { fields, require, slot } from './shape.mjs';
import { splitSize } from './split.mjs';
import { depthAt, extreme, fallenSale, median, ONE, readPercent, readVenues, requireOneToken } from './venues.mjs';

const MAX_SLOTS = 2016;
const NEEDED_SLOTS = 1916;
const DOLLAR = 1_000_000n;

/** What is asked. */
export function readExposure(value) {
  const asked = fields(value, ['bonus_pct', 'cascade_usd', 'fall_pct', 'from', 'protocol_fee_pct', 'to', 'venues']);
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
  };
}

const breakEvenOf = ({ kept }) => (kept * ONE) / (ONE * ONE + kept);

/** What a slot says; nothing where a search was given up. */
function measured(asked, snapshots) {
  const [fallen, own] = [[], []];
  for (const [at, { base }] of asked.venues.entries()) {
    fallen.push(fallenSale(snapshots[at], snapshots[at].state, base, asked.fall));
    own.push(depth(snapshots[at], base));
  }
  if (fallen.includes(undefined) || own.includes(null)) return undefined;
  const breakEven = fallen.map((sale) => depthAt(sale, breakEvenOf(asked)));
  if (breakEven.includes(null)) return undefined;
  const split = splitSize(fallen, asked.cascade);
  if (split.gap === undefined && split.beyond === undefined) return undefined;
  return { own, breakEven: breakEven.reduce((sum, usd) => sum + usd, 0n), split };
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
  const whole = slots.filter(([, snapshots]) => asked.venues.every((_, at) => snapshots[at] !== undefined));
  const looked = [];
  for (const [at, snapshots] of whole) {
    requireOneToken(asked, snapshots);
    const found = measured(asked, snapshots);
    if (found !== undefined) looked.push({ slot: at, ...found });
  }
  const lowest = asked.venues.map((_, at) => extreme(looked, ({ own }) => own[at], below));
  const breakEven = extreme(looked, (one) => one.breakEven, below);
  const worst = extreme(looked, ({ split }) => split.gap, above);
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
    coverage: orNull(coverage, written),
    coverage_break_even: orNull(covered, written),
    depth_now_usd: orNull(looked.at(-1), (last) => String(sum(last))),
    depth_q50_usd: orNull(median(looked.map(sum))),
    enough,
    have_slots: looked.length,
    least_fillable_usd: orNull(fillable, ({ value }) => String(value / DOLLAR)),
    lowest_break_even_depth_usd: orNull(breakEven, ({ value }) => String(value)),
    lowest_break_even_slot: orNull(breakEven, (found) => found.slot),
    needed_slots: NEEDED_SLOTS,
    shortfall_usd: orNull(worst, ({ value }) => String(shortfall(asked, value))),
    slots_incomplete: slots.length - whole.length,
    slots_missing: asked.to - asked.from + 1 - slots.length,
    slots_unanswered: whole.length - looked.length,
    slots_unfillable: unfillable,
    status: live ? 'live' : 'preview',
    stranded_usd: orNull(breakEven, stranded),
    venues: asked.venues.map(({ pool }, at) => ({
      lowest_depth_usd: orNull(lowest[at], ({ value }) => String(value)),
      lowest_slot: orNull(lowest[at], (found) => found.slot),
      pool: pool.name,
    })),
    worst_gap_pct: orNull(worst, ({ value }) => percent(value)),
    worst_slot: orNull(worst, (found) => found.slot),
  };
}
