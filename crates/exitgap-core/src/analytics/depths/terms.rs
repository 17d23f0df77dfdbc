//! The parameters of the depths figure.

use core::slice::from_ref;

use super::DepthsPass;
use crate::analytics::FigureError;
use crate::analytics::figure::Figure;
use crate::evidence::LOWEST_DEPTH_SLOTS;
use crate::ids::PoolId;
use crate::json::wire_struct;
use crate::series::Slot;

/// The validated parameters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DepthsTerms {
    /// The pool.
    pub pool: PoolId,
    /// The first slot.
    pub from: Slot,
    /// The last slot, at most a week later.
    pub to: Slot,
}

/// The parameters as a figure file spells them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DepthsParameters {
    from: u64,
    pool: PoolId,
    to: u64,
}

wire_struct!(DepthsParameters { from, pool, to });

impl DepthsTerms {
    /// The longest period: the slots that a head's lowest depth is of.
    pub const MAX_SLOTS: u32 = LOWEST_DEPTH_SLOTS;
}

impl Figure for DepthsTerms {
    const NAME: &'static str = super::DEPTHS;

    type Parameters = DepthsParameters;
    type Pass = DepthsPass;

    fn validate(self) -> Result<Self, FigureError> {
        FigureError::require_period(self.from, self.to, Self::MAX_SLOTS)?;
        Ok(self)
    }

    fn parameters(&self) -> DepthsParameters {
        let [from, to] = [self.from, self.to].map(|slot| slot.number().into());
        DepthsParameters { from, pool: self.pool.clone(), to }
    }

    fn from_parameters(read: &DepthsParameters) -> Result<Self, FigureError> {
        let (from, to) = (FigureError::slot("from", read.from)?, FigureError::slot("to", read.to)?);
        Self { pool: read.pool.clone(), from, to }.validate()
    }

    fn pools(&self) -> Vec<&PoolId> {
        from_ref(&self.pool).iter().collect()
    }

    fn period(&self) -> (Slot, Slot) {
        (self.from, self.to)
    }

    fn pass(self) -> Result<DepthsPass, FigureError> {
        DepthsPass::new(self)
    }
}
