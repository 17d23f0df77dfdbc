/** Budgets that hold across processes and crashes, for requests paid by x402. For Node. */

export { ExitgapError } from './index.js';

/** A chain by its CAIP-2 id: `eip155:8453`. */
export type Network = `eip155:${number}`;

/** An append-only file that says what was spent. */
export interface Ledger {
  /** Where it is. */
  readonly path: string;
}

/**
 * Opens the ledger of this path. Where there is none, an empty one is made, and budgets begin anew. Processes share it,
 * in Node and in Rust, on one machine's local disk. Throws `ledger_unreadable`.
 */
export function fileLedger(path: string, options?: { now?: () => number }): Ledger;

/** How much may be spent on the addresses of a host. */
export interface Budget {
  /** The host, in lower case, with `:port` where that is not the scheme's own. */
  host: string;
  /** The beginning of the path, whole segments; `/`, all of them, where it is absent. */
  pathPrefix?: string;
  /** The chain; may be absent where `networks` has one only. */
  network?: Network;
  /** The most, in whole tokens: `'1.00'`. */
  limit: string;
  /** In any stretch of this length, `'24h'`, `'30m'`, `'7d'`; `'total'` where it is absent. */
  per?: string;
}

/** A dollar's token with six decimals. */
export interface Asset {
  network: Network;
  address: `0x${string}`;
  /** As a plain offer names it. */
  symbol: string;
  /** Its EIP-712 name and version. */
  name: string;
  version: string;
}

export interface PolicyOptions {
  /** The most that one call may cost, its repetitions included, in whole tokens: `'0.02'`. */
  maxPerCall: string;
  /** What none of them is for is not paid; every one that is for a payment must have room. */
  budgets: Budget[];
  /** The chains paid on. */
  networks: Network[];
  /** The tokens paid with; USDC on well-known chains where it is absent. */
  assets?: Asset[];
  /** Who may be paid; where it is absent, whom each host asked to pay first, as the ledger remembers it. */
  payees?: `0x${string}`[];
  ledger: Ledger;
}

/** A budget's standing, in whole tokens. */
export interface Left {
  scope: string;
  limit: string;
  spent: string;
  reserved: string;
  left: string;
}

/** What may be spent, and what was. */
export interface Pay {
  readonly ledger: Ledger;
  /** What each budget has left. */
  left(): Left[];
  /**
   * Asks the chain for every payment that was sent and is not known to be made. `authorization` answers whether the
   * token has used it up (`authorizationState`), at a block that will not be replaced, and that block's time; unused
   * and expired ones count no longer. What it throws for stays counted.
   */
  reconcile(
    authorization: (of: { network: Network; asset: string; payer: string; nonce: string }) => Promise<{
      used: boolean;
      blockTimeS: number;
    }>,
  ): Promise<{ released: string; settled: number; left: string }>;
}

/** Throws `invalid_parameter` with the `field` at fault. */
export function budget(options: PolicyOptions): Pay;

/** An account or a wallet as viem has them. */
export type Signer = { signTypedData(typedData: any): Promise<`0x${string}`> } & (
  | { address: `0x${string}` }
  | { account: { address: `0x${string}` } }
);

/**
 * `fetch` that pays where it is asked to, and never twice for one answer. Once a payment was sent, the same signed payment is
 * sent again until it expires, whatever the service answers (402, 429, 5xx, nothing, half an answer), by this call and by later calls for the same
 * method, address and body, also in another process with the same ledger. Another payment is signed for such a request only after
 * the service answered and reported the settlement, or after the payment expired and either the service answered or
 * `reconcile` found on the chain whether it was made.
 *
 * One call waits for `maxWaitMs`, at most; an `AbortSignal` in `init` ends it earlier. Either way, call again to continue. Other
 * answers are returned at once. A 402 that calls the payment invalid ends a call after three attempts.
 *
 * Throws an `ExitgapError`: `max_per_call_exceeded`, `budget_exceeded` (with `scope`, `limit`, `spent`, `reserved`,
 * `resetsAt` in Unix seconds), `no_budget`, `network_not_allowed`, `asset_not_allowed`, `payee_not_allowed`, `payee_changed`,
 * `offer_inconsistent`, `offer_unreadable`, `amount_unreadable`, `address_not_paid`, `signer_failed`, `ledger_unreadable`,
 * `clock_stepped_back`: nothing was sent. `payment_refused`, `payment_unknown`: it was, and stays counted. These two have `sent`
 * (how often this call sent it), `validBefore` (Unix seconds), `payer` and `nonce`.
 */
export function payingFetch<F extends (input: any, init?: any) => Promise<any>>(
  fetch: F,
  options: {
    signer: Signer;
    pay: Pay;
    /** How long one call sends a payment again, in milliseconds: 0 to 600000, by default 120000. */
    maxWaitMs?: number;
  },
): (input: Parameters<F>[0], init?: Parameters<F>[1]) => ReturnType<F>;

/**
 * Lets an `x402Client` of `@x402/core` pay only what `pay` allows, by its hooks; answers the client. A refusal aborts the
 * payment with the code and its words as the reason.
 *
 * Its hooks tell neither the address that was asked nor the other offers of the answer: a budget's host and path are held
 * against the address that the *service* names, and offers are not compared. `payingFetch` knows both. The client cannot send a
 * payment again: until a payment of version 2 is reported as settled or expires, a call for the same address is refused with
 * `payment_unknown`. Of version 1 the client reports no outcome, so it signs anew for each call.
 */
export function guard<C extends object>(client: C, pay: Pay): C;
