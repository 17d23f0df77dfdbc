//! Balancer v2 against its contracts.

mod bed;
mod cases;

pub use bed::{Bed, Pool};
pub use cases::{Kind, run};
