// The checks of an evidence file and their verdict.

import { bytesOf, parse, write } from './canonical.mjs';
import { readHead, readLeaf, readPoolProof } from './head.mjs';
import { extendsTree, includes, leafHash, sha256 } from './merkle.mjs';
import { depths, requireReleased, resultOf } from './method.mjs';
import { judgeSignatures, parseCheckpoint, parseKey, parseLogProof } from './note.mjs';
import { base64Hash, fields, list, methodVersion, NotChecked, poolId, Refusal, require,
  slot, text, version1 } from './shape.mjs';
import { readSnapshot, requireSlotRule } from './snapshot.mjs';
import { requireWindow } from './window.mjs';

const MAX_FILE_BYTES = 4.5 * 1024 * 1024;

const CHECKS = ['format', 'snapshot', 'head', 'slot_leaf', 'inclusion', 'signature', 'consistency',
  'window', 'slot_rule', 'result'];
const NOT_REQUIRED = ['consistency', 'window'];

function readFile(bytes) {
  const file = fields(parse(bytes, MAX_FILE_BYTES), ['v', 'request', 'result', 'snapshot', 'head',
    'leaf', 'pool_proof', 'log_proof']);
  version1(file.v);
  return file;
}

/** Runs `read`; what it refuses is kept, to be reported by the check it belongs to. */
function attempt(read) {
  try {
    return { value: read() };
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    return { refusal: error };
  }
}

/** A part in the check that judges it: what is wrong with it fails that check. */
function judged(part) {
  if (part.refusal) throw part.refusal;
  return part.value;
}

/** A part in a check of something else: that has nothing to judge without it. */
function given(part, name) {
  if (part.refusal) throw new NotChecked(`the ${name} was refused`);
  return part.value;
}

/** What the request asks for, without its size, which only the result depends on. */
function readRequest(value) {
  const request = fields(value, ['base', 'method_version', 'pool', 'size_usd', 'slot']);
  text(request.base, /^token[01]$/, 'a token');
  methodVersion(request.method_version);
  poolId(request.pool);
  slot(request.slot);
  return request;
}

function checkSnapshot({ file, snapshot, head }) {
  judged(snapshot);
  const { kind, snapshot: named } = given(head, 'head');
  if (kind !== 'snapshot') throw new NotChecked('the head names no snapshot');
  const name = `0x${sha256(bytesOf(file.snapshot)).toString('hex')}`;
  require(named === name, 'a snapshot other than the head\'s');
}

function checkHead({ request, snapshot, head: part }) {
  const head = judged(part);
  const { pool, slot: asked } = given(request, 'request');
  require(head.pool === pool, 'a head of another pool');
  require(head.slot === asked, 'a head of another slot');
  require(head.kind === 'snapshot', 'a head without a snapshot');
  requireReleased(head.methodVersion);
  // Where the method's own search ends without an answer is not known here.
  if (head.depths.includes(null)) throw new NotChecked('a depth that was given up');
  const own = depths(given(snapshot, 'snapshot'));
  require(own.every((depth, at) => depth === head.depths[at]), 'depths other than the snapshot\'s');
}

function checkSlotLeaf({ file, head: headPart, leaf: leafPart }) {
  const leaf = judged(leafPart);
  const proof = readPoolProof(file.pool_proof);
  const head = given(headPart, 'head');
  require(leaf.slot === head.slot, 'a leaf of another slot');
  require(includes(leafHash(head.bytes), proof.index, leaf.pools, proof.hashes, leaf.root),
    'a leaf that does not commit to the head');
}

function checkInclusion({ leaf: leafPart, logProof }) {
  const { index, hashes, checkpoint } = judged(logProof);
  const leaf = given(leafPart, 'leaf');
  require(index === leaf.slot - checkpoint.firstSlot, 'not the index of the slot');
  require(includes(leafHash(leaf.bytes), index, checkpoint.size, hashes, checkpoint.root),
    'a log that does not commit to the leaf');
}

function checkSignature({ keys, signatures }) {
  const { signed, forged } = judged(signatures);
  require(!forged, 'a forged signature');
  if (keys.length === 0) throw new NotChecked('no trusted key');
  require(signed, 'no signature by a trusted key of this log');
}

function checkConsistency({ seen, logProof, keys }) {
  if (!seen) throw new NotChecked('no checkpoint seen before');
  const { checkpoint: now } = judged(logProof);
  const before = parseCheckpoint(seen.note);
  const { signed, forged } = judgeSignatures(before, keys);
  // Only a checkpoint its log signed says anything about that log.
  require(signed && !forged, 'the checkpoint seen is not signed by a trusted key');
  require(before.origin === now.origin, 'a checkpoint of another log');
  const hashes = list(seen.proof, 128).map(base64Hash);
  const [older, newer] = before.size <= now.size ? [before, now] : [now, before];
  require(extendsTree(older.size, older.root, newer.size, newer.root, hashes),
    'states of different histories');
}

function checkWindow({ window, head }) {
  if (!window) throw new NotChecked('no window');
  requireWindow(Buffer.from(window), given(head, 'head'));
}

function checkSlotRule({ request, snapshot }) {
  const { pool, slot: asked } = given(request, 'request');
  requireSlotRule(given(snapshot, 'snapshot'), pool, asked);
}

function checkResult({ file, request: requestPart, snapshot, head }) {
  const request = judged(requestPart);
  requireReleased(request.method_version);
  const result = resultOf(request, given(snapshot, 'snapshot'), given(head, 'head'));
  require(write(file.result) === write(result), 'a result other than the one computed');
}

const RUN = {
  snapshot: checkSnapshot,
  head: checkHead,
  slot_leaf: checkSlotLeaf,
  inclusion: checkInclusion,
  signature: checkSignature,
  consistency: checkConsistency,
  window: checkWindow,
  slot_rule: checkSlotRule,
  result: checkResult,
};

function outcomeOf(name, run) {
  try {
    run();
    return { name, outcome: 'pass' };
  } catch (error) {
    if (error instanceof Refusal) return { name, outcome: 'fail', why: error.message };
    if (error instanceof NotChecked) return { name, outcome: 'not_checked', why: error.message };
    throw error;
  }
}

function verdictOf(checks) {
  if (checks.some(({ outcome }) => outcome === 'fail')) return 'invalid';
  const open = checks.some(({ name, outcome }) =>
    outcome === 'not_checked' && !NOT_REQUIRED.includes(name));
  return open ? 'incomplete' : 'valid';
}

/**
 * Verifies an evidence file for a caller who trusts `keys` and may have `seen` a checkpoint
 * (`{note, proof}`) and been given a head `window`.
 */
export function verify(bytes, { keys: spelledKeys, seen = null, window = null }) {
  // A key is the caller's own: one that cannot be read is no finding about the file.
  const keys = spelledKeys.map(parseKey);
  const read = attempt(() => readFile(bytes));
  const format = outcomeOf('format', () => judged(read));
  if (read.refusal) {
    const rest = CHECKS.slice(1).map((name) =>
      ({ name, outcome: 'not_checked', why: 'the file was refused' }));
    return { verdict: 'invalid', checks: [format, ...rest], unknownSigners: [] };
  }
  const file = read.value;
  const logProof = attempt(() => parseLogProof(file.log_proof));
  const signatures = attempt(() => judgeSignatures(judged(logProof).checkpoint, keys));
  const parts = {
    file, keys, seen, window, logProof, signatures,
    request: attempt(() => readRequest(file.request)),
    snapshot: attempt(() => readSnapshot(file.snapshot)),
    head: attempt(() => readHead(file.head)),
    leaf: attempt(() => readLeaf(file.leaf)),
  };
  const rest = CHECKS.slice(1).map((name) => outcomeOf(name, () => RUN[name](parts)));
  const checks = [format, ...rest];
  return {
    verdict: verdictOf(checks),
    checks,
    unknownSigners: signatures.value?.unknownSigners ?? [],
  };
}
