// The functions of the package. Only the arguments are checked here; the WebAssembly module does everything else.
//
// The module receives only bytes, strings, integers and arrays of strings that are created here, so that no code of the
// caller runs while the module reads them. Documents are returned as plain objects.

import { bytes, decimal, list, options, text, texts, whole, wrong } from './arguments.js';
import { call, failure, limits, wasm } from './module.js';

const MANY = 100;

export function version() {
  return call(() => wasm.version());
}

export function verify(evidence, policy) {
  return call(() => {
    const { keys, seen, window } = options(policy, ['keys', 'seen', 'window'], 'policy');
    const { note, proof } = options(seen ?? undefined, ['note', 'proof'], 'seen');
    // A key that was read from a file ends with a line break.
    const short = (one, field) => text(one, field, 1000).trim();
    return wasm.verify(
      bytes(evidence, 'evidence', limits.evidence),
      texts(keys, 'keys', MANY, short),
      seen == null ? undefined : text(note, 'note', limits.text),
      texts(proof, 'proof', MANY, short),
      window == null ? undefined : bytes(window, 'window', limits.window),
    );
  });
}

/** Holds evidence against a policy of witnesses: who cosigned the log's checkpoint, and since when it was there. */
export function witnessed(evidence, policy, of) {
  return call(() => {
    const { nowS } = options(of, ['nowS']);
    return wasm.witnessed(
      bytes(evidence, 'evidence', limits.evidence),
      bytes(policy, 'policy', limits.text),
      nowS == null ? undefined : whole(nowS, 'nowS'),
    );
  });
}

export function recompute(evidence) {
  return call(() => wasm.recompute(bytes(evidence, 'evidence', limits.evidence)));
}

export function snapshotHash(snapshot) {
  return call(() => wasm.snapshotHash(bytes(snapshot, 'snapshot', limits.snapshot_file)));
}

/** Checks a figure file with the snapshots that it names, asked of `page` while one is wanted. */
export async function verifyFigure(file, of) {
  const asked = call(() => {
    const { keys, page, onProgress } = options(of, ['keys', 'page', 'onProgress']);
    for (const [name, value] of Object.entries({ page, onProgress })) {
      if (value !== undefined && typeof value !== 'function') throw wrong(name, 'it must be a function');
    }
    const trusted = texts(keys, 'keys', MANY, (one, field) => text(one, field, 1000).trim());
    const checked = wasm.CheckedFigure.read(bytes(file, 'figure', limits.figure), trusted);
    return { page, onProgress, checked };
  });
  const { page, onProgress } = asked;
  let { checked } = asked;
  try {
    while (page !== undefined) {
      const wanted = call(() => checked.wanted());
      if (wanted === undefined) break;
      const lines = await page(wanted);
      call(() => checked.take(lines == null ? new Uint8Array() : bytes(lines, 'page', limits.page)));
      const [seen, all] = call(() => checked.progress());
      onProgress?.(seen, all);
    }
    return call(() => {
      const whole = checked;
      // The report consumes it.
      checked = null;
      return whole.report();
    });
  } catch (thrown) {
    throw failure(thrown);
  } finally {
    checked?.free();
  }
}

/** A rule about a pool, evaluated slot after slot. */
export class OpenAlert {
  #running;

  constructor(rule, of) {
    this.#running = call(() => {
      const { kept } = options(of, ['kept']);
      const before = kept == null ? undefined : bytes(kept, 'kept', limits.text);
      return wasm.RunningAlert.read(bytes(rule, 'rule', limits.text), before);
    });
  }

  #ask(question) {
    return call(() => {
      if (this.#running === null) throw wrong('rule', 'it was closed');
      return question(this.#running);
    });
  }

  take(slot) {
    return this.#ask((running) => {
      const { head, snapshot, checkpoint } = options(slot, ['head', 'snapshot', 'checkpoint'], 'slot');
      const { origin, size, root } = options(checkpoint, ['origin', 'size', 'root'], 'checkpoint');
      return running.take(
        bytes(head, 'head', limits.text),
        snapshot == null ? undefined : bytes(snapshot, 'snapshot', limits.snapshot_file),
        text(origin, 'checkpoint', 1000),
        whole(size, 'checkpoint'),
        text(root, 'checkpoint', 100),
      );
    });
  }

  standing() {
    return this.#ask((running) => running.standing());
  }

  keep() {
    return this.#ask((running) => running.keep());
  }

  close() {
    this.#running?.free();
    this.#running = null;
  }
}

export function openAlert(rule, of) {
  return new OpenAlert(rule, of);
}

/** The token sold: a snapshot does not say which one a pool sells by default. */
function base(value) {
  if (value === undefined || value === null) {
    throw wrong('base', 'no token is given', 'use token0, token1, or base.address from the service\'s answer');
  }
  return text(value, 'base', 100);
}

/** A raw amount. */
function amount(value) {
  const digits = decimal(value, 'amountInRaw');
  if (!/^\d{1,78}$/.test(digits)) {
    throw wrong('amountInRaw', `${digits} is not a whole number of raw units`, 'pass large numbers as text or bigint');
  }
  const whole = BigInt(digits);
  if (whole >> 256n) throw wrong('amountInRaw', 'it is not below 2^256');
  return whole;
}

const FILL = ['amountInRaw', 'base'];

/** Its 64 bits from this one on. */
const limb = (amount, bits) => BigInt.asUintN(64, amount >> bits);

const ADD = Symbol('add');

/** A snapshot read once and asked often. */
export class OpenSnapshot {
  #opened;
  #indices = new Map();

  constructor(snapshot) {
    this.#opened = call(() => wasm.Opened.read(bytes(snapshot, 'snapshot', limits.snapshot_file)));
  }

  #ask(question) {
    return call(() => {
      if (this.#opened === null) throw wrong('snapshot', 'it was closed');
      return question(this.#opened);
    });
  }

  estimate(of) {
    return this.#ask((opened) => {
      const asked = options(of, ['sizeUsd', 'base']);
      return opened.estimate(base(asked.base), decimal(asked.sizeUsd, 'sizeUsd'));
    });
  }

  ladder(of) {
    return this.#ask((opened) => {
      const { gap, sizeUsd, base: named } = options(of, ['gap', 'sizeUsd', 'base']);
      const steps = (value, field) => texts(value, field, MANY, decimal, 1);
      const [gaps, sizes] = [steps(gap, 'gap'), steps(sizeUsd, 'sizeUsd')];
      return opened.ladder(base(named), gaps, sizes);
    });
  }

  maxSizeFor(of) {
    return this.#ask((opened) => {
      const asked = options(of, ['gap', 'base']);
      return opened.maxSizeFor(base(asked.base), decimal(asked.gap, 'gap'));
    });
  }

  simulateOrders(of) {
    return this.#ask((opened) => {
      const asked = options(of, ['sizeUsd', 'orders', 'recoveryPct', 'intervalS', 'base']);
      const recovery = decimal(asked.recoveryPct ?? 0, 'recoveryPct');
      const interval = whole(asked.intervalS ?? 0, 'intervalS');
      const [size, orders] = [decimal(asked.sizeUsd, 'sizeUsd'), whole(asked.orders, 'orders')];
      return opened.simulateOrders(base(asked.base), size, orders, recovery, interval);
    });
  }

  fill(of) {
    return this.#ask((opened) => {
      const { amountInRaw, base: named } = options(of, FILL);
      const index = this.#index(opened, named);
      const sold = amount(amountInRaw);
      const small = sold >> 128n === 0n;
      const [c, d] = small ? [0n, 0n] : [limb(sold, 128n), limb(sold, 192n)];
      const parts = opened.fill(index, limb(sold, 0n), limb(sold, 64n), c, d);
      let bought = 0n;
      for (let at = parts.length - 1; at >= 0; at -= 1) bought = (bought << 64n) | parts[at];
      return String(bought);
    });
  }

  /** The index of a token's name, asked once. */
  #index(opened, named) {
    let index = this.#indices.get(named);
    if (index === undefined) {
      index = opened.baseIndex(base(named));
      this.#indices.set(named, index);
    }
    return index;
  }

  /** Adds itself to the venues of a split. */
  [ADD](over, named) {
    this.#ask((opened) => over.add(opened, base(named)));
  }

  close() {
    this.#opened?.free();
    this.#opened = null;
  }
}

export function open(snapshot) {
  return new OpenSnapshot(snapshot);
}

/** Asks once; what was opened for it is closed. */
function once(snapshot, question) {
  return call(() => {
    if (snapshot instanceof OpenSnapshot) return question(snapshot);
    const opened = open(snapshot);
    try {
      return question(opened);
    } finally {
      opened.close();
    }
  });
}

export function estimate(snapshot, of) {
  return once(snapshot, (opened) => opened.estimate(of));
}

export function ladder(snapshot, of) {
  return once(snapshot, (opened) => opened.ladder(of));
}

export function maxSizeFor(snapshot, of) {
  return once(snapshot, (opened) => opened.maxSizeFor(of));
}

export function simulateOrders(snapshot, of) {
  return once(snapshot, (opened) => opened.simulateOrders(of));
}

export function rankRoutes(ladders, of) {
  return call(() => {
    const { sizeUsd, fixedCostsUsd } = options(of, ['sizeUsd', 'fixedCostsUsd']);
    if (!Array.isArray(ladders)) throw wrong('ladders', 'it must be an array of ladders');
    const venues = new wasm.Venues();
    try {
      list(ladders, 'ladders', MANY, (one) => addVenue(venues, one));
      const costs = texts(fixedCostsUsd, 'fixedCostsUsd', MANY, decimal);
      return venues.rank(costs, decimal(sizeUsd, 'sizeUsd'));
    } finally {
      venues.free();
    }
  });
}

export function bestSplit(snapshots, of) {
  return call(() => {
    const { sizeUsd, base, fixedCostsUsd } = options(of, ['sizeUsd', 'base', 'fixedCostsUsd']);
    if (!Array.isArray(snapshots)) throw wrong('snapshots', 'it must be an array of snapshots');
    const costs = texts(fixedCostsUsd, 'fixedCostsUsd', MANY, decimal);
    const over = new wasm.SplitOver();
    try {
      list(snapshots, 'snapshots', MANY, (one) => once(one, (opened) => opened[ADD](over, base)));
      return over.best(costs, decimal(sizeUsd, 'sizeUsd'));
    } finally {
      over.free();
    }
  });
}

/** Adds what ranking needs of a ladder. */
function addVenue(venues, ladder) {
  const part = (value, what) => {
    if (typeof value === 'object' && value !== null) return value;
    throw wrong('ladders', `${what} is not an object`);
  };
  const number = (value) => decimal(value, 'ladders');
  const { pool, status, base: sold, by_gap: byGap, by_size: bySize } = part(ladder, 'a ladder');
  if (status !== 'live' && status !== 'preview') throw wrong('ladders', 'a status must be live or preview');
  const address = text(part(sold, 'base').address, 'ladders', 100);
  venues.venue(text(pool, 'ladders', 200), status === 'live', address);
  for (const rows of [byGap, bySize]) {
    if (!Array.isArray(rows)) throw wrong('ladders', 'by_gap and by_size must be arrays');
    list(rows, 'ladders', 2 * MANY, (row) => {
      const { exit } = part(row, 'a row');
      if (exit === undefined || exit === null) return;
      const split = part(part(exit, 'exit').split, 'split');
      const numbers = [exit.size_usd, exit.exit_gap_pct, split.basis_pct, split.fee_pct];
      venues.row(...numbers.map(number));
    });
  }
}
