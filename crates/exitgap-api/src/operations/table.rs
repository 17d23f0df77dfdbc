//! The rows, in the order in which operations are described.

use super::parameters::{
    ABOVE, AFTER_SEQ, ALERT_IN_PATH, ALERT_KIND, ALERT_NAME, ALERT_PCT, ALERT_POOL, ALERT_REASON,
    ALERT_SIZE, ALERT_USD, AT, AT_PCT, BASE, BASE_BY_PLACE, BOARD_SIZE, BONUS, BOOK_GAP, CASCADE,
    CHAIN, CHAIN_IN_PATH, CLEAR_FOR_SLOTS, CLEAR_PCT, CLEAR_USD, EVIDENCE_SLOT, FALL, FIXED_COST,
    FOR_SLOTS, FROM, FROM_SEQ, GAP, HAIRCUT, HIGH, HISTORY_LIMIT, INTERVAL, LAST_EVENT_ID, LEVEL,
    LIMIT, LOG_FILE, LOW, MAX_AGE, METHOD, MIN_DAYS, MOVE, NO_DATA_SLOTS, ON_MISSING,
    ORDER_INTERVAL, ORDERS, PERIOD_FROM, POOL, POOL_CURSOR, POSITION, PROTOCOL_FEE, QUOTE_GROUP,
    RANK_CURSOR, RECOVERY, REFIRE_SLOTS, REMIND_SLOTS, REQUIRE, SERIES_SIZE, SHOCK_FALL, SIZE,
    SLOT, SLOT_CURSOR, SLOT_IN_PATH, SNAPSHOT_HASH, SOLD, SORT, STANDARD_SIZE, STATE_HASH, TICKET,
    TO, TOKEN_IN_PATH, UNTIL, VENUE, WATCHED, WEBHOOK_URL, WITHIN_SLOTS,
};
use super::{Answer, COUNT, Group, Keep, Method, Operation, PriceClass, Row};

/// What changes with the next slot.
const NEWEST: Option<Keep> = Some(Keep::Seconds(5));

/// What is refused of what belongs to somebody.
const OWNED: &[u16] = &[400, 401, 404, 503];

const JSON: Answer = Answer::Bytes("application/json");

/// What most rows have in common: what is read, free, and changes with the next slot.
const fn row(operation: Operation, id: &'static str, template: &'static str) -> Row {
    Row {
        operation,
        id,
        template,
        method: Method::Get,
        group: Group::Estimates,
        title: "",
        about: "",
        parameters: &[],
        answer: Answer::Nothing,
        refusals: &[400, 404],
        keep: NEWEST,
        price: PriceClass::Free,
    }
}

/// What rows of a rule of one's own have in common beside that.
const fn own(operation: Operation, id: &'static str, template: &'static str) -> Row {
    Row {
        group: Group::Alerts,
        parameters: &[&ALERT_IN_PATH],
        refusals: OWNED,
        keep: Some(Keep::Never),
        ..row(operation, id, template)
    }
}

pub(super) static ROWS: [Row; COUNT] = [
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
        about: "All pools, the most fragile first: gaps at the standard sizes, depth now, median and lowest of seven days. `score_method` says how the score is made.",
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
        title: "How a book thins after its price has moved",
        about: "Every move of the pool's own mid price of `move_pct` within `within_slots`, and the book (the depth at `gap_pct` from that mid price) before it and up to four hours after, split exactly into what the move alone did (`mechanical_usd`) and what providers put in or took out (`liquidity_usd`). Of pools of concentrated liquidity and of constant product. At most 31 days; 28 where no period is named. With less than seven days, or fewer than five events, statistics are null. It says nothing of who withdrew or why, nor of anything within five minutes.",
        parameters: &[
            &POOL,
            &BASE,
            &PERIOD_FROM,
            &TO,
            &MOVE,
            &WITHIN_SLOTS,
            &BOOK_GAP,
            &MAX_AGE,
            &MIN_DAYS,
            &REQUIRE,
        ],
        answer: Answer::Document("DepthDecay"),
        refusals: &[400, 404, 412, 422, 503],
        ..row(Operation::Decay, "readDepthDecay", "/v1/decay/{pool}")
    },
    Row {
        group: Group::Evidence,
        title: "The figure file of a decay",
        about: "One canonical JSON document of what was asked, the heads of the period, every snapshot by its hash, and the result. With base, period and numbers its bytes never change. `exitgap verify` recomputes it from the snapshots.",
        parameters: &[&POOL, &BASE_BY_PLACE, &PERIOD_FROM, &TO, &MOVE, &WITHIN_SLOTS, &BOOK_GAP],
        answer: JSON,
        refusals: &[400, 404, 422, 503],
        keep: None,
        ..row(Operation::DecayFile, "readDecayFile", "/api/v1/decay/{pool}")
    },
    Row {
        group: Group::Series,
        title: "Could the market absorb a liquidation?",
        about: "Every slot of a week after a fall of the price by `fall_pct`: liquidity stays, the venues' prices and the oracle of the token sold fall together. `coverage` is the venues' least depths at two percent, `coverage_break_even` the least sum of depths at the gap up to which whoever liquidates does not lose, each against `cascade_usd`; `worst_gap_pct` the widest gap of the exact split. The band says which of the two meets a dollar to sell with a dollar of depth. A venue missing in a slot is unknown, not empty: such slots are counted. Of pools of concentrated liquidity and of constant product. It says nothing of other ways out, inventories or gas; seven calm days are no crash.",
        parameters: &[
            &VENUE,
            &CASCADE,
            &BONUS,
            &PROTOCOL_FEE,
            &FALL,
            &PERIOD_FROM,
            &TO,
            &MAX_AGE,
            &MIN_DAYS,
            &REQUIRE,
        ],
        answer: Answer::Document("LiquidationExposure"),
        // Many venues are more than an address may hold.
        refusals: &[400, 404, 412, 414, 422, 503],
        ..row(Operation::Exposure, "scoreLiquidationExposure", "/v1/exposure")
    },
    Row {
        group: Group::Evidence,
        title: "The figure file of an exposure",
        about: "As that of a decay, with the heads of every venue. With bases, period and numbers its bytes never change.",
        parameters: &[&VENUE, &CASCADE, &BONUS, &PROTOCOL_FEE, &FALL, &PERIOD_FROM, &TO],
        answer: JSON,
        refusals: &[400, 404, 414, 422, 503],
        keep: None,
        ..row(Operation::ExposureFile, "readExposureFile", "/api/v1/exposure")
    },
    Row {
        group: Group::Series,
        title: "What would it fill at with liquidity gone?",
        about: "One exit split over the venues in every slot of a week, after `haircut_pct` of everybody's liquidity has gone and the price has fallen by `fall_pct`: the ten worst slots, median and 95th of a hundred, how long a gap was exceeded. Depths are at two percent from the oracle, books at two percent from the pools' own prices: where only the oracle moved away, the depth falls and the book does not. A venue missing in a slot is unknown, not empty: such slots are counted, and those near the worst beside it. Without either shock of any kind of pool; else of concentrated liquidity and of constant product. It says nothing of who would come with new liquidity.",
        parameters: &[
            &VENUE,
            &SOLD,
            &HAIRCUT,
            &SHOCK_FALL,
            &ABOVE,
            &PERIOD_FROM,
            &TO,
            &MAX_AGE,
            &MIN_DAYS,
            &REQUIRE,
        ],
        answer: Answer::Document("VenueStress"),
        refusals: &[400, 404, 412, 414, 422, 503],
        ..row(Operation::VenueStress, "readVenueStress", "/v1/stress")
    },
    Row {
        group: Group::Evidence,
        title: "The figure file of a stress over venues",
        about: "As that of an exposure. With bases, period and numbers its bytes never change.",
        parameters: &[&VENUE, &SOLD, &HAIRCUT, &SHOCK_FALL, &ABOVE, &PERIOD_FROM, &TO],
        answer: JSON,
        refusals: &[400, 404, 414, 422, 503],
        keep: None,
        ..row(Operation::VenueStressFile, "readVenueStressFile", "/api/v1/stress")
    },
    Row {
        group: Group::Evidence,
        title: "Snapshots of a pool, slot after slot",
        about: "A line of canonical JSON for each standing slot of the 96 from this one on, as a snapshot file: `snapshot` and `state`; no further after 4 MiB. What figures are recomputed from: the next page begins after the last line's slot, or where there is no line 96 slots later.",
        parameters: &[&POOL, &SLOT],
        answer: Answer::Bytes("application/x-ndjson"),
        refusals: &[400, 404, 503],
        keep: Some(Keep::Seconds(300)),
        ..row(Operation::Snapshots, "readSnapshots", "/api/v1/series/{pool}")
    },
    Row {
        title: "Sell now, or redeem later?",
        about: "What selling a size fills at beside each way of redeeming it that the operator wrote down: how long one waits, what that brings more, and the yearly rate at which waiting breaks even. **Modelled**: terms are a file that somebody read somewhere, named by its hash; `evidence_url` proves the sale alone. No `paths` where the operator knows no terms of the token.",
        parameters: &[&POOL, &SIZE, &BASE, &AT, &MAX_AGE, &MIN_DAYS, &REQUIRE],
        answer: Answer::Document("Published_RedemptionWindow"),
        refusals: &[400, 404, 412, 422, 503],
        ..row(Operation::Redemption, "readRedemption", "/v1/redemption/{pool}")
    },
    Row {
        group: Group::Series,
        title: "How good were the estimates of all pools?",
        about: "A row for each recorded pool: its accuracy record of the last seven days without the swaps, with the errors of estimates of the newest slot before, how complete the logs are, and where the whole record and its figure file are. Rows are summed up one after the other beside the questions and made anew after an hour while a series is young, later after a day: `until` says what each knows. One that is not there yet is `waiting`; one of a pool whose swaps cannot be replayed says so in `why_not`. Nothing is ranked, and no pool is left out.",
        parameters: &[&CHAIN, &LIMIT, &POOL_CURSOR],
        answer: Answer::Document("AccuracyTable"),
        ..row(Operation::AccuracyTable, "listAccuracy", "/v1/accuracy")
    },
    Row {
        group: Group::Series,
        title: "How good were the estimates?",
        about: "Every swap that the pool logged in a period against what was estimated of it from the newest slot before, and from older ones; nothing is selected, and what is not compared is counted by why not. `error_pct` is the realised gap less the estimated one: positive, reality was worse. That no log is absent is checked by the snapshots: the logs between two of them, replayed on the first, must give the second bit for bit; `stretches_incomplete` counts where they do not. The swaps are those of documents that the pool's heads commit to (`fills_url`); `exitgap accuracy --rpc` recounts them from any node. Of pools of concentrated liquidity that log as Uniswap v3 does, and of constant product. It says nothing of reverted trades, nor of orders that were never sent.",
        parameters: &[&POOL, &PERIOD_FROM, &TO, &MAX_AGE, &MIN_DAYS, &REQUIRE],
        answer: Answer::Document("PoolAccuracy"),
        refusals: &[400, 404, 412, 422, 503],
        ..row(Operation::Accuracy, "readAccuracy", "/v1/accuracy/{pool}")
    },
    Row {
        group: Group::Evidence,
        title: "The figure file of the accuracy record",
        about: "One canonical JSON document of what was asked, the heads of the period, every snapshot and every document of swaps by its hash, and the result: what /v1/accuracy/{pool} says, of at most 31 days; seven where no first slot is named. With its period and `until` its bytes never change. `exitgap verify` recomputes it from snapshots and documents.",
        parameters: &[&POOL, &PERIOD_FROM, &TO, &UNTIL],
        answer: JSON,
        refusals: &[400, 404, 422, 503],
        keep: None,
        ..row(Operation::AccuracyFile, "readAccuracyFile", "/api/v1/accuracy/{pool}")
    },
    Row {
        group: Group::Evidence,
        title: "What a pool logged",
        about: "A line for each head from this slot on that commits to one, at most 96 and no further after 4 MiB: `slot`, and `fills`, the canonical document whose SHA-256 stands in that head under `commits.fills`. Each tells all swaps and changes of liquidity of the blocks after `after_block` up to `to_block`, and follows the one before; one of no blocks begins anew after blocks that could not be read.",
        parameters: &[&POOL, &SLOT],
        answer: Answer::Bytes("application/x-ndjson"),
        refusals: &[400, 404, 503],
        keep: Some(Keep::Seconds(300)),
        ..row(Operation::Fills, "readFills", "/v1/fills/{pool}")
    },
    Row {
        group: Group::Series,
        title: "Sealed slots as they come",
        about: "Server-sent events: `slot` for each sealed slot, then `pool` for each pool asked for that has a head in it. Their data are the documents `StreamedSlot` and `StreamedPool`. An id is `<slot>.<place>`, a function of the log and of the pools asked for: with `ticket` also what the owner's rules said, after the pools, as events `alert` (`AlertEventTold`), and a slot is told once all rules were evaluated with it. Who comes back with `Last-Event-ID` goes on after it, up to seven days back; further back an event `reset` names the newest slot, and the present follows. The first event has an id and no data. A comment comes every 15 seconds. At most 6 streams of one client.",
        parameters: &[&WATCHED, &TICKET, &LAST_EVENT_ID],
        answer: Answer::Bytes("text/event-stream"),
        refusals: &[400, 401, 404, 429],
        keep: None,
        ..row(Operation::Stream, "streamSlots", "/v1/stream")
    },
    Row {
        group: Group::Alerts,
        title: "When would a rule have spoken?",
        about: "Where a rule of one's own stands after a period, and every event on the way: it fires after `for_slots` breaches in a row, is over after `clear_for_slots` that are clear, and does not fire again for `refire_slots`. The rule is not kept: who asks again with the same `from` and `alert` is told the same events, and later ones, byte for byte as `exitgap alert replay` computes them of the published log. At most 31 days; 30 where no period is named.",
        parameters: &[
            &POOL,
            &ALERT_KIND,
            &BASE,
            &ALERT_SIZE,
            &ALERT_PCT,
            &CLEAR_PCT,
            &ALERT_USD,
            &CLEAR_USD,
            &AT_PCT,
            &ALERT_REASON,
            &FOR_SLOTS,
            &CLEAR_FOR_SLOTS,
            &NO_DATA_SLOTS,
            &REFIRE_SLOTS,
            &REMIND_SLOTS,
            &ON_MISSING,
            &ALERT_NAME,
            &PERIOD_FROM,
            &TO,
            &MAX_AGE,
            &MIN_DAYS,
            &REQUIRE,
        ],
        answer: Answer::Document("AlertsTold"),
        refusals: &[400, 404, 412, 503],
        ..row(Operation::AlertsOf, "evaluateAlert", "/v1/alerts/backtest/{pool}")
    },
    Row {
        method: Method::Post,
        group: Group::Alerts,
        title: "Keep a rule, and be told",
        about: "The rule is evaluated with every slot that is sealed from now on, the same events as `/v1/alerts/backtest/{pool}` and `exitgap alert replay` compute, byte for byte. Without a token one is made and told once. With `webhook_url` the events are sent there, signed as Standard Webhooks are, after the address has echoed a challenge; the key to check them with is told once. `Idempotency-Key`, with a token, makes a repeated request make one rule. So many rules for each client and for each host.",
        parameters: &[
            &ALERT_POOL,
            &ALERT_KIND,
            &BASE,
            &ALERT_SIZE,
            &ALERT_PCT,
            &CLEAR_PCT,
            &ALERT_USD,
            &CLEAR_USD,
            &AT_PCT,
            &ALERT_REASON,
            &FOR_SLOTS,
            &CLEAR_FOR_SLOTS,
            &NO_DATA_SLOTS,
            &REFIRE_SLOTS,
            &REMIND_SLOTS,
            &ON_MISSING,
            &WEBHOOK_URL,
        ],
        answer: Answer::Document("AlertMade"),
        refusals: &[400, 401, 404, 409, 413, 503],
        keep: Some(Keep::Never),
        ..row(Operation::KeepAlert, "keepAlert", "/v1/alerts")
    },
    Row {
        title: "A rule of one's own",
        about: "Where it stands, and how its webhook does.",
        answer: Answer::Document("AlertKept"),
        ..own(Operation::Alert, "readAlert", "/v1/alerts/{alert}")
    },
    Row {
        method: Method::Delete,
        title: "End a rule",
        about: "It says nothing more, and nothing more of it is sent. It is listed for another 30 days.",
        answer: Answer::Document("AlertKept"),
        ..own(Operation::EndAlert, "endAlert", "/v1/alerts/{alert}")
    },
    Row {
        title: "What a rule said",
        about: "Its events of the last 30 days after `after_seq`, oldest first, and what became of their delivery. Each names its evidence.",
        parameters: &[&ALERT_IN_PATH, &AFTER_SEQ, &LIMIT],
        answer: Answer::Document("AlertEventsKept"),
        ..own(Operation::AlertEvents, "listAlertEvents", "/v1/alerts/{alert}/events")
    },
    Row {
        method: Method::Post,
        title: "Ask the webhook again",
        about: "The rule's address is sent a challenge at once, at most three an hour for each host: for one that is unverified or disabled.",
        answer: Answer::Document("AlertKept"),
        ..own(Operation::AskEndpoint, "askEndpoint", "/v1/alerts/{alert}/verify")
    },
    Row {
        method: Method::Post,
        title: "Change the webhook's keys",
        about: "New keys for all that is sent to the rule's address. For a day the ones before sign too.",
        answer: Answer::Document("WebhookKeys"),
        ..own(Operation::RotateKeys, "rotateKeys", "/v1/alerts/{alert}/rotate")
    },
    Row {
        method: Method::Post,
        title: "Send events again",
        about: "Those from `from_seq` on, as they were, under the same ids.",
        parameters: &[&ALERT_IN_PATH, &FROM_SEQ],
        answer: Answer::Document("AlertsResent"),
        ..own(Operation::SendAgain, "sendAgain", "/v1/alerts/{alert}/replay")
    },
    Row {
        method: Method::Post,
        group: Group::Alerts,
        title: "A ticket for a stream",
        about: "What a browser's `EventSource`, which sends no token, gives `/v1/stream` as `ticket`: it lets whoever sees the address read what the owner's rules say, for a day, and nothing else.",
        answer: Answer::Document("StreamTicket"),
        refusals: &[400, 401, 413, 503],
        keep: Some(Keep::Never),
        ..row(Operation::StreamTicket, "streamTicket", "/v1/alerts/ticket")
    },
];
