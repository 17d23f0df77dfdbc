//! Snapshots: a pool's whole swap-relevant state with its oracle readings, as they
//! stood at one block, and the canonical bytes that name it.
//!
//! An [`Observation`] is a pool at a block; a [`Snapshot`] is the observation that
//! the block rule assigns to a slot. Both are checked when made: what exists here
//! can be computed with.

mod agreement;
mod error;
mod fact;
mod observation;
mod oracle;
mod session;
mod token;
mod wire;
mod wire_session;

pub use agreement::{Difference, Testimony, place_of, without_chain};
pub use error::ObservationError;
pub use fact::Fact;
pub use observation::{BaseError, BlockRef, ChainKind, ChainTag, Observation, Snapshot};
pub use oracle::{OracleReading, OracleRole, OracleSource, RoundData};
pub use session::{OracleState, Session, TokenSession};
pub use token::{Symbol, SymbolError, Token};
pub(crate) use wire::ReadSnapshot;
pub use wire::{
    MAX_SNAPSHOT_BYTES, MAX_SNAPSHOT_FILE_BYTES, SnapshotDocuments, SnapshotError, SnapshotFile,
};
