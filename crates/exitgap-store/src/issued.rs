//! Reads the receipts of paid estimates: the documents that pools' heads commit to.

use exitgap_core::analytics::accuracy::{IssuedReceipts, MAX_ISSUED_BYTES};
use exitgap_core::ids::DocumentHash;
use exitgap_core::series::Slot;

use crate::bodies::codec;
use crate::db::IssuedRow;
use crate::error::StoreError;
use crate::model::{Page, Pool};
use crate::reader::Reader;
use crate::rows::slot_of;

/// A document of issued estimates. Its bytes match the hash that the pool's head of its slot commits to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredIssued {
    /// The slot of that head.
    pub slot: Slot,
    /// The hash that the head commits to.
    pub hash: DocumentHash,
    /// The document.
    pub issued: IssuedReceipts,
    /// Its canonical bytes.
    pub canonical: Vec<u8>,
}

impl Reader {
    /// The documents that the pool's heads of a range of slots (both ends included) commit to, in ascending order; at
    /// most `limit`. The last one determines where the next page begins.
    pub fn issued_documents(
        &self,
        pool: &Pool,
        run: [Slot; 2],
        limit: usize,
    ) -> Result<Page<StoredIssued>, StoreError> {
        let entries =
            self.db.issued_documents(pool.number, run, limit, |row| decode_row(&row, pool))?;
        let full = entries.len() == limit;
        let last = entries.last().map(|stored| stored.slot).filter(|_| full);
        let next = last.and_then(Slot::next).filter(|next| *next <= run[1]);
        Ok(Page { entries, next })
    }

    /// The pool's newest document.
    pub fn newest_issued(&self, pool: &Pool) -> Result<Option<StoredIssued>, StoreError> {
        let Some(slot) = self.db.issued_place(pool.number)? else { return Ok(None) };
        self.issued_of(pool, slot_of("issued", slot)?).map(Some)
    }

    /// The document that the pool's head of a slot commits to.
    pub(crate) fn issued_of(&self, pool: &Pool, slot: Slot) -> Result<StoredIssued, StoreError> {
        let mut found =
            self.db.issued_documents(pool.number, [slot, slot], 1, |row| decode_row(&row, pool))?;
        found.pop().ok_or_else(|| corrupt(format!("nothing for slot {slot}")))
    }
}

/// Decodes a row and hashes its document again.
fn decode_row(row: &IssuedRow, pool: &Pool) -> Result<StoredIssued, StoreError> {
    let slot = slot_of("issued", row.slot)?;
    let of_slot = |what: &dyn std::fmt::Display| corrupt(format!("slot {slot}: {what}"));
    let length = usize::try_from(row.document_bytes).ok().filter(|n| *n <= MAX_ISSUED_BYTES);
    let length = length.ok_or_else(|| of_slot(&"more bytes than a document can have"))?;
    let canonical = codec::decompress(&row.zstd, length, None).map_err(|error| of_slot(&error))?;
    let hash = IssuedReceipts::hash_of(&canonical);
    if row.sha256 != Some(hash.0) {
        return Err(of_slot(&format!("a document of hash {hash}, which its head does not name")));
    }
    let issued = IssuedReceipts::from_canonical(&canonical).map_err(|error| of_slot(&error))?;
    if issued.pool != pool.id {
        return Err(of_slot(&format!("a document of {}", issued.pool)));
    }
    Ok(StoredIssued { slot, hash, issued, canonical })
}

fn corrupt(found: String) -> StoreError {
    StoreError::CorruptRow { table: "issued", found }
}
