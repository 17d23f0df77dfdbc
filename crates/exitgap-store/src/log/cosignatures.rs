//! The cosignatures of witnesses on a slot's checkpoint. They are requested once the slot is committed, and written
//! once, before the slot is published. So the published data and the evidence of a slot never change.

use exitgap_core::series::Slot;
use exitgap_core::tlog::{MAX_NOTE_BYTES, Note};
use sha2::{Digest, Sha256};

use crate::db::CosignedRow;
use crate::error::StoreError;
use crate::reader::Reader;
use crate::writer::Store;

/// The maximum number of bytes of signature lines that a slot stores.
pub const MAX_COSIGNATURE_BYTES: usize = 16 << 10;

/// The state of a slot's cosignatures.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Cosignatures {
    /// No witness was asked.
    NotAsked,
    /// The answers are pending. The slot is not yet published and has no evidence.
    Awaited,
    /// The answers that came in time: signature lines, each with its line break; may be empty.
    Lines(String),
}

fn hash_of(slot: Slot, lines: &str) -> [u8; 32] {
    Sha256::new().chain_update(slot.number().to_be_bytes()).chain_update(lines).finalize().into()
}

fn corrupt_row(slot: Slot, what: &str) -> StoreError {
    StoreError::CorruptRow { table: "cosigned", found: format!("{what} of slot {slot}") }
}

impl Reader {
    /// The state of a slot's cosignatures.
    pub fn cosignatures(&self, slot: Slot) -> Result<Cosignatures, StoreError> {
        match self.db.cosigned_row(slot)? {
            None => Ok(Cosignatures::NotAsked),
            Some(CosignedRow { asked: false, .. }) => {
                Err(corrupt_row(slot, "cosignatures that were not requested,"))
            }
            Some(CosignedRow { answered: None, .. }) => Ok(Cosignatures::Awaited),
            Some(CosignedRow { answered: Some((lines, sha256)), .. }) => {
                if sha256 == hash_of(slot, &lines) {
                    Ok(Cosignatures::Lines(lines))
                } else {
                    Err(corrupt_row(slot, "changed cosignatures"))
                }
            }
        }
    }

    /// The published form of the signed checkpoint over the log's first `size` slots, with cosignatures. `None` if the
    /// log never had that size, or cosignatures are pending.
    pub fn published_checkpoint(&self, size: u64) -> Result<Option<String>, StoreError> {
        let Some(slot) = self.slot_at(size.checked_sub(1))? else { return Ok(None) };
        let Some((_, checkpoint)) = self.sealed_slot(slot)? else { return Ok(None) };
        Ok(match self.cosignatures(slot)? {
            Cosignatures::NotAsked => Some(checkpoint),
            Cosignatures::Awaited => None,
            Cosignatures::Lines(lines) => Some(checkpoint + &lines),
        })
    }

    /// The number of slots that may be published: all except one with pending cosignatures.
    pub(crate) fn publishable(&self) -> Result<u64, StoreError> {
        let size = self.log_size()?;
        Ok(if self.awaited_slot()?.is_some() { size.saturating_sub(1) } else { size })
    }

    /// The newest slot, if its cosignatures are pending.
    pub fn awaited_slot(&self) -> Result<Option<Slot>, StoreError> {
        let Some((_, last)) = self.slots()? else { return Ok(None) };
        Ok((self.cosignatures(last)? == Cosignatures::Awaited).then_some(last))
    }

    /// Requires that a slot's cosignatures are unchanged and that only the newest slot has pending ones. Returns
    /// whether the slot has a row that witnesses were asked and a row with their answers.
    pub(crate) fn check_cosignatures(
        &self,
        slot: Slot,
        checkpoint: &str,
    ) -> Result<[u64; 2], StoreError> {
        match self.cosignatures(slot)? {
            Cosignatures::NotAsked => Ok([0, 0]),
            Cosignatures::Awaited => {
                let newest = self.slots()?.map(|(_, last)| last);
                let error = || corrupt_row(slot, "no cosignatures, although a later slot exists,");
                newest.filter(|newest| *newest == slot).map(|_| [1, 0]).ok_or_else(error)
            }
            Cosignatures::Lines(lines) => {
                let note = checkpoint.to_owned() + &lines;
                let read = Note::parse(&note).map(|_| [1, 1]);
                read.map_err(|error| corrupt_row(slot, &format!("cosignatures ({error})")))
            }
        }
    }
}

impl Store {
    /// Sets whether future slots wait for their witnesses. Such a slot is published and has evidence only after
    /// [`Store::record_cosignatures`] is called with their answers.
    pub fn await_cosignatures(&mut self, awaits: bool) {
        self.awaits_cosignatures = awaits;
    }

    /// Stores the answers of the newest slot's witnesses: signature lines, each with its line break, or nothing. The
    /// answers are on disk when this returns. Does nothing if no cosignatures are pending.
    pub fn record_cosignatures(&mut self, lines: &str) -> Result<(), StoreError> {
        let Some(slot) = self.reader().awaited_slot()? else { return Ok(()) };
        let Some((_, checkpoint)) = self.reader().sealed_slot(slot)? else { return Ok(()) };
        let failed = |reason: String| StoreError::Seal { slot, reason };
        if lines.len() > MAX_COSIGNATURE_BYTES || checkpoint.len() + lines.len() > MAX_NOTE_BYTES {
            return Err(failed(format!("{} bytes of cosignatures are too many", lines.len())));
        }
        let note = checkpoint + lines;
        Note::parse(&note).map_err(|error| failed(format!("the cosignatures: {error}")))?;
        let transaction = self.reader().db.begin("beginning to write")?;
        self.reader().db.insert_cosigned(slot, lines, &hash_of(slot, lines))?;
        transaction.settle()?;
        transaction.commit().map_err(|source| StoreError::CommitUnknown { slot, source })?;
        if let Some(files) = &mut self.unpublished {
            files.set_checkpoint(slot, note);
        }
        Ok(())
    }
}
