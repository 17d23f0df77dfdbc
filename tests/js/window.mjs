// Head windows: the heads of one pool that a slot's lowest depths rest on, packed.

import { bytesOf, parse } from './canonical.mjs';
import { readHead } from './head.mjs';
import { readLeaf, readPoolProof, requireLogged, requireSealed } from './leaf.mjs';
import { requireLowest } from './lowest.mjs';
import { completeSubtrees, leafHash } from './merkle.mjs';
import { parseLogProof } from './note.mjs';
import { base64, boolean, code, fields, integer, list, methodVersion, Newer, poolId, require, slot,
  U32_MAX, version1 } from './shape.mjs';
import { nameOf } from './state.mjs';

/** Seven days of slots. */
const MAX_HEADS = 2016;
const MAX_BYTES = 10 * 1024 * 1024;

const hex = (hash) => `0x${hash.toString('hex')}`;
const depthText = (depthUsd) => (depthUsd === null ? null : String(depthUsd));

/** `[index, …]` entries in ascending order of heads. */
function ascending(entries, heads, length) {
  let last = -1;
  for (const entry of list(entries, MAX_HEADS)) {
    last = integer(list(entry, length, length)[0], last + 1, heads - 1);
  }
  return entries;
}

/** What holds "from that head on", for each head; a change that changes nothing is refused. */
function changes(entries, heads, width) {
  ascending(entries, heads, width + 1);
  require(entries[0]?.[0] === 0, 'nothing from the first head on');
  const each = [];
  entries.forEach(([index, ...values], at) => {
    const before = at === 0 ? undefined : entries[at - 1].slice(1);
    require(JSON.stringify(before) !== JSON.stringify(values), 'a change that changes nothing');
    const end = entries[at + 1]?.[0] ?? heads;
    for (let head = index; head < end; head += 1) each.push(values);
  });
  return each;
}

/** Why each head has no snapshot: a reason or undefined. Runs that touch have different reasons. */
function missingReasons(runs, heads) {
  const reasons = new Array(heads).fill(undefined);
  ascending(runs, heads, 3);
  let [end, lastReason] = [0, undefined];
  for (const [index, length, reason] of runs) {
    require(index > end || (index === end && code(reason) !== lastReason), 'runs that are one');
    end = index + integer(length, 1, heads - index);
    lastReason = reason;
    reasons.fill(reason, index, end);
  }
  return reasons;
}

/** The packed columns, read, each with one entry per head. */
function unpack(window) {
  const heads = integer(window.heads, 1, MAX_HEADS);
  const missing = missingReasons(window.missing, heads);
  const retired = boolean(window.retired);
  const isRecorded = (index) =>
    missing[index] === undefined && !(retired && index === heads - 1);
  const recorded = Array.from({ length: heads }, (_, index) => index).filter(isRecorded);
  require(!retired || missing[heads - 1] === undefined, 'a retired head with a reason');
  const hashes = base64(window.snapshots);
  require(hashes.length === 32 * recorded.length, 'not one hash per snapshot');
  const columns = list(window.depth_usd, 2, 2)
    .map((column) => list(column, MAX_HEADS, recorded.length));
  const numeric = (value) => value === null || Number.isSafeInteger(value);
  require(columns.flat().every(numeric), 'a depth that is no integer');
  const lowest = changes(window.lowest_depth_7d_usd, heads, 2);
  require(lowest.flat().every(numeric), 'a lowest depth that is no integer');
  const snapshots = new Array(heads).fill(undefined);
  recorded.forEach((head, at) => {
    snapshots[head] = {
      hash: hex(hashes.subarray(32 * at, 32 * at + 32)),
      depths: columns.map((column) => column[at]),
    };
  });
  return {
    heads,
    missing,
    snapshots,
    lowest,
    // Before every head repeats it.
    versions: changes(window.method_versions, heads, 1).flat().map(methodVersion),
    retracts: new Map(ascending(window.retracts, heads, 2)),
    commits: new Map(ascending(window.commits, heads, 2)),
  };
}

/** The document of a head, from its columns. */
function headOf(window, columns, index, prev, recordedCount) {
  const head = {
    v: 1,
    pool: window.pool,
    slot: window.first_slot + index,
    height: window.first_height + index,
    recorded_count: recordedCount,
    prev,
    lowest_depth_7d_usd: columns.lowest[index].map(depthText),
    method_version: columns.versions[index],
  };
  const snapshot = columns.snapshots[index];
  if (snapshot !== undefined) {
    head.snapshot = snapshot.hash;
    head.depth_usd = snapshot.depths.map(depthText);
  } else if (columns.missing[index] !== undefined) {
    head.missing = columns.missing[index];
  } else {
    head.retired = true;
  }
  if (columns.retracts.has(index)) head.retracts = columns.retracts.get(index);
  if (columns.commits.has(index)) head.commits = columns.commits.get(index);
  return head;
}

/** Every head, rebuilt byte for byte and read as any other head. */
function rebuild(window, columns) {
  const heads = [];
  let [prev, count] = [window.first_prev, integer(window.recorded_before, 0, U32_MAX)];
  for (let index = 0; index < columns.heads; index += 1) {
    const retracted = list(columns.retracts.get(index) ?? []).length;
    count += (columns.snapshots[index] === undefined ? 0 : 1) - retracted;
    heads.push(readHead(headOf(window, columns, index, prev, count)));
    prev = nameOf(heads.at(-1).bytes);
  }
  return heads;
}

/**
 * Requires that the last head is the one its slot's leaf sealed, and the leaf in the log. Proofs
 * cover a leaf that is not understood as well; answers what of it is newer.
 */
function requireProven(window, last, logProof) {
  const poolProof = readPoolProof(window.pool_proof);
  let newer;
  try {
    const leaf = readLeaf(window.leaf);
    require(leaf.slot === last.slot, 'a leaf of another slot');
    requireSealed(last.bytes, leaf, poolProof);
  } catch (error) {
    if (!(error instanceof Newer)) throw error;
    newer = error;
  }
  requireLogged(bytesOf(window.leaf), last.slot, logProof);
  return newer;
}

function readDocument(bytes) {
  const value = parse(bytes, MAX_BYTES);
  version1(value);
  const window = fields(value, ['v', 'pool', 'heads', 'first_slot',
    'first_height', 'first_prev', 'recorded_before', 'method_versions', 'missing', 'retired',
    'snapshots', 'depth_usd', 'lowest_depth_7d_usd', 'retracts', 'commits', 'lowest_snapshots',
    'leaf', 'pool_proof', 'log_proof']);
  poolId(window.pool);
  slot(window.first_slot);
  integer(window.first_height, 0, U32_MAX);
  return window;
}

/**
 * A window that holds together: its `heads`, the `checkpoint` that its last one is proven by, and
 * what of it is `newer` and could not be checked.
 */
export function readWindow(bytes) {
  const window = readDocument(bytes);
  const fromFirst = window.first_height === 0;
  require(!fromFirst || window.recorded_before === 0, 'snapshots before the first head');
  const columns = unpack(window);
  require(fromFirst || columns.heads === MAX_HEADS, 'neither from the first head nor seven days');
  const heads = rebuild(window, columns);
  const logProof = parseLogProof(window.log_proof);
  const unknown = [
    requireLowest(heads, fromFirst, window.lowest_snapshots),
    ...heads.map(({ newer }) => newer),
    requireProven(window, heads.at(-1), logProof),
  ];
  const { checkpoint, index, hashes } = logProof;
  const subtrees = completeSubtrees(leafHash(bytesOf(window.leaf)), index, checkpoint.size, hashes);
  return { heads, checkpoint, subtrees, newer: unknown.find(Boolean) };
}
