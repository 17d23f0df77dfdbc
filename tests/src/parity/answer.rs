//! The result of a sale, from the core and from the contract, in one form.

use alloy::primitives::U256;
use exitgap_core::pools::{Concentrated, Direction, Fill, FillError, PoolState, SaleCurve};
use serde::{Deserialize, Serialize};

/// The outcome of one sale.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "outcome", rename_all = "snake_case", deny_unknown_fields)]
pub enum Answer {
    /// The whole amount was taken.
    Filled {
        /// The raw amount of the token bought.
        #[serde(with = "super::vector::decimal")]
        amount_out: U256,
        /// The pool's final state; absent for pairs, whose reserves follow from the amounts.
        #[serde(skip_serializing_if = "Option::is_none")]
        after: Option<After>,
    },
    /// Nothing was offered.
    ZeroInput,
    /// The contract reverts because the output rounds to zero.
    ZeroOutput,
    /// The pool takes less than was offered.
    BeyondLiquidity {
        /// The raw amount of the token sold that it takes.
        #[serde(with = "super::vector::decimal")]
        consumed: U256,
        /// The raw amount of the token bought that it pays.
        #[serde(with = "super::vector::decimal")]
        paid: U256,
    },
}

/// A concentrated-liquidity pool after a sale.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct After {
    /// √price, Q64.96.
    #[serde(with = "super::vector::decimal")]
    pub sqrt_price_x96: U256,
    /// The contract's tick.
    pub tick: i32,
    /// Active liquidity.
    #[serde(with = "super::vector::decimal")]
    pub liquidity: u128,
    /// Number of initialised ticks crossed.
    pub ticks_crossed: u32,
}

impl Answer {
    /// The core's answer. The prepared curve and the plain loop must agree; otherwise the error contains both.
    pub fn of_core(state: &PoolState, curve: &SaleCurve, amount_in: U256) -> Result<Self, String> {
        let (table, once) = (curve.fill(amount_in), state.fill_once(curve.direction(), amount_in));
        if table != once {
            return Err(format!("the curve fills {table:?}, the plain loop {once:?}"));
        }
        Ok(Self::of_fill(state, curve.direction(), &table))
    }

    fn of_fill(state: &PoolState, direction: Direction, fill: &Result<Fill, FillError>) -> Self {
        match fill {
            Ok(fill) => {
                let left = state.after(direction, fill);
                let after = Concentrated::from_state(&left).map(|pool| After {
                    sqrt_price_x96: pool.sqrt_price_x96(),
                    tick: pool.tick(),
                    liquidity: pool.liquidity(),
                    ticks_crossed: fill.ticks_crossed().unwrap_or(0),
                });
                Self::Filled { amount_out: fill.amount_out, after }
            }
            Err(FillError::ZeroInput) => Self::ZeroInput,
            Err(FillError::ZeroOutput) => Self::ZeroOutput,
            Err(FillError::BeyondLiquidity { consumed, paid }) => {
                Self::BeyondLiquidity { consumed: *consumed, paid: *paid }
            }
        }
    }
}
