//! Rows of kept rules, by the names of their columns, and the statements on them.

use rusqlite::{OptionalExtension, Params, Row, named_params};

use super::super::DatabaseError;
use super::Rows;

macro_rules! sql {
    ($name:literal) => {
        include_str!(concat!("sql/", $name, ".sql"))
    };
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

fn endpoint(row: &Row<'_>) -> rusqlite::Result<EndpointRow> {
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

fn alert(row: &Row<'_>) -> rusqlite::Result<AlertRow> {
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

fn changed(row: &Row<'_>) -> rusqlite::Result<ChangedRow> {
    Ok(ChangedRow {
        no: row.get("no")?,
        rule: row.get("rule")?,
        run: row.get("run")?,
        state: row.get("state")?,
        over: row.get("over")?,
    })
}

fn event(row: &Row<'_>) -> rusqlite::Result<EventRow> {
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

fn due(row: &Row<'_>) -> rusqlite::Result<DueRow> {
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

type Result<T> = std::result::Result<T, DatabaseError>;

impl Rows<'_> {
    fn all<T>(
        &self,
        sql: &str,
        params: impl Params,
        read: fn(&Row<'_>) -> rusqlite::Result<T>,
    ) -> Result<Vec<T>> {
        let rows = || {
            let mut statement = self.0.prepare_cached(sql)?;
            statement.query_map(params, read)?.collect::<rusqlite::Result<Vec<T>>>()
        };
        rows().map_err(DatabaseError::engine)
    }

    fn number(&self, sql: &str, params: impl Params, column: &str) -> Result<i64> {
        let number = || self.0.prepare_cached(sql)?.query_row(params, |row| row.get(column));
        number().map_err(DatabaseError::engine)
    }

    fn run(&self, sql: &str, params: impl Params) -> Result<usize> {
        let run = || self.0.prepare_cached(sql)?.execute(params);
        run().map_err(DatabaseError::engine)
    }

    /// Rules that did not end: of all, of a client, of those that are sent to a host.
    pub fn live(&self) -> Result<i64> {
        self.number(sql!("count_live"), (), "number")
    }

    pub fn live_of_client(&self, client: &[u8; 16]) -> Result<i64> {
        self.number(sql!("count_of_client"), named_params! {":client": client}, "number")
    }

    pub fn live_of_host(&self, host: &str) -> Result<i64> {
        self.number(sql!("count_of_host"), named_params! {":host": host}, "number")
    }

    /// Rules of an owner, those that ended included.
    pub fn of_token(&self, token: &[u8; 32]) -> Result<i64> {
        self.number(sql!("count_of_token"), named_params! {":token": token}, "number")
    }

    /// The endpoint of an owner's address, made where there is none.
    pub fn endpoint(&self, new: &NewEndpointRow<'_>) -> Result<EndpointRow> {
        let params = named_params! {
            ":token": new.token,
            ":url": new.url,
            ":host": new.host,
            ":salt": new.salt,
            ":now_ms": new.now_ms,
        };
        self.run(sql!("insert_endpoint"), params)?;
        let params = named_params! {":token": new.token, ":url": new.url};
        let find = || self.0.prepare_cached(sql!("select_endpoint"))?.query_row(params, endpoint);
        find().map_err(DatabaseError::engine)
    }

    /// An endpoint.
    pub fn endpoint_of(&self, id: i64) -> Result<Option<EndpointRow>> {
        Ok(self.all(sql!("select_endpoint_by_id"), named_params! {":id": id}, endpoint)?.pop())
    }

    /// Events of a rule that wait for being sent.
    pub fn pending_of(&self, alert: i64) -> Result<i64> {
        self.number(sql!("count_pending"), named_params! {":alert": alert}, "number")
    }

    fn next_change(&self) -> Result<i64> {
        self.number(sql!("next_change"), (), "value")
    }

    /// Writes a rule down.
    pub fn put_alert(&self, new: &NewAlertRow<'_>) -> Result<()> {
        let params = named_params! {
            ":id": new.id,
            ":token": new.token,
            ":client": new.client,
            ":idempotency": new.idempotency,
            ":request": new.request,
            ":rule": new.rule,
            ":endpoint": new.endpoint,
            ":created_s": new.created_s,
            ":expires_s": new.expires_s,
            ":run": new.run,
            ":state": new.state,
            ":changed": self.next_change()?,
        };
        self.run(sql!("insert_alert"), params).map(drop)
    }

    /// An owner's rule of this name.
    pub fn alert(&self, token: &[u8; 32], id: &str) -> Result<Option<AlertRow>> {
        let params = named_params! {":token": token, ":id": id};
        Ok(self.all(sql!("select_alert"), params, alert)?.pop())
    }

    /// An owner's rules, the newest first.
    pub fn alerts(&self, token: &[u8; 32], most: u32) -> Result<Vec<AlertRow>> {
        let params = named_params! {":token": token, ":most": most};
        self.all(sql!("select_alerts"), params, alert)
    }

    /// The rule that an owner made with a request of this name.
    pub fn made_before(&self, token: &[u8; 32], idempotency: &str) -> Result<Option<AlertRow>> {
        let params = named_params! {":token": token, ":idempotency": idempotency};
        Ok(self.all(sql!("select_made_before"), params, alert)?.pop())
    }

    /// An owner's rules end later.
    pub fn renew(&self, token: &[u8; 32], until_s: i64) -> Result<()> {
        self.run(sql!("renew"), named_params! {":token": token, ":until_s": until_s}).map(drop)
    }

    /// A rule ends; whether it had not.
    pub fn end(&self, alert: i64, why: &str, now_s: i64) -> Result<bool> {
        let changed = self.next_change()?;
        let params =
            named_params! {":alert": alert, ":why": why, ":now_s": now_s, ":changed": changed};
        Ok(self.run(sql!("end_alert"), params)? == 1)
    }

    /// Rules end whose time is over: how many.
    pub fn expire(&self, now_s: i64) -> Result<usize> {
        if self.number(sql!("count_expired"), named_params! {":now_s": now_s}, "number")? == 0 {
            return Ok(0);
        }
        let changed = self.next_change()?;
        self.run(sql!("expire"), named_params! {":now_s": now_s, ":changed": changed})
    }

    /// Rules that came or ended since a mark.
    pub fn changed_since(&self, mark: i64) -> Result<Vec<ChangedRow>> {
        self.all(sql!("select_changed"), named_params! {":mark": mark}, changed)
    }

    /// The slot up to which all rules were evaluated, by somebody.
    pub fn evaluated_slot(&self) -> Result<i64> {
        self.number(sql!("select_counter"), named_params! {":name": "evaluated_slot"}, "value")
    }

    /// All rules up to this change were evaluated up to a slot; nothing where there are later ones.
    pub fn reach_slot(&self, slot: i64, mark: i64) -> Result<()> {
        self.run(sql!("reach_slot"), named_params! {":slot": slot, ":mark": mark}).map(drop)
    }

    /// The newest change of a rule.
    pub fn newest_change(&self) -> Result<i64> {
        self.number(sql!("select_counter"), named_params! {":name": "changed"}, "value")
    }

    /// What is kept of a run, unless somebody kept a later one.
    pub fn put_run(&self, alert: i64, run: &[u8], slot: i64) -> Result<()> {
        let params = named_params! {":alert": alert, ":run": run, ":slot": slot};
        self.run(sql!("update_run"), params).map(drop)
    }

    pub fn put_state(&self, alert: i64, state: &str, slot: i64) -> Result<()> {
        let params = named_params! {":alert": alert, ":state": state, ":slot": slot};
        self.run(sql!("update_state"), params).map(drop)
    }

    /// Writes an event down, and that it is to be sent where its rule has an endpoint; whether it was not there.
    pub fn put_event(&self, new: &NewEventRow<'_>) -> Result<bool> {
        let params = named_params! {
            ":alert": new.alert,
            ":seq": new.seq,
            ":id": new.id,
            ":type": new.r#type,
            ":slot": new.slot,
            ":document": new.document,
            ":now_s": new.now_ms / 1_000,
        };
        if self.run(sql!("insert_event"), params)? == 0 {
            return Ok(false);
        }
        let params = named_params! {":alert": new.alert, ":seq": new.seq, ":due_ms": new.due_ms};
        self.run(sql!("insert_delivery"), params)?;
        Ok(true)
    }

    /// A rule's events after one, oldest first.
    pub fn events(&self, alert: i64, after_seq: i64, most: u32) -> Result<Vec<EventRow>> {
        let params = named_params! {":alert": alert, ":after_seq": after_seq, ":most": most};
        self.all(sql!("select_events"), params, event)
    }

    /// What an owner's rules said of a slot, rule by rule.
    pub fn said_in(&self, token: &[u8; 32], slot: i64, most: u32) -> Result<Vec<EventRow>> {
        let params = named_params! {":token": token, ":slot": slot, ":most": most};
        self.all(sql!("select_said_in"), params, event)
    }

    /// What is to be sent by now and nobody sends, longest due first.
    pub fn due(&self, lease: Lease, most: u32) -> Result<Vec<DueRow>> {
        let Lease { now_ms, wrong_after, .. } = lease;
        let params = named_params! {":now_ms": now_ms, ":wrong_ms": wrong_after, ":most": most};
        self.all(sql!("select_due"), params, due)
    }

    /// Takes a delivery until an instant; whether nobody else has it.
    pub fn lease(&self, (alert, seq): (i64, i64), lease: Lease) -> Result<bool> {
        let Lease { now_ms, until_ms, wrong_after } = lease;
        let params = named_params! {
            ":alert": alert, ":seq": seq,
            ":now_ms": now_ms, ":until_ms": until_ms, ":wrong_ms": wrong_after,
        };
        Ok(self.run(sql!("lease_delivery"), params)? == 1)
    }

    pub fn delivered(&self, (alert, seq): (i64, i64)) -> Result<()> {
        self.run(sql!("delivered"), named_params! {":alert": alert, ":seq": seq}).map(drop)
    }

    pub fn put_off(&self, (alert, seq): (i64, i64), due_ms: i64, said: &str) -> Result<()> {
        let params = named_params! {":alert": alert, ":seq": seq, ":due_ms": due_ms, ":said": said};
        self.run(sql!("put_off"), params).map(drop)
    }

    pub fn give_up(&self, (alert, seq): (i64, i64), said: &str) -> Result<()> {
        let params = named_params! {":alert": alert, ":seq": seq, ":said": said};
        self.run(sql!("give_up"), params).map(drop)
    }

    /// An endpoint took what it was sent.
    pub fn endpoint_answers(&self, endpoint: i64) -> Result<()> {
        self.run(sql!("endpoint_answers"), named_params! {":endpoint": endpoint}).map(drop)
    }

    /// It did not: since when nothing else happened.
    pub fn endpoint_fails(&self, endpoint: i64, now_ms: i64, said: &str) -> Result<Option<i64>> {
        let params = named_params! {":endpoint": endpoint, ":now_ms": now_ms, ":said": said};
        let run = || {
            let mut statement = self.0.prepare_cached(sql!("endpoint_fails"))?;
            statement.query_row(params, |row| row.get("failing_ms")).optional()
        };
        run().map_err(DatabaseError::engine)
    }

    pub fn disable(&self, endpoint: i64, said: &str) -> Result<()> {
        let params = named_params! {":endpoint": endpoint, ":said": said};
        self.run(sql!("disable_endpoint"), params).map(drop)
    }

    /// Endpoints that are to be asked by now whether they want events.
    pub fn asked(&self, lease: Lease, most: u32) -> Result<Vec<EndpointRow>> {
        let Lease { now_ms, wrong_after, .. } = lease;
        let params = named_params! {":now_ms": now_ms, ":wrong_ms": wrong_after, ":most": most};
        self.all(sql!("select_asked"), params, endpoint)
    }

    /// How often a host was asked since an instant.
    pub fn challenged(&self, host: &str, since_ms: i64) -> Result<i64> {
        let params = named_params! {":host": host, ":since_ms": since_ms};
        self.number(sql!("count_challenged"), params, "number")
    }

    /// Takes a challenge until an instant; whether nobody else has it.
    pub fn lease_challenge(&self, endpoint: &EndpointRow, lease: Lease) -> Result<bool> {
        let Lease { now_ms, until_ms, wrong_after } = lease;
        let params = named_params! {
            ":endpoint": endpoint.id,
            ":now_ms": now_ms, ":until_ms": until_ms, ":wrong_ms": wrong_after,
        };
        if self.run(sql!("lease_challenge"), params)? == 0 {
            return Ok(false);
        }
        let params = named_params! {":host": endpoint.host, ":now_ms": now_ms};
        self.run(sql!("insert_challenged"), params)?;
        Ok(true)
    }

    /// A challenge waits until an instant.
    pub fn postpone_challenge(&self, endpoint: i64, at_ms: i64) -> Result<()> {
        let params = named_params! {":endpoint": endpoint, ":at_ms": at_ms};
        self.run(sql!("postpone_challenge"), params).map(drop)
    }

    pub fn verified(&self, endpoint: i64) -> Result<()> {
        self.run(sql!("verified"), named_params! {":endpoint": endpoint}).map(drop)
    }

    pub fn not_verified(&self, endpoint: i64, at_ms: Option<i64>, said: &str) -> Result<()> {
        let params = named_params! {":endpoint": endpoint, ":at_ms": at_ms, ":said": said};
        self.run(sql!("not_verified"), params).map(drop)
    }

    /// An endpoint is asked at once, unless it wants events already.
    pub fn ask_again(&self, endpoint: i64, now_ms: i64) -> Result<()> {
        let params = named_params! {":endpoint": endpoint, ":now_ms": now_ms};
        self.run(sql!("ask_again"), params).map(drop)
    }

    /// An endpoint has new keys.
    pub fn rotate(&self, endpoint: i64, now_ms: i64) -> Result<()> {
        let params = named_params! {":endpoint": endpoint, ":now_ms": now_ms};
        self.run(sql!("rotate"), params).map(drop)
    }

    /// Events from one on are sent again: how many.
    pub fn send_again(&self, alert: i64, from_seq: i64, now_ms: i64) -> Result<usize> {
        let params = named_params! {":alert": alert, ":from_seq": from_seq, ":now_ms": now_ms};
        self.run(sql!("send_again"), params)
    }

    /// Forgets events that were made, rules that ended, before an instant, and what hangs on them.
    pub fn forget(&self, before_s: i64, challenged_before_ms: i64) -> Result<()> {
        let before = named_params! {":before_s": before_s};
        if self.run(sql!("forget_events"), before)? > 0 {
            self.run(sql!("forget_deliveries"), ())?;
        }
        if self.run(sql!("forget_alerts"), before)? > 0 {
            self.run(sql!("forget_endpoints"), ())?;
        }
        let before = named_params! {":before_ms": challenged_before_ms};
        self.run(sql!("forget_challenged"), before).map(drop)
    }

    /// How much there is.
    pub fn counts(&self) -> Result<CountsRow> {
        let read = |row: &Row<'_>| {
            Ok(CountsRow {
                alerts: row.get("alerts")?,
                events: row.get("events")?,
                pending: row.get("pending")?,
                delivered: row.get("delivered")?,
                given_up: row.get("given_up")?,
            })
        };
        let counts = || self.0.prepare_cached(sql!("select_counts"))?.query_row((), read);
        counts().map_err(DatabaseError::engine)
    }
}
