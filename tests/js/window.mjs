// Head windows: the heads of one pool that a slot's lowest depths rest on, packed.

import { bytesOf, parse } from './canonical.mjs';
import { readHead } from './head.mjs';
import { sha256 } from './merkle.mjs';
import { depth } from './method.mjs';
import { base64, boolean, fields, integer, list, methodVersion, poolId, require, slot,
  version1 } from './shape.mjs';
import { readSnapshot, requireSlotRule } from './snapshot.mjs';

/** Seven days of slots. */
const MAX_HEADS = 2016;
const MAX_BYTES = 10 * 1024 * 1024;

const hex = (hash) => `0x${hash.toString('hex')}`;
const depthText = (depthUsd) => (depthUsd === null ? null : String(depthUsd));

/** `[index, …]` entries in ascending order of heads. */
function ascending(entries, heads, length) {
  let last = -1;
  for (const entry of list(entries, MAX_HEADS)) {
    require(integer(list(entry, length, length)[0], last + 1, heads - 1) > last, 'out of order');
    [last] = entry;
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
    require(index > end || (index === end && reason !== lastReason), 'runs that are one');
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
  };
}

/** Every head, rebuilt byte for byte and read as any other head. */
function rebuild(window, columns) {
  const heads = [];
  let [prev, count] = [window.first_prev, integer(window.recorded_before)];
  for (let index = 0; index < columns.heads; index += 1) {
    const snapshot = columns.snapshots[index];
    const retracts = columns.retracts.get(index);
    count += (snapshot === undefined ? 0 : 1) - (retracts?.length ?? 0);
    const head = {
      v: 1,
      pool: window.pool,
      slot: window.first_slot + index,
      height: window.first_height + index,
      recorded_count: count,
      prev,
      lowest_depth_7d_usd: columns.lowest[index].map(depthText),
      method_version: columns.versions[index],
    };
    if (snapshot !== undefined) {
      head.snapshot = snapshot.hash;
      head.depth_usd = snapshot.depths.map(depthText);
    } else if (columns.missing[index] !== undefined) {
      head.missing = columns.missing[index];
    } else {
      head.retired = true;
    }
    if (retracts !== undefined) head.retracts = retracts;
    heads.push(readHead(head));
    prev = hex(sha256(heads.at(-1).bytes));
  }
  return heads;
}

/** The heads whose snapshots were retracted by later ones. Each can be so once. */
function retractedHeads(heads, fromFirst) {
  const retracted = new Set();
  const firstSlot = heads[0].slot;
  for (const { slot: ofSlot } of heads.flatMap((head) => head.retracts)) {
    require(!retracted.has(ofSlot), 'a slot retracted twice');
    retracted.add(ofSlot);
    // A slot before the window cannot be looked up; before the first head there is none.
    const head = heads[ofSlot - firstSlot];
    require(head === undefined ? !fromFirst : head.kind === 'snapshot',
      'a retraction of a slot without a snapshot');
  }
  return retracted;
}

/** The first head with the lowest depth of a direction, if any has one. */
function lowestHead(heads, retracted, direction) {
  let lowest;
  for (const head of heads) {
    const own = head.depths?.[direction] ?? null;
    if (own === null || retracted.has(head.slot)) continue;
    if (lowest === undefined || BigInt(own) < BigInt(lowest.depths[direction])) lowest = head;
  }
  return lowest;
}

/** The last head's lowest depths are those of the heads, and those those of their snapshots. */
function requireLowest(heads, retracted, given) {
  const last = heads.at(-1);
  const carriers = [];
  [0, 1].forEach((direction) => {
    const head = lowestHead(heads, retracted, direction);
    const expected = head === undefined ? null : head.depths[direction];
    require(last.lowest[direction] === expected, 'a lowest depth that is not the lowest');
    if (head !== undefined) carriers.push({ head, direction });
  });
  const wanted = [...new Set(carriers.map(({ head }) => head))];
  const snapshots = list(given, 2, wanted.length).map((value, at) => {
    const snapshot = readSnapshot(value);
    require(hex(sha256(bytesOf(value))) === wanted[at].snapshot, 'another snapshot');
    requireSlotRule(snapshot, last.pool, wanted[at].slot);
    return snapshot;
  });
  for (const { head, direction } of carriers) {
    const recomputed = depth(snapshots[wanted.indexOf(head)], direction);
    require(String(recomputed) === head.depths[direction], 'a depth that is not its snapshot\'s');
  }
}

/**
 * Refuses a window that is malformed, does not bear out its last head, does not hold `head`, or
 * whose later heads take that one's slot back. Those later heads are claims: nothing here shows
 * that they were ever sealed.
 */
export function requireWindow(bytes, head) {
  const window = fields(parse(bytes, MAX_BYTES), ['v', 'pool', 'heads', 'first_slot',
    'first_height', 'first_prev', 'recorded_before', 'method_versions', 'missing', 'retired',
    'snapshots', 'depth_usd', 'lowest_depth_7d_usd', 'retracts', 'lowest_snapshots']);
  version1(window.v);
  poolId(window.pool);
  slot(window.first_slot);
  const fromFirst = integer(window.first_height) === 0;
  require(!fromFirst || window.recorded_before === 0, 'snapshots before the first head');
  const columns = unpack(window);
  require(fromFirst || columns.heads === MAX_HEADS, 'neither from the first head nor seven days');
  const heads = rebuild(window, columns);
  const place = heads.findIndex(({ bytes }) => bytes.equals(head.bytes));
  require(place >= 0, 'a window that ends elsewhere');
  const takenBack = heads.slice(place + 1)
    .some(({ retracts }) => retracts.some(({ slot: taken }) => taken === heads[place].slot));
  require(!takenBack, 'a slot that a later head takes back');
  requireLowest(heads, retractedHeads(heads, fromFirst), window.lowest_snapshots);
}
