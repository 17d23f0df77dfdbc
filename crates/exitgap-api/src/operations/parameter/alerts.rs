//! Parameters of rules and of streams.

use super::Parameter;
use crate::operations::Kind;

const NAME_HINT: &str = "1 to 40 of a-z, 0-9 and '_', first a letter";
const USD_HINT: &str = "a plain number from 0.01 to 1000000000 with at most six decimals";
const PCT_HINT: &str = "a plain percentage from -100 to 100 with at most six decimals";

/// The pool of a rule that is kept.
pub const ALERT_POOL: Parameter = Parameter::required(
    "pool",
    Kind::Pool,
    "The pool, `<chain>:<address>` in small letters; a pool of Uniswap v4 has its id in place of an address.",
)
.hint("a pool is named <chain>:<address>; GET /v1/pools lists them");

/// A kept rule.
pub const ALERT_IN_PATH: Parameter =
    Parameter::required("alert", Kind::Word, "The rule's name, as it was given when it was made.")
        .in_path()
        .hint("GET /v1/alerts lists your own");

/// Where the events of a kept rule are sent.
pub const WEBHOOK_URL: Parameter = Parameter::optional(
    "webhook_url",
    Kind::WebhookUrl,
    "Where events are sent: https, at port 443 or 8443, at a public address. Only read where left out.",
)
.hint("an address such as https://hooks.example/exits, without a name, a password or a fragment");

/// After which event.
pub const AFTER_SEQ: Parameter = Parameter::optional(
    "after_seq",
    Kind::Whole(0, u32::MAX),
    "The place of the last event that is known; 0 where left out.",
)
.or("0")
.hint("next_after_seq of the answer before");

/// From which event on.
pub const FROM_SEQ: Parameter = Parameter::optional(
    "from_seq",
    Kind::Whole(1, u32::MAX),
    "The place of the first event; 1 where left out.",
)
.or("1")
.hint("an event's seq, from 1");

/// What a rule is called.
pub const ALERT_NAME: Parameter = Parameter::optional(
    "alert",
    Kind::Word,
    "What the rule is called, 1 to 40 of a-z, 0-9 and '_': its events' names depend on it. `alert` where left out.",
)
.or("alert")
.hint(NAME_HINT);

/// What a rule watches.
pub const ALERT_KIND: Parameter = Parameter::required(
    "kind",
    Kind::OneOf(&[
        "gap_above",
        "depth_below",
        "lowest_depth_below",
        "oracle_stale",
        "market_closed",
        "missing",
    ]),
    "What is watched: `gap_above` has `size_usd`, `pct` and `clear_pct`, `depth_below` `usd`, `clear_usd` and `at_pct`, `lowest_depth_below` `usd` and `clear_usd`, `missing` `reason`; the others have nothing.",
)
.hint("gap_above, depth_below, lowest_depth_below, oracle_stale, market_closed or missing");

/// The size of a rule.
pub const ALERT_SIZE: Parameter = Parameter::optional(
    "size_usd",
    Kind::Size,
    "Of `gap_above`: the size sold, USD at the oracle's price.",
)
.hint(USD_HINT);

/// The gap of a rule.
pub const ALERT_PCT: Parameter = Parameter::optional(
    "pct",
    Kind::Gap,
    "Of `gap_above`: a gap above it is a breach, percent. A sale that is not filled is worse than any gap.",
)
.hint(PCT_HINT);

/// Where that is over.
pub const CLEAR_PCT: Parameter = Parameter::optional(
    "clear_pct",
    Kind::Gap,
    "Of `gap_above`: a gap of at most this is clear; between it and `pct` neither. A tenth of `pct` below it where left out.",
)
.hint(PCT_HINT);

/// The depth of a rule.
pub const ALERT_USD: Parameter = Parameter::optional(
    "usd",
    Kind::Size,
    "Of `depth_below` and `lowest_depth_below`: a depth below it is a breach, USD.",
)
.hint(USD_HINT);

/// Where that is over.
pub const CLEAR_USD: Parameter = Parameter::optional(
    "clear_usd",
    Kind::Size,
    "Of the same: a depth of at least this is clear. A tenth of `usd` above it where left out.",
)
.hint(USD_HINT);

/// The gap at which a rule measures depth.
pub const AT_PCT: Parameter = Parameter::optional(
    "at_pct",
    Kind::Gap,
    "Of `depth_below`: the gap at which depth is measured, percent. 2 where left out.",
)
.hint(PCT_HINT);

/// The reasons of a rule.
pub const ALERT_REASON: Parameter = Parameter::optional(
    "reason",
    Kind::Code,
    "Of `missing`: a reason that counts, such as `rpc_unavailable`. Repeated for each; any where left out.",
)
.hint(NAME_HINT);

/// What a slot without data counts as.
pub const ON_MISSING: Parameter = Parameter::optional(
    "on_missing",
    Kind::OneOf(&["hold", "breach", "clear"]),
    "What a slot that says nothing counts as: nothing (`hold`), a breach, or clear.",
)
.or("hold")
.hint("hold, breach or clear");

/// Breaches until a rule fires.
pub const FOR_SLOTS: Parameter = Parameter::optional(
    "for_slots",
    Kind::Whole(1, 288),
    "Breaches in a row until it fires. 2 where left out.",
)
.or("2")
.hint("a whole number of slots");

/// Slots until it is over.
pub const CLEAR_FOR_SLOTS: Parameter = Parameter::optional(
    "clear_for_slots",
    Kind::Whole(1, 288),
    "Clear slots in a row until it is over. 3 where left out.",
)
.or("3")
.hint("a whole number of slots");

/// Slots until it is said that nothing is known.
pub const NO_DATA_SLOTS: Parameter = Parameter::optional(
    "no_data_slots",
    Kind::Whole(0, 288),
    "Slots in a row that say nothing until that is said; 0: never. 3 where left out.",
)
.or("3")
.hint("a whole number of slots");

/// Slots between two firings.
pub const REFIRE_SLOTS: Parameter = Parameter::optional(
    "refire_slots",
    Kind::Whole(0, 2_016),
    "Slots after it fired in which it does not fire again. 12 where left out.",
)
.or("12")
.hint("a whole number of slots");

/// Slots between two reminders.
pub const REMIND_SLOTS: Parameter = Parameter::optional(
    "remind_slots",
    Kind::Whole(0, 2_016),
    "Slots after which it is said again while it lasts; 0: never.",
)
.or("0")
.hint("a whole number of slots");

/// The pools of a stream.
pub const WATCHED: Parameter = Parameter::optional(
    "pool",
    Kind::Pools,
    "A pool whose heads are told, `<chain>:<address>`. Repeated for each, up to 100 times; slots alone where left out.",
)
.hint("pool=<chain>:<address>, repeated for each, up to 100 times");

/// Whose rules a stream tells of.
pub const TICKET: Parameter = Parameter::optional(
    "ticket",
    Kind::Ticket,
    "What an owner of kept rules shows, so that the stream tells of them, too; `POST /v1/alerts/ticket` gives it.",
)
.hint("ext_ and 70 letters, as POST /v1/alerts/ticket gives it");

/// Where a stream goes on.
pub const LAST_EVENT_ID: Parameter = Parameter::optional(
    "last_event_id",
    Kind::EventId,
    "The id of the last event that came, for whoever cannot send the header `Last-Event-ID`, which counts before it.",
)
.hint("the id of the last event as it came, such as 5957857.0");
