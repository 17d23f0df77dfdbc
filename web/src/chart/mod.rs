//! Drawing. Geometry is pure; floating point stays in here.

mod geometry;
mod line;
mod spark;

pub use line::{Line, LineChart};
pub use spark::Spark;
