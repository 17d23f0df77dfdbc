//! Rows of stored rules, by the names of their columns, and the statements on them.

use super::super::DatabaseError;
use super::super::arg::Args;
use super::super::row::Row;
use super::super::statements::Statement;
use super::{Rows, statements};
use crate::error::StoreError;

/// The URL that events are sent to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EndpointRow {
    pub id: i64,
    pub url: String,
    pub host: String,
    pub salt: [u8; 16],
    pub generation: i64,
    pub rotated_ms: Option<i64>,
    pub state: String,
    pub failures: i64,
    pub failing_ms: Option<i64>,
    pub said: Option<String>,
}

/// One to be written.
#[derive(Debug)]
pub struct NewEndpointRow<'a> {
    pub token: &'a [u8; 32],
    pub url: &'a str,
    pub host: &'a str,
    pub salt: &'a [u8; 16],
    pub now_ms: i64,
}

/// A stored rule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AlertRow {
    pub no: i64,
    pub id: String,
    pub request: [u8; 32],
    pub rule: Vec<u8>,
    pub endpoint: Option<i64>,
    pub created_s: i64,
    pub expires_s: i64,
    pub ended: Option<String>,
    pub state: String,
    pub last_seq: i64,
}

/// One to be written.
#[derive(Debug)]
pub struct NewAlertRow<'a> {
    pub id: &'a str,
    pub token: &'a [u8; 32],
    pub client: &'a [u8; 16],
    pub idempotency: Option<&'a str>,
    pub request: &'a [u8; 32],
    pub rule: &'a [u8],
    pub endpoint: Option<i64>,
    pub created_s: i64,
    pub expires_s: i64,
    pub run: &'a [u8],
    pub state: &'a str,
}

/// A rule that changed since an earlier mark.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChangedRow {
    pub no: i64,
    pub rule: Vec<u8>,
    pub run: Vec<u8>,
    pub state: String,
    pub over: bool,
}

/// An event, with its delivery.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EventRow {
    pub seq: i64,
    pub id: String,
    pub r#type: String,
    pub slot: i64,
    pub document: Vec<u8>,
    pub sent: Option<String>,
    pub attempts: Option<i64>,
    pub said: Option<String>,
}

/// One to be written.
#[derive(Debug)]
pub struct NewEventRow<'a> {
    pub alert: i64,
    pub seq: i64,
    pub id: &'a str,
    pub r#type: &'a str,
    pub slot: i64,
    pub document: &'a [u8],
    pub now_ms: i64,
    pub due_ms: i64,
}

/// How long a delivery is leased.
#[derive(Debug, Clone, Copy)]
pub struct Lease {
    pub now_ms: i64,
    pub until_ms: i64,
    /// A lease that ends later than this, milliseconds, came from a wrong clock.
    pub wrong_after: i64,
}

/// A due delivery.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DueRow {
    pub alert: i64,
    pub seq: i64,
    pub failures: i64,
    pub event_id: String,
    pub document: Vec<u8>,
    pub endpoint: i64,
    pub url: String,
    pub host: String,
    pub salt: [u8; 16],
    pub generation: i64,
    pub rotated_ms: Option<i64>,
}

/// The counts of rules and events.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CountsRow {
    pub alerts: i64,
    pub events: i64,
    pub pending: i64,
    pub delivered: i64,
    pub given_up: i64,
}

fn endpoint(row: Row) -> Result<EndpointRow, DatabaseError> {
    Ok(EndpointRow {
        id: row.get("id")?,
        url: row.get("url")?,
        host: row.get("host")?,
        salt: row.get("salt")?,
        generation: row.get("generation")?,
        rotated_ms: row.get("rotated_ms")?,
        state: row.get("state")?,
        failures: row.get("failures")?,
        failing_ms: row.get("failing_ms")?,
        said: row.get("said")?,
    })
}

fn alert(row: Row) -> Result<AlertRow, DatabaseError> {
    Ok(AlertRow {
        no: row.get("no")?,
        id: row.get("id")?,
        request: row.get("request")?,
        rule: row.get("rule")?,
        endpoint: row.get("endpoint")?,
        created_s: row.get("created_s")?,
        expires_s: row.get("expires_s")?,
        ended: row.get("ended")?,
        state: row.get("state")?,
        last_seq: row.get("last_seq")?,
    })
}

fn changed_alert(row: Row) -> Result<ChangedRow, DatabaseError> {
    Ok(ChangedRow {
        no: row.get("no")?,
        rule: row.get("rule")?,
        run: row.get("run")?,
        state: row.get("state")?,
        over: row.get("over")?,
    })
}

fn event(row: Row) -> Result<EventRow, DatabaseError> {
    Ok(EventRow {
        seq: row.get("seq")?,
        id: row.get("id")?,
        r#type: row.get("type")?,
        slot: row.get("slot")?,
        document: row.get("document")?,
        sent: row.get("sent")?,
        attempts: row.get("attempts")?,
        said: row.get("said")?,
    })
}

fn due(row: Row) -> Result<DueRow, DatabaseError> {
    Ok(DueRow {
        alert: row.get("alert")?,
        seq: row.get("seq")?,
        failures: row.get("failures")?,
        event_id: row.get("event_id")?,
        document: row.get("document")?,
        endpoint: row.get("endpoint")?,
        url: row.get("url")?,
        host: row.get("host")?,
        salt: row.get("salt")?,
        generation: row.get("generation")?,
        rotated_ms: row.get("rotated_ms")?,
    })
}

impl Rows<'_> {
    fn number(
        &self,
        statement: &'static Statement,
        args: &Args,
        column: &str,
    ) -> Result<i64, StoreError> {
        self.0.require_row(statement, args, |row| row.get(column))
    }

    /// The number of active rules: in total, of a client, and of a webhook host.
    pub fn live(&self) -> Result<i64, StoreError> {
        self.number(&statements::COUNT_LIVE, &[], "number")
    }

    pub fn live_of_client(&self, client: &[u8; 16]) -> Result<i64, StoreError> {
        self.number(&statements::COUNT_OF_CLIENT, &[(":client", client.into())], "number")
    }

    pub fn live_of_host(&self, host: &str) -> Result<i64, StoreError> {
        self.number(&statements::COUNT_OF_HOST, &[(":host", host.into())], "number")
    }

    /// The number of an owner's rules, including ended ones.
    pub fn of_token(&self, token: &[u8; 32]) -> Result<i64, StoreError> {
        self.number(&statements::COUNT_OF_TOKEN, &[(":token", token.into())], "number")
    }

    /// The endpoint with an owner's URL, created if it does not exist.
    pub fn endpoint(&self, new: &NewEndpointRow<'_>) -> Result<EndpointRow, StoreError> {
        let args = &[
            (":token", new.token.into()),
            (":url", new.url.into()),
            (":host", new.host.into()),
            (":salt", new.salt.into()),
            (":now_ms", new.now_ms.into()),
        ];
        self.0.execute(&statements::INSERT_ENDPOINT, args)?;
        let args = &[(":token", new.token.into()), (":url", new.url.into())];
        self.0.require_row(&statements::SELECT_ENDPOINT, args, endpoint)
    }

    /// An endpoint.
    pub fn endpoint_of(&self, id: i64) -> Result<Option<EndpointRow>, StoreError> {
        self.0.row(&statements::SELECT_ENDPOINT_BY_ID, &[(":id", id.into())], endpoint)
    }

    /// The number of a rule's events that are not yet sent.
    pub fn pending_of(&self, alert: i64) -> Result<i64, StoreError> {
        self.number(&statements::COUNT_PENDING, &[(":alert", alert.into())], "number")
    }

    fn next_change(&self) -> Result<i64, StoreError> {
        self.number(&statements::NEXT_CHANGE, &[], "value")
    }

    /// Inserts a rule.
    pub fn put_alert(&self, new: &NewAlertRow<'_>) -> Result<(), StoreError> {
        let args = &[
            (":id", new.id.into()),
            (":token", new.token.into()),
            (":client", new.client.into()),
            (":idempotency", new.idempotency.into()),
            (":request", new.request.into()),
            (":rule", new.rule.into()),
            (":endpoint", new.endpoint.into()),
            (":created_s", new.created_s.into()),
            (":expires_s", new.expires_s.into()),
            (":run", new.run.into()),
            (":state", new.state.into()),
            (":changed", self.next_change()?.into()),
        ];
        self.0.execute(&statements::INSERT_ALERT, args).map(drop)
    }

    /// An owner's rule with this id.
    pub fn alert(&self, token: &[u8; 32], id: &str) -> Result<Option<AlertRow>, StoreError> {
        let args = &[(":token", token.into()), (":id", id.into())];
        self.0.row(&statements::SELECT_ALERT, args, alert)
    }

    /// An owner's rules, newest first.
    pub fn alerts(&self, token: &[u8; 32], most: u32) -> Result<Vec<AlertRow>, StoreError> {
        let args = &[(":token", token.into()), (":most", most.into())];
        self.0.rows(&statements::SELECT_ALERTS, args, alert, Ok)
    }

    /// The rule that an owner created with this idempotency key.
    pub fn made_before(
        &self,
        token: &[u8; 32],
        idempotency: &str,
    ) -> Result<Option<AlertRow>, StoreError> {
        let args = &[(":token", token.into()), (":idempotency", idempotency.into())];
        self.0.row(&statements::SELECT_MADE_BEFORE, args, alert)
    }

    /// Extends the expiry of an owner's rules.
    pub fn renew(&self, token: &[u8; 32], until_s: i64) -> Result<(), StoreError> {
        self.0
            .execute(&statements::RENEW, &[(":token", token.into()), (":until_s", until_s.into())])
            .map(drop)
    }

    /// Ends a rule. Returns whether it was active.
    pub fn end(&self, alert: i64, why: &str, now_s: i64) -> Result<bool, StoreError> {
        let changed = self.next_change()?;
        let args = &[
            (":alert", alert.into()),
            (":why", why.into()),
            (":now_s", now_s.into()),
            (":changed", changed.into()),
        ];
        Ok(self.0.execute(&statements::END_ALERT, args)? == 1)
    }

    /// Ends expired rules. Returns their number.
    pub fn expire(&self, now_s: i64) -> Result<usize, StoreError> {
        if self.number(&statements::COUNT_EXPIRED, &[(":now_s", now_s.into())], "number")? == 0 {
            return Ok(0);
        }
        let changed = self.next_change()?;
        self.0
            .execute(&statements::EXPIRE, &[(":now_s", now_s.into()), (":changed", changed.into())])
    }

    /// Rules that were created or ended since a mark.
    pub fn changed_since(&self, mark: i64) -> Result<Vec<ChangedRow>, StoreError> {
        self.0.rows(&statements::SELECT_CHANGED, &[(":mark", mark.into())], changed_alert, Ok)
    }

    /// The slot up to which all rules were evaluated, by any process.
    pub fn evaluated_slot(&self) -> Result<i64, StoreError> {
        self.number(&statements::SELECT_COUNTER, &[(":name", "evaluated_slot".into())], "value")
    }

    /// Notes that all rules up to this change were evaluated up to a slot. Does nothing if there are later rules.
    pub fn reach_slot(&self, slot: i64, mark: i64) -> Result<(), StoreError> {
        self.0
            .execute(&statements::REACH_SLOT, &[(":slot", slot.into()), (":mark", mark.into())])
            .map(drop)
    }

    /// The newest change of a rule.
    pub fn newest_change(&self) -> Result<i64, StoreError> {
        self.number(&statements::SELECT_COUNTER, &[(":name", "changed".into())], "value")
    }

    /// Saves the state of a run, unless a later state is already saved.
    pub fn put_run(&self, alert: i64, run: &[u8], slot: i64) -> Result<(), StoreError> {
        let args = &[(":alert", alert.into()), (":run", run.into()), (":slot", slot.into())];
        self.0.execute_pipelined(&statements::UPDATE_RUN, args)
    }

    pub fn put_state(&self, alert: i64, state: &str, slot: i64) -> Result<(), StoreError> {
        let args = &[(":alert", alert.into()), (":state", state.into()), (":slot", slot.into())];
        self.0.execute_pipelined(&statements::UPDATE_STATE, args)
    }

    /// Inserts an event and, if its rule has an endpoint, its delivery. Returns whether it is new.
    pub fn put_event(&self, new: &NewEventRow<'_>) -> Result<bool, StoreError> {
        let args = &[
            (":alert", new.alert.into()),
            (":seq", new.seq.into()),
            (":id", new.id.into()),
            (":type", new.r#type.into()),
            (":slot", new.slot.into()),
            (":document", new.document.into()),
            (":now_s", (new.now_ms / 1_000).into()),
        ];
        if self.0.execute(&statements::INSERT_EVENT, args)? == 0 {
            return Ok(false);
        }
        let args = &[
            (":alert", new.alert.into()),
            (":seq", new.seq.into()),
            (":due_ms", new.due_ms.into()),
        ];
        self.0.execute(&statements::INSERT_DELIVERY, args)?;
        Ok(true)
    }

    /// A rule's events after `after_seq`, oldest first.
    pub fn events(
        &self,
        alert: i64,
        after_seq: i64,
        most: u32,
    ) -> Result<Vec<EventRow>, StoreError> {
        let args =
            &[(":alert", alert.into()), (":after_seq", after_seq.into()), (":most", most.into())];
        self.0.rows(&statements::SELECT_EVENTS, args, event, Ok)
    }

    /// The events of an owner's rules in a slot, by rule.
    pub fn said_in(
        &self,
        token: &[u8; 32],
        slot: i64,
        most: u32,
    ) -> Result<Vec<EventRow>, StoreError> {
        let args = &[(":token", token.into()), (":slot", slot.into()), (":most", most.into())];
        self.0.rows(&statements::SELECT_SAID_IN, args, event, Ok)
    }

    /// Due deliveries that no process has leased, longest due first.
    pub fn due(&self, lease: Lease, most: u32) -> Result<Vec<DueRow>, StoreError> {
        let Lease { now_ms, wrong_after, .. } = lease;
        let args = &[
            (":now_ms", now_ms.into()),
            (":wrong_ms", wrong_after.into()),
            (":most", most.into()),
        ];
        self.0.rows(&statements::SELECT_DUE, args, due, Ok)
    }

    /// Leases a delivery. Returns whether no other process has it.
    pub fn lease(&self, (alert, seq): (i64, i64), lease: Lease) -> Result<bool, StoreError> {
        let Lease { now_ms, until_ms, wrong_after } = lease;
        let args = &[
            (":alert", alert.into()),
            (":seq", seq.into()),
            (":now_ms", now_ms.into()),
            (":until_ms", until_ms.into()),
            (":wrong_ms", wrong_after.into()),
        ];
        Ok(self.0.execute(&statements::LEASE_DELIVERY, args)? == 1)
    }

    pub fn mark_delivered(&self, (alert, seq): (i64, i64)) -> Result<(), StoreError> {
        self.0
            .execute(&statements::DELIVERED, &[(":alert", alert.into()), (":seq", seq.into())])
            .map(drop)
    }

    pub fn put_off(
        &self,
        (alert, seq): (i64, i64),
        due_ms: i64,
        said: &str,
    ) -> Result<(), StoreError> {
        let args = &[
            (":alert", alert.into()),
            (":seq", seq.into()),
            (":due_ms", due_ms.into()),
            (":said", said.into()),
        ];
        self.0.execute(&statements::PUT_OFF, args).map(drop)
    }

    pub fn give_up(&self, (alert, seq): (i64, i64), said: &str) -> Result<(), StoreError> {
        let args = &[(":alert", alert.into()), (":seq", seq.into()), (":said", said.into())];
        self.0.execute(&statements::GIVE_UP, args).map(drop)
    }

    /// Notes that an endpoint accepted a delivery.
    pub fn endpoint_answers(&self, endpoint: i64) -> Result<(), StoreError> {
        self.0.execute(&statements::ENDPOINT_ANSWERS, &[(":endpoint", endpoint.into())]).map(drop)
    }

    /// Notes that an endpoint failed, and since when it only fails.
    pub fn endpoint_fails(
        &self,
        endpoint: i64,
        now_ms: i64,
        said: &str,
    ) -> Result<Option<i64>, StoreError> {
        let args =
            &[(":endpoint", endpoint.into()), (":now_ms", now_ms.into()), (":said", said.into())];
        self.0.row(&statements::ENDPOINT_FAILS, args, |row| row.get("failing_ms"))
    }

    pub fn disable(&self, endpoint: i64, said: &str) -> Result<(), StoreError> {
        let args = &[(":endpoint", endpoint.into()), (":said", said.into())];
        self.0.execute(&statements::DISABLE_ENDPOINT, args).map(drop)
    }

    /// Endpoints that are due for a verification request.
    pub fn due_challenges(&self, lease: Lease, most: u32) -> Result<Vec<EndpointRow>, StoreError> {
        let Lease { now_ms, wrong_after, .. } = lease;
        let args = &[
            (":now_ms", now_ms.into()),
            (":wrong_ms", wrong_after.into()),
            (":most", most.into()),
        ];
        self.0.rows(&statements::SELECT_ASKED, args, endpoint, Ok)
    }

    /// The number of verification requests to a host since an instant.
    pub fn count_challenges(&self, host: &str, since_ms: i64) -> Result<i64, StoreError> {
        let args = &[(":host", host.into()), (":since_ms", since_ms.into())];
        self.number(&statements::COUNT_CHALLENGED, args, "number")
    }

    /// Leases a verification request. Returns whether no other process has it.
    pub fn lease_challenge(
        &self,
        endpoint: &EndpointRow,
        lease: Lease,
    ) -> Result<bool, StoreError> {
        let Lease { now_ms, until_ms, wrong_after } = lease;
        let args = &[
            (":endpoint", endpoint.id.into()),
            (":now_ms", now_ms.into()),
            (":until_ms", until_ms.into()),
            (":wrong_ms", wrong_after.into()),
        ];
        if self.0.execute(&statements::LEASE_CHALLENGE, args)? == 0 {
            return Ok(false);
        }
        let args = &[(":host", (&endpoint.host).into()), (":now_ms", now_ms.into())];
        self.0.execute(&statements::INSERT_CHALLENGED, args)?;
        Ok(true)
    }

    /// Postpones a verification request.
    pub fn postpone_challenge(&self, endpoint: i64, at_ms: i64) -> Result<(), StoreError> {
        let args = &[(":endpoint", endpoint.into()), (":at_ms", at_ms.into())];
        self.0.execute(&statements::POSTPONE_CHALLENGE, args).map(drop)
    }

    pub fn mark_verified(&self, endpoint: i64) -> Result<(), StoreError> {
        self.0.execute(&statements::VERIFIED, &[(":endpoint", endpoint.into())]).map(drop)
    }

    pub fn not_verified(
        &self,
        endpoint: i64,
        at_ms: Option<i64>,
        said: &str,
    ) -> Result<(), StoreError> {
        let args =
            &[(":endpoint", endpoint.into()), (":at_ms", at_ms.into()), (":said", said.into())];
        self.0.execute(&statements::NOT_VERIFIED, args).map(drop)
    }

    /// Makes a verification request due immediately, unless the endpoint is already verified.
    pub fn ask_again(&self, endpoint: i64, now_ms: i64) -> Result<(), StoreError> {
        let args = &[(":endpoint", endpoint.into()), (":now_ms", now_ms.into())];
        self.0.execute(&statements::ASK_AGAIN, args).map(drop)
    }

    /// Gives an endpoint new keys.
    pub fn rotate(&self, endpoint: i64, now_ms: i64) -> Result<(), StoreError> {
        let args = &[(":endpoint", endpoint.into()), (":now_ms", now_ms.into())];
        self.0.execute(&statements::ROTATE, args).map(drop)
    }

    /// Sends events again, from `from_seq` on. Returns their number.
    pub fn send_again(&self, alert: i64, from_seq: i64, now_ms: i64) -> Result<usize, StoreError> {
        let args =
            &[(":alert", alert.into()), (":from_seq", from_seq.into()), (":now_ms", now_ms.into())];
        self.0.execute(&statements::SEND_AGAIN, args)
    }

    /// Deletes events and ended rules from before an instant, with their dependent rows.
    pub fn forget(&self, before_s: i64, challenged_before_ms: i64) -> Result<(), StoreError> {
        let before = &[(":before_s", before_s.into())];
        if self.0.execute(&statements::FORGET_EVENTS, before)? > 0 {
            self.0.execute(&statements::FORGET_DELIVERIES, &[])?;
        }
        if self.0.execute(&statements::FORGET_ALERTS, before)? > 0 {
            self.0.execute(&statements::FORGET_ENDPOINTS, &[])?;
        }
        let before = &[(":before_ms", challenged_before_ms.into())];
        self.0.execute(&statements::FORGET_CHALLENGED, before).map(drop)
    }

    /// The counts of rules and events.
    pub fn counts(&self) -> Result<CountsRow, StoreError> {
        let read = |row: Row| {
            Ok(CountsRow {
                alerts: row.get("alerts")?,
                events: row.get("events")?,
                pending: row.get("pending")?,
                delivered: row.get("delivered")?,
                given_up: row.get("given_up")?,
            })
        };
        self.0.require_row(&statements::SELECT_COUNTS, &[], read)
    }
}
