//! Puts the nodes of a proof into the order in which a walk reads them.

use std::collections::BTreeMap;

use super::trie::{Nodes, Walk, WalkError, keccak256};

/// Nodes by their hashes, from any tries.
pub(super) struct NodePool<'a>(BTreeMap<[u8; 32], &'a [u8]>);

/// Records the nodes that a walk reads, in order.
struct Met<'p, 'a> {
    pool: &'p NodePool<'a>,
    met: Vec<u8>,
}

impl<'a> Nodes<'a> for Met<'_, 'a> {
    fn node(&mut self, hash: &[u8; 32]) -> Result<&'a [u8], WalkError> {
        let node = *self.pool.0.get(hash).ok_or(WalkError::Absent)?;
        self.met.extend_from_slice(node);
        Ok(node)
    }
}

/// The values at ascending keys, found through the nodes.
type Values<'a> = Vec<Option<&'a [u8]>>;

impl<'a> NodePool<'a> {
    /// Collects nodes in any order. Duplicates are allowed.
    pub fn from_nodes(nodes: &'a [Vec<u8>]) -> Self {
        Self(nodes.iter().map(|node| (keccak256(node), node.as_slice())).collect())
    }

    /// The nodes that a walk to these keys reads, in order, and the values found. Other nodes are left out.
    pub fn in_order(
        &self,
        root: [u8; 32],
        keys: &[[u8; 32]],
    ) -> Result<(Vec<u8>, Values<'a>), WalkError> {
        let mut walk = Walk::new(root, Met { pool: self, met: Vec::new() });
        let values = keys.iter().map(|key| walk.value(key)).collect::<Result<_, _>>()?;
        Ok((walk.into_nodes().met, values))
    }
}
