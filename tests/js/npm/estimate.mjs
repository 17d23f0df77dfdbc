// From a pool to a verified number in one call: what is asked, what is remembered, and what is noticed of a log that was
// rewritten since. Usage: node estimate.mjs <service> <pool> <instant of an earlier slot> <forged.json>
import assert from 'node:assert/strict';
import { readFile, writeFile } from 'node:fs/promises';
import { Client, ExitgapError, init, MemoryStorage, recompute, webStorage } from 'exitgap';
import { fileStorage } from 'exitgap/file';

const [service, pool, earlier, forgedPath] = process.argv.slice(2);
await init();
const asked = { sizeUsd: '1000' };

/** What a promise is refused with. */
async function refused(promise, code) {
  const error = await promise.then(() => assert.fail(`not refused with ${code}`), (caught) => caught);
  assert.ok(error instanceof ExitgapError, error);
  assert.equal(error.code, code, error.message);
  return error;
}

// The first visit, one that an earlier slot is asked of; the keys are the service's own.
const storage = fileStorage('seen.json');
const first = await new Client(service, { storage }).estimate(pool, { ...asked, at: earlier });
assert.deepEqual([first.report.verdict, first.log.trust, first.log.continuity], ['valid', 'first_use', 'first_seen']);
assert.equal(recompute(first.evidence).published.exit_gap_pct, first.exit.exit_gap_pct.toFixed(6));
// The next one goes on from it, in another program: the log has grown, and its tiles prove it.
const client = new Client(service, { storage: fileStorage('seen.json') });
const second = await client.estimate(pool, asked);
assert.deepEqual([second.log.trust, second.log.continuity], ['kept', 'continues']);
assert.deepEqual(first.log.keys, [await client.verifierKey()]);
assert.deepEqual(second.log.keys, first.log.keys);
assert.ok(second.log.size > first.log.size, `${first.log.size} ${second.log.size}`);
// An older one is still of it, and what was seen last stays.
assert.equal((await client.estimate(pool, { ...asked, at: earlier })).log.size, first.log.size);
const kept = JSON.parse(await readFile('seen.json', 'utf8'));
assert.ok(Object.values(kept).includes(second.log.checkpoint));
// A base is the one that was asked for, or the service's own, and is named.
const other = await client.estimate(pool, { ...asked, base: 'token1' });
assert.equal(other.report.claim.base, 'token1');
assert.equal(second.report.claim.base, 'token0');
// Keys that the caller names count, and no others.
const key = await client.verifierKey();
assert.equal((await new Client(service, { keys: [key] }).estimate(pool, asked)).log.trust, 'named');
const stranger = 'exitgap.example/log/5957856+d837dc1b+ARl/ayPhbIUyxqvIOPrNXqeJvgx2spIDNAOb+os9No1h';
const unsigned = await refused(new Client(service, { keys: [stranger] }).estimate(pool, asked), 'not_proven');
assert.equal(unsigned.report.verdict, 'invalid');
assert.match(unsigned.hint, /do not use the service's own/);
assert.ok(unsigned.message.startsWith('signature: signature_not_trusted, expected '), unsigned.message);

// A history that was rewritten: whoever was there before is shown it, and whoever was not is not.
const forged = JSON.parse(await readFile(forgedPath, 'utf8'));
const forging = async (url, request) => {
  if (url.includes('/api/v1/exit/')) return new Response(forged.evidence);
  if (url.includes('/log/tile/')) return new Response(Uint8Array.from(forged.tile));
  return fetch(url, request);
};
const newcomer = await new Client(service, { fetch: forging }).estimate(pool, asked);
assert.equal(newcomer.report.verdict, 'valid', 'the forgery is one that a newcomer believes');
const before = new MemoryStorage();
await new Client(service, { storage: before }).estimate(pool, { ...asked, at: earlier });
const rewritten = await refused(new Client(service, { fetch: forging, storage: before }).estimate(pool, asked), 'not_proven');
assert.match(rewritten.message, /consistency/);
await writeFile('rewritten.json', rewritten.fork);
// A log is known by its name and key, whatever the address of the service.
const elsewhere = service.replace('127.0.0.1', 'localhost');
assert.notEqual(elsewhere, service);
const moved = await refused(new Client(elsewhere, { fetch: forging, storage: before }).estimate(pool, asked), 'not_proven');
assert.equal(moved.fork, rewritten.fork);
// What earlier versions kept, by the address, still counts.
const former = new MemoryStorage();
former.put(`exitgap keys ${service}`, first.log.keys.join('\n'));
former.put(`exitgap checkpoint ${service} ${first.log.origin}`, first.log.checkpoint);
const formerly = await refused(new Client(service, { fetch: forging, storage: former }).estimate(pool, asked), 'not_proven');
assert.match(formerly.message, /consistency/);
const split = await refused(new Client(service, { fetch: forging, storage: fileStorage('seen.json') }).estimate(pool, asked), 'not_proven');
await writeFile('split.json', split.fork);
assert.deepEqual(JSON.parse(await readFile('seen.json', 'utf8')), kept, 'what was seen is not forgotten');
assert.deepEqual(JSON.parse(split.fork).proof, []);
assert.ok(JSON.parse(rewritten.fork).proof.length > 0);

// Tiles that prove nothing accuse nobody.
const broken = async (url, request) => (url.includes('/log/tile/') ? new Response(new Uint8Array(160)) : fetch(url, request));
await refused(new Client(service, { fetch: broken, storage: before }).estimate(pool, asked), 'not_as_specified');
const short = async (url, request) => (url.includes('/log/tile/') ? new Response(new Uint8Array(31)) : fetch(url, request));
await refused(new Client(service, { fetch: short, storage: before }).estimate(pool, asked), 'not_as_specified');
// Answers that do not follow from their evidence, or name none.
const changing = (change) => async (url, request) => {
  const answer = await fetch(url, request);
  if (!url.includes('/v1/exit/') || url.includes('/api/')) return answer;
  const exit = await answer.json();
  change(exit);
  return new Response(JSON.stringify(exit), { headers: { 'content-type': 'application/json' } });
};
for (const [name, change] of Object.entries({
  exit_gap_pct: (exit) => { exit.exit_gap_pct = 0.5; },
  amount_out_raw: (exit) => { delete exit.amount_out_raw; },
  split: (exit) => { exit.split.fee_pct += 0.000001; },
  days_observed: (exit) => { exit.days_observed = 30; },
  lowest_depth_7d_usd: (exit) => { exit.lowest_depth_7d_usd = 1e9; },
  'window.to': (exit) => { exit.window.to = '2026-08-22T00:00:00Z'; },
  snapshot_hash: (exit) => { exit.method.depth_source.snapshot_hash = `0x${'0'.repeat(64)}`; },
  oracle_price_usd: (exit) => { exit.oracle_price_usd *= 2; },
  'different amount_in_raw': (exit) => { exit.evidence_url = exit.evidence_url.replace('size_usd=1000', 'size_usd=10'); },
  'answer has no evidence': (exit) => { delete exit.evidence_url; },
  'no evidence$': (exit) => { exit.evidence_url = 'nowhere'; },
  'evidence$': (exit) => { exit.evidence_url = `${service}/healthz`; },
})) {
  const lie = await refused(new Client(service, { fetch: changing(change) }).estimate(pool, asked), 'not_as_specified');
  assert.match(lie.message, new RegExp(name));
}
// Genuine answers to another question, each with its own evidence.
const instead = (from, to) => (url, request) => fetch(url.includes('/api/') ? url : url.replace(from, to), request);
const otherPool = (await client.pools()).pools.map(({ pool: id }) => id).find((id) => id !== pool);
for (const [name, service_, of] of [
  ['is for anvil:', instead(/exit\/[^?]+/, `exit/${otherPool}`), asked],
  ['amount_in_raw|size_usd', instead('size_usd=1000', 'size_usd=10'), asked],
  ['base', instead('base=token1', 'base=token0'), { ...asked, base: 'token1' }],
  ['after', instead(/&at=[^&]*/, ''), { ...asked, at: earlier }],
]) {
  const lie = await refused(new Client(service, { fetch: service_ }).estimate(pool, of), 'not_as_specified');
  assert.match(lie.message, new RegExp(name));
}
// The very file of another size under the address of this one.
const [small] = [await new Client(service).estimate(pool, { sizeUsd: '10' })];
const swapped = async (url, request) => (url.includes('/api/v1/exit/') ? new Response(small.evidence) : fetch(url, request));
await refused(new Client(service, { fetch: swapped }).estimate(pool, asked), 'not_as_specified');

// A log of no slots, kept or shown, ends at once and accuses nobody.
const of = async (change) => {
  const held = new MemoryStorage();
  await new Client(service, { storage: held }).estimate(pool, { ...asked, at: earlier });
  const { checkpoint, keys: [key] } = first.log;
  const name = `exitgap checkpoint ${key}`;
  assert.equal(held.get(name), checkpoint);
  held.put(name, change(checkpoint));
  return [held, name];
};
const sized = (size) => (note) => note.replace(/\n\d+\n/, `\n${size}\n`);
for (const size of ['0', '', '01', 'many', '9'.repeat(30)]) {
  const [held] = await of(sized(size));
  await refused(new Client(service, { storage: held }).estimate(pool, asked), 'kept_unusable');
}
for (const size of ['0', '-1']) {
  const [held] = await of((note) => note);
  const showing = async (url, request) => {
    const answer = await fetch(url, request);
    if (!url.includes('/api/v1/exit/')) return answer;
    const shown = JSON.parse(await answer.text());
    shown.log_proof = shown.log_proof.replace(/(\n\n[^\n]+\n)\d+\n/, `$1${size}\n`);
    assert.match(shown.log_proof, new RegExp(`\n${size}\n`));
    return new Response(JSON.stringify(shown));
  };
  const nothing = await refused(new Client(service, { fetch: showing, storage: held }).estimate(pool, asked), 'not_proven');
  assert.equal(nothing.fork, undefined);
}
// What another visit kept meanwhile stays.
const [shared, name] = await of((note) => note);
const meanwhile = `${first.log.checkpoint}— another AAAAAA==\n`;
const slow = async (url, request) => {
  if (url.includes('/log/tile/')) shared.put(name, meanwhile);
  return fetch(url, request);
};
await new Client(service, { fetch: slow, storage: shared }).estimate(pool, asked);
assert.equal(shared.get(name), meanwhile);

// What is no storage, or holds what was not kept.
for (const wrong of [null, {}, { get() {} }, 7]) {
  assert.throws(() => new Client(service, { storage: wrong }), { code: 'invalid_parameter', field: 'storage' });
}
assert.throws(() => webStorage({}), { code: 'invalid_parameter' });
await writeFile('broken.json', 'nothing');
await refused(new Client(service, { storage: fileStorage('broken.json') }).estimate(pool, asked), 'kept_unusable');
assert.equal(await readFile('broken.json', 'utf8'), 'nothing', 'it is not written over');
const area = new Map();
const page = webStorage({ getItem: (name) => area.get(name) ?? null, setItem: (name, text) => area.set(name, text) });
await new Client(service, { storage: page }).estimate(pool, asked);
assert.equal(area.size, 2);
await refused(new Client(service).estimate(pool, { ...asked, size: 1 }), 'unknown_parameter');
await refused(new Client(service).estimate(pool, { sizeUsd: '1000', signal: AbortSignal.abort() }), 'cancelled');
console.log('sound');
