//! Anchors older blocks to a newer one, with a node's proofs of the chain's history contract.

use exitgap_core::ids::Caip2;
use exitgap_core::proof::{
    AnchorError, Anchors, HISTORY_CONTRACT, HopParts, history_slot, plan_hops,
};
use tokio::time::Instant;

use super::ask::BlockQuery;
use super::{ProveError, StateProver};
use crate::rpc::Rpc;

/// Why there are no anchors.
#[derive(Debug, thiserror::Error)]
pub enum AnchoringError {
    /// No hops lead from the block to these blocks: there are none, not all are older, or some are too old.
    #[error(
        "no hops lead from block {from} to these blocks, because there are none, not all are older, or some are \
         too far back"
    )]
    Unreachable {
        /// The block to start from.
        from: u64,
    },
    /// The node does not have this block.
    #[error("the node has no block {number}")]
    NoBlock {
        /// Its number.
        number: u64,
    },
    /// The node gives no proof, or did not answer.
    #[error(transparent)]
    Node(#[from] ProveError),
    /// Its answers do not lead from block to block.
    #[error("the node's response is not a valid anchor: {0}")]
    Anchors(#[from] AnchorError),
}

impl StateProver {
    /// The file of a day's anchors, from the node's block with number `from` to these older blocks. The node must prove
    /// the state of every block at which a hop begins.
    pub async fn anchors(
        &self,
        chain: Caip2,
        day: u32,
        from: u64,
        blocks: impl IntoIterator<Item = u64>,
        deadline: Instant,
    ) -> Result<Vec<u8>, AnchoringError> {
        anchors(&self.rpc, chain, day, from, blocks, deadline).await
    }
}

/// Implements [`StateProver::anchors`] with these nodes.
pub(crate) async fn anchors(
    rpc: &Rpc,
    chain: Caip2,
    day: u32,
    from: u64,
    blocks: impl IntoIterator<Item = u64>,
    deadline: Instant,
) -> Result<Vec<u8>, AnchoringError> {
    let hops = plan_hops(chain, from, blocks).ok_or(AnchoringError::Unreachable { from })?;
    let mut answers = Vec::with_capacity(hops.len());
    for (number, blocks) in &hops {
        let asked = BlockQuery { rpc, number: *number, deadline };
        let header = asked.header(*number).await?;
        let header = header.ok_or(AnchoringError::NoBlock { number: *number })?;
        let slots: Vec<[u8; 32]> = blocks.iter().map(|block| history_slot(chain, *block)).collect();
        let mut nodes = Vec::new();
        asked.words(HISTORY_CONTRACT, &slots, &mut nodes).await?;
        answers.push((header, nodes));
    }
    let parts: Vec<HopParts<'_>> = hops
        .iter()
        .zip(&answers)
        .map(|((_, blocks), (header, nodes))| HopParts { header, blocks, nodes })
        .collect();
    Ok(Anchors::file(chain, day, &parts)?)
}
