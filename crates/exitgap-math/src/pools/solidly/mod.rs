//! Version 2 of Aerodrome and Velodrome: two tokens, volatile (`x × y = k`) or stable (`x³y + y³x = k` on balances with
//! eighteen decimals). The fee is deducted from the input.
//!
//! - `curve`: the contract's arithmetic, with its own Newton iteration
//! - `bound`: an upper bound for the output of a sale without rounding
//! - `sale`: one direction
//! - `form`: the state as canonical JSON
//!
//! Source: `Pool.sol` of aerodrome-finance/contracts (`getAmountOut`, `_get_y`, `_k`, `swap`).

mod bound;
mod curve;
mod form;
mod sale;

use super::kind::PoolKind;
use super::{Direction, FeeRate, Fill, FillError, PoolFee, PoolState, RawPrice, UnitValues};
use crate::wide::{U256, U1024, mul_div, power_of_ten};
use bound::Bound;
use sale::SolidlySale;

/// The state of a pool.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Solidly {
    /// The reserves with eighteen decimals, if the pool is stable.
    scaled: Option<[U256; 2]>,
    reserves: [U256; 2],
    decimals: [u8; 2],
    fee_numerator: u64,
    /// The invariant, which no swap may lower.
    invariant: U256,
}

/// Why numbers are not the state of a pool.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum SolidlyError {
    /// A pool with an empty reserve has no price.
    #[error("reserve{token} is zero: the pool has no liquidity")]
    EmptyReserve {
        /// 0 or 1.
        token: usize,
    },
    /// The reserves are so large that the contract cannot compute its invariant.
    #[error("reserves {found:?} are too large for the contract's arithmetic")]
    ReservesTooLarge {
        /// The reserves found.
        found: [U256; 2],
    },
    /// The token has more decimals than allowed here.
    #[error("token{token} has {found} decimals; at most 24 are accepted")]
    TooManyDecimals {
        /// 0 or 1.
        token: usize,
        /// The number of decimals found.
        found: u8,
    },
    /// The fee is not a valid number of parts of 10,000.
    #[error("fee {numerator}/{denominator} must be below 1, in parts of 10,000")]
    FeeOutOfRange {
        /// The numerator found.
        numerator: u64,
        /// The denominator found.
        denominator: u64,
    },
}

impl Solidly {
    /// The contract's fee denominator.
    pub const FEE_DENOMINATOR: u64 = 10_000;

    /// A pool with these reserves (raw units of token 0 and token 1), token decimals and fee.
    pub fn new(
        stable: bool,
        reserves: [U256; 2],
        decimals: [u8; 2],
        fee: FeeRate,
    ) -> Result<Self, SolidlyError> {
        for token in [0, 1] {
            if reserves[token].is_zero() {
                return Err(SolidlyError::EmptyReserve { token });
            }
            if decimals[token] > 24 {
                return Err(SolidlyError::TooManyDecimals { token, found: decimals[token] });
            }
        }
        let FeeRate { numerator, denominator } = fee;
        if denominator != Self::FEE_DENOMINATOR || numerator >= denominator {
            return Err(SolidlyError::FeeOutOfRange { numerator, denominator });
        }
        let scaled = stable.then_some(reserves);
        let (fee_numerator, invariant) = (numerator, U256::ZERO);
        let pool = Self { scaled, reserves, decimals, fee_numerator, invariant };
        pool.with_reserves(reserves).ok_or(SolidlyError::ReservesTooLarge { found: reserves })
    }

    /// The same pool with other reserves; `None` if the contract cannot compute their invariant.
    fn with_reserves(&self, reserves: [U256; 2]) -> Option<Self> {
        let scaled = match self.scaled {
            Some(_) => Some(self.scaled_pair(reserves)?),
            None => None,
        };
        let invariant = self.invariant_of(reserves)?;
        Some(Self { scaled, reserves, invariant, ..*self })
    }

    /// Reserves of token 0 and token 1, raw units.
    pub fn reserves(&self) -> [U256; 2] {
        self.reserves
    }

    fn fee(&self) -> FeeRate {
        FeeRate { numerator: self.fee_numerator, denominator: Self::FEE_DENOMINATOR }
    }

    /// Volatile: `y ÷ x`. Stable: `(3x²y + y³) ÷ (x³ + 3xy²)` of the scaled reserves.
    fn mid(&self, direction: Direction) -> RawPrice {
        let (base, quote) = (direction.base_index(), direction.quote_index());
        let wide = |number: U256| U1024::from(number);
        let Some(scaled) = self.scaled else {
            return RawPrice::of_ratio(wide(self.reserves[quote]), wide(self.reserves[base]));
        };
        let (x, y) = (scaled[base], scaled[quote]);
        let three = U1024::from(3_u32);
        let slope = |x: U1024, y: U1024| y * (three * x * x + y * y);
        let least = self.decimals[0].min(self.decimals[1]);
        let unit = |token: usize| power_of_ten(u32::from(self.decimals[token] - least));
        RawPrice::of_ratio(
            slope(wide(x), wide(y)) * unit(quote),
            slope(wide(y), wide(x)) * unit(base),
        )
    }
}

impl PoolKind for Solidly {
    type Sale = SolidlySale;

    fn fee(&self) -> PoolFee {
        PoolFee::Flat(Self::fee(self))
    }

    fn variety(&self) -> Option<&'static str> {
        Some(if self.scaled.is_some() { "stable" } else { "volatile" })
    }

    fn decimals(&self) -> &[u8] {
        &self.decimals
    }

    fn sale(&self, direction: Direction) -> SolidlySale {
        SolidlySale::new(*self, direction)
    }

    fn sale_bytes_at_most(&self, _direction: Direction) -> usize {
        size_of::<Bound>()
    }

    fn fill_once(&self, direction: Direction, amount_in: U256) -> Result<Fill, FillError> {
        sale::fill(self, direction, amount_in, || self.most_taken(direction))
    }

    fn after(&self, direction: Direction, fill: &Fill) -> Self {
        let after = self.after_swap(direction, fill.amount_in, fill.amount_out);
        after.and_then(|reserves| self.with_reserves(reserves)).unwrap_or(*self)
    }

    fn has_closed_gain(&self) -> bool {
        self.scaled.is_none()
    }

    /// Of volatile pools. The contract rounds its fee down, so the amount left can be a unit more than the exact share.
    fn most_gain(&self, direction: Direction, values: UnitValues) -> Option<U1024> {
        if self.scaled.is_some() {
            return None;
        }
        let reserves = [direction.base_index(), direction.quote_index()];
        let gain = values
            .most_gain_of_product(reserves.map(|token| self.reserves[token]), Self::fee(self));
        Some(gain + values.unit_after_fee(Self::fee(self)))
    }

    /// Moves the reserve of the token sold back (rounded up), and the reserve of the token bought to the value that
    /// keeps the invariant (rounded down).
    fn with_recovery(&self, start: &PoolState, direction: Direction, recovered_e8: u32) -> Self {
        let Some(start) = Self::from_state(start) else { return *self };
        let (base, quote) = (direction.base_index(), direction.quote_index());
        let distance = self.reserves[base].saturating_sub(start.reserves[base]);
        let (share, scale) = (U256::from(recovered_e8), U256::from(100_000_000_u32));
        let back = mul_div(distance, share, scale).unwrap_or(U256::ZERO).min(distance);
        let mut reserves = self.reserves;
        reserves[base] -= back;
        let beside = self.reserve_beside(direction, reserves[base]);
        let Some(beside) = beside.filter(|_| !back.is_zero()) else { return *self };
        reserves[quote] = beside.max(reserves[quote]);
        self.with_reserves(reserves).unwrap_or(*self)
    }
}

#[cfg(test)]
mod tests;
