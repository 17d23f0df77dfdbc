//! A venue after a fall of the price.

use crate::analytics::FigureError;
use crate::exit::{Exit, NotSized, PricedPool, SplitVenue};
use crate::pools::{Direction, PoolState};
use crate::snapshot::Observation;
use crate::units::{GapLimit, SizeUsd, UsdMicros, UsdPrice};

/// An exit after a fall, and what it is compared with.
#[derive(Debug)]
pub(in crate::analytics) struct FallenExit {
    pub exit: Exit,
    state: PoolState,
    decimals: [u8; 2],
    prices: [UsdPrice; 2],
}

impl FallenExit {
    /// The exit of a state of an observed pool after the price of the token sold has fallen: the oracle's and the pool's
    /// together. It answers the depth at `limit` and a split of `size`, and no more. `None` inside where the fallen price
    /// has more digits than a price can have.
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

    /// The same without any fall, of a pool of whatever kind.
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

    /// The same as a venue of a split.
    pub fn venue(&self) -> SplitVenue<'_> {
        SplitVenue::from_pool(self.priced_pool(), &self.exit, UsdMicros(0))
    }

    /// What the pool holds around its own price: the depth at `limit` from its mid price, whole dollars.
    pub fn book_usd(&self, limit: GapLimit) -> Result<u64, NotSized> {
        Exit::book_from_own_mid_usd(self.priced_pool(), self.exit.direction(), limit)
    }
}
