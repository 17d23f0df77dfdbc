//! The leaves that a checkpoint signs. The log's entries are downloaded before any slot data, and accepted only if they
//! produce the signed root. A leaf then gives the number of heads in its slot, and their hash. The hash tiles are
//! computed from the entries and not downloaded.

use std::sync::Arc;

use exitgap_core::evidence::{MAX_LEAF_BYTES, Predecessor, SlotLeaf};
use exitgap_core::ids::DocumentHash;
use exitgap_core::log_folder::LogFile;
use exitgap_core::tlog::{
    Checkpoint, Frontier, Hash, TILE_WIDTH, Tile, TileKind, root, split_entries,
};

use super::error::CopyError;
use super::ordered::Ordered;
use super::{AT_ONCE, Log};

/// A leaf that a checkpoint signs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SignedLeaf {
    /// Its hash.
    pub hash: Hash,
    /// The number of heads in its slot, if this version can read it.
    pub pools: Option<u32>,
}

/// The first leaves of a log, as many as its newest checkpoint covers.
#[derive(Debug, Default)]
pub struct Leaves {
    signed: Vec<SignedLeaf>,
    tree: Frontier,
    predecessor: Option<DocumentHash>,
}

/// Downloaded tiles of entries that belong to the signed log.
pub type Entries = Vec<(Tile, Vec<u8>)>;

/// The maximum size, in bytes, of entries that are held before the signed root was compared.
const MAX_UNCHECKED_BYTES: usize = 32 << 20;

impl Leaves {
    /// The leaf at this index.
    pub fn at(&self, index: u64) -> Option<SignedLeaf> {
        self.signed.get(usize::try_from(index).ok()?).copied()
    }

    /// The tree of the leaves before this index.
    pub fn tree_before(&self, index: u64) -> Frontier {
        let mut tree = Frontier::default();
        let count = usize::try_from(index).unwrap_or(usize::MAX);
        self.signed.iter().take(count).for_each(|leaf| tree.push(leaf.hash));
        tree
    }

    /// The predecessor to which the first leaf commits.
    pub fn predecessor(&self) -> Option<DocumentHash> {
        self.predecessor
    }

    /// The total number of heads in all slots.
    pub fn heads(&self) -> u64 {
        self.signed.iter().filter_map(|leaf| leaf.pools).map(u64::from).sum()
    }

    /// Whether these are the leaves that a checkpoint signs.
    fn are_of(&self, checkpoint: &Checkpoint) -> bool {
        (self.tree.size(), self.tree.root()) == (checkpoint.size, checkpoint.root)
    }

    /// The bytes of a hash tile; `None` if these leaves do not cover it.
    pub fn tile(&self, tile: &Tile) -> Option<Vec<u8>> {
        let TileKind::Level(level) = tile.kind() else { return None };
        let leaves_per_hash = TILE_WIDTH.checked_pow(level)?;
        let mut bytes = Vec::new();
        for place in tile.places() {
            let first = place.checked_mul(leaves_per_hash)?;
            let of = usize::try_from(first).ok()?..usize::try_from(first + leaves_per_hash).ok()?;
            let hashes: Vec<Hash> = self.signed.get(of)?.iter().map(|leaf| leaf.hash).collect();
            bytes.extend_from_slice(&root(&hashes).0);
        }
        Some(bytes)
    }

    /// The leaves that fill complete tiles.
    fn whole_tiles(&self, size: u64) -> Self {
        let width = usize::try_from(TILE_WIDTH).unwrap_or(usize::MAX);
        let most = usize::try_from(size).unwrap_or(usize::MAX).min(self.signed.len());
        let mut kept = Self::default();
        self.signed.iter().take(most - most % width).for_each(|leaf| kept.push(*leaf));
        kept.predecessor = self.predecessor.filter(|_| !kept.signed.is_empty());
        kept
    }

    fn push(&mut self, leaf: SignedLeaf) {
        self.tree.push(leaf.hash);
        self.signed.push(leaf);
    }

    /// Adds the leaves of the next tile.
    fn push_tile(&mut self, entries: &[u8]) {
        for entry in split_entries(entries).0 {
            let leaf = SlotLeaf::from_canonical(entry).ok();
            if let Some(first) = leaf.as_ref().filter(|_| self.signed.is_empty()) {
                self.predecessor = first.commits.get(Predecessor::NAME);
            }
            let pools = leaf.map(|leaf| leaf.pools);
            self.push(SignedLeaf { hash: SlotLeaf::leaf_of(entry), pools });
        }
    }
}

impl Log {
    /// The leaves that a checkpoint signs, and the tiles of entries that were downloaded for them.
    pub(super) async fn leaves(
        self: &Arc<Self>,
        checkpoint: &Checkpoint,
    ) -> Result<(Arc<Leaves>, Entries), CopyError> {
        let known = self.known_leaves();
        if known.are_of(checkpoint) {
            return Ok((known, Vec::new()));
        }
        // The copy may belong to another history of the log. An audit decides that, and needs what the newest
        // checkpoint signs.
        for reads_copy in [true, false] {
            let mut leaves =
                if reads_copy { known.whole_tiles(checkpoint.size) } else { Leaves::default() };
            let (mut fetched, mut tiles) =
                (Vec::new(), entry_tiles(leaves.tree.size(), checkpoint.size));
            let (mut reading, mut held) = (Ordered::new(), 0);
            loop {
                while reading.len() < AT_ONCE
                    && let Some(tile) = tiles.next()
                {
                    let log = Arc::clone(self);
                    reading.begin(async move { log.read_entries(tile, reads_copy).await });
                }
                let Some(read) = reading.next().await else { break };
                let (tile, bytes, is_here) = read?;
                leaves.push_tile(&bytes);
                // What is not kept here is fetched again once the leaves are known to be the signed ones.
                if !is_here && held + bytes.len() <= MAX_UNCHECKED_BYTES {
                    held += bytes.len();
                    fetched.push((tile, bytes));
                }
            }
            if leaves.are_of(checkpoint) {
                let leaves = Arc::new(leaves);
                self.set_known_leaves(Arc::clone(&leaves));
                return Ok((leaves, fetched));
            }
        }
        let url = self.fetcher.url(&LogFile::Checkpoint);
        let size = checkpoint.size;
        Err(CopyError::Invalid {
            url,
            why: format!("the log's {size} entries do not give the root that is signed"),
        })
    }

    /// A tile's entries, and whether they are in the copy. If the log has grown since, the full tile at its place
    /// begins with them.
    async fn read_entries(
        &self,
        tile: Tile,
        reads_copy: bool,
    ) -> Result<(Tile, Vec<u8>, bool), CopyError> {
        let full = Tile::new(tile.kind(), tile.places().start / TILE_WIDTH, TILE_WIDTH);
        let wider = full.filter(|_| !tile.is_full());
        let places = || [Some(tile), wider].into_iter().flatten();
        for here in places().filter(|_| reads_copy) {
            let bytes = self.place.read_file(&LogFile::Tile(here), most_of(&here))?;
            if let Some(bytes) = bytes.and_then(|bytes| first_of(&tile, &here, bytes)) {
                return Ok((tile, bytes, here == tile));
            }
        }
        for there in places() {
            let file = LogFile::Tile(there);
            let Some(bytes) = self.fetcher.bytes(&file, most_of(&there)).await? else { continue };
            let count = bytes.len();
            let bytes = first_of(&tile, &there, bytes).ok_or_else(|| CopyError::Invalid {
                url: self.fetcher.url(&file),
                why: format!("{count} bytes are not a valid tile"),
            })?;
            return Ok((tile, bytes, false));
        }
        Err(CopyError::Absent { url: self.fetcher.url(&LogFile::Tile(tile)) })
    }

    /// Writes the tiles that became new or wider as the log grew to the copy. Tiles of entries were downloaded before,
    /// or are downloaded again.
    pub(super) async fn put_tiles(
        &self,
        before: u64,
        size: u64,
        leaves: &Leaves,
        mut entries: Entries,
    ) -> Result<(), CopyError> {
        for tile in Tile::grown(before, size) {
            let file = LogFile::Tile(tile);
            if self.place.length(&file)?.is_some() {
                continue;
            }
            let fetched = entries.iter().position(|(fetched, _)| *fetched == tile);
            let bytes = match (tile.kind(), fetched) {
                (TileKind::Level(_), _) => {
                    let absent = || CopyError::Absent { url: self.fetcher.url(&file) };
                    leaves.tile(&tile).ok_or_else(absent)?
                }
                (TileKind::Entries, Some(place)) => entries.swap_remove(place).1,
                (TileKind::Entries, None) => self.signed_entries(tile, leaves).await?,
            };
            self.place.put(&file, &bytes)?;
        }
        Ok(())
    }

    /// A tile's entries, which must be the signed ones.
    async fn signed_entries(&self, tile: Tile, leaves: &Leaves) -> Result<Vec<u8>, CopyError> {
        let (_, bytes, _) = self.read_entries(tile, false).await?;
        let is_signed = |(index, entry): (u64, &&[u8])| {
            leaves.at(index).is_some_and(|leaf| leaf.hash == SlotLeaf::leaf_of(entry))
        };
        if tile.places().zip(&split_entries(&bytes).0).all(is_signed) {
            return Ok(bytes);
        }
        let url = self.fetcher.url(&LogFile::Tile(tile));
        let why = "its entries are not those that the checkpoint signs".to_owned();
        Err(CopyError::NotSigned { url, why })
    }
}

/// The tiles of entries that became new or wider as the log grew.
fn entry_tiles(before: u64, size: u64) -> impl Iterator<Item = Tile> {
    Tile::grown(before, size).filter(|tile| tile.kind() == TileKind::Entries)
}

/// Maximum size of a tile of entries.
fn most_of(tile: &Tile) -> usize {
    usize::try_from(tile.width()).unwrap_or(usize::MAX).saturating_mul(MAX_LEAF_BYTES + 2)
}

/// The entries of a tile, from the bytes of a tile that is at least as wide; `None` if the bytes do not match.
fn first_of(tile: &Tile, from: &Tile, mut bytes: Vec<u8>) -> Option<Vec<u8>> {
    let (entries, rest) = split_entries(&bytes);
    if entries.len() as u64 != from.width() || !rest.is_empty() {
        return None;
    }
    let count = usize::try_from(tile.width()).ok()?;
    let length = entries.iter().take(count).map(|entry| entry.len() + 2).sum();
    bytes.truncate(length);
    Some(bytes)
}
