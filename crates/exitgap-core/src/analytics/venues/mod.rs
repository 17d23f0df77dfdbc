//! Several venues of one token, slot by slot: what the figures that split a sale over them share.
//!
//! - `fallen`: a venue after a fall of the price
//! - `slots`: the venues' snapshots of one slot, gathered

mod fallen;
mod slots;

pub(super) use fallen::FallenExit;
pub(super) use slots::{Seen, VenueSlots, WholeSlot};

use crate::evidence::Base;
use crate::exit::MAX_ROUTE_VENUES;
use crate::ids::PoolId;
use crate::json::wire_struct;
use crate::series::Slot;
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

/// Why there is no figure.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum VenuesError {
    /// Of this kind of pool, liquidity cannot be put under another price.
    #[error(
        "the figure is not told of {protocol}: it is of pools of concentrated liquidity and of constant product"
    )]
    UnsupportedKind {
        /// The kind, as in state bodies.
        protocol: &'static str,
    },
    /// No venue, too many, of two chains, or two of one contract.
    #[error("venues: {rule}")]
    Venues {
        /// What they must be.
        rule: &'static str,
    },
    /// Two venues sell different tokens, or at different prices of the oracle.
    #[error(
        "{pool} sells another token than the first venue, or has another oracle price or other decimals of it"
    )]
    OtherToken {
        /// The later venue.
        pool: PoolId,
    },
    /// The period ends before it begins, or is too long.
    #[error("a period has 1 to {most} slots, asked for {found}; ask for a shorter one")]
    Period {
        /// Slots asked for; 0 where it ends before it begins.
        found: u64,
        /// The most there may be.
        most: u32,
    },
    /// A number is outside of its bounds, or not in its one spelling.
    #[error("{field}: {rule}")]
    Parameter {
        /// The parameter.
        field: &'static str,
        /// What it must be.
        rule: &'static str,
    },
    /// A snapshot out of the order of slots and venues, or outside of the period.
    #[error("slot {slot} of {pool} is out of order, outside of the period, or of no venue")]
    OutOfOrder {
        /// The slot.
        slot: Slot,
        /// The pool.
        pool: PoolId,
    },
}

impl VenuesError {
    /// The stable code, e.g. `figure_unsupported_kind`.
    pub fn code(&self) -> &'static str {
        match self {
            Self::UnsupportedKind { .. } => "figure_unsupported_kind",
            Self::Venues { .. } => "figure_venues",
            Self::OtherToken { .. } => "figure_other_token",
            Self::Period { .. } => "figure_period",
            Self::Parameter { .. } => "figure_parameter",
            Self::OutOfOrder { .. } => "figure_slot_order",
        }
    }
}

/// Requires 1 to 12 pools of one chain, of contracts of their own.
pub(super) fn require_venues(named: &[FigureVenue]) -> Result<(), VenuesError> {
    let venues = |rule| Err(VenuesError::Venues { rule });
    let pools = || named.iter().map(|venue| &venue.pool);
    if named.is_empty() || named.len() > MAX_ROUTE_VENUES {
        return venues("1 to 12 pools");
    }
    if pools().any(|pool| pool.chain() != named[0].pool.chain()) {
        return venues("pools of one chain");
    }
    if (1..named.len())
        .any(|at| pools().take(at).any(|before| before.contract() == named[at].pool.contract()))
    {
        return venues("pools of contracts of their own: the same liquidity does not count twice");
    }
    Ok(())
}

/// Requires a period of 1 to `most` slots.
pub(super) fn require_period(from: Slot, to: Slot, most: u32) -> Result<(), VenuesError> {
    let slots = u64::from(to.number()) + 1;
    let found = slots.saturating_sub(from.number().into());
    if found == 0 || found > most.into() {
        return Err(VenuesError::Period { found, most });
    }
    Ok(())
}

/// A slot of a figure file's parameters.
pub(super) fn read_slot(field: &'static str, number: u64) -> Result<Slot, VenuesError> {
    let rule = "the number of a slot of the series";
    Slot::new(number).map_err(|_| VenuesError::Parameter { field, rule })
}

/// A percentage of a figure file's parameters, from 0 on, in millionths of a percent.
pub(super) fn read_share(field: &'static str, text: &str) -> Result<u32, VenuesError> {
    let parsed = Percent::parse(text).ok().and_then(|one| u32::try_from(one.0).ok());
    let rule = "a plain percentage of at most six decimals";
    parsed.ok_or(VenuesError::Parameter { field, rule })
}
