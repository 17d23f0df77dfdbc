//! The result of a pass.

use super::{DecayTerms, HORIZONS};
use crate::analytics::stats::{nearest_rank, share_pct};
use crate::json::wire_struct;
use crate::series::Slot;
use crate::stable_sort::sort;
use crate::units::Percent;

/// The figure. Percentages are strings of six decimals, dollars strings of whole ones.
#[derive(Debug, Clone, Default, PartialEq, Eq, serde::Serialize)]
pub struct DecayResult {
    /// Depth searches that were given up. Their slots are in no list.
    pub books_unanswered: u32,
    /// After the base token's price in the pool fell.
    pub down: DecaySide,
    /// Whether the series is long enough for statistics.
    pub enough: bool,
    /// The events, ascending.
    pub events: Vec<DecayEvent>,
    /// Moves within 48 slots after an event. They are not events of their own.
    pub events_suppressed: u32,
    /// Slots that are recorded and not retracted.
    pub have_slots: u32,
    /// The number of events that a horizon's statistics need.
    pub needed_events: u32,
    /// The number of recorded, unretracted slots that the statistics need.
    pub needed_slots: u32,
    /// Slots of the period that are missing or retracted.
    pub slots_missing: u32,
    /// Recorded, unretracted slots without such a slot `within_slots` earlier in the period.
    pub slots_untestable: u32,
    /// `live`, or `preview` if any input is from a preview chain.
    pub status: String,
    /// After the base token's price in the pool rose.
    pub up: DecaySide,
}

/// Statistics of the events of one direction of the price.
#[derive(Debug, Clone, Default, PartialEq, Eq, serde::Serialize)]
pub struct DecaySide {
    /// Events after which some depth was withdrawn.
    pub half_life_n: u32,
    /// The median half-life of those events, in slots. Censored ones rank last. `null` if the median is a censored one,
    /// or if there are too few events.
    pub half_life_slots_q50: Option<u32>,
    /// By slots after the event.
    pub horizons: Vec<DecayHorizon>,
}

/// Statistics of one horizon.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct DecayHorizon {
    /// Baselines measured.
    pub baseline_n: u32,
    /// The median share withdrawn over the same time when no event was near.
    pub baseline_withdrawn_pct_q50: Option<String>,
    /// Slots after the event.
    pub h_slots: u32,
    /// Events measured.
    pub n: u32,
    /// Events with zero depth before the event or at the moved price. They have no shares.
    pub n_without_share: u32,
    /// `100 × B2 ÷ B0`, the 5th percentile.
    pub retained_pct_q5: Option<String>,
    /// `100 × B2 ÷ B0`, the median.
    pub retained_pct_q50: Option<String>,
    /// `100 × B1 ÷ B0`, the median: the depth that remains if no liquidity is withdrawn.
    pub static_pct_q50: Option<String>,
    /// `100 × (B1 − B2) ÷ B1`, the median: **positive if liquidity was withdrawn**.
    pub withdrawn_pct_q50: Option<String>,
}

/// One event.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct DecayEvent {
    /// The depths after it, at those horizons whose slots are recorded and not retracted.
    pub at: Vec<DecayStep>,
    /// Whether some depth was withdrawn and less than half of it returned within 48 slots.
    pub censored: bool,
    /// Slots from the greatest deficit to the first of two consecutive slots with at most half of it; `null` if
    /// censored or if nothing was withdrawn.
    pub half_life_slots: Option<u32>,
    /// How far the mid price moved, **positive if the base token rose**.
    pub move_pct: String,
    /// The slot.
    pub slot: Slot,
}

/// The depths some slots after an event.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct DecayStep {
    /// `B0`: before the event.
    pub book_before_usd: String,
    /// `B1`: the liquidity before the event at the price now.
    pub book_static_usd: String,
    /// `B2`: now.
    pub book_usd: String,
    /// Slots after the event.
    pub h_slots: u32,
    /// `B2 − B1`.
    pub liquidity_usd: String,
    /// `B1 − B0`.
    pub mechanical_usd: String,
}

wire_struct!(DecayResult {
    books_unanswered,
    down,
    enough,
    events,
    events_suppressed,
    have_slots,
    needed_events,
    needed_slots,
    slots_missing,
    slots_untestable,
    status,
    up,
});
wire_struct!(DecaySide { half_life_n, half_life_slots_q50, horizons });
wire_struct!(DecayHorizon {
    baseline_n,
    baseline_withdrawn_pct_q50,
    h_slots,
    n,
    n_without_share,
    retained_pct_q5,
    retained_pct_q50,
    static_pct_q50,
    withdrawn_pct_q50,
});
wire_struct!(DecayEvent { at, censored, half_life_slots, move_pct, slot });
wire_struct!(DecayStep {
    book_before_usd,
    book_static_usd,
    book_usd,
    h_slots,
    liquidity_usd,
    mechanical_usd,
});

/// The depths recorded while following an event or a baseline.
#[derive(Debug)]
pub(super) struct FollowedBook {
    pub slot: Slot,
    pub moved: Percent,
    pub rose: bool,
    pub before_usd: Option<u64>,
    /// Slots after the start, `B1` and `B2`; ascending.
    pub books: Vec<(u32, u64, u64)>,
    /// Slots for which a depth search was given up.
    pub unanswered: u32,
}

/// The half-life of a deficit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum HalfLife {
    NothingWithdrawn,
    After(u32),
    Censored,
}

impl FollowedBook {
    pub fn baseline(slot: Slot) -> Self {
        let (moved, rose, before_usd) = (Percent(0), false, None);
        Self { slot, moved, rose, before_usd, books: Vec::new(), unanswered: 0 }
    }

    fn event(&self) -> DecayEvent {
        let of_horizon = |(after, _, _): &&(u32, u64, u64)| HORIZONS.contains(after);
        let at = self.before_usd.map_or_else(Vec::new, |before| {
            let steps = self.books.iter().filter(of_horizon);
            steps
                .map(|(after, fixed, now)| DecayStep::from_books(before, *after, *fixed, *now))
                .collect()
        });
        let half_life = self.half_life();
        DecayEvent {
            at,
            censored: half_life == HalfLife::Censored,
            half_life_slots: match half_life {
                HalfLife::After(slots) => Some(slots),
                HalfLife::NothingWithdrawn | HalfLife::Censored => None,
            },
            move_pct: self.moved.to_fixed(),
            slot: self.slot,
        }
    }

    /// Deficits `(B1 − B2) ÷ B1` are compared as exact fractions.
    fn half_life(&self) -> HalfLife {
        let deficit = |(_, fixed, now): (u32, u64, u64)| i128::from(fixed) - i128::from(now);
        // a/b > c/d, and 2·a/b ≤ c/d, with positive denominators.
        let above = |a: (u32, u64, u64), b: (u32, u64, u64)| {
            deficit(a) * i128::from(b.1) > deficit(b) * i128::from(a.1)
        };
        let half = |a: (u32, u64, u64), b: (u32, u64, u64)| {
            2 * deficit(a) * i128::from(b.1) <= deficit(b) * i128::from(a.1)
        };
        let books: Vec<_> = self.books.iter().copied().filter(|(_, fixed, _)| *fixed > 0).collect();
        let mut greatest: Option<(u32, u64, u64)> = None;
        for book in books.iter().copied().filter(|book| deficit(*book) > 0) {
            if greatest.is_none_or(|greatest| above(book, greatest)) {
                greatest = Some(book);
            }
        }
        let Some(greatest) = greatest else { return HalfLife::NothingWithdrawn };
        let back = books.windows(2).find_map(|pair| {
            let [first, second] = pair else { return None };
            let follows = first.0 > greatest.0 && first.0 + 1 == second.0;
            (follows && half(*first, greatest) && half(*second, greatest)).then_some(first.0)
        });
        back.map_or(HalfLife::Censored, |back| HalfLife::After(back - greatest.0))
    }

    fn at(&self, after: u32) -> Option<(u64, u64)> {
        self.books.iter().find(|(at, ..)| *at == after).map(|(_, fixed, now)| (*fixed, *now))
    }
}

impl DecayStep {
    fn from_books(before: u64, h_slots: u32, fixed: u64, now: u64) -> Self {
        let difference = |from: u64, to: u64| (i128::from(to) - i128::from(from)).to_string();
        Self {
            book_before_usd: before.to_string(),
            book_static_usd: fixed.to_string(),
            book_usd: now.to_string(),
            h_slots,
            liquidity_usd: difference(fixed, now),
            mechanical_usd: difference(before, fixed),
        }
    }
}

impl DecayResult {
    const NEEDED_SLOTS: u32 = 7 * Slot::PER_DAY;
    const NEEDED_EVENTS: u32 = 5;

    pub(super) fn empty(terms: &DecayTerms) -> Self {
        Self {
            needed_events: Self::NEEDED_EVENTS,
            needed_slots: Self::NEEDED_SLOTS,
            slots_missing: terms.to.number() - terms.from.number() + 1,
            status: "live".to_owned(),
            ..Self::default()
        }
    }

    /// Counts a recorded, unretracted slot.
    pub(super) fn stands(&mut self, is_live: bool) {
        self.have_slots += 1;
        self.slots_missing = self.slots_missing.saturating_sub(1);
        if !is_live {
            "preview".clone_into(&mut self.status);
        }
    }

    pub(super) fn summed_up(mut self, events: &[FollowedBook], baselines: &[FollowedBook]) -> Self {
        let followed = events.iter().chain(baselines);
        self.books_unanswered = followed.map(|followed| followed.unanswered).sum();
        self.enough = self.have_slots >= self.needed_slots;
        self.events = events.iter().map(FollowedBook::event).collect();
        let side = |rose: bool| {
            let events: Vec<_> = events.iter().filter(|event| event.rose == rose).collect();
            DecaySide::from_events(&events, baselines, self.enough)
        };
        (self.down, self.up) = (side(false), side(true));
        if self.have_slots == 0 {
            // No input proves that the figure is from a live chain.
            "preview".clone_into(&mut self.status);
        }
        self
    }
}

impl DecaySide {
    fn from_events(events: &[&FollowedBook], baselines: &[FollowedBook], enough: bool) -> Self {
        let horizon = |after: &u32| DecayHorizon::from_events(*after, events, baselines, enough);
        let lives = events.iter().filter_map(|event| match event.half_life() {
            HalfLife::NothingWithdrawn => None,
            HalfLife::After(slots) => Some(slots),
            HalfLife::Censored => Some(u32::MAX),
        });
        let mut lives: Vec<u32> = lives.collect();
        sort(&mut lives, Ord::cmp);
        let told = enough && count(&lives) >= DecayResult::NEEDED_EVENTS;
        let median = nearest_rank(&lives, 50).filter(|slots| told && *slots != u32::MAX);
        let horizons = HORIZONS.iter().map(horizon).collect();
        Self { half_life_n: count(&lives), half_life_slots_q50: median, horizons }
    }
}

impl DecayHorizon {
    fn from_events(
        after: u32,
        events: &[&FollowedBook],
        baselines: &[FollowedBook],
        enough: bool,
    ) -> Self {
        let (mut retained, mut fixed_left, mut withdrawn) = (Vec::new(), Vec::new(), Vec::new());
        let mut n_without_share = 0;
        for event in events {
            let Some(((fixed, now), before)) = event.at(after).zip(event.before_usd) else {
                continue;
            };
            let shares = (
                share_pct(now.into(), before),
                share_pct(fixed.into(), before),
                share_pct(i128::from(fixed) - i128::from(now), fixed),
            );
            let (Some(left), Some(kept), Some(gone)) = shares else {
                n_without_share += 1;
                continue;
            };
            retained.push(left);
            fixed_left.push(kept);
            withdrawn.push(gone);
        }
        let mut baseline: Vec<Percent> = baselines
            .iter()
            .filter_map(|slot| slot.at(after))
            .filter_map(|(fixed, now)| share_pct(i128::from(fixed) - i128::from(now), fixed))
            .collect();
        for shares in [&mut retained, &mut fixed_left, &mut withdrawn, &mut baseline] {
            sort(shares, Ord::cmp);
        }
        let quantile = |shares: &[Percent], p| {
            let told = enough && count(shares) >= DecayResult::NEEDED_EVENTS;
            nearest_rank(shares, p).filter(|_| told).map(Percent::to_fixed)
        };
        Self {
            baseline_n: count(&baseline),
            baseline_withdrawn_pct_q50: quantile(&baseline, 50),
            h_slots: after,
            n: count(&retained),
            n_without_share,
            retained_pct_q5: quantile(&retained, 5),
            retained_pct_q50: quantile(&retained, 50),
            static_pct_q50: quantile(&fixed_left, 50),
            withdrawn_pct_q50: quantile(&withdrawn, 50),
        }
    }
}

fn count<T>(rows: &[T]) -> u32 {
    u32::try_from(rows.len()).unwrap_or(u32::MAX)
}
