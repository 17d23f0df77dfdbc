//! Rebuilding a store from the bundles of a published log.

use std::fs::File;
use std::io::{BufReader, Read};
use std::path::{Path, PathBuf};

use exitgap_core::evidence::{Head, HeadEntry, RetractionCause, SlotLeaf};
use exitgap_core::pools::Direction;
use exitgap_core::series::Slot;
use exitgap_core::snapshot::Snapshot;
use exitgap_core::tlog::Checkpoint;

use super::bundle::MAX_BUNDLE_BYTES;
use super::{LogFolder, PublishError, read};
use crate::error::StoreError;
use crate::model::{Changes, NewEntry, NewRetraction, NewRetractionCause};
use crate::writer::Store;

/// Why a store is not restored, or not further.
#[derive(Debug, thiserror::Error)]
pub enum RestoreError {
    /// There is no checkpoint to restore up to.
    #[error("nothing is published in {path}")]
    NothingPublished {
        /// The folder.
        path: PathBuf,
    },
    /// A bundle cannot be read as one of this slot.
    #[error(
        "{path}: {reason}; put back a copy of that bundle, or where it is gone for good begin the \
         log's successor with `exitgap-server successor`"
    )]
    Bundle {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        reason: String,
    },
    /// The folder could not be read, or is of another log.
    #[error(transparent)]
    Folder(#[from] PublishError),
    /// The store refused, for instance what does not make the checkpoint that was signed
    /// ([`StoreError::SealedOtherwise`]).
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl LogFolder {
    /// Applies the bundles of the slots that `store`, empty or an older copy, does not have,
    /// up to the published checkpoint, and returns how many those were. Each slot is sealed
    /// anew and must make, byte for byte, the checkpoint that was signed then.
    ///
    /// A pool's default base is not published: it is token 0 until the recorder sets it.
    pub fn restore(
        &self,
        store: &mut Store,
        mut progress: impl FnMut(u64, u64),
    ) -> Result<u64, RestoreError> {
        let path = self.path.join("checkpoint");
        let nothing = || RestoreError::NothingPublished { path: self.path.clone() };
        let note = read(&path)?.ok_or_else(nothing)?;
        let (checkpoint, note) = Checkpoint::from_note(&note)
            .map_err(|error| PublishError::Checkpoint { path: path.clone(), error })?;
        let first = checkpoint.origin.first_slot();
        let ours = store.verifier_from(first)?;
        if note.signed_by(&checkpoint.origin, std::slice::from_ref(&ours)).is_err() {
            let (expected, found) = (ours.to_string(), checkpoint.origin.to_string());
            return Err(PublishError::OtherLog { path, expected, found }.into());
        }
        let before = store.reader().log_size()?;
        if before == 0
            && store.reader().predecessor()?.is_none()
            && let Some(predecessor) = self.predecessor()?
        {
            store.succeed(&predecessor)?;
        }
        for index in before..checkpoint.size {
            let path = self.path.join("bundles");
            let slot = Slot::new(u64::from(first.number()).saturating_add(index))
                .map_err(|error| RestoreError::Bundle { path, reason: error.to_string() })?;
            let path = self.bundle_path(slot);
            let Bundle { entries, changes, checkpoint: sealed } = parse(&path, slot)
                .map_err(|reason| RestoreError::Bundle { path: path.clone(), reason })?;
            store.append_sealed(slot, &entries, &changes, &sealed)?;
            progress(index + 1, checkpoint.size);
        }
        Ok(checkpoint.size.saturating_sub(before))
    }
}

/// What a store of this version cannot hold.
const NEWER: &str = "which a newer version made; update to restore it";

/// What a slot was sealed with.
pub(super) struct Bundle {
    entries: Vec<NewEntry>,
    changes: Changes,
    checkpoint: String,
}

/// Reads a slot's bundle.
pub(super) fn parse(path: &Path, slot: Slot) -> Result<Bundle, String> {
    let words = |error: &dyn std::fmt::Display| error.to_string();
    let file = File::open(path).map_err(|error| words(&error))?;
    let decoder = zstd::Decoder::new(BufReader::new(file)).map_err(|error| words(&error))?;
    let mut bytes = Vec::new();
    decoder.take(MAX_BUNDLE_BYTES).read_to_end(&mut bytes).map_err(|error| words(&error))?;
    let mut lines = bytes.split(|byte| *byte == b'\n');
    let mut next = || lines.next().ok_or_else(|| "it ends early".to_owned());
    let leaf = SlotLeaf::from_canonical(next()?).map_err(|error| words(&error))?;
    if leaf.slot != slot {
        return Err(format!("it is the bundle of {}, not of {slot}", leaf.slot));
    }
    let mut heads = Vec::new();
    for _ in 0..leaf.pools {
        heads.push(Head::from_canonical(next()?).map_err(|error| words(&error))?);
    }
    let mut entries = Vec::with_capacity(heads.len());
    let mut changes = Changes::default();
    for head in heads {
        if let Some(newer) = head.newer() {
            return Err(format!("the head of {}: {newer}", head.pool));
        }
        if let Some((name, _)) = head.commits.iter().next() {
            return Err(format!("the head of {} commits to {name}, {NEWER}", head.pool));
        }
        changes.retractions.extend(head.retracts.iter().filter_map(|retraction| {
            let cause = match retraction.cause {
                RetractionCause::Orphaned { canonical, .. } => {
                    NewRetractionCause::Orphaned { canonical }
                }
                RetractionCause::Misread => NewRetractionCause::Misread,
                RetractionCause::Newer { .. } => return None,
            };
            Some(NewRetraction { pool: head.pool.clone(), slot: retraction.slot, cause })
        }));
        let reading = match head.entry {
            HeadEntry::Recorded { .. } => {
                let snapshot = Snapshot::from_canonical(next()?, next()?);
                Ok(snapshot.map_err(|error| words(&error))?)
            }
            HeadEntry::Missing(reason) => Err(reason),
            HeadEntry::Retired => {
                changes.retirements.push(head.pool);
                continue;
            }
        };
        entries.push(NewEntry { pool: head.pool, default_base: Direction::ZeroForOne, reading });
    }
    let last: serde_json::Value = serde_json::from_slice(next()?).map_err(|error| words(&error))?;
    let checkpoint = last.get("checkpoint").and_then(serde_json::Value::as_str);
    let checkpoint = checkpoint.ok_or("its last line holds no checkpoint")?;
    Ok(Bundle { entries, changes, checkpoint: checkpoint.to_owned() })
}
