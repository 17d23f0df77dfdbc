// What a pool logged: the documents that heads commit to, and whether their logs lead from one state to another.

import { parse } from './canonical.mjs';
import { ceilDiv, poolOf } from './pools.mjs';
import { address, contract, fields, hexHash, integer, list, raw, require, signedRaw, U32_MAX, version1 } from './shape.mjs';
import { MAX_SQRT_PRICE, MAX_TICK, MIN_SQRT_PRICE, MIN_TICK, sqrtPriceAt, tickAt } from './ticks.mjs';

const MAX_BYTES = 4 << 20;
const MAX_LOGS = 4_096;
const U112_MAX = 2n ** 112n - 1n;
const U128_MAX = 2n ** 128n - 1n;
const U256_MAX = 2n ** 256n - 1n;
const KINDS = ['swap', 'liquidity', 'reserves', 'deposit', 'withdrawal'];
const NOBODY = `0x${'0'.repeat(40)}`;

const pair = (values, most) => list(values, 2, 2).map((value) => raw(value, 0n, most));
const onScale = (tick) => integer(tick, MIN_TICK, MAX_TICK);

/** How each kind of log is read. */
const READ = {
  swap(value) {
    const swap = fields(value, ['sold', 'bought'], ['price']);
    const [sold, bought] = [pair(swap.sold, U256_MAX), pair(swap.bought, U256_MAX)];
    if (swap.price === undefined) return { sold, bought };
    const { sqrt_price_x96: price, tick, liquidity } = fields(swap.price, ['sqrt_price_x96', 'tick', 'liquidity']);
    return { sold, bought, price: { sqrtPrice: raw(price, 0n, U256_MAX), tick: onScale(tick), liquidity: raw(liquidity, 0n, U128_MAX) } };
  },
  liquidity(value) {
    const { lower, upper, delta } = fields(value, ['lower', 'upper', 'delta']);
    require(onScale(lower) < onScale(upper), 'a range that ends before it begins');
    return { lower, upper, delta: signedRaw(delta) };
  },
  reserves: (value) => pair(value, U128_MAX),
  deposit: (value) => pair(value, U256_MAX),
  withdrawal: (value) => pair(value, U256_MAX),
};

function readLog(value) {
  const log = fields(value, ['block', 'index', 'transaction', 'parties'], KINDS);
  const kinds = KINDS.filter((kind) => log[kind] !== undefined);
  require(kinds.length === 1, 'a log not of one of the five kinds');
  const [kind] = kinds;
  return {
    block: integer(log.block),
    index: integer(log.index, 0, U32_MAX),
    transaction: hexHash(log.transaction),
    parties: list(log.parties, 2, 2).map(address),
    kind,
    says: READ[kind](log[kind]),
  };
}

/** A document of what a contract logged in the blocks after one and up to another. */
export function readFills(bytes) {
  const value = parse(bytes, MAX_BYTES);
  version1(value);
  const { contract: of, after_block: after, to_block: to, logs } =
    fields(value, ['v', 'contract', 'after_block', 'to_block', 'logs']);
  require(integer(after) <= integer(to), 'blocks that end before they begin');
  let last = [after, Infinity, undefined];
  let ended = new Set();
  const read = list(logs, MAX_LOGS).map((one) => {
    const log = readLog(one);
    const follows = log.block > last[0] || (log.block === last[0] && log.index > last[1]);
    require(follows && log.block <= to, 'logs out of order, or of another block');
    if (log.block > last[0]) ended = new Set();
    else if (log.transaction !== last[2]) ended.add(last[2]);
    require(!ended.has(log.transaction), 'a transaction that goes on after another one');
    last = [log.block, log.index, log.transaction];
    return log;
  });
  return { contract: contract(of), after, to, logs: read };
}

/** A sale of one token, or why a swap is none. */
export function saleIn({ sold, bought }) {
  const has = (amounts) => amounts.map((amount) => amount > 0n);
  const [into, out] = [has(sold), has(bought)];
  for (const base of [0, 1]) {
    const isSale = into[base] && !into[1 - base] && out[1 - base] && !out[base];
    if (isSale) return { base, amountIn: sold[base], amountOut: bought[1 - base] };
  }
  return { why: into.some(Boolean) && out.some(Boolean) ? 'two_sided' : 'zero' };
}

/** What a state's pool takes whole: what it brings, or nothing where it refuses. */
export function soldOnce(state, base, amount) {
  const pool = poolOf(state, base);
  if (pool.largest(amount) < amount) return undefined;
  const sale = pool.sell(amount);
  return sale.out === 0n && !pool.givesNothing ? undefined : sale;
}

/** A state of ranges at another price and with other ticks; nothing where no contract could have it. */
function ranges(state, price, ticks) {
  const { sqrtPrice, tick, liquidity } = price;
  const isPrice = sqrtPrice >= MIN_SQRT_PRICE && sqrtPrice < MAX_SQRT_PRICE && tick >= MIN_TICK && tick < MAX_TICK;
  if (!isPrice || sqrtPriceAt(tick) > sqrtPrice || sqrtPrice > sqrtPriceAt(tick + 1)) return undefined;
  let [sum, active] = [0n, 0n];
  for (const { tick: at, net, gross } of ticks) {
    const size = net < 0n ? -net : net;
    if (at % state.spacing !== 0 || gross < size || gross < 1n || gross > U128_MAX) return undefined;
    sum += net;
    if (sum < 0n || sum > U128_MAX) return undefined;
    if (at <= tick) active = sum;
  }
  return sum === 0n && active === liquidity ? { ...state, ...price, ticks } : undefined;
}

const samePrice = (a, b) => a.sqrtPrice === b.sqrtPrice && a.tick === b.tick && a.liquidity === b.liquidity;

/** Units by which a swap that ended at a price was rounded up at most: at each stop on the way its amount and its fee. */
function roundedUp({ tick, ticks, spacing, feePips: [fee] }, to) {
  const [low, high] = [Math.min(tick, to), Math.max(tick, to)];
  const words = Math.floor((high - low) / (256 * spacing));
  const crossed = ticks.filter((one) => one.tick >= low && one.tick <= high).length;
  return (2n + ceilDiv(1_000_000n, BigInt(1_000_000 - fee))) * BigInt(words + crossed + 2);
}

/** A state of ranges after a swap that it can have made; nothing where it can not. */
function swappedRanges(state, { price, ...amounts }) {
  if (price === undefined) return undefined;
  const moved = () => ranges(state, price, state.ticks);
  const { base, amountIn, amountOut, why } = saleIn(amounts);
  if (why !== undefined) return moved();
  const sold = soldOnce(state, base, amountIn);
  if (sold === undefined) return undefined;
  if (sold.out === amountOut && samePrice(sold.end, price)) return { ...state, ...price };
  // One that ended at a price or at an output: of as much, or of the units less by which that is rounded up.
  const fewer = amountIn - roundedUp(state, price.tick);
  const less = fewer > 0n ? soldOnce(state, base, fewer) : undefined;
  const [from, to] = [less?.end.sqrtPrice ?? state.sqrtPrice, sold.end.sqrtPrice];
  const ranDry = price.liquidity === 0n && sold.end.liquidity === 0n;
  const [a, b, c] = base === 0 ? [to, price.sqrtPrice, from] : [from, price.sqrtPrice, to];
  const isBetween = base === 0 ? b <= c && (ranDry || a <= b) : a <= b && (ranDry || b <= c);
  const canBe = amountOut >= (less?.out ?? 0n) && amountOut <= sold.out && isBetween;
  return canBe ? moved() : undefined;
}

/** A state of ranges with more or less liquidity between two ticks. */
function withRange(state, { lower, upper, delta }) {
  const ticks = new Map(state.ticks.map((one) => [one.tick, one]));
  for (const [tick, change] of delta === 0n ? [] : [[lower, delta], [upper, -delta]]) {
    const { net, gross } = ticks.get(tick) ?? { net: 0n, gross: 0n };
    ticks.set(tick, { tick, net: net + change, gross: gross + delta });
    if (gross + delta < 0n) return undefined;
    if (gross + delta === 0n) ticks.delete(tick);
  }
  const isActive = lower <= state.tick && state.tick < upper;
  const { sqrtPrice, tick } = state;
  const price = { sqrtPrice, tick, liquidity: state.liquidity + (isActive ? delta : 0n) };
  return ranges(state, price, [...ticks.values()].sort((one, other) => one.tick - other.tick));
}

const rangesAfter = (state, { kind, says }) => {
  if (kind === 'swap') return swappedRanges(state, says);
  return kind === 'liquidity' ? withRange(state, says) : undefined;
};

const sameTicks = (ours, theirs) => ours.length === theirs.length && ours.every(({ tick, net, gross }, at) => {
  const other = theirs[at];
  return tick === other.tick && net === other.net && gross === other.gross;
});

/** What a state's pool pays for an amount: nothing for none, and for one that rounds to nothing. */
export function paidOnce(state, base, amount) {
  return amount === 0n ? 0n : soldOnce(state, base, amount)?.out ?? 0n;
}

/**
 * Whether a swap is no fill of the amount sold, but one that a state's pool can have made for a given output: what it paid is
 * from what one unit less sold pays up to what all of it pays.
 */
function isForOutput(state, { price, ...amounts }) {
  const { base, amountIn, amountOut, why } = saleIn(amounts);
  const sold = why === undefined ? soldOnce(state, base, amountIn) : undefined;
  if (sold === undefined || amountOut > sold.out) return false;
  if (amountOut === sold.out && (price === undefined || samePrice(sold.end, price))) return false;
  return amountOut >= paidOnce(state, base, amountIn - 1n);
}

function replayRanges(from, logs, to) {
  const forOutput = new Set();
  let made = from;
  for (const log of logs) {
    const after = rangesAfter(made, log);
    if (after === undefined) return undefined;
    if (log.kind === 'swap' && isForOutput(made, log.says)) forOutput.add(log);
    made = after;
  }
  const isSame = samePrice(made, to) && made.spacing === to.spacing && made.feePips[0] === to.feePips[0]
    && sameTicks(made.ticks, to.ticks);
  return isSame ? forOutput : undefined;
}

/** Whether a log says what changed reserves. */
function explains({ kind, says }, before, now) {
  return [0, 1].every((token) => {
    const [had, has] = [before[token], now[token]];
    switch (kind) {
      case 'swap': return says.price === undefined && had + says.sold[token] - says.bought[token] === has;
      case 'deposit': return had + says[token] === has;
      // What somebody gave the pair before stays in it.
      case 'withdrawal': return has + says[token] >= had;
      default: return false;
    }
  });
}

/** Reserves come in a log of their own, and then what changed them; without that, they were a gift. */
function replayReserves(from, logs, to) {
  const forOutput = new Set();
  let [now, before] = [from.reserves, undefined];
  const isSettled = () => before === undefined || [0, 1].every((token) => now[token] >= before[token]);
  for (const log of logs) {
    if (log.kind === 'reserves') {
      const holds = log.says.every((reserve) => reserve >= 1n && reserve <= U112_MAX);
      if (!isSettled() || !holds) return undefined;
      [before, now] = [now, log.says];
    } else {
      if (before === undefined || !explains(log, before, now)) return undefined;
      if (log.kind === 'swap' && isForOutput({ ...from, reserves: before }, log.says)) forOutput.add(log);
      before = undefined;
    }
  }
  const [a, b] = [from.fee, to.fee];
  const isSame = [0, 1].every((token) => now[token] === to.reserves[token]) && a[0] === b[0] && a[1] === b[1];
  return isSettled() && isSame ? forOutput : undefined;
}

/** Whether a kind's logs are known. */
export const isToldOf = ({ protocol }) => protocol === 'concentrated_liquidity' || protocol === 'constant_product';

/** Those of the logs that are orders for an output, where logs lead from a state to another, bit for bit; else nothing. */
export function replay(from, logs, to) {
  if (from.protocol !== to.protocol) return undefined;
  return (from.protocol === 'constant_product' ? replayReserves : replayRanges)(from, logs, to);
}

/** Whether one log takes out of a range what another put into it. */
const isJit = (come, left) => come.kind === 'liquidity' && left.kind === 'liquidity'
  && come.parties[0] === left.parties[0] && come.says.lower === left.says.lower && come.says.upper === left.says.upper
  && come.says.delta > 0n && left.says.delta < 0n;

/** Sales in the two nearest transactions of these logs, beside a swap's own. */
function near(swap, logs) {
  const [seen, found] = [new Set(), []];
  for (const log of logs) {
    if (log.transaction === swap.transaction) continue;
    seen.add(log.transaction);
    if (seen.size > 2) break;
    if (log.kind !== 'swap') continue;
    const { base } = saleIn(log.says);
    if (base !== undefined) found.push({ base, parties: log.parties });
  }
  return found;
}

/** What stood around the swap at a place among logs of a stretch. */
export function flagsOf(logs, place) {
  const swap = logs[place];
  const inBlock = (log) => log.block === swap.block;
  const [before, after] = [logs.slice(0, place).filter(inBlock), logs.slice(place + 1).filter(inBlock)];
  const share = (some, others) => some.some((one) => one !== NOBODY && others.includes(one));
  const [earlier, later] = [near(swap, before.toReversed()), near(swap, after)];
  return {
    same_tx: [...before, ...after].some((log) => log.kind === 'swap' && log.transaction === swap.transaction),
    jit: before.some((come) => after.some((left) => isJit(come, left))),
    sandwich_suspected: earlier.some(({ base, parties }) =>
      later.some((back) => back.base !== base && share(parties, back.parties))),
  };
}
