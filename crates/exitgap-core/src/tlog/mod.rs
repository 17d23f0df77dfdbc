//! Transparency logs: all of [`exitgap_tlog`], with what exitgap's own logs add to it. What a leaf says is
//! for others ([`evidence`](crate::evidence)).
//!
//! - `origin`: the name of a log that holds a leaf per slot, and its checkpoints
//! - `fork`: two signed states that cannot both be one log's, as a file

mod fork;
mod origin;

pub use exitgap_tlog::*;
pub use fork::{Fork, ForkError, Forked, MAX_FORK_BYTES};
pub use origin::Origin;

/// The state of a log that holds a leaf per slot.
pub type Checkpoint = exitgap_tlog::Checkpoint<Origin>;
