//! Collects snapshots, and splits an exit over them.

use std::sync::Arc;

use exitgap_api::{
    BestSplit, Problem, SplitCandidate, invalid_parameter, parse_fixed_costs, parse_size,
};
use exitgap_core::exit::Exits;
use exitgap_core::pools::Direction;
use exitgap_core::snapshot::Snapshot;
use exitgap_core::units::UsdMicros;

use crate::OpenSnapshot;

/// Venues of one slot, each with its exit in the direction that sells the token.
#[derive(Debug, Default)]
pub struct SplitOver(Vec<(Arc<Snapshot>, Exits, Direction)>);

impl SplitOver {
    /// Adds the venue of a snapshot that sells `base`.
    pub fn add(&mut self, opened: &OpenSnapshot, base: &str) -> Result<(), Problem> {
        self.0.push(opened.sale_parts(base)?);
        Ok(())
    }

    /// Splits `size_usd` over the venues. `fixed_costs_usd` has one cost per venue, or is empty.
    pub fn best(&self, fixed_costs_usd: &[String], size_usd: &str) -> Result<BestSplit, Problem> {
        let (costs, size) = (parse_fixed_costs(fixed_costs_usd)?, parse_size(size_usd)?);
        if !costs.is_empty() && costs.len() != self.0.len() {
            let detail = format!("{} fixed costs for {} snapshots", costs.len(), self.0.len());
            return Err(invalid_parameter(
                "fixed_costs_usd",
                &detail,
                "give one for each snapshot, or none",
            ));
        }
        let costs = costs.into_iter().chain(core::iter::repeat(UsdMicros(0)));
        let candidates: Vec<SplitCandidate<'_>> = (self.0.iter().zip(costs))
            .map(|((snapshot, exits, direction), fixed_cost)| {
                let exit = exits.get_or_prepare(snapshot.observation(), *direction);
                SplitCandidate { snapshot, hash: None, exit, fixed_cost }
            })
            .collect();
        BestSplit::from_candidates(&candidates, size, |_, _| None)
    }
}
