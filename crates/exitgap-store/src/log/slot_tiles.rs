//! The tree over a slot's heads, stored in tiles of 256. A head's proof reads two rows, whatever the number of pools.

use exitgap_core::evidence::{Head, PoolProof};
use exitgap_core::ids::PoolId;
use exitgap_core::series::Slot;
use exitgap_core::tlog::{Hash, inclusion_proof, root};

use crate::corrupt::CorruptLog;
use crate::db::Db;
use crate::error::StoreError;
use crate::reader::Reader;

/// The number of heads in a full tile.
const WIDTH: usize = 256;
/// The tiles of heads.
const HEADS: u32 = 0;
/// The level of the row with the tiles' roots, which exists only if there is more than one tile.
const ROOTS: u32 = 1;

/// Rows by level and index, each a list of hashes.
type Rows = Vec<(u32, usize, Vec<Hash>)>;

/// The rows of a slot whose heads have these leaf hashes.
fn rows(hashes: &[Hash]) -> Rows {
    let tiles = hashes.chunks(WIDTH).enumerate();
    let mut rows: Rows = tiles.map(|(index, tile)| (HEADS, index, tile.to_vec())).collect();
    if hashes.len() > WIDTH {
        rows.push((ROOTS, 0, hashes.chunks(WIDTH).map(root).collect()));
    }
    rows
}

/// The number of rows of a slot with this many heads.
pub fn row_count(heads: usize) -> u64 {
    (heads.div_ceil(WIDTH) + usize::from(heads > WIDTH)) as u64
}

/// Writes the rows of a slot while it is being sealed.
pub fn insert(db: &Db, slot: Slot, hashes: &[Hash]) -> Result<(), StoreError> {
    let bytes = |hashes: Vec<Hash>| hashes.iter().flat_map(|hash| hash.0).collect();
    let rows = rows(hashes).into_iter();
    db.insert_slot_tiles(slot, rows.map(|(level, index, hashes)| (level, index, bytes(hashes))))
}

impl Reader {
    /// The proof that the slot's leaf commits to the pool's head; `None` if there is no such head.
    pub fn pool_proof(&self, slot: Slot, pool: &PoolId) -> Result<Option<PoolProof>, StoreError> {
        let corrupt = |what| StoreError::CorruptLog { slot, what };
        let Some(known) = self.pool(pool)? else { return Ok(None) };
        let Some(stored) = self.head(&known, slot)? else { return Ok(None) };
        let leaf = self.leaf(slot)?.ok_or_else(|| corrupt(CorruptLog::Absent("the slot")))?.leaf;
        let place = self.place_of(slot, pool)?;
        let (index, within) = (place / WIDTH, place % WIDTH);
        let tile = self.slot_tile(slot, HEADS, index)?;
        let roots = match leaf.pools as usize {
            pools if pools > WIDTH => self.slot_tile(slot, ROOTS, 0)?,
            _ => vec![root(&tile)],
        };
        let differs = |level| corrupt(CorruptLog::SlotTile { level, index });
        if tile.get(within) != Some(&Head::leaf_of(&stored.canonical)) {
            return Err(differs(HEADS));
        }
        if roots.get(index) != Some(&root(&tile)) || root(&roots) != leaf.root {
            return Err(differs(ROOTS));
        }
        // All tiles except the last are complete subtrees, so they match how RFC 6962 splits the tree.
        let below = inclusion_proof(&tile, within).ok_or_else(|| differs(HEADS))?;
        let above = inclusion_proof(&roots, index).ok_or_else(|| differs(ROOTS))?;
        Ok(Some(PoolProof::new(place as u64, &[below, above].concat())))
    }

    /// Requires that the slot's rows match these hashes.
    pub(crate) fn check_slot_tiles(&self, slot: Slot, hashes: &[Hash]) -> Result<(), StoreError> {
        for (level, index, expected) in rows(hashes) {
            if self.slot_tile(slot, level, index)? != expected {
                let what = CorruptLog::SlotTile { level, index };
                return Err(StoreError::CorruptLog { slot, what });
            }
        }
        Ok(())
    }

    fn slot_tile(&self, slot: Slot, level: u32, index: usize) -> Result<Vec<Hash>, StoreError> {
        let found = self.db.slot_tile(slot, level, index)?;
        let absent = StoreError::CorruptLog { slot, what: CorruptLog::SlotTile { level, index } };
        Ok(found.ok_or(absent)?.as_chunks().0.iter().copied().map(Hash).collect())
    }

    /// The number of heads of the slot before the pool's head.
    fn place_of(&self, slot: Slot, pool: &PoolId) -> Result<usize, StoreError> {
        let place = self.db.place(slot, &pool.to_string())?;
        Ok(usize::try_from(place).unwrap_or(0))
    }
}

#[cfg(test)]
mod tests {
    use exitgap_core::tlog::leaf_hash;

    use super::*;

    #[test]
    fn proofs_over_tiles_are_those_over_all_heads() {
        for heads in [1, 2, 255, 256, 257, 512, 513, 700] {
            let hashes: Vec<Hash> =
                (0..heads).map(|n: usize| leaf_hash(&n.to_be_bytes())).collect();
            let rows = rows(&hashes);
            assert_eq!(rows.len() as u64, row_count(heads));
            let roots: Vec<Hash> = hashes.chunks(WIDTH).map(root).collect();
            assert_eq!(root(&roots), root(&hashes), "{heads}");
            for place in (0..heads).step_by(5).chain([heads - 1]) {
                let (index, within) = (place / WIDTH, place % WIDTH);
                let below = inclusion_proof(&rows[index].2, within).unwrap();
                let above = inclusion_proof(&roots, index).unwrap();
                let expected = inclusion_proof(&hashes, place).unwrap();
                assert_eq!([below, above].concat(), expected, "{place} of {heads}");
            }
        }
    }
}
