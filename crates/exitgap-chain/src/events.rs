//! What happened while reading that changes no answer, but that an operator wants to know.

use core::fmt;

use exitgap_core::ids::PoolId;

/// Something noticed while reading a slot. Each is also logged as a warning.
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
            Self::Reorganised => f.write_str("the block last read at is no longer the chain's"),
            Self::TooFar => f.write_str("the block last read at is too far away"),
            Self::NoLogs(detail) => write!(f, "no logs: {detail}"),
        }
    }
}

impl fmt::Display for Event {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TicksDiffer { pool, block, differing, first_tick } => write!(
                f,
                "{pool}: {differing} ticks kept by logs differ from a full reading at block \
                 {block}, the lowest is {first_tick}"
            ),
            Self::ReadInFull { pool, block, cause } => {
                write!(f, "{pool}: ticks read in full at block {block}: {cause}")
            }
            Self::ReadAtOtherNode { pool, detail } => {
                write!(f, "{pool}: read at another node: {detail}")
            }
        }
    }
}

/// The events of one reading.
#[derive(Debug, Default)]
pub(crate) struct Events(pub(crate) Vec<Event>);

impl Events {
    pub(crate) fn report(&mut self, event: Event) {
        tracing::warn!(%event, "noticed while reading a chain");
        self.0.push(event);
    }
}
