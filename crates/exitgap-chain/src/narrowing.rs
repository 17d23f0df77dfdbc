//! Asking for less: how many blocks a request for logs covers, and which of its pools nodes refuse.

use crate::rpc::{Failure, Measure, Rpc, Weight};

/// Extra requests that one reading, or one filter of logs, may take to isolate what nodes refuse.
pub(crate) const MAX_SPLITS: usize = 64;

/// Single pools that may be refused for a reason that is not known before any other is answered.
const MAX_REFUSED: usize = 4;

/// Both halves of what is more than one; otherwise the same again.
pub(crate) fn halves<C: FromIterator<C::Item> + IntoIterator>(all: C) -> Result<[C; 2], C> {
    let mut first: Vec<C::Item> = all.into_iter().collect();
    if first.len() < 2 {
        return Err(first.into_iter().collect());
    }
    let second = first.split_off(first.len() / 2);
    Ok([first, second].map(|half| half.into_iter().collect()))
}

/// Requests for the logs of pools, made smaller where nodes do not answer them.
#[derive(Debug)]
pub(crate) struct LogsNarrowing<'a> {
    rpc: &'a Rpc,
    of: Measure,
    /// Blocks of the next request.
    blocks: u64,
    /// Blocks that are asked for also where the nodes refused so many lately.
    least: u64,
    /// Blocks that the nodes were seen to answer, before the last failure.
    bound: u64,
    /// The same before the first request.
    bound_before: u64,
    splits: usize,
    answered: usize,
    /// Single pools that were refused, for a reason that is not known.
    refused: usize,
    /// Single pools whose logs take more requests than there are.
    outsized: usize,
    /// More blocks were not answered, for a reason that is not known.
    is_unexplained: bool,
    /// The last failure.
    failure: Option<Failure>,
}

/// What follows from a request that failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NextStep {
    /// The same pools are asked for in fewer blocks.
    FewerBlocks,
    /// Both halves of the pools are asked for.
    HalfThePools,
    /// The logs of this pool in this block are not served.
    LeaveUnread,
    /// The nodes fail.
    GiveUp,
}

impl<'a> LogsNarrowing<'a> {
    /// Begins with as many blocks as the nodes were seen to answer, and with no fewer than `least`.
    pub(crate) fn new(rpc: &'a Rpc, of: Measure, least: u64) -> Self {
        let (bound, least) = (rpc.most_of(of), least.max(1));
        Self {
            rpc,
            of,
            blocks: bound.max(least),
            least,
            bound,
            bound_before: bound,
            splits: 0,
            answered: 0,
            refused: 0,
            outsized: 0,
            is_unexplained: false,
            failure: None,
        }
    }

    /// The last block of a request that begins with this one.
    pub(crate) fn last_block(&self, from: u64, last: u64) -> u64 {
        last.min(from.saturating_add(self.blocks - 1))
    }

    /// Whether the next request is part of one that failed.
    pub(crate) fn is_part(&self) -> bool {
        self.failure.is_some()
    }

    /// Records that a request for this many blocks was answered.
    pub(crate) fn add_answer(&mut self, blocks: u64) {
        self.answered += 1;
        self.failure = None;
        if core::mem::take(&mut self.is_unexplained) {
            self.rpc.serves_no_more_than(Weight { of: self.of, amount: blocks });
        }
        self.bound = self.rpc.most_of(self.of);
        // More is tried again where the nodes' bound rises.
        self.blocks = self.bound.max(self.least).min(self.blocks.saturating_mul(2));
    }

    /// The next step where there are not requests enough to ask for fewer blocks than these. One pool may have so many logs:
    /// the others are asked for as many blocks as before. Where pools are refused one by one, and no other was answered, it
    /// is the nodes' limit.
    pub(crate) fn lack_requests(&mut self, blocks: u64, pools: usize) -> NextStep {
        if pools > 1 {
            self.splits += 1;
        } else {
            self.outsized += 1;
        }
        if self.splits > MAX_SPLITS || (self.answered == 0 && self.outsized >= MAX_REFUSED) {
            self.give_up();
            return NextStep::GiveUp;
        }
        self.blocks = blocks;
        if pools > 1 { NextStep::HalfThePools } else { NextStep::LeaveUnread }
    }

    /// Takes in that there are not requests enough for fewer blocks: next time, it begins with these.
    fn give_up(&mut self) {
        if core::mem::take(&mut self.is_unexplained) {
            self.rpc.serves_no_more_than(Weight { of: self.of, amount: self.blocks });
        }
    }

    /// The next step after a request for this many blocks and pools failed.
    pub(crate) fn add_failure(&mut self, failure: &Failure, blocks: u64, pools: usize) -> NextStep {
        self.failure = Some(failure.clone());
        if !failure.may_narrow() {
            return NextStep::GiveUp;
        }
        if blocks > 1 {
            self.is_unexplained |= !failure.is_about_size();
            self.blocks = blocks / 2;
            return NextStep::FewerBlocks;
        }
        // What is refused of one block is not refused for how many there are.
        self.is_unexplained = false;
        self.rpc.restore_bound(Weight { of: self.of, amount: self.bound });
        if pools > 1 {
            self.splits += 1;
            let has_more = self.splits <= MAX_SPLITS;
            return if has_more { NextStep::HalfThePools } else { NextStep::GiveUp };
        }
        if !failure.is_about_size() {
            self.refused += 1;
            if self.answered == 0 && self.refused >= MAX_REFUSED {
                return NextStep::GiveUp;
            }
        }
        NextStep::LeaveUnread
    }

    /// Requires that the nodes answered anything, where they refused pools for a reason that is not known, or that may be
    /// their own limit.
    pub(crate) fn require_answer(mut self) -> Result<(), Failure> {
        if self.refused + self.outsized == 0 {
            return Ok(());
        }
        if self.answered == 0 {
            self.give_up();
            return self.failure.map_or(Ok(()), Err);
        }
        if self.outsized > 0 {
            // What was refused of one pool says nothing of how many blocks nodes answer.
            self.rpc.restore_bound(Weight { of: self.of, amount: self.bound_before });
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn halves_are_of_what_is_more_than_one() {
        assert_eq!(halves(vec![1, 2, 3]), Ok([vec![1], vec![2, 3]]));
        assert_eq!(halves(BTreeSet::from([1, 2])), Ok([BTreeSet::from([1]), BTreeSet::from([2])]));
        assert_eq!(halves(vec![1]), Err(vec![1]));
        assert_eq!(halves(Vec::<u8>::new()), Err(Vec::new()));
    }
}
