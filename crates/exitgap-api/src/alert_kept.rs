//! Documents of rules that a service stores for their owners.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::alert::{AlertEventTold, AlertStanding, AlertsTold};

/// The webhook that a rule's events are sent to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct WebhookTold {
    /// The URL.
    pub url: String,
    /// `unverified`: the URL has not answered the challenge yet; `verified`: events are sent;
    /// `disabled`: the URL answered 410, or failed for five days.
    pub state: String,
    /// The public key for `v1a` signatures: `whpk_` and base64.
    pub public_key: String,
    /// The previous public key. It also signs for a day after a key rotation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub previous_public_key: Option<String>,
    /// The start of the current run of failures, RFC 3339.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failing_since: Option<String>,
    /// The last failure.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_failure: Option<String>,
    /// Events waiting to be sent.
    pub pending: u32,
}

/// A stored rule: `GET /v1/alerts/{alert}`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct AlertKept {
    /// The rule's name. It is part of the rule and of every event.
    pub alert: String,
    /// The pool.
    pub pool: String,
    /// The rule with every default filled in. Saved as a file, it is the input of `exitgap alert
    /// replay`.
    #[cfg_attr(feature = "openapi", schema(value_type = Object))]
    pub rule: Value,
    /// The SHA-256 of the rule's canonical bytes.
    pub rule_hash: String,
    /// When the rule was created, RFC 3339.
    pub created: String,
    /// When the rule expires, RFC 3339: 30 days after its owner's last call.
    pub expires: String,
    /// Why the rule ended: `deleted`, `expired`, or `retired` (the pool was retired).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended: Option<String>,
    /// The state of the rule after `evaluated_slot`.
    pub state: AlertStanding,
    /// The last slot that all rules were evaluated with. Absent before the first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub evaluated_slot: Option<u32>,
    /// The sequence number of the rule's newest event. 0: no events.
    pub last_seq: u32,
    /// The webhook that events are sent to. Absent: events can only be read here.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub webhook: Option<WebhookTold>,
}

/// A new rule: `POST /v1/alerts`. Its secrets are shown only once, in this answer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct AlertMade {
    /// The rule.
    pub alert: AlertKept,
    /// The owner's token, sent from now on as `Authorization: Bearer`: `exa_` and 43 letters,
    /// digits, `-` and `_`. Present only if the request had no token.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub token: Option<String>,
    /// The secret key for `v1` signatures: `whsec_` and base64. Present only if the URL is new for
    /// this owner.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub webhook_secret: Option<String>,
    /// The events of the rule over the last 30 days, or over as many days as are recorded.
    pub backtest: AlertsTold,
}

/// All rules of one owner: `GET /v1/alerts`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct AlertsKept {
    /// The rules, newest first, at most 200. Rules that ended in the last 30 days are included.
    pub alerts: Vec<AlertKept>,
}

/// An event of a stored rule.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct AlertEventKept {
    /// The event.
    pub event: AlertEventTold,
    /// `pending`, `delivered` or `given_up`. Absent if the event is not sent to a webhook.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub delivery: Option<String>,
    /// How many times it was sent.
    pub attempts: u32,
    /// The last failure.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_failure: Option<String>,
}

/// The events of a stored rule: `GET /v1/alerts/{alert}/events`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct AlertEventsKept {
    /// The rule's name.
    pub alert: String,
    /// The events of the last 30 days after `after_seq`, oldest first.
    pub events: Vec<AlertEventKept>,
    /// The `after_seq` of the next request: the sequence number of the last event here, or the
    /// given `after_seq`.
    pub next_after_seq: u32,
}

/// New keys of a webhook: `POST /v1/alerts/{alert}/rotate`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct WebhookKeys {
    /// The secret key for `v1` signatures. It is shown only once, in this answer.
    pub webhook_secret: String,
    /// The public key for `v1a` signatures.
    pub public_key: String,
    /// Until when the previous keys also sign, RFC 3339.
    pub previous_until: String,
}

/// A ticket that replaces the owner's token in a stream: `POST /v1/alerts/ticket`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct StreamTicket {
    /// The value of the parameter `ticket` of `/v1/stream`. It only allows reading the events of
    /// the owner's rules.
    pub ticket: String,
    /// Until when a stream can be opened with the ticket, RFC 3339.
    pub expires: String,
}

/// The result of sending events again: `POST /v1/alerts/{alert}/replay`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct AlertsResent {
    /// Events newly queued. Events that were already waiting are not counted.
    pub events: u32,
}
