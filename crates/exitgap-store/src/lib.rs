//! The append-only store of recorded series: one `SQLite` file, or a database of a `PostgreSQL` server.
//!
//! **In scope**: one entry per pool and slot ([`Entry`]: a snapshot's hash, or missing
//! with its reason), the snapshots' canonical bytes, the heads, slot leaves, Merkle log and
//! signed checkpoints over them, one writer ([`Store`]) and many readers ([`Reader`]).
//! [`LogFolder`] publishes the log as plain files. **Out of scope**, and who does it: what these
//! documents are and how they are hashed, signed and verified (`exitgap-core`), when to record
//! (`exitgap-server`). Which database it is, only `db/` knows.
//!
//! Invariants, held by the database itself and not only by this crate:
//!
//! - A slot is written whole, in one transaction, with one entry for every pool; slots
//!   follow each other without a hole.
//! - What is written is never changed, replaced or deleted; only a pool's default base,
//!   which no figure depends on, may be set anew.
//! - A slot is sealed in the same transaction: a head per pool, its leaf in the log, and the
//!   checkpoint that the store's one key signed; and refused where it could not be published.
//! - The store holds no pool, slot or snapshot that the core did not accept.
//!
//! What this crate adds: one writer per file by a lock the kernel releases
//! ([`Store::open`]), and bodies that are hashed again each time they are read, because
//! the content of a database file is untrusted.
//!
//! ```
//! use exitgap_core::tlog::SignerKey;
//! use exitgap_core::{pools::Direction, series::{MissingReason, Slot}};
//! use exitgap_store::{NewEntry, Outcome, Reader, Store};
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let folder = tempfile::tempdir()?;
//! # let path = folder.path().join("series.db");
//! // A key whose seed everybody knows: for a sketch like this one only.
//! let key = SignerKey::from_seed("example.org/exits", [7; 32])?;
//! let mut store = Store::create(&path, &key)?;
//! let pool = "anvil:0x00000000000000000000000000000000000000aa".parse()?;
//! store.append_slot(Slot::FIRST, &[NewEntry {
//!     pool,
//!     default_base: Direction::ZeroForOne,
//!     reading: Err(MissingReason::RpcUnavailable),
//! }])?;
//!
//! let reader = Reader::open(&path)?;
//! let pool = &reader.pools()?[0];
//! let entry = reader.entry(pool, Slot::FIRST)?.ok_or("no entry")?;
//! assert_eq!(entry.outcome, Outcome::Missing(MissingReason::RpcUnavailable));
//! let log = reader.log()?.ok_or("no log")?;
//! assert_eq!(log.origin.to_string(), "example.org/exits/5957856");
//! let checkpoint = reader.checkpoint(1)?.ok_or("no checkpoint")?;
//! assert!(checkpoint.starts_with("example.org/exits/5957856\n1\n"));
//! # Ok(())
//! # }
//! ```

#![expect(
    clippy::result_large_err,
    reason = "errors carry what they found, and a request or a slot makes one at most"
)]

pub mod alerts;
mod backup;
mod bodies;
pub mod claims;
mod corrupt;
pub mod days;
mod db;
mod derived;
mod error;
mod evidence;
mod figure;
mod fills;
mod folder;
mod fsck;
mod issued;
mod lock;
mod log;
mod lookup;
mod model;
mod notes;
pub mod payments;
pub mod proofs;
mod reader;
mod rows;
#[cfg(test)]
mod samples;
pub mod shards;
pub mod witness;
mod writer;

pub use corrupt::{CorruptBody, CorruptHead, CorruptLog};
pub use db::{DatabaseError, Migrated, ServerState, is_server, migrate, shown};
pub use derived::figures::{
    AtLowest, BoardRow, DepthFigures, DirectionFigures, Figures, Gap, NoGap, Retracted,
    SnapshotFigures, Standing, TakenBack, WindowFigures,
};
pub use derived::points::{Held, Point};
pub use derived::rebuild::{Rebuilt, rebuild};
pub use derived::rollup::{Day, DirectionRollup, GapRollup, Rollup, day_of};
pub use error::StoreError;
pub use evidence::EvidenceError;
pub use figure::{AlertEvaluated, AlertReadError, FigureReadError, WatchedSlot, Watching};
pub use fills::StoredFills;
pub use folder::{
    FollowError, LogFolder, Lost, PublishError, Published, RestoreError, SuccessorError,
    check_published, unpack_body, unpack_table,
};
pub use fsck::{Checked, Damage};
pub use issued::StoredIssued;
pub use log::cosigned::{Cosignatures, MAX_COSIGNATURE_BYTES};
pub use log::{LogIdentity, StoredHead, StoredLeaf};
pub use lookup::{FindError, Recorded};
pub use model::{
    Appended, Changes, Entry, Latest, NewDoubt, NewEntry, NewFills, NewRetraction,
    NewRetractionCause, Outcome, Page, Pool, Totals,
};
pub use notes::{Rechecked, Suspicion};
pub use reader::Reader;
pub use writer::Store;
pub use writer::changes::RetractionRule;
pub use writer::ready::{Ready, spread};
