// The record of all payments: an append-only file that several processes share without a lock.
//
// All functions are synchronous: a payment is durable before the next step starts.

import { randomBytes } from 'node:crypto';
import { closeSync, existsSync, fdatasyncSync, fstatSync, fsyncSync, openSync, readSync, statSync, writeSync } from 'node:fs';
import { dirname, resolve } from 'node:path';

import { Book, MAX_LINE, readLine, toLine } from './book.js';
import { inTokens, refusal } from './amounts.js';
import { scopeOf } from './policy.js';

const MAX_LEDGER = 128 << 20;
const CLOCK_TOLERANCE_MS = 2_000;
// Time limit for an undecided reservation while others wait for it.
const UNDECIDED_MS = 5_000;
const CHUNK = 1 << 20;

export class FileLedger {
  #path;
  #now;
  #file;
  #book = new Book();
  #readTo = 0;
  #lines = 0;

  constructor(path, now) {
    this.#path = resolve(path);
    this.#now = now;
    this.#guarded(() => {
      const made = !existsSync(this.#path);
      if (!made && !statSync(this.#path).isFile()) throw new Error('it is not a file');
      this.#file = openSync(this.#path, 'a+', 0o600);
      if (made) syncFolder(dirname(this.#path));
      this.#readOn();
    });
  }

  get path() {
    return this.#path;
  }

  nowMs() {
    return this.#now();
  }

  /** What counts against each budget now. */
  standing(budget) {
    return this.#guarded(() => {
      this.#readOn();
      return this.#book.standing(budget, undefined, this.#now());
    });
  }

  unsettled() {
    return this.#guarded(() => {
      this.#readOn();
      return this.#book.unsettled();
    });
  }

  /** The payment of this id; undefined if there is none. */
  entry(id) {
    return this.#guarded(() => {
      this.#readOn();
      return this.#book.entry(id);
    });
  }

  /** Reserves a payment and answers its name. It counts at once. */
  reserve({ host, path, terms, validBeforeS }) {
    if (!isPlain(host, 255) || !isPlain(path, 1024)) {
      throw refusal('address_not_paid', `${host}${path}: its host or path is too long or has characters that are not allowed in an address`,
        'use https and the current address of the service');
    }
    const id = randomBytes(16).toString('hex');
    const { network, asset, payTo: payee, amount } = terms;
    const fields = { id, host, path, network, asset, payee, units: amount.toString(), valid_before_s: validBeforeS };
    this.#append('reserved', fields);
    if (this.#book.state(id) === undefined) throw this.#wrong('the written record is missing from it');
    return id;
  }

  /** Whether a reserved payment may be made: null, or the refusal, and whether waiting may help. */
  admission(id, { host, terms }, budgets, payees) {
    return this.#guarded(() => {
      this.#readOn();
      const nowMs = this.#now();
      this.#checkClock(nowMs);
      this.#releaseStale(id, nowMs);
      const book = this.#book;
      if (book.state(id) !== 'reserved') {
        throw new Error('a payment that was about to be made was released by another process');
      }
      const first = book.firstPayee(host, terms.network, id);
      if (payees === undefined && first !== undefined && first !== terms.payTo) {
        const error = refusal('payee_changed', `${host} requested payment to ${first} before, but now to ${terms.payTo}`,
          'ask the service\'s operator through another channel whether the payee changed, then add it to the policy');
        return { error, waits: false };
      }
      for (const budget of budgets) {
        const { spent, reserved } = book.standing(budget, id, nowMs);
        const asked = terms.amount;
        if (spent + reserved + asked <= budget.limit) continue;
        const young = book.undecidedBefore(id).some((entry) => nowMs - entry.at_ms < UNDECIDED_MS);
        const resetsAt = book.fitsAt(budget, id, asked, nowMs);
        return { error: exceeded(budget, { asked, spent, reserved, resetsAt }), waits: young && spent + asked <= budget.limit };
      }
      return null;
    });
  }

  /** Gives up, for whoever crashed, what was not sent until its authorization would have expired. */
  #releaseStale(id, nowMs) {
    const stale = this.#book.undecidedBefore(id).filter((entry) => entry.valid_before_s * 1000 < nowMs);
    for (const entry of stale) this.#append('released', { id: entry.id, why: 'never_sent' });
  }

  withdraw(id) {
    this.#append('withdrawn', { id });
  }

  neverSent(id) {
    this.#append('released', { id, why: 'never_sent' });
  }

  /** Must be durable, and found effective, before a payment is sent. */
  sent(id, payer, nonce) {
    this.#append('sent', { id, payer: payer.toLowerCase(), nonce: nonce.toLowerCase() });
    if (this.#book.state(id) !== 'sent') {
      throw this.#wrong('a payment that was about to be sent was released by another process');
    }
  }

  settled(id, transaction) {
    const known = typeof transaction === 'string' && /^0x[0-9a-fA-F]{64}$/.test(transaction);
    this.#append('settled', { id, transaction: known ? transaction.toLowerCase() : null });
  }

  expiredUnused(id) {
    this.#append('released', { id, why: 'expired_unused' });
  }

  /** Appends a record durably, and reads what the file then holds. */
  #append(kind, fields) {
    this.#guarded(() => {
      this.#readOn();
      const nowMs = this.#now();
      this.#checkClock(nowMs);
      // The leading line feed terminates a line that an interrupted write left incomplete.
      const bytes = Buffer.from(`\n${toLine(kind, { ...fields, at_ms: nowMs })}\n`);
      // Uses a single write call, so that lines which two processes write at the same time do not interleave.
      const written = writeSync(this.#file, bytes, 0, bytes.length);
      if (written !== bytes.length) throw new Error(`${written} of ${bytes.length} bytes could be written`);
      fdatasyncSync(this.#file);
      this.#readOn();
    });
  }

  #readOn() {
    const here = fstatSync(this.#file);
    const there = statSync(this.#path);
    if (here.dev !== there.dev || here.ino !== there.ino) {
      throw new Error('another file took its place while it was in use');
    }
    if (here.size < this.#readTo) throw new Error('it became shorter, so it was truncated or overwritten');
    if (here.size > MAX_LEDGER) throw new Error('it is longer than 128 MiB; start a new ledger');
    const found = this.#bytes(this.#readTo, here.size);
    // The last line has no line feed yet: either it is being written, or the write was interrupted. The next read
    // decides.
    const end = found.lastIndexOf(10);
    if (end < 0) return;
    for (const line of found.subarray(0, end).toString('latin1').split('\n')) {
      this.#lines += 1;
      try {
        if (line.length > MAX_LINE) throw new Error(`it is longer than ${MAX_LINE} bytes`);
        const record = readLine(line);
        if (record !== null) this.#book.apply(record);
      } catch (error) {
        throw new Error(`line ${this.#lines}: ${error.message}`);
      }
    }
    this.#readTo += end + 1;
  }

  #bytes(from, to) {
    const parts = [];
    for (let at = from; at < to;) {
      const part = Buffer.alloc(Math.min(CHUNK, to - at));
      const read = readSync(this.#file, part, 0, part.length, at);
      if (read === 0) break;
      parts.push(part.subarray(0, read));
      at += read;
    }
    return Buffer.concat(parts);
  }

  #checkClock(nowMs) {
    const behind = this.#book.newestMs - nowMs;
    if (behind <= CLOCK_TOLERANCE_MS) return;
    throw refusal('clock_stepped_back', `the clock is ${behind} ms behind the newest record of the ledger ${this.#path}`,
      'nothing is paid until the clock is right again; set the clock, or wait');
  }

  /** Whatever goes wrong with the file: nothing is known to be left. */
  #guarded(body) {
    try {
      return body();
    } catch (thrown) {
      throw thrown?.name === 'ExitgapError' ? thrown : this.#wrong(thrown.message);
    }
  }

  #wrong(why) {
    return refusal('ledger_unreadable', `the ledger ${this.#path}: ${why}`,
      'nothing is paid while it is unreadable; repair it, or move it away and lower the budgets by the amount spent');
  }
}

function exceeded(budget, { asked, spent, reserved, resetsAt }) {
  const [price, limit, gone, held] = [asked, budget.limit, spent, reserved].map(inTokens);
  const scope = scopeOf(budget);
  const message = `the price is ${price} USDC, but of ${limit} for ${scope}, ${gone} are spent and ${held} reserved`;
  const hint = resetsAt === null
    ? 'raise the budget\'s limit'
    : 'wait until enough of the spending has expired, or raise the budget\'s limit';
  return refusal('budget_exceeded', message, hint, { scope, limit, spent: gone, reserved: held, resetsAt });
}

function isPlain(text, most) {
  return text.length >= 1 && text.length <= most && /^[!-~]*$/.test(text) && !/["\\{}]/.test(text);
}

/** Makes a new file's name durable. */
function syncFolder(path) {
  const folder = openSync(path, 'r');
  try {
    fsyncSync(folder);
  } finally {
    closeSync(folder);
  }
}
