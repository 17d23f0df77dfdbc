//! Several venues of one token, slot by slot: the code shared by figures that split a sale over
//! them.
//!
//! - `causes`: why a sale failed: because the oracle led, or because the book was too thin
//! - `fallen`: a venue after a price drop
//! - `slots`: the venues' snapshots of one slot, collected, and the venues that cannot take part

mod causes;
mod fallen;
mod slots;

pub(super) use causes::CauseTally;
pub use causes::{FailureCauses, Reference};
pub(super) use fallen::FallenExit;
pub use slots::LeftOutVenue;
pub(super) use slots::{VenueSlots, WholeSlot};

use crate::analytics::FigureError;
use crate::evidence::Base;
use crate::exit::MAX_ROUTE_VENUES;
use crate::ids::PoolId;
use crate::json::wire_struct;
use crate::units::Percent;

/// A pool to sell in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FigureVenue {
    /// The pool.
    pub pool: PoolId,
    /// The token sold.
    pub base: Base,
}

wire_struct!(FigureVenue { base, pool });

/// Requires 1 to 12 pools on one chain, each with its own contract.
pub(super) fn require_venues(named: &[FigureVenue]) -> Result<(), FigureError> {
    let venues = |rule| Err(FigureError::Venues { rule });
    let pools = || named.iter().map(|venue| &venue.pool);
    if named.is_empty() || named.len() > MAX_ROUTE_VENUES {
        return venues("must be 1 to 12 pools");
    }
    if pools().any(|pool| pool.chain() != named[0].pool.chain()) {
        return venues("all pools must be on one chain");
    }
    if (1..named.len())
        .any(|at| pools().take(at).any(|before| before.contract() == named[at].pool.contract()))
    {
        return venues(
            "each pool must have its own contract, so that liquidity is not counted twice",
        );
    }
    Ok(())
}

/// Reads a non-negative percentage from a figure file's parameters, in millionths of a percent.
pub(super) fn read_share(field: &'static str, text: &str) -> Result<u32, FigureError> {
    let parsed = Percent::parse(text).ok().and_then(|one| u32::try_from(one.0).ok());
    let rule = "must be a plain percentage with at most six decimals";
    parsed.ok_or(FigureError::Parameter { field, rule })
}
