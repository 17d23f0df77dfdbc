//! A table's answer for an instant: the session, and how long a market stays closed.

use super::table::{Table, TradingDay};

/// The session of an exchange at an instant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MarketState {
    /// The regular session.
    Regular,
    /// The pre-market session.
    Pre,
    /// After the regular session.
    After,
    /// The overnight session, before the next trading day.
    Overnight,
    /// No session, because of a weekend only.
    Weekend,
    /// No session, because of a holiday, including an adjacent weekend.
    Holiday,
    /// Outside the table.
    Unknown,
}

impl MarketState {
    /// All states.
    pub const ALL: [Self; 7] = [
        Self::Regular,
        Self::Pre,
        Self::After,
        Self::Overnight,
        Self::Weekend,
        Self::Holiday,
        Self::Unknown,
    ];

    /// Its stable code.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Regular => "regular",
            Self::Pre => "pre",
            Self::After => "after",
            Self::Overnight => "overnight",
            Self::Weekend => "weekend",
            Self::Holiday => "holiday",
            Self::Unknown => "unknown",
        }
    }
}

/// The sessions that count as open.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Hours {
    /// The regular session.
    Regular,
    /// From the start of the pre-market session to the end of after-hours trading.
    Extended,
    /// All four sessions: around the clock, five days a week.
    TwentyFourFive,
    /// Always open, regardless of the exchange.
    Continuous,
}

impl Hours {
    /// All variants.
    pub const ALL: [Self; 4] =
        [Self::Regular, Self::Extended, Self::TwentyFourFive, Self::Continuous];

    /// The hours with this [name](Self::as_str).
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|hours| hours.as_str() == name)
    }

    /// Its stable code.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Regular => "regular",
            Self::Extended => "extended",
            Self::TwentyFourFive => "24x5",
            Self::Continuous => "continuous",
        }
    }
}

/// Whether a market is open at an instant, with these hours.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Market {
    /// The market is open.
    Open,
    /// The market is closed.
    Closed(Closure),
    /// The table lacks the previous opening, or the market is closed and the table lacks the next opening.
    Unknown,
}

impl Market {
    /// Whether it is known to be open.
    pub fn is_open(self) -> bool {
        self == Self::Open
    }
}

/// A period without trading, from a close to the next opening.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Closure {
    /// The kind of closure.
    pub kind: ClosureKind,
    /// Its length, in seconds.
    pub length_s: u64,
    /// The number of seconds until it ends: at least 1, at most its length.
    pub opens_in_s: u64,
}

/// The days between a close and the next opening, ordered by how much is closed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum ClosureKind {
    /// Only a night: the next day is a trading day.
    Night,
    /// Only a weekend.
    Weekend,
    /// A weekday without trading.
    Holiday,
}

impl ClosureKind {
    /// All kinds.
    pub const ALL: [Self; 3] = [Self::Night, Self::Weekend, Self::Holiday];

    /// Its stable code.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Night => "night",
            Self::Weekend => "weekend",
            Self::Holiday => "holiday",
        }
    }
}

impl Table {
    /// The session at an instant, seconds UTC. After an early close, the hours without a session before the next day's
    /// trading count as a holiday.
    pub fn state(&self, at: u64) -> MarketState {
        let Some((day, next)) = self.around(at, |day| day.overnight_open) else {
            return MarketState::Unknown;
        };
        match next {
            _ if at < day.pre_open => MarketState::Overnight,
            _ if at < day.open => MarketState::Pre,
            _ if at < day.close => MarketState::Regular,
            _ if at < day.after_close => MarketState::After,
            None => MarketState::Unknown,
            Some(next) => match self.kind(&day, &next) {
                ClosureKind::Weekend => MarketState::Weekend,
                ClosureKind::Night | ClosureKind::Holiday => MarketState::Holiday,
            },
        }
    }

    /// Whether the market is open at an instant, seconds UTC, under these hours; if not, the kind of closure.
    pub fn market(&self, at: u64, hours: Hours) -> Market {
        let Some(bounds) = bounds_of(hours) else { return Market::Open };
        let Some((day, next)) = self.around(at, |day| bounds(day).0) else {
            return Market::Unknown;
        };
        let (_, closed_at) = bounds(&day);
        match next {
            _ if at < closed_at => Market::Open,
            None => Market::Unknown,
            Some(next) => {
                let (opens_at, _) = bounds(&next);
                Market::Closed(Closure {
                    kind: self.kind(&day, &next),
                    length_s: opens_at - closed_at,
                    opens_in_s: opens_at - at,
                })
            }
        }
    }

    /// When the market that is open at an instant under these hours closes next; `None` if it is closed or never
    /// closes. Sessions without a gap between them count as one.
    pub fn closes_at(&self, at: u64, hours: Hours) -> Option<u64> {
        let bounds = bounds_of(hours)?;
        let mut at = at;
        // A week has at most this many consecutive trading days.
        for _ in 0..7 {
            let (day, _) = self.around(at, |day| bounds(day).0)?;
            let (_, closed_at) = bounds(&day);
            if at >= closed_at {
                return None;
            }
            if !self.market(closed_at, hours).is_open() {
                return Some(closed_at);
            }
            at = closed_at;
        }
        None
    }

    /// The kind of closure between two consecutive trading days.
    fn kind(&self, day: &TradingDay, next: &TradingDay) -> ClosureKind {
        let mut between = day.day + 1..next.day;
        if between.is_empty() {
            ClosureKind::Night
        } else if between.all(|day| self.is_weekend(day)) {
            ClosureKind::Weekend
        } else {
            ClosureKind::Holiday
        }
    }
}

/// When a trading day opens and closes.
type Bounds = fn(&TradingDay) -> (u64, u64);

/// The bounds of these hours; `None` if the market is always open.
fn bounds_of(hours: Hours) -> Option<Bounds> {
    match hours {
        Hours::Regular => Some(|day| (day.open, day.close)),
        Hours::Extended => Some(|day| (day.pre_open, day.after_close)),
        Hours::TwentyFourFive => Some(|day| (day.overnight_open, day.after_close)),
        Hours::Continuous => None,
    }
}
