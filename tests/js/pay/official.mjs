// The official x402 client, as it is on the registry, with `guard` around it; and `payingFetch` with an
// account of viem's, whose signature the client's own library verifies. Prints `sound`.
// Arguments: the folder that has the official packages in its node_modules.

import assert from 'node:assert/strict';
import http from 'node:http';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { budget, fileLedger, guard, payingFetch } from '../../../pkg/pay.js';

const load = createRequire(join(process.argv[2], 'any.js'));
const { wrapFetchWithPayment, x402Client } = load('@x402/fetch');
const { registerExactEvmScheme } = load('@x402/evm/exact/client');
const { privateKeyToAccount } = load('viem/accounts');
const { verifyTypedData } = load('viem');

const folder = mkdtempSync(join(tmpdir(), 'exitgap-official-'));
const signer = privateKeyToAccount(`0x${'11'.repeat(32)}`);
const terms = {
  asset: '0x036CbD53842c5426634e7929541eC2318f3dCF7e',
  payTo: '0x209693Bc6afc0C5328bA36FaF03C514EF312287C',
  maxTimeoutSeconds: 120,
  extra: { name: 'USDC', version: '2' },
};
const b64 = (value) => Buffer.from(JSON.stringify(value)).toString('base64');
const paid = [];
let answerWith = { success: true, transaction: `0x${'12'.repeat(32)}`, network: 'eip155:84532' };

const server = http.createServer((request, response) => {
  const url = `http://127.0.0.1:${server.address().port}${request.url}`;
  const name = ['payment-signature', 'x-payment'].find((header) => request.headers[header] !== undefined);
  if (name !== undefined) {
    paid.push(JSON.parse(Buffer.from(request.headers[name], 'base64')));
    const answer = name === 'x-payment' ? 'x-payment-response' : 'payment-response';
    response.writeHead(answerWith.success ? 200 : 402, { [answer]: b64(answerWith) });
    return response.end('{}');
  }
  const resource = { url, description: 'what this size fills at now', mimeType: 'application/json' };
  const v2 = { scheme: 'exact', network: 'eip155:84532', amount: '10000', ...terms };
  const v1 = { scheme: 'exact', network: 'base-sepolia', maxAmountRequired: '10000', resource: url, description: 'x',
    mimeType: 'application/json', ...terms };
  const old = request.url.startsWith('/v1/exit/old');
  response.writeHead(402, old ? {} : { 'payment-required': b64({ x402Version: 2, error: 'pay', resource, accepts: [v2], extensions: {} }) });
  return response.end(JSON.stringify({ x402Version: 1, error: 'pay', accepts: [v1] }));
});
await new Promise((listening) => server.listen(0, '127.0.0.1', listening));
const host = `127.0.0.1:${server.address().port}`;

function wallet(name, more = {}) {
  const ledger = fileLedger(join(folder, name));
  const budgets = [{ host, pathPrefix: '/v1/exit', limit: '0.02', per: '24h' }];
  return budget({ maxPerCall: '0.02', budgets, networks: ['eip155:84532'], ledger, ...more });
}
const guarded = (pay) => {
  const client = new x402Client();
  registerExactEvmScheme(client, { signer });
  return wrapFetchWithPayment(fetch, guard(client, pay));
};
const kinds = (name) => readFileSync(join(folder, name), 'utf8').match(/"kind":"[a-z]+"/g).map((kind) => kind.slice(8, -1));

// Both versions, to the exact limit; then nothing more is signed.
{
  const pay = wallet('both');
  const get = guarded(pay);
  assert.equal((await get(`http://${host}/v1/exit/a`)).status, 200);
  assert.equal((await get(`http://${host}/v1/exit/old`)).status, 200);
  assert.equal(paid.length, 2);
  assert.deepEqual(paid.map((one) => one.x402Version), [2, 1]);
  await assert.rejects(get(`http://${host}/v1/exit/a`), /budget_exceeded: the price is 0.01 USDC/);
  assert.equal(paid.length, 2);
  // Of a payment of version 1 the client tells no outcome: it is sent, and counts.
  assert.deepEqual(kinds('both'), ['reserved', 'sent', 'settled', 'reserved', 'sent', 'reserved', 'withdrawn']);
  assert.equal(pay.left()[0].left, '0');
}

// What the policy does not allow is refused before it is signed.
for (const [more, code] of [
  [{ maxPerCall: '0.009' }, 'max_per_call_exceeded'],
  [{ payees: ['0x3333333333333333333333333333333333333333'] }, 'payee_not_allowed'],
  [{ networks: ['eip155:8453'] }, 'network_not_allowed'],
  [{ budgets: [{ host: 'elsewhere.example', limit: '1' }] }, 'no_budget'],
]) {
  await assert.rejects(guarded(wallet(`refused-${code}`, more))(`http://${host}/v1/exit/a`), new RegExp(code));
  assert.equal(paid.length, 2, code);
}

// A service that says "failed" gives nothing back.
{
  answerWith = { success: false, errorReason: 'insufficient_funds', transaction: '', network: 'eip155:84532' };
  const pay = wallet('lied');
  const get = guarded(pay);
  assert.equal((await get(`http://${host}/v1/exit/a`)).status, 402);
  assert.deepEqual([kinds('lied'), pay.left()[0].spent], [['reserved', 'sent'], '0.01']);
  // It may still settle, so no second payment is signed for it.
  await assert.rejects(get(`http://${host}/v1/exit/a`), /payment_unknown: a payment for this address was sent/);
  assert.equal(kinds('lied').length, 2);
  assert.equal((await get(`http://${host}/v1/exit/b`)).status, 402);
  answerWith = { success: true, transaction: `0x${'12'.repeat(32)}`, network: 'eip155:84532' };
}

// A scheme that cannot sign costs nothing; a hook of another's that asks for a second payment gets none.
{
  const pay = wallet('unsigned');
  const client = new x402Client();
  registerExactEvmScheme(client, { signer: { ...signer, signTypedData: async () => { throw new Error('not pressed'); } } });
  await assert.rejects(wrapFetchWithPayment(fetch, guard(client, pay))(`http://${host}/v1/exit/a`), /not pressed/);
  assert.deepEqual(kinds('unsigned'), ['reserved', 'released']);

  const again = new x402Client();
  registerExactEvmScheme(again, { signer });
  guard(again, wallet('again'));
  again.onPaymentResponse(async () => ({ recovered: true }));
  const before = paid.length;
  await assert.rejects(wrapFetchWithPayment(fetch, again)(`http://${host}/v1/exit/a`), /payment_unknown/);
  assert.equal(paid.length, before + 1);
}

// Ours, with viem's account.
for (const path of ['/v1/exit/a', '/v1/exit/old']) {
  const get = payingFetch(fetch, { signer, pay: wallet(`ours${path.length}`) });
  assert.equal((await get(`http://${host}${path}`)).status, 200);
  const { payload: { signature, authorization } } = paid.at(-1);
  const valid = await verifyTypedData({
    address: signer.address,
    domain: { name: 'USDC', version: '2', chainId: 84532, verifyingContract: terms.asset },
    types: { TransferWithAuthorization: [
      { name: 'from', type: 'address' }, { name: 'to', type: 'address' }, { name: 'value', type: 'uint256' },
      { name: 'validAfter', type: 'uint256' }, { name: 'validBefore', type: 'uint256' }, { name: 'nonce', type: 'bytes32' },
    ] },
    primaryType: 'TransferWithAuthorization',
    message: authorization,
    signature,
  });
  assert(valid, path);
}

assert.throws(() => guard({}, wallet('both')), { field: 'client' });
server.close();
server.closeAllConnections();
rmSync(folder, { recursive: true });
console.log('sound');
