//! Days' anchors one after the other: from one trusted block back to any day that was published.

use std::collections::BTreeSet;

use super::anchor::{Anchors, MAX_HOPS, history_window};
use super::header::BlockHeader;
use crate::ids::{BlockHash, Caip2};

/// The hops that lead from a block to older ones: each by the block it begins at and those it proves, ascending, of which the
/// lowest is where the next begins. `None`: there is nothing to prove, not all of it is older, or it takes more hops than a file
/// may have.
pub fn plan_hops(
    chain: Caip2,
    from: u64,
    blocks: impl IntoIterator<Item = u64>,
) -> Option<Vec<(u64, Vec<u64>)>> {
    let mut left: BTreeSet<u64> = blocks.into_iter().collect();
    if left.is_empty() || left.last().is_some_and(|last| *last >= from) {
        return None;
    }
    let (mut hops, mut begin) = (Vec::new(), from);
    while !left.is_empty() {
        if hops.len() == MAX_HOPS {
            return None;
        }
        let lowest = begin.saturating_sub(history_window(chain));
        let mut reached = left.split_off(&lowest);
        if !left.is_empty() {
            reached.insert(lowest);
        }
        hops.push((begin, reached.into_iter().collect()));
        begin = lowest;
    }
    Some(hops)
}

/// Days' anchors that follow from one trusted block.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AnchorChain {
    /// The block that all of them follow from.
    pub from: BlockHeader,
    days: Vec<Anchors>,
}

/// Why days' anchors do not follow from a trusted block.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum AnchorChainError {
    /// There are none.
    #[error("no day's file was given")]
    Empty,
    /// A day is of another chain.
    #[error("the anchors of day {day} are for chain {found}, not {expected}")]
    OtherChain {
        /// The day.
        day: u32,
        /// The chain that is asked about.
        expected: Caip2,
        /// The file's.
        found: Caip2,
    },
    /// The newest does not begin at what is trusted.
    #[error(
        "the anchors of day {day} begin at block {number} with {found}, but the trusted hash is {trusted}"
    )]
    NotTrusted {
        /// The day.
        day: u32,
        /// The block's number.
        number: u64,
        /// Its hash.
        found: BlockHash,
        /// The hash that is trusted.
        trusted: BlockHash,
    },
    /// No newer day leads to where this one begins.
    #[error(
        "the anchors of day {day} begin at block {number}, which the anchors of no newer day reach"
    )]
    Gap {
        /// The day.
        day: u32,
        /// The block's number.
        number: u64,
    },
    /// A newer day has another block there.
    #[error(
        "the anchors of day {day} begin at block {number} with {found}, but those of a newer day have {expected}"
    )]
    OtherBlock {
        /// The day.
        day: u32,
        /// The block's number.
        number: u64,
        /// The newer day's hash.
        expected: BlockHash,
        /// The file's.
        found: BlockHash,
    },
}

impl AnchorChain {
    /// The days of a chain, in any order, of which the newest begins at a trusted block and each other at a block that a newer
    /// one proves.
    pub fn follow(
        chain: Caip2,
        trusted: BlockHash,
        mut days: Vec<Anchors>,
    ) -> Result<Self, AnchorChainError> {
        if let Some(other) = days.iter().find(|day| day.chain != chain) {
            let (day, found) = (other.day, other.chain);
            return Err(AnchorChainError::OtherChain { day, expected: chain, found });
        }
        crate::stable_sort::sort(&mut days, |a, b| b.from.number.cmp(&a.from.number));
        let from = days.first().ok_or(AnchorChainError::Empty)?.from;
        if from.hash != trusted {
            let (day, number, found) = (days[0].day, from.number, from.hash);
            return Err(AnchorChainError::NotTrusted { day, number, found, trusted });
        }
        let mut followed = Self { from, days: Vec::new() };
        for anchors in days {
            let (day, number, found) = (anchors.day, anchors.from.number, anchors.from.hash);
            match followed.hash(number) {
                Some(expected) if expected != found => {
                    return Err(AnchorChainError::OtherBlock { day, number, expected, found });
                }
                None if number != from.number => return Err(AnchorChainError::Gap { day, number }),
                _ => followed.days.push(anchors),
            }
        }
        Ok(followed)
    }

    /// The hash that the chain has at a number; `None`: none of the days says.
    pub fn hash(&self, number: u64) -> Option<BlockHash> {
        self.days.iter().find_map(|day| day.hash(number))
    }
}
