//! Rules that a service keeps for their owners: documents.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::alert::{AlertEventTold, AlertStanding, AlertsTold};

/// Where a rule's events are sent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct WebhookTold {
    /// The address.
    pub url: String,
    /// `unverified`: it was asked and has not said yet that it wants events; `verified`: it is sent them; `disabled`: it
    /// answered 410, or failed for five days.
    pub state: String,
    /// The key that `v1a` signatures are checked with: `whpk_` and base64.
    pub public_key: String,
    /// The one before, which signs too for a day after a change of keys.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub previous_public_key: Option<String>,
    /// Since when nothing but failures came of it, RFC 3339.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failing_since: Option<String>,
    /// The last failure.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_failure: Option<String>,
    /// Events that wait for being sent.
    pub pending: u32,
}

/// A rule that is kept: `GET /v1/alerts/{alert}`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct AlertKept {
    /// Its name, which stands in the rule and in every event.
    pub alert: String,
    /// The pool.
    pub pool: String,
    /// The rule, with every default in its place: as a file it is what `exitgap alert replay` reads.
    #[cfg_attr(feature = "openapi", schema(value_type = Object))]
    pub rule: Value,
    /// The SHA-256 of its canonical bytes.
    pub rule_hash: String,
    /// When it was made, RFC 3339.
    pub created: String,
    /// When it ends, RFC 3339: 30 days after its owner last came.
    pub expires: String,
    /// Why it ended: `deleted`, `expired`, or `retired`, as its pool did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended: Option<String>,
    /// Where it stands after `evaluated_slot`.
    pub state: AlertStanding,
    /// The last slot that all rules were evaluated with; none before the first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub evaluated_slot: Option<u32>,
    /// The place of its newest event; 0: it has none.
    pub last_seq: u32,
    /// Where its events are sent; none: they are only read here.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub webhook: Option<WebhookTold>,
}

/// A rule that was made: `POST /v1/alerts`. What is secret is told here and never again.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct AlertMade {
    /// The rule.
    pub alert: AlertKept,
    /// What its owner shows from now on, as `Authorization: Bearer`: `exa_` and 43 letters, digits, `-` and `_`. Only
    /// where none was shown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub token: Option<String>,
    /// The key that `v1` signatures are checked with: `whsec_` and base64. Only where the address is new to its owner.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub webhook_secret: Option<String>,
    /// When it would have spoken in the last 30 days, or as many as are recorded.
    pub backtest: AlertsTold,
}

/// An owner's rules: `GET /v1/alerts`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct AlertsKept {
    /// The newest first, those that ended in the last 30 days included; at most 200.
    pub alerts: Vec<AlertKept>,
}

/// An event of a kept rule.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct AlertEventKept {
    /// The event.
    pub event: AlertEventTold,
    /// `pending`, `delivered` or `given_up`; none where it is not sent anywhere.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub delivery: Option<String>,
    /// How often it was sent.
    pub attempts: u32,
    /// The last failure.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_failure: Option<String>,
}

/// What a kept rule said: `GET /v1/alerts/{alert}/events`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct AlertEventsKept {
    /// The rule's name.
    pub alert: String,
    /// Its events after `after_seq`, oldest first, of the last 30 days.
    pub events: Vec<AlertEventKept>,
    /// What to ask with for later ones: the place of the last event here, or `after_seq`.
    pub next_after_seq: u32,
}

/// New keys of an endpoint: `POST /v1/alerts/{alert}/rotate`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct WebhookKeys {
    /// The key that `v1` signatures are checked with: told here and never again.
    pub webhook_secret: String,
    /// The key that `v1a` signatures are checked with.
    pub public_key: String,
    /// Until when the keys before sign too, RFC 3339.
    pub previous_until: String,
}

/// What an owner shows for a stream in place of the token: `POST /v1/alerts/ticket`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct StreamTicket {
    /// The parameter `ticket` of `/v1/stream`. It lets nobody do anything but read what the owner's rules say.
    pub ticket: String,
    /// Until when a stream can be begun with it, RFC 3339.
    pub expires: String,
}

/// What is sent again: `POST /v1/alerts/{alert}/replay`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct AlertsResent {
    /// Events that were not waiting for being sent already.
    pub events: u32,
}
