// Sales executed pool by pool, `route/1` of one token and `portfolio/1` of several: what a plan brings, and how far it is
// from the best one. No plan is searched for here.

import { inRange, millionthsOf, oneMinus, over, percentage } from './decimal.mjs';
import { gainOf, isLawful } from './gain.mjs';
import { writeSize } from './method.mjs';
import { ceilDiv, least, poolOf } from './pools.mjs';
import { address, fields, list, poolId, raw, require, slot, text } from './shape.mjs';

const MAX_CASH = 8;
const MAX_SOLD = 24;
const MAX_POOLS = 24;
const MAX_PRICES = 48;
const MAX_HOPS = 3;
const U256_MAX = 2n ** 256n - 1n;
/** What prices count in, parts of a dollar. */
const PARTS = 2n ** 160n;
/** A raw unit is worth less, in dollars. */
const MOST_WORTH = 2n ** 96n;
const MICRO = 1_000_000n;
const MOST_MICROS = 2n ** 64n - 1n;
const HUNDRED = 100_000_000n;

/** Requires names in their order, each once. */
function requireAscending(names) {
  require(names.every((name, at) => at === 0 || names[at - 1] < name), 'not ascending, or one twice');
}

function readLeg(value) {
  const { amount_in: amount, base, pool } = fields(value, ['amount_in', 'base', 'pool']);
  text(base, /^token[01]$/, 'a base');
  return { amount: raw(amount, 1n, U256_MAX), base: base === 'token0' ? 0 : 1, pool: poolId(pool) };
}

function readPrice(value) {
  const { token, value: price } = fields(value, ['token', 'value']);
  return [address(token), raw(price, 1n, U256_MAX)];
}

function readSold(value) {
  const { amount_in: amount, token } = fields(value, ['amount_in', 'token']);
  return { amount: raw(amount, 1n, U256_MAX), token: address(token) };
}

/** What is asked of a route. */
export function readRoute(value) {
  const { amount_in, token, ...asked } = fields(value, ['amount_in', 'cash', 'legs', 'pools', 'prices', 'slot', 'token']);
  return readPlan(asked, [readSold({ amount_in, token })]);
}

/** What is asked of a portfolio. */
export function readPortfolio(value) {
  const { sold, ...asked } = fields(value, ['cash', 'legs', 'pools', 'prices', 'slot', 'sold']);
  return readPlan(asked, list(sold, MAX_SOLD).map(readSold));
}

function readPlan(asked, sold) {
  slot(asked.slot);
  const cash = list(asked.cash, MAX_CASH).map(address);
  const pools = list(asked.pools, MAX_POOLS).map(poolId);
  const legs = list(asked.legs, MAX_POOLS).map(readLeg);
  const prices = list(asked.prices, MAX_PRICES).map(readPrice);
  require([sold, cash, pools, legs].every(({ length }) => length > 0), 'nothing sold, no cash, no pool or no leg');
  const tokens = sold.map(({ token }) => token);
  [tokens, cash, pools.map(({ name }) => name), prices.map(([of]) => of)].forEach(requireAscending);
  require(!tokens.some((token) => cash.includes(token)), 'a token that is cash already');
  const chain = ({ name }) => name.split(':')[0];
  require(pools.every((pool) => chain(pool) === chain(pools[0])), 'pools of two chains');
  return { from: asked.slot, to: asked.slot, sold, cash, pools, legs, prices: new Map(prices) };
}

/** The pools' snapshots in their order, of one block. */
function snapshotsOf({ pools }, slots) {
  const [[, snapshots] = [undefined, []]] = slots;
  require(pools.every((_, at) => snapshots[at] !== undefined), 'a pool without a snapshot', 'route_pool_missing');
  const blockOf = ({ block, blockHash, timestamp }) => [block, blockHash, timestamp].join();
  require(snapshots.every((one) => blockOf(one) === blockOf(snapshots[0])), 'snapshots of two blocks', 'route_other_block');
  return snapshots;
}

/** What the pools say of a token: its decimals and its price. */
function saidOf(snapshots, token) {
  return snapshots.flatMap(({ addresses, decimals, usd }) => addresses
    .flatMap((own, at) => (own === token ? [{ decimals: decimals[at], usd: usd[at] }] : [])));
}

/** What a raw unit of each token sold and of each cash token is worth in dollars, as fractions. */
function worthsOf({ sold, cash }, snapshots) {
  const said = [...sold.map(({ token }) => token), ...cash].map((of) => [of, saidOf(snapshots, of)]);
  const same = (a, b) => a.decimals === b.decimals && a.usd[0] * b.usd[1] === b.usd[0] * a.usd[1];
  const isOne = ([, all]) => all.every((one) => same(one, all[0]));
  require(said.every(isOne), 'a token of two prices or decimals', 'figure_other_token');
  require(said.every(([, all]) => all.length > 0), 'a token that no pool trades', 'route_network');
  const worths = said.map(([of, [{ decimals, usd }]]) => [of, over(usd, [10n ** BigInt(decimals), 1n])]);
  const isWorth = ([, [above, below]]) => above * PARTS >= below && above < MOST_WORTH * below;
  require(worths.every(isWorth), 'a raw unit that is worth too much, or nothing', 'route_network');
  return new Map(worths);
}

/** How many pools each token is away from these, along steps from one token to another. */
function distancesOf(starts, steps) {
  const known = new Map(starts.map((token) => [token, 0]));
  for (let far = 1; far <= MAX_HOPS; far += 1) {
    const next = steps.filter(([from, to]) => known.get(from) === far - 1 && !known.has(to));
    next.forEach(([, to]) => known.set(to, far));
  }
  return known;
}

/** Which of all directions lie on a path from one token to cash. */
function countingFor(token, cash, all) {
  const admissible = all.filter(({ sold, bought }) => !cash.includes(sold) && bought !== token);
  const away = distancesOf([token], admissible.map(({ sold, bought }) => [sold, bought]));
  const near = distancesOf(cash, admissible.map(({ sold, bought }) => [bought, sold]));
  const hops = ({ sold, bought }) => (away.get(sold) ?? Infinity) + 1 + (near.get(bought) ?? Infinity);
  return admissible.filter((one) => hops(one) <= MAX_HOPS);
}

/** The directions that count: each a pool's place, the token sold in it as its base, and both tokens. */
function directionsOf({ sold, cash, pools }, snapshots) {
  const all = snapshots.flatMap(({ addresses }, place) => [0, 1]
    .map((base) => ({ place, base, sold: addresses[base], bought: addresses[1 - base] })));
  const ofTokens = sold.map(({ token }) => countingFor(token, cash, all));
  const counting = all.filter((one) => ofTokens.some((own) => own.includes(one)));
  const isOnPath = (_, at) => counting.some(({ place }) => place === at);
  require(pools.every(isOnPath), 'a pool that leads from nothing to cash', 'route_off_path');
  require(cash.every((of) => counting.some(({ bought }) => bought === of)), 'cash that no pool brings', 'figure_parameter');
  return counting;
}

/** Requires prices of exactly the tokens that a bound needs; of none where there is no bound. */
function requirePrices({ cash, prices }, directions, isBound) {
  const tokens = directions.flatMap(({ sold, bought }) => [sold, bought]).filter((of) => !cash.includes(of));
  const needed = new Set(isBound ? tokens : []);
  require(needed.size === prices.size && [...needed].every((of) => prices.has(of)), 'prices of other tokens', 'route_prices');
}

/** What the contract pays for an amount. */
function paidFor({ state, pair }, base, amount) {
  const pool = poolOf(state, base, pair);
  require(pool.largest(amount) === amount, 'more than a pool takes', 'route_leg_refused');
  const { out } = pool.sell(amount);
  require(out > 0n || pool.givesNothing, 'a sale that a pool refuses', 'route_leg_refused');
  return out;
}

/** What each leg buys, and the cash that is held in the end by token. */
function executed({ sold: all, cash, pools, legs }, snapshots, directions) {
  const held = new Map(all.map(({ token, amount }) => [token, amount]));
  const used = new Set();
  const outs = legs.map((leg) => {
    const direction = directions.find(({ place, base }) => pools[place].name === leg.pool.name && base === leg.base);
    require(direction !== undefined, 'a leg of another pool or direction', 'route_off_path');
    require(!used.has(leg.pool.contract), 'a contract that an earlier leg used', 'route_pool_twice');
    used.add(leg.pool.contract);
    const { place, sold, bought } = direction;
    const has = held.get(sold) ?? 0n;
    require(has >= leg.amount, 'a leg that sells more than is held', 'route_flow');
    const out = paidFor(snapshots[place], leg.base, leg.amount);
    held.set(sold, has - leg.amount);
    held.set(bought, (held.get(bought) ?? 0n) + out);
    return out;
  });
  require([...held].every(([of, left]) => left === 0n || cash.includes(of)), 'something left that is no cash', 'route_flow');
  return { outs, received: cash.map((of) => [of, held.get(of) ?? 0n]).filter(([, has]) => has > 0n) };
}

/** The dollars of amounts by token, as a fraction. */
function dollarsOf(received, worths) {
  return received.map(([of, amount]) => [worths.get(of)[0] * amount, worths.get(of)[1]])
    .reduce(([a, b], [c, d]) => [a * d + c * b, b * d], [0n, 1n]);
}

const sum = (values) => values.reduce((all, one) => all + one, 0n);

/** What no plan brings more than, in parts of a dollar. */
function boundOf({ sold: all, cash, pools, prices }, snapshots, directions, worths) {
  const up = ([above, below]) => ceilDiv(above * PARTS, below);
  const prizes = new Map([...prices, ...cash.map((of) => [of, up(worths.get(of))])]);
  const gains = new Map();
  for (const { place, base, sold, bought } of directions) {
    const gain = gainOf(snapshots[place], base, prizes.get(sold), prizes.get(bought));
    const { contract } = pools[place];
    const best = gains.get(contract) ?? 0n;
    gains.set(contract, gain > best ? gain : best);
  }
  return sum(all.map(({ token, amount }) => prizes.get(token) * amount)) + sum([...gains.values()]);
}

/** How far a plan is from a bound at most, in millionths of a percent. */
function shortOf({ sold }, bound, received, worths) {
  const down = (of) => (worths.get(of)[0] * PARTS) / worths.get(of)[1];
  const missing = bound - sum(received.map(([of, has]) => has * down(of)));
  const worth = sum(sold.map(({ token, amount }) => amount * down(token)));
  const short = missing > 0n ? ceilDiv(missing * HUNDRED, worth) : 0n;
  require(bound <= U256_MAX && inRange([short, HUNDRED]), 'a bound out of range', 'route_gap');
  return percentage([short, HUNDRED]);
}

const written = (micros) => writeSize(least(micros, MOST_MICROS));

/** The figure of a slot, with the snapshots of its pools. */
export function route(asked, slots) {
  const snapshots = snapshotsOf(asked, slots);
  const worths = worthsOf(asked, snapshots);
  const directions = directionsOf(asked, snapshots);
  const isBound = snapshots.every(({ state }) => isLawful(state));
  requirePrices(asked, directions, isBound);
  const { outs, received } = executed(asked, snapshots, directions);
  const [above, below] = dollarsOf(received, worths);
  const gap = oneMinus(over([above, below], dollarsOf(asked.sold.map(({ token, amount }) => [token, amount]), worths)));
  require(inRange(gap), 'a gap out of range', 'route_gap');
  const bound = isBound ? boundOf(asked, snapshots, directions, worths) : undefined;
  const orNull = (write) => (bound === undefined ? null : write(bound));
  return {
    bound: orNull(String),
    bound_usd: orNull((parts) => written(ceilDiv(parts * MICRO, PARTS))),
    exit_gap_pct: percentage([millionthsOf(gap), HUNDRED]),
    legs_out: outs.map(String),
    optimality_gap_pct: orNull((parts) => shortOf(asked, parts, received, worths)),
    received: received.map(([of, amount]) => ({ amount_out: String(amount), token: of })),
    received_usd: written((above * MICRO) / below),
    status: snapshots.every(({ kind }) => kind === 'live') ? 'live' : 'preview',
  };
}
