// A snapshot, read into what the method computes from.

import { bytesOf } from './canonical.mjs';
import { address, boolean, fields, instant, integer, hexHash, label, list, poolId, raw, require,
  signedRaw, slot, text, version1 } from './shape.mjs';
import { MAX_TICK, MIN_TICK, sqrtPriceAt } from './ticks.mjs';

const MAX_BYTES = 4 * 1024 * 1024;
const MAX_TICKS = 65_536;
/** The longest time between a slot's instant and its block. */
const MAX_BLOCK_AGE_S = 600;

const U80_MAX = 2n ** 80n - 1n;
const U112_MAX = 2n ** 112n - 1n;
const U128_MAX = 2n ** 128n - 1n;
const U160_MAX = 2n ** 160n - 1n;

function readToken(value) {
  const token = fields(value, ['address', 'decimals', 'symbol']);
  label(token.symbol, 32);
  return { address: address(token.address), decimals: integer(token.decimals, 0, 36) };
}

function readConstantProduct(value) {
  const names = ['protocol', 'reserves', 'fee_numerator', 'fee_denominator'];
  const state = fields(value, names);
  const denominator = integer(state.fee_denominator, 1, 1_000_000);
  const numerator = integer(state.fee_numerator, 0, denominator - 1);
  return {
    protocol: state.protocol,
    reserves: list(state.reserves, 2, 2).map((reserve) => raw(reserve, 1n, U112_MAX)),
    fee: [BigInt(numerator), BigInt(denominator)],
  };
}

/** Every initialised tick, from the lowest, as `{tick, net}`. */
function readTicks(values, spacing) {
  return list(values, MAX_TICKS).map((pair, at) => {
    const [tick, net] = list(pair, 2, 2);
    integer(tick, MIN_TICK, MAX_TICK);
    require(tick % spacing === 0, 'a tick off the spacing');
    require(at === 0 || values[at - 1][0] < tick, 'ticks that do not ascend');
    return { tick, net: signedRaw(net) };
  });
}

function readConcentrated(value) {
  const state = fields(value, ['protocol', 'sqrt_price_x96', 'tick', 'liquidity', 'fee_pips',
    'tick_spacing', 'ticks']);
  const tick = integer(state.tick, MIN_TICK, MAX_TICK - 1);
  // The page names no bounds; these are the factory contract's.
  const spacing = integer(state.tick_spacing, 1, 16_383);
  const feePips = integer(state.fee_pips, 0, 999_999);
  const sqrtPrice = raw(state.sqrt_price_x96, 1n, U160_MAX);
  require(sqrtPriceAt(tick) <= sqrtPrice && sqrtPrice <= sqrtPriceAt(tick + 1),
    'a price outside its tick');
  const liquidity = raw(state.liquidity, 0n, U128_MAX);
  const ticks = readTicks(state.ticks, spacing);
  let [sum, active] = [0n, 0n];
  for (const { tick: at, net } of ticks) {
    sum += net;
    require(sum >= 0n && sum <= U128_MAX, 'liquidity out of range');
    if (at <= tick) active = sum;
  }
  require(sum === 0n, 'liquidity that does not end');
  require(active === liquidity, 'liquidity other than that of the ticks');
  return { protocol: state.protocol, sqrtPrice, tick, liquidity, feePips, spacing, ticks };
}

/** The state of a pool, for `poolOf`. */
export function readState(value) {
  switch (value?.protocol) {
    case 'constant_product':
      return readConstantProduct(value);
    case 'concentrated_liquidity':
      return readConcentrated(value);
    default:
      return require(false, 'an unknown protocol');
  }
}

function readReading(value, kind, blockTimestamp) {
  const feed = ['feed', 'round', 'updated_at', 'heartbeat_s'];
  const onChain = value?.source === 'chainlink';
  require(onChain || value?.source === 'fixed', 'an unknown source');
  require(onChain || kind !== 'live', 'a fixed reading of a live chain');
  fields(value, ['source', 'role', 'answer', 'decimals', ...(onChain ? feed : [])]);
  const role = text(value.role, /^(token[01]_usd|sequencer_uptime)$/, 'a role');
  const sequencer = role === 'sequencer_uptime';
  require(onChain || !sequencer, 'a fixed sequencer');
  const reading = {
    token: { token0_usd: 0, token1_usd: 1 }[role],
    answer: sequencer ? raw(value.answer, 0n, 1n) : raw(value.answer, 1n, 10n ** 36n),
    decimals: integer(value.decimals, 0, sequencer ? 0 : 36),
    stale: false,
  };
  if (onChain) {
    address(value.feed);
    raw(value.round, 0n, U80_MAX);
    const updatedAt = integer(value.updated_at, 1, blockTimestamp);
    const past = blockTimestamp - updatedAt > integer(value.heartbeat_s);
    reading.stale = sequencer ? reading.answer === 1n || !past : past;
  }
  return reading;
}

/** The USD price of one whole token: the product of its readings. */
function usdPrice(readings, token) {
  const own = readings.filter((reading) => reading.token === token);
  require(own.length === 1 || own.length === 2, 'not one or two readings of a token');
  return own.reduce(([numerator, denominator], { answer, decimals }) =>
    [numerator * answer, denominator * 10n ** BigInt(decimals)], [1n, 1n]);
}

export function readSnapshot(value) {
  const names = ['v', 'pool', 'chain', 'slot', 'block', 'tokens', 'state', 'oracles', 'session'];
  const snapshot = fields(value, names);
  version1(snapshot.v);
  require(bytesOf(snapshot).length <= MAX_BYTES, 'more than 4 MiB');
  const chain = fields(snapshot.chain, ['caip2', 'kind']);
  text(chain.caip2, /^eip155:[1-9][0-9]{0,31}$/, 'an EVM chain');
  const kind = text(chain.kind, /^(live|preview)$/, 'a kind of chain');
  const block = fields(snapshot.block, ['hash', 'number', 'timestamp']);
  hexHash(block.hash);
  integer(block.number);
  const timestamp = integer(block.timestamp);
  const tokens = list(snapshot.tokens, 2, 2).map(readToken);
  require(tokens[0].address < tokens[1].address, 'tokens out of order');
  const readings = list(snapshot.oracles, 5)
    .map((reading) => readReading(reading, kind, timestamp));
  require(readings.filter(({ token }) => token === undefined).length <= 1, 'two sequencers');
  const session = fields(snapshot.session, ['market_open', 'note']);
  boolean(session.market_open);
  label(session.note, 64);
  return {
    pool: poolId(snapshot.pool),
    slot: slot(snapshot.slot),
    timestamp,
    kind,
    decimals: tokens.map((token) => token.decimals),
    usd: [usdPrice(readings, 0), usdPrice(readings, 1)],
    stale: readings.some((reading) => reading.stale),
    state: readState(snapshot.state),
    session,
  };
}

/** The half of the slot and block rule a file can show. */
export function requireSlotRule(snapshot, pool, ofSlot) {
  require(snapshot.pool === pool, 'a snapshot of another pool');
  require(snapshot.slot === ofSlot, 'a snapshot of another slot');
  const age = instant(ofSlot) - snapshot.timestamp;
  require(age >= 0, 'a block after the slot');
  require(age <= MAX_BLOCK_AGE_S, 'a block more than 600 s before the slot');
}
