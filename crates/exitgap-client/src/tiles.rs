//! The log's tiles (C2SP tlog-tiles), read for one purpose: the proof that an older state of the
//! log is a prefix of a newer one. What they say is believed only as far as the proof leads to
//! both roots.

use std::collections::BTreeMap;

use exitgap_core::evidence::{Hash, node_hash};

use crate::{Client, ClientError, Transport};

/// A complete subtree: its height, and its place among those of this height.
type Node = (u32, u64);

/// Tiles by level and index.
type Tiles = BTreeMap<(u32, u64), Vec<Hash>>;

/// Heights that one tile spans.
const TILE_HEIGHT: u32 = 8;

/// Hashes of a full tile.
const TILE_WIDTH: u64 = 1 << TILE_HEIGHT;

/// The RFC 6962 subtrees whose roots prove that the first `old` leaves are a prefix of `new`,
/// in the proof's order.
fn proof_ranges(old: u64, new: u64) -> Vec<(u64, u64)> {
    let mut ranges = Vec::new();
    let (mut start, mut end, mut whole) = (0, new, true);
    while old != end {
        let middle = start + split(end - start);
        if old <= middle {
            ranges.push((middle, end));
            end = middle;
        } else {
            ranges.push((start, middle));
            start = middle;
            whole = false;
        }
    }
    if !whole {
        ranges.push((start, end));
    }
    ranges.reverse();
    ranges
}

/// The largest power of two below `size`, which is at least two.
fn split(size: u64) -> u64 {
    // The next power of two above the largest sizes does not fit into 64 bits.
    1 << (size - 1).ilog2()
}

/// The complete subtrees that a range is made of, from left to right.
fn nodes((mut start, end): (u64, u64)) -> Vec<Node> {
    let mut nodes = Vec::new();
    while start < end {
        let fits = (end - start).ilog2();
        let height = if start == 0 { fits } else { fits.min(start.trailing_zeros()) };
        nodes.push((height, start >> height));
        start += 1 << height;
    }
    nodes
}

/// The tile that holds what a node's hash is made of: its level, its index, its width in a log of
/// `size` leaves.
fn tile_of((height, index): Node, size: u64) -> (u32, u64, u64) {
    let level = height / TILE_HEIGHT;
    let tile = (index << (height % TILE_HEIGHT)) / TILE_WIDTH;
    let hashes = size >> (level * TILE_HEIGHT);
    (level, tile, (hashes - tile * TILE_WIDTH).min(TILE_WIDTH))
}

/// `tile/<level>/<index>[.p/<width>]`, the index in groups of three digits.
fn tile_path((level, index, width): (u32, u64, u64)) -> String {
    let mut groups = vec![format!("{:03}", index % 1_000)];
    let mut rest = index / 1_000;
    while rest > 0 {
        groups.push(format!("x{:03}", rest % 1_000));
        rest /= 1_000;
    }
    groups.reverse();
    let partial = if width < TILE_WIDTH { format!(".p/{width}") } else { String::new() };
    format!("tile/{level}/{}{partial}", groups.join("/"))
}

/// The root of a complete subtree whose entries are `hashes`.
fn fold(mut hashes: Vec<Hash>) -> Option<Hash> {
    while hashes.len() > 1 {
        hashes = hashes.chunks(2).map(|pair| node_hash(pair[0], pair[pair.len() - 1])).collect();
    }
    hashes.pop()
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
        let wrong = |why: &str| self.not_as_specified("/log/tile", why);
        if old == 0 || old > size {
            return Err(wrong("it does not hold the slots to compare"));
        }
        let (before, whole) = (nodes((0, old)), nodes((0, size)));
        let ranges: Vec<_> = proof_ranges(old, size).into_iter().map(nodes).collect();
        let nodes = ranges.iter().flatten().chain(&before).chain(&whole);
        // A few dozen at most; a set that sorts them is more for a browser to load.
        let mut wanted = Vec::new();
        for tile in nodes.map(|node| tile_of(*node, size)) {
            if !wanted.contains(&tile) {
                wanted.push(tile);
            }
        }
        let mut tiles = BTreeMap::new();
        for tile in wanted {
            let path = tile_path(tile);
            let bytes = self.tile(&path).await?;
            let hashes: Vec<Hash> = bytes.as_chunks::<32>().0.iter().copied().map(Hash).collect();
            let expected = usize::try_from(tile.2).unwrap_or(usize::MAX);
            if bytes.len() % 32 != 0 || hashes.len() != expected {
                let why = format!("{} bytes are not {expected} hashes", bytes.len());
                return Err(self.not_as_specified(&format!("/log/{path}"), why));
            }
            tiles.insert((tile.0, tile.1), hashes);
        }
        let root = |nodes: &Vec<Node>| root_of(&tiles, nodes, size);
        let proof: Option<Vec<Hash>> = ranges.iter().map(root).collect();
        let roots = root(&before).zip(root(&whole));
        let (proof, (old_root, root)) =
            proof.zip(roots).ok_or_else(|| wrong("hashes are absent"))?;
        Ok(TileProof { proof, old_root, root })
    }
}

/// What tiles say of two states of their log.
pub(crate) struct TileProof {
    /// That the older is a prefix of the newer.
    pub proof: Vec<Hash>,
    /// The older state's root.
    pub old_root: Hash,
    /// The newer state's root.
    pub root: Hash,
}

/// The root over neighbouring complete subtrees.
fn root_of(tiles: &Tiles, nodes: &[Node], size: u64) -> Option<Hash> {
    let mut hashes = nodes.iter().rev().map(|node| node_hash_in(tiles, *node, size));
    let last = hashes.next()??;
    hashes.try_fold(last, |right, left| Some(node_hash(left?, right)))
}

fn node_hash_in(tiles: &Tiles, node: Node, size: u64) -> Option<Hash> {
    let (level, tile, _) = tile_of(node, size);
    let low = node.0 % TILE_HEIGHT;
    let first = usize::try_from((node.1 << low) % TILE_WIDTH).ok()?;
    fold(tiles.get(&(level, tile))?.get(first..first + (1 << low))?.to_vec())
}

#[cfg(test)]
mod tests {
    use super::*;
    use exitgap_core::evidence::{consistency_proof, leaf_hash, root};

    #[test]
    fn sizes_up_to_the_largest_end() {
        assert_eq!([2, 3, 4, 5, 1 << 63, u64::MAX].map(split), [1, 2, 2, 4, 1 << 62, 1 << 63]);
        assert_eq!(proof_ranges(5, u64::MAX).len(), 65);
    }

    /// The tiles of a log, as a folder would hold them.
    fn tiles(leaves: &[Hash]) -> Tiles {
        let mut tiles = BTreeMap::new();
        let (mut level, mut hashes) = (0, leaves.to_vec());
        while !hashes.is_empty() {
            for (index, tile) in (0..).zip(hashes.chunks(256)) {
                tiles.insert((level, index), tile.to_vec());
            }
            hashes = hashes.chunks_exact(256).filter_map(|tile| fold(tile.to_vec())).collect();
            level += 1;
        }
        tiles
    }

    #[test]
    fn proofs_from_tiles_are_those_from_leaves() {
        let leaves: Vec<Hash> = (0_u32..70_000).map(|n| leaf_hash(&n.to_be_bytes())).collect();
        let sizes = [1, 2, 3, 255, 256, 257, 511, 512, 2_016, 65_535, 65_536, 65_537, 70_000];
        for size in sizes {
            let tiles = tiles(&leaves[..size]);
            for old in sizes.into_iter().filter(|old| *old <= size) {
                let (from, to) = (old as u64, size as u64);
                let ranges = proof_ranges(from, to).into_iter().map(nodes);
                let made: Option<Vec<Hash>> =
                    ranges.map(|nodes| root_of(&tiles, &nodes, to)).collect();
                assert_eq!(made, consistency_proof(&leaves[..size], old), "{old} to {size}");
                let whole = root_of(&tiles, &nodes((0, to)), to);
                assert_eq!(whole, Some(root(&leaves[..size])), "{size}");
            }
        }
    }

    #[test]
    fn tile_paths_are_those_of_the_format() {
        assert_eq!(tile_path((0, 0, 7)), "tile/0/000.p/7");
        assert_eq!(tile_path((1, 1_234_067, 256)), "tile/1/x001/x234/067");
    }
}
