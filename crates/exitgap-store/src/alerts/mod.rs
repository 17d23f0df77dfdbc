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

/// Why the kept rules cannot be read or written.
#[derive(Debug, thiserror::Error)]
pub enum AlertsError {
    /// The file is something else, or of another version.
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
    /// A row holds what cannot be in it.
    #[error("alerts: {what} of {of} is damaged")]
    Damaged {
        /// What.
        what: &'static str,
        /// Whose.
        of: String,
    },
}

impl From<StoreError> for AlertsError {
    fn from(error: StoreError) -> Self {
        Self::Database(Box::new(error))
    }
}

type Result<T> = std::result::Result<T, AlertsError>;

/// How long events are kept, and rules that ended: 30 days.
const KEPT_S: u64 = 30 * 86_400;

/// How often a host is asked in an hour whether it wants events.
const CHALLENGES_AN_HOUR: i64 = 3;
const HOUR_MS: i64 = 3_600_000;

/// How far apart the clocks of two who send may be, and how long one may wait for the database once it
/// looked at its own: a lease that ends later than one of now by less is another's, and kept to.
const SKEW_MS: i64 = 60_000;

/// How long an endpoint fails before it is disabled: five days.
const FAILING_MS: i64 = 5 * 86_400_000;

/// The most rules of an owner that are listed.
const LISTED: u32 = 200;

/// The most events of an owner that one slot tells.
const SAID_IN_SLOT: u32 = 10_000;

/// Of how many that are due some are taken: more than wait at hosts that are busy.
const CANDIDATES: u32 = 2_000;

/// The most characters of what is kept of a failure.
const MAX_SAID: usize = 200;

/// The kept rules.
#[derive(Debug)]
pub struct Alerts(Mutex<AlertsDb>);

fn whole(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

fn said(text: &str) -> String {
    // A server takes no text with a zero in it.
    text.chars().filter(|character| *character != '\0').take(MAX_SAID).collect()
}

impl Alerts {
    /// Opens the file, and makes it where there is none; or the tables on a server, by its URL.
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

    /// Copies all that the file holds, that nobody writes meanwhile, into this database, in which nothing was written yet:
    /// how many rows.
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

    /// Keeps a rule, unless there is no room, or the same request made one before.
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

    /// Whether somebody has this token.
    pub fn is_owner(&self, owner: &Owner) -> Result<bool> {
        self.db().read_transaction(|rows| Ok(rows.of_token(owner)? > 0))
    }

    /// An owner's rules, the newest first. They end later, now that their owner came.
    pub fn of_owner(&self, owner: &Owner, until_s: u64) -> Result<Vec<KeptAlert>> {
        self.db().write_transaction(|rows| {
            rows.renew(owner, whole(until_s))?;
            let found = rows.alerts(owner, LISTED)?;
            found.into_iter().map(|row| whole_alert(rows, row)).collect()
        })
    }

    /// An owner's rule of this name; all of the owner's end later.
    pub fn find_alert(&self, owner: &Owner, id: &str, until_s: u64) -> Result<Option<KeptAlert>> {
        self.db().write_transaction(|rows| {
            rows.renew(owner, whole(until_s))?;
            let found = rows.alert(owner, id)?;
            found.map(|row| whole_alert(rows, row)).transpose()
        })
    }

    /// A rule ends by its owner's will; whether it had not.
    pub fn end(&self, alert: i64, now_s: u64) -> Result<bool> {
        self.db().write_transaction(|rows| Ok(rows.end(alert, "deleted", whole(now_s))?))
    }

    /// A rule's events after one, oldest first.
    pub fn events(&self, alert: i64, after_seq: u32, most: u32) -> Result<Vec<KeptEvent>> {
        let found =
            self.db().read_transaction(|rows| rows.events(alert, after_seq.into(), most))?;
        found.into_iter().map(KeptEvent::from_row).collect()
    }

    /// An endpoint has new keys.
    pub fn rotate(&self, endpoint: i64, now_ms: u64) -> Result<()> {
        self.db().write_transaction(|rows| Ok(rows.rotate(endpoint, whole(now_ms))?))
    }

    /// An endpoint is asked again whether it wants events.
    pub fn ask_again(&self, endpoint: i64, now_ms: u64) -> Result<()> {
        self.db().write_transaction(|rows| Ok(rows.ask_again(endpoint, whole(now_ms))?))
    }

    /// Events from one on are sent again: how many.
    pub fn send_again(&self, alert: i64, from_seq: u32, now_ms: u64) -> Result<usize> {
        self.db()
            .write_transaction(|rows| Ok(rows.send_again(alert, from_seq.into(), whole(now_ms))?))
    }

    /// What an owner's rules said of a slot: rule by rule in the order of their names, the same whenever it is asked
    /// once the slot is evaluated.
    pub fn said_in(&self, owner: &Owner, slot: Slot) -> Result<Vec<KeptEvent>> {
        let slot = slot.number().into();
        let found = self.db().read_transaction(|rows| rows.said_in(owner, slot, SAID_IN_SLOT))?;
        found.into_iter().map(KeptEvent::from_row).collect()
    }

    /// Rules that came or ended since a mark, and the next mark.
    pub fn changed_since(&self, mark: i64) -> Result<(Vec<ChangedAlert>, i64)> {
        let (found, next) = self.db().read_transaction(|rows| {
            Ok::<_, AlertsError>((rows.changed_since(mark)?, rows.newest_change()?))
        })?;
        Ok((found.into_iter().map(ChangedAlert::from).collect(), next))
    }

    /// The last slot that all rules were evaluated with: no event of it, or of one before, is yet to come.
    pub fn evaluated_slot(&self) -> Result<Option<Slot>> {
        Ok(model::slot_of(
            self.db().read_transaction(|rows| Ok::<_, AlertsError>(rows.evaluated_slot()?))?,
        ))
    }

    /// Writes down what a slot made of rules, all or nothing: how many events were not there. The rules are all that
    /// there were at a mark; where others came since, the slot does not count as evaluated yet.
    pub fn take_slot(
        &self,
        slot: Slot,
        stepped: &[AlertStep],
        mark: i64,
        now_ms: u64,
    ) -> Result<usize> {
        let (number, now_ms) = (i64::from(slot.number()), whole(now_ms));
        // By a clock that runs ahead it is no later.
        let due_ms = now_ms.min(whole(slot.unix_s()).saturating_mul(1_000));
        self.db().write_transaction(|rows| {
            // First: a rule that ends here is a change, too.
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

    /// Marks what became of attempts, and takes what is to be sent next, until an instant by which it is marked: so many,
    /// and of a host as many as `room` says.
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

    /// Ends what expired, and forgets what is long past.
    pub fn tidy(&self, now_ms: u64) -> Result<()> {
        let now_s = now_ms / 1_000;
        self.db().write_transaction(|rows| {
            rows.expire(whole(now_s))?;
            let before_s = whole(now_s.saturating_sub(KEPT_S));
            Ok(rows.forget(before_s, whole(now_ms).saturating_sub(HOUR_MS))?)
        })
    }

    /// How much there is.
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

/// Which bound a new rule would pass.
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

/// Marks what became of an attempt.
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

/// Takes what is to be sent.
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
