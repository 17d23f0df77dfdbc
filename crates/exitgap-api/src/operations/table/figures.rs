//! The rows of figures computed from many snapshots, of their files, and of their inputs.

use super::super::parameters::{
    ABOVE, AFTER_MOVE, AFTER_WITHIN, AT, BASE, BASE_BY_PLACE, BONUS, BOOK_GAP, CASCADE, CHAIN,
    CHAIN_IN_PATH, EQUITY_GAP, EQUITY_SIZE, FALL, FROM, HAIRCUT, LIMIT, MAX_AGE, MIN_DAYS, MOVE,
    PERIOD_FROM, POOL, POOL_CURSOR, PROTOCOL_FEE, REQUIRE, SERIES_SIZE, SHOCK_FALL, SIZE, SLOT,
    SOLD, TO, TOKEN_IN_PATH, UNTIL, VENUE, VENUE_BY_PLACE, WITHIN_SLOTS,
};
use super::super::{Answer, Calls, Group, Keep, Operation, Row};
use super::{JSON, OF_MANY_SNAPSHOTS, row};

pub(super) const ROWS: [Row; 17] = [
    Row {
        group: Group::Series,
        title: "Depth after a price move",
        about: "Every move of the pool's own mid price by `move_pct` within `within_slots`, with the depth at `gap_pct` from that mid price before the move and up to four hours after. The change of depth is split exactly into the effect of the move alone (`mechanical_usd`) and the liquidity that providers added or removed (`liquidity_usd`). For pools with concentrated liquidity and constant-product pools. At most 31 days. Default: 28 days. With less than seven days, or fewer than five events, statistics are null. The report does not show who withdrew or why, or anything that happens within five minutes.",
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
        calls: Calls { rust: "depth_decay", javascript: "depthDecay", ..Calls::NONE },
        weight: OF_MANY_SNAPSHOTS,
        ..row(Operation::Decay, "readDepthDecay", "/v1/decay/{pool}")
    },
    Row {
        group: Group::Evidence,
        title: "Figure file of the depth after price moves",
        about: "One canonical JSON document with the request, the heads of the period, the hash of every snapshot, and the result. With base, period and numbers its bytes never change. `exitgap verify` recomputes it from the snapshots.",
        parameters: &[&POOL, &BASE_BY_PLACE, &PERIOD_FROM, &TO, &MOVE, &WITHIN_SLOTS, &BOOK_GAP],
        answer: JSON,
        refusals: &[400, 404, 422, 503],
        keep: None,
        calls: Calls::FIGURE,
        weight: OF_MANY_SNAPSHOTS,
        ..row(Operation::DecayFile, "readDecayFile", "/api/v1/decay/{pool}")
    },
    Row {
        group: Group::Series,
        title: "Liquidation exposure",
        about: "Every slot of a week after a price drop of `fall_pct`. Liquidity stays, and the venues' prices and the oracle price of the token sold drop together. `coverage` is the sum of the venues' lowest depths at 2% ÷ `cascade_usd`. `coverage_break_even` is the lowest total depth at the gap at which a liquidator breaks even ÷ `cascade_usd`. `worst_gap_pct` is the widest gap of the optimal split. The rating shows which of the two covers each dollar to sell with a dollar of depth. If a venue is missing in a slot, its depth is unknown, not zero, and such slots are counted. For pools with concentrated liquidity and constant-product pools. The report does not include other ways to sell, inventories or gas. Seven calm days are not a crash.",
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
        // Many venues can exceed the maximum length of an address.
        refusals: &[400, 404, 412, 414, 422, 503],
        calls: Calls {
            rust: "liquidation_exposure",
            javascript: "liquidationExposure",
            ..Calls::NONE
        },
        weight: OF_MANY_SNAPSHOTS,
        ..row(Operation::Exposure, "scoreLiquidationExposure", "/v1/exposure")
    },
    Row {
        group: Group::Evidence,
        title: "Figure file of a liquidation exposure",
        about: "Like the figure file of the depth after price moves, with the heads of every venue. With bases, period and numbers its bytes never change.",
        parameters: &[&VENUE_BY_PLACE, &CASCADE, &BONUS, &PROTOCOL_FEE, &FALL, &PERIOD_FROM, &TO],
        answer: JSON,
        refusals: &[400, 404, 414, 422, 503],
        keep: None,
        calls: Calls::FIGURE,
        weight: OF_MANY_SNAPSHOTS,
        ..row(Operation::ExposureFile, "readExposureFile", "/api/v1/exposure")
    },
    Row {
        group: Group::Series,
        title: "Stress test with liquidity withdrawn",
        about: "One exit split over the venues in every slot of a week, after `haircut_pct` of all liquidity is withdrawn and the price has dropped by `fall_pct`. Shows the ten worst slots, the median and 95th percentile, and how long a gap was exceeded. Depths are measured at 2% from the oracle price and also at 2% from the pools' own mid prices: if only the oracle moved away, the first falls and the second does not. If a venue is missing in a slot, its depth is unknown, not zero. Such slots are counted, and those near the worst slot are also counted separately. With `after_move_pct`, only slots are used in which a venue's own mid price has moved that far, up or down, within `within_slots`. `slots_unmoved` and `slots_untestable` count the other slots. Without withdrawal and drop, all kinds of pools are supported. Otherwise only pools with concentrated liquidity and constant-product pools. The report does not show who would add new liquidity.",
        parameters: &[
            &VENUE,
            &SOLD,
            &HAIRCUT,
            &SHOCK_FALL,
            &ABOVE,
            &AFTER_MOVE,
            &AFTER_WITHIN,
            &PERIOD_FROM,
            &TO,
            &MAX_AGE,
            &MIN_DAYS,
            &REQUIRE,
        ],
        answer: Answer::Document("VenueStress"),
        refusals: &[400, 404, 412, 414, 422, 503],
        calls: Calls { rust: "venue_stress", javascript: "venueStress", ..Calls::NONE },
        weight: OF_MANY_SNAPSHOTS,
        ..row(Operation::VenueStress, "readVenueStress", "/v1/stress")
    },
    Row {
        group: Group::Evidence,
        title: "Figure file of a stress test",
        about: "Like the figure file of a liquidation exposure. With bases, period and numbers its bytes never change.",
        parameters: &[
            &VENUE_BY_PLACE,
            &SOLD,
            &HAIRCUT,
            &SHOCK_FALL,
            &ABOVE,
            &AFTER_MOVE,
            &AFTER_WITHIN,
            &PERIOD_FROM,
            &TO,
        ],
        answer: JSON,
        refusals: &[400, 404, 414, 422, 503],
        keep: None,
        calls: Calls::FIGURE,
        weight: OF_MANY_SNAPSHOTS,
        ..row(Operation::VenueStressFile, "readVenueStressFile", "/api/v1/stress")
    },
    Row {
        group: Group::Series,
        title: "Named historical price drops",
        about: "Shocks named by the operator, each for one pool and a period of at most a week. `fall_pct` is the greatest fall of the mid price in the report on depth after price moves. `haircut_pct` is the greatest share of the depth that was missing within four hours beyond the effect of the move alone. A stress test takes both. `figure_url` proves the report behind both. If there is no fall, `why_not` gives the reason.",
        answer: Answer::Document("NamedShocks"),
        refusals: &[503],
        calls: Calls { javascript: "shocks", ..Calls::NONE },
        weight: OF_MANY_SNAPSHOTS,
        ..row(Operation::Shocks, "listShocks", "/v1/shocks")
    },
    Row {
        group: Group::Evidence,
        title: "Snapshots of a pool, slot by slot",
        about: "One line of canonical JSON per recorded, not retracted slot among the 96 slots from this one on, in the format of a snapshot file: `snapshot` and `state`. At most 4 MiB. Figures are recomputed from these lines. The next page begins after the last line's slot, or, if there is no line, 96 slots later.",
        parameters: &[&POOL, &SLOT],
        answer: Answer::Bytes("application/x-ndjson"),
        refusals: &[400, 404, 503],
        keep: Some(Keep::Seconds(300)),
        ..row(Operation::Snapshots, "readSnapshots", "/api/v1/series/{pool}")
    },
    Row {
        title: "Sell now or redeem later",
        about: "The gap of selling a size now, compared with each way to redeem it that the operator configured: how long redeeming takes, how much more it pays, and the yearly rate at which waiting breaks even. **Modelled**: the terms are a file that the operator wrote from a source, identified by its hash. `evidence_url` proves only the sale. `paths` is empty if the operator has no redemption terms for the token.",
        parameters: &[&POOL, &SIZE, &BASE, &AT, &MAX_AGE, &MIN_DAYS, &REQUIRE],
        answer: Answer::Document("Published_RedemptionWindow"),
        refusals: &[400, 404, 412, 422, 503],
        calls: Calls { javascript: "redemptionWindow", ..Calls::NONE },
        ..row(Operation::Redemption, "readRedemption", "/v1/redemption/{pool}")
    },
    Row {
        group: Group::Series,
        title: "Estimate accuracy of all pools",
        about: "One row per recorded pool: its accuracy record of the last seven days without the swaps, with the errors of estimates from the newest slot before each swap, the completeness of the logs, and the URLs of the full record and its figure file. Rows are computed one after the other in the background. They are recomputed after an hour while a series is young, and after a day later. `until` shows the last slot of each row. A row that is not computed yet is `waiting`. If a pool's swaps cannot be replayed, `why_not` gives the reason. Pools are not ranked, and none is left out.",
        parameters: &[&CHAIN, &LIMIT, &POOL_CURSOR],
        answer: Answer::Document("AccuracyTable"),
        calls: Calls { javascript: "accuracy", ..Calls::NONE },
        ..row(Operation::AccuracyTable, "listAccuracy", "/v1/accuracy")
    },
    Row {
        group: Group::Series,
        title: "Estimate accuracy of a pool",
        about: "Every swap that the pool logged in a period, compared with the estimates from the newest slot before it and from older slots. No swaps are selected, and swaps that are not compared are counted by reason. `error_pct` is the realised gap minus the estimated gap. Positive: the fill was worse than estimated. The snapshots show that no log is missing: the logs between two snapshots, replayed on the first, must give the second bit for bit. `stretches_incomplete` counts the intervals in which they do not. The swaps come from documents that the pool's heads commit to (`fills_url`). `exitgap accuracy --rpc` recomputes them from any node. For pools with concentrated liquidity that log like Uniswap v3, and constant-product pools. The record does not include reverted trades or orders that were never sent.",
        parameters: &[&POOL, &PERIOD_FROM, &TO, &MAX_AGE, &MIN_DAYS, &REQUIRE],
        answer: Answer::Document("PoolAccuracy"),
        refusals: &[400, 404, 412, 422, 503],
        calls: Calls { rust: "accuracy", javascript: "accuracy", ..Calls::NONE },
        weight: OF_MANY_SNAPSHOTS,
        ..row(Operation::Accuracy, "readAccuracy", "/v1/accuracy/{pool}")
    },
    Row {
        group: Group::Evidence,
        title: "Figure file of the accuracy record",
        about: "One canonical JSON document with the request, the heads of the period, the hash of every snapshot and of every document of swaps, and the result of /v1/accuracy/{pool} for at most 31 days. Default: seven days. With its period and `until` its bytes never change. `exitgap verify` recomputes it from snapshots and documents.",
        parameters: &[&POOL, &PERIOD_FROM, &TO, &UNTIL],
        answer: JSON,
        refusals: &[400, 404, 422, 503],
        keep: None,
        calls: Calls::FIGURE,
        weight: OF_MANY_SNAPSHOTS,
        ..row(Operation::AccuracyFile, "readAccuracyFile", "/api/v1/accuracy/{pool}")
    },
    Row {
        group: Group::Evidence,
        title: "Logged swaps and liquidity changes of a pool",
        about: "One line per head from this slot on that commits to such a document, at most 96 lines and 4 MiB: `slot`, and `fills`, the canonical document whose SHA-256 is in that head as `commits.fills`. Each document lists all swaps and changes of liquidity of the blocks after `after_block` up to `to_block`, and continues the previous document. A document without blocks starts a new sequence after blocks that could not be read.",
        parameters: &[&POOL, &SLOT],
        answer: Answer::Bytes("application/x-ndjson"),
        refusals: &[400, 404, 503],
        keep: Some(Keep::Seconds(300)),
        ..row(Operation::Fills, "readFills", "/v1/fills/{pool}")
    },
    Row {
        group: Group::Evidence,
        title: "Receipts of paid estimates",
        about: "One line per head from this slot on that commits to receipts, at most 96 lines and 4 MiB: `slot`, and `issued`, the canonical document whose SHA-256 is in that head as `commits.issued`. Each document lists the SHA-256 of the text of each receipt, ascending, and nothing else: neither who paid nor what was requested. The holder of a receipt finds it there from the slot after it was issued: `exitgap verify-receipt --log`.",
        parameters: &[&POOL, &SLOT],
        answer: Answer::Bytes("application/x-ndjson"),
        refusals: &[400, 404, 503],
        keep: Some(Keep::Seconds(300)),
        ..row(Operation::Issued, "readIssued", "/v1/issued/{pool}")
    },
    Row {
        group: Group::Series,
        title: "Tokenized stocks",
        about: "Every token that the operator configured as a tokenized stock, with its current state from the newest snapshot of its deepest pool: session of its exchange, oracle, multiplier and its next change, whether it is paused, and the deepest pool's share of the depth. The answer does not cover issuer, custody or eligibility.",
        answer: Answer::Document("Equities"),
        refusals: &[400, 503],
        calls: Calls { javascript: "equities", ..Calls::NONE },
        ..row(Operation::Equities, "listEquities", "/v1/equities")
    },
    Row {
        group: Group::Series,
        title: "A tokenized stock by session of its exchange",
        about: "The pools of a configured tokenized stock, each with measures over 42 days up to the last full day: depth and gap by session, mid price compared with the oracle price of the last regular close, reopenings, freshness of the oracle answers, corporate actions. Slots while trading is paused or a change is due within a day are counted and excluded. With less than 20 regular sessions and 4 weekends, `enough` is false and statistics are null. There is no single score: sort by the measure that you need. The answer does not cover issuer, custody or eligibility.",
        parameters: &[
            &CHAIN_IN_PATH,
            &TOKEN_IN_PATH,
            &EQUITY_SIZE,
            &EQUITY_GAP,
            &MAX_AGE,
            &MIN_DAYS,
            &REQUIRE,
        ],
        answer: Answer::Document("EquityScore"),
        refusals: &[400, 404, 412, 422, 503],
        calls: Calls { rust: "equity_score", javascript: "equityScore", ..Calls::NONE },
        weight: OF_MANY_SNAPSHOTS,
        ..row(Operation::Equity, "readEquity", "/v1/equities/{chain}/{token}")
    },
    Row {
        group: Group::Evidence,
        title: "Figure file of a pool of a tokenized stock",
        about: "One canonical JSON document with the request, the kind of tokenized stock and its facts as the operator configured them, the calendars, the heads of the period, the hash of every snapshot, and the result: the measures of one pool in /v1/equities/{chain}/{token}, for at most 42 days. Default: 42 days. `exitgap verify` recomputes it from the snapshots.",
        parameters: &[&POOL, &SERIES_SIZE, &EQUITY_GAP, &BASE_BY_PLACE, &FROM, &TO],
        answer: JSON,
        refusals: &[400, 404, 422, 503],
        keep: None,
        calls: Calls::FIGURE,
        weight: OF_MANY_SNAPSHOTS,
        ..row(Operation::EquityFile, "readEquityFile", "/api/v1/equity/{pool}")
    },
];
