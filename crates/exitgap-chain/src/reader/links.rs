//! The blocks of the series that a node must have before its answers are used.

use std::collections::VecDeque;

use exitgap_core::snapshot::BlockRef;

/// Blocks of recorded slots.
#[derive(Debug, Default)]
pub(super) struct Links {
    /// Newest first.
    recorded: VecDeque<BlockRef>,
    /// A block well before all of them, seen when the first slot was read, because the only recorded block of a series
    /// could be orphaned.
    base: Option<BlockRef>,
}

impl Links {
    /// The number of blocks remembered: one day of slots and a few more.
    const MOST: usize = 300;
    /// How many of the newest blocks are requested, one after the other, if a node lacks one.
    const NEWEST: usize = 3;

    /// Adds blocks of earlier slots, newest first, if none are remembered.
    pub(super) fn resume(&mut self, blocks: impl IntoIterator<Item = BlockRef>) {
        if self.recorded.is_empty() {
            self.recorded.extend(blocks.into_iter().take(Self::MOST));
        }
    }

    /// Adds the block of a newly recorded slot.
    pub(super) fn add_block(&mut self, block: BlockRef) {
        self.recorded.retain(|other| other.number != block.number);
        self.recorded.push_front(block);
        self.recorded.truncate(Self::MOST);
    }

    /// Sets the block well before all others.
    pub(super) fn set_base(&mut self, block: BlockRef) {
        self.base = Some(block);
    }

    /// Whether there is a block well before all others.
    pub(super) fn has_base(&self) -> bool {
        self.base.is_some()
    }

    /// The blocks to request from a node, newest first: the last few, and the newest that is final, or else the oldest.
    /// The block before all others counts only until a second slot is recorded, because a chain that has lost several
    /// slots at once is not the same chain.
    pub(super) fn to_ask_for(&self, confirmations: u32) -> Vec<BlockRef> {
        let newest = self.recorded.front().map_or(0, |block| block.number);
        let is_final =
            |block: &&BlockRef| block.number.saturating_add(confirmations.into()) <= newest;
        let last_few = self.recorded.iter().take(Self::NEWEST);
        let mut blocks: Vec<BlockRef> = last_few.copied().collect();
        blocks.extend(self.recorded.iter().find(is_final).or(self.recorded.back()));
        blocks.extend(self.base.filter(|_| self.recorded.len() < 2));
        blocks.sort_unstable_by_key(|block| core::cmp::Reverse(block.number));
        blocks.dedup_by_key(|block| block.number);
        blocks
    }
}

#[cfg(test)]
mod tests {
    use exitgap_core::ids::BlockHash;

    use super::*;

    fn block(number: u64) -> BlockRef {
        BlockRef { hash: BlockHash([7; 32]), number, timestamp: number }
    }

    fn numbers(links: &Links) -> Vec<u64> {
        links.to_ask_for(96).iter().map(|block| block.number).collect()
    }

    #[test]
    fn the_last_few_a_final_one_and_the_base_are_asked_for() {
        let mut links = Links::default();
        assert!(numbers(&links).is_empty());
        links.add_block(block(1_000));
        links.set_base(block(904));
        assert_eq!(numbers(&links), [1_000, 904]);
        links.add_block(block(1_025));
        assert_eq!(numbers(&links), [1_025, 1_000]);
        for number in (1_050..=1_250).step_by(25) {
            links.add_block(block(number));
        }
        assert_eq!(numbers(&links), [1_250, 1_225, 1_200, 1_150]);
        // Blocks recorded by this process take precedence over blocks given later for earlier slots.
        links.resume([block(1)]);
        assert_eq!(numbers(&links)[0], 1_250);
        let mut resumed = Links::default();
        resumed.resume([block(50), block(40), block(30), block(20)]);
        assert_eq!(numbers(&resumed), [50, 40, 30, 20]);
        for number in 0..1_000 {
            resumed.add_block(block(100 + number));
        }
        assert_eq!(resumed.recorded.len(), Links::MOST);
    }
}
