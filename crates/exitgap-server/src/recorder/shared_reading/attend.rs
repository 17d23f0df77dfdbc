//! Renews this recorder's presence in the database, and receives the shards assigned to it.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use exitgap_store::shards::{HeldShard, Share, SharingError};
use tokio::sync::watch;

/// Retry interval if the server does not answer.
const AGAIN: Duration = Duration::from_secs(1);

/// Maximum delay until a stop is noticed.
const NAP: Duration = Duration::from_millis(100);

pub struct ShardHeartbeat {
    pub store: PathBuf,
    pub shards: Vec<String>,
    /// Whether a shard is being read; meanwhile none is given up.
    pub reading: Arc<AtomicBool>,
    /// Sends the shards that are held.
    pub tell: watch::Sender<Vec<HeldShard>>,
    pub stop: watch::Receiver<bool>,
}

impl ShardHeartbeat {
    /// Runs until stopped, and then releases its shards.
    pub fn run(self) {
        let (mut share, mut said): (Option<Share>, _) = (None, None);
        // The time until which its shards are certainly held.
        let mut until = Instant::now();
        while !self.is_told() {
            let began = Instant::now();
            let pause = match self.renew_shards(&mut share) {
                Ok((held, holds)) => {
                    until = began + holds;
                    said = None;
                    self.hold(held);
                    holds / 3
                }
                Err(error) => {
                    let words = error.to_string();
                    // Log the same message only once.
                    if said.as_ref() != Some(&words) {
                        tracing::warn!(
                            error = words,
                            "the reading is not shared; trying again every second"
                        );
                        said = Some(words);
                    }
                    if Instant::now() >= until {
                        self.hold(Vec::new());
                    }
                    AGAIN
                }
            };
            let next = Instant::now() + pause;
            while !self.is_told() && Instant::now() < next {
                thread::sleep(NAP.min(pause));
            }
        }
        // If the release fails, the lease expires by itself.
        if let Some(Err(error)) = share.map(|share| share.leave()) {
            tracing::warn!(%error, "its shards pass to other recorders when their lease ends");
        }
    }

    /// Whether to end: a stop was requested, or the other ends of the channels are gone.
    fn is_told(&self) -> bool {
        *self.stop.borrow() || self.tell.is_closed() || self.stop.has_changed().is_err()
    }

    fn renew_shards(
        &self,
        share: &mut Option<Share>,
    ) -> Result<(Vec<HeldShard>, Duration), SharingError> {
        let open = match share {
            Some(open) if open.is_open() => open,
            // Register again under the same identity: what it held is still its own.
            Some(lost) => {
                *lost = lost.again()?;
                lost
            }
            None => share.insert(Share::open(&self.store)?),
        };
        let may_leave = !self.reading.load(Ordering::Relaxed);
        Ok((open.attend(&self.shards, may_leave)?, open.holds()))
    }

    fn hold(&self, held: Vec<HeldShard>) {
        self.tell.send_if_modified(|holds| {
            let other = *holds != held;
            if other {
                let (shards, of) = (held.len(), self.shards.len());
                tracing::info!(shards, of, "reads its share");
                *holds = held;
            }
            other
        });
    }
}
