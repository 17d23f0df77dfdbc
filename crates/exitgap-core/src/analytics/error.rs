//! Why a figure cannot be computed.

use super::accuracy::{MAX_LOGS, MAX_LOGS_HELD};
use crate::exit::{NetworkError, ReplayError};
use crate::ids::PoolId;
use crate::series::Slot;

/// Why a figure cannot be computed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FigureError {
    /// The figure does not support this kind of pool.
    #[error("{figure} does not support {protocol} pools: it supports {supported}")]
    UnsupportedKind {
        /// The content of the figure.
        figure: &'static str,
        /// The pool's kind, as spelled in a state.
        protocol: &'static str,
        /// The kinds that it supports.
        supported: &'static str,
    },
    /// No venues, too many, venues on two chains, or two venues with the same contract.
    #[error("venues: {rule}")]
    Venues {
        /// The rule that they break.
        rule: &'static str,
    },
    /// The venues sell different tokens, or the same token at different oracle prices.
    #[error(
        "{pool} sells a different token from the first venue, or its oracle price or decimals differ"
    )]
    OtherToken {
        /// The later venue.
        pool: PoolId,
    },
    /// The period ends before it begins, or is too long.
    #[error("the period has {found} slots; it must have 1 to {most}")]
    Period {
        /// The number of slots requested; 0 if the period ends before it begins.
        found: u64,
        /// The maximum.
        most: u32,
    },
    /// A parameter is out of bounds, or not in its canonical form.
    #[error("{field}: {rule}")]
    Parameter {
        /// The parameter.
        field: &'static str,
        /// The rule that it breaks.
        rule: &'static str,
    },
    /// A snapshot breaks the order of slots and venues, or is outside the period.
    #[error("slot {slot} is out of order or outside the period")]
    OutOfOrder {
        /// The slot.
        slot: Slot,
    },
    /// The last snapshot has other calendars than the parameters.
    #[error("the tokens of slot {slot} have different calendars")]
    OtherCalendars {
        /// The last recorded, unretracted slot.
        slot: Slot,
    },
    /// Logs are not ascending, or are outside the blocks between two slots.
    #[error(
        "log {index} of block {block} is out of order, or outside the interval up to slot {slot}"
    )]
    LogOutOfOrder {
        /// The slot up to which the logs were given.
        slot: Slot,
        /// The block.
        block: u64,
        /// The log's index.
        index: u32,
    },
    /// A document of logs belongs to another contract, or does not follow the previous one.
    #[error("the logs after block {after_block} belong to another pool or are out of order")]
    OtherFills {
        /// The block before its first block.
        after_block: u64,
    },
    /// Too many logs.
    #[error(
        "the period has more than {MAX_LOGS} logs, or more than {MAX_LOGS_HELD} between two slots; \
         ask for a shorter one"
    )]
    TooManyLogs,
    /// The snapshot of a pool of a route is of another block.
    #[error("{pool} was read at another block than the first pool")]
    RouteBlock {
        /// The pool.
        pool: PoolId,
    },
    /// A pool of a route has no valid snapshot in the slot.
    #[error("{pool} has no valid snapshot in the slot")]
    RouteMissing {
        /// The pool.
        pool: PoolId,
    },
    /// A pool lies on no path of a route, or a leg names a pool that is not listed.
    #[error("{pool} is on no path of the route, or is not one of its pools")]
    RouteOffPath {
        /// The pool.
        pool: PoolId,
    },
    /// The prices of a route are not those of exactly the tokens on its paths that are not cash; or there are prices
    /// without a bound.
    #[error(
        "the prices are not those of exactly the tokens that are on a path and not cash, or there is no bound"
    )]
    RoutePrices,
    /// The pools of a route do not fit together.
    #[error("{0}")]
    RouteNetwork(NetworkError),
    /// The plan of a route cannot be executed.
    #[error("{0}")]
    RoutePlan(ReplayError),
    /// The gap of a route, or the distance of its bound, is too large for a percentage.
    #[error("the gap or the bound is outside a percentage's bounds")]
    RouteGap,
}

impl FigureError {
    /// The stable code, such as `figure_unsupported_kind`.
    pub fn code(&self) -> &'static str {
        match self {
            Self::UnsupportedKind { .. } => "figure_unsupported_kind",
            Self::Venues { .. } => "figure_venues",
            Self::OtherToken { .. } | Self::RouteNetwork(NetworkError::PriceDiffers { .. }) => {
                "figure_other_token"
            }
            Self::Period { .. } => "figure_period",
            Self::Parameter { .. } => "figure_parameter",
            Self::OutOfOrder { .. } => "figure_slot_order",
            Self::OtherCalendars { .. } => "figure_calendars",
            Self::LogOutOfOrder { .. } => "log_order",
            Self::OtherFills { .. } => "fills_order",
            Self::TooManyLogs => "figure_too_many_logs",
            Self::RouteBlock { .. } => "route_other_block",
            Self::RouteMissing { .. } => "route_pool_missing",
            Self::RouteOffPath { .. } | Self::RoutePlan(ReplayError::OffPath { .. }) => {
                "route_off_path"
            }
            Self::RoutePrices => "route_prices",
            Self::RouteNetwork(_) => "route_network",
            Self::RoutePlan(ReplayError::PoolTwice { .. }) => "route_pool_twice",
            Self::RoutePlan(ReplayError::Refused { .. }) => "route_leg_refused",
            Self::RoutePlan(ReplayError::NotHeld { .. } | ReplayError::Left { .. }) => "route_flow",
            Self::RouteGap => "route_gap",
        }
    }

    /// The error for figures that move a pool's liquidity to another price.
    pub(super) fn not_movable(figure: &'static str, protocol: &'static str) -> Self {
        let supported = "concentrated liquidity and constant product";
        Self::UnsupportedKind { figure, protocol, supported }
    }

    /// Reads a slot from a figure file's parameters.
    pub(super) fn slot(field: &'static str, number: u64) -> Result<Slot, Self> {
        let rule = "the number of a slot of the series";
        Slot::new(number).map_err(|_| Self::Parameter { field, rule })
    }

    /// Requires a period of 1 to `most` slots.
    pub(super) fn require_period(from: Slot, to: Slot, most: u32) -> Result<(), Self> {
        let slots = u64::from(to.number()) + 1;
        let found = slots.saturating_sub(from.number().into());
        if found == 0 || found > most.into() {
            return Err(Self::Period { found, most });
        }
        Ok(())
    }
}
