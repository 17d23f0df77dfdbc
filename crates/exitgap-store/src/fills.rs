//! Reads pools' logs: the documents that their heads commit to.

use exitgap_core::analytics::accuracy::{Fills, MAX_FILLS_BYTES};
use exitgap_core::ids::DocumentHash;
use exitgap_core::series::Slot;

use crate::bodies::codec;
use crate::db::FillsRow;
use crate::error::StoreError;
use crate::model::{Page, Pool};
use crate::reader::Reader;
use crate::rows::slot_of;

/// A document of fills, whose hash is the one that the pool's head of its slot commits to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredFills {
    /// The slot of that head.
    pub slot: Slot,
    /// The hash in the commitment.
    pub hash: DocumentHash,
    /// The canonical bytes.
    pub canonical: Vec<u8>,
}

impl Reader {
    /// The documents that the pool's heads in a range of slots commit to, both ends included, ascending; at most
    /// `limit`. The last one determines where the next page begins.
    pub fn fills(
        &self,
        pool: &Pool,
        run: [Slot; 2],
        limit: usize,
    ) -> Result<Page<StoredFills>, StoreError> {
        let entries = self.db.fills(pool.number, run, limit, |row| decode_row(&row))?;
        let full = entries.len() == limit;
        let last = entries.last().map(|stored| stored.slot).filter(|_| full);
        let next = last.and_then(Slot::next).filter(|next| *next <= run[1]);
        Ok(Page { entries, next })
    }

    /// The slot and the last block of the pool's newest document at or before a slot.
    pub fn fills_until(&self, pool: &Pool, at: Slot) -> Result<Option<(Slot, u64)>, StoreError> {
        let Some([slot, block]) = self.db.fills_place(pool.number, at)? else { return Ok(None) };
        Ok(Some((slot_of("fills", slot)?, number_of(block)?)))
    }

    /// The document that the pool's head of a slot commits to.
    pub(crate) fn fills_of(&self, pool: &Pool, slot: Slot) -> Result<StoredFills, StoreError> {
        let mut found = self.db.fills(pool.number, [slot, slot], 1, |row| decode_row(&row))?;
        found.pop().ok_or_else(|| corrupt(format!("nothing for slot {slot}")))
    }
}

/// A row as a typed value, with its hash recomputed.
fn decode_row(row: &FillsRow) -> Result<StoredFills, StoreError> {
    let slot = slot_of("fills", row.slot)?;
    let of_slot = |what: &dyn std::fmt::Display| corrupt(format!("slot {slot}: {what}"));
    let length = usize::try_from(row.document_bytes).ok().filter(|n| *n <= MAX_FILLS_BYTES);
    let length = length.ok_or_else(|| of_slot(&"more bytes than a document can have"))?;
    let canonical = codec::decompress(&row.zstd, length, None).map_err(|error| of_slot(&error))?;
    let hash = Fills::hash_of(&canonical);
    if row.sha256 != Some(hash.0) {
        return Err(of_slot(&format!("a document of hash {hash}, which its head does not name")));
    }
    let fills = Fills::from_canonical(&canonical).map_err(|error| of_slot(&error))?;
    if [fills.after_block, fills.to_block]
        != [number_of(row.after_block)?, number_of(row.to_block)?]
    {
        return Err(of_slot(&"its blocks differ from the document's"));
    }
    Ok(StoredFills { slot, hash, canonical })
}

fn number_of(block: i64) -> Result<u64, StoreError> {
    u64::try_from(block).map_err(|_| corrupt(format!("block {block}")))
}

fn corrupt(found: String) -> StoreError {
    StoreError::CorruptRow { table: "fills", found }
}
