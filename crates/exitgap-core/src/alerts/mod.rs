//! Alerts, `alerts/1`: when a rule about a pool fires, determined by the sealed slots alone.
//!
//! - `rule`: the watched condition and its format; `state`: the state table, one slot at a time
//! - `sample`: a slot's value for a rule; `run`: a rule over slot after slot; `event`: the result
//!
//! **An alert is a pure function of its rule and the sealed heads and snapshots.** It can therefore
//! be evaluated anywhere, twice or late, and anyone with the rule and the log computes the same
//! events, byte for byte. There is no clock: the time of an event is the time of its slot. Actions
//! by people (expiry, deletion, a receiver's challenge) are not events of a run.

mod event;
mod rule;
mod run;
mod sample;
mod state;

pub use event::{AlertCheckpoint, AlertEvent, AlertEventType};
pub use rule::{AlertKind, AlertRule, AlertTimes, MAX_RULE_BYTES, OnMissing, RuleError};
pub use run::{AlertRun, AlertRunError, SealedSlot};
pub use sample::{AlertReading, Sample};
pub use state::{AlertState, AlertStatus, step};

/// The name and version of these rules.
pub const ALERTS: &str = "alerts/1";

#[cfg(test)]
mod tests;
