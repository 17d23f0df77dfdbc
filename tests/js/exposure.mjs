// Liquidation exposure, `exposure/1`: whether the market of each slot could have absorbed a liquidation after a fall.

import { depthOf } from './depth.mjs';
import { inRange, over, percentage, times } from './decimal.mjs';
import { depth, dollarsOf, readSize, saleOf } from './method.mjs';
import { least } from './pools.mjs';
import { fields, list, poolId, require, slot, text } from './shape.mjs';
import { splitSize } from './split.mjs';
import { squareRoot } from './square.mjs';
import { MAX_SQRT_PRICE, MAX_TICK, MIN_SQRT_PRICE, MIN_TICK, sqrtPriceAt } from './ticks.mjs';

const ONE = 100_000_000n;
const MAX_SLOTS = 2016;
const MAX_VENUES = 12;
const NEEDED_SLOTS = 1916;
const DOLLAR = 1_000_000n;
const U112_MAX = 2n ** 112n - 1n;
const RANGES = ['concentrated_liquidity', 'concentrated_v4', 'concentrated_linked'];

/** A percentage from 0 on, without trailing zeros, in millionths of a percent. */
function readPercent(value, most) {
  text(value, /^(0|[1-9][0-9]{0,2})(\.[0-9]{0,5}[1-9])?$/, 'a percentage');
  const [whole, part = ''] = value.split('.');
  const millionths = BigInt(whole) * DOLLAR + BigInt(part.padEnd(6, '0'));
  require(millionths <= most, 'a percentage out of bounds');
  return millionths;
}

function readVenues(values) {
  const venues = list(values, MAX_VENUES).map((value) => {
    const { base, pool } = fields(value, ['base', 'pool']);
    return { base: text(base, /^token[01]$/, 'a base') === 'token0' ? 0 : 1, pool: poolId(pool) };
  });
  require(venues.length > 0, 'no venue');
  const chain = ({ pool }) => pool.name.split(':')[0];
  require(venues.every((venue) => chain(venue) === chain(venues[0])), 'venues of two chains');
  require(new Set(venues.map(({ pool }) => pool.contract)).size === venues.length, 'a contract twice');
  return venues;
}

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

/** The greatest tick whose ratio is not above a √price. */
function tickAt(price) {
  let [low, high] = [MIN_TICK, MAX_TICK];
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if (sqrtPriceAt(middle) <= price) low = middle;
    else high = middle - 1;
  }
  return low;
}

/** A state once the price of the token sold has fallen. */
function fallenState(state, base, fall) {
  require(state.protocol === 'constant_product' || RANGES.includes(state.protocol), 'a pool of a kind without this figure');
  if (fall === 0n) return state;
  const left = ONE - fall;
  const scaled = (value, by, below) => squareRoot((value * value * by) / below);
  if (state.protocol === 'constant_product') {
    const within = (reserve) => (reserve < 1n ? 1n : least(reserve, U112_MAX));
    const reserves = state.reserves
      .map((reserve, token) => within(token === base ? scaled(reserve, ONE, left) : scaled(reserve, left, ONE)));
    return { ...state, reserves };
  }
  const moved = base === 0 ? scaled(state.sqrtPrice, left, ONE) : scaled(state.sqrtPrice, ONE, left);
  const sqrtPrice = moved < MIN_SQRT_PRICE ? MIN_SQRT_PRICE : least(moved, MAX_SQRT_PRICE - 1n);
  const tick = tickAt(sqrtPrice);
  const liquidity = state.ticks.filter((one) => one.tick <= tick).reduce((sum, { net }) => sum + net, 0n);
  return { ...state, sqrtPrice, tick, liquidity };
}

/** A price once it has fallen; nothing where it would have more digits than a price has. */
function fallenPrice([numerator, denominator], fall) {
  let [left, decimals] = [ONE - fall, 8];
  while (decimals > 0 && left % 10n === 0n) [left, decimals] = [left / 10n, decimals - 1];
  const places = String(denominator).length - 1 + decimals;
  if (numerator * left > 10n ** 72n || places > 72) return undefined;
  return [numerator * left, denominator * 10n ** BigInt(decimals)];
}

/** The sale of a snapshot after the fall. */
function fallenSale(snapshot, base, fall) {
  const state = fallenState(snapshot.state, base, fall);
  const price = fallenPrice(snapshot.usd[base], fall);
  if (price === undefined) return undefined;
  const usd = snapshot.usd.map((own, token) => (token === base ? price : own));
  return saleOf({ ...snapshot, state, usd }, base);
}

function depthAt({ pool, baseUnit, quoteUnit, basis }, limit) {
  if (!inRange(basis)) return 0n;
  const weights = over(quoteUnit, times(baseUnit, [ONE - limit, ONE]));
  return depthOf({ pool, weights, dollars: dollarsOf(baseUnit) });
}

const breakEvenOf = ({ kept }) => (kept * ONE) / (ONE * ONE + kept);

function requireOneToken(asked, snapshots) {
  const sold = ({ addresses, decimals, usd }, base) => [addresses[base], decimals[base], ...usd[base]].join();
  const first = sold(snapshots[0], asked.venues[0].base);
  require(snapshots.every((snapshot, at) => sold(snapshot, asked.venues[at].base) === first), 'venues that sell two tokens');
}

/** What a slot says; nothing where a search was given up. */
function measured(asked, snapshots) {
  const [fallen, own] = [[], []];
  for (const [at, { base }] of asked.venues.entries()) {
    fallen.push(fallenSale(snapshots[at], base, asked.fall));
    own.push(depth(snapshots[at], base));
  }
  if (fallen.includes(undefined) || own.includes(null)) return undefined;
  const breakEven = fallen.map((sale) => depthAt(sale, breakEvenOf(asked)));
  if (breakEven.includes(null)) return undefined;
  const split = splitSize(fallen, asked.cascade);
  if (split.gap === undefined && split.beyond === undefined) return undefined;
  return { own, breakEven: breakEven.reduce((sum, usd) => sum + usd, 0n), split };
}

/** The first of the least, or of the greatest. */
function extreme(slots, of, isBetter) {
  let best;
  for (const one of slots) {
    const value = of(one);
    if (value !== undefined && (best === undefined || isBetter(value, best.value))) best = { value, slot: one.slot };
  }
  return best;
}

const below = (a, b) => a < b;
const above = (a, b) => a > b;

function median(values) {
  const ascending = [...values].sort((a, b) => (a < b ? -1 : Number(a > b)));
  return ascending[Math.max(1, Math.ceil((50 * ascending.length) / 100)) - 1];
}

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
