//! What a table says of an instant: which session it lies in, and how long a market stays closed.

use super::table::{Table, TradingDay};

/// Which session of an exchange an instant lies in.
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
    /// No session, because of a weekend alone.
    Weekend,
    /// No session, because of a day that is not traded, the weekend beside it included.
    Holiday,
    /// Not in the table.
    Unknown,
}

impl MarketState {
    /// All of them.
    pub const ALL: [Self; 7] = [
        Self::Regular,
        Self::Pre,
        Self::After,
        Self::Overnight,
        Self::Weekend,
        Self::Holiday,
        Self::Unknown,
    ];

    /// Its stable name.
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

/// Which sessions count as open.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Hours {
    /// The regular session.
    Regular,
    /// The pre-market session until trading after hours ends.
    Extended,
    /// All four sessions: around the clock on five days a week.
    TwentyFourFive,
    /// Around the clock on all days, whatever the exchange does.
    Continuous,
}

impl Hours {
    /// All of them.
    pub const ALL: [Self; 4] =
        [Self::Regular, Self::Extended, Self::TwentyFourFive, Self::Continuous];

    /// The hours of this [name](Self::as_str).
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|hours| hours.as_str() == name)
    }

    /// Its stable name.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Regular => "regular",
            Self::Extended => "extended",
            Self::TwentyFourFive => "24x5",
            Self::Continuous => "continuous",
        }
    }
}

/// Whether a market is open at an instant, under given hours.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Market {
    /// It is.
    Open,
    /// It is not.
    Closed(Closure),
    /// The table does not have the opening before the instant, or, after a closing, the one that follows.
    Unknown,
}

impl Market {
    /// Whether it is open. What is unknown is not.
    pub fn is_open(self) -> bool {
        self == Self::Open
    }
}

/// A time without trading, from a closing to the next opening.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Closure {
    /// What lies in it.
    pub kind: ClosureKind,
    /// How long it lasts, seconds.
    pub length_s: u64,
    /// How long until it ends, seconds: at least 1, at most its length.
    pub opens_in_s: u64,
}

/// What lies between a closing and the next opening, ascending by how much is closed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum ClosureKind {
    /// Nothing but a night: the next day is traded.
    Night,
    /// A weekend alone.
    Weekend,
    /// A Monday to Friday that is not traded.
    Holiday,
}

impl ClosureKind {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Night, Self::Weekend, Self::Holiday];

    /// Its stable name.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Night => "night",
            Self::Weekend => "weekend",
            Self::Holiday => "holiday",
        }
    }
}

impl Table {
    /// The session at an instant, in seconds UTC. Hours without a session between two trading days that follow each
    /// other, after an early closing, are of a holiday.
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

    /// Whether the market is open at an instant, in seconds UTC, under these hours, and if not, what closure it is.
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

    /// When the market closes next, being open at an instant under these hours; `None` where it is not, or never does.
    /// Sessions that follow each other without a gap are one.
    pub fn closes_at(&self, at: u64, hours: Hours) -> Option<u64> {
        let bounds = bounds_of(hours)?;
        let mut at = at;
        // No week has more days in a row.
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

    /// What lies between two trading days of which the second follows the first.
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

/// Those of these hours; `None`: it always is open.
fn bounds_of(hours: Hours) -> Option<Bounds> {
    match hours {
        Hours::Regular => Some(|day| (day.open, day.close)),
        Hours::Extended => Some(|day| (day.pre_open, day.after_close)),
        Hours::TwentyFourFive => Some(|day| (day.overnight_open, day.after_close)),
        Hours::Continuous => None,
    }
}
