//! What happened while reading that changes no answer, but that an operator wants to know.

use core::fmt;

use exitgap_core::ids::{Address, Code, PoolId};
use exitgap_core::series::Slot;

/// Something noticed while reading a slot. Each is also logged: as a warning, or, where recorded
/// slots are in doubt, as an error.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Event {
    /// The periodic full reading of a pool's ticks differs from what was kept up to date by
    /// logs. The full reading is the one that is used.
    TicksDiffer {
        /// The pool.
        pool: PoolId,
        /// The block at whose hash both stood.
        block: u64,
        /// How many ticks differ.
        differing: usize,
        /// The lowest of them.
        first_tick: i32,
        /// The slot of the full reading before: what was recorded after it is in doubt. `None`
        /// where this reader made none.
        good_until: Option<Slot>,
    },
    /// A pool's ticks were read in full although that was not due.
    ReadInFull {
        /// The pool.
        pool: PoolId,
        /// The block.
        block: u64,
        /// Why.
        cause: FullReadCause,
    },
    /// The slot's block has a header of a shape that is not known: its hash rests on the node's
    /// word.
    HashNotRecomputed {
        /// The block.
        block: u64,
    },
    /// The second node did not answer in time: the slot rests on the first one's word.
    NotCompared {
        /// What was not compared.
        what: &'static str,
        /// Why.
        detail: String,
    },
    /// Whether a pool pays what is computed of it could not be tried.
    NotTried {
        /// The pool.
        pool: PoolId,
        /// Why.
        detail: String,
    },
    /// A fact was not told: the snapshots of its token's pools are without it.
    FactNotRead {
        /// The token it is about.
        token: Address,
        /// Its name.
        name: Code,
        /// Why.
        detail: String,
    },
    /// Another node was asked because one's state broke the pool's invariants.
    ReadAtOtherNode {
        /// The pool.
        pool: PoolId,
        /// What was wrong with the first reading.
        detail: String,
    },
}

/// Why ticks were read in full before it was due.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FullReadCause {
    /// The ticks kept up to date by logs do not fit the pool's own liquidity.
    Unbalanced(String),
    /// The block they stood at is no longer the chain's.
    Reorganised,
    /// The block they stood at is not before this one, or too long before it.
    TooFar,
    /// The logs could not be had.
    NoLogs(String),
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
        if matches!(event, Event::TicksDiffer { .. }) {
            tracing::error!(%event, "recorded slots may be wrong");
        } else {
            tracing::warn!(%event, "noticed while reading a chain");
        }
        self.0.push(event);
    }
}
