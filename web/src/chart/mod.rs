//! Drawing. Geometry is pure; floating point stays in here.

mod geometry;
mod line;
mod plane;
mod spark;

pub use geometry::{fixed, length, parsed};
pub use line::{Line, LineChart, Mark, Marked};
pub use spark::Spark;
