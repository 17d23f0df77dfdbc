// Determines the outcome of a payment from the response.

import { said } from '../error.js';

const PAUSE_MS = 2_000;
const LONGEST_PAUSE_MS = 10_000;
const MAX_HEADER = 64 << 10;
// Maximum number of bytes of a response that are read before the caller gets it.
const MAX_READ = 16 << 20;

// Status codes after which it is unknown whether the payment will settle. A service that is still settling answers 402,
// too.
const OPEN = [402, 429, 500, 502, 503, 504];

// The error codes of facilitators for a payment that failed their check. They affect only how long the client waits,
// never what it signs.
const REFUSALS = /^(insufficient_funds|invalid_|unsupported_)/;

export const leavesOpen = ({ status }) => OPEN.includes(status);

export const isRefusal = (answer) => answer.status === 402 && REFUSALS.test(reasonOf(answer));

/**
 * Why the body of an answer broke off; undefined if it is whole, or so long or slow that the caller reads the rest. What broke
 * off does not answer the payment. Nothing of the body is taken from the caller.
 */
export async function breakOf(answer, waitMs) {
  const isStream = /^text\/event-stream/.test(answer.headers.get('content-type') ?? '');
  if (answer.body === null || isStream) return undefined;
  const reader = answer.clone().body.getReader();
  let timer;
  const late = new Promise((done) => {
    timer = setTimeout(() => done({ late: true }), waitMs);
  });
  try {
    for (let length = 0; length <= MAX_READ;) {
      const { value, done, late: isLate } = await Promise.race([reader.read(), late]);
      if (done || isLate) return undefined;
      length += value.length;
    }
    return undefined;
  } catch (thrown) {
    return `the answer broke off: ${said(thrown)}`;
  } finally {
    clearTimeout(timer);
    reader.cancel().catch(() => {});
  }
}

export function settlementOf({ headers }) {
  return ofHeader(headers.get('payment-response') ?? headers.get('x-payment-response'));
}

/** What an answer says of a payment that it did not take. */
export function reasonOf(answer) {
  const reasons = [settlementOf(answer)?.errorReason, ofHeader(answer.headers.get('payment-required'))?.error];
  const reason = reasons.find((one) => typeof one === 'string' && one !== '');
  return reason === undefined ? `status ${answer.status}` : reason.replace(/[\p{Cc}\p{Cf}]/gu, '').slice(0, 120);
}

/** How long to wait before the payment is sent again. */
export function pauseOf(answer) {
  const asked = answer?.headers.get('retry-after');
  const ms = /^[0-9]{1,9}$/.test(asked ?? '') ? Number(asked) * 1000 : PAUSE_MS;
  return Math.min(Math.max(ms, 100), LONGEST_PAUSE_MS);
}

function ofHeader(header) {
  try {
    if (header === null || header.length > MAX_HEADER) return undefined;
    return JSON.parse(Buffer.from(header, 'base64').toString('utf8'));
  } catch {
    return undefined;
  }
}
