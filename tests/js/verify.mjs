// The checks of an evidence file and their verdict.

import { bytesOf, write } from './canonical.mjs';
import { readFile } from './file.mjs';
import { readHead } from './head.mjs';
import { readLeaf, requireLogged, requireSealed } from './leaf.mjs';
import { extendsTree } from './merkle.mjs';
import { answerOf, requireDepths, requireReleased } from './method.mjs';
import { judgeSignatures, parseCheckpoint, parseKey, parseLogProof } from './note.mjs';
import { base64Hash, list, Newer, NotChecked, Refusal, require, slot } from './shape.mjs';
import { readSnapshot, requireOf } from './snapshot.mjs';
import { nameOf } from './state.mjs';
import { readWindow } from './window.mjs';

const CHECKS = ['format', 'snapshot', 'head', 'slot_leaf', 'inclusion', 'signature', 'consistency',
  'window', 'slot_rule', 'result'];
const NOT_REQUIRED = ['consistency', 'window'];

/** Runs `read`; why it gave nothing is kept, to be reported by the check it belongs to. */
function attempt(read) {
  try {
    return { value: read() };
  } catch (error) {
    if (error instanceof Refusal || error instanceof Newer) return { failure: error };
    throw error;
  }
}

/** A part in the check that judges it: what is wrong with it fails that check. */
function judged(part) {
  if (part.failure) throw part.failure;
  return part.value;
}

const isRefused = (part) => part.failure instanceof Refusal;

/** Parts in a check of something else, which has nothing to judge without them. */
function given(...parts) {
  const newer = parts.find(({ failure }) => failure instanceof Newer);
  if (newer) throw newer.failure;
  if (parts.some(isRefused)) throw new NotChecked('what it builds on was refused');
  return parts.map(({ value }) => value);
}

/** The slot of a part; of one that is not understood, the request's. */
function slotOf(part, { file }) {
  if (isRefused(part)) throw new NotChecked('what it builds on was refused');
  return slot(part.value?.slot ?? file.request.slot);
}

function checkSnapshot({ file, snapshot, whole, head }) {
  if (isRefused(snapshot)) throw snapshot.failure;
  if (head.failure instanceof Newer) throw head.failure;
  if (head.value?.kind !== 'snapshot') throw new NotChecked('no head that names a snapshot');
  require(head.value.snapshot === nameOf(bytesOf(file.snapshot)), 'a snapshot other than the head\'s');
  judged(whole);
}

function checkHead({ file: { request }, whole, head: part }) {
  const head = judged(part);
  require(head.kind === 'snapshot', 'a head without a snapshot');
  require(head.pool.name === request.pool.name, 'a head of another pool');
  require(head.slot === request.slot, 'a head of another slot');
  requireReleased(head.methodVersion);
  const [snapshot] = given(whole);
  requireDepths(snapshot, head.depths);
  if (head.newer) throw head.newer;
}

function checkSlotLeaf(parts) {
  const leaf = judged(parts.leaf);
  require(leaf.slot === slotOf(parts.head, parts), 'a leaf of another slot');
  requireSealed(bytesOf(parts.file.head), leaf, parts.file.poolProof);
}

function checkInclusion(parts) {
  const logProof = judged(parts.logProof);
  requireLogged(bytesOf(parts.file.leaf), slotOf(parts.leaf, parts), logProof);
}

function checkSignature({ keys, signatures }) {
  const { signed, forged } = judged(signatures);
  require(!forged, 'a forged signature');
  if (keys.length === 0) throw new NotChecked('no trusted key');
  require(signed, 'no signature by a trusted key of this log');
}

/** Requires a checkpoint of the file's log that a trusted key of it signed. */
function requireTrusted(checkpoint, { logProof, keys }) {
  const { signed, forged } = judgeSignatures(checkpoint, keys);
  require(signed && !forged, 'a checkpoint that no trusted key signed');
  require(checkpoint.origin === judged(logProof).checkpoint.origin, 'a checkpoint of another log');
}

function checkConsistency(parts) {
  const { seen, logProof } = parts;
  if (!seen) throw new NotChecked('no checkpoint seen before');
  const { checkpoint: now } = judged(logProof);
  const before = parseCheckpoint(seen.note);
  // Only a checkpoint its log signed says anything about that log.
  requireTrusted(before, parts);
  const hashes = list(seen.proof).map(base64Hash);
  const [older, newer] = before.size <= now.size ? [before, now] : [now, before];
  require(extendsTree(older.size, older.root, newer.size, newer.root, hashes),
    'states of different histories');
}

function checkWindow(parts) {
  if (parts.window === null || parts.window === undefined) throw new NotChecked('no window');
  const [head] = given(parts.head);
  const { heads, checkpoint, newer } = readWindow(Buffer.from(parts.window));
  const place = heads.findIndex(({ bytes }) => bytes.equals(head.bytes));
  require(place >= 0, 'a window that ends elsewhere');
  const { checkpoint: own } = judged(parts.logProof);
  require(checkpoint.origin === own.origin, 'a window of another log');
  require(checkpoint.size !== own.size || checkpoint.root.equals(own.root), 'a window of another log');
  if (parts.keys.length > 0) requireTrusted(checkpoint, parts);
  const takenBack = heads.slice(place + 1)
    .some(({ retracts }) => retracts.some(({ slot: taken }) => taken === head.slot));
  require(!takenBack, 'a slot that a later head takes back');
  if (newer) throw newer;
}

function checkSlotRule({ file: { request }, snapshot: part }) {
  const [snapshot] = given(part);
  requireOf(snapshot, request.pool, request.slot);
}

function checkResult({ file: { request, answer }, whole, head: headPart }) {
  const [snapshot, head] = given(whole, headPart);
  require(write(spelled(answer)) === write(spelled(answerOf(request, snapshot, head))),
    'an answer other than the one computed');
}

/** An answer as a document: whichever of the two it is. */
function spelled({ result = null, refusal = null }) {
  return { result, refusal };
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

/** How a check came out; of what is newer, the stable code of that. */
function outcomeOf(name, run) {
  try {
    run();
    return { name, outcome: 'pass' };
  } catch (error) {
    const { message: why, code } = error;
    if (error instanceof Refusal) return { name, outcome: 'fail', why };
    if (error instanceof NotChecked) return { name, outcome: 'not_checked', why };
    if (error instanceof Newer) return { name, outcome: 'not_checked', why, code };
    throw error;
  }
}

function verdictOf(checks) {
  if (checks.some(({ outcome }) => outcome === 'fail')) return 'invalid';
  const open = checks.some(({ name, outcome }) =>
    outcome === 'not_checked' && !NOT_REQUIRED.includes(name));
  return open ? 'incomplete' : 'valid';
}

function report(checks, unknown = { signers: [], commits: [], facts: [] }) {
  return { verdict: verdictOf(checks), checks, unknown };
}

/** The names, each once and in order, that head and leaf commit to and those of the facts: unknown ones. */
function unknownNames({ head, leaf, whole }) {
  const listed = (names) => [...new Set(names)].sort();
  const commits = [...head.value?.commits ?? [], ...leaf.value?.commits ?? []];
  return {
    commits: listed(commits.filter((name) => !['predecessor', 'fills', 'issued'].includes(name))),
    facts: listed(whole.value?.facts ?? []),
  };
}

/** What is found in a file that is none, or one of a later version. */
function unread(format) {
  const rest = CHECKS.slice(1).map((name) =>
    ({ name, outcome: 'not_checked', why: 'the file was not read', code: format.code }));
  return report([format, ...rest]);
}

/** The parts of a file, each as far as it can be read. */
function partsOf(file) {
  const snapshot = attempt(() => readSnapshot(file.snapshot, file.state, file.request.pool));
  const { newer } = snapshot.value ?? {};
  return {
    file,
    snapshot,
    // The snapshot, where all of it is known.
    whole: newer ? { failure: newer } : snapshot,
    head: attempt(() => readHead(file.head)),
    leaf: attempt(() => readLeaf(file.leaf)),
    logProof: attempt(() => parseLogProof(file.log_proof)),
  };
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
  if (read.failure) return unread(format);
  const parts = { ...partsOf(read.value), keys, seen, window };
  const { logProof } = parts;
  const signatures = attempt(() => judgeSignatures(judged(logProof).checkpoint, keys));
  const rest = CHECKS.slice(1)
    .map((name) => outcomeOf(name, () => RUN[name]({ ...parts, signatures })));
  const signers = signatures.value?.unknownSigners ?? [];
  return report([format, ...rest], { signers, ...unknownNames(parts) });
}
