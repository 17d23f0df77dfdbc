//! When the market of an asset is open: calendars as compiled-in tables of trading days, and the
//! session of a given time.
//!
//! The rows of a calendar are facts, not rules: five times of each trading day, in seconds UTC,
//! with daylight saving time resolved. A table is named by the SHA-256 of its canonical text and
//! never changes; an unforeseen closing is a new version. Out of scope: whether anyone traded,
//! halts, and what a pool does in the meantime. Outside its days a table returns `unknown`. It
//! never guesses.
//!
//! Integers only; time is an argument. A time belongs to the session that begins with it: at
//! `close` the market is closed.

mod calendar;
mod figures;
mod market;
mod markets;
mod table;
#[cfg(test)]
mod tests;

pub use calendar::Calendar;
pub use figures::{
    ClosureFigures, HoursFigures, NEEDED_CLOSURES, RecordedSlot, Spread, hours_figures,
};
pub use market::{Closure, ClosureKind, Hours, Market, MarketState};
pub use markets::{ClosureSpan, Markets};
pub use table::{Table, TradingDay, XNYS_1};
