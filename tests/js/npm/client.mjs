// The package's client, against a running service and against what a service may do wrong.
// Usage: node client.mjs <service's address> <pool>
import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { Client, estimate, init, maxSizeFor, simulateOrders, snapshotHash } from 'exitgap';

const [service, pool] = process.argv.slice(2);
await init();
const client = new Client(service);
const plain = async (path) => (await fetch(service + path)).json();

/** What a promise is refused with. */
async function refused(promise, code) {
  const error = await promise.then(() => assert.fail(`not refused with ${code}`), (caught) => caught);
  assert.ok(error instanceof Error);
  assert.equal(error.code, code, error.message);
  return error;
}

// What it answers is what the service sent, and its snapshot answers the same question here.
const { answered } = await (async () => {
  const exit = await client.exit(pool, { sizeUsd: '1000' });
  const sent = await plain(`/v1/exit/${pool}?size_usd=1000`);
  assert.deepEqual({ ...exit, snapshot_age_s: 0 }, { ...sent, snapshot_age_s: 0 });
  // So are the largest size within a gap and a sale in several orders, which are answered here alike.
  for (const [there, path, ask] of [
    [(of) => client.maxSize(pool, { gapPct: '2', ...of }), `/v1/size/${pool}?gap_pct=2`,
      (file, base) => maxSizeFor(file, { gap: '2', base })],
    [(of) => client.simulate(pool, { sizeUsd: '1000', orders: 3, recoveryPct: 50, ...of }),
      `/v1/simulate/${pool}?size_usd=1000&orders=3&recovery_pct=50`,
      (file, base) => simulateOrders(file, { sizeUsd: '1000', orders: 3, recoveryPct: 50, base })],
  ]) {
    const answer = await there();
    assert.deepEqual({ ...answer, snapshot_age_s: 0 }, { ...(await plain(path)), snapshot_age_s: 0 });
    const { base, evidence_url: proof } = await there({ base: 'token1' });
    const here = ask(await client.snapshot(answer.method.depth_source.snapshot_hash), 'token1');
    assert.equal(base.address, here.base.address);
    const published = await there({ base: 'token1' });
    for (const name of ['exit', 'max_size_usd', 'fills', 'at_once', 'exit_gap_pct']) {
      assert.deepEqual(published[name], here[name], name);
    }
    const own = proof.replace(/^https?:\/\/[^/]+/, service);
    assert.equal((await client.verify(own, { keys: [await client.verifierKey()] })).verdict, 'valid');
  }
  // What is thrown at the package is told by its kind, and not joined or asked for its words.
  for (const [thrown, words] of [[['a', 'b'], '[object Array]'], [{ message: {} }, '[object Object]'], [new Error('no'), 'no'], [7, '7']]) {
    const throwing = new Client(service, { retries: 0, fetch: async () => { throw thrown; } });
    const error = await refused(throwing.pools(), 'unreachable');
    assert.match(error.hint, /service is running/);
    assert.ok(error.message.endsWith(`: ${words}`), error.message);
  }
  assert.deepEqual(await client.pools(), await plain('/v1/pools'));
  assert.deepEqual(await client.capabilities(), await plain('/v1/capabilities'));
  const of = { sizeUsd: '1000', interval: '5m' };
  assert.deepEqual(await client.history(pool, of), await plain(`/v1/history/${pool}?size_usd=1000&interval=5m`));
  assert.deepEqual(await client.history(pool, { ...of, order: 'desc' }), await plain(`/v1/history/${pool}?size_usd=1000&interval=5m&order=desc`));
  const [chain] = pool.split(':');
  const [token, into] = [exit.base.address, exit.quote.address];
  const cash = await client.sellForCash(chain, token, { amount: '0.5', into, tolerancePct: 1 });
  const told = await plain(`/v1/cash/${chain}/${token}?amount=0.5&into=${into}&tolerance_pct=1`);
  assert.deepEqual({ ...cash, snapshot_age_s: 0 }, { ...told, snapshot_age_s: 0 });
  assert.deepEqual(await client.whenToSell(pool, { sizeUsd: '1000' }), await plain(`/v1/when/${pool}?size_usd=1000`));
  assert.deepEqual(await client.stress(pool, { sizeUsd: '1000' }), await plain(`/v1/stress/${pool}?size_usd=1000`));
  assert.equal((await client.fragility({ sort: 'depth' })).rows.length, (await client.pools()).pools.length);
  assert.ok((await client.ladder(pool, { base: 'token1' })).by_gap.length > 0);
  const positions = [{ pool, sizeUsd: 1000 }, { pool, base: 'token1', sizeUsd: '2.5' }];
  const { exits, total } = await client.portfolio(positions);
  assert.deepEqual(exits.map((one) => [one.base, one.size_usd]), [[exits[0].base, 1000], ['token1', 2.5]].slice(0, exits.length));
  assert.equal(total.size_usd, 1002.5);
  const { slot, snapshot_hash: hash } = exit.method.depth_source;
  assert.equal((await client.slotStatus(pool, { slot })).state, 'recorded');
  const file = await client.snapshot(hash);
  assert.equal(snapshotHash(file), hash);
  const here = estimate(file, { sizeUsd: '1000', base: 'token0' });
  const there = await client.exit(pool, { sizeUsd: '1000', base: 'token0' });
  assert.equal(here.exit_gap_pct, there.exit_gap_pct);
  // A digit of either document changed, and its hash is another.
  for (const [part, words] of [['snapshots', /hash of the served bytes is 0x/], ['states', /the given state is 0x/]]) {
    const meddling = new Client(service, { fetch: async (url, request) => {
      const answer = await fetch(url, request);
      if (!url.includes(`/api/v1/${part}/`)) return answer;
      return new Response((await answer.text()).replace(/\d(?=\D*$)/, (digit) => (Number(digit) + 1) % 10));
    } });
    const error = await refused(meddling.snapshot(hash), 'not_as_specified');
    assert.match(error.message, words);
    assert.ok(error.message.includes(`/api/v1/${part}/`), error.message);
  }
  return { answered: exit };
})();

// Evidence by the key the service names; a window beside it; a stranger's key does not do.
{
  const { slot } = answered.method.depth_source;
  const own = answered.evidence_url.replace(/^https?:\/\/[^/]+/, service);
  const keys = [await client.verifierKey()];
  const window = await client.window(pool, { slot });
  assert.equal((await client.verify(own, { keys, window })).verdict, 'valid');
  assert.equal((await client.verify(own, { keys: [] })).verdict, 'incomplete');
  assert.match(await client.checkpoint(), /^— /m);

  // Genuine evidence of another question is no answer to this one.
  for (const [name, other] of [['size_usd', '1001'], ['slot', slot - 1], ['base', 'token1'], ['method_version', '9.0.0']]) {
    const asked = new URL(own);
    asked.searchParams.set(name, other);
    assert.notEqual(asked.href, new URL(own).href);
    const sent = [];
    const swapping = new Client(service, { fetch: (url, request) => { sent.push(url); return fetch(own, request); } });
    const error = await refused(swapping.verify(asked.href, { keys }), 'not_as_specified');
    assert.match(error.message, new RegExp(`different ${name}$`));
    assert.deepEqual(sent, [asked.href]);
  }
  const elsewhere = own.replace(/0x[0-9a-f]{40}/, `0x${'11'.repeat(20)}`);
  const swapping = new Client(service, { fetch: (_, request) => fetch(own, request) });
  assert.match((await refused(swapping.verify(elsewhere, { keys }), 'not_as_specified')).message, /different pool$/);
  await refused(client.verify(own.replace(/slot=\d+&/, ''), { keys }), 'invalid_parameter');
  const garbled = new Client(service, { fetch: async () => new Response('no file') });
  assert.equal((await garbled.verify(own, { keys })).verdict, 'invalid');
}

// Refusals carry the service's own code; what cannot be asked is not sent.
{
  // What does not meet a guard is refused, also beside positions; what meets it is answered.
  const guards = [[{ maxAgeS: 0 }, 'snapshot_too_old'], [{ minDaysObserved: 7 }, 'series_too_short'], [{ require: 'live' }, 'not_live']];
  for (const [guard, code] of guards) {
    for (const ask of [
      () => client.exit(pool, { sizeUsd: '1000', ...guard }), () => client.maxSize(pool, { gapPct: 2, ...guard }),
      () => client.stress(pool, { sizeUsd: 1000, ...guard }), () => client.portfolio([{ pool, sizeUsd: 1000 }], guard),
    ]) assert.equal((await refused(ask(), code)).field, Object.keys(guard)[0]);
  }
  const met = { maxAgeS: 4294967295, minDaysObserved: '0' };
  assert.equal((await client.portfolio([{ pool, sizeUsd: 1000 }], met)).total.size_usd, 1000);
  const error = await refused(client.exit(pool, { sizeUsd: '0' }), 'invalid_parameter');
  assert.equal(error.field, 'sizeUsd');
  await refused(client.exit(`anvil:0x${'11'.repeat(20)}`, { sizeUsd: '1' }), 'unknown_pool');
  const asked = [];
  const watched = new Client(service, { fetch: (...request) => { asked.push(request); return fetch(...request); } });
  for (const wrong of ['a/b', '../x', '..', '.', '', 7, undefined]) await refused(watched.exit(wrong, { sizeUsd: '1' }), 'invalid_parameter');
  await refused(watched.exit(pool, { size: '1' }), 'unknown_parameter');
  await refused(watched.window('..', { slot: 1 }), 'invalid_parameter');
  for (const signal of [5, {}, Object.create(AbortSignal.prototype)]) await refused(watched.pools({ signal }), 'invalid_parameter');
  assert.equal(asked.length, 0);
  for (const wrong of ['', 'exitgap.example', 'ftp://x', 'http://u@h', 'https://h?x']) {
    assert.throws(() => new Client(wrong), { code: 'invalid_parameter' });
  }
}

// A service that answers as the last path says.
const seen = new Map();
const answers = {
  flaky: (response, times) => (times < 3 ? response.destroy() : response.end('{"pools":[]}')),
  busy: (response) => response.writeHead(503, { 'retry-after': '300' }).end('{"code":"no_snapshot_yet","status":503}'),
  paid: (response) => response.writeHead(402, { 'x-payment-amount': '0.01', 'x-payment-currency': 'USDC',
    'x-payment-network': 'eip155:8453', 'x-payment-recipient': '0xabc' }).end('{}'),
  html: (response) => response.writeHead(500).end('<html>'),
  torn: (response) => response.end('{"pools":['),
  huge: (response) => response.end(Buffer.alloc(5 << 20, 0x20)),
  moved: (response) => response.writeHead(302, { location: `${service}/v1/pools` }).end(),
  silent: () => {},
  slow: (response) => setTimeout(() => response.end('{"pools":[]}'), 100),
  lying: (response) => response.end('{"v":1}'),
};
const server = createServer((request, response) => {
  const name = request.url.split('/')[1];
  seen.set(name, (seen.get(name) ?? 0) + 1);
  answers[name](response, seen.get(name));
});
await new Promise((ready) => server.listen(0, '127.0.0.1', ready));
const at = (name, of) => new Client(`http://127.0.0.1:${server.address().port}/${name}`, of);

assert.deepEqual(await at('flaky').pools(), { pools: [] });
assert.equal(seen.get('flaky'), 3);
await refused(at('busy').pools(), 'no_snapshot_yet');
assert.equal(seen.get('busy'), 1, 'a pause that is too long is not waited for');
const { payment } = await refused(at('paid').pools(), 'payment_required');
assert.deepEqual(payment, { amount: '0.01', currency: 'USDC', network: 'eip155:8453', recipient: '0xabc' });
await refused(at('html').pools(), 'not_as_specified');
await refused(at('torn').pools(), 'not_as_specified');
await refused(at('huge').pools(), 'answer_too_large');
await refused(at('moved', { retries: 0 }).pools(), 'unreachable');
await refused(at('silent', { timeoutMs: 100 }).pools(), 'timed_out');
await refused(at('lying').snapshot(`0x${'0'.repeat(64)}`), 'not_as_specified');
const stop = new AbortController();
const abandoned = refused(at('silent').pools({ signal: stop.signal }), 'cancelled');
setTimeout(() => stop.abort(), 50);
await abandoned;
await refused(at('silent').pools({ signal: AbortSignal.abort() }), 'cancelled');
// However long the time, it is waited for: a timer told too long a one fires at once.
assert.deepEqual(await at('slow', { timeoutMs: 3_000_000_000 }).pools(), { pools: [] });

// A fetch that ignores its signal does not keep a request alive, nor does a body that never ends.
const deaf = [() => new Promise(() => {}), async () => new Response(new ReadableStream({}))];
for (const fetch of deaf) {
  await refused(new Client(service, { fetch, timeoutMs: 50 }).pools(), 'timed_out');
  const signal = AbortSignal.timeout(50);
  await refused(new Client(service, { fetch }).pools({ signal }), 'cancelled');
}

// What answers in another form than fetch does is the caller's fault, and asked once.
let times = 0;
const foreign = async () => { times += 1; return { status: 200, headers: new Headers(), body: { pipe() {} } }; };
const error = await refused(new Client(service, { fetch: foreign }).pools(), 'invalid_parameter');
assert.deepEqual([error.field, times], ['fetch', 1]);

// A pause asked for is kept, and a share of the client's own is added.
const pauses = [];
const { random } = Math;
const { setTimeout: timer } = globalThis;
Math.random = () => 0.5;
globalThis.setTimeout = (call, ms) => { if (ms === 9_000_000) return timer(call, ms); pauses.push(ms); return timer(call, 0); };
const later = new Response('{"code":"rate_limited","status":429}', { status: 429, headers: { 'retry-after': '2' } });
await refused(new Client(service, { fetch: async () => later.clone(), timeoutMs: 9_000_000 }).pools(), 'rate_limited');
globalThis.setTimeout = timer;
Math.random = random;
assert.deepEqual(pauses, [2500, 2500]);

server.closeAllConnections();
server.close();
console.log('sound');
