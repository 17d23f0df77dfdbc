//! Limits how much is requested from a node at once: less after a refusal, and more again after answers, so that a
//! temporary fault has no lasting effect.

/// The quantity that a request can have too much of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Measure {
    /// Calls of one `eth_call`.
    Calls,
    /// Blocks of one `eth_getLogs` request for tick changes.
    TickBlocks,
    /// Blocks of one `eth_getLogs` request for swaps, which are far more frequent.
    SwapBlocks,
    /// Blocks of one `eth_getLogs` request for tokens' transfers: a refusal is no reason to read fewer swaps.
    TransferBlocks,
}

/// The amount that a request asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Weight {
    pub(crate) of: Measure,
    pub(crate) amount: u64,
}

/// The limit of one quantity for one node.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Bound {
    most: u64,
    least: u64,
    ceiling: u64,
    /// The number of answers to requests of about this amount since the limit last changed.
    answered: u32,
    /// The number of answers after which more is tried.
    needed: u32,
    /// Whether the limit was raised and no request of about this amount was answered since.
    is_tried: bool,
}

impl Bound {
    /// The initial number of answers after which more is tried. Each failed attempt doubles it.
    const FEWEST: u32 = 2;
    /// The maximum of that number: a permanent limit costs one refusal in this many requests.
    const MOST: u32 = 64;

    pub(super) fn new(least: u64, ceiling: u64) -> Self {
        let ceiling = ceiling.max(1);
        let least = least.clamp(1, ceiling);
        Self { most: ceiling, least, ceiling, answered: 0, needed: Self::FEWEST, is_tried: false }
    }

    /// The amount to request.
    pub(super) fn most(&self) -> u64 {
        self.most
    }

    /// Halves the limit after a refusal.
    pub(super) fn refused(&mut self, amount: u64) {
        if core::mem::take(&mut self.is_tried) {
            self.needed = self.needed.saturating_mul(2).min(Self::MOST);
        }
        self.most = self.most.min((amount / 2).max(self.least));
        self.answered = 0;
    }

    /// Asks for this much again: what was refused of less was refused for another reason.
    pub(super) fn restore(&mut self, amount: u64) {
        self.most = self.most.max(amount.min(self.ceiling));
    }

    /// Doubles the limit after several answers to requests of about this amount.
    pub(super) fn answered(&mut self, amount: u64) {
        if amount > self.most {
            self.most = amount.min(self.ceiling);
        }
        if self.most == self.ceiling {
            if amount.saturating_mul(2) > self.ceiling {
                (self.needed, self.is_tried) = (Self::FEWEST, false);
            }
            return;
        }
        if amount.saturating_mul(2) > self.most {
            self.answered += 1;
            self.is_tried = false;
        }
        if self.answered >= self.needed {
            self.most = self.most.saturating_mul(2).min(self.ceiling);
            (self.answered, self.is_tried) = (0, true);
        }
    }
}

/// The limits of one node.
#[derive(Debug, Clone, Copy)]
pub(super) struct Bounds {
    calls: Bound,
    tick_blocks: Bound,
    swap_blocks: Bound,
    transfer_blocks: Bound,
}

impl Bounds {
    /// A few dozen calls are never too many. If they are refused, there is another cause.
    const FEWEST_CALLS: u64 = 64;

    pub(super) fn new(calls: u64, blocks: u64) -> Self {
        let blocks = Bound::new(1, blocks);
        let calls = Bound::new(Self::FEWEST_CALLS, calls);
        Self { calls, tick_blocks: blocks, swap_blocks: blocks, transfer_blocks: blocks }
    }

    pub(super) fn of(&self, measure: Measure) -> &Bound {
        match measure {
            Measure::Calls => &self.calls,
            Measure::TickBlocks => &self.tick_blocks,
            Measure::SwapBlocks => &self.swap_blocks,
            Measure::TransferBlocks => &self.transfer_blocks,
        }
    }

    pub(super) fn of_mut(&mut self, measure: Measure) -> &mut Bound {
        match measure {
            Measure::Calls => &mut self.calls,
            Measure::TickBlocks => &mut self.tick_blocks,
            Measure::SwapBlocks => &mut self.swap_blocks,
            Measure::TransferBlocks => &mut self.transfer_blocks,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bound_that_was_lowered_by_a_passing_fault_rises_again() {
        let mut bound = Bound::new(1, 2_000);
        for _ in 0..40 {
            bound.refused(bound.most());
        }
        assert_eq!(bound.most(), 1);
        let mut answers = 0;
        while bound.most() < 2_000 {
            bound.answered(bound.most());
            answers += 1;
        }
        assert_eq!(answers, 11 * Bound::FEWEST);
        // One refusal costs only a few answers.
        let mut bound = Bound::new(1, 2_000);
        bound.refused(2_000);
        assert_eq!(bound.most(), 1_000);
        for _ in 0..Bound::FEWEST {
            bound.answered(1_000);
        }
        assert_eq!(bound.most(), 2_000);
    }

    #[test]
    fn a_limit_that_stays_is_tried_ever_more_seldom() {
        let mut bound = Bound::new(1, 2_000);
        let (mut refusals, mut answers) = (0, 0);
        for _ in 0..2_000 {
            if bound.most() > 10 {
                bound.refused(bound.most());
                refusals += 1;
            } else {
                bound.answered(bound.most());
                answers += 1;
            }
        }
        assert!(refusals < 60, "{refusals} refusals of {answers} answers");
        // Answers to small requests show nothing about large ones.
        let before = bound.most();
        for _ in 0..1_000 {
            bound.answered(1);
        }
        assert_eq!(bound.most(), before);
    }

    #[test]
    fn bounds_keep_to_their_ends() {
        let mut bound = Bound::new(64, 2_000);
        for _ in 0..20 {
            bound.refused(bound.most());
        }
        assert_eq!(bound.most(), 64);
        bound.answered(5_000);
        assert_eq!(bound.most(), 2_000, "what was answered is no more than what is asked for");
        assert_eq!(Bound::new(64, 10).most(), 10);
    }
}
