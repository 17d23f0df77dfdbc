//! Both readings of a pool's depth over a week, `depths/1`: from the oracle price, and from the pool's own mid price, the
//! *book*.
//!
//! A lagging oracle empties the first reading and leaves the second as it is, so only both together show whether
//! liquidity was missing. Heads commit to the lowest depth, and to nothing of the book; this figure proves both.
//!
//! - `lows`: the one computation that the store and the figure share
//! - `terms`: the parameters; `scan`: the one pass over the slots; `result`: the result

mod lows;
mod result;
mod scan;
mod terms;

pub use lows::{DepthCause, DepthLows, OracleLead, SlotDepths};
pub use result::{DepthsResult, DepthsSideResult};
pub use scan::DepthsPass;
pub use terms::{DepthsParameters, DepthsTerms};

/// The name and version of these rules.
pub const DEPTHS: &str = "depths/1";

#[cfg(test)]
mod tests;
