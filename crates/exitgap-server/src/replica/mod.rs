//! A replica: another process's log, possibly of another operator, downloaded slot by slot, applied to a local store
//! and served from it. It has no key and needs no node.
//!
//! **In scope**: one update from the log ([`Replica::look`]) and updates until stopped ([`Replica::run`]); which data
//! is accepted. **Out of scope**: downloading files (`exitgap-client`'s `copy`), applying a slot and publishing what
//! covers it (`exitgap-store`), answering requests ([`crate::http`]).
//!
//! # Which data is accepted
//!
//! Only data signed by a trusted key, and only if it continues what is already here. First, a new checkpoint must
//! extend the replica's own, as proven by the log's tiles. Then each slot is applied from its files, which must
//! produce, byte for byte, its signed checkpoint. Contradicting data is rejected and stored as proof; the replica keeps
//! and serves what it already has.

mod error;

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use exitgap_api::Contradiction;
use exitgap_client::BaseUrl;
use exitgap_client::copy::{Copier, CopyError, Newest};
use exitgap_core::log_folder::LogFile;
use exitgap_core::series::Slot;
use exitgap_core::tlog::{Checkpoint, VerifierKey};
use exitgap_store::{FollowError, LogFolder, Store, write_output};
use tokio::sync::watch;

pub use error::ReplicaError;

/// Number of slots that are downloaded before they are applied.
const SLOTS_AT_ONCE: u64 = 64;

/// Time limit for reading the log's newest state.
const STATE_WITHIN: Duration = Duration::from_mins(1);

/// Time limit for that many slots.
const SLOTS_WITHIN: Duration = Duration::from_mins(30);

/// How often a waiting replica checks whether it should end.
const LISTEN_EVERY: Duration = Duration::from_millis(100);

/// A log that is followed into folders on this machine.
pub struct Replica {
    copier: Copier,
    store: Store,
    folder: LogFolder,
    trusted: Vec<VerifierKey>,
    places: Places,
}

/// Where a replica stores its data.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Places {
    /// The store.
    pub store: PathBuf,
    /// The copy of the log's folder.
    pub log: PathBuf,
    /// Rejected data: files of slots, and proofs of two histories.
    pub refused: PathBuf,
    /// The newest checkpoint that was accepted, perhaps of more slots than are held.
    pub seen: PathBuf,
}

impl Places {
    /// The standard places inside a folder.
    pub fn inside(folder: &Path) -> Self {
        let [store, log, refused, seen] =
            ["series.db", "log", "refused", "seen-checkpoint"].map(|name| folder.join(name));
        Self { store, log, refused, seen }
    }
}

/// The progress of a replica.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ReplicaStatus {
    /// Number of slots it holds.
    pub held: u64,
    /// Number of slots in the log, at the last update.
    pub published: u64,
    /// Whether the last update was rejected.
    pub refuses: bool,
}

impl Replica {
    /// Opens an existing replica, or creates one. Sends no request yet.
    pub fn open(
        log: BaseUrl,
        places: Places,
        trusted: Vec<VerifierKey>,
    ) -> Result<Self, ReplicaError> {
        let copier = Copier::new(log, &places.log, trusted.clone())?;
        let store = Store::open_follower(&places.store, &trusted)?;
        let folder = LogFolder::new(&places.log);
        Ok(Self { copier, store, folder, trusted, places })
    }

    /// Number of slots held.
    pub fn held(&self) -> Result<u64, ReplicaError> {
        Ok(self.store.reader().log_size()?)
    }

    /// Updates until stopped, and reports the progress after each step. An unreachable log or rejected data is retried;
    /// a failure of this machine ends it.
    pub fn run(
        mut self,
        every: Duration,
        end: &watch::Receiver<bool>,
        told: impl Fn(ReplicaStatus),
    ) -> Result<(), ReplicaError> {
        let (mut standing, mut said) =
            (ReplicaStatus { held: self.held()?, ..ReplicaStatus::default() }, None);
        told(standing);
        while !*end.borrow() {
            let looked = self.look(end, |held, published| {
                tracing::info!(held, published, "followed");
                standing = ReplicaStatus { held, published, refuses: false };
                told(standing);
            });
            match looked {
                // Report it even without new slots: an earlier rejection may be resolved.
                Ok(now) => {
                    (standing, said) = (now, None);
                    told(standing);
                }
                Err(error) if error.ends() => return Err(error),
                Err(error) => {
                    // Log the same error only once.
                    let code = error.code().to_owned();
                    if said.as_ref() != Some(&code) {
                        tracing::error!(code, "following stopped: {error}");
                    }
                    (standing.refuses, said) = (error.refuses(), Some(code));
                    told(standing);
                }
            }
            let mut waited = Duration::ZERO;
            while waited < every && !*end.borrow() {
                std::thread::sleep(LISTEN_EVERY);
                waited += LISTEN_EVERY;
            }
        }
        Ok(self.store.close()?)
    }

    /// Takes what the log has published since, and returns the progress. `progress` receives the numbers of held and
    /// published slots after each batch. Ends early, between slots, if `end` is set.
    pub fn look(
        &mut self,
        end: &watch::Receiver<bool>,
        mut progress: impl FnMut(u64, u64),
    ) -> Result<ReplicaStatus, ReplicaError> {
        let newest = self.copier.newest(STATE_WITHIN).map_err(|error| match error {
            CopyError::Unsigned { error: why, .. } => ReplicaError::NotTrusted { why },
            error => error.into(),
        })?;
        self.accept(&newest)?;
        let mut held = self.folder.follow(&mut self.store, &newest.note, &self.trusted, 0)?;
        let Checkpoint { origin, size, .. } = &newest.checkpoint;
        while held < *size && !*end.borrow() {
            let until = (*size).min(held + SLOTS_AT_ONCE);
            let first = u64::from(origin.first_slot().number());
            let slots = (held..until).map_while(|at| Slot::new(first.saturating_add(at)).ok());
            let copied = self.copier.slots(slots.clone(), &newest, SLOTS_WITHIN);
            // The slots before a rejected one are applied all the same.
            let is_here =
                |slot: &Slot| self.folder.path().join(LogFile::Slot(*slot).to_string()).exists();
            let until = match &copied {
                Ok(()) => until,
                Err(_) => held + slots.clone().take_while(is_here).count() as u64,
            };
            match self.folder.follow(&mut self.store, &newest.note, &self.trusted, until) {
                Ok(now) => held = now,
                Err(error) => {
                    if let FollowError::Slot { index, .. } = &error {
                        let from = usize::try_from(index.saturating_sub(held)).unwrap_or(0);
                        // They are downloaded again with the next update, which helps if a cache corrupted them.
                        for slot in slots.skip(from) {
                            self.copier.set_aside(slot, &self.places.refused)?;
                        }
                    }
                    return Err(error.into());
                }
            }
            copied?;
            progress(held, *size);
        }
        Ok(ReplicaStatus { held, published: *size, refuses: false })
    }

    /// Requires that a newest checkpoint is signed by a trusted key, and continues the last one that is held and the newest
    /// one that was accepted before. It is then kept: what a first look verified counts even if no slot came.
    fn accept(&mut self, newest: &Newest) -> Result<(), ReplicaError> {
        let Newest { note, checkpoint } = newest;
        if let Err(why) = Checkpoint::signed_by(note, &self.trusted) {
            return Err(ReplicaError::NotTrusted { why: Box::new(why) });
        }
        let reader = self.store.reader();
        let held = reader.published_checkpoint(reader.log_size()?)?;
        let seen = self.seen()?;
        let both = [&held, &seen].into_iter().flatten().filter(|before| *before != note);
        for before in both.collect::<BTreeSet<_>>() {
            self.require_continuation(before, newest)?;
        }
        if seen.as_ref() == Some(note) {
            return Ok(());
        }
        if let Some(Ok((before, _))) = seen.as_deref().map(Checkpoint::from_note)
            && before.origin == checkpoint.origin
            && before.size > checkpoint.size
        {
            let (here, there) = (before.size, checkpoint.size);
            return Err(ReplicaError::RolledBack { here, there });
        }
        let path = self.places.seen.clone();
        write_output(&path, note.as_bytes()).map_err(|source| ReplicaError::File { path, source })
    }

    /// The newest checkpoint that was accepted before.
    fn seen(&self) -> Result<Option<String>, ReplicaError> {
        let path = self.places.seen.clone();
        match fs::read_to_string(&path) {
            Ok(note) => match Checkpoint::from_note(&note) {
                Ok(_) => Ok(Some(note)),
                Err(error) => {
                    let source = io::Error::new(io::ErrorKind::InvalidData, error.to_string());
                    Err(ReplicaError::File { path, source })
                }
            },
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(source) => Err(ReplicaError::File { path, source }),
        }
    }

    /// Requires that a newest checkpoint continues one from before.
    fn require_continuation(&mut self, before: &str, newest: &Newest) -> Result<(), ReplicaError> {
        let now = &newest.checkpoint;
        let Ok((of_before, _)) = Checkpoint::from_note(before) else { return Ok(()) };
        // A different log, or one that shrank, is rejected elsewhere.
        if of_before.origin != now.origin || of_before.size > now.size {
            return Ok(());
        }
        match self.copier.contradiction(before, newest, STATE_WITHIN)? {
            None => Ok(()),
            Some(contradiction) => {
                Err(self.save_fork_proof((of_before.size, now.size), contradiction)?)
            }
        }
    }

    /// Stores the proof, which anyone with the log's public key can check.
    fn save_fork_proof(
        &self,
        (held, told): (u64, u64),
        contradiction: Contradiction,
    ) -> Result<ReplicaError, ReplicaError> {
        let path = self.places.refused.join(format!("fork-{held}-{told}.json"));
        let failed = |source| ReplicaError::File { path: path.clone(), source };
        fs::create_dir_all(&self.places.refused).map_err(failed)?;
        write_output(&path, contradiction.fork.unwrap_or_default().as_bytes()).map_err(failed)?;
        Ok(ReplicaError::TwoHistories { held, told, path })
    }
}
