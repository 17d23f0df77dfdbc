// A figure that is drawn from what a pool logged, too, computed again from its file, snapshots and documents.
// Usage: node logged.mjs <service> <pool>
import assert from 'node:assert/strict';
import { Client, init, verifyFigure } from 'exitgap';

await init();
const [service, pool] = process.argv.slice(2);
const client = new Client(service);
const keys = [await client.verifierKey()];
const failed = async (text, of) => {
  const { verdict, checks } = await verifyFigure(text, { keys, ...of });
  return [verdict, ...checks.filter(({ outcome }) => outcome === 'fail').map(({ name }) => name)];
};

const record = await client.accuracy(pool);
assert.ok(record.documents > 0 && record.newest.length === record.compared, JSON.stringify(record));
const table = await client.accuracy();
assert.ok(table.pools.some((row) => row.pool === pool), JSON.stringify(table));
const kinds = new Set();
const asked = async (wanted) => {
  kinds.add(wanted.fills === undefined ? 'series' : 'fills');
  const path = wanted.fills === undefined ? `/api/v1/series/${pool}` : `/v1/fills/${pool}`;
  return new Uint8Array(await (await fetch(`${service}${path}?slot=${wanted.slot}`)).arrayBuffer());
};
assert.equal((await client.verifyFigure(record.figure_url, { keys })).verdict, 'valid');
const drawn = new TextDecoder().decode(await client.figure(record.figure_url));
assert.deepEqual(await failed(drawn, { page: asked }), ['valid']);
assert.deepEqual([...kinds].sort(), ['fills', 'series']);
const without = async (wanted) => (wanted.fills === undefined ? asked(wanted) : undefined);
assert.equal((await failed(drawn, { page: without }))[0], 'incomplete');
const changed = drawn.replace('"swaps":4', '"swaps":5');
assert.notEqual(changed, drawn);
assert.deepEqual(await failed(changed, { page: asked }), ['invalid', 'result']);
await assert.rejects(verifyFigure(drawn, { keys, page: () => 'no line' }), { code: 'source_unreadable', field: 'page' });
console.log('sound');
