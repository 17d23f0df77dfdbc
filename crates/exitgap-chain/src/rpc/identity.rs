//! Which chain a node serves: asked before it is used, and again in every slot.

use alloy::primitives::B256;
use exitgap_core::snapshot::BlockRef;
use serde::Deserialize;
use serde_json::json;
use tokio::time::Instant;

use super::{Failure, RetryPolicy, Rpc, RpcError, State, http, value};

/// The fields that identify a block.
#[derive(Deserialize)]
struct BlockAnswer {
    hash: B256,
}

impl State {
    /// The genesis hash that a node must have: the configured one, or the one that another node showed.
    fn genesis_expected_of(&self, node: usize) -> Option<B256> {
        let seen = self.genesis_seen.filter(|(by, _)| *by != node);
        self.genesis.or(seen.map(|(_, hash)| hash))
    }

    /// Takes in the genesis hash that a node showed. The node that showed it first may take it back: then the others are
    /// compared with its present one.
    fn see_genesis(&mut self, node: usize, found: B256) -> Result<(), RpcError> {
        // Another node may have been first in the meantime.
        if let Some(expected) = self.genesis_expected_of(node).filter(|hash| *hash != found) {
            return Err(RpcError::WrongGenesis { expected, found });
        }
        if self.genesis_seen.is_some_and(|(by, before)| by == node && before != found) {
            self.nodes.iter_mut().for_each(|other| other.identified = false);
        }
        if self.genesis_seen.is_none_or(|(by, _)| by == node) {
            self.genesis_seen = Some((node, found));
        }
        self.nodes[node].has_genesis = true;
        Ok(())
    }

    /// Has the node that showed the genesis hash first show it again before it is used: another node contradicts it.
    fn doubt_seen_genesis(&mut self) {
        if let Some((by, _)) = self.genesis_seen.filter(|_| self.genesis.is_none()) {
            self.nodes[by].identified = false;
        }
    }
}

impl Rpc {
    /// From now on, a node is used only after it has shown that it has one of these blocks of the
    /// series, newest first. Without any, its chain id and genesis are asked for again.
    pub(crate) fn begin_slot(&self, links: Vec<BlockRef>) {
        let mut state = self.state();
        for node in &mut state.nodes {
            node.linked = false;
            node.identified &= !links.is_empty();
        }
        state.links = links;
    }

    /// From now on, a node is used also if it has this block, which was read in this slot.
    pub(crate) fn link_to(&self, block: BlockRef) {
        self.state().links.push(block);
    }

    /// Asks the node that answered last once more for the blocks of the series. This verifies that the data read since
    /// the start of the slot is not from another chain that replaced it.
    pub(crate) async fn still_linked(&self, deadline: Instant) -> Result<(), Failure> {
        let node = self.state().current;
        let ask = |node: usize| {
            self.state().nodes[node].linked = false;
            self.verify(node, deadline)
        };
        let policy = RetryPolicy::PATIENT;
        self.in_rounds("eth_getBlockByNumber", policy, vec![node], deadline, ask).await.map(drop)
    }

    /// The hash of a node's block 0, where it answers with the expected chain id, and, if it is known, with the expected hash.
    pub(crate) async fn genesis_of(
        &self,
        node: usize,
        expected: Option<B256>,
        deadline: Instant,
    ) -> Result<B256, RpcError> {
        let read = |raw: &_| match http::quantity(raw)? {
            found if found == self.chain_id => Ok(()),
            found => Err(RpcError::WrongChainId { expected: self.chain_id, found }),
        };
        let asked = self.exchange(node, "eth_chainId", &json!([]), deadline, read).await;
        asked.map_err(|error| match error {
            // A chain's id is of no block: a node that speaks of one has not said which chain it serves.
            RpcError::NoBlock(words) | RpcError::NoState(words) => RpcError::Outage(words),
            error => error,
        })?;
        let check = |found| match expected {
            Some(expected) if expected != found => Err(RpcError::WrongGenesis { expected, found }),
            _ => Ok(()),
        };
        let found = self.hash_at(node, 0, deadline, check).await?;
        found.ok_or_else(|| RpcError::NoBlock("number 0".to_owned()))
    }

    /// Makes the checks that are due for the node: its chain id and genesis hash, and that it has the series' blocks.
    pub(super) async fn verify(&self, node: usize, deadline: Instant) -> Result<(), RpcError> {
        let (known, links, expected) = {
            let state = self.state();
            (state.nodes[node], state.links.clone(), state.genesis_expected_of(node))
        };
        let mut genesis = None;
        if !known.identified {
            genesis = match self.genesis_of(node, expected, deadline).await {
                Ok(found) => Some(found),
                Err(error @ RpcError::WrongGenesis { .. }) => {
                    self.state().doubt_seen_genesis();
                    return Err(error);
                }
                // Its chain id fits. A node that does not keep so old a block is known by another one.
                Err(RpcError::NoBlock(_)) => {
                    self.require_known_block(node, &links, deadline).await?;
                    None
                }
                Err(error) => return Err(error),
            };
        }
        if !known.linked {
            self.link(node, &links, deadline).await?;
        }
        let mut state = self.state();
        if let Some(found) = genesis {
            state.see_genesis(node, found)?;
        }
        state.nodes[node].identified = true;
        state.nodes[node].linked = true;
        Ok(())
    }

    /// Requires that a node without block 0 has the block that is configured, or else that it will have to show one of the
    /// series.
    async fn require_known_block(
        &self,
        node: usize,
        links: &[BlockRef],
        deadline: Instant,
    ) -> Result<(), RpcError> {
        let Some(known) = self.known_block else {
            return if links.is_empty() { Err(RpcError::NoGenesis) } else { Ok(()) };
        };
        let (number, expected) = (known.number, B256::from(known.hash.0));
        let check = |found| match found {
            found if found == expected => Ok(()),
            found => Err(RpcError::WrongKnownBlock { number, expected, found }),
        };
        let found = self.hash_at(node, number, deadline, check).await?;
        // It may be too old for this node as well: then it must have one of the series.
        if found.is_none() && links.is_empty() {
            return Err(RpcError::NoBlock(format!("number {number}")));
        }
        Ok(())
    }

    /// Requires that the node has the newest of the series' blocks or, if that block was orphaned, an older one.
    async fn link(
        &self,
        node: usize,
        links: &[BlockRef],
        deadline: Instant,
    ) -> Result<(), RpcError> {
        for block in links {
            let found = self.hash_at(node, block.number, deadline, |_| Ok(())).await?;
            if found == Some(B256::from(block.hash.0)) {
                return Ok(());
            }
        }
        let (Some(newest), Some(oldest)) = (links.first(), links.last()) else { return Ok(()) };
        Err(RpcError::Unlinked { newest: newest.number, oldest: oldest.number })
    }

    /// The hash the node gives of the block of this number, if it passes the check; `None` where it has none.
    async fn hash_at(
        &self,
        node: usize,
        number: u64,
        deadline: Instant,
        check: impl Fn(B256) -> Result<(), RpcError>,
    ) -> Result<Option<B256>, RpcError> {
        let params = json!([format!("{number:#x}"), false]);
        let read = |raw: &_| {
            let hash = value::<Option<BlockAnswer>>(raw)?.map(|block| block.hash);
            hash.map_or(Ok(()), &check)?;
            Ok(hash)
        };
        match self.exchange(node, "eth_getBlockByNumber", &params, deadline, read).await {
            Ok(hash) => Ok(hash),
            // Some nodes report this as text.
            Err(RpcError::NoBlock(_) | RpcError::NoState(_)) => Ok(None),
            Err(error) => Err(error),
        }
    }
}
