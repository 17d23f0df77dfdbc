//! Balancer's weighted and stable pools, in its vaults of version 2 and 3.
//!
//! - `vault`: converts raw units to the balances that a pool computes with, and back
//! - `weighted`, `stable`: the output of a pool
//! - `power`, `fixed_point`: powers and numbers with eighteen decimals
//! - `pool`: a pool of either kind in its vault, and one direction of it
//! - `form`: the states as canonical JSON
//!
//! The stable pools of the two versions round differently, so they are two kinds.

mod fixed_point;
mod form;
mod pool;
mod power;
mod stable;
mod vault;
mod weighted;

pub use pool::VaultPool;
pub use stable::{StableRelease, StableRule, ThirdStableRule};
pub use vault::{BalancerError, VaultParts};
pub use weighted::WeightedRule;

/// A weighted pool of either version.
pub type Weighted = VaultPool<WeightedRule>;
/// A stable pool of version 2, for tokens other than its own pool token.
pub type StableV2 = VaultPool<StableRule>;
/// A stable pool of version 3.
pub type StableV3 = VaultPool<ThirdStableRule>;

#[cfg(test)]
mod tests;
