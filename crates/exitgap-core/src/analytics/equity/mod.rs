//! Tokenized equities, `equity/1`: the state of a pool of a tokenized stock in each session of the
//! stock's exchange.
//!
//! - `terms`: the parameters, and the kind of token; `said`: what a snapshot's facts contain about
//!   it
//! - `scan`: the one pass over the slots; `result`: the result
//!
//! The result is a vector over six weeks, never one number: depth and gap by session, the pool's
//! mid price compared with the oracle's at the last regular close, reopenings, the status of the
//! oracle's answers, corporate actions. Slots while the feed is paused, or while a change of the
//! multiplier is due within a day, are counted and left out of every statistic.
//!
//! Issuer, custody and eligibility are not covered.

mod result;
mod said;
mod scan;
mod terms;

pub use result::{
    EquityBalance, EquityEvent, EquityNewest, EquityReopening, EquityResult, EquitySession,
};
pub use said::EquitySaid;
pub use scan::EquityPass;
pub use terms::{EquityFactNames, EquityKind, EquityParameters, EquityTerms, EquityToken};

/// The name and version of these rules.
pub const EQUITY: &str = "equity/1";

/// The number of regular sessions that the statistics need.
pub const NEEDED_SESSIONS: u32 = 20;

/// The number of weekends that the statistics need.
pub const NEEDED_WEEKENDS: u32 = 4;

/// How long before a change of the multiplier slots are left out, in seconds.
pub const SCHEDULED_WITHIN_S: u64 = 86_400;

#[cfg(test)]
pub(crate) mod tests;
