//! The parameters of the hours figure.

use super::HoursPass;
use crate::Newer;
use crate::analytics::FigureError;
use crate::analytics::figure::Figure;
use crate::evidence::Base;
use crate::hours::{Calendar, Hours, Markets};
use crate::ids::{Code, PoolId, TableHash};
use crate::json::wire_struct;
use crate::series::Slot;
use crate::snapshot::TokenSession;
use crate::units::SizeUsd;

/// The validated parameters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HoursTerms {
    /// The pool.
    pub pool: PoolId,
    /// The token sold.
    pub base: Base,
    /// The first slot.
    pub from: Slot,
    /// The last slot.
    pub to: Slot,
    /// The size of the gaps.
    pub size: SizeUsd,
    /// The calendars of the pool's tokens in the last recorded, unretracted snapshot, by token. Empty if the markets
    /// are open around the clock.
    pub sessions: Vec<TokenSession>,
}

/// The parameters as a figure file spells them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HoursParameters {
    pub(in crate::analytics) base: Base,
    pub(in crate::analytics) calendars: Vec<HoursCalendar>,
    pub(in crate::analytics) from: u64,
    pub(in crate::analytics) pool: PoolId,
    pub(in crate::analytics) size_usd: String,
    pub(in crate::analytics) to: u64,
}

/// A token's calendar, by the name used in snapshots and the hash of its table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::analytics) struct HoursCalendar {
    calendar: Code,
    table: TableHash,
    token: u8,
}

wire_struct!(HoursParameters { base, calendars, from, pool, size_usd, to });
wire_struct!(HoursCalendar { calendar, table, token });

impl HoursCalendar {
    fn known(&self) -> Option<Calendar> {
        Calendar::from_code(&self.calendar)?.with_table(self.table)
    }

    /// The first calendar or table that is unknown, and the calendars with a known one in the place of each such.
    pub(in crate::analytics) fn replace_newer(listed: &[Self]) -> Option<(Newer, Vec<Self>)> {
        let unknown = listed.iter().find(|one| one.known().is_none())?;
        let newer = match Calendar::from_code(&unknown.calendar) {
            Some(_) => Newer::Table(unknown.table),
            None => Newer::Calendar(unknown.calendar),
        };
        let known = Calendar::for_exchange("XNYS", Hours::Regular)?;
        let replace = |one: &Self| match one.known() {
            Some(_) => one.clone(),
            None => Self { calendar: known.code(), table: known.table().hash(), token: one.token },
        };
        Some((newer, listed.iter().map(replace).collect()))
    }
}

impl HoursTerms {
    /// The longest period: 31 days.
    pub const MAX_SLOTS: u32 = 31 * Slot::PER_DAY;

    /// Requires a period of at most `most` slots, and at most one calendar per token.
    pub(in crate::analytics) fn checked_within(self, most: u32) -> Result<Self, FigureError> {
        FigureError::require_period(self.from, self.to, most)?;
        let tokens: Vec<u8> = self.sessions.iter().map(|session| session.token).collect();
        if !matches!(tokens.as_slice(), [] | [0 | 1] | [0, 1]) {
            let rule = "must be for tokens 0 and 1, ascending, at most one of each";
            return Err(FigureError::Parameter { field: "calendars", rule });
        }
        Ok(self)
    }

    /// The markets of the pool's tokens.
    pub fn markets(&self) -> Markets {
        Markets::new(self.sessions.iter().map(|session| session.calendar).collect())
    }

    /// The number of slots in the period.
    pub fn slots(&self) -> u64 {
        (u64::from(self.to.number()) + 1).saturating_sub(self.from.number().into())
    }
}

impl Figure for HoursTerms {
    const NAME: &'static str = super::HOURS;
    const HAS_CALENDARS: bool = true;

    type Parameters = HoursParameters;
    type Pass = HoursPass;

    fn validate(self) -> Result<Self, FigureError> {
        self.checked_within(Self::MAX_SLOTS)
    }

    fn parameters(&self) -> HoursParameters {
        let calendar = |session: &TokenSession| HoursCalendar {
            calendar: session.calendar.code(),
            table: session.calendar.table().hash(),
            token: session.token,
        };
        HoursParameters {
            base: self.base,
            calendars: self.sessions.iter().map(calendar).collect(),
            from: self.from.number().into(),
            pool: self.pool.clone(),
            size_usd: self.size.to_string(),
            to: self.to.number().into(),
        }
    }

    fn from_parameters(spelled: &HoursParameters) -> Result<Self, FigureError> {
        Self::within(spelled, Self::MAX_SLOTS)
    }

    fn replace_newer(spelled: &HoursParameters) -> Option<(Newer, HoursParameters)> {
        let (newer, calendars) = HoursCalendar::replace_newer(&spelled.calendars)?;
        Some((newer, HoursParameters { calendars, ..spelled.clone() }))
    }

    fn pools(&self) -> Vec<&PoolId> {
        vec![&self.pool]
    }

    fn period(&self) -> (Slot, Slot) {
        (self.from, self.to)
    }

    fn with_calendars(self, sessions: Vec<TokenSession>) -> Self {
        Self { sessions, ..self }
    }

    fn pass(self) -> Result<HoursPass, FigureError> {
        HoursPass::new(self)
    }
}

impl HoursTerms {
    /// Reads parameters with a period of at most `most` slots.
    pub(in crate::analytics) fn within(
        read: &HoursParameters,
        most: u32,
    ) -> Result<Self, FigureError> {
        let wrong = |field, rule| FigureError::Parameter { field, rule };
        let session = |read: &HoursCalendar| {
            let calendar = read
                .known()
                .ok_or_else(|| wrong("calendars", "must be a known calendar and table"))?;
            Ok(TokenSession { token: read.token, calendar })
        };
        let terms = Self {
            pool: read.pool.clone(),
            base: read.base,
            from: FigureError::slot("from", read.from)?,
            to: FigureError::slot("to", read.to)?,
            size: read.size_usd.parse().map_err(|_| wrong("size_usd", "a size in USD"))?,
            sessions: read.calendars.iter().map(session).collect::<Result<_, _>>()?,
        };
        let terms = terms.checked_within(most)?;
        if terms.size.to_string() != read.size_usd {
            return Err(wrong("size_usd", "without trailing zeros"));
        }
        Ok(terms)
    }
}
