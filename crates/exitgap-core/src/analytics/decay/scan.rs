//! The one pass over the slots of a period. It holds the slots of the last `within_slots`, and for each followed event
//! or baseline the snapshot before it: at most a hundred observations, however long the period is.

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

/// A recorded, unretracted slot.
#[derive(Debug)]
struct ObservedSlot {
    slot: Slot,
    observation: Observation,
    mid: RawPrice,
    /// The inner value is `None` if the depth search was given up.
    book: OnceLock<Option<u64>>,
}

/// An event or a baseline that is followed from a slot on.
#[derive(Debug)]
struct Follower {
    before: Arc<ObservedSlot>,
    followed: FollowedBook,
    /// An event is measured at every slot, for its half-life; a baseline only at the horizons.
    is_event: bool,
}

/// The pass. The caller adds the recorded, unretracted slots of the period in ascending order.
#[derive(Debug)]
pub struct DecayPass {
    terms: DecayTerms,
    direction: Direction,
    /// The slots before the next one, newest last, as many as moves are measured over.
    recent: VecDeque<Option<Arc<ObservedSlot>>>,
    next: Option<Slot>,
    last_event: Option<Slot>,
    active: Vec<Follower>,
    /// The newest slot whose depth was measured. An unchanged state is not measured again.
    measured: Option<Arc<ObservedSlot>>,
    result: DecayResult,
    events: Vec<FollowedBook>,
    baselines: Vec<FollowedBook>,
}

impl DecayPass {
    /// A pass with these parameters, which are validated first.
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

    /// The slot `within_slots` before the next one, if it is recorded and not retracted.
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
        // A baseline's share refers to `B1`, so `B0` is not needed.
        let followed = FollowedBook::baseline(slot);
        self.active.push(Follower { before, followed, is_event: false });
    }

    /// Finishes events and baselines that were followed to their end. An event first discards the baselines near it.
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

    /// Measures the depths of all followed events and baselines at this slot.
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

    /// The depth at a slot, measured once. If the state equals the one measured last, that depth is reused.
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

    /// Slots between this slot and the previous one are missing.
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
