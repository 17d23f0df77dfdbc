//! This program as the witness of others' logs.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use exitgap_core::tlog::{
    AddCheckpoint, Cosigner, Note, NoteError, Origin, RequestError, SignerKey, VerifierKey,
    WitnessKey, WitnessRefusal, may_cosign,
};
use exitgap_store::witness::{Candidate, WitnessState, WitnessStateError};

use crate::secret_file::{self, SecretFileError};

/// Why there is no witness.
#[derive(Debug, thiserror::Error)]
pub enum StandError {
    /// Its key cannot be read.
    #[error(transparent)]
    KeyFile(#[from] SecretFileError),
    /// The file holds something else.
    #[error("{path}: {error}")]
    NotAKey {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        error: NoteError,
    },
    /// The key signs a log.
    #[error(
        "{path} is the key of a log; a witness needs its own key: `exitgap-server key witness --out FILE --name NAME`"
    )]
    LogsKey {
        /// The file.
        path: PathBuf,
    },
    /// What it remembers cannot be read.
    #[error(transparent)]
    State(#[from] WitnessStateError),
}

/// Why a checkpoint is not cosigned.
#[derive(Debug, thiserror::Error)]
pub enum NotCosigned {
    /// It is no request.
    #[error(transparent)]
    Request(#[from] RequestError),
    /// Nobody asked this witness to look after the log.
    #[error("this witness does not cosign the log {origin}")]
    UnknownLog {
        /// Its name.
        origin: String,
    },
    /// It may not be cosigned.
    #[error(transparent)]
    Refused(#[from] WitnessRefusal),
    /// What was cosigned could not be read or written.
    #[error(transparent)]
    State(#[from] WitnessStateError),
}

/// A witness.
pub struct Stand {
    cosigner: Cosigner,
    logs: Vec<VerifierKey>,
    state: WitnessState,
    now_s: Arc<dyn Fn() -> u64 + Send + Sync>,
}

impl Stand {
    /// A witness of these logs, by the key and the memory in these files; the latter is made where there is none.
    /// `now_s`: the Unix second that its cosignatures name.
    pub fn open(
        key_file: &Path,
        database: &Path,
        logs: Vec<VerifierKey>,
        now_s: Arc<dyn Fn() -> u64 + Send + Sync>,
    ) -> Result<Self, StandError> {
        let text = secret_file::read_secret(key_file, "witness")?;
        let key: SignerKey = text
            .trim_end()
            .parse()
            .map_err(|error| StandError::NotAKey { path: key_file.to_owned(), error })?;
        let public = key.verifier();
        if logs.iter().any(|log| log.public_bytes() == public.public_bytes()) {
            return Err(StandError::LogsKey { path: key_file.to_owned() });
        }
        let state = WitnessState::open(database)?;
        Ok(Self { cosigner: Cosigner::new(key), logs, state, now_s })
    }

    /// Its public key.
    pub fn key(&self) -> WitnessKey {
        self.cosigner.verifier()
    }

    /// Cosigns the checkpoint of a request, and gives the line. It is on the disk by then that it was cosigned, so that
    /// nothing that contradicts it ever is.
    pub fn cosign(&self, body: &str) -> Result<String, NotCosigned> {
        let (request, checkpoint) = AddCheckpoint::from_text::<Origin>(body)?;
        let keys = self.keys_of(&checkpoint.origin);
        let origin = checkpoint.origin.to_string();
        if keys.is_empty() {
            return Err(NotCosigned::UnknownLog { origin });
        }
        // Only what the log's key signed: lines of others are not repeated.
        let signed =
            Note::parse(&request.checkpoint).map(|note| note.by(&keys)).unwrap_or_default();
        let candidate = Candidate { origin: &origin, checkpoint: &signed, root: checkpoint.root };
        self.state.advance(candidate, |last| may_cosign(&request, &keys, last))??;
        Ok(self.line(&request.checkpoint))
    }

    /// The newest checkpoint of a log that was cosigned, cosigned as of now, where its origin has this
    /// SHA-256, in hex.
    pub fn latest(&self, hash: &str) -> Result<Option<String>, WitnessStateError> {
        let Some(checkpoint) = self.state.latest(hash)? else { return Ok(None) };
        let line = self.line(&checkpoint);
        Ok(Some(checkpoint + &line))
    }

    /// Pairs of checkpoints of one size that a log signed.
    pub fn contradictions(&self, origin: &str) -> Result<Vec<[String; 2]>, WitnessStateError> {
        self.state.contradictions(origin)
    }

    fn line(&self, checkpoint: &str) -> String {
        // It was read as a note before.
        let text = Note::parse(checkpoint).map(|note| note.text).unwrap_or_default();
        self.cosigner.cosign(text, (self.now_s)())
    }

    /// The keys that may sign for a log: its own, or one that is configured without a log's first slot, under whose name
    /// it began.
    fn keys_of(&self, origin: &Origin) -> Vec<VerifierKey> {
        self.logs.iter().filter_map(|key| origin.key_of(key)).collect()
    }
}

impl std::fmt::Debug for Stand {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Stand")
            .field("key", &self.key().to_string())
            .field("logs", &self.logs)
            .finish_non_exhaustive()
    }
}
