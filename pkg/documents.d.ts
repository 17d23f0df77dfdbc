// Made by `cargo xtask generate` from crates/exitgap-server/docs/openapi.json. Do not edit.
//
// The documents of a service, spelled as it spells them. A field that is absent or `null` has no value.

/** Errors by the age of the estimate. */
export type AccuracyByAge = AccuracyErrors & {
  /** How many slots older than the newest one before the swap. */
  older_slots: number;
};

/** Errors by size and direction, of estimates of the newest slot before. */
export type AccuracyBySize = AccuracyErrors & {
  /** `token0` or `token1`: the token sold. */
  base: string;
  /** From so many USD on, up to ten times as many. */
  from_usd: number;
};

/** Errors of many swaps, percent: the realised gap less the estimated one. **Positive: reality was worse.** */
export interface AccuracyErrors {
  /** The median without the sign. */
  abs_error_pct_q50?: number | null;
  /** Nineteen of twenty did not exceed it. */
  abs_error_pct_q95?: number | null;
  /** Of them estimated to the unit. */
  exact_n: number;
  /** The mean, with its sign. */
  mean_error_pct?: number | null;
  /** Swaps compared. */
  n: number;
  /** The most that reality was worse. */
  worst_pct?: number | null;
}

/** Compared swaps around which something stood. They are compared like all others. */
export interface AccuracyFlagged {
  /** In their block liquidity of one owner came into a range before them and left it after them. */
  jit: number;
  /** Their transaction swapped in the pool more than once. */
  same_tx: number;
  /** In their block somebody swapped before them, and the other way after them, near by. */
  sandwich_suspected: number;
}

/** Swaps that were not compared, by why not. */
export interface AccuracyNotCompared {
  /** The slot's pool does not take so much. */
  estimate_refused: number;
  /** The logs between two slots, replayed, did not give the later state. */
  fills_incomplete: number;
  /** The error is out of a percentage's bounds. */
  out_of_range: number;
  /** Both tokens went in, or out. */
  two_sided: number;
  /** Nothing went in, or nothing came out. */
  zero: number;
}

/** Every swap of a pool between two recorded slots. */
export interface AccuracyRecord {
  /** By the age of the estimate. */
  by_age: AccuracyByAge[];
  /** By size and direction. */
  by_size: AccuracyBySize[];
  /** Swaps compared; with those not compared they are all. */
  compared: number;
  /** Whether it is a record: 200 swaps compared and seven days. */
  enough: boolean;
  /** The rules: `accuracy/1`. */
  figure: string;
  /** Compared swaps around which something stood. */
  flagged: AccuracyFlagged;
  /** The first slot, RFC 3339: swaps after its block count. */
  from: string;
  /** The newest compared swaps, at most a hundred, the newest last. */
  newest: AccuracySwap[];
  /** Those that were not. */
  not_compared: AccuracyNotCompared;
  /** The pool. */
  pool: string;
  /** Slots that stand. */
  slots: number;
  /** Live or preview. */
  status: Status;
  /** Stretches between two of them, each replayed. */
  stretches: number;
  /** Of them those whose logs did not give the later state: a log is absent, or one is not the chain's. */
  stretches_incomplete: number;
  /** Swaps logged. */
  swaps: number;
  /** The last slot, RFC 3339: swaps up to its block count. */
  to: string;
  /** The largest errors either way, at most ten. */
  worst: AccuracySwap[];
}

/** A pool in the table. */
export interface AccuracyRow {
  /** Venue and fee in words; absent before the first snapshot. */
  name?: string | null;
  /** The pool. */
  pool: string;
  /** Its record of the last seven days, as far as it was summed up; `null` where there is none. */
  record?: AccuracySummary | null;
  /**
   * Why there is none: `waiting`, it was not summed up yet, or the code of a refusal, such as
   * `figure_unsupported_kind`. Absent where there is one.
   */
  why_not?: string | null;
}

/** An accuracy record without its swaps. */
export type AccuracySummary = AccuracyErrors & {
  /** The whole record of this period. */
  accuracy_url: string;
  /** Swaps compared; with those not compared they are all. */
  compared: number;
  /** Days of snapshots behind the pool's newest, at 288 a day. */
  days_observed: number;
  /** Whether it is a record: 200 swaps compared and seven days. */
  enough: boolean;
  /** The file by which anyone computes the row again. */
  figure_url: string;
  /** The first slot, RFC 3339. */
  from: string;
  /** Those that were not. */
  not_compared: AccuracyNotCompared;
  /** Slots that stand. */
  slots: number;
  /** Later slots that stand, and whose swaps no head commits to yet. */
  slots_waiting: number;
  /** Live or preview. */
  status: Status;
  /** Stretches between two slots, each replayed. */
  stretches: number;
  /** Of them those whose logs did not give the later state. */
  stretches_incomplete: number;
  /** Swaps logged. */
  swaps: number;
  /** The last slot, RFC 3339. */
  to: string;
  /** The newest slot when the row was summed up, RFC 3339: it knows nothing of what was sealed later. */
  until: string;
};

/** A swap, and what was estimated of it. */
export interface AccuracySwap {
  /** Sold, raw units. */
  amount_in_raw: string;
  /** Received, raw units. */
  amount_out_raw: string;
  /** `token0` or `token1`: the token sold. */
  base: string;
  /** Its block's number. */
  block: number;
  /** By how much farther it did. Positive: reality was worse. */
  error_pct: number;
  /** How far below the oracle it was estimated to fill, percent. */
  estimated_gap_pct: number;
  /** Estimated, raw units. */
  estimated_out_raw: string;
  /** What stood around it: `same_tx`, `jit`, `sandwich_suspected`. */
  flags?: string[];
  /** Its log's place in the block. */
  log_index: number;
  /** What it was worth at the slot's oracle price, USD. */
  size_usd: number;
  /** The slot of the estimate. */
  slot: number;
  /** Its transaction, `0x` and 64 hexadecimal digits. */
  transaction: string;
}

/** How good the estimates of all recorded pools were: `GET /v1/accuracy`. */
export interface AccuracyTable {
  /** The rules: `accuracy/1`. */
  figure: string;
  /** Where the next page begins; absent on the last. */
  next_cursor?: string | null;
  /** A row for each pool of the page, in the order of their identifiers. */
  pools: AccuracyRow[];
  /** Pools of all pages of which no row was summed up yet. */
  waiting: number;
}

/** An event of a kept rule. */
export interface AlertEventKept {
  /** How often it was sent. */
  attempts: number;
  /** `pending`, `delivered` or `given_up`; none where it is not sent anywhere. */
  delivery?: string | null;
  /** The event. */
  event: AlertEventTold;
  /** The last failure. */
  last_failure?: string | null;
}

/** An event: what a rule and the sealed slots make, the same from whoever computes it. */
export interface AlertEventTold {
  /** The event itself. With its names in order and without white space it is the canonical document. */
  document: Record<string, unknown>;
  /** Its name, `evt_` and 52 letters and digits. */
  id: string;
  /** Its place among the rule's events, from 1. */
  seq: number;
  /** The slot that made it. */
  slot: number;
  /**
   * `alert.firing`, `alert.resolved`, `alert.no_data`, `alert.data`, `alert.reminder`, `alert.corrected` or
   * `alert.ended`.
   */
  type: string;
}

/** What a kept rule said: `GET /v1/alerts/{alert}/events`. */
export interface AlertEventsKept {
  /** The rule's name. */
  alert: string;
  /** Its events after `after_seq`, oldest first, of the last 30 days. */
  events: AlertEventKept[];
  /** What to ask with for later ones: the place of the last event here, or `after_seq`. */
  next_after_seq: number;
}

/** A rule that is kept: `GET /v1/alerts/{alert}`. */
export interface AlertKept {
  /** Its name, which stands in the rule and in every event. */
  alert: string;
  /** When it was made, RFC 3339. */
  created: string;
  /** Why it ended: `deleted`, `expired`, or `retired`, as its pool did. */
  ended?: string | null;
  /** The last slot that all rules were evaluated with; none before the first. */
  evaluated_slot?: number | null;
  /** When it ends, RFC 3339: 30 days after its owner last came. */
  expires: string;
  /** The place of its newest event; 0: it has none. */
  last_seq: number;
  /** The pool. */
  pool: string;
  /** The rule, with every default in its place: as a file it is what `exitgap alert replay` reads. */
  rule: Record<string, unknown>;
  /** The SHA-256 of its canonical bytes. */
  rule_hash: string;
  /** Where it stands after `evaluated_slot`. */
  state: AlertStanding;
  /** Where its events are sent; none: they are only read here. */
  webhook?: WebhookTold | null;
}

/** A rule that was made: `POST /v1/alerts`. What is secret is told here and never again. */
export interface AlertMade {
  /** The rule. */
  alert: AlertKept;
  /** When it would have spoken in the last 30 days, or as many as are recorded. */
  backtest: AlertsTold;
  /**
   * What its owner shows from now on, as `Authorization: Bearer`: `exa_` and 43 letters, digits, `-` and `_`. Only
   * where none was shown.
   */
  token?: string | null;
  /** The key that `v1` signatures are checked with: `whsec_` and base64. Only where the address is new to its owner. */
  webhook_secret?: string | null;
}

/** Where a rule stands. */
export interface AlertStanding {
  /** Breaches in a row, before it fires. */
  breach_slots: number;
  /** Slots in a row that are clear, before it is over. */
  clear_slots: number;
  /** The slot at which it last fired. */
  fired_slot?: number | null;
  /** Slots in a row that say nothing. */
  no_data_slots: number;
  /** `ok`, `pending`, `firing`, `recovering` or `no_data`. */
  standing: string;
}

/** An owner's rules: `GET /v1/alerts`. */
export interface AlertsKept {
  /** The newest first, those that ended in the last 30 days included; at most 200. */
  alerts: AlertKept[];
}

/** What is sent again: `POST /v1/alerts/{alert}/replay`. */
export interface AlertsResent {
  /** Events that were not waiting for being sent already. */
  events: number;
}

/** What a rule has to say of a period: `GET /v1/alerts/backtest/{pool}`. The rule is the caller's, and nothing of it is kept. */
export interface AlertsTold {
  /** The rules of the table of states: `alerts/1`. */
  alerts_version: string;
  /** Days of snapshots behind the pool's newest, at 288 a day. */
  days_observed: number;
  /** Its events, oldest first. */
  events: AlertEventTold[];
  /** The first slot, RFC 3339. */
  from: string;
  /** The pool. */
  pool: string;
  /** The rule, with every default in its place: as a file it is what `exitgap alert replay` reads. */
  rule: Record<string, unknown>;
  /** The SHA-256 of its canonical bytes. */
  rule_hash: string;
  /** Slots that were evaluated. */
  slots: number;
  /** Where it stands after the last slot. */
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
  /** USD per whole base token that the next unit would fill at, fee included. */
  marginal_price_usd: number;
  /** USD per whole base token at the pool's mid price before the exit. */
  mid_price_usd: number;
  /** USD per whole base token, as filled. */
  realized_price_usd: number;
  /** The size, USD. */
  size_usd: number;
  /** What the gap is made of. */
  split: SplitPct;
  /** Initialised ticks crossed; absent for pools without ticks. */
  ticks_crossed?: number | null;
}

/** Figures with their context: the document of every answer about a pool. */
export type Answer_Amounts = ({
  /** Raw units of the base token sold. */
  amount_in_raw: string;
  /** Raw units of the quote token bought. */
  amount_out_raw: string;
  /**
   * Gap between realized price and oracle price, percent. Positive: the fill is
   * worse than the oracle; negative: better.
   */
  exit_gap_pct: number;
  /** USD per whole base token that the next unit would fill at, fee included. */
  marginal_price_usd: number;
  /** USD per whole base token at the pool's mid price before the exit. */
  mid_price_usd: number;
  /** USD per whole base token, as filled. */
  realized_price_usd: number;
  /** The size, USD. */
  size_usd: number;
  /** What the gap is made of. */
  split: SplitPct;
  /** Initialised ticks crossed; absent for pools without ticks. */
  ticks_crossed?: number | null;
}) & Context;

/** Figures with their context: the document of every answer about a pool. */
export type Answer_GapRung = (Partial<MaxSize> & ({
  /** What anyone can check the exit with, where the service answers. */
  evidence_url?: string | null;
  /** The exit of exactly that size; absent where nothing passes. */
  exit?: Amounts | null;
  /** The limit, percent. */
  gap_limit_pct: number;
  /** Why depth or exit is absent, where something was refused. */
  problem?: Problem | null;
  /** A smaller size whose gap exceeds the limit, USD: the fee of this pool depends on the size. */
  worse_below_usd?: number | null;
})) & Context;

/** Figures with their context: the document of every answer about a pool. */
export type Answer_LadderRows = {
  /** Depth by gap, ascending. */
  by_gap: GapRung[];
  /** Slippage by size, ascending. */
  by_size: SizeRung[];
} & Context;

/** Figures with their context: the document of every answer about a pool. */
export type Answer_RedemptionWindow = ({
  /** The gap of that sale, percent; `null` likewise. */
  exit_gap_pct?: number | null;
  /** The name and version of these rules, `redemption/1`. */
  figure: string;
  /** When it is handed in: the time of the snapshot's block, RFC 3339. */
  handed_in_at: string;
  /** Always `true`. */
  modelled: boolean;
  /** The ways of redeeming it; none where nobody wrote terms of the token down. */
  paths: RedemptionPath[];
  /** What selling it now brings, USD: `size_usd × (1 - exit_gap_pct)`, rounded down; `null` where it cannot be sold. */
  receives_now_usd?: number | null;
  /** Why it cannot be sold at once. */
  refusal?: ProblemCode | null;
  /** The size, USD. */
  size_usd: number;
}) & Context;

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
  /** Every order, in turn. */
  fills: OrderFill[];
  /** Seconds between orders, as stated; nothing is computed from it. */
  interval_s: number;
  /** Number of orders. */
  orders: number;
  /**
   * Share of its displacement that √price is assumed to recover between two
   * orders, percent. An assumption, not a forecast.
   */
  recovery_pct: number;
  /** The whole size, USD. */
  size_usd: number;
} & Context;

/** The same size sold at once: what it fills at, or why it cannot be filled. */
export type AtOnce = {
  /** The exit. */
  exit: Amounts;
} | {
  /** Why there is none. */
  problem: Problem;
};

/** How exposed. Nothing decides it but whether a dollar to sell meets a dollar of depth. */
export type Band = 'covered' | 'strained' | 'exposed' | 'unfillable' | 'unrated';

/** The answer to "over which venues do I exit?". */
export interface BestSplit {
  /** All of it in one venue, the best first; those that do not fill it last, who fills most first. */
  alone: SplitAlone[];
  /** Raw units of the token sold, by all legs: at most one a leg less than the size in one sale. */
  amount_in_raw: string;
  /**
   * The gap of all legs together and their fixed costs, percent: exact. Positive is worse than the oracle. Never
   * worse than any venue alone.
   */
  exit_gap_pct: number;
  /** What using the venues of the legs costs, USD. */
  fixed_cost_usd: number;
  /** Venues that were not split over, and why. */
  left_out: SplitLeftOut[];
  /** What each venue used sells. */
  legs: SplitLeg[];
  /** The version of the rules that produced the figures. */
  method_version: string;
  /**
   * No split over the venues that are not `left_out` has a gap that is lower by more than this, percent; `null`
   * where a venue that is left out is better alone than all others together.
   */
  optimality_gap_pct?: number | null;
  /** The size asked for, USD. */
  size_usd: number;
  /** `live` only where the chain is. */
  status: Status;
}

/** `GET /v1/capabilities`. */
export interface Capabilities {
  /** Every capability of the specification. */
  capabilities: Capability[];
  /** Every chain with a monitored pool. */
  chains?: ChainCapability[];
  /** Whether this process serves pages. */
  pages?: boolean;
  /** Whether this process records. */
  recording?: boolean;
  /**
   * Where pages, evidence and the log are, where that is another address than the API's: all
   * addresses that do not begin with `/v1/`.
   */
  web_url?: string | null;
}

/** One capability. */
export interface Capability {
  /** Its name. */
  capability: string;
  /**
   * What gates it, as the specification says: capabilities by their names here, or what else
   * has to be there first.
   */
  gated_by?: string[];
  /** The chains on which it is live; on the others it is at most preview. */
  live_on?: string[];
  /** Its status here: live where it is so on any chain. */
  status: CapabilityStatus;
  /** Where it is, or what is not built of it. */
  where: string;
}

/** How far a capability may be depended on. */
export type CapabilityStatus = 'live' | 'preview' | 'roadmap';

/** How a chain stands: what the statuses of capabilities rest on. */
export interface ChainCapability {
  /** Seconds from that slot's instant to this answer. */
  age_s?: number | null;
  /** The chain's slug. */
  chain: string;
  /** The newest recorded slot of its pools, RFC 3339; absent before the first. */
  newest_recorded_slot?: string | null;
  /** Why it is not live; absent where it is. */
  not_live_because?: string | null;
  /** Live where all that is needed for that holds, else preview. */
  status: CapabilityStatus;
}

/** What every result carries beside its own figures. */
export interface Context {
  /** The token sold. */
  base: TokenLabel;
  /** Recorded slots ÷ 288; absent where nothing is recorded. */
  days_observed?: number | null;
  /** What a sale pays to the pool as fee, percent; absent where it depends on the sale, which `name` says. */
  fee_pct?: number | null;
  /** Whether the markets of both tokens are open at the block. */
  market_open: boolean;
  /** The method, disclosed. */
  method: Method;
  /** The version of the rules that produced the figures. */
  method_version: string;
  /** Venue and fee in words, as of this state: `Uniswap v3 0.05 %`. */
  name: string;
  /** USD per whole base token, by the oracle. */
  oracle_price_usd: number;
  /**
   * Whether any oracle answer is older than its heartbeat, or the chain's sequencer is down or
   * was until just now.
   */
  oracle_stale: boolean;
  /** Why, where it is: a market that is closed holds its oracle's answer over the close. */
  oracle_state: OracleState;
  /** The pool's identifier, `<chain>:<address>`. */
  pool: string;
  /** The token bought. */
  quote: TokenLabel;
  /** The market session of the block, e.g. `XNYS@1/regular`; `continuous` for assets without a calendar. */
  session_note: string;
  /** Live or preview. */
  status: Status;
  /** The venue; absent where the pool's factory is not known. */
  venue?: string | null;
  /** The series behind the result; absent where nothing is recorded. */
  window?: Window | null;
}

/** `GET /v1/decay/{pool}`. */
export type DepthDecay = DepthDecayOf & {
  /** Books whose search was given up; their slots are in no list. */
  books_unanswered: number;
  /** After the price of the token sold fell. */
  down: DepthDecaySide;
  /** Whether the series is long enough for statistics; events are listed all the same. */
  enough: boolean;
  /** The events, ascending. */
  events: DepthDecayEvent[];
  /** Moves within 48 slots after an event: no events of their own. */
  events_suppressed: number;
  /** Slots of the period with a snapshot that stands. */
  have: number;
  /** As many are needed. */
  needed: number;
  /** Events that statistics of a horizon need. */
  needed_events: number;
  /** Slots of the period without a snapshot that stands: never filled. */
  slots_missing: number;
  /** Slots that stand without one `within_slots` before them. */
  slots_untestable: number;
  /** Live or preview. */
  status: Status;
  /** After it rose. */
  up: DepthDecaySide;
};

/** One move of the price. */
export interface DepthDecayEvent {
  /** The books after it, at the horizons that stand. */
  at: DepthDecayStep[];
  /** Whether something was withdrawn and had not half returned within 48 slots. */
  censored: boolean;
  /**
   * Slots from the greatest deficit to the first of two with half of it or less; `null` where it is censored or
   * nothing was withdrawn.
   */
  half_life_slots?: number | null;
  /** How far the pool's mid price moved, percent; positive where the token sold rose. */
  move_pct: number;
  /** The slot's number. */
  slot: number;
  /** Its instant, RFC 3339. */
  time: string;
}

/** Statistics of one horizon; `null` where too little is recorded. */
export interface DepthDecayHorizon {
  /** Baselines measured. */
  baseline_n: number;
  /** What they withdrew over the same time where no event was near, the median, percent. */
  baseline_withdrawn_pct_q50?: number | null;
  /** Slots after the event. */
  h_slots: number;
  /** Events measured. */
  n: number;
  /** Events whose book was zero before or under the moved price: they have no shares. */
  n_without_share: number;
  /** The same of the worst twentieth, percent. */
  retained_pct_q5?: number | null;
  /** What is left of the book before, the median, percent. */
  retained_pct_q50?: number | null;
  /** What would be left where nobody withdraws, the median, percent. */
  static_pct_q50?: number | null;
  /** What providers withdrew, the median, percent; positive where liquidity is gone. */
  withdrawn_pct_q50?: number | null;
}

/** What a decay is of, beside what came of it. */
export interface DepthDecayOf {
  /** `token0` or `token1`: the token sold. */
  base: string;
  /** The length of the series up to `to`. */
  days_observed: number;
  /** The rules: `decay/1`. */
  figure: string;
  /** The figure file: what anyone can recompute it from, with the snapshots that it names. */
  figure_url: string;
  /** The first slot looked at, RFC 3339. */
  from: string;
  /** The gap from the pool's own mid price at which books are measured, percent. */
  gap_pct: number;
  /** The method, disclosed. */
  method: SeriesMethod;
  /** The version of the rules behind each book. */
  method_version: string;
  /** How far the mid price must have moved, percent. */
  move_pct: number;
  /** The pool. */
  pool: string;
  /** The last slot looked at, RFC 3339. */
  to: string;
  /** Over how many slots. */
  within_slots: number;
}

/** Statistics of the events of one direction of the price. */
export interface DepthDecaySide {
  /** Events after which some of the book was withdrawn. */
  half_life_n: number;
  /** The median half-life of those, slots; `null` where it is censored, or there are too few. */
  half_life_slots_q50?: number | null;
  /** By slots after the event. */
  horizons: DepthDecayHorizon[];
}

/** A book some slots after an event. `book_before_usd + mechanical_usd + liquidity_usd = book_usd`, to the dollar. */
export interface DepthDecayStep {
  /** The book before the event, whole USD. */
  book_before_usd: number;
  /** The liquidity of before under the price of now, whole USD. */
  book_static_usd: number;
  /** The book now, whole USD. */
  book_usd: number;
  /** Slots after the event. */
  h_slots: number;
  /** What providers put in or took out, whole USD; negative where they took out. */
  liquidity_usd: number;
  /** What the move of the price alone did, whole USD; negative where the book became smaller. */
  mechanical_usd: number;
}

/** The depth of one slot. */
export interface DepthPoint {
  /** Depth at 2 %, whole USD. */
  depth_usd: number;
  /** The slot's number. */
  slot: number;
  /** The slot's instant, RFC 3339. */
  time: string;
  /** The slot's head commits to it. */
  window_url: string;
}

/** The block, and where recorded the slot, behind a result. */
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
   * The hash of the chain's block 0, where it is live because its operator configured that hash: which network it
   * is, only those can say who know the hash.
   */
  genesis_hash?: string | null;
  /** Where it was read. */
  kind: DepthSourceKind;
  /**
   * Slots after this one that are missing or were taken back, where the newest recorded
   * slot was asked for.
   */
  newer_slots_missing?: number | null;
  /** What its state is: `constant_product`, `concentrated_liquidity`, `concentrated_v4` or `concentrated_linked`. */
  protocol: string;
  /** The slot's number; absent where nothing is recorded. */
  slot?: number | null;
  /** The slot's instant, RFC 3339. */
  slot_time?: string | null;
  /** SHA-256 of the snapshot's canonical bytes. */
  snapshot_hash?: string | null;
}

/** Where the depth behind a result was read. */
export type DepthSourceKind = 'recorded_snapshot' | 'latest_block' | 'snapshot_file';

/** `GET /v1/equities`. */
export interface Equities {
  /** All that are configured, in the order of their chains and addresses. */
  equities: EquityListed[];
  /** The name and version of the rules, `equity/1`. */
  figure: string;
}

/** What a pool holds of a share whose balances change. */
export interface EquityBalanceTold {
  /** What it holds, raw units. */
  balance_raw: string;
  /** What buying the share for the size would pay, raw units; `null` where that is refused. */
  purchase_raw?: string | null;
  /** Of which slot the amounts are, RFC 3339. */
  slot_time: string;
  /** Slots that have the fact. */
  slots: number;
  /** Slots of them in which the purchase would pay more than the pool holds: it reverts. */
  slots_short: number;
}

/** What became of a share. */
export interface EquityEventTold {
  /** When the change is due, RFC 3339. */
  effective_at?: string | null;
  /** `multiplier_changed`, `scheduled`, `paused` or `resumed`. */
  event: string;
  /** The multiplier before. */
  from_raw?: string | null;
  /** The slot that shows it first, RFC 3339. */
  slot_time: string;
  /** The multiplier after. */
  to_raw?: string | null;
}

/** A token that stands for a share. */
export interface EquityListed {
  /** Its chain. */
  chain: string;
  /** How much of that the deepest pool has, percent; `null` of nothing. */
  concentration_pct?: number | null;
  /** The deepest of them; `null` before the first snapshot. */
  deepest_pool?: string | null;
  /** The depths at 2 % of its pools together, each in its newest slot, whole USD. */
  depth_usd: number;
  /** `scaled_ui`, `total_return`, `rebasing` or `split_rebase`. */
  kind: string;
  /** The decimals of its multiplier. */
  multiplier_decimals: number;
  /** Its monitored pools. */
  pools: number;
  /** Where it stands; `null` before the first snapshot. */
  state?: EquityState | null;
  /** What it calls itself; `null` before its first snapshot. */
  symbol?: string | null;
  /** Its address. */
  token: string;
}

/** A pool of a share: a vector, never one number. */
export interface EquityPool {
  /** What the pool holds; `null` without a fact of it, or where balances stay. */
  balance?: EquityBalanceTold | null;
  /** `token0` or `token1`: the share. */
  base: string;
  /** The median of all closed sessions together, percent. */
  basis_to_last_close_pct_q50?: number | null;
  /** The one farthest from zero, percent. */
  basis_to_last_close_pct_worst?: number | null;
  /** The depth at 2 % in its newest slot, whole USD; `null` where no search answered. */
  depth_usd?: number | null;
  /** Whether there are as many regular sessions and weekends as are needed; else statistics are `null`. */
  enough: boolean;
  /** Corporate actions, ascending. */
  events: EquityEventTold[];
  /** Whether the pool's state is known to have noticed every change of its balance. */
  exact: boolean;
  /** The file by which anyone computes it again. */
  figure_url: string;
  /** The first slot of the period, RFC 3339. */
  from: string;
  /** Regular sessions with a slot that counts. */
  have_regular_sessions: number;
  /** Weekends with a slot that counts. */
  have_weekends: number;
  /** Why it is not: `balances_change_unseen`. */
  inexact_because?: string | null;
  /** Venue and fee. */
  name: string;
  /** As many are needed. */
  needed_regular_sessions: number;
  /** As many are needed. */
  needed_weekends: number;
  /** The slots that count whose oracle answers were fresh, percent; `null` where too little is recorded. */
  oracle_fresh_pct?: number | null;
  /** Those of which one was held over a close. */
  oracle_held_over_close_pct?: number | null;
  /** Those of which one was stale. */
  oracle_stale_pct?: number | null;
  /** The pool. */
  pool: string;
  /** Selling beside redeeming, where the operator has terms of the token. */
  redemption_url?: string | null;
  /** By kind of closure. */
  reopening: EquityReopeningTold[];
  /** Each session of the exchange. */
  sessions: EquitySessionTold[];
  /** Slots while the share was paused, or a change was due within a day: in no statistic. */
  slots_corporate_action: number;
  /** Slots without one. */
  slots_missing: number;
  /** Slots of the period with a snapshot that stands. */
  slots_recorded: number;
  /** Other slots that lack a fact that the operator names: in no statistic either. */
  slots_without_facts: number;
  /** Live or preview. */
  status: Status;
  /** The last, RFC 3339: that of the last whole day of UTC, where the series has one. */
  to: string;
}

/** What markets opened to after closures of one kind; gaps are `null` where too little is recorded. */
export interface EquityReopeningTold {
  /** `night`, `weekend` or `holiday`. */
  closure_kind: string;
  /** Closures with a slot that counts. */
  closures: number;
  /** Closures with such a gap. */
  reopened: number;
  /** The median of what selling in the last closed slot fetched below what the oracle gave after, percent. */
  reopening_gap_pct_q50?: number | null;
  /** The greatest, percent. */
  reopening_gap_pct_worst?: number | null;
}

/** `GET /v1/equities/{chain}/{token}`. */
export type EquityScore = EquityListed & {
  /** Whether any pool has enough for statistics. */
  enough: boolean;
  /** The name and version of the rules, `equity/1`. */
  figure: string;
  /** The gap limit of the depths in sessions, percent. */
  gap_pct: number;
  /** Pools that are not told, and why. */
  left_out: SplitLeftOut[];
  /** The version of the rules behind each number. */
  method_version: string;
  /** The size of the gaps, USD. */
  size_usd: number;
  /** Each of its pools, the deepest first. */
  vectors: EquityPool[];
};

/** A session of the exchange; statistics are `null` where too little is recorded. */
export interface EquitySessionTold {
  /**
   * The median of how far the pool's mid price lay below what the oracle said at the last regular close, percent; `null` in
   * the regular session.
   */
  basis_to_last_close_pct_q50?: number | null;
  /** The one farthest from zero, percent. */
  basis_to_last_close_pct_worst?: number | null;
  /** The lowest one, whole USD. */
  depth_usd_lowest?: number | null;
  /** The median depth at the gap limit, whole USD. */
  depth_usd_q50?: number | null;
  /** The median gap at the size, percent; `null` where that is a refusal. */
  exit_gap_pct_q50?: number | null;
  /** The gap that 95 % of the slots do not exceed, percent; likewise. */
  exit_gap_pct_q95?: number | null;
  /** The widest, percent; `null` where one slot refused the size. */
  exit_gap_pct_worst?: number | null;
  /** `regular`, `pre`, `after`, `overnight`, `weekend`, `holiday` or `unknown`. */
  session: string;
  /** Slots that count. */
  slots: number;
  /** Slots of them in which the size had no gap: worse than any number. */
  slots_refused: number;
}

/** Where a share stands, by the newest snapshot of its deepest pool. */
export interface EquityState {
  /** How far the pool's mid price lies below the oracle's, percent; `null` where that is out of a percentage's bounds. */
  basis_pct?: number | null;
  /** Whether it is paused, or a change is due within a day: such slots are in no statistic. */
  corporate_action: boolean;
  /** When it comes, RFC 3339; also what is past. */
  effective_at?: string | null;
  /** Whether the snapshot has all facts that the operator names. */
  facts_whole: boolean;
  /** Whether the token or its feed is paused; `null` likewise. */
  feed_paused?: boolean | null;
  /** The token's multiplier, as the contract tells it; `null` where no fact is named, or it was not told. */
  multiplier_raw?: string | null;
  /** The oracle's price of the token, USD. */
  oracle_price_usd: number;
  /** How far the oracle's answers may be relied on. */
  oracle_state: OracleState;
  /** The multiplier to come; likewise. */
  pending_multiplier_raw?: string | null;
  /** `regular`, `pre`, `after`, `overnight`, `weekend`, `holiday` or `unknown`: of the share's exchange at the snapshot's block. */
  session: string;
  /** The slot of the snapshot, RFC 3339. */
  slot_time: string;
  /** Seconds since then. */
  snapshot_age_s: number;
  /** Live or preview. */
  status: Status;
  /** What a share as wallets show it costs by that, USD; `null` without a multiplier. For reading. */
  ui_price_usd?: number | null;
}

/** Closed days of a log. */
export interface Export {
  /** The signed checkpoint of the log of days, under the log's own key; `null` while no day is closed and written. */
  checkpoint?: string | null;
  /** The days asked for, ascending. */
  days: ExportedDay[];
  /** Days that it covers. */
  days_closed: number;
  /** `from` of the next page; `null` where this is the last. */
  next_from?: string | null;
}

/** A closed day. */
export interface ExportedDay {
  /** The day, UTC. */
  day: string;
  /** The files; only those that have rows of the pools asked for. */
  files: ExportedFile[];
  /** The first of its slots that the log has. */
  first_slot: number;
  /** Its last slot. */
  last_slot: number;
  /** The manifest's SHA-256, to which the log of days commits. */
  manifest_sha256: string;
  /** Where the manifest is, which says everything else. */
  manifest_url: string;
  /** Pools that have rows. */
  pools: number;
  /** Rows: one for each pool and slot. */
  rows: number;
}

/** A file of a day. */
export interface ExportedFile {
  /** Its bytes. */
  bytes: number;
  /** The first of its pools, in the order of their ids; `null` in the file of slots. */
  first_pool?: string | null;
  /** The last of them. */
  last_pool?: string | null;
  /** Its name. */
  name: string;
  /** Its rows. */
  rows: number;
  /** The SHA-256 of its bytes. */
  sha256: string;
  /** Where it is. */
  url: string;
}

/** The most that could be filled in one slot, in which the size lies beyond liquidity. */
export interface FillablePoint {
  /** The most that could be filled, USD. */
  max_fillable_usd: number;
  /** The slot's number. */
  slot: number;
  /** The slot's instant, RFC 3339. */
  time: string;
}

/** `GET /v1/fragility`. */
export interface Fragility {
  /** The version of the rules behind gaps and depths. */
  method_version: string;
  /** Where the next page begins; absent on the last. */
  next_cursor?: string | null;
  /** Pools with a snapshot, in this selection. */
  pools: number;
  /** Pools of the selection that have no snapshot yet, and no row. */
  pools_without_snapshot: number;
  /** The rows of this page. */
  rows: FragilityRow[];
  /** How the score is made, in one sentence. */
  score_method: string;
}

/** A pool of the board, selling its default base. */
export interface FragilityRow {
  /** The token sold. */
  base: TokenLabel;
  /**
   * The book of that slot: the depth at 2 % from the pool's own mid price in place of the oracle's, whole USD. Where
   * only the oracle moved away, `depth_usd` falls and this does not.
   */
  book_usd?: number | null;
  /** The chain's slug. */
  chain: string;
  /**
   * The lowest depth of each of the last eight UTC days, whole USD, the newest last; null
   * where the day has none.
   */
  daily_lowest_depth_usd?: (number | null)[];
  /** Recorded slots ÷ 288. */
  days_observed: number;
  /** Depth at 2 % in that slot, whole USD. */
  depth_usd?: number | null;
  /**
   * What a sale pays to the pool as fee, percent, in the newest snapshot; absent where it depends on the sale,
   * which `name` says.
   */
  fee_pct?: number | null;
  /**
   * `1 − lowest ÷ median`: the share of the median depth that was gone at the lowest
   * slot, 0 to 1. Null under one day of recorded slots, or where the median is 0.
   */
  fragility_score?: number | null;
  /** The gap at each standard size, ascending. */
  gaps: StandardGap[];
  /** The lowest depth of seven days. */
  lowest_depth_7d?: LowestDepth | null;
  /** The median depth of seven days, whole USD. */
  median_depth_7d_usd?: number | null;
  /** The method, disclosed: the sizes are those of `gaps`, the window the seven days. */
  method: SeriesMethod;
  /** The version of the rules behind gaps and depths. */
  method_version: string;
  /** Venue and fee in words, `Uniswap v3 0.05 %`: no two rows of one chain and one pair have the same name. */
  name: string;
  /** Slots after it that are missing. */
  newer_slots_missing: number;
  /** Whether an oracle answer behind the row is older than its heartbeat. */
  oracle_stale: boolean;
  /** The pool's identifier. */
  pool: string;
  /** The token bought. */
  quote: TokenLabel;
  /** Instant of the slot behind the row, RFC 3339. */
  slot_time: string;
  /** Slots of those seven days without a snapshot. */
  slots_missing_7d: number;
  /** Live or preview. */
  status: Status;
  /** The venue; absent where the pool's factory is not known. */
  venue?: string | null;
  /** The heads of those seven days, which commit to `days_observed` and the lowest depth. */
  window_url: string;
}

/** The gap of one slot, or why it has none. */
export interface GapPoint {
  /** What anyone can check the gap with. */
  evidence_url?: string | null;
  /** The gap, percent; absent where the size has none. */
  exit_gap_pct?: number | null;
  /** Where the size lies beyond liquidity: the most that could be filled in that slot, USD. */
  max_fillable_usd?: number | null;
  /** Why the size has no gap: worse than any number. */
  refusal?: ProblemCode | null;
  /** The slot's number. */
  slot: number;
  /** The slot's instant, RFC 3339. */
  time: string;
}

/** A row by gap: how much exits within the limit, and what that fills at. */
export type GapRung = Partial<MaxSize> & ({
  /** What anyone can check the exit with, where the service answers. */
  evidence_url?: string | null;
  /** The exit of exactly that size; absent where nothing passes. */
  exit?: Amounts | null;
  /** The limit, percent. */
  gap_limit_pct: number;
  /** Why depth or exit is absent, where something was refused. */
  problem?: Problem | null;
  /** A smaller size whose gap exceeds the limit, USD: the fee of this pool depends on the size. */
  worse_below_usd?: number | null;
});

/** `GET /v1/history/{pool}`. */
export type History = SeriesOf & ({
  /**
   * What anyone can check the newest gap of these rows with; every gap and depth of a row has
   * its own.
   */
  evidence_url?: string | null;
  /** The length of a row. */
  interval: Interval;
  /** Where the next page begins; absent on the last. */
  next_cursor?: string | null;
  /** The rows, ascending, without a hole. */
  rows: HistoryRow[];
});

/** One row of a history. Slots that were not recorded are counted in it, not left out. */
export interface HistoryRow {
  /** The last recorded slot's gap, or why it has none. */
  last?: GapPoint | null;
  /**
   * How far the pool's mid price lay below the oracle in that slot, percent: what an infinitely
   * small sale would have lost before the fee.
   */
  last_basis_pct?: number | null;
  /** Of the slots in which the size lay beyond liquidity, the one that could fill the least. */
  least_fillable?: FillablePoint | null;
  /** The lowest depth. */
  lowest_depth?: DepthPoint | null;
  /** Why the slot is missing; of rows of one slot only. */
  missing_reason?: string | null;
  /** Slots without one. */
  slots_missing: number;
  /** Slots with a snapshot that stands. */
  slots_recorded: number;
  /** Recorded slots in which the size had no gap: worse than any number. */
  slots_refused: number;
  /** Slots whose snapshot was retracted. */
  slots_retracted: number;
  /** What the slot holds; of rows of one slot only. */
  state?: SlotState | null;
  /** Where the row begins, RFC 3339. */
  time: string;
  /**
   * The worst number: the widest gap of the recorded slots that have one. Absent where none
   * has.
   */
  worst?: GapPoint | null;
}

/** The closures of one kind in the period. */
export type HoursClosed = HoursSpread & ({
  /** `night`, `weekend`, or `holiday`: of a Monday to Friday that is not traded, with the weekend beside it. */
  closure_kind: string;
  /** Whether there are as many closures as are needed; else the statistics are `null`. */
  enough: boolean;
  /** Closures of the kind with a recorded slot in them. */
  have: number;
  /** As many are needed. */
  needed: number;
  /** The greatest reopening gap of these closures, percent; `null` where none is known, or too few closures are. */
  reopening_gap_pct_worst?: number | null;
  /** Whether their median depth is less than half of that of the open market. */
  thin_when_closed?: boolean | null;
});

/** One closure of the period. */
export interface HoursClosure {
  /** When the market closed, RFC 3339. */
  closed_at: string;
  /** `night`, `weekend` or `holiday`. */
  closure_kind: string;
  /** The lowest depth at 2 % in it, whole USD. */
  depth_usd_lowest?: number | null;
  /** What anyone can check the fill of the last closed slot with. */
  evidence_url?: string | null;
  /** The last closed slot that is recorded, RFC 3339. */
  last_closed_slot: string;
  /** When it opens again, RFC 3339. */
  opens_at: string;
  /** The slot of the fresh rounds, RFC 3339. */
  reopened_slot?: string | null;
  /**
   * 100 × (1 − what the size fetched in the last closed slot ÷ what the oracle gave for it in the first slot with a
   * fresh round of every feed of a token with a calendar). Positive: selling before the opening was worse. Absent
   * where one of the two slots is.
   */
  reopening_gap_pct?: number | null;
  /** Slots with a snapshot that stands. */
  slots_recorded: number;
}

/** How the depths and gaps of some slots are spread. `q50` and `q95` are nearest ranks: values of the series. */
export interface HoursSpread {
  /** The lowest depth at 2 %, whole USD; `null` where too little is recorded. */
  depth_usd_lowest?: number | null;
  /** The median depth at 2 %, whole USD; `null` where too little is recorded. */
  depth_usd_q50?: number | null;
  /** The median gap at the size, percent; `null` where that is a refusal, or too little is recorded. */
  exit_gap_pct_q50?: number | null;
  /** The gap that 95 % of the slots do not exceed, percent; `null` likewise. */
  exit_gap_pct_q95?: number | null;
  /** Slots with a snapshot that stands. */
  slots: number;
  /** Slots of them in which the size had no gap: worse than any number. */
  slots_refused: number;
}

/** A token's calendar, and what it says of the newest snapshot's block. */
export interface HoursToken {
  /** The calendar as snapshots name it: `xnys`, `xnys_extended`, `xnys_24x5` or `xnys_continuous`. */
  calendar: string;
  /** `regular`, `pre`, `after`, `overnight`, `weekend`, `holiday` or `unknown`. */
  state: string;
  /** SHA-256 of its table's text. */
  table: string;
  /** When its table ends, RFC 3339: from then on nothing is known, and the market counts as closed. */
  table_ends: string;
  /** `token0` or `token1`. */
  token: string;
}

/** The length of a history's rows. */
export type Interval = '5m' | '1h' | '1d';

/** `GET /v1/exposure`. USD are whole; coverages are ratios rounded down. */
export type LiquidationExposure = LiquidationExposureOf & ({
  /** Whether either is above zero, or some slot did not take it. */
  bad_debt: boolean;
  /** How exposed. */
  band: Band;
  /** The sum of depths at the break-even gap, after the fall, in the newest slot looked at. */
  break_even_depth_now_usd?: number | null;
  /** The median slot's. */
  break_even_depth_q50_usd?: number | null;
  /** The gap up to which whoever liquidates does not lose, percent, rounded down. */
  break_even_gap_pct: number;
  /** The venues' least depths at two percent, summed though of different slots, ÷ `cascade_usd`. */
  coverage?: number | null;
  /** The least sum of depths at the break-even gap ÷ `cascade_usd`. */
  coverage_break_even?: number | null;
  /** The sum of depths at two percent in the newest slot looked at. */
  depth_now_usd?: number | null;
  /** The median slot's. */
  depth_q50_usd?: number | null;
  /** Whether enough is recorded for a band; what was seen is told all the same. */
  enough: boolean;
  /** Slots looked at: every venue stands. */
  have: number;
  /** The least that the venues together could take in a slot in which they did not take it. */
  least_fillable_usd?: number | null;
  /** The least of them. */
  lowest_break_even_depth_usd?: number | null;
  /** Its slot, RFC 3339, the first. */
  lowest_break_even_time?: string | null;
  /** As many are needed. */
  needed: number;
  /** What liquidators would lose at the widest gap against what they repay, rounded up. */
  shortfall_usd?: number | null;
  /** Slots in which some venue stands and some does not: unknown, not empty. */
  slots_incomplete: number;
  /** Slots of the period in which no venue stands. */
  slots_missing: number;
  /** Slots of which a search was given up. */
  slots_unanswered: number;
  /** Slots in which the venues together did not take it. */
  slots_unfillable: number;
  /** Live or preview. */
  status: Status;
  /** What nobody would have liquidated at a profit in the slot of the least depth, rounded up. */
  stranded_usd?: number | null;
  /** By venue, as asked. */
  venues: LiquidationVenue[];
  /** The widest gap at which it would have sold, split exactly over the venues, percent; of slots that took it. */
  worst_gap_pct?: number | null;
  /** Its slot, RFC 3339, the first. */
  worst_time?: string | null;
});

/** What an exposure is of, beside what came of it. */
export interface LiquidationExposureOf {
  /** What whoever liquidates gets beyond what they repay, percent. */
  bonus_pct: number;
  /** What is sold, USD at the oracle price after the fall. */
  cascade_usd: number;
  /** The length of the venues' shortest series. */
  days_observed: number;
  /** How far the price of the token sold has fallen in every slot looked at, percent. */
  fall_pct: number;
  /** The rules: `exposure/1`. */
  figure: string;
  /** The figure file: what anyone can recompute it from, with the snapshots that it names. */
  figure_url: string;
  /** The first slot looked at, RFC 3339. */
  from: string;
  /** The method, disclosed. */
  method: SeriesMethod;
  /** The version of the rules behind each fill. */
  method_version: string;
  /** The protocol's share of that, percent. */
  protocol_fee_pct: number;
  /** The last slot looked at, RFC 3339. */
  to: string;
}

/** A pool that the collateral is sold in. */
export interface LiquidationVenue {
  /** `token0` or `token1`: the token sold. */
  base: string;
  /** The slot of it, RFC 3339, the first. */
  lowest_depth_time?: string | null;
  /** The least depth at two percent, without the fall, whole USD; `null` where no slot was looked at. */
  lowest_depth_usd?: number | null;
  /** The pool. */
  pool: string;
}

/** The slot of the last seven days with the lowest depth. */
export interface LowestDepth {
  /** How far the pool's mid price lay below the oracle then, percent. */
  basis_pct?: number | null;
  /** Depth at 2 %, whole USD. */
  depth_usd: number;
  /** The slot's number. */
  slot: number;
  /** Slots without a snapshot of the seven days up to it. */
  slots_missing_7d: number;
  /** The slot's instant, RFC 3339. */
  time: string;
}

/** `GET /v1/hours/{pool}`. */
export type MarketHours = SeriesOf & ({
  /** The newest snapshot's block, RFC 3339: what is said of now is said of it. */
  block_time: string;
  /** While it was closed, by kind. */
  closed: HoursClosed[];
  /** Seconds until the market closes; `null` where it is closed, or never does. */
  closes_in_s?: number | null;
  /**
   * The closure that lasts, or the next one: `night`, `weekend` or `holiday`; `null` where there is none, or nobody
   * knows.
   */
  closure_kind?: string | null;
  /** How long that one lasts, seconds. */
  closure_length_s?: number | null;
  /** Each closure of the period with a recorded slot, ascending. */
  closures: HoursClosure[];
  /** Whether as many closures of that kind are recorded as are needed; also where there is none to come. */
  enough: boolean;
  /** The file by which anyone computes `open`, `closed` and `closures` again. */
  figure_url: string;
  /** Closures of that kind with a recorded slot. */
  have: number;
  /** Whether the markets of both tokens are open. */
  market_open: boolean;
  /** As many are needed; 0 where the market never closes. */
  needed: number;
  /** While the market was open. */
  open: HoursSpread;
  /** Seconds until the market opens; `null` where it is open, or nobody knows. */
  opens_in_s?: number | null;
  /** How far the oracle's answers may be relied on. */
  oracle_state: OracleState;
  /** The market session, `continuous` for assets without a calendar. */
  session_note: string;
  /** The tokens with a calendar; none: around the clock. */
  sessions: HoursToken[];
  /** Slots of the period without a snapshot that stands: what happened in them nobody knows. */
  slots_missing: number;
  /** Slots of which no table says whether the market was open. */
  slots_unknown: number;
  /** Seconds since the newest snapshot's slot. */
  snapshot_age_s: number;
  /**
   * Whether the median depth in closures of that kind is less than half of that of the open market; `null` where
   * that is not known.
   */
  thin_when_closed?: boolean | null;
});

/** The largest exit within a gap limit. */
export interface MaxSize {
  /** `gap`, `liquidity` (the pool's liquidity ends first) or `size_bound`. */
  limited_by: string;
  /**
   * The largest raw amount of the base token that passes; usually a little
   * above what `max_size_usd` stands for.
   */
  max_amount_in_raw: string;
  /** What the pool pays for it, raw units of the quote token. */
  max_amount_out_raw: string;
  /** The largest size whose own estimate passes, USD; zero where none does. */
  max_size_usd: number;
}

/** The method behind a result, disclosed. */
export interface Method {
  /** The size the figure holds for; absent where the size is the answer. */
  assumed_size_usd?: number | null;
  /** Where the depth was read. */
  depth_source: DepthSource;
  /** Every oracle answer used. */
  oracles: OracleDisclosure[];
}

/** What the greatest fall of a recorded period did. */
export interface NamedShock {
  /** What it was, in the operator's words. */
  about: string;
  /** The token whose price fell, as the operator named it. */
  base?: string | null;
  /** How far the mid price fell, percent; what a stress takes as `fall_pct`. At most 99. */
  fall_pct?: number | null;
  /** The figure file of the decay that it is read from. */
  figure_url?: string | null;
  /** The first slot looked at, RFC 3339. */
  from: string;
  /** The gap at which books are measured, percent. */
  gap_pct: number;
  /**
   * The greatest share of the book that was gone at a horizon of the decay, beyond what the fall alone did, percent; what a
   * stress takes as `haircut_pct`. At most 99.
   */
  haircut_pct?: number | null;
  /** How far the pool's mid price must have moved to count, percent. */
  move_pct: number;
  /** Its name, of small letters, digits and hyphens. */
  name: string;
  /** The pool that it was seen in. */
  pool: string;
  /** The slot of the greatest fall, RFC 3339, of equals the first; `null` where there is none. */
  time?: string | null;
  /** The last slot looked at, RFC 3339. */
  to: string;
  /** Why there is none: the problem's code, or `no_fall`. */
  why_not?: string | null;
  /** Over how many slots. */
  within_slots: number;
}

/** `GET /v1/shocks`: shocks that the operator named, as a stress takes them. */
export interface NamedShocks {
  /** In the order of the configuration; none where the operator named none. */
  shocks: NamedShock[];
}

/** One oracle answer behind a result. */
export interface OracleDisclosure {
  /** Seconds from the answer to the block; of a sequencer, for how long it has been up or down. */
  age_s?: number | null;
  /** The answer, raw. */
  answer_raw: string;
  /** Its decimals. */
  decimals: number;
  /** The feed's address. */
  feed?: string | null;
  /**
   * `token0_usd` or `token1_usd`: what the answer is a factor of. `sequencer_uptime`: whether the
   * chain's sequencer is up (0) or down (1).
   */
  role: string;
  /** `chainlink` or `fixed`. */
  source: string;
  /**
   * Whether that is longer than the feed's heartbeat; of a sequencer, whether it is down, or up
   * for no longer than its grace period.
   */
  stale: boolean;
}

/** How far the oracle's answers may be relied on. */
export type OracleState = 'fresh' | 'held_over_close' | 'stale';

/** One order of a simulated exit. */
export interface OrderFill {
  /** Raw units of the base token sold. */
  amount_in_raw: string;
  /** Raw units of the quote token bought. */
  amount_out_raw: string;
  /** The order's own gap, percent. */
  exit_gap_pct: number;
  /** Which order, counted from 1. */
  order: number;
}

/** `GET /v1/payments`. */
export interface Payments {
  /** The token. */
  asset: string;
  /** What the price buys, in words. */
  buys: string;
  /** The token's symbol. */
  currency: string;
  /**
   * How many estimates a client has free of charge on a day of UTC, by the tools for agents and as positions of
   * portfolios.
   */
  free_estimates_per_day: number;
  /** The chain, by its CAIP-2 id. */
  network: string;
  /** Who is paid. */
  pay_to: string;
  /** The price, in whole tokens. */
  price: string;
  /** The same in units of the token. */
  price_units: string;
  /** What is priced. */
  priced: string[];
  /** The key that signs receipts, and nothing else. */
  receipt_key: ReceiptJwk;
}

/**
 * The accuracy record of a recorded pool: `GET /v1/accuracy/{pool}`. Its swaps are those of the documents that the
 * pool's heads commit to.
 */
export type PoolAccuracy = AccuracyRecord & {
  /** Days of snapshots behind the pool's newest, at 288 a day. */
  days_observed: number;
  /** Documents that the swaps were read from … */
  documents: number;
  /** The file by which anyone computes the record again. */
  figure_url: string;
  /** … and where they are, from the first slot on. */
  fills_url: string;
  /**
   * Later slots of the period that stand and whose swaps no head commits to yet: their blocks are not final, or
   * their logs were not read.
   */
  slots_waiting: number;
};

/** A pool's own price in a slot, and what it held around that: depth without the distance from the oracle. */
export interface PoolBook {
  /** How far the pool's mid price lay below the oracle, percent; negative: above. `null` where that is out of bounds. */
  basis_pct?: number | null;
  /**
   * The depth at 2 % from the pool's own mid price, whole USD at the oracle's price; `null` where the search for it was
   * given up.
   */
  book_usd?: number | null;
}

/** One monitored pool. */
export interface PoolEntry {
  /**
   * The token sold unless the caller asks for the other; absent before the
   * first snapshot.
   */
  base?: TokenLabel | null;
  /** The chain's slug. */
  chain: string;
  /** Recorded slots ÷ 288. */
  days_observed: number;
  /**
   * What a sale pays to the pool as fee, percent, in the newest snapshot; absent where it depends on the sale,
   * which `name` says.
   */
  fee_pct?: number | null;
  /** Instant of the newest slot, RFC 3339. */
  last_slot: string;
  /** Why the newest slot is missing; absent where it is recorded. */
  last_slot_missing?: string | null;
  /**
   * Venue and fee in words, `Uniswap v3 0.05 %`: no two pools of one chain and one pair have the same name here.
   * Absent before the first snapshot.
   */
  name?: string | null;
  /** The pool's identifier, `<chain>:<address>`. */
  pool: string;
  /** The other token; absent before the first snapshot. */
  quote?: TokenLabel | null;
  /** Instant at which the pool's series began, RFC 3339. */
  series_start: string;
  /** Slots without one. */
  slots_missing: number;
  /** Slots with a snapshot. */
  slots_recorded: number;
  /** Live or preview; absent before the first snapshot. */
  status?: Status | null;
  /** The venue; absent where the pool's factory is not known, or before the first snapshot. */
  venue?: string | null;
}

/** All monitored pools, in the order of their identifiers. */
export interface PoolList {
  /** Where the next page begins; absent on the last, and where there are no pages. */
  next_cursor?: string | null;
  /** The pools. */
  pools: PoolEntry[];
}

/** `GET /v1/portfolio`. */
export interface Portfolio {
  /** The exits, in the order of their first position. */
  exits: PortfolioExit[];
  /** The positions, as asked. */
  positions: Position[];
  /** The sums. */
  total: PortfolioTotal;
  /** Which exit is the worst: one that cannot be filled, else the one of the widest gap. */
  worst_exit: number;
}

/** All positions in one pool and direction, sold together. */
export interface PortfolioExit {
  /** `token0` or `token1`: the token sold. */
  base: string;
  /** The pool's identifier. */
  pool: string;
  /** Why there is none. */
  problem?: Problem | null;
  /** What it fills at; absent where it cannot be filled. */
  result?: Published_Amounts | null;
  /** The sum of the positions, USD. */
  size_usd: number;
  /** What of it cannot be filled, USD. */
  unfilled_usd: number;
}

/** The sums over all exits. */
export interface PortfolioTotal {
  /** That of the exit with the shortest series: the sums are no stronger than it. */
  days_observed: number;
  /**
   * What anyone can check with the gaps behind the means, and what cannot be filled: of every
   * exit, in the order of `exits`.
   */
  evidence_urls: string[];
  /**
   * The mean of the exits' gaps, weighted by size, percent; null where something cannot
   * be filled.
   */
  exit_gap_pct?: number | null;
  /** The same mean over what can be filled; null where nothing can. */
  filled_gap_pct?: number | null;
  /** The method, disclosed; its window is that of the exit with the shortest series. */
  method: SeriesMethod;
  /** The version of the rules that produced the figures. */
  method_version: string;
  /** All positions, USD. */
  size_usd: number;
  /** Preview where any exit is. */
  status: Status;
  /** What cannot be filled, USD. */
  unfilled_usd: number;
}

/** One position of a portfolio. */
export interface Position {
  /** `token0` or `token1`: the token sold in that pool. */
  base?: string | null;
  /** Which of `exits` sell it, counted from 0; with other positions of the pool or token. */
  exits: number[];
  /** The pool's identifier; absent where a token is sold through all its pools. */
  pool?: string | null;
  /** The position's size, USD. */
  size_usd: number;
  /** The token sold through all its pools, `<chain>/<token>`. */
  token?: string | null;
}

/** A refusal or failure as a document. */
export interface Problem {
  /** The stable code. */
  code: ProblemCode;
  /** One sentence for people: the cause. */
  detail: string;
  /** What anyone can check with that the size cannot be filled. */
  evidence_url?: string | null;
  /** The parameter at fault. */
  field?: string | null;
  /** The remedy, where one is known. */
  hint?: string | null;
  /** The largest size that can be filled, USD. */
  max_fillable_usd?: number | null;
  /** The stable reason behind a missing slot or an unreadable chain. */
  reason?: string | null;
}

/** Stable codes of everything that can be refused. */
export type ProblemCode = 'invalid_parameter' | 'invalid_pool' | 'unknown_pool' | 'unknown_base' | 'unknown_token' | 'no_snapshot_yet' | 'slot_missing' | 'slot_retracted' | 'before_series' | 'after_series' | 'rounds_to_no_input' | 'rounds_to_no_output' | 'beyond_liquidity' | 'gap_out_of_range' | 'search_exhausted' | 'sizing_not_exact' | 'orders_not_exact' | 'figure_unsupported_kind' | 'chain_unreadable' | 'proof_out_of_reach' | 'proofs_not_served' | 'unsupported_layout' | 'proof_too_wide' | 'block_not_canonical' | 'source_unreadable' | 'unknown_parameter' | 'unknown_chain' | 'period_reversed' | 'unknown_method_version' | 'not_live' | 'series_too_short' | 'snapshot_too_old' | 'not_available' | 'not_found' | 'method_not_allowed' | 'address_too_long' | 'body_not_accepted' | 'rate_limited' | 'token_required' | 'unknown_alert' | 'request_differs' | 'too_many_alerts' | 'alerts_full' | 'payment_required' | 'payment_malformed' | 'payment_used' | 'payment_pending' | 'payments_unavailable' | 'free_estimates_used' | 'timed_out' | 'internal_error';

/** A problem over HTTP. */
export type ProblemDocument = Problem & {
  /** Names this answer in the service's log. */
  request_id: string;
  /** The HTTP status. */
  status: number;
  /** The kind in words, the same each time. */
  title: string;
  /** Names the kind of problem: `urn:exitgap:problem:<code>`. */
  type: string;
};

/** An answer as the service publishes it. */
export type Published_Amounts = Answer_Amounts & ({
  /**
   * What anyone can check this number with: of a simulation what the size fills at at once, of a
   * largest size its own exit. Absent where rows carry their own, and where nothing can be proven.
   */
  evidence_url?: string | null;
  /**
   * The lowest depth at 2 % of the 2,016 slots (7 days) up to the result's, USD, in the
   * result's direction; absent where no slot tells one.
   */
  lowest_depth_7d_usd?: number | null;
  /**
   * Where slots after the result's are missing or retracted: the pool's heads up to the newest
   * sealed slot, which say so. `exitgap verify --window` takes them with the evidence.
   */
  newer_heads_url?: string | null;
  /** Seconds from the slot's instant to this answer. */
  snapshot_age_s: number;
  /** The snapshot behind the answer, canonical bytes. */
  snapshot_url: string;
  /**
   * The pool's heads of the seven days up to the slot: bears out `days_observed`, the window
   * and `lowest_depth_7d_usd`.
   */
  window_url: string;
});

/** An answer as the service publishes it. */
export type Published_GapRung = Answer_GapRung & ({
  /**
   * What anyone can check this number with: of a simulation what the size fills at at once, of a
   * largest size its own exit. Absent where rows carry their own, and where nothing can be proven.
   */
  evidence_url?: string | null;
  /**
   * The lowest depth at 2 % of the 2,016 slots (7 days) up to the result's, USD, in the
   * result's direction; absent where no slot tells one.
   */
  lowest_depth_7d_usd?: number | null;
  /**
   * Where slots after the result's are missing or retracted: the pool's heads up to the newest
   * sealed slot, which say so. `exitgap verify --window` takes them with the evidence.
   */
  newer_heads_url?: string | null;
  /** Seconds from the slot's instant to this answer. */
  snapshot_age_s: number;
  /** The snapshot behind the answer, canonical bytes. */
  snapshot_url: string;
  /**
   * The pool's heads of the seven days up to the slot: bears out `days_observed`, the window
   * and `lowest_depth_7d_usd`.
   */
  window_url: string;
});

/** An answer as the service publishes it. */
export type Published_LadderRows = Answer_LadderRows & ({
  /**
   * What anyone can check this number with: of a simulation what the size fills at at once, of a
   * largest size its own exit. Absent where rows carry their own, and where nothing can be proven.
   */
  evidence_url?: string | null;
  /**
   * The lowest depth at 2 % of the 2,016 slots (7 days) up to the result's, USD, in the
   * result's direction; absent where no slot tells one.
   */
  lowest_depth_7d_usd?: number | null;
  /**
   * Where slots after the result's are missing or retracted: the pool's heads up to the newest
   * sealed slot, which say so. `exitgap verify --window` takes them with the evidence.
   */
  newer_heads_url?: string | null;
  /** Seconds from the slot's instant to this answer. */
  snapshot_age_s: number;
  /** The snapshot behind the answer, canonical bytes. */
  snapshot_url: string;
  /**
   * The pool's heads of the seven days up to the slot: bears out `days_observed`, the window
   * and `lowest_depth_7d_usd`.
   */
  window_url: string;
});

/** An answer as the service publishes it. */
export type Published_RedemptionWindow = Answer_RedemptionWindow & ({
  /**
   * What anyone can check this number with: of a simulation what the size fills at at once, of a
   * largest size its own exit. Absent where rows carry their own, and where nothing can be proven.
   */
  evidence_url?: string | null;
  /**
   * The lowest depth at 2 % of the 2,016 slots (7 days) up to the result's, USD, in the
   * result's direction; absent where no slot tells one.
   */
  lowest_depth_7d_usd?: number | null;
  /**
   * Where slots after the result's are missing or retracted: the pool's heads up to the newest
   * sealed slot, which say so. `exitgap verify --window` takes them with the evidence.
   */
  newer_heads_url?: string | null;
  /** Seconds from the slot's instant to this answer. */
  snapshot_age_s: number;
  /** The snapshot behind the answer, canonical bytes. */
  snapshot_url: string;
  /**
   * The pool's heads of the seven days up to the slot: bears out `days_observed`, the window
   * and `lowest_depth_7d_usd`.
   */
  window_url: string;
});

/** An answer as the service publishes it. */
export type Published_Simulation = Answer_Simulation & ({
  /**
   * What anyone can check this number with: of a simulation what the size fills at at once, of a
   * largest size its own exit. Absent where rows carry their own, and where nothing can be proven.
   */
  evidence_url?: string | null;
  /**
   * The lowest depth at 2 % of the 2,016 slots (7 days) up to the result's, USD, in the
   * result's direction; absent where no slot tells one.
   */
  lowest_depth_7d_usd?: number | null;
  /**
   * Where slots after the result's are missing or retracted: the pool's heads up to the newest
   * sealed slot, which say so. `exitgap verify --window` takes them with the evidence.
   */
  newer_heads_url?: string | null;
  /** Seconds from the slot's instant to this answer. */
  snapshot_age_s: number;
  /** The snapshot behind the answer, canonical bytes. */
  snapshot_url: string;
  /**
   * The pool's heads of the seven days up to the slot: bears out `days_observed`, the window
   * and `lowest_depth_7d_usd`.
   */
  window_url: string;
});

/** The same as others read and write it. */
export interface ReceiptJwk {
  /** `EdDSA`. */
  alg?: string | null;
  /** `Ed25519`. */
  crv: string;
  /**
   * The key's name: the base64url of its thumbprint, the SHA-256 of
   * `{"crv":"Ed25519","kty":"OKP","x":"…"}`.
   */
  kid?: string | null;
  /** `OKP`. */
  kty: string;
  /** The key's 32 bytes, base64url. */
  x: string;
}

/** A fact of the snapshot that a redemption rests on. */
export interface RedemptionFact {
  /** The data of the call. */
  call: string;
  /** The contract that was asked. */
  contract: string;
  /** Its name in the snapshot. */
  name: string;
  /**
   * What it says: `capacity` and `ahead`, in the token's smallest units; `capacity_asset`, and `nav` of one whole token, in those
   * of the asset; `fee`; `paused`, any word but zero.
   */
  says: string;
  /** The first word of the answer, as a whole number. */
  word_raw: string;
}

/** One way of redeeming a size. */
export interface RedemptionPath {
  /** `100 × (receives_usd - receives_now_usd) ÷ receives_now_usd`: positive, redeeming brings more. */
  advantage_pct?: number | null;
  /** The same over `t_max_s`. */
  break_even_annual_pct_at_t_max?: number | null;
  /**
   * The advantage as a simple yearly rate, percent, over `t_min_s`: who can do without the money for less redeems. `null`
   * of no wait.
   */
  break_even_annual_pct_at_t_min?: number | null;
  /** The most, USD; `null`: as much as one likes, or as `fee_pct`. */
  capacity_usd?: number | null;
  /** Who may redeem, as the terms say. */
  eligibility: string;
  /** The facts that it rests on, read at the block of the snapshot; the other numbers are the terms'. */
  facts?: RedemptionFact[];
  /** What is kept of what is redeemed, percent; `null` where a fact would tell it and `refusal` says why none does. */
  fee_pct?: number | null;
  /** `at_once`; `on_days`: at the close of trading days after a cut-off; `in_turn`: after those who came before. */
  kind: string;
  /** The least that is redeemed, USD. */
  minimum_usd: number;
  /** What one whole token pays before the fee, USD, by a fact, rounded down; absent where it is the oracle's price. */
  pays_usd?: number | null;
  /** Of a queue: whether that is what its recorded lengths fell by a day, of the last seven, and not the terms'. */
  per_day_recorded?: boolean;
  /** Of a queue: what is paid a day, USD, at the least, in the middle, at the most; `null` as `fee_pct`. */
  per_day_usd?: number[] | null;
  /** What both bring, USD, at the oracle's price or at `pays_usd`; `null` where the rest cannot be sold. */
  receives_usd?: number | null;
  /** What is redeemed, USD: the size, or the capacity. */
  redeemed_usd?: number | null;
  /**
   * Why these terms do not take it: `below_minimum`, or `unknown_days` beyond the calendar's table; `paused`, by a fact;
   * `fact_missing`: the snapshot has not one fact of a name that they give; `fact_invalid`: a fee of more than all, or a token
   * that pays nothing; `asset_unknown`: what it pays in is no token of the pool; `pace_unknown`: the queue's lengths of seven
   * days are not known.
   */
  refusal?: string | null;
  /** What is sold now beside that, USD. */
  sold_usd?: number | null;
  /** The same at the most. */
  t_max_s?: number | null;
  /** Of a queue: the same at its pace in the middle. */
  t_middle_s?: number | null;
  /** How long one waits at the least, seconds; `null`: nobody is paid. */
  t_min_s?: number | null;
  /** When they were read, `YYYY-MM-DD`. */
  terms_read_on: string;
  /** The SHA-256 of the file of terms, 0x-prefixed. */
  terms_sha256: string;
  /** Where the terms stand. */
  terms_source: string;
}

/** A retraction. */
export interface RetractionNotice {
  /** The slot whose head retracts it. */
  by_slot: number;
  /** The hash of the block that stands in its place, where it was orphaned. */
  canonical_block_hash?: string | null;
  /**
   * `orphaned`: its block is not on the chain that became final; `misread`: a later full reading
   * proved its ticks wrong.
   */
  code: string;
  /** The hash of the block the snapshot was read at, where that was orphaned. */
  orphaned_block_hash?: string | null;
}

/** `GET /v1/routes/{chain}/{token}`. */
export type Routes = BestSplit & ({
  /** The chain's slug. */
  chain: string;
  /** That of the leg with the shortest series: the figures are no stronger than it. */
  days_observed: number;
  /** Whether the markets of the tokens of all legs are open. */
  market_open: boolean;
  /** The method, disclosed; its window is that of the leg with the shortest series. */
  method: SeriesMethod;
  /** USD per whole token sold, by the oracle. */
  oracle_price_usd: number;
  /** How far the oracles' answers may be relied on: the worst of the legs' pools. */
  oracle_state: OracleState;
  /** The quote group asked for: only pools that buy a token of it were looked at. */
  quote_group?: string | null;
  /**
   * The quote groups of the chain that may be asked for, such as `usd`: without one, a leg may end in any token, which is
   * counted at its oracle's price.
   */
  quote_groups?: string[];
  /** The market session: of a leg whose market is closed, where one is. */
  session_note: string;
  /** The slot's number: all venues are of this one. */
  slot: number;
  /** Its instant, RFC 3339. */
  slot_time: string;
  /** Seconds since it. */
  snapshot_age_s: number;
  /** The token sold. */
  token: TokenLabel;
});

/** What [`crate::Method`] says of a single answer, said of figures of several slots. */
export interface SeriesMethod {
  /** The size the figures hold for, USD; absent where each figure names its own. */
  assumed_size_usd?: number | null;
  /** Where their depth was read. */
  depth_source: SeriesSource;
  /** The slots looked at. */
  window: Window;
}

/** What a series' figures are of. */
export interface SeriesOf {
  /** `token0` or `token1`: the token sold. */
  base: string;
  /**
   * Recorded slots ÷ 288, of the pool's whole series up to `to`: how long the series is that
   * the period is a part of.
   */
  days_observed: number;
  /** Instant of the first slot looked at, RFC 3339. */
  from: string;
  /** The method, disclosed; its window counts the slots of these figures only. */
  method: SeriesMethod;
  /** The version of the rules behind the figures. */
  method_version: string;
  /** The pool's identifier. */
  pool: string;
  /** The standard size, USD. */
  size_usd: number;
  /** Live or preview. */
  status: Status;
  /** Instant of the last slot looked at, RFC 3339. */
  to: string;
}

/**
 * Where the depth of several slots was read. Each slot's own block, snapshot and oracles are in
 * its evidence.
 */
export interface SeriesSource {
  /** The chain's slug; absent where the figures are of several chains. */
  chain?: string | null;
  /** Where it was read. */
  kind: DepthSourceKind;
}

/** A row by size: what it fills at, or why it cannot be filled. */
export interface SizeRung {
  /** What anyone can check the exit with, where the service answers. */
  evidence_url?: string | null;
  /** The exit of that size. */
  exit?: Amounts | null;
  /** Why there is none. */
  problem?: Problem | null;
  /** The size, USD. */
  size_usd: number;
  /** A smaller size whose gap is larger, USD: the fee of this pool depends on the size. */
  worse_below_usd?: number | null;
}

/** What a series holds for a slot. */
export type SlotState = 'recorded' | 'missing' | 'retracted' | 'retired';

/** What became of a slot since it was sealed: told beside its evidence, never inside it. */
export interface SlotStatus {
  /**
   * Where its ticks are in doubt: the slot whose full reading of the pool was not what had been
   * followed until then.
   */
  doubted_by_slot?: number | null;
  /** Why it is missing. */
  missing_reason?: string | null;
  /** The pool's identifier. */
  pool: string;
  /** Where the slot was taken back, because its block was orphaned or its ticks were misread. */
  retraction?: RetractionNotice | null;
  /** The slot's number. */
  slot: number;
  /** The slot's instant, RFC 3339. */
  slot_time: string;
  /** What the series holds for it. */
  state: SlotState;
}

/** All of an exit in one venue. */
export interface SplitAlone {
  /** The code of why it does not, such as `beyond_liquidity`. */
  code?: string | null;
  /** What anyone can check it with. */
  evidence_url?: string | null;
  /** What all of it fills at there, its fixed cost taken off, percent; `null` where it does not fill. */
  exit_gap_pct?: number | null;
  /** The largest size that it fills, USD, where that is why. */
  max_fillable_usd?: number | null;
  /** Its venue and fee. */
  name: string;
  /** The pool. */
  pool: string;
  /** SHA-256 of the snapshot that it and a leg of this pool follow from. */
  snapshot_hash?: string | null;
}

/** A venue that was not split over. */
export interface SplitLeftOut {
  /**
   * Why: `not_concave`, `oracle_differs`, `gap_out_of_range`, `too_many_venues`, `slot_missing` or `no_snapshot_yet`; of a share's
   * pools `too_many_venues`, or the code of a problem.
   */
  code: string;
  /** The same in a sentence. */
  detail: string;
  /** The pool. */
  pool: string;
}

/** What one venue sells of an exit: a sale of its own, which its evidence proves. */
export interface SplitLeg {
  /** Raw units of the token sold. */
  amount_in_raw: string;
  /** Raw units of the token bought: what the contract pays. */
  amount_out_raw: string;
  /** `token0` or `token1`: the token sold, by its place there. */
  base: string;
  /** What anyone can check the leg with. */
  evidence_url?: string | null;
  /** Its own gap, percent: exact. Positive is worse than the oracle. */
  exit_gap_pct: number;
  /** What using the venue costs beside, USD. */
  fixed_cost_usd: number;
  /** Its venue and fee. */
  name: string;
  /** The pool. */
  pool: string;
  /** The token bought. */
  quote: TokenLabel;
  /** What it sells, USD. The legs add up to the size asked for. */
  size_usd: number;
}

/**
 * What a gap is made of: `1 − gap = (1 − basis) × (1 − fee) × (1 − impact)`, each
 * rounded to six decimals on its own.
 */
export interface SplitPct {
  /** How far the pool's mid price lies below the oracle, percent. */
  basis_pct: number;
  /** The pool's fee, percent. */
  fee_pct: number;
  /** What moving the price costs, percent. */
  impact_pct: number;
}

/** The gap at one standard size. */
export interface StandardGap {
  /** What anyone can check the gap with. */
  evidence_url?: string | null;
  /** The gap, percent; absent where the size has none. */
  exit_gap_pct?: number | null;
  /** Where the size lies beyond liquidity: the most that can be filled, USD. */
  max_fillable_usd?: number | null;
  /** Why it has none. */
  refusal?: ProblemCode | null;
  /** The size, USD. */
  size_usd: number;
}

/** Whether a figure may be relied on. */
export type Status = 'live' | 'preview';

/** What an owner shows for a stream in place of the token: `POST /v1/alerts/ticket`. */
export interface StreamTicket {
  /** Until when a stream can be begun with it, RFC 3339. */
  expires: string;
  /** The parameter `ticket` of `/v1/stream`. It lets nobody do anything but read what the owner's rules say. */
  ticket: string;
}

/** `GET /v1/stress/{pool}`. */
export type Stress = SeriesOf & ({
  /** More of the period's slots; absent of a period of more than 31 days. */
  detail?: StressDetail | null;
  /** What anyone can check the worst gap with. */
  evidence_url?: string | null;
  /** Of the slots in which the size lay beyond liquidity, the one that could fill the least. */
  least_fillable?: FillablePoint | null;
  /** The lowest depth. */
  lowest_depth?: DepthPoint | null;
  /** … and of the lowest depth: whether liquidity had gone, or the price had moved away. */
  lowest_depth_book?: PoolBook | null;
  /** Slots without one: what happened in them nobody knows. */
  slots_missing: number;
  /** Slots with a snapshot that stands. */
  slots_recorded: number;
  /** Recorded slots in which the size had no gap: worse than any number. */
  slots_refused: number;
  /** Slots whose snapshot was retracted. */
  slots_retracted: number;
  /**
   * The worst number: the widest gap of the recorded slots that have one. Absent where none
   * has.
   */
  worst_gap?: GapPoint | null;
  /** What the pool held around its own price in the slot of the worst gap … */
  worst_gap_book?: PoolBook | null;
});

/** The slots of a period, one by one. A slot that refused the size is worse than any number. */
export interface StressDetail {
  /** How long the gap lay above `limit_pct`, where that was asked for. */
  above?: TimeAbove | null;
  /** The median gap, percent, by nearest rank; `null` where that slot refused the size, or there is none. */
  gap_q50_pct?: number | null;
  /** The gap that nineteen of twenty slots did not exceed, percent; `null` likewise. */
  gap_q95_pct?: number | null;
  /** Slots without a snapshot that stands, within an hour of the worst slot either way: outages come with storms. */
  slots_missing_near_worst: number;
  /** The ten worst slots, the worst first. */
  worst_slots: GapPoint[];
}

/** One of the worst slots. */
export interface StressedSlot {
  /** The same from the pools' own mid prices. */
  book_usd: number;
  /** The venues' depths at two percent from the oracle, summed, whole USD. */
  depth_usd: number;
  /** The gap of the exact split, percent; `null` where the venues together did not take the size. */
  exit_gap_pct?: number | null;
  /** What they took then, whole USD; `null` where they took all of it. */
  max_fillable_usd?: number | null;
  /** The slot's number. */
  slot: number;
  /** The slot's instant, RFC 3339. */
  time: string;
}

/** A pool that is sold in. */
export interface StressedVenue {
  /** `token0` or `token1`: the token sold. */
  base: string;
  /** The slot of it, RFC 3339, the first. */
  lowest_depth_time?: string | null;
  /** The least depth at two percent after the shock, whole USD; `null` where no slot was looked at. */
  lowest_depth_usd?: number | null;
  /** The pool. */
  pool: string;
}

/** How long a gap lay above a limit. A slot that refused the size did. */
export interface TimeAbove {
  /** The limit, percent. */
  limit_pct: number;
  /** Its first slot, RFC 3339; `null` where there is none. */
  longest_run_from?: string | null;
  /** The longest run of such slots, one after the other: a slot without a snapshot ends it. */
  longest_run_slots: number;
  /** Slots above it. */
  slots: number;
}

/**
 * A token as its contract describes itself. The symbol is a label only: any
 * contract may choose any.
 */
export interface TokenLabel {
  /** The token contract's address. */
  address: string;
  /** Decimals of one whole token. */
  decimals: number;
  /** Its symbol, cleaned to printable ASCII. */
  symbol: string;
}

/** `GET /v1/stress`. USD are whole. A slot in which the venues did not take the size is worse than any number. */
export type VenueStress = VenueStressOf & ({
  /** How long the gap lay above `limit_pct`; `null` where that was not asked for. */
  above?: TimeAbove | null;
  /** The median slot's. */
  book_q50_usd?: number | null;
  /** The median slot's depth. */
  depth_q50_usd?: number | null;
  /** The median gap, percent, by nearest rank; `null` where that slot did not take it, or there is none. */
  gap_q50_pct?: number | null;
  /** The gap that nineteen of twenty slots did not exceed, percent; `null` likewise. */
  gap_q95_pct?: number | null;
  /** Slots looked at: every venue stands. */
  have: number;
  /** Its slot, RFC 3339, the first. */
  lowest_book_time?: string | null;
  /** The least sum over venues of the depth at two percent from their own mid prices. */
  lowest_book_usd?: number | null;
  /** The sum of books in that slot: whether liquidity had gone, or the price had moved away. */
  lowest_depth_book_usd?: number | null;
  /** Its slot, RFC 3339, the first. */
  lowest_depth_time?: string | null;
  /** The least sum over venues of the depth at two percent from the oracle. */
  lowest_depth_usd?: number | null;
  /** Slots in which some venue stands and some does not: unknown, not empty. */
  slots_incomplete: number;
  /** Slots of the period in which no venue stands. */
  slots_missing: number;
  /** Slots in which not every venue stands, within an hour of the worst either way: outages come with storms. */
  slots_missing_near_worst: number;
  /** Slots of which a search was given up. */
  slots_unanswered: number;
  /** Slots in which the venues together did not take it. */
  slots_unfillable: number;
  /** Slots in which no venue's mid price had moved by `after_move_pct`: not looked at; absent without it. */
  slots_unmoved?: number | null;
  /** Slots of which that is unknown, since so many slots before in the period not every venue stands; likewise. */
  slots_untestable?: number | null;
  /** Live or preview. */
  status: Status;
  /** By venue, as asked. */
  venues: StressedVenue[];
  /** The ten worst slots, the worst first. */
  worst_slots: StressedSlot[];
});

/** What a stress is of, beside what came of it. */
export interface VenueStressOf {
  /** Only slots are looked at in which the mid price of a venue has moved by so much, percent; absent: every slot. */
  after_move_pct?: number | null;
  /** The length of the venues' shortest series. */
  days_observed: number;
  /** How far the price of the token sold has fallen, percent. */
  fall_pct: number;
  /** The rules: `stress/1`. */
  figure: string;
  /** The figure file: what anyone can recompute it from, with the snapshots that it names. */
  figure_url: string;
  /** The first slot looked at, RFC 3339. */
  from: string;
  /** How much of everybody's liquidity has gone in every slot looked at, percent. */
  haircut_pct: number;
  /** The method, disclosed. */
  method: SeriesMethod;
  /** The version of the rules behind each fill. */
  method_version: string;
  /** What is sold, USD at the oracle price after the fall. */
  size_usd: number;
  /** The last slot looked at, RFC 3339. */
  to: string;
  /** Since how many slots before it must have moved; likewise. */
  within_slots?: number | null;
}

/** New keys of an endpoint: `POST /v1/alerts/{alert}/rotate`. */
export interface WebhookKeys {
  /** Until when the keys before sign too, RFC 3339. */
  previous_until: string;
  /** The key that `v1a` signatures are checked with. */
  public_key: string;
  /** The key that `v1` signatures are checked with: told here and never again. */
  webhook_secret: string;
}

/** Where a rule's events are sent. */
export interface WebhookTold {
  /** Since when nothing but failures came of it, RFC 3339. */
  failing_since?: string | null;
  /** The last failure. */
  last_failure?: string | null;
  /** Events that wait for being sent. */
  pending: number;
  /** The one before, which signs too for a day after a change of keys. */
  previous_public_key?: string | null;
  /** The key that `v1a` signatures are checked with: `whpk_` and base64. */
  public_key: string;
  /**
   * `unverified`: it was asked and has not said yet that it wants events; `verified`: it is sent them; `disabled`: it
   * answered 410, or failed for five days.
   */
  state: string;
  /** The address. */
  url: string;
}

/** The slots a result is drawn from. */
export interface Window {
  /** Instant of the series' first slot, RFC 3339. */
  from: string;
  /** Slots without one. */
  slots_missing: number;
  /** Slots with a snapshot. */
  slots_recorded: number;
  /** Instant of the last slot looked at, RFC 3339. */
  to: string;
}
