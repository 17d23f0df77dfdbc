//! One pool's heads from its first on, of which only the data is kept that the next head must agree with.

use std::collections::VecDeque;

use exitgap_core::evidence::{
    Depths, Head, HeadEntry, LOWEST_DEPTH_SLOTS, MAX_RETRACTION_SLOTS, RetractionCause,
};
use exitgap_core::ids::{BlockHash, HeadHash};
use exitgap_core::series::Slot;

use super::fault::Rule;

/// The data kept about a pool.
pub struct History {
    last: Head,
    hash: HeadHash,
    /// The depths of the last 2,016 slots, newest last; `None` if a slot has no snapshot, or its snapshot was
    /// retracted.
    depths: VecDeque<Option<PackedDepths>>,
    /// The blocks of the last 288 slots, newest last.
    blocks: VecDeque<Option<BlockHash>>,
    lowest: PackedDepths,
}

/// Depths up to 10⁹ dollars in half the space: there may be thousands of pools. The value for "absent" is larger than
/// any depth, so that the lowest of several is their minimum.
type PackedDepths = [u32; 2];

const ABSENT: u32 = u32::MAX;
const NO_DEPTHS: PackedDepths = [ABSENT; 2];

fn pack_depths(depths: &Depths) -> PackedDepths {
    depths.map(|depth| depth.and_then(|depth| u32::try_from(depth).ok()).unwrap_or(ABSENT))
}

fn unpack_depths(depths: PackedDepths) -> Depths {
    depths.map(|depth| (depth != ABSENT).then(|| depth.into()))
}

fn lower(a: PackedDepths, b: PackedDepths) -> PackedDepths {
    [a[0].min(b[0]), a[1].min(b[1])]
}

impl History {
    /// Starts the history with `head`.
    pub fn begin(head: Head, hash: HeadHash) -> Result<Self, Rule> {
        if head.height != 0 {
            return Err(Rule::HeadWithoutPredecessor { height: head.height });
        }
        let recorded = u32::from(matches!(head.entry, HeadEntry::Recorded { .. }));
        let rules = [
            (head.recorded_count == recorded, "counts snapshots before it"),
            (head.retracts.is_empty(), "retracts a slot before it"),
        ];
        if let Some((_, rule)) = rules.into_iter().find(|(holds, _)| !holds) {
            return Err(Rule::FirstHead { rule });
        }
        let (depths, blocks) = (VecDeque::new(), VecDeque::new());
        let mut history = Self { last: head.clone(), hash, depths, blocks, lowest: NO_DEPTHS };
        history.extend(head, hash)?;
        Ok(history)
    }

    /// Continues with `head`, which must follow the last one.
    pub fn apply(&mut self, head: Head, hash: HeadHash) -> Result<(), Rule> {
        if self.is_retired() {
            return Err(Rule::HeadAfterRetired);
        }
        if head.height == 0 {
            return Err(Rule::SecondFirstHead { height: self.last.height });
        }
        head.check_follows(&self.last, self.hash)
            .map_err(|error| Rule::HeadDoesNotFollow { error })?;
        self.extend(head, hash)
    }

    /// Whether the pool has retired.
    pub fn is_retired(&self) -> bool {
        self.last.entry == HeadEntry::Retired
    }

    /// The slot of the last head.
    pub fn slot(&self) -> Slot {
        self.last.slot
    }

    /// Records the block at which the last head's snapshot was read: a retraction must name it.
    pub fn set_block(&mut self, block: BlockHash) {
        if let Some(last) = self.blocks.back_mut() {
            *last = Some(block);
        }
    }

    fn extend(&mut self, head: Head, hash: HeadHash) -> Result<(), Rule> {
        let mut removed = NO_DEPTHS;
        for retraction in &head.retracts {
            let back = head.slot.number().saturating_sub(retraction.slot.number()) as usize;
            let depths = self.retract(back, &retraction.cause);
            let depths =
                depths.map_err(|rule| Rule::Retraction { retracted: retraction.slot, rule })?;
            removed = lower(removed, depths);
        }
        let own = match &head.entry {
            HeadEntry::Recorded { depth_usd, .. } => Some(pack_depths(depth_usd)),
            HeadEntry::Missing(_) | HeadEntry::Retired => None,
        };
        self.depths.push_back(own);
        self.blocks.push_back(None);
        if self.blocks.len() > MAX_RETRACTION_SLOTS as usize {
            self.blocks.pop_front();
        }
        if self.depths.len() > LOWEST_DEPTH_SLOTS as usize {
            removed = lower(removed, self.depths.pop_front().flatten().unwrap_or(NO_DEPTHS));
        }
        self.lowest = lower(self.lowest, own.unwrap_or(NO_DEPTHS));
        // A full search is needed only if the lowest depth itself may have been removed.
        if (0..2).any(|token| removed[token] != ABSENT && removed[token] <= self.lowest[token]) {
            self.lowest = self.depths.iter().flatten().copied().fold(NO_DEPTHS, lower);
        }
        let (expected, found) = (unpack_depths(self.lowest), head.lowest_depth_7d_usd);
        if expected != found {
            return Err(Rule::LowestDepth { expected, found });
        }
        if head.entry == HeadEntry::Retired {
            (self.depths, self.blocks) = (VecDeque::new(), VecDeque::new());
        }
        (self.last, self.hash) = (head, hash);
        Ok(())
    }

    /// Removes the depths of the retracted slot, `back` slots before the next one.
    fn retract(
        &mut self,
        back: usize,
        cause: &RetractionCause,
    ) -> Result<PackedDepths, &'static str> {
        const NOTHING: &str = "the slot has no snapshot, or was retracted before";
        let block = self.blocks.len().checked_sub(back).and_then(|at| self.blocks[at]);
        let at = self.depths.len().checked_sub(back).ok_or(NOTHING)?;
        let depths = self.depths.get_mut(at).and_then(Option::take).ok_or(NOTHING)?;
        // The block of a snapshot that only a later version understands is unknown.
        match cause {
            RetractionCause::Orphaned { orphaned, .. }
                if block.is_some_and(|block| block != *orphaned) =>
            {
                Err("`orphaned` is not the block of its snapshot")
            }
            _ => Ok(depths),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use exitgap_core::evidence::{Commits, Retraction};
    use exitgap_core::exit::METHOD_VERSION;
    use exitgap_core::ids::SnapshotHash;
    use exitgap_core::series::MissingReason;

    /// More than seven days, so that slots leave the window, with low depths among them and some retracted: the lowest
    /// depth always equals that of a full search.
    #[test]
    fn the_lowest_depth_is_that_of_the_whole_window_at_every_slot() {
        let block = |index: u32| BlockHash([u8::try_from(index % 251).unwrap(); 32]);
        let slot = |index: u32| Slot::new(u64::from(Slot::FIRST.number() + index)).unwrap();
        let mut depths: Vec<Option<Depths>> = Vec::new();
        let (mut history, mut prev, mut count) = (None::<History>, None, 0);
        for index in 0..5_000_u32 {
            let mixed = u64::from(index.wrapping_mul(2_654_435_761) >> 7);
            let own = [Some(1_000 + mixed % 9_973), (index % 3 == 0).then_some(mixed % 50)];
            let own = (index % 11 != 5).then_some(own);
            let mut retracts = Vec::new();
            let taken_back = index.checked_sub(1 + index * 13 % 288).filter(|_| index % 7 == 3);
            if let Some(back) = taken_back.filter(|back| depths[*back as usize].take().is_some()) {
                let (orphaned, canonical) = (block(back), BlockHash([255; 32]));
                retracts.push(Retraction::for_orphan(slot(back), orphaned, canonical));
                count -= 1;
            }
            depths.push(own);
            count += u32::from(own.is_some());
            let window = &depths[depths.len().saturating_sub(2_016)..];
            let lowest =
                [0, 1].map(|token| window.iter().flatten().filter_map(|depth| depth[token]).min());
            let snapshot = SnapshotHash([0; 32]);
            let head = Head {
                pool: format!("anvil:0x{}", "aa".repeat(20)).parse().unwrap(),
                slot: slot(index),
                height: index,
                recorded_count: count,
                prev,
                entry: own.map_or(HeadEntry::Missing(MissingReason::ChainLagging), |depth_usd| {
                    HeadEntry::Recorded { snapshot, depth_usd }
                }),
                lowest_depth_7d_usd: lowest,
                method_version: METHOD_VERSION.to_owned(),
                retracts,
                commits: Commits::default(),
            };
            let hash = Head::hash_of(&head.to_canonical().unwrap());
            match &mut history {
                Some(history) => history.apply(head, hash).unwrap(),
                None => history = Some(History::begin(head, hash).unwrap()),
            }
            if let Some(history) = history.as_mut().filter(|_| own.is_some()) {
                history.set_block(block(index));
            }
            prev = Some(hash);
        }
        let history = history.unwrap();
        assert_eq!((history.depths.len(), history.blocks.len()), (2_016, 288));
        assert!(depths.iter().flatten().count() < 4_500, "slots were missing and taken back");
    }
}
