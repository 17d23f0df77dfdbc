// Types of `exitgap/proof`: what judges state proofs, in a module of its own.

import type { Bytes, InitSource, Outcome } from './index.js';

export { ExitgapError } from './index.js';

/**
 * Loads what judges, from `source` where it does not lie beside this package's files, and the main module with it: whoever
 * has that one elsewhere awaits `init` of `exitgap` first.
 */
export function init(source?: InitSource): Promise<void>;

/**
 * Holds the snapshot of an evidence file against a state proof (`.egp`, as `client.stateProof` fetches it or `exitgap verify --rpc
 * --keep-proof` makes it): the pool's words and its oracles', proven down from the block's hash. `blocks` is what those whom you
 * asked, a node or a wallet of yours, have as the hash of the block of that number: only they say that the chain has it. No
 * signature of the log's is looked at: that is `verify`. Without a proof (`null`) it says whether there can be one: of a pool whose
 * kind no layout keeps, `pool_state` is `unsupported_layout`.
 */
export function verifyState(evidence: Bytes, proof: Bytes | null | undefined, of?: VerifyStateOptions): StateReport;

export interface VerifyStateOptions {
  /**
   * Who was asked for the block, each by a name for people in printable ASCII, with the hash; none where it did not answer.
   */
  blocks?: readonly { by: string; hash?: string | null }[];
  /** How many of them must have the block, and they must be more than have another; all of them, where it is not said. */
  atLeast?: number;
  /** The outcome of `witnessed`, where the log's witnesses were checked: the sentence says it, too. */
  witnessed?: Outcome;
}

export interface StateCheck {
  name: 'header' | 'pool_state' | 'oracle_state' | 'canonical' | 'code';
  outcome: Outcome;
  /** `ok`, or what failed or was absent, such as `state_differs`, `other_block`, `beyond_proven_range`. */
  code: string;
  expected: string;
  found: string;
  /** What stays somebody's word all the same. */
  unproven: string[];
}

export interface StateReport {
  /**
   * `header`, `pool_state`, `oracle_state`, `canonical` where somebody was asked, and `code` where the contract runs code that
   * is known, or is said to.
   */
  checks: StateCheck[];
  /** What stays somebody's word after all of them. */
  unproven: string[];
  /** What the chain says, all in all. */
  says: 'uncovered' | 'proven' | 'confirmed' | 'other_state' | 'other_block';
  /** The highest rung that was reached, from the operator's signature up. */
  rung: 'signed' | 'proof' | 'block' | 'witnesses' | 'block_and_witnesses' | 'contradicted';
  /** The rung, and whom it leaves to be trusted, in one sentence: the same as on the page and the command line. */
  sentence: string;
}
