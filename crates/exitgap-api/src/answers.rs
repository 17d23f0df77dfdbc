//! Answers about a pool's recorded or directly read state, as documents.

use std::borrow::Cow;

use exitgap_core::analytics::redemption::PacedTerms;
use exitgap_core::exit::{Exit, OrderPlan};
use exitgap_core::pools::Direction;
use exitgap_core::snapshot::Observation;
use exitgap_core::units::{GapLimit, SizeUsd};

use crate::{
    Amounts, Answer, Context, ExitResult, GapRung, Ladder, LadderRows, MaxSizeResult, Problem,
    Provenance, RedemptionWindow, RedemptionWindowResult, Simulation, SimulationResult,
};

/// An observation, prepared for requests in one direction.
#[derive(Debug)]
pub struct Answers<'a> {
    observation: &'a Observation,
    provenance: &'a Provenance,
    exit: Cow<'a, Exit>,
}

impl<'a> Answers<'a> {
    /// Prepares the direction.
    pub fn new(
        observation: &'a Observation,
        provenance: &'a Provenance,
        direction: Direction,
    ) -> Self {
        let exit = Cow::Owned(Exit::from_pool(observation, direction));
        Self { observation, provenance, exit }
    }

    /// The same for a direction that is already prepared.
    pub fn with_exit(
        observation: &'a Observation,
        provenance: &'a Provenance,
        exit: &'a Exit,
    ) -> Self {
        Self { observation, provenance, exit: Cow::Borrowed(exit) }
    }

    /// The fill of a sale of `size`.
    pub fn estimate(&self, size: SizeUsd) -> Result<ExitResult, Problem> {
        let estimate = self.exit.estimate(size);
        let estimate = estimate.map_err(|refusal| Problem::of_estimate(&refusal, size))?;
        Ok(self.answer(Amounts::from(&estimate), Some(size)))
    }

    /// The largest sale whose gap is at most `limit`.
    pub fn max_size_for(&self, limit: GapLimit) -> Result<MaxSizeResult, Problem> {
        let row = self.exit.gap_row(limit);
        match &row.depth {
            Err(exhausted) => Err(exhausted.into()),
            Ok(_) => Ok(self.answer(GapRung::from(&row), None)),
        }
    }

    /// Depth by gap and slippage by size.
    pub fn ladder(&self, limits: &[GapLimit], sizes: &[SizeUsd]) -> Ladder {
        let by_gap = self.exit.ladder_by_gap(limits);
        let by_size = self.exit.ladder_by_size(sizes);
        self.answer(LadderRows::from_rows(&by_gap, &by_size, |_| None), None)
    }

    /// One sale in several orders, compared with a single sale.
    pub fn simulate_orders(&self, plan: OrderPlan) -> Result<SimulationResult, Problem> {
        let simulation =
            self.exit.simulate_orders(plan).map_err(|refused| Problem::from(&refused))?;
        Ok(self.answer(Simulation::from(&simulation), Some(plan.size())))
    }

    /// Selling `size` now compared with redeeming it under each of the terms, at the time of the observation's block.
    pub fn redemption_window(&self, size: SizeUsd, terms: &[PacedTerms]) -> RedemptionWindowResult {
        let window = RedemptionWindow::from_terms(self.observation, &self.exit, size, terms);
        self.answer(window, Some(size))
    }

    fn answer<F>(&self, figures: F, size: Option<SizeUsd>) -> Answer<F> {
        let context = Context::new(self.observation, self.exit.direction(), self.provenance, size);
        Answer { figures, context }
    }
}
