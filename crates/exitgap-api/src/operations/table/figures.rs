//! Figures drawn from many snapshots, their files, and what they are made of.

use super::super::parameters::{
    ABOVE, AFTER_MOVE, AFTER_WITHIN, AT, BASE, BASE_BY_PLACE, BONUS, BOOK_GAP, CASCADE, CHAIN,
    CHAIN_IN_PATH, EQUITY_GAP, EQUITY_SIZE, FALL, FROM, HAIRCUT, LIMIT, MAX_AGE, MIN_DAYS, MOVE,
    PERIOD_FROM, POOL, POOL_CURSOR, PROTOCOL_FEE, REQUIRE, SERIES_SIZE, SHOCK_FALL, SIZE, SLOT,
    SOLD, TO, TOKEN_IN_PATH, UNTIL, VENUE, WITHIN_SLOTS,
};
use super::super::{Answer, Group, Keep, Operation, Row};
use super::{JSON, row};

pub(super) const ROWS: [Row; 17] = [
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
        about: "One exit split over the venues in every slot of a week, after `haircut_pct` of everybody's liquidity has gone and the price has fallen by `fall_pct`: the ten worst slots, median and 95th of a hundred, how long a gap was exceeded. Depths are at two percent from the oracle, books at two percent from the pools' own prices: where only the oracle moved away, the depth falls and the book does not. A venue missing in a slot is unknown, not empty: such slots are counted, and those near the worst beside it. With `after_move_pct` only slots are looked at in which a venue's own mid price has moved so far, up or down, since `within_slots` before, and `slots_unmoved` and `slots_untestable` say how many were not. Without either shock of any kind of pool; else of concentrated liquidity and of constant product. It says nothing of who would come with new liquidity.",
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
        ..row(Operation::VenueStress, "readVenueStress", "/v1/stress")
    },
    Row {
        group: Group::Evidence,
        title: "The figure file of a stress over venues",
        about: "As that of an exposure. With bases, period and numbers its bytes never change.",
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
        ],
        answer: JSON,
        refusals: &[400, 404, 414, 422, 503],
        keep: None,
        ..row(Operation::VenueStressFile, "readVenueStressFile", "/api/v1/stress")
    },
    Row {
        group: Group::Series,
        title: "What recorded moves did, by name",
        about: "Shocks that the operator named: of a pool and a period of at most a week, the greatest fall of the mid price that a decay finds, as `fall_pct`, and the greatest share of the book that was gone within four hours of it beyond what the move alone did, as `haircut_pct`: what a stress takes. `figure_url` proves the decay that both are read from. Where there is none, `why_not` says so.",
        answer: Answer::Document("NamedShocks"),
        refusals: &[503],
        ..row(Operation::Shocks, "listShocks", "/v1/shocks")
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
        group: Group::Evidence,
        title: "Which estimates were paid for",
        about: "A line for each head from this slot on that commits to receipts, at most 96 and no further after 4 MiB: `slot`, and `issued`, the canonical document whose SHA-256 stands in that head under `commits.issued`. Each names receipts by the SHA-256 of their text, ascending, and says nothing else: neither who paid nor what was asked. Whoever holds a receipt finds it there from the slot after it was given on: `exitgap verify-receipt --log`.",
        parameters: &[&POOL, &SLOT],
        answer: Answer::Bytes("application/x-ndjson"),
        refusals: &[400, 404, 503],
        keep: Some(Keep::Seconds(300)),
        ..row(Operation::Issued, "readIssued", "/v1/issued/{pool}")
    },
    Row {
        group: Group::Series,
        title: "Tokenized equities",
        about: "Every token that the operator configured as a share, with where it stands by the newest snapshot of its deepest pool: session of its exchange, oracle, multiplier and what is due, whether it is paused, and how much of its depth one pool has. It says nothing of issuer, custody or eligibility.",
        answer: Answer::Document("Equities"),
        refusals: &[400, 503],
        ..row(Operation::Equities, "listEquities", "/v1/equities")
    },
    Row {
        group: Group::Series,
        title: "How does a share trade in each session of its exchange?",
        about: "The pools of a configured share, each with a vector of 42 days up to the last whole day: depth and gap by session, mid price against the oracle's of the last regular close, reopenings, how the oracle's answers stood, corporate actions. Slots while it is paused or a change is due within a day are counted and left out. With less than 20 regular sessions and 4 weekends `enough` is false and statistics are null. A vector, never one number: sort by what you care for. It says nothing of issuer, custody or eligibility.",
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
        ..row(Operation::Equity, "readEquity", "/v1/equities/{chain}/{token}")
    },
    Row {
        group: Group::Evidence,
        title: "The figure file of a pool of a share",
        about: "One canonical JSON document of what was asked, the kind of share and its facts as the operator configured them, the calendars, the heads of the period, every snapshot by its hash, and the result: a vector of /v1/equities/{chain}/{token}, of at most 42 days; as many where no first slot is named. `exitgap verify` recomputes it from the snapshots.",
        parameters: &[&POOL, &SERIES_SIZE, &EQUITY_GAP, &BASE_BY_PLACE, &FROM, &TO],
        answer: JSON,
        refusals: &[400, 404, 422, 503],
        keep: None,
        ..row(Operation::EquityFile, "readEquityFile", "/api/v1/equity/{pool}")
    },
];
