// Made by `cargo xtask generate` from crates/exitgap-server/docs/openapi.json. Do not edit.
//
// What each operation is asked with, as the client takes it.

import type { BaseInput, DecimalInput, InstantInput } from './index.js';

/** Through which venues is this size best sold? */
export interface CompareRoutesOptions {
  /** The size in USD at the oracle's price: a plain number from 0.01 to 1000000000 with at most six decimals. */
  sizeUsd: DecimalInput;
  /** Only pools that buy a token of this group, as the operator configured it. All of them where left out. */
  quoteGroup?: string;
  /** What using a venue costs whatever is sold there, such as gas, USD: your assumption, the same for each. 0 where left out. */
  fixedCostUsd?: DecimalInput;
  /** An RFC 3339 instant: the slot at or before it, exactly. The newest recorded slot where left out. */
  at?: InstantInput;
  /** A guard: the most seconds that the answer's snapshot may be old, as `snapshot_age_s` tells it. What is older is refused with `snapshot_too_old`. Of a series: the pool's newest snapshot. */
  maxAgeS?: number;
  /** A guard: the least `days_observed` of the answer, a plain number with at most two decimals. A shorter series is refused with `series_too_short`. */
  minDaysObserved?: DecimalInput;
  /** A guard: with `live`, an answer whose `status` would be another is refused with `not_live`. */
  require?: 'live';
}

/** How far below the oracle does a sale of this size fill? */
export interface EstimateExitOptions {
  /** The size in USD at the oracle's price: a plain number from 0.01 to 1000000000 with at most six decimals. */
  sizeUsd: DecimalInput;
  /** The token sold: `token0`, `token1`, its address, or its symbol where the other token has another; capital or small letters. What names neither token of the pool is refused with `unknown_base`. The pool's own choice where left out. */
  base?: BaseInput;
  /** An RFC 3339 instant: the slot at or before it, exactly. The newest recorded slot where left out. */
  at?: InstantInput;
  /** A guard: the most seconds that the answer's snapshot may be old, as `snapshot_age_s` tells it. What is older is refused with `snapshot_too_old`. Of a series: the pool's newest snapshot. */
  maxAgeS?: number;
  /** A guard: the least `days_observed` of the answer, a plain number with at most two decimals. A shorter series is refused with `series_too_short`. */
  minDaysObserved?: DecimalInput;
  /** A guard: with `live`, an answer whose `status` would be another is refused with `not_live`. */
  require?: 'live';
}

/** When would a rule have spoken? */
export interface EvaluateAlertOptions {
  /** What is watched: `gap_above` has `size_usd`, `pct` and `clear_pct`, `depth_below` `usd`, `clear_usd` and `at_pct`, `lowest_depth_below` `usd` and `clear_usd`, `missing` `reason`; the others have nothing. */
  kind: 'gap_above' | 'depth_below' | 'lowest_depth_below' | 'oracle_stale' | 'market_closed' | 'missing';
  /** The token sold: `token0`, `token1`, its address, or its symbol where the other token has another; capital or small letters. What names neither token of the pool is refused with `unknown_base`. The pool's own choice where left out. */
  base?: BaseInput;
  /** Of `gap_above`: the size sold, USD at the oracle's price. */
  sizeUsd?: DecimalInput;
  /** Of `gap_above`: a gap above it is a breach, percent. A sale that is not filled is worse than any gap. */
  pct?: DecimalInput;
  /** Of `gap_above`: a gap of at most this is clear; between it and `pct` neither. A tenth of `pct` below it where left out. */
  clearPct?: DecimalInput;
  /** Of `depth_below` and `lowest_depth_below`: a depth below it is a breach, USD. */
  usd?: DecimalInput;
  /** Of the same: a depth of at least this is clear. A tenth of `usd` above it where left out. */
  clearUsd?: DecimalInput;
  /** Of `depth_below`: the gap at which depth is measured, percent. 2 where left out. */
  atPct?: DecimalInput;
  /** Of `missing`: a reason that counts, such as `rpc_unavailable`. Repeated for each; any where left out. */
  reason?: string;
  /** Breaches in a row until it fires. 2 where left out. */
  forSlots?: number;
  /** Clear slots in a row until it is over. 3 where left out. */
  clearForSlots?: number;
  /** Slots in a row that say nothing until that is said; 0: never. 3 where left out. */
  noDataSlots?: number;
  /** Slots after it fired in which it does not fire again. 12 where left out. */
  refireSlots?: number;
  /** Slots after which it is said again while it lasts; 0: never. */
  remindSlots?: number;
  /** What a slot that says nothing counts as: nothing (`hold`), a breach, or clear. */
  onMissing?: 'hold' | 'breach' | 'clear';
  /** What the rule is called, 1 to 40 of a-z, 0-9 and '_': its events' names depend on it. `alert` where left out. */
  alert?: string;
  /** The first slot: the one at or before this instant. The pool's first where left out. */
  from?: InstantInput;
  /** The last slot: the one at or before this instant. The newest where left out. */
  to?: InstantInput;
  /** A guard: the most seconds that the answer's snapshot may be old, as `snapshot_age_s` tells it. What is older is refused with `snapshot_too_old`. Of a series: the pool's newest snapshot. */
  maxAgeS?: number;
  /** A guard: the least `days_observed` of the answer, a plain number with at most two decimals. A shorter series is refused with `series_too_short`. */
  minDaysObserved?: DecimalInput;
  /** A guard: with `live`, an answer whose `status` would be another is refused with `not_live`. */
  require?: 'live';
}

/** How good were the estimates of all pools? */
export interface ListAccuracyOptions {
  /** Only pools of this chain. */
  chain?: string;
  /** How many rows a page has. 100 where left out. */
  limit?: number;
  /** `next_cursor` of the page before, as it is. */
  cursor?: string;
}

/** Closed days, as files. */
export interface ListClosedDaysOptions {
  /** The first day, UTC. The log's first where left out. */
  from?: string;
  /** The last day, UTC. The last closed one where left out. */
  to?: string;
}

/** List the monitored pools. */
export interface ListPoolsOptions {
  /** Only pools of this chain. */
  chain?: string;
  /** How many rows a page has. 100 where left out. */
  limit?: number;
  /** `next_cursor` of the page before, as it is. */
  cursor?: string;
}

/** How much can be sold within this gap? */
export interface MaxExitSizeOptions {
  /** The widest gap accepted, percent: a plain number from -100 to 100 with at most six decimals. Positive is worse than the oracle. */
  gapPct: DecimalInput;
  /** The token sold: `token0`, `token1`, its address, or its symbol where the other token has another; capital or small letters. What names neither token of the pool is refused with `unknown_base`. The pool's own choice where left out. */
  base?: BaseInput;
  /** An RFC 3339 instant: the slot at or before it, exactly. The newest recorded slot where left out. */
  at?: InstantInput;
  /** A guard: the most seconds that the answer's snapshot may be old, as `snapshot_age_s` tells it. What is older is refused with `snapshot_too_old`. Of a series: the pool's newest snapshot. */
  maxAgeS?: number;
  /** A guard: the least `days_observed` of the answer, a plain number with at most two decimals. A shorter series is refused with `series_too_short`. */
  minDaysObserved?: DecimalInput;
  /** A guard: with `live`, an answer whose `status` would be another is refused with `not_live`. */
  require?: 'live';
}

/** How good were the estimates? */
export interface ReadAccuracyOptions {
  /** The first slot: the one at or before this instant. The pool's first where left out. */
  from?: InstantInput;
  /** The last slot: the one at or before this instant. The newest where left out. */
  to?: InstantInput;
  /** A guard: the most seconds that the answer's snapshot may be old, as `snapshot_age_s` tells it. What is older is refused with `snapshot_too_old`. Of a series: the pool's newest snapshot. */
  maxAgeS?: number;
  /** A guard: the least `days_observed` of the answer, a plain number with at most two decimals. A shorter series is refused with `series_too_short`. */
  minDaysObserved?: DecimalInput;
  /** A guard: with `live`, an answer whose `status` would be another is refused with `not_live`. */
  require?: 'live';
}

/** How a book thins after its price has moved. */
export interface ReadDepthDecayOptions {
  /** The token sold: `token0`, `token1`, its address, or its symbol where the other token has another; capital or small letters. What names neither token of the pool is refused with `unknown_base`. The pool's own choice where left out. */
  base?: BaseInput;
  /** The first slot: the one at or before this instant. The pool's first where left out. */
  from?: InstantInput;
  /** The last slot: the one at or before this instant. The newest where left out. */
  to?: InstantInput;
  /** How far the pool's mid price must have moved, percent: above 0 and at most 100, with at most six decimals. 2 where left out; for pegged tokens 0.2. */
  movePct?: DecimalInput;
  /** Over how many slots it must have moved: 1 to 48. 3 where left out, which is a quarter of an hour. */
  withinSlots?: number;
  /** The gap from the pool's own mid price at which books are measured, percent: above 0 and at most 100. 2 where left out. */
  gapPct?: DecimalInput;
  /** A guard: the most seconds that the answer's snapshot may be old, as `snapshot_age_s` tells it. What is older is refused with `snapshot_too_old`. Of a series: the pool's newest snapshot. */
  maxAgeS?: number;
  /** A guard: the least `days_observed` of the answer, a plain number with at most two decimals. A shorter series is refused with `series_too_short`. */
  minDaysObserved?: DecimalInput;
  /** A guard: with `live`, an answer whose `status` would be another is refused with `not_live`. */
  require?: 'live';
}

/** How does a share trade in each session of its exchange? */
export interface ReadEquityOptions {
  /** The size of the gaps in USD, 0.01 to 1000000000. 10000 where left out. */
  sizeUsd?: DecimalInput;
  /** The gap limit of the depths in sessions, percent: above 0 and at most 100. 2 where left out. */
  gapPct?: DecimalInput;
  /** A guard: the most seconds that the answer's snapshot may be old, as `snapshot_age_s` tells it. What is older is refused with `snapshot_too_old`. Of a series: the pool's newest snapshot. */
  maxAgeS?: number;
  /** A guard: the least `days_observed` of the answer, a plain number with at most two decimals. A shorter series is refused with `series_too_short`. */
  minDaysObserved?: DecimalInput;
  /** A guard: with `live`, an answer whose `status` would be another is refused with `not_live`. */
  require?: 'live';
}

/** What a pool logged. */
export interface ReadFillsOptions {
  /** The slot's number: its instant is 300 seconds times it. */
  slot: number;
}

/** The fragility board. */
export interface ReadFragilityOptions {
  /** Only pools of this chain. */
  chain?: string;
  /** What the most fragile comes first by. The gap where left out. */
  sort?: 'gap' | 'score' | 'depth';
  /** The standard size whose gap is sorted by. 100000 where left out. */
  sizeUsd?: DecimalInput;
  /** How many rows a page has. 100 where left out. */
  limit?: number;
  /** `next_cursor` of the page before, as it is. */
  cursor?: string;
}

/** The recorded series. */
export interface ReadHistoryOptions {
  /** The size in USD, 0.01 to 1000000000. The gaps of 1000, 10000, 100000 and 1000000 are kept of every slot; those of any other are computed from the snapshots, of at most 2016 slots (seven days) at a time. */
  sizeUsd: DecimalInput;
  /** The token sold: `token0`, `token1`, its address, or its symbol where the other token has another; capital or small letters. What names neither token of the pool is refused with `unknown_base`. The pool's own choice where left out. */
  base?: BaseInput;
  /** The first slot: the one at or before this instant. As far back as a page reaches where left out. */
  from?: InstantInput;
  /** The last slot: the one at or before this instant. The newest where left out. */
  to?: InstantInput;
  /** The length of a row: a slot, an hour or a day, UTC. 1h where left out. */
  interval?: '5m' | '1h' | '1d';
  /** How many rows a page has. 720 where left out, which is thirty days of hours. */
  limit?: number;
  /** `next_cursor` of the page before, as it is. */
  cursor?: string;
  /** A guard: the most seconds that the answer's snapshot may be old, as `snapshot_age_s` tells it. What is older is refused with `snapshot_too_old`. Of a series: the pool's newest snapshot. */
  maxAgeS?: number;
  /** A guard: the least `days_observed` of the answer, a plain number with at most two decimals. A shorter series is refused with `series_too_short`. */
  minDaysObserved?: DecimalInput;
  /** A guard: with `live`, an answer whose `status` would be another is refused with `not_live`. */
  require?: 'live';
}

/** Which estimates were paid for. */
export interface ReadIssuedOptions {
  /** The slot's number: its instant is 300 seconds times it. */
  slot: number;
}

/** Depth by gap, slippage by size. */
export interface ReadLadderOptions {
  /** The token sold: `token0`, `token1`, its address, or its symbol where the other token has another; capital or small letters. What names neither token of the pool is refused with `unknown_base`. The pool's own choice where left out. */
  base?: BaseInput;
  /** An RFC 3339 instant: the slot at or before it, exactly. The newest recorded slot where left out. */
  at?: InstantInput;
  /** A guard: the most seconds that the answer's snapshot may be old, as `snapshot_age_s` tells it. What is older is refused with `snapshot_too_old`. Of a series: the pool's newest snapshot. */
  maxAgeS?: number;
  /** A guard: the least `days_observed` of the answer, a plain number with at most two decimals. A shorter series is refused with `series_too_short`. */
  minDaysObserved?: DecimalInput;
  /** A guard: with `live`, an answer whose `status` would be another is refused with `not_live`. */
  require?: 'live';
}

/** Open against closed markets. */
export interface ReadMarketHoursOptions {
  /** One of the standard sizes in USD: the gaps of these are kept of every slot. */
  sizeUsd: DecimalInput;
  /** The token sold: `token0`, `token1`, its address, or its symbol where the other token has another; capital or small letters. What names neither token of the pool is refused with `unknown_base`. The pool's own choice where left out. */
  base?: BaseInput;
  /** A guard: the most seconds that the answer's snapshot may be old, as `snapshot_age_s` tells it. What is older is refused with `snapshot_too_old`. Of a series: the pool's newest snapshot. */
  maxAgeS?: number;
  /** A guard: the least `days_observed` of the answer, a plain number with at most two decimals. A shorter series is refused with `series_too_short`. */
  minDaysObserved?: DecimalInput;
  /** A guard: with `live`, an answer whose `status` would be another is refused with `not_live`. */
  require?: 'live';
}

/** Sell now, or redeem later? */
export interface ReadRedemptionOptions {
  /** The size in USD at the oracle's price: a plain number from 0.01 to 1000000000 with at most six decimals. */
  sizeUsd: DecimalInput;
  /** The token sold: `token0`, `token1`, its address, or its symbol where the other token has another; capital or small letters. What names neither token of the pool is refused with `unknown_base`. The pool's own choice where left out. */
  base?: BaseInput;
  /** An RFC 3339 instant: the slot at or before it, exactly. The newest recorded slot where left out. */
  at?: InstantInput;
  /** A guard: the most seconds that the answer's snapshot may be old, as `snapshot_age_s` tells it. What is older is refused with `snapshot_too_old`. Of a series: the pool's newest snapshot. */
  maxAgeS?: number;
  /** A guard: the least `days_observed` of the answer, a plain number with at most two decimals. A shorter series is refused with `series_too_short`. */
  minDaysObserved?: DecimalInput;
  /** A guard: with `live`, an answer whose `status` would be another is refused with `not_live`. */
  require?: 'live';
}

/** What became of a slot since. */
export interface ReadSlotStatusOptions {
  /** The slot's number: its instant is 300 seconds times it. */
  slot: number;
}

/** The worst of a period. */
export interface ReadStressOptions {
  /** The size in USD, 0.01 to 1000000000. The gaps of 1000, 10000, 100000 and 1000000 are kept of every slot; those of any other are computed from the snapshots, of at most 2016 slots (seven days) at a time. */
  sizeUsd: DecimalInput;
  /** The token sold: `token0`, `token1`, its address, or its symbol where the other token has another; capital or small letters. What names neither token of the pool is refused with `unknown_base`. The pool's own choice where left out. */
  base?: BaseInput;
  /** The first slot: the one at or before this instant. The pool's first where left out. */
  from?: InstantInput;
  /** The last slot: the one at or before this instant. The newest where left out. */
  to?: InstantInput;
  /** A gap in percent: `detail.above` tells in how many slots the size lost more, and for how long on end. */
  limitPct?: DecimalInput;
  /** A guard: the most seconds that the answer's snapshot may be old, as `snapshot_age_s` tells it. What is older is refused with `snapshot_too_old`. Of a series: the pool's newest snapshot. */
  maxAgeS?: number;
  /** A guard: the least `days_observed` of the answer, a plain number with at most two decimals. A shorter series is refused with `series_too_short`. */
  minDaysObserved?: DecimalInput;
  /** A guard: with `live`, an answer whose `status` would be another is refused with `not_live`. */
  require?: 'live';
}

/** What would it fill at with liquidity gone? */
export interface ReadVenueStressOptions {
  /** What is sold, USD at the oracle price after the fall: 0.01 to 1000000000. */
  sizeUsd: DecimalInput;
  /** How much of everybody's liquidity has gone in every slot looked at, percent from 0 to 99. 0 where left out. */
  haircutPct?: DecimalInput;
  /** How far the price of the token sold has fallen in every slot looked at, the pools' and the oracle's together, percent from 0 to 99. 0 where left out. */
  fallPct?: DecimalInput;
  /** A gap in percent: `above` tells in how many slots the size lost more, and for how long on end. */
  limitPct?: DecimalInput;
  /** Only slots in which the mid price of a venue has moved by so much, up or down, since `within_slots` before: percent, above 0 and at most 100. Every slot where left out. */
  afterMovePct?: DecimalInput;
  /** With `after_move_pct`: since how many slots before, 1 to 48. 3 where left out, which is a quarter of an hour. */
  withinSlots?: number;
  /** The first slot: the one at or before this instant. The pool's first where left out. */
  from?: InstantInput;
  /** The last slot: the one at or before this instant. The newest where left out. */
  to?: InstantInput;
  /** A guard: the most seconds that the answer's snapshot may be old, as `snapshot_age_s` tells it. What is older is refused with `snapshot_too_old`. Of a series: the pool's newest snapshot. */
  maxAgeS?: number;
  /** A guard: the least `days_observed` of the answer, a plain number with at most two decimals. A shorter series is refused with `series_too_short`. */
  minDaysObserved?: DecimalInput;
  /** A guard: with `live`, an answer whose `status` would be another is refused with `not_live`. */
  require?: 'live';
}

/** Could the market absorb a liquidation? */
export interface ScoreLiquidationExposureOptions {
  /** What is sold, USD at the oracle price after the fall: 0.01 to 1000000000. */
  cascadeUsd: DecimalInput;
  /** What whoever liquidates gets beyond what they repay, percent from 0 to 100. 5 where left out. */
  bonusPct?: DecimalInput;
  /** The protocol's share of the bonus, percent from 0 to 100. 0 where left out. */
  protocolFeePct?: DecimalInput;
  /** How far the price of the token sold has fallen in every slot looked at, the pools' and the oracle's together, percent from 0 to 99. 20 where left out. */
  fallPct?: DecimalInput;
  /** The first slot: the one at or before this instant. The pool's first where left out. */
  from?: InstantInput;
  /** The last slot: the one at or before this instant. The newest where left out. */
  to?: InstantInput;
  /** A guard: the most seconds that the answer's snapshot may be old, as `snapshot_age_s` tells it. What is older is refused with `snapshot_too_old`. Of a series: the pool's newest snapshot. */
  maxAgeS?: number;
  /** A guard: the least `days_observed` of the answer, a plain number with at most two decimals. A shorter series is refused with `series_too_short`. */
  minDaysObserved?: DecimalInput;
  /** A guard: with `live`, an answer whose `status` would be another is refused with `not_live`. */
  require?: 'live';
}

/** Several positions, exited at once. */
export interface ScorePortfolioOptions {
  /** A guard: the most seconds that the answer's snapshot may be old, as `snapshot_age_s` tells it. What is older is refused with `snapshot_too_old`. Of a series: the pool's newest snapshot. */
  maxAgeS?: number;
  /** A guard: the least `days_observed` of the answer, a plain number with at most two decimals. A shorter series is refused with `series_too_short`. */
  minDaysObserved?: DecimalInput;
  /** A guard: with `live`, an answer whose `status` would be another is refused with `not_live`. */
  require?: 'live';
}

/** What if it is sold in several orders? */
export interface SimulateOrdersOptions {
  /** The size in USD at the oracle's price: a plain number from 0.01 to 1000000000 with at most six decimals. */
  sizeUsd: DecimalInput;
  /** How many orders the size is sold in, 1 to 1000: equal up to one raw unit. */
  orders: number;
  /** The share of its displacement that √price is assumed to recover between two orders, percent: a plain number from 0 to 100 with at most six decimals. Your assumption, not a forecast. 0 where left out. */
  recoveryPct?: DecimalInput;
  /** Seconds between two orders, as you state them: echoed, nothing is computed from it. 0 where left out. */
  intervalS?: number;
  /** The token sold: `token0`, `token1`, its address, or its symbol where the other token has another; capital or small letters. What names neither token of the pool is refused with `unknown_base`. The pool's own choice where left out. */
  base?: BaseInput;
  /** An RFC 3339 instant: the slot at or before it, exactly. The newest recorded slot where left out. */
  at?: InstantInput;
  /** A guard: the most seconds that the answer's snapshot may be old, as `snapshot_age_s` tells it. What is older is refused with `snapshot_too_old`. Of a series: the pool's newest snapshot. */
  maxAgeS?: number;
  /** A guard: the least `days_observed` of the answer, a plain number with at most two decimals. A shorter series is refused with `series_too_short`. */
  minDaysObserved?: DecimalInput;
  /** A guard: with `live`, an answer whose `status` would be another is refused with `not_live`. */
  require?: 'live';
}
