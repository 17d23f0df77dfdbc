//! The log's tree, grown leaf by leaf in constant memory: its root at every size, and
//! its tiles, each compared with the published one as soon as it is full.

use exitgap_core::evidence::{Hash, SlotLeaf, node_hash, root};

use super::fault::Rule;
use super::folder::{FolderReader, TILE_WIDTH};

/// The roots of the complete subtrees that make up a tree, largest first.
#[derive(Default)]
pub struct Frontier {
    size: u64,
    roots: Vec<Hash>,
}

impl Frontier {
    pub fn push(&mut self, leaf: Hash) {
        let (mut hash, mut below) = (leaf, self.size);
        while below & 1 == 1 {
            hash = self.roots.pop().map_or(hash, |left| node_hash(left, hash));
            below >>= 1;
        }
        self.roots.push(hash);
        self.size += 1;
    }

    pub fn root(&self) -> Hash {
        let whole = self.roots.iter().rev().copied().reduce(|right, left| node_hash(left, right));
        whole.unwrap_or_else(|| root(&[]))
    }
}

/// The published tiles of a log of known size, and the hashes they should hold.
pub struct Tiles<'a> {
    folder: &'a FolderReader,
    size: u64,
    entries: Vec<Vec<u8>>,
    /// The published tile of level 0 that holds the current leaf.
    leaves: (String, Vec<Hash>),
    /// Per level, the hashes of the tile that is not yet full, and that tile's index.
    levels: Vec<(u64, Vec<Hash>)>,
}

impl<'a> Tiles<'a> {
    pub fn new(folder: &'a FolderReader, size: u64) -> Self {
        let (entries, leaves, levels) = (Vec::new(), Default::default(), Vec::new());
        Self { folder, size, entries, leaves, levels }
    }

    /// Adds leaf `index`, whose data must be the published entry and whose hash the
    /// published one.
    pub fn push(&mut self, index: u64, data: &[u8]) -> Result<Hash, Rule> {
        let width = TILE_WIDTH as u64;
        let (tile, within) = (index / width, usize::try_from(index % width).unwrap_or(0));
        if within == 0 {
            let left = usize::try_from(self.size - index).unwrap_or(TILE_WIDTH).min(TILE_WIDTH);
            self.entries = self.folder.entries(tile, left)?;
            self.leaves = self.folder.hashes(0, tile, left)?;
        }
        if self.entries[within] != data {
            let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).chars().take(200).collect();
            let (expected, found) = (text(&self.entries[within]), text(data));
            return Err(Rule::LeafEntry { expected, found });
        }
        let expected = SlotLeaf::leaf_of(data);
        let (file, hashes) = (&self.leaves.0, &self.leaves.1);
        compare(file, within, expected, hashes[within])?;
        self.grow(0, expected)?;
        Ok(expected)
    }

    /// Adds a hash to a level; a level that is full becomes one hash of the next.
    fn grow(&mut self, level: usize, hash: Hash) -> Result<(), Rule> {
        if self.levels.len() == level {
            self.levels.push((0, Vec::new()));
        }
        let (index, hashes) = &mut self.levels[level];
        hashes.push(hash);
        if hashes.len() < TILE_WIDTH {
            return Ok(());
        }
        let (full, tile) = (core::mem::take(hashes), *index);
        *index += 1;
        self.check(level, tile, &full)?;
        self.grow(level + 1, root(&full))
    }

    /// Compares the tiles that are not full: the log's edge.
    pub fn finish(&self) -> Result<(), Rule> {
        for (level, (index, hashes)) in self.levels.iter().enumerate() {
            if !hashes.is_empty() {
                self.check(level, *index, hashes)?;
            }
        }
        Ok(())
    }

    /// Level 0 was compared leaf by leaf.
    fn check(&self, level: usize, index: u64, expected: &[Hash]) -> Result<(), Rule> {
        if level == 0 {
            return Ok(());
        }
        let (file, found) = self.folder.hashes(level, index, expected.len())?;
        let mut pairs = expected.iter().zip(found).enumerate();
        pairs.try_for_each(|(within, (expected, found))| compare(&file, within, *expected, found))
    }
}

fn compare(file: &str, index: usize, expected: Hash, found: Hash) -> Result<(), Rule> {
    if expected == found {
        return Ok(());
    }
    Err(Rule::TileMismatch { file: file.to_owned(), index, expected, found })
}

/// The leaf hashes of a log of `size`, as its tiles have them. They prove nothing until
/// a signed root is computed from them.
pub fn leaf_hashes(folder: &FolderReader, size: u64) -> Result<Vec<Hash>, Rule> {
    let (mut hashes, width) = (Vec::new(), TILE_WIDTH as u64);
    for tile in 0..size.div_ceil(width) {
        let left = usize::try_from(size - tile * width).unwrap_or(TILE_WIDTH).min(TILE_WIDTH);
        hashes.extend(folder.hashes(0, tile, left)?.1);
    }
    Ok(hashes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use exitgap_core::evidence::leaf_hash;

    #[test]
    fn a_frontier_has_the_root_of_the_whole_tree_at_every_size() {
        let (mut frontier, mut leaves) = (Frontier::default(), Vec::new());
        for number in 0..=130_u8 {
            assert_eq!(frontier.root(), root(&leaves));
            leaves.push(leaf_hash(&[number]));
            frontier.push(leaves[leaves.len() - 1]);
        }
    }
}
