//! Tokenized equities, `equity/1`: what a pool of a share is like in each session of the share's exchange.
//!
//! - `terms`: what is asked, and what kind of token it is; `said`: what a snapshot's facts say of it
//! - `scan`: the one pass over the slots; `result`: what comes of it
//!
//! A vector of six weeks, never one number: depth and gap by session, the pool's mid price against the oracle's of the last regular
//! close, reopenings, how the oracle's answers stood, corporate actions. Slots while the feed is paused, or a change of the
//! multiplier is due within a day, are counted and left out of every statistic.
//!
//! It says nothing of issuer, custody or eligibility.

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

/// Regular sessions without which there are no statistics.
pub const NEEDED_SESSIONS: u32 = 20;

/// Weekends without which there are no statistics.
pub const NEEDED_WEEKENDS: u32 = 4;

/// How long before a change of the multiplier slots are left out, seconds.
pub const SCHEDULED_WITHIN_S: u64 = 86_400;

#[cfg(test)]
pub(crate) mod tests;
