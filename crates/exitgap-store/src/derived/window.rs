//! The depths of a pool's last 2,016 slots, maintained while a writer or a check proceeds slot by slot.

use std::collections::VecDeque;

use exitgap_core::analytics::median;
use exitgap_core::evidence::{Depths, LOWEST_DEPTH_SLOTS};
use exitgap_core::series::Slot;

use crate::derived::figures::{DepthFigures, WindowFigures};

/// No depth, because the slot is retracted or retired, or the search was given up. Depths are at most 1,000,000,000.
const NONE: u32 = u32::MAX;
/// No snapshot.
const MISSING: u32 = u32::MAX - 1;

/// The entry of a slot in a window.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WindowEntry {
    /// A snapshot's depths.
    Recorded(Depths),
    /// A missing slot.
    Missing,
    /// Neither: a slot that was retracted, or that retires the pool.
    Nothing,
}

/// The window that ends at the slot added last.
#[derive(Debug, Clone, Default)]
pub struct DepthWindow {
    /// By the token sold, oldest first.
    slots: VecDeque<[u32; 2]>,
    missing: u32,
    last: Option<Slot>,
    /// The cached figures, while the depths do not change.
    directions: Option<[DepthFigures; 2]>,
}

impl DepthWindow {
    /// Adds the next slot.
    pub fn add(&mut self, slot: Slot, added: WindowEntry) {
        let packed = match added {
            WindowEntry::Recorded(depths) => depths
                .map(|depth| depth.and_then(|depth| u32::try_from(depth).ok()).unwrap_or(NONE)),
            WindowEntry::Missing => [MISSING; 2],
            WindowEntry::Nothing => [NONE; 2],
        };
        if self.slots.len() == LOWEST_DEPTH_SLOTS as usize
            && let Some(gone) = self.slots.pop_front()
        {
            self.missing -= u32::from(gone == [MISSING; 2]);
            self.note(gone);
        }
        self.slots.push_back(packed);
        self.missing += u32::from(packed == [MISSING; 2]);
        self.last = Some(slot);
        self.note(packed);
    }

    /// Removes a recorded slot that was added before.
    pub fn retract(&mut self, slot: Slot) {
        let back = self.last.and_then(|last| last.number().checked_sub(slot.number()));
        let at = back.and_then(|back| self.slots.len().checked_sub(back as usize + 1));
        if let Some(depths) = at.and_then(|at| self.slots.get_mut(at)) {
            *depths = [NONE; 2];
            self.directions = None;
        }
    }

    /// The figures of the current window.
    pub fn figures(&mut self) -> WindowFigures {
        let directions = match self.directions {
            Some(directions) => directions,
            None => [0, 1].map(|token| self.direction(token)),
        };
        self.directions = Some(directions);
        WindowFigures { missing_slots: self.missing, directions }
    }

    /// The mean of the middle two depths, rounded down, or the middle one of an odd number: the median of closed days
    /// that earlier versions wrote.
    pub fn mean_of_middle(&self, token: usize) -> Option<u64> {
        let mut depths: Vec<u32> =
            self.slots.iter().map(|slot| slot[token]).filter(|depth| *depth < MISSING).collect();
        depths.sort_unstable();
        let lower = depths.get(depths.len().checked_sub(1)? / 2)?;
        let upper = depths.get(depths.len() / 2)?;
        Some(u64::midpoint((*lower).into(), (*upper).into()))
    }

    /// A changed slot affects only the count of missing slots, or the whole cache.
    fn note(&mut self, depths: [u32; 2]) {
        if depths.iter().any(|depth| *depth < MISSING) {
            self.directions = None;
        }
    }

    fn direction(&self, token: usize) -> DepthFigures {
        let mut depths: Vec<u32> = Vec::with_capacity(self.slots.len());
        let mut lowest = (MISSING, 0);
        for (at, slot) in self.slots.iter().enumerate() {
            let depth = slot[token];
            if depth < MISSING {
                depths.push(depth);
                if depth < lowest.0 {
                    lowest = (depth, at);
                }
            }
        }
        let (lowest, at) = lowest;
        let back = u32::try_from(self.slots.len() - at.min(self.slots.len())).unwrap_or(0);
        let slot = self.last.and_then(|last| {
            Slot::new((u64::from(last.number()) + 1).checked_sub(back.into())?).ok()
        });
        DepthFigures {
            median_usd: median(&mut depths).map(u64::from),
            lowest: slot.filter(|_| lowest < MISSING).map(|slot| (slot, lowest.into())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Depths, missing slots and retracted slots over more than seven days: at every slot the figures equal a full
    /// computation over the window.
    #[test]
    fn figures_are_those_of_the_whole_window_at_every_slot() {
        let slot = |n: usize| Slot::new(u64::from(Slot::FIRST.number()) + n as u64).unwrap();
        let mut all: Vec<Option<Depths>> = Vec::new();
        let (mut window, mut medians) = (DepthWindow::default(), 0);
        for n in 0..4_400_usize {
            let mixed = (n as u64).wrapping_mul(2_654_435_761) >> 7;
            let added = match n % 11 {
                5 => WindowEntry::Missing,
                7 => WindowEntry::Nothing,
                _ => WindowEntry::Recorded([Some(mixed % 997), (n % 3 == 0).then_some(mixed % 50)]),
            };
            window.add(slot(n), added);
            all.push(match added {
                WindowEntry::Recorded(depths) => Some(depths),
                _ => None,
            });
            if n % 7 == 3
                && let Some(back) = n.checked_sub(1 + n * 13 % 288)
                && all[back].take().is_some()
            {
                window.retract(slot(back));
            }
            let from = (n + 1).saturating_sub(2_016);
            let missing = (from..=n).filter(|n| n % 11 == 5).count();
            let figures = window.figures();
            assert_eq!(figures.missing_slots as usize, missing);
            for token in 0..2 {
                let depth = |n: &usize| Some((all[*n]?[token]?, slot(*n)));
                let mut depths: Vec<_> = (from..=n).filter_map(|n| depth(&n)).collect();
                depths.sort_unstable();
                let DepthFigures { median_usd, lowest } = figures.directions[token];
                assert_eq!(lowest, depths.first().map(|(depth, slot)| (*slot, *depth)), "at {n}");
                // Of an even number, the lower of the middle two.
                let middle = depths.len().saturating_sub(1) / 2;
                let expected = depths.get(middle).map(|(depth, _)| *depth);
                assert_eq!(median_usd, expected, "at {n}");
                medians += usize::from(expected.is_some());
            }
        }
        assert!(medians > 8_000);
    }
}
