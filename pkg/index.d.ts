// Types of the npm package `exitgap`. Documents are spelled as the service and `exitgap … --json`
// spell them; tests compile what the Rust types really write, and what a service really answers, as
// literals of them.

import type {
  AccuracyTable,
  AlertsTold,
  Answer_Amounts,
  Answer_GapRung,
  Answer_LadderRows,
  Answer_RedemptionWindow,
  Answer_Simulation,
  BestSplit,
  Capabilities,
  CashExit,
  Context,
  DepthDecay,
  Equities,
  EquityScore,
  Fragility,
  History,
  Interval,
  LiquidationExposure,
  MarketHours,
  NamedShocks,
  Payments,
  PoolAccuracy,
  PoolList,
  Portfolio,
  ProblemCode,
  Published_Amounts,
  Published_GapRung,
  Published_LadderRows,
  Published_RedemptionWindow,
  Published_Simulation,
  Routes,
  SlotStatus,
  Status,
  Stress,
  VenueStress,
  WhenToSell,
} from './documents.js';

import type {
  CompareRoutesOptions,
  EvaluateAlertOptions,
  ListAccuracyOptions,
  ListPoolsOptions,
  ReadAccuracyOptions,
  ReadDepthDecayOptions,
  ReadEquityOptions,
  ReadFragilityOptions,
  ReadHistoryOptions,
  ReadLadderOptions,
  ReadMarketHoursOptions,
  ReadStressOptions,
  ReadVenueStressOptions,
  ScoreLiquidationExposureOptions,
  ScorePortfolioOptions,
  SellForCashOptions,
} from './operations.js';

export type * from './documents.js';
export type * from './operations.js';

/** Loads the module. Await it once before anything else; further calls wait for the same load. */
export function init(source?: InitSource): Promise<void>;

/**
 * Where the module comes from, if not from this package: its bytes (`Uint8Array`, `ArrayBuffer`), its address (text, `URL`, `Request`), a
 * `Response` with it or the promise of one, or a compiled `WebAssembly.Module`. Not every host has a type of each.
 */
export type InitSource = string | object;

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
  /** The size that cannot be filled, USD. */
  readonly sizeUsd?: number;
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

/** Asks a service over HTTP. What it answers is not verified, but for `snapshot` and `verify`. */
export class Client {
  constructor(baseUrl: string | Address, of?: ClientOptions);
  pools(of?: Signal & ListPoolsOptions): Promise<PoolList>;
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
  /** The newest slot ranked among all others of up to 31 days, and the gap by hour of the week. */
  whenToSell(pool: string, of: Signal & SeriesOptions): Promise<WhenToSell>;
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
  accuracy(pool: string, of?: Signal & ReadAccuracyOptions): Promise<PoolAccuracy>;
  /** Without a pool: a row for each recorded pool, of the last seven days. */
  accuracy(pool?: undefined, of?: Signal & ListAccuracyOptions): Promise<AccuracyTable>;
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
  /**
   * One sale that ends in cash, over up to three recorded pools in a row, with a bound on every other plan. Give `sizeUsd` or `amount`. Its
   * `evidence_url` is a figure file: pass it to `verifyFigure()`.
   */
  sellForCash(chain: string, token: string, of: Signal & SellForCashOptions): Promise<CashExit>;
  /** All recorded pools of a token: each alone, and the exact split. */
  routes(chain: string, token: string, of: Signal & RoutesOptions): Promise<Routes>;
  /**
   * Several positions, exited at once: those in one pool and direction together, and the tokens of a chain in one plan that ends in cash. A
   * plan's `evidence_url` is a figure file: pass it to `verifyFigure()`.
   */
  portfolio(positions: readonly PositionInput[], of?: Signal & ScorePortfolioOptions): Promise<Portfolio>;
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
  /** Replaces the global `fetch`. */
  fetch?: (url: string, request: ClientRequest) => Promise<ClientResponse>;
  /** How long one request may take; 30,000 unless told. */
  timeoutMs?: number;
  /** How often a request is repeated where that may help; 2 unless told. */
  retries?: number;
  /**
   * Where pages, evidence and the log are. Unless told, where the service's capabilities say so, and
   * else at `baseUrl`.
   */
  webUrl?: string | Address;
  /**
   * The keys that `estimate` trusts. Without any, those that `storage` keeps since an earlier visit, else the service's own
   * on first use, which `log.trust` then says.
   */
  keys?: readonly string[];
  /** Where `estimate` keeps what it saw of a log; unless told, in memory. */
  storage?: Storage;
}

/** A `URL`. */
export interface Address {
  readonly href: string;
}

/** How the client calls `fetch`: every request is a GET. */
export interface ClientRequest {
  headers: { accept: string };
  redirect: "manual";
  /** An `AbortSignal`, which is not of the same type on all hosts. */
  signal: any;
}

/** What the client reads of a `Response`. */
export interface ClientResponse {
  readonly status: number;
  readonly type?: string;
  readonly headers: { get(name: string): string | null };
  readonly body: { getReader(): { read(): Promise<{ done: boolean; value?: any }> } } | null;
}

/** What is used of an `AbortSignal`. */
export interface Abort {
  readonly aborted: boolean;
  addEventListener(type: "abort", listener: () => void, of?: { once?: boolean }): void;
  removeEventListener(type: "abort", listener: () => void): void;
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
  signal?: Abort;
}

/** What an answer must meet. What does not is refused by the service, by its code: nothing is answered. */
export type Guards = Pick<ReadLadderOptions, "maxAgeS" | "minDaysObserved" | "require">;

/** RFC 3339, or a `Date`, of which whole seconds count. */
export type InstantInput = string | Date;

/** Which token is sold, at which slot, and what the answer must meet. */
export type At = ReadLadderOptions;

export interface BestSplitOptions {
  sizeUsd: DecimalInput;
  /** The token sold, in each of the snapshots. */
  base: BaseInput;
  /** What using each venue costs, in the order of the snapshots; none at all where absent. */
  fixedCostsUsd?: readonly DecimalInput[];
}

/** What `routes` is asked with. */
export type RoutesOptions = CompareRoutesOptions;

export type PositionInput =
  | {
      pool: string;
      /** The pool's default base unless told. */
      base?: BaseInput;
      sizeUsd: DecimalInput;
    }
  /** Sold through all recorded pools of the token. */
  | { chain: string; token: string; sizeUsd: DecimalInput };

/** A period of a series, and what it must meet. */
export type SeriesOptions = Omit<ReadStressOptions, "limitPct">;

/** What `marketHours` is asked with. */
export type HoursOptions = ReadMarketHoursOptions;

/** What `equityScore` is asked with. */
export type EquityOptions = ReadEquityOptions;

/** What `depthDecay` is asked with. */
export type DecayOptions = ReadDepthDecayOptions;

/** What `liquidationExposure` is asked with. */
export type ExposureOptions = ScoreLiquidationExposureOptions;

/** What `venueStress` is asked with. */
export type VenueStressOptions = ReadVenueStressOptions;

/** A page of a history. */
export type HistoryPage = Pick<ReadHistoryOptions, "interval" | "order" | "limit" | "cursor">;

/** What `fragility` is asked with. */
export type FragilityOptions = ReadFragilityOptions;

// Documents of the service are in `documents.d.ts`; these are made of them, or come from this package alone.

/** A ladder's rows. */
export type LadderRows = Omit<Answer_LadderRows, keyof Context>;

/** An exit in several orders, and the same exit at once. */
export type Simulation = Omit<Answer_Simulation, keyof Context>;

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
  /** `live` or `preview`: as the file spells it, or where it states a refusal, that of its snapshot's chain. */
  status?: string;
  /** The CAIP-2 id of the snapshot's chain; absent where the snapshot cannot be read. */
  chain?: string;
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
  /** The lowest depth at 2% of the last 2,016 slots in this direction. */
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

/** What the service adds to an answer that it publishes. */
export type Publication = Omit<Published_Amounts, keyof Answer_Amounts>;

export type ClosureKind = 'night' | 'weekend' | 'holiday';

export type EquityKind = 'scaled_ui' | 'total_return' | 'rebasing' | 'split_rebase';

/** A session of a share's exchange. */
export type EquitySessionName = 'regular' | 'pre' | 'after' | 'overnight' | 'weekend' | 'holiday' | 'unknown';

/** A rule, and the period. What is left out has the service's default. */
export type AlertOptions = EvaluateAlertOptions;

/** Selling a size now compared with redeeming it. **Modelled**: nothing on a chain proves the terms. */
export type RedemptionWindow = Omit<Answer_RedemptionWindow, keyof Context>;

/** Figures with their context: the document of every answer about a pool. */
export type Answer<Figures> = Figures & Context;

/** The answer to "at this size, how far below the oracle do I fill?". */
export type ExitResult = Answer_Amounts;

/** A pool's ladder in one direction. */
export type Ladder = Answer_LadderRows;

/** The answer to "how much can I sell within this gap?". */
export type MaxSizeResult = Answer_GapRung;

/** The answer to "what if I sell it in several orders?". */
export type SimulationResult = Answer_Simulation;

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

/** What a figure file states that it is of; only the checks show whether that holds. */
export interface FigureClaim {
  /** The rules, such as `decay/1`. */
  figure: string;
  /** Its pools, in its order, each with the token sold there; without one where the figure is of both. */
  venues: { pool: string; base?: string }[];
  first_slot?: number;
  first_slot_time?: string;
  last_slot?: number;
  last_slot_time?: string;
  /** The log that its first window is of. */
  log?: string;
  /** `live` or `preview`. */
  status?: string;
}

export interface FigureReport {
  /** What the file states that it is of; absent where it is not readable. */
  claim?: FigureClaim;
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
export type PublishedExit = Published_Amounts;

/** `GET /v1/size/{pool}`. */
export type PublishedMaxSize = Published_GapRung;

/** `GET /v1/simulate/{pool}`. */
export type PublishedSimulation = Published_Simulation;

/** `GET /v1/redemption/{pool}`. */
export type PublishedRedemption = Published_RedemptionWindow;

/** `GET /v1/ladder/{pool}`. */
export type PublishedLadder = Published_LadderRows;
