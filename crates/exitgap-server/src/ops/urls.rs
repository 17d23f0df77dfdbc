//! The addresses that answers point to. They are configured, never guessed from a request.

use exitgap_core::evidence::Base;
use exitgap_core::exit::METHOD_VERSION;
use exitgap_core::ids::{PoolId, SnapshotHash};
use exitgap_core::series::Slot;

/// Where the service is reached.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Urls {
    /// The API's address, without a slash at its end.
    pub base: String,
    /// The address of the evidence pages, without a slash at its end.
    pub web: String,
}

impl Urls {
    /// Where the evidence of a result is. `size_usd` is a size in its one spelling.
    pub fn evidence(&self, pool: &PoolId, base: Base, slot: Slot, size_usd: &str) -> String {
        let (web, slot) = (&self.web, slot.number());
        let base = base_name(base);
        format!(
            "{web}/api/v1/exit/{pool}?base={base}&slot={slot}&size_usd={size_usd}\
             &method_version={METHOD_VERSION}"
        )
    }

    /// Where the pool's head window that ends at the slot is.
    pub fn window(&self, pool: &PoolId, slot: Slot) -> String {
        format!("{}/api/v1/window/{pool}?slot={}", self.web, slot.number())
    }

    /// Where the snapshot of this name is.
    pub fn snapshot(&self, hash: SnapshotHash) -> String {
        format!("{}/api/v1/snapshots/{hash}", self.web)
    }
}

/// The base as addresses name it.
pub fn base_name(base: Base) -> &'static str {
    match base {
        Base::Token0 => "token0",
        Base::Token1 => "token1",
    }
}
