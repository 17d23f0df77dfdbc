// The npm package's wallet: the shared cases, and what is lost, lied and damaged. Prints `sound`.

import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, readdirSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const [, , module = '../../../pkg/pay.js', root = fileURLToPath(new URL('../../..', import.meta.url))] = process.argv;
const { ExitgapError, budget, fileLedger, payingFetch } = await import(module);

const folder = mkdtempSync(join(tmpdir(), 'exitgap-pay-'));
const vectors = JSON.parse(readFileSync(join(root, 'tests/vectors/x402/offers.json')));
const START = 1_795_000_000_000;
const b64 = (value) => Buffer.from(JSON.stringify(value)).toString('base64');
const read = (header) => JSON.parse(Buffer.from(header, 'base64').toString());
const signed = [];
const signer = {
  address: '0x19E7E376E7C213B7E7e7e46cc70A5dD086DAff2A',
  signTypedData: async (typed) => {
    signed.push(typed);
    return `0x${'11'.repeat(65)}`;
  },
};

let ledgers = 0;
let clock = START;

/** A wallet of its own ledger, before a service that answers by `unpaid` and then by `paid`, in turn. */
function scene(unpaid, paid, more = {}) {
  const path = more.path ?? join(folder, `${(ledgers += 1)}.jsonl`);
  const { host = 'exitgap.example', limit = '1.00', per, ...rest } = more.policy ?? {};
  const of = (pathPrefix) => ({ host, pathPrefix, network: 'eip155:8453', limit, per });
  const pay = budget({
    maxPerCall: '0.02',
    budgets: [of('/v1/exit'), of('/v1/other')],
    networks: ['eip155:8453', 'eip155:84532'],
    ledger: fileLedger(path, { now: () => clock }),
    ...rest,
  });
  const { maxWaitMs } = more;
  const sent = [];
  const fetched = async (request) => {
    const names = ['payment-signature', 'x-payment'].filter((name) => request.headers.has(name));
    if (names.length === 0) return unpaid();
    sent.push([names[0], request.headers.get(names[0])]);
    const answer = paid[Math.min(sent.length, paid.length) - 1];
    return answer(request);
  };
  return { path, pay, sent, get: payingFetch(fetched, { signer: more.signer ?? signer, pay, maxWaitMs }) };
}

function offer({ set = {}, without = [] } = {}) {
  const good = structuredClone(vectors.good);
  for (const [pointer, value] of Object.entries(set)) {
    const names = pointer.split('/').slice(1);
    const last = names.pop();
    names.reduce((at, name) => at[name], good)[last] = value;
  }
  const headers = new Headers(without.includes('plain') ? {} : good.plain);
  if (!without.includes('required')) headers.set('payment-required', b64(good.required));
  return () => new Response(without.includes('body') ? '' : JSON.stringify(good.body), { status: 402, headers });
}

const settlement = { success: true, transaction: `0x${'12'.repeat(32)}`, network: 'eip155:8453' };
const settled = () => new Response('{}', { status: 200, headers: { 'payment-response': b64(settlement) } });
const failed = (status, errorReason, more = {}) => () => new Response('{}', {
  status,
  headers: { 'payment-response': b64({ success: false, errorReason, transaction: '', network: 'eip155:8453' }), ...more },
});
const SOON = { 'retry-after': '0' };
const kinds = (path) => readFileSync(path, 'utf8').match(/"kind":"[a-z]+"/g)?.map((kind) => kind.slice(8, -1)) ?? [];
const spent = ({ pay }) => pay.left()[0].spent;

async function code(promise) {
  const error = await promise.then(() => assert.fail('it was answered'), (thrown) => thrown);
  assert(error instanceof ExitgapError, String(error));
  assert(error.message && error.hint, error.code);
  return error.code;
}

// Shared cases.
for (const one of vectors.cases) {
  const wallet = scene(offer(one), [settled]);
  if (one.pays !== undefined) {
    assert.equal((await wallet.get(vectors.url)).status, 200, JSON.stringify(one));
    assert.equal(wallet.sent[0][0], one.pays, JSON.stringify(one));
    assert.deepEqual(kinds(wallet.path), ['reserved', 'sent', 'settled']);
  } else {
    assert.equal(await code(wallet.get(vectors.url)), one.code, JSON.stringify(one));
    assert.deepEqual([wallet.sent.length, kinds(wallet.path)], [0, []], JSON.stringify(one));
  }
}
for (const one of vectors.addresses) {
  const answered = scene(offer(), [settled]).get(one.url);
  if (one.pays) assert.equal((await answered).status, 200, one.url);
  else assert.equal(await code(answered), one.code, one.url);
}

// What is signed, and what goes back as it was written.
{
  const wallet = scene(offer(), [settled]);
  await wallet.get(vectors.url);
  const sent = read(wallet.sent[0][1]);
  assert.deepEqual(sent.accepted, vectors.good.required.accepts[0]);
  assert.deepEqual(sent.resource, vectors.good.required.resource);
  const typed = signed.at(-1);
  assert.deepEqual(typed.domain, {
    name: 'USD Coin', version: '2', chainId: 8453, verifyingContract: vectors.good.body.accepts[0].asset,
  });
  const { authorization } = sent.payload;
  for (const [name, value] of Object.entries(typed.message)) assert.equal(authorization[name], value.toString());
  assert.equal(authorization.validBefore, String(START / 1000 + 120));
}

// Limits: reached exactly, by windows, with what a caller can decide by.
{
  const wallet = scene(offer(), [settled], { policy: { limit: '0.03', per: '24h' } });
  for (let paid = 0; paid < 3; paid += 1) await wallet.get(vectors.url);
  const error = await wallet.get(vectors.url).catch((thrown) => thrown);
  const { code: found, scope, limit, spent: gone, reserved, resetsAt } = error;
  assert.deepEqual({ found, scope, limit, gone, reserved, resetsAt }, {
    found: 'budget_exceeded', scope: 'exitgap.example/v1/exit on eip155:8453, in any 86400 s', limit: '0.03', gone: '0.03',
    reserved: '0', resetsAt: START / 1000 + 120 + 86_400,
  });
  assert.equal(wallet.pay.left()[0].left, '0');
  clock = (error.resetsAt - 1) * 1000;
  assert.equal(await code(wallet.get(vectors.url)), 'budget_exceeded');
  clock = error.resetsAt * 1000;
  await wallet.get(vectors.url);
  // A clock that steps back.
  clock -= 2_001;
  assert.equal(await code(wallet.get(vectors.url)), 'clock_stepped_back');
  clock = START;
}

// A payee that was swapped; a list of payees.
{
  const swapped = '0x3333333333333333333333333333333333333333';
  const set = { '/required/accepts/0/payTo': swapped, '/body/accepts/0/payTo': swapped, '/plain/x-payment-recipient': swapped };
  const wallet = scene(offer(), [settled]);
  await wallet.get(vectors.url);
  const other = scene(offer({ set }), [settled], { path: wallet.path });
  assert.equal(await code(other.get(vectors.url)), 'payee_changed');
  assert.equal(other.sent.length, 0);
  const listed = scene(offer(), [settled], { policy: { payees: [swapped] } });
  assert.equal(await code(listed.get(vectors.url)), 'payee_not_allowed');
}

// A service that says "failed" gives nothing back; what is lost is asked for by the same payment.
{
  const wallet = scene(offer(), [failed(402, 'insufficient_funds', SOON)]);
  const error = await wallet.get(vectors.url).catch((thrown) => thrown);
  assert.equal(error.code, 'payment_refused');
  assert.match(error.message, /insufficient_funds; the same signed payment was sent 3 times in this call, and no other was signed/);
  assert.deepEqual([wallet.sent.length, spent(wallet), kinds(wallet.path)], [3, '0.01', ['reserved', 'sent']]);
  const lost = () => { throw new TypeError('fetch failed'); };
  const retried = scene(offer(), [failed(503, 'settlement_pending', { 'retry-after': '0' }), settled]);
  assert.equal((await retried.get(vectors.url)).status, 200);
  assert.equal(retried.sent.length, 2);
  assert.deepEqual(retried.sent[0], retried.sent[1]);
  assert.equal(spent(retried), '0.01');
  // Until it expires.
  const expiring = scene(offer({ set: { '/required/accepts/0/maxTimeoutSeconds': 3 } }), [lost]);
  const ticking = setInterval(() => { clock += 500; }, 500);
  assert.equal(await code(expiring.get(vectors.url)), 'payment_unknown');
  clearInterval(ticking);
  clock = START;
  assert(expiring.sent.length >= 1 && expiring.sent.every((one) => one[1] === expiring.sent[0][1]));
  assert.equal(spent(expiring), '0.01');
}

// A caller that gave up gets the same payment repeated.
{
  const never = (request) => new Promise((_, fail) => {
    request.signal.addEventListener('abort', () => fail(request.signal.reason));
  });
  const wallet = scene(offer(), [never, settled]);
  const stop = new AbortController();
  const asked = wallet.get(vectors.url, { signal: stop.signal });
  while (wallet.sent.length === 0) await new Promise((done) => setTimeout(done, 5));
  stop.abort(new Error('given up'));
  await assert.rejects(asked, /given up/);
  assert.equal((await wallet.get(vectors.url)).status, 200);
  assert.deepEqual(wallet.sent[0], wallet.sent[1]);
  assert.equal(spent(wallet), '0.01');
}

// Once a payment was sent, the same one is sent again whatever was answered: three calls sign one authorization.
const pendingOf = (status) => failed(status, 'settlement_pending', SOON);
const silent = () => { throw new TypeError('fetch failed'); };
const old = () => new Response('{"answer":"old"}', { status: 200 });
const distinct = ({ sent }) => new Set(sent.map(([name, value]) => `${name} ${value}`)).size;
for (const [answer, found] of [
  [pendingOf(402), 'payment_refused'],
  [failed(402, 'insufficient_funds', SOON), 'payment_refused'],
  [offer(), 'payment_refused'],
  [pendingOf(500), 'payment_unknown'],
  [pendingOf(503), 'payment_unknown'],
  [silent, 'payment_unknown'],
  [old, undefined],
  [() => new Response('{}', { status: 409 }), undefined],
]) {
  const wallet = scene(offer(), [answer], { maxWaitMs: 150 });
  for (let call = 1; call <= 3; call += 1) {
    if (found === undefined) {
      assert.equal((await wallet.get(vectors.url)).ok, answer === old);
    } else {
      const error = await wallet.get(vectors.url).catch((thrown) => thrown);
      assert.equal(error.code, found, `${answer}`);
      assert.match(error.message, /the same signed payment was sent (once|\d+ times) in this call, and no other was signed/);
      assert.match(error.hint, /call again/);
      assert.deepEqual([error.validBefore, error.nonce.length], [START / 1000 + 120, 66]);
    }
    assert(wallet.sent.length >= call, 'the control: each call sent it');
  }
  assert.deepEqual([distinct(wallet), spent(wallet), kinds(wallet.path)], [1, '0.01', ['reserved', 'sent']], `${answer}`);
  // A wallet of another process goes on with it, and a settlement ends it: the next request is paid for anew.
  const later = scene(offer(), [settled], { path: wallet.path });
  assert.equal((await later.get(vectors.url)).status, 200);
  assert.deepEqual(later.sent[0], wallet.sent[0]);
  assert.deepEqual(kinds(wallet.path), ['reserved', 'sent', 'settled']);
  await later.get(vectors.url);
  assert.deepEqual([distinct(later), spent(later)], [2, '0.02']);
}

// The payment is that of one request: another address, method or body is paid for by another.
{
  const wallet = scene(offer(), [pendingOf(503)], { maxWaitMs: 0, policy: { limit: '0.05' } });
  const posted = (body) => wallet.get(vectors.url, { method: 'POST', body });
  for (const call of [() => wallet.get(vectors.url), () => wallet.get(`${vectors.url}&other=1`), () => posted('a'), () => posted('b')]) {
    const before = distinct(wallet);
    for (let again = 0; again < 2; again += 1) assert.equal(await code(call()), 'payment_unknown');
    assert.equal(distinct(wallet), before + 1);
  }
  const many = await Promise.all([1, 2, 3].map(() => code(posted('b'))));
  assert.deepEqual([many, distinct(wallet)], [['payment_unknown', 'payment_unknown', 'payment_unknown'], 4]);
}

// After it expired, only the chain ends an unanswered payment: unused, it is signed anew; used, it was the payment.
for (const [used, kept] of [[false, 'released'], [true, 'settled']]) {
  const wallet = scene(offer(), [silent], { maxWaitMs: 0 });
  assert.equal(await code(wallet.get(vectors.url)), 'payment_unknown');
  clock = START + 121_000;
  for (let call = 0; call < 2; call += 1) {
    const error = await wallet.get(vectors.url).catch((thrown) => thrown);
    assert.match(`${error.code} ${error.message} ${error.hint}`, /^payment_unknown .*has expired.*reconcile\(\)/);
  }
  assert.deepEqual([wallet.sent.length, distinct(wallet)], [3, 1]);
  await wallet.pay.reconcile(async () => ({ used, blockTimeS: clock / 1000 }));
  assert.equal(kinds(wallet.path).at(-1), kept);
  const after = scene(offer(), [settled], { path: wallet.path });
  assert.equal((await after.get(vectors.url)).status, 200);
  assert.notDeepEqual(after.sent[0], wallet.sent[0]);
  assert.equal(spent(after), used ? '0.02' : '0.01');
  clock = START;
}

// An answer ends the wait for one: where no settlement was reported, the next payment is signed once this one expired.
{
  const wallet = scene(offer(), [old]);
  await wallet.get(vectors.url);
  clock = START + 120_000;
  await wallet.get(vectors.url);
  assert.deepEqual([distinct(wallet), spent(wallet)], [2, '0.02']);
  clock = START;
}

// A settlement that is reported without an answer is not paid for again, and an open payment that cannot be read is not skipped.
{
  const paidNot = () => new Response('{}', { status: 500, headers: { 'payment-response': b64(settlement), ...SOON } });
  const wallet = scene(offer(), [paidNot, paidNot, settled], { maxWaitMs: 0 });
  const error = await wallet.get(vectors.url).catch((thrown) => thrown);
  assert.match(`${error.code} ${error.message}`, /^payment_unknown .*was settled, but the service did not answer: status 500/);
  assert.equal(await code(wallet.get(vectors.url)), 'payment_unknown');
  assert.equal((await wallet.get(vectors.url)).status, 200);
  assert.deepEqual([distinct(wallet), kinds(wallet.path)], [1, ['reserved', 'sent', 'settled']]);

  const damaged = scene(offer(), [silent], { maxWaitMs: 0 });
  assert.equal(await code(damaged.get(vectors.url)), 'payment_unknown');
  const [name] = readdirSync(`${damaged.path}.open`);
  const file = join(`${damaged.path}.open`, name);
  const good = readFileSync(file, 'utf8');
  const other = read(JSON.parse(good).value);
  other.payload.authorization.nonce = `0x${'99'.repeat(32)}`;
  for (const bad of ['', '{}', good.slice(0, -1), good.replace('"v":1', '"v":2'), JSON.stringify({ ...JSON.parse(good), value: b64(other) })]) {
    writeFileSync(file, bad);
    assert.equal(await code(damaged.get(vectors.url)), 'ledger_unreadable', bad.slice(0, 40));
  }
  writeFileSync(file, good);
  assert.equal(await code(damaged.get(vectors.url)), 'payment_unknown', 'the control');
  assert.equal(distinct(damaged), 1);
  assert.equal(statSync(file).mode & 0o777, 0o600);
  // Another process that is alive and sends it now has it to itself for a while.
  writeFileSync(file, JSON.stringify({ ...JSON.parse(good), pid: process.ppid, until_ms: START + 1 }));
  assert.equal(await code(damaged.get(vectors.url)), 'payment_unknown');
  assert.equal(distinct(damaged), 2);
}

// An answer that breaks off is none; one that is whole, long or slow reaches the caller unread.
{
  const parts = (list, end) => new ReadableStream({
    start(controller) {
      for (const part of list) controller.enqueue(new TextEncoder().encode(part));
      end(controller);
    },
  });
  const headers = { 'payment-response': b64(settlement), ...SOON };
  const cut = () => new Response(parts(['{"answer":'], (to) => setTimeout(() => to.error(new Error('reset')), 20)), { headers });
  const whole = () => new Response(parts(['{"answer":', '"new"}'], (to) => to.close()), { headers });
  const wallet = scene(offer(), [cut, cut, whole]);
  assert.deepEqual(await (await wallet.get(vectors.url)).json(), { answer: 'new' });
  assert.deepEqual([wallet.sent.length, distinct(wallet), kinds(wallet.path)], [3, 1, ['reserved', 'sent', 'settled']]);
  const broken = scene(offer(), [cut], { maxWaitMs: 0 });
  const error = await broken.get(vectors.url).catch((thrown) => thrown);
  assert.match(`${error.code} ${error.message}`, /^payment_unknown .*was settled, but the service did not answer: the answer broke off: reset/);
  const open = () => new Response(parts(['data: 1\n\n'], () => {}), { headers: { ...headers, 'content-type': 'text/event-stream' } });
  const stream = await scene(offer(), [open]).get(vectors.url);
  assert.equal((await stream.body.getReader().read()).value.length, 9);
  const long = () => new Response(new Uint8Array((16 << 20) + 5), { headers });
  assert.equal((await (await scene(offer(), [long]).get(vectors.url)).arrayBuffer()).byteLength, (16 << 20) + 5);
}

// Redirects: neither before nor after.
{
  const moved = () => Object.defineProperty(offer()(), 'redirected', { value: true });
  const before = scene(moved, [settled]);
  assert.equal(await code(before.get(vectors.url)), 'address_not_paid');
  const after = scene(offer(), [() => new Response(null, { status: 302, headers: { location: 'https://elsewhere.example' } })]);
  assert.equal((await after.get(vectors.url)).status, 302);
  assert.deepEqual([after.sent.length, spent(after)], [1, '0.01']);
}

// A signer that refuses, or answers with no signature, costs nothing.
for (const signTypedData of [async () => { throw new Error('not pressed'); }, async () => '0x12']) {
  const wallet = scene(offer(), [settled], { signer: { ...signer, signTypedData } });
  assert.equal(await code(wallet.get(vectors.url)), 'signer_failed');
  assert.deepEqual(kinds(wallet.path), ['reserved', 'released']);
  assert.equal(spent(wallet), '0');
}

// Only the chain gives back.
{
  const wallet = scene(offer(), [failed(402, 'x')], { maxWaitMs: 0 });
  await code(wallet.get(vectors.url));
  const told = (used, blockTimeS) => wallet.pay.reconcile(async ({ payer, nonce }) => {
    assert.match(`${payer} ${nonce}`, /^0x[0-9a-f]{40} 0x[0-9a-f]{64}$/);
    return { used, blockTimeS };
  });
  const expiry = START / 1000 + 120;
  assert.deepEqual(await told(false, expiry - 1), { released: '0', settled: 0, left: '0.01' });
  const unreachable = await wallet.pay.reconcile(async () => { throw new Error('no node'); });
  assert.equal(unreachable.left, '0.01');
  assert.deepEqual(await told(false, expiry), { released: '0.01', settled: 0, left: '0' });
  assert.equal(spent(wallet), '0');
}

// The ledger: the page's example, one bit in any byte, a line that broke off, another file.
{
  const page = readFileSync(join(root, 'crates/exitgap-pay/docs/pay-ledger-v1.md'), 'utf8');
  const example = page.split('```')[1].replace(/^jsonl\n/, '');
  const path = join(folder, 'example.jsonl');
  const open = (bytes) => {
    writeFileSync(path, bytes);
    return scene(offer(), [settled], { path, policy: { limit: '0.02' } });
  };
  clock = 1_795_369_600_000;
  const whole = Buffer.from(example.replace(/^|\n$/g, '').split('\n').filter(Boolean).map((line) => `\n${line}\n`).join(''));
  assert.equal(spent(open(whole)), '0.01');
  let changed = 0;
  for (let at = 0; at < whole.length; at += 1) {
    const bytes = Buffer.from(whole);
    bytes[at] ^= 1 << at % 8;
    const outcome = (async () => open(bytes).get(vectors.url))();
    assert.equal(await code(outcome), 'ledger_unreadable', `byte ${at}`);
    changed += 1;
  }
  assert(changed > 500);
  const record = whole.subarray(0, whole.indexOf('\n', 1));
  for (let length = 0; length < record.length; length += 7) {
    const wallet = open(Buffer.concat([whole, record.subarray(0, length)]));
    assert.equal((await wallet.get(vectors.url)).status, 200, `${length}`);
    assert.equal(spent(wallet), '0.02', `${length}`);
  }
  const wallet = open(whole);
  renameSync(path, `${path}.aside`);
  writeFileSync(path, whole);
  assert.equal(await code(wallet.get(vectors.url)), 'ledger_unreadable');
  const cut = open(whole);
  writeFileSync(path, whole.subarray(0, 100));
  assert.equal(await code(cut.get(vectors.url)), 'ledger_unreadable');
  assert.throws(() => fileLedger(folder), { code: 'ledger_unreadable' });
  clock = START;
}

// What a caller gets wrong is told by its name.
{
  const ledger = fileLedger(join(folder, 'misuse.jsonl'));
  const good = { maxPerCall: '0.02', budgets: [{ host: 'a.example', limit: '1', per: '24h' }], networks: ['eip155:8453'], ledger };
  budget(good);
  for (const [field, change] of [
    ['maxPerCall', { maxPerCall: 0.02 }],
    ['maxPerCall', { maxPerCall: '2e-2' }],
    ['budgets', { budgets: [] }],
    ['budgets.limit', { budgets: [{ host: 'a.example', limit: 'NaN' }] }],
    ['budgets.host', { budgets: [{ host: 'https://a.example/', limit: '1' }] }],
    ['budgets.per', { budgets: [{ host: 'a.example', limit: '1', per: '1 day' }] }],
    ['budgets.network', { networks: ['eip155:1', 'eip155:8453'] }],
    ['networks', { networks: ['base'] }],
    ['payees', { payees: ['somebody'] }],
    ['ledger', { ledger: 'spent.jsonl' }],
    ['maxTotal', { maxTotal: '1' }],
  ]) {
    assert.throws(() => budget({ ...good, ...change }), (error) => error.field === field, field);
  }
  assert.throws(() => payingFetch(fetch, { signer: {}, pay: budget(good) }), { field: 'signer' });
  assert.throws(() => payingFetch(fetch, { signer, pay: {} }), { field: 'pay' });
  for (const maxWaitMs of [-1, 0.5, '5', 600_001]) {
    assert.throws(() => payingFetch(fetch, { signer, pay: budget(good), maxWaitMs }), { field: 'maxWaitMs' });
  }
}

rmSync(folder, { recursive: true });
console.log('sound');
