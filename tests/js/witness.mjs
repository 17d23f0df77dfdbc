// A log that asks a witness, written from the C2SP pages alone (tlog-witness, tlog-cosignature, tlog-checkpoint,
// signed-note, RFC 6962): what is cosigned, what is refused and how, and that two pasts are never cosigned.
// Usage: node witness.mjs <address> <the witness's key> <the log's seed, in hex> <the log's name>
import assert from 'node:assert/strict';
import { createHash, createPrivateKey, createPublicKey, sign, verify } from 'node:crypto';

const [address, witnessKey, seed, origin] = process.argv.slice(2);
const sha256 = (...parts) => parts.reduce((hash, part) => hash.update(part), createHash('sha256')).digest();

// Keys.
const privateKey = (hex) => createPrivateKey({
  key: Buffer.concat([Buffer.from('302e020100300506032b657004220420', 'hex'), Buffer.from(hex, 'hex')]),
  format: 'der',
  type: 'pkcs8',
});
const publicBytes = (key) => createPublicKey(key).export({ format: 'der', type: 'spki' }).subarray(-32);
const publicKey = (bytes) => createPublicKey({
  key: Buffer.concat([Buffer.from('302a300506032b6570032100', 'hex'), bytes]),
  format: 'der',
  type: 'spki',
});
const keyId = (name, algorithm, bytes) => sha256(name, '\n', Buffer.from([algorithm]), bytes).subarray(0, 4);
const logKey = privateKey(seed);

// The tree.
const leafHash = (leaf) => sha256(Buffer.from([0]), leaf);
const node = (left, right) => sha256(Buffer.from([1]), left, right);
const split = (n) => { let k = 1; while (k * 2 < n) k *= 2; return k; };
const root = (leaves) => {
  if (leaves.length === 0) return sha256('');
  if (leaves.length === 1) return leaves[0];
  const k = split(leaves.length);
  return node(root(leaves.slice(0, k)), root(leaves.slice(k)));
};
const consistency = (old, leaves, whole = true) => {
  if (old === leaves.length) return whole ? [] : [root(leaves)];
  const k = split(leaves.length);
  return old <= k
    ? [...consistency(old, leaves.slice(0, k), whole), root(leaves.slice(k))]
    : [...consistency(old - k, leaves.slice(k), false), root(leaves.slice(0, k))];
};
const leaves = (count, other) => Array.from({ length: count }, (_, i) => leafHash(`${i < other ? '' : 'other '}${i}`));

const checkpoint = (tree, by = logKey, name = origin) => {
  const text = `${name}\n${tree.length}\n${root(tree).toString('base64')}\n`;
  const signed = Buffer.concat([keyId(name, 1, publicBytes(by)), sign(null, Buffer.from(text), by)]);
  return { text, note: `${text}\n\u2014 ${name} ${signed.toString('base64')}\n` };
};
const post = async (body) => {
  const answer = await fetch(`${address}/witness/add-checkpoint`, { method: 'POST', body });
  return { status: answer.status, type: answer.headers.get('content-type'), text: await answer.text() };
};
const body = (old, proof, note) => `old ${old}\n${proof.map((hash) => `${hash.toString('base64')}\n`).join('')}\n${note}`;
const show = (old, tree, note = checkpoint(tree).note, from = old) =>
  post(body(old, from === 0 || from > tree.length ? [] : consistency(from, tree), note));

// A cosignature is by the witness's key, over the text and a time, and of now.
const [witness, id, encoded] = /^([^+]+)\+([0-9a-f]{8})\+(.+)$/.exec(witnessKey).slice(1);
const encodedKey = Buffer.from(encoded, 'base64');
assert.equal(encodedKey[0], 4, 'a key of cosignatures');
assert.equal(keyId(witness, 4, encodedKey.subarray(1)).toString('hex'), id);
const isCosigned = (text, line) => {
  const [, name, signature] = /^\u2014 (\S+) (\S+)\n$/.exec(line);
  const bytes = Buffer.from(signature, 'base64');
  assert.equal(name, witness);
  assert.equal(bytes.length, 4 + 8 + 64);
  assert.equal(bytes.subarray(0, 4).toString('hex'), id);
  const time = bytes.readBigUInt64BE(4);
  assert.ok(Math.abs(Number(time) - Date.now() / 1000) < 60, 'at this time');
  const message = Buffer.from(`cosignature/v1\ntime ${time}\n${text}`);
  return verify(null, message, publicKey(encodedKey.subarray(1)), bytes.subarray(12));
};
const cosigned = (tree, answer) => {
  assert.equal(answer.status, 200, answer.text);
  assert.ok(isCosigned(checkpoint(tree).text, answer.text));
};
const refused = (answer, status, type = 'text/plain; charset=utf-8') => {
  assert.deepEqual([answer.status, answer.type], [status, type], answer.text);
  assert.ok(answer.text.endsWith('\n') && answer.text.length > 1);
};
const ours = (count) => leaves(count, 1e9);

// Another log, and another's signature.
refused(await show(0, ours(3), checkpoint(ours(3), logKey, 'other.example/log/5957856').note), 404);
refused(await show(0, ours(3), checkpoint(ours(3), privateKey('77'.repeat(32))).note), 403);
// The first, the same again, and one that goes on from it.
cosigned(ours(3), await show(0, ours(3)));
cosigned(ours(3), await show(3, ours(3)));
refused(await show(0, ours(3)), 409, 'text/x.tlog.size');
assert.equal((await show(0, ours(8))).text, '3\n');
cosigned(ours(8), await show(3, ours(8)));
// Back, and beside.
assert.equal((await show(3, ours(5))).text, '8\n');
refused(await show(8, leaves(8, 5)), 409);
refused(await show(8, leaves(11, 5)), 422);
refused(await show(8, ours(11), undefined, 7), 422);
refused(await post(body(8, [], checkpoint(ours(11)).note)), 422);
// A signature beside it that is forged under the log's name.
const forged = checkpoint(ours(9)).note + checkpoint(ours(11)).note.split('\n\n')[1];
refused(await show(8, ours(9), forged), 403);
// What is no request.
refused(await show(12, ours(8)), 400);
for (const wrong of ['', 'old 8\n', 'old 08\n\n', 'old 8\nAAAA\n\n', body(8, Array(64).fill(root(ours(1))), checkpoint(ours(9)).note), 'old 8\n\n\u2014']) {
  refused(await post(wrong), 400);
}
refused(await post(Buffer.from([0xff, 0xfe])), 400);
refused(await post('x'.repeat(1 << 20)), 413);
assert.equal((await fetch(`${address}/witness/add-checkpoint`)).status, 405);
// Nothing of that moved it.
const latest = async () => (await fetch(`${address}/witness/${sha256(origin).toString('hex')}/checkpoint`)).text();
const [text, ...lines] = (await latest()).split('\n\n');
assert.equal(`${text}\n`, checkpoint(ours(8)).text);
const signatures = lines.join('').split('\n').slice(0, -1);
assert.equal(signatures.length, 2);
assert.ok(isCosigned(`${text}\n`, `${signatures[1]}\n`));
assert.equal((await fetch(`${address}/witness/${'00'.repeat(32)}/checkpoint`)).status, 404);
// Two pasts at once, of which each goes on from the state cosigned last: one of them is cosigned.
let forks = 0;
for (let size = 9; size < 25; size += 1) {
  const pasts = [ours(size), leaves(size, size - 1)];
  const answers = await Promise.all(Array.from({ length: 8 }, (_, at) => show(size - 1, pasts[at % 2])));
  const taken = [0, 1].map((past) => answers.filter((answer, at) => at % 2 === past && answer.status === 200).length);
  assert.ok(taken[0] + taken[1] > 0);
  if (taken[0] > 0 && taken[1] > 0) forks += 1;
  if (taken[1] > 0) break;
}
console.log(JSON.stringify({ forks_cosigned: forks }));
