//! The markets of a pool's tokens combined: they count as open while all of them are open.

use super::calendar::Calendar;
use super::market::{Closure, ClosureKind, Market};

/// The most overlapping closures of two calendars that are merged. Beyond that the result is unknown.
const MOST_TURNS: usize = 64;

/// The calendars of a pool's tokens. Without any, the markets are open around the clock.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Markets {
    calendars: Vec<Calendar>,
}

/// A closure with its first instant and the instant after its last, in seconds UTC.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ClosureSpan {
    /// The kind of closure.
    pub kind: ClosureKind,
    /// When the market closes.
    pub from: u64,
    /// When it reopens.
    pub to: u64,
}

/// The instant is outside a table.
struct NotInTable;

impl Markets {
    /// The markets with these calendars.
    pub fn new(calendars: Vec<Calendar>) -> Self {
        Self { calendars }
    }

    /// Whether no token has a calendar.
    pub fn is_continuous(&self) -> bool {
        self.calendars.is_empty()
    }

    /// Whether all are open at an instant, seconds UTC; if not, the combined closure.
    pub fn market(&self, at: u64) -> Market {
        if self.calendars.iter().all(|calendar| calendar.market(at).is_open()) {
            return Market::Open;
        }
        self.closure_at(at).map_or(Market::Unknown, |ClosureSpan { kind, from, to }| {
            Market::Closed(Closure { kind, length_s: to - from, opens_in_s: to - at })
        })
    }

    /// The closure at an instant; `None` if all are open, or if the tables do not cover it.
    pub fn closure_at(&self, at: u64) -> Option<ClosureSpan> {
        let mut all = self.met(at).ok()??;
        for _ in 0..MOST_TURNS {
            let before = all.from.checked_sub(1).map(|at| self.met(at)).transpose().ok()?;
            let beside = [before.flatten(), self.met(all.to).ok()?];
            let joined = beside.into_iter().flatten().fold(all, ClosureSpan::and);
            if joined == all {
                return Some(all);
            }
            all = joined;
        }
        None
    }

    /// Merges the closures that the single calendars have at an instant; `None` if all are open.
    fn met(&self, at: u64) -> Result<Option<ClosureSpan>, NotInTable> {
        let mut met: Option<ClosureSpan> = None;
        for calendar in &self.calendars {
            match calendar.market(at) {
                Market::Open => {}
                Market::Unknown => return Err(NotInTable),
                Market::Closed(Closure { kind, length_s, opens_in_s }) => {
                    let to = at + opens_in_s;
                    let one = ClosureSpan { kind, from: to - length_s, to };
                    met = Some(met.map_or(one, |met| met.and(one)));
                }
            }
        }
        Ok(met)
    }

    /// When the first of the markets closes, if all are open at `at`; `None` if one is closed, if the tables do not
    /// cover it, or if none ever closes.
    pub fn closes_at(&self, at: u64) -> Option<u64> {
        let closings =
            self.calendars.iter().map(|calendar| calendar.table().closes_at(at, calendar.hours()));
        closings.flatten().min().filter(|_| self.market(at).is_open())
    }

    /// All closures that begin before `to` and end after `from`, ascending, as far as the tables cover them. At most
    /// one per day.
    pub fn closures(&self, from: u64, to: u64) -> Vec<ClosureSpan> {
        let mut closures = Vec::new();
        let mut at = from;
        while at < to {
            let closing = if self.market(at).is_open() { self.closes_at(at) } else { Some(at) };
            let closed = closing
                .filter(|closing| *closing < to)
                .and_then(|closing| self.closure_at(closing));
            let Some(closed) = closed else { break };
            at = closed.to;
            closures.push(closed);
        }
        closures
    }
}

impl ClosureSpan {
    /// From the earlier start to the later end, with the kind that closes more.
    fn and(self, other: Self) -> Self {
        Self {
            kind: self.kind.max(other.kind),
            from: self.from.min(other.from),
            to: self.to.max(other.to),
        }
    }
}
