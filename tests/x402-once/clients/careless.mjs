// The control: a client that signs anew whenever it is asked to pay. The trap must catch it.

import { randomBytes } from 'node:crypto';

import { callUntilAnswered } from './until.mjs';

await callUntilAnswered(async (url) => {
  const first = await fetch(url);
  const { accepts: [accepted] } = JSON.parse(Buffer.from(first.headers.get('payment-required'), 'base64'));
  const authorization = {
    from: '0x19E7E376E7C213B7E7e7e46cc70A5dD086DAff2A', to: accepted.payTo, value: accepted.amount, validAfter: '0',
    validBefore: String(Math.floor(Date.now() / 1000) + accepted.maxTimeoutSeconds), nonce: `0x${randomBytes(32).toString('hex')}`,
  };
  const payment = { x402Version: 2, accepted, payload: { signature: `0x${'11'.repeat(65)}`, authorization } };
  return fetch(url, { headers: { 'payment-signature': Buffer.from(JSON.stringify(payment)).toString('base64') } });
});
