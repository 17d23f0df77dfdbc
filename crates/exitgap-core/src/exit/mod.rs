//! The exit of an observed pool: all of [`exitgap_math::exit`], and the parts that need more of an
//! observation than its state and prices.
//!
//! - `reopening`: a fill while a market was closed, compared with the oracle after it reopened

mod reopening;

pub use exitgap_math::exit::*;
pub use reopening::{ReopeningStatus, check_reopening, reopening_gap};

use crate::snapshot::Observation;

impl<'o> From<&'o Observation> for PricedPool<'o> {
    fn from(observation: &'o Observation) -> Self {
        let decimals = observation.tokens().each_ref().map(|token| token.decimals);
        Self { state: observation.state(), decimals, usd: observation.prices() }
    }
}
