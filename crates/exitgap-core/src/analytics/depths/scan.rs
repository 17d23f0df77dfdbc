//! The one pass over the slots of a period. It holds one snapshot, and both depths of every earlier slot.

use super::DepthsTerms;
use super::lows::SlotDepths;
use super::result::DepthsResult;
use crate::analytics::FigureError;
use crate::analytics::figure::{Figure, FigurePass, part};
use crate::evidence::DocumentError;
use crate::ids::PoolId;
use crate::json::Part;
use crate::pools::Direction;
use crate::series::Slot;
use crate::snapshot::Observation;

/// The pass. The caller adds the recorded, unretracted snapshots of the period in ascending order.
#[derive(Debug)]
pub struct DepthsPass {
    terms: DepthsTerms,
    /// By the token sold, ascending.
    slots: Vec<(Slot, [SlotDepths; 2])>,
    any_preview: bool,
}

impl DepthsPass {
    /// A pass with these parameters, which are validated first.
    pub fn new(terms: DepthsTerms) -> Result<Self, FigureError> {
        Ok(Self { terms: terms.validate()?, slots: Vec::new(), any_preview: false })
    }
}

impl FigurePass for DepthsPass {
    type Result = DepthsResult;

    fn add_snapshot(
        &mut self,
        pool: &PoolId,
        slot: Slot,
        observation: Observation,
    ) -> Result<(), FigureError> {
        let follows = self.slots.last().is_none_or(|(last, _)| slot > *last);
        let is_in = (self.terms.from..=self.terms.to).contains(&slot);
        if *pool != self.terms.pool || !follows || !is_in {
            return Err(FigureError::OutOfOrder { slot });
        }
        self.any_preview |= !observation.chain().kind.is_live();
        let depths =
            Direction::BOTH.map(|direction| SlotDepths::from_observation(&observation, direction));
        self.slots.push((slot, depths));
        Ok(())
    }

    fn finish(self) -> Result<DepthsResult, FigureError> {
        let is_preview = self.any_preview || self.slots.is_empty();
        Ok(DepthsResult::of_slots(&self.terms, &self.slots, is_preview))
    }

    fn document(result: &DepthsResult) -> Result<Part, DocumentError> {
        part(result)
    }
}
