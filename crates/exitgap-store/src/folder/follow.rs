//! Following a published log: applies its slots to a local store that seals nothing itself.
//!
//! # Order of writes, and the result of a crash
//!
//! Each slot is rebuilt from its files, which must produce the signed checkpoint byte for byte, and is committed to the
//! store. Only then are the tiles and the `checkpoint` that cover it written to the folder. So the store has everything
//! that the folder serves. After a crash at any point the folder covers fewer slots than the store, and the next call
//! completes it.

use exitgap_core::tlog::{Checkpoint, CheckpointError, Hash, Origin, VerifierKey};

use super::files::Files;
use super::restore::{SlotRead, Slots};
use super::{LogFolder, PublishError, RestoreError, durable, tiles};
use crate::error::StoreError;
use crate::writer::Store;

/// Why a log cannot be followed, or not any further.
#[derive(Debug, thiserror::Error)]
pub enum FollowError {
    /// The text that should be the log's state is not a checkpoint.
    #[error("not a checkpoint: {0}")]
    Checkpoint(#[from] CheckpointError),
    /// No trusted key signed the checkpoint.
    #[error(
        "the checkpoint of {size} slots of {origin} is not signed by a trusted key; if the log changed its key, \
         also trust the new key"
    )]
    NotTrusted {
        /// The origin that the checkpoint names.
        origin: Origin,
        /// The number of slots it covers.
        size: u64,
    },
    /// The checkpoint belongs to another log than the local one.
    #[error(
        "the checkpoint belongs to {told}, but the followed log is {here}; follow each log in its own store"
    )]
    OtherLog {
        /// The log that is followed here.
        here: Origin,
        /// The log of the checkpoint.
        told: Origin,
    },
    /// The checkpoint is signed but contradicts the local slots.
    #[error(
        "a signed checkpoint of {size} slots has root {told}, but the followed slots give {held}; the log has two \
         histories"
    )]
    Contradicts {
        /// The number of slots it covers.
        size: u64,
        /// The signed root.
        told: Hash,
        /// The root of the local slots.
        held: Hash,
    },
    /// A slot's files do not match its signed checkpoint, or cannot be read.
    #[error("slot {index} of the log: {error}")]
    Slot {
        /// The slot's index in the log, from 0.
        index: u64,
        /// The reason.
        error: Box<RestoreError>,
    },
    /// The store or the folder returned an error.
    #[error(transparent)]
    Restore(Box<RestoreError>),
}

impl From<RestoreError> for FollowError {
    fn from(error: RestoreError) -> Self {
        Self::Restore(Box::new(error))
    }
}

impl From<StoreError> for FollowError {
    fn from(error: StoreError) -> Self {
        RestoreError::from(error).into()
    }
}

impl From<PublishError> for FollowError {
    fn from(error: PublishError) -> Self {
        RestoreError::from(error).into()
    }
}

impl LogFolder {
    /// Applies slots of this folder to a store opened with [`Store::open_follower`], at most `until` of them and at
    /// most up to the checkpoint of `note`, and returns the store's new number of slots. The slots' files must already
    /// be in this folder. This writes the tiles and the checkpoint over the store's slots.
    ///
    /// Applies only slots that a trusted key signed and that continue the local log.
    pub fn follow(
        &self,
        store: &mut Store,
        note: &str,
        trusted: &[VerifierKey],
        until: u64,
    ) -> Result<u64, FollowError> {
        self.check_version()?;
        let newest = verify_checkpoint(note, trusted)?;
        check_state(store, &newest)?;
        let held = self.begin(store, &newest)?;
        // Completes the folder after a process that ended between a slot's commit and its checkpoint.
        self.cover(store)?;
        let files = Files::for_folder(&self.path);
        let mut slots = Slots::from_files(&files, self.bases()?);
        for index in held..newest.size.min(until) {
            self.follow_slot(store, (&newest, index), &mut slots, trusted).map_err(|error| {
                match error {
                    // A failure of this machine, not of the files.
                    FollowError::Restore(error) if is_of_files(&error) => {
                        FollowError::Slot { index, error }
                    }
                    error => error,
                }
            })?;
        }
        check_state(store, &newest)?;
        self.cover(store)?;
        Ok(store.reader().log_size()?)
    }

    fn follow_slot(
        &self,
        store: &mut Store,
        (newest, index): (&Checkpoint, u64),
        slots: &mut Slots<'_>,
        trusted: &[VerifierKey],
    ) -> Result<(), FollowError> {
        let slot = self.slot_at(newest, index)?;
        let SlotRead { entries, changes, checkpoint } = self.read_slot(slots, slot)?;
        verify_checkpoint(&checkpoint, trusted)?;
        store.append_sealed(slot, &entries, &changes, &checkpoint)?;
        Ok(())
    }

    /// Writes the tiles and the checkpoint for the slots that the store has and the folder does not cover yet.
    fn cover(&self, store: &Store) -> Result<(), FollowError> {
        let reader = store.reader();
        let log = reader.log()?;
        let before = self.published_size(reader, log.as_ref())?;
        let size = reader.publishable()?;
        let Some(checkpoint) = reader.published_checkpoint(size)?.filter(|_| before < size) else {
            return Ok(());
        };
        tiles::write_tiles(reader, &self.path, before, size)?;
        durable::replace_file(&self.path.join("checkpoint"), checkpoint.as_bytes())?;
        tiles::remove_partial(&self.path, before, size)?;
        Ok(())
    }
}

/// The checkpoint of a note, which a trusted key must have signed.
fn verify_checkpoint(note: &str, trusted: &[VerifierKey]) -> Result<Checkpoint, FollowError> {
    let (checkpoint, note) = Checkpoint::from_note(note)?;
    let Checkpoint { origin, size, .. } = &checkpoint;
    if note.signed_by(origin, trusted).is_err() {
        return Err(FollowError::NotTrusted { origin: origin.clone(), size: *size });
    }
    Ok(checkpoint)
}

/// Requires that a signed state belongs to the local log. If the local log has at least as many slots, also requires
/// that their root is the same.
fn check_state(store: &Store, told: &Checkpoint) -> Result<(), FollowError> {
    let reader = store.reader();
    if let Some(log) = reader.log()?.filter(|log| log.origin != told.origin) {
        let (here, told) = (log.origin, told.origin.clone());
        return Err(FollowError::OtherLog { here, told });
    }
    if told.size > reader.log_size()? {
        return Ok(());
    }
    let held = reader.nodes().root(told.size)?;
    if held == told.root {
        return Ok(());
    }
    Err(FollowError::Contradicts { size: told.size, told: told.root, held })
}

/// Whether a slot was refused because of the content of its files.
fn is_of_files(error: &RestoreError) -> bool {
    match error {
        RestoreError::Slot { .. } => true,
        RestoreError::Store(error) => error.is_of_entries(),
        RestoreError::NothingPublished { .. } | RestoreError::Folder(_) => false,
    }
}
