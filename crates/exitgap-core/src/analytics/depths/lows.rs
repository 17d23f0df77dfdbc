//! The lowest depths of a run of slots, and how far the oracle was ahead of the pool in it.

use crate::analytics::runs::SlotRuns;
use crate::analytics::stats::median;
use crate::exit::Exit;
use crate::pools::Direction;
use crate::series::Slot;
use crate::snapshot::Observation;
use crate::units::{GapLimit, Percent};

/// Both depths of a snapshot in one direction, and how far the oracle was ahead.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct SlotDepths {
    /// The depth at 2 % from the oracle price, in whole dollars; `None` if the search was given up.
    pub depth_usd: Option<u64>,
    /// The book: the depth at 2 % from the pool's own mid price; `None` if the search was given up.
    pub book_usd: Option<u64>,
    /// The oracle's lead.
    pub lead_e6: u32,
}

/// Why a depth is low.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum DepthCause {
    /// The oracle price was above the pool's own price. Around that price the pool had more than twice the depth.
    OracleLed,
    /// Around its own price the pool had nothing within the limit either.
    ThinBook,
}

impl DepthCause {
    /// The stable code, such as `oracle_led`.
    pub fn code(self) -> &'static str {
        match self {
            Self::OracleLed => "oracle_led",
            Self::ThinBook => "thin_book",
        }
    }
}

/// The history of the oracle's lead over a run of slots.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct OracleLead {
    /// The first slot with the largest lead, and that lead; `None` if the oracle was never ahead.
    pub largest: Option<(Slot, u32)>,
    /// Slots whose lead is above [`SlotDepths::LEAD_LIMIT`].
    pub slots: u32,
    /// The longest run of them in consecutive slots, the first among equals: its first slot and its length.
    pub longest_run: Option<(Slot, u32)>,
}

/// The lowest depths of a run of slots in both readings.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct DepthLows {
    /// The first slot with the lowest depth, and that depth.
    pub lowest_depth: Option<(Slot, u64)>,
    /// The book and the lead in that slot.
    pub at_lowest_depth: Option<(Option<u64>, u32)>,
    /// The first slot with the lowest book, and that book.
    pub lowest_book: Option<(Slot, u64)>,
    /// The median of the books by nearest rank.
    pub median_book_usd: Option<u64>,
    /// The oracle's lead.
    pub lead: OracleLead,
}

impl SlotDepths {
    /// The lead above which slots are counted, in millionths of a percent. It is the limit of the depth itself: a sale
    /// into a pool that far below the oracle is outside the limit from its first unit on.
    pub const LEAD_LIMIT: u32 = 2_000_000;

    /// How far the oracle price was above the pool's mid price, in millionths of a percent of the oracle price; 0 if it
    /// was not, or if that is out of a percentage's bounds.
    pub fn lead_of(basis: Option<Percent>) -> u32 {
        basis.and_then(|basis| u32::try_from(basis.0).ok()).unwrap_or(0)
    }

    /// The depths of an observation.
    pub fn from_observation(observation: &Observation, direction: Direction) -> Self {
        let exit = Exit::from_pool(observation, direction);
        Self {
            depth_usd: exit.depth_usd(GapLimit::DEPTH).ok(),
            book_usd: exit.depth_from_mid_usd(GapLimit::DEPTH),
            lead_e6: Self::lead_of(exit.basis()),
        }
    }

    /// Why the depth is low: `None` if it is not, or a depth is not known.
    pub fn cause(self) -> Option<DepthCause> {
        let (depth, book) = (self.depth_usd?, self.book_usd?);
        if self.lead_e6 > 0 && depth.saturating_mul(2) < book {
            Some(DepthCause::OracleLed)
        } else {
            (depth == 0).then_some(DepthCause::ThinBook)
        }
    }
}

impl DepthLows {
    /// The lows of slots that are given in ascending order. Slots that are missing or retracted are left out.
    pub fn from_slots(slots: impl IntoIterator<Item = (Slot, SlotDepths)>) -> Self {
        let mut lows = Self::default();
        let mut books: Vec<u64> = Vec::new();
        let mut above = SlotRuns::default();
        for (slot, depths) in slots {
            if lower(&mut lows.lowest_depth, slot, depths.depth_usd) {
                lows.at_lowest_depth = Some((depths.book_usd, depths.lead_e6));
            }
            lower(&mut lows.lowest_book, slot, depths.book_usd);
            books.extend(depths.book_usd);
            if depths.lead_e6 > lows.lead.largest.map_or(0, |(_, largest)| largest) {
                lows.lead.largest = Some((slot, depths.lead_e6));
            }
            if depths.lead_e6 > SlotDepths::LEAD_LIMIT {
                above.add(slot);
            }
        }
        (lows.lead.slots, lows.lead.longest_run) = (above.slots, above.longest);
        lows.median_book_usd = median(&mut books);
        lows
    }

    /// The depths of the slot with the lowest depth.
    pub fn slot_of_lowest_depth(&self) -> Option<(Slot, SlotDepths)> {
        let ((slot, depth), (book_usd, lead_e6)) = (self.lowest_depth?, self.at_lowest_depth?);
        Some((slot, SlotDepths { depth_usd: Some(depth), book_usd, lead_e6 }))
    }

    /// Why the lowest depth is low.
    pub fn cause(&self) -> Option<DepthCause> {
        self.slot_of_lowest_depth()?.1.cause()
    }

    /// The fragility of the book, `1 − lowest ÷ median` in millionths, rounded half up; `None` if there is no book, or
    /// its median is 0.
    pub fn book_fragility_e6(&self) -> Option<u64> {
        const ONE: u128 = 1_000_000;
        let (median, (_, lowest)) =
            (self.median_book_usd.filter(|usd| *usd > 0)?, self.lowest_book?);
        let (median, lost) = (u128::from(median), u128::from(median.saturating_sub(lowest)));
        u64::try_from((lost * ONE * 2 + median) / (median * 2)).ok()
    }
}

/// Lowers the least value, the first of equals. Returns whether it did.
fn lower(least: &mut Option<(Slot, u64)>, slot: Slot, found: Option<u64>) -> bool {
    let lowers = found.filter(|usd| least.is_none_or(|(_, least)| *usd < least));
    if let Some(usd) = lowers {
        *least = Some((slot, usd));
    }
    lowers.is_some()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analytics::made_up::{observation, pair, slot};

    fn depths(depth_usd: u64, book_usd: u64, lead_e6: u32) -> SlotDepths {
        SlotDepths { depth_usd: Some(depth_usd), book_usd: Some(book_usd), lead_e6 }
    }

    #[test]
    fn an_oracle_that_led_is_told_from_a_book_that_was_thin() {
        let cause = |depth, book, lead| depths(depth, book, lead).cause();
        assert_eq!(cause(0, 486_468, 6_000_000), Some(DepthCause::OracleLed));
        assert_eq!(cause(40, 100, 500_000), Some(DepthCause::OracleLed));
        assert_eq!(cause(50, 100, 500_000), None);
        assert_eq!(cause(0, 0, 6_000_000), Some(DepthCause::ThinBook));
        // Only an oracle that is ahead takes depth.
        assert_eq!(cause(40, 100, 0), None);
        let unknown = SlotDepths { book_usd: None, ..depths(0, 0, 0) };
        assert_eq!(unknown.cause(), None);
        let codes = [DepthCause::OracleLed, DepthCause::ThinBook].map(DepthCause::code);
        assert_eq!(codes, ["oracle_led", "thin_book"]);
    }

    #[test]
    fn lows_are_the_first_of_equals_and_a_run_ends_at_a_hole() {
        let over = SlotDepths::LEAD_LIMIT + 1;
        let slots = [
            (0, depths(900, 1_000, 0)),
            (1, depths(0, 800, over)),
            (2, depths(0, 1_000, 6_000_000)),
            // Slot 3 is missing: the run starts anew.
            (4, depths(0, 1_000, 6_000_000)),
            (5, depths(1, 800, over)),
            (6, depths(1, 1_000, over)),
            (7, depths(1, 1_000, SlotDepths::LEAD_LIMIT)),
            (8, SlotDepths::default()),
        ];
        let lows = DepthLows::from_slots(slots.map(|(at, depths)| (slot(at), depths)));
        assert_eq!(lows.lowest_depth, Some((slot(1), 0)));
        assert_eq!(lows.slot_of_lowest_depth(), Some((slot(1), depths(0, 800, over))));
        assert_eq!(lows.cause(), Some(DepthCause::OracleLed));
        assert_eq!(lows.lowest_book, Some((slot(1), 800)));
        assert_eq!(lows.median_book_usd, Some(1_000));
        assert_eq!(lows.book_fragility_e6(), Some(200_000));
        let expected = OracleLead {
            largest: Some((slot(2), 6_000_000)),
            slots: 5,
            longest_run: Some((slot(4), 3)),
        };
        assert_eq!(lows.lead, expected);
        assert_eq!(DepthLows::from_slots([]), DepthLows::default());
        assert_eq!(DepthLows::default().book_fragility_e6(), None);
    }

    #[test]
    fn an_oracle_ahead_empties_the_depth_and_not_the_book() {
        let of = |x| {
            let of = observation(slot(3), pair(x, 1_000_000_000_000));
            SlotDepths::from_observation(&of, Direction::ZeroForOne)
        };
        let (even, ahead) = (of(1_000_000_000_000), of(1_060_000_000_000));
        assert_eq!((even.lead_e6, even.cause()), (0, None));
        assert!(even.depth_usd.unwrap() > 0 && even.depth_usd == even.book_usd, "{even:?}");
        assert_eq!((ahead.depth_usd, ahead.cause()), (Some(0), Some(DepthCause::OracleLed)));
        assert!(ahead.book_usd.unwrap() > 0 && ahead.lead_e6 > 5_000_000, "{ahead:?}");
    }
}
