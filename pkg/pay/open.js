// Payments that were sent and whose outcome is unknown. Each one is stored in a file next to the ledger, because the
// ledger format cannot be extended. The file contains the signed header, so that this process or a later one sends the
// same header again instead of signing a new one. docs/pay-ledger-v1.md of the crate exitgap-pay, which uses the same
// files, specifies them.

import { createHash, randomBytes } from 'node:crypto';
import { closeSync, fdatasyncSync, mkdirSync, openSync, readdirSync, readFileSync, renameSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';

import { refusal } from './amounts.js';

const MAX_RECORD = 256 << 10;
// For this long after a send, other processes leave the payment to the sender: one attempt, one pause, and a margin.
const HELD_MS = 45_000;
const HEADERS = ['payment-signature', 'x-payment'];

const FIELDS = {
  v: (value) => value === 1,
  id: (value) => typeof value === 'string' && /^[0-9a-f]{32}$/.test(value),
  request: (value) => typeof value === 'string' && /^[0-9a-f]{64}$/.test(value),
  header: (value) => HEADERS.includes(value),
  value: (value) => typeof value === 'string' && value.length > 0,
  answered: (value) => typeof value === 'boolean',
  pid: (value) => Number.isSafeInteger(value) && value >= 0,
  until_ms: (value) => Number.isSafeInteger(value) && value >= 0,
};

/** What identifies a request: method, address without fragment, and body. */
export async function nameOf(request) {
  const body = request.body === null ? new Uint8Array() : new Uint8Array(await request.clone().arrayBuffer());
  const [url] = request.url.split('#');
  return createHash('sha256').update(`${request.method} ${url}\n`).update(body).digest('hex');
}

export class OpenPayments {
  #ledger;
  #folder;

  constructor(ledger) {
    this.#ledger = ledger;
    this.#folder = `${ledger.path}.open`;
  }

  /** The open payment of a request, which must be sent again before another may be signed; undefined if there is none. */
  find(request, nowMs) {
    for (const name of this.#names(request)) {
      const record = this.#read(join(this.#folder, name));
      if (record === undefined || record.request !== request) continue;
      const entry = this.#ledger.entry(record.id);
      if (isClosed(entry, record, nowMs)) {
        this.#remove(record);
      } else if (entry.sent !== undefined && !isHeldElsewhere(record, nowMs)) {
        if (nonceOf(record.value) !== entry.sent.nonce) throw unreadable(record.path, 'it holds another payment than the ledger');
        return payment(record, entry);
      }
    }
    return undefined;
  }

  /** Keeps a payment durably, before it is marked as sent in the ledger; answers its file. */
  keep({ id, request, header: [header, value], nowMs }) {
    const record = { v: 1, id, request, header, value, answered: false, pid: process.pid, until_ms: nowMs + HELD_MS };
    const path = join(this.#folder, `${request.slice(0, 32)}-${id}.json`);
    try {
      mkdirSync(this.#folder, { recursive: true, mode: 0o700 });
      write(path, record);
      sync(this.#folder);
      return path;
    } catch (thrown) {
      throw unreadable(path, thrown.message);
    }
  }

  /** Another process leaves the payment to this one for a while. */
  hold(of, nowMs) {
    this.#change(of, { pid: process.pid, until_ms: nowMs + HELD_MS });
  }

  /** From now on any process may go on with the payment. */
  letGo(of) {
    this.#change(of, { until_ms: 0 });
  }

  /** Notes that the caller was given an answer, which closes a payment that is known to be settled. */
  answer(of, nowMs) {
    this.#change(of, { answered: true });
    if (isClosed(this.#ledger.entry(of.id), { answered: true }, nowMs)) this.#remove(of);
  }

  /** Whether a payment ended while it was being sent: another call was answered, or it can no longer settle. */
  hasEnded(of) {
    const { state } = this.#ledger.entry(of.id);
    const record = this.#read(of.path);
    return record === undefined || state === 'released' || (state === 'settled' && record.answered);
  }

  #names(request) {
    try {
      return readdirSync(this.#folder).filter((name) => name.startsWith(request.slice(0, 32)) && name.endsWith('.json'));
    } catch (thrown) {
      if (thrown.code === 'ENOENT') return [];
      throw unreadable(this.#folder, thrown.message);
    }
  }

  #read(path) {
    let text;
    try {
      text = readFileSync(path, 'utf8');
    } catch (thrown) {
      // Another process closed the payment.
      if (thrown.code === 'ENOENT') return undefined;
      throw unreadable(path, thrown.message);
    }
    try {
      if (text.length > MAX_RECORD) throw new Error('too long');
      const record = JSON.parse(text);
      const names = Object.keys(FIELDS);
      if (Object.keys(record).length !== names.length || !names.every((name) => FIELDS[name](record[name]))) throw new Error('fields');
      return { ...record, path };
    } catch {
      throw unreadable(path, 'it is not a valid open payment');
    }
  }

  /** The caller's answer must not be lost because this note could not be written: without it, only the same header is sent again. */
  #change({ path }, fields) {
    try {
      const record = this.#read(path);
      if (record !== undefined) write(path, { ...record, ...fields });
    } catch {
      // Ignored for the reason given above.
    }
  }

  #remove({ path }) {
    try {
      rmSync(path, { force: true });
    } catch {
      // The file stays. The next read finds the payment closed again.
    }
  }
}

/** Whether a payment is over: it was not made, or it was made or expired and there is nothing more to wait for. */
function isClosed(entry, { answered }, nowMs) {
  if (entry === undefined || ['withdrawn', 'released'].includes(entry.state)) return true;
  const expired = nowMs >= entry.valid_before_s * 1000;
  const settled = entry.state === 'settled';
  return settled ? answered || expired : answered && expired;
}

function isHeldElsewhere({ pid, until_ms: untilMs }, nowMs) {
  return pid !== process.pid && nowMs < untilMs && isAlive(pid);
}

function isAlive(pid) {
  try {
    process.kill(pid, 0);
    return true;
  } catch (thrown) {
    return thrown.code !== 'ESRCH';
  }
}

function payment({ id, path, header, value }, { units, valid_before_s: validBeforeS }) {
  return { id, path, header: [header, value], units, validBeforeS };
}

function nonceOf(value) {
  try {
    return JSON.parse(Buffer.from(value, 'base64').toString('utf8')).payload.authorization.nonce.toLowerCase();
  } catch {
    return undefined;
  }
}

/** Replaces the whole file, or leaves it unchanged. */
function write(path, { path: _, ...record }) {
  const aside = `${path}.${randomBytes(8).toString('hex')}.tmp`;
  const file = openSync(aside, 'wx', 0o600);
  try {
    writeSync(file, JSON.stringify(record));
    fdatasyncSync(file);
  } finally {
    closeSync(file);
  }
  renameSync(aside, path);
}

function sync(folder) {
  const opened = openSync(folder, 'r');
  try {
    fdatasyncSync(opened);
  } finally {
    closeSync(opened);
  }
}

function unreadable(path, why) {
  return refusal('ledger_unreadable', `the open payment ${path}: ${why}`,
    'nothing is signed for this request while it is unreadable; repair it, or run reconcile and then remove the file');
}
