//! A copy of a log published by a service or by any file server. It is updated in a local folder,
//! which can then be audited like any other. Existing files are not downloaded again. Every file is
//! written as a whole, a slot's manifest after its other files and the checkpoint last. A copy
//! interrupted at any time is still a valid folder of the log, and the next update continues there.
//!
//! **In scope**: that the newest signed checkpoint commits to every file, and that no file is longer than that allows;
//! that the log is the one already in the folder, and not shorter. So a server without the log's key can neither fill
//! the disk nor leave anything in the folder that is not part of the log. **Out of scope**: whether the signed data is
//! valid, which the reader of the folder checks (`exitgap audit`, or a follower that applies it to a store).
//!
//! - `fetch`: one file, up to its limit, requested again where that helps
//! - `place`: the folder, and how a file is written into it
//! - `metadata`: the newest checkpoint, the log's keys, its predecessor and its successor
//! - `leaves`: the leaves that the checkpoint signs, and tiles
//! - `slot`: a slot's files, fetched; `put`: written, once all of it was checked
//! - `reading`: what bodies are read from while a part is checked
//! - `unpack`: packed files, never unpacked to more than they may hold; `committed`: the documents in them
//! - `ordered`: work begun in order, some of it at once
//! - `single`: single files, without a copy

mod committed;
mod error;
mod fetch;
mod leaves;
mod metadata;
mod ordered;
mod place;
mod put;
mod reading;
mod single;
mod slot;
#[cfg(test)]
mod tests;
mod unpack;

use std::collections::VecDeque;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use exitgap_api::Contradiction;
use exitgap_core::log_folder::{Bodies, LogFile};
use exitgap_core::series::Slot;
use exitgap_core::tlog::{Checkpoint, Origin, Tile, VerifierKey};
use tokio::runtime::Runtime;
use tokio::sync::{Semaphore, SemaphorePermit};

use self::fetch::Fetcher;
use self::leaves::Leaves;
use self::ordered::Ordered;
use self::place::Place;
use self::put::NoteOf;
use self::reading::Reading;
use self::slot::Wanted;
use crate::{BaseUrl, Client, Native};

pub use error::CopyError;
pub use single::LogFiles;

/// Maximum length of a line that names a successor.
pub const MAX_ORIGIN_BYTES: usize = 4 << 10;

/// How many slots, and how many tiles, are downloaded concurrently.
const AT_ONCE: usize = 8;

/// How many bytes of parts are in memory before they were checked, and how many of other files, unless a single file has
/// more.
const MAX_UNCHECKED_BYTES: u64 = 16 << 20;

/// Receives how many slots are there, and the total.
pub type Progress<'a> = &'a (dyn Fn(u64, u64) + Sync);

/// Updates a copy, whenever called.
pub struct Copier {
    runtime: Runtime,
    native: Native,
    base: BaseUrl,
    place: Arc<Place>,
    /// The keys that must have signed its checkpoint; if empty, the log's own keys.
    trusted: Trusted,
    /// Known once the service has returned its log's URL.
    log: Option<Arc<Log>>,
    /// The last checkpoint that was copied completely.
    brought: Option<Newest>,
    /// The last checkpoint that the log returned.
    named: Option<Newest>,
}

/// A log's newest published checkpoint. Its signatures are not verified.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Newest {
    /// The signed note.
    pub note: String,
    /// The parsed note.
    pub checkpoint: Checkpoint,
}

/// Keys that are trusted.
#[derive(Clone)]
struct Trusted {
    keys: Vec<VerifierKey>,
    /// Whether they are of several logs: those with the log's name then count for it.
    are_of_several: bool,
}

impl Trusted {
    /// Those that count for a log.
    fn for_log(&self, origin: &Origin) -> Vec<VerifierKey> {
        let name = origin.to_string();
        let counts = |key: &&VerifierKey| !self.are_of_several || key.name() == name;
        self.keys.iter().filter(counts).cloned().collect()
    }
}

/// A log, and its copy.
struct Log {
    fetcher: Fetcher,
    client: Client<Native>,
    place: Arc<Place>,
    trusted: Trusted,
    /// The leaves of the last copied checkpoint.
    leaves: Mutex<Arc<Leaves>>,
    /// Room in memory, in KiB, for files other than parts that were not yet checked.
    memory: Semaphore,
}

impl Copier {
    /// Creates a copier of a log into the folder at `path`. `base` is a service, or the URL of a published log, which
    /// ends with `/log`. One of the `trusted` keys must have signed its checkpoint; if there are none, one of the keys
    /// that the log names. Sends no request yet.
    pub fn new(base: BaseUrl, path: &Path, trusted: Vec<VerifierKey>) -> Result<Self, CopyError> {
        let unstarted = |error| CopyError::Folder { path: path.to_owned(), error };
        // These threads sync the files: some may wait while others continue.
        let mut runtime = tokio::runtime::Builder::new_multi_thread();
        let runtime = runtime.worker_threads(4).enable_all().build().map_err(unstarted)?;
        let native = Native::new()
            .map_err(|error| CopyError::Unanswered { url: base.to_string(), error })?;
        let place = Arc::new(Place::open(path)?);
        let trusted = Trusted { keys: trusted, are_of_several: false };
        Ok(Self { runtime, native, base, place, trusted, log: None, brought: None, named: None })
    }

    /// The same where the trusted keys are of several logs. Those that have the log's name must have signed its checkpoint;
    /// where none has it, those that the log names.
    #[must_use]
    pub fn with_keys_of_several_logs(mut self) -> Self {
        self.trusted.are_of_several = true;
        self
    }

    /// Updates the copy to the log's newest checkpoint, within `limit`, and reports to `progress`. Files that this
    /// copier brought earlier are not checked again.
    pub fn update(&mut self, limit: Duration, progress: Progress<'_>) -> Result<(), CopyError> {
        let log = self.log(limit)?;
        let brought = self.brought.as_ref();
        let newest = self.within(limit, log.update(brought, progress))?;
        self.brought = Some(newest);
        Ok(())
    }

    /// The log's newest checkpoint, which must belong to the same log and cover at least as many slots. Copies the
    /// log's keys and its predecessor's name, but no slot data and not this checkpoint.
    pub fn newest(&mut self, limit: Duration) -> Result<Newest, CopyError> {
        let log = self.log(limit)?;
        let newest = self.within(limit, async {
            let _lock = log.place.lock()?;
            log.fetch_metadata(self.named.as_ref()).await.map(|(newest, _)| newest)
        })?;
        self.named = Some(newest.clone());
        Ok(newest)
    }

    /// Copies the files of these slots, one after the other. The newest checkpoint must cover them, and the slots
    /// before them must be in the copy.
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

    /// The proof that two signed states do not belong to one log, if so. It is computed from the tiles published with
    /// the newest state, which must cover at least as many slots as `seen`.
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

    /// Moves a slot's own files from the log's folder to this folder, so that they are downloaded again.
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
            memory: Semaphore::new(kib(MAX_UNCHECKED_BYTES) as usize),
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

    /// Copies one file of at most this many bytes; returns whether it exists. The copy must have been updated before.
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

/// The log's URL: below the given URL, or the one that the service there returns.
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
    /// Updates the copy to the newest checkpoint, starting from the last `brought` one; returns the newest.
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

    /// Copies the files of these slots. Several slots are downloaded concurrently, and written to the copy in order.
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
        let keys = [self.keys_named()?, self.trusted.for_log(origin)].concat();
        let reading = Reading::from_place(&self.place);
        let mut bodies = Bodies::new(&reading);
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
                .map_or(0, Wanted::unchecked_bytes);
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
                self.put_slot(fetched, (&reading, &mut bodies), &note).await?;
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

    /// Waits until there is room in memory for this many bytes.
    async fn memory_for(&self, bytes: u64) -> Option<SemaphorePermit<'_>> {
        // A single file may have more: it is then alone. Nothing closes it.
        self.memory.acquire_many(kib(bytes.min(MAX_UNCHECKED_BYTES))).await.ok()
    }
}

fn kib(bytes: u64) -> u32 {
    u32::try_from(bytes.div_ceil(1 << 10)).unwrap_or(u32::MAX)
}
