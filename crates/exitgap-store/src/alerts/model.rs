//! Stored rules as typed values, validated when rows are read.

use exitgap_core::alerts::AlertEvent;
use exitgap_core::series::Slot;

use super::{AlertsError, Result};
use crate::db::alerts::{AlertRow, ChangedRow, DueRow, EndpointRow, EventRow};

/// SHA-256 of the token of a rule's owner.
pub type Owner = [u8; 32];

/// Limits on stored rules.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AlertBounds {
    /// The maximum number of rules per client.
    pub per_client: u32,
    /// The maximum number of rules per webhook host.
    pub per_host: u32,
    /// The maximum number of rules in total.
    pub most: u32,
}

/// The limit that a rule would exceed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Full {
    /// The client's.
    Client,
    /// The host's.
    Host,
    /// The total limit.
    All,
}

/// A rule to be stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewAlert {
    /// Its name.
    pub id: String,
    /// Its owner.
    pub owner: Owner,
    /// The client that created it, for the limit per client.
    pub client: [u8; 16],
    /// The caller's idempotency key for the request.
    pub idempotency: Option<String>,
    /// The hash of the request.
    pub request: [u8; 32],
    /// The rule's canonical bytes.
    pub rule: Vec<u8>,
    /// Its first slot.
    pub first_slot: Slot,
    /// The URL that its events are sent to.
    pub endpoint: Option<NewEndpoint>,
    /// When it expires unless it is renewed, Unix seconds.
    pub expires_s: u64,
    /// The saved state of its run before its first slot.
    pub run: Vec<u8>,
    /// Its status at that time, in the reader's encoding.
    pub state: String,
}

/// A URL that events are to be sent to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewEndpoint {
    /// The address.
    pub url: String,
    /// Its host.
    pub host: String,
    /// The salt of its keys, if it is new.
    pub salt: [u8; 16],
}

/// The result of storing a rule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Kept {
    /// The rule was stored.
    New(Box<KeptAlert>),
    /// The same request already created this rule.
    Again(Box<KeptAlert>),
    /// Another request used the same idempotency key.
    OtherRequest,
    /// The rule's first slot was already evaluated.
    Passed,
    /// A limit is reached.
    Full(Full),
}

/// Whether events are sent to an endpoint.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EndpointState {
    /// The endpoint has not confirmed that it wants events.
    Unverified,
    /// Events are sent.
    Verified,
    /// Events are no longer sent.
    Disabled,
}

impl EndpointState {
    /// The code used in documents.
    pub fn code(self) -> &'static str {
        match self {
            Self::Unverified => "unverified",
            Self::Verified => "verified",
            Self::Disabled => "disabled",
        }
    }
}

/// A URL that events are sent to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Endpoint {
    /// Its number.
    pub id: i64,
    /// The address.
    pub url: String,
    /// The parameters of its keys.
    pub keys: EndpointKeys,
    /// Whether events are sent to it.
    pub state: EndpointState,
    /// Since when all deliveries failed, Unix milliseconds.
    pub failing_ms: Option<u64>,
    /// The last failure.
    pub said: Option<String>,
}

/// The parameters from which an endpoint's keys are derived.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EndpointKeys {
    /// Random.
    pub salt: [u8; 16],
    /// The generation of the keys, from 1.
    pub generation: u32,
    /// When the current generation began, Unix milliseconds; `None` for the first.
    pub rotated_ms: Option<u64>,
}

/// A stored rule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeptAlert {
    /// Its number.
    pub no: i64,
    /// Its name.
    pub id: String,
    /// The rule's canonical bytes.
    pub rule: Vec<u8>,
    /// The URL that its events are sent to.
    pub endpoint: Option<Endpoint>,
    /// The number of events that are not yet sent.
    pub pending: u32,
    /// When it was created, Unix seconds.
    pub created_s: u64,
    /// When it expires unless it is renewed.
    pub expires_s: u64,
    /// Why it ended: `deleted`, `expired`, `retired`.
    pub ended: Option<String>,
    /// Its status, as stored.
    pub state: String,
    /// Its newest stored event.
    pub last_seq: u32,
}

/// A rule that was created or ended since an earlier mark.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChangedAlert {
    /// Its number.
    pub no: i64,
    /// The rule's canonical bytes.
    pub rule: Vec<u8>,
    /// The saved state of its run.
    pub run: Vec<u8>,
    /// Its status.
    pub state: String,
    /// Whether it ended.
    pub over: bool,
}

/// The result of a slot for a rule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AlertStep {
    /// The rule's number.
    pub no: i64,
    /// Its events.
    pub events: Vec<AlertEvent>,
    /// The state of its run, if it is time to save it.
    pub run: Option<Vec<u8>>,
    /// Its status, if it changed.
    pub state: Option<String>,
    /// Whether the pool retired.
    pub ended: bool,
}

/// A stored event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeptEvent {
    /// Its sequence number among the rule's events.
    pub seq: u32,
    /// Its name.
    pub id: String,
    /// Its type.
    pub r#type: String,
    /// The slot that caused it.
    pub slot: u32,
    /// The canonical bytes.
    pub document: Vec<u8>,
    /// Its delivery: state, number of attempts, and last failure.
    pub delivery: Option<(String, u32, Option<String>)>,
}

/// A delivery to make.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeliveryTask {
    /// What to send.
    pub what: Sent,
    /// The endpoint's number.
    pub endpoint: i64,
    /// The address.
    pub url: String,
    /// Its host.
    pub host: String,
    /// The parameters of the endpoint's keys.
    pub keys: EndpointKeys,
    /// The number of the attempt, from 1. Attempts without a stored result do not count.
    pub attempt: u32,
}

/// The content of a delivery.
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

/// The result of a delivery attempt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeliveryAttempt {
    /// The delivery.
    pub sending: DeliveryTask,
    /// The outcome.
    pub outcome: Outcome,
}

/// The outcome of a delivery attempt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// The endpoint accepted it.
    Taken,
    /// It will be tried again at a given time, Unix milliseconds, or never if there is none.
    Failed {
        /// The time of the next attempt.
        again_ms: Option<u64>,
        /// The cause.
        said: String,
    },
    /// The endpoint wants no more events.
    Gone {
        /// The cause.
        said: String,
    },
}

/// The counts of rules and events.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct AlertCounts {
    /// Active rules.
    pub alerts: u64,
    /// Stored events.
    pub events: u64,
    /// Events that are not yet sent.
    pub pending: u64,
    /// Events that were delivered.
    pub delivered: u64,
    /// Events whose delivery was given up.
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

/// A slot from its database value.
pub(super) fn slot_of(number: i64) -> Option<Slot> {
    Slot::new(u64::try_from(number).ok()?).ok()
}
