//! Why numbers are not the state of a concentrated-liquidity pool.

use crate::wide::U256;

/// Why numbers are not the state of a concentrated-liquidity pool.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum ConcentratedError {
    /// The pool was created but its price was never initialised.
    #[error("the pool is not initialised: its sqrt price is zero")]
    NotInitialised,
    /// The √price is outside the contract's bounds.
    #[error("sqrt price {found} is outside the contract's bounds")]
    SqrtPriceOutOfRange {
        /// The √price found, Q64.96.
        found: U256,
    },
    /// The tick does not match the √price.
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
    /// The protocol's share is higher than the contract allows.
    #[error("protocol fee of {found} millionths is more than the {most} that the contract allows")]
    ProtocolFeeOutOfRange {
        /// The share found, in millionths.
        found: u32,
        /// The share allowed.
        most: u32,
    },
    /// The contract does not allow this tick spacing.
    #[error("tick spacing {found} is outside the range 1 to {most}")]
    TickSpacingOutOfRange {
        /// The spacing found.
        found: i32,
        /// The widest spacing.
        most: i32,
    },
    /// There are more initialised ticks than allowed.
    #[error("{found} initialised ticks are more than the maximum of {most}")]
    TooManyTicks {
        /// The number of ticks found.
        found: usize,
        /// The maximum number of ticks.
        most: usize,
    },
    /// The numbers of the ticks' liquidity are so long that the state's body would exceed its maximum size.
    #[error("the state can have up to {found} bytes; at most {most} can be stored")]
    TooLong {
        /// The maximum possible size of the state's body in bytes.
        found: usize,
        /// The maximum allowed number of bytes.
        most: usize,
    },
    /// An initialised tick is out of bounds or not a multiple of the spacing.
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
    /// The sum of the ticks' net liquidity from below does not fit the contract's 128 bits.
    #[error("net liquidity up to tick {tick} is negative or exceeds 128 bits")]
    NetLiquidityOutOfRange {
        /// The tick at which the sum went out of range.
        tick: i32,
    },
    /// The sum over all ticks is not zero: a position has only one end.
    #[error("net liquidity of all ticks sums to {found}, not to zero")]
    NetLiquidityNotBalanced {
        /// The sum found.
        found: u128,
    },
    /// The active liquidity is not the sum of the ticks at or below the price.
    #[error("active liquidity is {found}, but the ticks at or below the price sum to {expected}")]
    LiquidityMismatch {
        /// The sum over the ticks at or below the current one.
        expected: u128,
        /// The pool's own figure.
        found: u128,
    },
}
