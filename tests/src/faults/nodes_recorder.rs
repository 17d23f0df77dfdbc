//! A recorder whose nodes may be at fault: with the limits of a real one, but shorter, and in a thread of its own, so
//! that its end is noticed however it ends.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, channel};
use std::thread::JoinHandle;
use std::time::Duration;

use exitgap_chain::{ChainReader, Limits};
use exitgap_core::series::Slot;
use exitgap_server::config::CheckedConfig;
use exitgap_server::recorder::{Recorder, SlotReport, Source, Stop};
use exitgap_store::proofs::Proofs;
use exitgap_store::{LogFolder, Store};
use tokio::sync::watch;

use super::Result;
use super::nodes_clock::SlotClock;
use super::scene::key;

/// By how much all deadlines and pauses are shorter than those of a real recorder.
pub const FACTOR: u32 = 6;

/// From a slot's instant to its sealing.
pub const SEAL_AFTER: Duration = Duration::from_secs(60 / FACTOR as u64);

/// The limits of a real recorder, with shorter times.
pub fn shorter_limits() -> Limits {
    let limits = Limits::default();
    Limits {
        request_timeout: limits.request_timeout / FACTOR,
        backoff_first: limits.backoff_first / FACTOR,
        backoff_most: limits.backoff_most / FACTOR,
        cut_off_after: limits.cut_off_after / FACTOR,
        retry_after_most: limits.retry_after_most / FACTOR,
        lag_pause: limits.lag_pause / FACTOR,
        ..limits
    }
}

/// A recorder's files and configuration.
#[derive(Debug)]
pub struct Home {
    folder: PathBuf,
    checked: CheckedConfig,
}

/// A recorder that runs.
#[derive(Debug)]
pub struct Running {
    thread: JoinHandle<std::result::Result<(), String>>,
    stop: watch::Sender<Stop>,
    reports: Receiver<Sealed>,
}

/// A sealed slot.
#[derive(Debug)]
pub struct Sealed {
    /// The recorder's report.
    pub report: SlotReport,
    /// From the slot's instant to its publication.
    pub after: Duration,
}

impl Home {
    /// A recorder in `folder` with this configuration; its store is created.
    pub fn new(folder: &Path, config: &str) -> Result<Self> {
        std::fs::create_dir_all(folder)?;
        let checked = CheckedConfig::parse(config, &folder.join("exitgap.toml"))?;
        let home = Self { folder: folder.to_owned(), checked };
        Store::create(home.store(), &key())?.close()?;
        Ok(home)
    }

    /// The database.
    pub fn store(&self) -> PathBuf {
        self.folder.join("series.db")
    }

    /// The configuration.
    pub fn checked(&self) -> &CheckedConfig {
        &self.checked
    }

    /// A recorder of the store with these limits.
    pub fn recorder(&self, limits: &Limits, seal_after: Duration) -> Result<Recorder<ChainReader>> {
        let store = Store::open(self.store(), &key())?;
        let sources = Source::of_plan(&self.checked.plan, limits);
        Ok(Recorder::new(store, sources, seal_after))
    }

    /// Starts a recorder that goes on with the store, and proves, signs and publishes each slot that the clock reaches.
    pub fn start(&self, clock: &SlotClock) -> Result<Running> {
        let mut recorder = self.recorder(&shorter_limits(), SEAL_AFTER)?;
        // As by default.
        let proofs = Proofs::open(&self.folder.join("proofs.db"))?;
        recorder.prove_states(Some(Arc::new(proofs)));
        recorder.publish_in(LogFolder::new(self.folder.join("log")))?;
        let (sender, reports) = channel();
        let (stop, asked) = watch::channel(Stop::No);
        let shown = clock.clone();
        recorder.tell(move |report| {
            let (report, after) = (report.clone(), shown.since(report.slot));
            // While the recorder is being stopped, its reports are no longer received.
            drop(sender.send(Sealed { report, after }));
        });
        let clock = clock.clone();
        let runtime =
            tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
        let thread = std::thread::spawn(move || {
            let ended = runtime.block_on(async {
                recorder.run(&clock, asked, None).await?;
                recorder.close()
            });
            // A thread of a chain may still wait for its node.
            runtime.shutdown_background();
            ended.map_err(|error| error.to_string())
        });
        Ok(Running { thread, stop, reports })
    }
}

impl Running {
    /// Whether it has ended, although nothing asked it to.
    pub fn has_ended(&self) -> bool {
        self.thread.is_finished()
    }

    /// Stops it after its slot, and waits for that; the error is why it ended before, or badly.
    pub fn stop(self) -> std::result::Result<(), String> {
        let ended_before = self.has_ended();
        self.stop.send_replace(Stop::AfterSlot);
        match self.thread.join() {
            Err(_) => Err("it panicked".to_owned()),
            Ok(Err(error)) => Err(error),
            Ok(Ok(())) if ended_before => Err("it ended by itself".to_owned()),
            Ok(Ok(())) => Ok(()),
        }
    }

    /// The report of a slot; `None` if it was not sealed.
    pub fn sealed(&self, slot: Slot) -> Option<Sealed> {
        self.reports.try_iter().find(|sealed| sealed.report.slot == slot)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_times_are_shorter() {
        let (real, shorter) = (Limits::default(), shorter_limits());
        assert_eq!(shorter.request_timeout, real.request_timeout / FACTOR);
        let same = Limits {
            request_timeout: real.request_timeout,
            backoff_first: real.backoff_first,
            backoff_most: real.backoff_most,
            cut_off_after: real.cut_off_after,
            retry_after_most: real.retry_after_most,
            lag_pause: real.lag_pause,
            ..shorter
        };
        assert_eq!(same, real);
    }
}
