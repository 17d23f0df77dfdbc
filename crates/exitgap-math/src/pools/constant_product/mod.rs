//! Constant product: the rules of Uniswap v2's pair and router, for any fee.
//!
//! Source: `UniswapV2Pair.swap`, `UniswapV2Pair._update` and
//! `UniswapV2Library.getAmountOut`.

mod form;
mod sale;

use super::kind::PoolKind;
use super::{Direction, FeeRate, Fill, FillError, PoolFee, PoolState, RawPrice, UnitValues};
use crate::wide::{
    U256, U512, U1024, mul_div, mul_div_up, narrow, over, product, square_root, times,
};
use sale::PairSale;

/// Reserves and fee of a constant-product pair.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ConstantProduct {
    reserves: [u128; 2],
    fee: FeeRate,
}

/// Why numbers are not the state of a constant-product pair.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum ConstantProductError {
    /// A pair with an empty reserve has no price.
    #[error("reserve{token} is zero: the pair has no liquidity")]
    EmptyReserve {
        /// 0 or 1.
        token: usize,
    },
    /// The contract stores reserves in 112 bits.
    #[error("reserve{token} {found} exceeds the contract's 112 bits")]
    ReserveTooLarge {
        /// 0 or 1.
        token: usize,
        /// The reserve found.
        found: u128,
    },
    /// The fee is not a fraction below one with a denominator from 1 to 1,000,000.
    #[error("fee {numerator}/{denominator} must be below 1, with a denominator up to 1,000,000")]
    FeeOutOfRange {
        /// The numerator found.
        numerator: u64,
        /// The denominator found.
        denominator: u64,
    },
}

impl ConstantProduct {
    /// The maximum reserve that the contract can store, `2^112 − 1` raw units.
    pub const MAX_RESERVE: u128 = (1 << 112) - 1;
    /// The maximum fee denominator.
    pub const MAX_FEE_DENOMINATOR: u64 = 1_000_000;

    /// A pair with these reserves (raw units of token 0 and token 1) and fee.
    pub fn new(reserves: [u128; 2], fee: FeeRate) -> Result<Self, ConstantProductError> {
        for (token, found) in reserves.into_iter().enumerate() {
            if found == 0 {
                return Err(ConstantProductError::EmptyReserve { token });
            }
            if found > Self::MAX_RESERVE {
                return Err(ConstantProductError::ReserveTooLarge { token, found });
            }
        }
        let FeeRate { numerator, denominator } = fee;
        if numerator >= denominator || denominator > Self::MAX_FEE_DENOMINATOR {
            return Err(ConstantProductError::FeeOutOfRange { numerator, denominator });
        }
        Ok(Self { reserves, fee })
    }

    /// Reserves of token 0 and token 1, raw units.
    pub fn reserves(&self) -> [u128; 2] {
        self.reserves
    }

    /// The pair's fee.
    pub fn fee(&self) -> FeeRate {
        self.fee
    }

    /// The mid price: raw units of the token bought per raw unit of the token sold.
    pub fn mid_price(&self, direction: Direction) -> RawPrice {
        self.mid(direction)
    }

    fn mid(&self, direction: Direction) -> RawPrice {
        RawPrice {
            numerator: U512::from(self.reserves[direction.quote_index()]),
            denominator: U512::from(self.reserves[direction.base_index()]),
        }
    }

    /// The maximum input that the pair accepts: its balance must fit in 112 bits.
    fn max_amount_in(&self, direction: Direction) -> U256 {
        U256::from(Self::MAX_RESERVE - self.reserves[direction.base_index()])
    }

    /// `⌊in·(d−n)·R_out ÷ (R_in·d + in·(d−n))⌋` for `in` up to [`Self::max_amount_in`], rounded down like in the
    /// contract.
    fn amount_out(&self, direction: Direction, amount_in: U256) -> U256 {
        let FeeRate { numerator, denominator } = self.fee;
        let kept = times(amount_in, U256::from(denominator - numerator));
        let reserve_in = U256::from(self.reserves[direction.base_index()]);
        let reserve_out = U256::from(self.reserves[direction.quote_index()]);
        // All factors are below 2^112 · 2^20 · 2^112, so every term fits in 256 bits.
        over(times(kept, reserve_out), times(reserve_in, U256::from(denominator)) + kept)
    }

    /// Same as [`Self::amount_out`] without rounding, in units of `2^-64`, rounded up.
    fn ideal_out(&self, direction: Direction, amount_in: U256) -> U512 {
        let FeeRate { numerator, denominator } = self.fee;
        let kept = U512::from(times(amount_in, U256::from(denominator - numerator)));
        let reserve_in = U512::from(self.reserves[direction.base_index()]);
        let reserve_out = U512::from(self.reserves[direction.quote_index()]);
        let paid = (kept * reserve_out) << 64;
        paid.div_ceil(reserve_in * U512::from(denominator) + kept)
    }

    /// Sells `amount_in` of the base token.
    fn fill(&self, direction: Direction, amount_in: U256) -> Result<Fill, FillError> {
        if amount_in.is_zero() {
            return Err(FillError::ZeroInput);
        }
        let most = self.max_amount_in(direction);
        if amount_in > most {
            let paid = if most.is_zero() { most } else { self.amount_out(direction, most) };
            return Err(FillError::BeyondLiquidity { consumed: most, paid });
        }
        let amount_out = self.amount_out(direction, amount_in);
        if amount_out.is_zero() {
            return Err(FillError::ZeroOutput);
        }
        Ok(Fill { amount_in, amount_out, fee: self.fee, end: None })
    }
}

impl PoolKind for ConstantProduct {
    type Sale = PairSale;

    fn fee(&self) -> PoolFee {
        PoolFee::Flat(self.fee)
    }

    fn sale(&self, direction: Direction) -> PairSale {
        PairSale { pair: *self, direction }
    }

    fn fill_once(&self, direction: Direction, amount_in: U256) -> Result<Fill, FillError> {
        self.fill(direction, amount_in)
    }

    fn after(&self, direction: Direction, fill: &Fill) -> Self {
        let mut reserves = self.reserves;
        // After a fill the reserves still fit in 112 bits.
        reserves[direction.base_index()] += fill.amount_in.saturating_to::<u128>();
        reserves[direction.quote_index()] -= fill.amount_out.saturating_to::<u128>();
        Self { reserves, fee: self.fee }
    }

    /// Compares √(out ÷ in) now and at the start as one Q96 ratio, rounded down. Rounds the reserve of the token bought
    /// down and that of the token sold up.
    fn has_closed_gain(&self) -> bool {
        true
    }

    fn most_gain(&self, direction: Direction, values: UnitValues) -> Option<U1024> {
        let reserves = [direction.base_index(), direction.quote_index()];
        let reserves = reserves.map(|token| U256::from(self.reserves[token]));
        Some(values.most_gain_of_product(reserves, self.fee))
    }

    fn with_recovery(&self, start: &PoolState, direction: Direction, recovered_e8: u32) -> Self {
        let Some(start) = Self::from_state(start) else { return *self };
        let (base, quote) = (direction.base_index(), direction.quote_index());
        let one = U256::ONE << 96;
        let then = product(U256::from(start.reserves[quote]), U256::from(self.reserves[base]));
        let now = product(U256::from(start.reserves[base]), U256::from(self.reserves[quote]));
        let squared = (then << 192) / now;
        let ratio = narrow(square_root(squared)).unwrap_or(U256::MAX).max(one);
        let share = U256::from(recovered_e8);
        let scale = U256::from(100_000_000_u32);
        let moved = mul_div(ratio - one, share, scale).map_or(one, |step| one + step);
        let mut reserves = self.reserves;
        let up = mul_div(U256::from(reserves[quote]), moved, one).unwrap_or(U256::MAX);
        reserves[quote] = up.saturating_to::<u128>().clamp(1, Self::MAX_RESERVE);
        let down = mul_div_up(U256::from(reserves[base]), one, moved);
        reserves[base] =
            down.unwrap_or(U256::ONE).saturating_to::<u128>().clamp(1, Self::MAX_RESERVE);
        Self { reserves, fee: self.fee }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FEE: FeeRate = FeeRate { numerator: 3, denominator: 1_000 };

    #[test]
    fn state_that_no_contract_can_hold_is_refused() {
        assert_eq!(
            ConstantProduct::new([1, 0], FEE),
            Err(ConstantProductError::EmptyReserve { token: 1 })
        );
        let found = ConstantProduct::MAX_RESERVE + 1;
        assert_eq!(
            ConstantProduct::new([found, 1], FEE),
            Err(ConstantProductError::ReserveTooLarge { token: 0, found })
        );
        for (numerator, denominator) in [(1, 0), (1, 1), (5, 4), (3, 1_000_001)] {
            assert_eq!(
                ConstantProduct::new([1, 1], FeeRate { numerator, denominator }),
                Err(ConstantProductError::FeeOutOfRange { numerator, denominator })
            );
        }
    }

    #[test]
    fn the_contracts_own_example_fills_to_the_unit() {
        // The example of the pair's published test suite: 1 in at 5 : 10.
        let unit = 10_u128.pow(18);
        let pool = ConstantProduct::new([5 * unit, 10 * unit], FEE).unwrap();
        let fill = pool.fill(Direction::ZeroForOne, U256::from(unit)).unwrap();
        assert_eq!(fill.amount_out, U256::from(1_662_497_915_624_478_906_u128));
        assert_eq!(pool.after(Direction::ZeroForOne, &fill).reserves()[0], 6 * unit);
    }

    #[test]
    fn refusals_are_named() {
        let pool = ConstantProduct::new([1_000_000, 10], FEE).unwrap();
        let sell = |n: u128| pool.fill(Direction::ZeroForOne, U256::from(n));
        assert_eq!(sell(0), Err(FillError::ZeroInput));
        assert_eq!(sell(1), Err(FillError::ZeroOutput));
        let most = ConstantProduct::MAX_RESERVE - 1_000_000;
        assert_eq!(sell(most).unwrap().amount_out, U256::from(9));
        assert_eq!(
            sell(most + 1),
            Err(FillError::BeyondLiquidity { consumed: U256::from(most), paid: U256::from(9) })
        );
    }

    #[test]
    fn recovery_ends_between_now_and_start() {
        let unit = 10_u128.pow(18);
        let start = ConstantProduct::new([500 * unit, 1_000 * unit], FEE).unwrap();
        let fill = start.fill(Direction::ZeroForOne, U256::from(50 * unit)).unwrap();
        let now = start.after(Direction::ZeroForOne, &fill);
        assert_eq!(now.with_recovery(&start.into(), Direction::ZeroForOne, 0), now);
        let back = now.with_recovery(&start.into(), Direction::ZeroForOne, 100_000_000);
        // A full recovery restores the original price, except for rounding.
        let [a, b] = back.reserves();
        assert!(a.abs_diff(b / 2) <= 2, "{a} {b}");
        let half = now.with_recovery(&start.into(), Direction::ZeroForOne, 50_000_000);
        assert!(half.reserves()[1] > now.reserves()[1] && half.reserves()[1] < back.reserves()[1]);
    }
}
