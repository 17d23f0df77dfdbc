//! The append-only store of recorded series: one `SQLite` file, or a database on a `PostgreSQL`
//! server.
//!
//! **In scope**: one entry per pool and slot ([`Entry`]: the hash of a snapshot, or missing with a
//! reason), the canonical bytes of the snapshots, the heads, slot leaves, Merkle log and signed
//! checkpoints over them, one writer ([`Store`]) and many readers ([`Reader`]). [`LogFolder`]
//! publishes the log as plain files. **Out of scope**, with the crate responsible: what these
//! documents are and how they are hashed, signed and verified (`exitgap-core`), when to record
//! (`exitgap-server`). Only `db/` knows which database is used.
//!
//! Invariants, enforced by the database itself and not only by this crate:
//!
//! - A slot is written as a whole, in one transaction, with one entry for every pool. Slots follow
//!   each other without gaps.
//! - Written data is never changed, replaced or deleted. Only a pool's default base can be changed,
//!   and no figure depends on it.
//! - A slot is sealed in the same transaction: a head per pool, its leaf in the log, and the
//!   checkpoint signed with the store's one key. A slot that could not be published is refused.
//! - The store contains no pool, slot or snapshot that the core did not accept.
//!
//! In addition, this crate allows one writer per file, by a lock that the kernel releases
//! ([`Store::open`]), and hashes bodies again whenever they are read, because the content of a
//! database file is untrusted.
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
mod output;
pub mod payments;
pub mod proofs;
mod reader;
mod rows;
#[cfg(test)]
mod samples;
pub mod shards;
mod unfinished;
pub mod witness;
mod writer;

pub use corrupt::{CorruptBody, CorruptHead, CorruptLog};
pub use db::{
    DatabaseError, MigrationReport, PagesChecked, ServerState, check_pages, is_server, migrate,
    shown,
};
pub use derived::figures::{
    AtLowest, BoardRow, DepthFigures, DirectionFigures, Figures, Gap, NoGap, PoolStatus,
    SlotRetraction, SnapshotFigures, TakenBack, WindowFigures,
};
pub use derived::points::{Held, Point};
pub use derived::rebuild::{Rebuilt, rebuild};
pub use derived::rollup::{Day, DirectionRollup, GapRollup, Rollup, day_of};
pub use derived::week::WeekFigures;
pub use error::StoreError;
pub use evidence::EvidenceError;
pub use figure::{AlertEvaluated, AlertReadError, FigureReadError, WatchCache, WatchedSlot};
pub use fills::StoredFills;
pub use folder::{
    FollowError, LogFolder, Lost, PublishError, PublishReport, RestoreError, SuccessorError,
    check_published, unpack_body, unpack_table,
};
pub use fsck::{Damage, FsckCounts};
pub use issued::StoredIssued;
pub use log::cosignatures::{Cosignatures, MAX_COSIGNATURE_BYTES};
pub use log::{LogIdentity, StoredHead, StoredLeaf};
pub use lookup::{FindError, SlotLookup};
pub use model::{
    AppendOutcome, Changes, Entry, Latest, NewDoubt, NewEntry, NewFills, NewRetraction,
    NewRetractionCause, Outcome, Page, Pool, Totals,
};
pub use notes::{RecheckOutcome, Suspicion};
pub use output::write_output;
pub use reader::Reader;
pub use writer::Store;
pub use writer::changes::RetractionRule;
pub use writer::ready::{Ready, spread};
