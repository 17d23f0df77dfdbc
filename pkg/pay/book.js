// Computes the state of a ledger from its lines. The state depends only on their order in the file.
// docs/pay-ledger-v1.md of the crate exitgap-pay, which uses the same files, specifies the format and its rules.

import { createHash } from 'node:crypto';

import { address, chainId } from './offers.js';
import { units } from './amounts.js';
import { covers } from './policy.js';

export const MAX_LINE = 4096;
const HEAD = '{"v":1,';
const SUM = ',"sum":"';
const SUM_DIGITS = 16;

const whole = (value) => Number.isSafeInteger(value) && value >= 0;
const id = (value) => typeof value === 'string';
const word = (value) => typeof value === 'string' && /^0x[0-9a-f]{64}$/.test(value);
const lower = (value) => address(value) === value;

/** The fields of a record, in their order. */
const FIELDS = {
  reserved: {
    id,
    at_ms: whole,
    host: id,
    path: id,
    network: (value) => chainId(value) !== undefined,
    asset: lower,
    payee: lower,
    units: (value) => units(value) !== undefined,
    valid_before_s: whole,
  },
  withdrawn: { id, at_ms: whole },
  sent: { id, at_ms: whole, payer: lower, nonce: word },
  settled: { id, at_ms: whole, transaction: (value) => value === null || word(value) },
  released: { id, at_ms: whole, why: (value) => value === 'never_sent' || value === 'expired_unused' },
};

const sumOf = (body) => createHash('sha256').update(body).digest('hex').slice(0, SUM_DIGITS);

/** A record as a line, without its line feeds. */
export function toLine(kind, fields) {
  const ordered = Object.keys(FIELDS[kind]).map((name) => [name, fields[name]]);
  const body = HEAD + JSON.stringify(Object.fromEntries([['kind', kind], ...ordered])).slice(1, -1);
  const line = `${body}${SUM}${sumOf(body)}"}`;
  if (line.length + 2 > MAX_LINE) throw new Error(`a record of ${line.length} bytes is longer than the maximum line`);
  return line;
}

/** Whether this can be what was written of a record before its writing broke off. */
function isBeginning(line) {
  const common = Math.min(line.length, HEAD.length);
  const afterSum = line.split(SUM)[1]?.length ?? 0;
  return /^[ -|~]*$/.test(line) && line.slice(0, common) === HEAD.slice(0, common) && afterSum <= SUM_DIGITS + 1;
}

/** The record of a line, null where it means nothing; throws what is wrong with it. */
export function readLine(line) {
  if (isBeginning(line)) return null;
  const end = line.lastIndexOf(SUM);
  if (end < 0) throw new Error('it has no checksum');
  const body = line.slice(0, end);
  if (line.slice(end) !== `${SUM}${sumOf(body)}"}`) throw new Error('its checksum does not match');
  if (!body.startsWith(HEAD)) throw new Error('it was written by another version of this program');
  let record;
  try {
    record = JSON.parse(`{${body.slice(HEAD.length)}}`);
  } catch {
    throw new Error('it is not a valid record');
  }
  const { kind, ...fields } = record;
  const wanted = Object.hasOwn(FIELDS, kind) ? FIELDS[kind] : {};
  const names = Object.keys(wanted);
  const holds = names.length > 0 && Object.keys(fields).length === names.length
    && names.every((name) => Object.hasOwn(fields, name) && wanted[name](fields[name]));
  if (!holds) throw new Error('it is not a valid record');
  return record;
}

/** What each record does to a payment that is in a state. */
const NEXT = {
  withdrawn: { reserved: 'withdrawn' },
  sent: { reserved: 'sent' },
  settled: { sent: 'settled' },
  never_sent: { reserved: 'released' },
  expired_unused: { sent: 'released' },
};

const COUNTED = ['reserved', 'sent', 'settled'];

/** All payments, in the order of their reservations. */
export class Book {
  entries = [];
  newestMs = 0;
  #byId = new Map();

  apply(record) {
    this.newestMs = Math.max(this.newestMs, record.at_ms);
    if (record.kind === 'reserved') {
      if (this.#byId.has(record.id)) throw new Error(`payment ${record.id} is reserved twice`);
      this.#byId.set(record.id, this.entries.length);
      this.entries.push({ ...record, units: BigInt(record.units), state: 'reserved', sent: undefined });
      return;
    }
    const entry = this.entries[this.#byId.get(record.id)];
    if (entry === undefined) throw new Error(`payment ${record.id} was never reserved`);
    const next = NEXT[record.why ?? record.kind][entry.state];
    if (next === 'sent') entry.sent = { payer: record.payer, nonce: record.nonce };
    entry.state = next ?? entry.state;
  }

  entry(of) {
    return this.entries[this.#byId.get(of)];
  }

  state(of) {
    return this.entry(of)?.state;
  }

  #before(of) {
    return this.entries.slice(0, this.#byId.get(of) ?? this.entries.length);
  }

  #counting(budget, of, nowMs) {
    return this.#before(of).filter((entry) => COUNTED.includes(entry.state)
      && covers(budget, entry.host, entry.path, entry.network)
      && (budget.windowMs === undefined || nowMs < countsUntil(entry, budget.windowMs)));
  }

  /** What counts against a budget before a payment, or altogether where there is none of this id. */
  standing(budget, of, nowMs) {
    const standing = { spent: 0n, reserved: 0n };
    for (const entry of this.#counting(budget, of, nowMs)) {
      standing[entry.state === 'reserved' ? 'reserved' : 'spent'] += entry.units;
    }
    return standing;
  }

  /** When `asked` will fit, if nothing more is spent, Unix seconds; null for never. */
  fitsAt(budget, of, asked, nowMs) {
    if (budget.windowMs === undefined) return null;
    const counting = this.#counting(budget, of, nowMs);
    let counted = counting.reduce((sum, entry) => sum + entry.units, 0n);
    const ends = counting.map((entry) => [countsUntil(entry, budget.windowMs), entry.units]);
    for (const [untilMs, freed] of ends.sort(([one], [other]) => one - other)) {
      counted -= freed;
      if (counted + asked <= budget.limit) return Math.ceil(untilMs / 1000);
    }
    return null;
  }

  undecidedBefore(of) {
    return this.#before(of).filter((entry) => entry.state === 'reserved');
  }

  /** Whom a host asked to pay first on a chain. */
  firstPayee(host, network, of) {
    const first = this.#before(of).find((entry) => entry.host === host && entry.network === network
      && (entry.sent !== undefined || entry.state === 'reserved'));
    return first?.payee;
  }

  unsettled() {
    return this.entries.filter((entry) => entry.state === 'sent');
  }
}

/** It may be made as late as its authorization is valid. */
function countsUntil(entry, windowMs) {
  return Math.max(entry.at_ms, entry.valid_before_s * 1000) + windowMs;
}
