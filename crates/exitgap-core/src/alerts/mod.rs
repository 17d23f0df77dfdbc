//! Alerts, `alerts/1`: when a rule about a pool fires, by the sealed slots alone.
//!
//! - `rule`: what is watched, and how it is spelled; `state`: the table of states, one slot at a time
//! - `sample`: what a slot says to a rule; `run`: a rule over slot after slot; `event`: what comes of it
//!
//! **An alert is a pure function of its rule and the sealed heads and snapshots.** So it may be evaluated anywhere, twice
//! or late, and whoever has the rule and the log computes the same events, byte for byte. There is no clock: an event's
//! time is its slot's instant. What depends on people (expiry, deletion, a receiver's challenge) is no event of a run.

mod event;
mod rule;
mod run;
mod sample;
mod state;

pub use event::{AlertCheckpoint, AlertEvent, AlertEventType};
pub use rule::{AlertKind, AlertRule, AlertTimes, MAX_RULE_BYTES, OnMissing, RuleError};
pub use run::{AlertRun, AlertRunError, SealedSlot};
pub use sample::{Reading, Sample};
pub use state::{AlertState, Standing, step};

/// The name and version of these rules.
pub const ALERTS: &str = "alerts/1";

#[cfg(test)]
mod tests;
