// A snapshot and the state it names, read into what the method computes from.

import { bytesOf, documentBytes } from './canonical.mjs';
import { sessionAt } from './hours.mjs';
import { isStale, readReading, requireReadings, usdPrice } from './oracle.mjs';
import { address, code, contract, fields, hexHash, instant, integer, label, list, Newer, require,
  slot, text, U64_MAX } from './shape.mjs';
import { nameOf, readState } from './state.mjs';

// Facts that are known, though nothing that is computed depends on them: a pool's key, and a factory's word.
const KNOWN_FACTS = ['aerodrome_v2', 'algebra_integral', 'curve_stable_ng', 'pancake_v3', 'pool_key', 'slipstream',
  'sushi_v3', 'uniswap_v2', 'uniswap_v3'];
const MAX_BYTES = 128 * 1024;
const MAX_TOKENS = 8;
const MAX_DECIMALS = 36;
/** Two for each token, and the sequencer's. */
const MAX_READINGS = 2 * MAX_TOKENS + 1;
const MAX_FACTS = 32;
/** The longest time between a slot's instant and its block. */
const MAX_BLOCK_AGE_S = 600;

/** Networks that are live by their id, with the hash of their block 0. */
const KNOWN_NETWORKS = new Map([
  ['1', '0xd4e56740f876aef8c010b86a40d5f56745a118d0906a34e69aec8c0db1cb8fa3'],
  ['10', '0x7ca38a1916c42007829c55e69d3e9a73265554b586a499015373241b8a3fa48b'],
  ['8453', '0xf712aa9241cc24369b143cf6dce85f0902a9731e70d66818a3a5845b296c73dd'],
  ['42161', '0x7ee576b35482195fc49205cec9af72ce14f003b9ae69f6ba0faef4514be8b442'],
]);

function readChain(value) {
  const chain = fields(value, ['caip2', 'kind'], ['genesis']);
  const [, id] = text(chain.caip2, /^eip155:(0|[1-9][0-9]{0,19})$/, 'an EVM chain').split(':');
  require(BigInt(id) <= U64_MAX, 'a chain id of more than 64 bits');
  if (chain.genesis !== undefined) {
    hexHash(chain.genesis);
    require(chain.kind === 'live', 'the genesis of a preview chain');
  }
  const known = KNOWN_NETWORKS.get(id);
  if (chain.kind === 'live') {
    require(known !== undefined || chain.genesis !== undefined, 'a live chain that is not known, without its genesis');
    require(known === undefined || [undefined, known].includes(chain.genesis), 'the genesis of another network');
  }
  return text(chain.kind, /^(live|preview)$/, 'a kind of chain');
}

/** The block's timestamp: the half of the slot and block rule that a snapshot shows. */
function readBlock(value, ofSlot) {
  const block = fields(value, ['hash', 'number', 'timestamp']);
  hexHash(block.hash);
  const age = instant(ofSlot) - integer(block.timestamp);
  require(age >= 0, 'a block after the slot');
  require(age <= MAX_BLOCK_AGE_S, 'a block more than 600 s before the slot');
  return { block: integer(block.number), blockHash: block.hash, timestamp: block.timestamp };
}

function readToken(value) {
  const token = fields(value, ['address', 'decimals', 'symbol']);
  label(token.symbol, 32);
  return { address: address(token.address), decimals: integer(token.decimals, 0, 255) };
}

/** One session per token with a calendar, which says what its table does of the block; of another table, that it is newer. */
function readSessions(values, tokens, timestamp) {
  let last = -1;
  return list(values).map((value) => {
    const session = fields(value, ['token', 'calendar', 'table', 'state', 'note']);
    last = integer(session.token, last + 1, tokens - 1);
    code(session.state);
    label(session.note, 64);
    const said = sessionAt(code(session.calendar), hexHash(session.table), timestamp);
    if (said instanceof Newer) return said;
    require(session.state === said.state && session.note === said.note, 'a session other than the table\'s');
    const { token, calendar, table } = session;
    return { ...said, token, calendar, table };
  });
}

/** Raw words of the same block. What they mean is for the rules that use them. */
function readFacts(values) {
  const keys = list(values, MAX_FACTS).map((value) => {
    const fact = fields(value, ['name', 'contract', 'call', 'words']);
    list(fact.words, 32).forEach(hexHash);
    return [code(fact.name), address(fact.contract),
      text(fact.call, /^0x([0-9a-f]{2}){4,132}$/, 'a call')];
  });
  const ascends = (a, b) => {
    const at = a.findIndex((key, index) => key !== b[index]);
    return at >= 0 && a[at] < b[at];
  };
  require(keys.every((key, at) => at === 0 || ascends(keys[at - 1], key)), 'facts out of order');
}

/** The state that the snapshot names; where only a later version knows it, that. */
function readNamedState(value, name) {
  require(nameOf(bytesOf(value)) === name, 'a state other than the snapshot\'s');
  try {
    return readState(value);
  } catch (error) {
    if (error instanceof Newer) return error;
    throw error;
  }
}

/** Requires that the tokens are those that the state pools. */
function requireTokens(tokens, { protocol, balances, units, precisions }) {
  require(tokens.length === (balances?.length ?? 2), 'tokens other than the state\'s');
  const inOrder = !['stableswap', 'cryptoswap'].includes(protocol);
  for (const [at, { address: own }] of tokens.entries()) {
    require(tokens.slice(0, at).every(({ address: other }) => (inOrder ? other < own : other !== own)),
      'a token twice, or tokens out of order');
  }
  require(units === undefined || tokens.every(({ decimals }, at) => 10n ** BigInt(decimals) === units[at]),
    'decimals other than the state\'s');
  // A cryptoswap keeps what its raw units are scaled by.
  require(precisions === undefined || tokens.every(({ decimals }, at) => decimals <= 18 && 10n ** BigInt(18 - decimals) === precisions[at]),
    'decimals other than the state\'s');
}

/** The two tokens of the contract that a pool is of. */
function pairOf(pool, tokens) {
  if (tokens === 2) return [0, 1];
  require(pool.pair !== undefined && pool.pair[1] < tokens, 'no pair of the contract\'s tokens');
  return pool.pair;
}

/** What is computed with of a pool's own two tokens. */
function readPriced({ tokens, readings, timestamp, pair }) {
  const own = readings.filter(({ place, sequencer }) => sequencer || pair.includes(place));
  for (const at of tokens.keys()) {
    require(pair.includes(at) || readings.filter(({ place }) => place === at).length <= 2,
      'more than two readings of a token');
  }
  return {
    pair,
    addresses: pair.map((at) => tokens[at].address),
    decimals: pair.map((at) => tokens[at].decimals),
    usd: pair.map((at) => usdPrice(readings, at)),
    stale: own.some((reading) => isStale(reading, timestamp)),
    // Those that count, the token's by its place among the pool's own two.
    readings: own.map((reading) => ({ ...reading, own: pair.indexOf(reading.place) })),
    timestamp,
    // When each of the two tokens' feeds last had a round, as far as they have rounds.
    rounds: pair.map((at) => readings.filter(({ place, round }) => place === at && round !== undefined)
      .map(({ round }) => round.updatedAt)),
  };
}

/**
 * A snapshot, read for a pool: `{contract, slot, tokens}`, how many of these, and with it either what a result follows from, or as
 * `newer` what of it only a later version knows.
 */
export function readSnapshot(value, stateValue, pool) {
  documentBytes(value, MAX_BYTES);
  const snapshot = fields(value, ['v', 'contract', 'chain', 'slot', 'block', 'tokens', 'state',
    'oracles', 'sessions', 'facts']);
  const kind = readChain(snapshot.chain);
  const { block, blockHash, timestamp } = readBlock(snapshot.block, slot(snapshot.slot));
  const tokens = list(snapshot.tokens, MAX_TOKENS).map(readToken);
  require(tokens.length >= 2, 'fewer than two tokens');
  const readings = list(snapshot.oracles, MAX_READINGS)
    .map((reading) => readReading(reading, tokens.length));
  const sessions = readSessions(snapshot.sessions, tokens.length, timestamp);
  readFacts(snapshot.facts);
  const state = readNamedState(stateValue, hexHash(snapshot.state));
  const known = { contract: contract(snapshot.contract), slot: snapshot.slot, tokens: tokens.length };
  require(tokens.every(({ decimals }) => decimals <= MAX_DECIMALS), 'more than 36 decimals');
  requireReadings(readings.filter((reading) => !(reading instanceof Newer)), kind, timestamp);
  const newer = [state, ...readings.toReversed(), ...sessions].find((part) => part instanceof Newer);
  if (newer !== undefined) return { ...known, newer };
  const facts = snapshot.facts.map(({ name }) => name).filter((name) => !KNOWN_FACTS.includes(name));
  requireTokens(tokens, state);
  const pair = pairOf(pool, tokens.length);
  const own = sessions.filter(({ token }) => pair.includes(token));
  const priced = readPriced({ tokens, readings, timestamp, pair });
  return { ...known, block, blockHash, facts, said: snapshot.facts, kind, state, sessions: own, ...priced };
}

/** Whether a pool is of the snapshot: a pair is named exactly where there are more tokens than two. */
function holds({ contract: held, tokens }, pool) {
  if (pool.contract !== held) return false;
  return pool.pair === undefined ? tokens === 2 : tokens > 2 && pool.pair[1] < tokens;
}

/** Requires the snapshot of a pool at a slot. */
export function requireOf(snapshot, pool, ofSlot) {
  require(holds(snapshot, pool), 'a snapshot of another pool');
  require(snapshot.slot === ofSlot, 'a snapshot of another slot');
}
