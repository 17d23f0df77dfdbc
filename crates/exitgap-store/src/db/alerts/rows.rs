//! Rows of kept rules, by the names of their columns, and the statements on them.

use super::super::DatabaseError;
use super::super::arg::Args;
use super::super::row::Row;
use super::super::statements::{Statement, statements};
use super::Rows;
use crate::error::StoreError;

statements! {
    ASK_AGAIN = "ask_again", "asking an endpoint again";
    COUNT_CHALLENGED = "count_challenged", "counting challenges";
    COUNT_EXPIRED = "count_expired", "counting rules";
    COUNT_LIVE = "count_live", "counting rules";
    COUNT_OF_CLIENT = "count_of_client", "counting rules";
    COUNT_OF_HOST = "count_of_host", "counting rules";
    COUNT_OF_TOKEN = "count_of_token", "counting rules";
    COUNT_PENDING = "count_pending", "counting deliveries";
    DELIVERED = "delivered", "noting a delivery";
    DISABLE_ENDPOINT = "disable_endpoint", "disabling an endpoint";
    END_ALERT = "end_alert", "ending a rule";
    ENDPOINT_ANSWERS = "endpoint_answers", "noting an answer";
    ENDPOINT_FAILS = "endpoint_fails", "noting a failure";
    EXPIRE = "expire", "ending rules";
    FORGET_ALERTS = "forget_alerts", "forgetting rules";
    FORGET_CHALLENGED = "forget_challenged", "forgetting challenges";
    FORGET_DELIVERIES = "forget_deliveries", "forgetting deliveries";
    FORGET_ENDPOINTS = "forget_endpoints", "forgetting endpoints";
    FORGET_EVENTS = "forget_events", "forgetting events";
    GIVE_UP = "give_up", "giving up a delivery";
    INSERT_ALERT = "insert_alert", "keeping a rule";
    INSERT_CHALLENGED = "insert_challenged", "noting a challenge";
    INSERT_DELIVERY = "insert_delivery", "writing a delivery";
    INSERT_ENDPOINT = "insert_endpoint", "keeping an endpoint";
    INSERT_EVENT = "insert_event", "writing an event";
    LEASE_CHALLENGE = "lease_challenge", "taking a challenge";
    LEASE_DELIVERY = "lease_delivery", "taking a delivery";
    NEXT_CHANGE = "next_change", "numbering a change";
    NOT_VERIFIED = "not_verified", "noting a challenge";
    POSTPONE_CHALLENGE = "postpone_challenge", "putting off a challenge";
    PUT_OFF = "put_off", "putting off a delivery";
    REACH_SLOT = "reach_slot", "noting a slot";
    RENEW = "renew", "renewing rules";
    ROTATE = "rotate", "changing keys";
    SELECT_ALERT = "select_alert", "reading a rule";
    SELECT_ALERTS = "select_alerts", "reading rules";
    SELECT_ASKED = "select_asked", "reading challenges";
    SELECT_CHANGED = "select_changed", "reading what changed";
    SELECT_COUNTER = "select_counter", "reading a counter";
    SELECT_COUNTS = "select_counts", "counting";
    SELECT_DUE = "select_due", "reading deliveries";
    SELECT_ENDPOINT = "select_endpoint", "reading an endpoint";
    SELECT_ENDPOINT_BY_ID = "select_endpoint_by_id", "reading an endpoint";
    SELECT_EVENTS = "select_events", "reading events";
    SELECT_MADE_BEFORE = "select_made_before", "reading a rule";
    SELECT_SAID_IN = "select_said_in", "reading events";
    SEND_AGAIN = "send_again", "sending again";
    UPDATE_RUN = "update_run", "writing a run";
    UPDATE_STATE = "update_state", "writing a state";
    VERIFIED = "verified", "noting a challenge";
}

/// Where events are sent.
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

/// A kept rule.
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

/// What became of a rule since somebody looked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChangedRow {
    pub no: i64,
    pub rule: Vec<u8>,
    pub run: Vec<u8>,
    pub state: String,
    pub over: bool,
}

/// An event, and what became of its delivery.
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

/// For how long what is to be sent is somebody's.
#[derive(Debug, Clone, Copy)]
pub struct Lease {
    pub now_ms: i64,
    pub until_ms: i64,
    /// A lease that ends later than this, milliseconds too, is of a clock that was wrong.
    pub wrong_after: i64,
}

/// What is to be sent.
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

/// How much there is.
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

fn changed(row: Row) -> Result<ChangedRow, DatabaseError> {
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
        self.0.one(statement, args, |row| row.get(column))
    }

    /// Rules that did not end: of all, of a client, of those that are sent to a host.
    pub fn live(&self) -> Result<i64, StoreError> {
        self.number(&COUNT_LIVE, &[], "number")
    }

    pub fn live_of_client(&self, client: &[u8; 16]) -> Result<i64, StoreError> {
        self.number(&COUNT_OF_CLIENT, &[(":client", client.into())], "number")
    }

    pub fn live_of_host(&self, host: &str) -> Result<i64, StoreError> {
        self.number(&COUNT_OF_HOST, &[(":host", host.into())], "number")
    }

    /// Rules of an owner, those that ended included.
    pub fn of_token(&self, token: &[u8; 32]) -> Result<i64, StoreError> {
        self.number(&COUNT_OF_TOKEN, &[(":token", token.into())], "number")
    }

    /// The endpoint of an owner's address, made where there is none.
    pub fn endpoint(&self, new: &NewEndpointRow<'_>) -> Result<EndpointRow, StoreError> {
        let args = &[
            (":token", new.token.into()),
            (":url", new.url.into()),
            (":host", new.host.into()),
            (":salt", new.salt.into()),
            (":now_ms", new.now_ms.into()),
        ];
        self.0.execute(&INSERT_ENDPOINT, args)?;
        let args = &[(":token", new.token.into()), (":url", new.url.into())];
        self.0.one(&SELECT_ENDPOINT, args, endpoint)
    }

    /// An endpoint.
    pub fn endpoint_of(&self, id: i64) -> Result<Option<EndpointRow>, StoreError> {
        self.0.row(&SELECT_ENDPOINT_BY_ID, &[(":id", id.into())], endpoint)
    }

    /// Events of a rule that wait for being sent.
    pub fn pending_of(&self, alert: i64) -> Result<i64, StoreError> {
        self.number(&COUNT_PENDING, &[(":alert", alert.into())], "number")
    }

    fn next_change(&self) -> Result<i64, StoreError> {
        self.number(&NEXT_CHANGE, &[], "value")
    }

    /// Writes a rule down.
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
        self.0.execute(&INSERT_ALERT, args).map(drop)
    }

    /// An owner's rule of this name.
    pub fn alert(&self, token: &[u8; 32], id: &str) -> Result<Option<AlertRow>, StoreError> {
        let args = &[(":token", token.into()), (":id", id.into())];
        self.0.row(&SELECT_ALERT, args, alert)
    }

    /// An owner's rules, the newest first.
    pub fn alerts(&self, token: &[u8; 32], most: u32) -> Result<Vec<AlertRow>, StoreError> {
        let args = &[(":token", token.into()), (":most", most.into())];
        self.0.rows(&SELECT_ALERTS, args, alert, Ok)
    }

    /// The rule that an owner made with a request of this name.
    pub fn made_before(
        &self,
        token: &[u8; 32],
        idempotency: &str,
    ) -> Result<Option<AlertRow>, StoreError> {
        let args = &[(":token", token.into()), (":idempotency", idempotency.into())];
        self.0.row(&SELECT_MADE_BEFORE, args, alert)
    }

    /// An owner's rules end later.
    pub fn renew(&self, token: &[u8; 32], until_s: i64) -> Result<(), StoreError> {
        self.0.execute(&RENEW, &[(":token", token.into()), (":until_s", until_s.into())]).map(drop)
    }

    /// A rule ends; whether it had not.
    pub fn end(&self, alert: i64, why: &str, now_s: i64) -> Result<bool, StoreError> {
        let changed = self.next_change()?;
        let args = &[
            (":alert", alert.into()),
            (":why", why.into()),
            (":now_s", now_s.into()),
            (":changed", changed.into()),
        ];
        Ok(self.0.execute(&END_ALERT, args)? == 1)
    }

    /// Rules end whose time is over: how many.
    pub fn expire(&self, now_s: i64) -> Result<usize, StoreError> {
        if self.number(&COUNT_EXPIRED, &[(":now_s", now_s.into())], "number")? == 0 {
            return Ok(0);
        }
        let changed = self.next_change()?;
        self.0.execute(&EXPIRE, &[(":now_s", now_s.into()), (":changed", changed.into())])
    }

    /// Rules that came or ended since a mark.
    pub fn changed_since(&self, mark: i64) -> Result<Vec<ChangedRow>, StoreError> {
        self.0.rows(&SELECT_CHANGED, &[(":mark", mark.into())], changed, Ok)
    }

    /// The slot up to which all rules were evaluated, by somebody.
    pub fn evaluated_slot(&self) -> Result<i64, StoreError> {
        self.number(&SELECT_COUNTER, &[(":name", "evaluated_slot".into())], "value")
    }

    /// All rules up to this change were evaluated up to a slot; nothing where there are later ones.
    pub fn reach_slot(&self, slot: i64, mark: i64) -> Result<(), StoreError> {
        self.0.execute(&REACH_SLOT, &[(":slot", slot.into()), (":mark", mark.into())]).map(drop)
    }

    /// The newest change of a rule.
    pub fn newest_change(&self) -> Result<i64, StoreError> {
        self.number(&SELECT_COUNTER, &[(":name", "changed".into())], "value")
    }

    /// What is kept of a run, unless somebody kept a later one.
    pub fn put_run(&self, alert: i64, run: &[u8], slot: i64) -> Result<(), StoreError> {
        let args = &[(":alert", alert.into()), (":run", run.into()), (":slot", slot.into())];
        self.0.write(&UPDATE_RUN, args)
    }

    pub fn put_state(&self, alert: i64, state: &str, slot: i64) -> Result<(), StoreError> {
        let args = &[(":alert", alert.into()), (":state", state.into()), (":slot", slot.into())];
        self.0.write(&UPDATE_STATE, args)
    }

    /// Writes an event down, and that it is to be sent where its rule has an endpoint; whether it was not there.
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
        if self.0.execute(&INSERT_EVENT, args)? == 0 {
            return Ok(false);
        }
        let args = &[
            (":alert", new.alert.into()),
            (":seq", new.seq.into()),
            (":due_ms", new.due_ms.into()),
        ];
        self.0.execute(&INSERT_DELIVERY, args)?;
        Ok(true)
    }

    /// A rule's events after one, oldest first.
    pub fn events(
        &self,
        alert: i64,
        after_seq: i64,
        most: u32,
    ) -> Result<Vec<EventRow>, StoreError> {
        let args =
            &[(":alert", alert.into()), (":after_seq", after_seq.into()), (":most", most.into())];
        self.0.rows(&SELECT_EVENTS, args, event, Ok)
    }

    /// What an owner's rules said of a slot, rule by rule.
    pub fn said_in(
        &self,
        token: &[u8; 32],
        slot: i64,
        most: u32,
    ) -> Result<Vec<EventRow>, StoreError> {
        let args = &[(":token", token.into()), (":slot", slot.into()), (":most", most.into())];
        self.0.rows(&SELECT_SAID_IN, args, event, Ok)
    }

    /// What is to be sent by now and nobody sends, longest due first.
    pub fn due(&self, lease: Lease, most: u32) -> Result<Vec<DueRow>, StoreError> {
        let Lease { now_ms, wrong_after, .. } = lease;
        let args = &[
            (":now_ms", now_ms.into()),
            (":wrong_ms", wrong_after.into()),
            (":most", most.into()),
        ];
        self.0.rows(&SELECT_DUE, args, due, Ok)
    }

    /// Takes a delivery until an instant; whether nobody else has it.
    pub fn lease(&self, (alert, seq): (i64, i64), lease: Lease) -> Result<bool, StoreError> {
        let Lease { now_ms, until_ms, wrong_after } = lease;
        let args = &[
            (":alert", alert.into()),
            (":seq", seq.into()),
            (":now_ms", now_ms.into()),
            (":until_ms", until_ms.into()),
            (":wrong_ms", wrong_after.into()),
        ];
        Ok(self.0.execute(&LEASE_DELIVERY, args)? == 1)
    }

    pub fn delivered(&self, (alert, seq): (i64, i64)) -> Result<(), StoreError> {
        self.0.execute(&DELIVERED, &[(":alert", alert.into()), (":seq", seq.into())]).map(drop)
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
        self.0.execute(&PUT_OFF, args).map(drop)
    }

    pub fn give_up(&self, (alert, seq): (i64, i64), said: &str) -> Result<(), StoreError> {
        let args = &[(":alert", alert.into()), (":seq", seq.into()), (":said", said.into())];
        self.0.execute(&GIVE_UP, args).map(drop)
    }

    /// An endpoint took what it was sent.
    pub fn endpoint_answers(&self, endpoint: i64) -> Result<(), StoreError> {
        self.0.execute(&ENDPOINT_ANSWERS, &[(":endpoint", endpoint.into())]).map(drop)
    }

    /// It did not: since when nothing else happened.
    pub fn endpoint_fails(
        &self,
        endpoint: i64,
        now_ms: i64,
        said: &str,
    ) -> Result<Option<i64>, StoreError> {
        let args =
            &[(":endpoint", endpoint.into()), (":now_ms", now_ms.into()), (":said", said.into())];
        self.0.row(&ENDPOINT_FAILS, args, |row| row.get("failing_ms"))
    }

    pub fn disable(&self, endpoint: i64, said: &str) -> Result<(), StoreError> {
        let args = &[(":endpoint", endpoint.into()), (":said", said.into())];
        self.0.execute(&DISABLE_ENDPOINT, args).map(drop)
    }

    /// Endpoints that are to be asked by now whether they want events.
    pub fn asked(&self, lease: Lease, most: u32) -> Result<Vec<EndpointRow>, StoreError> {
        let Lease { now_ms, wrong_after, .. } = lease;
        let args = &[
            (":now_ms", now_ms.into()),
            (":wrong_ms", wrong_after.into()),
            (":most", most.into()),
        ];
        self.0.rows(&SELECT_ASKED, args, endpoint, Ok)
    }

    /// How often a host was asked since an instant.
    pub fn challenged(&self, host: &str, since_ms: i64) -> Result<i64, StoreError> {
        let args = &[(":host", host.into()), (":since_ms", since_ms.into())];
        self.number(&COUNT_CHALLENGED, args, "number")
    }

    /// Takes a challenge until an instant; whether nobody else has it.
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
        if self.0.execute(&LEASE_CHALLENGE, args)? == 0 {
            return Ok(false);
        }
        let args = &[(":host", (&endpoint.host).into()), (":now_ms", now_ms.into())];
        self.0.execute(&INSERT_CHALLENGED, args)?;
        Ok(true)
    }

    /// A challenge waits until an instant.
    pub fn postpone_challenge(&self, endpoint: i64, at_ms: i64) -> Result<(), StoreError> {
        let args = &[(":endpoint", endpoint.into()), (":at_ms", at_ms.into())];
        self.0.execute(&POSTPONE_CHALLENGE, args).map(drop)
    }

    pub fn verified(&self, endpoint: i64) -> Result<(), StoreError> {
        self.0.execute(&VERIFIED, &[(":endpoint", endpoint.into())]).map(drop)
    }

    pub fn not_verified(
        &self,
        endpoint: i64,
        at_ms: Option<i64>,
        said: &str,
    ) -> Result<(), StoreError> {
        let args =
            &[(":endpoint", endpoint.into()), (":at_ms", at_ms.into()), (":said", said.into())];
        self.0.execute(&NOT_VERIFIED, args).map(drop)
    }

    /// An endpoint is asked at once, unless it wants events already.
    pub fn ask_again(&self, endpoint: i64, now_ms: i64) -> Result<(), StoreError> {
        let args = &[(":endpoint", endpoint.into()), (":now_ms", now_ms.into())];
        self.0.execute(&ASK_AGAIN, args).map(drop)
    }

    /// An endpoint has new keys.
    pub fn rotate(&self, endpoint: i64, now_ms: i64) -> Result<(), StoreError> {
        let args = &[(":endpoint", endpoint.into()), (":now_ms", now_ms.into())];
        self.0.execute(&ROTATE, args).map(drop)
    }

    /// Events from one on are sent again: how many.
    pub fn send_again(&self, alert: i64, from_seq: i64, now_ms: i64) -> Result<usize, StoreError> {
        let args =
            &[(":alert", alert.into()), (":from_seq", from_seq.into()), (":now_ms", now_ms.into())];
        self.0.execute(&SEND_AGAIN, args)
    }

    /// Forgets events that were made, rules that ended, before an instant, and what hangs on them.
    pub fn forget(&self, before_s: i64, challenged_before_ms: i64) -> Result<(), StoreError> {
        let before = &[(":before_s", before_s.into())];
        if self.0.execute(&FORGET_EVENTS, before)? > 0 {
            self.0.execute(&FORGET_DELIVERIES, &[])?;
        }
        if self.0.execute(&FORGET_ALERTS, before)? > 0 {
            self.0.execute(&FORGET_ENDPOINTS, &[])?;
        }
        let before = &[(":before_ms", challenged_before_ms.into())];
        self.0.execute(&FORGET_CHALLENGED, before).map(drop)
    }

    /// How much there is.
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
        self.0.one(&SELECT_COUNTS, &[], read)
    }
}
