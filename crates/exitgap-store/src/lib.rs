//! The append-only store of recorded series: one `SQLite` file.
//!
//! **In scope**: one entry per pool and slot ([`Entry`]: a snapshot's hash, or missing
//! with its reason), the snapshots' canonical bytes, one writer ([`Store`]) and many
//! readers ([`Reader`]). **Out of scope**, and who does it: what a snapshot is and how
//! it is hashed (`exitgap-core`), when to record (`exitgap-server`).
//!
//! Invariants, held by the database itself and not only by this crate:
//!
//! - A slot is written whole, in one transaction, with one entry for every pool; slots
//!   follow each other without a hole.
//! - What is written is never changed, replaced or deleted; only a pool's default base,
//!   which no figure depends on, may be set anew.
//! - The store holds no pool, slot or snapshot that the core did not accept.
//!
//! What this crate adds: one writer per file by a lock the kernel releases
//! ([`Store::open`]), and bodies that are hashed again each time they are read, because
//! the content of a database file is untrusted.
//!
//! ```
//! use exitgap_core::{pools::Direction, series::{MissingReason, Slot}};
//! use exitgap_store::{NewEntry, Outcome, Reader, Store};
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let folder = tempfile::tempdir()?;
//! # let path = folder.path().join("series.db");
//! let mut store = Store::create(&path)?;
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
//! # Ok(())
//! # }
//! ```

mod body;
mod error;
mod lock;
mod model;
mod reader;
mod schema;
mod sql;
mod writer;

pub use error::{CorruptBody, StoreError};
pub use model::{Appended, Entry, Latest, NewEntry, Outcome, Page, Pool, Totals};
pub use reader::Reader;
pub use writer::Store;
