//! Deliveries: this module leases them from the database, attempts them, and records the outcome.
//!
//! A lease expires shortly after the attempt must have finished. If a process stops between sending an event and
//! recording it, its lease expires and the event is sent again with the same id.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use exitgap_store::alerts::{Alerts, DeliveryAttempt, DeliveryTask};
use tokio::sync::{Notify, mpsc, watch};

use super::post::Poster;
use super::{LOOK_EVERY, NowMs};

/// Maximum number of concurrent attempts, in total and per host.
const AT_ONCE: usize = 200;
const AT_ONCE_OF_HOST: usize = 4;

/// How much longer a lease lasts than an attempt may take.
const LEASE_MORE: Duration = Duration::from_secs(2);

/// Pause after a database error.
const AFTER_ERROR: Duration = Duration::from_secs(2);

/// Sends the pending deliveries.
pub struct Deliverer {
    alerts: Arc<Alerts>,
    poster: Arc<Poster>,
    now_ms: NowMs,
    bell: Arc<Notify>,
    lease_ms: u64,
    under_way: HashMap<String, usize>,
    attempted: Vec<DeliveryAttempt>,
}

impl Deliverer {
    /// Creates a deliverer for the deliveries in a database.
    pub fn new(
        alerts: Arc<Alerts>,
        poster: Poster,
        now_ms: NowMs,
        bell: Arc<Notify>,
        timeout: Duration,
    ) -> Self {
        let lease_ms = u64::try_from((timeout + LEASE_MORE).as_millis()).unwrap_or(u64::MAX);
        Self {
            alerts,
            poster: Arc::new(poster),
            now_ms,
            bell,
            lease_ms,
            under_way: HashMap::new(),
            attempted: Vec::new(),
        }
    }

    /// Sends until `ended` fires; then waits for the attempts in progress and records their outcomes.
    pub async fn run(mut self, mut ended: watch::Receiver<bool>) {
        let (done, mut outcomes) = mpsc::channel(AT_ONCE);
        while !*ended.borrow() {
            let wait = match self.turn(true).await {
                Some(taken) => {
                    for sending in taken {
                        self.begin(sending, done.clone());
                    }
                    LOOK_EVERY
                }
                None => AFTER_ERROR,
            };
            tokio::select! {
                Some(attempted) = outcomes.recv() => self.end(attempted),
                () = self.bell.notified() => {}
                () = tokio::time::sleep(wait) => {}
                _ = ended.changed() => {}
            }
            // Records many outcomes in one transaction.
            while let Ok(attempted) = outcomes.try_recv() {
                self.end(attempted);
            }
        }
        while !self.under_way.is_empty() {
            let Some(attempted) = outcomes.recv().await else { break };
            self.end(attempted);
        }
        let _ = self.turn(false).await;
    }

    /// Records finished attempts and leases the next deliveries. `None`: the database returned an error, and the
    /// outcomes are recorded later.
    async fn turn(&mut self, take: bool) -> Option<Vec<DeliveryTask>> {
        let busy: usize = self.under_way.values().sum();
        let most = if take { AT_ONCE.saturating_sub(busy) } else { 0 };
        let (alerts, attempted) = (self.alerts.clone(), std::mem::take(&mut self.attempted));
        let (under_way, now_ms) = (self.under_way.clone(), (self.now_ms)());
        let until_ms = now_ms.saturating_add(self.lease_ms);
        let turn = move || {
            let room = |host: &str| {
                AT_ONCE_OF_HOST.saturating_sub(under_way.get(host).copied().unwrap_or(0))
            };
            let taken = alerts.turn(&attempted, most, room, now_ms, until_ms);
            (taken, attempted)
        };
        match tokio::task::spawn_blocking(turn).await {
            Ok((Ok(taken), _)) => Some(taken),
            Ok((Err(error), attempted)) => {
                tracing::error!(%error, "deliveries could not be marked; trying again");
                self.attempted = attempted;
                None
            }
            Err(_) => None,
        }
    }

    fn begin(&mut self, sending: DeliveryTask, done: mpsc::Sender<DeliveryAttempt>) {
        *self.under_way.entry(sending.host.clone()).or_default() += 1;
        let (poster, now_ms) = (self.poster.clone(), (self.now_ms)());
        tokio::spawn(async move {
            let outcome = poster.attempt(&sending, now_ms).await;
            // The receiver is gone only when the process ends.
            let _ = done.send(DeliveryAttempt { sending, outcome }).await;
        });
    }

    fn end(&mut self, attempted: DeliveryAttempt) {
        let host = &attempted.sending.host;
        if let Some(count) = self.under_way.get_mut(host) {
            *count -= 1;
            if *count == 0 {
                self.under_way.remove(host);
            }
        }
        self.attempted.push(attempted);
    }
}
