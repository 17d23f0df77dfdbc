// What the package proves from a log's tiles, against trees made straight from RFC 6962 (2.1), and what tiles that contradict
// each other come to. Usage: node tiles.mjs
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { consistencyProof } from './node_modules/exitgap/log.js';

const sha256 = (...parts) => createHash('sha256').update(Buffer.concat(parts)).digest();
const leaves = Array.from({ length: 700 }, (_, at) => sha256(Buffer.of(0), Buffer.from(String(at))));

/** The root over leaves. */
function root(over) {
  if (over.length === 1) return over[0];
  let half = 1;
  while (half * 2 < over.length) half *= 2;
  return sha256(Buffer.of(1), root(over.slice(0, half)), root(over.slice(half)));
}

/** SUBPROOF(m, D[n], b). */
function subproof(m, over, whole) {
  if (m === over.length) return whole ? [] : [root(over)];
  let half = 1;
  while (half * 2 < over.length) half *= 2;
  const [left, right] = [over.slice(0, half), over.slice(half)];
  return m <= half ? [...subproof(m, left, whole), root(right)] : [...subproof(m - half, right, false), root(left)];
}

/** Answers for the tiles of the first `size` leaves, each changed by `change`. */
const tilesOf = (size, change = (path, hashes) => hashes) => async (path, width) => {
  const [, level, place] = path.match(/^tile\/(\d)\/(\d{3})(?:\.p\/\d+)?$/);
  const span = 256 ** Number(level);
  const from = Number(place) * 256;
  const hashes = Array.from({ length: width }, (_, at) => root(leaves.slice((from + at) * span, (from + at + 1) * span)));
  assert.ok((from + width) * span <= size, `${path} of ${size}`);
  return change(path, hashes.map((hash) => new Uint8Array(hash)));
};

const base64 = (hash) => Buffer.from(hash).toString('base64');
const state = (size) => ({ origin: 'log', size, root: base64(root(leaves.slice(0, size))) });

const sizes = [...Array.from({ length: 24 }, (_, at) => at + 1), 255, 256, 257, 511, 512, 513, 600, 700];
let proven = 0;
for (const size of sizes) {
  for (const old of sizes.filter((one) => one < size)) {
    const { proof, oldRoot } = await consistencyProof(state(old), state(size), tilesOf(size), 'here');
    assert.deepEqual(proof, subproof(old, leaves.slice(0, size), true).map(base64), `${old} of ${size}`);
    assert.equal(oldRoot, state(old).root, `${old} of ${size}`);
    proven++;
  }
}
assert.equal(proven, (sizes.length * (sizes.length - 1)) / 2);

// The tile of roots as it is, and one below it that is not what it says: no other past, tiles that prove nothing.
const spoiled = (path, hashes) => (path.startsWith('tile/0/001') ? hashes.map((hash, at) => (at === 3 ? hash.fill(7) : hash)) : hashes);
await assert.rejects(consistencyProof(state(300), state(700), tilesOf(700, spoiled), 'here'), { code: 'not_as_specified' });
console.log('sound');
