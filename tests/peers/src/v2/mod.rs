//! Uniswap v2 against its contracts.

mod bed;
mod cases;

pub use bed::{Bed, Pair, Refused, Swapped};
pub use cases::{random_pair, run, tiny_pair, try_sale};
