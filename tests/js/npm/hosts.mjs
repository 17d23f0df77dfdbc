// The package's client, asked for the API's host alone where evidence and log are at another.
// Usage: node hosts.mjs <the API's address> <the web's address> <pool>
import assert from 'node:assert/strict';
import { Client, init } from 'exitgap';

const [api, web, pool] = process.argv.slice(2);
await init();
const asked = [];
const watched = (url, request) => {
  asked.push(url);
  return fetch(url, request);
};

/** Asks everything that lies at the other host. */
async function everything(client) {
  const exit = await client.exit(pool, { sizeUsd: '1000' });
  assert.ok(exit.evidence_url.startsWith(`${web}/`), exit.evidence_url);
  const { slot, snapshot_hash: hash } = exit.method.depth_source;
  const window = await client.window(pool, { slot });
  const keys = [await client.verifierKey()];
  assert.equal((await client.verify(exit.evidence_url, { keys, window })).verdict, 'valid');
  assert.ok((await client.snapshot(hash)).length > 100);
  assert.equal((await client.slotStatus(pool, { slot })).state, 'recorded');
  assert.match(await client.checkpoint(), /^\u2014 /m);
}

// The service says where the other host is, and is asked for it once.
await everything(new Client(api, { fetch: watched }));
assert.equal(asked.filter((url) => url === `${api}/v1/capabilities`).length, 1);
for (const url of asked) assert.equal(url.startsWith(`${api}/v1/`), !url.startsWith(`${web}/`), url);

// A caller who knows it need not be told.
asked.length = 0;
await everything(new Client(api, { fetch: watched, webUrl: new URL(web) }));
assert.ok(!asked.includes(`${api}/v1/capabilities`));

// What was asked for over TLS is not read without, and what is no address is not followed.
for (const told of [web, 'ftp://a', 7, 'https://a@b']) {
  const lying = new Client('https://secure.example', {
    retries: 0,
    fetch: async (url) => {
      assert.equal(url, 'https://secure.example/v1/capabilities');
      return new Response(JSON.stringify({ web_url: told }));
    },
  });
  const error = await lying.checkpoint().then(() => assert.fail(`${told} was followed`), (caught) => caught);
  assert.equal(error.code, 'not_as_specified', String(told));
}
assert.throws(() => new Client(api, { webUrl: 'nowhere' }), (error) => error.field === 'webUrl');
console.log('both hosts answered');
