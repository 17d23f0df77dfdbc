//! This program as a witness of other logs.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use exitgap_core::tlog::{
    AddCheckpoint, Cosigner, Note, NoteError, Origin, OriginLine, RequestError, SignerKey,
    VerifierKey, WitnessKey, WitnessRefusal, may_cosign,
};
use exitgap_store::witness::{Candidate, WitnessState, WitnessStateError};

use crate::secret_file::{self, SecretFileError};

/// Why the witness could not start.
#[derive(Debug, thiserror::Error)]
pub enum StandError {
    /// Its key cannot be read.
    #[error(transparent)]
    KeyFile(#[from] SecretFileError),
    /// The file does not contain a key.
    #[error("{path}: {error}")]
    NotAKey {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        error: NoteError,
    },
    /// The key is that of a log.
    #[error(
        "{path} is the key of a log; a witness needs its own key: `exitgap-server key witness --out FILE --name NAME`"
    )]
    LogsKey {
        /// The file.
        path: PathBuf,
    },
    /// Its database cannot be read.
    #[error(transparent)]
    State(#[from] WitnessStateError),
}

/// Why a checkpoint is not cosigned.
#[derive(Debug, thiserror::Error)]
pub enum NotCosigned {
    /// The request is not valid.
    #[error(transparent)]
    Request(#[from] RequestError),
    /// This witness is not configured for the log.
    #[error("this witness does not cosign the log {origin}")]
    UnknownLog {
        /// Its name.
        origin: String,
    },
    /// The rules do not allow cosigning it.
    #[error(transparent)]
    Refused(#[from] WitnessRefusal),
    /// The database could not be read or written.
    #[error(transparent)]
    State(#[from] WitnessStateError),
}

/// A log that is cosigned here.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WitnessedLog {
    /// The line that opens its checkpoints. Where it is the name of one of exitgap's logs without the first slot, it stands for
    /// all logs that begin with it.
    pub origin: String,
    /// Its key, whose name may be another.
    pub key: VerifierKey,
}

impl WitnessedLog {
    /// The log that is named as its key is.
    pub fn of_key(key: VerifierKey) -> Self {
        Self { origin: key.name().to_owned(), key }
    }

    /// The keys that sign for this log, if the line opens checkpoints of it: the key under its own name, and under the
    /// log's.
    fn keys_under(&self, line: &OriginLine) -> Vec<VerifierKey> {
        let line = line.as_str();
        let named = || self.key.with_name(line).ok();
        if self.origin == line {
            let own = self.key.clone();
            let other = named().filter(|named| *named != own);
            return core::iter::once(own).chain(other).collect();
        }
        let begins = line.parse::<Origin>().is_ok_and(|origin| origin.name() == self.origin);
        if begins { named().into_iter().collect() } else { Vec::new() }
    }
}

/// A witness.
pub struct Stand {
    cosigner: Cosigner,
    logs: Vec<WitnessedLog>,
    state: WitnessState,
    now_s: Arc<dyn Fn() -> u64 + Send + Sync>,
}

impl Stand {
    /// Creates a witness of these logs, with its key and database in these files; the database is created if needed.
    /// `now_s` returns the Unix second for cosignatures.
    pub fn open(
        key_file: &Path,
        database: &Path,
        logs: Vec<WitnessedLog>,
        now_s: Arc<dyn Fn() -> u64 + Send + Sync>,
    ) -> Result<Self, StandError> {
        let text = secret_file::read_secret(key_file, "witness")?;
        let key: SignerKey = text
            .trim_end()
            .parse()
            .map_err(|error| StandError::NotAKey { path: key_file.to_owned(), error })?;
        let public = key.verifier();
        if logs.iter().any(|log| log.key.public_bytes() == public.public_bytes()) {
            return Err(StandError::LogsKey { path: key_file.to_owned() });
        }
        let state = WitnessState::open(database)?;
        Ok(Self { cosigner: Cosigner::new(key), logs, state, now_s })
    }

    /// Its public key.
    pub fn key(&self) -> WitnessKey {
        self.cosigner.verifier()
    }

    /// Cosigns the checkpoint of a request, and returns the signature line. The cosigned checkpoint is on disk by then,
    /// so that no contradicting one is ever cosigned.
    pub fn cosign(&self, body: &str) -> Result<String, NotCosigned> {
        let (request, checkpoint) = AddCheckpoint::from_text::<OriginLine>(body)?;
        let keys: Vec<VerifierKey> =
            self.logs.iter().flat_map(|log| log.keys_under(&checkpoint.origin)).collect();
        let origin = checkpoint.origin.to_string();
        if keys.is_empty() {
            return Err(NotCosigned::UnknownLog { origin });
        }
        // Keep only the signatures by the log's keys: lines of others are not repeated.
        let signed =
            Note::parse(&request.checkpoint).map(|note| note.by(&keys)).unwrap_or_default();
        let candidate = Candidate { origin: &origin, checkpoint: &signed, root: checkpoint.root };
        self.state.advance(candidate, |last| may_cosign(&request, &keys, last))??;
        Ok(self.line(&request.checkpoint))
    }

    /// The newest cosigned checkpoint of the log whose origin has this SHA-256 (hex), with a new cosignature.
    pub fn latest(&self, hash: &str) -> Result<Option<String>, WitnessStateError> {
        let Some(checkpoint) = self.state.latest(hash)? else { return Ok(None) };
        let line = self.line(&checkpoint);
        Ok(Some(checkpoint + &line))
    }

    /// Pairs of contradicting checkpoints of one size that a log signed.
    pub fn contradictions(&self, origin: &str) -> Result<Vec<[String; 2]>, WitnessStateError> {
        self.state.contradictions(origin)
    }

    fn line(&self, checkpoint: &str) -> String {
        // It was parsed as a note before.
        let text = Note::parse(checkpoint).map(|note| note.text).unwrap_or_default();
        self.cosigner.cosign(text, (self.now_s)())
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

#[cfg(test)]
mod tests {
    use exitgap_core::tlog::{Hash, root};

    use super::super::list::read_list;
    use super::*;

    fn signer(name: &str, seed: u8) -> SignerKey {
        SignerKey::from_seed(name, [seed; 32]).unwrap()
    }

    /// The first request of a log: one leaf.
    fn request(origin: &str, signer: &SignerKey) -> String {
        let root = root(&[Hash([5; 32])]);
        let checkpoint = signer.sign(&format!("{origin}\n1\n{root}\n")).unwrap();
        AddCheckpoint { old: 0, proof: Vec::new(), checkpoint }.to_text()
    }

    #[test]
    fn a_log_of_every_origin_of_the_list_is_cosigned_and_only_by_its_own_key() {
        let folder = tempfile::tempdir().unwrap();
        // Each origin of a checkpoint, with the name that its key signs under.
        let logs = [
            ("a.example/log/5957856", "a.example/log", "a.example/log/5957856"),
            ("b.example/log", "b.example/log", "b.example/log"),
            ("c.example/12/034", "c.example/12/034", "c.example/12/034"),
            ("d.example/tree", "keys.d.example", "keys.d.example"),
            ("e.example/tree", "keys.e.example", "e.example/tree"),
            ("f.example sum database tree", "sum.f.example", "sum.f.example"),
            ("g+h", "g", "g"),
            ("\u{eb}.example/\u{1f333}", "i.example", "i.example"),
            ("j.example/5957856", "j.example/5957856", "j.example/5957856"),
        ];
        let list =
            logs.iter().zip(1..).fold("logs/v0\n".to_owned(), |list, ((origin, key, _), seed)| {
                let vkey = signer(key, seed).verifier();
                // The first log is named by its key alone, as ours are.
                let origin = if seed == 1 { "none" } else { origin };
                format!("{list}vkey {vkey}\norigin {origin}\n")
            });
        let (path, key_file) = (folder.path().join("list"), folder.path().join("witness.key"));
        std::fs::write(&path, list).unwrap();
        let witness = signer("w.example", 99);
        secret_file::write_secret(&key_file, &witness.to_secret_text()).unwrap();
        let database = folder.path().join("witness.db");
        let listed = read_list(&path).unwrap();
        let stand = Stand::open(&key_file, &database, listed, Arc::new(|| 1_800_000_000)).unwrap();
        for ((origin, key, signs_as), seed) in logs.iter().zip(1..) {
            // Another log's key under this log's names, and a stranger's.
            for name in [*key, *signs_as] {
                for other in [1 + seed % 9, 77] {
                    let refused = stand.cosign(&request(origin, &signer(name, other)));
                    let unsigned =
                        matches!(refused, Err(NotCosigned::Refused(WitnessRefusal::Unsigned(_))));
                    assert!(unsigned, "{origin} by {name}: {refused:?}");
                }
            }
            let line = stand.cosign(&request(origin, &signer(signs_as, seed)));
            let line = line.unwrap_or_else(|error| panic!("{origin}: {error}"));
            assert!(line.starts_with("\u{2014} w.example "), "{line}");
            let kept = stand.latest(&exitgap_store::witness::hash_of(origin)).unwrap().unwrap();
            assert!(kept.starts_with(&format!("{origin}\n1\n")), "{kept}");
        }
        let unknown = stand.cosign(&request("k.example/log", &signer("k.example/log", 1)));
        assert!(matches!(unknown, Err(NotCosigned::UnknownLog { .. })), "{unknown:?}");
    }
}
