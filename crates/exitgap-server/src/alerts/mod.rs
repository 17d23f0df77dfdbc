//! Rules that are kept for their owners, evaluated with every sealed slot, and told.
//!
//! - `service`: what an owner asks: keep a rule, list, end, change keys; one operation per question, over the store of alerts
//! - `stream`: what an owner's stream is told of them
//! - `evaluate`: what each sealed slot makes of every rule, slot by slot, in one transaction
//! - `deliver`: what is to be sent, leased, tried, marked; `post`: one attempt; `guard`: where it may go; `keys`: how it
//!   is signed
//! - `config`: `[alerts]`
//!
//! What a slot makes of a rule the core says; what is written when, the store. Two processes may do all of this side by
//! side: an event has one id, whoever makes it.

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

/// How often is looked whether a slot was sealed, and whether something is to be sent.
const LOOK_EVERY: Duration = Duration::from_millis(250);

/// How often what is past is forgotten.
const TIDY_EVERY: Duration = Duration::from_mins(1);

/// Tells the time, Unix milliseconds.
pub type NowMs = Arc<dyn Fn() -> u64 + Send + Sync>;

/// The machine's clock.
pub fn machine_clock() -> NowMs {
    Arc::new(|| {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        u64::try_from(now.as_millis()).unwrap_or(u64::MAX)
    })
}

/// Why rules cannot be kept.
#[derive(Debug, thiserror::Error)]
pub enum AlertsStartError {
    /// The database.
    #[error(transparent)]
    Alerts(#[from] AlertsError),
    /// The key.
    #[error(transparent)]
    Key(#[from] AlertKeyError),
    /// What sends.
    #[error("the sender of events cannot start: {0}")]
    Client(#[from] reqwest::Error),
}

/// All that keeping, evaluating and sending share.
pub struct AlertsRoom {
    alerts: Arc<Alerts>,
    /// Whose turn it is with them, of who asks.
    turn: Arc<tokio::sync::Mutex<()>>,
    plan: AlertsPlan,
    key: AlertKey,
    now_ms: NowMs,
    /// Rung when there may be something to send.
    bell: Arc<Notify>,
    /// The last slot that all rules were evaluated with, as far as those who wait for it were told.
    evaluated: watch::Sender<Option<Slot>>,
    /// Whether somebody looks for them.
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

    /// Evaluates the slots of a store, with its log's folder, and sends what comes of it, until it is told to end; `told` is told now and then how
    /// much there is.
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
        // It ends by the same word.
        let _ = sending.await;
        Ok(())
    }

    /// Evaluates, and tidies, until it is told to end.
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
            // What panicked is gone with what it knew, which is all in the database.
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

/// RFC 4648, in small letters, without padding.
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
