// The readers of the second verifier, and of what its format pages say of receipts, cosignatures, reports and proofs of
// two histories.

import { createHash } from 'node:crypto';

import { parse } from './canonical.mjs';
import { verifierOf } from './ed25519.mjs';
import { verifyFigure } from './figure.mjs';
import { requireLogged } from './leaf.mjs';
import { extendsTree } from './merkle.mjs';
import { judgeSignatures, parseCheckpoint, parseKey, parseLogProof } from './note.mjs';
import { readAnchors } from './proof/anchors.mjs';
import { checkState } from './proof/check.mjs';
import { base64Hash, fields, list, Newer, poolId, Refusal, require, string, version1 } from './shape.mjs';
import { verify } from './verify.mjs';

const spelled = (checks) => checks.map(({ name, outcome }) => `${name} ${outcome}`).join(', ');
const said = (verdict) => ({ verdict, compared: verdict });

/** A verdict on a file that one function reads whole. */
function judged(read) {
  try {
    read();
    return said('valid');
  } catch (error) {
    if (error instanceof Refusal || error instanceof Newer) return said('invalid');
    throw error;
  }
}

/** UTF-8 that is valid: as a text that the signed bytes are. */
const textOf = (bytes) => {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw new Refusal('not UTF-8');
  }
};

function evidence({ file, keys, window, seen }) {
  const policy = { keys, window: window === undefined ? null : Buffer.from(window, 'hex'), seen: seen ?? null };
  const { checks } = verify(file, policy);
  const outcome = new Map(checks.map(({ name, outcome: of }) => [name, of]));
  const optional = [['window', window], ['consistency', seen]].filter(([, given]) => given === undefined);
  const open = checks.some(({ name, outcome: of }) => of !== 'pass' && !optional.some(([one]) => one === name));
  const failed = [...outcome.values()].includes('fail');
  return { verdict: failed ? 'invalid' : open ? 'incomplete' : 'valid', compared: spelled(checks) };
}

function figure({ file, keys, context }) {
  const documents = new Map(context.map(([hash, ...texts]) => [hash, texts]));
  return said(verifyFigure(file, (hash) => documents.get(hash), keys).verdict);
}

/** A checkpoint that a key of its log signed. */
function signedBy(note, keys) {
  const checkpoint = parseCheckpoint(note);
  const { signed, forged } = judgeSignatures(checkpoint, keys.map(parseKey));
  require(signed && !forged, 'not signed');
  return checkpoint;
}

const logProof = ({ file, keys, leaf, slot }) => judged(() => {
  const text = textOf(file);
  const proof = parseLogProof(text);
  signedBy(text.slice(text.indexOf('\n\n') + 2), keys);
  requireLogged(Buffer.from(leaf, 'hex'), slot, proof);
});

const twoHistories = ({ file, keys }) => judged(() => {
  const value = parse(file, 2 * 2 * 64 * 1024 + 4096);
  version1(value);
  const { checkpoints, proof, root } = fields(value, ['v', 'checkpoints', 'proof', 'root']);
  const [first, second] = list(checkpoints, 2, 2).map(string).map((note) => signedBy(note, keys));
  const [hashes, shown] = [list(proof, 64).map(base64Hash), base64Hash(root)];
  require(first.origin === second.origin && first.size <= second.size && first.size > 0n, 'not two of one log');
  require(extendsTree(first.size, shown, second.size, second.root, hashes), 'a proof of something else');
  require(!shown.equals(first.root), 'one history');
});

const RECEIPT = ['v', 'network', 'transaction', 'payer', 'amount', 'asset', 'resourceUrl', 'issuedAt', 'answer_sha256',
  'evidence_url', 'snapshot_hash', 'method_version'];

const FORMS = {
  network: /^eip155:(0|[1-9][0-9]{0,19})$/,
  transaction: /^0x[0-9a-f]{64}$/,
  payer: /^0x[0-9a-f]{40}$/,
  amount: /^(0|[1-9][0-9]{0,38})$/,
  asset: /^0x[0-9a-f]{40}$/,
  answer_sha256: /^0x[0-9a-f]{64}$/,
  snapshot_hash: /^0x[0-9a-f]{64}$/,
};

function base64url(part) {
  const bytes = Buffer.from(part, 'base64url');
  require(bytes.toString('base64url') === part, 'not base64url');
  return bytes;
}

function json(bytes) {
  try {
    return JSON.parse(textOf(bytes));
  } catch (error) {
    throw new Refusal(error.message);
  }
}

const receipt = ({ file, key }) => judged(() => {
  const text = textOf(file).replace(/\p{White_Space}+$/u, '');
  require(Buffer.byteLength(text) <= 8192, 'too long');
  const parts = text.split('.');
  require(parts.length === 3, 'not three parts');
  const [head, payload, signature] = parts.map(base64url);
  const header = fields(json(head), ['alg', 'kid', 'typ']);
  const kid = createHash('sha256').update(`{"crv":"Ed25519","kty":"OKP","x":"${key}"}`).digest('base64url');
  require(header.alg === 'EdDSA' && header.typ === 'exitgap-receipt' && header.kid === kid, 'another header');
  const isBy = verifierOf(Buffer.from(key, 'base64url'));
  require(isBy(`${parts[0]}.${parts[1]}`, signature), 'another signature');
  const value = json(payload);
  fields(value, RECEIPT.filter((name) => name !== 'evidence_url'), ['evidence_url']);
  require(value.v === 1 && Number.isSafeInteger(value.issuedAt), 'another version');
  for (const [name, form] of Object.entries(FORMS)) require(form.test(string(value[name])), `not a ${name}`);
  const ordered = RECEIPT.filter((name) => value[name] !== undefined).map((name) => [name, value[name]]);
  require(JSON.stringify(Object.fromEntries(ordered)) === textOf(payload), 'another spelling');
});

const MAX_TIME = 2n ** 63n - 1n;

/** The time at which a witness cosigned; undefined where it did not. A false line under its name is refused. */
function cosignedAt(witness, checkpoint) {
  const [name, id, encoded] = /^([^+]+)\+([0-9a-f]{8})\+(.+)$/.exec(witness).slice(1);
  const isBy = verifierOf(Buffer.from(encoded, 'base64').subarray(1));
  const times = checkpoint.signatures.filter(({ signer }) => signer === `${name}+${id}`).map(({ bytes }) => {
    require(bytes.length === 8 + 64, 'a cosignature of another length');
    const time = bytes.readBigUInt64BE(0);
    require(time <= MAX_TIME, 'a time that is none');
    require(isBy(`cosignature/v1\ntime ${time}\n${checkpoint.signed}`, bytes.subarray(8)), 'forged');
    return time;
  });
  return times.reduce((earliest, time) => (earliest === undefined || time < earliest ? time : earliest), undefined);
}

const cosignatures = ({ file, key, witnesses, least, now }) => judged(() => {
  const checkpoint = signedBy(textOf(file), [key]);
  const times = witnesses.map((witness) => cosignedAt(witness, checkpoint));
  const counted = times.filter((time) => time !== undefined && time <= BigInt(now + 300));
  require(counted.length >= least, 'too few witnesses');
});

const MOST_FILES = 1000;

/** The version of a report's first line; undefined where that cannot be read. */
function versionOf(line) {
  try {
    return json(line).report;
  } catch (error) {
    if (error instanceof Refusal) return undefined;
    throw error;
  }
}

function report({ file, keys }) {
  const lines = [];
  for (let from = 0; from < file.length;) {
    const end = file.indexOf(10, from);
    const to = end < 0 ? file.length : end;
    if (to > from) lines.push(file.subarray(from, to));
    from = to + 1;
  }
  const isFirst = lines[0]?.subarray(0, 10).equals(Buffer.from('{"files":['));
  const files = isFirst ? lines.slice(1) : lines;
  if (files.length > MOST_FILES) return said('invalid');
  const verdicts = files.map((one) => evidence({ file: one, keys }).verdict);
  const hashes = files.map((one) => `"0x${createHash('sha256').update(one).digest('hex')}"`);
  const version = isFirst ? versionOf(lines[0]) : 1;
  const listed = !isFirst || lines[0].equals(Buffer.from(`{"files":[${hashes.join(',')}],"report":1}`));
  if (verdicts.includes('invalid')) return said('invalid');
  if (Number.isInteger(version) && version !== 1) return said('incomplete');
  if (!listed) return said('invalid');
  return said(verdicts.length > 0 && verdicts.every((one) => one === 'valid') ? 'valid' : 'incomplete');
}

function stateProof({ file, snapshot, state, pool }) {
  try {
    const documents = { snapshot: JSON.parse(snapshot), state: JSON.parse(state), pool: poolId(pool) };
    require(documents.snapshot.contract === documents.pool.contract, 'a snapshot of another pool');
    const checks = checkState(documents, file);
    return { verdict: '', compared: checks.map(({ name, outcome, code }) => `${name} ${outcome} ${code}`).join(', ') };
  } catch (error) {
    if (error instanceof Refusal || error instanceof Newer) return said('invalid');
    throw error;
  }
}

const anchors = ({ file, chain, trusted }) => judged(() => {
  const read = readAnchors(file);
  require(read.chain === chain && read.block === trusted, 'another chain or block');
});

export const secondReaders = {
  anchors,
  evidence,
  figure,
  'log proof': logProof,
  'two histories': twoHistories,
  receipt,
  cosignatures,
  report,
  'state proof': stateProof,
};
