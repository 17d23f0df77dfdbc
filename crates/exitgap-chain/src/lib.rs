//! exitgap's chain reader: from a node's JSON-RPC to core's snapshots. Everything is read at the
//! hash of one block and checked before it is used.
//!
//! **In scope**: what to read ([`config`]), bounded requests to a chain's nodes ([`Limits`]), the
//! block of a slot, the kind of a pool's contract, its state, its tokens and its oracles
//! ([`ChainReader`]). **Out of scope**, with the crate responsible: the arithmetic and the rules of
//! snapshots (`exitgap-core`), when to read and what to store (`exitgap-server`, `exitgap-store`).
//!
//! Invariants: no global state, no wall clock (the slot and the deadline are arguments), data is
//! kept only in memory. A node that lies, lags, prunes, throttles or fails costs a bounded number
//! of requests. The result is then a [`ReadFailure`] with its reason, never a guessed value.
//!
//! ```no_run
//! # async fn example() -> Result<(), Box<dyn std::error::Error>> {
//! use std::time::Duration;
//! use exitgap_chain::config::{Config, Plan};
//! use exitgap_chain::{Limits, readers};
//! use exitgap_core::series::Slot;
//!
//! # let config = Config::default();
//! let plan = Plan::new(&config)?;
//! for (chain, mut reader) in readers(plan, &Limits::default())? {
//!     let deadline = tokio::time::Instant::now() + Duration::from_secs(50);
//!     let reading = reader.read_slot(Slot::FIRST, deadline).await;
//!     for (pool, snapshot) in reading.pools {
//!         match snapshot {
//!             Ok(snapshot) => println!("{pool}: block {}", snapshot.observation().block().number),
//!             Err(missing) => println!("{pool}: missing, {missing}"),
//!         }
//!     }
//! }
//! # Ok(())
//! # }
//! ```

#![expect(
    clippy::result_large_err,
    reason = "a configuration's error names the pool it is about, and one ends the reading"
)]
#[expect(clippy::too_many_arguments, reason = "a contract's event has as many fields as it has")]
mod abi;
mod blocks;
pub mod config;
mod events;
mod limits;
mod multicall;
mod narrowing;
mod oracles;
mod pool_logs;
mod pools;
mod prove;
mod read_failure;
mod reader;
mod rpc;
pub mod settle;
mod trial;
#[cfg(test)]
mod trial_node;

pub use blocks::{SeenBlock, SeenHeads};
pub use events::{Event, FullReadCause};
pub use limits::Limits;
pub use pool_logs::{LogFault, LogsRead, LogsSince, LogsUntil, PoolLogs, UnreadLogs};
pub use pools::PoolInfo;
pub use prove::{
    AnchoringError, ProveError, Proven, StateProver, Unproven, figures_range, judge_snapshot,
    subject_to_record,
};
pub use read_failure::ReadFailure;
pub use reader::{
    ChainReader, CheckFinding, GenesisDisagreement, LogsChecked, Severity, SlotReading, readers,
};
pub use rpc::{ClientError, RequestOutcomes, provide_tls};
