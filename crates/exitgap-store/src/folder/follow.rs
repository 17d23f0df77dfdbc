//! Taking the slots of a published log into a store of one's own, which seals nothing.
//!
//! # Order of writes, and what a crash leaves
//!
//! Each slot is applied from its files, which must make, byte for byte, the checkpoint that was signed of it, and is
//! committed to the store. Only then do the tiles and the `checkpoint` that cover it come into the folder. So whatever is
//! served from the folder is covered by what the store holds, and a crash anywhere leaves less of it, which the next call
//! makes up for.

use exitgap_core::tlog::{Checkpoint, CheckpointError, Hash, Origin, VerifierKey};

use super::files::Files;
use super::restore::{SlotRead, Slots};
use super::{LogFolder, PublishError, RestoreError, durable, tiles};
use crate::error::StoreError;
use crate::writer::Store;

/// Why a log is not followed, or not further.
#[derive(Debug, thiserror::Error)]
pub enum FollowError {
    /// What is said to be the log's state is no checkpoint.
    #[error("not a checkpoint: {0}")]
    Checkpoint(#[from] CheckpointError),
    /// No trusted key signed it.
    #[error(
        "the checkpoint of {size} slots of {origin} is not signed by a trusted key; if the log changed its key, \
         also trust the new key"
    )]
    NotTrusted {
        /// The log that it says it is of.
        origin: Origin,
        /// How many slots it covers.
        size: u64,
    },
    /// It is of another log than what is here.
    #[error(
        "the checkpoint belongs to {told}, but the followed log is {here}; follow each log in its own store"
    )]
    OtherLog {
        /// The log that was followed.
        here: Origin,
        /// The log that it is of.
        told: Origin,
    },
    /// It is signed, and not a state of what is here.
    #[error(
        "a signed checkpoint of {size} slots has root {told}, but the followed slots give {held}; the log has two \
         histories"
    )]
    Contradicts {
        /// How many slots it covers.
        size: u64,
        /// Their root as it was signed.
        told: Hash,
        /// Their root here.
        held: Hash,
    },
    /// A slot's files are not what was signed of it, or cannot be read.
    #[error("slot {index} of the log: {error}")]
    Slot {
        /// The slot's place in the log, from 0.
        index: u64,
        /// What is wrong.
        error: Box<RestoreError>,
    },
    /// The store or the folder refused.
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
    /// Takes slots of this folder, up to `until` of them and to those that the checkpoint of `note` covers, into a store
    /// that [`Store::open_follower`] opened, and returns how many the store has then. Their files are here; the tiles and
    /// checkpoint that cover what the store has are written.
    ///
    /// Nothing is taken that no trusted key signed, or that does not go on from what is here.
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
        // What a process left that ended between a slot's commit and its checkpoint.
        self.cover(store)?;
        let files = Files::for_folder(&self.path);
        let mut slots = Slots::from_files(&files, self.bases()?);
        for index in held..newest.size.min(until) {
            self.follow_slot(store, (&newest, index), &mut slots, trusted).map_err(|error| {
                match error {
                    // The machine's trouble, and nothing that the files did.
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

    /// Writes the tiles and the checkpoint over what the store has and the folder does not cover yet.
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

/// The checkpoint of a note that a trusted key signed.
fn verify_checkpoint(note: &str, trusted: &[VerifierKey]) -> Result<Checkpoint, FollowError> {
    let (checkpoint, note) = Checkpoint::from_note(note)?;
    let Checkpoint { origin, size, .. } = &checkpoint;
    if note.signed_by(origin, trusted).is_err() {
        return Err(FollowError::NotTrusted { origin: origin.clone(), size: *size });
    }
    Ok(checkpoint)
}

/// Requires that a signed state is of the log that is here, and one of what is here where that has as many slots or more.
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

/// Whether a slot was refused for what its files hold.
fn is_of_files(error: &RestoreError) -> bool {
    match error {
        RestoreError::Slot { .. } => true,
        RestoreError::Store(error) => error.is_of_entries(),
        RestoreError::NothingPublished { .. } | RestoreError::Folder(_) => false,
    }
}
