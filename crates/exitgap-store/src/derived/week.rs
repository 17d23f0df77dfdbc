//! Both readings of a pool's depth over its last 2,016 slots, maintained like the window of depths. Heads do not commit
//! to these values: anyone computes them from the snapshots.

use std::collections::VecDeque;

use exitgap_core::analytics::depths::{DepthLows, SlotDepths};
use exitgap_core::evidence::{Depths, LOWEST_DEPTH_SLOTS};
use exitgap_core::series::Slot;
use exitgap_core::units::Percent;

use crate::derived::figures::SnapshotFigures;

/// No depth. Depths are at most 1,000,000,000.
const NONE: u32 = u32::MAX;

/// The lows of a window by the token sold.
pub type WeekFigures = [DepthLows; 2];

/// One direction of a slot, packed.
#[derive(Debug, Clone, Copy)]
struct PackedDepths {
    depth: u32,
    book: u32,
    lead: u32,
}

const NOTHING: PackedDepths = PackedDepths { depth: NONE, book: NONE, lead: 0 };

/// The window that ends at the slot added last.
#[derive(Debug, Clone, Default)]
pub struct WeekWindow {
    /// By the token sold, oldest first.
    slots: VecDeque<[PackedDepths; 2]>,
    last: Option<Slot>,
}

impl WeekWindow {
    /// Adds the next slot; `None` if it has no snapshot, or its snapshot was retracted.
    pub fn add(&mut self, slot: Slot, depths: Option<[SlotDepths; 2]>) {
        if self.slots.len() == LOWEST_DEPTH_SLOTS as usize {
            self.slots.pop_front();
        }
        let packed = depths.map(|depths| depths.map(PackedDepths::from));
        self.slots.push_back(packed.unwrap_or([NOTHING; 2]));
        self.last = Some(slot);
    }

    /// Removes a recorded slot that was added before.
    pub fn retract(&mut self, slot: Slot) {
        let back = self.last.and_then(|last| last.number().checked_sub(slot.number()));
        let at = back.and_then(|back| self.slots.len().checked_sub(back as usize + 1));
        if let Some(depths) = at.and_then(|at| self.slots.get_mut(at)) {
            *depths = [NOTHING; 2];
        }
    }

    /// The lows of the current window.
    pub fn figures(&self) -> WeekFigures {
        [0, 1].map(|token| {
            let length = u32::try_from(self.slots.len()).unwrap_or(0);
            let first = self.last.map(|last| (last.number() + 1).saturating_sub(length));
            let numbered = (first.unwrap_or(0)..).zip(&self.slots);
            DepthLows::from_slots(numbered.filter_map(|(number, depths)| {
                Some((Slot::new(number.into()).ok()?, depths[token].into()))
            }))
        })
    }
}

impl SnapshotFigures {
    /// Both depths by the token sold.
    pub fn slot_depths(&self) -> [SlotDepths; 2] {
        let books = self.directions.map(|direction| direction.book_usd);
        slot_depths(self.depths(), books, self.directions.map(|direction| direction.basis))
    }
}

/// Both depths of a slot by the token sold.
pub fn slot_depths(depths: Depths, books: Depths, bases: [Option<Percent>; 2]) -> [SlotDepths; 2] {
    [0, 1].map(|token| SlotDepths {
        depth_usd: depths[token],
        book_usd: books[token],
        lead_e6: SlotDepths::lead_of(bases[token]),
    })
}

impl From<SlotDepths> for PackedDepths {
    fn from(depths: SlotDepths) -> Self {
        let packed = |usd: Option<u64>| usd.and_then(|usd| u32::try_from(usd).ok()).unwrap_or(NONE);
        Self {
            depth: packed(depths.depth_usd),
            book: packed(depths.book_usd),
            lead: depths.lead_e6,
        }
    }
}

impl From<PackedDepths> for SlotDepths {
    fn from(packed: PackedDepths) -> Self {
        let usd = |packed: u32| (packed != NONE).then(|| packed.into());
        Self { depth_usd: usd(packed.depth), book_usd: usd(packed.book), lead_e6: packed.lead }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// At every slot the lows equal those of the whole window, computed anew, also after retractions.
    #[test]
    fn lows_are_those_of_the_whole_window_at_every_slot() {
        let slot = |n: usize| Slot::new(u64::from(Slot::FIRST.number()) + n as u64).unwrap();
        let mut all: Vec<Option<[SlotDepths; 2]>> = Vec::new();
        let (mut window, mut led) = (WeekWindow::default(), 0);
        for n in 0..4_400_usize {
            let mixed = (n as u64).wrapping_mul(2_654_435_761) >> 7;
            let bases = [Percent(i128::from(mixed % 5_000_000) - 1_000_000), Percent(-5)];
            let (depths, books) =
                ([Some(mixed % 997), None], [Some(mixed % 1_009), Some(n as u64)]);
            let added = (n % 11 != 5).then(|| slot_depths(depths, books, bases.map(Some)));
            window.add(slot(n), added);
            all.push(added);
            if n % 7 == 3
                && let Some(back) = n.checked_sub(1 + n * 13 % 288)
            {
                all[back] = None;
                window.retract(slot(back));
            }
            if n % 97 == 0 {
                let from = (n + 1).saturating_sub(LOWEST_DEPTH_SLOTS as usize);
                let expected = [0, 1].map(|token| {
                    let in_window = (from..=n).filter_map(|n| Some((slot(n), all[n]?[token])));
                    DepthLows::from_slots(in_window)
                });
                assert_eq!(window.figures(), expected, "at {n}");
                led += expected[0].lead.slots;
                assert_eq!(expected[1].lead.largest, None);
            }
        }
        assert!(led > 10_000, "{led}");
    }
}
