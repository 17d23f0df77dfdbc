//! Tiles (C2SP `tlog-tiles`): a published log's tree in files of up to 256 hashes, each covering eight levels of the
//! tree, and the leaves' data in files of up to 256 entries.

use core::ops::Range;
use core::str::FromStr;

use super::tree::{Hash, Subtree, root};

/// The number of hashes or entries in a full tile.
pub const TILE_WIDTH: u64 = 1 << TILE_HEIGHT;

/// Levels of the tree that one tile spans.
const TILE_HEIGHT: u32 = 8;

/// The number of tile levels in a log of up to `2^64 - 1` leaves.
const LEVELS: u32 = u64::BITS / TILE_HEIGHT;

/// The content of a tile.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum TileKind {
    /// Roots of complete subtrees of `256^level` leaves, where the level is 0 to 7.
    Level(u32),
    /// The leaves' data.
    Entries,
}

/// A tile of a log.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Tile {
    shelf: TileKind,
    index: u64,
    /// 1 to 256.
    width: u64,
}

impl Tile {
    /// The tile at this index of its level or of the entries, with the first `width` hashes or entries; `None` if no
    /// log can have it.
    pub fn new(shelf: TileKind, index: u64, width: u64) -> Option<Self> {
        let height = match shelf {
            TileKind::Level(level) if level >= LEVELS => return None,
            TileKind::Level(level) => level * TILE_HEIGHT,
            TileKind::Entries => 0,
        };
        let end = index.checked_mul(TILE_WIDTH)?.checked_add(width)?;
        let fits = (1..=TILE_WIDTH).contains(&width) && end <= u64::MAX >> height;
        fits.then_some(Self { shelf, index, width })
    }

    /// The tile whose hashes give the root of a complete subtree, as wide as it is in a log of `size` leaves; `None` if
    /// the log does not contain the subtree.
    pub fn for_subtree(subtree: Subtree, size: u64) -> Option<Self> {
        let (level, low) = (subtree.height / TILE_HEIGHT, subtree.height % TILE_HEIGHT);
        let hashes = size.checked_shr(level * TILE_HEIGHT)?;
        let end = subtree.index.checked_add(1)?.checked_mul(1 << low)?;
        if end > hashes {
            return None;
        }
        let index = (subtree.index << low) / TILE_WIDTH;
        Self::new(TileKind::Level(level), index, (hashes - index * TILE_WIDTH).min(TILE_WIDTH))
    }

    /// The tiles that were created or became wider when the log grew from `before` to `size` leaves.
    pub fn grown(before: u64, size: u64) -> impl Iterator<Item = Self> {
        shelves(before, size).flat_map(|(shelf, before, size)| {
            (before / TILE_WIDTH..size.div_ceil(TILE_WIDTH)).filter_map(move |index| {
                Self::new(shelf, index, (size - index * TILE_WIDTH).min(TILE_WIDTH))
            })
        })
    }

    /// The full ones among those tiles. Narrower tiles at the same index are no longer needed.
    pub fn full_tiles(before: u64, size: u64) -> impl Iterator<Item = Self> {
        Self::grown(before, size).filter(Self::is_full)
    }

    /// The content of the tile.
    pub fn kind(&self) -> TileKind {
        self.shelf
    }

    /// The number of hashes or entries: 1 to 256.
    pub fn width(&self) -> u64 {
        self.width
    }

    /// Whether it has its maximum width and therefore never changes.
    pub fn is_full(&self) -> bool {
        self.width == TILE_WIDTH
    }

    /// The range of hashes or entries that it holds, by index in its level.
    pub fn places(&self) -> Range<u64> {
        let first = self.index * TILE_WIDTH;
        first..first + self.width
    }

    /// The complete subtrees whose roots it holds. Empty for a tile of entries.
    pub fn subtrees(&self) -> impl Iterator<Item = Subtree> {
        let level = match self.shelf {
            TileKind::Level(level) => Some(level),
            TileKind::Entries => None,
        };
        let places = self.places();
        let of = move |level: u32| {
            places.map(move |index| Subtree { height: level * TILE_HEIGHT, index })
        };
        level.map(of).into_iter().flatten()
    }

    /// Its path below the log: `tile/<level>/<index>`, followed by `.p/<width>` if it is not full. The index is written
    /// in groups of three digits, and every group except the last starts with `x`: `x001/x234/067`.
    pub fn path(&self) -> String {
        let full = self.path_when_full();
        if self.is_full() { full } else { format!("{full}.p/{}", self.width) }
    }

    /// The path of the full tile at the same index. With `.p` appended, it is the folder of the narrower tiles.
    pub fn path_when_full(&self) -> String {
        let shelf = match self.shelf {
            TileKind::Level(level) => level.to_string(),
            TileKind::Entries => "entries".to_owned(),
        };
        let mut groups = format!("{:03}", self.index % 1_000);
        let mut rest = self.index / 1_000;
        while rest > 0 {
            groups = format!("x{:03}/{groups}", rest % 1_000);
            rest /= 1_000;
        }
        format!("tile/{shelf}/{groups}")
    }

    /// The root of a complete subtree, computed from the hashes of the tile that covers it; `None` if this tile does
    /// not cover the subtree or the number of hashes is wrong.
    pub fn root_of(&self, subtree: Subtree, hashes: &[Hash]) -> Option<Hash> {
        let low = subtree.height % TILE_HEIGHT;
        let count = 1 << low;
        let first = subtree.index.checked_mul(count)?.checked_sub(self.places().start)?;
        let first = usize::try_from(first).ok()?;
        let is_level = self.shelf == TileKind::Level(subtree.height / TILE_HEIGHT);
        let own = hashes.get(first..first.checked_add(1 << low)?)?;
        (is_level && hashes.len() as u64 == self.width).then(|| root(own))
    }
}

/// The tile levels (and the entries) that grew when the log grew from `before` to `size` leaves, each with its length
/// before and after.
fn shelves(before: u64, size: u64) -> impl Iterator<Item = (TileKind, u64, u64)> {
    let levels = (0..LEVELS).map(|level| (TileKind::Level(level), level * TILE_HEIGHT));
    levels
        .chain([(TileKind::Entries, 0)])
        .map(move |(shelf, height)| (shelf, before >> height, size >> height))
        .filter(|(_, before, size)| before < size)
}

/// The text is not the path of a tile.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("expected tile/<level>/<index> or tile/entries/<index>, optionally followed by .p/<width>")]
pub struct TilePathError;

impl FromStr for Tile {
    type Err = TilePathError;

    /// Parses a path. Each tile has exactly one valid path.
    fn from_str(path: &str) -> Result<Self, TilePathError> {
        // Longer than any valid path, which has at most seven index groups and a width.
        const MOST_BYTES: usize = 64;
        let read = || {
            let (shelf, rest) = path.strip_prefix("tile/")?.split_once('/')?;
            let shelf = match shelf {
                "entries" => TileKind::Entries,
                level => TileKind::Level(level.parse().ok()?),
            };
            let (index, width) = match rest.split_once(".p/") {
                Some((index, width)) => (index, width.parse().ok()?),
                None => (rest, TILE_WIDTH),
            };
            let digits: String = index.chars().filter(char::is_ascii_digit).collect();
            Self::new(shelf, digits.parse().ok()?, width)
        };
        let tile = Some(path).filter(|path| path.len() <= MOST_BYTES).and_then(|_| read());
        tile.filter(|tile| tile.path() == path).ok_or(TilePathError)
    }
}

/// Appends a leaf's data to a tile of entries: its length in two bytes, then the data. Returns whether the data is
/// short enough.
#[must_use]
pub fn push_entry(tile: &mut Vec<u8>, entry: &[u8]) -> bool {
    let length = u16::try_from(entry.len());
    if let Ok(length) = length {
        tile.extend_from_slice(&length.to_be_bytes());
        tile.extend_from_slice(entry);
    }
    length.is_ok()
}

/// Splits a tile into its complete entries and the remaining bytes. Nothing remains if the tile is complete.
pub fn split_entries(tile: &[u8]) -> (Vec<&[u8]>, &[u8]) {
    let (mut entries, mut rest) = (Vec::new(), tile);
    while let Some((length, after)) = rest.split_first_chunk::<2>() {
        let length = usize::from(u16::from_be_bytes(*length));
        let Some((entry, after)) = after.split_at_checked(length) else { break };
        entries.push(entry);
        rest = after;
    }
    (entries, rest)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{consistency_proof, consistency_ranges, join, leaf_hash, subtrees};
    use std::collections::BTreeMap;

    #[test]
    fn tiles_lie_where_the_format_has_them_and_nowhere_else() {
        let at = |index, width| Tile::new(TileKind::Level(0), index, width).unwrap().path();
        assert_eq!(at(0, 256), "tile/0/000");
        assert_eq!(at(67, 5), "tile/0/067.p/5");
        assert_eq!(at(999, 256), "tile/0/999");
        assert_eq!(at(1_000, 255), "tile/0/x001/000.p/255");
        assert_eq!(at(1_234_067, 256), "tile/0/x001/x234/067");
        for path in [
            "tile/0/000",
            "tile/7/000.p/255",
            "tile/entries/x001/234.p/255",
            "tile/entries/000",
            "tile/0/x072/x057/x594/x037/x927/934",
        ] {
            assert_eq!(path.parse().map(|tile: Tile| tile.path()), Ok(path.to_owned()));
        }
        for path in [
            "",
            "tile",
            "tile/0",
            "tile/0/",
            "tile/8/000",
            "tile/00/000",
            "tile/+0/000",
            "tile/-1/000",
            "tile/entry/000",
            "tile/0/0",
            "tile/0/0000",
            "tile/0/x000/001",
            "tile/0/001/000",
            "tile/0/x001",
            "tile/0/x001/x000",
            "tile/0/..",
            "tile/0/../000",
            "tile/0//000",
            "tile/0/000/",
            "/tile/0/000",
            "tile/0/000.p",
            "tile/0/000.p/",
            "tile/0/000.p/0",
            "tile/0/000.p/256",
            "tile/0/000.p/07",
            "tile/0/000.p/7/8",
            "tile/0/000.p/7.p/8",
            "tile/0/\u{661}00",
            "tile/1/x072/x057/x594/x037/x927/934",
            "tile/0/x999/x999/x999/x999/x999/x999/999",
        ] {
            assert_eq!(path.parse::<Tile>(), Err(TilePathError), "{path}");
        }
    }

    #[test]
    fn growth_makes_and_fills_the_tiles_it_touches() {
        let paths = |tiles: Vec<Tile>| tiles.iter().map(Tile::path).collect::<Vec<_>>();
        let grown = |before, size| paths(Tile::grown(before, size).collect());
        assert_eq!(grown(0, 1), ["tile/0/000.p/1", "tile/entries/000.p/1"]);
        assert_eq!(grown(255, 256), ["tile/0/000", "tile/1/000.p/1", "tile/entries/000"]);
        assert_eq!(grown(256, 300), ["tile/0/001.p/44", "tile/entries/001.p/44"]);
        assert_eq!(grown(300, 300), [""; 0]);
        let filled = paths(Tile::full_tiles(255, 600).collect());
        let expected = ["tile/0/000", "tile/0/001", "tile/entries/000", "tile/entries/001"];
        assert_eq!(filled, expected);
        assert_eq!(Tile::new(TileKind::Level(7), 0, 256), None, "no log is as large");
        assert_eq!(Tile::for_subtree(Subtree { height: 0, index: 5 }, 5), None);
        assert_eq!(Tile::for_subtree(Subtree { height: 64, index: 0 }, u64::MAX), None);
    }

    #[test]
    fn entries_are_split_as_they_were_put_together() {
        let mut tile = Vec::new();
        assert!(push_entry(&mut tile, b"first") && push_entry(&mut tile, b""));
        assert!(!push_entry(&mut tile, &vec![0; 1 << 16]));
        assert_eq!(split_entries(&tile), (vec![&b"first"[..], b""], &b""[..]));
        assert_eq!(split_entries(&tile[..6]), (vec![], &tile[..6]));
        assert_eq!(split_entries(&tile[..8]), (vec![&b"first"[..]], &tile[7..8]));
    }

    /// The tiles of a log, as a folder stores them.
    fn tiles(leaves: &[Hash]) -> BTreeMap<Tile, Vec<Hash>> {
        let is_hashes = |tile: &Tile| tile.kind() != TileKind::Entries;
        let of = |subtree: Subtree| {
            let first = usize::try_from(subtree.index << subtree.height).unwrap();
            root(&leaves[first..first + (1 << subtree.height)])
        };
        let tiles = Tile::grown(0, leaves.len() as u64).filter(is_hashes);
        tiles.map(|tile| (tile, tile.subtrees().map(of).collect())).collect()
    }

    #[test]
    fn proofs_from_tiles_are_those_from_leaves() {
        let leaves: Vec<Hash> = (0_u32..70_000).map(|n| leaf_hash(&n.to_be_bytes())).collect();
        let sizes = [1, 2, 3, 255, 256, 257, 511, 512, 2_016, 65_535, 65_536, 65_537, 70_000];
        for size in sizes {
            let tiles = tiles(&leaves[..size]);
            let of_run = |run: Range<u64>| {
                let of = |subtree| {
                    let tile = Tile::for_subtree(subtree, size as u64)?;
                    tile.root_of(subtree, &tiles[&tile])
                };
                let roots: Option<Vec<_>> = subtrees(run).into_iter().map(of).collect();
                roots.map(|roots| join(&roots))
            };
            for old in sizes.into_iter().filter(|old| *old <= size) {
                let ranges = consistency_ranges(old as u64, size as u64).unwrap();
                let made: Option<Vec<Hash>> = ranges.into_iter().map(of_run).collect();
                assert_eq!(made, consistency_proof(&leaves[..size], old), "{old} to {size}");
            }
            assert_eq!(of_run(0..size as u64), Some(root(&leaves[..size])), "{size}");
        }
    }
}
