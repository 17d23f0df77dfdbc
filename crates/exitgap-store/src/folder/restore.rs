//! Restores a store from the slots of a published log.

use std::path::PathBuf;

use exitgap_core::analytics::accuracy::{Fills, IssuedReceipts};
use exitgap_core::evidence::{Head, HeadEntry, RetractionCause, SlotLeaf};
use exitgap_core::log_folder::{
    Bodies, BodyError, DefaultBases, Folder, LogFile, Manifest, Place, PublishedError,
};
use exitgap_core::series::Slot;
use exitgap_core::snapshot::Snapshot;
use exitgap_core::tlog::{Checkpoint, Note, NoteError};

use super::files::{FileError, Files};
use super::{LogFolder, PublishError, manifest_path, read_text};
use crate::bodies::codec;
use crate::error::StoreError;
use crate::model::{Changes, NewEntry, NewFills, NewRetraction, NewRetractionCause};
use crate::writer::Store;

/// Why a store cannot be restored, or not any further.
#[derive(Debug, thiserror::Error)]
pub enum RestoreError {
    /// There is no checkpoint to restore up to.
    #[error("nothing is published in {path}")]
    NothingPublished {
        /// The folder.
        path: PathBuf,
    },
    /// A file of a slot cannot be read, or has invalid content.
    #[error(
        "{path}: {reason}; restore that file from a copy, or, if it is lost, start the log's successor with \
         `exitgap-server successor`"
    )]
    Slot {
        /// The file.
        path: PathBuf,
        /// The reason.
        reason: String,
    },
    /// The folder could not be read, or belongs to another log.
    #[error(transparent)]
    Folder(#[from] PublishError),
    /// The store returned an error, for example because a slot does not produce its signed checkpoint
    /// ([`StoreError::SealedOtherwise`]).
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl LogFolder {
    /// Applies the slots that `store`, which is empty or an older copy, does not have, up to the published checkpoint,
    /// and returns their number. Each slot is sealed again and must produce the earlier signed checkpoint byte for
    /// byte.
    ///
    /// Pools get the default bases that the folder names, which the log does not commit to, until a recorder sets them.
    pub fn restore(
        &self,
        store: &mut Store,
        mut progress: impl FnMut(u64, u64),
    ) -> Result<u64, RestoreError> {
        self.check_version()?;
        let path = self.path.join("checkpoint");
        let nothing = || RestoreError::NothingPublished { path: self.path.clone() };
        let note = read_text(&path)?.ok_or_else(nothing)?;
        let (checkpoint, note) = Checkpoint::from_note(&note)
            .map_err(|error| PublishError::Checkpoint { path: path.clone(), error })?;
        let first = checkpoint.origin.first_slot();
        let ours = store.verifier_from(first)?;
        if note.signed_by(&checkpoint.origin, std::slice::from_ref(&ours)).is_err() {
            let (expected, found) = (ours.to_string(), checkpoint.origin.to_string());
            return Err(PublishError::OtherLog { path, expected, found }.into());
        }
        let keys = self.keys()?;
        if !keys.contains(&ours) {
            let (expected, path) = (ours.to_string(), self.path.join("verifier-key"));
            let found = keys.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
            return Err(PublishError::OtherLog { path, expected, found }.into());
        }
        store.sealed_by(keys)?;
        let before = self.begin(store, &checkpoint)?;
        let files = Files::for_folder(&self.path);
        let mut slots = Slots::from_files(&files, self.bases()?);
        let size = self.sealed_beyond(&checkpoint)?;
        for index in before..size {
            let slot = self.slot_at(&checkpoint, index)?;
            let SlotRead { entries, changes, checkpoint: sealed } =
                self.read_slot(&mut slots, slot)?;
            store.append_sealed(slot, &entries, &changes, &sealed)?;
            progress(index + 1, size);
        }
        Ok(size.saturating_sub(before))
    }

    /// The number of sealed slots: the slots of the checkpoint, and later slots that have a manifest. A manifest is
    /// written after the slot's other files, and its slot was signed. Continuing without that slot would create a
    /// second history.
    fn sealed_beyond(&self, checkpoint: &Checkpoint) -> Result<u64, RestoreError> {
        let mut size = checkpoint.size;
        while self.has(&LogFile::Slot(self.slot_at(checkpoint, size)?))? {
            size += 1;
        }
        Ok(size)
    }

    /// Prepares a store for the slots after its own and returns their number. Also takes over the cosignatures of its
    /// newest slot and its log's predecessor.
    pub(super) fn begin(
        &self,
        store: &mut Store,
        checkpoint: &Checkpoint,
    ) -> Result<u64, RestoreError> {
        if let Some(slot) = store.reader().awaited_slot()? {
            // The copy was made between a slot's commit and its witnesses' answers.
            let published = checkpoint.origin.index_of(slot).is_some_and(|at| at < checkpoint.size);
            let lines = if published { self.cosignatures(store, slot)? } else { String::new() };
            store.record_cosignatures(&lines)?;
        }
        let before = store.reader().log_size()?;
        if before == 0
            && store.reader().predecessor()?.is_none()
            && let Some(predecessor) = self.predecessor()?
        {
            store.set_predecessor(&predecessor)?;
        }
        Ok(before)
    }

    /// The slot of a leaf.
    pub(super) fn slot_at(
        &self,
        checkpoint: &Checkpoint,
        index: u64,
    ) -> Result<Slot, RestoreError> {
        let first = u64::from(checkpoint.origin.first_slot().number());
        Slot::new(first.saturating_add(index)).map_err(|error| RestoreError::Slot {
            path: self.path.join("checkpoint"),
            reason: error.to_string(),
        })
    }

    /// The published data of a slot.
    pub(super) fn read_slot(
        &self,
        slots: &mut Slots<'_>,
        slot: Slot,
    ) -> Result<SlotRead, RestoreError> {
        slots.read_slot(slot).map_err(|error| {
            let FileError { path, reason } = error.at(manifest_path(&self.path, slot));
            RestoreError::Slot { path, reason }
        })
    }

    /// The cosignatures next to a published slot's checkpoint.
    fn cosignatures(&self, store: &Store, slot: Slot) -> Result<String, RestoreError> {
        let manifest = Files::for_folder(&self.path)
            .manifest(slot)
            .map_err(|FileError { path, reason }| RestoreError::Slot { path, reason })?;
        let wrong = |error: NoteError| RestoreError::Slot {
            path: manifest_path(&self.path, slot),
            reason: error.to_string(),
        };
        let keys = store.reader().log()?.map(|log| log.keys).unwrap_or_default();
        Ok(Note::parse(&manifest.checkpoint).map_err(wrong)?.lines_of_others(&keys))
    }
}

/// Data that a store of this version cannot hold.
const NEWER: &str = "which was made by a newer version; update exitgap to restore it";

/// The data that a slot was sealed with.
pub(super) struct SlotRead {
    pub entries: Vec<NewEntry>,
    pub changes: Changes,
    pub checkpoint: String,
}

/// Why a slot cannot be read.
pub(super) enum SlotError {
    /// A file is missing, unreadable or has invalid content.
    File(FileError),
    /// The content of the slot's files does not match the slot.
    Slot(String),
}

impl SlotError {
    /// The file and the reason; names `manifest` if no single file is at fault.
    pub fn at(self, manifest: PathBuf) -> FileError {
        match self {
            Self::File(error) => error,
            Self::Slot(reason) => FileError { path: manifest, reason },
        }
    }
}

impl From<FileError> for SlotError {
    fn from(error: FileError) -> Self {
        Self::File(error)
    }
}

impl From<BodyError<FileError>> for SlotError {
    fn from(error: BodyError<FileError>) -> Self {
        match error {
            BodyError::Folder(error) => Self::File(error),
            error => Self::Slot(error.to_string()),
        }
    }
}

/// Reads the slots of a folder one after the other.
pub(super) struct Slots<'a> {
    files: &'a Files<'a>,
    bodies: Bodies<'a, Files<'a>>,
    bases: DefaultBases,
}

impl<'a> Slots<'a> {
    /// A reader of these files. Nothing is read yet.
    pub fn from_files(files: &'a Files<'a>, bases: DefaultBases) -> Self {
        Self { files, bodies: Bodies::new(files), bases }
    }

    /// Reads a slot.
    pub fn read_slot(&mut self, slot: Slot) -> Result<SlotRead, SlotError> {
        self.read_of(slot, self.files.manifest(slot)?)
    }

    /// Reads the slot that this manifest belongs to.
    pub fn read_of(&mut self, slot: Slot, manifest: Manifest) -> Result<SlotRead, SlotError> {
        let words = |error: &dyn std::fmt::Display| SlotError::Slot(error.to_string());
        let leaf = SlotLeaf::from_canonical(&manifest.leaf).map_err(|error| words(&error))?;
        if leaf.slot != slot {
            let reason = format!("it is the manifest of {}, not {slot}", leaf.slot);
            return Err(SlotError::Slot(reason));
        }
        manifest.check_pools(&leaf).map_err(|error| words(&error))?;
        let checkpoint = manifest.checkpoint;
        let (mut entries, mut changes) = (Vec::new(), Changes::default());
        let mut logged = self.files.slot_documents::<Fills>(slot);
        let mut issued = self.files.slot_documents::<IssuedReceipts>(slot);
        for part in &manifest.parts {
            let (table, mut from) = self.files.table(part)?;
            let mut frames = table.frames.iter();
            for head in &table.heads {
                let head = Head::from_canonical(head).map_err(|error| words(&error))?;
                note_changes(&head, &mut changes).map_err(SlotError::Slot)?;
                if let Some(hash) = head.commits.get(Fills::NAME) {
                    let fills = logged.next(&head.pool, hash)?;
                    changes.fills.push(NewFills { pool: head.pool.clone(), fills });
                }
                if let Some(hash) = head.commits.get(IssuedReceipts::NAME) {
                    changes.issued.push(issued.next(&head.pool, hash)?);
                }
                let reading = match head.entry {
                    HeadEntry::Recorded { .. } => {
                        let (expected, found) = (table.heads.len(), table.frames.len());
                        let absent = PublishedError::Frames { expected, found };
                        let frame = frames.next().ok_or_else(|| words(&absent))?;
                        let place = Place { part: part.clone(), from, frame: *frame };
                        let joined = self.bodies.body(&head.pool, slot, &place)?;
                        from += u64::from(frame.bytes);
                        let documents = codec::split(joined, frame.snapshot as usize);
                        Ok(Snapshot::of_pool(&head.pool, &documents.snapshot, &documents.state)
                            .map_err(|error| words(&error))?)
                    }
                    HeadEntry::Missing(reason) => Err(reason),
                    HeadEntry::Retired => continue,
                };
                let (default_base, pool) = (self.bases.base(&head.pool), head.pool);
                entries.push(NewEntry { pool, default_base, reading });
            }
        }
        logged.end()?;
        issued.end()?;
        Ok(SlotRead { entries, changes, checkpoint })
    }
}

/// Adds a head's other statements besides its entry to `changes`. Fails if a store of this version cannot hold them.
fn note_changes(head: &Head, changes: &mut Changes) -> Result<(), String> {
    if let Some(newer) = head.newer() {
        return Err(format!("the head of {}: {newer}", head.pool));
    }
    let held = [Fills::NAME, IssuedReceipts::NAME];
    if let Some((name, _)) = head.commits.iter().find(|(name, _)| !held.contains(&name.as_str())) {
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
    if head.entry == HeadEntry::Retired {
        changes.retirements.push(head.pool.clone());
    }
    Ok(())
}
