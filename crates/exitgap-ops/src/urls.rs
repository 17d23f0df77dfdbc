//! The URLs in answers. They are configured, never derived from a request.

use exitgap_api::operations::parameters::SLOT;
use exitgap_api::operations::{EvidenceOf, Operation};
use exitgap_core::evidence::Base;
use exitgap_core::ids::{PoolId, SnapshotHash};
use exitgap_core::series::Slot;

/// The URLs of the service.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Urls {
    /// The URL of the API, without a trailing slash.
    pub base: String,
    /// The URL of the evidence pages, without a trailing slash.
    pub web: String,
}

impl Urls {
    /// The URL of a result's evidence. `size_usd` is a size in canonical form.
    pub fn evidence(&self, pool: &PoolId, base: Base, slot: Slot, size_usd: &str) -> String {
        EvidenceOf::with_size(&self.evidence_up_to_size(pool, base, slot), size_usd)
    }

    /// The same up to the position of the size, which [`EvidenceOf::with_size`] appends.
    pub fn evidence_up_to_size(&self, pool: &PoolId, base: Base, slot: Slot) -> String {
        [self.web.as_str(), &EvidenceOf::up_to_size(pool, base, slot)].concat()
    }

    /// The URL of the pool's head window that ends at the slot.
    pub fn window(&self, pool: &PoolId, slot: Slot) -> String {
        let target = Operation::Window.target_of(pool).with(&SLOT, slot.number());
        [self.web.as_str(), target.as_str()].concat()
    }

    /// The URL of the snapshot with this hash.
    pub fn snapshot(&self, hash: SnapshotHash) -> String {
        [self.web.as_str(), Operation::Snapshot.target_of(hash).as_str()].concat()
    }
}
