// The service over HTTP. Works before `init()`, but for what checks bytes: `snapshot` and `verify`.

import { snapshotHash, verify } from './api.js';
import { decimal, options, text, whole, wrong } from './arguments.js';
import { ExitgapError, errorOf } from './error.js';

// The most bytes that are read of an answer; what is larger is not what the service sends.
const MOST = { json: 4 << 20, snapshot: 4 << 20, evidence: 4718592, window: 10 << 20, note: 64 << 10 };
const AGAIN = [429, 502, 503, 504];
const LONGEST_PAUSE_MS = 10_000;
const PAYMENT = ['amount', 'currency', 'network', 'recipient'];

export class Client {
  #base;
  #fetch;
  #timeoutMs;
  #retries;

  constructor(baseUrl, of) {
    const names = ['fetch', 'timeoutMs', 'retries'];
    const { fetch, timeoutMs = 30_000, retries = 2 } = options(of, names);
    const url = text(String(baseUrl), 'baseUrl', 2000).replace(/\/+$/, '');
    if (!/^https?:\/\/[^\s/?#@\\]+[^\s?#@\\]*$/.test(url)) {
      throw wrong('baseUrl', 'it is no service\'s address', 'such as https://exitgap.example');
    }
    if (fetch !== undefined && typeof fetch !== 'function') throw wrong('fetch', 'it is no function');
    this.#base = url;
    this.#fetch = fetch ?? ((...request) => globalThis.fetch(...request));
    this.#timeoutMs = whole(timeoutMs, 'timeoutMs');
    this.#retries = whole(retries, 'retries');
  }

  pools(of) {
    return this.#json('/v1/pools', of, { chain: short, cursor: short });
  }

  exit(pool, of) {
    return this.#json(`/v1/exit/${id(pool)}`, of, { sizeUsd: decimal, base: short, at: short });
  }

  ladder(pool, of) {
    return this.#json(`/v1/ladder/${id(pool)}`, of, { base: short, at: short });
  }

  history(pool, of) {
    return this.#json(`/v1/history/${id(pool)}`, of, { ...SERIES, interval: short, cursor: short });
  }

  stress(pool, of) {
    return this.#json(`/v1/stress/${id(pool)}`, of, SERIES);
  }

  fragility(of) {
    const names = { chain: short, sort: short, sizeUsd: decimal, limit: whole, cursor: short };
    return this.#json('/v1/fragility', of, names);
  }

  capabilities(of) {
    return this.#json('/v1/capabilities', of, {});
  }

  slotStatus(pool, of) {
    return this.#json(`/api/v1/status/${id(pool)}`, of, { slot: whole });
  }

  /** The evidence file at an `evidence_url` of this service: bytes to verify. */
  evidence(evidenceUrl, of) {
    const url = text(evidenceUrl, 'evidenceUrl', 2000);
    if (!/^https?:\/\//.test(url)) throw wrong('evidenceUrl', 'it is no address');
    return this.#bytes(url, 'application/json', MOST.evidence, signalOf(of));
  }

  window(pool, of) {
    const url = this.#url(`/api/v1/window/${id(pool)}`, of, { slot: whole });
    return this.#bytes(url, 'application/json', MOST.window, of?.signal);
  }

  /** The snapshot of this name, its hash checked. */
  async snapshot(hash, of) {
    const url = `${this.#base}/api/v1/snapshots/${id(hash)}`;
    const bytes = await this.#bytes(url, 'application/json', MOST.snapshot, signalOf(of));
    const found = snapshotHash(bytes);
    if (found !== hash) throw notAsSpecified(url, `the bytes served hash to ${found}`);
    return bytes;
  }

  checkpoint(of) {
    return this.#text('/log/checkpoint', of);
  }

  async verifierKey(of) {
    return (await this.#text('/log/verifier-key', of)).trim();
  }

  /** Fetches the evidence at `evidenceUrl` and verifies it. */
  async verify(evidenceUrl, policy, of) {
    return verify(await this.evidence(evidenceUrl, of), policy);
  }

  #url(path, of, names) {
    const { signal: _, ...asked } = options(of, [...Object.keys(names), 'signal']);
    const query = new URLSearchParams();
    for (const [name, value] of Object.entries(asked)) {
      if (value === undefined) continue;
      const snake = name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
      query.append(snake, names[name](value, name));
    }
    const text = query.toString();
    return `${this.#base}${path}${text && `?${text}`}`;
  }

  async #json(path, of, names) {
    const url = this.#url(path, of, names);
    const bytes = await this.#bytes(url, 'application/json', MOST.json, of?.signal);
    try {
      return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
    } catch (cause) {
      throw notAsSpecified(url, 'the answer is no JSON', { cause });
    }
  }

  async #text(path, of) {
    const url = this.#base + path;
    const bytes = await this.#bytes(url, 'text/plain', MOST.note, signalOf(of));
    return new TextDecoder().decode(bytes);
  }

  /** Asks until there is an answer, or no patience left. Every request is a GET: repeating is safe. */
  async #bytes(url, accept, most, signal) {
    for (let repeated = 0; ; repeated += 1) {
      const last = repeated >= this.#retries;
      let pause = backoff(repeated);
      try {
        const { response, bytes } = await this.#once(url, accept, most, signal);
        if (response.status === 200) return bytes;
        const asked = Number(response.headers.get('retry-after') || NaN) * 1000;
        if (Number.isFinite(asked)) pause = asked;
        if (last || !AGAIN.includes(response.status) || pause > LONGEST_PAUSE_MS) {
          throw refusal(url, response, bytes);
        }
      } catch (error) {
        if (last || error.code !== 'unreachable') throw error;
      }
      await wait(pause, signal);
    }
  }

  async #once(url, accept, most, signal) {
    if (signal?.aborted) throw cancelled(signal);
    const end = new AbortController();
    const abandon = () => end.abort();
    signal?.addEventListener('abort', abandon, { once: true });
    let timedOut = false;
    const timer = setTimeout(() => {
      timedOut = true;
      end.abort();
    }, this.#timeoutMs);
    try {
      const request = { headers: { accept }, redirect: 'error', signal: end.signal };
      const response = await this.#fetch(url, request);
      return { response, bytes: await body(response, most) };
    } catch (cause) {
      if (cause instanceof ExitgapError) throw cause;
      if (signal?.aborted) throw cancelled(signal);
      if (timedOut) throw new ExitgapError('timed_out', `${url}: no answer within ${this.#timeoutMs} ms`);
      throw new ExitgapError('unreachable', `${url}: ${cause?.message ?? cause}`, { cause });
    } finally {
      clearTimeout(timer);
      signal?.removeEventListener('abort', abandon);
      // What is not wanted any more is not read any further.
      end.abort();
    }
  }
}

const short = (value, field) => text(value, field, 200);
const SERIES = { sizeUsd: decimal, base: short, from: short, to: short };

/** A name in a path: what a path gives meaning to is no part of any. */
function id(value) {
  const name = text(value, 'pool', 200);
  if (!/^[\w:.-]+$/.test(name)) throw wrong('pool', 'it is no name', 'such as ethereum:0x88e6…');
  return name;
}

function signalOf(of) {
  return options(of, ['signal']).signal;
}

async function body(response, most) {
  const chunks = [];
  let length = 0;
  const reader = response.body?.getReader();
  for (;;) {
    const { done, value } = (await reader?.read()) ?? { done: true };
    if (done) break;
    length += value.length;
    if (length > most) {
      throw new ExitgapError('answer_too_large', `more than the ${most} bytes accepted`);
    }
    chunks.push(value);
  }
  const bytes = new Uint8Array(length);
  let at = 0;
  for (const chunk of chunks) {
    bytes.set(chunk, at);
    at += chunk.length;
  }
  return bytes;
}

/** What a status other than 200 says. */
function refusal(url, response, bytes) {
  const { status } = response;
  const payment = {};
  for (const name of PAYMENT) payment[name] = response.headers.get(`x-payment-${name}`) ?? undefined;
  if (status === 402 && PAYMENT.every((name) => payment[name] !== undefined)) {
    const price = `${payment.amount} ${payment.currency}`;
    return new ExitgapError('payment_required', `${url} asks for a payment of ${price}`, { status, payment });
  }
  try {
    const problem = JSON.parse(new TextDecoder().decode(bytes));
    if (typeof problem.code === 'string' && problem.status === status) {
      return errorOf(problem, { status, requestId: problem.request_id });
    }
  } catch {
    // Then it is no problem document, which is said below.
  }
  return notAsSpecified(url, `answered ${status} without a problem document`, { status });
}

function notAsSpecified(url, why, more) {
  return new ExitgapError('not_as_specified', `${url}: ${why}`, more);
}

function cancelled(signal) {
  return new ExitgapError('cancelled', 'abandoned by the caller', { cause: signal.reason });
}

/** A fifth of a second, doubled with each repetition, give or take a half. */
function backoff(repeated) {
  const middle = 200 * 2 ** Math.min(repeated, 5);
  return middle / 2 + Math.random() * middle;
}

function wait(milliseconds, signal) {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(cancelled(signal));
    const stop = () => {
      clearTimeout(timer);
      reject(cancelled(signal));
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', stop);
      resolve();
    }, milliseconds);
    signal?.addEventListener('abort', stop, { once: true });
    return undefined;
  });
}
