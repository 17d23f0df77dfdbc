// Stress, `stress/1` and `stress/2`: what an exit split over several venues would have filled at in each slot, with a share of everybody's
// liquidity gone and the price fallen; where asked, only in slots whose price has moved.

import { percentage } from './decimal.mjs';
import { readSize, saleOf } from './method.mjs';
import { fields, require, slot, text } from './shape.mjs';
import { splitSize } from './split.mjs';
import {
  bookOf, causesOf, depthAt, extreme, fallenSale, longestRun, median, ONE, ranked, readPercent, readReference, readVenues, requireKind,
  requireOneToken, takePart, thinnedState,
} from './venues.mjs';

const MAX_SLOTS = 2016;
const DOLLAR = 1_000_000n;
const MOST = 99n * DOLLAR;
const TWO_PERCENT = 2n * DOLLAR;
const WORST = 10;
const HOUR = 12;
const MAX_WITHIN = 48;

/** A limit from -100 to 100 percent, or none. */
function readLimit(value) {
  if (value === null) return undefined;
  text(value, /^(0|-?[1-9][0-9]{0,2}|-?(0|[1-9][0-9]{0,2})\.[0-9]{0,5}[1-9])$/, 'a limit');
  const size = readPercent(value.replace('-', ''), ONE);
  return value.startsWith('-') ? -size : size;
}

/** How far a price must have moved since how many slots before, or nothing. */
function readMove({ after_move_pct: move, within_slots: within }) {
  require((move === null) === (within === null), 'after_move_pct and within_slots: one without the other');
  if (move === null) return undefined;
  const least = readPercent(move, ONE);
  require(least > 0n && Number.isInteger(within) && within >= 1 && within <= MAX_WITHIN, 'not a move to look for');
  return { least, within };
}

const FIELDS = ['after_move_pct', 'fall_pct', 'from', 'haircut_pct', 'limit_pct', 'size_usd', 'to', 'venues', 'within_slots'];

/** What is asked; a `reference` of the second version alone. */
export function readStress(value, version = 1) {
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
    size: readSize(asked.size_usd),
    haircut: readPercent(asked.haircut_pct, MOST),
    fall: readPercent(asked.fall_pct, MOST),
    limit: readLimit(asked.limit_pct),
    after: readMove(asked),
    reference: version === 1 ? undefined : readReference(asked.reference),
  };
}

/** The sale of a snapshot after the shock. */
function shocked(snapshot, base, { haircut, fall }) {
  if (haircut === 0n && fall === 0n) return saleOf(snapshot, base);
  return fallenSale(snapshot, thinnedState(snapshot.state, haircut), base, fall);
}

/** Of a whole slot whether any venue's mid has moved as asked; nothing where that is unknown. */
function hasMoved({ after: { least, within } }, venues, whole, index) {
  const [at, snapshots] = whole[index];
  const before = whole.slice(Math.max(0, index - within), index).find(([slotOf]) => slotOf === at - within);
  snapshots.forEach(({ state }) => requireKind(state));
  const mids = (of) => venues.map(({ base }, place) => saleOf(of[place], base).pool.mid);
  const now = mids(snapshots);
  if (before === undefined) return undefined;
  return mids(before[1]).some(([top, bottom], place) => {
    const [was, is] = [top * now[place][1], now[place][0] * bottom];
    return (is > was ? is - was : was - is) * ONE >= was * least;
  });
}

/** What a slot says; nothing where a search was given up. */
function measured(asked, venues, snapshots) {
  const after = venues.map(({ base }, at) => shocked(snapshots[at], base, asked));
  if (after.includes(undefined)) return undefined;
  const depths = after.map((sale) => depthAt(sale, TWO_PERCENT));
  const books = after.map((sale) => bookOf(sale, TWO_PERCENT));
  if (depths.includes(null) || books.includes(null)) return undefined;
  const split = splitSize(after, asked.size);
  if (split.gap === undefined && split.beyond === undefined) return undefined;
  if (asked.reference !== undefined && split.gap !== undefined && split.fromMids === undefined) return undefined;
  const gap = asked.reference === 'mid' ? split.fromMids : split.gap;
  const sum = (all) => all.reduce((whole, usd) => whole + usd, 0n);
  return { depths, depth: sum(depths), book: sum(books), split, gap, beyond: split.beyond };
}

/** Which of two slots is the better: below zero where it is the first. Of equals the earlier is the worse. */
function better(a, b) {
  const order = (left, right) => (left < right ? -1 : Number(left > right));
  const [filled, other] = [a.gap !== undefined, b.gap !== undefined];
  if (filled !== other) return filled ? -1 : 1;
  return (filled ? order(a.gap, b.gap) : order(b.beyond, a.beyond)) || b.slot - a.slot;
}

function aboveOf(limit, looked) {
  if (limit === undefined) return { slots: null, run: null, from: null };
  const above = looked.filter(({ gap }) => gap === undefined || gap > limit);
  const { from, slots } = longestRun(above.map(({ slot: at }) => at));
  return { slots: above.length, run: slots, from };
}

const orNull = (value, write = String) => (value === undefined ? null : write(value));
const percent = (millionths) => percentage([millionths, ONE]);
const below = (a, b) => a < b;

const gapsOf = ({ split }) => ({ gap_from_mid_pct: percent(split.fromMids), gap_from_oracle_pct: percent(split.gap) });

/** The figure of the standing slots of a period: `[slot, snapshots by venue]`, ascending. */
export function stress(asked, slots) {
  const isSecond = asked.reference !== undefined;
  const isChanged = asked.haircut > 0n || asked.fall > 0n || asked.after !== undefined;
  const { venues, seen, whole, left } = takePart(asked, slots, isSecond && isChanged);
  const looked = [];
  const skipped = { unmoved: 0, untestable: 0 };
  for (const [index, [at, snapshots]] of whole.entries()) {
    requireOneToken(venues, snapshots);
    const moved = asked.after === undefined || hasMoved(asked, venues, whole, index);
    if (!moved) {
      skipped[moved === undefined ? 'untestable' : 'unmoved'] += 1;
      continue;
    }
    const found = measured(asked, venues, snapshots);
    if (found !== undefined) looked.push({ slot: at, ...found });
  }
  const ascending = [...looked].sort(better);
  const [book, depth] = [extreme(looked, (one) => one.book, below), extreme(looked, (one) => one.depth, below)];
  const above = aboveOf(asked.limit, looked);
  const worst = ascending.at(-1);
  const near = ({ slot: of }) => {
    const [from, to] = [Math.max(asked.from, of - HOUR), Math.min(asked.to, of + HOUR)];
    return to - from + 1 - whole.filter(([at]) => at >= from && at <= to).length;
  };
  const gapAt = (place) => orNull(ranked(ascending, place)?.gap, percent);
  const all = slots.flatMap(([, snapshots]) => snapshots.filter((one) => one !== undefined));
  const live = slots.length > 0 && all.every(({ kind }) => kind === 'live');
  return {
    above_longest_run_from: above.from,
    above_longest_run_slots: above.run,
    above_slots: above.slots,
    book_lowest_slot: orNull(book, (found) => found.slot),
    book_lowest_usd: orNull(book, ({ value }) => String(value)),
    book_q50_usd: orNull(median(looked.map((one) => one.book))),
    ...(isSecond && asked.limit !== undefined ? { causes: causesOf(looked, asked.limit) } : {}),
    depth_lowest_book_usd: orNull(depth, (found) => String(looked.find((one) => one.slot === found.slot).book)),
    depth_lowest_slot: orNull(depth, (found) => found.slot),
    depth_lowest_usd: orNull(depth, ({ value }) => String(value)),
    depth_q50_usd: orNull(median(looked.map((one) => one.depth))),
    gap_q50_pct: gapAt(50),
    gap_q95_pct: gapAt(95),
    have_slots: looked.length,
    ...(left.length > 0 ? { left_out: left } : {}),
    slots_incomplete: seen.length - whole.length,
    slots_missing: asked.to - asked.from + 1 - seen.length,
    slots_missing_near_worst: worst === undefined ? 0 : near(worst),
    slots_unanswered: whole.length - looked.length - skipped.unmoved - skipped.untestable,
    slots_unfillable: looked.filter(({ gap }) => gap === undefined).length,
    slots_unmoved: asked.after === undefined ? null : skipped.unmoved,
    slots_untestable: asked.after === undefined ? null : skipped.untestable,
    status: live ? 'live' : 'preview',
    venues: venues.map(({ pool }, at) => {
      const lowest = extreme(looked, ({ depths }) => depths[at], below);
      return {
        lowest_depth_usd: orNull(lowest, ({ value }) => String(value)),
        lowest_slot: orNull(lowest, (found) => found.slot),
        pool: pool.name,
      };
    }),
    worst: ascending.slice(-WORST).reverse().map((one) => ({
      book_usd: String(one.book),
      depth_usd: String(one.depth),
      fillable_usd: orNull(one.beyond, (micros) => String(micros / DOLLAR)),
      ...(isSecond && one.gap !== undefined ? gapsOf(one) : {}),
      gap_pct: orNull(one.gap, percent),
      slot: one.slot,
    })),
  };
}
