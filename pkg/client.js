// The client of the HTTP API. It works before `init()`, except for the functions that check bytes: `snapshot` and
// `verify`.

import { body, notAsSpecified, refusal } from './answers.js';
import { snapshotHash, verify, verifyFigure } from './api.js';
import { decimal, instant, list, options, text, texts, tick, whole, wrong } from './arguments.js';
import { ExitgapError, said, typed } from './error.js';
import { Kept, storageOf } from './log.js';
import { OPERATIONS } from './operations.js';
import { verifiedExit } from './verified.js';

// Maximum number of bytes read of a response; the service sends nothing larger. The module has the same limits, and a
// test compares the two. They are repeated here because the client also works without the module.
export const MOST = {
  json: 4 << 20, snapshot: 128 << 10, state: 4 << 20, evidence: 4718592, window: 10 << 20,
  figure: 32 << 20, page: 12713984, note: 64 << 10, tile: 256 * 32,
};
const AGAIN = [429, 502, 503, 504];
const MOVED = [301, 302, 303, 307, 308];
const LONGEST_PAUSE_MS = 10_000;
// With a longer delay, a timer fires immediately.
const LONGEST_TIMER_MS = 2 ** 31 - 1;

export class Client {
  #base;
  #web;
  #fetch;
  #timeoutMs;
  #retries;
  #keys;
  #kept;

  constructor(baseUrl, of) {
    try {
      const names = ['fetch', 'timeoutMs', 'retries', 'webUrl', 'keys', 'storage'];
      const { fetch, timeoutMs = 30_000, retries = 2, webUrl, keys, storage } = options(of, names);
      if (fetch !== undefined && typeof fetch !== 'function') throw wrong('fetch', 'it must be a function');
      this.#base = address(baseUrl, 'baseUrl');
      if (webUrl !== undefined) this.#web = Promise.resolve(address(webUrl, 'webUrl'));
      this.#fetch = fetch ?? ((...request) => globalThis.fetch(...request));
      this.#timeoutMs = Math.min(whole(timeoutMs, 'timeoutMs'), LONGEST_TIMER_MS);
      this.#retries = whole(retries, 'retries');
      this.#keys = texts(keys, 'keys', MANY, (key, field) => text(key, field, 1000).trim());
      this.#kept = new Kept(storageOf(storage), this.#base);
    } catch (thrown) {
      throw typed(thrown);
    }
  }

  pools(of) {
    return this.#ask('listPools', [], of);
  }

  exit(pool, of) {
    return this.#ask('estimateExit', [pool], of);
  }

  /** From a pool to a number that was verified, its log held against what was seen of it before; see index.d.ts. */
  estimate(pool, of) {
    return guarded(async () => {
      const { signal, ...asked } = { ...options(of, [...Object.keys(OPERATIONS.estimateExit[1]), 'signal']) };
      const given = { ...asked, signal: real(signal) };
      const fetchTile = async (path, width) => {
        const url = await this.#at(`/log/${path}`, given.signal);
        const tile = await this.#bytes(url, 'application/octet-stream', MOST.tile, given.signal);
        if (tile.length !== 32 * width) throw notAsSpecified(url, `${tile.length} bytes are not ${width} hashes`);
        return Array.from({ length: width }, (_, at) => tile.subarray(32 * at, 32 * at + 32));
      };
      const judge = (url, evidence, policy) => answering(url, question(url), evidence, policy);
      // Uses the base address of this client, whatever host name the service uses for itself.
      const at = ({ evidence_url: named }) => {
        const url = typeof named === 'string' && URL.canParse(named) ? new URL(named) : undefined;
        const path = url?.pathname.match(/\/api\/v1\/exit\/[^/]+$/);
        if (!path) throw notAsSpecified(`/v1/exit/${id(pool)}`, 'the answer has no evidence');
        return this.#at(path[0] + url.search, given.signal);
      };
      return verifiedExit(this, { named: this.#keys, kept: this.#kept, at, judge, fetchTile }, pool, given);
    });
  }

  maxSize(pool, of) {
    return this.#ask('maxExitSize', [pool], of);
  }

  simulate(pool, of) {
    return this.#ask('simulateOrders', [pool], of);
  }

  redemptionWindow(pool, of) {
    return this.#ask('readRedemption', [pool], of);
  }

  ladder(pool, of) {
    return this.#ask('readLadder', [pool], of);
  }

  history(pool, of) {
    return this.#ask('readHistory', [pool], of);
  }

  stress(pool, of) {
    return this.#ask('readStress', [pool], of);
  }

  whenToSell(pool, of) {
    return this.#ask('readWhenToSell', [pool], of);
  }

  marketHours(pool, of) {
    return this.#ask('readMarketHours', [pool], of);
  }

  equities(of) {
    return this.#ask('listEquities', [], of);
  }

  equityScore(chain, token, of) {
    return this.#ask('readEquity', [chain, token], of);
  }

  depthDecay(pool, of) {
    return this.#ask('readDepthDecay', [pool], of);
  }

  alerts(pool, of) {
    return this.#ask('evaluateAlert', [pool], of);
  }

  accuracy(pool, of) {
    return pool === undefined ? this.#ask('listAccuracy', [], of) : this.#ask('readAccuracy', [pool], of);
  }

  liquidationExposure(venues, of) {
    return this.#ask('scoreLiquidationExposure', [], of, () => several('venue', venues, 'venues', venue));
  }

  venueStress(venues, of) {
    return this.#ask('readVenueStress', [], of, () => several('venue', venues, 'venues', venue));
  }

  shocks(of) {
    return this.#ask('listShocks', [], of);
  }

  fragility(of) {
    return this.#ask('readFragility', [], of);
  }

  routes(chain, token, of) {
    return this.#ask('compareRoutes', [chain, token], of);
  }

  sellForCash(chain, token, of) {
    return this.#ask('sellForCash', [chain, token], of);
  }

  portfolio(positions, of) {
    return this.#ask('scorePortfolio', [], of, () => several('position', positions, 'positions', position));
  }

  capabilities(of) {
    return this.#ask('listCapabilities', [], of);
  }

  payments(of) {
    return this.#ask('readPayments', [], of);
  }

  slotStatus(pool, of) {
    return this.#ask('readSlotStatus', [pool], of);
  }

  /** The evidence file at an `evidence_url` of this service: bytes to verify. */
  evidence(evidenceUrl, of) {
    return guarded(() => {
      const url = text(evidenceUrl, 'evidenceUrl', 2000);
      if (!/^https?:\/\//.test(url)) throw wrong('evidenceUrl', 'it is not a valid address');
      return this.#bytes(url, 'application/json', MOST.evidence, signalOf(of));
    });
  }

  /** The figure file at a `figure_url` of this service: bytes to verify. */
  figure(figureUrl, of) {
    return guarded(() => {
      const url = text(figureUrl, 'figureUrl', 2000);
      if (!/^https?:\/\//.test(url)) throw wrong('figureUrl', 'it is not a valid address');
      return this.#bytes(url, 'application/json', MOST.figure, signalOf(of));
    });
  }

  /** Fetches the figure file at a `figure_url`, and computes it again from the service's snapshots. */
  verifyFigure(figureUrl, of) {
    return guarded(async () => {
      const { keys, onProgress, signal: given } = options(of, ['keys', 'onProgress', 'signal']);
      const signal = real(given);
      const file = await this.figure(figureUrl, { signal });
      const page = async ({ pool, slot, fills }) => {
        const path = fills === undefined ? '/api/v1/series/' : '/v1/fills/';
        const url = await this.#at(`${path}${id(pool)}?slot=${slot}`, signal);
        return this.#bytes(url, 'application/x-ndjson', MOST.page, signal);
      };
      return verifyFigure(file, { keys, onProgress, page });
    });
  }

  /** What the chain's own state says of a pool at a slot, kept or made: bytes to verify. */
  stateProof(pool, of) {
    return guarded(async () => {
      const { slot, low, high, signal } = { ...options(of, ['slot', 'low', 'high', 'signal']) };
      const given = low !== undefined || high !== undefined;
      const range = given ? `?low=${tick(low, 'low')}&high=${tick(high, 'high')}` : '';
      const path = `/api/v1/proof/${id(pool)}/${whole(slot, 'slot')}${range}`;
      return this.#bytes(await this.#at(path, real(signal)), 'application/octet-stream', MOST.state, real(signal));
    });
  }

  window(pool, of) {
    return guarded(async () => {
      const { path, signal } = target(`/api/v1/window/${id(pool)}`, of, { slot: 'whole' });
      return this.#bytes(await this.#at(path, signal), 'application/json', MOST.window, signal);
    });
  }

  /**
   * The snapshot of this name and the state that it names, both hashes checked: a snapshot file, of `pool`
   * where its contract has more than two tokens.
   */
  snapshot(hash, of) {
    return guarded(async () => {
      const { pool, signal: given } = options(of, ['pool', 'signal']);
      const signal = real(given);
      const ofPair = pool !== undefined && id(pool).includes('.') ? `,"pool":"${pool}"` : '';
      const snapshot = await this.#document(`snapshots/${id(hash, 'hash')}`, MOST.snapshot, signal);
      const named = snapshot.read?.state;
      if (!HASH.test(named)) throw notAsSpecified(snapshot.url, 'it is not a snapshot, because it does not name a state');
      const state = await this.#document(`states/${named}`, MOST.state, signal);
      const file = `{"snapshot":${snapshot.text},"state":${state.text}${ofPair}}`;
      const name = hashOf(file, state.url);
      if (name !== hash) throw notAsSpecified(snapshot.url, `the hash of the served bytes is ${name}`);
      return file;
    });
  }

  checkpoint(of) {
    return this.#text('/log/checkpoint', of);
  }

  async verifierKey(of) {
    return (await this.#text('/log/verifier-key', of)).trim();
  }

  /** Fetches the evidence at `evidenceUrl`, requires that it is of what the address asks, verifies it. */
  verify(evidenceUrl, policy, of) {
    return guarded(async () => {
      const asked = question(evidenceUrl);
      return answering(evidenceUrl, asked, await this.evidence(evidenceUrl, of), policy);
    });
  }

  /** The address of a path: the API's begin with `/v1/`, all others are of evidence and log. */
  async #at(path, signal) {
    if (path.startsWith('/v1/')) return this.#base + path;
    this.#web ??= this.#told(signal);
    return (await this.#web) + path;
  }

  /** Where evidence and log are: a service that has them elsewhere names that in its capabilities. */
  async #told(signal) {
    try {
      const { web_url: web } = await this.capabilities({ signal });
      if (web === undefined) return this.#base;
      const wrongly = this.#base.startsWith('https:') && !String(web).startsWith('https:');
      if (wrongly || !ADDRESS.test(web)) {
        throw notAsSpecified(`${this.#base}/v1/capabilities`, 'its web_url is not a valid address');
      }
      return web.replace(/\/+$/, '');
    } catch (error) {
      this.#web = undefined;
      // A service that does not answer the capabilities request names no other address.
      if (error.status !== undefined && error.status !== 200) return this.#base;
      throw error;
    }
  }

  /** Asks an operation of the table; `more` gives what stands several times in the query. */
  #ask(operation, named, of, more = () => '') {
    return guarded(async () => {
      const [template, parameters] = OPERATIONS[operation];
      const given = [...named];
      const path = template.replace(/\{\w+\}/g, () => id(given.shift())) + more();
      const { path: asked, signal } = target(path, of, parameters);
      return (await this.#parsed(asked, MOST.json, signal)).read;
    });
  }

  /** A document that is named by its hash. */
  #document(name, most, signal) {
    return this.#parsed(`/api/v1/${name}`, most, signal);
  }

  /** The text at a path, its address, and what the text says. */
  async #parsed(path, most, signal) {
    const url = await this.#at(path, signal);
    const answer = await this.#bytes(url, 'application/json', most, signal);
    try {
      const text = new TextDecoder('utf-8', { fatal: true }).decode(answer);
      return { url, text, read: JSON.parse(text) };
    } catch (cause) {
      throw notAsSpecified(url, 'the response is not JSON', { cause });
    }
  }

  #text(path, of) {
    return guarded(async () => {
      const signal = signalOf(of);
      const answer = await this.#bytes(await this.#at(path, signal), 'text/plain', MOST.note, signal);
      return new TextDecoder().decode(answer);
    });
  }

  /** Asks until there is an answer, or no patience left. Every request is a GET: repeating is safe. */
  async #bytes(url, accept, most, signal) {
    for (let repeated = 0; ; repeated += 1) {
      const last = repeated >= this.#retries;
      let pause = backoff(repeated);
      try {
        const { response, answer } = await this.#once(url, accept, most, signal);
        if (response.status === 200) return answer;
        const told = response.headers.get('retry-after');
        const asked = /^\d+$/.test(told ?? '') ? Number(told) * 1000 : 0;
        // Waits longer than requested, each client by its own random share. Otherwise all clients would come back at
        // the same time.
        pause = Math.max(pause, asked * (1 + Math.random() / 2));
        if (last || !AGAIN.includes(response.status) || asked > LONGEST_PAUSE_MS) {
          throw refusal(url, response, answer);
        }
      } catch (error) {
        if (last || error.code !== 'unreachable') throw error;
      }
      await wait(pause, signal);
    }
  }

  /** One request. It ends with its time and with the caller's signal, whatever `fetch` makes of both. */
  async #once(url, accept, most, signal) {
    if (signal?.aborted) throw cancelled(signal);
    const end = new AbortController();
    let stop;
    const stopped = new Promise((_, reject) => {
      stop = reject;
    });
    const abandon = () => stop(cancelled(signal));
    signal?.addEventListener('abort', abandon, { once: true });
    const late = () => stop(new ExitgapError('timed_out', `${url}: no response within ${this.#timeoutMs} ms`));
    const timer = setTimeout(late, this.#timeoutMs);
    const ask = async () => {
      // Not `redirect: 'error'`, which Cloudflare Workers refuse.
      const response = await this.#fetch(url, { headers: { accept }, redirect: 'manual', signal: end.signal });
      if (response.type === 'opaqueredirect' || MOVED.includes(response.status)) {
        throw new Error('it answered with a redirect, which is not followed');
      }
      return { response, answer: await body(response, most, end.signal) };
    };
    try {
      return await Promise.race([stopped, ask()]);
    } catch (cause) {
      if (cause instanceof ExitgapError) throw cause;
      const inPage = typeof document === 'undefined' ? '' : ' Also check that connect-src in the policy of this page allows it.';
      const hint = `check that the service is running and that this is its address.${inPage}`;
      throw new ExitgapError('unreachable', `${url}: ${said(cause)}`, { cause, hint });
    } finally {
      clearTimeout(timer);
      signal?.removeEventListener('abort', abandon);
      // Aborts the rest of the download: nobody reads it.
      end.abort();
    }
  }
}

/** A promise of what `ask` comes to, whatever it throws an error of this package. */
async function guarded(ask) {
  try {
    return await ask();
  } catch (thrown) {
    throw typed(thrown);
  }
}

const ADDRESS = /^https?:\/\/[^\s/?#@\\]+[^\s?#@\\]*$/;

/** A service's address, without a slash at its end. */
function address(value, field) {
  const url = text(typeof value?.href === 'string' ? value.href : value, field, 2000).replace(/\/+$/, '');
  if (!ADDRESS.test(url)) {
    throw wrong(field, 'it is not the address of a service', 'use an address such as https://exitgap.example');
  }
  return url;
}

/** A path with its query, and the signal of a call. */
function target(path, of, names) {
  const { signal, ...asked } = { ...options(of, [...Object.keys(names), 'signal']) };
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(asked)) {
    if (value === undefined) continue;
    const snake = name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
    query.append(snake, READERS[names[name]](value, name));
  }
  const text = query.toString();
  return { path: path + (text && (path.includes('?') ? '&' : '?') + text), signal: real(signal) };
}

const MANY = 100;
const short = (value, field) => text(value, field, 200);
const READERS = { decimal, instant, short, whole };

/** A name in a path: what a path gives meaning to is no part of any. */
function id(value, field = 'pool') {
  const name = text(value, field, 200);
  if (!/^[\w:.-]+$/.test(name) || /^\.+$/.test(name)) {
    throw wrong(field, 'it is not a valid name', field === 'pool' ? 'such as ethereum:0x88e6…' : undefined);
  }
  return name;
}

const HASH = /^0x[0-9a-f]{64}$/;

/** The name of the snapshot in a file. Its state, served at `url`, is the one that it names. */
function hashOf(file, url) {
  try {
    return snapshotHash(file);
  } catch (error) {
    // Without the module, hashes cannot be computed. This is not an error of the service.
    if (error.code !== 'source_unreadable') throw error;
    throw notAsSpecified(url, error.message, { cause: error });
  }
}

/** A position as an address spells it. */
function position(one) {
  const names = ['pool', 'base', 'chain', 'token', 'sizeUsd'];
  const { pool, base, chain, token, sizeUsd } = options(one, names, 'positions');
  if (token !== undefined && pool === undefined && base === undefined) {
    return `${id(chain, 'positions')}/${id(token, 'positions')}:${decimal(sizeUsd, 'positions')}`;
  }
  const sold = base === undefined ? '' : `/${id(base, 'positions')}`;
  return `${id(pool, 'positions')}${sold}:${decimal(sizeUsd, 'positions')}`;
}

/** A query that gives each of several values. */
function several(name, values, field, spelled) {
  if (!Array.isArray(values)) throw wrong(field, `it must be an array of ${field}`);
  const query = new URLSearchParams();
  list(values, field, MANY, (one) => query.append(name, spelled(one)));
  return `?${query}`;
}

/** A venue as an address spells it. */
function venue(one) {
  if (typeof one === 'string') return id(one, 'venues');
  const { pool, base } = options(one, ['pool', 'base'], 'venues');
  return base === undefined ? id(pool, 'venues') : `${id(pool, 'venues')}/${id(base, 'venues')}`;
}

// The fields that the file and its address must have in common, and how to compare each.
const SAME = { pool: String, base: String, slot: Number, size_usd: Number, method_version: String };

/** What an `evidence_url` asks for. */
function question(evidenceUrl) {
  const { pathname, searchParams } = new URL(text(evidenceUrl, 'evidenceUrl', 2000));
  const pool = decodeURIComponent(pathname.slice(pathname.lastIndexOf('/') + 1));
  const asked = { pool };
  for (const name of Object.keys(SAME).slice(1)) {
    const value = searchParams.get(name);
    if (value === null) throw wrong('evidenceUrl', `it is not an evidence_url, because it has no ${name}`);
    asked[name] = SAME[name](value);
  }
  return asked;
}

/** Verifies a file, and requires that it is of what its address asks. */
function answering(evidenceUrl, asked, file, policy) {
  const report = verify(file, policy);
  // A file that is not an evidence file has no request to compare; its report says so.
  if (report.claim !== undefined) {
    const { request } = JSON.parse(new TextDecoder().decode(file));
    const same = (name) => SAME[name](request[name]) === asked[name];
    const other = Object.keys(SAME).filter((name) => !same(name));
    if (other.length > 0) {
      throw notAsSpecified(evidenceUrl, `it returned evidence with a different ${other.join(', ')}`);
    }
  }
  return report;
}

/** A signal that is one, or none. Its form counts: the class of a signal depends on the host. */
function real(signal) {
  if (signal === undefined) return undefined;
  try {
    if (typeof signal.aborted === 'boolean' && typeof signal.addEventListener === 'function') return signal;
  } catch {
    // The error below says it.
  }
  throw wrong('signal', 'it must be an AbortSignal');
}

function signalOf(of) {
  return real(options(of, ['signal']).signal);
}

function cancelled(signal) {
  return new ExitgapError('cancelled', 'cancelled by the caller', { cause: signal.reason });
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
