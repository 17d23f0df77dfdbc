//! A venue after a price drop.

use super::Reference;
use crate::analytics::FigureError;
use crate::exit::{Exit, NotSized, PricedPool, SplitVenue};
use crate::pools::{Direction, PoolState};
use crate::snapshot::Observation;
use crate::units::{GapLimit, SizeUsd, UsdMicros, UsdPrice};

/// An exit after a price drop, with the prices that it is measured at.
#[derive(Debug)]
pub(in crate::analytics) struct FallenExit {
    pub exit: Exit,
    state: PoolState,
    decimals: [u8; 2],
    prices: [UsdPrice; 2],
}

impl FallenExit {
    /// The exit of an observed pool's state after the price of the token sold has fallen, at the oracle and in the pool
    /// alike. It can answer only the depth at `limit` and a split of `size`. The inner `None` means that the price
    /// after the drop has more digits than a price can have.
    pub fn from_fall(
        observation: &Observation,
        state: &PoolState,
        direction: Direction,
        fall_e8: u32,
        limit: GapLimit,
        size: SizeUsd,
    ) -> Result<Option<Self>, FigureError> {
        let fallen = state.fallen(direction, fall_e8);
        let fallen = fallen.ok_or(FigureError::not_movable("this figure", state.protocol()))?;
        let mut prices = *observation.prices();
        let base = &mut prices[direction.base_index()];
        let Some(price) = base.fallen(fall_e8) else { return Ok(None) };
        *base = price;
        Ok(Some(Self::at(observation, fallen, direction, prices, limit, size)))
    }

    /// The same without a price drop, for a pool of any kind.
    pub fn still(
        observation: &Observation,
        direction: Direction,
        limit: GapLimit,
        size: SizeUsd,
    ) -> Self {
        let (state, prices) = (observation.state().clone(), *observation.prices());
        Self::at(observation, state, direction, prices, limit, size)
    }

    fn at(
        observation: &Observation,
        state: PoolState,
        direction: Direction,
        prices: [UsdPrice; 2],
        limit: GapLimit,
        size: SizeUsd,
    ) -> Self {
        let PricedPool { decimals, .. } = observation.into();
        let priced = PricedPool { state: &state, decimals, usd: &prices };
        let exit = Exit::of_start(priced, direction, limit, Some(size));
        Self { exit, state, decimals, prices }
    }

    fn priced_pool(&self) -> PricedPool<'_> {
        PricedPool { state: &self.state, decimals: self.decimals, usd: &self.prices }
    }

    /// This exit as a venue of a split.
    pub fn venue(&self) -> SplitVenue<'_> {
        SplitVenue::from_pool(self.priced_pool(), &self.exit, UsdMicros(0))
    }

    /// The depth at `limit` from the oracle price after the drop, or from the pool's own mid price, in whole dollars.
    pub fn depth_from(&self, reference: Reference, limit: GapLimit) -> Result<u64, NotSized> {
        match reference {
            Reference::Oracle => self.exit.depth_usd(limit),
            Reference::Mid => self.book_usd(limit),
        }
    }

    /// The depth at `limit` from the pool's own mid price, in whole dollars.
    pub fn book_usd(&self, limit: GapLimit) -> Result<u64, NotSized> {
        Exit::book_from_own_mid_usd(self.priced_pool(), self.exit.direction(), limit)
    }
}
