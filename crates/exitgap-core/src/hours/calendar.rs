//! A calendar as a token has it: an exchange's table, and which of its sessions count as open.

use super::market::{Hours, Market, MarketState};
use super::table::{Table, XNYS_1};
use crate::ids::{Code, TableHash};

/// The newest table of each exchange that is known.
static TABLES: [&Table; 1] = [&XNYS_1];

/// An exchange's table, and which of its sessions count as open.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Calendar {
    table: &'static Table,
    hours: Hours,
}

impl Calendar {
    /// The calendar of an exchange by its market identifier code, e.g. `XNYS`, with the newest table that is known;
    /// `None` where there is none.
    ///
    /// ```
    /// use exitgap_core::hours::{Calendar, Hours};
    /// let calendar = Calendar::for_exchange("XNYS", Hours::TwentyFourFive).unwrap();
    /// assert_eq!(calendar.code().as_str(), "xnys_24x5");
    /// // Monday, 24 August 2026, 09:30 in New York.
    /// assert_eq!(calendar.note(1_787_578_200), "XNYS@1/regular");
    /// ```
    pub fn for_exchange(exchange: &str, hours: Hours) -> Option<Self> {
        let table = TABLES.into_iter().find(|table| table.calendar() == exchange)?;
        Some(Self { table, hours })
    }

    /// The calendar of a [`code`](Self::code), with the newest table that is known.
    pub fn from_code(code: &Code) -> Option<Self> {
        let mut all =
            TABLES.into_iter().flat_map(|table| Hours::ALL.map(|hours| Self { table, hours }));
        all.find(|calendar| calendar.code() == *code)
    }

    /// The same calendar by the table of this hash; `None` where that is not known.
    pub fn with_table(self, hash: TableHash) -> Option<Self> {
        let name = self.table.calendar();
        let table =
            TABLES.into_iter().find(|other| other.calendar() == name && other.hash() == hash)?;
        Some(Self { table, ..self })
    }

    /// The same table's regular session.
    #[must_use]
    pub fn regular(self) -> Self {
        Self { hours: Hours::Regular, ..self }
    }

    /// Its name in snapshots: the exchange's in small letters, and the hours where they are not the regular ones, as
    /// in `xnys_extended`.
    pub fn code(&self) -> Code {
        let exchange = self.table.calendar();
        match self.hours {
            Hours::Regular => Code::of_name(exchange),
            hours => Code::of_name(&format!("{exchange}_{}", hours.as_str())),
        }
    }

    /// Its table.
    pub fn table(&self) -> &'static Table {
        self.table
    }

    /// Which sessions count as open.
    pub fn hours(&self) -> Hours {
        self.hours
    }

    /// The session at an instant, in seconds UTC.
    pub fn state(&self, at: u64) -> MarketState {
        self.table.state(at)
    }

    /// Whether the market is open at an instant, and if not, what closure it is.
    pub fn market(&self, at: u64) -> Market {
        self.table.market(at, self.hours)
    }

    /// What a snapshot notes of an instant: exchange, table and session, as in `XNYS@1/regular`.
    pub fn note(&self, at: u64) -> String {
        format!("{}@{}/{}", self.table.calendar(), self.table.version(), self.state(at).as_str())
    }
}
