//! Combines price and ticks into a state.

use exitgap_core::U256;
use exitgap_core::pools::{Concentrated, ConcentratedError, PoolState};

use super::ticks::unpack_ticks;
use crate::pools::reader::{PartialState, Parts, StateJoinError};

/// The values that change with every swap, the fee, which some forks let their owner change, and the tick spacing,
/// which never changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Price {
    pub(super) sqrt_price_x96: U256,
    pub(super) tick: i32,
    pub(super) liquidity: u128,
    pub(super) fee_pips: u32,
    pub(super) tick_spacing: i32,
}

impl PartialState for Price {
    fn join(&self, parts: &Parts) -> Result<PoolState, StateJoinError> {
        let Self { sqrt_price_x96, tick, liquidity, fee_pips, tick_spacing } = *self;
        let ticks = unpack_ticks(parts);
        Concentrated::new(sqrt_price_x96, tick, liquidity, fee_pips, tick_spacing, ticks)
            .map(PoolState::from)
            .map_err(to_join_error)
    }
}

/// The error, and whether reading the ticks again may solve it.
pub(in crate::pools) fn to_join_error(error: ConcentratedError) -> StateJoinError {
    let about_parts = match error {
        ConcentratedError::NotInitialised
        | ConcentratedError::SqrtPriceOutOfRange { .. }
        | ConcentratedError::TickNotAtPrice { .. }
        | ConcentratedError::FeeOutOfRange { .. }
        | ConcentratedError::ProtocolFeeOutOfRange { .. }
        | ConcentratedError::TickSpacingOutOfRange { .. } => false,
        ConcentratedError::TooManyTicks { .. }
        | ConcentratedError::TooLong { .. }
        | ConcentratedError::TickOutOfPlace { .. }
        | ConcentratedError::TicksOutOfOrder { .. }
        | ConcentratedError::GrossLiquidity { .. }
        | ConcentratedError::NetLiquidityOutOfRange { .. }
        | ConcentratedError::NetLiquidityNotBalanced { .. }
        | ConcentratedError::LiquidityMismatch { .. } => true,
    };
    StateJoinError { detail: error.to_string(), about_parts }
}
