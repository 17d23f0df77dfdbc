// C2SP signed notes, checkpoints and log proofs, and the keys that sign them.

import { verifierOf } from './ed25519.mjs';
import { sha256 } from './merkle.mjs';
import { base64, base64Hash, require, slot, string, text, U64_MAX } from './shape.mjs';

const MAX_NOTE_BYTES = 64 * 1024;
const MAX_PROOF_BYTES = 68 * 1024;
const MAX_PROOF_HASHES = 64;
const MAX_SIGNATURES = 64;
const ED25519 = 1;

/** A key's or signer's name: not empty, without white space, controls and plus signs. */
const NAME = '[^\\p{White_Space}\\u0000-\\u001f+]+';

/** Decimal digits without leading zeros, as both C2SP pages ask for, of 64 bits. */
function decimal(digits, what) {
  const number = BigInt(text(digits, /^(0|[1-9][0-9]{0,19})$/, what));
  require(number <= U64_MAX, `${what} of more than 64 bits`);
  return number;
}

/** A trusted key, spelled `<name>+<8 hex digits of its id>+<base64 of algorithm and key>`. */
export function parseKey(spelling) {
  const parts = new RegExp(`^(${NAME})\\+([0-9a-f]{8})\\+([A-Za-z0-9+/=]+)$`, 'u').exec(spelling);
  require(parts !== null, 'not a key');
  const [, name, id, encoded] = parts;
  const bytes = base64(encoded);
  require(bytes.length === 33 && bytes[0] === ED25519, 'not an Ed25519 key');
  const hash = sha256(name, '\n', bytes).subarray(0, 4).toString('hex');
  require(hash === id, 'a key whose id is another');
  return { signer: `${name}+${id}`, name, isBy: verifierOf(bytes.subarray(1)) };
}

/** A signed note: its text, with the final newline, and its signatures. */
function parseNote(note) {
  require(Buffer.byteLength(note) <= MAX_NOTE_BYTES, 'a note of more than 64 KiB');
  require(note.isWellFormed() && !/[\u0000-\u0009\u000b-\u001f]/.test(note), 'control characters');
  // The text may contain empty lines; the last one separates.
  const blank = note.lastIndexOf('\n\n');
  require(blank >= 0 && note.endsWith('\n'), 'not a signed note');
  const lines = note.slice(blank + 2).split('\n').slice(0, -1);
  require(lines.length >= 1 && lines.length <= MAX_SIGNATURES, 'not 1 to 64 signatures');
  const signatures = lines.map((line) => {
    const parts = new RegExp(`^\u2014 (${NAME}) ([A-Za-z0-9+/=]+)$`, 'u').exec(line);
    require(parts !== null, 'not a signature line');
    const bytes = base64(parts[2]);
    require(bytes.length > 4, 'a signature without bytes');
    const id = bytes.subarray(0, 4).toString('hex');
    return { signer: `${parts[1]}+${id}`, bytes: bytes.subarray(4) };
  });
  return { signed: note.slice(0, blank + 1), signatures };
}

/** A checkpoint, whose origin line is `<name>/<first slot>`. */
export function parseCheckpoint(note) {
  const { signed, signatures } = parseNote(note);
  const lines = signed.split('\n').slice(0, -1);
  require(lines.length >= 3 && lines.every((line) => line !== ''), 'not a checkpoint');
  const [origin, size, root] = lines;
  const first = new RegExp(`^${NAME}/([0-9]+)$`, 'u').exec(origin);
  require(first !== null, 'an origin that does not name a first slot');
  return {
    origin,
    firstSlot: slot(Number(decimal(first[1], 'a first slot'))),
    size: decimal(size, 'a tree size'),
    root: base64Hash(root),
    signed,
    signatures,
  };
}

/** A log proof without extra data: the leaf's index, the hashes, the checkpoint. */
export function parseLogProof(proof) {
  require(Buffer.byteLength(string(proof)) <= MAX_PROOF_BYTES, 'a log proof of more than 68 KiB');
  // The proof's own lines are never empty, so the first empty line ends them.
  const blank = proof.indexOf('\n\n');
  require(blank >= 0, 'a log proof without a checkpoint');
  const [magic, index, ...hashes] = proof.slice(0, blank).split('\n');
  require(magic === 'c2sp.org/tlog-proof@v1', 'not a log proof');
  require(index?.startsWith('index '), 'a log proof without an index');
  require(hashes.length <= MAX_PROOF_HASHES, 'more hashes than any tree is high');
  return {
    index: decimal(index.slice('index '.length), 'an index'),
    hashes: hashes.map(base64Hash),
    checkpoint: parseCheckpoint(proof.slice(blank + 2)),
  };
}

/**
 * What the signatures of a checkpoint are worth to a caller who trusts `keys`: `signed` where a
 * key of this log signed it, `forged` where a signature claims a trusted key and is not its own.
 * Signatures by other keys do not matter and are listed.
 */
export function judgeSignatures(checkpoint, keys) {
  const judged = { signed: false, forged: false, unknownSigners: [] };
  for (const { signer, bytes } of checkpoint.signatures) {
    const trusted = keys.find((key) => key.signer === signer);
    if (trusted === undefined) {
      if (!judged.unknownSigners.includes(signer)) judged.unknownSigners.push(signer);
    } else if (!trusted.isBy(checkpoint.signed, bytes)) {
      judged.forged = true;
    } else if (trusted.name === checkpoint.origin) {
      judged.signed = true;
    }
  }
  return judged;
}
