//! The alert's state table, one slot at a time.

use super::event::AlertEventType;
use super::rule::{AlertTimes, OnMissing};
use super::sample::Sample;
use crate::json::{wire_code, wire_struct};

/// The status of an alert.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum AlertStatus {
    /// No breach.
    #[default]
    Ok,
    /// Breached, but not yet for enough slots, or too soon after it last fired.
    Pending,
    /// Fired.
    Firing,
    /// No longer breached, but not yet for enough slots.
    Recovering,
    /// Data is missing.
    NoData,
}

impl AlertStatus {
    const ALL: [Self; 5] = [Self::Ok, Self::Pending, Self::Firing, Self::Recovering, Self::NoData];

    /// The code used in documents.
    pub fn code(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Pending => "pending",
            Self::Firing => "firing",
            Self::Recovering => "recovering",
            Self::NoData => "no_data",
        }
    }

    fn fires(self) -> bool {
        matches!(self, Self::Firing | Self::Recovering)
    }
}

wire_code!(AlertStatus, AlertStatus::ALL);

/// An alert's status and its counters of consecutive slots.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct AlertState {
    /// The status.
    pub standing: AlertStatus,
    /// Consecutive breaches.
    pub hot: u32,
    /// Consecutive clear slots.
    pub cold: u32,
    /// Consecutive slots without a value.
    pub dark: u32,
    /// The slot at which it last fired.
    pub fired: Option<u32>,
    /// The slot of the last `firing` or `reminder` event.
    pub told: Option<u32>,
    /// Whether the alert was firing when data went missing.
    pub fired_before: bool,
}

wire_struct!(AlertState { standing, hot, cold, dark, fired_before; optional fired, told });

/// Applies a slot to a state and returns the new state and the events. At most two events result: `data`, and one more.
///
/// | state | breach | between | clear | nothing |
/// |---|---|---|---|---|
/// | ok, pending | one more; **firing** after `for_slots`, `refire_slots` after the last time | ok | ok | stays |
/// | firing, recovering | firing | firing | one more; **ok** after `clear_for_slots` | stays |
/// | any | | | | **no data** after `no_data_slots` |
/// | no data | **data**: as it was before, then its row | same | same | stays |
pub fn step(
    times: AlertTimes,
    on_missing: OnMissing,
    before: AlertState,
    slot: u32,
    sample: Sample,
) -> (AlertState, Vec<AlertEventType>) {
    let (mut state, mut said) = (before, Vec::new());
    let sample = match (sample, on_missing) {
        (Sample::Nothing, OnMissing::Breach) => Sample::Breach,
        (Sample::Nothing, OnMissing::Clear) => Sample::Clear,
        (sample, _) => sample,
    };
    if sample == Sample::Nothing {
        state.dark = state.dark.saturating_add(1);
        if state.dark == times.no_data_slots && state.standing != AlertStatus::NoData {
            state.fired_before = state.standing.fires();
            (state.standing, state.hot, state.cold) = (AlertStatus::NoData, 0, 0);
            said.push(AlertEventType::NoData);
        }
        return (state, said);
    }
    state.dark = 0;
    if state.standing == AlertStatus::NoData {
        state.standing = if state.fired_before { AlertStatus::Firing } else { AlertStatus::Ok };
        said.push(AlertEventType::Data);
    }
    if state.standing.fires() {
        said.extend(step_fired(times, &mut state, slot, sample));
    } else {
        said.extend(calm(times, &mut state, slot, sample));
    }
    (state, said)
}

/// The table's row for an alert that is not firing.
fn calm(
    times: AlertTimes,
    state: &mut AlertState,
    slot: u32,
    sample: Sample,
) -> Option<AlertEventType> {
    if sample != Sample::Breach {
        (state.standing, state.hot) = (AlertStatus::Ok, 0);
        return None;
    }
    state.hot = state.hot.saturating_add(1);
    let rested = |fired: u32| slot >= fired.saturating_add(times.refire_slots);
    if state.hot >= times.for_slots && state.fired.is_none_or(rested) {
        (state.standing, state.hot, state.cold) = (AlertStatus::Firing, 0, 0);
        (state.fired, state.told) = (Some(slot), Some(slot));
        return Some(AlertEventType::Firing);
    }
    state.standing = AlertStatus::Pending;
    None
}

/// The table's row for an alert that is firing or recovering.
fn step_fired(
    times: AlertTimes,
    state: &mut AlertState,
    slot: u32,
    sample: Sample,
) -> Option<AlertEventType> {
    if sample == Sample::Clear {
        (state.standing, state.cold) = (AlertStatus::Recovering, state.cold.saturating_add(1));
        if state.cold >= times.clear_for_slots {
            (state.standing, state.hot, state.cold) = (AlertStatus::Ok, 0, 0);
            return Some(AlertEventType::Resolved);
        }
    } else {
        (state.standing, state.cold) = (AlertStatus::Firing, 0);
    }
    let due = |told: u32| slot >= told.saturating_add(times.remind_slots);
    if times.remind_slots > 0 && state.told.is_none_or(due) {
        state.told = Some(slot);
        return Some(AlertEventType::Reminder);
    }
    None
}
