//! A parameter of an operation.

use serde_json::{Value, json};

use super::Kind;
use super::kinds::Bound;

/// A parameter of an operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Parameter {
    /// Its name.
    pub name: &'static str,
    /// Its place in a request.
    pub place: Place,
    /// The kind of values that it accepts.
    pub kind: Kind,
    /// What it excludes of that.
    pub bound: Option<Bound>,
    /// Whether it is required.
    pub presence: Presence,
    /// Its description.
    pub about: &'static str,
    /// The hint for a refused value; `None` if the hint depends on the value.
    pub hint: Option<&'static str>,
}

/// The place of a parameter in a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// The variable part of the path.
    Path,
    /// The query, after the question mark.
    Query,
}

/// Whether a parameter is required.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Presence {
    /// Required.
    Required,
    /// Optional, without a default.
    Optional,
    /// Optional, with this default.
    Default(&'static str),
}

impl Parameter {
    /// Its JSON schema, including its default.
    pub fn schema(&self) -> Value {
        let mut schema = self.kind.schema();
        if let Some(bound) = self.bound {
            let value = if self.kind.is_repeated() { &mut schema["items"] } else { &mut schema };
            value["pattern"] = json!(bound.pattern());
        }
        if let Presence::Default(text) = self.presence {
            let number = text.parse::<u64>().ok().filter(|_| self.kind.is_number());
            schema["default"] = number.map_or_else(|| json!(text), |number| json!(number));
        }
        schema
    }

    /// Whether it is required.
    pub fn is_required(&self) -> bool {
        self.presence == Presence::Required
    }

    const fn new_required(name: &'static str, kind: Kind, about: &'static str) -> Self {
        Self { presence: Presence::Required, ..Self::optional(name, kind, about) }
    }

    const fn optional(name: &'static str, kind: Kind, about: &'static str) -> Self {
        let (place, presence) = (Place::Query, Presence::Optional);
        Self { name, place, kind, bound: None, presence, about, hint: None }
    }

    const fn or(self, text: &'static str) -> Self {
        Self { presence: Presence::Default(text), ..self }
    }

    const fn in_path(self) -> Self {
        Self { place: Place::Path, ..self }
    }

    const fn within(self, bound: Bound) -> Self {
        Self { bound: Some(bound), ..self }
    }

    const fn hint(self, hint: &'static str) -> Self {
        Self { hint: Some(hint), ..self }
    }
}

/// The parameters of rules and streams.
pub mod alerts;
/// Those of sales that end in cash.
pub mod cash;
/// Those of sales over several venues.
pub mod venues;

/// The parameters of all other operations.
pub mod common {
    use exitgap_core::exit::{METHOD_VERSION, OrderPlan};

    use super::{Bound, Parameter};
    use crate::operations::Kind;
    use crate::{Interval, RowOrder};

    const STANDARD_SIZES: Kind = Kind::OneOf(&["1000", "10000", "100000", "1000000"]);
    const STANDARD_SIZE_HINT: &str = "1000, 10000, 100000 or 1000000; for any other size, ask a \
                                      snapshot with /v1/exit/{pool}?size_usd=&at=";
    const CURSOR_ABOUT: &str = "`next_cursor` of the previous page, unchanged.";
    const CURSOR_HINT: &str = "give next_cursor of the previous page, unchanged";
    const SLOT_HINT: &str = "a slot number, such as 5957857; the slot's time is 300 s times the \
                             number; results give it as method.depth_source.slot";
    const TICK_HINT: &str =
        "ticks are whole numbers from -887272 to 887272; low must not be higher than high";
    const HASH_HINT: &str = "0x and 64 hexadecimal digits in lower case";
    /// The maximum number of rows in a page.
    const MOST_ROWS: Kind = Kind::Whole(1, 1_000);

    /// The pool.
    pub const POOL: Parameter =
        Parameter::new_required("pool", Kind::Pool, "The pool, `<chain>:<address>` in lower case. A pool of Uniswap v4 has its id instead of an address.")
            .in_path()
            .hint("a pool identifier is <chain>:<address>; GET /v1/pools lists all pools");

    /// The size sold.
    pub const SIZE: Parameter = Parameter::new_required(
        "size_usd",
        Kind::Size,
        "The size in USD at the oracle price: a plain number from 0.01 to 1000000000 with at most six decimals.",
    )
    .hint(
        "size_usd is a plain decimal from 0.01 to 1000000000 with at most six decimals: 250000, \
         not 250k or 250,000",
    );

    /// The widest gap accepted.
    pub const GAP: Parameter = Parameter::new_required(
        "gap_pct",
        Kind::Gap,
        "The widest gap accepted, percent: a plain number from -100 to 100 with at most six decimals. Positive is worse than the oracle.",
    )
    .hint("gap_pct is a plain percentage from -100 to 100 with at most six decimals, such as 2");

    /// The number of orders in which a size is sold.
    pub const ORDERS: Parameter = Parameter::new_required(
        "orders",
        Kind::Whole(1, OrderPlan::MAX_PARTS),
        "The number of orders for the size, 1 to 1000. The orders are equal to within one raw unit.",
    )
    .hint("ask for 1 to 1000 orders");

    /// The share of the price displacement that is assumed to recover between two orders.
    pub const RECOVERY: Parameter = Parameter::optional(
        "recovery_pct",
        Kind::Share,
        "The assumed recovery of √price between two orders, as a share of its displacement, percent: a plain number from 0 to 100 with at most six decimals. Your assumption, not a forecast. Default: 0.",
    )
    .or("0")
    .hint("recovery_pct is a plain percentage from 0 to 100 with at most six decimals");

    /// The time between two orders.
    pub const ORDER_INTERVAL: Parameter = Parameter::optional(
        "interval_s",
        Kind::Whole(0, u32::MAX),
        "Seconds between two orders. The value is returned unchanged and not used in any computation. Default: 0.",
    )
    .or("0")
    .hint("interval_s is a whole number of seconds, from 0 to 4294967295");

    /// The maximum age of the snapshot.
    pub const MAX_AGE: Parameter = Parameter::optional(
        "max_age_s",
        Kind::Whole(0, u32::MAX),
        "A guard: the maximum age of the answer's snapshot (`snapshot_age_s`), seconds. An older snapshot is refused with `snapshot_too_old`. For a series, the pool's newest snapshot counts.",
    )
    .hint("max_age_s is a whole number of seconds, from 0 to 4294967295");

    /// The minimum length of the series.
    pub const MIN_DAYS: Parameter = Parameter::optional(
        "min_days_observed",
        Kind::Days,
        "A guard: the minimum `days_observed` of the answer, a plain number with at most two decimals. A shorter series is refused with `series_too_short`.",
    )
    .hint("min_days_observed is a plain number of days, from 0 to 99999.99, with at most two decimals");

    /// The required status.
    pub const REQUIRE: Parameter = Parameter::optional(
        "require",
        Kind::OneOf(&["live"]),
        "A guard: with `live`, an answer with any other `status` is refused with `not_live`.",
    )
    .hint("live, or omit the parameter");

    /// The token sold, by any of its names.
    pub const BASE: Parameter = Parameter::optional(
        "base",
        Kind::Token,
        "The token sold: `token0`, `token1`, its address, or its symbol if the two tokens have different symbols. Upper or lower case. Anything else returns `unknown_base`. Default: the pool's default base token.",
    )
    .hint("token0, token1, a symbol or an address");

    /// The token sold, as `token0` or `token1`.
    pub const BASE_BY_PLACE: Parameter = Parameter::optional(
        "base",
        Kind::OneOf(&["token0", "token1"]),
        "The token sold, by position only, so that evidence has one URL. Default: the pool's default base token.",
    )
    .hint("token0 or token1, by position here; token0 has the lower address");

    /// The slot, by an instant.
    pub const AT: Parameter = Parameter::optional(
        "at",
        Kind::Instant,
        "An RFC 3339 time. Selects the slot exactly at or before it. Default: the newest recorded slot.",
    );

    /// The slot, by its number.
    pub const SLOT: Parameter = Parameter::new_required(
        "slot",
        Kind::Slot,
        "The slot number. The slot's time is 300 seconds times the number.",
    )
    .hint(SLOT_HINT);

    /// The slot of a state proof.
    pub const SLOT_IN_PATH: Parameter = SLOT.in_path();

    /// The lowest tick that a proof must cover.
    pub const LOW: Parameter = Parameter::optional(
        "low",
        Kind::Tick,
        "For a pool with liquidity ranges, the lowest tick that the proof must cover, given together with `high`. Default: the range that the figures read.",
    )
    .hint(TICK_HINT);

    /// The highest tick that a proof must cover.
    pub const HIGH: Parameter = Parameter::optional(
        "high",
        Kind::Tick,
        "For a pool with liquidity ranges, the highest tick that the proof must cover, given together with `low` and not below it. Default: the range that the figures read.",
    )
    .hint(TICK_HINT);

    /// The slot of the evidence.
    pub const EVIDENCE_SLOT: Parameter = Parameter::optional(
        "slot",
        Kind::Slot,
        "The slot number. Default: the newest recorded slot.",
    )
    .hint(SLOT_HINT);

    /// The version of the rules that the evidence was computed with.
    pub const METHOD: Parameter = Parameter::optional(
        "method_version",
        Kind::OneOf(&[METHOD_VERSION]),
        "The version of the method. Default: the newest.",
    );

    /// The size of a series, one of the standard sizes.
    pub const STANDARD_SIZE: Parameter = Parameter::new_required(
        "size_usd",
        STANDARD_SIZES,
        "One of the standard sizes in USD. Their gaps are stored for every slot.",
    )
    .hint(STANDARD_SIZE_HINT);

    /// The size of a series, any size.
    pub const SERIES_SIZE: Parameter = Parameter::new_required(
        "size_usd",
        Kind::Size,
        "The size in USD, 0.01 to 1000000000. The gaps of 1000, 10000, 100000 and 1000000 are stored for every slot. Gaps of other sizes are computed from the snapshots, at most 2016 slots (seven days) at a time.",
    )
    .hint("size_usd is a plain number from 0.01 to 1000000000 with at most six decimals");

    /// A gap limit that a series is compared with.
    pub const LEVEL: Parameter = Parameter::optional(
        "limit_pct",
        Kind::Gap,
        "A gap in percent. `detail.above` shows in how many slots the gap of the size was wider, and for how many consecutive slots.",
    )
    .hint("limit_pct is a plain percentage from -100 to 100 with at most six decimals");

    /// The size that the board is sorted by.
    pub const BOARD_SIZE: Parameter = Parameter::optional(
        "size_usd",
        STANDARD_SIZES,
        "The standard size whose gap is used for sorting. Default: 100000.",
    )
    .or("100000")
    .hint(STANDARD_SIZE_HINT);

    /// The sort key of the board.
    pub const SORT: Parameter = Parameter::optional(
        "sort",
        Kind::OneOf(&["gap", "score", "book_score", "depth"]),
        "The sort key; the most fragile pool comes first. Default: the gap.",
    )
    .or("gap")
    .hint("gap (at size_usd), score, book_score or depth");

    /// The first slot of a history.
    pub const FROM: Parameter = Parameter::optional(
        "from",
        Kind::Instant,
        "The first slot: the slot at or before this time. Default: as far back as one page reaches.",
    );

    /// The first slot of a period.
    pub const PERIOD_FROM: Parameter = Parameter::optional(
        "from",
        Kind::Instant,
        "The first slot: the slot at or before this time. Default: the pool's first slot.",
    );

    /// The last slot of a history or a period.
    pub const TO: Parameter = Parameter::optional(
        "to",
        Kind::Instant,
        "The last slot: the slot at or before this time, not before `from`. Default: the newest slot.",
    );

    const DAY_HINT: &str = "a day, UTC, such as 2026-11-26";

    /// The first of several closed days.
    pub const EXPORT_FROM: Parameter = Parameter::optional(
        "from",
        Kind::Date,
        "The first day, UTC. Default: the log's first day.",
    )
    .hint(DAY_HINT);

    /// The last of several closed days.
    pub const EXPORT_TO: Parameter = Parameter::optional(
        "to",
        Kind::Date,
        "The last day, UTC, not before `from`. Default: the last closed day.",
    )
    .hint(DAY_HINT);

    /// The pools whose rows the files must contain.
    pub const EXPORT_POOL: Parameter = Parameter::optional(
        "pool",
        Kind::Pools,
        "Lists only files with rows of this pool, `<chain>:<address>`. Repeat for each pool, up to 100 times. Default: all files.",
    )
    .hint("pool=<chain>:<address>, repeated for each pool, up to 100 times");

    /// The last head that is read for logs of a period.
    pub const UNTIL: Parameter = Parameter::optional(
        "until",
        Kind::Instant,
        "The last slot whose head may report logs of the period, at most a day after `to`. Default: the newest slot, or a day after `to`.",
    );

    /// The length of a history's rows.
    pub const INTERVAL: Parameter = Parameter::optional(
        "interval",
        Kind::OneOf(&[Interval::FiveMinutes.code(), Interval::Hour.code(), Interval::Day.code()]),
        "The length of a row: a 5-minute slot, an hour or a day, UTC. Default: 1h.",
    )
    .or(Interval::Hour.code())
    .hint("5m, 1h or 1d");

    /// The order of a history's rows.
    pub const ORDER: Parameter = Parameter::optional(
        "order",
        Kind::OneOf(&[RowOrder::Ascending.code(), RowOrder::Descending.code()]),
        "The order of rows. `asc`: the oldest row first; without `from`, one page of rows up to `to`. `desc`: the newest row first; without `from`, the pages lead back to the beginning of the series. A cursor belongs to one order. Default: asc.",
    )
    .or(RowOrder::Ascending.code())
    .hint("asc or desc");

    /// The chain whose pools are listed.
    pub const CHAIN: Parameter =
        Parameter::optional("chain", Kind::Chain, "Only pools of this chain.")
            .hint("such as ethereum: 1 to 32 of a-z, 0-9 and -");

    /// The chain of a token.
    pub const CHAIN_IN_PATH: Parameter =
        Parameter::new_required("chain", Kind::Chain, "The slug of the token's chain.")
            .in_path()
            .hint("such as ethereum: 1 to 32 of a-z, 0-9 and -");

    /// A token by its contract.
    pub const TOKEN_IN_PATH: Parameter = Parameter::new_required(
        "token",
        Kind::Address,
        "The address of the token sold, in lower case.",
    )
    .in_path()
    .hint("a token is given by its address, 0x and 40 hexadecimal digits");

    /// The group of tokens that the sale may end in.
    pub const QUOTE_GROUP: Parameter = Parameter::optional(
        "quote_group",
        Kind::Chain,
        "Only pools that buy a token of this group, as configured by the operator. Any other name is refused. Default: all pools.",
    )
    .hint("the name of a group that the operator configured");

    /// The fixed cost of using a venue.
    pub const FIXED_COST: Parameter = Parameter::optional(
        "fixed_cost_usd",
        Kind::Cost,
        "The fixed cost of using a venue, such as gas, USD. Your assumption, the same for each venue. Default: 0.",
    )
    .or("0")
    .hint("fixed_cost_usd is a plain number from 0 to 1000000 with at most six decimals");

    /// The price that depths and gaps are measured from.
    pub const REFERENCE: Parameter = Parameter::optional(
        "reference",
        Kind::OneOf(&["oracle", "mid"]),
        "The price that depths, gaps and the rating are measured from: `oracle`, or `mid`, the pools' own mid prices. Default: the oracle price.",
    )
    .or("oracle")
    .hint("oracle or mid");

    /// The same for a figure file, whose version depends on it.
    pub const FILE_REFERENCE: Parameter = Parameter::optional(
        "reference",
        Kind::OneOf(&["oracle", "mid"]),
        "The price that depths and gaps are measured from: `oracle` or `mid`. With it, the file is of version 2 of the rules, otherwise of version 1.",
    )
    .hint("oracle or mid; omit it for version 1");

    /// The minimum move of the price.
    pub const MOVE: Parameter = Parameter::optional(
        "move_pct",
        Kind::Share,
        "How far the pool's mid price must have moved, percent: above 0 and at most 100, with at most six decimals. Default: 2, or 0.2 for pegged tokens.",
    )
    .or("2")
    .within(Bound::AboveZero)
    .hint("move_pct is a plain percentage above 0 and at most 100 with at most six decimals");

    /// The number of slots over which the move is measured.
    pub const WITHIN_SLOTS: Parameter = Parameter::optional(
        "within_slots",
        Kind::Whole(1, 48),
        "The number of slots within which it must have moved, 1 to 48. Default: 3 (15 minutes).",
    )
    .or("3")
    .hint("a whole number of slots, from 1 to 48");

    /// The gap at which depth is measured.
    pub const BOOK_GAP: Parameter = Parameter::optional(
        "gap_pct",
        Kind::Share,
        "The gap from the pool's own mid price at which depth is measured, percent: above 0 and at most 100. Default: 2.",
    )
    .or("2")
    .within(Bound::AboveZero)
    .hint("gap_pct is a plain percentage above 0 and at most 100 with at most six decimals");

    /// The size for the gaps of a tokenized stock.
    pub const EQUITY_SIZE: Parameter = Parameter::optional(
        "size_usd",
        Kind::Size,
        "The size of the gaps in USD, 0.01 to 1000000000. Default: 10000.",
    )
    .or("10000")
    .hint("size_usd is a plain number of USD from 0.01 to 1000000000, with at most six decimals");

    /// The gap limit for the depths of a tokenized stock.
    pub const EQUITY_GAP: Parameter = Parameter::optional(
        "gap_pct",
        Kind::Share,
        "The gap limit of the depths in sessions, percent: above 0 and at most 100. Default: 2.",
    )
    .or("2")
    .within(Bound::AboveZero)
    .hint("gap_pct is a plain percentage above 0 and at most 100 with at most six decimals");

    /// The maximum number of rows in a page.
    pub const LIMIT: Parameter =
        Parameter::optional("limit", MOST_ROWS, "The number of rows per page. Default: 100.")
            .or("100")
            .hint("from 1 to 1000; omit it for 100");

    /// The maximum number of rows in a page of a history.
    pub const HISTORY_LIMIT: Parameter = Parameter::optional(
        "limit",
        MOST_ROWS,
        "The number of rows per page. Default: 720 (thirty days of hours).",
    )
    .or("720")
    .hint("from 1 to 1000; omit it for 720");

    /// The start of a page of pools.
    pub const POOL_CURSOR: Parameter =
        Parameter::optional("cursor", Kind::Pool, CURSOR_ABOUT).hint(CURSOR_HINT);

    /// The start of a page of a history.
    pub const SLOT_CURSOR: Parameter =
        Parameter::optional("cursor", Kind::SlotCursor, CURSOR_ABOUT).hint(CURSOR_HINT);

    /// The start of a page of the board.
    pub const RANK_CURSOR: Parameter =
        Parameter::optional("cursor", Kind::Rank, CURSOR_ABOUT).hint(CURSOR_HINT);

    /// A position held.
    pub const POSITION: Parameter = Parameter::new_required(
        "position",
        Kind::Positions,
        "`<pool>:<size_usd>`, or `<pool>/<base>:<size_usd>` with a base as elsewhere, or `<chain>/<token>:<size_usd>`, which is sold for cash, as in `/v1/cash`, in one plan with the other tokens of its chain. Repeat for each position, up to 100 times.",
    )
    .hint(
        "position=<pool>:<size_usd>, <pool>/<base>:<size_usd> or <chain>/<token>:<size_usd>, \
         repeated for each position, up to 100 times",
    );

    /// The hash of a snapshot.
    pub const SNAPSHOT_HASH: Parameter =
        Parameter::new_required("hash", Kind::Hash, "The snapshot's SHA-256.")
            .in_path()
            .hint(HASH_HINT);

    /// The hash of a state.
    pub const STATE_HASH: Parameter =
        Parameter::new_required("hash", Kind::Hash, "The state's SHA-256.")
            .in_path()
            .hint(HASH_HINT);

    /// A file of the published log.
    pub const LOG_FILE: Parameter =
        Parameter::new_required("path", Kind::LogFile, exitgap_core::log_folder::LogFile::PATHS)
            .in_path();

    /// The URL of an evidence file.
    pub const EVIDENCE_URL: Parameter = Parameter::new_required(
        "evidence_url",
        Kind::EvidenceUrl,
        "`evidence_url` or `figure_url` of an answer, unchanged. Only of this service's own log.",
    )
    .hint("give evidence_url or figure_url of an answer from this service, unchanged");
}
