//! Older blocks anchored to a newer one, out of what a node proves of the chain's history contract.

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
    /// The blocks are none before the one to begin at, or too far before it.
    #[error(
        "no hops lead from block {from} to these blocks, because there are none, not all are older, or some are \
         too far back"
    )]
    Unreachable {
        /// Where it was to begin.
        from: u64,
    },
    /// The node has no such block.
    #[error("the node has no block {number}")]
    NoBlock {
        /// Its number.
        number: u64,
    },
    /// The node proves none, or did not answer.
    #[error(transparent)]
    Node(#[from] ProveError),
    /// What it answered does not lead from block to block.
    #[error("the node's response is not a valid anchor: {0}")]
    Anchors(#[from] AnchorError),
}

impl StateProver {
    /// The file of a day's anchors, which leads from the node's block of number `from` to these older ones. The node must prove
    /// the states of all blocks at which a hop begins.
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

/// What [`StateProver::anchors`] does, at these nodes.
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
