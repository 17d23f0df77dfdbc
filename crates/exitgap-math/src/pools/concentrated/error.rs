//! Why numbers are not the state of a pool of concentrated liquidity.

use crate::wide::U256;

/// Why numbers are not the state of a concentrated-liquidity pool.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum ConcentratedError {
    /// The pool was created but never given a price.
    #[error("the pool is not initialised: its sqrt price is zero")]
    NotInitialised,
    /// The √price lies outside the contract's bounds.
    #[error("sqrt price {found} is outside the contract's bounds")]
    SqrtPriceOutOfRange {
        /// The √price found, Q64.96.
        found: U256,
    },
    /// The tick is not the one that holds the √price.
    #[error("sqrt price {sqrt_price_x96} is not within tick {tick}")]
    TickNotAtPrice {
        /// The tick found.
        tick: i32,
        /// The √price found, Q64.96.
        sqrt_price_x96: U256,
    },
    /// The fee is 100% or more.
    #[error("fee of {found} millionths is not below one million")]
    FeeOutOfRange {
        /// The fee found, in millionths.
        found: u32,
    },
    /// The share that the protocol takes is more than the contract allows.
    #[error("protocol fee of {found} millionths is more than the {most} that the contract allows")]
    ProtocolFeeOutOfRange {
        /// The share found, in millionths.
        found: u32,
        /// The share allowed.
        most: u32,
    },
    /// The tick spacing is not one that the contract allows.
    #[error("tick spacing {found} is outside the range 1 to {most}")]
    TickSpacingOutOfRange {
        /// The spacing found.
        found: i32,
        /// The widest spacing.
        most: i32,
    },
    /// More initialised ticks than are accepted.
    #[error("{found} initialised ticks are more than the maximum of {most}")]
    TooManyTicks {
        /// Ticks found.
        found: usize,
        /// Ticks accepted.
        most: usize,
    },
    /// The ticks' liquidity has so many digits that the state's body would be too long to be kept.
    #[error("the state can have up to {found} bytes; at most {most} can be stored")]
    TooLong {
        /// Bytes of the state's body, at most.
        found: usize,
        /// Bytes accepted.
        most: usize,
    },
    /// An initialised tick is out of bounds or off the spacing.
    #[error("initialised tick {tick} is out of bounds or not a multiple of the tick spacing")]
    TickOutOfPlace {
        /// The tick found.
        tick: i32,
    },
    /// The ticks are not strictly ascending.
    #[error("initialised tick {tick} does not come after the one before it")]
    TicksOutOfOrder {
        /// The tick found.
        tick: i32,
    },
    /// The gross liquidity of an initialised tick is zero, or below its net liquidity.
    #[error("gross liquidity of tick {tick} is zero or below its net liquidity")]
    GrossLiquidity {
        /// The tick found.
        tick: i32,
    },
    /// Summed from below, the ticks' net liquidity leaves the contract's 128 bits.
    #[error("net liquidity up to tick {tick} is negative or exceeds 128 bits")]
    NetLiquidityOutOfRange {
        /// The tick at which the sum left its range.
        tick: i32,
    },
    /// All ticks together do not sum to zero: a position has only one end.
    #[error("net liquidity of all ticks sums to {found}, not to zero")]
    NetLiquidityNotBalanced {
        /// The sum found.
        found: u128,
    },
    /// The active liquidity is not what the ticks at or below the price sum to.
    #[error("active liquidity is {found}, but the ticks at or below the price sum to {expected}")]
    LiquidityMismatch {
        /// The sum of the ticks at or below the current one.
        expected: u128,
        /// The pool's own figure.
        found: u128,
    },
}
