//! The arithmetic of pools, exactly as their contracts do it.
//!
//! A [`PoolState`] is what a contract needs to answer a swap; a [`Curve`] is one
//! direction of it, prepared for many questions. Amounts are raw token units
//! (`amount_in` of the token sold, `amount_out` of the token bought).

mod concentrated;
mod constant_product;
mod curve;
mod form;

pub use concentrated::{
    Concentrated, ConcentratedError, MAX_SQRT_RATIO, MAX_TICK, MIN_SQRT_RATIO, MIN_TICK, StepTable,
    Tick, sqrt_ratio_at_tick, tick_at_sqrt_ratio,
};
pub use constant_product::{ConstantProduct, ConstantProductError};
pub use curve::{Curve, Fill, FillError, FillStep, Segment};
pub use form::{MAX_STATE_BYTES, StateError};

use crate::wide::{U256, U512};

/// Which token is sold. Token 0 is the one with the lower address.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Direction {
    /// Token 0 is sold for token 1; the pool's price of token 0 falls.
    ZeroForOne,
    /// Token 1 is sold for token 0; the pool's price of token 0 rises.
    OneForZero,
}

impl Direction {
    /// Both directions, in the order of the token sold.
    pub const BOTH: [Self; 2] = [Self::ZeroForOne, Self::OneForZero];

    /// The index of the token sold: 0 or 1.
    pub fn base_index(self) -> usize {
        match self {
            Self::ZeroForOne => 0,
            Self::OneForZero => 1,
        }
    }

    /// The index of the token bought: 1 or 0.
    pub fn quote_index(self) -> usize {
        1 - self.base_index()
    }
}

/// The share of `amount_in` that a pool keeps for its liquidity providers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct FeeRate {
    /// Parts kept …
    pub numerator: u32,
    /// … of this many. Greater than the numerator.
    pub denominator: u32,
}

/// An exact price in raw units: `numerator ÷ denominator` raw units of the token
/// bought for one raw unit of the token sold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RawPrice {
    /// Raw units of the token bought; below `2^320`.
    pub(crate) numerator: U512,
    /// Raw units of the token sold; below `2^320`, never zero.
    pub(crate) denominator: U512,
}

/// The whole swap-relevant state of a pool.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PoolState {
    /// `x × y = k`: Uniswap v2 and its forks.
    ConstantProduct(ConstantProduct),
    /// Liquidity by price range: Uniswap v3 and its forks.
    Concentrated(Concentrated),
}

impl PoolState {
    /// The pool's fee.
    pub fn fee(&self) -> FeeRate {
        match self {
            Self::ConstantProduct(pool) => pool.fee(),
            Self::Concentrated(pool) => pool.fee(),
        }
    }

    /// The mid price: what an infinitely small sale would fill at without fee.
    pub fn mid(&self, direction: Direction) -> RawPrice {
        match self {
            Self::ConstantProduct(pool) => pool.mid(direction),
            Self::Concentrated(pool) => RawPrice::of_sqrt(pool.sqrt_price_x96(), direction),
        }
    }

    /// The bytes it holds beside itself: the ticks, which its copies share.
    pub fn held_bytes(&self) -> usize {
        match self {
            Self::ConstantProduct(_) => 0,
            Self::Concentrated(pool) => size_of_val(pool.ticks()),
        }
    }

    /// The most bytes that a direction's whole curve can hold, told without preparing it.
    pub fn curve_bytes_at_most(&self, direction: Direction) -> usize {
        match self {
            Self::ConstantProduct(_) => 0,
            Self::Concentrated(pool) => StepTable::held_bytes_at_most(pool, direction),
        }
    }

    /// Prepares one direction for many questions. For concentrated liquidity this
    /// walks every initialised tick on that side once.
    pub fn curve(&self, direction: Direction) -> Curve {
        match self {
            Self::ConstantProduct(pool) => Curve::constant_product(*pool, direction),
            Self::Concentrated(pool) => Curve::concentrated(pool, direction),
        }
    }

    /// The start of a direction's curve, as much of it as `enough` asks for; whatever lies
    /// past its end is unknown to it. Pools without ticks have it whole.
    pub(crate) fn start_of_curve(
        &self,
        direction: Direction,
        enough: &dyn Fn(&Curve) -> bool,
    ) -> Curve {
        match self {
            Self::ConstantProduct(pool) => Curve::constant_product(*pool, direction),
            Self::Concentrated(pool) => Curve::start_of(pool, direction, enough),
        }
    }

    /// Sells `amount_in` once, without preparing a curve; for concentrated
    /// liquidity this is the contract's own loop.
    pub fn fill_once(&self, direction: Direction, amount_in: U256) -> Result<Fill, FillError> {
        match self {
            Self::ConstantProduct(pool) => pool.fill(direction, amount_in),
            Self::Concentrated(pool) => pool.fill(direction, amount_in),
        }
    }

    /// The state after `fill`, which came from this state in this direction.
    #[must_use]
    pub fn after(&self, direction: Direction, fill: &Fill) -> Self {
        match self {
            Self::ConstantProduct(pool) => Self::ConstantProduct(pool.after(direction, fill)),
            Self::Concentrated(pool) => Self::Concentrated(pool.after(fill)),
        }
    }

    /// Moves √price back towards `start`, the state before anything was sold, by
    /// `recovered_e8 ÷ 10^8` of the distance, liquidity unchanged. Rounded so that
    /// the pool never recovers further than asked.
    #[must_use]
    pub fn recovered(&self, start: &Self, direction: Direction, recovered_e8: u32) -> Self {
        match (self, start) {
            (Self::ConstantProduct(now), Self::ConstantProduct(start)) => {
                Self::ConstantProduct(now.recovered(start, direction, recovered_e8))
            }
            (Self::Concentrated(now), Self::Concentrated(start)) => {
                Self::Concentrated(now.recovered(start.sqrt_price_x96(), recovered_e8))
            }
            _ => self.clone(),
        }
    }
}

impl RawPrice {
    /// The price that a Q64.96 √price (token 1 per token 0) stands for.
    pub(crate) fn of_sqrt(sqrt_price_x96: U256, direction: Direction) -> Self {
        let square = crate::wide::product(sqrt_price_x96, sqrt_price_x96);
        let one = U512::ONE << 192;
        match direction {
            Direction::ZeroForOne => Self { numerator: square, denominator: one },
            Direction::OneForZero => Self { numerator: one, denominator: square },
        }
    }
}
