//! The possible values of parameters, as JSON schemas.

use exitgap_core::exit::{MAX_ROUTE_VENUES, MAX_SOLD_TOKENS};
use exitgap_core::proof::TickRange;
use exitgap_core::series::Slot;
use serde_json::{Value, json};

use super::alerts::MAX_WEBHOOK_URL_BYTES;
use super::evidence_of::MAX_EVIDENCE_URL_BYTES;
use super::portfolio::MAX_POSITIONS;
use super::questions::MAX_RANK;
use super::streams::MAX_WATCHED;
use crate::parameters::MAX_TOKEN_NAME_BYTES;

/// The kind of values that a parameter accepts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A pool's identifier, `<chain>:<address>`.
    Pool,
    /// A chain's slug.
    Chain,
    /// A size in USD: a plain decimal.
    Size,
    /// A token of the pool: `token0`, `token1`, a symbol or an address.
    Token,
    /// An RFC 3339 instant.
    Instant,
    /// A day, UTC.
    Date,
    /// A slot's number.
    Slot,
    /// The start of a page of a history: the number of its oldest slot, or in descending order of its newest.
    SlotCursor,
    /// A place in a ranking, counted from 0.
    Rank,
    /// A whole number between these bounds.
    Whole(u32, u32),
    /// A tick of a concentrated-liquidity pool.
    Tick,
    /// A gap limit in percent: a plain decimal, with a minus sign if negative.
    Gap,
    /// A share in percent, from 0 to 100.
    Share,
    /// A contract's address, `0x` and 40 hexadecimal digits.
    Address,
    /// A cost in USD, from 0 to a million: a plain decimal.
    Cost,
    /// An amount of whole tokens: a plain decimal.
    Amount,
    /// A positive amount in raw units.
    Units,
    /// A token with a positive amount in raw units, `<address>:<units>`. Can be repeated.
    Sold,
    /// The tokens that a sale ends in: the name of a group, or addresses separated by commas.
    Into,
    /// Days in a series: a plain decimal.
    Days,
    /// One of these values.
    OneOf(&'static [&'static str]),
    /// A pool or a token with the size held, such as `ethereum:0x88e6…:250000`. Can be repeated.
    Positions,
    /// A pool with or without the token sold, such as `ethereum:0x88e6…/token0`. Can be repeated.
    Venues,
    /// A pool. Can be repeated.
    Pools,
    /// A name of lower-case letters, digits and underscores.
    Word,
    /// A name of lower-case letters, digits and underscores. Can be repeated.
    Code,
    /// The id of an event of a stream, `<slot>.<place>`.
    EventId,
    /// A ticket of an owner of rules, for a stream.
    Ticket,
    /// A SHA-256, `0x` and 64 hexadecimal digits.
    Hash,
    /// The path of a file of the published log.
    LogFile,
    /// The URL of an evidence file.
    EvidenceUrl,
    /// The URL that events are sent to.
    WebhookUrl,
}

/// The name of a contract of its own, or of a pool with a 32-byte id in a manager contract; followed, for a pair of a
/// contract with three to eight tokens, by the two indices, lower first.
const POOL: &str = "[a-z][a-z0-9-]{0,31}:0x[0-9a-f]{40}([0-9a-f]{24})?\
                    (\\.(0-[1-7]|1-[2-7]|2-[3-7]|3-[4-7]|4-[5-7]|5-[67]|6-7))?";
/// From 0 to 100, with at most six decimals.
const UP_TO_100: &str = "0*([0-9]{1,2}(\\.[0-9]{1,6})?|100(\\.0{1,6})?)";
/// Above 0 and at most 100, with at most six decimals.
const ABOVE_ZERO: &str = "0*(0\\.([1-9][0-9]{0,5}|0[1-9][0-9]{0,4}|00[1-9][0-9]{0,3}|000[1-9][0-9]{0,2}|\
                          0000[1-9][0-9]?|00000[1-9])|[1-9][0-9]?(\\.[0-9]{1,6})?|100(\\.0{1,6})?)";
/// From 0 to 99, with at most six decimals.
const UP_TO_99: &str = "0*(([0-9]|[1-8][0-9]|9[0-8])(\\.[0-9]{1,6})?|99(\\.0{1,6})?)";
/// A slot from the first to the last there can be.
const SLOT: &str = "(5957(8(5[6-9]|[6-9][0-9])|9[0-9]{2})|595[89][0-9]{3}|59[6-9][0-9]{4}|[6-9][0-9]{6}|[1-9][0-9]{7}|\
                    [1-7][0-9]{8}|8[0-3][0-9]{7}|84[0-3][0-9]{6}|844[0-5][0-9]{5}|8446[0-6][0-9]{4}|84467[0-3][0-9]{3}|\
                    844674[0-2][0-9]{2}|8446743[0-2][0-9]|84467433[0-5])";
/// One to eight addresses, separated by commas.
const ADDRESSES: &str = "0x[0-9a-f]{40}(,0x[0-9a-f]{40}){0,7}";
/// Above 0.
const AMOUNT: &str = "0*([1-9][0-9]{0,39}(\\.[0-9]{1,36})?|0\\.0{0,35}[1-9][0-9]{0,35})";
const SIZE: &str =
    "0*(0\\.(0[1-9]|[1-9][0-9]?)[0-9]{0,4}|[1-9][0-9]{0,8}(\\.[0-9]{1,6})?|1000000000(\\.0{1,6})?)";

/// What a parameter excludes of its kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Bound {
    /// A share of 0.
    AboveZero,
    /// A share above 99.
    UpTo99,
    /// A token sold that is named otherwise than by its place.
    BaseByPlace,
    /// The name of a group of tokens.
    TokensByAddress,
}

impl Bound {
    /// The pattern of what is left of the kind.
    pub(super) fn pattern(self) -> String {
        match self {
            Self::AboveZero => format!("^{ABOVE_ZERO}$"),
            Self::UpTo99 => format!("^{UP_TO_99}$"),
            Self::BaseByPlace => format!("^{POOL}(/token[01])?$"),
            Self::TokensByAddress => format!("^{ADDRESSES}$"),
        }
    }
}

impl Kind {
    /// Its JSON schema (draft 2020-12), for the value as written in an address.
    pub fn schema(self) -> Value {
        let text = |pattern: String| json!({"type": "string", "pattern": format!("^{pattern}$")});
        match self {
            Self::Pool => text(POOL.to_owned()),
            Self::Chain => text("[a-z][a-z0-9-]{0,31}".to_owned()),
            Self::Size => {
                json!({"type": "string", "pattern": format!("^{SIZE}$"), "examples": ["10000"]})
            }
            Self::Token => {
                let pattern = format!("^[ -~]{{1,{MAX_TOKEN_NAME_BYTES}}}$");
                json!({"type": "string", "pattern": pattern, "examples": ["token0"]})
            }
            Self::Instant => json!({"type": "string", "format": "date-time"}),
            Self::Date => json!({"type": "string", "format": "date"}),
            Self::Slot => {
                let (first, last) = (Slot::FIRST.number(), Slot::LAST.number());
                json!({"type": "integer", "minimum": first, "maximum": last})
            }
            Self::SlotCursor => text(format!("(desc-)?{SLOT}")),
            Self::Rank => json!({"type": "integer", "minimum": 0, "maximum": MAX_RANK}),
            Self::Whole(least, most) => {
                json!({"type": "integer", "minimum": least, "maximum": most})
            }
            Self::Tick => {
                let TickRange { low, high } = TickRange::ALL;
                json!({"type": "integer", "minimum": low, "maximum": high})
            }
            Self::Gap => {
                let pattern = format!("^-?{UP_TO_100}$");
                json!({"type": "string", "pattern": pattern, "examples": ["2"]})
            }
            Self::Share => text(UP_TO_100.to_owned()),
            Self::Address => text("0x[0-9a-f]{40}".to_owned()),
            Self::Cost => text("0*([0-9]{1,6}(\\.[0-9]{1,6})?|1000000(\\.0{1,6})?)".to_owned()),
            Self::Amount => text(AMOUNT.to_owned()),
            Self::Units => text("[1-9][0-9]{0,77}".to_owned()),
            Self::Sold => {
                let one = text("0x[0-9a-f]{40}:[1-9][0-9]{0,77}".to_owned());
                json!({"type": "array", "items": one, "minItems": 1, "maxItems": MAX_SOLD_TOKENS})
            }
            Self::Into => text(format!("([a-z][a-z0-9-]{{0,31}}|{ADDRESSES})")),
            Self::Days => text("0*[0-9]{1,5}(\\.[0-9]{1,2})?".to_owned()),
            Self::OneOf(words) => json!({"type": "string", "enum": words}),
            Self::Positions => {
                let base = format!("/[ -~]{{1,{MAX_TOKEN_NAME_BYTES}}}");
                let token = "[a-z][a-z0-9-]{0,31}/0x[0-9a-f]{40}";
                let one = text(format!("({POOL}({base})?|{token}):{SIZE}"));
                json!({"type": "array", "items": one, "minItems": 1, "maxItems": MAX_POSITIONS})
            }
            Self::Venues => {
                let one = text(format!("{POOL}(/[ -~]{{1,{MAX_TOKEN_NAME_BYTES}}})?"));
                json!({"type": "array", "items": one, "minItems": 1, "maxItems": MAX_ROUTE_VENUES})
            }
            Self::Pools => {
                let one = text(POOL.to_owned());
                json!({"type": "array", "items": one, "minItems": 1, "maxItems": MAX_WATCHED})
            }
            Self::Word => text("[a-z][a-z0-9_]{0,39}".to_owned()),
            Self::Code => {
                let one = text("[a-z][a-z0-9_]{0,39}".to_owned());
                json!({"type": "array", "items": one, "minItems": 1, "maxItems": 16})
            }
            Self::EventId => text(format!("{SLOT}\\.(0|[1-9][0-9]{{0,8}})")),
            Self::Ticket => text("ext_[0-9A-Za-z_-]{70}".to_owned()),
            Self::Hash => text("0x[0-9a-f]{64}".to_owned()),
            Self::LogFile => json!({"type": "string", "enum": ["checkpoint", "verifier-key"]}),
            Self::WebhookUrl => {
                json!({"type": "string", "format": "uri", "maxLength": MAX_WEBHOOK_URL_BYTES})
            }
            Self::EvidenceUrl => json!({"type": "string", "maxLength": MAX_EVIDENCE_URL_BYTES}),
        }
    }

    /// Whether it can be repeated.
    pub fn is_repeated(self) -> bool {
        matches!(self, Self::Positions | Self::Venues | Self::Pools | Self::Sold | Self::Code)
    }

    /// Whether its schema is that of a whole number.
    pub(super) fn is_number(self) -> bool {
        matches!(self, Self::Slot | Self::Rank | Self::Tick | Self::Whole(..))
    }
}
