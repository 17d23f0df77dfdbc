//! Snapshots: all state of a pool that affects swaps, with its oracle readings, at one block, and
//! the canonical bytes whose hash names the snapshot.
//!
//! An [`Observation`] is a pool at a block. A [`Snapshot`] is the observation that the block rule
//! assigns to a slot. Both are checked when they are created, so every existing value can be used
//! for computing.

mod agreement;
mod error;
mod fact;
mod networks;
mod observation;
mod oracle;
mod session;
mod token;
mod wire;
mod wire_session;

pub use agreement::{Difference, Testimony, place_of, without_chain};
pub use error::ObservationError;
pub use fact::Fact;
pub use networks::known_genesis;
pub use observation::{BaseError, BlockRef, ChainKind, ChainTag, Observation, Snapshot};
pub use oracle::{OracleReading, OracleRole, OracleSource, RoundData};
pub use session::{OracleState, Session, TokenSession};
pub use token::{Symbol, SymbolError, Token};
pub(crate) use wire::ReadSnapshot;
pub use wire::{
    MAX_SNAPSHOT_BYTES, MAX_SNAPSHOT_FILE_BYTES, SnapshotDocuments, SnapshotError, SnapshotFile,
};
