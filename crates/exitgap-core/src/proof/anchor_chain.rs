//! Chains the anchors of consecutive days: from one trusted block back to any published day.

use std::collections::BTreeSet;

use super::anchor::{Anchors, MAX_HOPS, history_window};
use super::header::BlockHeader;
use crate::ids::{BlockHash, Caip2};

/// Plans the hops from a block to older ones. Each hop is the block at which it begins and the ascending blocks that it
/// proves; the next hop begins at the lowest of them. `None` if there are no blocks, if not all of them are older, or
/// if a file cannot have that many hops.
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

/// The anchors of several days, all verified from one trusted block.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AnchorChain {
    /// The trusted block.
    pub from: BlockHeader,
    days: Vec<Anchors>,
}

/// Why the anchors of several days do not follow from a trusted block.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum AnchorChainError {
    /// No days were given.
    #[error("no day's file was given")]
    Empty,
    /// A day belongs to another chain.
    #[error("the anchors of day {day} are for chain {found}, not {expected}")]
    OtherChain {
        /// The day.
        day: u32,
        /// The requested chain.
        expected: Caip2,
        /// The file's chain.
        found: Caip2,
    },
    /// The newest day does not begin at the trusted block.
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
        /// The trusted hash.
        trusted: BlockHash,
    },
    /// No newer day proves the block at which this day begins.
    #[error(
        "the anchors of day {day} begin at block {number}, which the anchors of no newer day reach"
    )]
    Gap {
        /// The day.
        day: u32,
        /// The block's number.
        number: u64,
    },
    /// A newer day proves another block with that number.
    #[error(
        "the anchors of day {day} begin at block {number} with {found}, but those of a newer day have {expected}"
    )]
    OtherBlock {
        /// The day.
        day: u32,
        /// The block's number.
        number: u64,
        /// The hash according to the newer day.
        expected: BlockHash,
        /// The hash in this day's file.
        found: BlockHash,
    },
}

impl AnchorChain {
    /// Verifies days of a chain, given in any order. The newest must begin at a trusted block, and every other day at a
    /// block that a newer day proves.
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

    /// The chain's block hash at a number; `None` if no day contains it.
    pub fn hash(&self, number: u64) -> Option<BlockHash> {
        self.days.iter().find_map(|day| day.hash(number))
    }
}
