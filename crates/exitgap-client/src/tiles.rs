//! Reads the log's tiles for one purpose: to prove that an older state of the log is a prefix of a newer one, or that
//! it is not. They are believed only as far as the proof leads to both roots.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use exitgap_api::Contradiction;
use exitgap_core::tlog::{
    Checkpoint, CheckpointError, Hash, Subtree, Tile, consistency_ranges, is_consistent, join,
    subtrees,
};

use crate::client::log_file;
use crate::{Client, ClientError, Transport};

/// The content of tiles about two states of their log.
pub(crate) struct TileProof {
    /// The proof that the older state is a prefix of the newer one.
    pub proof: Vec<Hash>,
    /// The older state's root.
    pub old_root: Hash,
    /// The newer state's root.
    pub root: Hash,
}

/// A state of a log, and its signed note.
type SignedCheckpoint<'a> = (&'a Checkpoint, &'a str);

impl<T: Transport> Client<T> {
    /// The proof that two signed states do not belong to one log, if so: `seen`, and the `newest` one from the service,
    /// which must cover at least as many slots. Signatures are not verified.
    pub async fn contradiction(
        &self,
        seen: &str,
        newest: &str,
    ) -> Result<Option<Contradiction>, ClientError> {
        let read = |note: &str| {
            let read = Checkpoint::from_note(note);
            let wrong = |error: CheckpointError| {
                self.not_as_specified(&log_file("checkpoint"), error.to_string())
            };
            read.map(|(checkpoint, _)| checkpoint).map_err(wrong)
        };
        self.contradicts((&read(seen)?, seen), (&read(newest)?, newest)).await
    }

    pub(crate) async fn contradicts(
        &self,
        (seen, seen_note): SignedCheckpoint<'_>,
        (newest, newest_note): SignedCheckpoint<'_>,
    ) -> Result<Option<Contradiction>, ClientError> {
        let of = |proves| {
            Contradiction::from_notes(seen_note.to_owned(), newest_note.to_owned(), proves)
        };
        if seen.size == newest.size {
            // Equal sizes need no proof.
            let differ = seen.root != newest.root;
            return Ok(differ.then(|| of(Contradiction::SPLIT_VIEW).with_fork(Vec::new(), None)));
        }
        let TileProof { proof, old_root, .. } = self.tile_proof(seen.size, newest).await?;
        if is_consistent(seen.size, seen.root, newest.size, newest.root, &proof) {
            return Ok(None);
        }
        Ok(Some(of(Contradiction::REWRITTEN).with_fork(proof, Some(old_root))))
    }

    /// The proof from a state of `old` slots to `new`, from tiles that lead to `new` from the old state that they
    /// contain themselves. Other tiles are ignored, so that damaged ones accuse no one.
    pub(crate) async fn tile_proof(
        &self,
        old: u64,
        new: &Checkpoint,
    ) -> Result<TileProof, ClientError> {
        let wrong = |why: String| self.not_as_specified(&log_file("tile"), why);
        let TileProof { proof, old_root, root } = self.proof_from_tiles(old, new.size).await?;
        if root != new.root {
            return Err(wrong(format!("its tiles do not give the root of its {} slots", new.size)));
        }
        if !is_consistent(old, old_root, new.size, root, &proof) {
            return Err(wrong(format!(
                "its tiles contradict each other within the first {} slots",
                new.size
            )));
        }
        Ok(TileProof { proof, old_root, root })
    }

    /// What the tiles of the log of `size` slots contain: its root, the root of its first `old` slots, and the proof
    /// that those are a prefix. The three are read from different tiles, so the caller must check that they agree.
    async fn proof_from_tiles(&self, old: u64, size: u64) -> Result<TileProof, ClientError> {
        let wrong = |why: &str| self.not_as_specified(&log_file("tile"), why);
        let ranges = consistency_ranges(old, size).filter(|_| old > 0);
        let ranges = ranges.ok_or_else(|| wrong("it does not have the slots to compare"))?;
        let ranges: Vec<_> = ranges.into_iter().map(subtrees).collect();
        let (before, whole) = (subtrees(0..old), subtrees(0..size));
        // A few dozen tiles at most.
        let mut tiles: BTreeMap<Tile, Vec<Hash>> = BTreeMap::new();
        for subtree in ranges.iter().flatten().chain(&before).chain(&whole) {
            let tile =
                Tile::for_subtree(*subtree, size).ok_or_else(|| wrong("a tile is missing"))?;
            if let Entry::Vacant(place) = tiles.entry(tile) {
                place.insert(self.hashes_of(tile).await?);
            }
        }
        let hash_of = |subtree: &Subtree| {
            let tile = Tile::for_subtree(*subtree, size)?;
            tile.root_of(*subtree, tiles.get(&tile)?)
        };
        let root = |subtrees: &Vec<Subtree>| {
            let roots: Option<Vec<Hash>> = subtrees.iter().map(hash_of).collect();
            Some(join(&roots?))
        };
        let proof: Option<Vec<Hash>> = ranges.iter().map(root).collect();
        let roots = root(&before).zip(root(&whole));
        let (proof, (old_root, root)) =
            proof.zip(roots).ok_or_else(|| wrong("hashes are missing"))?;
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
