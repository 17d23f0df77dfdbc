//! The rows of requests about a pool, a token, a log and the service itself.

use super::super::parameters::{
    AMOUNT, AMOUNT_IN, AT, BASE, BASE_BY_PLACE, BOARD_SIZE, CASH_POOL, CHAIN, CHAIN_IN_PATH,
    EVIDENCE_SLOT, EXPORT_FROM, EXPORT_POOL, EXPORT_TO, FIXED_COST, FROM, GAP, GAS, HIGH,
    HISTORY_LIMIT, INTERVAL, INTO, INTO_TOKENS, LEVEL, LIMIT, LOG_FILE, LOW, MAX_AGE, METHOD,
    MIN_DAYS, ORDER, ORDER_INTERVAL, ORDERS, PERIOD_FROM, POOL, POOL_CURSOR, POSITION, QUOTE_GROUP,
    RANK_CURSOR, RECOVERY, REQUIRE, SERIES_SIZE, SIZE, SIZE_OR_AMOUNT, SLOT, SLOT_CURSOR,
    SLOT_IN_PATH, SNAPSHOT_HASH, SOLD_AMOUNTS, SORT, STANDARD_SIZE, STATE_HASH, TO, TOKEN_IN_PATH,
    TOLERANCE,
};
use super::super::{Answer, Calls, Group, Keep, Operation, PriceClass, Row};
use super::{JSON, OF_MANY_SNAPSHOTS, OWNED, row};

pub(super) const ROWS: [Row; 30] = [
    Row {
        title: "List of monitored pools",
        about: "Every pool with its tokens, its status, the start date of its series and the length of the series.",
        parameters: &[&CHAIN, &LIMIT, &POOL_CURSOR],
        answer: Answer::Document("PoolList"),
        calls: Calls { javascript: "pools", python: "pools", ..Calls::NONE },
        ..row(Operation::Pools, "listPools", "/v1/pools")
    },
    Row {
        title: "Exit estimate",
        about: "How far below the oracle price a sale of this size fills, exact to the last token unit. `exit_gap_pct` is the decision field: positive if the fill is worse than the oracle. A size that cannot be filled has no gap. The error then gives `max_fillable_usd`.",
        parameters: &[&POOL, &SIZE, &BASE, &AT, &MAX_AGE, &MIN_DAYS, &REQUIRE],
        answer: Answer::Document("Published_Amounts"),
        // An operation with a price has a shorter maximum address.
        refusals: &[400, 402, 404, 409, 412, 414, 422, 503],
        price: PriceClass::Priced,
        calls: Calls { javascript: "exit", python: "exit", ..Calls::NONE },
        ..row(Operation::Exit, "estimateExit", "/v1/exit/{pool}")
    },
    Row {
        title: "Largest exit within a gap",
        about: "The largest size whose own fill is at most `gap_pct` below the oracle, with that fill. `limited_by` shows what limits the size. If nothing can be sold within the gap, the size is 0 and there is no exit. `evidence_url` proves the exit of the size found.",
        parameters: &[&POOL, &GAP, &BASE, &AT, &MAX_AGE, &MIN_DAYS, &REQUIRE],
        answer: Answer::Document("Published_GapRung"),
        refusals: &[400, 404, 412, 422, 503],
        calls: Calls { javascript: "maxSize", python: "max_size", ..Calls::NONE },
        ..row(Operation::MaxSize, "maxExitSize", "/v1/size/{pool}")
    },
    Row {
        title: "Exit in several orders",
        about: "The fill of each order and of all orders together, compared with the same size sold at once. Between two orders √price moves back by `recovery_pct` of its distance from its position before the first order. Liquidity and oracle do not change. `evidence_url` proves the sale at once. Orders and recovery are assumptions that no recorded series proves.",
        parameters: &[
            &POOL,
            &SIZE,
            &ORDERS,
            &RECOVERY,
            &ORDER_INTERVAL,
            &BASE,
            &AT,
            &MAX_AGE,
            &MIN_DAYS,
            &REQUIRE,
        ],
        answer: Answer::Document("Published_Simulation"),
        refusals: &[400, 404, 412, 422, 503],
        calls: Calls { javascript: "simulate", python: "simulate", ..Calls::NONE },
        ..row(Operation::Simulation, "simulateOrders", "/v1/simulate/{pool}")
    },
    Row {
        title: "Depth by gap, slippage by size",
        about: "The size that can be sold within each gap limit, and the fill of each standard size.",
        parameters: &[&POOL, &BASE, &AT, &MAX_AGE, &MIN_DAYS, &REQUIRE],
        answer: Answer::Document("Published_LadderRows"),
        refusals: &[400, 404, 412, 503],
        calls: Calls { javascript: "ladder", python: "ladder", ..Calls::NONE },
        ..row(Operation::Ladder, "readLadder", "/v1/ladder/{pool}")
    },
    Row {
        group: Group::Series,
        title: "Recorded history",
        about: "Gaps at a size and depths, slot by slot, hour by hour or day by day. A row of many slots gives the last gap, the worst gap, the number of slots that could not fill the size and the smallest maximum among them, and the lowest depth, each with its slot. Missing and retracted slots are shown as rows or counted in rows. Pages lead forward from `from`, or with `order=desc` back from `to`.",
        parameters: &[
            &POOL,
            &SERIES_SIZE,
            &BASE,
            &FROM,
            &TO,
            &INTERVAL,
            &ORDER,
            &HISTORY_LIMIT,
            &SLOT_CURSOR,
            &MAX_AGE,
            &MIN_DAYS,
            &REQUIRE,
        ],
        answer: Answer::Document("History"),
        refusals: &[400, 404, 412, 422, 503],
        calls: Calls { javascript: "history", python: "history_rows", ..Calls::NONE },
        ..row(Operation::History, "readHistory", "/v1/history/{pool}")
    },
    Row {
        group: Group::Series,
        title: "Worst moments of a period",
        about: "The worst gap at a size that could be filled; separately, the number of slots that could not fill the size and the smallest maximum among them; the lowest depth, each with its slot; and the number of missing slots in the period. For periods of at most 31 days, `detail` has the ten worst slots, the median and the 95th percentile, the number of missing slots within an hour of the worst slot, and how long the gap was above `limit_pct`.",
        parameters: &[
            &POOL,
            &SERIES_SIZE,
            &BASE,
            &PERIOD_FROM,
            &TO,
            &LEVEL,
            &MAX_AGE,
            &MIN_DAYS,
            &REQUIRE,
        ],
        answer: Answer::Document("Stress"),
        refusals: &[400, 404, 412, 422, 503],
        calls: Calls { javascript: "stress", ..Calls::NONE },
        ..row(Operation::Stress, "readStress", "/v1/stress/{pool}")
    },
    Row {
        group: Group::Series,
        title: "When to sell",
        about: "The newest slot of a period ranked among all other recorded slots: how many were worse, equal and better. For each hour of the week, the number of slots and weeks, the median gap, its 95th percentile, and the worst slot. A best hour is only named if the period covers four weeks. At most 31 days. Default: four weeks.",
        parameters: &[&POOL, &SERIES_SIZE, &BASE, &PERIOD_FROM, &TO, &MAX_AGE, &MIN_DAYS, &REQUIRE],
        answer: Answer::Document("WhenToSell"),
        refusals: &[400, 404, 412, 422, 503],
        calls: Calls { javascript: "whenToSell", ..Calls::NONE },
        ..row(Operation::When, "readWhenToSell", "/v1/when/{pool}")
    },
    Row {
        group: Group::Series,
        title: "Fragility board",
        about: "All pools, most fragile first: gaps at the standard sizes, depth now, median and lowest depth of seven days. Also the depth from the pool's own price, which does not change if only the oracle moves. `score_method` describes the formula of the score.",
        parameters: &[&CHAIN, &SORT, &BOARD_SIZE, &LIMIT, &RANK_CURSOR],
        answer: Answer::Document("Fragility"),
        calls: Calls { javascript: "fragility", ..Calls::NONE },
        ..row(Operation::Fragility, "readFragility", "/v1/fragility")
    },
    Row {
        title: "Portfolio exit",
        about: "Positions that name a pool are sold there, those in one pool and base token together. Tokens that are held are sold for cash, as in `/v1/cash`, in one plan for all tokens of a chain: a route of one token may pass through another, and no pool is used twice or in two directions. A pool that a position names takes no part in a plan. If something cannot be filled, the total has no gap, but `unfilled_usd` and the gap of the part that can be filled.",
        parameters: &[&POSITION, &INTO, &TOLERANCE, &MAX_AGE, &MIN_DAYS, &REQUIRE],
        answer: Answer::Document("Portfolio"),
        // Many positions can exceed the maximum length of an address.
        refusals: &[400, 404, 412, 414, 422, 503],
        calls: Calls { javascript: "portfolio", ..Calls::NONE },
        ..row(Operation::Portfolio, "scorePortfolio", "/v1/portfolio")
    },
    Row {
        group: Group::Service,
        title: "Capabilities of this deployment",
        about: "Every capability in the specification with its actual status here: live, preview or roadmap.",
        answer: Answer::Document("Capabilities"),
        refusals: &[400],
        keep: Some(Keep::Seconds(60)),
        calls: Calls { javascript: "capabilities", python: "capabilities", ..Calls::NONE },
        ..row(Operation::Capabilities, "listCapabilities", "/v1/capabilities")
    },
    Row {
        group: Group::Service,
        title: "Payment terms",
        about: "If the operator charges for calls: the amount, token, chain and recipient, and the key that signs receipts. Refused with `not_available` if everything is free.",
        answer: Answer::Document("Payments"),
        keep: Some(Keep::Never),
        calls: Calls { javascript: "payments", ..Calls::NONE },
        ..row(Operation::Payments, "readPayments", "/v1/payments")
    },
    Row {
        group: Group::Alerts,
        title: "Your alert rules",
        about: "The rules of the token in the request, newest first. Rules end 30 days after their owner's last call. This call counts.",
        answer: Answer::Document("AlertsKept"),
        refusals: OWNED,
        keep: Some(Keep::Never),
        ..row(Operation::Alerts, "listAlerts", "/v1/alerts")
    },
    Row {
        group: Group::Operators,
        title: "Liveness check",
        about: "`ok` if the process answers. If the operator serves operator endpoints on a separate address, they are not available here.",
        answer: Answer::Bytes("text/plain"),
        refusals: &[400],
        keep: Some(Keep::Never),
        ..row(Operation::Livez, "isAlive", "/livez")
    },
    Row {
        group: Group::Operators,
        title: "Readiness check",
        about: "The newest recorded slot of each chain and its age. 503 if any is older than three slots.",
        answer: Answer::Readiness,
        refusals: &[400],
        keep: Some(Keep::Never),
        ..row(Operation::Readyz, "isReady", "/readyz")
    },
    Row {
        group: Group::Operators,
        title: "Metrics",
        about: "Slots recorded, missing by reason, age of the newest slot per chain, requests, latencies, connections.",
        answer: Answer::Bytes("application/openmetrics-text"),
        refusals: &[400],
        keep: Some(Keep::Never),
        ..row(Operation::Metrics, "readMetrics", "/metrics")
    },
    Row {
        group: Group::Evidence,
        title: "Evidence for a result",
        about: "One canonical JSON document with request, result, snapshot, head, slot leaf, proofs and the first signed checkpoint that covers the slot. With base, slot and size its bytes never change. `exitgap verify` checks it.",
        parameters: &[&POOL, &SIZE, &BASE_BY_PLACE, &EVIDENCE_SLOT, &METHOD],
        answer: JSON,
        refusals: &[400, 404, 422, 503],
        keep: None,
        calls: Calls { javascript: "evidence", python: "evidence", ..Calls::NONE },
        ..row(Operation::Evidence, "readEvidence", "/api/v1/exit/{pool}")
    },
    Row {
        group: Group::Evidence,
        title: "Heads of a pool for seven days up to a slot",
        about: "Proves `days_observed`, the observation window and `lowest_depth_7d_usd`.",
        parameters: &[&POOL, &SLOT],
        answer: JSON,
        refusals: &[400, 404, 503],
        keep: Some(Keep::Forever),
        calls: Calls { javascript: "window", ..Calls::NONE },
        ..row(Operation::Window, "readWindow", "/api/v1/window/{pool}")
    },
    Row {
        group: Group::Evidence,
        title: "Current status of a slot",
        about: "Recorded, missing, or retracted because its block was orphaned later or its ticks were misread. The status is separate from the evidence, whose bytes never change.",
        parameters: &[&POOL, &SLOT],
        answer: Answer::Document("SlotStatus"),
        refusals: &[400, 404, 503],
        // Any later slot can retract this slot.
        keep: Some(Keep::Seconds(30)),
        calls: Calls { javascript: "slotStatus", python: "slot_status", ..Calls::NONE },
        ..row(Operation::SlotStatus, "readSlotStatus", "/api/v1/status/{pool}")
    },
    Row {
        group: Group::Evidence,
        title: "State proof of a pool at a slot",
        about: "A state proof (`.egp`): the block header, and the proof from it to the contract storage of the pool and of its oracles. A proof that the recorder checked before signing is returned unchanged. A proof that was not stored, or a wider one (`low`, `high`), is created while the nodes can still prove the block, and is then stored permanently. `exitgap verify --state-proof` checks it, and any archive node can create it again (`exitgap verify --rpc`). If the proof is not available, the error gives the reason: `proof_out_of_reach`, `proofs_not_served`, `unsupported_layout`, `proof_too_wide`, `block_not_canonical`.",
        parameters: &[&POOL, &SLOT_IN_PATH, &LOW, &HIGH],
        answer: Answer::Bytes("application/octet-stream"),
        refusals: &[400, 404, 409, 502, 503],
        keep: Some(Keep::Forever),
        calls: Calls { javascript: "stateProof", ..Calls::NONE },
        ..row(Operation::StateProof, "readStateProof", "/api/v1/proof/{pool}/{slot}")
    },
    Row {
        group: Group::Evidence,
        title: "A snapshot by its hash",
        about: "Its canonical bytes. SHA-256 over them is the hash. They refer to the pool's state by its hash.",
        parameters: &[&SNAPSHOT_HASH],
        answer: JSON,
        refusals: &[400, 404, 503],
        keep: Some(Keep::Forever),
        calls: Calls { javascript: "snapshot", python: "snapshot", ..Calls::NONE },
        ..row(Operation::Snapshot, "readSnapshot", "/api/v1/snapshots/{hash}")
    },
    Row {
        group: Group::Evidence,
        title: "A pool's state by its hash",
        about: "Its canonical bytes, as referenced by a snapshot. SHA-256 over them is the hash.",
        parameters: &[&STATE_HASH],
        answer: JSON,
        refusals: &[400, 404, 503],
        keep: Some(Keep::Forever),
        ..row(Operation::State, "readState", "/api/v1/states/{hash}")
    },
    Row {
        group: Group::Evidence,
        title: "The published log",
        about: "Checkpoint, key, tiles, slots and their parts, the input of `exitgap audit`. C2SP tlog-tiles.",
        parameters: &[&LOG_FILE],
        answer: Answer::Bytes("application/octet-stream"),
        keep: None,
        calls: Calls { javascript: "checkpoint", ..Calls::NONE },
        ..row(Operation::Log, "readLog", "/log/{path}")
    },
    Row {
        group: Group::Series,
        title: "Open and closed markets compared",
        about: "Whether the pool's market is open, when it opens or closes, and 28 days of statistics for the current or next closure: depth and gap at a standard size in closures of its kind and while the market was open, and each closure with its reopening gap. With fewer than four closures of the kind, `enough` is false and their statistics are null.",
        parameters: &[&POOL, &STANDARD_SIZE, &BASE, &MAX_AGE, &MIN_DAYS, &REQUIRE],
        answer: Answer::Document("MarketHours"),
        refusals: &[400, 404, 412, 422, 503],
        calls: Calls { javascript: "marketHours", ..Calls::NONE },
        ..row(Operation::Hours, "readMarketHours", "/v1/hours/{pool}")
    },
    Row {
        group: Group::Evidence,
        title: "Figure file of market hours",
        about: "One canonical JSON document with the request, the calendars, the heads of the period, the hash of every snapshot, and the result: the closures of /v1/hours/{pool}, for any size and at most 31 days. Default: 28 days. With base, period and size its bytes never change. `exitgap verify` recomputes it from the snapshots.",
        parameters: &[&POOL, &SERIES_SIZE, &BASE_BY_PLACE, &FROM, &TO],
        answer: JSON,
        refusals: &[400, 404, 422, 503],
        keep: None,
        calls: Calls::FIGURE,
        weight: OF_MANY_SNAPSHOTS,
        ..row(Operation::HoursFile, "readHoursFile", "/api/v1/hours/{pool}")
    },
    Row {
        title: "Best route over all venues",
        about: "All recorded pools of the token at one slot: each venue if it took the whole size, ranked, and the optimal split. Every leg is a sale with its own evidence, and the legs add up to the size. No other split over the venues that are not in `left_out` improves the gap by more than `optimality_gap_pct`. One token is sold for another in one step, within one chain. Gas is included only as `fixed_cost_usd`.",
        parameters: &[
            &CHAIN_IN_PATH,
            &TOKEN_IN_PATH,
            &SIZE,
            &QUOTE_GROUP,
            &FIXED_COST,
            &AT,
            &MAX_AGE,
            &MIN_DAYS,
            &REQUIRE,
        ],
        answer: Answer::Document("Routes"),
        refusals: &[400, 404, 412, 422, 503],
        calls: Calls { rust: "routes", javascript: "routes", ..Calls::NONE },
        ..row(Operation::Routes, "compareRoutes", "/v1/routes/{chain}/{token}")
    },
    Row {
        title: "Exit that ends in cash",
        about: "One sale that ends in cash tokens such as USDC, over at most three recorded pools in a row, all of one slot and block. `legs` can be executed pool by pool: each leg is the contract's own fill, and every unit that arrives at a token in between is sold. The gap compares the cash received with the amount sold, both at their oracle prices; tokens in between need no oracle. No other route through the pools that count, with at most three in a row, has a gap that is lower by more than `optimality_gap_pct`, which is null where the law of a pool is not known. Pools in `left_out` do not count. `evidence_url` is the figure file that proves the plan and its bound. `not_counted` lists what is not counted: venues that are not recorded, private quotes, and gas, unless you give `gas_usd`.",
        parameters: &[
            &CHAIN_IN_PATH,
            &TOKEN_IN_PATH,
            &SIZE_OR_AMOUNT,
            &AMOUNT,
            &INTO,
            &TOLERANCE,
            &GAS,
            &AT,
            &MAX_AGE,
            &MIN_DAYS,
            &REQUIRE,
        ],
        answer: Answer::Document("CashExit"),
        refusals: &[400, 404, 412, 422, 503],
        calls: Calls { rust: "cash", javascript: "sellForCash", ..Calls::NONE },
        ..row(Operation::Cash, "sellForCash", "/v1/cash/{chain}/{token}")
    },
    Row {
        group: Group::Evidence,
        title: "Figure file of an exit that ends in cash",
        about: "One canonical JSON document with the hashes of the snapshots of all pools that count, the plan, the prices of its bound, and the result. A later version of the service may find a better plan. `exitgap verify` recomputes each fill, the sums at each token, the gap and the bound, without searching.",
        parameters: &[&CHAIN_IN_PATH, &TOKEN_IN_PATH, &AMOUNT_IN, &INTO_TOKENS, &SLOT, &CASH_POOL],
        answer: JSON,
        refusals: &[400, 404, 422, 503],
        keep: None,
        calls: Calls::FIGURE,
        ..row(Operation::CashFile, "readCashFile", "/api/v1/cash/{chain}/{token}")
    },
    Row {
        group: Group::Evidence,
        title: "Figure file of a portfolio's plan",
        about: "One canonical JSON document with the hashes of the snapshots of all pools that count, the plan for all tokens, the prices of its bound, and the result. A later version of the service may find a better plan. `exitgap verify` recomputes each fill, the sums at each token, the gap and the bound, without searching.",
        parameters: &[&CHAIN_IN_PATH, &SOLD_AMOUNTS, &INTO_TOKENS, &SLOT, &CASH_POOL],
        answer: JSON,
        refusals: &[400, 404, 414, 422, 503],
        keep: None,
        calls: Calls::FIGURE,
        ..row(Operation::PortfolioFile, "readPortfolioFile", "/api/v1/portfolio/{chain}")
    },
    Row {
        group: Group::Series,
        title: "Closed days as files",
        about: "Parquet files of every day that later heads can no longer retract: figures for analysis, and the heads and snapshots behind them. Each day's manifest has the SHA-256 of its files. The log of days, signed with the log's own key, has the SHA-256 of the manifest. `exitgap export` downloads and checks the files, and `exitgap audit` recomputes a file. Each file covers neighbouring pools. With `pool`, only files with rows of that pool are listed. At most 31 days per page.",
        parameters: &[&EXPORT_FROM, &EXPORT_TO, &EXPORT_POOL],
        answer: Answer::Document("Export"),
        refusals: &[400, 404, 422, 503],
        keep: Some(Keep::Seconds(60)),
        calls: Calls { rust: "closed_days", ..Calls::NONE },
        ..row(Operation::Export, "listClosedDays", "/v1/export")
    },
];
