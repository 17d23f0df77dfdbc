//! The nodes of a proof, put in the order of the walk that reads them.

use std::collections::BTreeMap;

use super::trie::{Nodes, Walk, WalkError, keccak256};

/// Nodes by their hashes, whatever tries they are of.
pub(super) struct NodePool<'a>(BTreeMap<[u8; 32], &'a [u8]>);

/// Those of them that a walk met, in its order.
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

/// The values under ascending keys, as far as the nodes lead.
type Values<'a> = Vec<Option<&'a [u8]>>;

impl<'a> NodePool<'a> {
    /// Of nodes in any order, each as often as it came.
    pub fn from_nodes(nodes: &'a [Vec<u8>]) -> Self {
        Self(nodes.iter().map(|node| (keccak256(node), node.as_slice())).collect())
    }

    /// The nodes that a walk to these keys meets, in its order, and what it finds. What it would not read is left out.
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
