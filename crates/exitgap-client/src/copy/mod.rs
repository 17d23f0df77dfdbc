//! A copy of a log published by a service or by any file server. It is updated in a local folder,
//! which can then be audited like any other. Existing files are not downloaded again. Every file is
//! written as a whole, a slot's manifest after its other files and the checkpoint last. A copy
//! interrupted at any time is still a valid folder of the log, and the next update continues there.
//!
//! **In scope**: that every file is one that the newest signed checkpoint commits to, and no longer than what
//! it commits to allows; that the log is the one already in the folder, and not shorter. So a server
//! without the log's key can neither fill the disk nor leave anything there but the log. **Out of
//! scope**: whether what was signed is valid, which is checked by the reader of the folder
//! (`exitgap audit`, or a follower that applies it to a store).
//!
//! - `fetch`: one file, up to its limit, requested again where that helps
//! - `place`: the folder, and how a file is written into it
//! - `leaves`: the leaves that the checkpoint signs, and tiles
//! - `slot`: a slot's files, each checked before it is put in place
//! - `unpack`: packed files, never unpacked to more than they may hold
//! - `ordered`: work begun in order, some of it at once
//! - `single`: single files, without a copy

mod error;
mod fetch;
mod leaves;
mod ordered;
mod place;
mod single;
mod slot;
#[cfg(test)]
mod tests;
mod unpack;

use std::collections::VecDeque;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use exitgap_api::Contradiction;
use exitgap_core::log_folder::{Bodies, DefaultBases, LogFile, MAX_BASES_BYTES};
use exitgap_core::series::Slot;
use exitgap_core::tlog::{
    Checkpoint, MAX_KEY_FILE_BYTES, MAX_NOTE_BYTES, Origin, Tile, VerifierKey, keys_from_lines,
};
use tokio::runtime::Runtime;

use self::fetch::Fetcher;
use self::leaves::{Entries, Leaves};
use self::ordered::Ordered;
use self::place::Place;
use self::slot::{NoteOf, Wanted};
use crate::{BaseUrl, Client, Native};

pub use error::CopyError;
pub use single::LogFiles;
pub use unpack::{unpack_body, unpack_table};

/// The longest line that names a successor.
pub const MAX_ORIGIN_BYTES: usize = 4 << 10;

/// How many slots are fetched at once, and how many tiles.
const AT_ONCE: usize = 8;

/// The most bytes of a line that names a pool and its token.
const MAX_BASE_LINE_BYTES: usize = 256;

/// How many bytes of slots are on the disk before they were checked, unless a single slot has more.
const MAX_UNCHECKED_BYTES: u64 = 16 << 20;

/// How far a log may be ahead of this machine's clock: a day of slots.
const SLACK_SLOTS: u64 = Slot::PER_DAY as u64;

/// Is told how many slots are there, and of how many.
pub type Progress<'a> = &'a (dyn Fn(u64, u64) + Sync);

/// Brings a copy up to date, as often as it is asked to.
pub struct Copier {
    runtime: Runtime,
    native: Native,
    base: BaseUrl,
    place: Arc<Place>,
    /// The keys that must have signed its checkpoint; none: the log's own.
    trusted: Vec<VerifierKey>,
    /// Known once the service was asked where its log is.
    log: Option<Arc<Log>>,
    /// The checkpoint that was brought last.
    brought: Option<Newest>,
    /// The checkpoint that was told last.
    named: Option<Newest>,
}

/// A log's newest checkpoint, as it is published. Nobody's signature was looked at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Newest {
    /// The signed note.
    pub note: String,
    /// What it says.
    pub checkpoint: Checkpoint,
}

/// A log, and where its copy is.
struct Log {
    fetcher: Fetcher,
    client: Client<Native>,
    place: Arc<Place>,
    trusted: Vec<VerifierKey>,
    /// The leaves of the checkpoint that was copied last.
    leaves: Mutex<Arc<Leaves>>,
}

impl Copier {
    /// A copier of the log of the service at `base`, or that is published at an address that ends with `/log`,
    /// into the folder at `path`. One of the `trusted` keys must have signed its checkpoint; where none is given, one of
    /// those that the log names. Nothing is asked for yet.
    pub fn new(base: BaseUrl, path: &Path, trusted: Vec<VerifierKey>) -> Result<Self, CopyError> {
        let unstarted = |error| CopyError::Folder { path: path.to_owned(), error };
        // Their files are synced by these threads: some may wait while others go on.
        let mut runtime = tokio::runtime::Builder::new_multi_thread();
        let runtime = runtime.worker_threads(4).enable_all().build().map_err(unstarted)?;
        let native = Native::new()
            .map_err(|error| CopyError::Unanswered { url: base.to_string(), error })?;
        let place = Arc::new(Place::open(path)?);
        Ok(Self { runtime, native, base, place, trusted, log: None, brought: None, named: None })
    }

    /// Brings the copy up to the log's newest checkpoint, within `limit`, and lets `progress` follow. What this copier
    /// brought before is not looked at again.
    pub fn update(&mut self, limit: Duration, progress: Progress<'_>) -> Result<(), CopyError> {
        let log = self.log(limit)?;
        let brought = self.brought.as_ref();
        let newest = self.within(limit, log.update(brought, progress))?;
        self.brought = Some(newest);
        Ok(())
    }

    /// The log's newest checkpoint, of the log that is here and of no fewer slots. Its keys, and what it succeeds, are
    /// brought into the copy; nothing of its slots, and not this checkpoint.
    pub fn newest(&mut self, limit: Duration) -> Result<Newest, CopyError> {
        let log = self.log(limit)?;
        let newest = self.within(limit, async {
            let _lock = log.place.lock()?;
            log.fetch_metadata(self.named.as_ref()).await.map(|(newest, _)| newest)
        })?;
        self.named = Some(newest.clone());
        Ok(newest)
    }

    /// Brings the files of these slots, one after the other, which the newest checkpoint covers, into the copy. The slots
    /// before them must be there.
    pub fn slots(
        &mut self,
        slots: impl Iterator<Item = Slot>,
        newest: &Newest,
        limit: Duration,
    ) -> Result<(), CopyError> {
        let log = self.log(limit)?;
        let bring = async {
            let _lock = log.place.lock()?;
            let (leaves, _) = log.leaves(&newest.checkpoint).await?;
            log.slots(slots, &newest.checkpoint.origin, &leaves, || {}).await
        };
        self.within(limit, bring)
    }

    /// The proof that two signed states are not of one log, where they are not: by the tiles that the log publishes under
    /// the newest, of no fewer slots than what was `seen`.
    pub fn contradiction(
        &mut self,
        seen: &str,
        newest: &Newest,
        limit: Duration,
    ) -> Result<Option<Contradiction>, CopyError> {
        let log = self.log(limit)?;
        let held = async { Ok(log.client.contradiction(seen, &newest.note).await?) };
        self.within(limit, held)
    }

    /// Puts a slot's own files aside, out of the log's folder and into this one, so that they are fetched anew.
    pub fn set_aside(&self, slot: Slot, folder: &Path) -> Result<(), CopyError> {
        let _lock = self.place.lock()?;
        [LogFile::Slot(slot), LogFile::Fills(slot), LogFile::Issued(slot)]
            .iter()
            .try_for_each(|file| self.place.set_aside(file, folder))
    }

    fn log(&mut self, limit: Duration) -> Result<Arc<Log>, CopyError> {
        if let Some(log) = &self.log {
            return Ok(Arc::clone(log));
        }
        let finding = address_of(&self.native, self.base.clone());
        let (client, address) = self.within(limit, finding)?;
        let log = Arc::new(Log {
            fetcher: Fetcher::new(self.native.clone(), address),
            client,
            place: Arc::clone(&self.place),
            trusted: self.trusted.clone(),
            leaves: Mutex::default(),
        });
        self.log = Some(Arc::clone(&log));
        Ok(log)
    }

    fn within<T>(
        &self,
        limit: Duration,
        work: impl Future<Output = Result<T, CopyError>>,
    ) -> Result<T, CopyError> {
        let late = CopyError::OutOfTime { seconds: limit.as_secs() };
        self.runtime
            .block_on(async { tokio::time::timeout(limit, work).await })
            .unwrap_or(Err(late))
    }

    /// Brings one file of the log, of at most so many bytes, into the copy, which was brought up to date before; whether it is
    /// there.
    pub fn fetch_file(&self, file: &LogFile, most: usize) -> Result<bool, CopyError> {
        let Some(log) = self.log.clone() else { return Ok(false) };
        if log.place.length(file)?.is_some() {
            return Ok(true);
        }
        let bring = async {
            let _lock = log.place.lock()?;
            match log.fetcher.bytes(file, most).await? {
                Some(bytes) => log.place.put(file, &bytes).map(|()| true),
                None => Ok(false),
            }
        };
        self.runtime.block_on(bring)
    }
}

/// Where the log is: below the address, or that which the service there names.
async fn address_of(native: &Native, base: BaseUrl) -> Result<(Client<Native>, String), CopyError> {
    let address = base.to_string();
    if let Some(above) = address.strip_suffix("/log")
        && let Ok(above) = above.parse()
    {
        return Ok((Client::new(native.clone(), above), address));
    }
    let client = Client::new(native.clone(), base);
    let web = client.web().await?.clone();
    let address = format!("{web}/log");
    Ok((Client::new(native.clone(), web), address))
}

impl Log {
    /// Brings the copy up to the newest checkpoint, from that which was `brought` on; gives that checkpoint.
    async fn update(
        self: &Arc<Self>,
        brought: Option<&Newest>,
        progress: Progress<'_>,
    ) -> Result<Newest, CopyError> {
        let _lock = self.place.lock()?;
        let (newest, entries) = self.fetch_metadata(brought).await?;
        if brought == Some(&newest) {
            return Ok(newest);
        }
        let Checkpoint { origin, size, .. } = &newest.checkpoint;
        let before = brought.map_or(0, |brought| brought.checkpoint.size.min(*size));
        let (first, done) = (u64::from(origin.first_slot().number()), AtomicU64::new(before));
        let numbers = first.saturating_add(before)..first.saturating_add(*size);
        let slots = numbers.map_while(|number| Slot::new(number).ok());
        let leaves = self.known_leaves();
        let done = || progress(done.fetch_add(1, Ordering::Relaxed) + 1, *size);
        self.slots(slots, origin, &leaves, done).await?;
        self.put_tiles(before, *size, &leaves, entries).await?;
        self.place.put(&LogFile::Checkpoint, newest.note.as_bytes())?;
        Tile::full_tiles(before, *size).try_for_each(|full| self.place.remove_narrower(&full))?;
        Ok(newest)
    }

    /// What the log says of itself: its keys, what it succeeds and what succeeds it, which come into the copy, and its
    /// newest checkpoint, which is signed, with the tiles of entries that were fetched for its leaves. Where that is the
    /// one that is `known`, nothing else is asked for.
    async fn fetch_metadata(
        self: &Arc<Self>,
        known: Option<&Newest>,
    ) -> Result<(Newest, Entries), CopyError> {
        let newest = self.newest().await?;
        if known == Some(&newest) {
            return Ok((newest, Entries::new()));
        }
        // Before the keys that the log names are copied: a log that no trusted key signed leaves nothing behind.
        if !self.trusted.is_empty() {
            self.check_signed(&newest, &self.trusted)?;
        }
        self.keys().await?;
        if self.trusted.is_empty() {
            self.check_signed(&newest, &self.keys_named()?)?;
        }
        self.written_once(&LogFile::Predecessor, MAX_NOTE_BYTES).await?;
        self.written_once(&LogFile::SupersededBy, MAX_ORIGIN_BYTES).await?;
        let (leaves, entries) = self.leaves(&newest.checkpoint).await?;
        self.bases(&leaves).await?;
        Ok((newest, entries))
    }

    /// Requires that one of these keys signed a checkpoint.
    fn check_signed(&self, newest: &Newest, keys: &[VerifierKey]) -> Result<(), CopyError> {
        let signed = Checkpoint::signed_by(&newest.note, keys);
        signed.map(drop).map_err(|error| {
            let url = self.fetcher.url(&LogFile::Checkpoint);
            CopyError::Unsigned { url, error: Box::new(error) }
        })
    }

    /// The keys that the copy names as the log's.
    fn keys_named(&self) -> Result<Vec<VerifierKey>, CopyError> {
        let file = LogFile::VerifierKey;
        let lines = self.place.read_file(&file, MAX_KEY_FILE_BYTES)?.unwrap_or_default();
        let path = self.place.path_of(&file);
        keys_from_lines(&lines).map_err(|why| CopyError::Damaged { path, why })
    }

    /// The files of these slots, one after the other. Several are fetched at once, and put into the copy in their order.
    async fn slots(
        self: &Arc<Self>,
        slots: impl Iterator<Item = Slot>,
        origin: &Origin,
        leaves: &Leaves,
        done: impl Fn(),
    ) -> Result<(), CopyError> {
        let mut slots = slots.peekable();
        let index = |slot: Slot| origin.index_of(slot).unwrap_or(u64::MAX);
        let Some(first) = slots.peek().copied() else { return Ok(()) };
        let mut tree = leaves.tree_before(index(first));
        let keys = [self.keys_named()?, self.trusted.clone()].concat();
        let mut bodies = Bodies::new(&*self.place);
        let (mut manifests, mut files) = (Ordered::new(), Ordered::new());
        let (mut unchecked, mut next) = (VecDeque::<u64>::new(), None);
        loop {
            while manifests.len() < AT_ONCE
                && let Some(slot) = slots.next()
            {
                let file = LogFile::Slot(slot);
                let absent = || CopyError::Absent { url: self.fetcher.url(&file) };
                let leaf = leaves.at(index(slot)).ok_or_else(absent)?;
                let log = Arc::clone(self);
                manifests.begin(async move { Ok((leaf, log.wanted(slot, leaf).await?)) });
            }
            if next.is_none() {
                next = manifests.next().await.transpose()?;
            }
            let bytes = next
                .as_ref()
                .and_then(|(_, wanted)| wanted.as_ref())
                .map_or(0, Wanted::absent_bytes);
            let in_hand: u64 = unchecked.iter().sum();
            let has_room = unchecked.is_empty()
                || unchecked.len() < AT_ONCE
                    && in_hand.saturating_add(bytes) <= MAX_UNCHECKED_BYTES;
            if let Some((leaf, wanted)) = next.take_if(|_| has_room) {
                unchecked.push_back(bytes);
                let log = Arc::clone(self);
                files.begin(async move {
                    let Some(wanted) = wanted else { return Ok((leaf, None)) };
                    log.fetch(wanted).await.map(|fetched| (leaf, Some(fetched)))
                });
                continue;
            }
            let Some(fetched) = files.next().await else { return Ok(()) };
            let (leaf, fetched) = fetched?;
            unchecked.pop_front();
            tree.push(leaf.hash);
            if let Some(fetched) = fetched {
                let note = NoteOf { origin, tree: &tree, keys: &keys };
                self.put_slot(&fetched, &mut bodies, &note)?;
            }
            done();
        }
    }

    fn known_leaves(&self) -> Arc<Leaves> {
        Arc::clone(&self.leaves.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn set_known_leaves(&self, leaves: Arc<Leaves>) {
        *self.leaves.lock().unwrap_or_else(PoisonError::into_inner) = leaves;
    }

    /// The log's keys: those that are here, and perhaps more behind them.
    async fn keys(&self) -> Result<(), CopyError> {
        let (file, most) = (LogFile::VerifierKey, MAX_KEY_FILE_BYTES);
        let there = self.fetcher.require_bytes(&file, most).await?;
        self.check_end(&file, &there)?;
        let url = || self.fetcher.url(&file);
        match keys_from_lines(&there) {
            Ok(keys) if !keys.is_empty() => {}
            Ok(_) => return Err(CopyError::Invalid { url: url(), why: "it has no key".into() }),
            Err(why) => return Err(CopyError::Invalid { url: url(), why }),
        }
        match self.place.read_file(&file, most)? {
            Some(here) if here == there => Ok(()),
            Some(here) if !there.starts_with(&here) => Err(CopyError::OtherKeys { url: url() }),
            _ => self.place.put(&file, &there),
        }
    }

    /// The newest checkpoint: of the log that is here, no smaller, and no larger than time allows.
    async fn newest(&self) -> Result<Newest, CopyError> {
        let file = LogFile::Checkpoint;
        let note = self.fetcher.require_bytes(&file, MAX_NOTE_BYTES).await?;
        let url = self.fetcher.url(&file);
        let newest =
            read_checkpoint(note).map_err(|why| CopyError::Invalid { url: url.clone(), why })?;
        let there = &newest.checkpoint;
        if let Some(here) = self.place.read_file(&file, MAX_NOTE_BYTES)? {
            let path = self.place.path_of(&file);
            let here = read_checkpoint(here).map_err(|why| CopyError::Damaged { path, why })?;
            let here = here.checkpoint;
            if here.origin != there.origin {
                let there = there.origin.clone();
                return Err(CopyError::OtherLog { url, here: here.origin, there });
            }
            if here.size > there.size {
                return Err(CopyError::Shrank { url, here: here.size, there: there.size });
            }
        }
        let (size, first, now) = (there.size, there.origin.first_slot(), now_s() / Slot::SECONDS);
        let end = u64::from(first.number()).saturating_add(size);
        if size > 0 && end > now.saturating_add(SLACK_SLOTS) {
            return Err(CopyError::TooManySlots { url, size, first, now });
        }
        Ok(newest)
    }

    /// Which token of each pool is sold where a question does not say so: it may be absent, and may change. It has a line
    /// at most for each pool, and each pool has a head.
    async fn bases(&self, leaves: &Leaves) -> Result<(), CopyError> {
        let file = LogFile::DefaultBases;
        let most = usize::try_from(leaves.heads()).unwrap_or(usize::MAX);
        let most = most.saturating_mul(MAX_BASE_LINE_BYTES).min(MAX_BASES_BYTES);
        let Some(there) = self.fetcher.bytes(&file, most).await? else { return Ok(()) };
        let read = core::str::from_utf8(&there).map_err(|error| error.to_string());
        read.and_then(|text| DefaultBases::from_text(text).map_err(|error| error.to_string()))
            .map_err(|why| CopyError::Invalid { url: self.fetcher.url(&file), why })?;
        if self.place.read_file(&file, MAX_BASES_BYTES)?.as_ref() == Some(&there) {
            return Ok(());
        }
        self.place.put(&file, &there)
    }

    /// A file that may be absent, and is never changed.
    async fn written_once(&self, file: &LogFile, most: usize) -> Result<(), CopyError> {
        let there = self.fetcher.bytes(file, most).await?;
        there.iter().try_for_each(|there| self.check_end(file, there))?;
        match (self.place.read_file(file, most)?, there) {
            (None, Some(there)) => self.place.put(file, &there),
            (here, there) if here == there => Ok(()),
            _ => Err(CopyError::Changed { url: self.fetcher.url(file) }),
        }
    }

    /// Requires that a text ends as it must: else it was cut off.
    fn check_end(&self, file: &LogFile, text: &[u8]) -> Result<(), CopyError> {
        if text.ends_with(b"\n") {
            return Ok(());
        }
        let why = "it does not end with a line break".to_owned();
        Err(CopyError::Invalid { url: self.fetcher.url(file), why })
    }
}

fn read_checkpoint(note: Vec<u8>) -> Result<Newest, String> {
    let note = String::from_utf8(note).map_err(|error| error.to_string())?;
    let (checkpoint, _) = Checkpoint::from_note(&note).map_err(|error| error.to_string())?;
    Ok(Newest { note, checkpoint })
}

fn now_s() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs()
}
