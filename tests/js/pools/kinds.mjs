// The kinds of this folder as pools: a sale is asked of its contract's rules, one amount at a time.

import * as balancer from './balancer.mjs';
import * as cryptoswap from './cryptoswap.mjs';
import * as solidly from './solidly.mjs';
import * as stableswap from './stableswap.mjs';
import { readCryptoswap, readSolidly, readStableswap, readStableV2, readStableV3,
  readWeighted } from './form.mjs';
import { Reverted, unlessRefused } from './word.mjs';
import { require } from '../shape.mjs';

/** How each kind's bodies are read, and by which rules its pools fill. */
const KINDS = {
  stableswap: [readStableswap, stableswap],
  solidly: [readSolidly, solidly],
  weighted: [readWeighted, balancer],
  stable_v2: [readStableV2, balancer],
  stable_v3: [readStableV3, balancer],
  cryptoswap: [readCryptoswap, cryptoswap],
};

const MAX_LIVE = 2n ** 150n - 1n;

export const isKind = (protocol) => Object.hasOwn(KINDS, protocol);

/** Whether pools of a protocol have depths. */
export const isSized = (protocol) => !isKind(protocol) || KINDS[protocol][1].atMost !== undefined;

/** A state of one of these kinds, with all that the format page asks of it. */
export function readKind(value) {
  const { protocol } = value;
  const [read, rules] = KINDS[protocol];
  const state = { protocol, ...read(value) };
  // A weighted pool has no D; what it computes with is bounded as of the others.
  if (state.vault !== undefined) {
    const live = unlessRefused(() => balancer.liveOf(state)) ?? [];
    require(live.length > 0 && live.every((x) => x >= 1n && x <= MAX_LIVE), 'a scaled balance out of range');
  }
  if (state.weights !== undefined) return state;
  const invariant = unlessRefused(() => rules.invariantOf(state));
  require(invariant !== undefined, 'balances without an invariant');
  require(protocol === 'solidly' || invariant > 0n, 'an invariant of nothing');
  return state;
}

/** The last whole number from `low` on and below `high` up to which `holds` holds, as it does there. */
function lastOf(low, high, holds) {
  let [last, past] = [low, high];
  while (past - last > 1n) {
    const middle = (last + past) / 2n;
    if (holds(middle)) last = middle;
    else past = middle;
  }
  return last;
}

/**
 * The pool of a state, for selling one token of a pair for the other; what `poolOf` offers, but its
 * fee, which a sale tells, and its segments. In place of those: `out(n)`, what an amount brings, and of
 * kinds that are sized `atMost(a, b)`, what no amount between two brings more than.
 */
export function poolOfKind(state, [i, j]) {
  const [, rules] = KINDS[state.protocol];
  const attempt = (amount) => {
    try {
      return rules.fill(state, i, j, amount);
    } catch (error) {
      if (!(error instanceof Reverted)) throw error;
      return { out: 0n, tooMuch: error.tooMuch };
    }
  };
  const takes = (amount) => amount === 0n || !attempt(amount).tooMuch;
  return {
    mid: rules.mid(state, i, j),
    givesNothing: false,
    largest: (amount) => (takes(amount) ? amount
      : rules.most?.(state, i, takes) ?? lastOf(0n, amount, takes)),
    out: (amount) => attempt(amount).out,
    atMost: rules.atMost && ((from, to) => unlessRefused(() => rules.atMost(state, i, j, from, to))),
    sell(amount) {
      const { out, fee, after } = attempt(amount);
      return { out, fee, after: after && rules.mid(after, i, j) };
    },
  };
}
