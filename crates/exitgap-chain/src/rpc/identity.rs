//! Which chain a node serves: asked before it is believed, and again in every slot.

use alloy::primitives::B256;
use exitgap_core::snapshot::BlockRef;
use serde::Deserialize;
use serde_json::json;
use tokio::time::Instant;

use super::{Failure, Manner, Rpc, RpcError, http, value};

/// What is read of a block to know it again.
#[derive(Deserialize)]
struct BlockAnswer {
    hash: B256,
}

impl Rpc {
    /// From now on, believes a node only after it has shown that it has one of these blocks of the
    /// series, newest first. Without any, its chain id and genesis are asked for again.
    pub(crate) fn begin_slot(&self, links: Vec<BlockRef>) {
        let mut state = self.state();
        for node in &mut state.nodes {
            node.linked = false;
            node.identified &= !links.is_empty();
        }
        state.links = links;
    }

    /// From now on, believes a node also if it has this block, which was read in this slot.
    pub(crate) fn link_to(&self, block: BlockRef) {
        self.state().links.push(block);
    }

    /// Asks the node that answered last once more for the blocks of the series: what was read
    /// since the slot began was not read from another chain that took its place.
    pub(crate) async fn still_linked(&self, deadline: Instant) -> Result<(), Failure> {
        let node = self.state().current;
        let ask = |node: usize| {
            self.state().nodes[node].linked = false;
            self.verify(node, deadline)
        };
        let manner = Manner::PATIENT;
        self.in_rounds("eth_getBlockByNumber", manner, vec![node], deadline, ask).await.map(drop)
    }

    /// The hash of a node's block 0, where it answers with the expected chain id.
    pub(crate) async fn genesis_of(
        &self,
        node: usize,
        deadline: Instant,
    ) -> Result<B256, RpcError> {
        let found =
            self.exchange(node, "eth_chainId", &json!([]), deadline, http::quantity).await?;
        if found != self.chain_id {
            return Err(RpcError::WrongChainId { expected: self.chain_id, found });
        }
        let found = self.hash_at(node, 0, deadline).await?;
        found.ok_or_else(|| RpcError::NoBlock("number 0".to_owned()))
    }

    /// Checks what is due of the node: its chain id and genesis hash, and that it has the series'
    /// blocks.
    pub(super) async fn verify(&self, node: usize, deadline: Instant) -> Result<(), RpcError> {
        let (known, links, expected) = {
            let state = self.state();
            (state.nodes[node], state.links.clone(), state.genesis)
        };
        let mut genesis = None;
        if !known.identified {
            let found = self.genesis_of(node, deadline).await?;
            if let Some(expected) = expected.filter(|expected| *expected != found) {
                return Err(RpcError::WrongGenesis { expected, found });
            }
            genesis = Some(found);
        }
        if !known.linked {
            self.link(node, &links, deadline).await?;
        }
        let mut state = self.state();
        if let Some(found) = genesis {
            // Another node may have been first meanwhile.
            let expected = *state.genesis.get_or_insert(found);
            if found != expected {
                return Err(RpcError::WrongGenesis { expected, found });
            }
        }
        state.nodes[node].identified = true;
        state.nodes[node].linked = true;
        Ok(())
    }

    /// Requires that the node has the newest of the series' blocks, or, where that gave way to
    /// another one, an older one.
    async fn link(
        &self,
        node: usize,
        links: &[BlockRef],
        deadline: Instant,
    ) -> Result<(), RpcError> {
        for block in links {
            if self.hash_at(node, block.number, deadline).await? == Some(B256::from(block.hash.0)) {
                return Ok(());
            }
        }
        let (Some(newest), Some(oldest)) = (links.first(), links.last()) else { return Ok(()) };
        Err(RpcError::Unlinked { newest: newest.number, oldest: oldest.number })
    }

    /// The hash the node gives of the block of this number; `None` where it has none.
    async fn hash_at(
        &self,
        node: usize,
        number: u64,
        deadline: Instant,
    ) -> Result<Option<B256>, RpcError> {
        let params = json!([format!("{number:#x}"), false]);
        let read = |raw: &_| value::<Option<BlockAnswer>>(raw);
        match self.exchange(node, "eth_getBlockByNumber", &params, deadline, read).await {
            Ok(block) => Ok(block.map(|block| block.hash)),
            // Some nodes say so in words.
            Err(RpcError::NoBlock(_) | RpcError::NoState(_)) => Ok(None),
            Err(error) => Err(error),
        }
    }
}
