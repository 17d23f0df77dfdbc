// Heads: a pool's entry for one slot, linked to the one before.

import { documentBytes } from './canonical.mjs';
import { readCommits } from './leaf.mjs';
import { code, fields, hexHash, integer, list, methodVersion, Newer, open, poolId, raw, require,
  slot, U32_MAX } from './shape.mjs';

const MAX_BYTES = 128 * 1024;
/** How far back a head may retract. */
const MAX_RETRACTED_BACK = 288;
/** The tallest depth: 1,000,000,000 whole dollars. */
const MAX_DEPTH_USD = 10n ** 9n;

const REASONS = ['rpc_unavailable', 'rpc_rate_limited', 'rpc_response_invalid', 'wrong_chain',
  'chain_unlinked', 'nodes_disagree', 'block_unavailable', 'chain_lagging', 'chain_stalled', 'call_reverted',
  'pool_unsupported', 'state_inconsistent', 'oracle_invalid', 'recorder_down', 'deadline_exceeded'];

const KINDS = ['snapshot', 'missing', 'retired'];

function readDepths(value) {
  return list(value, 2, 2).map((depth) => {
    if (depth !== null) raw(depth, 0n, MAX_DEPTH_USD);
    return depth;
  });
}

/** Why a slot is taken back: nothing where that is known, else that it is newer. */
function readCause(value) {
  switch (code(value.code)) {
    case 'orphaned':
      fields(value, ['slot', 'code', 'orphaned', 'canonical']);
      require(hexHash(value.orphaned) !== hexHash(value.canonical),
        'a retracted block that is the final one');
      return undefined;
    case 'misread':
      fields(value, ['slot', 'code']);
      return undefined;
    default:
      return new Newer('retraction_code', value.code);
  }
}

/** The slots a head takes back, each with what of its cause is newer. */
function readRetracts(values, ofSlot, height) {
  if (values === undefined) return [];
  require(list(values).length > 0, 'an empty list of retractions');
  // Nothing was recorded before the pool's first head.
  const first = ofSlot - Math.min(MAX_RETRACTED_BACK, height);
  let last = first - 1;
  return values.map((value) => {
    const { slot: retracted } = open(value, ['slot', 'code']);
    require(slot(retracted) < ofSlot && retracted >= first,
      'a retraction not 1 to 288 slots back, or before the first head');
    require(retracted > last, 'retractions that do not ascend');
    last = retracted;
    return { slot: retracted, newer: readCause(value) };
  });
}

/** Which of the three a head says of its slot; of a missing one, whether the reason is newer. */
function readEntry(head) {
  const kinds = KINDS.filter((kind) => Object.hasOwn(head, kind));
  require(kinds.length === 1, 'not one of snapshot, missing and retired');
  const [kind] = kinds;
  require(Object.hasOwn(head, 'depth_usd') === (kind === 'snapshot'),
    'depths without a snapshot, or a snapshot without');
  if (kind === 'retired') require(head.retired === true, 'retired, but not true');
  if (kind !== 'snapshot') {
    const known = kind === 'retired' || REASONS.includes(code(head.missing));
    return { kind, newer: known ? undefined : new Newer('missing_code', head.missing) };
  }
  return { kind, snapshot: hexHash(head.snapshot), depths: readDepths(head.depth_usd) };
}

/** How many heads and snapshots there were, and the head before. */
function requireCounts(head, kind) {
  const height = integer(head.height, 0, U32_MAX);
  require((head.prev === null) === (height === 0), 'the first head alone has none before it');
  if (head.prev !== null) hexHash(head.prev);
  const least = kind === 'snapshot' ? 1 : 0;
  integer(head.recorded_count, least, Math.min(height + least, U32_MAX));
}

function readLowest(head, depths = []) {
  const lowest = readDepths(head.lowest_depth_7d_usd);
  for (const [at, own] of depths.entries()) {
    require(own === null || (lowest[at] !== null && BigInt(lowest[at]) <= BigInt(own)),
      'a lowest depth above the own one');
  }
  return lowest;
}

export function readHead(value) {
  const bytes = documentBytes(value, MAX_BYTES);
  const head = fields(value, ['v', 'pool', 'slot', 'height', 'recorded_count', 'prev',
    'lowest_depth_7d_usd', 'method_version'],
  [...KINDS, 'depth_usd', 'retracts', 'commits']);
  const { newer, ...entry } = readEntry(head);
  requireCounts(head, entry.kind);
  const commits = readCommits(head.commits);
  const retracts = readRetracts(head.retracts, slot(head.slot), head.height);
  return {
    bytes,
    commits,
    // What the pool logged, as far as a document of it is committed to.
    fills: head.commits?.fills,
    ...entry,
    pool: poolId(head.pool),
    slot: head.slot,
    prev: head.prev,
    recordedCount: head.recorded_count,
    lowest: readLowest(head, entry.depths),
    methodVersion: methodVersion(head.method_version),
    retracts,
    newer: newer ?? retracts.find((retraction) => retraction.newer)?.newer,
  };
}
