//! Keeps the bucket up to date: on a thread of its own, after each slot that is written to the folder.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

use exitgap_core::log_folder::LogFile;
use exitgap_core::log_folder::days::DayManifest;
use exitgap_core::tlog::MAX_NOTE_BYTES;
use exitgap_store::claims::Claims;
use exitgap_store::{LogFolder, Reader};
use object_store::ObjectStore;
use tokio::runtime::Runtime;
use tokio::sync::watch;
use tokio::time::{sleep, timeout};

use super::beside::Beside;
use super::claims::{BucketClaims, require_once};
use super::config::BucketPlan;
use super::days;
use super::error::BucketError;
use super::fetch::{self, fetch};
use super::objects::Objects;
use super::round::{Brought, Round, held, read_published};

/// Polling interval for a newer checkpoint in the folder.
const LOOK_EVERY: Duration = Duration::from_secs(1);

/// Pause before a retry after a failure: the first, and the longest.
const AGAIN_AFTER: [Duration; 2] = [Duration::from_secs(5), Duration::from_mins(1)];

/// How long the last slots may take when the process is about to end.
const LAST_WITHIN: Duration = Duration::from_secs(30);

/// How long closed days may extend a round: slots have priority.
const DAYS_WITHIN: Duration = Duration::from_secs(30);

/// A bucket that can be accessed.
pub struct Bucket {
    shown: String,
    objects: Objects,
}

/// Progress of upload rounds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BucketTold {
    /// The bucket's checkpoint now covers this many slots; the round may continue.
    Covers(u64),
    /// A round ended: `brought`, or a failure's code.
    Ended(&'static str),
}

/// Receives how far the bucket is, and the result of each round.
pub type BucketCallback = Box<dyn Fn(BucketTold) + Send>;

impl Bucket {
    /// The bucket of a plan. Sends no request yet.
    pub fn open(plan: &BucketPlan) -> Result<Self, String> {
        Ok(Self { shown: plan.to_string(), objects: plan.objects()? })
    }

    /// Requires, before anything is recorded, that a store may continue the log in the bucket: that it is the same log,
    /// and the store has all of its slots. Returns the number of slots in the bucket.
    pub fn check(&self, reader: &Reader) -> Result<u64, BucketError> {
        let (keys, checkpoint) = run_on_thread(read_published(&self.objects))?;
        held(&self.objects, reader, keys.as_ref(), checkpoint.as_ref())
    }

    /// The bucket's name, for people.
    pub fn shown(&self) -> &str {
        &self.shown
    }

    /// How many slots the bucket has, whichever log they belong to: a test that the bucket is reachable.
    pub fn ask(&self) -> Result<u64, BucketError> {
        let (_, checkpoint) = run_on_thread(read_published(&self.objects))?;
        let size = checkpoint.map(|found| fetch::size_of(&found.bytes)).transpose();
        let damaged =
            |why| BucketError::Damaged { path: self.objects.place().join("checkpoint"), why };
        Ok(size.map_err(damaged)?.unwrap_or(0))
    }

    /// How many closed days the bucket has.
    pub fn days(&self) -> Result<u64, BucketError> {
        run_on_thread(days::count(&self.objects))
    }

    /// Requires that the bucket has every file of a closed day, by reading each back.
    pub fn check_day(&self, day: &DayManifest) -> Result<(), BucketError> {
        run_on_thread(days::check(&self.objects, day))
    }

    /// Requires that the storage supports claims: that it creates an object only once.
    pub fn check_claims(&self) -> Result<(), BucketError> {
        run_on_thread(require_once(&self.objects))
    }

    /// The claims in this bucket.
    pub fn claims(&self) -> Arc<dyn Claims> {
        Arc::new(BucketClaims(self.objects.clone()))
    }

    /// Uses any object store in place of a bucket, with `prefix` before the objects' names; `shown` is its name.
    pub fn over(store: Arc<dyn ObjectStore>, shown: &str, prefix: &str) -> Self {
        Self { shown: shown.to_owned(), objects: Objects::new(store, shown.to_owned(), prefix) }
    }

    /// Uploads the contents of the log's folder once, and the files next to the log.
    pub fn upload_folder(&self, folder: &LogFolder, store: &Path) -> Result<Brought, BucketError> {
        let round = Round { objects: &self.objects, folder, store };
        run_on_thread(async {
            let brought = round.upload_log(|_| {}).await?;
            Beside::default().upload_new_files(&self.objects, folder).await?;
            while days::upload_days(&self.objects, folder, DAYS_WITHIN).await?.is_behind {}
            Ok(brought)
        })
    }

    /// Downloads what the bucket has and a folder lacks; returns the number of files.
    pub fn fetch(
        &self,
        folder: &LogFolder,
        progress: impl Fn(u64, u64) + Send,
    ) -> Result<u64, BucketError> {
        run_on_thread(async {
            let files = fetch(&self.objects, folder, progress).await?;
            Ok(files + days::fetch(&self.objects, folder).await?)
        })
    }

    /// Uploads what the folder has, now and after each slot, until stopped.
    pub fn start(
        self,
        folder: LogFolder,
        store: PathBuf,
        told: BucketCallback,
    ) -> Result<MirrorHandle, BucketError> {
        let runtime = runtime()?;
        let (stop, stopped) = watch::channel(false);
        let mirror = Mirror {
            shown: self.shown,
            objects: self.objects,
            folder,
            store,
            told,
            beside: Beside::default(),
            brought: None,
        };
        let thread = std::thread::Builder::new().name("bucket".to_owned());
        let work = move || runtime.block_on(mirror.run(stopped));
        let thread = thread.spawn(work).map_err(BucketError::Thread)?;
        Ok(MirrorHandle { stop, thread })
    }
}

/// Handle to a running upload.
pub struct MirrorHandle {
    stop: watch::Sender<bool>,
    thread: JoinHandle<()>,
}

impl MirrorHandle {
    /// Uploads what the folder still has, within half a minute, and ends.
    pub fn end(self) {
        // The thread may have ended with an error; then no one receives this, and there is nothing to wait for.
        let _ = self.stop.send(true);
        let _ = self.thread.join();
    }
}

struct Mirror {
    shown: String,
    objects: Objects,
    folder: LogFolder,
    store: PathBuf,
    told: BucketCallback,
    beside: Beside,
    /// The last checkpoint of the folder that was uploaded.
    brought: Option<Vec<u8>>,
}

impl Mirror {
    async fn run(mut self, mut stop: watch::Receiver<bool>) {
        let mut said: Option<String> = None;
        let mut again = AGAIN_AFTER[0];
        while !*stop.borrow() {
            let wait = match self.look(&mut stop).await {
                Ok(()) => {
                    if said.take().is_some() {
                        tracing::info!(bucket = self.shown, "the bucket is up to date again");
                    }
                    again = AGAIN_AFTER[0];
                    LOOK_EVERY
                }
                Err(error) => {
                    self.report_failure(&error, &mut said);
                    let wait = again;
                    again = (again * 2).min(AGAIN_AFTER[1]);
                    wait
                }
            };
            tokio::select! {
                () = sleep(wait) => {}
                // The sender is dropped only when the process ends.
                _ = stop.wait_for(|stop| *stop) => {}
            }
        }
        match timeout(LAST_WITHIN, self.round()).await {
            Ok(Ok(())) => {}
            Ok(Err(error)) => self.report_failure(&error, &mut said),
            Err(_) => tracing::warn!(
                bucket = self.shown,
                "the newest files are not in the bucket yet; they are uploaded at the next start"
            ),
        }
    }

    /// Runs a round if the folder has a newer checkpoint. A round in progress when the process is about to end gets
    /// some more time.
    async fn look(&mut self, stop: &mut watch::Receiver<bool>) -> Result<(), BucketError> {
        let late = async {
            let _ = stop.wait_for(|stop| *stop).await;
            sleep(LAST_WITHIN).await;
        };
        tokio::select! {
            done = self.round() => done,
            () = late => Ok(()),
        }
    }

    async fn round(&mut self) -> Result<(), BucketError> {
        let most = MAX_NOTE_BYTES as u64;
        let newest = self.folder.file(&LogFile::Checkpoint, most).map_err(BucketError::Own)?;
        if newest == self.brought {
            return Ok(());
        }
        let round = Round { objects: &self.objects, folder: &self.folder, store: &self.store };
        let covers = |size| (self.told)(BucketTold::Covers(size));
        let Brought { size, slots } = round.upload_log(covers).await?;
        let beside = self.beside.upload_new_files(&self.objects, &self.folder).await?;
        let days = days::upload_days(&self.objects, &self.folder, DAYS_WITHIN).await?;
        let files = beside + days.files;
        tracing::info!(bucket = self.shown, size, slots, files, "uploaded to the bucket");
        (self.told)(BucketTold::Ended("brought"));
        // More days follow in the next round, after any new slots.
        self.brought = newest.filter(|_| !days.is_behind);
        Ok(())
    }

    /// Logs why the upload failed; the same message is logged once.
    fn report_failure(&self, error: &BucketError, said: &mut Option<String>) {
        (self.told)(BucketTold::Ended(error.code()));
        let (code, words) = (error.code(), error.to_string());
        if said.as_deref() == Some(code) {
            return;
        }
        *said = Some(code.to_owned());
        if error.may_pass() {
            tracing::warn!(bucket = self.shown, code, "not uploaded to the bucket yet: {words}");
        } else {
            tracing::error!(bucket = self.shown, code, "not uploaded to the bucket: {words}");
        }
    }
}

fn runtime() -> Result<Runtime, BucketError> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    runtime.map_err(BucketError::Thread)
}

/// Runs the work on a thread of its own, because the caller may or may not be on a runtime.
pub fn run_on_thread<T: Send>(
    work: impl Future<Output = Result<T, BucketError>> + Send,
) -> Result<T, BucketError> {
    let runtime = runtime()?;
    std::thread::scope(|scope| {
        let ended = scope.spawn(move || runtime.block_on(work)).join();
        ended.unwrap_or_else(|panicked| std::panic::resume_unwind(panicked))
    })
}
