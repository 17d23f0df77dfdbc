//! When the market of an asset is open: calendars as tables of trading days, compiled in, and what they say of
//! an instant.
//!
//! A calendar's rows are facts, not rules: five instants of each trading day, in seconds UTC, summer time resolved. A
//! table is named by the SHA-256 of its canonical text and never changes; a closing that nobody foresaw is a new
//! version. Out of scope: whether anybody traded, halts, and what a pool does meanwhile. Outside of its days a table
//! says `unknown`: it never guesses.
//!
//! Integers only; time is an argument. An instant belongs to what begins with it: at `close` the market is closed.

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
pub use markets::{Closed, Markets};
pub use table::{Table, TradingDay, XNYS_1};
