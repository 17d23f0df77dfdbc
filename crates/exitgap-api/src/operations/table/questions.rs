//! What is asked of a pool, of a token, of a log and of the service itself.

use super::super::parameters::{
    AT, BASE, BASE_BY_PLACE, BOARD_SIZE, CHAIN, CHAIN_IN_PATH, EVIDENCE_SLOT, EXPORT_FROM,
    EXPORT_POOL, EXPORT_TO, FIXED_COST, FROM, GAP, HIGH, HISTORY_LIMIT, INTERVAL, LEVEL, LIMIT,
    LOG_FILE, LOW, MAX_AGE, METHOD, MIN_DAYS, ORDER_INTERVAL, ORDERS, PERIOD_FROM, POOL,
    POOL_CURSOR, POSITION, QUOTE_GROUP, RANK_CURSOR, RECOVERY, REQUIRE, SERIES_SIZE, SIZE, SLOT,
    SLOT_CURSOR, SLOT_IN_PATH, SNAPSHOT_HASH, SORT, STANDARD_SIZE, STATE_HASH, TO, TOKEN_IN_PATH,
};
use super::super::{Answer, Group, Keep, Operation, PriceClass, Row};
use super::{JSON, OWNED, row};

pub(super) const ROWS: [Row; 26] = [
    Row {
        title: "List the monitored pools",
        about: "Every pool with its tokens, its status, the date on which its series began and how long it is.",
        parameters: &[&CHAIN, &LIMIT, &POOL_CURSOR],
        answer: Answer::Document("PoolList"),
        ..row(Operation::Pools, "listPools", "/v1/pools")
    },
    Row {
        title: "How far below the oracle does a sale of this size fill?",
        about: "Exact to the last token unit. `exit_gap_pct` is the decision field: positive where the fill is worse than the oracle. A size that cannot be filled has no gap; the refusal names `max_fillable_usd`.",
        parameters: &[&POOL, &SIZE, &BASE, &AT, &MAX_AGE, &MIN_DAYS, &REQUIRE],
        answer: Answer::Document("Published_Amounts"),
        // What has a price has a shorter address.
        refusals: &[400, 402, 404, 409, 412, 414, 422, 503],
        price: PriceClass::Priced,
        ..row(Operation::Exit, "estimateExit", "/v1/exit/{pool}")
    },
    Row {
        title: "How much can be sold within this gap?",
        about: "The largest size whose own fill is at most `gap_pct` below the oracle, and what it fills at. `limited_by` says what keeps it from being larger. Where nothing passes, the size is 0 and there is no exit; `evidence_url` proves the exit of the size found.",
        parameters: &[&POOL, &GAP, &BASE, &AT, &MAX_AGE, &MIN_DAYS, &REQUIRE],
        answer: Answer::Document("Published_GapRung"),
        refusals: &[400, 404, 412, 422, 503],
        ..row(Operation::MaxSize, "maxExitSize", "/v1/size/{pool}")
    },
    Row {
        title: "What if it is sold in several orders?",
        about: "Every order's own fill and all of them together, beside the same size sold at once. Between two orders √price moves back by `recovery_pct` of its distance from where it stood before the first; liquidity and oracle stay as they are. `evidence_url` proves what is said of the size at once; orders and recovery are assumptions, which no recorded series proves.",
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
        ..row(Operation::Simulation, "simulateOrders", "/v1/simulate/{pool}")
    },
    Row {
        title: "Depth by gap, slippage by size",
        about: "How much exits within each gap limit, and what each standard size fills at.",
        parameters: &[&POOL, &BASE, &AT, &MAX_AGE, &MIN_DAYS, &REQUIRE],
        answer: Answer::Document("Published_LadderRows"),
        refusals: &[400, 404, 412, 503],
        ..row(Operation::Ladder, "readLadder", "/v1/ladder/{pool}")
    },
    Row {
        group: Group::Series,
        title: "The recorded series",
        about: "Gaps at a size and depths, slot by slot, hour by hour or day by day. A row of many slots gives the last gap, the worst number, how many slots refused the size and the least that could be filled then, and the lowest depth, each with its slot. Missing and retracted slots are rows or counted in them, never holes.",
        parameters: &[
            &POOL,
            &SERIES_SIZE,
            &BASE,
            &FROM,
            &TO,
            &INTERVAL,
            &HISTORY_LIMIT,
            &SLOT_CURSOR,
            &MAX_AGE,
            &MIN_DAYS,
            &REQUIRE,
        ],
        answer: Answer::Document("History"),
        refusals: &[400, 404, 412, 422, 503],
        ..row(Operation::History, "readHistory", "/v1/history/{pool}")
    },
    Row {
        group: Group::Series,
        title: "The worst of a period",
        about: "The worst gap at a size that is a number; apart from it how many slots refused the size and the least that could be filled then; the lowest depth, each with its slot; and how many slots of the period were missing. Of at most 31 days `detail` has the ten worst slots, the median and the 95th percentile, how many slots were missing within an hour of the worst, and how long the gap lay above `limit_pct`.",
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
        ..row(Operation::Stress, "readStress", "/v1/stress/{pool}")
    },
    Row {
        group: Group::Series,
        title: "The fragility board",
        about: "All pools, the most fragile first: gaps at the standard sizes, depth now, median and lowest of seven days, and beside the depth the book: the depth from the pool's own price, which an oracle that moved away leaves as it is. `score_method` says how the score is made.",
        parameters: &[&CHAIN, &SORT, &BOARD_SIZE, &LIMIT, &RANK_CURSOR],
        answer: Answer::Document("Fragility"),
        ..row(Operation::Fragility, "readFragility", "/v1/fragility")
    },
    Row {
        title: "Several positions, exited at once",
        about: "Positions of one pool and base, and of one token, are sold together; a token through its pools, an exit for each leg of the exact split. Where something cannot be filled the total has no gap, but `unfilled_usd` and the gap of what can be filled.",
        parameters: &[&POSITION, &MAX_AGE, &MIN_DAYS, &REQUIRE],
        answer: Answer::Document("Portfolio"),
        // Many positions are more than an address may hold.
        refusals: &[400, 404, 412, 414, 422, 503],
        ..row(Operation::Portfolio, "scorePortfolio", "/v1/portfolio")
    },
    Row {
        group: Group::Service,
        title: "What this deployment can do",
        about: "Every capability of the specification with its true status here: live, preview or roadmap.",
        answer: Answer::Document("Capabilities"),
        refusals: &[400],
        keep: Some(Keep::Seconds(60)),
        ..row(Operation::Capabilities, "listCapabilities", "/v1/capabilities")
    },
    Row {
        group: Group::Service,
        title: "What a payment is to be",
        about: "Where the operator asks for a price: how much, in which token, on which chain, to whom; and the key that signs receipts. Refused with `not_available` where everything is free.",
        answer: Answer::Document("Payments"),
        keep: Some(Keep::Never),
        ..row(Operation::Payments, "readPayments", "/v1/payments")
    },
    Row {
        group: Group::Alerts,
        title: "One's own rules",
        about: "Those of the token that is shown, the newest first. They end 30 days after their owner last came: this call is one.",
        answer: Answer::Document("AlertsKept"),
        refusals: OWNED,
        keep: Some(Keep::Never),
        ..row(Operation::Alerts, "listAlerts", "/v1/alerts")
    },
    Row {
        group: Group::Operators,
        title: "Whether the process answers",
        about: "`ok`. Where the operator keeps them at an address of their own, the operations are not here.",
        answer: Answer::Bytes("text/plain"),
        refusals: &[400],
        keep: Some(Keep::Never),
        ..row(Operation::Livez, "isAlive", "/livez")
    },
    Row {
        group: Group::Operators,
        title: "Whether answers rest on fresh data",
        about: "Per chain the newest recorded slot and its age; 503 where one is older than three slots.",
        answer: Answer::Readiness,
        refusals: &[400],
        keep: Some(Keep::Never),
        ..row(Operation::Readyz, "isReady", "/readyz")
    },
    Row {
        group: Group::Operators,
        title: "What is measured",
        about: "Slots recorded, missing by reason, age of the newest slot per chain, requests, latencies, connections.",
        answer: Answer::Bytes("application/openmetrics-text"),
        refusals: &[400],
        keep: Some(Keep::Never),
        ..row(Operation::Metrics, "readMetrics", "/metrics")
    },
    Row {
        group: Group::Evidence,
        title: "The evidence of a result",
        about: "One canonical JSON document of request, result, snapshot, head, slot leaf, proofs and the first signed checkpoint that covers the slot. With base, slot and size its bytes never change. `exitgap verify` checks it.",
        parameters: &[&POOL, &SIZE, &BASE_BY_PLACE, &EVIDENCE_SLOT, &METHOD],
        answer: JSON,
        refusals: &[400, 404, 422, 503],
        keep: None,
        ..row(Operation::Evidence, "readEvidence", "/api/v1/exit/{pool}")
    },
    Row {
        group: Group::Evidence,
        title: "A pool's heads of seven days up to a slot",
        about: "Proves `days_observed`, the observation window and `lowest_depth_7d_usd`.",
        parameters: &[&POOL, &SLOT],
        answer: JSON,
        refusals: &[400, 404, 503],
        keep: Some(Keep::Forever),
        ..row(Operation::Window, "readWindow", "/api/v1/window/{pool}")
    },
    Row {
        group: Group::Evidence,
        title: "What became of a slot since",
        about: "Recorded, missing, or retracted because its block was orphaned later or its ticks were misread: told beside the evidence, whose bytes never change.",
        parameters: &[&POOL, &SLOT],
        answer: Answer::Document("SlotStatus"),
        refusals: &[400, 404, 503],
        // A slot may be retracted with any later one.
        keep: Some(Keep::Seconds(30)),
        ..row(Operation::SlotStatus, "readSlotStatus", "/api/v1/status/{pool}")
    },
    Row {
        group: Group::Evidence,
        title: "What the chain's own state says of a pool at a slot",
        about: "A state proof (`.egp`): the block's header, and what leads from it to the pool's words and to its oracles'. What the recorder checked before it signed is handed out as it is; what was not kept, or is asked for wider (`low`, `high`), is made while the nodes still prove the block, and is kept for ever then. `exitgap verify --state-proof` checks it, and any archive node makes it anew (`exitgap verify --rpc`). Refused by name where it cannot be had: `proof_out_of_reach`, `proofs_not_served`, `unsupported_layout`, `proof_too_wide`, `block_not_canonical`.",
        parameters: &[&POOL, &SLOT_IN_PATH, &LOW, &HIGH],
        answer: Answer::Bytes("application/octet-stream"),
        refusals: &[400, 404, 409, 502, 503],
        keep: Some(Keep::Forever),
        ..row(Operation::StateProof, "readStateProof", "/api/v1/proof/{pool}/{slot}")
    },
    Row {
        group: Group::Evidence,
        title: "A snapshot by its hash",
        about: "Its canonical bytes: SHA-256 over them is the hash. They name the pool's state by its hash.",
        parameters: &[&SNAPSHOT_HASH],
        answer: JSON,
        refusals: &[400, 404, 503],
        keep: Some(Keep::Forever),
        ..row(Operation::Snapshot, "readSnapshot", "/api/v1/snapshots/{hash}")
    },
    Row {
        group: Group::Evidence,
        title: "A pool's state by its hash",
        about: "Its canonical bytes, as a snapshot names them: SHA-256 over them is the hash.",
        parameters: &[&STATE_HASH],
        answer: JSON,
        refusals: &[400, 404, 503],
        keep: Some(Keep::Forever),
        ..row(Operation::State, "readState", "/api/v1/states/{hash}")
    },
    Row {
        group: Group::Evidence,
        title: "The published log",
        about: "Checkpoint, key, tiles, slots and their parts: what `exitgap audit` replays. C2SP tlog-tiles.",
        parameters: &[&LOG_FILE],
        answer: Answer::Bytes("application/octet-stream"),
        keep: None,
        ..row(Operation::Log, "readLog", "/log/{path}")
    },
    Row {
        group: Group::Series,
        title: "Open against closed markets",
        about: "Whether the pool's market is open, when it opens or closes, and what 28 days say of the closure that lasts or comes next: depth and gap at a standard size in closures of its kind and while it was open, and each closure with its reopening gap. With fewer than four closures of the kind `enough` is false and their statistics are null.",
        parameters: &[&POOL, &STANDARD_SIZE, &BASE, &MAX_AGE, &MIN_DAYS, &REQUIRE],
        answer: Answer::Document("MarketHours"),
        refusals: &[400, 404, 412, 422, 503],
        ..row(Operation::Hours, "readMarketHours", "/v1/hours/{pool}")
    },
    Row {
        group: Group::Evidence,
        title: "The figure file of market hours",
        about: "One canonical JSON document of what was asked, the calendars, the heads of the period, every snapshot by its hash, and the result: what /v1/hours/{pool} says of closures, of any size and of at most 31 days; 28 where no first slot is named. With base, period and size its bytes never change. `exitgap verify` recomputes it from the snapshots.",
        parameters: &[&POOL, &SERIES_SIZE, &BASE_BY_PLACE, &FROM, &TO],
        answer: JSON,
        refusals: &[400, 404, 422, 503],
        keep: None,
        ..row(Operation::HoursFile, "readHoursFile", "/api/v1/hours/{pool}")
    },
    Row {
        title: "Through which venues is this size best sold?",
        about: "All recorded pools of the token at one slot: all of it in each alone, ranked, and the exact split. Every leg is a sale of its own with its own evidence, and the legs add up to the size. No split over the venues that are not `left_out` has a gap that is lower by more than `optimality_gap_pct`. One token for another in one step, within one chain; gas only as `fixed_cost_usd` states it.",
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
        ..row(Operation::Routes, "compareRoutes", "/v1/routes/{chain}/{token}")
    },
    Row {
        group: Group::Series,
        title: "Closed days, as files",
        about: "Parquet of every day that no later head can take back any more: figures for analysis, and the heads and snapshots they follow from. Each day's manifest has the SHA-256 of its files, and the log of days, signed by the log's own key, that of the manifest. `exitgap export` fetches and checks them, `exitgap audit` recomputes one. A file has neighbouring pools: with `pool` only those are listed that have its rows. At most 31 days a page.",
        parameters: &[&EXPORT_FROM, &EXPORT_TO, &EXPORT_POOL],
        answer: Answer::Document("Export"),
        refusals: &[400, 422, 503],
        keep: Some(Keep::Seconds(60)),
        ..row(Operation::Export, "listClosedDays", "/v1/export")
    },
];
