//! The slots of a recorded series, and why a slot may be missing.

mod missing;
mod slot;

pub use missing::MissingReason;
pub use slot::{Slot, SlotError};
