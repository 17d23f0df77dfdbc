//! Stored rules: evaluated with every sealed slot, and their events delivered to their owners.
//!
//! - `service`: owners' requests (store, list or end a rule, change keys), one operation per request, on the alerts
//!   database
//! - `stream`: the events that an owner's stream receives
//! - `evaluate`: evaluates every rule with each sealed slot, one transaction per slot
//! - `deliver`: leases, attempts and records deliveries; `post`: one attempt; `guard`: which addresses are allowed;
//!   `keys`: signatures
//! - `config`: `[alerts]`
//!
//! The core decides what a rule yields in a slot; the store decides what is written when. Two processes may do all of
//! this concurrently, because an event has the same id whichever process creates it.

mod config;
mod deliver;
mod evaluate;
mod guard;
mod keys;
mod post;
mod service;
mod stream;

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use exitgap_core::series::Slot;
use exitgap_store::LogFolder;
use exitgap_store::alerts::{AlertCounts, Alerts, AlertsError};
use tokio::sync::{Notify, watch};

pub use config::{AlertsConfig, AlertsPlan};
pub use evaluate::{EvaluateError, Evaluator};
pub use guard::{GuardedResolver, Lookup, Networks, NotPermitted, SystemLookup, is_public};
pub use keys::{AlertKey, AlertKeyError, OwnerToken};
pub use service::{AlertService, Caller};

use deliver::Deliverer;
pub use post::Poster;

/// Polling interval for newly sealed slots and pending deliveries.
const LOOK_EVERY: Duration = Duration::from_millis(250);

/// Interval between deletions of expired data.
const TIDY_EVERY: Duration = Duration::from_mins(1);

/// Returns the current time, Unix milliseconds.
pub type NowMs = Arc<dyn Fn() -> u64 + Send + Sync>;

/// The machine's clock.
pub fn machine_clock() -> NowMs {
    Arc::new(|| {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        u64::try_from(now.as_millis()).unwrap_or(u64::MAX)
    })
}

/// Why the alert service could not start.
#[derive(Debug, thiserror::Error)]
pub enum AlertsStartError {
    /// The database could not be opened.
    #[error(transparent)]
    Alerts(#[from] AlertsError),
    /// The key could not be read.
    #[error(transparent)]
    Key(#[from] AlertKeyError),
    /// The HTTP client could not be built.
    #[error("the sender of events cannot start: {0}")]
    Client(#[from] reqwest::Error),
}

/// The state shared by storing, evaluating and sending.
pub struct AlertsRoom {
    alerts: Arc<Alerts>,
    /// Serializes requests' access to the database.
    turn: Arc<tokio::sync::Mutex<()>>,
    plan: AlertsPlan,
    key: AlertKey,
    now_ms: NowMs,
    /// Notified when there may be something to send.
    bell: Arc<Notify>,
    /// The last slot with which all rules were evaluated, for the tasks that watch it.
    evaluated: watch::Sender<Option<Slot>>,
    /// Whether a task is polling for it.
    looks: AtomicBool,
}

impl AlertsRoom {
    /// Opens the database and reads the key.
    pub fn open(plan: AlertsPlan, now_ms: NowMs) -> Result<Arc<Self>, AlertsStartError> {
        let key = AlertKey::from_file(&plan.key_file)?;
        let alerts = Arc::new(Alerts::open(&plan.database)?);
        Ok(Arc::new(Self {
            alerts,
            turn: Arc::default(),
            plan,
            key,
            now_ms,
            bell: Arc::default(),
            evaluated: watch::Sender::default(),
            looks: AtomicBool::new(false),
        }))
    }

    /// Evaluates the slots of a store, with its log's folder, and sends the resulting events until `ended` fires.
    /// `told` periodically receives the current counts.
    pub async fn run(
        self: Arc<Self>,
        store: PathBuf,
        days: LogFolder,
        ended: watch::Receiver<bool>,
        told: impl Fn(AlertCounts) + Send + Sync + 'static,
    ) -> Result<(), AlertsStartError> {
        let lookup: Arc<dyn Lookup> = Arc::new(SystemLookup);
        let networks = Networks::new(self.plan.allowed.clone());
        let poster = Poster::new(&lookup, networks, self.key.clone(), self.plan.timeout)?;
        let (now_ms, bell) = (self.now_ms.clone(), self.bell.clone());
        let deliverer =
            Deliverer::new(self.alerts.clone(), poster, now_ms, bell, self.plan.timeout);
        let sending = tokio::spawn(deliverer.run(ended.clone()));
        self.look((store, days), ended, told).await;
        // The same signal ends it.
        let _ = sending.await;
        Ok(())
    }

    /// Evaluates and deletes expired data until `ended` fires.
    async fn look(
        &self,
        (store, days): (PathBuf, LogFolder),
        mut ended: watch::Receiver<bool>,
        told: impl Fn(AlertCounts),
    ) {
        let mut evaluator = Some(Evaluator::new(self.alerts.clone(), store, days));
        let mut tidied: Option<tokio::time::Instant> = None;
        while !*ended.borrow() {
            if tidied.is_none_or(|at| at.elapsed() >= TIDY_EVERY) {
                tidied = Some(tokio::time::Instant::now());
                let (alerts, now_ms) = (self.alerts.clone(), (self.now_ms)());
                let tidy = move || alerts.tidy(now_ms).and_then(|()| alerts.counts());
                match tokio::task::spawn_blocking(tidy).await {
                    Ok(Ok(counts)) => told(counts),
                    Ok(Err(error)) => tracing::error!(%error, "old alerts could not be cleaned up"),
                    Err(_) => {}
                }
            }
            let (mut working, now_ms) = (evaluator.take(), (self.now_ms)());
            let work = move || {
                let turned = working.as_mut().map(|evaluator| evaluator.turn(now_ms));
                (working, turned)
            };
            let mut wait = LOOK_EVERY;
            // A panic loses only the evaluator's cache; all of its data is in the database.
            if let Ok((back, turned)) = tokio::task::spawn_blocking(work).await {
                evaluator = back;
                match turned {
                    Some(Ok(turned)) => {
                        if turned.events > 0 {
                            self.bell.notify_one();
                        }
                        if turned.more {
                            wait = Duration::ZERO;
                        }
                    }
                    Some(Err(error)) => {
                        tracing::error!(%error, "alerts could not be evaluated; trying again");
                        wait = Duration::from_secs(5);
                    }
                    None => return,
                }
            } else {
                return;
            }
            tokio::select! {
                () = tokio::time::sleep(wait) => {}
                _ = ended.changed() => return,
            }
        }
    }
}

/// RFC 4648, in lower case, without padding.
fn base32(bytes: &[u8]) -> String {
    let digits = b"abcdefghijklmnopqrstuvwxyz234567";
    let (mut text, mut bits, mut count) = (String::new(), 0_u32, 0);
    for byte in bytes {
        (bits, count) = (bits << 8 | u32::from(*byte), count + 8);
        while count >= 5 {
            count -= 5;
            text.push(char::from(digits[usize::try_from(bits >> count & 31).unwrap_or(0)]));
            bits &= (1 << count) - 1;
        }
    }
    if count > 0 {
        text.push(char::from(digits[usize::try_from(bits << (5 - count) & 31).unwrap_or(0)]));
    }
    text
}
