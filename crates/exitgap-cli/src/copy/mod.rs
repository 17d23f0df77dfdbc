//! A copy of a log that a service, or any server of files, publishes: brought up to date in a folder
//! of one's own, from which it is then audited like any other. What is there already is not fetched
//! again. Every file comes whole, a slot's manifest after its other files and the checkpoint last: a
//! copy that is cut off at any instant is a log's folder, and goes on where it was.
//!
//! **In scope**: that the files are there, of their sizes and shapes, and parts of their names; that it is
//! the log that is here already, and no shorter. **Out of scope**: whether it holds (`log/replay.rs`).
//!
//! - `fetch`: one file, up to its limit, asked for again where that helps
//! - `place`: the folder, and how a file comes into it
//! - `files`: a slot's files, and tiles, each checked before it is put in its place
//! - `source`: where a log is read from: a folder, or a service that is copied

mod error;
mod fetch;
mod files;
mod place;
mod source;

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use exitgap_client::{BaseUrl, Client, Native};
use exitgap_core::published::LogFile;
use exitgap_core::series::Slot;
use exitgap_core::tlog::{Checkpoint, MAX_NOTE_BYTES, Tile};
use indicatif::ProgressBar;
use tokio::runtime::Runtime;
use tokio::task::JoinSet;

use self::fetch::Fetcher;
use self::place::Place;
use crate::source::now_s;
use crate::trust;

pub use error::CopyError;
pub use source::{LogAt, LogSource};

/// The longest line that names a successor.
pub const MAX_ORIGIN_BYTES: usize = 4 << 10;

/// How many slots are fetched at once, and how many tiles.
const AT_ONCE: usize = 8;

/// How far a log may be ahead of this machine's clock: a day of slots.
const SLACK_SLOTS: u64 = Slot::PER_DAY as u64;

/// Brings a copy up to date, as often as it is asked to.
pub struct Copier {
    runtime: Runtime,
    native: Native,
    base: BaseUrl,
    place: Arc<Place>,
    /// Known once the service was asked where its log is.
    log: Option<Arc<Log>>,
    /// The checkpoint that was brought last.
    brought: Option<Vec<u8>>,
}

/// A log, and where its copy is.
struct Log {
    fetcher: Fetcher,
    place: Arc<Place>,
}

impl Copier {
    /// A copier of the log of the service at `base`, or that is published at an address that ends with `/log`,
    /// into the folder at `path`. Nothing is asked for yet.
    pub fn new(base: BaseUrl, path: &Path) -> Result<Self, CopyError> {
        let unstarted = |error| CopyError::Folder { path: path.to_owned(), error };
        // Their files are synced by these threads: some may wait while others go on.
        let mut runtime = tokio::runtime::Builder::new_multi_thread();
        let runtime = runtime.worker_threads(4).enable_all().build().map_err(unstarted)?;
        let native = Native::new()
            .map_err(|error| CopyError::Unanswered { url: base.to_string(), error })?;
        let place = Arc::new(Place::open(path)?);
        Ok(Self { runtime, native, base, place, log: None, brought: None })
    }

    /// Brings the copy up to the log's newest checkpoint, within `limit`, and lets `bar` follow.
    pub fn update(&mut self, limit: Duration, bar: &ProgressBar) -> Result<(), CopyError> {
        let known = self.log.clone();
        let (native, base, place) =
            (self.native.clone(), self.base.clone(), Arc::clone(&self.place));
        let brought = self.brought.clone();
        let work = async move {
            let log = match known {
                Some(log) => log,
                None => Arc::new(Log { fetcher: found(native, base).await?, place }),
            };
            let newest = log.update(brought.as_deref(), bar).await?;
            Ok((log, newest))
        };
        let within = async { tokio::time::timeout(limit, work).await };
        let late = CopyError::OutOfTime { seconds: limit.as_secs() };
        let (log, newest) = self.runtime.block_on(within).unwrap_or(Err(late))?;
        (self.log, self.brought) = (Some(log), Some(newest));
        Ok(())
    }

    /// Brings one file of the log, of at most so many bytes, into the copy, which was brought up to date before; whether it is
    /// there.
    pub fn bring(&self, file: &LogFile, most: usize) -> Result<bool, CopyError> {
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
async fn found(native: Native, base: BaseUrl) -> Result<Fetcher, CopyError> {
    let address = base.to_string();
    if address.ends_with("/log") {
        return Ok(Fetcher::new(native, address));
    }
    let client = Client::new(native.clone(), base);
    let web = client.web().await?;
    Ok(Fetcher::new(native, format!("{web}/log")))
}

impl Log {
    /// Brings the copy up to the newest checkpoint, unless that is `brought`; gives that checkpoint.
    async fn update(
        self: &Arc<Self>,
        brought: Option<&[u8]>,
        bar: &ProgressBar,
    ) -> Result<Vec<u8>, CopyError> {
        let _lock = self.place.lock()?;
        self.keys().await?;
        let (note, checkpoint) = self.newest().await?;
        if brought == Some(&*note) {
            return Ok(note);
        }
        self.written_once(&LogFile::Predecessor, MAX_NOTE_BYTES).await?;
        self.written_once(&LogFile::SupersededBy, MAX_ORIGIN_BYTES).await?;
        let Checkpoint { origin, size, .. } = checkpoint;
        bar.set_length(size);
        let first = u64::from(origin.first_slot().number());
        let slots = (first..first.saturating_add(size)).map_while(|number| Slot::new(number).ok());
        let slot = |log: Arc<Self>, slot| async move { log.slot(slot).await };
        self.all(slots, slot, || bar.inc(1)).await?;
        let tile = |log: Arc<Self>, tile| async move { log.tile(tile).await };
        self.all(Tile::grown(0, size), tile, || {}).await?;
        self.place.put(&LogFile::Checkpoint, &note)?;
        Tile::filled(0, size).try_for_each(|full| self.place.remove_narrower(&full))?;
        Ok(note)
    }

    /// The log's keys: those that are here, and perhaps more behind them.
    async fn keys(&self) -> Result<(), CopyError> {
        let (file, most) = (LogFile::VerifierKey, trust::MAX_KEY_FILE_BYTES);
        let there = self.fetcher.required(&file, most).await?;
        self.check_end(&file, &there)?;
        let url = || self.fetcher.url(&file);
        match trust::from_lines(&there) {
            Ok(keys) if !keys.is_empty() => {}
            Ok(_) => return Err(CopyError::Invalid { url: url(), why: "it holds no key".into() }),
            Err(why) => return Err(CopyError::Invalid { url: url(), why }),
        }
        match self.place.read(&file, most)? {
            Some(here) if here == there => Ok(()),
            Some(here) if !there.starts_with(&here) => Err(CopyError::OtherKeys { url: url() }),
            _ => self.place.put(&file, &there),
        }
    }

    /// The newest checkpoint: of the log that is here, no smaller, and no larger than time allows.
    async fn newest(&self) -> Result<(Vec<u8>, Checkpoint), CopyError> {
        let file = LogFile::Checkpoint;
        let note = self.fetcher.required(&file, MAX_NOTE_BYTES).await?;
        let url = self.fetcher.url(&file);
        let there =
            read_checkpoint(&note).map_err(|why| CopyError::Invalid { url: url.clone(), why })?;
        if let Some(here) = self.place.read(&file, MAX_NOTE_BYTES)? {
            let path = self.place.path_of(&file);
            let here = read_checkpoint(&here).map_err(|why| CopyError::Damaged { path, why })?;
            if here.origin != there.origin {
                return Err(CopyError::OtherLog { url, here: here.origin, there: there.origin });
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
        Ok((note, there))
    }

    /// A file that may be absent, and is never changed.
    async fn written_once(&self, file: &LogFile, most: usize) -> Result<(), CopyError> {
        let there = self.fetcher.bytes(file, most).await?;
        there.iter().try_for_each(|there| self.check_end(file, there))?;
        match (self.place.read(file, most)?, there) {
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

    /// Does all of it, some at once, begun in order; the first that fails ends it.
    async fn all<J, W: Future<Output = Result<(), CopyError>> + Send + 'static>(
        self: &Arc<Self>,
        mut jobs: impl Iterator<Item = J>,
        work: impl Fn(Arc<Self>, J) -> W,
        done: impl Fn(),
    ) -> Result<(), CopyError> {
        let mut running = JoinSet::new();
        loop {
            while running.len() < AT_ONCE
                && let Some(job) = jobs.next()
            {
                running.spawn(work(Arc::clone(self), job));
            }
            match running.join_next().await {
                None => return Ok(()),
                Some(Ok(ended)) => ended?,
                Some(Err(panicked)) => std::panic::resume_unwind(panicked.into_panic()),
            }
            done();
        }
    }
}

fn read_checkpoint(note: &[u8]) -> Result<Checkpoint, String> {
    let note = core::str::from_utf8(note).map_err(|error| error.to_string())?;
    let (checkpoint, _) = Checkpoint::from_note(note).map_err(|error| error.to_string())?;
    Ok(checkpoint)
}
