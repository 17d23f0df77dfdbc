//! What a rule has to say of a pool's recorded slots.

use exitgap_core::alerts::{ALERTS, AlertEvent, AlertRun, AlertState};
use exitgap_core::series::Slot;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{Number, Status};

/// Where a rule stands.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct AlertStanding {
    /// `ok`, `pending`, `firing`, `recovering` or `no_data`.
    pub standing: String,
    /// Breaches in a row, before it fires.
    pub breach_slots: u32,
    /// Slots in a row that are clear, before it is over.
    pub clear_slots: u32,
    /// Slots in a row that say nothing.
    pub no_data_slots: u32,
    /// The slot at which it last fired.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fired_slot: Option<u32>,
}

/// An event: what a rule and the sealed slots make, the same from whoever computes it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct AlertEventTold {
    /// Its name, `evt_` and 52 letters and digits.
    pub id: String,
    /// Its place among the rule's events, from 1.
    pub seq: u32,
    /// `alert.firing`, `alert.resolved`, `alert.no_data`, `alert.data`, `alert.reminder`, `alert.corrected` or
    /// `alert.ended`.
    pub r#type: String,
    /// The slot that made it.
    pub slot: u32,
    /// The event itself. With its names in order and without white space it is the canonical document.
    #[cfg_attr(feature = "openapi", schema(value_type = Object))]
    pub document: Value,
}

/// What a rule has to say of a period: `GET /v1/alerts/backtest/{pool}`. The rule is the caller's, and nothing of it is kept.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct AlertsTold {
    /// The rules of the table of states: `alerts/1`.
    pub alerts_version: String,
    /// The pool.
    pub pool: String,
    /// The rule, with every default in its place: as a file it is what `exitgap alert replay` reads.
    #[cfg_attr(feature = "openapi", schema(value_type = Object))]
    pub rule: Value,
    /// The SHA-256 of its canonical bytes.
    pub rule_hash: String,
    /// The first slot, RFC 3339.
    pub from: String,
    /// The last slot, RFC 3339.
    pub to: String,
    /// Slots that were evaluated.
    pub slots: u32,
    /// Live or preview.
    pub status: Status,
    /// Days of snapshots behind the pool's newest, at 288 a day.
    pub days_observed: Number,
    /// Where it stands after the last slot.
    pub state: AlertStanding,
    /// Its events, oldest first.
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
            // What the core wrote is JSON.
            document: serde_json::from_slice(&event.canonical).unwrap_or_default(),
        }
    }
}

impl AlertsTold {
    /// What came of a run up to a slot.
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
