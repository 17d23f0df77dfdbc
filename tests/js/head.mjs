// Heads, and the leaves of slots that commit to them.

import { bytesOf } from './canonical.mjs';
import { base64Hash, fields, hexHash, integer, list, methodVersion, poolId, raw, require, slot,
  version1 } from './shape.mjs';

const MAX_HEAD_BYTES = 128 * 1024;
/** How far back a head may retract. */
const MAX_RETRACTED_BACK = 288;
/** The tallest depth: 1,000,000,000 whole dollars. */
const MAX_DEPTH_USD = 10n ** 9n;

const REASONS = ['rpc_unavailable', 'rpc_rate_limited', 'rpc_response_invalid', 'wrong_chain',
  'chain_unlinked', 'nodes_disagree', 'block_unavailable', 'chain_lagging', 'chain_stalled', 'call_reverted',
  'pool_unsupported', 'state_inconsistent', 'oracle_invalid', 'recorder_down', 'deadline_exceeded'];

function readDepths(value) {
  return list(value, 2, 2).map((depth) => {
    if (depth !== null) raw(depth, 0n, MAX_DEPTH_USD);
    return depth;
  });
}

function readRetracts(values, ofSlot) {
  require(list(values, MAX_RETRACTED_BACK).length > 0, 'an empty list of retractions');
  let last = 0;
  for (const value of values) {
    const names = ['slot', 'orphaned', 'canonical'];
    const { slot: retracted, orphaned, canonical } = fields(value, names);
    hexHash(orphaned);
    hexHash(canonical);
    require(orphaned !== canonical, 'a retracted block that is the final one');
    require(slot(retracted) > last, 'retractions that do not ascend');
    require(retracted < ofSlot && ofSlot - retracted <= MAX_RETRACTED_BACK,
      'a retraction not 1 to 288 slots back');
    last = retracted;
  }
  return values;
}

export function readHead(value) {
  const head = fields(value, ['v', 'pool', 'slot', 'height', 'recorded_count', 'prev',
    'lowest_depth_7d_usd', 'method_version'],
  ['snapshot', 'missing', 'retired', 'depth_usd', 'retracts']);
  version1(head.v);
  const kinds = ['snapshot', 'missing', 'retired'].filter((key) => Object.hasOwn(head, key));
  require(kinds.length === 1, 'not one of snapshot, missing and retired');
  const [kind] = kinds;
  if (kind === 'snapshot') hexHash(head.snapshot);
  if (kind === 'missing') require(REASONS.includes(head.missing), 'an unknown reason');
  if (kind === 'retired') require(head.retired === true, 'retired, but not true');
  require(Object.hasOwn(head, 'depth_usd') === (kind === 'snapshot'),
    'depths without a snapshot, or a snapshot without');
  if (kind === 'snapshot') readDepths(head.depth_usd);
  const height = integer(head.height);
  require((head.prev === null) === (height === 0), 'the first head alone has none before it');
  if (head.prev !== null) hexHash(head.prev);
  const recordedCount = integer(head.recorded_count);
  const least = kind === 'snapshot' ? 1 : 0;
  require(recordedCount >= least && recordedCount <= height + least,
    'a count of snapshots that no series has');
  const lowest = readDepths(head.lowest_depth_7d_usd);
  for (const [at, own] of (head.depth_usd ?? []).entries()) {
    require(own === null || (lowest[at] !== null && BigInt(lowest[at]) <= BigInt(own)),
      'a lowest depth above the own one');
  }
  const bytes = bytesOf(head);
  require(bytes.length <= MAX_HEAD_BYTES, 'more than 128 KiB');
  return {
    bytes,
    kind,
    pool: poolId(head.pool),
    slot: slot(head.slot),
    height,
    prev: head.prev,
    recordedCount,
    snapshot: head.snapshot,
    depths: head.depth_usd,
    lowest,
    methodVersion: methodVersion(head.method_version),
    retracts: Object.hasOwn(head, 'retracts') ? readRetracts(head.retracts, head.slot) : [],
  };
}

export function readLeaf(value) {
  const leaf = fields(value, ['v', 'slot', 'pools', 'root']);
  version1(leaf.v);
  return {
    bytes: bytesOf(leaf),
    slot: slot(leaf.slot),
    pools: integer(leaf.pools, 1),
    root: base64Hash(leaf.root),
  };
}

/** A proof from a head to the root of its slot's leaf. */
export function readPoolProof(value) {
  const proof = fields(value, ['hashes', 'index']);
  return { index: integer(proof.index), hashes: list(proof.hashes, 64).map(base64Hash) };
}
