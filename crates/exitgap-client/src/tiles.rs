//! The log's tiles, read for one purpose: the proof that an older state of the log is a prefix of a
//! newer one. What they say is believed only as far as the proof leads to both roots.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use exitgap_core::tlog::{Hash, Subtree, Tile, consistency_ranges, join, subtrees};

use crate::client::log_file;
use crate::{Client, ClientError, Transport};

/// What tiles say of two states of their log.
pub(crate) struct TileProof {
    /// That the older is a prefix of the newer.
    pub proof: Vec<Hash>,
    /// The older state's root.
    pub old_root: Hash,
    /// The newer state's root.
    pub root: Hash,
}

impl<T: Transport> Client<T> {
    /// What the tiles of the log of `size` slots say of it: its root, that of its first `old` slots,
    /// and the proof that those are a prefix. The three are read from different tiles: whether they
    /// agree is for the caller to see.
    pub(crate) async fn proof_from_tiles(
        &self,
        old: u64,
        size: u64,
    ) -> Result<TileProof, ClientError> {
        let wrong = |why: &str| self.not_as_specified(&log_file("tile"), why);
        let ranges = consistency_ranges(old, size).filter(|_| old > 0);
        let ranges = ranges.ok_or_else(|| wrong("it does not hold the slots to compare"))?;
        let ranges: Vec<_> = ranges.into_iter().map(subtrees).collect();
        let (before, whole) = (subtrees(0..old), subtrees(0..size));
        // A few dozen tiles at most.
        let mut tiles: BTreeMap<Tile, Vec<Hash>> = BTreeMap::new();
        for subtree in ranges.iter().flatten().chain(&before).chain(&whole) {
            let tile = Tile::holding(*subtree, size).ok_or_else(|| wrong("a tile is absent"))?;
            if let Entry::Vacant(place) = tiles.entry(tile) {
                place.insert(self.hashes_of(tile).await?);
            }
        }
        let hash_of = |subtree: &Subtree| {
            let tile = Tile::holding(*subtree, size)?;
            tile.root_of(*subtree, tiles.get(&tile)?)
        };
        let root = |subtrees: &Vec<Subtree>| {
            let roots: Option<Vec<Hash>> = subtrees.iter().map(hash_of).collect();
            Some(join(&roots?))
        };
        let proof: Option<Vec<Hash>> = ranges.iter().map(root).collect();
        let roots = root(&before).zip(root(&whole));
        let (proof, (old_root, root)) =
            proof.zip(roots).ok_or_else(|| wrong("hashes are absent"))?;
        Ok(TileProof { proof, old_root, root })
    }

    async fn hashes_of(&self, tile: Tile) -> Result<Vec<Hash>, ClientError> {
        let path = tile.path();
        let bytes = self.tile(&path).await?;
        let (hashes, rest) = bytes.as_chunks::<32>();
        if !rest.is_empty() || hashes.len() as u64 != tile.width() {
            let why = format!("{} bytes are not {} hashes", bytes.len(), tile.width());
            return Err(self.not_as_specified(&log_file(&path), why));
        }
        Ok(hashes.iter().copied().map(Hash).collect())
    }
}
