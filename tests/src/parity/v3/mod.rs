//! Uniswap v3 against its contracts.

mod bed;
mod cases;
mod plan;
mod sizes;

pub use bed::{Bed, Pool, Quote, Swapped};
pub use cases::{run, try_sale};
pub use plan::{Plan, Position, most_per_tick};
