//! Balancer's pools, in its vaults of version 2 and 3: weighted, and stable.
//!
//! - `vault`: from raw units to the balances that a pool computes with, and back
//! - `weighted`, `stable`: what a pool pays
//! - `power`, `fixed_point`: powers and numbers of eighteen decimals
//! - `pool`: a pool of either in its vault, and one direction of it
//! - `form`: the states as canonical JSON
//!
//! The two versions' stable pools round differently: they are two kinds.

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
/// A stable pool of version 2, asked about tokens other than its own.
pub type StableV2 = VaultPool<StableRule>;
/// A stable pool of version 3.
pub type StableV3 = VaultPool<ThirdStableRule>;

#[cfg(test)]
mod tests;
