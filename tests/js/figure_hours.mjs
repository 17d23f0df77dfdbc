// Market hours, `hours/1`: depth and gap while a pool's markets are open, against closed.

import { inRange, oneMinus, over, percentage, times } from './decimal.mjs';
import { marketsOf, tableOf } from './hours.mjs';
import { amountOf, depth, readSize, saleOf } from './method.mjs';
import { code, fields, hexHash, integer, list, Newer, poolId, require, slot, text } from './shape.mjs';

const MAX_SLOTS = 31 * 288;
const NEEDED = 4;
export const KINDS = ['night', 'weekend', 'holiday'];

/** What is asked. */
export function readHours(value, most = MAX_SLOTS) {
  const asked = fields(value, ['base', 'calendars', 'from', 'pool', 'size_usd', 'to']);
  text(asked.base, /^token[01]$/, 'a base');
  const { from, to } = asked;
  [from, to].forEach(slot);
  require(from <= to && to - from < most, 'not a period of the figure');
  const calendars = readCalendars(asked.calendars);
  const newer = calendars.map(({ calendar, table }) => tableOf(calendar, table)).find((table) => table instanceof Newer);
  return { base: Number(asked.base.slice(-1)), calendars, from, newer, pool: poolId(asked.pool), size: readSize(asked.size_usd), to };
}

function readCalendars(value) {
  let last = -1;
  return list(value, 2).map((one) => {
    const { calendar, table, token } = fields(one, ['calendar', 'table', 'token']);
    last = integer(token, last + 1, 1);
    return { calendar: code(calendar), table: hexHash(table), token };
  });
}

/** What a size fetches: its gap as a fraction of one, and the amounts; nothing where it is refused. */
export function filled(sale, size) {
  const amount = amountOf(size, sale.baseUnit);
  if (amount === 0n || sale.pool.largest(amount) < amount) return undefined;
  const { out } = sale.pool.sell(amount);
  if (out === 0n) return undefined;
  const gap = oneMinus(over(times([out, amount], sale.quoteUnit), sale.baseUnit));
  return inRange(gap) ? { amount, out, gap } : undefined;
}

/** A slot's line. Blocks do not go back: `before` is the instant of the slot before. */
export function lineOf(asked, at, snapshot, before) {
  const found = filled(saleOf(snapshot, asked.base), asked.size);
  return { slot: at, at: Math.max(snapshot.timestamp, before), depth: depth(snapshot, asked.base, asked.gap), found, snapshot };
}

/** Which of a pool's own tokens have a calendar. */
const withCalendar = ({ sessions, pair }) => [0, 1].filter((own) => sessions.some(({ token }) => token === pair[own]));

/** Whether feeds had a round since an instant: undefined where none of a token with a calendar has rounds. */
function hasReopened(snapshot, since) {
  const rounds = withCalendar(snapshot).flatMap((own) => snapshot.rounds[own]);
  return rounds.length === 0 ? undefined : rounds.every((updatedAt) => updatedAt >= since);
}

/** A fill of a closed slot at the prices that an open one has of tokens with a calendar. */
function reopeningGap({ base }, { snapshot, found }, open) {
  const usd = snapshot.usd.map((price, own) => (withCalendar(open).includes(own) ? open.usd[own] : price));
  const { baseUnit, quoteUnit } = saleOf({ ...snapshot, usd }, base);
  const gap = oneMinus(over(times([found.out, found.amount], quoteUnit), baseUnit));
  return inRange(gap) ? gap : undefined;
}

/** What a market opened to after a closure, before it closed again: the slot, and the gap against it. */
function reopening(asked, closure, closesAgain, lines) {
  const last = lines.filter(({ at }) => closure.from <= at && at < closure.to).at(-1);
  if (last.found === undefined) return undefined;
  for (const line of lines.filter(({ at }) => closure.to <= at && at < closesAgain)) {
    const reopened = hasReopened(line.snapshot, closure.to);
    if (reopened === undefined) return undefined;
    if (reopened) return { slot: line.slot, gap: reopeningGap(asked, last, line.snapshot) };
  }
  return undefined;
}

export const compare = ([a, b], [c, d]) => (a * d < c * b ? -1 : Number(a * d > c * b));
export const pct = (share) => (share === undefined ? null : percentage(share));
const usd = (whole) => (whole === undefined ? null : String(whole));
export const rank = (ascending, count, place) => ascending[Math.ceil((place * count) / 100) - 1];

/** How the depths and gaps of some lines are spread; without statistics where they are too few. */
export function spread(lines, told = true) {
  const depths = lines.map((line) => line.depth).filter((one) => one !== null).sort((a, b) => (a < b ? -1 : Number(a > b)));
  const gaps = lines.flatMap(({ found }) => (found === undefined ? [] : [found.gap])).sort(compare);
  const when = (value) => (told ? value : undefined);
  return {
    depth_lowest_usd: usd(when(depths[0])),
    depth_q50_usd: usd(when(rank(depths, depths.length, 50))),
    gap_q50_pct: pct(when(rank(gaps, lines.length, 50))),
    gap_q95_pct: pct(when(rank(gaps, lines.length, 95))),
    slots: lines.length,
    slots_refused: lines.length - gaps.length,
  };
}

/** The closures of one kind. */
function kindOf(kind, closures, open) {
  const own = closures.filter((closure) => closure.kind === kind);
  const enough = own.length >= NEEDED;
  const all = spread(own.flatMap(({ lines }) => lines), enough);
  const worst = own.flatMap(({ reopened }) => (reopened?.gap === undefined ? [] : [reopened.gap])).sort(compare).at(-1);
  const [closed, opened] = [all.depth_q50_usd, open.depth_q50_usd];
  return {
    closure_kind: KINDS[kind],
    enough,
    have: own.length,
    needed: NEEDED,
    reopening_gap_pct_worst: pct(enough ? worst : undefined),
    spread: all,
    thin_when_closed: closed === null || opened === null ? null : 2n * BigInt(closed) < BigInt(opened),
  };
}

/** One closure. */
function closureOf({ from, to, kind, lines, reopened }) {
  const depths = lines.map((line) => line.depth).filter((one) => one !== null);
  return {
    closed_at_s: from,
    closure_kind: KINDS[kind],
    depth_lowest_usd: usd(depths.length === 0 ? undefined : depths.reduce((least, one) => (one < least ? one : least))),
    last_closed_slot: lines.at(-1).slot,
    opens_at_s: to,
    reopened_slot: reopened?.slot ?? null,
    reopening_gap_pct: pct(reopened?.gap),
    slots: lines.length,
  };
}

/** Requires that the last snapshot has the calendars asked about. */
export function requireCalendars(asked, last) {
  const named = ({ sessions, pair }) => sessions
    .map(({ calendar, table, token }) => ({ calendar, table, token: pair.indexOf(token) }))
    .sort((a, b) => a.token - b.token);
  require(last === undefined || JSON.stringify(named(last)) === JSON.stringify(asked.calendars), 'calendars other than the last snapshot\'s');
}

/** The closures that some lines lie in, ascending, each with them and with what its market opened to. */
export function closedOf(asked, lines) {
  const { closures: known } = marketsOf(asked.calendars);
  return known.flatMap((closure, at) => {
    const own = lines.filter((line) => closure.from <= line.at && line.at < closure.to);
    if (own.length === 0) return [];
    return [{ ...closure, lines: own, reopened: reopening(asked, closure, known[at + 1]?.from ?? Infinity, lines) }];
  });
}

/** What is `live` or not. */
export const statusOf = (slots) => (slots.length > 0 && slots.every(([, { kind }]) => kind === 'live') ? 'live' : 'preview');

/** The figure of standing slots, ascending, each with its snapshot. */
export function hours(asked, slots) {
  const lines = [];
  for (const [at, snapshot] of slots) lines.push(lineOf(asked, at, snapshot, lines.at(-1)?.at ?? 0));
  requireCalendars(asked, slots.at(-1)?.[1]);
  const { isOpen } = marketsOf(asked.calendars);
  const closures = closedOf(asked, lines);
  const closed = new Set(closures.flatMap((closure) => closure.lines));
  const others = lines.filter((line) => !closed.has(line));
  const opened = others.filter(({ at }) => isOpen(at));
  const open = spread(opened);
  return {
    closed: KINDS.map((_, kind) => kindOf(kind, closures, open)),
    closures: closures.map(closureOf),
    have_slots: lines.length,
    open,
    slots_missing: asked.to - asked.from + 1 - lines.length,
    slots_unknown: others.length - opened.length,
    status: statusOf(slots),
  };
}
