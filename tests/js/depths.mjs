// The lowest depths of a period, `depths/1`, and why they were so low: a book that is thin, or an oracle price above the pool's.

import { inRange, millionthsOf, percentage } from './decimal.mjs';
import { saleOf } from './method.mjs';
import { fields, poolId, require, slot } from './shape.mjs';
import { bookOf, depthAt, extreme, longestRun, median, ONE } from './venues.mjs';

const MAX_SLOTS = 2016;
const TWO_PERCENT = 2_000_000n;

/** What is asked. */
export function readDepths(value) {
  const { from, pool, to } = fields(value, ['from', 'pool', 'to']);
  [from, to].forEach(slot);
  require(from <= to && to - from < MAX_SLOTS, 'not a period of 1 to 2016 slots');
  return { from, pool: poolId(pool), to };
}

/** How far the oracle's price is above the mid, in millionths of a percent. */
function leadOf({ basis }) {
  const lead = inRange(basis) ? millionthsOf(basis) : 0n;
  return lead > 0n ? lead : 0n;
}

/** A slot of one direction; what has no value is undefined. */
function measured(at, snapshot, base) {
  const sale = saleOf(snapshot, base);
  const depth = depthAt(sale, TWO_PERCENT) ?? undefined;
  return { slot: at, depth, book: bookOf(sale, TWO_PERCENT) ?? undefined, lead: leadOf(sale) };
}

/** Why a depth is low. */
function causeOf({ depth, book, lead }) {
  if (depth === undefined || book === undefined) return null;
  if (lead > 0n && 2n * depth < book) return 'oracle_led';
  return depth === 0n ? 'thin_book' : null;
}

const orNull = (value, write) => (value === undefined ? null : write(value));
const percent = (millionths) => percentage([millionths, ONE]);
const below = (a, b) => a < b;
const above = (a, b) => a > b;

/** The figures of one direction. */
function directionOf(slots, base) {
  const looked = slots.map(([at, snapshot]) => measured(at, snapshot, base));
  const [depth, book] = [extreme(looked, (one) => one.depth, below), extreme(looked, (one) => one.book, below)];
  const lowest = looked.find((one) => one.slot === depth?.slot);
  const books = looked.flatMap((one) => (one.book === undefined ? [] : [one.book]));
  const lead = extreme(looked, (one) => (one.lead > 0n ? one.lead : undefined), above);
  const led = looked.filter((one) => one.lead > TWO_PERCENT).map((one) => one.slot);
  const run = longestRun(led);
  return {
    book_at_lowest_depth_usd: orNull(lowest?.book, String),
    cause: orNull(lowest, causeOf),
    largest_lead_pct: percent(lead?.value ?? 0n),
    largest_lead_slot: lead?.slot ?? null,
    lead_at_lowest_depth_pct: orNull(lowest?.lead, percent),
    led_longest_run_from: run.from,
    led_longest_run_slots: run.slots,
    led_slots: led.length,
    lowest_book_slot: book?.slot ?? null,
    lowest_book_usd: orNull(book?.value, String),
    lowest_depth_slot: depth?.slot ?? null,
    lowest_depth_usd: orNull(depth?.value, String),
    median_book_usd: orNull(median(books), String),
  };
}

/** The figure of the standing slots of a period: `[slot, snapshot]`, ascending. */
export function depths(asked, slots) {
  const live = slots.length > 0 && slots.every(([, { kind }]) => kind === 'live');
  return {
    have_slots: slots.length,
    slots_missing: asked.to - asked.from + 1 - slots.length,
    status: live ? 'live' : 'preview',
    token0: directionOf(slots, 0),
    token1: directionOf(slots, 1),
  };
}
