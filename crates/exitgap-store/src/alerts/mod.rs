//! Alert rules stored for others, their events, and the deliveries of these: a separate file,
//! shared by the processes of one machine, or separate tables on a server, shared by the processes
//! of several machines.
//!
//! **In scope**: who owns which rule, and how many are allowed; the effect of a slot on the rules,
//! in one transaction; what has to be sent, and by which process. **Out of scope**, with the crate
//! responsible: the effect of a slot on one rule (`exitgap-core::alerts`), when to evaluate and how
//! to send (`exitgap-server`). Only `db/` knows which database is used.
//!
//! An event is a function of its rule and the log. Interrupted work is therefore simply repeated: a
//! second process that handles a slot finds the same events and changes nothing, and the stored
//! state of a run may be old. An event and its pending delivery are written together. A delivery is
//! leased first and marked as sent afterwards, so it is sent **at least once**, under one id; the
//! deliveries of one rule are sent one after the other.

mod model;

use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use exitgap_core::series::Slot;

use crate::db::alerts::{
    AlertRow, AlertsDb, Lease, NewAlertRow, NewEndpointRow, NewEventRow, Rows,
};
use crate::db::sidecar::{FileKind, require_there};
use crate::error::StoreError;

pub use model::{
    AlertBounds, AlertCounts, AlertStep, ChangedAlert, DeliveryAttempt, DeliveryTask, Endpoint,
    EndpointKeys, EndpointState, Full, Kept, KeptAlert, KeptEvent, NewAlert, NewEndpoint, Outcome,
    Owner, Sent,
};

/// Why stored rules cannot be read or written.
#[derive(Debug, thiserror::Error)]
pub enum AlertsError {
    /// The file is something else, or has another version.
    #[error(
        "{path} is not an alert database that this version can read: application id {found:#010x}, version \
         {version}"
    )]
    NotAlerts {
        /// The file.
        path: PathBuf,
        /// Its application id.
        found: i32,
        /// Its version.
        version: i32,
    },
    /// The database refused.
    #[error("alerts: {0}")]
    Database(Box<StoreError>),
    /// A row has an impossible value.
    #[error("alerts: {what} of {of} is damaged")]
    Damaged {
        /// The kind of row.
        what: &'static str,
        /// The row.
        of: String,
    },
}

impl From<StoreError> for AlertsError {
    fn from(error: StoreError) -> Self {
        Self::Database(Box::new(error))
    }
}

type Result<T> = std::result::Result<T, AlertsError>;

/// How long events and ended rules are kept: 30 days.
const KEPT_S: u64 = 30 * 86_400;

/// The maximum number of verification requests to a host per hour.
const CHALLENGES_AN_HOUR: i64 = 3;
const HOUR_MS: i64 = 3_600_000;

/// How much the clocks of two senders can differ, plus how long a sender can wait for the database after reading its
/// own clock. A lease whose end is less than this beyond the end of a new one belongs to another sender, and is
/// respected.
const SKEW_MS: i64 = 60_000;

/// How long an endpoint must fail before it is disabled: five days.
const FAILING_MS: i64 = 5 * 86_400_000;

/// The maximum number of an owner's rules in a list.
const LISTED: u32 = 200;

/// The maximum number of an owner's events in one slot.
const SAID_IN_SLOT: u32 = 10_000;

/// The number of due deliveries that are considered: more than those that wait for busy hosts.
const CANDIDATES: u32 = 2_000;

/// The maximum length of a stored failure message, in characters.
const MAX_SAID: usize = 200;

/// The stored rules.
#[derive(Debug)]
pub struct Alerts(Mutex<AlertsDb>);

fn whole(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

fn said(text: &str) -> String {
    // PostgreSQL does not accept zero characters in text.
    text.chars().filter(|character| *character != '\0').take(MAX_SAID).collect()
}

impl Alerts {
    /// Opens the file, and creates it if it does not exist; or opens the tables on a server, given its URL.
    pub fn open(path: &Path) -> Result<Self> {
        match AlertsDb::open(path)? {
            Ok(db) => Ok(Self(Mutex::new(db))),
            Err(FileKind { application_id, version }) => Err(AlertsError::NotAlerts {
                path: path.to_owned(),
                found: application_id,
                version,
            }),
        }
    }

    /// Copies everything in the file, which no process may write meanwhile, into this empty database. Returns the
    /// number of rows.
    pub fn copy_from(&self, file: &Path) -> Result<u64> {
        require_there(file)?;
        let other = Self::open(file)?;
        let rows = self.db().copy_from(&mut other.db());
        Ok(rows?)
    }

    /// A transaction that a panic interrupted was rolled back.
    fn db(&self) -> MutexGuard<'_, AlertsDb> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Stores a rule, unless a limit is reached or the same request already created one.
    pub fn keep(&self, new: &NewAlert, bounds: &AlertBounds, now_ms: u64) -> Result<Kept> {
        self.db().write_transaction(|rows| {
            if let Some(name) = &new.idempotency
                && let Some(found) = rows.made_before(&new.owner, name)?
            {
                if found.request != new.request {
                    return Ok(Kept::OtherRequest);
                }
                return Ok(Kept::Again(Box::new(whole_alert(rows, found)?)));
            }
            if model::slot_of(rows.evaluated_slot()?).is_some_and(|last| last >= new.first_slot) {
                return Ok(Kept::Passed);
            }
            if let Some(full) = full(rows, new, bounds)? {
                return Ok(Kept::Full(full));
            }
            let now_ms = whole(now_ms);
            let endpoint = match &new.endpoint {
                None => None,
                Some(NewEndpoint { url, host, salt }) => {
                    let (token, url, host) = (&new.owner, url.as_str(), host.as_str());
                    Some(rows.endpoint(&NewEndpointRow { token, url, host, salt, now_ms })?.id)
                }
            };
            rows.put_alert(&NewAlertRow {
                id: &new.id,
                token: &new.owner,
                client: &new.client,
                idempotency: new.idempotency.as_deref(),
                request: &new.request,
                rule: &new.rule,
                endpoint,
                created_s: now_ms / 1_000,
                expires_s: whole(new.expires_s),
                run: &new.run,
                state: &new.state,
            })?;
            let absent = || AlertsError::Damaged { what: "the rule", of: new.id.clone() };
            let made = rows.alert(&new.owner, &new.id)?.ok_or_else(absent)?;
            Ok(Kept::New(Box::new(whole_alert(rows, made)?)))
        })
    }

    /// Whether an owner with this token exists.
    pub fn is_owner(&self, owner: &Owner) -> Result<bool> {
        self.db().read_transaction(|rows| Ok(rows.of_token(owner)? > 0))
    }

    /// An owner's rules, newest first. Extends their expiry, because the owner accessed them.
    pub fn of_owner(&self, owner: &Owner, until_s: u64) -> Result<Vec<KeptAlert>> {
        self.db().write_transaction(|rows| {
            rows.renew(owner, whole(until_s))?;
            let found = rows.alerts(owner, LISTED)?;
            found.into_iter().map(|row| whole_alert(rows, row)).collect()
        })
    }

    /// An owner's rule with this id. Extends the expiry of all the owner's rules.
    pub fn find_alert(&self, owner: &Owner, id: &str, until_s: u64) -> Result<Option<KeptAlert>> {
        self.db().write_transaction(|rows| {
            rows.renew(owner, whole(until_s))?;
            let found = rows.alert(owner, id)?;
            found.map(|row| whole_alert(rows, row)).transpose()
        })
    }

    /// Ends a rule at the owner's request. Returns whether it was active.
    pub fn end(&self, alert: i64, now_s: u64) -> Result<bool> {
        self.db().write_transaction(|rows| Ok(rows.end(alert, "deleted", whole(now_s))?))
    }

    /// A rule's events after `after_seq`, oldest first.
    pub fn events(&self, alert: i64, after_seq: u32, most: u32) -> Result<Vec<KeptEvent>> {
        let found =
            self.db().read_transaction(|rows| rows.events(alert, after_seq.into(), most))?;
        found.into_iter().map(KeptEvent::from_row).collect()
    }

    /// Gives an endpoint new keys.
    pub fn rotate(&self, endpoint: i64, now_ms: u64) -> Result<()> {
        self.db().write_transaction(|rows| Ok(rows.rotate(endpoint, whole(now_ms))?))
    }

    /// Sends an endpoint the verification request again.
    pub fn ask_again(&self, endpoint: i64, now_ms: u64) -> Result<()> {
        self.db().write_transaction(|rows| Ok(rows.ask_again(endpoint, whole(now_ms))?))
    }

    /// Sends events again, from `from_seq` on. Returns their number.
    pub fn send_again(&self, alert: i64, from_seq: u32, now_ms: u64) -> Result<usize> {
        self.db()
            .write_transaction(|rows| Ok(rows.send_again(alert, from_seq.into(), whole(now_ms))?))
    }

    /// The events of an owner's rules in a slot, ordered by rule id. Once the slot is evaluated, the result never
    /// changes.
    pub fn said_in(&self, owner: &Owner, slot: Slot) -> Result<Vec<KeptEvent>> {
        let slot = slot.number().into();
        let found = self.db().read_transaction(|rows| rows.said_in(owner, slot, SAID_IN_SLOT))?;
        found.into_iter().map(KeptEvent::from_row).collect()
    }

    /// Rules that were created or ended since a mark, and the next mark.
    pub fn changed_since(&self, mark: i64) -> Result<(Vec<ChangedAlert>, i64)> {
        let (found, next) = self.db().read_transaction(|rows| {
            Ok::<_, AlertsError>((rows.changed_since(mark)?, rows.newest_change()?))
        })?;
        Ok((found.into_iter().map(ChangedAlert::from).collect(), next))
    }

    /// The last slot for which all rules were evaluated. No more events of this or an earlier slot will come.
    pub fn evaluated_slot(&self) -> Result<Option<Slot>> {
        Ok(model::slot_of(
            self.db().read_transaction(|rows| Ok::<_, AlertsError>(rows.evaluated_slot()?))?,
        ))
    }

    /// Stores the results of a slot for the rules, all or nothing, and returns the number of new events. The rules are
    /// all that existed at `mark`. If rules were added since then, the slot does not count as evaluated yet.
    pub fn take_slot(
        &self,
        slot: Slot,
        stepped: &[AlertStep],
        mark: i64,
        now_ms: u64,
    ) -> Result<usize> {
        let (number, now_ms) = (i64::from(slot.number()), whole(now_ms));
        // If the local clock is fast, the slot's time is used, so that deliveries are not delayed.
        let due_ms = now_ms.min(whole(slot.unix_s()).saturating_mul(1_000));
        self.db().write_transaction(|rows| {
            // This comes first, because a rule that ends below is a change, too.
            rows.reach_slot(number, mark)?;
            let mut made = 0;
            for AlertStep { no, events, run, state, ended } in stepped {
                for event in events {
                    let new = NewEventRow {
                        alert: *no,
                        seq: event.seq.into(),
                        id: &event.id,
                        r#type: event.event.code(),
                        slot: event.slot.number().into(),
                        document: &event.canonical,
                        now_ms,
                        due_ms,
                    };
                    made += usize::from(rows.put_event(&new)?);
                }
                if let Some(run) = run {
                    rows.put_run(*no, run, number)?;
                }
                if let Some(state) = state {
                    rows.put_state(*no, state, number)?;
                }
                if *ended {
                    rows.end(*no, "retired", now_ms / 1_000)?;
                }
            }
            Ok(made)
        })
    }

    /// Stores the results of deliveries, and leases the next ones until the time by which their results must be stored:
    /// at most this many, and for each host as many as `room` allows.
    pub fn turn(
        &self,
        attempted: &[DeliveryAttempt],
        most: usize,
        room: impl Fn(&str) -> usize,
        now_ms: u64,
        until_ms: u64,
    ) -> Result<Vec<DeliveryTask>> {
        let (now_ms, until_ms) = (whole(now_ms), whole(until_ms));
        let lease = Lease { now_ms, until_ms, wrong_after: until_ms.saturating_add(SKEW_MS) };
        let mut db = self.db();
        if attempted.is_empty() {
            let idle = |rows: &Rows<'_>| {
                let nothing =
                    rows.due_challenges(lease, 1)?.is_empty() && rows.due(lease, 1)?.is_empty();
                Ok::<_, AlertsError>(nothing)
            };
            if most == 0 || db.read_transaction(idle)? {
                return Ok(Vec::new());
            }
        }
        db.write_transaction(|rows| {
            for attempted in attempted {
                mark(rows, attempted, now_ms)?;
            }
            lease_deliveries(rows, most, room, lease)
        })
    }

    /// Ends expired rules, and deletes old data.
    pub fn tidy(&self, now_ms: u64) -> Result<()> {
        let now_s = now_ms / 1_000;
        self.db().write_transaction(|rows| {
            rows.expire(whole(now_s))?;
            let before_s = whole(now_s.saturating_sub(KEPT_S));
            Ok(rows.forget(before_s, whole(now_ms).saturating_sub(HOUR_MS))?)
        })
    }

    /// The counts for metrics.
    pub fn counts(&self) -> Result<AlertCounts> {
        let found = self.db().read_transaction(|rows| Ok::<_, AlertsError>(rows.counts()?))?;
        let [alerts, events, pending, delivered, given_up] =
            [found.alerts, found.events, found.pending, found.delivered, found.given_up]
                .map(|number| u64::try_from(number).unwrap_or(0));
        Ok(AlertCounts { alerts, events, pending, delivered, given_up })
    }
}

fn whole_alert(rows: &Rows<'_>, row: AlertRow) -> Result<KeptAlert> {
    let endpoint = row.endpoint.map(|id| rows.endpoint_of(id)).transpose()?.flatten();
    let pending = rows.pending_of(row.no)?;
    KeptAlert::from_row(row, endpoint, pending)
}

/// The limit that a new rule would exceed.
fn full(rows: &Rows<'_>, new: &NewAlert, bounds: &AlertBounds) -> Result<Option<Full>> {
    if rows.live()? >= bounds.most.into() {
        return Ok(Some(Full::All));
    }
    if rows.live_of_client(&new.client)? >= bounds.per_client.into() {
        return Ok(Some(Full::Client));
    }
    if let Some(endpoint) = &new.endpoint
        && rows.live_of_host(&endpoint.host)? >= bounds.per_host.into()
    {
        return Ok(Some(Full::Host));
    }
    Ok(None)
}

/// Stores the result of a delivery.
fn mark(rows: &Rows<'_>, attempted: &DeliveryAttempt, now_ms: i64) -> Result<()> {
    let DeliveryAttempt { sending, outcome } = attempted;
    let endpoint = sending.endpoint;
    match (&sending.what, outcome) {
        (Sent::Challenge, Outcome::Taken) => rows.mark_verified(endpoint)?,
        (Sent::Challenge, Outcome::Failed { again_ms, said: why }) => {
            rows.not_verified(endpoint, again_ms.map(whole), &said(why))?;
        }
        (Sent::Challenge, Outcome::Gone { said: why }) => {
            rows.not_verified(endpoint, None, &said(why))?;
        }
        (Sent::Event { alert, seq, .. }, Outcome::Taken) => {
            rows.mark_delivered((*alert, (*seq).into()))?;
            rows.endpoint_answers(endpoint)?;
        }
        (Sent::Event { alert, seq, .. }, Outcome::Failed { again_ms, said: why }) => {
            let (event, why) = ((*alert, i64::from(*seq)), said(why));
            match again_ms {
                Some(again_ms) => rows.put_off(event, whole(*again_ms), &why)?,
                None => rows.give_up(event, &why)?,
            }
            let since_ms = rows.endpoint_fails(endpoint, now_ms, &why)?.unwrap_or(now_ms);
            if now_ms - since_ms >= FAILING_MS {
                rows.disable(
                    endpoint,
                    &format!(
                        "every delivery of the last five days failed; the last failure: {why}"
                    ),
                )?;
            }
        }
        (Sent::Event { alert, seq, .. }, Outcome::Gone { said: why }) => {
            rows.give_up((*alert, (*seq).into()), &said(why))?;
            rows.disable(endpoint, &said(why))?;
        }
    }
    Ok(())
}

/// Leases deliveries for sending.
fn lease_deliveries(
    rows: &Rows<'_>,
    most: usize,
    room: impl Fn(&str) -> usize,
    lease: Lease,
) -> Result<Vec<DeliveryTask>> {
    let now_ms = lease.now_ms;
    let mut taken: Vec<DeliveryTask> = Vec::new();
    let is_free = |taken: &[DeliveryTask], host: &str| {
        taken.iter().filter(|sending| sending.host == host).count() < room(host)
    };
    for endpoint in rows.due_challenges(lease, CANDIDATES)? {
        if taken.len() >= most {
            return Ok(taken);
        }
        if !is_free(&taken, &endpoint.host) {
            continue;
        }
        if rows.count_challenges(&endpoint.host, now_ms - HOUR_MS)? >= CHALLENGES_AN_HOUR {
            rows.postpone_challenge(endpoint.id, now_ms + HOUR_MS / 3)?;
        } else if rows.lease_challenge(&endpoint, lease)? {
            taken.push(DeliveryTask::challenge(endpoint)?);
        }
    }
    for due in rows.due(lease, CANDIDATES)? {
        if taken.len() >= most {
            break;
        }
        let free = is_free(&taken, &due.host);
        if free && rows.lease((due.alert, due.seq), lease)? {
            taken.push(DeliveryTask::event(due)?);
        }
    }
    Ok(taken)
}

#[cfg(test)]
mod tests;
