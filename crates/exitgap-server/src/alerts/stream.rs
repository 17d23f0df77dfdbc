//! The events of an owner's rules for its stream: slot by slot, once all rules have been evaluated with the slot.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use exitgap_api::{AlertEventTold, Problem, ProblemCode, StreamTicket};
use exitgap_core::series::{Slot, rfc3339};
use exitgap_store::alerts::Owner;
use tokio::sync::watch;

use super::AlertsRoom;
use super::service::{AlertService, Answer, Caller, event_told};

/// How long a ticket is valid, seconds: a day.
const TICKET_S: u64 = 86_400;

/// Polling interval for the progress of evaluation.
const LOOK_EVERY: Duration = Duration::from_millis(250);

impl AlertService {
    /// Issues a ticket: an owner's credential for a stream, whose address others may see.
    pub async fn ticket(&self, caller: Caller) -> Answer<StreamTicket> {
        let owner = self.owner(&caller).await?.owner();
        let until_s = self.now_ms() / 1_000 + TICKET_S;
        let ticket = self.room.key.ticket(&owner, u32::try_from(until_s).unwrap_or(u32::MAX));
        Ok(StreamTicket { ticket, expires: rfc3339(until_s) })
    }

    /// The owner of a ticket.
    pub fn owner_of(&self, ticket: &str) -> Answer<Owner> {
        self.room.key.owner_of(ticket, self.now_ms() / 1_000).ok_or_else(|| {
            let detail = "ticket: it is not from this service, or it has expired";
            Problem::new(ProblemCode::TokenRequired, detail)
                .field("ticket")
                .hint("get a new ticket with POST /v1/alerts/ticket and the token")
        })
    }

    /// The events of an owner's rules in an evaluated slot.
    pub async fn said_in(&self, owner: Owner, slot: Slot) -> Answer<Vec<AlertEventTold>> {
        let said = self.alerts(move |alerts| alerts.said_in(&owner, slot)).await?;
        Ok(said.into_iter().map(event_told).collect())
    }

    /// Watches the last slot with which all rules were evaluated, by this process or another.
    pub async fn watch_evaluated(&self) -> Answer<watch::Receiver<Option<Slot>>> {
        let evaluated = self.alerts(exitgap_store::alerts::Alerts::evaluated_slot).await?;
        let receiver = self.room.evaluated.subscribe();
        self.room.advance_evaluated(evaluated);
        if !self.room.looks.swap(true, Ordering::Relaxed) {
            tokio::spawn(look(self.room.clone()));
        }
        Ok(receiver)
    }
}

impl AlertsRoom {
    fn advance_evaluated(&self, slot: Option<Slot>) {
        self.evaluated.send_if_modified(|known| {
            let is_later = slot > *known;
            if is_later {
                *known = slot;
            }
            is_later
        });
    }
}

/// Polls the progress of evaluation as long as there are watchers.
async fn look(room: Arc<AlertsRoom>) {
    loop {
        tokio::time::sleep(LOOK_EVERY).await;
        if room.evaluated.receiver_count() == 0 {
            room.looks.store(false, Ordering::Relaxed);
            // A watcher that came since either finds no poller and starts one, or was counted here.
            if room.evaluated.receiver_count() == 0 || room.looks.swap(true, Ordering::Relaxed) {
                return;
            }
        }
        let alerts = room.alerts.clone();
        match tokio::task::spawn_blocking(move || alerts.evaluated_slot()).await {
            Ok(Ok(slot)) => room.advance_evaluated(slot),
            Ok(Err(error)) => {
                tracing::warn!(%error, "the last evaluated slot of the rules is unknown");
            }
            Err(_) => {}
        }
    }
}
