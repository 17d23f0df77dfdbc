//! The nodes of a proof, put in the order of the walk that reads them.

use std::collections::BTreeMap;

use super::trie::{Nodes, Walk, WalkError, keccak};

/// Nodes by their hashes, and those that a walk met, in its order.
struct ByHash<'a> {
    nodes: BTreeMap<[u8; 32], &'a [u8]>,
    met: Vec<u8>,
}

impl<'a> Nodes<'a> for ByHash<'a> {
    fn node(&mut self, hash: &[u8; 32]) -> Result<&'a [u8], WalkError> {
        let node = *self.nodes.get(hash).ok_or(WalkError::Absent)?;
        self.met.extend_from_slice(node);
        Ok(node)
    }
}

/// The values under ascending keys, as far as the nodes lead.
type Values<'a> = Vec<Option<&'a [u8]>>;

/// The nodes that a walk to these keys meets, in its order, and what it finds. What it would not read is left out.
pub(super) fn in_order<'a>(
    root: [u8; 32],
    keys: &[[u8; 32]],
    nodes: &'a [Vec<u8>],
) -> Result<(Vec<u8>, Values<'a>), WalkError> {
    let nodes = nodes.iter().map(|node| (keccak(node), node.as_slice())).collect();
    let mut walk = Walk::new(root, ByHash { nodes, met: Vec::new() });
    let values = keys.iter().map(|key| walk.value(key)).collect::<Result<_, _>>()?;
    Ok((walk.into_nodes().met, values))
}
