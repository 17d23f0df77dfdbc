// Made by `cargo xtask generate` from crates/exitgap-server/docs/openapi.json. Do not edit.
//
// The documents of a service, spelled as it spells them. A field that is absent or `null` has no value.

/** Errors by the age of the estimate. */
export type AccuracyByAge = AccuracyErrors & {
  /** How many slots the estimate is older than the newest slot before the swap. */
  older_slots: number;
};

/** Errors by size and direction, with estimates from the newest slot before the swap. */
export type AccuracyBySize = AccuracyErrors & {
  /** `token0` or `token1`: the token sold. */
  base: string;
  /** The smallest size of this group, USD. The group ends at ten times this size. */
  from_usd: number;
};

/**
 * Errors of many swaps, percent: the realised gap minus the estimated gap. **Positive: the fill
 * was worse than estimated.**
 */
export interface AccuracyErrors {
  /** The median absolute error. */
  abs_error_pct_q50?: number | null;
  /** The 95th percentile of the absolute error. */
  abs_error_pct_q95?: number | null;
  /**
   * Orders for an output amount that agree with the estimate: the amount received lies between
   * the estimates for the amount sold and for one raw unit less. Their error is 0.
   */
  bracketed_n: number;
  /** Swaps that received exactly the estimated amount, in raw units. */
  exact_n: number;
  /** The mean signed error. */
  mean_error_pct?: number | null;
  /** Swaps compared. */
  n: number;
  /** The largest error in the direction of a worse fill. */
  worst_for_seller_pct?: number | null;
  /** The error farthest from zero, in either direction. */
  worst_pct?: number | null;
}

/** Compared swaps with other activity around them. They are compared like all others. */
export interface AccuracyFlagged {
  /**
   * In the same block, one owner added liquidity to a range before the swap and removed it after
   * the swap.
   */
  jit: number;
  /** The same transaction swapped in the pool more than once. */
  same_tx: number;
  /**
   * In the same block, one party swapped shortly before this swap and in the opposite direction
   * shortly after it.
   */
  sandwich_suspected: number;
}

/** Swaps that were not compared, by reason. */
export interface AccuracyNotCompared {
  /** The pool in the slot's state cannot take that much. */
  estimate_refused: number;
  /** The logs between two slots, when replayed, did not give the later state. */
  fills_incomplete: number;
  /** The error is outside the range of a percentage. */
  out_of_range: number;
  /** Both tokens went in, or out. */
  two_sided: number;
  /** Nothing went in, or nothing came out. */
  zero: number;
}

/** Every swap of a pool between two recorded slots. */
export interface AccuracyRecord {
  /** Errors by the age of the estimate. */
  by_age: AccuracyByAge[];
  /** Errors by size and direction. */
  by_size: AccuracyBySize[];
  /** Swaps compared. Together with the swaps not compared, these are all swaps. */
  compared: number;
  /**
   * Whether this is a full record: at least 200 compared swaps and 2,016 judged slots (seven
   * days).
   */
  enough: boolean;
  /** The version of the rules: `accuracy/2`. */
  figure: string;
  /** Compared swaps with other activity around them. */
  flagged: AccuracyFlagged;
  /** The first slot, RFC 3339. Swaps after its block are included. */
  from: string;
  /**
   * Slots whose state follows from the logs since the slot before, so that the swaps between
   * both were judged: the intervals without the incomplete ones.
   */
  judged_slots: number;
  /** The newest compared swaps, at most 100, newest last. */
  newest: AccuracySwap[];
  /** Swaps not compared. */
  not_compared: AccuracyNotCompared;
  /** The pool. */
  pool: string;
  /** Slots with a snapshot that was not retracted. */
  slots: number;
  /** Live or preview. */
  status: Status;
  /** Intervals between two such slots. Each one is replayed. */
  stretches: number;
  /**
   * Intervals whose replayed logs did not give the later state: a log is missing, or a log is
   * not from the chain.
   */
  stretches_incomplete: number;
  /** Swaps logged. */
  swaps: number;
  /** The last slot, RFC 3339. Swaps up to its block are included. */
  to: string;
  /** The largest errors in either direction, at most ten. */
  worst: AccuracySwap[];
}

/** A pool in the table. */
export interface AccuracyRow {
  /** Venue and fee. Absent before the first snapshot. */
  name?: string | null;
  /** The pool. */
  pool: string;
  /** The record of the last seven days, as far as it was computed. `null` if there is none. */
  record?: AccuracySummary | null;
  /**
   * Why there is no record: `waiting` (not computed yet), or a problem code such as
   * `figure_unsupported_kind`. Absent if there is a record.
   */
  why_not?: string | null;
}

/** An accuracy record without its swaps. */
export type AccuracySummary = AccuracyErrors & {
  /** The URL of the full record of this period. */
  accuracy_url: string;
  /** Swaps compared. Together with the swaps not compared, these are all swaps. */
  compared: number;
  /** Days of snapshots up to the pool's newest snapshot, at 288 slots a day. */
  days_observed: number;
  /**
   * Whether this is a full record: at least 200 compared swaps and 2,016 judged slots (seven
   * days).
   */
  enough: boolean;
  /** URL of the figure file. Anyone can recompute the row from this file. */
  figure_url: string;
  /** The first slot, RFC 3339. */
  from: string;
  /** Slots whose state follows from the logs since the slot before. */
  judged_slots: number;
  /** The method, disclosed. Its window counts the slots of the record. */
  method: SeriesMethod;
  /** The version of the method behind the estimates. */
  method_version: string;
  /** Swaps not compared. */
  not_compared: AccuracyNotCompared;
  /** Slots with a snapshot that was not retracted. */
  slots: number;
  /** Later slots, recorded and not retracted, whose swaps no head commits to yet. */
  slots_waiting: number;
  /** Live or preview. */
  status: Status;
  /** Intervals between two slots. Each one is replayed. */
  stretches: number;
  /** Intervals whose replayed logs did not give the later state. */
  stretches_incomplete: number;
  /** Swaps logged. */
  swaps: number;
  /** The last slot, RFC 3339. */
  to: string;
  /**
   * The newest slot when the row was computed, RFC 3339. The row does not include anything
   * sealed later.
   */
  until: string;
};

/** A swap and its estimate. */
export interface AccuracySwap {
  /**
   * Whether the swap agrees with the estimate: `exact` (equal in raw units), `bracketed` (an
   * order for an output amount that lies between the estimates for the amount sold and for one
   * raw unit less) or `differs`.
   */
  agreement: string;
  /** Amount sold, raw units. */
  amount_in_raw: string;
  /** Amount received, raw units. */
  amount_out_raw: string;
  /** `token0` or `token1`: the token sold. */
  base: string;
  /** The block number. */
  block: number;
  /**
   * The realised gap minus the estimated gap, and 0 if the swap is `bracketed`. Positive: the
   * fill was worse than estimated.
   */
  error_pct: number;
  /** The estimated gap below the oracle price, percent. */
  estimated_gap_pct: number;
  /** Amount estimated, raw units. */
  estimated_out_raw: string;
  /** Other activity around the swap: `same_tx`, `jit`, `sandwich_suspected`. */
  flags?: string[];
  /** The index of the log in the block. */
  log_index: number;
  /** The value sold at the slot's oracle price, USD. */
  size_usd: number;
  /** The slot of the estimate. */
  slot: number;
  /** The transaction hash, `0x` and 64 hexadecimal digits. */
  transaction: string;
}

/** How accurate the estimates of all recorded pools were: `GET /v1/accuracy`. */
export interface AccuracyTable {
  /** The version of the rules: `accuracy/2`. */
  figure: string;
  /** The cursor of the next page. Absent on the last page. */
  next_cursor?: string | null;
  /** One row per pool on the page, in the order of the pool identifiers. */
  pools: AccuracyRow[];
  /** Pools on all pages whose row is not computed yet. */
  waiting: number;
}

/** An event of a stored rule. */
export interface AlertEventKept {
  /** How many times it was sent. */
  attempts: number;
  /** `pending`, `delivered` or `given_up`. Absent if the event is not sent to a webhook. */
  delivery?: string | null;
  /** The event. */
  event: AlertEventTold;
  /** The last failure. */
  last_failure?: string | null;
}

/**
 * An event, computed from a rule and the sealed slots. Everyone who computes the event gets the
 * same bytes.
 */
export interface AlertEventTold {
  /**
   * The event document. With its names in order and without white space it is the canonical
   * document.
   */
  document: Record<string, unknown>;
  /** The event's id, `evt_` and 52 letters and digits. */
  id: string;
  /** The event's sequence number within the rule, from 1. */
  seq: number;
  /** The slot that caused the event. */
  slot: number;
  /**
   * `alert.firing`, `alert.resolved`, `alert.no_data`, `alert.data`, `alert.reminder`, `alert.corrected` or
   * `alert.ended`.
   */
  type: string;
}

/** The events of a stored rule: `GET /v1/alerts/{alert}/events`. */
export interface AlertEventsKept {
  /** The rule's name. */
  alert: string;
  /** The events of the last 30 days after `after_seq`, oldest first. */
  events: AlertEventKept[];
  /**
   * The `after_seq` of the next request: the sequence number of the last event here, or the
   * given `after_seq`.
   */
  next_after_seq: number;
}

/** A stored rule: `GET /v1/alerts/{alert}`. */
export interface AlertKept {
  /** The rule's name. It is part of the rule and of every event. */
  alert: string;
  /** When the rule was created, RFC 3339. */
  created: string;
  /** Why the rule ended: `deleted`, `expired`, or `retired` (the pool was retired). */
  ended?: string | null;
  /** The last slot that all rules were evaluated with. Absent before the first. */
  evaluated_slot?: number | null;
  /** When the rule expires, RFC 3339: 30 days after its owner's last call. */
  expires: string;
  /** The sequence number of the rule's newest event. 0: no events. */
  last_seq: number;
  /** The pool. */
  pool: string;
  /**
   * The rule with every default filled in. Saved as a file, it is the input of `exitgap alert
   * replay`.
   */
  rule: Record<string, unknown>;
  /** The SHA-256 of the rule's canonical bytes. */
  rule_hash: string;
  /** The state of the rule after `evaluated_slot`. */
  state: AlertStanding;
  /** The webhook that events are sent to. Absent: events can only be read here. */
  webhook?: WebhookTold | null;
}

/** A new rule: `POST /v1/alerts`. Its secrets are shown only once, in this answer. */
export interface AlertMade {
  /** The rule. */
  alert: AlertKept;
  /** The events of the rule over the last 30 days, or over as many days as are recorded. */
  backtest: AlertsTold;
  /**
   * The owner's token, sent from now on as `Authorization: Bearer`: `exa_` and 43 letters,
   * digits, `-` and `_`. Present only if the request had no token.
   */
  token?: string | null;
  /**
   * The secret key for `v1` signatures: `whsec_` and base64. Present only if the URL is new for
   * this owner.
   */
  webhook_secret?: string | null;
}

/** The state of a rule. */
export interface AlertStanding {
  /** Consecutive breaches so far, before the rule fires. */
  breach_slots: number;
  /** Consecutive clear slots so far, before the alert is resolved. */
  clear_slots: number;
  /** The slot at which the rule last fired. */
  fired_slot?: number | null;
  /** Consecutive slots without data. */
  no_data_slots: number;
  /** `ok`, `pending`, `firing`, `recovering` or `no_data`. */
  standing: string;
}

/** All rules of one owner: `GET /v1/alerts`. */
export interface AlertsKept {
  /** The rules, newest first, at most 200. Rules that ended in the last 30 days are included. */
  alerts: AlertKept[];
}

/** The result of sending events again: `POST /v1/alerts/{alert}/replay`. */
export interface AlertsResent {
  /** Events newly queued. Events that were already waiting are not counted. */
  events: number;
}

/**
 * The state and events of a rule over a period: `GET /v1/alerts/backtest/{pool}`. The caller
 * supplies the rule, and the service does not store it.
 */
export interface AlertsTold {
  /** The version of the state table: `alerts/1`. */
  alerts_version: string;
  /** Days of snapshots up to the pool's newest snapshot, at 288 slots a day. */
  days_observed: number;
  /** The rule's events, oldest first. */
  events: AlertEventTold[];
  /** The first slot, RFC 3339. */
  from: string;
  /** The pool. */
  pool: string;
  /**
   * The rule with every default filled in. Saved as a file, it is the input of `exitgap alert
   * replay`.
   */
  rule: Record<string, unknown>;
  /** The SHA-256 of the rule's canonical bytes. */
  rule_hash: string;
  /** Slots that were evaluated. */
  slots: number;
  /** The state of the rule after the last slot. */
  state: AlertStanding;
  /** Live or preview. */
  status: Status;
  /** The last slot, RFC 3339. */
  to: string;
}

/** The figures of one exit. */
export interface Amounts {
  /** Raw units of the base token sold. */
  amount_in_raw: string;
  /** Raw units of the quote token bought. */
  amount_out_raw: string;
  /**
   * Gap between realized price and oracle price, percent. Positive: the fill is
   * worse than the oracle; negative: better.
   */
  exit_gap_pct: number;
  /** USD per whole base token for the next unit after the exit, fee included. */
  marginal_price_usd: number;
  /** USD per whole base token at the pool's mid price before the exit. */
  mid_price_usd: number;
  /** USD per whole base token, as filled. */
  realized_price_usd: number;
  /** The size, USD. */
  size_usd: number;
  /** The parts of the gap. */
  split: SplitPct;
  /** Initialised ticks crossed. Absent for pools without ticks. */
  ticks_crossed?: number | null;
}

/** Figures with their context: the document of every answer about a pool. */
export type Answer_Amounts = {
  /** Raw units of the base token sold. */
  amount_in_raw: string;
  /** Raw units of the quote token bought. */
  amount_out_raw: string;
  /**
   * Gap between realized price and oracle price, percent. Positive: the fill is
   * worse than the oracle; negative: better.
   */
  exit_gap_pct: number;
  /** USD per whole base token for the next unit after the exit, fee included. */
  marginal_price_usd: number;
  /** USD per whole base token at the pool's mid price before the exit. */
  mid_price_usd: number;
  /** USD per whole base token, as filled. */
  realized_price_usd: number;
  /** The size, USD. */
  size_usd: number;
  /** The parts of the gap. */
  split: SplitPct;
  /** Initialised ticks crossed. Absent for pools without ticks. */
  ticks_crossed?: number | null;
} & Context;

/** Figures with their context: the document of every answer about a pool. */
export type Answer_GapRung = Partial<MaxSize> & DepthReading & {
  /** URL of the evidence for the exit, or that the size cannot be filled, if a service answers. */
  evidence_url?: string | null;
  /** The exit of exactly that size. Absent if nothing can be sold within the limit. */
  exit?: Amounts | null;
  /** The limit, percent. */
  gap_limit_pct: number;
  /** Why depth or exit is absent. */
  problem?: Problem | null;
  /** A smaller size whose gap exceeds the limit, USD: the fee of this pool depends on the size. */
  worse_below_usd?: number | null;
} & Context;

/** Figures with their context: the document of every answer about a pool. */
export type Answer_LadderRows = {
  /** Depth by gap, ascending. */
  by_gap: GapRung[];
  /** Slippage by size, ascending. */
  by_size: SizeRung[];
} & Context;

/** Figures with their context: the document of every answer about a pool. */
export type Answer_RedemptionWindow = {
  /** The gap of that sale, percent. `null` in the same case. */
  exit_gap_pct?: number | null;
  /** The name and version of the method, `redemption/1`. */
  figure: string;
  /** The assumed time of the redemption request: the time of the snapshot's block, RFC 3339. */
  handed_in_at: string;
  /** Always `true`. */
  modelled: boolean;
  /** The ways to redeem the size. Empty if no redemption terms are configured for the token. */
  paths: RedemptionPath[];
  /**
   * The proceeds of selling now, USD: `size_usd × (1 - exit_gap_pct)`, rounded down. `null` if
   * the size cannot be sold.
   */
  receives_now_usd?: number | null;
  /** Why the size cannot be sold at once. */
  refusal?: ProblemCode | null;
  /** The size, USD. */
  size_usd: number;
} & Context;

/** Figures with their context: the document of every answer about a pool. */
export type Answer_Simulation = {
  /** Raw units of the base token sold. */
  amount_in_raw: string;
  /** Raw units of the quote token bought. */
  amount_out_raw: string;
  /** The same size sold at once. */
  at_once: AtOnce;
  /** Gap of all orders together, percent. */
  exit_gap_pct: number;
  /** The orders, in sequence. */
  fills: OrderFill[];
  /** Seconds between orders, as given. Not used in any computation. */
  interval_s: number;
  /** Number of orders. */
  orders: number;
  /**
   * The assumed recovery of √price between two orders, as a share of its displacement, percent.
   * An assumption, not a forecast.
   */
  recovery_pct: number;
  /** The whole size, USD. */
  size_usd: number;
} & Context;

/** The same size sold at once: the fill, or why the size cannot be filled. */
export type AtOnce = {
  /** The exit. */
  exit: Amounts;
} | {
  /** Why there is no exit. */
  problem: Problem;
};

/**
 * The rating of the exposure. It depends only on whether each dollar to sell has a dollar of
 * depth.
 */
export type Band = 'covered' | 'strained' | 'exposed' | 'unfillable' | 'unrated';

/** The optimal split of an exit over venues. */
export interface BestSplit {
  /**
   * Each venue if it took the whole size, best first. Venues that cannot fill the size come
   * last, the one that fills most first.
   */
  alone: SplitAlone[];
  /**
   * Raw units of the token sold by all legs. At most one unit per leg less than one single sale
   * of the size.
   */
  amount_in_raw: string;
  /**
   * The gap of all legs together with their fixed costs, percent: exact. Positive is worse than
   * the oracle. Never worse than any venue alone.
   */
  exit_gap_pct: number;
  /** The fixed costs of the venues of the legs, USD. */
  fixed_cost_usd: number;
  /** Venues that are not part of the split, and why. */
  left_out: SplitLeftOut[];
  /** The share of each venue used. */
  legs: SplitLeg[];
  /** The version of the method behind the figures. */
  method_version: string;
  /**
   * No other split over the venues that are not in `left_out` improves the gap by more than
   * this, percent. `null` if a venue in `left_out` alone is better than all others together.
   */
  optimality_gap_pct?: number | null;
  /** The requested size, USD. */
  size_usd: number;
  /** `live` only if the chain is live. */
  status: Status;
}

/** `GET /v1/capabilities`. */
export interface Capabilities {
  /** Every capability in the specification. */
  capabilities: Capability[];
  /** Every chain with a monitored pool. */
  chains?: ChainCapability[];
  /** Whether this process serves pages. */
  pages?: boolean;
  /** Whether this process records. */
  recording?: boolean;
  /**
   * The base URL of pages, evidence and the log, if it differs from the API's: all addresses
   * that do not begin with `/v1/`.
   */
  web_url?: string | null;
}

/** One capability. */
export interface Capability {
  /** Its name. */
  capability: string;
  /**
   * What the capability depends on, according to the specification: other capabilities by name,
   * or other conditions.
   */
  gated_by?: string[];
  /** The chains on which the capability is live. On other chains it is at most preview. */
  live_on?: string[];
  /** The status on this service: live if the capability is live on any chain. */
  status: CapabilityStatus;
  /** Where to find the capability, or what is not built yet. */
  where: string;
}

/** The status of a capability. */
export type CapabilityStatus = 'live' | 'preview' | 'roadmap';

/** The answer of `GET /v1/cash/{chain}/{token}`. */
export type CashExit = Exactness & CashPlan & {
  /** The amount sold, raw units. */
  amount_in_raw: string;
  /**
   * `not_configured` if the request is for cash and the operator configured none for this chain.
   * The sale then ends in any token in which a pool pays for the token sold, as with `any`.
   */
  cash?: string | null;
  /** The chain's slug. */
  chain: string;
  /** The length of the shortest series of the legs' pools, days. */
  days_observed: number;
  /** URL of the figure file that proves the plan, what it brings, and the bound. */
  evidence_url: string;
  /** What the sale must end in, as requested: `cash`, `any`, the name of a group, or token addresses. */
  into: string;
  /** Pools of the chain that are not part of the search or of its bound, and why. */
  left_out: SplitLeftOut[];
  /** Whether the markets of the tokens of all legs are open. */
  market_open: boolean;
  /** The method, disclosed. Its window is that of the leg with the shortest series. */
  method: SeriesMethod;
  /** What is not counted. */
  not_counted: string[];
  /** USD per whole token sold, according to the oracle. */
  oracle_price_usd: number;
  /** How reliable the oracle answers of the legs' pools are: the worst of them. */
  oracle_state: OracleState;
  /** The market session: of a leg whose market is closed, if there is one. */
  session_note: string;
  /** The slot number. All pools are used as they were at this slot. */
  slot: number;
  /** The time of the slot, RFC 3339. */
  slot_time: string;
  /** Seconds since the slot. */
  snapshot_age_s: number;
  /** The token sold. */
  token: TokenLabel;
};

/** A sale of a plan, which is the contract's own fill. */
export interface CashLeg {
  /** Raw units sold here. */
  amount_in_raw: string;
  /** Raw units bought here. */
  amount_out_raw: string;
  /** `token0` or `token1`: the token sold, by its position in that pool. */
  base: string;
  /** The token bought here. */
  bought: TokenLabel;
  /** The venue and fee. */
  name: string;
  /** The pool. */
  pool: string;
  /** The token sold here. */
  sold: TokenLabel;
}

/** A plan, and what it brings. */
export interface CashPlan {
  /**
   * No route through the pools that count brings more than this, USD. `null` if the law of a pool
   * is not known.
   */
  bound_usd?: number | null;
  /**
   * The cash received against the amount sold, both at their oracle prices, percent. Positive is
   * worse than the oracle.
   */
  exit_gap_pct: number;
  /** Your assumption of the gas, USD. */
  gas_usd?: number | null;
  /** The sales, in an order in which they can be executed. */
  legs: CashLeg[];
  /** The version of the method behind the figures. */
  method_version: string;
  /**
   * No other route through the pools that count, with at most three in a row, has a gap that is
   * lower by more than this, percent. Pools in `left_out` do not count. `null` if the law of a
   * pool is not known.
   */
  optimality_gap_pct?: number | null;
  /** The cash received, by token. */
  received: CashReceived[];
  /** The same less `gas_usd`, if that was given. Never below 0. */
  received_after_gas_usd?: number | null;
  /** The cash received at its oracle prices, USD, rounded down. */
  received_usd: number;
  /** The amount sold at its oracle price, USD, rounded down. The requested size, if there is one. */
  size_usd: number;
  /** `live` only if the chain is live. */
  status: Status;
  /** How much less than stated you accept, percent. */
  tolerance_pct: number;
}

/** The amount received of a cash token. */
export interface CashReceived {
  /**
   * The least that you accept at your tolerance: `amount_out_raw` less `tolerance_pct`, rounded
   * down.
   */
  amount_out_min_raw: string;
  /** Raw units received. */
  amount_out_raw: string;
  /** USD per whole token, according to the oracle. */
  oracle_price_usd: number;
  /** The token. */
  token: TokenLabel;
}

/** The status of a chain. The statuses of capabilities depend on it. */
export interface ChainCapability {
  /** Seconds from that slot to this answer. */
  age_s?: number | null;
  /** The chain's slug. */
  chain: string;
  /** The newest recorded slot of the chain's pools, RFC 3339. Absent before the first slot. */
  newest_recorded_slot?: string | null;
  /** Why the chain is not live. Absent if it is live. */
  not_live_because?: string | null;
  /** Live if all conditions for that are met, otherwise preview. */
  status: CapabilityStatus;
}

/** The context of every result. */
export interface Context {
  /** The token sold. */
  base: TokenLabel;
  /** Recorded slots ÷ 288. Absent if nothing is recorded. */
  days_observed?: number | null;
  /**
   * Whether the amounts are what a holder sends and receives. `false` if a token takes a fee on
   * transfer, as logs of the pool's own swaps showed: the exit is then worse than computed.
   */
  exact: boolean;
  /**
   * The fee that the pool charges on a sale, percent. Absent if it depends on the sale; `name`
   * then shows how.
   */
  fee_pct?: number | null;
  /** Why the amounts are not exact, if they are not: `token_taxed`. */
  inexact_because?: string | null;
  /** The same reason as a sentence that names the tokens. */
  inexact_detail?: string | null;
  /** Whether the markets of both tokens are open at the block. */
  market_open: boolean;
  /** The method, disclosed. */
  method: Method;
  /** The version of the method behind the figures. */
  method_version: string;
  /** Venue and fee as of this state: `Uniswap v3 0.05%`. */
  name: string;
  /** USD per whole base token, according to the oracle. */
  oracle_price_usd: number;
  /**
   * Whether any oracle answer is older than its heartbeat, or the chain's sequencer is down or
   * was down until just now.
   */
  oracle_stale: boolean;
  /**
   * Why the oracle is stale, if it is. While a market is closed, the oracle keeps its last
   * answer.
   */
  oracle_state: OracleState;
  /** The pool's identifier, `<chain>:<address>`. */
  pool: string;
  /** The token bought. */
  quote: TokenLabel;
  /**
   * The market session at the block, e.g. `XNYS@1/regular`. `continuous` for assets without a
   * calendar.
   */
  session_note: string;
  /** Live or preview. */
  status: Status;
  /** The venue. Absent if the pool's factory is not known. */
  venue?: string | null;
  /** The series behind the result. Absent if nothing is recorded. */
  window?: Window | null;
}

/** `GET /v1/decay/{pool}`. */
export type DepthDecay = DepthDecayOf & {
  /** Depths whose computation was given up. Their slots are in no list. */
  books_unanswered: number;
  /** Statistics after the price of the token sold fell. */
  down: DepthDecaySide;
  /** Whether the series is long enough for statistics. Events are listed in any case. */
  enough: boolean;
  /** The events, ascending. */
  events: DepthDecayEvent[];
  /** Moves within 48 slots after an event. They do not count as separate events. */
  events_suppressed: number;
  /** Slots of the period with a snapshot that was not retracted. */
  have: number;
  /** The number of slots needed. */
  needed: number;
  /** The number of events needed for the statistics of a horizon. */
  needed_events: number;
  /** Slots of the period without such a snapshot. They are never interpolated. */
  slots_missing: number;
  /** Recorded slots without a recorded slot `within_slots` earlier to compare with. */
  slots_untestable: number;
  /** Live or preview. */
  status: Status;
  /** Statistics after it rose. */
  up: DepthDecaySide;
};

/** One move of the price. */
export interface DepthDecayEvent {
  /** The depths after the event, at each horizon with a snapshot that was not retracted. */
  at: DepthDecayStep[];
  /** Whether liquidity was withdrawn and half had not returned within 48 slots. */
  censored: boolean;
  /**
   * Slots from the greatest deficit to the first of two consecutive slots with half of that
   * deficit or less. `null` if it is censored or nothing was withdrawn.
   */
  half_life_slots?: number | null;
  /** How far the pool's mid price moved, percent. Positive if the token sold rose. */
  move_pct: number;
  /** The slot number. */
  slot: number;
  /** The time of the slot, RFC 3339. */
  time: string;
}

/** Statistics of one horizon. `null` if too little is recorded. */
export interface DepthDecayHorizon {
  /** Baselines measured. */
  baseline_n: number;
  /** Share withdrawn over the same time without an event nearby, median, percent. */
  baseline_withdrawn_pct_q50?: number | null;
  /** Slots after the event. */
  h_slots: number;
  /** Events measured. */
  n: number;
  /** Events whose depth was zero before the move or at the new price. They have no percentages. */
  n_without_share: number;
  /** Remaining depth ÷ depth before, 5th percentile, percent. */
  retained_pct_q5?: number | null;
  /** Remaining depth ÷ depth before, median, percent. */
  retained_pct_q50?: number | null;
  /** Depth that would remain if no one withdrew liquidity ÷ depth before, median, percent. */
  static_pct_q50?: number | null;
  /**
   * Share of the depth that providers withdrew, median, percent. Positive if liquidity was
   * removed.
   */
  withdrawn_pct_q50?: number | null;
}

/** The parameters and sources of a decay report. */
export type DepthDecayOf = Exactness & {
  /** `token0` or `token1`: the token sold. */
  base: string;
  /** The length of the series up to `to`. */
  days_observed: number;
  /** The version of the method: `decay/1`. */
  figure: string;
  /**
   * URL of the figure file. Anyone can recompute the report from this file and the snapshots
   * that it names.
   */
  figure_url: string;
  /** The first slot used, RFC 3339. */
  from: string;
  /** The gap from the pool's own mid price at which depth is measured, percent. */
  gap_pct: number;
  /** The method, disclosed. */
  method: SeriesMethod;
  /** The version of the method behind each depth. */
  method_version: string;
  /** How far the mid price must have moved, percent. */
  move_pct: number;
  /** The pool. */
  pool: string;
  /** The last slot used, RFC 3339. */
  to: string;
  /** The number of slots within which it must have moved. */
  within_slots: number;
};

/** Statistics of the events in one direction of the price. */
export interface DepthDecaySide {
  /** Events after which liquidity was withdrawn. */
  half_life_n: number;
  /**
   * The median half-life of those events, slots. `null` if it is censored or there are too few
   * events.
   */
  half_life_slots_q50?: number | null;
  /** Statistics by slots after the event. */
  horizons: DepthDecayHorizon[];
}

/**
 * The depth some slots after an event. `book_before_usd + mechanical_usd + liquidity_usd =
 * book_usd`, to the dollar.
 */
export interface DepthDecayStep {
  /** The depth before the event, whole USD. */
  book_before_usd: number;
  /** The depth of the earlier liquidity at the new price, whole USD. */
  book_static_usd: number;
  /** The depth now, whole USD. */
  book_usd: number;
  /** Slots after the event. */
  h_slots: number;
  /**
   * The change caused by providers who added or removed liquidity, whole USD. Negative if they
   * removed liquidity.
   */
  liquidity_usd: number;
  /** The change caused by the price move alone, whole USD. Negative if the depth became smaller. */
  mechanical_usd: number;
}

/** The depth of one slot. */
export type DepthPoint = DepthReading & {
  /** Depth at 2%, whole USD. */
  depth_usd: number;
  /** The slot number. */
  slot: number;
  /** The time of the slot, RFC 3339. */
  time: string;
  /** URL of the slot's head, which commits to this depth. */
  window_url: string;
};

/** The second reading of the depth of one slot. */
export interface DepthReading {
  /**
   * The depth within the same limit from the pool's own mid price instead of the oracle price,
   * whole USD. If only the oracle moved away, the other depth falls and this one does not.
   * Absent if its computation was given up.
   */
  book_usd?: number | null;
  /** Why the depth is low: `oracle_led` or `thin_book`. Absent if neither applies. */
  depth_cause?: string | null;
  /** The same as a sentence. */
  depth_note?: string | null;
}

/** The block behind a result, and the slot if one is recorded. */
export interface DepthSource {
  /** Block hash. */
  block_hash: string;
  /** Block number. */
  block_number: number;
  /** Block timestamp, RFC 3339. */
  block_time: string;
  /** The chain's CAIP-2 id. */
  chain: string;
  /**
   * The hash of the chain's block 0, if the chain is live because its operator configured that
   * hash. Whether it is the intended network has to be checked by someone who knows the hash.
   */
  genesis_hash?: string | null;
  /** The source of the depth. */
  kind: DepthSourceKind;
  /**
   * Slots after this one that are missing or retracted, if the request was for the newest
   * recorded slot.
   */
  newer_slots_missing?: number | null;
  /**
   * The kind of pool state: `constant_product`, `concentrated_liquidity`, `concentrated_v4` or
   * `concentrated_linked`.
   */
  protocol: string;
  /** The slot number. Absent if nothing is recorded. */
  slot?: number | null;
  /** The time of the slot, RFC 3339. */
  slot_time?: string | null;
  /** SHA-256 of the snapshot's canonical bytes. */
  snapshot_hash?: string | null;
}

/** Where the depth behind a result was read. */
export type DepthSourceKind = 'recorded_snapshot' | 'latest_block' | 'snapshot_file';

/**
 * The second reading of the lowest depth of the 2,016 slots (7 days) up to a slot. Absent fields
 * are not computed for that slot.
 */
export interface DepthWeek {
  /** URL of the figure file that proves both lows and the lead, from the snapshots of these days. */
  depths_url?: string | null;
  /**
   * The lowest depth at 2% from the pool's own mid price instead of the oracle price, whole USD.
   * Heads do not commit to it.
   */
  lowest_book_7d_usd?: number | null;
  /**
   * Why the lowest depth is low. `oracle_led`: the oracle price was above the pool's own price,
   * around which the pool had more than twice that depth. `thin_book`: around its own price the
   * pool had nothing either. Absent if neither applies.
   */
  lowest_depth_7d_cause?: string | null;
  /** The same as a sentence. */
  lowest_depth_7d_note?: string | null;
  /** How far the oracle price was above the pool's own price in these days. */
  oracle_lead_7d?: OracleLead7d | null;
}

/** `GET /v1/equities`. */
export interface Equities {
  /** All configured tokens, ordered by chain and address. */
  equities: EquityListed[];
  /** The name and version of the method, `equity/1`. */
  figure: string;
}

/** The amount that a pool holds of a tokenized stock whose balances change. */
export interface EquityBalanceTold {
  /** The amount held, raw units. */
  balance_raw: string;
  /**
   * The amount that a purchase of the token for the size would pay out, raw units. `null` if the
   * pool cannot fill the purchase.
   */
  purchase_raw?: string | null;
  /** The slot of the amounts, RFC 3339. */
  slot_time: string;
  /** Slots that have the fact. */
  slots: number;
  /** Slots in which the purchase would pay out more than the pool holds. Such a purchase reverts. */
  slots_short: number;
}

/** A corporate action of a tokenized stock. */
export interface EquityEventTold {
  /** When the change takes effect, RFC 3339. */
  effective_at?: string | null;
  /** `multiplier_changed`, `scheduled`, `paused` or `resumed`. */
  event: string;
  /** The multiplier before. */
  from_raw?: string | null;
  /** The first slot that shows the action, RFC 3339. */
  slot_time: string;
  /** The multiplier after. */
  to_raw?: string | null;
}

/** A tokenized stock. */
export interface EquityListed {
  /** The chain. */
  chain: string;
  /** The share of the deepest pool in that depth, percent. `null` if the depth is zero. */
  concentration_pct?: number | null;
  /** The deepest pool. `null` before the first snapshot. */
  deepest_pool?: string | null;
  /** The total depth at 2% of its pools, each in its newest slot, whole USD. */
  depth_usd: number;
  /** `scaled_ui`, `total_return`, `rebasing` or `split_rebase`. */
  kind: string;
  /** The decimals of its multiplier. */
  multiplier_decimals: number;
  /** Its monitored pools. */
  pools: number;
  /** The current state. `null` before the first snapshot. */
  state?: EquityState | null;
  /** The token's name for itself. `null` before its first snapshot. */
  symbol?: string | null;
  /** The token's address. */
  token: string;
}

/** A pool of a tokenized stock: a set of measures, never one score. */
export interface EquityPool {
  /**
   * The amount that the pool holds. `null` without that fact, or if the token's balances do not
   * change.
   */
  balance?: EquityBalanceTold | null;
  /** `token0` or `token1`: the tokenized stock. */
  base: string;
  /** The median discount over all closed sessions, percent. */
  basis_to_last_close_pct_q50?: number | null;
  /** The discount farthest from zero, percent. */
  basis_to_last_close_pct_worst?: number | null;
  /** The depth at 2% in the pool's newest slot, whole USD. `null` if no depth was found. */
  depth_usd?: number | null;
  /** Whether there are enough regular sessions and weekends. If not, statistics are `null`. */
  enough: boolean;
  /** Corporate actions, ascending. */
  events: EquityEventTold[];
  /** Whether the pool's state is known to include every change of its balance. */
  exact: boolean;
  /** URL of the figure file. Anyone can recompute the measures from this file. */
  figure_url: string;
  /** The first slot of the period, RFC 3339. */
  from: string;
  /** Regular sessions with a slot that counts. */
  have_regular_sessions: number;
  /** Weekends with a slot that counts. */
  have_weekends: number;
  /** Why not: `balances_change_unseen`. */
  inexact_because?: string | null;
  /** The venue and fee. */
  name: string;
  /** The number of regular sessions needed. */
  needed_regular_sessions: number;
  /** The number of weekends needed. */
  needed_weekends: number;
  /** The slots that count with fresh oracle answers, percent. `null` if too little is recorded. */
  oracle_fresh_pct?: number | null;
  /** The slots with an oracle answer kept while the market was closed, percent. */
  oracle_held_over_close_pct?: number | null;
  /** The slots with a stale oracle answer, percent. */
  oracle_stale_pct?: number | null;
  /** The pool. */
  pool: string;
  /** Sale compared with redemption, if the operator has redemption terms for the token. */
  redemption_url?: string | null;
  /** Statistics for each kind of closure. */
  reopening: EquityReopeningTold[];
  /** Statistics for each session of the exchange. */
  sessions: EquitySessionTold[];
  /**
   * Slots while trading was paused or a change was due within a day. They are excluded from the
   * statistics.
   */
  slots_corporate_action: number;
  /** Slots without one. */
  slots_missing: number;
  /** Slots of the period with a snapshot that was not retracted. */
  slots_recorded: number;
  /**
   * Other slots that lack a fact that the operator configured. They are also excluded from the
   * statistics.
   */
  slots_without_facts: number;
  /** Live or preview. */
  status: Status;
  /**
   * The last slot of the period, RFC 3339: the last slot of the last full UTC day that the
   * series has.
   */
  to: string;
}

/** The market's reopenings after closures of one kind. Gaps are `null` if too little is recorded. */
export interface EquityReopeningTold {
  /** `night`, `weekend` or `holiday`. */
  closure_kind: string;
  /** Closures with a slot that counts. */
  closures: number;
  /** Closures with a reopening gap. */
  reopened: number;
  /**
   * The median reopening gap: how much less a sale in the last closed slot paid than the oracle
   * price afterwards, percent.
   */
  reopening_gap_pct_q50?: number | null;
  /** The greatest reopening gap, percent. */
  reopening_gap_pct_worst?: number | null;
}

/** `GET /v1/equities/{chain}/{token}`. */
export type EquityScore = EquityListed & {
  /** Whether any pool has enough data for statistics. */
  enough: boolean;
  /** The name and version of the method, `equity/1`. */
  figure: string;
  /** The gap limit of the depths in the sessions, percent. */
  gap_pct: number;
  /** Pools that are not included, and why. */
  left_out: SplitLeftOut[];
  /** The version of the method behind each number. */
  method_version: string;
  /** The size of the gaps, USD. */
  size_usd: number;
  /** The token's pools, deepest first. */
  vectors: EquityPool[];
};

/** One session of the exchange. Statistics are `null` if too little is recorded. */
export interface EquitySessionTold {
  /**
   * The median discount of the pool's mid price to the oracle price at the last regular close,
   * percent. `null` in the regular session.
   */
  basis_to_last_close_pct_q50?: number | null;
  /** The discount farthest from zero, percent. */
  basis_to_last_close_pct_worst?: number | null;
  /** The lowest depth at the gap limit, whole USD. */
  depth_usd_lowest?: number | null;
  /** The median depth at the gap limit, whole USD. */
  depth_usd_q50?: number | null;
  /** The median gap at the size, percent. `null` if the median slot could not fill the size. */
  exit_gap_pct_q50?: number | null;
  /** The 95th percentile of the gap, percent. `null` in the same case. */
  exit_gap_pct_q95?: number | null;
  /** The widest gap, percent. `null` if any slot could not fill the size. */
  exit_gap_pct_worst?: number | null;
  /** `regular`, `pre`, `after`, `overnight`, `weekend`, `holiday` or `unknown`. */
  session: string;
  /** Slots that count. */
  slots: number;
  /** Slots in which the size had no gap: worse than any number. */
  slots_refused: number;
}

/** The current state of a tokenized stock, from the newest snapshot of its deepest pool. */
export interface EquityState {
  /**
   * The discount of the pool's mid price to the oracle price, percent. `null` if it is outside
   * the range of a percentage.
   */
  basis_pct?: number | null;
  /**
   * Whether trading is paused or a change is due within a day. Such slots are excluded from the
   * statistics.
   */
  corporate_action: boolean;
  /** When the next multiplier takes effect, RFC 3339. It may be in the past. */
  effective_at?: string | null;
  /**
   * Whether the amounts are what a holder sends and receives. `false` if a token takes a fee on
   * transfer, as logs of the pool's own swaps showed: the exit is then worse than computed.
   */
  exact: boolean;
  /** Whether the snapshot has all facts that the operator configured. */
  facts_whole: boolean;
  /** Whether the token or its feed is paused. `null` in the same cases. */
  feed_paused?: boolean | null;
  /** Why the amounts are not exact, if they are not: `token_taxed`. */
  inexact_because?: string | null;
  /** The same reason as a sentence that names the tokens. */
  inexact_detail?: string | null;
  /**
   * The token's multiplier, read from the contract. `null` if no fact is configured or it could
   * not be read.
   */
  multiplier_raw?: string | null;
  /** The oracle price of the token, USD. */
  oracle_price_usd: number;
  /** How reliable the oracle answers are. */
  oracle_state: OracleState;
  /** The next multiplier. `null` in the same cases. */
  pending_multiplier_raw?: string | null;
  /**
   * `regular`, `pre`, `after`, `overnight`, `weekend`, `holiday` or `unknown`: the session of
   * the stock's exchange at the snapshot's block.
   */
  session: string;
  /** The slot of the snapshot, RFC 3339. */
  slot_time: string;
  /** Seconds since that slot. */
  snapshot_age_s: number;
  /** Live or preview. */
  status: Status;
  /**
   * The price of one share as shown in wallets, from the oracle price, USD. `null` without a
   * multiplier. For display only.
   */
  ui_price_usd?: number | null;
}

/** Whether the amounts of a series are what a holder sends and receives, by the newest snapshot of its pools. */
export interface Exactness {
  /**
   * Whether the amounts are what a holder sends and receives. `false` if a token takes a fee on
   * transfer, as logs of swaps showed up to the newest snapshot: exits are then worse than computed.
   */
  exact: boolean;
  /** Why the amounts are not exact, if they are not: `token_taxed`. */
  inexact_because?: string | null;
  /** The same reason as a sentence that names the tokens. */
  inexact_detail?: string | null;
}

/** Closed days of a log. */
export interface Export {
  /**
   * The signed checkpoint of the log of days, signed with the log's own key. `null` until a day
   * is closed and written.
   */
  checkpoint?: string | null;
  /** The requested days, ascending. */
  days: ExportedDay[];
  /** The number of days in that log. */
  days_closed: number;
  /** The `from` of the next page. `null` on the last page. */
  next_from?: string | null;
}

/** A closed day. */
export interface ExportedDay {
  /** The day, UTC. */
  day: string;
  /** The files. If pools were requested, only files with rows of those pools. */
  files: ExportedFile[];
  /** The first slot of the day in the log. */
  first_slot: number;
  /** The last slot of the day. */
  last_slot: number;
  /** The manifest's SHA-256. The log of days commits to it. */
  manifest_sha256: string;
  /** The URL of the manifest, which has all other details. */
  manifest_url: string;
  /** Pools that have rows. */
  pools: number;
  /** Rows: one per pool and slot. */
  rows: number;
}

/** One file of a day. */
export interface ExportedFile {
  /** The size in bytes. */
  bytes: number;
  /** The first pool in the file, in the order of the pool ids. `null` in the file of slots. */
  first_pool?: string | null;
  /** The last pool in the file. */
  last_pool?: string | null;
  /** The file name. */
  name: string;
  /** The number of rows. */
  rows: number;
  /** The SHA-256 of the file. */
  sha256: string;
  /** The URL. */
  url: string;
}

/** The slots of a report in which the sale failed, by cause. */
export interface FailuresByCause {
  /** Both counts in words. */
  note: string;
  /** The first slot of that run, RFC 3339. `null` if there is no such slot. */
  oracle_led_longest_run_from?: string | null;
  /** The longest run of consecutive slots of that kind. */
  oracle_led_longest_run_slots: number;
  /**
   * Slots in which the gap from the oracle price was above the limit, and the gap from the pools'
   * own prices was not: the oracle led.
   */
  oracle_led_slots: number;
  /** The widest gap from the oracle price in these slots, percent. `null` in the same case. */
  oracle_led_worst_gap_pct?: number | null;
  /**
   * Slots in which the gap from the pools' own prices was above the limit, or the venues together
   * could not absorb the sale: the book was too thin.
   */
  thin_book_slots: number;
}

/** The largest size that could be filled in a slot whose liquidity the requested size exceeds. */
export interface FillablePoint {
  /** The largest size that could be filled, USD. */
  max_fillable_usd: number;
  /** The slot number. */
  slot: number;
  /** The time of the slot, RFC 3339. */
  time: string;
}

/** `GET /v1/fragility`. */
export interface Fragility {
  /** The formula of `book_fragility_score`, in one sentence. */
  book_score_method?: string;
  /** The version of the method behind gaps and depths. */
  method_version: string;
  /** The cursor of the next page. Absent on the last page. */
  next_cursor?: string | null;
  /** Pools with a snapshot in this selection. */
  pools: number;
  /** Pools of the selection without a snapshot. They have no row yet. */
  pools_without_snapshot: number;
  /** The rows of this page. */
  rows: FragilityRow[];
  /** The formula of `fragility_score`, in one sentence. */
  score_method: string;
}

/** A pool on the board, selling its default base token. */
export type FragilityRow = DepthWeek & {
  /** The token sold. */
  base: TokenLabel;
  /**
   * `1 − lowest_book_7d_usd ÷ median_book_7d_usd`: the same of the pool's own book, on which the
   * oracle has no effect. Absent in the cases in which `fragility_score` is null, and if the week
   * is not computed.
   */
  book_fragility_score?: number | null;
  /**
   * The depth at 2% from the pool's own mid price instead of the oracle price in that slot,
   * whole USD. If only the oracle moved away, `depth_usd` falls and this value does not.
   */
  book_usd?: number | null;
  /** The chain's slug. */
  chain: string;
  /**
   * The lowest depth of each of the last eight UTC days, whole USD, newest last. Null if the day
   * has no depth.
   */
  daily_lowest_depth_usd?: (number | null)[];
  /** Recorded slots ÷ 288. */
  days_observed: number;
  /**
   * Why `depth_usd` is low: `oracle_led` or `thin_book`, as in `lowest_depth_7d_cause`. Absent if
   * neither applies.
   */
  depth_cause?: string | null;
  /** The same as a sentence. */
  depth_note?: string | null;
  /** Depth at 2% in that slot, whole USD. */
  depth_usd?: number | null;
  /**
   * The fee that the pool charges on a sale in the newest snapshot, percent. Absent if it
   * depends on the sale; `name` then shows how.
   */
  fee_pct?: number | null;
  /**
   * `1 − lowest ÷ median`: the share of the median depth that was missing in the slot with the
   * lowest depth, 0 to 1. Null with less than one day of recorded slots, or if the median is 0.
   */
  fragility_score?: number | null;
  /** The gap at each standard size, ascending. */
  gaps: StandardGap[];
  /** The lowest depth of seven days. */
  lowest_depth_7d?: LowestDepth | null;
  /**
   * The median of the depths at 2% from the pool's own mid price over seven days, whole USD, by
   * nearest rank.
   */
  median_book_7d_usd?: number | null;
  /** The median depth of seven days by nearest rank, whole USD. */
  median_depth_7d_usd?: number | null;
  /** The method, disclosed. The sizes are those of `gaps`, and the window is the seven days. */
  method: SeriesMethod;
  /** The version of the method behind gaps and depths. */
  method_version: string;
  /** Venue and fee, `Uniswap v3 0.05%`. No two rows of one chain and pair have the same name. */
  name: string;
  /** Slots after it that are missing. */
  newer_slots_missing: number;
  /** Whether an oracle answer behind the row is older than its heartbeat. */
  oracle_stale: boolean;
  /** The pool's identifier. */
  pool: string;
  /** The token bought. */
  quote: TokenLabel;
  /** Time of the slot behind the row, RFC 3339. */
  slot_time: string;
  /** Slots of those seven days without a snapshot. */
  slots_missing_7d: number;
  /** Live or preview. */
  status: Status;
  /** The venue. Absent if the pool's factory is not known. */
  venue?: string | null;
  /** URL of the heads of those seven days. They commit to `days_observed` and the lowest depth. */
  window_url: string;
};

/** The gap of one slot, or why there is no gap. */
export interface GapPoint {
  /** URL of the evidence for the gap. */
  evidence_url?: string | null;
  /** The gap, percent. Absent if the size has no gap. */
  exit_gap_pct?: number | null;
  /**
   * The largest size that could be filled in that slot, USD, if the requested size exceeded the
   * liquidity.
   */
  max_fillable_usd?: number | null;
  /** Why the size has no gap: worse than any number. */
  refusal?: ProblemCode | null;
  /** The slot number. */
  slot: number;
  /** The time of the slot, RFC 3339. */
  time: string;
}

/** A row by gap: the size that can be sold within the limit, and its fill. */
export type GapRung = Partial<MaxSize> & DepthReading & {
  /** URL of the evidence for the exit, or that the size cannot be filled, if a service answers. */
  evidence_url?: string | null;
  /** The exit of exactly that size. Absent if nothing can be sold within the limit. */
  exit?: Amounts | null;
  /** The limit, percent. */
  gap_limit_pct: number;
  /** Why depth or exit is absent. */
  problem?: Problem | null;
  /** A smaller size whose gap exceeds the limit, USD: the fee of this pool depends on the size. */
  worse_below_usd?: number | null;
};

/** `GET /v1/history/{pool}`. */
export type History = SeriesOf & {
  /**
   * URL of the evidence for the newest gap in these rows. Every gap and depth of a row has its
   * own URL.
   */
  evidence_url?: string | null;
  /** The length of a row. */
  interval: Interval;
  /** The cursor of the next page. Absent on the last page. */
  next_cursor?: string | null;
  /** The order of the rows. */
  order?: RowOrder;
  /** The rows in this order, without omissions. */
  rows: HistoryRow[];
};

/** One row of a history. Slots that were not recorded are counted, not omitted. */
export interface HistoryRow {
  /** The gap of the last recorded slot, or why there is no gap. */
  last?: GapPoint | null;
  /**
   * How far the pool's mid price was below the oracle price in that slot, percent. An infinitely
   * small sale would have lost this much before the fee.
   */
  last_basis_pct?: number | null;
  /** Among the slots whose liquidity the size exceeded, the one that could fill the least. */
  least_fillable?: FillablePoint | null;
  /** The lowest depth. */
  lowest_depth?: DepthPoint | null;
  /** Why the slot is missing. Only in rows of one slot. */
  missing_reason?: string | null;
  /** Slots without a snapshot. */
  slots_missing: number;
  /** Slots with a snapshot that was not retracted. */
  slots_recorded: number;
  /** Recorded slots in which the size had no gap: worse than any number. */
  slots_refused: number;
  /** Slots whose snapshot was retracted. */
  slots_retracted: number;
  /** The content of the slot. Only in rows of one slot. */
  state?: SlotState | null;
  /** Start of the row, RFC 3339. */
  time: string;
  /** The widest gap of the recorded slots that have a gap. Absent if none has a gap. */
  worst?: GapPoint | null;
}

/** The slots of one hour of the week. */
export interface HourOfWeek {
  /** The median gap, percent. `null` if that slot could not fill the size. */
  exit_gap_pct_q50?: number | null;
  /** The 95th percentile of the gap, percent. `null` in the same case. */
  exit_gap_pct_q95?: number | null;
  /** The hour, from 0 (Monday 00:00 to 01:00 UTC) to 167. */
  hour: number;
  /** Slots with a snapshot that was not retracted. */
  slots: number;
  /** Slots in which the size had no gap. */
  slots_refused: number;
  /** The number of weeks that these slots are from, counted back from the end of the period. */
  weeks: number;
  /** The worst slot; of equal ones, the earlier. */
  worst: GapPoint;
}

/** The closures of one kind in the period. */
export type HoursClosed = HoursSpread & {
  /**
   * `night`, `weekend`, or `holiday`: a Monday to Friday without trading, including an adjoining
   * weekend.
   */
  closure_kind: string;
  /** Whether there are enough closures. If not, the statistics are `null`. */
  enough: boolean;
  /** Closures of this kind with a recorded slot. */
  have: number;
  /** The number of closures needed. */
  needed: number;
  /**
   * The greatest reopening gap of these closures, percent. `null` if none is known, or there are
   * too few closures.
   */
  reopening_gap_pct_worst?: number | null;
  /** Whether their median depth is less than half of the median depth of the open market. */
  thin_when_closed?: boolean | null;
};

/** One closure of the period. */
export interface HoursClosure {
  /** When the market closed, RFC 3339. */
  closed_at: string;
  /** `night`, `weekend` or `holiday`. */
  closure_kind: string;
  /** The lowest depth at 2% during the closure, whole USD. */
  depth_usd_lowest?: number | null;
  /** URL of the evidence for the fill in the last closed slot. */
  evidence_url?: string | null;
  /** The last recorded closed slot, RFC 3339. */
  last_closed_slot: string;
  /** When it opens again, RFC 3339. */
  opens_at: string;
  /** The slot of the fresh rounds, RFC 3339. */
  reopened_slot?: string | null;
  /**
   * 100 × (1 − proceeds of the size in the last closed slot ÷ its oracle value in the first slot
   * with a fresh round of every feed of a token with a calendar). Positive: selling before the
   * opening was worse. Absent if one of the two slots is missing.
   */
  reopening_gap_pct?: number | null;
  /** Slots with a snapshot that was not retracted. */
  slots_recorded: number;
}

/**
 * The distribution of depths and gaps over some slots. `q50` and `q95` are nearest ranks: values
 * of the series.
 */
export interface HoursSpread {
  /** The lowest depth at 2%, whole USD. `null` if too little is recorded. */
  depth_usd_lowest?: number | null;
  /** The median depth at 2%, whole USD. `null` if too little is recorded. */
  depth_usd_q50?: number | null;
  /**
   * The median gap at the size, percent. `null` if the median slot could not fill the size, or
   * too little is recorded.
   */
  exit_gap_pct_q50?: number | null;
  /** The 95th percentile of the gap, percent. `null` in the same cases. */
  exit_gap_pct_q95?: number | null;
  /** Slots with a snapshot that was not retracted. */
  slots: number;
  /** Slots in which the size had no gap: worse than any number. */
  slots_refused: number;
}

/** A token's calendar and the session at the newest snapshot's block. */
export interface HoursToken {
  /** The calendar's name in snapshots: `xnys`, `xnys_extended`, `xnys_24x5` or `xnys_continuous`. */
  calendar: string;
  /** `regular`, `pre`, `after`, `overnight`, `weekend`, `holiday` or `unknown`. */
  state: string;
  /** SHA-256 of the text of the calendar's table. */
  table: string;
  /**
   * When the table ends, RFC 3339. After that the schedule is unknown, and the market counts as
   * closed.
   */
  table_ends: string;
  /** `token0` or `token1`. */
  token: string;
}

/** The length of a history's rows. */
export type Interval = '5m' | '1h' | '1d';

/** `GET /v1/exposure`. USD are whole. Coverages are ratios, rounded down. */
export type LiquidationExposure = LiquidationExposureOf & {
  /** Whether either amount is above zero, or some slot could not absorb the size. */
  bad_debt: boolean;
  /** The rating. */
  band: Band;
  /** The total depth at the break-even gap, after the drop, in the newest slot used. */
  break_even_depth_now_usd?: number | null;
  /** The median of that total. */
  break_even_depth_q50_usd?: number | null;
  /** The gap at which a liquidator breaks even, percent, rounded down. */
  break_even_gap_pct: number;
  /**
   * The slots in which a liquidator would have lost money, by cause. The counts do not depend on
   * `reference`. Absent in `exposure/1`.
   */
  causes?: FailuresByCause | null;
  /** The sum of the venues' lowest depths at 2% (possibly in different slots) ÷ `cascade_usd`. */
  coverage?: number | null;
  /** The lowest total depth at the break-even gap ÷ `cascade_usd`. */
  coverage_break_even?: number | null;
  /** The total depth at 2% in the newest slot used. */
  depth_now_usd?: number | null;
  /** The median of that total. */
  depth_q50_usd?: number | null;
  /** Whether enough is recorded for a rating. Partial results are shown in any case. */
  enough: boolean;
  /** Slots used: every venue has a snapshot that was not retracted. */
  have: number;
  /**
   * The smallest total amount that the venues could absorb, among the slots that could not
   * absorb the size.
   */
  least_fillable_usd?: number | null;
  /** Venues that cannot take part, because their kind cannot be moved to another price. */
  left_out?: VenueLeftOut[];
  /** The lowest of those totals. */
  lowest_break_even_depth_usd?: number | null;
  /** The first slot with that total, RFC 3339. */
  lowest_break_even_time?: string | null;
  /** The number of slots needed. */
  needed: number;
  /** The loss of liquidators at the widest gap, compared with what they repay, rounded up. */
  shortfall_usd?: number | null;
  /** Slots with a snapshot of some venues only. Their depth is unknown, not zero. */
  slots_incomplete: number;
  /** Slots of the period without a snapshot of any venue. */
  slots_missing: number;
  /** Slots in which a computation was given up. */
  slots_unanswered: number;
  /** Slots in which the venues together could not absorb the size. */
  slots_unfillable: number;
  /** Live or preview. */
  status: Status;
  /**
   * The part that could not have been liquidated profitably in the slot of the lowest depth,
   * rounded up.
   */
  stranded_usd?: number | null;
  /** One entry per venue that takes part, in the order of the request. */
  venues: LiquidationVenue[];
  /**
   * The widest gap of the optimal split over the venues, percent. Only slots that could absorb
   * the size count.
   */
  worst_gap_pct?: number | null;
  /** The first slot with that gap, RFC 3339. */
  worst_time?: string | null;
};

/** The parameters and sources of an exposure report. */
export type LiquidationExposureOf = Exactness & {
  /** The liquidation bonus, percent. */
  bonus_pct: number;
  /** The liquidation size, USD at the oracle price after the drop. */
  cascade_usd: number;
  /** The length of the shortest series of the venues. */
  days_observed: number;
  /** The price drop of the token sold, applied in every slot, percent. */
  fall_pct: number;
  /** The version of the method: `exposure/2`, or `exposure/1` from a service before it. */
  figure: string;
  /**
   * URL of the figure file. Anyone can recompute the report from this file and the snapshots
   * that it names.
   */
  figure_url: string;
  /** The first slot used, RFC 3339. */
  from: string;
  /** The method, disclosed. */
  method: SeriesMethod;
  /** The version of the method behind each fill. */
  method_version: string;
  /** The protocol's share of the bonus, percent. */
  protocol_fee_pct: number;
  /**
   * The price that depths, gaps and the rating are measured from: `oracle`, or `mid`, the pools'
   * own mid prices. Absent in `exposure/1`, which knows the oracle price only.
   */
  reference?: string | null;
  /** The last slot used, RFC 3339. */
  to: string;
};

/** A pool that the collateral is sold in. */
export interface LiquidationVenue {
  /** `token0` or `token1`: the token sold. */
  base: string;
  /** The first slot with that depth, RFC 3339. */
  lowest_depth_time?: string | null;
  /** The lowest depth at 2%, before the price drop, whole USD. `null` if no slot was used. */
  lowest_depth_usd?: number | null;
  /** The pool. */
  pool: string;
}

/** The check of whether logs are complete. */
export type LogsCheckedBy = 'blooms' | 'receipts' | 'unproven';

/** How the logs of a slot were checked for being complete. */
export interface LogsStatus {
  /** The check. */
  checked_by: LogsCheckedBy;
  /** Why they are unproven: until the next full reading, at most an hour later, a log that the node left out is not found. */
  unproven_because?: string | null;
}

/** The slot of the last seven days with the lowest depth. */
export interface LowestDepth {
  /** How far the pool's mid price was below the oracle price at that time, percent. */
  basis_pct?: number | null;
  /** Depth at 2%, whole USD. */
  depth_usd: number;
  /** The slot number. */
  slot: number;
  /** Slots without a snapshot in the seven days up to this slot. */
  slots_missing_7d: number;
  /** The time of the slot, RFC 3339. */
  time: string;
}

/** `GET /v1/hours/{pool}`. */
export type MarketHours = SeriesOf & {
  /** The newest snapshot's block, RFC 3339. Statements about the present refer to this block. */
  block_time: string;
  /** Statistics while it was closed, by kind. */
  closed: HoursClosed[];
  /** Seconds until the market closes. `null` if it is closed, or never closes. */
  closes_in_s?: number | null;
  /**
   * The current or next closure: `night`, `weekend` or `holiday`. `null` if there is none, or it
   * is unknown.
   */
  closure_kind?: string | null;
  /** The duration of that closure, seconds. */
  closure_length_s?: number | null;
  /** Each closure of the period with a recorded slot, ascending. */
  closures: HoursClosure[];
  /** Whether enough closures of that kind are recorded. Also true if there is no next closure. */
  enough: boolean;
  /** URL of the figure file. Anyone can recompute `open`, `closed` and `closures` from this file. */
  figure_url: string;
  /** Closures of that kind with a recorded slot. */
  have: number;
  /** Whether the markets of both tokens are open. */
  market_open: boolean;
  /** The number of closures needed. 0 if the market never closes. */
  needed: number;
  /** Statistics while the market was open. */
  open: HoursSpread;
  /** Seconds until the market opens. `null` if it is open, or the opening is unknown. */
  opens_in_s?: number | null;
  /** How reliable the oracle answers are. */
  oracle_state: OracleState;
  /** The market session. `continuous` for assets without a calendar. */
  session_note: string;
  /** The tokens with a calendar. Empty: the market is open around the clock. */
  sessions: HoursToken[];
  /**
   * Slots of the period without a snapshot, or with a retracted one. What happened in them is
   * unknown.
   */
  slots_missing: number;
  /** Slots for which no table shows whether the market was open. */
  slots_unknown: number;
  /** Seconds since the newest snapshot's slot. */
  snapshot_age_s: number;
  /**
   * Whether the median depth in closures of that kind is less than half of the median depth of
   * the open market. `null` if unknown.
   */
  thin_when_closed?: boolean | null;
};

/** The largest exit within a gap limit. */
export interface MaxSize {
  /** `gap`, `liquidity` (the pool's liquidity ends first) or `size_bound`. */
  limited_by: string;
  /**
   * The largest raw amount of the base token within the limit, usually slightly above
   * `max_size_usd`.
   */
  max_amount_in_raw: string;
  /** The amount that the pool pays for it, raw units of the quote token. */
  max_amount_out_raw: string;
  /** The largest size whose own estimate is within the limit, USD. Zero if there is none. */
  max_size_usd: number;
}

/** The method behind a result, disclosed. */
export interface Method {
  /** The size that the figure is for. Absent if the size is the answer. */
  assumed_size_usd?: number | null;
  /** Where the depth was read. */
  depth_source: DepthSource;
  /** Every oracle answer used. */
  oracles: OracleDisclosure[];
}

/** The effect of the greatest price fall in a recorded period. */
export interface NamedShock {
  /** The operator's description. */
  about: string;
  /** The token whose price fell, as configured by the operator. */
  base?: string | null;
  /** How far the mid price fell, percent: the `fall_pct` of a stress test. At most 99. */
  fall_pct?: number | null;
  /** URL of the figure file behind this shock. */
  figure_url?: string | null;
  /** The first slot used, RFC 3339. */
  from: string;
  /** The gap at which depth is measured, percent. */
  gap_pct: number;
  /**
   * The greatest share of the depth that was missing at any horizon after the move, beyond the
   * effect of the fall alone, percent: the `haircut_pct` of a stress test. At most 99.
   */
  haircut_pct?: number | null;
  /** How far the pool's mid price must have moved to count, percent. */
  move_pct: number;
  /** The name of the shock: lower-case letters, digits and hyphens. */
  name: string;
  /** The pool of the observation. */
  pool: string;
  /**
   * The slot of the greatest fall, RFC 3339; the first if there are several. `null` if there is
   * none.
   */
  time?: string | null;
  /** The last slot used, RFC 3339. */
  to: string;
  /** Why there is no fall: the code of a problem, or `no_fall`. */
  why_not?: string | null;
  /** The number of slots within which it must have moved. */
  within_slots: number;
}

/** `GET /v1/shocks`: shocks named by the operator, as input for a stress test. */
export interface NamedShocks {
  /** The shocks, in the order of the configuration. Empty if the operator configured none. */
  shocks: NamedShock[];
}

/** One oracle answer behind a result. */
export interface OracleDisclosure {
  /** Seconds from the answer to the block. For a sequencer, how long it has been up or down. */
  age_s?: number | null;
  /** The answer, raw. */
  answer_raw: string;
  /** The decimals of the answer. */
  decimals: number;
  /** The feed's address. */
  feed?: string | null;
  /**
   * `token0_usd` or `token1_usd`: the price that this answer is a factor of. `sequencer_uptime`:
   * whether the chain's sequencer is up (0) or down (1).
   */
  role: string;
  /** `chainlink` or `fixed`. */
  source: string;
  /**
   * Whether the age exceeds the feed's heartbeat. For a sequencer, whether it is down, or has
   * been up for no longer than its grace period.
   */
  stale: boolean;
}

/**
 * How far the oracle price was above the pool's own price in the 2,016 slots (7 days) up to a
 * slot.
 */
export interface OracleLead7d {
  /** The largest lead, percent of the oracle price. 0 if the oracle was never ahead. */
  largest_pct: number;
  /** The first slot with that lead, RFC 3339. */
  largest_time?: string | null;
  /** The limit above which slots are counted, percent. */
  limit_pct: number;
  /** The first slot of that run, RFC 3339. */
  longest_run_from?: string | null;
  /** The longest run of consecutive slots above the limit. */
  longest_run_slots: number;
  /** Slots with a lead above the limit. */
  slots_above: number;
}

/** How reliable the oracle answers are. */
export type OracleState = 'fresh' | 'held_over_close' | 'stale';

/** One order of a simulated exit. */
export interface OrderFill {
  /** Raw units of the base token sold. */
  amount_in_raw: string;
  /** Raw units of the quote token bought. */
  amount_out_raw: string;
  /** The order's own gap, percent. */
  exit_gap_pct: number;
  /** The number of the order, from 1. */
  order: number;
}

/** `GET /v1/payments`. */
export interface Payments {
  /** The token's address. */
  asset: string;
  /** A description of what the price buys. */
  buys: string;
  /** The token's symbol. */
  currency: string;
  /**
   * The number of free estimates per client and UTC day, through the agent tools and as
   * portfolio positions.
   */
  free_estimates_per_day: number;
  /** The chain's CAIP-2 id. */
  network: string;
  /** The recipient. */
  pay_to: string;
  /** The price, in whole tokens. */
  price: string;
  /** The price in raw units of the token. */
  price_units: string;
  /** What is charged for. */
  priced: string[];
  /** The key that signs receipts. It has no other use. */
  receipt_key: ReceiptJwk;
}

/** The sale of several tokens, and what it brings. */
export type PlanAnswer = CashPlan & Exactness & {
  /** The length of the shortest series of the legs' pools, days. */
  days_observed: number;
  /** URL of the figure file that proves the plan, what it brings, and the bound. */
  evidence_url: string;
  /** Whether the markets of the tokens of all legs are open. */
  market_open: boolean;
  /** The method, disclosed. Its window is that of the leg with the shortest series. */
  method: SeriesMethod;
  /** How reliable the oracle answers of the legs' pools are: the worst of them. */
  oracle_state: OracleState;
  /** The market session: of a leg whose market is closed, if there is one. */
  session_note: string;
};

/** A token held, and how much a plan sells. */
export interface PlanSold {
  /** The amount that the plan sells, raw units: everything, or what the pools take. */
  amount_in_raw: string;
  /** USD per whole token, according to the oracle. */
  oracle_price_usd: number;
  /** The size of all positions in it, USD. */
  size_usd: number;
  /** The token. */
  token: TokenLabel;
  /** The part that the pools do not take, USD. */
  unfilled_usd: number;
}

/**
 * The accuracy record of a recorded pool: `GET /v1/accuracy/{pool}`. Its swaps come from the
 * documents that the pool's heads commit to.
 */
export type PoolAccuracy = AccuracyRecord & Exactness & {
  /** Days of snapshots up to the pool's newest snapshot, at 288 slots a day. */
  days_observed: number;
  /** The number of documents that the swaps were read from … */
  documents: number;
  /** URL of the figure file. Anyone can recompute the record from this file. */
  figure_url: string;
  /** … and their URL, starting at the first slot. */
  fills_url: string;
  /** The method, disclosed. Its window counts the slots of the record. */
  method: SeriesMethod;
  /** The version of the method behind the estimates. */
  method_version: string;
  /**
   * Later slots of the period, recorded and not retracted, whose swaps no head commits to yet:
   * their blocks are not final, or their logs were not read.
   */
  slots_waiting: number;
};

/** A pool's own price in a slot and the depth around that price, independent of the oracle. */
export interface PoolBook {
  /**
   * How far the pool's mid price was below the oracle price, percent. Negative: above. `null` if
   * it is out of bounds.
   */
  basis_pct?: number | null;
  /**
   * The depth at 2% from the pool's own mid price, whole USD at the oracle price. `null` if its
   * computation was given up.
   */
  book_usd?: number | null;
}

/** One monitored pool. */
export interface PoolEntry {
  /** The token sold unless the caller chooses the other. Absent before the first snapshot. */
  base?: TokenLabel | null;
  /** The chain's slug. */
  chain: string;
  /** Recorded slots ÷ 288. */
  days_observed: number;
  /**
   * The fee that the pool charges on a sale in the newest snapshot, percent. Absent if it
   * depends on the sale; `name` then shows how.
   */
  fee_pct?: number | null;
  /** Time of the newest slot, RFC 3339. */
  last_slot: string;
  /** Why the newest slot is missing. Absent if it is recorded. */
  last_slot_missing?: string | null;
  /**
   * Venue and fee, `Uniswap v3 0.05%`. No two pools of one chain and pair have the same name.
   * Absent before the first snapshot.
   */
  name?: string | null;
  /** The pool's identifier, `<chain>:<address>`. */
  pool: string;
  /** The other token. Absent before the first snapshot. */
  quote?: TokenLabel | null;
  /** Start of the pool's series, RFC 3339. */
  series_start: string;
  /** Slots without a snapshot. */
  slots_missing: number;
  /** Slots with a snapshot. */
  slots_recorded: number;
  /** Live or preview. Absent before the first snapshot. */
  status?: Status | null;
  /** The venue. Absent if the pool's factory is not known, or before the first snapshot. */
  venue?: string | null;
}

/** All monitored pools, in the order of their identifiers. */
export interface PoolList {
  /** The cursor of the next page. Absent on the last page and if there are no pages. */
  next_cursor?: string | null;
  /** The pools. */
  pools: PoolEntry[];
}

/** `GET /v1/portfolio`. */
export interface Portfolio {
  /** The exits of positions that name a pool, in the order of their first position. */
  exits: PortfolioExit[];
  /** The sales of tokens held, one plan for each chain, in the order of their first position. */
  plans: PortfolioPlan[];
  /** The positions, as requested. */
  positions: Position[];
  /** The totals. */
  total: PortfolioTotal;
  /**
   * The index of the worst exit: one that cannot be filled, otherwise the one with the widest
   * gap. Null if no position names a pool.
   */
  worst_exit?: number | null;
}

/** All positions in one pool and direction, sold together. */
export interface PortfolioExit {
  /** `token0` or `token1`: the token sold. */
  base: string;
  /** The pool's identifier. */
  pool: string;
  /** Why there is no exit. */
  problem?: Problem | null;
  /** The exit. Absent if the size cannot be filled. */
  result?: Published_Amounts | null;
  /** The sum of the positions, USD. */
  size_usd: number;
  /** The part that cannot be filled, USD. */
  unfilled_usd: number;
}

/** One plan for all tokens of a chain that are held. */
export interface PortfolioPlan {
  /**
   * `not_configured` if the request is for cash and the operator configured none for this chain.
   * The sale then ends in any token in which a pool pays for a token sold, as with `any`.
   */
  cash?: string | null;
  /** The chain's slug. */
  chain: string;
  /** What the sale must end in, as requested. */
  into: string;
  /** Pools of the chain that are not part of the search or of its bound, and why. */
  left_out: SplitLeftOut[];
  /** What is not counted. */
  not_counted: string[];
  /** Why not everything can be filled. */
  problem?: Problem | null;
  /** The sale of what can be filled. Absent if nothing can. */
  result?: PlanAnswer | null;
  /** The size of all of them, USD. */
  size_usd: number;
  /** The slot number. All pools are used as they were at this slot. */
  slot: number;
  /** The time of the slot, RFC 3339. */
  slot_time: string;
  /** Seconds since the slot. */
  snapshot_age_s: number;
  /** The tokens held, ascending by address, each with all of its positions. */
  sold: PlanSold[];
  /** The part that cannot be filled, USD. */
  unfilled_usd: number;
}

/** The totals over all exits and plans. */
export interface PortfolioTotal {
  /**
   * The length of the shortest series of all exits and legs. The totals are no more reliable than
   * that one.
   */
  days_observed: number;
  /**
   * URLs of the evidence for the gaps behind the means and for the parts that cannot be filled:
   * of every exit, in the order of `exits`, then the figure file of every plan.
   */
  evidence_urls: string[];
  /**
   * The mean of the gaps of exits and plans, weighted by size, percent. A token that is cash
   * already has no gap and counts as 0. Null if something cannot be filled.
   */
  exit_gap_pct?: number | null;
  /** The same mean over the part that can be filled. Null if nothing can be filled. */
  filled_gap_pct?: number | null;
  /** The method, disclosed. Its window is that of the shortest series. */
  method: SeriesMethod;
  /** The version of the method behind the figures. */
  method_version: string;
  /** All positions, USD. */
  size_usd: number;
  /** Preview if any exit or plan is preview. */
  status: Status;
  /** The part that cannot be filled, USD. */
  unfilled_usd: number;
}

/** One position of a portfolio. */
export interface Position {
  /** `token0` or `token1`: the token sold in that pool. */
  base?: string | null;
  /**
   * The index in `exits` of the exit that sells this position, from 0, together with other
   * positions in the pool. Empty if a token is held.
   */
  exits: number[];
  /** True if the token is one of those that the sale must end in: it is not sold. */
  is_cash?: boolean;
  /** The index in `plans` of the plan that sells this token, from 0. */
  plan?: number | null;
  /** The pool's identifier. Absent if a token is sold through all its pools. */
  pool?: string | null;
  /**
   * Why this token is not sold: no path of the recorded pools leads from it to what the sale must
   * end in. The other positions are sold without it.
   */
  problem?: Problem | null;
  /** The position's size, USD. */
  size_usd: number;
  /** The token held, `<chain>/<token>`. It is sold for cash, together with the other tokens. */
  token?: string | null;
}

/** An error document. */
export interface Problem {
  /** The stable code. */
  code: ProblemCode;
  /** The cause, in one sentence. */
  detail: string;
  /** URL of the evidence that the size cannot be filled. */
  evidence_url?: string | null;
  /** The parameter at fault. */
  field?: string | null;
  /** What to do, if known. */
  hint?: string | null;
  /** The largest size that can be filled, USD. */
  max_fillable_usd?: number | null;
  /** The stable reason behind a missing slot or an unreadable chain. */
  reason?: string | null;
  /** The size that cannot be filled, USD. */
  size_usd?: number | null;
}

/** Stable codes of all errors. */
export type ProblemCode = 'invalid_parameter' | 'invalid_pool' | 'unknown_pool' | 'unknown_base' | 'unknown_token' | 'no_snapshot_yet' | 'slot_missing' | 'slot_retracted' | 'before_series' | 'after_series' | 'rounds_to_no_input' | 'rounds_to_no_output' | 'beyond_liquidity' | 'gap_out_of_range' | 'search_exhausted' | 'sizing_not_exact' | 'orders_not_exact' | 'figure_unsupported_kind' | 'chain_unreadable' | 'proof_out_of_reach' | 'proofs_not_served' | 'unsupported_layout' | 'proof_too_wide' | 'block_not_canonical' | 'source_unreadable' | 'unknown_parameter' | 'unknown_chain' | 'period_reversed' | 'unknown_method_version' | 'not_live' | 'series_too_short' | 'snapshot_too_old' | 'not_available' | 'not_found' | 'method_not_allowed' | 'address_too_long' | 'body_not_accepted' | 'rate_limited' | 'token_required' | 'unknown_alert' | 'request_differs' | 'too_many_alerts' | 'alerts_full' | 'payment_required' | 'payment_malformed' | 'payment_used' | 'payment_pending' | 'payments_unavailable' | 'free_estimates_used' | 'timed_out' | 'internal_error';

/** A problem over HTTP. */
export type ProblemDocument = Problem & {
  /** The id of this answer in the service's log. */
  request_id: string;
  /** The HTTP status. */
  status: number;
  /** A title for the type, the same each time. */
  title: string;
  /** The type of problem: `urn:exitgap:problem:<code>`. */
  type: string;
};

/** An answer, as published by the service. */
export type Published_Amounts = Answer_Amounts & DepthWeek & {
  /**
   * URL of the evidence for this number: for a simulation, the sale at once; for a largest size,
   * its exit. Absent if rows have their own, or nothing can be proven.
   */
  evidence_url?: string | null;
  /**
   * The lowest depth at 2% of the 2,016 slots (7 days) up to the result's slot, USD, in the
   * result's direction. Absent if no slot has a depth.
   */
  lowest_depth_7d_usd?: number | null;
  /**
   * If slots after the result's are missing or retracted: URL of the pool's heads up to the
   * newest sealed slot, which show that. `exitgap verify --window` takes them together with the
   * evidence.
   */
  newer_heads_url?: string | null;
  /** Seconds from the slot's time to this answer. */
  snapshot_age_s: number;
  /** URL of the snapshot behind the answer, canonical bytes. */
  snapshot_url: string;
  /**
   * URL of the pool's heads of the seven days up to the slot. They confirm `days_observed`, the
   * window and `lowest_depth_7d_usd`. They do not commit to `lowest_book_7d_usd`.
   */
  window_url: string;
};

/** An answer, as published by the service. */
export type Published_GapRung = Answer_GapRung & DepthWeek & {
  /**
   * URL of the evidence for this number: for a simulation, the sale at once; for a largest size,
   * its exit. Absent if rows have their own, or nothing can be proven.
   */
  evidence_url?: string | null;
  /**
   * The lowest depth at 2% of the 2,016 slots (7 days) up to the result's slot, USD, in the
   * result's direction. Absent if no slot has a depth.
   */
  lowest_depth_7d_usd?: number | null;
  /**
   * If slots after the result's are missing or retracted: URL of the pool's heads up to the
   * newest sealed slot, which show that. `exitgap verify --window` takes them together with the
   * evidence.
   */
  newer_heads_url?: string | null;
  /** Seconds from the slot's time to this answer. */
  snapshot_age_s: number;
  /** URL of the snapshot behind the answer, canonical bytes. */
  snapshot_url: string;
  /**
   * URL of the pool's heads of the seven days up to the slot. They confirm `days_observed`, the
   * window and `lowest_depth_7d_usd`. They do not commit to `lowest_book_7d_usd`.
   */
  window_url: string;
};

/** An answer, as published by the service. */
export type Published_LadderRows = Answer_LadderRows & DepthWeek & {
  /**
   * URL of the evidence for this number: for a simulation, the sale at once; for a largest size,
   * its exit. Absent if rows have their own, or nothing can be proven.
   */
  evidence_url?: string | null;
  /**
   * The lowest depth at 2% of the 2,016 slots (7 days) up to the result's slot, USD, in the
   * result's direction. Absent if no slot has a depth.
   */
  lowest_depth_7d_usd?: number | null;
  /**
   * If slots after the result's are missing or retracted: URL of the pool's heads up to the
   * newest sealed slot, which show that. `exitgap verify --window` takes them together with the
   * evidence.
   */
  newer_heads_url?: string | null;
  /** Seconds from the slot's time to this answer. */
  snapshot_age_s: number;
  /** URL of the snapshot behind the answer, canonical bytes. */
  snapshot_url: string;
  /**
   * URL of the pool's heads of the seven days up to the slot. They confirm `days_observed`, the
   * window and `lowest_depth_7d_usd`. They do not commit to `lowest_book_7d_usd`.
   */
  window_url: string;
};

/** An answer, as published by the service. */
export type Published_RedemptionWindow = Answer_RedemptionWindow & DepthWeek & {
  /**
   * URL of the evidence for this number: for a simulation, the sale at once; for a largest size,
   * its exit. Absent if rows have their own, or nothing can be proven.
   */
  evidence_url?: string | null;
  /**
   * The lowest depth at 2% of the 2,016 slots (7 days) up to the result's slot, USD, in the
   * result's direction. Absent if no slot has a depth.
   */
  lowest_depth_7d_usd?: number | null;
  /**
   * If slots after the result's are missing or retracted: URL of the pool's heads up to the
   * newest sealed slot, which show that. `exitgap verify --window` takes them together with the
   * evidence.
   */
  newer_heads_url?: string | null;
  /** Seconds from the slot's time to this answer. */
  snapshot_age_s: number;
  /** URL of the snapshot behind the answer, canonical bytes. */
  snapshot_url: string;
  /**
   * URL of the pool's heads of the seven days up to the slot. They confirm `days_observed`, the
   * window and `lowest_depth_7d_usd`. They do not commit to `lowest_book_7d_usd`.
   */
  window_url: string;
};

/** An answer, as published by the service. */
export type Published_Simulation = Answer_Simulation & DepthWeek & {
  /**
   * URL of the evidence for this number: for a simulation, the sale at once; for a largest size,
   * its exit. Absent if rows have their own, or nothing can be proven.
   */
  evidence_url?: string | null;
  /**
   * The lowest depth at 2% of the 2,016 slots (7 days) up to the result's slot, USD, in the
   * result's direction. Absent if no slot has a depth.
   */
  lowest_depth_7d_usd?: number | null;
  /**
   * If slots after the result's are missing or retracted: URL of the pool's heads up to the
   * newest sealed slot, which show that. `exitgap verify --window` takes them together with the
   * evidence.
   */
  newer_heads_url?: string | null;
  /** Seconds from the slot's time to this answer. */
  snapshot_age_s: number;
  /** URL of the snapshot behind the answer, canonical bytes. */
  snapshot_url: string;
  /**
   * URL of the pool's heads of the seven days up to the slot. They confirm `days_observed`, the
   * window and `lowest_depth_7d_usd`. They do not commit to `lowest_book_7d_usd`.
   */
  window_url: string;
};

/** A slot, and how many of the other recorded slots of the period were worse and better. */
export type RankedSlot = GapPoint & {
  /** Other slots with a smaller gap. */
  slots_better: number;
  /** Other slots with the same gap. */
  slots_equal: number;
  /** Other slots with a wider gap, or that could fill less. */
  slots_worse: number;
  /** The worse ones in percent of the others. `null` if there are no others. */
  worse_pct?: number | null;
};

/** The public key in the format in which others read and write it. */
export interface ReceiptJwk {
  /** `EdDSA`. */
  alg?: string | null;
  /** `Ed25519`. */
  crv: string;
  /**
   * The key id: the base64url of its thumbprint, the SHA-256 of
   * `{"crv":"Ed25519","kty":"OKP","x":"…"}`.
   */
  kid?: string | null;
  /** `OKP`. */
  kty: string;
  /** The key's 32 bytes, base64url. */
  x: string;
}

/** A fact of the snapshot that a redemption depends on. */
export interface RedemptionFact {
  /** The call data. */
  call: string;
  /** The contract called. */
  contract: string;
  /** The name of the fact in the snapshot. */
  name: string;
  /**
   * The meaning: `capacity` and `ahead`, in the token's smallest units; `capacity_asset`, and
   * `nav` of one whole token, in the smallest units of the asset; `fee`; `paused`, any value
   * except zero.
   */
  says: string;
  /** The first 32-byte word of the answer, as a whole number. */
  word_raw: string;
}

/** One way to redeem a size. */
export interface RedemptionPath {
  /**
   * `100 × (receives_usd - receives_now_usd) ÷ receives_now_usd`: positive if redeeming pays
   * more.
   */
  advantage_pct?: number | null;
  /** The same over `t_max_s`. */
  break_even_annual_pct_at_t_max?: number | null;
  /**
   * The advantage as a simple yearly rate, percent, over `t_min_s`. Redeeming pays if your cost
   * of money is below this rate. `null` without a waiting time.
   */
  break_even_annual_pct_at_t_min?: number | null;
  /** The maximum redemption, USD. `null`: no limit, or in the same case as `fee_pct`. */
  capacity_usd?: number | null;
  /** Who may redeem, according to the terms. */
  eligibility: string;
  /**
   * The facts behind this path, read at the snapshot's block. All other numbers are from the
   * terms.
   */
  facts?: RedemptionFact[];
  /**
   * The redemption fee, percent. `null` if a fact would give it and `refusal` shows why it does
   * not.
   */
  fee_pct?: number | null;
  /**
   * `at_once`; `on_days`: at the close of trading days after a cut-off; `in_turn`: in a queue,
   * after earlier requests.
   */
  kind: string;
  /** The minimum redemption, USD. */
  minimum_usd: number;
  /**
   * The payment per whole token before the fee, USD, according to a fact, rounded down. Absent
   * if it is the oracle price.
   */
  pays_usd?: number | null;
  /**
   * For a queue: whether those payments are how much its recorded lengths fell per day in the
   * last seven days, instead of the terms.
   */
  per_day_recorded?: boolean;
  /**
   * For a queue: the payments per day, USD: minimum, middle, maximum. `null` in the same case as
   * `fee_pct`.
   */
  per_day_usd?: number[] | null;
  /**
   * The proceeds of both, USD, at the oracle price or at `pays_usd`. `null` if the rest cannot
   * be sold.
   */
  receives_usd?: number | null;
  /** The amount redeemed, USD: the size, or the capacity. */
  redeemed_usd?: number | null;
  /**
   * Why redemption is not possible under these terms: `below_minimum`; `unknown_days`, beyond
   * the calendar's table; `paused`, according to a fact; `fact_missing`, the snapshot lacks a
   * fact that the terms name; `fact_invalid`, a fee of more than 100%, or a token that pays
   * nothing; `asset_unknown`, the asset paid is not a token of the pool; `pace_unknown`, the
   * queue's lengths of seven days are not known.
   */
  refusal?: string | null;
  /** The rest, sold now, USD. */
  sold_usd?: number | null;
  /** The maximum waiting time, seconds. */
  t_max_s?: number | null;
  /** For a queue: the waiting time at its middle pace, seconds. */
  t_middle_s?: number | null;
  /** The minimum waiting time, seconds. `null`: no payment is possible. */
  t_min_s?: number | null;
  /** When the terms were read, `YYYY-MM-DD`. */
  terms_read_on: string;
  /** The SHA-256 of the file of terms, 0x-prefixed. */
  terms_sha256: string;
  /** The source of the terms. */
  terms_source: string;
}

/** A retraction. */
export interface RetractionNotice {
  /** The slot whose head retracts it. */
  by_slot: number;
  /** The hash of the block in its place, if it was orphaned. */
  canonical_block_hash?: string | null;
  /**
   * `orphaned`: its block is not on the final chain; `misread`: a later full reading proved its
   * ticks wrong.
   */
  code: string;
  /** The hash of the snapshot's block, if it was orphaned. */
  orphaned_block_hash?: string | null;
}

/** `GET /v1/routes/{chain}/{token}`. */
export type Routes = BestSplit & {
  /** The chain's slug. */
  chain: string;
  /**
   * The length of the shortest series of the legs. The figures are no more reliable than that
   * leg.
   */
  days_observed: number;
  /**
   * Whether the amounts are what a holder sends and receives. `false` if a token takes a fee on
   * transfer, as logs of swaps of a leg's pool showed: the exit is then worse than computed.
   */
  exact: boolean;
  /** Why the amounts are not exact, if they are not: `token_taxed`. */
  inexact_because?: string | null;
  /** The same reason as a sentence that names the tokens. */
  inexact_detail?: string | null;
  /** Whether the markets of the tokens of all legs are open. */
  market_open: boolean;
  /** The method, disclosed. Its window is that of the leg with the shortest series. */
  method: SeriesMethod;
  /** USD per whole token sold, according to the oracle. */
  oracle_price_usd: number;
  /** How reliable the oracle answers are: the worst of the legs' pools. */
  oracle_state: OracleState;
  /** The requested quote group. Only pools that buy a token of the group were used. */
  quote_group?: string | null;
  /**
   * The quote groups of the chain that can be requested, such as `usd`. Without one, a leg may
   * end in any token, valued at its oracle price.
   */
  quote_groups?: string[];
  /** The market session: of a leg whose market is closed, if there is one. */
  session_note: string;
  /** The slot number. All venues are compared at this slot. */
  slot: number;
  /** The time of the slot, RFC 3339. */
  slot_time: string;
  /** Seconds since the slot. */
  snapshot_age_s: number;
  /** The token sold. */
  token: TokenLabel;
};

/** The order of a history's rows. */
export type RowOrder = 'asc' | 'desc';

/** The method behind figures of several slots. [`crate::Method`] is the same for a single answer. */
export interface SeriesMethod {
  /** The size of the figures, USD. Absent if each figure names its own. */
  assumed_size_usd?: number | null;
  /** Where their depth was read. */
  depth_source: SeriesSource;
  /** The slots used. */
  window: Window;
}

/** The parameters and sources of a series. */
export type SeriesOf = Exactness & {
  /** `token0` or `token1`: the token sold. */
  base: string;
  /**
   * Recorded slots ÷ 288 of the pool's whole series up to `to`. The period is a part of that
   * series.
   */
  days_observed: number;
  /** Time of the first slot used, RFC 3339. */
  from: string;
  /** The method, disclosed. Its window counts only the slots of these figures. */
  method: SeriesMethod;
  /** The version of the method behind the figures. */
  method_version: string;
  /** The pool's identifier. */
  pool: string;
  /** The standard size, USD. */
  size_usd: number;
  /** Live or preview. */
  status: Status;
  /** Time of the last slot used, RFC 3339. */
  to: string;
};

/**
 * Where the depth of several slots was read. The evidence of each slot has its own block, snapshot
 * and oracles.
 */
export interface SeriesSource {
  /** The chain's slug. Absent if the figures are from several chains. */
  chain?: string | null;
  /** The source of the depth. */
  kind: DepthSourceKind;
}

/** A row by size: its fill, or why the size cannot be filled. */
export interface SizeRung {
  /** URL of the evidence for the exit, or that the size cannot be filled, if a service answers. */
  evidence_url?: string | null;
  /** The exit of that size. */
  exit?: Amounts | null;
  /** Why there is no exit. */
  problem?: Problem | null;
  /** The size, USD. */
  size_usd: number;
  /** A smaller size with a larger gap, USD: the fee of this pool depends on the size. */
  worse_below_usd?: number | null;
}

/** The content of a series at a slot. */
export type SlotState = 'recorded' | 'missing' | 'retracted' | 'retired';

/** The current status of a sealed slot, separate from its evidence. */
export interface SlotStatus {
  /**
   * If the ticks are in doubt: the slot whose full reading of the pool differed from the state
   * followed until then.
   */
  doubted_by_slot?: number | null;
  /**
   * How the logs that name changed ticks were checked for being complete. Only from the service that recorded the slot, for
   * about a day and until it is started again.
   */
  logs?: LogsStatus | null;
  /** Why the slot is missing. */
  missing_reason?: string | null;
  /** The pool's identifier. */
  pool: string;
  /**
   * The retraction, if the slot was retracted because its block was orphaned or its ticks were
   * misread.
   */
  retraction?: RetractionNotice | null;
  /** The slot number. */
  slot: number;
  /** The time of the slot, RFC 3339. */
  slot_time: string;
  /** The content of the series at the slot. */
  state: SlotState;
}

/** The whole exit in one venue. */
export interface SplitAlone {
  /** Why the venue cannot fill the size: a code such as `beyond_liquidity`. */
  code?: string | null;
  /** URL of the evidence for this result. */
  evidence_url?: string | null;
  /**
   * The gap of selling everything here, percent, after the fixed cost. `null` if the venue
   * cannot fill the size.
   */
  exit_gap_pct?: number | null;
  /** The largest size that the venue fills, USD. Present if that is the reason. */
  max_fillable_usd?: number | null;
  /** The venue and fee. */
  name: string;
  /** The pool. */
  pool: string;
  /** SHA-256 of the snapshot behind this result and the leg of this pool. */
  snapshot_hash?: string | null;
}

/** A venue that is not part of the split. */
export interface SplitLeftOut {
  /**
   * Why: `not_concave`, `oracle_differs`, `gap_out_of_range`, `too_many_venues`, `slot_missing`
   * or `no_snapshot_yet`. For pools of a tokenized stock: `too_many_venues`, or the code of a
   * problem.
   */
  code: string;
  /** The same reason as a sentence. */
  detail: string;
  /** The pool. */
  pool: string;
}

/** One venue's share of an exit. Each share is a sale with its own evidence. */
export interface SplitLeg {
  /** Raw units of the token sold. */
  amount_in_raw: string;
  /** Raw units of the token bought: the amount that the contract pays. */
  amount_out_raw: string;
  /** `token0` or `token1`: the token sold, by its position in that pool. */
  base: string;
  /** URL of the evidence for this leg. */
  evidence_url?: string | null;
  /** The gap of this leg, percent: exact. Positive is worse than the oracle. */
  exit_gap_pct: number;
  /** The fixed cost of using the venue, USD. */
  fixed_cost_usd: number;
  /** The venue and fee. */
  name: string;
  /** The pool. */
  pool: string;
  /** The token bought. */
  quote: TokenLabel;
  /** The size sold here, USD. The sizes of all legs add up to the requested size. */
  size_usd: number;
}

/**
 * The parts of a gap: `1 − gap = (1 − basis) × (1 − fee) × (1 − impact)`, each rounded to six
 * decimals separately.
 */
export interface SplitPct {
  /** How far the pool's mid price is below the oracle price, percent. */
  basis_pct: number;
  /** The pool's fee, percent. */
  fee_pct: number;
  /** The price impact, percent. */
  impact_pct: number;
}

/** The gap at one standard size. */
export interface StandardGap {
  /** URL of the evidence for the gap. */
  evidence_url?: string | null;
  /** The gap, percent. Absent if the size has no gap. */
  exit_gap_pct?: number | null;
  /** The largest size that can be filled, USD, if the requested size exceeds the liquidity. */
  max_fillable_usd?: number | null;
  /** Why the size has no gap. */
  refusal?: ProblemCode | null;
  /** The size, USD. */
  size_usd: number;
}

/** Whether a figure is reliable. */
export type Status = 'live' | 'preview';

/** A ticket that replaces the owner's token in a stream: `POST /v1/alerts/ticket`. */
export interface StreamTicket {
  /** Until when a stream can be opened with the ticket, RFC 3339. */
  expires: string;
  /**
   * The value of the parameter `ticket` of `/v1/stream`. It only allows reading the events of
   * the owner's rules.
   */
  ticket: string;
}

/** `GET /v1/stress/{pool}`. */
export type Stress = SeriesOf & {
  /** More details of the period's slots. Absent for a period of more than 31 days. */
  detail?: StressDetail | null;
  /** URL of the evidence for the worst gap. */
  evidence_url?: string | null;
  /** Among the slots whose liquidity the size exceeded, the one that could fill the least. */
  least_fillable?: FillablePoint | null;
  /** The lowest depth. */
  lowest_depth?: DepthPoint | null;
  /**
   * … and in the slot of the lowest depth. Compare both to see whether liquidity was withdrawn
   * or the price had moved away.
   */
  lowest_depth_book?: PoolBook | null;
  /** Slots without a snapshot. What happened in them is unknown. */
  slots_missing: number;
  /** Slots with a snapshot that was not retracted. */
  slots_recorded: number;
  /** Recorded slots in which the size had no gap: worse than any number. */
  slots_refused: number;
  /** Slots whose snapshot was retracted. */
  slots_retracted: number;
  /** The widest gap of the recorded slots that have a gap. Absent if none has a gap. */
  worst_gap?: GapPoint | null;
  /** The pool's depth around its own price in the slot of the worst gap … */
  worst_gap_book?: PoolBook | null;
};

/**
 * Statistics over the single slots of a period. A slot that could not fill the size is worse than
 * any number.
 */
export interface StressDetail {
  /** How long the gap was above `limit_pct`, if a limit was given. */
  above?: TimeAbove | null;
  /**
   * The median gap, percent, by nearest rank. `null` if that slot could not fill the size, or
   * there is no slot.
   */
  gap_q50_pct?: number | null;
  /** The 95th percentile of the gap, percent. `null` in the same cases. */
  gap_q95_pct?: number | null;
  /**
   * Slots without a snapshot (or with a retracted one) within an hour before or after the worst
   * slot. Outages often coincide with market stress.
   */
  slots_missing_near_worst: number;
  /** The ten worst slots, worst first. */
  worst_slots: GapPoint[];
}

/** One of the worst slots. */
export interface StressedSlot {
  /** The total depth at 2% from the pools' own mid prices. */
  book_usd: number;
  /** The total depth of the venues at 2% from the oracle price, whole USD. */
  depth_usd: number;
  /**
   * The gap of the optimal split, percent. `null` if the venues together could not absorb the
   * size.
   */
  exit_gap_pct?: number | null;
  /** The same from the pools' own mid prices. Absent in the same cases. */
  gap_from_mid_pct?: number | null;
  /**
   * The same from the oracle price, whatever the reference. Absent in `stress/1`, and if
   * `exit_gap_pct` is `null`.
   */
  gap_from_oracle_pct?: number | null;
  /** The amount that they could absorb, whole USD. `null` if they could absorb all of the size. */
  max_fillable_usd?: number | null;
  /** The slot number. */
  slot: number;
  /** The time of the slot, RFC 3339. */
  time: string;
}

/** A pool of the stress test. */
export interface StressedVenue {
  /** `token0` or `token1`: the token sold. */
  base: string;
  /** The first slot with that depth, RFC 3339. */
  lowest_depth_time?: string | null;
  /** The lowest depth at 2% after the shock, whole USD. `null` if no slot was used. */
  lowest_depth_usd?: number | null;
  /** The pool. */
  pool: string;
}

/** How long a gap was above a limit. A slot that could not fill the size counts as above. */
export interface TimeAbove {
  /** The limit, percent. */
  limit_pct: number;
  /** The first slot of that run, RFC 3339. `null` if there is no such slot. */
  longest_run_from?: string | null;
  /**
   * The longest run of consecutive slots above the limit. A slot without a snapshot ends the
   * run.
   */
  longest_run_slots: number;
  /** Slots above the limit. */
  slots: number;
}

/**
 * A token, as its contract describes it. The symbol is only a label: any contract may choose any
 * symbol.
 */
export interface TokenLabel {
  /** The token contract's address. */
  address: string;
  /** The number of decimals of the token. */
  decimals: number;
  /** Its symbol, cleaned to printable ASCII. */
  symbol: string;
}

/** A venue that cannot take part in a report. The report continues without it. */
export interface VenueLeftOut {
  /** `token0` or `token1`: the token sold. */
  base: string;
  /**
   * Its share of the depth of all venues at 2%, percent, in the last slot in which every venue
   * has a snapshot. `null` if that is not known.
   */
  depth_share_pct?: number | null;
  /** The pool. */
  pool: string;
  /** The kind of the pool, whose liquidity cannot be moved to another price. */
  protocol: string;
}

/**
 * `GET /v1/stress`. USD are whole. A slot in which the venues could not absorb the size is worse
 * than any number.
 */
export type VenueStress = VenueStressOf & {
  /** How long the gap was above `limit_pct`. `null` if no limit was given. */
  above?: TimeAbove | null;
  /** The median of that total depth. */
  book_q50_usd?: number | null;
  /**
   * The slots above `limit_pct` by cause. The counts do not depend on `reference`. Absent in
   * `stress/1`, and if no limit was given.
   */
  causes?: FailuresByCause | null;
  /** The median total depth. */
  depth_q50_usd?: number | null;
  /**
   * The median gap, percent, by nearest rank. `null` if that slot could not absorb the size, or
   * there is no slot.
   */
  gap_q50_pct?: number | null;
  /** The 95th percentile of the gap, percent. `null` in the same cases. */
  gap_q95_pct?: number | null;
  /** Slots used: every venue has a snapshot that was not retracted. */
  have: number;
  /** Venues that cannot take part, because their kind cannot be shocked. */
  left_out?: VenueLeftOut[];
  /** The first slot with that depth, RFC 3339. */
  lowest_book_time?: string | null;
  /** The lowest total depth of the venues at 2% from their own mid prices. */
  lowest_book_usd?: number | null;
  /**
   * The total depth around the pools' own mid prices in that slot. Compare both to see whether
   * liquidity was withdrawn or the price had moved away.
   */
  lowest_depth_book_usd?: number | null;
  /** The first slot with that depth, RFC 3339. */
  lowest_depth_time?: string | null;
  /** The lowest total depth of the venues at 2% from the oracle price. */
  lowest_depth_usd?: number | null;
  /** Slots with a snapshot of some venues only. Their depth is unknown, not zero. */
  slots_incomplete: number;
  /** Slots of the period without a snapshot of any venue. */
  slots_missing: number;
  /**
   * Slots with a snapshot of some venues only, or of none, within an hour before or after the
   * worst slot. Outages often coincide with market stress.
   */
  slots_missing_near_worst: number;
  /** Slots in which a computation was given up. */
  slots_unanswered: number;
  /** Slots in which the venues together could not absorb the size. */
  slots_unfillable: number;
  /**
   * Slots that were not used because no venue's mid price had moved by `after_move_pct`. Absent
   * without it.
   */
  slots_unmoved?: number | null;
  /**
   * Slots in which the move is unknown, because not every venue has a snapshot that many slots
   * before in the period. Absent in the same case.
   */
  slots_untestable?: number | null;
  /** Live or preview. */
  status: Status;
  /** One entry per venue that takes part, in the order of the request. */
  venues: StressedVenue[];
  /** The ten worst slots, worst first. */
  worst_slots: StressedSlot[];
};

/** The parameters and sources of a stress test. */
export type VenueStressOf = Exactness & {
  /**
   * Only slots are used in which the mid price of a venue has moved at least this much, percent.
   * Absent: every slot.
   */
  after_move_pct?: number | null;
  /** The length of the shortest series of the venues. */
  days_observed: number;
  /** The price drop of the token sold, percent. */
  fall_pct: number;
  /** The version of the method: `stress/2`, or `stress/1` from a service before it. */
  figure: string;
  /**
   * URL of the figure file. Anyone can recompute the report from this file and the snapshots
   * that it names.
   */
  figure_url: string;
  /** The first slot used, RFC 3339. */
  from: string;
  /** The share of all liquidity that is withdrawn, applied in every slot, percent. */
  haircut_pct: number;
  /** The method, disclosed. */
  method: SeriesMethod;
  /** The version of the method behind each fill. */
  method_version: string;
  /**
   * The price that gaps are measured from: `oracle`, or `mid`, the pools' own mid prices. Absent
   * in `stress/1`, which knows the oracle price only.
   */
  reference?: string | null;
  /** The size sold, USD at the oracle price after the drop. */
  size_usd: number;
  /** The last slot used, RFC 3339. */
  to: string;
  /** The number of slots within which it must have moved. Absent in the same case. */
  within_slots?: number | null;
};

/** New keys of a webhook: `POST /v1/alerts/{alert}/rotate`. */
export interface WebhookKeys {
  /** Until when the previous keys also sign, RFC 3339. */
  previous_until: string;
  /** The public key for `v1a` signatures. */
  public_key: string;
  /** The secret key for `v1` signatures. It is shown only once, in this answer. */
  webhook_secret: string;
}

/** The webhook that a rule's events are sent to. */
export interface WebhookTold {
  /** The start of the current run of failures, RFC 3339. */
  failing_since?: string | null;
  /** The last failure. */
  last_failure?: string | null;
  /** Events waiting to be sent. */
  pending: number;
  /** The previous public key. It also signs for a day after a key rotation. */
  previous_public_key?: string | null;
  /** The public key for `v1a` signatures: `whpk_` and base64. */
  public_key: string;
  /**
   * `unverified`: the URL has not answered the challenge yet; `verified`: events are sent;
   * `disabled`: the URL answered 410, or failed for five days.
   */
  state: string;
  /** The URL. */
  url: string;
}

/**
 * `GET /v1/when/{pool}`: the gap of a size by hour of the week, and where the newest slot ranks.
 * Percentiles are nearest ranks over single slots. A slot that could not fill the size is worse
 * than any gap.
 */
export type WhenToSell = SeriesOf & {
  /**
   * The hour with the lowest 95th percentile, of the hours recorded in at least four weeks; of
   * equal ones, the one with the lower median, then the earlier. `null` if the period is shorter
   * than four weeks, or if no such hour could fill the size at its 95th percentile.
   */
  best_hour?: number | null;
  /** Whether the period covers four weeks. A best hour is only named if it does. */
  enough: boolean;
  /** The hours of the week with a recorded slot, from Monday 00:00 UTC. */
  hours: HourOfWeek[];
  /** The newest recorded slot of the period, ranked among the others. `null` if there is none. */
  now?: RankedSlot | null;
  /** Slots with a snapshot that was not retracted. */
  slots: number;
  /** Slots without a snapshot, or with a retracted one. What happened in them is unknown. */
  slots_missing: number;
  /** Of these, slots in which the size had no gap. */
  slots_refused: number;
};

/** The slots that a result is computed from. */
export interface Window {
  /** Time of the first slot of the series, RFC 3339. */
  from: string;
  /** Slots without a snapshot. */
  slots_missing: number;
  /** Slots with a snapshot. */
  slots_recorded: number;
  /** Time of the last slot used, RFC 3339. */
  to: string;
}
