//! The log of days: one leaf for each closed day, in the folder of its log and signed with that log's key.
//!
//! # Order of writes, and the result of a crash
//!
//! First the day's files, with the manifest last; then the signed checkpoint next to the store (the *guard*); then
//! tiles, keys and `days/checkpoint` in the folder. A crash before the guard leaves files that nothing commits to, and
//! they are written again. A crash after it leaves a guard that is one day ahead of the folder. If the day's manifest
//! exists, it is published unchanged; if the day's files are gone, writing them again must give the same bytes. So two
//! different checkpoints of one size are never signed, even if `days/` is lost: in that case the guard is further ahead
//! than the folder can explain, and nothing is signed.

use std::path::{Path, PathBuf};

use exitgap_core::log_folder::days::{
    DayFile, DayLeaf, DayManifest, DaysFile, DaysHistory, HistoryError, MAX_DAY_MANIFEST_BYTES,
    days_keys, days_origin,
};
use exitgap_core::series::Day;
use exitgap_core::tlog::{
    Checkpoint, Frontier, Hash, MAX_KEY_FILE_BYTES, MAX_NOTE_BYTES, Origin, SignerKey, Tile,
    TileKind, VerifierKey, keys_from_lines, push_entry, root,
};

use super::DaysError;
use super::writer::{last_closed, write_day};
use crate::db::is_server;
use crate::error::StoreError;
use crate::folder::{LogFolder, durable, read_bytes, tiles};
use crate::lock::Lock;
use crate::log::LogIdentity;
use crate::reader::Reader;

/// The log of days of a store's log, opened by the only process that may write it.
pub struct DaysLog {
    folder: LogFolder,
    guard: PathBuf,
    /// The log's current signing keys, under its name.
    signers: Vec<SignerKey>,
    _lock: Lock,
}

/// A day that was written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DayWritten {
    /// Its manifest.
    pub manifest: DayManifest,
    /// The number of days in the log of days.
    pub days: u64,
}

/// The state of the log of days.
struct State {
    leaves: Vec<Vec<u8>>,
    /// A signed checkpoint with one day more, whose files are absent: writing the day again must give the same.
    signed: Option<(String, Hash)>,
}

/// The next day to write.
struct Next {
    log: LogIdentity,
    state: State,
    day: Day,
    /// The number of closed days that are not written, including this one.
    behind: u64,
}

impl DaysLog {
    /// Opens the log of days in `folder`, for the log in the store at `store`. `signers` are that log's keys, with
    /// which the store was opened. The newest checkpoint is also kept next to the store, or next to the folder if the
    /// store is on a server.
    pub fn open(
        folder: LogFolder,
        store: &Path,
        signers: Vec<SignerKey>,
    ) -> Result<Self, DaysError> {
        let mut guard = if is_server(store) { folder.path() } else { store }.to_owned();
        guard.as_mut_os_string().push(".days");
        let lock = Lock::acquire(&guard).map_err(|error| match error {
            StoreError::Locked { holder, .. } => DaysError::Locked { holder },
            error => error.into(),
        })?;
        Ok(Self { folder, guard, signers, _lock: lock })
    }

    /// The next closed day that is not yet written, if any.
    pub fn due(&self, reader: &Reader) -> Result<Option<Day>, DaysError> {
        Ok(self.next(reader)?.map(|next| next.day))
    }

    /// The number of closed days that are not yet written.
    pub fn behind(&self, reader: &Reader) -> Result<u64, DaysError> {
        Ok(self.next(reader)?.map_or(0, |next| next.behind))
    }

    fn next(&self, reader: &Reader) -> Result<Option<Next>, DaysError> {
        let (Some(log), Some(closed)) = (reader.log()?, last_closed(reader)?) else {
            return Ok(None);
        };
        let state = self.state(&log)?;
        let day = Day::from_slot(log.origin.first_slot()).later(state.leaves.len() as u64);
        let next = day.and_then(|day| Some((day, closed.days_after(day)? + 1)));
        Ok(next.map(|(day, behind)| Next { log, state, day, behind }))
    }

    /// Writes the next closed day and adds it to the log of days; `None` if no day is due. `progress` gets the number
    /// of finished pools and their total.
    pub fn write_next(
        &self,
        reader: &Reader,
        progress: impl FnMut(usize, usize),
    ) -> Result<Option<DayWritten>, DaysError> {
        let Some(Next { log, mut state, day, .. }) = self.next(reader)? else { return Ok(None) };
        self.check_signers(&log)?;
        let manifest = write_day(reader, self.folder.path(), day, progress)?;
        let hash = DayManifest::hash_of(&manifest.to_canonical()?);
        let before = state.leaves.len() as u64;
        state.leaves.push(DayLeaf { day, manifest: hash }.to_canonical().map_err(unwritable)?);
        let note = match state.signed.take() {
            Some((note, root)) if root == state.root_of(state.leaves.len()) => note,
            Some(_) => return Err(self.differs(before + 1)),
            None => self.sign(&log, &state)?,
        };
        durable::replace_file(&self.guard, note.as_bytes())?;
        self.publish(&log, &state, before, &note)?;
        Ok(Some(DayWritten { manifest, days: before + 1 }))
    }

    /// The leaves so far, according to the folder and the log's key. If the guard is ahead, its day is published.
    fn state(&self, log: &LogIdentity) -> Result<State, DaysError> {
        let mut state = State { leaves: self.published_leaves(log)?, signed: None };
        let Some(guarded) = read_bytes(&self.guard, MAX_NOTE_BYTES as u64)? else {
            return Ok(state);
        };
        let guarded = text(&self.guard, guarded)?;
        let (newest, note) = Checkpoint::from_note(&guarded).map_err(|error| DaysError::Guard {
            path: self.guard.clone(),
            why: error.to_string(),
        })?;
        let origin = origin_of(log)?;
        let keys = days_keys(&log.keys, &origin);
        let signed = newest.origin == origin && note.signed_by(&origin, &keys).is_ok();
        if !signed {
            let why = format!("it is not signed for {origin}, this store's log of days");
            return Err(DaysError::Guard { path: self.guard.clone(), why });
        }
        let before = state.leaves.len() as u64;
        if newest.size == before + 1 {
            state.leaves.extend(self.leaf_on_disk(log, before)?);
        }
        let found = state.leaves.len() as u64;
        if newest.size == found + 1 {
            state.signed = Some((guarded, newest.root));
            return Ok(state);
        }
        if found < newest.size {
            let (signed, path) = (newest.size, self.folder.path().join(DaysFile::FOLDER));
            return Err(DaysError::Lost { path, found: before, signed });
        }
        let size = usize::try_from(newest.size).unwrap_or(usize::MAX);
        if state.root_of(size) != newest.root {
            return Err(self.differs(newest.size));
        }
        if found > before {
            self.publish(log, &state, before, &guarded)?;
        }
        Ok(state)
    }

    /// Requires that the signing keys are the log's own.
    fn check_signers(&self, log: &LogIdentity) -> Result<(), DaysError> {
        for signer in &self.signers {
            let own = signer.with_name(&log.origin.to_string()).map_err(unwritable)?.verifier();
            if !log.keys.contains(&own) {
                let (expected, found) = (log.named_keys(), own.to_string());
                return Err(StoreError::WrongKey { expected, found }.into());
            }
        }
        Ok(())
    }

    /// Whether a day was ever signed, as far as this machine knows.
    pub fn is_begun(&self) -> bool {
        self.guard.exists() || self.path(&DaysFile::Checkpoint).exists()
    }

    fn differs(&self, signed: u64) -> DaysError {
        DaysError::Differs { path: self.folder.path().join(DaysFile::FOLDER), signed }
    }

    /// The leaf of the day after the published ones, computed from its manifest.
    fn leaf_on_disk(&self, log: &LogIdentity, index: u64) -> Result<Option<Vec<u8>>, DaysError> {
        let Some(day) = Day::from_slot(log.origin.first_slot()).later(index) else {
            return Ok(None);
        };
        let path = self.path(&DaysFile::Day(day, DayFile::Manifest));
        let Some(bytes) = read_bytes(&path, MAX_DAY_MANIFEST_BYTES as u64)? else {
            return Ok(None);
        };
        let leaf = DayLeaf { day, manifest: DayManifest::hash_of(&bytes) };
        leaf.to_canonical().map(Some).map_err(unwritable)
    }

    /// The leaves that the folder's checkpoint covers.
    fn published_leaves(&self, log: &LogIdentity) -> Result<Vec<Vec<u8>>, DaysError> {
        let Some((_, history)) = read_published(&self.folder, &log.keys)? else {
            return Ok(Vec::new());
        };
        let leaves = history.leaves.iter().map(|leaf| leaf.to_canonical().map_err(unwritable));
        leaves.collect()
    }

    fn sign(&self, log: &LogIdentity, state: &State) -> Result<String, DaysError> {
        let origin = origin_of(log)?;
        let size = state.leaves.len() as u64;
        let root = state.root_of(state.leaves.len());
        let checkpoint = Checkpoint { origin: origin.clone(), size, root, extensions: Vec::new() };
        let mut signed: Option<String> = None;
        for signer in &self.signers {
            let signer = signer.with_name(&origin.to_string()).map_err(unwritable)?;
            signed = Some(match signed {
                None => signer.sign(&checkpoint.to_text()).map_err(unwritable)?,
                Some(note) => signer.sign_beside(&note).map_err(unwritable)?,
            });
        }
        signed.ok_or(DaysError::NoSigner)
    }

    /// Writes the files that a checkpoint commits to into the folder, and the checkpoint last.
    fn publish(
        &self,
        log: &LogIdentity,
        state: &State,
        before: u64,
        note: &str,
    ) -> Result<(), DaysError> {
        let size = state.leaves.len() as u64;
        for tile in Tile::grown(before, size) {
            durable::replace_file(&self.path(&DaysFile::Tile(tile)), &state.tile(tile))?;
        }
        let lines = self.key_lines(log)?;
        durable::replace_file(&self.path(&DaysFile::VerifierKey), lines.as_bytes())?;
        durable::replace_file(&self.path(&DaysFile::Checkpoint), note.as_bytes())?;
        let folder = self.folder.path().join(DaysFile::FOLDER);
        Ok(tiles::remove_partial(&folder, before, size)?)
    }

    /// All keys that the log of days has had: those in the folder, and the log's.
    fn key_lines(&self, log: &LogIdentity) -> Result<String, DaysError> {
        let path = self.path(&DaysFile::VerifierKey);
        let named = read_bytes(&path, MAX_KEY_FILE_BYTES as u64)?.unwrap_or_default();
        let mut keys = keys_from_lines(&named)
            .map_err(|why| DaysError::History { path: path.clone(), why })?;
        for key in days_keys(&log.keys, &origin_of(log)?) {
            if !keys.contains(&key) {
                keys.push(key);
            }
        }
        let lines: Vec<String> = keys.iter().map(|key| format!("{key}\n")).collect();
        Ok(lines.concat())
    }

    fn path(&self, file: &DaysFile) -> PathBuf {
        self.folder.path().join(file.to_string())
    }
}

/// Whether the log of days in a log's folder covers a day. Files of other days may be rewritten.
pub fn covers(folder: &Path, day: Day) -> bool {
    let path = folder.join(DaysFile::Checkpoint.to_string());
    let note = read_bytes(&path, MAX_NOTE_BYTES as u64).ok().flatten();
    let note = note.and_then(|note| String::from_utf8(note).ok());
    let checkpoint = note.and_then(|note| Some(Checkpoint::from_note(&note).ok()?.0));
    checkpoint.is_some_and(|checkpoint| {
        let first = Day::from_slot(checkpoint.origin.first_slot());
        day.days_after(first).is_some_and(|index| index < checkpoint.size)
    })
}

/// The closed days in a folder, as readers see them.
pub struct PublishedDays {
    folder: LogFolder,
    /// The newest checkpoint of the log of days.
    pub note: String,
    /// The log of days, verified against that checkpoint.
    pub history: DaysHistory,
}

impl PublishedDays {
    /// The days in the folder of a log, verified with the keys in this folder; `None` if there are none.
    pub fn from_folder(folder: &LogFolder) -> Result<Option<Self>, DaysError> {
        Self::of_log(folder, &folder.keys()?)
    }

    /// The same with these keys, whatever keys the folder has.
    pub fn of_log(folder: &LogFolder, keys: &[VerifierKey]) -> Result<Option<Self>, DaysError> {
        let Some((note, history)) = read_published(folder, keys)? else { return Ok(None) };
        Ok(Some(Self { folder: folder.clone(), note, history }))
    }

    /// A day's manifest, verified against its leaf.
    pub fn manifest(&self, leaf: &DayLeaf) -> Result<DayManifest, DaysError> {
        let file = DaysFile::Day(leaf.day, DayFile::Manifest);
        let path = self.folder.path().join(file.to_string());
        let wrong = |why: String| DaysError::History { path: path.clone(), why };
        let bytes = read_bytes(&path, MAX_DAY_MANIFEST_BYTES as u64)?;
        let bytes = bytes.ok_or_else(|| wrong("it does not exist".to_owned()))?;
        if DayManifest::hash_of(&bytes) != leaf.manifest {
            return Err(wrong("it is not the file to which the log of days commits".to_owned()));
        }
        Ok(DayManifest::from_canonical(&bytes)?)
    }
}

/// The log of days in a folder, verified with its log's keys, and its signed checkpoint.
fn read_published(
    folder: &LogFolder,
    keys: &[VerifierKey],
) -> Result<Option<(String, DaysHistory)>, DaysError> {
    let path = folder.path().join(DaysFile::Checkpoint.to_string());
    let Some(note) = read_bytes(&path, MAX_NOTE_BYTES as u64)? else { return Ok(None) };
    let note = text(&path, note)?;
    let days = folder.path().join(DaysFile::FOLDER);
    let history = read_history(&days, &note, keys);
    let wrong = |why: String| DaysError::History { path: days.clone(), why };
    let history = history.map_err(|error| wrong(error.to_string()))?;
    Ok(Some((note, history)))
}

/// The log of days whose tiles are in `days`, by its checkpoint, which one of `keys` must have signed.
pub fn read_history(
    days: &Path,
    note: &str,
    keys: &[VerifierKey],
) -> Result<DaysHistory, HistoryError<String>> {
    DaysHistory::from_log(note, keys, |tile| {
        let bytes = tiles::read_tile(days, tile).map_err(|error| error.to_string())?;
        bytes.ok_or_else(|| format!("days/{} does not exist", tile.path()))
    })
}

impl State {
    fn root_of(&self, size: usize) -> Hash {
        let mut tree = Frontier::default();
        self.leaves.iter().take(size).for_each(|leaf| tree.push(DayLeaf::leaf_of(leaf)));
        tree.root()
    }

    /// A tile's bytes.
    fn tile(&self, tile: Tile) -> Vec<u8> {
        let mut bytes = Vec::new();
        match tile.kind() {
            TileKind::Entries => {
                for index in tile.places() {
                    let leaf = usize::try_from(index).ok().and_then(|index| self.leaves.get(index));
                    let fits = push_entry(&mut bytes, leaf.map(Vec::as_slice).unwrap_or_default());
                    debug_assert!(fits, "a leaf has only a few dozen bytes");
                }
            }
            TileKind::Level(_) => {
                let hashes: Vec<Hash> =
                    self.leaves.iter().map(|leaf| DayLeaf::leaf_of(leaf)).collect();
                for node in tile.subtrees() {
                    let place =
                        |index: u64| usize::try_from(index << node.height).unwrap_or(usize::MAX);
                    let run = hashes.get(place(node.index)..place(node.index + 1));
                    bytes.extend(root(run.unwrap_or_default()).0);
                }
            }
        }
        bytes
    }
}

fn origin_of(log: &LogIdentity) -> Result<Origin, DaysError> {
    days_origin(&log.origin).map_err(unwritable)
}

/// The error for a document that cannot be written although it was checked: documents are small and have valid names.
fn unwritable(error: impl std::fmt::Display) -> DaysError {
    DaysError::Unwritable { why: error.to_string() }
}

fn text(path: &Path, bytes: Vec<u8>) -> Result<String, DaysError> {
    let why = || "it is not UTF-8".to_owned();
    String::from_utf8(bytes).map_err(|_| DaysError::History { path: path.to_owned(), why: why() })
}
