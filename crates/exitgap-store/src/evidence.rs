//! Assembles evidence files and head windows from a store. The core defines their meaning.

use exitgap_core::evidence::{
    Answer, Base, DocumentError, EvidenceRequest, HeadProof, HeadWindow, LOWEST_DEPTH_SLOTS,
    ResultError, WindowError, write_evidence,
};
use exitgap_core::ids::PoolId;
use exitgap_core::series::{MissingReason, Slot};
use exitgap_core::snapshot::SnapshotDocuments;
use exitgap_core::tlog::LogProof;
use exitgap_core::units::SizeUsd;

use crate::bodies::parse;
use crate::corrupt::{CorruptBody, CorruptLog};
use crate::error::StoreError;
use crate::log::cosignatures::Cosignatures;
use crate::model::{Outcome, Pool};
use crate::reader::Reader;

/// Why there is no evidence for a request.
#[derive(Debug, thiserror::Error)]
pub enum EvidenceError {
    /// The store does not have the pool.
    #[error("{pool} is not in the store")]
    UnknownPool {
        /// The requested pool.
        pool: PoolId,
    },
    /// The pool has no head for the slot.
    #[error(
        "{pool} has no head for slot {slot}; its first slot is {first}, and the store's last slot is {last}"
    )]
    NoHead {
        /// The pool asked for.
        pool: PoolId,
        /// The slot asked for.
        slot: Slot,
        /// The pool's first slot.
        first: Slot,
        /// The store's last slot.
        last: Slot,
    },
    /// The slot has no snapshot, so it has no result.
    #[error("slot {slot} of {pool} is missing: {}", reason.code())]
    Missing {
        /// The pool asked for.
        pool: PoolId,
        /// The slot asked for.
        slot: Slot,
        /// The missing reason.
        reason: MissingReason,
    },
    /// The pool was already retired.
    #[error("{pool} retired at slot {slot}, and has no snapshot there")]
    Retired {
        /// The pool asked for.
        pool: PoolId,
        /// The slot asked for.
        slot: Slot,
    },
    /// The slot was sealed just now, and the witnesses' answers, which belong to its evidence, are still awaited.
    #[error(
        "slot {slot} was sealed just now, and its witnesses have not answered yet; try again in a few seconds"
    )]
    Awaited {
        /// The slot.
        slot: Slot,
    },
    /// The sale has no percentage, so there is nothing to prove.
    #[error(transparent)]
    Result(#[from] ResultError),
    /// The parts do not form a file.
    #[error("the evidence file cannot be written: {0}")]
    Document(#[from] DocumentError),
    /// The heads do not form a window.
    #[error("the head window cannot be written: {0}")]
    Window(#[from] WindowError),
    /// The store could not be read, or is damaged.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl Reader {
    /// The evidence file for selling `size` of the pool's `base` at `slot`. Its bytes are always the same, and it
    /// contains the first checkpoint that covers the slot.
    pub fn evidence(
        &self,
        pool: &PoolId,
        base: Base,
        slot: Slot,
        size: SizeUsd,
    ) -> Result<Vec<u8>, EvidenceError> {
        let pool = self.known(pool)?;
        let stored = self.head(&pool, slot)?.ok_or_else(|| self.no_head(&pool, slot))?;
        let hash = match self.entry(&pool, slot)?.map(|entry| entry.outcome) {
            Some(Outcome::Recorded(hash)) => hash,
            Some(Outcome::Missing(reason)) => {
                return Err(EvidenceError::Missing { pool: pool.id, slot, reason });
            }
            Some(Outcome::Retired) => {
                return Err(EvidenceError::Retired { pool: pool.id, slot });
            }
            None => return Err(self.no_head(&pool, slot)),
        };
        let absent = || StoreError::Corrupt { hash, what: CorruptBody::Absent };
        let documents = self.documents(hash)?.ok_or_else(absent)?;
        let snapshot = parse(&pool.id, hash, &documents)?;
        let request = EvidenceRequest::new(pool.id.clone(), slot, base, size);
        let answer = Answer::compute(&request, &snapshot, &stored.head)?;
        let mut proof = self.head_proof(&pool, slot)?;
        match self.cosignatures(slot)? {
            Cosignatures::NotAsked => {}
            Cosignatures::Awaited => return Err(EvidenceError::Awaited { slot }),
            Cosignatures::Lines(lines) => proof.log_proof.checkpoint.push_str(&lines),
        }
        Ok(write_evidence(&request, &answer, &documents, &stored.canonical, &proof)?)
    }

    /// The proof of the pool's head of `slot`, with the first checkpoint that covers it.
    pub fn head_proof(&self, pool: &Pool, slot: Slot) -> Result<HeadProof, StoreError> {
        let corrupt = |what| StoreError::CorruptLog { slot, what: CorruptLog::Absent(what) };
        let (leaf, checkpoint) =
            self.sealed_slot(slot)?.ok_or_else(|| corrupt("the sealed slot"))?;
        let log = self.log()?.ok_or_else(|| corrupt("the log"))?;
        let index = log.origin.index_of(slot).ok_or_else(|| corrupt("the slot's leaf"))?;
        let hashes = self.inclusion(slot, index + 1)?.ok_or_else(|| corrupt("the slot's leaf"))?;
        let log_proof = LogProof { index, hashes, checkpoint };
        let pool_proof =
            self.pool_proof(slot, &pool.id)?.ok_or_else(|| corrupt("the slot's head"))?;
        Ok(HeadProof { leaf: leaf.canonical, pool_proof, log_proof })
    }

    /// The pool's heads of the seven days up to and including `slot`, or from its first head on.
    pub fn window(&self, pool: &PoolId, slot: Slot) -> Result<HeadWindow, EvidenceError> {
        let pool = self.known(pool)?;
        let first = slot.number().saturating_sub(LOWEST_DEPTH_SLOTS - 1);
        let first = Slot::new(first.into()).unwrap_or(Slot::FIRST);
        let heads = self.heads(&pool, first, slot)?;
        if heads.last().is_none_or(|stored| stored.head.slot != slot) {
            return Err(self.no_head(&pool, slot));
        }
        let bytes: Vec<Vec<u8>> = heads.into_iter().map(|stored| stored.canonical).collect();
        let proof = self.head_proof(&pool, slot)?;
        let mut failed = None;
        let documents = |slot| match self.documents_at(&pool, slot) {
            Ok(documents) => documents,
            Err(error) => {
                failed = Some(error);
                None
            }
        };
        let window = HeadWindow::new(&bytes, documents, proof);
        match failed {
            Some(error) => Err(error.into()),
            None => Ok(window?),
        }
    }

    /// The canonical bytes of the pool's snapshot of `slot`; `None` if it has none.
    fn documents_at(
        &self,
        pool: &Pool,
        slot: Slot,
    ) -> Result<Option<SnapshotDocuments>, StoreError> {
        match self.entry(pool, slot)?.map(|entry| entry.outcome) {
            Some(Outcome::Recorded(hash)) => self.documents(hash),
            _ => Ok(None),
        }
    }

    fn known(&self, id: &PoolId) -> Result<Pool, EvidenceError> {
        self.pool(id)?.ok_or_else(|| EvidenceError::UnknownPool { pool: id.clone() })
    }

    fn no_head(&self, pool: &Pool, slot: Slot) -> EvidenceError {
        match self.slots() {
            Ok(slots) => EvidenceError::NoHead {
                pool: pool.id.clone(),
                slot,
                first: pool.first_slot,
                last: slots.map_or(pool.first_slot, |(_, last)| last),
            },
            Err(error) => error.into(),
        }
    }
}
