//! Charts. The geometry is pure; floating point is used only in this module.

mod bars;
mod geometry;
mod heat;
mod line;
mod payoff;
mod plane;
mod scatter;
mod spark;

pub use bars::{Bar, Bars};
pub use geometry::{format_fixed, length, parse_number, stack_parts};
pub use heat::{HOURS, Heat, Hour, SHADES, hour_in_words};
pub use line::{Line, LineChart, Mark, MarkNote};
pub use payoff::{Later, Payoff};
pub use scatter::{Dot, Scatter};
pub use spark::Spark;
