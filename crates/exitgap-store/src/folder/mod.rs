//! The folder in which a log is published (`exitgap-core/docs/log-folder-v1.md`): manifests and
//! their parts, tiles, and the checkpoint that commits to them.
//!
//! # Order of writes, and the result of a crash
//!
//! Before anything of a slot is written here, the store has committed the slot and, if witnesses were
//! asked, their answers. A slot that waits for witnesses is not published. Its parts are written first,
//! then its manifest, then the changed tiles, then `checkpoint`. Each file is written under another
//! name, synced and renamed into place, and its folder is synced before the next file. After a crash at
//! any point, every file that `checkpoint` commits to exists, and there may be files to which it does
//! not yet commit. The next [`LogFolder::publish`] writes the same bytes again and continues.

mod claim_recovery;
mod comparison;
pub(crate) mod durable;
mod files;
mod follow;
mod parts;
mod restore;
mod successor;
pub(crate) mod tiles;

pub use comparison::check_published;
pub use files::{unpack_body, unpack_table};
pub use follow::FollowError;
pub(crate) use parts::{Piece, SlotFiles};
pub use restore::RestoreError;
pub use successor::{Lost, SuccessorError};

use std::fs;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use exitgap_core::evidence::Predecessor;
use exitgap_core::file_errors::explained;
use exitgap_core::ids::{ChainSlug, DocumentHash};
use exitgap_core::log_folder::{DefaultBases, LogFile, MAX_BASES_BYTES};
use exitgap_core::proof::MAX_ANCHOR_BYTES;
use exitgap_core::series::Slot;
use exitgap_core::tlog::{CheckpointError, Hash, MAX_NOTE_BYTES, Tile, VerifierKey};

use crate::error::StoreError;
use crate::log::LogIdentity;
use crate::reader::Reader;
use crate::writer::Store;

/// The document that the first leaf of a successor log commits to.
const PREDECESSOR: &str = "predecessor";

/// The folder of the manifests.
const MANIFESTS: &str = "slots";

/// The maximum number of keys of a log that are parsed.
const MAX_KEYS: usize = 64;

/// The number of slots between two checkpoints when many slots are published at once, after a pause.
const SLOTS_AT_ONCE: u64 = 64;

/// The folder that a log is published in. Only one process writes it: the one that holds the store's lock.
#[derive(Debug, Clone)]
pub struct LogFolder {
    path: PathBuf,
}

/// The result of [`LogFolder::publish`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PublishReport {
    /// The number of slots that the published checkpoint covers now.
    pub size: u64,
    /// How many of them this call published.
    pub slots: u64,
}

/// Why a log cannot be published or continued.
#[derive(Debug, thiserror::Error)]
pub enum PublishError {
    /// A file could not be read or written.
    #[error("{path}: {}", explained(source))]
    File {
        /// The file or folder.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// A version from before manifests and parts wrote the folder.
    #[error(
        "{path} was published by a version of exitgap from before the first release; record into a new store and \
         publish in a new folder"
    )]
    OlderFolder {
        /// A file of that version.
        path: PathBuf,
    },
    /// The folder's checkpoint cannot be read.
    #[error("{path} is not a checkpoint: {error}")]
    Checkpoint {
        /// The file.
        path: PathBuf,
        /// The reason.
        error: CheckpointError,
    },
    /// The folder contains another log.
    #[error(
        "{path} belongs to {found}, but this store's log is {expected}; publish to another folder"
    )]
    OtherLog {
        /// The file that names the other log.
        path: PathBuf,
        /// This store's log and key.
        expected: String,
        /// The log and key found.
        found: String,
    },
    /// The folder names a key that the store does not know, so the store is an old copy.
    #[error(
        "{path} names a key that this store's log never had, so the store is a copy from before the log's key was \
         changed; create a new store with `exitgap-server restore`, at a path where no file exists"
    )]
    KeyNotKnown {
        /// The file that names it.
        path: PathBuf,
    },
    /// The published log has slots that the store does not have, so the store is an old copy.
    #[error(
        "the log published in {path} has {published} slots, but the store has only {found}. The store is an older \
         copy, and recording into it would create a second history; update it with `exitgap-server restore`"
    )]
    StoreOlder {
        /// The folder.
        path: PathBuf,
        /// The number of published slots.
        published: u64,
        /// The number of slots in the store.
        found: u64,
    },
    /// The folder has a manifest of a slot that the store does not have: the slot was sealed and then lost.
    #[error(
        "{path} was sealed, but the store does not have its slot. The store is an older copy, and recording into \
         it would create a second history; replace it with the newest copy"
    )]
    SealedBefore {
        /// The manifest.
        path: PathBuf,
    },
    /// The published log and the store have different content for the same slots.
    #[error(
        "the log published in {path} has root {published} over {size} slots, but the store gives {found}; one of \
         them is not this log's history"
    )]
    Rewritten {
        /// The folder.
        path: PathBuf,
        /// The number of published slots.
        size: u64,
        /// Their published root.
        published: Hash,
        /// Their root in the store.
        found: Hash,
    },
    /// A published file would change.
    #[error("{path} already exists with different content, and published files are never changed")]
    Differs {
        /// The file.
        path: PathBuf,
    },
    /// The log has ended.
    #[error("the log published in {path} has ended; its successor is {successor}")]
    Superseded {
        /// The folder.
        path: PathBuf,
        /// The successor's name.
        successor: String,
    },
    /// The store could not be read, or is damaged.
    #[error(transparent)]
    Store(Box<StoreError>),
}

impl From<StoreError> for PublishError {
    fn from(error: StoreError) -> Self {
        Self::Store(Box::new(error))
    }
}

impl LogFolder {
    /// The folder at `path`, which may not exist yet.
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self { path: path.into() }
    }

    /// The path of the folder.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Requires that this store may continue the log published here: it is the same log, and the store has everything
    /// that was published or sealed. Call this before recording anything.
    pub fn check(&self, reader: &Reader) -> Result<(), PublishError> {
        self.check_superseded()?;
        self.check_version()?;
        let log = reader.log()?;
        if let Some(log) = &log {
            self.check_key(log)?;
        }
        self.published_size(reader, log.as_ref())?;
        let last = reader.slots()?.map(|(_, last)| last);
        match self.sealed_after(last)? {
            Some(path) => Err(PublishError::SealedBefore { path }),
            None => Ok(()),
        }
    }

    /// Requires that no successor log has replaced this one.
    fn check_superseded(&self) -> Result<(), PublishError> {
        let Some(successor) = read_text(&self.path.join("superseded-by"))? else { return Ok(()) };
        let successor = successor.trim_end().chars().take(200).collect();
        Err(PublishError::Superseded { path: self.path.clone(), successor })
    }

    /// Publishes every slot of the store that `checkpoint` does not cover yet. It is safe to call again after any
    /// failure.
    pub fn publish(&self, reader: &Reader) -> Result<PublishReport, PublishError> {
        self.publish_with(reader, None)
    }

    /// Same as [`LogFolder::publish`] after a slot was written: uses the slot's files that are still in memory.
    pub fn publish_newest(&self, store: &mut Store) -> Result<PublishReport, PublishError> {
        let newest = store.take_unpublished();
        self.publish_with(store.reader(), newest.as_ref())
    }

    fn publish_with(
        &self,
        reader: &Reader,
        newest: Option<&SlotFiles>,
    ) -> Result<PublishReport, PublishError> {
        self.check_version()?;
        let Some(log) = reader.log()? else { return Ok(PublishReport { size: 0, slots: 0 }) };
        let before = self.published_size(reader, Some(&log))?;
        let size = reader.publishable()?;
        if before >= size {
            return Ok(PublishReport { size: before, slots: 0 });
        }
        self.check_key(&log)?;
        let (path, keys) = (self.path.join("verifier-key"), log.key_lines());
        // If the log has a new key, the file gets one more line. Existing lines stay.
        if read_text(&path)?.is_none_or(|found| found != keys) {
            durable::replace_file(&path, keys.as_bytes())?;
        }
        if let Some(lost) = &log.predecessor {
            let document = lost.to_document();
            durable::write_once(&self.path.join(PREDECESSOR), document.as_bytes())?;
        }
        self.publish_bases(reader)?;
        let mut from = before;
        while from < size {
            let to = size.min(from + SLOTS_AT_ONCE);
            for index in from..to {
                let absent = || absent(&log, "the sealed slot");
                let slot = reader.slot_at(Some(index))?.ok_or_else(absent)?;
                let manifest = manifest_path(&self.path, slot);
                match newest.filter(|newest| newest.slot == slot) {
                    Some(newest) => newest.write_files(&self.path, &manifest)?,
                    None => {
                        SlotFiles::from_reader(reader, slot)?.write_files(&self.path, &manifest)?;
                    }
                }
            }
            tiles::write_tiles(reader, &self.path, from, to)?;
            let checkpoint =
                reader.published_checkpoint(to)?.ok_or_else(|| absent(&log, "the checkpoint"))?;
            durable::replace_file(&self.path.join("checkpoint"), checkpoint.as_bytes())?;
            tiles::remove_partial(&self.path, from, to)?;
            from = to;
        }
        Ok(PublishReport { size, slots: size - before })
    }

    /// Publishes each pool's default base token.
    fn publish_bases(&self, reader: &Reader) -> Result<(), PublishError> {
        let pools = reader.pools()?;
        let bases = pools.iter().map(|pool| (&pool.id, pool.default_base));
        let (bases, path) = (DefaultBases::of_pools(bases), self.bases_path());
        if bases == self.bases()? {
            Ok(())
        } else {
            durable::replace_file(&path, bases.to_text().as_bytes())
        }
    }

    /// Each pool's default base token, as published in the folder.
    pub(crate) fn bases(&self) -> Result<DefaultBases, PublishError> {
        let path = self.bases_path();
        let text = read_within(&path, MAX_BASES_BYTES as u64)?.unwrap_or_default();
        DefaultBases::from_text(&text).map_err(|error| {
            let source = io::Error::new(io::ErrorKind::InvalidData, error);
            PublishError::File { path, source }
        })
    }

    fn bases_path(&self) -> PathBuf {
        self.path.join(LogFile::DefaultBases.to_string())
    }

    /// Publishes a file that the log does not commit to: a state proof, or a result about a peer. An existing file of
    /// this name stays unchanged.
    pub fn publish_beside(&self, file: &LogFile, bytes: &[u8]) -> Result<(), PublishError> {
        let path = self.path.join(file.to_string());
        match path.try_exists() {
            Ok(true) => Ok(()),
            Ok(false) => durable::replace_file(&path, bytes),
            Err(source) => Err(PublishError::File { path, source }),
        }
    }

    /// Whether this file is published.
    pub fn has(&self, file: &LogFile) -> Result<bool, PublishError> {
        let path = self.path.join(file.to_string());
        path.try_exists().map_err(|source| PublishError::File { path, source })
    }

    /// The newest published anchors of a chain before a day, with their own day.
    pub fn anchors_before(
        &self,
        chain: &ChainSlug,
        day: u32,
    ) -> Result<Option<(u32, Vec<u8>)>, PublishError> {
        let path = self.path.join("anchors").join(chain.as_str());
        let files = match fs::read_dir(&path) {
            Ok(files) => files,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(source) => return Err(PublishError::File { path, source }),
        };
        let names = files.filter_map(|file| file.ok()?.file_name().into_string().ok());
        let days =
            names.filter_map(|name| name.parse().ok().filter(|earlier: &u32| *earlier < day));
        let Some(newest) = days.max() else { return Ok(None) };
        let path = path.join(newest.to_string());
        let mut bytes = Vec::new();
        let read = fs::File::open(&path)
            .and_then(|file| file.take(MAX_ANCHOR_BYTES as u64 + 1).read_to_end(&mut bytes));
        read.map(|_| Some((newest, bytes))).map_err(|source| PublishError::File { path, source })
    }

    /// Publishes the newest checkpoint of a peer and replaces the previous one.
    pub fn publish_peer(&self, peer: DocumentHash, note: &str) -> Result<(), PublishError> {
        let path = self.path.join(LogFile::PeerCheckpoint(peer).to_string());
        durable::replace_file(&path, note.as_bytes())
    }

    /// The newest published checkpoint of a peer.
    pub fn peer(&self, peer: DocumentHash) -> Result<Option<String>, PublishError> {
        read_text(&self.path.join(LogFile::PeerCheckpoint(peer).to_string()))
    }

    /// The number of slots that the published checkpoint covers. The checkpoint must belong to the store's log.
    fn published_size(
        &self,
        reader: &Reader,
        log: Option<&LogIdentity>,
    ) -> Result<u64, PublishError> {
        let Some(note) = read_text(&self.path.join("checkpoint"))? else { return Ok(0) };
        comparison::published_in(&self.path, &note, reader, log)
    }

    /// A file's bytes, up to a maximum; `None` if the file does not exist.
    pub fn file(&self, file: &LogFile, most: u64) -> Result<Option<Vec<u8>>, PublishError> {
        read_bytes(&self.path.join(file.to_string()), most)
    }

    /// A tile's bytes, from its own file or from the beginning of a wider tile at the same position.
    pub fn tile(&self, tile: Tile) -> Result<Option<Vec<u8>>, PublishError> {
        tiles::read_tile(&self.path, tile)
    }

    /// Writes a file that was published elsewhere into this folder and replaces an existing one.
    pub fn put(&self, file: &LogFile, bytes: &[u8]) -> Result<(), PublishError> {
        durable::replace_file(&self.path.join(file.to_string()), bytes)
    }

    /// The keys that the folder names, the first key first; empty if there are none that can be parsed.
    pub(crate) fn keys(&self) -> Result<Vec<VerifierKey>, PublishError> {
        let text = read_text(&self.path.join("verifier-key"))?.unwrap_or_default();
        Ok(text.lines().take(MAX_KEYS).filter_map(|line| line.parse().ok()).collect())
    }

    fn check_key(&self, log: &LogIdentity) -> Result<(), PublishError> {
        let path = self.path.join("verifier-key");
        let Some(found) = read_text(&path)? else { return Ok(()) };
        comparison::keys_named_in(path, &found, log)
    }

    /// The log that this one succeeds, if the folder names one. Only the log's first leaf proves it.
    fn predecessor(&self) -> Result<Option<Predecessor>, PublishError> {
        let path = self.path.join(PREDECESSOR);
        let Some(document) = read_text(&path)? else { return Ok(None) };
        let parsed = Predecessor::from_document(&document);
        parsed.map(Some).map_err(|error| PublishError::Checkpoint { path, error })
    }

    /// Refuses a folder that an earlier version published, because such a log cannot be continued.
    fn check_version(&self) -> Result<(), PublishError> {
        let path = self.path.join("bundles");
        match path.try_exists() {
            Ok(false) => Ok(()),
            Ok(true) => Err(PublishError::OlderFolder { path }),
            Err(source) => Err(PublishError::File { path, source }),
        }
    }

    /// A manifest of a slot after `last`, if there is one. Slots are sealed one at a time, so it can only be the next
    /// slot's; for a store without slots it can be any slot's.
    fn sealed_after(&self, last: Option<Slot>) -> Result<Option<PathBuf>, PublishError> {
        let Some(last) = last else {
            let path = self.path.join(MANIFESTS);
            let files = match fs::read_dir(&path) {
                Ok(files) => files,
                Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
                Err(source) => return Err(PublishError::File { path, source }),
            };
            let manifest = |path: &PathBuf| path.extension().is_some_and(|end| end == "jsonl");
            return Ok(files.filter_map(|file| Some(file.ok()?.path())).find(manifest));
        };
        let path = last.next().map(|next| manifest_path(&self.path, next));
        let there = |path: &PathBuf| {
            path.try_exists().map_err(|source| PublishError::File { path: path.clone(), source })
        };
        Ok(match path {
            Some(path) if there(&path)? => Some(path),
            _ => None,
        })
    }
}

fn manifest_path(folder: &Path, slot: Slot) -> PathBuf {
    folder.join(LogFile::Slot(slot).to_string())
}

fn absent(log: &LogIdentity, what: &'static str) -> StoreError {
    let what = crate::corrupt::CorruptLog::Absent(what);
    StoreError::CorruptLog { slot: log.origin.first_slot(), what }
}

/// A small file's text; `None` if the file does not exist.
fn read_text(path: &Path) -> Result<Option<String>, PublishError> {
    read_within(path, MAX_NOTE_BYTES as u64)
}

/// A file's bytes, up to a maximum; `None` if the file does not exist.
pub(crate) fn read_bytes(path: &Path, most: u64) -> Result<Option<Vec<u8>>, PublishError> {
    let failed = |source| PublishError::File { path: path.to_owned(), source };
    let opened = match fs::File::open(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        opened => opened.map_err(failed)?,
    };
    let mut bytes = Vec::new();
    opened.take(most + 1).read_to_end(&mut bytes).map_err(failed)?;
    if bytes.len() as u64 > most {
        return Err(failed(io::ErrorKind::FileTooLarge.into()));
    }
    Ok(Some(bytes))
}

/// A file's text, up to a maximum number of bytes; `None` if the file does not exist.
fn read_within(path: &Path, most: u64) -> Result<Option<String>, PublishError> {
    let failed = |source| PublishError::File { path: path.to_owned(), source };
    match fs::metadata(path) {
        Ok(about) if about.len() > most => Err(failed(io::ErrorKind::FileTooLarge.into())),
        Ok(_) => fs::read_to_string(path).map(Some).map_err(failed),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(failed(error)),
    }
}
