// Made by `cargo xtask generate` from crates/exitgap-server/docs/openapi.json. Do not edit.
//
// What each operation is asked with, as the client takes it.

import type { BaseInput, DecimalInput, InstantInput } from './index.js';

/** Best route over all venues. */
export interface CompareRoutesOptions {
  /** The size in USD at the oracle price: a plain number from 0.01 to 1000000000 with at most six decimals. */
  sizeUsd: DecimalInput;
  /** Only pools that buy a token of this group, as configured by the operator. Any other name is refused. Default: all pools. */
  quoteGroup?: string;
  /** The fixed cost of using a venue, such as gas, USD. Your assumption, the same for each venue. Default: 0. */
  fixedCostUsd?: DecimalInput;
  /** An RFC 3339 time. Selects the slot exactly at or before it. Default: the newest recorded slot. */
  at?: InstantInput;
  /** A guard: the maximum age of the answer's snapshot (`snapshot_age_s`), seconds. An older snapshot is refused with `snapshot_too_old`. For a series, the pool's newest snapshot counts. */
  maxAgeS?: number;
  /** A guard: the minimum `days_observed` of the answer, a plain number with at most two decimals. A shorter series is refused with `series_too_short`. */
  minDaysObserved?: DecimalInput;
  /** A guard: with `live`, an answer with any other `status` is refused with `not_live`. */
  require?: 'live';
}

/** Exit estimate. */
export interface EstimateExitOptions {
  /** The size in USD at the oracle price: a plain number from 0.01 to 1000000000 with at most six decimals. */
  sizeUsd: DecimalInput;
  /** The token sold: `token0`, `token1`, its address, or its symbol if the two tokens have different symbols. Upper or lower case. Anything else returns `unknown_base`. Default: the pool's default base token. */
  base?: BaseInput;
  /** An RFC 3339 time. Selects the slot exactly at or before it. Default: the newest recorded slot. */
  at?: InstantInput;
  /** A guard: the maximum age of the answer's snapshot (`snapshot_age_s`), seconds. An older snapshot is refused with `snapshot_too_old`. For a series, the pool's newest snapshot counts. */
  maxAgeS?: number;
  /** A guard: the minimum `days_observed` of the answer, a plain number with at most two decimals. A shorter series is refused with `series_too_short`. */
  minDaysObserved?: DecimalInput;
  /** A guard: with `live`, an answer with any other `status` is refused with `not_live`. */
  require?: 'live';
}

/** Backtest of an alert rule. */
export interface EvaluateAlertOptions {
  /** The condition. `gap_above` takes `size_usd`, `pct` and `clear_pct`. `depth_below` takes `usd`, `clear_usd` and `at_pct`. `lowest_depth_below` takes `usd` and `clear_usd`. `missing` takes `reason`. The others take nothing. What a kind does not take is refused. */
  kind: 'gap_above' | 'depth_below' | 'lowest_depth_below' | 'oracle_stale' | 'market_closed' | 'missing';
  /** The token sold: `token0`, `token1`, its address, or its symbol if the two tokens have different symbols. Upper or lower case. Anything else returns `unknown_base`. Default: the pool's default base token. */
  base?: BaseInput;
  /** For `gap_above`, which requires it: the size sold, USD at the oracle price. */
  sizeUsd?: DecimalInput;
  /** For `gap_above`, which requires it: a wider gap is a breach, percent. A sale that cannot be filled is worse than any gap. */
  pct?: DecimalInput;
  /** For `gap_above`: a gap of at most this is clear. A gap between this and `pct` is neither. Default: a tenth of `pct` below it. */
  clearPct?: DecimalInput;
  /** For `depth_below` and `lowest_depth_below`, which require it: a lower depth is a breach, USD. */
  usd?: DecimalInput;
  /** For `depth_below` and `lowest_depth_below`: a depth of at least this is clear. Default: a tenth of `usd` above it. */
  clearUsd?: DecimalInput;
  /** For `depth_below`: the gap at which depth is measured, percent. Default: 2. */
  atPct?: DecimalInput;
  /** For `missing`: a reason that counts, such as `rpc_unavailable`. Repeat for each reason. Default: any reason. */
  reason?: string;
  /** Consecutive breaches until the rule fires. Default: 2. */
  forSlots?: number;
  /** Consecutive clear slots until the alert is resolved. Default: 3. */
  clearForSlots?: number;
  /** Consecutive slots without data until an event reports that. 0: never. Default: 3. */
  noDataSlots?: number;
  /** Slots after the rule fired in which it does not fire again. Default: 12. */
  refireSlots?: number;
  /** Slots after which a reminder is sent while the alert lasts. 0: never. */
  remindSlots?: number;
  /** How a slot without data counts: ignored (`hold`), as a breach, or as clear. */
  onMissing?: 'hold' | 'breach' | 'clear';
  /** The name of the rule, 1 to 40 of a-z, 0-9 and '_'. The ids of its events depend on the name. Default: `alert`. */
  alert?: string;
  /** The first slot: the slot at or before this time. Default: the pool's first slot. */
  from?: InstantInput;
  /** The last slot: the slot at or before this time, not before `from`. Default: the newest slot. */
  to?: InstantInput;
  /** A guard: the maximum age of the answer's snapshot (`snapshot_age_s`), seconds. An older snapshot is refused with `snapshot_too_old`. For a series, the pool's newest snapshot counts. */
  maxAgeS?: number;
  /** A guard: the minimum `days_observed` of the answer, a plain number with at most two decimals. A shorter series is refused with `series_too_short`. */
  minDaysObserved?: DecimalInput;
  /** A guard: with `live`, an answer with any other `status` is refused with `not_live`. */
  require?: 'live';
}

/** Estimate accuracy of all pools. */
export interface ListAccuracyOptions {
  /** Only pools of this chain. */
  chain?: string;
  /** The number of rows per page. Default: 100. */
  limit?: number;
  /** `next_cursor` of the previous page, unchanged. */
  cursor?: string;
}

/** Closed days as files. */
export interface ListClosedDaysOptions {
  /** The first day, UTC. Default: the log's first day. */
  from?: string;
  /** The last day, UTC, not before `from`. Default: the last closed day. */
  to?: string;
}

/** List of monitored pools. */
export interface ListPoolsOptions {
  /** Only pools of this chain. */
  chain?: string;
  /** The number of rows per page. Default: 100. */
  limit?: number;
  /** `next_cursor` of the previous page, unchanged. */
  cursor?: string;
}

/** Largest exit within a gap. */
export interface MaxExitSizeOptions {
  /** The widest gap accepted, percent: a plain number from -100 to 100 with at most six decimals. Positive is worse than the oracle. */
  gapPct: DecimalInput;
  /** The token sold: `token0`, `token1`, its address, or its symbol if the two tokens have different symbols. Upper or lower case. Anything else returns `unknown_base`. Default: the pool's default base token. */
  base?: BaseInput;
  /** An RFC 3339 time. Selects the slot exactly at or before it. Default: the newest recorded slot. */
  at?: InstantInput;
  /** A guard: the maximum age of the answer's snapshot (`snapshot_age_s`), seconds. An older snapshot is refused with `snapshot_too_old`. For a series, the pool's newest snapshot counts. */
  maxAgeS?: number;
  /** A guard: the minimum `days_observed` of the answer, a plain number with at most two decimals. A shorter series is refused with `series_too_short`. */
  minDaysObserved?: DecimalInput;
  /** A guard: with `live`, an answer with any other `status` is refused with `not_live`. */
  require?: 'live';
}

/** Estimate accuracy of a pool. */
export interface ReadAccuracyOptions {
  /** The first slot: the slot at or before this time. Default: the pool's first slot. */
  from?: InstantInput;
  /** The last slot: the slot at or before this time, not before `from`. Default: the newest slot. */
  to?: InstantInput;
  /** A guard: the maximum age of the answer's snapshot (`snapshot_age_s`), seconds. An older snapshot is refused with `snapshot_too_old`. For a series, the pool's newest snapshot counts. */
  maxAgeS?: number;
  /** A guard: the minimum `days_observed` of the answer, a plain number with at most two decimals. A shorter series is refused with `series_too_short`. */
  minDaysObserved?: DecimalInput;
  /** A guard: with `live`, an answer with any other `status` is refused with `not_live`. */
  require?: 'live';
}

/** Depth after a price move. */
export interface ReadDepthDecayOptions {
  /** The token sold: `token0`, `token1`, its address, or its symbol if the two tokens have different symbols. Upper or lower case. Anything else returns `unknown_base`. Default: the pool's default base token. */
  base?: BaseInput;
  /** The first slot: the slot at or before this time. Default: the pool's first slot. */
  from?: InstantInput;
  /** The last slot: the slot at or before this time, not before `from`. Default: the newest slot. */
  to?: InstantInput;
  /** How far the pool's mid price must have moved, percent: above 0 and at most 100, with at most six decimals. Default: 2, or 0.2 for pegged tokens. */
  movePct?: DecimalInput;
  /** The number of slots within which it must have moved, 1 to 48. Default: 3 (15 minutes). */
  withinSlots?: number;
  /** The gap from the pool's own mid price at which depth is measured, percent: above 0 and at most 100. Default: 2. */
  gapPct?: DecimalInput;
  /** A guard: the maximum age of the answer's snapshot (`snapshot_age_s`), seconds. An older snapshot is refused with `snapshot_too_old`. For a series, the pool's newest snapshot counts. */
  maxAgeS?: number;
  /** A guard: the minimum `days_observed` of the answer, a plain number with at most two decimals. A shorter series is refused with `series_too_short`. */
  minDaysObserved?: DecimalInput;
  /** A guard: with `live`, an answer with any other `status` is refused with `not_live`. */
  require?: 'live';
}

/** A tokenized stock by session of its exchange. */
export interface ReadEquityOptions {
  /** The size of the gaps in USD, 0.01 to 1000000000. Default: 10000. */
  sizeUsd?: DecimalInput;
  /** The gap limit of the depths in sessions, percent: above 0 and at most 100. Default: 2. */
  gapPct?: DecimalInput;
  /** A guard: the maximum age of the answer's snapshot (`snapshot_age_s`), seconds. An older snapshot is refused with `snapshot_too_old`. For a series, the pool's newest snapshot counts. */
  maxAgeS?: number;
  /** A guard: the minimum `days_observed` of the answer, a plain number with at most two decimals. A shorter series is refused with `series_too_short`. */
  minDaysObserved?: DecimalInput;
  /** A guard: with `live`, an answer with any other `status` is refused with `not_live`. */
  require?: 'live';
}

/** Logged swaps and liquidity changes of a pool. */
export interface ReadFillsOptions {
  /** The slot number. The slot's time is 300 seconds times the number. */
  slot: number;
}

/** Fragility board. */
export interface ReadFragilityOptions {
  /** Only pools of this chain. */
  chain?: string;
  /** The sort key; the most fragile pool comes first. Default: the gap. */
  sort?: 'gap' | 'score' | 'book_score' | 'depth';
  /** The standard size whose gap is used for sorting. Default: 100000. */
  sizeUsd?: DecimalInput;
  /** The number of rows per page. Default: 100. */
  limit?: number;
  /** `next_cursor` of the previous page, unchanged. */
  cursor?: string;
}

/** Recorded history. */
export interface ReadHistoryOptions {
  /** The size in USD, 0.01 to 1000000000. The gaps of 1000, 10000, 100000 and 1000000 are stored for every slot. Gaps of other sizes are computed from the snapshots, at most 2016 slots (seven days) at a time. */
  sizeUsd: DecimalInput;
  /** The token sold: `token0`, `token1`, its address, or its symbol if the two tokens have different symbols. Upper or lower case. Anything else returns `unknown_base`. Default: the pool's default base token. */
  base?: BaseInput;
  /** The first slot: the slot at or before this time. Default: as far back as one page reaches. */
  from?: InstantInput;
  /** The last slot: the slot at or before this time, not before `from`. Default: the newest slot. */
  to?: InstantInput;
  /** The length of a row: a 5-minute slot, an hour or a day, UTC. Default: 1h. */
  interval?: '5m' | '1h' | '1d';
  /** The order of rows. `asc`: the oldest row first; without `from`, one page of rows up to `to`. `desc`: the newest row first; without `from`, the pages lead back to the beginning of the series. A cursor belongs to one order. Default: asc. */
  order?: 'asc' | 'desc';
  /** The number of rows per page. Default: 720 (thirty days of hours). */
  limit?: number;
  /** `next_cursor` of the previous page, unchanged. */
  cursor?: string;
  /** A guard: the maximum age of the answer's snapshot (`snapshot_age_s`), seconds. An older snapshot is refused with `snapshot_too_old`. For a series, the pool's newest snapshot counts. */
  maxAgeS?: number;
  /** A guard: the minimum `days_observed` of the answer, a plain number with at most two decimals. A shorter series is refused with `series_too_short`. */
  minDaysObserved?: DecimalInput;
  /** A guard: with `live`, an answer with any other `status` is refused with `not_live`. */
  require?: 'live';
}

/** Receipts of paid estimates. */
export interface ReadIssuedOptions {
  /** The slot number. The slot's time is 300 seconds times the number. */
  slot: number;
}

/** Depth by gap, slippage by size. */
export interface ReadLadderOptions {
  /** The token sold: `token0`, `token1`, its address, or its symbol if the two tokens have different symbols. Upper or lower case. Anything else returns `unknown_base`. Default: the pool's default base token. */
  base?: BaseInput;
  /** An RFC 3339 time. Selects the slot exactly at or before it. Default: the newest recorded slot. */
  at?: InstantInput;
  /** A guard: the maximum age of the answer's snapshot (`snapshot_age_s`), seconds. An older snapshot is refused with `snapshot_too_old`. For a series, the pool's newest snapshot counts. */
  maxAgeS?: number;
  /** A guard: the minimum `days_observed` of the answer, a plain number with at most two decimals. A shorter series is refused with `series_too_short`. */
  minDaysObserved?: DecimalInput;
  /** A guard: with `live`, an answer with any other `status` is refused with `not_live`. */
  require?: 'live';
}

/** Open and closed markets compared. */
export interface ReadMarketHoursOptions {
  /** One of the standard sizes in USD. Their gaps are stored for every slot. */
  sizeUsd: DecimalInput;
  /** The token sold: `token0`, `token1`, its address, or its symbol if the two tokens have different symbols. Upper or lower case. Anything else returns `unknown_base`. Default: the pool's default base token. */
  base?: BaseInput;
  /** A guard: the maximum age of the answer's snapshot (`snapshot_age_s`), seconds. An older snapshot is refused with `snapshot_too_old`. For a series, the pool's newest snapshot counts. */
  maxAgeS?: number;
  /** A guard: the minimum `days_observed` of the answer, a plain number with at most two decimals. A shorter series is refused with `series_too_short`. */
  minDaysObserved?: DecimalInput;
  /** A guard: with `live`, an answer with any other `status` is refused with `not_live`. */
  require?: 'live';
}

/** Sell now or redeem later. */
export interface ReadRedemptionOptions {
  /** The size in USD at the oracle price: a plain number from 0.01 to 1000000000 with at most six decimals. */
  sizeUsd: DecimalInput;
  /** The token sold: `token0`, `token1`, its address, or its symbol if the two tokens have different symbols. Upper or lower case. Anything else returns `unknown_base`. Default: the pool's default base token. */
  base?: BaseInput;
  /** An RFC 3339 time. Selects the slot exactly at or before it. Default: the newest recorded slot. */
  at?: InstantInput;
  /** A guard: the maximum age of the answer's snapshot (`snapshot_age_s`), seconds. An older snapshot is refused with `snapshot_too_old`. For a series, the pool's newest snapshot counts. */
  maxAgeS?: number;
  /** A guard: the minimum `days_observed` of the answer, a plain number with at most two decimals. A shorter series is refused with `series_too_short`. */
  minDaysObserved?: DecimalInput;
  /** A guard: with `live`, an answer with any other `status` is refused with `not_live`. */
  require?: 'live';
}

/** Current status of a slot. */
export interface ReadSlotStatusOptions {
  /** The slot number. The slot's time is 300 seconds times the number. */
  slot: number;
}

/** Worst moments of a period. */
export interface ReadStressOptions {
  /** The size in USD, 0.01 to 1000000000. The gaps of 1000, 10000, 100000 and 1000000 are stored for every slot. Gaps of other sizes are computed from the snapshots, at most 2016 slots (seven days) at a time. */
  sizeUsd: DecimalInput;
  /** The token sold: `token0`, `token1`, its address, or its symbol if the two tokens have different symbols. Upper or lower case. Anything else returns `unknown_base`. Default: the pool's default base token. */
  base?: BaseInput;
  /** The first slot: the slot at or before this time. Default: the pool's first slot. */
  from?: InstantInput;
  /** The last slot: the slot at or before this time, not before `from`. Default: the newest slot. */
  to?: InstantInput;
  /** A gap in percent. `detail.above` shows in how many slots the gap of the size was wider, and for how many consecutive slots. */
  limitPct?: DecimalInput;
  /** A guard: the maximum age of the answer's snapshot (`snapshot_age_s`), seconds. An older snapshot is refused with `snapshot_too_old`. For a series, the pool's newest snapshot counts. */
  maxAgeS?: number;
  /** A guard: the minimum `days_observed` of the answer, a plain number with at most two decimals. A shorter series is refused with `series_too_short`. */
  minDaysObserved?: DecimalInput;
  /** A guard: with `live`, an answer with any other `status` is refused with `not_live`. */
  require?: 'live';
}

/** Stress test with liquidity withdrawn. */
export interface ReadVenueStressOptions {
  /** The size sold, USD at the oracle price after the drop: 0.01 to 1000000000. */
  sizeUsd: DecimalInput;
  /** The share of all liquidity that is withdrawn, applied in every slot, percent from 0 to 99. Default: 0. */
  haircutPct?: DecimalInput;
  /** The price drop of the token sold, applied in every slot to the pools and the oracle together, percent from 0 to 99. Default: 0. */
  fallPct?: DecimalInput;
  /** A gap in percent. `above` shows in how many slots the gap of the size was wider, and for how many consecutive slots. */
  limitPct?: DecimalInput;
  /** Only slots in which the mid price of a venue has moved by at least this much, up or down, within the last `within_slots` slots: percent, above 0 and at most 100. Default: every slot. */
  afterMovePct?: DecimalInput;
  /** Only together with `after_move_pct`, and refused without it: the number of slots to look back, 1 to 48. Default: 3 (15 minutes). */
  withinSlots?: number;
  /** The first slot: the slot at or before this time. Default: the pool's first slot. */
  from?: InstantInput;
  /** The last slot: the slot at or before this time, not before `from`. Default: the newest slot. */
  to?: InstantInput;
  /** The price that depths, gaps and the rating are measured from: `oracle`, or `mid`, the pools' own mid prices. Default: the oracle price. */
  reference?: 'oracle' | 'mid';
  /** A guard: the maximum age of the answer's snapshot (`snapshot_age_s`), seconds. An older snapshot is refused with `snapshot_too_old`. For a series, the pool's newest snapshot counts. */
  maxAgeS?: number;
  /** A guard: the minimum `days_observed` of the answer, a plain number with at most two decimals. A shorter series is refused with `series_too_short`. */
  minDaysObserved?: DecimalInput;
  /** A guard: with `live`, an answer with any other `status` is refused with `not_live`. */
  require?: 'live';
}

/** When to sell. */
export interface ReadWhenToSellOptions {
  /** The size in USD, 0.01 to 1000000000. The gaps of 1000, 10000, 100000 and 1000000 are stored for every slot. Gaps of other sizes are computed from the snapshots, at most 2016 slots (seven days) at a time. */
  sizeUsd: DecimalInput;
  /** The token sold: `token0`, `token1`, its address, or its symbol if the two tokens have different symbols. Upper or lower case. Anything else returns `unknown_base`. Default: the pool's default base token. */
  base?: BaseInput;
  /** The first slot: the slot at or before this time. Default: the pool's first slot. */
  from?: InstantInput;
  /** The last slot: the slot at or before this time, not before `from`. Default: the newest slot. */
  to?: InstantInput;
  /** A guard: the maximum age of the answer's snapshot (`snapshot_age_s`), seconds. An older snapshot is refused with `snapshot_too_old`. For a series, the pool's newest snapshot counts. */
  maxAgeS?: number;
  /** A guard: the minimum `days_observed` of the answer, a plain number with at most two decimals. A shorter series is refused with `series_too_short`. */
  minDaysObserved?: DecimalInput;
  /** A guard: with `live`, an answer with any other `status` is refused with `not_live`. */
  require?: 'live';
}

/** Liquidation exposure. */
export interface ScoreLiquidationExposureOptions {
  /** The liquidation size, USD at the oracle price after the drop: 0.01 to 1000000000. */
  cascadeUsd: DecimalInput;
  /** The liquidation bonus, percent from 0 to 100. Default: 5. */
  bonusPct?: DecimalInput;
  /** The protocol's share of the bonus, percent from 0 to 100. Default: 0. */
  protocolFeePct?: DecimalInput;
  /** The price drop of the token sold, applied in every slot to the pools and the oracle together, percent from 0 to 99. Default: 20. */
  fallPct?: DecimalInput;
  /** The first slot: the slot at or before this time. Default: the pool's first slot. */
  from?: InstantInput;
  /** The last slot: the slot at or before this time, not before `from`. Default: the newest slot. */
  to?: InstantInput;
  /** The price that depths, gaps and the rating are measured from: `oracle`, or `mid`, the pools' own mid prices. Default: the oracle price. */
  reference?: 'oracle' | 'mid';
  /** A guard: the maximum age of the answer's snapshot (`snapshot_age_s`), seconds. An older snapshot is refused with `snapshot_too_old`. For a series, the pool's newest snapshot counts. */
  maxAgeS?: number;
  /** A guard: the minimum `days_observed` of the answer, a plain number with at most two decimals. A shorter series is refused with `series_too_short`. */
  minDaysObserved?: DecimalInput;
  /** A guard: with `live`, an answer with any other `status` is refused with `not_live`. */
  require?: 'live';
}

/** Portfolio exit. */
export interface ScorePortfolioOptions {
  /** The tokens that the sale must end in: `cash`, the name of another group that the operator configured, one to eight token addresses separated by commas, or `any`: every token that a pool pays for the token sold, at most eight, those of the deepest pools. Default: the chain's cash tokens, or any if none are configured. */
  into?: string;
  /** How much less than the stated amounts you accept, percent from 0 to 100. It determines `amount_out_min_raw`. Default: 0.5. */
  tolerancePct?: DecimalInput;
  /** A guard: the maximum age of the answer's snapshot (`snapshot_age_s`), seconds. An older snapshot is refused with `snapshot_too_old`. For a series, the pool's newest snapshot counts. */
  maxAgeS?: number;
  /** A guard: the minimum `days_observed` of the answer, a plain number with at most two decimals. A shorter series is refused with `series_too_short`. */
  minDaysObserved?: DecimalInput;
  /** A guard: with `live`, an answer with any other `status` is refused with `not_live`. */
  require?: 'live';
}

/** Exit that ends in cash. */
export interface SellForCashOptions {
  /** The size in USD at the oracle price: a plain number from 0.01 to 1000000000 with at most six decimals. Give this or `amount`. */
  sizeUsd?: DecimalInput;
  /** The amount sold in whole tokens, as a plain decimal such as `0.125`; never raw units. Give this or `size_usd`. */
  amount?: DecimalInput;
  /** The tokens that the sale must end in: `cash`, the name of another group that the operator configured, one to eight token addresses separated by commas, or `any`: every token that a pool pays for the token sold, at most eight, those of the deepest pools. Default: the chain's cash tokens, or any if none are configured. */
  into?: string;
  /** How much less than the stated amounts you accept, percent from 0 to 100. It determines `amount_out_min_raw`. Default: 0.5. */
  tolerancePct?: DecimalInput;
  /** Your assumption of the gas for the whole sale, USD. It is stated on its own and does not change the gap. Default: not counted. */
  gasUsd?: DecimalInput;
  /** An RFC 3339 time. Selects the slot exactly at or before it. Default: the newest recorded slot. */
  at?: InstantInput;
  /** A guard: the maximum age of the answer's snapshot (`snapshot_age_s`), seconds. An older snapshot is refused with `snapshot_too_old`. For a series, the pool's newest snapshot counts. */
  maxAgeS?: number;
  /** A guard: the minimum `days_observed` of the answer, a plain number with at most two decimals. A shorter series is refused with `series_too_short`. */
  minDaysObserved?: DecimalInput;
  /** A guard: with `live`, an answer with any other `status` is refused with `not_live`. */
  require?: 'live';
}

/** Exit in several orders. */
export interface SimulateOrdersOptions {
  /** The size in USD at the oracle price: a plain number from 0.01 to 1000000000 with at most six decimals. */
  sizeUsd: DecimalInput;
  /** The number of orders for the size, 1 to 1000. The orders are equal to within one raw unit. */
  orders: number;
  /** The assumed recovery of √price between two orders, as a share of its displacement, percent: a plain number from 0 to 100 with at most six decimals. Your assumption, not a forecast. Default: 0. */
  recoveryPct?: DecimalInput;
  /** Seconds between two orders. The value is returned unchanged and not used in any computation. Default: 0. */
  intervalS?: number;
  /** The token sold: `token0`, `token1`, its address, or its symbol if the two tokens have different symbols. Upper or lower case. Anything else returns `unknown_base`. Default: the pool's default base token. */
  base?: BaseInput;
  /** An RFC 3339 time. Selects the slot exactly at or before it. Default: the newest recorded slot. */
  at?: InstantInput;
  /** A guard: the maximum age of the answer's snapshot (`snapshot_age_s`), seconds. An older snapshot is refused with `snapshot_too_old`. For a series, the pool's newest snapshot counts. */
  maxAgeS?: number;
  /** A guard: the minimum `days_observed` of the answer, a plain number with at most two decimals. A shorter series is refused with `series_too_short`. */
  minDaysObserved?: DecimalInput;
  /** A guard: with `live`, an answer with any other `status` is refused with `not_live`. */
  require?: 'live';
}
