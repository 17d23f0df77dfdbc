// Reads answers of a service within a size limit, and reports answers that are not the expected document.

import { bytes, wrong } from './arguments.js';
import { ExitgapError, errorOf } from './error.js';

const PAYMENT = ['amount', 'currency', 'network', 'recipient'];

/** The bytes of an answer, at most `most`; as many as had come where `end` is aborted. */
export async function body(response, most, end) {
  const stream = response.body;
  if (stream === null) return new Uint8Array(0);
  if (typeof stream?.getReader !== 'function') {
    throw wrong('fetch', 'the body of its response is not a stream', 'it must return a response like the global fetch');
  }
  const reader = stream.getReader();
  const chunks = [];
  let length = 0;
  while (!end.aborted) {
    const { done, value } = await reader.read();
    if (done) break;
    const chunk = bytes(value, 'fetch', Infinity);
    length += chunk.length;
    if (length > most) {
      throw new ExitgapError('answer_too_large', `larger than the maximum of ${most} bytes`);
    }
    chunks.push(chunk);
  }
  const whole = new Uint8Array(length);
  let at = 0;
  for (const chunk of chunks) {
    whole.set(chunk, at);
    at += chunk.length;
  }
  return whole;
}

/** What a status other than 200 says. */
export function refusal(url, response, bytes) {
  const { status } = response;
  const payment = {};
  for (const name of PAYMENT) payment[name] = response.headers.get(`x-payment-${name}`) ?? undefined;
  if (status === 402 && PAYMENT.every((name) => payment[name] !== undefined)) {
    const price = `${payment.amount} ${payment.currency}`;
    return new ExitgapError('payment_required', `${url} requires a payment of ${price}`, { status, payment });
  }
  try {
    const problem = JSON.parse(new TextDecoder().decode(bytes));
    if (typeof problem.code === 'string' && problem.status === status) {
      return errorOf(problem, { status, requestId: problem.request_id });
    }
  } catch {
    // The body is not a problem document; the error below says so.
  }
  return notAsSpecified(url, `the service answered HTTP ${status} without a problem document`, { status });
}

export function notAsSpecified(url, why, more) {
  return new ExitgapError('not_as_specified', `${url}: ${why}`, more);
}
