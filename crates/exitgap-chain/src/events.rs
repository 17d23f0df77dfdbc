//! Events during reading that change no answer but that an operator should know about.

use core::fmt;

use exitgap_core::ids::{Address, Code, PoolId};
use exitgap_core::series::Slot;

/// An event during the reading of a slot. Each is also logged: as a warning or, if recorded slots are in doubt, as an
/// error.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Event {
    /// The periodic full reading of a pool's ticks differs from the ticks that were updated through logs. The full
    /// reading is used.
    TicksDiffer {
        /// The pool.
        pool: PoolId,
        /// The block at which both were compared.
        block: u64,
        /// The number of ticks that differ.
        differing: usize,
        /// The lowest such tick.
        first_tick: i32,
        /// The slot of the previous full reading. Slots recorded after it are in doubt. `None` if this reader has made
        /// no full reading.
        good_until: Option<Slot>,
    },
    /// A pool's ticks were read in full before that was due.
    ReadInFull {
        /// The pool.
        pool: PoolId,
        /// The block.
        block: u64,
        /// The cause.
        cause: FullReadCause,
    },
    /// The form of the block's header is unknown, so its hash could not be verified and is trusted.
    HashNotRecomputed {
        /// The block.
        block: u64,
    },
    /// The second node did not answer in time, so the first node is trusted for this slot.
    NotCompared {
        /// The part that was not compared.
        what: &'static str,
        /// The cause.
        detail: String,
    },
    /// A trial of whether a pool pays the computed amount could not be made.
    NotTried {
        /// The pool.
        pool: PoolId,
        /// The cause.
        detail: String,
    },
    /// A fact could not be read. The snapshots of its token's pools do not contain it.
    FactNotRead {
        /// The token.
        token: Address,
        /// Its name.
        name: Code,
        /// The cause.
        detail: String,
    },
    /// A block's receipts have a log of a pool that the node left out of its answer. What the log names was read again.
    LogOmitted {
        /// The pool.
        pool: PoolId,
        /// The block.
        block: u64,
    },
    /// Another node was asked, because one node's state broke the pool's invariants.
    ReadAtOtherNode {
        /// The pool.
        pool: PoolId,
        /// The problem with the first reading.
        detail: String,
    },
}

/// Why ticks were read in full before that was due.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FullReadCause {
    /// The ticks that were updated through logs do not match the pool's own liquidity.
    Unbalanced(String),
    /// The block of those ticks is no longer on the chain.
    Reorganised,
    /// The block of those ticks is not before this one, or is too old.
    TooFar,
    /// The logs could not be read.
    NoLogs(String),
    /// The bloom of this block's header names the pool's logs, but the node gave none. The bloom may be wrong.
    NamedByBloom(u64),
}

impl fmt::Display for FullReadCause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unbalanced(detail) => f.write_str(detail),
            Self::Reorganised => {
                f.write_str("the block of the last reading is no longer on the chain")
            }
            Self::TooFar => f.write_str("the block of the last reading is too far away"),
            Self::NoLogs(detail) => write!(f, "no logs: {detail}"),
            Self::NamedByBloom(block) => write!(
                f,
                "the bloom of block {block} names its logs, but the node gave none; either the node left one out, or the \
                 bloom names it by chance"
            ),
        }
    }
}

impl fmt::Display for Event {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TicksDiffer { pool, block, differing, first_tick, .. } => write!(
                f,
                "{pool}: {differing} ticks followed from logs differ from a full reading at block {block}; the \
                 lowest is {first_tick}"
            ),
            Self::ReadInFull { pool, block, cause } => {
                write!(f, "{pool}: ticks read in full at block {block}: {cause}")
            }
            Self::HashNotRecomputed { block } => write!(
                f,
                "the hash of block {block} could not be recomputed, because its header has a field that this \
                 version does not know; try a newer version"
            ),
            Self::NotCompared { what, detail } => {
                write!(f, "{what} was not compared with the second node: {detail}")
            }
            Self::NotTried { pool, detail } => {
                write!(
                    f,
                    "{pool}: a trial swap to check the computed fill was not possible: {detail}"
                )
            }
            Self::FactNotRead { token, name, detail } => {
                write!(
                    f,
                    "the fact {name} of token {token} is missing from the snapshots: {detail}"
                )
            }
            Self::LogOmitted { pool, block } => write!(
                f,
                "{pool}: the node left a log of block {block} out of its answer, but the block's receipts have it"
            ),
            Self::ReadAtOtherNode { pool, detail } => {
                write!(f, "{pool}: read from another node: {detail}")
            }
        }
    }
}

/// The events of one reading.
#[derive(Debug, Default)]
pub(crate) struct Events(pub(crate) Vec<Event>);

impl Events {
    pub(crate) fn report(&mut self, event: Event) {
        match &event {
            Event::TicksDiffer { .. } => {
                tracing::error!(%event, "recorded slots may be wrong");
            }
            // Some blooms name a pool by chance.
            Event::ReadInFull { cause: FullReadCause::NamedByBloom(_), .. } => {
                tracing::info!(%event, "a pool's logs were not believed");
            }
            _ => tracing::warn!(%event, "noticed while reading a chain"),
        }
        self.0.push(event);
    }
}
