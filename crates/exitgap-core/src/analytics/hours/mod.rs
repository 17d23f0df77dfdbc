//! Market hours, `hours/1`: depth and gap while a pool's markets are open, against closed.
//!
//! - `terms`: what is asked; `scan`: the one pass over the slots; `result`: what comes of it
//!
//! What a session is, and what slots of each come to, is [`crate::hours`]'s. A slot belongs to the session of its block's
//! timestamp, by the calendars that the period's last standing snapshot has: one that was added meanwhile holds for all
//! of them.
//!
//! It says nothing of whether anybody traded, nor of halts.

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
