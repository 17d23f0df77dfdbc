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
        Self::with_size(&self.evidence_up_to_size(pool, base, slot), size_usd)
    }

    /// The same up to the size, which [`Urls::with_size`] adds.
    pub fn evidence_up_to_size(&self, pool: &PoolId, base: Base, slot: Slot) -> String {
        let (web, base, slot) = (&self.web, base_name(base), slot.number());
        format!("{web}/api/v1/exit/{pool}?base={base}&slot={slot}&size_usd=")
    }

    /// The address of the evidence of this size, after what comes before it.
    pub fn with_size(up_to_size: &str, size_usd: &str) -> String {
        [up_to_size, size_usd, "&method_version=", METHOD_VERSION].concat()
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
