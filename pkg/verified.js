// Returns a verified number for a pool in one call: requests the estimate, fetches its evidence, runs all checks, and
// checks the log for consistency with the checkpoint of the previous visit.

import { notAsSpecified } from './answers.js';
import { estimate, recompute } from './api.js';
import { ExitgapError } from './error.js';
import { checkpointOf, consistencyProof, forkOf } from './log.js';

/** The checkpoint that an evidence file rests on; nothing where it is none. */
function noteIn(evidence) {
  try {
    const { log_proof: proof } = JSON.parse(new TextDecoder().decode(evidence));
    const at = proof.indexOf('\n\n');
    return at < 0 ? undefined : proof.slice(at + 2);
  } catch {
    return undefined;
  }
}

/** Whose signatures count, and why: keys that the caller named, else those kept, else the service's own on first use. */
async function keysOf(client, named, kept, signal) {
  if (named.length > 0) return { keys: named, trust: 'named' };
  const known = await kept.keys();
  if (known.length > 0) return { keys: known, trust: 'kept' };
  const own = (await client.verifierKey({ signal })).split('\n').map((key) => key.trim()).filter((key) => key !== '');
  return { keys: own, trust: 'first_use' };
}

/** What was seen before of a file's log, and what leads from the one checkpoint to the other. */
async function seenBefore(note, { kept, keys, fetchTile }, url) {
  const own = note === undefined ? {} : checkpointOf(note);
  // A file without a log state, or with an empty one, fails its own check.
  if (!(own.size > 0)) return {};
  const before = await kept.checkpoint(own.origin, keys);
  if (before === undefined) return {};
  const seen = checkpointOf(before);
  if (seen.size === own.size) return { before, between: { proof: [], oldRoot: own.root } };
  const [older, newer] = seen.size < own.size ? [seen, own] : [own, seen];
  return { before, between: await consistencyProof(older, newer, fetchTile, url) };
}

/** Whether two values of JSON are the same. */
function alike(one, other) {
  if (typeof one !== 'object' || one === null || typeof other !== 'object' || other === null) return one === other;
  const names = Object.keys(one);
  return names.length === Object.keys(other).length && names.every((name) => Object.hasOwn(other, name) && alike(one[name], other[name]));
}

/**
 * Requires that evidence which passed every check is of what was asked, and that the answer is what its snapshot gives when it
 * is asked the same. That no later slot is recorded stays the service's word.
 */
function requireAsked(url, evidence, exit, pool, { sizeUsd, base, at }, claim) {
  const other = (why) => notAsSpecified(url, why);
  if (claim.pool !== String(pool).toLowerCase()) throw other(`its evidence is for ${claim.pool}`);
  if (at !== undefined && Date.parse(claim.slot_time) > Date.parse(at)) throw other(`its evidence is for ${claim.slot_time}, after ${at}`);
  const { method, ...computed } = estimate(evidence, { sizeUsd, base: base ?? claim.base });
  const { published } = recompute(evidence);
  const lowest = published.lowest_depth_7d_usd;
  // The snapshot does not contain these values, but the head that commits to it does.
  const due = {
    ...computed,
    days_observed: Number(published.days_observed),
    lowest_depth_7d_usd: lowest === null ? undefined : Number(lowest),
    'window.to': claim.slot_time,
    snapshot_hash: method.depth_source.snapshot_hash,
  };
  const told = { ...exit, 'window.to': exit.window?.to, snapshot_hash: exit.method?.depth_source?.snapshot_hash };
  const unlike = Object.keys(due).find((name) => !alike(due[name], told[name]));
  if (unlike !== undefined) throw other(`the answer's ${unlike} does not follow from its evidence`);
  for (const name of ['amount_in_raw', 'amount_out_raw']) {
    if (published[name] !== computed[name]) throw other(`its evidence has a different ${name}`);
  }
}

/** Two notes, the older first. */
const inOrder = (before, note) =>
  (checkpointOf(before).size <= checkpointOf(note).size ? [before, note] : [note, before]);

/** What to do about evidence that proves nothing. */
function hintOf(failed, contradicts) {
  if (contradicts) return 'the log was rewritten since it was last seen; keep `fork`, which `exitgap verify` reads, and trust neither version';
  if (failed?.code === 'signature_not_trusted') {
    return 'it is not signed by any key that you named; do not use the service\'s own key, but ask its operator through another channel whether the key was changed';
  }
  return 'see the report for the check that failed, with the expected and the found value';
}

/** Requires that a report is whole; what is not is thrown with it. */
function requireValid(report, url, before, note, between) {
  if (report.verdict === 'valid') return;
  const failed = report.checks.find(({ outcome }) => outcome === 'fail') ?? report.checks.find(({ outcome, name }) =>
    outcome !== 'pass' && ['signature', 'consistency'].includes(name));
  const contradicts = failed?.name === 'consistency' && failed.outcome === 'fail' && before !== undefined;
  const fork = contradicts ? forkOf(inOrder(before, note), between) : undefined;
  const found = failed?.expected === undefined || failed.found === undefined ? '' : `, expected ${failed.expected}, found ${failed.found}`;
  const why = failed === undefined ? report.verdict : `${failed.name}: ${failed.code}${found}`;
  const hint = hintOf(failed, contradicts);
  throw new ExitgapError('not_proven', `${why}, of ${url}`, { report, fork, hint });
}

/**
 * One exit, verified. `at` says where the service has the evidence that an answer names, `judge` makes the checks of one from an address,
 * `fetchTile` reads the log's tiles.
 */
export async function verifiedExit(client, { named, kept, at, judge, fetchTile }, pool, of) {
  const { signal } = of;
  const { keys, trust } = await keysOf(client, named, kept, signal);
  const exit = await client.exit(pool, of);
  const url = await at(exit);
  const evidence = await client.evidence(url, { signal });
  const note = noteIn(evidence);
  const { before, between } = await seenBefore(note, { kept, keys, fetchTile }, url);
  const seen = before === undefined ? undefined : { note: before, proof: between.proof };
  const report = judge(url, evidence, { keys, seen });
  requireValid(report, url, before, note, between);
  requireAsked(url, evidence, exit, pool, of, report.claim);
  const { origin, size } = checkpointOf(note);
  if (before === undefined || checkpointOf(before).size < size) await kept.keep(before, note, keys);
  const continuity = before === undefined ? 'first_seen' : 'continues';
  return { exit, report, evidence, log: { origin, size, trust, continuity, keys, checkpoint: note } };
}
