// Types of the npm package `exitgap`. Documents are spelled as the service and `exitgap … --json`
// spell them; tests compile what the Rust types really write, and what a service really answers, as
// literals of them.

/** Loads the module. Await it once before anything else; further calls wait for the same load. */
export function init(source?: InitSource): Promise<void>;

/** Where the module comes from, if not from beside this package's own files. */
export type InitSource =
  | URL
  | string
  | Request
  | Response
  | ArrayBuffer
  | Uint8Array<ArrayBuffer>
  | WebAssembly.Module
  | Promise<Response>;

/** The version of this package. */
export function version(): string;

/** Bytes of a document, as they were fetched, or the same as text. */
export type Bytes = Uint8Array | ArrayBuffer | string;

/**
 * A snapshot file, `{"snapshot": …, "state": …}`: a snapshot and the state that it names by hash, as
 * `Client.snapshot` and `exitgap snapshot` give them, with `"pool"` where the contract has more than two tokens. An evidence file has both likewise, and does, too.
 */
export type SnapshotFile = Bytes;

/** A number, or its plain decimal text: `1000`, `"1000.5"`, `1000n`. */
export type DecimalInput = number | bigint | string;

/**
 * The token sold: `token0`, `token1`, a symbol or an address. A snapshot does not say which one its
 * pool sells by default, so questions to one name it; a service knows, and names it in its answers
 * (`base.address`).
 */
export type BaseInput = "token0" | "token1" | (string & {});

/**
 * Verifies an evidence file. Pure: no network, no clock. Never throws for what a file holds; its
 * report says which checks fail.
 */
export function verify(evidence: Bytes, policy?: VerifyPolicy): VerificationReport;

/** What the caller trusts and remembers. Keys come from the caller, never from the file. */
export interface VerifyPolicy {
  /** Verifier keys, `<origin>+<8 hex digits>+<base64>`. Without one the verdict is `incomplete`. */
  keys?: readonly string[];
  /**
   * A checkpoint seen before of the same log, and the RFC 6962 consistency proof, hashes in base64,
   * between it and the file's where the two have different sizes: computed from the log's tiles
   * (C2SP tlog-tiles, under `/log/` of a service), as `Client.estimate` does. Makes the check
   * `consistency` required.
   */
  seen?: { note: string; proof?: readonly string[] };
  /**
   * A head window that ends at the file's head, or goes on from it. Later heads are proven by the
   * checkpoint in it where a key of `keys` signed that, and claimed by whoever made it without a key.
   * Makes `window` required.
   */
  window?: Bytes;
}

/**
 * Computes a file's result, or its refusal, anew from its own snapshot and head. Checks no hash and no
 * signature.
 */
export function recompute(evidence: Bytes): Recomputation;

/**
 * Whether the witnesses that you trust cosigned the checkpoint that an evidence file rests on, and since when it was there.
 * `policy` is the text of a policy (C2SP tlog-policy): lines such as `witness <name> <key>`, `group <name> 2 <name> <name>
 * <name>` and `quorum <name>`. No signature of the log's own is looked at unless the policy names logs: that is `verify`.
 */
export function witnessed(evidence: Bytes, policy: Bytes, of?: WitnessedOptions): WitnessCheck;

export interface WitnessedOptions {
  /** The Unix second that it is, by your clock: a cosignature from later does not count. */
  nowS?: number;
}

/**
 * Computes a figure file's result anew from the snapshots and documents that it names, each hashed, and makes the other
 * checks. They are asked of `page`; without it the check `snapshots` is not made, and the verdict is `incomplete`.
 */
export function verifyFigure(figure: Bytes, of?: VerifyFigureOptions): Promise<FigureReport>;

/**
 * The name of a snapshot: the SHA-256 of its bytes. Refuses a file whose state is not the one that its
 * snapshot names. Both may be of a kind that only a later version reads.
 */
export function snapshotHash(snapshot: SnapshotFile): string;

export interface VerifyFigureOptions {
  /** As those of {@link VerifyPolicy}. */
  keys?: readonly string[];
  /**
   * Gives snapshot files, one a line, beginning with the one that is wanted: as much of a series as it likes to; or, where
   * `fills` are wanted, lines of `GET /v1/fills/{pool}`. What it does not give is absent.
   */
  page?: (wanted: WantedPage) => Bytes | undefined | Promise<Bytes | undefined>;
  /** Told after each page how many of how many snapshots were looked at. */
  onProgress?: (seen: number, all: number) => void;
}

export interface WantedPage {
  pool: string;
  slot: number;
  /** The hash of the snapshot that is wanted. */
  snapshot?: string;
  /** The hash of the document that is wanted: what the pool logged, as the head of the slot commits to it. */
  fills?: string;
}

/** What a sale of a size fills at. */
export function estimate(snapshot: SnapshotFile | OpenSnapshot, of: EstimateOptions): ExitResult;

/** Depth by gap and slippage by size, at the standard steps unless told. */
export function ladder(snapshot: SnapshotFile | OpenSnapshot, of: LadderOptions): Ladder;

/** The largest sale whose gap is at most the asked one. */
export function maxSizeFor(snapshot: SnapshotFile | OpenSnapshot, of: MaxSizeOptions): MaxSizeResult;

/** One sale in several orders, beside the same sale at once. */
export function simulateOrders(
  snapshot: SnapshotFile | OpenSnapshot,
  of: SimulateOptions,
): SimulationResult;

/** Ranks venues from their ladders, each alone and one sale split across them. */
export function rankRoutes(ladders: readonly RouteLadder[], of: RankOptions): RouteRanking;

/**
 * One exit split over the venues of one slot, exactly: every leg is a sale of its own, no venue alone is better, and
 * `optimality_gap_pct` bounds how much better any split over them could be.
 */
export function bestSplit(
  snapshots: readonly (SnapshotFile | OpenSnapshot)[],
  of: BestSplitOptions,
): BestSplit;

/**
 * Reads a rule about a pool (the `rule` of an alert, or one of one's own), to evaluate it over sealed slots: its events
 * are byte for byte those that a service sends and `exitgap alert replay` prints.
 */
export function openAlert(rule: Bytes, of?: OpenAlertOptions): OpenAlert;

export interface OpenAlertOptions {
  /** What `keep()` gave: the run goes on where that one stood. */
  kept?: Bytes;
}

/** A rule being evaluated. `close()` gives its memory back; else the garbage collector does. */
export class OpenAlert {
  constructor(rule: Bytes, of?: OpenAlertOptions);
  /**
   * Takes the next slot, from the rule's first on, missing ones included, and answers what is to be said of it. A head
   * that does not follow the one before it, and a snapshot that is not the one its head names, are refused: who has
   * verified the last head has verified all that were taken.
   */
  take(slot: SealedSlot): AlertEvent[];
  standing(): AlertStanding;
  /** What to go on with later, as `kept`. */
  keep(): Uint8Array;
  close(): void;
}

/** A pool's slot, as a log has it. */
export interface SealedSlot {
  /** The pool's head, its canonical bytes. */
  head: Bytes;
  /** The snapshot that the head names; left out where it names none. */
  snapshot?: SnapshotFile;
  /** The first checkpoint that covers the slot: what its note says in three lines. */
  checkpoint: { origin: string; size: number; root: string };
}

export interface AlertEvent {
  /** The same from every evaluator: a webhook's `webhook-id`. */
  id: string;
  type:
    | 'alert.firing'
    | 'alert.resolved'
    | 'alert.no_data'
    | 'alert.data'
    | 'alert.reminder'
    | 'alert.corrected'
    | 'alert.ended';
  /** From 1. */
  seq: number;
  slot: number;
  /** The canonical document: a webhook's body. */
  document: string;
}

export interface AlertStanding {
  standing: 'ok' | 'pending' | 'firing' | 'recovering' | 'no_data';
  /** The slot that is to come; absent after the pool's last. */
  next_slot?: number;
  /** How many events there were. */
  seq: number;
  /** The rule, every word of it, canonical. */
  rule: string;
  /** The SHA-256 of that. */
  rule_hash: string;
}

/** Reads a snapshot once, to ask it often. */
export function open(snapshot: SnapshotFile): OpenSnapshot;

/** A snapshot that was read. `close()` gives its memory back; else the garbage collector does. */
export class OpenSnapshot {
  constructor(snapshot: SnapshotFile);
  estimate(of: EstimateOptions): ExitResult;
  ladder(of: LadderOptions): Ladder;
  maxSizeFor(of: MaxSizeOptions): MaxSizeResult;
  simulateOrders(of: SimulateOptions): SimulationResult;
  /** What the pool contract pays for a raw amount, to the unit: raw units as text. */
  fill(of: FillOptions): string;
  close(): void;
}

export interface EstimateOptions {
  /** USD, 0.01 to 1,000,000,000, at most six decimals. */
  sizeUsd: DecimalInput;
  base: BaseInput;
}

export interface LadderOptions {
  /** Gap steps, percent. */
  gap?: readonly DecimalInput[];
  /** Size steps, USD. */
  sizeUsd?: readonly DecimalInput[];
  base: BaseInput;
}

export interface MaxSizeOptions {
  /** Percent, -100 to 100, at most six decimals. */
  gap: DecimalInput;
  base: BaseInput;
}

/** One sale, and how it is cut into orders. */
export interface OrdersOptions {
  sizeUsd: DecimalInput;
  /** 1 to 1,000. */
  orders: number;
  /** The share of its displacement that √price is assumed to recover between two orders, percent. */
  recoveryPct?: DecimalInput;
  /** Seconds between orders; echoed only. */
  intervalS?: number;
}

export interface SimulateOptions extends OrdersOptions {
  base: BaseInput;
}

export interface FillOptions {
  /** Raw units of the token sold. */
  amountInRaw: DecimalInput;
  base: BaseInput;
}

export interface RankOptions {
  sizeUsd: DecimalInput;
  /** What using each venue costs beside, USD, in the order of the ladders. */
  fixedCostsUsd?: readonly DecimalInput[];
}

/** Everything that this package throws. */
export class ExitgapError extends Error {
  /** Stable. */
  readonly code: ErrorCode;
  /** The argument or option at fault. */
  readonly field?: string;
  /** The remedy, where one is known. */
  readonly hint?: string;
  /** The stable reason behind a missing slot. */
  readonly reason?: string;
  /** The largest size that can be filled, USD. */
  readonly maxFillableUsd?: number;
  /** What anyone can check with that the size cannot be filled, where the service answered. */
  readonly evidenceUrl?: string;
  /** The HTTP status, where the service answered. */
  readonly status?: number;
  /** Names the answer in the service's log. */
  readonly requestId?: string;
  /** Every check, with the code `not_proven`. */
  readonly report?: VerificationReport;
  /** That the log's history was rewritten since it was seen, with the code `not_proven`: a file that `exitgap verify` reads. */
  readonly fork?: string;
  /** What an address asks for before it answers, with the code `payment_required`. */
  readonly payment?: PaymentChallenge;
  /** The message and the fields above. */
  toJSON(): object;
}

export interface PaymentChallenge {
  amount: string;
  currency: string;
  network: string;
  recipient: string;
}

/** Codes of the service and the core, and those of this package; a newer service may have more. */
export type ErrorCode = ProblemCode | PackageErrorCode | (string & {});

export type PackageErrorCode =
  | "not_initialized"
  | "init_failed"
  | "unreachable"
  | "cancelled"
  | "answer_too_large"
  | "not_as_specified"
  | "not_proven"
  | "not_comparable"
  | "kept_unusable"
  | "payment_required";

export type ProblemCode =
  | "invalid_parameter"
  | "invalid_pool"
  | "unknown_pool"
  | "unknown_base"
  | "unknown_token"
  | "no_snapshot_yet"
  | "slot_missing"
  | "slot_retracted"
  | "before_series"
  | "after_series"
  | "rounds_to_no_input"
  | "rounds_to_no_output"
  | "beyond_liquidity"
  | "gap_out_of_range"
  | "search_exhausted"
  | "sizing_not_exact"
  | "figure_unsupported_kind"
  | "orders_not_exact"
  | "chain_unreadable"
  | "proof_out_of_reach"
  | "proofs_not_served"
  | "unsupported_layout"
  | "proof_too_wide"
  | "block_not_canonical"
  | "source_unreadable"
  | "unknown_parameter"
  | "unknown_chain"
  | "period_reversed"
  | "unknown_method_version"
  | "not_live"
  | "series_too_short"
  | "snapshot_too_old"
  | "not_available"
  | "not_found"
  | "method_not_allowed"
  | "address_too_long"
  | "body_not_accepted"
  | "rate_limited"
  | "payment_required"
  | "payment_malformed"
  | "payment_used"
  | "payment_pending"
  | "payments_unavailable"
  | "free_estimates_used"
  | "timed_out"
  | "internal_error";

/** Asks a service over HTTP. What it answers is not verified, but for `snapshot` and `verify`. */
export class Client {
  constructor(baseUrl: string | URL, of?: ClientOptions);
  pools(of?: Signal & { chain?: string; limit?: number; cursor?: string }): Promise<PoolList>;
  exit(pool: string, of: Signal & At & { sizeUsd: DecimalInput }): Promise<PublishedExit>;
  /** The largest sale whose gap is at most `gapPct`. */
  maxSize(pool: string, of: Signal & At & { gapPct: DecimalInput }): Promise<PublishedMaxSize>;
  /**
   * From a pool to a number that was verified, in one call: asks what a sale fills at, fetches its evidence, makes every check,
   * requires that the answer is the evidence's, and holds its log against what `storage` keeps of it. What is not proven is
   * thrown: `not_proven`, with the `report`, and where the log was rewritten since it was seen with a `fork`, a file that
   * `exitgap verify` reads.
   */
  estimate(pool: string, of: Signal & At & { sizeUsd: DecimalInput }): Promise<VerifiedExit>;
  /** One sale in several orders, beside the same sale at once. */
  simulate(pool: string, of: Signal & At & OrdersOptions): Promise<PublishedSimulation>;
  /** One sale beside each way of redeeming the same that the operator wrote down: modelled. */
  redemptionWindow(pool: string, of: Signal & At & { sizeUsd: DecimalInput }): Promise<PublishedRedemption>;
  ladder(pool: string, of?: Signal & At): Promise<PublishedLadder>;
  history(pool: string, of: Signal & SeriesOptions & HistoryPage): Promise<History>;
  stress(pool: string, of: Signal & SeriesOptions & { limitPct?: DecimalInput }): Promise<Stress>;
  /** Open against closed markets. */
  marketHours(pool: string, of: Signal & HoursOptions): Promise<MarketHours>;
  /** Every share that the operator configured, and where it stands. */
  equities(of?: Signal): Promise<Equities>;
  /** A share: of each of its pools a vector by session of its exchange, never one number. */
  equityScore(chain: string, token: string, of?: Signal & EquityOptions): Promise<EquityScore>;
  /** How a book thins after its price has moved. */
  depthDecay(pool: string, of?: Signal & DecayOptions): Promise<DepthDecay>;
  /** Where a rule of one's own stands after a period, and every event on the way. */
  alerts(pool: string, of: Signal & AlertOptions): Promise<AlertsTold>;
  /** Every swap of a period against its estimate. */
  accuracy(pool: string, of?: Signal & Guards & { from?: string; to?: string }): Promise<PoolAccuracy>;
  /** Without a pool: a row for each recorded pool, of the last seven days. */
  accuracy(pool?: undefined, of?: Signal & { chain?: string; limit?: number; cursor?: string }): Promise<AccuracyTable>;
  /** Whether the market of any slot of a week could have absorbed a liquidation, after a fall of the price. */
  liquidationExposure(
    venues: readonly (string | { pool: string; base?: BaseInput })[],
    of: Signal & ExposureOptions,
  ): Promise<LiquidationExposure>;
  /** What one exit, split over the venues, would have filled at in each slot of a week, with liquidity gone and the price fallen. */
  venueStress(
    venues: readonly (string | { pool: string; base?: BaseInput })[],
    of: Signal & VenueStressOptions,
  ): Promise<VenueStress>;
  /** What recorded moves did that the operator named: `haircut_pct` and `fall_pct` as `venueStress` takes them. */
  shocks(of?: Signal): Promise<NamedShocks>;
  fragility(of?: Signal & FragilityOptions): Promise<Fragility>;
  /** All recorded pools of a token: each alone, and the exact split. */
  routes(chain: string, token: string, of: Signal & RoutesOptions): Promise<Routes>;
  /** Several positions, exited at once: those in one pool and direction together. */
  portfolio(positions: readonly PositionInput[], of?: Signal & Guards): Promise<Portfolio>;
  capabilities(of?: Signal): Promise<Capabilities>;
  /** What a payment is to be, where the service asks for one, and the key of its receipts. */
  payments(of?: Signal): Promise<Payments>;
  slotStatus(pool: string, of: Signal & { slot: number }): Promise<SlotStatus>;
  /** The evidence file at an `evidence_url`: bytes to verify. */
  evidence(evidenceUrl: string, of?: Signal): Promise<Uint8Array>;
  /** The figure file at a `figure_url`: bytes to verify. */
  figure(figureUrl: string, of?: Signal): Promise<Uint8Array>;
  /** Fetches the figure file at a `figure_url`, and computes it again from the service's snapshots. */
  verifyFigure(
    figureUrl: string,
    of?: Signal & Pick<VerifyFigureOptions, "keys" | "onProgress">,
  ): Promise<FigureReport>;
  /**
   * The state proof (`.egp`) of a pool at a slot, as it was kept, or made while the service's nodes still prove the block: bytes to
   * verify. `low` and `high`, both or neither: ticks that it is to cover.
   */
  stateProof(pool: string, of: Signal & { slot: number; low?: number; high?: number }): Promise<Uint8Array>;
  /** The pool's head window that ends at a slot: bytes to verify. */
  window(pool: string, of: Signal & { slot: number }): Promise<Uint8Array>;
  /**
   * The snapshot of this name and the state that it names, both hashes checked: a snapshot file. A contract of
   * three to eight tokens has one snapshot for all its pools: `pool` says which two of them the file is asked about.
   */
  snapshot(hash: string, of?: Signal & { pool?: string }): Promise<string>;
  /** The log's newest checkpoint, a signed note. */
  checkpoint(of?: Signal): Promise<string>;
  /** The log's verifier key, as the service itself names it; one a line where the log's key was changed. */
  verifierKey(of?: Signal): Promise<string>;
  /**
   * Fetches the evidence at an `evidence_url`, requires that it is of the question the address asks,
   * and verifies it. Nothing is remembered between calls: see `VerifyPolicy.seen`.
   */
  verify(evidenceUrl: string, policy?: VerifyPolicy, of?: Signal): Promise<VerificationReport>;
}

export interface ClientOptions {
  /** Stands in for the global `fetch`. */
  fetch?: (url: string, request: RequestInit) => Promise<Response>;
  /** How long one request may take; 30,000 unless told. */
  timeoutMs?: number;
  /** How often a request is repeated where that may help; 2 unless told. */
  retries?: number;
  /**
   * Where pages, evidence and the log are. Unless told, where the service's capabilities say so, and
   * else at `baseUrl`.
   */
  webUrl?: string | URL;
  /**
   * The keys that `estimate` trusts. Without any, those that `storage` keeps since an earlier visit, else the service's own
   * on first use, which `log.trust` then says.
   */
  keys?: readonly string[];
  /** Where `estimate` keeps what it saw of a log; unless told, in memory. */
  storage?: Storage;
}

/** Small texts by name. */
export interface Storage {
  get(name: string): string | null | undefined | Promise<string | null | undefined>;
  put(name: string, text: string): unknown;
}

/** A storage that ends with the program. */
export class MemoryStorage implements Storage {
  get(name: string): string | null;
  put(name: string, text: string): void;
}

/** What a page's `localStorage` keeps, or another of its kind. For a file, see `exitgap/file`. */
export function webStorage(area?: { getItem(name: string): string | null; setItem(name: string, text: string): void }): Storage;

/** An exit whose evidence passed every check. */
export interface VerifiedExit {
  exit: PublishedExit;
  /** Its verdict is `valid`. */
  report: VerificationReport;
  /** The file that proves it. */
  evidence: Uint8Array;
  log: {
    origin: string;
    /** How many slots it had. */
    size: number;
    /** Whose word it is that the key is the log's: the caller's, an earlier visit's, or the service's just now. */
    trust: "named" | "kept" | "first_use";
    continuity: "first_seen" | "continues";
    /** The verifier keys that counted: given as `keys` they are pinned. */
    keys: string[];
    /** The signed note. */
    checkpoint: string;
  };
}

export interface Signal {
  /** Abandons the request. */
  signal?: AbortSignal;
}

/** What an answer must meet. What does not is refused by the service, by its code: nothing is answered. */
export interface Guards {
  /** The most seconds that the snapshot may be old: `snapshot_too_old`. Of a series the pool's newest. */
  maxAgeS?: number;
  /** The least `days_observed`, at most two decimals: `series_too_short`. */
  minDaysObserved?: DecimalInput;
  /** The status that it must have: `not_live`. */
  require?: "live";
}

/** RFC 3339, or a `Date`, of which whole seconds count. */
export type InstantInput = string | Date;

export interface At extends Guards {
  /** The pool's default base unless told. */
  base?: BaseInput;
  /** The slot at or before it. */
  at?: InstantInput;
}

export interface BestSplitOptions {
  sizeUsd: DecimalInput;
  /** The token sold, in each of the snapshots. */
  base: BaseInput;
  /** What using each venue costs, in the order of the snapshots; none at all where absent. */
  fixedCostsUsd?: readonly DecimalInput[];
}

export interface RoutesOptions extends Guards {
  sizeUsd: DecimalInput;
  /** Only pools that buy a token of this group, as the operator configured it. */
  quoteGroup?: string;
  /** What using a venue costs whatever is sold there, such as gas. */
  fixedCostUsd?: DecimalInput;
  at?: InstantInput;
}

export type PositionInput =
  | {
      pool: string;
      /** The pool's default base unless told. */
      base?: BaseInput;
      sizeUsd: DecimalInput;
    }
  /** Sold through all recorded pools of the token. */
  | { chain: string; token: string; sizeUsd: DecimalInput };

export interface SeriesOptions extends Guards {
  /** Any; of one that is not 1,000, 10,000, 100,000 or 1,000,000 at most seven days are looked at. */
  sizeUsd: DecimalInput;
  /** The pool's default base unless told. */
  base?: BaseInput;
  from?: InstantInput;
  to?: InstantInput;
}

export interface HoursOptions extends Guards {
  /** One of the standard sizes: 1,000, 10,000, 100,000 or 1,000,000. */
  sizeUsd: DecimalInput;
  /** The pool's default base unless told. */
  base?: BaseInput;
}

export interface EquityOptions extends Guards {
  /** The size of the gaps; 10,000 unless told. */
  sizeUsd?: DecimalInput;
  /** The gap limit of the depths in sessions, percent; 2 unless told. */
  gapPct?: DecimalInput;
}

export interface DecayOptions extends Guards {
  /** How far the price must have moved, percent; 2 unless told. */
  movePct?: DecimalInput;
  /** Over how many slots, 1 to 48; 3 unless told. */
  withinSlots?: number;
  /** The gap from the pool's own mid price at which books are measured, percent; 2 unless told. */
  gapPct?: DecimalInput;
  /** The pool's default base unless told. */
  base?: BaseInput;
  /** 28 days before `to` unless told. */
  from?: InstantInput;
  to?: InstantInput;
}

export interface ExposureOptions extends Guards {
  /** What is sold, USD at the oracle price after the fall. */
  cascadeUsd: DecimalInput;
  /** What whoever liquidates gets beyond what they repay, percent; 5 unless told. */
  bonusPct?: DecimalInput;
  /** The protocol's share of the bonus, percent; 0 unless told. */
  protocolFeePct?: DecimalInput;
  /** How far the price of the token sold has fallen, percent; 20 unless told. */
  fallPct?: DecimalInput;
  /** Seven days before `to` unless told. */
  from?: InstantInput;
  to?: InstantInput;
}

export interface VenueStressOptions extends Guards {
  /** What is sold, USD at the oracle price after the fall. */
  sizeUsd: DecimalInput;
  /** How much of everybody's liquidity has gone, percent; 0 unless told. */
  haircutPct?: DecimalInput;
  /** How far the price of the token sold has fallen, percent; 0 unless told. */
  fallPct?: DecimalInput;
  /** A gap: for how long more was lost. */
  limitPct?: DecimalInput;
  /** Only slots in which a venue's own mid price has moved so far, percent, up or down. */
  afterMovePct?: DecimalInput;
  /** Since how many slots before; 3 unless told. */
  withinSlots?: number;
  /** Seven days before `to` unless told. */
  from?: InstantInput;
  to?: InstantInput;
}

export interface HistoryPage {
  interval?: Interval;
  /** Rows of a page. */
  limit?: number;
  cursor?: string;
}

export interface FragilityOptions {
  chain?: string;
  sort?: "gap" | "score" | "depth";
  sizeUsd?: DecimalInput;
  limit?: number;
  cursor?: string;
}

// --- documents ---

/** A refusal or failure as a document. */
export interface Problem {
  /** The stable code. */
  code: ProblemCode;
  /** One sentence for people: the cause. */
  detail: string;
  /** The parameter at fault. */
  field?: string;
  /** The remedy, where one is known. */
  hint?: string;
  /** The stable reason behind a missing slot or an unreadable chain. */
  reason?: string;
  /** The largest size that can be filled, USD. */
  max_fillable_usd?: number;
  /** What anyone can check with that the size cannot be filled. */
  evidence_url?: string;
}

/**
 * How far the oracle's answers may be relied on. `held_over_close`: one is older than its heartbeat and was not when its
 * token's market closed, which still is closed.
 */
export type OracleState = 'fresh' | 'held_over_close' | 'stale';

/** Whether a figure may be relied on. */
export type Status =
  | "live"
  | "preview";

/**
 * A token as its contract describes itself. The symbol is a label only: any contract may
 * choose any.
 */
export interface TokenLabel {
  /** The token contract's address. */
  address: string;
  /** Its symbol, cleaned to printable ASCII. */
  symbol: string;
  /** Decimals of one whole token. */
  decimals: number;
}

/** The slots a result is drawn from. */
export interface Window {
  /** Instant of the series' first slot, RFC 3339. */
  from: string;
  /** Instant of the last slot looked at, RFC 3339. */
  to: string;
  /** Slots with a snapshot. */
  slots_recorded: number;
  /** Slots without one. */
  slots_missing: number;
}

/** Where the depth behind a result was read. */
export type DepthSourceKind =
  | "recorded_snapshot"
  | "latest_block"
  | "snapshot_file";

/** The block, and where recorded the slot, behind a result. */
export interface DepthSource {
  /** Where it was read. */
  kind: DepthSourceKind;
  /** The chain's CAIP-2 id. */
  chain: string;
  /** The hash of the chain's block 0, where it is live because its operator configured that hash. */
  genesis_hash?: string;
  /** `constant_product`, `concentrated_liquidity`, `concentrated_v4` or `concentrated_linked`. */
  protocol: string;
  /** Block number. */
  block_number: number;
  /** Block hash. */
  block_hash: string;
  /** Block timestamp, RFC 3339. */
  block_time: string;
  /** The slot's number; absent where nothing is recorded. */
  slot?: number;
  /** The slot's instant, RFC 3339. */
  slot_time?: string;
  /** SHA-256 of the snapshot's canonical bytes. */
  snapshot_hash?: string;
  /** Slots after this one that are missing, where the newest recorded slot was asked for. */
  newer_slots_missing?: number;
}

/** One oracle answer behind a result. */
export interface OracleDisclosure {
  /**
   * `token0_usd` or `token1_usd`: what the answer is a factor of. `sequencer_uptime`: whether the
   * chain's sequencer is up (0) or down (1).
   */
  role: string;
  /** `chainlink` or `fixed`. */
  source: string;
  /** The feed's address. */
  feed?: string;
  /** The answer, raw. */
  answer_raw: string;
  /** Its decimals. */
  decimals: number;
  /** Seconds from the answer to the block. */
  age_s?: number;
  /** Whether that is longer than the feed's heartbeat. */
  stale: boolean;
}

/** The method behind a result, disclosed. */
export interface Method {
  /** The size the figure holds for; absent where the size is the answer. */
  assumed_size_usd?: number;
  /** Where the depth was read. */
  depth_source: DepthSource;
  /** Every oracle answer used. */
  oracles: OracleDisclosure[];
}

/** What every result carries beside its own figures. */
export interface Context {
  /** The pool's identifier, `<chain>:<address>`. */
  pool: string;
  /** Live or preview. */
  status: Status;
  /** The token sold. */
  base: TokenLabel;
  /** The token bought. */
  quote: TokenLabel;
  /** Venue and fee in words, as of this state: `Uniswap v3 0.05 %`. */
  name: string;
  /** The venue; absent where the pool's factory is not known. */
  venue?: string;
  /** What a sale pays to the pool as fee, percent; absent where it depends on the sale, which `name` says. */
  fee_pct?: number;
  /** USD per whole base token, by the oracle. */
  oracle_price_usd: number;
  /** Whether any oracle answer is older than its heartbeat. */
  oracle_stale: boolean;
  /** Why, where it is. */
  oracle_state: OracleState;
  /** Whether the markets of both tokens are open at the block. */
  market_open: boolean;
  /** The market session of the block, e.g. `XNYS@1/regular`; `continuous` for assets without a calendar. */
  session_note: string;
  /** Recorded slots ÷ 288; absent where nothing is recorded. */
  days_observed?: number;
  /** The series behind the result; absent where nothing is recorded. */
  window?: Window;
  /** The version of the rules that produced the figures. */
  method_version: string;
  /** The method, disclosed. */
  method: Method;
}

/**
 * What a gap is made of: `1 − gap = (1 − basis) × (1 − fee) × (1 − impact)`, each rounded to
 * six decimals on its own.
 */
export interface SplitPct {
  /** How far the pool's mid price lies below the oracle, percent. */
  basis_pct: number;
  /** The pool's fee, percent. */
  fee_pct: number;
  /** What moving the price costs, percent. */
  impact_pct: number;
}

/** The figures of one exit. */
export interface Amounts {
  /** The size, USD. */
  size_usd: number;
  /**
   * Gap between realized price and oracle price, percent. Positive: the fill is worse than the
   * oracle; negative: better.
   */
  exit_gap_pct: number;
  /** What the gap is made of. */
  split: SplitPct;
  /** USD per whole base token, as filled. */
  realized_price_usd: number;
  /** USD per whole base token at the pool's mid price before the exit. */
  mid_price_usd: number;
  /** USD per whole base token that the next unit would fill at, fee included. */
  marginal_price_usd: number;
  /** Raw units of the base token sold. */
  amount_in_raw: string;
  /** Raw units of the quote token bought. */
  amount_out_raw: string;
  /** Initialised ticks crossed; absent for pools without ticks. */
  ticks_crossed?: number;
}

/** The largest exit within a gap limit. */
export interface MaxSize {
  /** The largest size whose own estimate passes, USD; zero where none does. */
  max_size_usd: number;
  /**
   * The largest raw amount of the base token that passes; usually a little above what
   * `max_size_usd` stands for.
   */
  max_amount_in_raw: string;
  /** What the pool pays for it, raw units of the quote token. */
  max_amount_out_raw: string;
  /** `gap`, `liquidity` (the pool's liquidity ends first) or `size_bound`. */
  limited_by: string;
}

/** A row by gap: how much exits within the limit, and what that fills at. */
export type GapRung = Partial<MaxSize> & {
  /** The limit, percent. */
  gap_limit_pct: number;
  /** The exit of exactly that size; absent where nothing passes. */
  exit?: Amounts;
  /** Why depth or exit is absent, where something was refused. */
  problem?: Problem;
  /** A smaller size whose gap exceeds the limit, USD: the fee of this pool depends on the size. */
  worse_below_usd?: number;
  /** What anyone can check the exit with, where the service answers. */
  evidence_url?: string;
};

/** A row by size: what it fills at, or why it cannot be filled. */
export interface SizeRung {
  /** The size, USD. */
  size_usd: number;
  /** The exit of that size. */
  exit?: Amounts;
  /** Why there is none. */
  problem?: Problem;
  /** A smaller size whose gap is larger, USD: the fee of this pool depends on the size. */
  worse_below_usd?: number;
  /** What anyone can check the exit with, where the service answers. */
  evidence_url?: string;
}

/** A ladder's rows. */
export interface LadderRows {
  /** Depth by gap, ascending. */
  by_gap: GapRung[];
  /** Slippage by size, ascending. */
  by_size: SizeRung[];
}

/** One order of a simulated exit. */
export interface OrderFill {
  /** Which order, counted from 1. */
  order: number;
  /** Raw units of the base token sold. */
  amount_in_raw: string;
  /** Raw units of the quote token bought. */
  amount_out_raw: string;
  /** The order's own gap, percent. */
  exit_gap_pct: number;
}

/** The same size sold at once: what it fills at, or why it cannot be filled. */
export type AtOnce = { exit: Amounts } | { problem: Problem };

/** An exit in several orders beside the same exit at once. */
export interface Simulation {
  /** The whole size, USD. */
  size_usd: number;
  /** Number of orders. */
  orders: number;
  /**
   * Share of its displacement that √price is assumed to recover between two orders, percent.
   * An assumption, not a forecast.
   */
  recovery_pct: number;
  /** Seconds between orders, as stated; nothing is computed from it. */
  interval_s: number;
  /** Gap of all orders together, percent. */
  exit_gap_pct: number;
  /** Raw units of the base token sold. */
  amount_in_raw: string;
  /** Raw units of the quote token bought. */
  amount_out_raw: string;
  /** Every order, in turn. */
  fills: OrderFill[];
  /** The same size sold at once. */
  at_once: AtOnce;
}

/** What ranking needs of a gap's split: basis and fee are what the smallest sale loses. */
export interface RouteSplit {
  /** How far the pool's mid price lies below the oracle, percent. */
  basis_pct: number;
  /** The pool's fee, percent. */
  fee_pct: number;
}

/** What ranking needs of an exit. */
export interface RouteExit {
  /** The size, USD. */
  size_usd: number;
  /** Its gap, percent. */
  exit_gap_pct: number;
  /** What the smallest sale loses. */
  split: RouteSplit;
}

/** What ranking needs of a ladder's row. */
export interface RouteRung {
  /** What the row's size fills at; a row without says nothing of its venue. */
  exit?: RouteExit;
}

/** What ranking needs of a token. */
export interface RouteToken {
  /** The token contract's address. */
  address: string;
}

/** What ranking needs of a ladder. Every `Ladder` document reads as one. */
export interface RouteLadder {
  /** The pool's identifier. */
  pool: string;
  /** Live or preview. */
  status: Status;
  /** The token sold. */
  base: RouteToken;
  /** Depth by gap. */
  by_gap: RouteRung[];
  /** Slippage by size. */
  by_size: RouteRung[];
}

/** A venue ranked. */
export interface RankedVenue {
  /** The pool's identifier. */
  pool: string;
  /** Live or preview. */
  status: Status;
  /** The largest size its ladder tells of, USD. */
  largest_usd: number;
  /** What using it costs beside, USD. */
  fixed_cost_usd: number;
}

/** What one venue sells of an exit. */
export interface RouteLeg {
  /** Which of `venues`, counted from 0. */
  venue: number;
  /** Its pool. */
  pool: string;
  /** What it sells, USD. */
  size_usd: number;
  /** What the leg's gap is at most, percent: on the line between two rows of the ladder. Not what it fills at. */
  exit_gap_at_most_pct: number;
  /**
   * The least gap that the rows allow, percent. What lies between the two is how coarse the
   * ladder makes the answer.
   */
  least_gap_pct: number;
  /** The sizes of the rows it lies between, USD; both its own where it is a row. */
  between_usd: [number, number];
  /** What using the venue costs beside, USD. */
  fixed_cost_usd: number;
}

/** One way to exit. */
export interface Route {
  /** What each venue used sells. */
  legs: RouteLeg[];
  /** What all legs sell, USD. */
  filled_usd: number;
  /** What the ladders do not say how to sell, USD. */
  unfilled_usd: number;
  /** What the legs bring by the oracle before fixed costs, USD. */
  received_usd: number;
  /** What using the venues costs, USD. */
  fixed_cost_usd: number;
  /** What the gap of all legs together is at most, percent; absent where nothing is filled. bestSplit() tells what it is. */
  exit_gap_at_most_pct?: number;
  /** The least gap that the rows allow, percent. */
  least_gap_pct?: number;
}

/** The answer to "through which venues do I exit?". */
export interface RouteRanking {
  /** The size asked for, USD. */
  size_usd: number;
  /** `live` only where every ladder is. */
  status: Status;
  /** The venues, in the order of the ladders given. */
  venues: RankedVenue[];
  /** Every venue alone, the best first: who fills more, then who brings more after its fixed cost. */
  alone: Route[];
  /** The best split, never worse than the best venue alone. */
  split: Route;
  /** The version of the rules that produced the figures. */
  method_version: string;
}

/** What one venue sells of an exact split: a sale of its own. */
export interface SplitLeg {
  pool: string;
  /** Its venue and fee. */
  name: string;
  /** The token sold, by its place there. */
  base: 'token0' | 'token1';
  quote: TokenLabel;
  /** The legs add up to the size asked for. */
  size_usd: number;
  exit_gap_pct: number;
  amount_in_raw: string;
  amount_out_raw: string;
  fixed_cost_usd: number;
  /** Of a service: what the leg is checked with. */
  evidence_url?: string;
}

/** All of an exit in one venue. */
export interface SplitAlone {
  pool: string;
  name: string;
  /** Its fixed cost taken off; `null` where it does not fill. */
  exit_gap_pct: number | null;
  /** Why it does not, such as `beyond_liquidity`. */
  code?: string;
  max_fillable_usd?: number;
  evidence_url?: string;
  /** Of a service: the snapshot it follows from. */
  snapshot_hash?: string;
}

/** A venue that was not split over. */
export interface SplitLeftOut {
  pool: string;
  /** `not_concave`, `oracle_differs`, `gap_out_of_range`, `too_many_venues`, or why it has no snapshot of the slot. */
  code: string;
  detail: string;
}

/** The answer to "over which venues do I exit?". */
export interface BestSplit {
  size_usd: number;
  status: Status;
  /** Of all legs and their fixed costs; never worse than any venue alone. */
  exit_gap_pct: number;
  /**
   * No split over the venues that are not `left_out` is better by more than this, percent; `null` where one that is
   * left out is better alone than all others together.
   */
  optimality_gap_pct: number | null;
  amount_in_raw: string;
  fixed_cost_usd: number;
  legs: SplitLeg[];
  /** The best first; those that do not fill it last. */
  alone: SplitAlone[];
  left_out: SplitLeftOut[];
  method_version: string;
}

/** `GET /v1/routes/{chain}/{token}`. */
export interface Routes extends BestSplit {
  chain: string;
  token: TokenLabel;
  /** All venues are of this one. */
  slot: number;
  slot_time: string;
  snapshot_age_s: number;
  oracle_price_usd: number;
  oracle_state: OracleState;
  market_open: boolean;
  session_note: string;
  quote_group?: string;
  /** The quote groups of the chain that may be asked for: without one, a leg may end in any token. */
  quote_groups: string[];
  /** Of the leg with the shortest series. */
  days_observed: number;
  method: SeriesMethod;
}

/** A check of an evidence file, in the order they are made. */
export type CheckName =
  | "format"
  | "snapshot"
  | "head"
  | "slot_leaf"
  | "inclusion"
  | "signature"
  | "consistency"
  | "window"
  | "slot_rule"
  | "result";

/** How a check came out. */
export type Outcome =
  | "pass"
  | "fail"
  | "not_checked";

/** One check of a report. */
export interface Check {
  /** Which check. */
  name: CheckName;
  /** How it came out. */
  outcome: Outcome;
  /**
   * A stable code: `ok`, or what failed or was absent. One of `unsupported_…` was met where something
   * was made by a newer version: neither right nor wrong, and `found` says what it is.
   */
  code: string;
  /** What would have passed. */
  expected: string;
  /** What was found. */
  found: string;
}

/** The verdict over all checks. */
export type Verdict =
  | "valid"
  | "invalid"
  | "incomplete";

/**
 * What an evidence file says of itself. Nothing of it is checked: it may be false in every
 * field.
 */
export interface Claim {
  /** The pool. */
  pool: string;
  /** The slot's number. */
  slot: number;
  /** The slot's instant, RFC 3339; absent where the number is no slot. */
  slot_time?: string;
  /** The token sold: `token0` or `token1`. */
  base: string;
  /** The size in USD, as the file spells it. */
  size_usd: string;
  /** The gap in percent, as the file spells it; absent where it states a refusal. */
  exit_gap_pct?: string;
  /** Why the size cannot be filled, as the file spells it; absent where it states a result. */
  refusal?: string;
  /** `live` or `preview`, as the file spells it; absent where it states a refusal. */
  status?: string;
  /**
   * The hash of the chain's block 0, where the snapshot is live because its operator configured that hash; no check
   * says which network that is.
   */
  genesis_hash?: string;
}

/** Two signed checkpoints that cannot both be states of one log. */
export interface Contradiction {
  /** Both checkpoints whole, the one seen before first. */
  checkpoints: [string, string];
  /** What the two prove, and what else must be kept to prove it. */
  proves: string;
  /** A file that proves it to anybody with the log's key: `exitgap verify` reads it. */
  fork?: string;
}

/** What was asked. */
export interface EvidenceRequest {
  /** The token sold. */
  base: "token0" | "token1";
  /** The version of the rules to answer by. */
  method_version: string;
  /** The pool. */
  pool: string;
  /** The size in USD: plain decimal, no trailing zeros. */
  size_usd: string;
  /** The slot's number. */
  slot: number;
}

/**
 * What was answered: only what request, snapshot and head determine. Every number is a string;
 * percentages have all six decimals.
 */
export interface EvidenceResult {
  /** Raw units of the base token sold. */
  amount_in_raw: string;
  /** Raw units of the quote token bought. */
  amount_out_raw: string;
  /** How far the pool's mid price lies below the oracle. */
  basis_pct: string;
  /** Recorded slots ÷ 288, two decimals. */
  days_observed: string;
  /** The gap between realized and oracle price. */
  exit_gap_pct: string;
  /** The pool's fee. */
  fee_pct: string;
  /** What moving the price costs. */
  impact_pct: string;
  /** The lowest depth at 2 % of the last 2,016 slots in this direction. */
  lowest_depth_7d_usd: string | null;
  /** USD per whole base token that the next unit would fill at, fee included. */
  marginal_price_usd: string;
  /** Whether the assets' market is open. */
  market_open: boolean;
  /** USD per whole base token at the pool's mid price. */
  mid_price_usd: string;
  /** USD per whole base token by the oracle. */
  oracle_price_usd: string;
  /** Whether any oracle answer is older than its heartbeat. */
  oracle_stale: boolean;
  /** USD per whole base token as filled. */
  realized_price_usd: string;
  /** The market session. */
  session_note: string;
  /** `live` or `preview`. */
  status: string;
}

/**
 * What was refused: a size that the recorded pool cannot fill. It follows from request and snapshot as
 * a result does.
 */
export interface EvidenceRefusal {
  /** Raw units of the base token that the size stands for; null where 256 bits do not hold them. */
  amount_in_raw: string | null;
  /** `beyond_liquidity`, `rounds_to_no_input` or `rounds_to_no_output`. */
  code: string;
  /** Raw units of the base token that the pool takes of them. */
  consumed_raw: string;
  /** The largest size that has a fill, in USD; null where none has, or the size is too small. */
  max_fillable_usd: string | null;
  /** Raw units of the quote token that it pays for what it takes. */
  paid_raw: string;
}

/** What an evidence file publishes beside what it comes to. */
export interface Recomputation {
  /** What was asked. */
  request: EvidenceRequest;
  /** The result, or the refusal, that follows from the file's snapshot and head. */
  computed: EvidenceResult | EvidenceRefusal;
  /** The one that the file states. */
  published: EvidenceResult | EvidenceRefusal;
  /** Whether the two are the same. */
  agrees: boolean;
}

/** An answer as the service publishes it. */
export interface Publication {
  /**
   * The lowest depth at 2 % of the 2,016 slots (7 days) up to the result's, USD, in the
   * result's direction; absent where no slot tells one.
   */
  lowest_depth_7d_usd?: number;
  /** Seconds from the slot's instant to this answer. */
  snapshot_age_s: number;
  /** What anyone can check this number with. Absent where the rows carry their own. */
  evidence_url?: string;
  /** The snapshot behind the answer, canonical bytes; it names its state by hash. */
  snapshot_url: string;
  /**
   * The pool's heads of the seven days up to the slot: bears out `days_observed`, the window and
   * `lowest_depth_7d_usd`.
   */
  window_url: string;
  /**
   * Where slots after the result's are missing or retracted: the pool's heads up to the newest
   * sealed slot, which say so.
   */
  newer_heads_url?: string;
}

/** One monitored pool. */
export interface PoolEntry {
  /** The pool's identifier, `<chain>:<address>`. */
  pool: string;
  /** The chain's slug. */
  chain: string;
  /** Live or preview; absent before the first snapshot. */
  status?: Status;
  /** The token sold unless the caller asks for the other; absent before the first snapshot. */
  base?: TokenLabel;
  /** The other token; absent before the first snapshot. */
  quote?: TokenLabel;
  /** Venue and fee in words: no two pools of one chain and pair have the same. Absent before the first snapshot. */
  name?: string;
  /** The venue; absent where the pool's factory is not known, or before the first snapshot. */
  venue?: string;
  /** What a sale pays to the pool as fee, percent; absent where it depends on the sale, which `name` says. */
  fee_pct?: number;
  /** Instant at which the pool's series began, RFC 3339. */
  series_start: string;
  /** Recorded slots ÷ 288. */
  days_observed: number;
  /** Slots with a snapshot. */
  slots_recorded: number;
  /** Slots without one. */
  slots_missing: number;
  /** Instant of the newest slot, RFC 3339. */
  last_slot: string;
  /** Why the newest slot is missing; absent where it is recorded. */
  last_slot_missing?: string;
}

/** All monitored pools, in the order of their identifiers. */
export interface PoolList {
  /** The pools. */
  pools: PoolEntry[];
  /** Where the next page begins; absent on the last, and where there are no pages. */
  next_cursor?: string;
}

/** The length of a history's rows. */
export type Interval =
  | "5m"
  | "1h"
  | "1d";

/** The gap of one slot, or why it has none. */
export interface GapPoint {
  /** The slot's number. */
  slot: number;
  /** The slot's instant, RFC 3339. */
  time: string;
  /** The gap, percent; absent where the size has none. */
  exit_gap_pct?: number;
  /** Why the size has no gap: worse than any number. */
  refusal?: ProblemCode;
  /** Where the size lies beyond liquidity: the most that could be filled in that slot, USD. */
  max_fillable_usd?: number;
  /** What anyone can check the gap with. */
  evidence_url?: string;
}

/** The most that could be filled in one slot, in which the size lies beyond liquidity. */
export interface FillablePoint {
  /** The slot's number. */
  slot: number;
  /** The slot's instant, RFC 3339. */
  time: string;
  /** The most that could be filled, USD. */
  max_fillable_usd: number;
}

/** The depth of one slot. */
export interface DepthPoint {
  /** The slot's number. */
  slot: number;
  /** The slot's instant, RFC 3339. */
  time: string;
  /** Depth at 2 %, whole USD. */
  depth_usd: number;
  /** The slot's head commits to it. */
  window_url: string;
}

/** One row of a history. Slots that were not recorded are counted in it, not left out. */
export interface HistoryRow {
  /** Where the row begins, RFC 3339. */
  time: string;
  /** What the slot holds; of rows of one slot only. */
  state?: SlotState;
  /** Why the slot is missing; of rows of one slot only. */
  missing_reason?: string;
  /** Slots with a snapshot that stands. */
  slots_recorded: number;
  /** Slots without one. */
  slots_missing: number;
  /** Slots whose snapshot was retracted. */
  slots_retracted: number;
  /** The last recorded slot's gap, or why it has none. */
  last?: GapPoint;
  /**
   * How far the pool's mid price lay below the oracle in that slot, percent: what an infinitely
   * small sale would have lost before the fee.
   */
  last_basis_pct?: number;
  /** The worst number: the widest gap of the recorded slots that have one. Absent where none has. */
  worst?: GapPoint;
  /** Recorded slots in which the size had no gap: worse than any number. */
  slots_refused: number;
  /** Of the slots in which the size lay beyond liquidity, the one that could fill the least. */
  least_fillable?: FillablePoint;
  /** The lowest depth. */
  lowest_depth?: DepthPoint;
}

/** Where the depth of several slots was read; each slot's own block is in its evidence. */
export interface SeriesSource {
  /** Where it was read. */
  kind: DepthSourceKind;
  /** The chain's slug; absent where the figures are of several chains. */
  chain?: string;
}

/** What `Method` says of a single answer, said of figures of several slots. */
export interface SeriesMethod {
  /** The size the figures hold for, USD; absent where each figure names its own. */
  assumed_size_usd?: number;
  /** The slots looked at. */
  window: Window;
  /** Where their depth was read. */
  depth_source: SeriesSource;
}

/** What a series' figures are of. */
export interface SeriesOf {
  /** The pool's identifier. */
  pool: string;
  /** Live or preview. */
  status: Status;
  /** `token0` or `token1`: the token sold. */
  base: string;
  /** The standard size, USD. */
  size_usd: number;
  /**
   * Recorded slots ÷ 288, of the pool's whole series up to `to`: how long the series is that the
   * period is a part of.
   */
  days_observed: number;
  /** The version of the rules behind the figures. */
  method_version: string;
  /** The method, disclosed; its window counts the slots of these figures only. */
  method: SeriesMethod;
  /** Instant of the first slot looked at, RFC 3339. */
  from: string;
  /** Instant of the last slot looked at, RFC 3339. */
  to: string;
}

/** `GET /v1/history/{pool}`. */
export interface History extends SeriesOf {
  /** The length of a row. */
  interval: Interval;
  /** What anyone can check the newest gap of these rows with; every gap and depth of a row has its own. */
  evidence_url?: string;
  /** The rows, ascending, without a hole. */
  rows: HistoryRow[];
  /** Where the next page begins; absent on the last. */
  next_cursor?: string;
}

/** A token's calendar, and what it says of the newest snapshot's block. */
export interface HoursToken {
  token: 'token0' | 'token1';
  /** As snapshots name it: `xnys`, `xnys_extended`, `xnys_24x5` or `xnys_continuous`. */
  calendar: string;
  /** SHA-256 of its table's text. */
  table: string;
  /** When its table ends, RFC 3339: from then on the market counts as closed. */
  table_ends: string;
  state: 'regular' | 'pre' | 'after' | 'overnight' | 'weekend' | 'holiday' | 'unknown';
}

export type ClosureKind = 'night' | 'weekend' | 'holiday';

/** How depths and gaps are spread: nearest ranks. `null` where too little is recorded, or a refusal stands there. */
export interface HoursSpread {
  slots: number;
  /** Slots of them in which the size had no gap. */
  slots_refused: number;
  depth_usd_q50: number | null;
  depth_usd_lowest: number | null;
  exit_gap_pct_q50: number | null;
  exit_gap_pct_q95: number | null;
}

/** The closures of one kind. */
export interface HoursClosed extends HoursSpread {
  closure_kind: ClosureKind;
  /** Whether there are as many as are needed; else the statistics are `null`. */
  enough: boolean;
  have: number;
  needed: number;
  /** Whether their median depth is less than half of that of the open market. */
  thin_when_closed: boolean | null;
  reopening_gap_pct_worst: number | null;
}

/** One closure with a recorded slot. */
export interface HoursClosure {
  closure_kind: ClosureKind;
  /** RFC 3339, as all instants. */
  closed_at: string;
  opens_at: string;
  slots_recorded: number;
  depth_usd_lowest: number | null;
  /** The last closed slot's fill against the oracle after the opening, percent; positive: selling before was worse. */
  reopening_gap_pct?: number;
  last_closed_slot: string;
  reopened_slot?: string;
  /** Of the fill of the last closed slot. */
  evidence_url?: string;
}

/** `GET /v1/hours/{pool}`. */
export interface MarketHours extends SeriesOf {
  /** The newest snapshot's block: what is said of now is said of it. */
  block_time: string;
  snapshot_age_s: number;
  market_open: boolean;
  session_note: string;
  oracle_state: OracleState;
  /** The tokens with a calendar; none: around the clock. */
  sessions: HoursToken[];
  opens_in_s: number | null;
  closes_in_s: number | null;
  /** The closure that lasts, or the next one. */
  closure_kind: ClosureKind | null;
  closure_length_s: number | null;
  /** Whether as many closures of that kind are recorded as are needed; also where none is to come. */
  enough: boolean;
  have: number;
  needed: number;
  thin_when_closed: boolean | null;
  slots_missing: number;
  /** Slots of which no table says whether the market was open. */
  slots_unknown: number;
  open: HoursSpread;
  closed: HoursClosed[];
  closures: HoursClosure[];
  /** The file by which anyone computes `open`, `closed` and `closures` again. */
  figure_url: string;
}

export type EquityKind = 'scaled_ui' | 'total_return' | 'rebasing' | 'split_rebase';

/** A session of a share's exchange. */
export type EquitySessionName = 'regular' | 'pre' | 'after' | 'overnight' | 'weekend' | 'holiday' | 'unknown';

/** Where a share stands, by the newest snapshot of its deepest pool. */
export interface EquityState {
  slot_time: string;
  snapshot_age_s: number;
  status: Status;
  session: EquitySessionName;
  oracle_state: OracleState;
  /** USD for a token. */
  oracle_price_usd: number;
  /** USD for a share as wallets show it; `null` without a multiplier. For reading. */
  ui_price_usd: number | null;
  /** The pool's mid price below the oracle's, percent. */
  basis_pct: number | null;
  multiplier_raw: string | null;
  pending_multiplier_raw: string | null;
  /** When it comes, RFC 3339; also what is past. */
  effective_at: string | null;
  feed_paused: boolean | null;
  /** Whether it is paused, or a change is due within a day: such slots are in no statistic. */
  corporate_action: boolean;
  /** Whether the snapshot has all facts that the operator names. */
  facts_whole: boolean;
}

/** A token that stands for a share. */
export interface EquityListed {
  chain: string;
  token: string;
  symbol: string | null;
  kind: EquityKind;
  multiplier_decimals: number;
  /** Its monitored pools. */
  pools: number;
  deepest_pool: string | null;
  /** The depths at 2 % of its pools together, each in its newest slot. */
  depth_usd: number;
  /** How much of that the deepest pool has, percent. */
  concentration_pct: number | null;
  state: EquityState | null;
}

/** `GET /v1/equities`. */
export interface Equities {
  figure: 'equity/1';
  equities: EquityListed[];
}

/** A session; statistics are `null` where too little is recorded. */
export interface EquitySessionTold {
  session: EquitySessionName;
  slots: number;
  slots_refused: number;
  depth_usd_q50: number | null;
  depth_usd_lowest: number | null;
  exit_gap_pct_q50: number | null;
  exit_gap_pct_q95: number | null;
  /** `null` also where one slot refused the size. */
  exit_gap_pct_worst: number | null;
  /** The mid price below the oracle's of the last regular close, percent; `null` in the regular session. */
  basis_to_last_close_pct_q50: number | null;
  basis_to_last_close_pct_worst: number | null;
}

/** What markets opened to after closures of one kind. */
export interface EquityReopeningTold {
  closure_kind: ClosureKind;
  closures: number;
  reopened: number;
  reopening_gap_pct_q50: number | null;
  reopening_gap_pct_worst: number | null;
}

/** What became of a share. */
export interface EquityEventTold {
  event: 'multiplier_changed' | 'scheduled' | 'paused' | 'resumed';
  slot_time: string;
  from_raw: string | null;
  to_raw: string | null;
  effective_at: string | null;
}

/** What a pool holds of a share whose balances change. */
export interface EquityBalanceTold {
  slot_time: string;
  balance_raw: string;
  /** What buying the share for the size would pay. */
  purchase_raw: string | null;
  slots: number;
  /** Slots in which that is more than the pool holds: it reverts. */
  slots_short: number;
}

/** A pool of a share: a vector, never one number. */
export interface EquityPool {
  pool: string;
  name: string;
  base: 'token0' | 'token1';
  depth_usd: number | null;
  status: Status;
  from: string;
  /** The end of the last whole day of UTC, where the series has one. */
  to: string;
  /** Whether there are 20 regular sessions and 4 weekends; else statistics are `null`. */
  enough: boolean;
  have_regular_sessions: number;
  needed_regular_sessions: number;
  have_weekends: number;
  needed_weekends: number;
  slots_recorded: number;
  slots_missing: number;
  /** Paused, or a change due within a day: in no statistic. */
  slots_corporate_action: number;
  /** Without a fact that the operator names: in no statistic either. */
  slots_without_facts: number;
  /** Whether the pool's state is known to have noticed every change of its balance. */
  exact: boolean;
  inexact_because?: 'balances_change_unseen';
  oracle_fresh_pct: number | null;
  oracle_held_over_close_pct: number | null;
  oracle_stale_pct: number | null;
  /** Of all closed sessions together. */
  basis_to_last_close_pct_q50: number | null;
  basis_to_last_close_pct_worst: number | null;
  sessions: EquitySessionTold[];
  reopening: EquityReopeningTold[];
  events: EquityEventTold[];
  balance: EquityBalanceTold | null;
  /** The file by which anyone computes it again. */
  figure_url: string;
  redemption_url?: string;
}

/** `GET /v1/equities/{chain}/{token}`. */
export interface EquityScore extends EquityListed {
  figure: 'equity/1';
  size_usd: number;
  gap_pct: number;
  enough: boolean;
  /** The deepest pool first. */
  vectors: EquityPool[];
  left_out: SplitLeftOut[];
  method_version: string;
}

/** A book some slots after an event: `book_before_usd + mechanical_usd + liquidity_usd = book_usd`, to the dollar. */
export interface DepthDecayStep {
  /** Slots after the event. */
  h_slots: number;
  book_before_usd: number;
  /** The liquidity of before under the price of now. */
  book_static_usd: number;
  book_usd: number;
  /** What the move of the price alone did; negative where the book became smaller. */
  mechanical_usd: number;
  /** What providers put in or took out; negative where they took out. */
  liquidity_usd: number;
}

export interface DepthDecayEvent {
  slot: number;
  time: string;
  /** How far the pool's mid price moved, percent; positive where the token sold rose. */
  move_pct: number;
  /** Slots from the greatest deficit to the first of two with half of it or less. */
  half_life_slots: number | null;
  /** Whether something was withdrawn and had not half returned within 48 slots. */
  censored: boolean;
  at: DepthDecayStep[];
}

/** Statistics of one horizon; `null` where too little is recorded. */
export interface DepthDecayHorizon {
  h_slots: number;
  /** Events measured. */
  n: number;
  /** Events whose book was zero before or under the moved price. */
  n_without_share: number;
  retained_pct_q50: number | null;
  /** Of the worst twentieth. */
  retained_pct_q5: number | null;
  static_pct_q50: number | null;
  /** Positive where liquidity is gone. */
  withdrawn_pct_q50: number | null;
  baseline_n: number;
  /** The same over as long a time where no event was near. */
  baseline_withdrawn_pct_q50: number | null;
}

export interface DepthDecaySide {
  half_life_n: number;
  half_life_slots_q50: number | null;
  horizons: DepthDecayHorizon[];
}

/** A rule, and the period. What is left out has the service's default. */
export interface AlertOptions extends Guards {
  kind: "gap_above" | "depth_below" | "lowest_depth_below" | "oracle_stale" | "market_closed" | "missing";
  base?: BaseInput;
  /** Of `gap_above`. */
  sizeUsd?: DecimalInput;
  pct?: DecimalInput;
  clearPct?: DecimalInput;
  /** Of `depth_below` and `lowest_depth_below`. */
  usd?: DecimalInput;
  clearUsd?: DecimalInput;
  atPct?: DecimalInput;
  /** Of `missing`. */
  reason?: string;
  forSlots?: number;
  clearForSlots?: number;
  noDataSlots?: number;
  refireSlots?: number;
  remindSlots?: number;
  onMissing?: "hold" | "breach" | "clear";
  /** What the rule is called: its events' names depend on it. */
  alert?: string;
  from?: InstantInput;
  to?: InstantInput;
}

/** `GET /v1/alerts/backtest/{pool}`. */
export interface AlertsTold {
  /** The table of states: `alerts/1`. */
  alerts_version: string;
  pool: string;
  /** The rule with every default: as a file what `exitgap alert replay` reads. */
  rule: Record<string, unknown>;
  rule_hash: string;
  from: string;
  to: string;
  slots: number;
  status: "live" | "preview";
  days_observed: number;
  state: {
    standing: "ok" | "pending" | "firing" | "recovering" | "no_data";
    breach_slots: number;
    clear_slots: number;
    no_data_slots: number;
    fired_slot?: number;
  };
  events: {
    id: string;
    seq: number;
    type: string;
    slot: number;
    /** The event itself, canonical but for white space. */
    document: Record<string, unknown>;
  }[];
}

/** Errors of many swaps, percent: the realised gap less the estimated one. Positive: reality was worse. */
export interface AccuracyErrors {
  /** Swaps compared. */
  n: number;
  /** Of them estimated to the unit. */
  exact_n: number;
  abs_error_pct_q50: number | null;
  abs_error_pct_q95: number | null;
  worst_pct: number | null;
  mean_error_pct: number | null;
}

/** A swap, and what was estimated of it. */
export interface AccuracySwap {
  block: number;
  log_index: number;
  transaction: string;
  /** The slot of the estimate. */
  slot: number;
  base: "token0" | "token1";
  size_usd: number;
  amount_in_raw: string;
  amount_out_raw: string;
  estimated_out_raw: string;
  /** How far below the oracle it was estimated to fill. */
  estimated_gap_pct: number;
  error_pct: number;
  /** What stood around it. */
  flags?: ("same_tx" | "jit" | "sandwich_suspected")[];
}

/** `GET /v1/accuracy`. */
export interface AccuracyTable {
  /** The rules: `accuracy/1`. */
  figure: string;
  /** Pools of all pages of which no row was summed up yet. */
  waiting: number;
  pools: AccuracyRow[];
  next_cursor?: string;
}

/** A pool in the table. */
export interface AccuracyRow {
  pool: string;
  name?: string;
  record: AccuracySummary | null;
  /** `waiting`, or the code of a refusal; where there is no record. */
  why_not?: string;
}

/** An accuracy record without its swaps; errors of estimates of the newest slot before. */
export interface AccuracySummary extends AccuracyErrors {
  from: string;
  to: string;
  /** The newest slot when it was summed up: it knows nothing of what was sealed later. */
  until: string;
  status: "live" | "preview";
  enough: boolean;
  slots: number;
  slots_waiting: number;
  stretches: number;
  stretches_incomplete: number;
  swaps: number;
  compared: number;
  not_compared: PoolAccuracy["not_compared"];
  days_observed: number;
  accuracy_url: string;
  figure_url: string;
}

/** `GET /v1/accuracy/{pool}`. With `not_compared`, `compared` swaps are all. */
export interface PoolAccuracy {
  /** The rules: `accuracy/1`. */
  figure: string;
  pool: string;
  from: string;
  to: string;
  status: "live" | "preview";
  /** 200 swaps over seven days. */
  enough: boolean;
  slots: number;
  stretches: number;
  /** Of them those whose logs, replayed, did not give the later state. */
  stretches_incomplete: number;
  swaps: number;
  compared: number;
  not_compared: {
    fills_incomplete: number;
    estimate_refused: number;
    two_sided: number;
    zero: number;
    out_of_range: number;
  };
  flagged: { same_tx: number; jit: number; sandwich_suspected: number };
  by_age: (AccuracyErrors & { older_slots: number })[];
  by_size: (AccuracyErrors & { from_usd: number; base: "token0" | "token1" })[];
  /** The largest errors either way, at most ten. */
  worst: AccuracySwap[];
  /** The newest compared swaps, at most a hundred, the newest last. */
  newest: AccuracySwap[];
  days_observed: number;
  /** Later slots whose swaps no head commits to yet. */
  slots_waiting: number;
  documents: number;
  /** The documents that the swaps were read from. */
  fills_url: string;
  /** The file by which anyone computes the record again. */
  figure_url: string;
}

/** `GET /v1/decay/{pool}`. Books are whole USD. */
export interface DepthDecay {
  /** The rules: `decay/1`. */
  figure: string;
  pool: string;
  base: "token0" | "token1";
  from: string;
  to: string;
  gap_pct: number;
  move_pct: number;
  within_slots: number;
  days_observed: number;
  method_version: string;
  method: SeriesMethod;
  /** What anyone can recompute it from, with the snapshots that it names. */
  figure_url: string;
  status: Status;
  /** Whether the series is long enough for statistics; events are listed all the same. */
  enough: boolean;
  have: number;
  needed: number;
  /** Events that statistics of a horizon need. */
  needed_events: number;
  slots_missing: number;
  /** Slots that stand without one `within_slots` before them. */
  slots_untestable: number;
  /** Moves within 48 slots after an event. */
  events_suppressed: number;
  /** Books whose search was given up. */
  books_unanswered: number;
  /** After the price of the token sold fell. */
  down: DepthDecaySide;
  up: DepthDecaySide;
  events: DepthDecayEvent[];
}

/**
 * `covered`: the least depth at two percent and at the break-even gap both take all of it; `strained`: at the break-even
 * gap only; `exposed`: neither; `unfillable`: in some slot the venues together did not take it; `unrated`: too short.
 */
export type Band = "covered" | "strained" | "exposed" | "unfillable" | "unrated" | (string & {});

export interface LiquidationVenue {
  pool: string;
  base: "token0" | "token1";
  /** At two percent, without the fall. */
  lowest_depth_usd: number | null;
  lowest_depth_time: string | null;
}

/** `GET /v1/exposure`. USD are whole; coverages are ratios rounded down. */
export interface LiquidationExposure {
  /** The rules: `exposure/1`. */
  figure: string;
  from: string;
  to: string;
  cascade_usd: number;
  bonus_pct: number;
  protocol_fee_pct: number;
  fall_pct: number;
  /** Of the venues' shortest series. */
  days_observed: number;
  method_version: string;
  method: SeriesMethod;
  /** What anyone can recompute it from, with the snapshots that it names. */
  figure_url: string;
  status: Status;
  band: Band;
  /** Whether enough is recorded for a band. */
  enough: boolean;
  have: number;
  needed: number;
  slots_missing: number;
  /** Some venue stands and some does not: unknown, not empty. */
  slots_incomplete: number;
  slots_unanswered: number;
  /** The venues together did not take it. */
  slots_unfillable: number;
  /** Up to this gap whoever liquidates does not lose. */
  break_even_gap_pct: number;
  /** The venues' least depths at two percent, summed, ÷ `cascade_usd`. */
  coverage: number | null;
  /** The least sum of depths at the break-even gap ÷ `cascade_usd`. */
  coverage_break_even: number | null;
  depth_now_usd: number | null;
  depth_q50_usd: number | null;
  /** After the fall. */
  break_even_depth_now_usd: number | null;
  break_even_depth_q50_usd: number | null;
  lowest_break_even_depth_usd: number | null;
  lowest_break_even_time: string | null;
  /** Of the exact split, in slots that took it. */
  worst_gap_pct: number | null;
  worst_time: string | null;
  least_fillable_usd: number | null;
  /** What liquidators would lose at the widest gap against what they repay. */
  shortfall_usd: number | null;
  /** What nobody would have liquidated at a profit in the slot of the least depth. */
  stranded_usd: number | null;
  bad_debt: boolean;
  venues: LiquidationVenue[];
}

export interface StressedVenue {
  pool: string;
  base: "token0" | "token1";
  /** At two percent, after the shock. */
  lowest_depth_usd: number | null;
  lowest_depth_time: string | null;
}

/** One of the worst slots. */
export interface StressedSlot {
  slot: number;
  time: string;
  /** Of the exact split; `null` where the venues together did not take the size. */
  exit_gap_pct: number | null;
  /** What they took then; `null` where they took all of it. */
  max_fillable_usd: number | null;
  /** At two percent from the oracle, summed. */
  depth_usd: number;
  /** At two percent from the pools' own mid prices, summed. */
  book_usd: number;
}

/** `GET /v1/stress`. USD are whole. A slot in which the venues did not take the size is worse than any number. */
export interface VenueStress {
  /** The rules: `stress/1`. */
  figure: string;
  from: string;
  to: string;
  size_usd: number;
  haircut_pct: number;
  fall_pct: number;
  /** Only slots after such a move are looked at; absent: every slot. */
  after_move_pct?: number;
  within_slots?: number;
  /** Of the venues' shortest series. */
  days_observed: number;
  method_version: string;
  method: SeriesMethod;
  /** What anyone can recompute it from, with the snapshots that it names. */
  figure_url: string;
  status: Status;
  have: number;
  slots_missing: number;
  /** Some venue stands and some does not: unknown, not empty. */
  slots_incomplete: number;
  slots_unanswered: number;
  /** No venue's mid price had moved so far: not looked at. */
  slots_unmoved?: number;
  /** Whether it had is unknown: so many slots before, not every venue stands. */
  slots_untestable?: number;
  /** The venues together did not take it. */
  slots_unfillable: number;
  /** Not every venue stands, within an hour of the worst either way. */
  slots_missing_near_worst: number;
  /** `null` where that slot did not take it, or there is none. */
  gap_q50_pct: number | null;
  gap_q95_pct: number | null;
  /** Ten, the worst first. */
  worst_slots: StressedSlot[];
  /** `null` where no limit was asked for. */
  above: TimeAbove | null;
  lowest_depth_usd: number | null;
  lowest_depth_time: string | null;
  /** In the slot of the lowest depth: whether liquidity had gone, or the price had moved away. */
  lowest_depth_book_usd: number | null;
  depth_q50_usd: number | null;
  lowest_book_usd: number | null;
  lowest_book_time: string | null;
  book_q50_usd: number | null;
  venues: StressedVenue[];
}

/** `GET /v1/shocks`. */
export interface NamedShocks {
  shocks: NamedShock[];
}

/** What the greatest fall of a recorded period did. */
export interface NamedShock {
  name: string;
  about: string;
  pool: string;
  /** The token whose price fell, as the operator named it. */
  base: string | null;
  from: string;
  to: string;
  move_pct: number;
  within_slots: number;
  gap_pct: number;
  /** The slot of the fall; `null` where there is none. */
  time: string | null;
  fall_pct: number | null;
  /** The greatest share of the book that was gone beyond what the fall alone did. */
  haircut_pct: number | null;
  /** Why there is none. */
  why_not?: string;
  /** The decay that it is read from. */
  figure_url: string | null;
}

/** `GET /v1/stress/{pool}`. */
export interface Stress extends SeriesOf {
  /** Slots with a snapshot that stands. */
  slots_recorded: number;
  /** Slots without one: what happened in them nobody knows. */
  slots_missing: number;
  /** Slots whose snapshot was retracted. */
  slots_retracted: number;
  /** The worst number: the widest gap of the recorded slots that have one. Absent where none has. */
  worst_gap?: GapPoint;
  /** Recorded slots in which the size had no gap: worse than any number. */
  slots_refused: number;
  /** Of the slots in which the size lay beyond liquidity, the one that could fill the least. */
  least_fillable?: FillablePoint;
  /** What anyone can check the worst gap with. */
  evidence_url?: string;
  /** The lowest depth. */
  lowest_depth?: DepthPoint;
  /** What the pool held around its own price in the slot of the worst gap … */
  worst_gap_book?: PoolBook;
  /** … and of the lowest depth: whether liquidity had gone, or the price had moved away. */
  lowest_depth_book?: PoolBook;
  /** More of the period's slots; absent of a period of more than 31 days. */
  detail?: StressDetail;
}

/** A pool's own price in a slot, and what it held around that: depth without the distance from the oracle. */
export interface PoolBook {
  /** How far the pool's mid price lay below the oracle; negative: above. */
  basis_pct: number | null;
  /** The depth at 2 % from the pool's own mid price; `null` where the search for it was given up. */
  book_usd: number | null;
}

/** Selling a size now beside redeeming it. **Modelled**: terms are what somebody read, and nothing on a chain proves them. */
export interface RedemptionWindow {
  figure: string;
  modelled: true;
  size_usd: number;
  /** `size_usd × (1 - exit_gap_pct)`, rounded down; `null` where it cannot be sold. */
  receives_now_usd: number | null;
  exit_gap_pct: number | null;
  /** Why it cannot be sold at once. */
  refusal?: ErrorCode;
  /** The time of the snapshot's block. */
  handed_in_at: string;
  /** None where the operator knows no terms of the token. */
  paths: RedemptionPath[];
}

/** One way of redeeming a size. */
export interface RedemptionPath {
  kind: "at_once" | "on_days" | "in_turn" | (string & {});
  /** Why these terms do not take it. */
  refusal?: "below_minimum" | "unknown_days" | "paused" | "fact_missing" | "fact_invalid" | "asset_unknown" | "pace_unknown" | (string & {});
  /** `null` where a fact would tell it and `refusal` says why none does. */
  fee_pct: number | null;
  minimum_usd: number;
  /** What one whole token pays before the fee, by a fact; absent where it is the oracle's price. */
  pays_usd?: number;
  /** Of a queue: what is paid a day, at the least, in the middle, at the most. */
  per_day_usd?: [number, number, number];
  /** Whether that is what its recorded lengths fell by. */
  per_day_recorded?: boolean;
  /** `null`: as much as one likes, or as `fee_pct`. */
  capacity_usd: number | null;
  /** The size, or the capacity; the rest is sold now. */
  redeemed_usd: number | null;
  sold_usd: number | null;
  /** What both bring, at the oracle's price or at `pays_usd`. */
  receives_usd: number | null;
  /** Seconds; `null`: nobody is paid. */
  t_min_s: number | null;
  t_max_s: number | null;
  /** Of a queue, at its pace in the middle. */
  t_middle_s?: number;
  /** Positive: redeeming brings more. */
  advantage_pct: number | null;
  /** The advantage as a simple yearly rate over `t_min_s`: who can do without the money for less redeems. */
  break_even_annual_pct_at_t_min: number | null;
  break_even_annual_pct_at_t_max: number | null;
  /** What it rests on of the snapshot; the other numbers are the terms'. */
  facts?: RedemptionFact[];
  eligibility: string;
  terms_source: string;
  terms_read_on: string;
  terms_sha256: string;
}

/** A fact of the snapshot, read at its block. */
export interface RedemptionFact {
  says: "capacity" | "ahead" | "fee" | "paused" | "nav" | "capacity_asset" | (string & {});
  name: string;
  contract: string;
  call: string;
  /** The first word of the answer. */
  word_raw: string;
}

/** The slots of a period. One that refused the size is worse than any number. */
export interface StressDetail {
  /** Nearest rank; `null` where that slot refused the size, or there is none. */
  gap_q50_pct: number | null;
  gap_q95_pct: number | null;
  /** The ten worst, the worst first. */
  worst_slots: GapPoint[];
  /** Within an hour of the worst slot. */
  slots_missing_near_worst: number;
  /** Where `limitPct` was asked for. */
  above?: TimeAbove;
}

export interface TimeAbove {
  limit_pct: number;
  slots: number;
  /** One after the other: a slot without a snapshot ends it. */
  longest_run_slots: number;
  longest_run_from: string | null;
}

/** The gap at one standard size. */
export interface StandardGap {
  /** The size, USD. */
  size_usd: number;
  /** The gap, percent; absent where the size has none. */
  exit_gap_pct?: number;
  /** Why it has none. */
  refusal?: ProblemCode;
  /** Where the size lies beyond liquidity: the most that can be filled, USD. */
  max_fillable_usd?: number;
  /** What anyone can check the gap with. */
  evidence_url?: string;
}

/** The slot of the last seven days with the lowest depth. */
export interface LowestDepth {
  /** Depth at 2 %, whole USD. */
  depth_usd: number;
  /** The slot's number. */
  slot: number;
  /** The slot's instant, RFC 3339. */
  time: string;
  /** How far the pool's mid price lay below the oracle then, percent. */
  basis_pct?: number;
  /** Slots without a snapshot of the seven days up to it. */
  slots_missing_7d: number;
}

/** A pool of the board, selling its default base. */
export interface FragilityRow {
  /** The pool's identifier. */
  pool: string;
  /** The chain's slug. */
  chain: string;
  /** Live or preview. */
  status: Status;
  /** The token sold. */
  base: TokenLabel;
  /** The token bought. */
  quote: TokenLabel;
  /** Venue and fee in words: no two rows of one chain and pair have the same. */
  name: string;
  /** The venue; absent where the pool's factory is not known. */
  venue?: string;
  /** What a sale pays to the pool as fee, percent; absent where it depends on the sale, which `name` says. */
  fee_pct?: number;
  /** Instant of the slot behind the row, RFC 3339. */
  slot_time: string;
  /** Slots after it that are missing. */
  newer_slots_missing: number;
  /** The gap at each standard size, ascending. */
  gaps: StandardGap[];
  /** Depth at 2 % in that slot, whole USD. */
  depth_usd?: number;
  /**
   * The book of that slot: the depth at 2 % from the pool's own mid price in place of the oracle's, whole USD. Where only
   * the oracle moved away, `depth_usd` falls and this does not.
   */
  book_usd?: number;
  /** The median depth of seven days, whole USD. */
  median_depth_7d_usd?: number;
  /** The lowest depth of seven days. */
  lowest_depth_7d?: LowestDepth;
  /**
   * The lowest depth of each of the last eight UTC days, whole USD, the newest last; null where
   * the day has none.
   */
  daily_lowest_depth_usd: (number | null)[];
  /** Slots of those seven days without a snapshot. */
  slots_missing_7d: number;
  /**
   * `1 − lowest ÷ median`: the share of the median depth that was gone at the lowest slot, 0
   * to 1. Null under one day of recorded slots, or where the median is 0.
   */
  fragility_score: number | null;
  /** Recorded slots ÷ 288. */
  days_observed: number;
  /** The version of the rules behind gaps and depths. */
  method_version: string;
  /** The method, disclosed: the sizes are those of `gaps`, the window the seven days. */
  method: SeriesMethod;
  /** The heads of those seven days, which commit to `days_observed` and the lowest depth. */
  window_url: string;
  /** Whether an oracle answer behind the row is older than its heartbeat. */
  oracle_stale: boolean;
}

/** `GET /v1/fragility`. */
export interface Fragility {
  /** How the score is made, in one sentence. */
  score_method: string;
  /** The version of the rules behind gaps and depths. */
  method_version: string;
  /** Pools with a snapshot, in this selection. */
  pools: number;
  /** Pools of the selection that have no snapshot yet, and no row. */
  pools_without_snapshot: number;
  /** The rows of this page. */
  rows: FragilityRow[];
  /** Where the next page begins; absent on the last. */
  next_cursor?: string;
}

/** One position of a portfolio. */
export interface Position {
  /** The pool's identifier; absent where a token is sold through all its pools. */
  pool?: string;
  /** `token0` or `token1`: the token sold in that pool. */
  base?: string;
  /** The token sold through all its pools, `<chain>/<token>`. */
  token?: string;
  /** The position's size, USD. */
  size_usd: number;
  /** Which of `exits` sell it, counted from 0; with other positions of the pool or token. */
  exits: number[];
}

/** All positions in one pool and direction, sold together. */
export interface PortfolioExit {
  /** The pool's identifier. */
  pool: string;
  /** `token0` or `token1`: the token sold. */
  base: string;
  /** The sum of the positions, USD. */
  size_usd: number;
  /** What it fills at; absent where it cannot be filled. */
  result?: PublishedExit;
  /** Why there is none. */
  problem?: Problem;
  /** What of it cannot be filled, USD. */
  unfilled_usd: number;
}

/** The sums over all exits. */
export interface PortfolioTotal {
  /** All positions, USD. */
  size_usd: number;
  /** The mean of the exits' gaps, weighted by size, percent; null where something cannot be filled. */
  exit_gap_pct: number | null;
  /** What cannot be filled, USD. */
  unfilled_usd: number;
  /** The same mean over what can be filled; null where nothing can. */
  filled_gap_pct: number | null;
  /** Preview where any exit is. */
  status: Status;
  /** That of the exit with the shortest series: the sums are no stronger than it. */
  days_observed: number;
  /** The version of the rules that produced the figures. */
  method_version: string;
  /** The method, disclosed; its window is that of the exit with the shortest series. */
  method: SeriesMethod;
  /**
   * What anyone can check with the gaps behind the means, and what cannot be filled: of every exit, in
   * the order of `exits`.
   */
  evidence_urls: string[];
}

/** `GET /v1/portfolio`. */
export interface Portfolio {
  /** The positions, as asked. */
  positions: Position[];
  /** The exits, in the order of their first position. */
  exits: PortfolioExit[];
  /** The sums. */
  total: PortfolioTotal;
  /** Which exit is the worst: one that cannot be filled, else the one of the widest gap. */
  worst_exit: number;
}

/** How far a capability may be depended on. */
export type CapabilityStatus =
  | "live"
  | "preview"
  | "roadmap";

/** One capability. */
export interface Capability {
  /** Its name. */
  capability: string;
  /** Its status here: live where it is so on any chain. */
  status: CapabilityStatus;
  /** The chains on which it is live; on the others it is at most preview. */
  live_on: string[];
  /** Where it is, or what is not built of it. */
  where: string;
  /**
   * What gates it, as the specification says: capabilities by their names here, or what else has to
   * be there first.
   */
  gated_by: string[];
}

/** How a chain stands: what the statuses of capabilities rest on. */
export interface ChainCapability {
  /** The chain's slug. */
  chain: string;
  /** Live where all that is needed for that holds, else preview. */
  status: CapabilityStatus;
  /** The newest recorded slot of its pools, RFC 3339; absent before the first. */
  newest_recorded_slot?: string;
  /** Seconds from that slot's instant to this answer. */
  age_s?: number;
  /** Why it is not live; absent where it is. */
  not_live_because?: string;
}

/** `GET /v1/capabilities`. */
export interface Capabilities {
  /**
   * Where pages, evidence and the log are, where that is another address than the API's: all
   * addresses that do not begin with `/v1/`.
   */
  web_url?: string;
  /** Whether this process records. */
  recording: boolean;
  /** Whether this process serves pages. */
  pages: boolean;
  /** Every chain with a monitored pool. */
  chains: ChainCapability[];
  /** Every capability of the specification. */
  capabilities: Capability[];
}

/** The key that signs receipts of payments: a JSON Web Key (RFC 8037). */
export interface ReceiptJwk {
  /** `OKP`. */
  kty: string;
  /** `Ed25519`. */
  crv: string;
  /** The key's 32 bytes, base64url. */
  x: string;
  /**
   * The key's name: the base64url of its thumbprint, the SHA-256 of
   * `{"crv":"Ed25519","kty":"OKP","x":"…"}`.
   */
  kid?: string;
  /** `EdDSA`. */
  alg?: string;
}

/** `GET /v1/payments`. */
export interface Payments {
  /** What is priced. */
  priced: string[];
  /** The price, in whole tokens. */
  price: string;
  /** The same in units of the token. */
  price_units: string;
  /** The token's symbol. */
  currency: string;
  /** The chain, by its CAIP-2 id. */
  network: string;
  /** The token. */
  asset: string;
  /** Who is paid. */
  pay_to: string;
  /** The key that signs receipts, and nothing else. */
  receipt_key: ReceiptJwk;
  /**
   * How many estimates a client has free of charge on a day of UTC, by the tools for agents and as positions of
   * portfolios.
   */
  free_estimates_per_day: number;
  /** What the price buys, in words. */
  buys: string;
}

/** What a series holds for a slot. */
export type SlotState =
  | "recorded"
  | "missing"
  | "retracted"
  | "retired";

/** A retraction. */
export interface RetractionNotice {
  /** The slot whose head retracts it. */
  by_slot: number;
  /**
   * `orphaned`: its block is not on the chain that became final; `misread`: a later full reading proved
   * its ticks wrong. A newer service may have more.
   */
  code: string;
  /** The hash of the block the snapshot was read at, where that was orphaned. */
  orphaned_block_hash?: string;
  /** The hash of the block that stands in its place, where it was orphaned. */
  canonical_block_hash?: string;
}

/** What became of a slot since it was sealed: told beside its evidence, never inside it. */
export interface SlotStatus {
  /** The pool's identifier. */
  pool: string;
  /** The slot's number. */
  slot: number;
  /** The slot's instant, RFC 3339. */
  slot_time: string;
  /** What the series holds for it. */
  state: SlotState;
  /** Why it is missing. */
  missing_reason?: string;
  /** Where the slot was taken back. */
  retraction?: RetractionNotice;
  /**
   * Where its ticks are in doubt: the slot whose full reading of the pool was not what had been
   * followed until then.
   */
  doubted_by_slot?: number;
}

/** Figures with their context: the document of every answer about a pool. */
export type Answer<Figures> = Figures & Context;

/** The answer to "at this size, how far below the oracle do I fill?". */
export type ExitResult = Answer<Amounts>;

/** A pool's ladder in one direction. */
export type Ladder = Answer<LadderRows>;

/** The answer to "how much can I sell within this gap?". */
export type MaxSizeResult = Answer<GapRung>;

/** The answer to "what if I sell it in several orders?". */
export type SimulationResult = Answer<Simulation>;

/** What verifying an evidence file found. */
/** A check of a figure file, as one of evidence. */
export interface FigureCheck {
  name: "format" | "windows" | "signature" | "sealed_leaves" | "uses" | "snapshots" | "result" | (string & {});
  outcome: Outcome;
  /** `ok`, or what failed or was absent. */
  code: string;
  expected: string;
  found: string;
}

/** What the witnesses of a policy say of a checkpoint. */
export interface WitnessCheck {
  name: "witnessed";
  outcome: Outcome;
  /**
   * `ok`; `cosignature_forged` and `signature_forged` fail; `quorum_missing`, `log_not_in_policy` and `log_proof_invalid` leave it
   * not checked.
   */
  code: string;
  expected: string;
  found: string;
  /** The Unix second before which the checkpoint was there, by the clocks of the quorum; absent without one. */
  recorded_before_s?: number;
  /** The policy's witnesses that cosigned, each with the Unix second it names. */
  cosigned: { witness: string; key: string; time_s: number }[];
}

export interface FigureReport {
  verdict: Verdict;
  /** Every check, in order. `valid` does not require `sealed_leaves`, which takes the log's leaves. */
  checks: FigureCheck[];
}

export interface VerificationReport {
  /** What the file says of itself; absent where it says nothing readable. Nothing of it is checked. */
  claim?: Claim;
  verdict: Verdict;
  /** Every check, in order. */
  checks: Check[];
  /** Keys that signed the checkpoint but are not trusted; ignored. */
  unknown_signers: string[];
  /** Names that head and leaf commit to and this version does not know; nothing rests on them. */
  unknown_commits: string[];
  /** Names of the snapshot's facts that this version does not know; likewise. */
  unknown_facts: string[];
  /** Proof of misbehaviour, where the verification came upon one. */
  contradiction?: Contradiction;
}

/** An answer as the service publishes it. */
export type Published<Figures> = Answer<Figures> & Publication;

/** `GET /v1/exit/{pool}`. */
export type PublishedExit = Published<Amounts>;

/** `GET /v1/size/{pool}`. */
export type PublishedMaxSize = Published<GapRung>;

/** `GET /v1/simulate/{pool}`. */
export type PublishedSimulation = Published<Simulation>;

/** `GET /v1/redemption/{pool}`. */
export type PublishedRedemption = Published<RedemptionWindow>;

/** `GET /v1/ladder/{pool}`. */
export type PublishedLadder = Published<LadderRows>;
