//! Price and ticks made a state.

use exitgap_core::U256;
use exitgap_core::pools::{Concentrated, ConcentratedError, PoolState};

use super::ticks::unpacked;
use crate::pools::reader::{Parts, Unfinished, Unjoined};

/// What changes with every swap; the fee, which some forks let their owner change; and the tick
/// spacing, which never changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Price {
    pub(super) sqrt_price_x96: U256,
    pub(super) tick: i32,
    pub(super) liquidity: u128,
    pub(super) fee_pips: u32,
    pub(super) tick_spacing: i32,
}

impl Unfinished for Price {
    fn join(&self, parts: &Parts) -> Result<PoolState, Unjoined> {
        let Self { sqrt_price_x96, tick, liquidity, fee_pips, tick_spacing } = *self;
        let ticks = unpacked(parts);
        Concentrated::new(sqrt_price_x96, tick, liquidity, fee_pips, tick_spacing, ticks)
            .map(PoolState::from)
            .map_err(unjoined)
    }
}

/// What is wrong, and whether other ticks may mend it.
pub(in crate::pools) fn unjoined(error: ConcentratedError) -> Unjoined {
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
    Unjoined { detail: error.to_string(), about_parts }
}
