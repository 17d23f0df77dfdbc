//! What the tools need of whoever has a recorded series.

use std::future::Future;

use exitgap_api::operations::{
    BoardAsked, ExitAsked, HistoryAsked, MaxSizeAsked, PoolsAsked, SimulationAsked, SnapshotAsked,
    VerificationAsked,
};
use exitgap_api::{
    Fragility, History, PoolList, Problem, PublishedExit, PublishedLadder, PublishedMaxSize,
    PublishedSimulation, VerifiedEvidence,
};

/// Answers the eight questions. Every refusal is a [`Problem`]; a guard of the question that does not
/// hold is one, too, and never a remark beside an answer.
pub trait Backend: Send + Sync + 'static {
    /// The monitored pools.
    fn list_pools(
        &self,
        asked: PoolsAsked,
    ) -> impl Future<Output = Result<PoolList, Problem>> + Send;

    /// What a sale of a size fills at.
    fn estimate_exit(
        &self,
        asked: ExitAsked,
    ) -> impl Future<Output = Result<PublishedExit, Problem>> + Send;

    /// The largest sale within a gap.
    fn max_exit_size(
        &self,
        asked: MaxSizeAsked,
    ) -> impl Future<Output = Result<PublishedMaxSize, Problem>> + Send;

    /// One sale in several orders.
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

    /// Whether evidence holds. Must refuse what is not of its own log before it asks anybody for it.
    fn verify_evidence(
        &self,
        asked: VerificationAsked,
    ) -> impl Future<Output = Result<VerifiedEvidence, Problem>> + Send;
}
