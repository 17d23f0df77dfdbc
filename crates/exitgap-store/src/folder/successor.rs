//! Replaces a log whose data is lost: reads its last state, which a successor log names, and marks the log as ended.

use std::path::PathBuf;

use exitgap_core::evidence::Predecessor;
use exitgap_core::log_folder::DefaultBases;
use exitgap_core::series::Slot;
use exitgap_core::tlog::Checkpoint;

use super::files::{FileError, Files};
use super::restore::Slots;
use super::{LogFolder, PublishError, durable, manifest_path, read_text};

/// Why no successor can begin.
#[derive(Debug, thiserror::Error)]
pub enum SuccessorError {
    /// No slot was published, so there is nothing to succeed.
    #[error("nothing is published in {path}, so there is no log to succeed")]
    NothingPublished {
        /// The folder.
        path: PathBuf,
    },
    /// The key in the file next to the checkpoint did not sign it.
    #[error(
        "{path} is not signed by the key in the verifier-key file next to it, and cannot be trusted"
    )]
    Unsigned {
        /// The checkpoint.
        path: PathBuf,
    },
    /// Every slot can be read, so the store can be restored.
    #[error(
        "every slot of {origin} can be read, so nothing is lost. Continue the log after `exitgap-server restore`, \
         or, if its key was stolen, use --key-stolen"
    )]
    Restorable {
        /// The log.
        origin: String,
    },
    /// The folder could not be read or written, or its log already has another successor.
    #[error(transparent)]
    Folder(#[from] PublishError),
}

/// A log that cannot be continued.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lost {
    /// Its last published state.
    pub state: Predecessor,
    /// The first file that is missing or cannot be read.
    pub file: PathBuf,
    /// The reason.
    pub reason: String,
}

impl LogFolder {
    /// The last state of the log published here, signed by the key next to it.
    pub fn last_state(&self) -> Result<Predecessor, SuccessorError> {
        self.check_version()?;
        let path = self.path.join("checkpoint");
        let nothing = || SuccessorError::NothingPublished { path: self.path.clone() };
        let note = read_text(&path)?.ok_or_else(nothing)?;
        let (checkpoint, note) = Checkpoint::from_note(&note)
            .map_err(|error| PublishError::Checkpoint { path: path.clone(), error })?;
        if note.signed_by(&checkpoint.origin, &self.keys()?).is_err() {
            return Err(SuccessorError::Unsigned { path });
        }
        let Checkpoint { origin, size, root, .. } = checkpoint;
        Ok(Predecessor { origin, size, root })
    }

    /// The last state of the log published here, if a file that a restore would need is missing. Fails if all of them
    /// can be read. Calls `progress` after each slot.
    pub fn lost(&self, mut progress: impl FnMut(u64, u64)) -> Result<Lost, SuccessorError> {
        let state = self.last_state()?;
        let (origin, size) = (state.origin.clone(), state.size);
        let files = Files::for_folder(&self.path);
        let mut slots = Slots::from_files(&files, DefaultBases::default());
        for index in 0..size {
            let number = u64::from(origin.first_slot().number()).saturating_add(index);
            let Ok(slot) = Slot::new(number) else {
                let reason = format!("its size {size} is beyond the last possible slot");
                return Ok(Lost { state, file: self.path.join("checkpoint"), reason });
            };
            if let Err(error) = slots.read_slot(slot) {
                let FileError { path: file, reason } = error.at(manifest_path(&self.path, slot));
                return Ok(Lost { state, file, reason });
            }
            progress(index + 1, size);
        }
        Err(SuccessorError::Restorable { origin: origin.to_string() })
    }

    /// Writes to the folder that the log has ended and that the log called `name` succeeds it. Recorders then refuse to
    /// continue it. Writing the same again is allowed.
    pub fn supersede(&self, name: &str) -> Result<(), PublishError> {
        let path = self.path.join("superseded-by");
        match read_text(&path)? {
            Some(successor) if successor.trim_end() == name => Ok(()),
            Some(successor) => {
                let successor = successor.trim_end().chars().take(200).collect();
                Err(PublishError::Superseded { path: self.path.clone(), successor })
            }
            None => durable::replace_file(&path, format!("{name}\n").as_bytes()),
        }
    }
}
