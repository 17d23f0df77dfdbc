//! Uniswap v3 against its contracts.

mod bed;
mod cases;
mod pool_to_make;
mod sizes;

pub use bed::{Bed, Pool, Quote, Swapped};
pub use cases::{run, try_sale};
pub use pool_to_make::{PoolToMake, Position, most_per_tick};
