//! When the bucket is brought up to date: on a thread of its own, after each slot that the folder has.

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

/// How often the folder is looked at for a newer checkpoint.
const LOOK_EVERY: Duration = Duration::from_secs(1);

/// How long after a failure it is tried again: first, and at most.
const AGAIN_AFTER: [Duration; 2] = [Duration::from_secs(5), Duration::from_mins(1)];

/// How long the last slots may take once the process is to end.
const LAST_WITHIN: Duration = Duration::from_secs(30);

/// How long closed days may keep a round: slots come first.
const DAYS_WITHIN: Duration = Duration::from_secs(30);

/// A bucket that can be asked.
pub struct Bucket {
    shown: String,
    objects: Objects,
}

/// What is told of rounds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BucketTold {
    /// The bucket's checkpoint covers so many slots now; its round may go on.
    Covers(u64),
    /// A round ended: `brought`, or a failure's code.
    Ended(&'static str),
}

/// Is told how far the bucket is, and what came of each round.
pub type BucketCallback = Box<dyn Fn(BucketTold) + Send>;

impl Bucket {
    /// The bucket of a plan. Nothing is asked for yet.
    pub fn open(plan: &BucketPlan) -> Result<Self, String> {
        Ok(Self { shown: plan.to_string(), objects: plan.objects()? })
    }

    /// Requires that a store may go on with the log that the bucket has, before anything is recorded: that it is that log, and
    /// has all of it. How many slots the bucket has.
    pub fn check(&self, reader: &Reader) -> Result<u64, BucketError> {
        let (keys, checkpoint) = run_on_thread(read_published(&self.objects))?;
        held(&self.objects, reader, keys.as_ref(), checkpoint.as_ref())
    }

    /// The bucket, for people.
    pub fn shown(&self) -> &str {
        &self.shown
    }

    /// How many slots the bucket has, whosever they are: whether it can be asked.
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

    /// Requires that the bucket has all of a closed day, read back.
    pub fn check_day(&self, day: &DayManifest) -> Result<(), BucketError> {
        run_on_thread(days::check(&self.objects, day))
    }

    /// Requires that the storage can hold claims: that it makes an object once.
    pub fn check_claims(&self) -> Result<(), BucketError> {
        run_on_thread(require_once(&self.objects))
    }

    /// Where what is about to be signed is claimed.
    pub fn claims(&self) -> Arc<dyn Claims> {
        Arc::new(BucketClaims(self.objects.clone()))
    }

    /// Any store of objects, whose names begin with `prefix`, in a bucket's place; `shown` names it.
    pub fn over(store: Arc<dyn ObjectStore>, shown: &str, prefix: &str) -> Self {
        Self { shown: shown.to_owned(), objects: Objects::new(store, shown.to_owned(), prefix) }
    }

    /// Brings what the folder of a store's log has, and what stands beside it, once.
    pub fn upload_folder(&self, folder: &LogFolder, store: &Path) -> Result<Brought, BucketError> {
        let round = Round { objects: &self.objects, folder, store };
        run_on_thread(async {
            let brought = round.upload_log(|_| {}).await?;
            Beside::default().upload_new_files(&self.objects, folder).await?;
            while days::upload_days(&self.objects, folder, DAYS_WITHIN).await?.is_behind {}
            Ok(brought)
        })
    }

    /// Brings what the bucket has and a folder does not; how many files that was.
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

    /// Brings what the folder has, now and after each slot, until it is told to end.
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

/// A bucket that is being brought up to date.
pub struct MirrorHandle {
    stop: watch::Sender<bool>,
    thread: JoinHandle<()>,
}

impl MirrorHandle {
    /// Lets what the folder has come into the bucket, within half a minute, and ends.
    pub fn end(self) {
        // The thread may have ended by a fault: then nobody listens, and there is nothing to wait for.
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
    /// The folder's checkpoint that was brought last.
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
                // Nobody can say so any more only when the process ends.
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

    /// A round, where the folder has a newer checkpoint. One that is under way when the process is to end has some time left.
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
        // More days go on with the next look, after whatever slot has come meanwhile.
        self.brought = newest.filter(|_| !days.is_behind);
        Ok(())
    }

    /// Says why nothing came; the same is said once.
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

/// Does it on a thread of its own: whoever asks may stand on a runtime, or on none.
pub fn run_on_thread<T: Send>(
    work: impl Future<Output = Result<T, BucketError>> + Send,
) -> Result<T, BucketError> {
    let runtime = runtime()?;
    std::thread::scope(|scope| {
        let ended = scope.spawn(move || runtime.block_on(work)).join();
        ended.unwrap_or_else(|panicked| std::panic::resume_unwind(panicked))
    })
}
