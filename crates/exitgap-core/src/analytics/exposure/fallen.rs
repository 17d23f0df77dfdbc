//! A venue after a fall of the price.

use super::ExposureError;
use crate::exit::{Exit, SplitVenue};
use crate::pools::Direction;
use crate::snapshot::Observation;
use crate::units::{GapLimit, SizeUsd, UsdMicros, UsdPrice};

/// An exit after a fall, and what it is compared with.
#[derive(Debug)]
pub(super) struct FallenExit {
    pub exit: Exit,
    decimals: [u8; 2],
    prices: [UsdPrice; 2],
}

impl FallenExit {
    /// The exit of an observation after the price of the token sold has fallen: the oracle's and the pool's together.
    /// It answers the depth at `limit` and a split of `size`, and no more. `None` inside where the fallen price has more
    /// digits than a price can have.
    pub fn of(
        observation: &Observation,
        direction: Direction,
        fall_e8: u32,
        limit: GapLimit,
        size: SizeUsd,
    ) -> Result<Option<Self>, ExposureError> {
        let state = observation.state();
        let fallen = state.fallen(direction, fall_e8);
        let fallen = fallen.ok_or(ExposureError::UnsupportedKind { protocol: state.protocol() })?;
        let decimals = observation.tokens().each_ref().map(|token| token.decimals);
        let mut prices = *observation.prices();
        let base = &mut prices[direction.base_index()];
        let Some(price) = base.fallen(fall_e8) else { return Ok(None) };
        *base = price;
        let exit = Exit::of_start_at(&fallen, direction, decimals, prices, limit, size);
        Ok(Some(Self { exit, decimals, prices }))
    }

    /// The same as a venue of a split.
    pub fn venue(&self) -> SplitVenue<'_> {
        SplitVenue::new(&self.exit, self.decimals, &self.prices, UsdMicros(0))
    }
}
