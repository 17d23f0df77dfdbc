// Depth decay, `decay/1`: how a book thins after its price has moved, and how much was withdrawn.

import { percentage } from './decimal.mjs';
import { book } from './method.mjs';
import { least, poolOf } from './pools.mjs';
import { fields, integer, poolId, require, slot, text } from './shape.mjs';
import { squareRoot } from './square.mjs';

const HORIZONS = [0, 1, 2, 6, 12, 24, 48];
const REACH = 48;
const BASELINE_EVERY = 12;
const MAX_SLOTS = 31 * 288;
const NEEDED_SLOTS = 2016;
const NEEDED_EVENTS = 5;
const HUNDRED = 100_000_000n;
const U112_MAX = 2n ** 112n - 1n;
const RANGES = ['concentrated_liquidity', 'concentrated_v4', 'concentrated_linked'];

/** A percentage above 0, at most 100, without trailing zeros, in millionths of a percent. */
function readPercent(value) {
  text(value, /^(0|[1-9][0-9]{0,2})(\.[0-9]{0,5}[1-9])?$/, 'a percentage');
  const [whole, part = ''] = value.split('.');
  const millionths = BigInt(whole) * 1_000_000n + BigInt(part.padEnd(6, '0'));
  require(millionths > 0n && millionths <= HUNDRED, 'not above 0 and up to 100 percent');
  return millionths;
}

/** What is asked. */
export function readParameters(value) {
  const asked = fields(value, ['base', 'from', 'gap_pct', 'move_pct', 'pool', 'to', 'within_slots']);
  text(asked.base, /^token[01]$/, 'a base');
  const { from, to } = asked;
  [from, to].forEach(slot);
  require(from <= to && to - from < MAX_SLOTS, 'not a period of 1 to 8928 slots');
  return {
    base: asked.base === 'token0' ? 0 : 1,
    from,
    to,
    gap: readPercent(asked.gap_pct),
    move: readPercent(asked.move_pct),
    pool: poolId(asked.pool),
    within: integer(asked.within_slots, 1, REACH),
  };
}

/** The liquidity of one state under the price of a later one. */
function underPrice(then, now) {
  require(then.protocol === now.protocol, 'a pool that became another');
  if (now.protocol === 'constant_product') {
    const [[x, y], [laterX, laterY]] = [then.reserves, now.reserves];
    const reserve = (square) => {
      const root = squareRoot(square);
      return root < 1n ? 1n : least(root, U112_MAX);
    };
    return { ...now, reserves: [reserve((x * y * laterX) / laterY), reserve((x * y * laterY) / laterX)] };
  }
  require(RANGES.includes(now.protocol), 'a pool of a kind without this figure');
  const { ticks, spacing } = then;
  const active = ticks.filter(({ tick }) => tick <= now.tick);
  return { ...now, ticks, spacing, liquidity: active.reduce((sum, { net }) => sum + net, 0n) };
}

/** By what share the mid moved, where that is at least `move`. */
function movedBy(before, now, move) {
  const [was, is] = [before[0] * now[1], now[0] * before[1]];
  const distance = is > was ? is - was : was - is;
  return distance * HUNDRED >= move * was ? [is - was, was] : undefined;
}

/** What was followed from a slot on: the books of the slots after it. */
function follow(asked, standing, from, before, horizons) {
  const books = [];
  for (const after of horizons) {
    const now = standing.get(from + after);
    if (now === undefined) continue;
    const fixed = book(now, underPrice(before.state, now.state), asked.base, asked.gap);
    books.push({ after, fixed, now: book(now, now.state, asked.base, asked.gap) });
  }
  const told = books.filter(({ fixed, now }) => fixed !== null && now !== null);
  return { books: told, unanswered: books.length - told.length };
}

/** The half of the greatest deficit: slots, or whether it is censored. */
function halfLife(books) {
  const shares = books.filter(({ fixed }) => fixed > 0n)
    .map(({ after, fixed, now }) => ({ after, gone: fixed - now, of: fixed }));
  let greatest;
  for (const share of shares) {
    if (share.gone <= 0n) continue;
    if (greatest === undefined || share.gone * greatest.of > greatest.gone * share.of) greatest = share;
  }
  if (greatest === undefined) return { slots: null, censored: false };
  const half = ({ gone, of }) => 2n * gone * greatest.of <= greatest.gone * of;
  const at = shares.findIndex((share, index) => share.after > greatest.after
    && shares[index + 1]?.after === share.after + 1 && half(share) && half(shares[index + 1]));
  return at < 0 ? { slots: null, censored: true } : { slots: shares[at].after - greatest.after, censored: false };
}

/** The value of a rank, where there are enough. */
function quantile(values, share, enough) {
  if (!enough || values.length < NEEDED_EVENTS) return null;
  return values[Math.max(1, Math.ceil((share * values.length) / 100)) - 1];
}

/** A quantile of fractions, as a percentage. */
function share(fractions, of, enough) {
  const ascending = [...fractions].sort(([a, b], [c, d]) => {
    const [left, right] = [a * d, c * b];
    return left < right ? -1 : Number(left > right);
  });
  const found = quantile(ascending, of, enough);
  return found === null ? null : percentage(found);
}

function horizonOf(after, events, baselines, enough) {
  const at = ({ books }) => books.find((found) => found.after === after);
  const told = events.filter((event) => at(event) !== undefined && event.before !== null)
    .map((event) => ({ ...at(event), before: event.before }));
  const whole = told.filter(({ before, fixed }) => before > 0n && fixed > 0n);
  const calm = baselines.map(at).filter((found) => found !== undefined && found.fixed > 0n);
  const retained = whole.map(({ now, before }) => [now, before]);
  const gone = ({ fixed, now }) => [fixed - now, fixed];
  return {
    baseline_n: calm.length,
    baseline_withdrawn_pct_q50: share(calm.map(gone), 50, enough),
    h_slots: after,
    n: whole.length,
    n_without_share: told.length - whole.length,
    retained_pct_q5: share(retained, 5, enough),
    retained_pct_q50: share(retained, 50, enough),
    static_pct_q50: share(whole.map(({ fixed, before }) => [fixed, before]), 50, enough),
    withdrawn_pct_q50: share(whole.map(gone), 50, enough),
  };
}

function sideOf(events, baselines, enough) {
  const lives = events.map(({ half }) => half).filter(({ slots, censored }) => slots !== null || censored)
    .map(({ slots }) => slots ?? Infinity).sort((a, b) => a - b);
  const median = quantile(lives, 50, enough);
  return {
    half_life_n: lives.length,
    half_life_slots_q50: median === Infinity ? null : median,
    horizons: HORIZONS.map((after) => horizonOf(after, events, baselines, enough)),
  };
}

function eventOf({ at, move, before, books, half }) {
  const listed = before === null ? [] : books.filter(({ after }) => HORIZONS.includes(after));
  return {
    at: listed.map(({ after, fixed, now }) => ({
      book_before_usd: String(before),
      book_static_usd: String(fixed),
      book_usd: String(now),
      h_slots: after,
      liquidity_usd: String(now - fixed),
      mechanical_usd: String(fixed - before),
    })),
    censored: half.censored,
    half_life_slots: half.slots,
    move_pct: percentage(move),
    slot: at,
  };
}

/** The events of a period, and how many moves were none. */
function eventsOf(asked, standing, mids) {
  const [events, counts] = [[], { suppressed: 0, untestable: 0 }];
  for (const [at, mid] of mids) {
    const before = mids.get(at - asked.within);
    if (before === undefined) {
      counts.untestable += 1;
      continue;
    }
    const move = movedBy(before, mid, asked.move);
    if (move === undefined) continue;
    if (events.length > 0 && at - events.at(-1).at <= REACH) counts.suppressed += 1;
    else events.push({ at, move, rose: move[0] > 0n, then: standing.get(at - asked.within) });
  }
  return { events, counts };
}

/** The figure of the standing slots of a period: `[slot, snapshot]`, ascending. */
export function decay(asked, slots) {
  const standing = new Map(slots);
  const mids = new Map(slots.map(([at, { state }]) => {
    require(state.protocol === 'constant_product' || RANGES.includes(state.protocol), 'a pool of a kind without this figure');
    return [at, poolOf(state, asked.base).mid];
  }));
  const { events, counts } = eventsOf(asked, standing, mids);
  const every = Array.from({ length: REACH + 1 }, (_, after) => after);
  let unanswered = 0;
  const followed = (from, then, horizons) => {
    const found = follow(asked, standing, from, then, horizons);
    unanswered += found.unanswered;
    return found.books;
  };
  for (const event of events) {
    event.before = book(event.then, event.then.state, asked.base, asked.gap);
    event.books = followed(event.at, event.then, every);
    event.half = halfLife(event.books);
  }
  const calm = ([at]) => at % BASELINE_EVERY === 0 && standing.has(at - asked.within)
    && !events.some((event) => Math.abs(event.at - at) <= REACH);
  const baselines = slots.filter(calm)
    .map(([at]) => ({ books: followed(at, standing.get(at - asked.within), HORIZONS) }));
  const enough = slots.length >= NEEDED_SLOTS;
  const live = slots.length > 0 && slots.every(([, { kind }]) => kind === 'live');
  return {
    books_unanswered: unanswered,
    down: sideOf(events.filter(({ rose }) => !rose), baselines, enough),
    enough,
    events: events.map(eventOf),
    events_suppressed: counts.suppressed,
    have_slots: slots.length,
    needed_events: NEEDED_EVENTS,
    needed_slots: NEEDED_SLOTS,
    slots_missing: asked.to - asked.from + 1 - slots.length,
    slots_untestable: counts.untestable,
    status: live ? 'live' : 'preview',
    up: sideOf(events.filter(({ rose }) => rose), baselines, enough),
  };
}
