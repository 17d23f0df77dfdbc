// Enforces budgets in the official x402 client, through its hooks.

import { refusal } from './amounts.js';
import { termsOf } from './offers.js';
import { reserve } from './paying.js';
import { place } from './policy.js';
import { wrong } from '../arguments.js';
import { said } from '../error.js';

// The client sets the expiry of its authorization itself when it signs, at most this many seconds later.
const SIGNING_S = 60;
// Maximum number of payments without a known outcome that are kept here. Beyond it, the oldest are dropped; the ledger
// keeps them.
const MANY = 1_000;
const HOOKS = ['onBeforePaymentCreation', 'onAfterPaymentCreation', 'onPaymentCreationFailure', 'onPaymentResponse'];

/** Lets an official client pay only what `pay` allows, and answers the client; see pay.d.ts. */
export function guard(client, pay) {
  if (HOOKS.some((hook) => typeof client?.[hook] !== 'function')) {
    throw wrong('client', 'it does not have the hooks of an x402Client of @x402/core');
  }
  if (typeof pay?.ledger?.reserve !== 'function') throw wrong('pay', 'it must come from budget()');
  const begun = new WeakMap();
  const seen = new WeakSet();
  const sent = new Map();
  // The last version 2 payment for each address. The client reports no outcome for version 1.
  const open = new Map();

  client.onBeforePaymentCreation(async ({ paymentRequired, selectedRequirements }) => {
    try {
      if (seen.has(paymentRequired)) {
        throw refusal('payment_unknown', 'this offer was already paid and is not paid again', 'check the chain first');
      }
      const version = paymentRequired.x402Version;
      const terms = termsOf(version, selectedRequirements);
      if (terms.none !== undefined) throw refusal('offer_unreadable', terms.none, 'choose an offer with the scheme `exact`');
      pay.policy.allows(terms);
      const url = version === 1 ? selectedRequirements.resource : paymentRequired.resource?.url;
      const { host, path } = place(String(url));
      if (version === 2) refuseAgain(pay.ledger, open.get(url));
      const validBeforeS = Math.floor(pay.ledger.nowMs() / 1000) + terms.maxTimeoutS + SIGNING_S;
      begun.set(selectedRequirements, { id: await reserve(pay, { host, path, terms, validBeforeS }), terms, validBeforeS, url });
      seen.add(paymentRequired);
    } catch (thrown) {
      return { abort: true, reason: `${thrown?.code ?? 'unexpected'}: ${said(thrown)}` };
    }
  });

  client.onAfterPaymentCreation(async ({ selectedRequirements, paymentPayload }) => {
    const { id, terms, validBeforeS, url } = begun.get(selectedRequirements);
    const { from, to, value, validBefore, nonce } = paymentPayload.payload?.authorization ?? {};
    const asReserved = String(to).toLowerCase() === terms.payTo && String(value) === terms.amount.toString()
      && /^0x[0-9a-fA-F]{64}$/.test(nonce) && /^0x[0-9a-fA-F]{40}$/.test(from) && Number(validBefore) <= validBeforeS;
    if (!asReserved) {
      throw refusal('offer_inconsistent', 'the signed payment differs from the reserved payment', 'nothing was sent');
    }
    pay.ledger.sent(id, from, nonce);
    sent.set(nonce, id);
    open.set(url, { id, validBefore: Number(validBefore) });
    for (const kept of [sent, open]) if (kept.size > MANY) kept.delete(kept.keys().next().value);
  });

  // After this failure, the client sends nothing.
  client.onPaymentCreationFailure(async ({ selectedRequirements }) => {
    const held = begun.get(selectedRequirements);
    if (held !== undefined) pay.ledger.neverSent(held.id);
  });

  client.onPaymentResponse(async ({ paymentPayload, settleResponse }) => {
    const nonce = paymentPayload.payload?.authorization?.nonce;
    const id = sent.get(nonce);
    sent.delete(nonce);
    if (id !== undefined && settleResponse?.success === true) pay.ledger.settled(id, settleResponse.transaction);
  });
  return client;
}

/** The client signs anew for each call, and cannot be made to send an earlier payment again: it has to wait. */
function refuseAgain(ledger, before) {
  if (before === undefined || ledger.entry(before.id)?.state !== 'sent' || ledger.nowMs() >= before.validBefore * 1000) return;
  throw refusal('payment_unknown', 'a payment for this address was sent and its settlement is not known, so no other is signed before it '
    + `expires at ${before.validBefore} (Unix seconds)`, 'wait until then, or check the chain with reconcile(), and call again', { validBefore: before.validBefore });
}
