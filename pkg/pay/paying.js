// Sends requests and pays for them.

import { randomBytes } from 'node:crypto';

import { refusal, inTokens } from './amounts.js';
import { chainId, choose, encodeHeader, MAX_BODY, readOffers } from './offers.js';
import { OpenPayments, nameOf } from './open.js';
import { breakOf, isRefusal, leavesOpen, pauseOf, reasonOf, settlementOf } from './outcomes.js';
import { place } from './policy.js';
import { wrong } from '../arguments.js';
import { said } from '../error.js';

// Maximum validity of an authorization that the wallet signs, whatever the service requests.
const MAX_VALID_S = 600;
// How long a payment waits for payments that were reserved before it, and the polling interval.
const PATIENCE_MS = 5_000;
const LOOK_MS = 25;
const ATTEMPT_MS = 30_000;
// How long one call keeps sending a payment by default, and the maximum.
const WAIT_MS = 120_000;
const LONGEST_WAIT_MS = MAX_VALID_S * 1000;
// How often one call sends a payment that the service reports as invalid.
const REFUSED_SENDS = 3;
const ROUNDS = 3;
const AGAIN = 'call again: the same signed payment is sent until it expires; after that, check the chain with reconcile(). '
  + 'The amount stays counted until then';

export const TYPES = {
  TransferWithAuthorization: [
    { name: 'from', type: 'address' },
    { name: 'to', type: 'address' },
    { name: 'value', type: 'uint256' },
    { name: 'validAfter', type: 'uint256' },
    { name: 'validBefore', type: 'uint256' },
    { name: 'nonce', type: 'bytes32' },
  ],
};

/** Waits; a signal ends it with its reason. */
function sleep(ms, signal) {
  return new Promise((done, fail) => {
    const stop = () => {
      clearTimeout(timer);
      fail(signal.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', stop);
      done();
    }, ms);
    if (signal?.aborted) stop();
    else signal?.addEventListener('abort', stop, { once: true });
  });
}

/** Reserves a payment, or throws why it may not be made: then it was withdrawn. */
export async function reserve(pay, wanted) {
  const { policy, ledger } = pay;
  const budgets = policy.budgetsFor(wanted.host, wanted.path, wanted.terms.network);
  const id = ledger.reserve(wanted);
  for (let waited = 0; ; waited += LOOK_MS) {
    const refused = ledger.admission(id, wanted, budgets, policy.payees);
    if (refused === null) return id;
    if (!refused.waits || waited >= PATIENCE_MS) {
      ledger.withdraw(id);
      throw refused.error;
    }
    await sleep(LOOK_MS);
  }
}

/** `fetch` that pays; see pay.d.ts. */
export function payingFetch(fetch, { signer, pay, maxWaitMs = WAIT_MS }) {
  if (typeof fetch !== 'function') throw wrong('fetch', 'it must be a function');
  const account = signer?.account?.address ?? signer?.address;
  if (typeof signer?.signTypedData !== 'function' || typeof account !== 'string') {
    throw wrong('signer', 'it must have address and signTypedData, like the accounts and wallets of viem');
  }
  if (typeof pay?.ledger?.reserve !== 'function') throw wrong('pay', 'it must come from budget()');
  if (!Number.isInteger(maxWaitMs) || maxWaitMs < 0 || maxWaitMs > LONGEST_WAIT_MS) {
    throw wrong('maxWaitMs', `it must be a whole number from 0 to ${LONGEST_WAIT_MS}`);
  }
  const open = new OpenPayments(pay.ledger);

  const sign = async (offer, validBeforeS) => {
    const { network, asset, payTo, amount, domain } = offer.terms;
    const message = {
      from: account,
      to: payTo,
      value: amount,
      validAfter: 0n,
      validBefore: BigInt(validBeforeS),
      nonce: `0x${randomBytes(32).toString('hex')}`,
    };
    const typed = {
      domain: { ...domain, chainId: chainId(network), verifyingContract: asset },
      types: TYPES,
      primaryType: 'TransferWithAuthorization',
      message,
    };
    try {
      const signature = await signer.signTypedData(signer.account ? { account: signer.account, ...typed } : typed);
      if (!/^0x(?:[0-9a-fA-F]{2}){65,}$/.test(signature)) throw new Error('it returned no signature');
      return { message, header: headerOf(offer, message, signature) };
    } catch (thrown) {
      throw refusal('signer_failed', `the signer did not sign: ${said(thrown)}`, 'see the signer; nothing was sent');
    }
  };

  const pay402 = async (request, name, answer) => {
    const elsewhere = answer.redirected || (answer.url !== '' && bare(answer.url) !== bare(request.url));
    if (elsewhere) {
      throw refusal('address_not_paid', `${request.url}: it was redirected, and nothing is paid after a redirect`,
        'use https and the current address of the service');
    }
    const { host, path } = place(request.url);
    const offer = choose(pay.policy, readOffers(answer.headers, await textOf(answer)));
    const { terms } = offer;
    const nowMs = pay.ledger.nowMs();
    const validBeforeS = Math.floor(nowMs / 1000) + Math.min(terms.maxTimeoutS, MAX_VALID_S);
    const id = await reserve(pay, { host, path, terms, validBeforeS });
    let signed;
    let kept;
    try {
      signed = await sign(offer, validBeforeS);
      kept = open.keep({ id, request: name, header: signed.header, nowMs });
    } catch (thrown) {
      pay.ledger.neverSent(id);
      throw thrown;
    }
    pay.ledger.sent(id, account, signed.message.nonce);
    return { id, path: kept, header: signed.header, units: terms.amount, validBeforeS };
  };

  /**
   * Sends a payment with its request, again and again, until there is an answer or the time of this call is over. Answers
   * undefined if the payment ended meanwhile: another call was answered, or the chain showed that it cannot settle.
   */
  const send = async (request, payment) => {
    const expiresMs = payment.validBeforeS * 1000;
    // Measures the wait with a monotonic clock.
    const startMs = performance.now();
    for (let sent = 1; ; sent += 1) {
      open.hold(payment, pay.ledger.nowMs());
      const outcome = await attempt(fetch, request, payment.header);
      const { answer } = outcome;
      if (answer !== undefined) noteSettlement(pay.ledger, payment, answer);
      if (answer !== undefined && outcome.whole && !leavesOpen(answer)) {
        open.answer(payment, pay.ledger.nowMs());
        return answer;
      }
      await answer?.body?.cancel().catch(() => {});
      if (open.hasEnded(payment)) return undefined;
      const pauseMs = pauseOf(answer);
      const over = pay.ledger.nowMs() + pauseMs >= expiresMs || performance.now() - startMs + pauseMs >= maxWaitMs;
      if (over || (outcome.refused && sent >= REFUSED_SENDS)) throw unanswered(pay.ledger, payment, outcome, sent);
      await sleep(pauseMs, request.signal);
    }
  };

  return async (input, init) => {
    const request = new Request(input, init);
    const name = await nameOf(request);
    // The loop continues only if the payment that was sent again ended without a response for this call.
    for (let round = 1; ; round += 1) {
      let payment = open.find(name, pay.ledger.nowMs());
      if (payment === undefined) {
        const first = await fetch(request.clone());
        if (first.status !== 402) return first;
        payment = await pay402(request, name, first);
      }
      try {
        const answer = await send(request, payment);
        if (answer !== undefined) return answer;
      } finally {
        open.letGo(payment);
      }
      if (round === ROUNDS) throw unanswered(pay.ledger, payment, { last: 'it ended while it was being sent' }, round);
    }
  };
}

const bare = (url) => url.split('#')[0];

/** One sending: a redirect is not followed, so that a payment goes nowhere else. Answers what came, or why nothing did. */
async function attempt(fetch, request, [name, value]) {
  const headers = new Headers(request.headers);
  headers.set(name, value);
  const patience = new AbortController();
  const timer = setTimeout(() => patience.abort(new Error('no response within 30 s')), ATTEMPT_MS);
  const signal = AbortSignal.any([request.signal, patience.signal]);
  try {
    const answer = await fetch(new Request(request.clone(), { headers, redirect: 'manual', cache: 'no-store', signal }));
    clearTimeout(timer);
    const broken = leavesOpen(answer) ? undefined : await breakOf(answer, ATTEMPT_MS);
    if (broken !== undefined && request.signal.aborted) throw request.signal.reason;
    return { answer, whole: broken === undefined, last: broken ?? reasonOf(answer), refused: isRefusal(answer) };
  } catch (thrown) {
    if (request.signal.aborted || thrown?.name === 'ExitgapError') throw thrown;
    return { last: said(thrown), refused: false };
  } finally {
    clearTimeout(timer);
  }
}

function noteSettlement(ledger, { id }, answer) {
  const told = settlementOf(answer);
  if (told?.success === true && ledger.entry(id)?.state === 'sent') ledger.settled(id, told.transaction);
}

/** The error of a payment that was sent and has no answer yet. */
function unanswered(ledger, payment, { answer, last }, sent) {
  const { state, sent: signed } = ledger.entry(payment.id);
  const { validBeforeS: validBefore } = payment;
  const price = inTokens(payment.units);
  const once = `; the same signed payment was sent ${sent === 1 ? 'once' : `${sent} times`} in this call, and no other was signed`;
  const more = { sent, validBefore, payer: signed?.payer, nonce: signed?.nonce };
  if (state === 'settled') {
    return refusal('payment_unknown', `a payment of ${price} USDC was settled, but the service did not answer: ${last}${once}`, AGAIN, more);
  }
  if (ledger.nowMs() >= validBefore * 1000) {
    return refusal('payment_unknown', `a payment of ${price} USDC was sent and has expired, but its outcome is unknown: ${last}${once}`,
      'check the chain with reconcile() before another payment is signed for this request; until then the amount stays counted', more);
  }
  if (answer?.status === 402) {
    return refusal('payment_refused', `the payment of ${price} USDC was sent, but the service reported that it failed: ${last}${once}`, AGAIN, more);
  }
  return refusal('payment_unknown', `a payment of ${price} USDC was sent, but its outcome is unknown: ${last}${once}`, AGAIN, more);
}

function headerOf({ version, accepted, resource, extensions }, message, signature) {
  const text = (value) => value.toString();
  const { from, to, value, validAfter, validBefore, nonce } = message;
  const authorization = { from, to, value: text(value), validAfter: text(validAfter), validBefore: text(validBefore), nonce };
  const payload = { signature, authorization };
  if (version === 1) {
    const { scheme, network } = accepted;
    return ['x-payment', encodeHeader({ x402Version: 1, scheme, network, payload })];
  }
  return ['payment-signature', encodeHeader({ x402Version: 2, accepted, payload, resource, extensions })];
}

/** The text of a body, as far as an offer may be long. */
async function textOf(answer) {
  const parts = [];
  let length = 0;
  for await (const part of answer.body ?? []) {
    parts.push(part);
    length += part.length;
    if (length > MAX_BODY) break;
  }
  return Buffer.concat(parts).toString('utf8');
}
