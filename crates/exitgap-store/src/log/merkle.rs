//! The log's Merkle tree, stored as the hashes of its complete subtrees. Roots and proofs of any size read only a few
//! rows.

use std::ops::Range;

use exitgap_core::tlog::{
    Hash, Subtree, consistency_ranges, inclusion_ranges, join, node_hash, subtrees,
};

use crate::db::Db;
use crate::error::StoreError;

/// The nodes in a database, for reading and appending.
pub struct Nodes<'a>(pub &'a Db);

impl Nodes<'_> {
    /// Appends a leaf and the nodes that it completes: two rows on average.
    pub fn append(&self, index: u64, leaf: Hash) -> Result<(), StoreError> {
        let (mut level, mut index, mut hash) = (0, index, leaf);
        self.insert(level, index, hash)?;
        while index & 1 == 1 {
            hash = node_hash(self.node(level, index - 1)?, hash);
            (level, index) = (level + 1, index >> 1);
            self.insert(level, index, hash)?;
        }
        Ok(())
    }

    /// The root over the first `size` leaves, which must exist.
    pub fn root(&self, size: u64) -> Result<Hash, StoreError> {
        self.range(0..size)
    }

    /// The siblings from leaf `index` up to the root of `size` leaves. The caller must check that `index < size`.
    pub fn inclusion(&self, index: u64, size: u64) -> Result<Vec<Hash>, StoreError> {
        self.ranges(inclusion_ranges(index, size))
    }

    /// The nodes that prove that the first `old` of `new` leaves are a prefix. The caller must check that `old ≤ new`.
    pub fn consistency(&self, old: u64, new: u64) -> Result<Vec<Hash>, StoreError> {
        self.ranges(consistency_ranges(old, new))
    }

    /// A node of the tree. Level 0 holds the leaves.
    pub fn node(&self, level: u32, index: u64) -> Result<Hash, StoreError> {
        let found = self.0.log_node(level, index)?;
        found.map(Hash).ok_or_else(|| StoreError::CorruptRow {
            table: "log_node",
            found: format!("no node {index} of level {level}"),
        })
    }

    fn ranges(&self, ranges: Option<Vec<Range<u64>>>) -> Result<Vec<Hash>, StoreError> {
        ranges.unwrap_or_default().into_iter().map(|range| self.range(range)).collect()
    }

    /// The root over a range of leaves. Each complete subtree in it is one row.
    fn range(&self, range: Range<u64>) -> Result<Hash, StoreError> {
        let node = |Subtree { height, index }| self.node(height, index);
        let roots: Vec<Hash> =
            subtrees(range).into_iter().map(node).collect::<Result<_, StoreError>>()?;
        Ok(join(&roots))
    }

    fn insert(&self, level: u32, index: u64, hash: Hash) -> Result<(), StoreError> {
        self.0.insert_log_node(level, index, &hash.0)
    }
}

#[cfg(test)]
mod tests {
    use exitgap_core::tlog::{consistency_proof, inclusion_proof, leaf_hash, root};

    use super::*;

    #[test]
    fn roots_and_proofs_are_those_of_the_whole_tree() {
        let db = Db::without_rules();
        let nodes = Nodes(&db);
        let leaves: Vec<Hash> = (0..70_u8).map(|n| leaf_hash(&[n])).collect();
        for (index, leaf) in (0..).zip(&leaves) {
            nodes.append(index, *leaf).unwrap();
        }
        for size in 0..=leaves.len() {
            let (prefix, whole) = (&leaves[..size], size as u64);
            assert_eq!(nodes.root(whole).unwrap(), root(prefix));
            for index in 0..size {
                let (expected, index) = (inclusion_proof(prefix, index), index as u64);
                assert_eq!(nodes.inclusion(index, whole).ok(), expected);
                let expected = consistency_proof(prefix, size - usize::try_from(index).unwrap());
                assert_eq!(nodes.consistency(whole - index, whole).ok(), expected);
            }
        }
        assert!(matches!(nodes.root(71), Err(StoreError::CorruptRow { table: "log_node", .. })));
    }
}
