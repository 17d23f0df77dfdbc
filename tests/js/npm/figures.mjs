// A figure of a service, computed again from its file and the snapshots served; then from what was changed on the
// way, which must be refused, and from less than all. Usage: node figures.mjs <service> <pool>
import assert from 'node:assert/strict';
import { Client, init, verifyFigure } from 'exitgap';

await init();
const [service, pool, second] = process.argv.slice(2);
const client = new Client(service);
const keys = [await client.verifierKey()];
const told = await client.depthDecay(pool, { movePct: '0.05', withinSlots: 1 });
assert.equal(told.pool, pool);
assert.ok(told.events.length > 0 && told.have > 2);

const progress = [];
const report = await client.verifyFigure(told.figure_url, { keys, onProgress: (...at) => progress.push(at) });
assert.equal(report.verdict, 'valid', JSON.stringify(report));
assert.deepEqual(progress.at(-1), [told.have, told.have]);
assert.equal((await client.verifyFigure(told.figure_url)).verdict, 'incomplete', 'nobody is trusted');

const file = new TextDecoder().decode(await client.figure(told.figure_url));
const failed = async (text, of) => {
  const { verdict, checks } = await verifyFigure(text, { keys, ...of });
  return [verdict, ...checks.filter(({ outcome }) => outcome === 'fail').map(({ name }) => name)];
};
assert.deepEqual(await failed(file), ['incomplete']);
const page = async ({ slot }) => new Uint8Array(await (await fetch(`${service}/api/v1/series/${pool}?slot=${slot}`)).arrayBuffer());
assert.deepEqual(await failed(file, { page }), ['valid']);
const one = async (wanted) => new TextDecoder().decode(await page(wanted)).split('\n')[0];
assert.deepEqual(await failed(file, { page: one }), ['valid'], 'one at a time');
const changed = file.replace('"liquidity_usd":"0"', '"liquidity_usd":"1"');
assert.notEqual(changed, file);
assert.deepEqual(await failed(changed, { page }), ['invalid', 'result']);
// Another snapshot than the one named has another hash, and is thus absent.
const other = async (wanted) => page({ ...wanted, slot: wanted.slot + 1 });
assert.equal((await failed(file, { page: other }))[0], 'incomplete');
assert.equal((await failed(file, { page: () => undefined }))[0], 'incomplete');
await assert.rejects(verifyFigure(file, { keys, page: () => 'no snapshot' }), { code: 'source_unreadable', field: 'page' });
await assert.rejects(verifyFigure(file, { page: () => { throw new Error('gone'); } }), /gone/);

// Of several pools, whose snapshots are wanted in turn.
const both = await client.liquidationExposure([pool, { pool: second }], { cascadeUsd: 250_000, fallPct: 10 });
assert.deepEqual([both.band, both.have, both.venues.length], ['unrated', told.have, 2]);
const pages = [];
const counted = (...at) => pages.push(at);
assert.equal((await client.verifyFigure(both.figure_url, { keys, onProgress: counted })).verdict, 'valid');
assert.equal(pages.length, 2, 'a page of each pool');
console.log('sound');
