//! Evaluates a rule over the recorded slots of its pool.

use exitgap_core::alerts::{
    AlertCheckpoint, AlertEvent, AlertRule, AlertRun, AlertRunError, SealedSlot,
};
use exitgap_core::evidence::{Head, HeadEntry};
use exitgap_core::series::Slot;
use exitgap_core::snapshot::Snapshot;
use exitgap_core::tlog::Checkpoint;

use crate::bodies::codec::Dictionaries;
use crate::bodies::parse;
use crate::corrupt::{CorruptBody, CorruptLog};
use crate::error::StoreError;
use crate::evidence::EvidenceError;
use crate::log::{LogIdentity, StoredHead};
use crate::model::Pool;
use crate::reader::Reader;

/// Why a rule cannot be evaluated.
#[derive(Debug, thiserror::Error)]
pub enum AlertReadError {
    /// The store lacks the pool, or some of the slots.
    #[error(transparent)]
    Evidence(#[from] EvidenceError),
    /// The slots are not consecutive.
    #[error(transparent)]
    Run(#[from] AlertRunError),
}

impl From<StoreError> for AlertReadError {
    fn from(error: StoreError) -> Self {
        Self::Evidence(error.into())
    }
}

/// An evaluated rule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AlertEvaluated {
    /// The run after the last slot.
    pub run: AlertRun,
    /// The events.
    pub events: Vec<AlertEvent>,
    /// The number of slots.
    pub slots: u32,
}

/// A slot of a pool, as input for rules.
#[derive(Debug)]
pub struct WatchedSlot {
    head: Head,
    snapshot: Option<Snapshot>,
    checkpoint: AlertCheckpoint,
}

impl WatchedSlot {
    /// The input for a run.
    pub fn as_sealed_slot(&self) -> SealedSlot<'_> {
        let Self { head, snapshot, checkpoint } = self;
        SealedSlot { head, snapshot: snapshot.as_ref(), checkpoint }
    }
}

/// Reads slots for rules, one pool after the other.
#[derive(Debug, Default)]
pub struct WatchCache {
    kept: Dictionaries,
    log: Option<LogIdentity>,
}

impl Reader {
    /// A rule's events from its first slot up to `to`. Snapshots are decompressed one after the other, and only a few
    /// are held.
    pub fn alert(&self, rule: AlertRule, to: Slot) -> Result<AlertEvaluated, AlertReadError> {
        let unknown = || EvidenceError::UnknownPool { pool: rule.pool.clone() };
        let pool = self.pool(&rule.pool)?.ok_or_else(unknown)?;
        let heads = self.heads(&pool, rule.first_slot, to)?;
        let (mut run, mut watching) = (AlertRun::new(rule), WatchCache::default());
        let (mut events, mut slots) = (Vec::new(), 0);
        for stored in heads {
            let watched = self.watch(&pool, stored, &mut watching)?;
            events.extend(run.process_slot(watched.as_sealed_slot())?);
            slots += 1;
        }
        Ok(AlertEvaluated { run, events, slots })
    }

    /// A slot of a pool, if it has an entry.
    pub fn watched_slot(
        &self,
        pool: &Pool,
        slot: Slot,
        watching: &mut WatchCache,
    ) -> Result<Option<WatchedSlot>, AlertReadError> {
        let Some(stored) = self.head(pool, slot)? else { return Ok(None) };
        self.watch(pool, stored, watching).map(Some)
    }

    fn watch(
        &self,
        pool: &Pool,
        stored: StoredHead,
        watching: &mut WatchCache,
    ) -> Result<WatchedSlot, AlertReadError> {
        let head = stored.head;
        let slot = head.slot;
        let snapshot = match head.entry {
            HeadEntry::Recorded { snapshot: hash, .. } => {
                let absent = || StoreError::Corrupt { hash, what: CorruptBody::Absent };
                let documents = self.documents_after(hash, slot, &mut watching.kept)?;
                Some(parse(&pool.id, hash, &documents.ok_or_else(absent)?)?)
            }
            HeadEntry::Missing(_) | HeadEntry::Retired => None,
        };
        if watching.log.is_none() {
            watching.log = self.log()?;
        }
        let checkpoint = self.first_over(watching.log.as_ref(), slot)?;
        Ok(WatchedSlot { head, snapshot, checkpoint })
    }

    /// The first checkpoint that covers a slot.
    fn first_over(
        &self,
        log: Option<&LogIdentity>,
        slot: Slot,
    ) -> Result<AlertCheckpoint, StoreError> {
        let corrupt = |what| StoreError::CorruptLog { slot, what };
        let absent = || corrupt(CorruptLog::Absent("the checkpoint"));
        let size = log.and_then(|log| log.origin.index_of(slot)).map_or(0, |index| index + 1);
        let note = self.checkpoint(size)?.ok_or_else(absent)?;
        let (Checkpoint { origin, size, root, .. }, _) =
            Checkpoint::from_note(&note).map_err(|error| {
                corrupt(CorruptLog::Checkpoint(format!("is not a checkpoint: {error}")))
            })?;
        Ok(AlertCheckpoint { origin: origin.to_string(), size, root })
    }
}
