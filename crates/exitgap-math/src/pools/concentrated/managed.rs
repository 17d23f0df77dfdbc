//! Uniswap v4: pools in one manager contract. Source: `Pool.sol` and `ProtocolFeeLibrary.sol` of v4-core.
//!
//! The loop is the same as in v3, with these differences: the fee depends on the direction, the protocol's share is
//! added to the liquidity providers' fee, and tick spacings go up to 32,767.

use super::ranges::{Ranges, SpacingRule, Tick};
use super::swap::Stops;
use super::{ConcentratedError, RangeKind, check_fee};
use crate::pools::Direction;
use crate::wide::U256;

/// The state of a Uniswap v4 pool without hook and with a static fee.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConcentratedV4 {
    pub(super) ranges: Ranges,
    pub(super) lp_fee_pips: u32,
    pub(super) protocol_fee: [u32; 2],
}

impl ConcentratedV4 {
    /// The maximum share of an input for the protocol, in millionths.
    pub const MAX_PROTOCOL_FEE: u32 = 1_000;
    const SPACING: SpacingRule = SpacingRule { most: 32_767, binds: true };

    /// A pool with this state. `lp_fee_pips` is the liquidity providers' fee in millionths; `protocol_fee` is the
    /// protocol's fee, by the token sold. `ticks` are all initialised ticks in ascending order. Checks every invariant
    /// of the contract.
    pub fn new(
        sqrt_price_x96: U256,
        tick: i32,
        liquidity: u128,
        lp_fee_pips: u32,
        protocol_fee: [u32; 2],
        tick_spacing: i32,
        ticks: Vec<Tick>,
    ) -> Result<Self, ConcentratedError> {
        let most = Self::MAX_PROTOCOL_FEE;
        if let Some(found) = protocol_fee.into_iter().find(|fee| *fee > most) {
            return Err(ConcentratedError::ProtocolFeeOutOfRange { found, most });
        }
        check_fee(lp_fee_pips)?;
        protocol_fee.into_iter().try_for_each(|fee| check_fee(both_fees(fee, lp_fee_pips)))?;
        let ranges =
            Ranges::new(sqrt_price_x96, tick, liquidity, tick_spacing, ticks, Self::SPACING)?;
        Ok(Self { ranges, lp_fee_pips, protocol_fee })
    }

    /// Price, liquidity and ticks.
    pub fn ranges(&self) -> &Ranges {
        &self.ranges
    }

    /// The liquidity providers' fee in millionths.
    pub fn lp_fee_pips(&self) -> u32 {
        self.lp_fee_pips
    }

    /// The protocol's fee in millionths, by the token sold.
    pub fn protocol_fee(&self) -> [u32; 2] {
        self.protocol_fee
    }
}

/// The protocol's share of the input plus the providers' share of the remainder. Their product is rounded down, so the
/// sum is rounded up.
fn both_fees(protocol: u32, lp: u32) -> u32 {
    // 1,000 × 999,999 fits.
    protocol + lp - protocol * lp / 1_000_000
}

impl RangeKind for ConcentratedV4 {
    const STOPS: Stops = Stops::Words;

    fn ranges(&self) -> &Ranges {
        &self.ranges
    }

    fn own_fee_pips(&self) -> u32 {
        self.lp_fee_pips
    }

    fn fee_pips_of(&self, direction: Direction) -> u32 {
        both_fees(self.protocol_fee[direction.base_index()], self.lp_fee_pips)
    }

    fn with(&self, ranges: Ranges) -> Self {
        Self { ranges, ..*self }
    }
}
