//! What a witness stores: the last checkpoint it cosigned for each log, in a separate `SQLite`
//! file.
//!
//! **Out of scope**, with the crate responsible: what may be cosigned (`exitgap-core::tlog`), who
//! asks and who signs (`exitgap-server`).
//!
//! Reading the last state, checking the request and writing the new state are one transaction. Of
//! two simultaneous requests the second is therefore checked against the state left by the first.
//! The state is on disk before anyone signs: after a crash in between, the state has no signature,
//! and the log asks again.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use exitgap_core::tlog::{Hash, WitnessRefusal, WitnessedState};

use sha2::{Digest, Sha256};

use crate::db::DatabaseError;
use crate::db::sidecar::FileKind;
use crate::db::witness::{ContradictionRow, StateRow, WitnessDb};

/// The maximum number of contradictions that are stored per log. One is enough as evidence.
const MOST_CONTRADICTIONS: u32 = 100;

/// Why a witness's state cannot be read or written.
#[derive(Debug, thiserror::Error)]
pub enum WitnessStateError {
    /// The file is something else, or has another version.
    #[error(
        "{path} is not a witness state that this version can read: application id {found:#010x}, version \
         {version}"
    )]
    NotAState {
        /// The file.
        path: PathBuf,
        /// Its application id.
        found: i32,
        /// Its version.
        version: i32,
    },
    /// The database refused.
    #[error("the witness's state: {0}")]
    Database(#[from] DatabaseError),
    /// An impossible log size.
    #[error("the witness's state: a size of {0}")]
    Size(i64),
}

type Result<T> = std::result::Result<T, WitnessStateError>;

/// A checkpoint to cosign.
#[derive(Debug, Clone, Copy)]
pub struct Candidate<'a> {
    /// Its log.
    pub origin: &'a str,
    /// The signed checkpoint.
    pub checkpoint: &'a str,
    /// Its root, stored if it contradicts the previous one.
    pub root: Hash,
}

/// The state of one witness.
#[derive(Debug)]
pub struct WitnessState(Mutex<WitnessDb>);

fn state_of(row: &StateRow) -> Result<WitnessedState> {
    let size = u64::try_from(row.size).map_err(|_| WitnessStateError::Size(row.size))?;
    Ok(WitnessedState { size, root: Hash(row.root) })
}

/// The SHA-256 of a log's origin in hex, under which others request it.
pub fn hash_of(origin: &str) -> String {
    Sha256::digest(origin).iter().fold(String::new(), |mut hex, byte| {
        // Writing to a String cannot fail.
        let _ = write!(hex, "{byte:02x}");
        hex
    })
}

impl WitnessState {
    /// Opens the file and creates it if it does not exist.
    pub fn open(path: &Path) -> Result<Self> {
        match WitnessDb::open(path)? {
            Ok(db) => Ok(Self(Mutex::new(db))),
            Err(FileKind { application_id: found, version }) => {
                Err(WitnessStateError::NotAState { path: path.to_owned(), found, version })
            }
        }
    }

    /// Locks the database. Ignores a panic of another thread, because its transaction was rolled back.
    fn db(&self) -> MutexGuard<'_, WitnessDb> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Judges a checkpoint against the last cosigned one, and stores it if it may be cosigned. It is on disk when this
    /// returns. A contradiction is stored as well.
    pub fn advance(
        &self,
        candidate: Candidate<'_>,
        judge: impl FnOnce(
            Option<WitnessedState>,
        ) -> std::result::Result<WitnessedState, WitnessRefusal>,
    ) -> Result<std::result::Result<WitnessedState, WitnessRefusal>> {
        let Candidate { origin, checkpoint, root } = candidate;
        self.db().write_transaction(|rows| {
            let last = rows.state(origin)?;
            let judged = judge(last.as_ref().map(state_of).transpose()?);
            match (&judged, &last) {
                (Ok(state), _) => {
                    let size =
                        i64::try_from(state.size).map_err(|_| WitnessStateError::Size(i64::MAX))?;
                    let checkpoint = checkpoint.to_owned();
                    let row = StateRow { size, root: state.root.0, checkpoint };
                    rows.put_state(origin, &hash_of(origin), &row)?;
                }
                (Err(WitnessRefusal::Contradiction { .. }), Some(last)) => {
                    let (cosigned, other) = (last.checkpoint.as_str(), checkpoint);
                    let row =
                        ContradictionRow { size: last.size, other_root: &root.0, cosigned, other };
                    rows.put_contradiction(origin, &row, MOST_CONTRADICTIONS)?;
                }
                _ => {}
            }
            Ok(judged)
        })
    }

    /// The last cosigned checkpoint of the log whose origin has this SHA-256 in hex.
    pub fn latest(&self, origin_sha256: &str) -> Result<Option<String>> {
        self.db().write_transaction(|rows| Ok(rows.latest(origin_sha256)?))
    }

    /// Pairs of contradictory checkpoints of the same size that a log signed, the cosigned one first.
    pub fn contradictions(&self, origin: &str) -> Result<Vec<[String; 2]>> {
        self.db().write_transaction(|rows| Ok(rows.contradictions(origin, MOST_CONTRADICTIONS)?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_state_is_there_again_and_never_rolled_back() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("witness.db");
        let state = |size: u64, byte| WitnessedState { size, root: Hash([byte; 32]) };
        let candidate =
            |checkpoint, byte| Candidate { origin: "log/1", checkpoint, root: Hash([byte; 32]) };
        let witness = WitnessState::open(&path).unwrap();
        let first = witness.advance(candidate("seven", 1), |last| {
            assert_eq!(last, None);
            Ok(state(7, 1))
        });
        assert_eq!(first.unwrap(), Ok(state(7, 1)));
        // Whatever the judge answers, the file accepts no smaller size and no other root of the same size.
        for (size, byte) in [(6, 1), (7, 2)] {
            let rolled = witness.advance(candidate("x", byte), |_| Ok(state(size, byte)));
            assert!(matches!(rolled, Err(WitnessStateError::Database(_))), "{size}");
        }
        drop(witness);
        let witness = WitnessState::open(&path).unwrap();
        let refusal = WitnessRefusal::Contradiction { size: 7 };
        for _ in 0..2 {
            let again = witness.advance(candidate("other", 2), |last| {
                assert_eq!(last, Some(state(7, 1)));
                Err(refusal.clone())
            });
            assert_eq!(again.unwrap(), Err(refusal.clone()));
        }
        assert_eq!(witness.latest(&hash_of("log/1")).unwrap().as_deref(), Some("seven"));
        let both = ["seven".to_owned(), "other".to_owned()];
        assert_eq!(witness.contradictions("log/1").unwrap(), [both]);
        assert_eq!(witness.latest(&hash_of("log/2")).unwrap(), None);
        std::fs::write(folder.path().join("text"), "no database, but long enough to look at it")
            .unwrap();
        assert!(WitnessState::open(&folder.path().join("text")).is_err());
    }
}
