//! The log's tiles, built leaf by leaf; each is compared with the published one as soon as it is full.

use exitgap_core::evidence::SlotLeaf;
use exitgap_core::tlog::{Hash, root};

use super::fault::Rule;
use super::folder::{FolderReader, TILE_WIDTH};

/// The published tiles of a log of known size, and the hashes they should contain.
pub struct Tiles<'a> {
    folder: &'a FolderReader,
    size: u64,
    entries: Vec<Vec<u8>>,
    /// The published level-0 tile that contains the current leaf.
    leaves: (String, Vec<Hash>),
    /// For each level, the hashes of the tile that is not yet full, and the tile's index.
    levels: Vec<(u64, Vec<Hash>)>,
}

impl<'a> Tiles<'a> {
    pub fn new(folder: &'a FolderReader, size: u64) -> Self {
        let (entries, leaves, levels) = (Vec::new(), Default::default(), Vec::new());
        Self { folder, size, entries, leaves, levels }
    }

    /// Adds leaf `index`, whose data must equal the published entry and whose hash the published one.
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

    /// Adds a hash to a level; a full level becomes one hash of the next level.
    fn grow(&mut self, level: u32, hash: Hash) -> Result<(), Rule> {
        if self.levels.len() == level as usize {
            self.levels.push((0, Vec::new()));
        }
        let (index, hashes) = &mut self.levels[level as usize];
        hashes.push(hash);
        if hashes.len() < TILE_WIDTH {
            return Ok(());
        }
        let (full, tile) = (core::mem::take(hashes), *index);
        *index += 1;
        self.check(level, tile, &full)?;
        self.grow(level + 1, root(&full))
    }

    /// Compares the partial tiles at the log's end.
    pub fn finish(&self) -> Result<(), Rule> {
        for (level, (index, hashes)) in (0..).zip(&self.levels) {
            if !hashes.is_empty() {
                self.check(level, *index, hashes)?;
            }
        }
        Ok(())
    }

    /// Level 0 was already compared leaf by leaf.
    fn check(&self, level: u32, index: u64, expected: &[Hash]) -> Result<(), Rule> {
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

/// The leaf hashes of a log of `size`, from its tiles. They prove nothing until a signed root is computed from them.
pub fn leaf_hashes(folder: &FolderReader, size: u64) -> Result<Vec<Hash>, Rule> {
    let (mut hashes, width) = (Vec::new(), TILE_WIDTH as u64);
    for tile in 0..size.div_ceil(width) {
        let left = usize::try_from(size - tile * width).unwrap_or(TILE_WIDTH).min(TILE_WIDTH);
        hashes.extend(folder.hashes(0, tile, left)?.1);
    }
    Ok(hashes)
}
