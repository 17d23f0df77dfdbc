// Requests that are paid for.

import { randomBytes } from 'node:crypto';

import { refusal, inTokens } from './amounts.js';
import { chainId, choose, encodeHeader, MAX_BODY, readOffers } from './offers.js';
import { place } from './policy.js';
import { wrong } from '../arguments.js';
import { said } from '../error.js';

// The longest that an authorization of ours is valid, whatever is asked for.
const MAX_VALID_S = 600;
// How long a payment waits for others that were reserved before it, and between two looks.
const PATIENCE_MS = 5_000;
const LOOK_MS = 25;
const PAUSE_MS = 2_000;
const LONGEST_PAUSE_MS = 10_000;
const ATTEMPT_MS = 30_000;
const MAX_OPEN = 64;
const PENDING = [429, 500, 502, 503, 504];

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

const sleep = (ms) => new Promise((done) => setTimeout(done, ms));

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
export function payingFetch(fetch, { signer, pay }) {
  if (typeof fetch !== 'function') throw wrong('fetch', 'it must be a function');
  const account = signer?.account?.address ?? signer?.address;
  if (typeof signer?.signTypedData !== 'function' || typeof account !== 'string') {
    throw wrong('signer', 'it must have address and signTypedData, like the accounts and wallets of viem');
  }
  if (typeof pay?.ledger?.reserve !== 'function') throw wrong('pay', 'it must come from budget()');
  // Payments that were sent and not answered, by address.
  const open = new Map();

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

  const pay402 = async (request, answer) => {
    const elsewhere = answer.redirected || (answer.url !== '' && bare(answer.url) !== bare(request.url));
    if (elsewhere) {
      throw refusal('address_not_paid', `${request.url}: it was redirected, and nothing is paid after a redirect`,
        'use https and the current address of the service');
    }
    const { host, path } = place(request.url);
    const offer = choose(pay.policy, readOffers(answer.headers, await textOf(answer)));
    const { terms } = offer;
    const validBeforeS = Math.floor(pay.ledger.nowMs() / 1000) + Math.min(terms.maxTimeoutS, MAX_VALID_S);
    const id = await reserve(pay, { host, path, terms, validBeforeS });
    let signed;
    try {
      signed = await sign(offer, validBeforeS);
    } catch (thrown) {
      pay.ledger.neverSent(id);
      throw thrown;
    }
    pay.ledger.sent(id, account, signed.message.nonce);
    return { id, header: signed.header, terms, validBeforeS };
  };

  /** Sends a payment with its request until there is an answer, or the payment has expired. */
  const send = async (request, key, sent) => {
    for (;;) {
      let last;
      let pauseMs = PAUSE_MS;
      try {
        const answer = await attempt(fetch, request, sent.header);
        if (!PENDING.includes(answer.status)) {
          open.delete(key);
          return answered(pay, sent, answer);
        }
        last = reasonOf(answer);
        pauseMs = pauseOf(answer);
        await answer.body?.cancel();
      } catch (thrown) {
        if (thrown?.name === 'ExitgapError') throw thrown;
        if (request.signal.aborted) throw thrown;
        last = said(thrown);
      }
      if (pay.ledger.nowMs() + pauseMs >= sent.validBeforeS * 1000) {
        const price = inTokens(sent.terms.amount);
        throw refusal('payment_unknown', `a payment of ${price} USDC was sent, but its outcome is unknown: ${last}`,
          'check the chain before paying again; the amount stays counted in the budget');
      }
      await sleep(pauseMs);
    }
  };

  return async (input, init) => {
    const request = new Request(input, init);
    const key = `${request.method} ${request.url}`;
    for (const [other, { validBeforeS }] of open) {
      if (validBeforeS * 1000 <= pay.ledger.nowMs()) open.delete(other);
    }
    const before = open.get(key);
    if (before !== undefined) return send(request, key, before);
    const first = await fetch(request.clone());
    if (first.status !== 402) return first;
    const sent = await pay402(request, first);
    // Of a request with a body the address does not say what it asks for.
    if (open.size < MAX_OPEN && request.body === null) open.set(key, sent);
    return send(request, key, sent);
  };
}

const bare = (url) => url.split('#')[0];

/** One sending: a redirect is not followed, so that a payment goes nowhere else. */
async function attempt(fetch, request, [name, value]) {
  const headers = new Headers(request.headers);
  headers.set(name, value);
  const patience = new AbortController();
  const timer = setTimeout(() => patience.abort(new Error('no response within 30 s')), ATTEMPT_MS);
  const signal = AbortSignal.any([request.signal, patience.signal]);
  try {
    return await fetch(new Request(request.clone(), { headers, redirect: 'manual', signal }));
  } finally {
    clearTimeout(timer);
  }
}

function answered({ ledger }, sent, answer) {
  const told = settlementOf(answer);
  if (told?.success === true) ledger.settled(sent.id, told.transaction);
  if (answer.status !== 402) return answer;
  const price = inTokens(sent.terms.amount);
  throw refusal('payment_refused', `the payment of ${price} USDC was sent, but the service reported that it failed: ${reasonOf(answer)}`,
    'the amount stays counted until the chain shows that the payment can no longer be made; see the reason');
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

function settlementOf({ headers }) {
  const header = headers.get('payment-response') ?? headers.get('x-payment-response');
  try {
    return header === null ? undefined : JSON.parse(Buffer.from(header, 'base64').toString('utf8'));
  } catch {
    return undefined;
  }
}

function reasonOf(answer) {
  const reason = settlementOf(answer)?.errorReason;
  return typeof reason === 'string' ? reason.replace(/[\p{Cc}\p{Cf}]/gu, '').slice(0, 120) : `status ${answer.status}`;
}

function pauseOf({ headers }) {
  const asked = headers.get('retry-after');
  const ms = /^[0-9]{1,9}$/.test(asked ?? '') ? Number(asked) * 1000 : PAUSE_MS;
  return Math.min(Math.max(ms, 100), LONGEST_PAUSE_MS);
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
