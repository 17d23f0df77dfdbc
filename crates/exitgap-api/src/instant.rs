//! Instants in requests.

use exitgap_core::series::{Slot, SlotError, unix_s_of};

use crate::parameters::shown;
use crate::{Problem, ProblemCode};

/// Parses the parameter `field`, an RFC 3339 instant, to the slot at or before it.
pub fn slot_at(field: &str, text: &str) -> Result<Slot, Problem> {
    let invalid = |detail: String, hint: &str| {
        Problem::new(ProblemCode::InvalidParameter, detail).field(field).hint(hint)
    };
    let before = || {
        let slot = SlotError::BeforeSeries { slot: 0 };
        Problem::new(ProblemCode::BeforeSeries, slot.to_string())
            .field(field)
            .hint(format!("the series begins at {}", Slot::FIRST))
    };
    let unix_s = unix_s_of(text).map_err(|error| match error {
        exitgap_core::series::InstantError::Before1970 => before(),
        exitgap_core::series::InstantError::Form => {
            let shown = shown(text);
            let hint = if text.contains(' ') {
                "in a URL, write the + of an offset as %2B; e.g. 2026-08-22T12:00:00Z"
            } else {
                "e.g. 2026-08-22T12:00:00Z"
            };
            invalid(format!("{field}: {shown:?} is {error}"), hint)
        }
    })?;
    Slot::at_or_before(unix_s).map_err(|error| match error {
        SlotError::BeforeSeries { .. } => Problem { detail: error.to_string(), ..before() },
        SlotError::TooLate { .. } => {
            invalid(format!("{field}: {error}"), "ask for an earlier time")
        }
    })
}
