//! What witnesses signed beside a slot's checkpoint: asked for once the slot is committed, written once, before the
//! slot is published. So what is published of a slot, and its evidence, never change.

use exitgap_core::series::Slot;
use exitgap_core::tlog::{MAX_NOTE_BYTES, Note};
use sha2::{Digest, Sha256};

use crate::db::CosignedRow;
use crate::error::StoreError;
use crate::reader::Reader;
use crate::writer::Store;

/// The most bytes of signature lines that a slot keeps.
pub const MAX_COSIGNATURE_BYTES: usize = 16 << 10;

/// How a slot stands with its witnesses.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Cosignatures {
    /// Nobody was asked.
    NotAsked,
    /// What they answer is awaited: the slot is not yet published, and has no evidence.
    Awaited,
    /// What they answered in time: signature lines, each with its line break; it may be none.
    Lines(String),
}

fn hash_of(slot: Slot, lines: &str) -> [u8; 32] {
    Sha256::new().chain_update(slot.number().to_be_bytes()).chain_update(lines).finalize().into()
}

fn corrupt_row(slot: Slot, what: &str) -> StoreError {
    StoreError::CorruptRow { table: "cosigned", found: format!("{what} of slot {slot}") }
}

impl Reader {
    /// How a slot stands with its witnesses.
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

    /// The signed checkpoint of the log's first `size` slots as it is published: with what witnesses signed beside it.
    /// `None` where the log was never that large, or its witnesses are awaited.
    pub fn published_checkpoint(&self, size: u64) -> Result<Option<String>, StoreError> {
        let Some(slot) = self.slot_at(size.checked_sub(1))? else { return Ok(None) };
        let Some((_, checkpoint)) = self.sealed_slot(slot)? else { return Ok(None) };
        Ok(match self.cosignatures(slot)? {
            Cosignatures::NotAsked => Some(checkpoint),
            Cosignatures::Awaited => None,
            Cosignatures::Lines(lines) => Some(checkpoint + &lines),
        })
    }

    /// How many slots may be published: all but one whose witnesses are awaited.
    pub(crate) fn publishable(&self) -> Result<u64, StoreError> {
        let size = self.log_size()?;
        Ok(if self.awaited_slot()?.is_some() { size.saturating_sub(1) } else { size })
    }

    /// The newest slot, where its witnesses are awaited.
    pub fn awaited_slot(&self) -> Result<Option<Slot>, StoreError> {
        let Some((_, last)) = self.slots()? else { return Ok(None) };
        Ok((self.cosignatures(last)? == Cosignatures::Awaited).then_some(last))
    }

    /// Requires that a slot's cosignatures are as they were written, and that only the newest slot awaits any. Says how
    /// many rows it has: that witnesses were asked, and what they answered.
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
    /// Has each slot from the next on wait for its witnesses, or no longer: such a slot is published, and has
    /// evidence, once [`Store::record_cosignatures`] was told what they answered.
    pub fn await_cosignatures(&mut self, awaits: bool) {
        self.awaits_cosignatures = awaits;
    }

    /// Writes down what the newest slot's witnesses answered: signature lines, each with its line break, or nothing.
    /// It is on the disk when this returns. Changes nothing where none are awaited.
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
