// Several venues of one token, slot by slot: what the figures that split a sale over them share.

import { depthOf } from './depth.mjs';
import { inRange, over, percentage, times } from './decimal.mjs';
import { dollarsOf, saleOf } from './method.mjs';
import { least } from './pools.mjs';
import { fields, list, poolId, require, text } from './shape.mjs';
import { largestDollars } from './sized.mjs';
import { squareRoot } from './square.mjs';
import { MAX_SQRT_PRICE, MIN_SQRT_PRICE, tickAt } from './ticks.mjs';

/** One, in millionths of a percent. */
export const ONE = 100_000_000n;
const DOLLAR = 1_000_000n;
const MAX_VENUES = 12;
const U112_MAX = 2n ** 112n - 1n;
const RANGES = ['concentrated_liquidity', 'concentrated_v4', 'concentrated_linked'];

/** A percentage from 0 on, without trailing zeros, in millionths of a percent. */
export function readPercent(value, most) {
  text(value, /^(0|[1-9][0-9]{0,2})(\.[0-9]{0,5}[1-9])?$/, 'a percentage');
  const [whole, part = ''] = value.split('.');
  const millionths = BigInt(whole) * DOLLAR + BigInt(part.padEnd(6, '0'));
  require(millionths <= most, 'a percentage out of bounds');
  return millionths;
}

export function readVenues(values) {
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

/** What depths and gaps of second versions are measured from. */
export const readReference = (value) => text(value, /^(oracle|mid)$/, 'a reference');

/** Whether a kind can be put under another price or liquidity. */
const canChange = ({ protocol }) => protocol === 'constant_product' || RANGES.includes(protocol);

export function requireKind(state) {
  require(canChange(state), 'a pool of a kind without this figure');
}

/** A state once a share of everybody's liquidity has gone. */
export function thinnedState(state, haircut) {
  requireKind(state);
  const left = (liquidity) => (liquidity * (ONE - haircut)) / ONE;
  if (state.protocol === 'constant_product') {
    return { ...state, reserves: state.reserves.map((reserve) => (left(reserve) < 1n ? 1n : left(reserve))) };
  }
  let whole = 0n;
  const ticks = state.ticks.map((one) => {
    const below = left(whole);
    whole += one.net;
    return { ...one, net: left(whole) - below };
  });
  return { ...state, ticks, liquidity: left(state.liquidity) };
}

/** A state once the price of the token sold has fallen. */
function fallenState(state, base, fall) {
  requireKind(state);
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

/** The sale of a snapshot with this state after a fall; nothing where the fallen price has more digits than a price has. */
export function fallenSale(snapshot, before, base, fall) {
  const state = fallenState(before, base, fall);
  const price = fallenPrice(snapshot.usd[base], fall);
  if (price === undefined) return undefined;
  const usd = snapshot.usd.map((own, token) => (token === base ? price : own));
  return saleOf({ ...snapshot, state, usd }, base);
}

/** The largest whole-dollar size whose fill passes; null where the search is given up, or the kind has none. */
function largestOf({ pool, baseUnit }, weights) {
  const sale = { pool, weights, dollars: dollarsOf(baseUnit) };
  if (pool.segment !== undefined) return depthOf(sale);
  return pool.atMost === undefined ? null : largestDollars(sale);
}

/** The depth at a limit in millionths of a percent; null where there is none. */
export function depthAt(sale, limit) {
  if (!inRange(sale.basis)) return 0n;
  return largestOf(sale, over(sale.quoteUnit, times(sale.baseUnit, [ONE - limit, ONE])));
}

/** What a pool holds around its own price, at such a limit: a depth with its mid in place of the oracle's price. */
export function bookOf(sale, limit) {
  const [numerator, denominator] = sale.pool.mid;
  return largestOf(sale, [denominator * ONE, numerator * (ONE - limit)]);
}

/** The share of a venue in what all hold in the last slot that is valid for all; null where one of them is unknown. */
function shareOf(asked, slots, at) {
  const [, snapshots] = slots.findLast(([, all]) => all.every((one) => one !== undefined)) ?? [];
  if (snapshots === undefined) return null;
  const measure = asked.reference === 'mid' ? bookOf : depthAt;
  const held = asked.venues.map(({ base }, place) => measure(saleOf(snapshots[place], base), 2n * DOLLAR));
  if (held.includes(null)) return null;
  const whole = held.reduce((sum, usd) => sum + usd, 0n);
  return whole === 0n ? null : percentage([held[at], whole]);
}

/**
 * Slots by the venues that take part: those in which one of them is valid are `seen`, those in which all that are expected are
 * valid are `whole`. Where `isChanged`, venues of kinds that cannot be are `left` out, each from its first snapshot on.
 */
export function takePart(asked, slots, isChanged) {
  const places = [...asked.venues.keys()];
  const firsts = places.map((at) => slots.find(([, snapshots]) => snapshots[at] !== undefined));
  const isOut = (at) => isChanged && firsts[at] !== undefined && !canChange(firsts[at][1][at].state);
  const taking = places.filter((at) => !isOut(at));
  require(taking.length > 0, 'no venue takes part');
  const left = places.filter(isOut);
  const own = slots.map(([at, snapshots]) => [at, taking.map((place) => snapshots[place])]);
  const isWhole = ([at, snapshots]) => snapshots.every((one) => one !== undefined) && left.every((place) => at >= firsts[place][0]);
  return {
    venues: taking.map((at) => asked.venues[at]),
    seen: own.filter(([, snapshots]) => snapshots.some((one) => one !== undefined)),
    whole: own.filter(isWhole),
    left: left.map((at) => ({
      depth_share_pct: shareOf(asked, slots, at),
      pool: asked.venues[at].pool.name,
      protocol: firsts[at][1][at].state.protocol,
    })),
  };
}

/** The longest run of slots with consecutive numbers, the first among equals, of numbers that ascend: its first slot and how many. */
export function longestRun(numbers) {
  const longest = { from: null, slots: 0 };
  let run = { from: undefined, slots: 0 };
  for (const at of numbers) {
    run = run.slots > 0 && run.from + run.slots === at ? { ...run, slots: run.slots + 1 } : { from: at, slots: 1 };
    if (run.slots > longest.slots) Object.assign(longest, run);
  }
  return longest;
}

/** Why slots were above a limit: a book that is too thin, or an oracle that led. */
export function causesOf(slots, limit) {
  const isThin = ({ split }) => split.beyond !== undefined || split.fromMids > limit;
  const led = slots.filter((one) => !isThin(one) && one.split.gap > limit);
  const run = longestRun(led.map(({ slot }) => slot));
  const worst = extreme(led, ({ split }) => split.gap, (a, b) => a > b);
  return {
    oracle_led_longest_run_from: run.from,
    oracle_led_longest_run_slots: run.slots,
    oracle_led_slots: led.length,
    oracle_led_worst_gap_pct: worst === undefined ? null : percentage([worst.value, ONE]),
    thin_book_slots: slots.filter(isThin).length,
  };
}

/** Requires that all venues sell one token at one price. */
export function requireOneToken(venues, snapshots) {
  const sold = ({ addresses, decimals, usd }, base) => [addresses[base], decimals[base], ...usd[base]].join();
  const first = sold(snapshots[0], venues[0].base);
  require(snapshots.every((snapshot, at) => sold(snapshot, venues[at].base) === first), 'venues that sell two tokens');
}

/** The first of the least, or of the greatest. */
export function extreme(slots, of, isBetter) {
  let best;
  for (const one of slots) {
    const value = of(one);
    if (value !== undefined && (best === undefined || isBetter(value, best.value))) best = { value, slot: one.slot };
  }
  return best;
}

/** The value at a place of a hundred, by nearest rank, of values that ascend. */
export function ranked(ascending, place) {
  return ascending[Math.max(1, Math.ceil((place * ascending.length) / 100)) - 1];
}

export function median(values) {
  const ascending = [...values].sort((a, b) => (a < b ? -1 : Number(a > b)));
  return ranked(ascending, 50);
}
