// Oracle readings: what a price feed said at a snapshot's block.

import { address, code, fields, integer, Newer, open, raw, require, text, U32_MAX } from './shape.mjs';

const MAX_ANSWER = 10n ** 36n;
const MAX_DECIMALS = 36;
const U80_MAX = 2n ** 80n - 1n;
const U128_MAX = 2n ** 128n - 1n;
const U256_MAX = 2n ** 256n - 1n;

const FEED = ['feed', 'round', 'updated_at', 'heartbeat_s'];

/** The round of a Chainlink feed. */
function readRound(value) {
  return {
    feed: address(value.feed),
    id: raw(value.round, 0n, U128_MAX),
    updatedAt: integer(value.updated_at),
    heartbeat: integer(value.heartbeat_s, 0, U32_MAX),
  };
}

/** A reading by its form alone, of one of so many tokens; of another source, that it is newer. */
export function readReading(value, tokens) {
  const { source } = open(value, ['source']);
  if (!['chainlink', 'fixed'].includes(code(source))) return new Newer('oracle', source);
  const onChain = source === 'chainlink';
  const role = text(value.role, /^(token_usd|sequencer_uptime)$/, 'a role');
  const ofToken = role === 'token_usd' ? ['token'] : [];
  fields(value, ['source', 'role', 'answer', 'decimals', ...ofToken, ...(onChain ? FEED : [])]);
  return {
    // The sequencer comes after every token.
    place: role === 'token_usd' ? integer(value.token, 0, tokens - 1) : tokens,
    sequencer: role === 'sequencer_uptime',
    answer: raw(value.answer, 0n, U256_MAX),
    decimals: integer(value.decimals, 0, 255),
    round: onChain ? readRound(value) : undefined,
  };
}

function requireReading({ sequencer, answer, decimals, round }, kind, blockTimestamp) {
  require(round !== undefined || kind !== 'live', 'a fixed reading of a live chain');
  if (sequencer) {
    require(round !== undefined && answer <= 1n && decimals === 0, 'no answer of a sequencer');
  } else {
    require(answer >= 1n && answer <= MAX_ANSWER, 'not an answer from 1 to 10^36');
    require(decimals <= MAX_DECIMALS, 'an answer of more than 36 decimals');
  }
  if (round === undefined) return;
  require(round.id <= U80_MAX, 'a round of more than 80 bits');
  integer(round.updatedAt, 1, blockTimestamp);
}

/** The order readings stand in. */
function before(a, b) {
  const keys = [a, b].map(({ place, round, answer, decimals }) => [place, round?.feed ?? '', answer,
    decimals, round?.id ?? 0n, round?.updatedAt ?? 0, round?.heartbeat ?? 0]);
  const at = keys[0].findIndex((key, index) => key !== keys[1][index]);
  return at < 0 || keys[0][at] < keys[1][at];
}

/** Requires what holds of all readings of a snapshot together. */
export function requireReadings(readings, kind, blockTimestamp) {
  for (const reading of readings) requireReading(reading, kind, blockTimestamp);
  require(readings.every((reading, at) => at === 0 || before(readings[at - 1], reading)),
    'readings out of order');
  require(readings.filter(({ sequencer }) => sequencer).length <= 1, 'two sequencers');
}

/** Whether a reading is too old; or a sequencer is down, or was until just now. */
export function isStale({ sequencer, answer, round }, blockTimestamp) {
  if (round === undefined) return false;
  const past = blockTimestamp - round.updatedAt > round.heartbeat;
  return sequencer ? answer === 1n || !past : past;
}

/** The USD price of one whole token: the product of its one or two readings. */
export function usdPrice(readings, token) {
  const own = readings.filter(({ place }) => place === token);
  require(own.length === 1 || own.length === 2, 'not one or two readings of a token');
  return own.reduce(([numerator, denominator], { answer, decimals }) =>
    [numerator * answer, denominator * 10n ** BigInt(decimals)], [1n, 1n]);
}
