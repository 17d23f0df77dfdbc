//! What the tools need from the owner of a recorded series.

use std::future::Future;

use exitgap_api::operations::{
    BoardAsked, CashAsked, ExitAsked, HistoryAsked, MaxSizeAsked, PoolsAsked, SimulationAsked,
    SnapshotAsked, VerificationAsked,
};
use exitgap_api::{
    CashExit, Fragility, History, PoolList, Problem, PublishedExit, PublishedLadder,
    PublishedMaxSize, PublishedSimulation, VerifiedEvidence,
};

/// Answers the tools. Every failure is a [`Problem`], including a guard that is not met, which is never just a
/// remark in an answer.
pub trait Backend: Send + Sync + 'static {
    /// The monitored pools.
    fn list_pools(
        &self,
        asked: PoolsAsked,
    ) -> impl Future<Output = Result<PoolList, Problem>> + Send;

    /// The estimate for a sale of a size.
    fn estimate_exit(
        &self,
        asked: ExitAsked,
    ) -> impl Future<Output = Result<PublishedExit, Problem>> + Send;

    /// A sale of a token over several pools that ends in cash.
    fn exit_into_cash(
        &self,
        asked: CashAsked,
    ) -> impl Future<Output = Result<CashExit, Problem>> + Send;

    /// The largest sale within a gap.
    fn max_exit_size(
        &self,
        asked: MaxSizeAsked,
    ) -> impl Future<Output = Result<PublishedMaxSize, Problem>> + Send;

    /// One sale, split into several orders.
    fn simulate_orders(
        &self,
        asked: SimulationAsked,
    ) -> impl Future<Output = Result<PublishedSimulation, Problem>> + Send;

    /// Depth by gap, slippage by size.
    fn depth_ladder(
        &self,
        asked: SnapshotAsked,
    ) -> impl Future<Output = Result<PublishedLadder, Problem>> + Send;

    /// A page of the recorded series.
    fn exit_history(
        &self,
        asked: HistoryAsked,
    ) -> impl Future<Output = Result<History, Problem>> + Send;

    /// All pools, ranked.
    fn fragility_board(
        &self,
        asked: BoardAsked,
    ) -> impl Future<Output = Result<Fragility, Problem>> + Send;

    /// Verifies evidence. Must reject evidence from other logs before it sends any request.
    fn verify_evidence(
        &self,
        asked: VerificationAsked,
    ) -> impl Future<Output = Result<VerifiedEvidence, Problem>> + Send;
}
