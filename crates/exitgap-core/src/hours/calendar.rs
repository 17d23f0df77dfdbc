//! A token's calendar: an exchange's table, and the sessions that count as open.

use super::market::{Hours, Market, MarketState};
use super::table::{Table, XNYS_1};
use crate::ids::{Code, TableHash};

/// The newest table of each known exchange.
static TABLES: [&Table; 1] = [&XNYS_1];

/// An exchange's table, and the sessions that count as open.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Calendar {
    table: &'static Table,
    hours: Hours,
}

impl Calendar {
    /// The calendar of an exchange, by its market identifier code such as `XNYS`, with the newest known table; `None`
    /// if the exchange is unknown.
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

    /// The calendar with this [`code`](Self::code), with the newest known table.
    pub fn from_code(code: &Code) -> Option<Self> {
        let mut all =
            TABLES.into_iter().flat_map(|table| Hours::ALL.map(|hours| Self { table, hours }));
        all.find(|calendar| calendar.code() == *code)
    }

    /// The same calendar with the table that has this hash; `None` if that table is unknown.
    pub fn with_table(self, hash: TableHash) -> Option<Self> {
        let name = self.table.calendar();
        let table =
            TABLES.into_iter().find(|other| other.calendar() == name && other.hash() == hash)?;
        Some(Self { table, ..self })
    }

    /// The regular session according to the same table.
    #[must_use]
    pub fn regular(self) -> Self {
        Self { hours: Hours::Regular, ..self }
    }

    /// Its name in snapshots: the exchange's code in lower case, followed by the hours unless they are the regular
    /// ones, for example `xnys_extended`.
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

    /// The sessions that count as open.
    pub fn hours(&self) -> Hours {
        self.hours
    }

    /// The session at an instant, in seconds UTC.
    pub fn state(&self, at: u64) -> MarketState {
        self.table.state(at)
    }

    /// Whether the market is open at an instant; if not, the kind of closure.
    pub fn market(&self, at: u64) -> Market {
        self.table.market(at, self.hours)
    }

    /// A snapshot's session note for an instant: exchange, table and session, for example `XNYS@1/regular`.
    pub fn note(&self, at: u64) -> String {
        format!("{}@{}/{}", self.table.calendar(), self.table.version(), self.state(at).as_str())
    }
}
