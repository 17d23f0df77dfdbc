//! The events of a rule over a pool's recorded slots.

use exitgap_core::alerts::{ALERTS, AlertEvent, AlertRun, AlertState};
use exitgap_core::series::Slot;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{Number, Status};

/// The state of a rule.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct AlertStanding {
    /// `ok`, `pending`, `firing`, `recovering` or `no_data`.
    pub standing: String,
    /// Consecutive breaches so far, before the rule fires.
    pub breach_slots: u32,
    /// Consecutive clear slots so far, before the alert is resolved.
    pub clear_slots: u32,
    /// Consecutive slots without data.
    pub no_data_slots: u32,
    /// The slot at which the rule last fired.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fired_slot: Option<u32>,
}

/// An event, computed from a rule and the sealed slots. Everyone who computes the event gets the
/// same bytes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct AlertEventTold {
    /// The event's id, `evt_` and 52 letters and digits.
    pub id: String,
    /// The event's sequence number within the rule, from 1.
    pub seq: u32,
    /// `alert.firing`, `alert.resolved`, `alert.no_data`, `alert.data`, `alert.reminder`, `alert.corrected` or
    /// `alert.ended`.
    pub r#type: String,
    /// The slot that caused the event.
    pub slot: u32,
    /// The event document. With its names in order and without white space it is the canonical
    /// document.
    #[cfg_attr(feature = "openapi", schema(value_type = Object))]
    pub document: Value,
}

/// The state and events of a rule over a period: `GET /v1/alerts/backtest/{pool}`. The caller
/// supplies the rule, and the service does not store it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct AlertsTold {
    /// The version of the state table: `alerts/1`.
    pub alerts_version: String,
    /// The pool.
    pub pool: String,
    /// The rule with every default filled in. Saved as a file, it is the input of `exitgap alert
    /// replay`.
    #[cfg_attr(feature = "openapi", schema(value_type = Object))]
    pub rule: Value,
    /// The SHA-256 of the rule's canonical bytes.
    pub rule_hash: String,
    /// The first slot, RFC 3339.
    pub from: String,
    /// The last slot, RFC 3339.
    pub to: String,
    /// Slots that were evaluated.
    pub slots: u32,
    /// Live or preview.
    pub status: Status,
    /// Days of snapshots up to the pool's newest snapshot, at 288 slots a day.
    pub days_observed: Number,
    /// The state of the rule after the last slot.
    pub state: AlertStanding,
    /// The rule's events, oldest first.
    pub events: Vec<AlertEventTold>,
}

impl From<AlertState> for AlertStanding {
    fn from(state: AlertState) -> Self {
        let AlertState { standing, hot, cold, dark, fired, .. } = state;
        Self {
            standing: standing.code().to_owned(),
            breach_slots: hot,
            clear_slots: cold,
            no_data_slots: dark,
            fired_slot: fired,
        }
    }
}

impl From<&AlertEvent> for AlertEventTold {
    fn from(event: &AlertEvent) -> Self {
        Self {
            id: event.id.clone(),
            seq: event.seq,
            r#type: event.event.code().to_owned(),
            slot: event.slot.number(),
            // The core writes valid JSON.
            document: serde_json::from_slice(&event.canonical).unwrap_or_default(),
        }
    }
}

impl AlertsTold {
    /// The result of a run up to a slot.
    pub fn new(
        run: &AlertRun,
        events: &[AlertEvent],
        to: Slot,
        slots: u32,
        status: Status,
        days_observed: Number,
    ) -> Self {
        let rule = run.rule();
        Self {
            alerts_version: ALERTS.to_owned(),
            pool: rule.pool.to_string(),
            rule: serde_json::from_slice(&rule.to_canonical()).unwrap_or_default(),
            rule_hash: rule.hash().to_string(),
            from: rule.first_slot.to_string(),
            to: to.to_string(),
            slots,
            status,
            days_observed,
            state: run.state().into(),
            events: events.iter().map(AlertEventTold::from).collect(),
        }
    }
}
