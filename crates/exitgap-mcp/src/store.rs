//! Answers the tools from a store.

use std::sync::Arc;

use exitgap_api::operations::{
    BoardAsked, CashAsked, ExitAsked, HistoryAsked, MaxSizeAsked, PoolsAsked, SimulationAsked,
    SnapshotAsked, VerificationAsked,
};
use exitgap_api::{
    CashExit, Fragility, History, PoolList, Problem, PublishedExit, PublishedLadder,
    PublishedMaxSize, PublishedSimulation, VerifiedBy, VerifiedEvidence,
};
use exitgap_ops::Service;

use crate::Backend;

/// A store that answers.
pub struct FromStore {
    service: Arc<Service>,
    verified_by: VerifiedBy,
}

impl FromStore {
    /// The store of `service`; `verified_by` says who verifies evidence, from the caller's point of view.
    pub fn new(service: Arc<Service>, verified_by: VerifiedBy) -> Self {
        Self { service, verified_by }
    }
}

impl Backend for FromStore {
    async fn list_pools(&self, asked: PoolsAsked) -> Result<PoolList, Problem> {
        self.service.pools(&asked)
    }

    async fn estimate_exit(&self, asked: ExitAsked) -> Result<PublishedExit, Problem> {
        self.service.exit(&asked).await
    }

    async fn exit_into_cash(&self, asked: CashAsked) -> Result<CashExit, Problem> {
        self.service.cash(&asked).await
    }

    async fn max_exit_size(&self, asked: MaxSizeAsked) -> Result<PublishedMaxSize, Problem> {
        self.service.max_size(&asked).await
    }

    async fn simulate_orders(
        &self,
        asked: SimulationAsked,
    ) -> Result<PublishedSimulation, Problem> {
        self.service.simulate(&asked).await
    }

    async fn depth_ladder(&self, asked: SnapshotAsked) -> Result<PublishedLadder, Problem> {
        self.service.ladder(&asked).await
    }

    async fn exit_history(&self, asked: HistoryAsked) -> Result<History, Problem> {
        self.service.history(asked).await
    }

    async fn fragility_board(&self, asked: BoardAsked) -> Result<Fragility, Problem> {
        self.service.fragility(&asked)
    }

    async fn verify_evidence(&self, asked: VerificationAsked) -> Result<VerifiedEvidence, Problem> {
        self.service.verify(asked, self.verified_by).await
    }
}
