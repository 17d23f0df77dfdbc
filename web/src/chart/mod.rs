//! Drawing. Geometry is pure; floating point stays in here.

mod bars;
mod geometry;
mod heat;
mod line;
mod payoff;
mod plane;
mod scatter;
mod spark;

pub use bars::{Bar, Bars};
pub use geometry::{fixed, length, parsed, stacked};
pub use heat::{HOURS, Heat, Hour, SHADES, hour_in_words};
pub use line::{Line, LineChart, Mark, Marked};
pub use payoff::{Later, Payoff};
pub use scatter::{Dot, Scatter};
pub use spark::Spark;
