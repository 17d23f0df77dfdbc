//! Transparency logs: all of [`exitgap_tlog`], and what exitgap's own logs add. The content of a
//! leaf is defined elsewhere ([`evidence`](crate::evidence)).
//!
//! - `origin`: the name of a log with one leaf per slot, and its checkpoints
//! - `fork`: two signed states that cannot both belong to one log, as a file

mod fork;
mod origin;

pub use exitgap_tlog::*;
pub use fork::{Fork, ForkError, MAX_FORK_BYTES, ProvenFork};
pub use origin::Origin;

/// The state of a log with one leaf per slot.
pub type Checkpoint = exitgap_tlog::Checkpoint<Origin>;
