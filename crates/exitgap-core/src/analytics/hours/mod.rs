//! Market hours, `hours/1`: depth and gap while a pool's markets are open, compared with closed.
//!
//! - `terms`: the parameters; `scan`: the one pass over the slots; `result`: the result
//!
//! Sessions and the statistics of their slots are defined in [`crate::hours`]. A slot belongs to
//! the session of its block's timestamp, by the calendars in the last snapshot of the period that
//! was not retracted. A calendar added in between applies to all slots.
//!
//! Whether anyone traded, and trading halts, are not covered.

mod result;
mod scan;
mod terms;

pub use result::{HoursClosureResult, HoursKindResult, HoursResult, HoursSpreadResult};
pub use scan::HoursPass;
pub(super) use scan::{ClosureFound, ClosureScan, Taken};
pub(super) use terms::HoursCalendar;
pub use terms::{HoursParameters, HoursTerms};

/// The name and version of these rules.
pub const HOURS: &str = "hours/1";
