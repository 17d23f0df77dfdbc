// The trap: a service with a price whose settlements take a while. Until a payment is settled it answers the paid request
// in one of the ways below; afterwards with the new answer. It counts the distinct authorizations that it was sent.
// It settles nothing, checks no signature and needs no chain.

import { createServer } from 'node:http';
import { pathToFileURL } from 'node:url';

/** How a service may answer a payment that it is still settling. */
export const WAYS = {
  402: 'status 402 with the reason settlement_pending, as the middleware of @x402/core 2.27 answers',
  500: 'status 500',
  503: 'status 503 with the reason settlement_pending',
  nothing: 'the connection is closed without an answer',
  old: 'status 200 with an old answer and without a settlement',
  cut: 'status 200 with a settlement, and half of the answer',
};

const TERMS = {
  asset: '0x036CbD53842c5426634e7929541eC2318f3dCF7e',
  payTo: '0x209693Bc6afc0C5328bA36FaF03C514EF312287C',
  maxTimeoutSeconds: 120,
  extra: { name: 'USDC', version: '2' },
};
const AUTHORIZATION = ['from', 'to', 'value', 'validAfter', 'validBefore', 'nonce'];

const toHeader = (value) => Buffer.from(JSON.stringify(value)).toString('base64');

/** Opens the trap on a free port. `way` is one of WAYS; a payment settles `settleMs` after it was sent first. */
export async function openTrap({ way, settleMs = 1_500, port = 0 }) {
  if (!Object.hasOwn(WAYS, way)) throw new Error(`${way} is not one of ${Object.keys(WAYS).join(', ')}`);
  // When each authorization was sent first, by its text.
  const sent = new Map();
  const seen = { unpaid: 0, pending: 0, settled: 0, unreadable: 0 };

  const server = createServer((request, response) => {
    const url = `http://${request.headers.host}${request.url}`;
    const name = ['payment-signature', 'x-payment'].find((header) => request.headers[header] !== undefined);
    if (name === undefined) {
      seen.unpaid += 1;
      return offer(response, url);
    }
    const authorization = authorizationOf(request.headers[name]);
    if (authorization === undefined) {
      seen.unreadable += 1;
      return answer(response, 400, {}, { error: 'the payment cannot be read' });
    }
    if (!sent.has(authorization)) sent.set(authorization, Date.now());
    const settled = Date.now() - sent.get(authorization) >= settleMs;
    seen[settled ? 'settled' : 'pending'] += 1;
    const header = name === 'x-payment' ? 'X-PAYMENT-RESPONSE' : 'PAYMENT-RESPONSE';
    return settled ? pay(response, header) : stall(response, header, way);
  });
  await new Promise((listening, failed) => server.once('error', failed).listen(port, '127.0.0.1', listening));

  return {
    url: `http://127.0.0.1:${server.address().port}/v1/exit/pool?size_usd=250000`,
    /** How many distinct authorizations were sent for the one request. */
    get signed() {
      return sent.size;
    },
    /** How many requests there were, by what they were answered with. */
    seen,
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
}

function answer(response, status, headers, body) {
  response.writeHead(status, { 'content-type': 'application/json', ...headers });
  response.end(JSON.stringify(body));
}

function offer(response, url) {
  const resource = { url, description: 'an answer', mimeType: 'application/json' };
  const v2 = { scheme: 'exact', network: 'eip155:84532', amount: '10000', ...TERMS };
  const v1 = {
    scheme: 'exact', network: 'base-sepolia', maxAmountRequired: '10000', resource: url, description: 'an answer',
    mimeType: 'application/json', ...TERMS,
  };
  const required = { x402Version: 2, error: 'payment required', resource, accepts: [v2], extensions: {} };
  answer(response, 402, { 'PAYMENT-REQUIRED': toHeader(required) }, { x402Version: 1, error: 'payment required', accepts: [v1] });
}

function settlement(success, errorReason) {
  const transaction = success || errorReason ? `0x${'12'.repeat(32)}` : '';
  return toHeader({ success, errorReason, transaction, network: 'eip155:84532' });
}

function pay(response, header) {
  answer(response, 200, { [header]: settlement(true) }, { answer: 'new' });
}

function stall(response, header, way) {
  const pending = { [header]: settlement(false, 'settlement_pending') };
  if (way === 'nothing') response.socket.destroy();
  else if (way === 'old') answer(response, 200, {}, { answer: 'old' });
  else if (way === 'cut') cut(response, header);
  else answer(response, Number(way), way === '500' ? {} : pending, {});
}

function cut(response, header) {
  response.writeHead(200, { 'content-type': 'application/json', 'content-length': 100, [header]: settlement(true) });
  response.write('{"answer":', () => response.socket.destroy());
}

/** The authorization of a payment's header as a text, whatever else the header holds. */
function authorizationOf(header) {
  try {
    const { authorization } = JSON.parse(Buffer.from(header, 'base64').toString('utf8')).payload;
    const fields = AUTHORIZATION.map((field) => authorization[field]);
    return fields.every((field) => typeof field === 'string') ? JSON.stringify(fields).toLowerCase() : undefined;
  } catch {
    return undefined;
  }
}

// Alone: a trap for a client that is started elsewhere.
if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const [, , way = '402', settleMs = '10000', port = '0'] = process.argv;
  const trap = await openTrap({ way, settleMs: Number(settleMs), port: Number(port) });
  console.log(`${trap.url}\nanswers a payment that it is settling: ${WAYS[way]}`);
  let shown;
  setInterval(() => {
    const line = `payments.signed_twice ${Math.max(trap.signed - 1, 0)} (${trap.signed} signed, requests ${JSON.stringify(trap.seen)})`;
    if (line !== shown) console.log((shown = line));
  }, 500);
}
