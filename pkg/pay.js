// A wallet with a spending limit, for Node: its budgets hold across processes and crashes. The crate exitgap-pay is the
// Rust counterpart, and both can use the same ledgers. This code does not load the WebAssembly module.

import { inTokens } from './pay/amounts.js';
import { FileLedger } from './pay/ledger.js';
import { policyOf, scopeOf } from './pay/policy.js';
import { options, text, wrong } from './arguments.js';
import { typed } from './error.js';

export { ExitgapError } from './error.js';
export { guard } from './pay/guard.js';
export { payingFetch } from './pay/paying.js';

/** Opens the ledger of a path; see pay.d.ts. */
export function fileLedger(path, of) {
  const { now = Date.now } = options(of, ['now']);
  if (typeof now !== 'function') throw wrong('now', 'it must be a function');
  return new FileLedger(text(path, 'path', 4096), now);
}

/** What may be spent; see pay.d.ts. */
export function budget(of) {
  try {
    const read = options(of, ['maxPerCall', 'budgets', 'networks', 'assets', 'payees', 'ledger']);
    if (!(read.ledger instanceof FileLedger)) {
      throw wrong('ledger', 'it must come from fileLedger()', 'ledger: fileLedger(\'spent.jsonl\')');
    }
    return new Pay(policyOf(read), read.ledger);
  } catch (thrown) {
    throw typed(thrown);
  }
}

class Pay {
  constructor(policy, ledger) {
    this.policy = policy;
    this.ledger = ledger;
    Object.freeze(this);
  }

  /** What each budget has left. */
  left() {
    return this.policy.budgets.map((one) => {
      const { spent, reserved } = this.ledger.standing(one);
      const used = spent + reserved;
      const left = used > one.limit ? 0n : one.limit - used;
      return {
        scope: scopeOf(one),
        limit: inTokens(one.limit),
        spent: inTokens(spent),
        reserved: inTokens(reserved),
        left: inTokens(left),
      };
    });
  }

  /** Asks the chain for payments that were sent and can no longer be made, and gives back the unused. */
  async reconcile(authorization) {
    const found = { released: 0n, settled: 0, left: 0n };
    for (const { id, network, asset, sent, units, valid_before_s: validBeforeS } of this.ledger.unsettled()) {
      let told;
      try {
        told = await authorization({ network, asset, payer: sent.payer, nonce: sent.nonce });
      } catch {
        told = undefined;
      }
      if (told?.used === true) {
        this.ledger.settled(id);
        found.settled += 1;
      } else if (told?.used === false && told.blockTimeS >= validBeforeS) {
        this.ledger.expiredUnused(id);
        found.released += units;
      } else {
        found.left += units;
      }
    }
    return { released: inTokens(found.released), settled: found.settled, left: inTokens(found.left) };
  }
}
