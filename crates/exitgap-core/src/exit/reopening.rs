//! The fill of a sale while a market was closed, compared with the oracle price after it reopened.

use exitgap_math::exit::{Exit, PricedPool, Refusal, gap_of};

use crate::pools::Direction;
use crate::snapshot::{Observation, OracleRole, OracleSource};
use crate::units::{Percent, SizeUsd, UsdPrice};

/// Whether a snapshot contains the opening prices of a market.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReopeningStatus {
    /// A feed of a token with a calendar has no round since the opening.
    NotYet,
    /// No token with a calendar has a feed with rounds.
    Never,
    /// All such feeds have a round since the opening.
    Yes,
}

/// Whether the feeds of tokens with a calendar have a round at or after `opened_at`, seconds UTC.
pub fn check_reopening(observation: &Observation, opened_at: u64) -> ReopeningStatus {
    let sessions = observation.pool_sessions();
    let with_calendar = |role| sessions.iter().any(|own| OracleRole::TokenUsd(own.token) == role);
    let mut found = ReopeningStatus::Never;
    for (role, reading) in observation.pool_oracles() {
        let OracleSource::Chainlink(round) = &reading.source else { continue };
        if with_calendar(role) {
            if round.updated_at < opened_at {
                return ReopeningStatus::NotYet;
            }
            found = ReopeningStatus::Yes;
        }
    }
    found
}

/// `100 × (1 − realized ÷ oracle)`, half-even, for a fill of `size` in the snapshot `closed`. Tokens with a calendar
/// are priced with the snapshot `open` of the same pool. Positive: a sale while the market was closed brought less than
/// the later oracle price. `None` if out of a percentage's bounds.
pub fn reopening_gap(
    closed: &Observation,
    open: &Observation,
    direction: Direction,
    size: SizeUsd,
) -> Result<Option<Percent>, Refusal> {
    let fill = Exit::estimate_once(closed, direction, size)?;
    let sessions = open.pool_sessions();
    let mut usd: [UsdPrice; 2] = *closed.prices();
    for (index, price) in usd.iter_mut().enumerate() {
        if sessions.iter().any(|own| usize::from(own.token) == index) {
            *price = open.prices()[index];
        }
    }
    let priced = PricedPool { usd: &usd, ..closed.into() };
    Ok(gap_of(priced, direction, [fill.amount_in, fill.amount_out]))
}
