//! The addresses that answers point to. They are configured, never guessed from a request.

use exitgap_api::operations::parameters::SLOT;
use exitgap_api::operations::{EvidenceOf, Operation};
use exitgap_core::evidence::Base;
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
        EvidenceOf::with_size(&self.evidence_up_to_size(pool, base, slot), size_usd)
    }

    /// The same up to the size, which [`EvidenceOf::with_size`] adds.
    pub fn evidence_up_to_size(&self, pool: &PoolId, base: Base, slot: Slot) -> String {
        [self.web.as_str(), &EvidenceOf::up_to_size(pool, base, slot)].concat()
    }

    /// Where the pool's head window that ends at the slot is.
    pub fn window(&self, pool: &PoolId, slot: Slot) -> String {
        let target = Operation::Window.target_of(pool).with(&SLOT, slot.number());
        [self.web.as_str(), target.as_str()].concat()
    }

    /// Where the snapshot of this name is.
    pub fn snapshot(&self, hash: SnapshotHash) -> String {
        [self.web.as_str(), Operation::Snapshot.target_of(hash).as_str()].concat()
    }
}
