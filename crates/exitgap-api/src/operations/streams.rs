//! The parameters of a stream.

use exitgap_core::ids::PoolId;
use exitgap_core::series::Slot;

use super::parameters::{LAST_EVENT_ID, TICKET, WATCHED};
use super::{Given, Question, values};
use crate::{Problem, parse_pool};

/// The maximum number of pools in a stream.
pub const MAX_WATCHED: usize = 100;

/// The position in a stream: the id of the last event that the client received.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EventPlace {
    /// The slot.
    pub slot: Slot,
    /// The event's index in the slot: 0 is the slot's own event; then the pools in the order of their names; then the
    /// events of an owner's rules, in the order of the rules' names.
    pub place: u32,
}

impl EventPlace {
    /// Parses an id, `<slot>.<place>`.
    pub fn parse(text: &str) -> Option<Self> {
        let (slot, place) = text.split_once('.')?;
        let number: u64 = slot.parse().ok()?;
        let read = Self { slot: Slot::new(number).ok()?, place: place.parse().ok()? };
        (read.to_string() == text).then_some(read)
    }
}

impl std::fmt::Display for EventPlace {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}.{}", self.slot.number(), self.place)
    }
}

/// The parameters of a stream of sealed slots with some pools.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StreamAsked {
    /// The pools, in the order of their names, without duplicates.
    pub pools: Vec<PoolId>,
    /// The ticket of an owner of rules.
    pub ticket: Option<String>,
    /// The event after which the stream resumes.
    pub after: Option<EventPlace>,
}

impl Question for StreamAsked {
    fn from_parameters(given: &Given<'_>) -> Result<Self, Problem> {
        let count = given.all_values(&WATCHED).count();
        if count > MAX_WATCHED {
            let detail = format!("a stream takes at most {MAX_WATCHED} pools, not {count}");
            return Err(values::refusal(&WATCHED, &detail));
        }
        let pools: Result<Vec<PoolId>, Problem> =
            given.all_values(&WATCHED).map(parse_pool).collect();
        let mut pools = pools?;
        pools.sort_by_cached_key(ToString::to_string);
        pools.dedup();
        let after = given.parse_optional(&LAST_EVENT_ID, |text| {
            let wrong = || {
                let shown: String = text.chars().take(40).collect();
                values::refusal(
                    &LAST_EVENT_ID,
                    &format!("last_event_id: {shown:?} is not a valid event id"),
                )
            };
            EventPlace::parse(text).ok_or_else(wrong)
        })?;
        let ticket = given.parse_optional(&TICKET, |text| {
            let of = text.strip_prefix("ext_").map(str::as_bytes).unwrap_or_default();
            let plain = |byte: &u8| byte.is_ascii_alphanumeric() || [b'-', b'_'].contains(byte);
            if of.len() == 70 && of.iter().all(plain) {
                return Ok(text.to_owned());
            }
            Err(values::refusal(&TICKET, "ticket: it is not a valid ticket"))
        })?;
        Ok(Self { pools, ticket, after })
    }
}
