//! Kept rules as what they stand for, checked where rows are read.

use exitgap_core::alerts::AlertEvent;
use exitgap_core::series::Slot;

use super::{AlertsError, Result};
use crate::db::alerts::{AlertRow, ChangedRow, DueRow, EndpointRow, EventRow};

/// SHA-256 of the token of who owns a rule.
pub type Owner = [u8; 32];

/// How much may be kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AlertBounds {
    /// Rules of one client.
    pub per_client: u32,
    /// Rules that are sent to one host.
    pub per_host: u32,
    /// Rules in all.
    pub most: u32,
}

/// Which bound a rule would pass.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Full {
    /// The client's.
    Client,
    /// The host's.
    Host,
    /// That of all.
    All,
}

/// A rule to be kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewAlert {
    /// Its name.
    pub id: String,
    /// Whose it is.
    pub owner: Owner,
    /// Who made it, for counting.
    pub client: [u8; 16],
    /// The caller's name for the request.
    pub idempotency: Option<String>,
    /// The hash of what was asked.
    pub request: [u8; 32],
    /// The rule's canonical bytes.
    pub rule: Vec<u8>,
    /// Its first slot.
    pub first_slot: Slot,
    /// Where its events are sent.
    pub endpoint: Option<NewEndpoint>,
    /// When it ends unless it is renewed, Unix seconds.
    pub expires_s: u64,
    /// What is kept of its run before its first slot.
    pub run: Vec<u8>,
    /// Where it stands then, as its reader spells it.
    pub state: String,
}

/// Where events are to be sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewEndpoint {
    /// The address.
    pub url: String,
    /// Its host.
    pub host: String,
    /// What its keys are derived with, where it is new.
    pub salt: [u8; 16],
}

/// What became of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Kept {
    /// It is kept.
    New(Box<KeptAlert>),
    /// The same request came before, and made this one.
    Again(Box<KeptAlert>),
    /// Another request came before under the caller's name for it.
    OtherRequest,
    /// Its first slot was evaluated already.
    Passed,
    /// There is no room.
    Full(Full),
}

/// Whether an endpoint is sent events.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EndpointState {
    /// It has not said that it wants them.
    Unverified,
    /// It is.
    Verified,
    /// Not any more.
    Disabled,
}

impl EndpointState {
    /// As documents spell it.
    pub fn code(self) -> &'static str {
        match self {
            Self::Unverified => "unverified",
            Self::Verified => "verified",
            Self::Disabled => "disabled",
        }
    }
}

/// Where events are sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Endpoint {
    /// Its number.
    pub id: i64,
    /// The address.
    pub url: String,
    /// What its keys are derived with.
    pub keys: EndpointKeys,
    /// Whether it is sent events.
    pub state: EndpointState,
    /// Since when nothing but failures came of it, Unix milliseconds.
    pub failing_ms: Option<u64>,
    /// The last failure.
    pub said: Option<String>,
}

/// What the keys of an endpoint are derived with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EndpointKeys {
    /// Random.
    pub salt: [u8; 16],
    /// Which keys, from 1.
    pub generation: u32,
    /// When the last ones came, Unix milliseconds; `None`: they are the first.
    pub rotated_ms: Option<u64>,
}

/// A rule that is kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeptAlert {
    /// Its number.
    pub no: i64,
    /// Its name.
    pub id: String,
    /// The rule's canonical bytes.
    pub rule: Vec<u8>,
    /// Where its events are sent.
    pub endpoint: Option<Endpoint>,
    /// Events that wait for being sent.
    pub pending: u32,
    /// When it was made, Unix seconds.
    pub created_s: u64,
    /// When it ends unless it is renewed.
    pub expires_s: u64,
    /// Why it ended: `deleted`, `expired`, `retired`.
    pub ended: Option<String>,
    /// Where it stands, as it was written.
    pub state: String,
    /// Its newest event that is still kept.
    pub last_seq: u32,
}

/// A rule that came or ended since somebody looked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChangedAlert {
    /// Its number.
    pub no: i64,
    /// The rule's canonical bytes.
    pub rule: Vec<u8>,
    /// What is kept of its run.
    pub run: Vec<u8>,
    /// Where it stood.
    pub state: String,
    /// Whether it ended.
    pub over: bool,
}

/// What a slot made of a rule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AlertStep {
    /// The rule's number.
    pub no: i64,
    /// Its events.
    pub events: Vec<AlertEvent>,
    /// What is to be kept of its run, where it is time to keep it.
    pub run: Option<Vec<u8>>,
    /// Where it stands, where that changed.
    pub state: Option<String>,
    /// Whether the pool retired.
    pub ended: bool,
}

/// An event that was made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeptEvent {
    /// Its place among the rule's.
    pub seq: u32,
    /// Its name.
    pub id: String,
    /// What kind.
    pub r#type: String,
    /// The slot that made it.
    pub slot: u32,
    /// The canonical bytes.
    pub document: Vec<u8>,
    /// What became of its delivery: state, attempts, the last failure.
    pub delivery: Option<(String, u32, Option<String>)>,
}

/// What is to be sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeliveryTask {
    /// What it is.
    pub what: Sent,
    /// The endpoint's number.
    pub endpoint: i64,
    /// The address.
    pub url: String,
    /// Its host.
    pub host: String,
    /// What its keys are derived with.
    pub keys: EndpointKeys,
    /// The attempt, from 1; those that nobody marked do not count.
    pub attempt: u32,
}

/// What is sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Sent {
    /// An event of a rule.
    Event {
        /// The rule's number.
        alert: i64,
        /// Its place.
        seq: u32,
        /// Its name.
        id: String,
        /// Its bytes.
        document: Vec<u8>,
    },
    /// Whether events are wanted.
    Challenge,
}

/// What became of an attempt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeliveryAttempt {
    /// What was sent.
    pub sending: DeliveryTask,
    /// What came of it.
    pub outcome: Outcome,
}

/// What came of an attempt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// It was taken.
    Taken,
    /// It is tried again at an instant, Unix milliseconds; never, where there is none.
    Failed {
        /// When.
        again_ms: Option<u64>,
        /// Why.
        said: String,
    },
    /// Nothing is wanted any more.
    Gone {
        /// Why.
        said: String,
    },
}

/// How much there is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct AlertCounts {
    /// Rules that did not end.
    pub alerts: u64,
    /// Events that are kept.
    pub events: u64,
    /// Of them those that wait for being sent.
    pub pending: u64,
    /// Those that were taken.
    pub delivered: u64,
    /// Those that were given up.
    pub given_up: u64,
}

fn damaged_error(what: &'static str, of: impl std::fmt::Display) -> AlertsError {
    AlertsError::Damaged { what, of: of.to_string() }
}

fn number<T: TryFrom<i64>>(what: &'static str, of: i64, number: i64) -> Result<T> {
    T::try_from(number).map_err(|_| damaged_error(what, of))
}

fn keys(of: i64, salt: [u8; 16], generation: i64, rotated_ms: Option<i64>) -> Result<EndpointKeys> {
    Ok(EndpointKeys {
        salt,
        generation: number("the generation", of, generation)?,
        rotated_ms: rotated_ms.map(|ms| number("the rotation", of, ms)).transpose()?,
    })
}

impl Endpoint {
    pub(super) fn from_row(row: EndpointRow) -> Result<Self> {
        let state = match row.state.as_str() {
            "unverified" => EndpointState::Unverified,
            "verified" => EndpointState::Verified,
            "disabled" => EndpointState::Disabled,
            _ => return Err(damaged_error("the state", row.id)),
        };
        Ok(Self {
            id: row.id,
            keys: keys(row.id, row.salt, row.generation, row.rotated_ms)?,
            state,
            failing_ms: row.failing_ms.map(|ms| number("the failure", row.id, ms)).transpose()?,
            url: row.url,
            said: row.said,
        })
    }
}

impl KeptAlert {
    pub(super) fn from_row(
        row: AlertRow,
        endpoint: Option<EndpointRow>,
        pending: i64,
    ) -> Result<Self> {
        let no = row.no;
        Ok(Self {
            no,
            endpoint: endpoint.map(Endpoint::from_row).transpose()?,
            pending: number("the number of deliveries", no, pending)?,
            created_s: number("the instant", no, row.created_s)?,
            expires_s: number("the instant", no, row.expires_s)?,
            last_seq: number("the last event", no, row.last_seq)?,
            id: row.id,
            rule: row.rule,
            ended: row.ended,
            state: row.state,
        })
    }
}

impl From<ChangedRow> for ChangedAlert {
    fn from(row: ChangedRow) -> Self {
        let ChangedRow { no, rule, run, state, over, .. } = row;
        Self { no, rule, run, state, over }
    }
}

impl KeptEvent {
    pub(super) fn from_row(row: EventRow) -> Result<Self> {
        let (seq, slot) = (row.seq, row.slot);
        let attempts = number("the attempts", seq, row.attempts.unwrap_or(0))?;
        Ok(Self {
            seq: number("the event", seq, seq)?,
            slot: number("the slot", seq, slot)?,
            id: row.id,
            r#type: row.r#type,
            document: row.document,
            delivery: row.sent.map(|state| (state, attempts, row.said)),
        })
    }
}

impl DeliveryTask {
    pub(super) fn event(row: DueRow) -> Result<Self> {
        let of = row.alert;
        Ok(Self {
            what: Sent::Event {
                alert: of,
                seq: number("the event", of, row.seq)?,
                id: row.event_id,
                document: row.document,
            },
            endpoint: row.endpoint,
            url: row.url,
            host: row.host,
            keys: keys(of, row.salt, row.generation, row.rotated_ms)?,
            attempt: number("the failures", of, row.failures + 1)?,
        })
    }

    pub(super) fn challenge(row: EndpointRow) -> Result<Self> {
        Ok(Self {
            what: Sent::Challenge,
            endpoint: row.id,
            keys: keys(row.id, row.salt, row.generation, row.rotated_ms)?,
            attempt: number("the failures", row.id, row.failures + 1)?,
            url: row.url,
            host: row.host,
        })
    }
}

/// A slot as the database has it.
pub(super) fn slot_of(number: i64) -> Option<Slot> {
    Slot::new(u64::try_from(number).ok()?).ok()
}
