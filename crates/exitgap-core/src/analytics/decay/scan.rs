//! The one pass over the slots of a period. It holds the slots of the last `within_slots`, and for
//! each book that is followed the snapshot before it: never more than a hundred observations,
//! however long the period.

use std::collections::VecDeque;
use std::sync::{Arc, OnceLock};

use super::result::{DecayResult, FollowedBook};
use super::{BASELINE_EVERY_SLOTS, DecayTerms, HORIZONS, REACH_SLOTS};
use crate::analytics::FigureError;
use crate::analytics::figure::{Figure, FigurePass, part};
use crate::analytics::stats::measure_move;
use crate::evidence::DocumentError;
use crate::exit::{Exit, PricedPool};
use crate::ids::PoolId;
use crate::json::Part;
use crate::pools::{Direction, PoolState, RawPrice};
use crate::series::Slot;
use crate::snapshot::Observation;

/// A standing slot.
#[derive(Debug)]
struct ObservedSlot {
    slot: Slot,
    observation: Observation,
    mid: RawPrice,
    /// `None` inside: the search for it was given up.
    book: OnceLock<Option<u64>>,
}

/// A book followed from a slot on.
#[derive(Debug)]
struct Follower {
    before: Arc<ObservedSlot>,
    followed: FollowedBook,
    /// Every slot of an event, for its half-life; the horizons alone of a baseline.
    is_event: bool,
}

/// The pass. Give it the standing slots of the period, ascending.
#[derive(Debug)]
pub struct DecayPass {
    terms: DecayTerms,
    direction: Direction,
    /// The slots before the next one, the newest last; as many as are looked back.
    recent: VecDeque<Option<Arc<ObservedSlot>>>,
    next: Option<Slot>,
    last_event: Option<Slot>,
    active: Vec<Follower>,
    /// The newest whose book was measured: what does not change is not measured again.
    measured: Option<Arc<ObservedSlot>>,
    result: DecayResult,
    events: Vec<FollowedBook>,
    baselines: Vec<FollowedBook>,
}

impl DecayPass {
    /// A pass of these terms, which are checked.
    pub fn new(terms: DecayTerms) -> Result<Self, FigureError> {
        let terms = terms.validate()?;
        Ok(Self {
            direction: terms.base.into(),
            recent: VecDeque::new(),
            next: Some(terms.from),
            last_event: None,
            active: Vec::new(),
            measured: None,
            result: DecayResult::empty(&terms),
            events: Vec::new(),
            baselines: Vec::new(),
            terms,
        })
    }

    /// The standing slot `within_slots` before the next.
    fn before(&self) -> Option<Arc<ObservedSlot>> {
        let within = self.terms.within_slots as usize;
        self.recent.len().checked_sub(within).and_then(|index| self.recent[index].clone())
    }

    fn remember(&mut self, slot: Option<Arc<ObservedSlot>>) {
        if self.recent.len() >= self.terms.within_slots as usize {
            self.recent.pop_front();
        }
        self.recent.push_back(slot);
    }

    fn look_for_event(&mut self, now: &Arc<ObservedSlot>, before: Option<&Arc<ObservedSlot>>) {
        let Some(before) = before else {
            self.result.slots_untestable += 1;
            return;
        };
        let Some((moved, rose)) = measure_move(before.mid, now.mid, self.terms.move_e8) else {
            return;
        };
        if self.near_event(now.slot) {
            self.result.events_suppressed += 1;
            return;
        }
        self.last_event = Some(now.slot);
        self.active.clear();
        let before_usd = self.book(before);
        let followed = FollowedBook { moved, rose, before_usd, ..FollowedBook::baseline(now.slot) };
        self.active.push(Follower { before: before.clone(), followed, is_event: true });
    }

    fn near_event(&self, slot: Slot) -> bool {
        self.last_event.is_some_and(|event| slot.number() - event.number() <= REACH_SLOTS)
    }

    fn start_baseline(&mut self, slot: Slot, before: Option<Arc<ObservedSlot>>) {
        let due = slot.number().is_multiple_of(BASELINE_EVERY_SLOTS) && !self.near_event(slot);
        let Some(before) = before.filter(|_| due) else { return };
        // Its share is of `B1`: the book before is not asked for.
        let followed = FollowedBook::baseline(slot);
        self.active.push(Follower { before, followed, is_event: false });
    }

    /// Puts away what was followed to its end. An event drops the baselines near it before that.
    fn retire(&mut self, slot: Slot) {
        let mut index = 0;
        while let Some(follower) = self.active.get(index) {
            if slot.number() - follower.followed.slot.number() <= REACH_SLOTS {
                index += 1;
                continue;
            }
            let follower = self.active.remove(index);
            let events = follower.is_event;
            let list = if events { &mut self.events } else { &mut self.baselines };
            list.push(follower.followed);
        }
    }

    /// Measures the books that are followed, at this slot.
    fn follow(&mut self, now: &Arc<ObservedSlot>) -> Result<(), FigureError> {
        let mut active = core::mem::take(&mut self.active);
        for Follower { before, followed, is_event } in &mut active {
            let after = now.slot.number() - followed.slot.number();
            if !*is_event && !HORIZONS.contains(&after) {
                continue;
            }
            let (then, state) = (before.observation.state(), now.observation.state());
            let unsupported = FigureError::not_movable("depth decay", state.protocol());
            let fixed = then.under_price_of(state).ok_or(unsupported)?;
            let now_usd = self.book(now);
            let static_usd = if fixed == *state { now_usd } else { self.measure(now, &fixed) };
            match (static_usd, now_usd) {
                (Some(fixed), Some(now)) => followed.books.push((after, fixed, now)),
                _ => followed.unanswered += 1,
            }
        }
        self.active = active;
        Ok(())
    }

    /// The book of a slot, measured once; of a slot like the one measured last, not again.
    fn book(&mut self, of: &Arc<ObservedSlot>) -> Option<u64> {
        if let Some(book) = of.book.get() {
            return *book;
        }
        let same = self.measured.as_ref().filter(|last| {
            let (last, of) = (&last.observation, &of.observation);
            last.prices() == of.prices()
                && last.state() == of.state()
                && last.tokens() == of.tokens()
        });
        let known = same.and_then(|last| last.book.get().copied());
        let book = known.unwrap_or_else(|| self.measure(of, of.observation.state()));
        self.measured = Some(of.clone());
        *of.book.get_or_init(|| book)
    }

    fn measure(&self, at: &ObservedSlot, state: &PoolState) -> Option<u64> {
        let mid = state.mid_of_reserves_or_ticks(self.direction)?;
        let pool = PricedPool { state, ..(&at.observation).into() };
        let book = Exit::book_usd(pool, mid, self.direction, self.terms.gap);
        book.ok()
    }
}

impl FigurePass for DecayPass {
    type Result = DecayResult;

    /// Slots between this one and the one before are missing.
    fn add_snapshot(
        &mut self,
        _: &PoolId,
        slot: Slot,
        observation: Observation,
    ) -> Result<(), FigureError> {
        let Some(next) = self.next.filter(|next| *next <= slot && slot <= self.terms.to) else {
            return Err(FigureError::OutOfOrder { slot });
        };
        for _ in next.number()..slot.number() {
            self.remember(None);
        }
        let state = observation.state();
        let mid = state.mid_of_reserves_or_ticks(self.direction);
        let mid = mid.ok_or(FigureError::not_movable("depth decay", state.protocol()))?;
        self.result.stands(observation.chain().kind.is_live());
        let now = Arc::new(ObservedSlot { slot, observation, mid, book: OnceLock::new() });
        self.retire(slot);
        let before = self.before();
        self.look_for_event(&now, before.as_ref());
        self.start_baseline(slot, before);
        self.follow(&now)?;
        self.remember(Some(now));
        self.next = slot.next();
        Ok(())
    }

    fn finish(mut self) -> Result<DecayResult, FigureError> {
        let Self { active, events, baselines, .. } = &mut self;
        for follower in active.drain(..) {
            let list = if follower.is_event { &mut *events } else { &mut *baselines };
            list.push(follower.followed);
        }
        Ok(self.result.summed_up(&self.events, &self.baselines))
    }

    fn document(result: &DecayResult) -> Result<Part, DocumentError> {
        part(result)
    }
}
