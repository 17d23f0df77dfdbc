//! The parameters of rules and of streams.

use super::Parameter;
use crate::operations::Kind;

const NAME_HINT: &str = "1 to 40 of a-z, 0-9 and '_', starting with a letter";
const USD_HINT: &str = "a plain number from 0.01 to 1000000000 with at most six decimals";
const PCT_HINT: &str = "a plain percentage from -100 to 100 with at most six decimals";

/// The pool of a stored rule.
pub const ALERT_POOL: Parameter = Parameter::new_required(
    "pool",
    Kind::Pool,
    "The pool, `<chain>:<address>` in lower case. A pool of Uniswap v4 has its id instead of an address.",
)
.hint("a pool identifier is <chain>:<address>; GET /v1/pools lists all pools");

/// A stored rule.
pub const ALERT_IN_PATH: Parameter =
    Parameter::new_required("alert", Kind::Word, "The rule's name, as given when it was created.")
        .in_path()
        .hint("GET /v1/alerts lists your rules");

/// The URL that the events of a stored rule are sent to.
pub const WEBHOOK_URL: Parameter = Parameter::optional(
    "webhook_url",
    Kind::WebhookUrl,
    "The webhook URL: https, port 443 or 8443, a public address. Default: events are not sent and can only be read.",
)
.hint("a URL such as https://hooks.example/exits, without user name, password or fragment");

/// Only events after this one.
pub const AFTER_SEQ: Parameter = Parameter::optional(
    "after_seq",
    Kind::Whole(0, u32::MAX),
    "The sequence number of the last known event. Default: 0.",
)
.or("0")
.hint("next_after_seq of the previous answer");

/// The first event to send again.
pub const FROM_SEQ: Parameter = Parameter::optional(
    "from_seq",
    Kind::Whole(1, u32::MAX),
    "The sequence number of the first event. Default: 1.",
)
.or("1")
.hint("the seq of an event, from 1");

/// The name of a rule.
pub const ALERT_NAME: Parameter = Parameter::optional(
    "alert",
    Kind::Word,
    "The name of the rule, 1 to 40 of a-z, 0-9 and '_'. The ids of its events depend on the name. Default: `alert`.",
)
.or("alert")
.hint(NAME_HINT);

/// The kind of a rule.
pub const ALERT_KIND: Parameter = Parameter::new_required(
    "kind",
    Kind::OneOf(&[
        "gap_above",
        "depth_below",
        "lowest_depth_below",
        "oracle_stale",
        "market_closed",
        "missing",
    ]),
    "The condition. `gap_above` takes `size_usd`, `pct` and `clear_pct`. `depth_below` takes `usd`, `clear_usd` and `at_pct`. `lowest_depth_below` takes `usd` and `clear_usd`. `missing` takes `reason`. The others take nothing. What a kind does not take is refused.",
)
.hint("gap_above, depth_below, lowest_depth_below, oracle_stale, market_closed or missing");

/// The size of a rule.
pub const ALERT_SIZE: Parameter = Parameter::optional(
    "size_usd",
    Kind::Size,
    "For `gap_above`, which requires it: the size sold, USD at the oracle price.",
)
.hint(USD_HINT);

/// The gap of a rule.
pub const ALERT_PCT: Parameter = Parameter::optional(
    "pct",
    Kind::Gap,
    "For `gap_above`, which requires it: a wider gap is a breach, percent. A sale that cannot be filled is worse than any gap.",
)
.hint(PCT_HINT);

/// The gap at which it clears.
pub const CLEAR_PCT: Parameter = Parameter::optional(
    "clear_pct",
    Kind::Gap,
    "For `gap_above`: a gap of at most this is clear. A gap between this and `pct` is neither. Default: a tenth of `pct` below it.",
)
.hint(PCT_HINT);

/// The depth of a rule.
pub const ALERT_USD: Parameter = Parameter::optional(
    "usd",
    Kind::Size,
    "For `depth_below` and `lowest_depth_below`, which require it: a lower depth is a breach, USD.",
)
.hint(USD_HINT);

/// The depth at which it clears.
pub const CLEAR_USD: Parameter = Parameter::optional(
    "clear_usd",
    Kind::Size,
    "For `depth_below` and `lowest_depth_below`: a depth of at least this is clear. Default: a tenth of `usd` above it.",
)
.hint(USD_HINT);

/// The gap at which a rule measures depth.
pub const AT_PCT: Parameter = Parameter::optional(
    "at_pct",
    Kind::Gap,
    "For `depth_below`: the gap at which depth is measured, percent. Default: 2.",
)
.hint(PCT_HINT);

/// The reasons of a rule.
pub const ALERT_REASON: Parameter = Parameter::optional(
    "reason",
    Kind::Code,
    "For `missing`: a reason that counts, such as `rpc_unavailable`. Repeat for each reason. Default: any reason.",
)
.hint(NAME_HINT);

/// How a slot without data is counted.
pub const ON_MISSING: Parameter = Parameter::optional(
    "on_missing",
    Kind::OneOf(&["hold", "breach", "clear"]),
    "How a slot without data counts: ignored (`hold`), as a breach, or as clear.",
)
.or("hold")
.hint("hold, breach or clear");

/// Consecutive breaches until a rule fires.
pub const FOR_SLOTS: Parameter = Parameter::optional(
    "for_slots",
    Kind::Whole(1, 288),
    "Consecutive breaches until the rule fires. Default: 2.",
)
.or("2")
.hint("a whole number of slots");

/// Consecutive clear slots until it clears.
pub const CLEAR_FOR_SLOTS: Parameter = Parameter::optional(
    "clear_for_slots",
    Kind::Whole(1, 288),
    "Consecutive clear slots until the alert is resolved. Default: 3.",
)
.or("3")
.hint("a whole number of slots");

/// Consecutive slots without data until that is reported.
pub const NO_DATA_SLOTS: Parameter = Parameter::optional(
    "no_data_slots",
    Kind::Whole(0, 288),
    "Consecutive slots without data until an event reports that. 0: never. Default: 3.",
)
.or("3")
.hint("a whole number of slots");

/// Slots between two firings.
pub const REFIRE_SLOTS: Parameter = Parameter::optional(
    "refire_slots",
    Kind::Whole(0, 2_016),
    "Slots after the rule fired in which it does not fire again. Default: 12.",
)
.or("12")
.hint("a whole number of slots");

/// Slots between two reminders.
pub const REMIND_SLOTS: Parameter = Parameter::optional(
    "remind_slots",
    Kind::Whole(0, 2_016),
    "Slots after which a reminder is sent while the alert lasts. 0: never.",
)
.or("0")
.hint("a whole number of slots");

/// The pools of a stream.
pub const WATCHED: Parameter = Parameter::optional(
    "pool",
    Kind::Pools,
    "A pool whose heads are streamed, `<chain>:<address>`. Repeat for each pool, up to 100 times. Default: only slots.",
)
.hint("pool=<chain>:<address>, repeated for each pool, up to 100 times");

/// The ticket of the owner whose rules a stream reports.
pub const TICKET: Parameter = Parameter::optional(
    "ticket",
    Kind::Ticket,
    "A ticket for the events of an owner's stored rules, created by `POST /v1/alerts/ticket`.",
)
.hint("ext_ and 70 characters, from POST /v1/alerts/ticket");

/// The event after which a stream resumes.
pub const LAST_EVENT_ID: Parameter = Parameter::optional(
    "last_event_id",
    Kind::EventId,
    "The id of the last event received, for clients that cannot send the header `Last-Event-ID`. The header has precedence.",
)
.hint("the id of the last event as received, such as 5957857.0");
