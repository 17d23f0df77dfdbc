//! Checks readings against the chain's own state before signing: a state that the chain contradicts is not recorded.

use std::collections::BTreeMap;
use std::time::Duration;

use exitgap_chain::{Proven, ReadFailure, Unproven};
use exitgap_core::ids::{Contract, PoolId};
use exitgap_core::snapshot::Snapshot;
use tokio::time::{Instant, timeout_at};

use super::source::SlotReader;

/// Maximum time for a slot's proofs; the remaining time is for the steps after them.
const PROVE_WITHIN: Duration = Duration::from_secs(20);

/// The proof results of a chain's pools at a slot.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Proofs {
    /// Proofs of the pools that the chain's own state confirms, one per contract.
    pub files: BTreeMap<Contract, Vec<u8>>,
    /// Number of confirmed pools.
    pub proven: u32,
    /// Of these, the number of pools whose oracle readings are confirmed too.
    pub oracles_proven: u32,
    /// Number of pools without a proof, by reason.
    pub unproven: BTreeMap<Unproven, u32>,
}

impl Proofs {
    /// Adds the results of another chain.
    pub fn add(&mut self, other: Self) {
        self.files.extend(other.files);
        self.proven += other.proven;
        self.oracles_proven += other.oracles_proven;
        for (why, count) in other.unproven {
            *self.unproven.entry(why).or_default() += count;
        }
    }
}

/// Checks readings against the chain's own state. Contradicted readings become missing, with the details.
pub async fn prove<R: SlotReader>(
    reader: &mut R,
    pools: &mut [(PoolId, Result<Snapshot, ReadFailure>)],
    deadline: Instant,
) -> Proofs {
    let left = deadline.saturating_duration_since(Instant::now());
    let until = Instant::now() + PROVE_WITHIN.min(left / 2);
    let snapshots: Vec<Snapshot> =
        pools.iter().filter_map(|(_, read)| read.as_ref().ok().cloned()).collect();
    if snapshots.is_empty() {
        return Proofs::default();
    }
    let asked: Vec<&Snapshot> = snapshots.iter().collect();
    let late = || vec![Proven::Unproven(Unproven::NoTime); asked.len()];
    // The prover ends by itself; if not, do not wait longer.
    let proven = timeout_at(until + PROVE_WITHIN / 20, reader.prove(&asked, until)).await;
    let mut proven = proven.unwrap_or_else(|_| late()).into_iter();
    let mut proofs = Proofs::default();
    for (pool, read) in pools.iter_mut().filter(|(_, read)| read.is_ok()) {
        match proven.next().unwrap_or(Proven::Unproven(Unproven::NoTime)) {
            Proven::Held { file, has_oracles } => {
                proofs.proven += 1;
                proofs.oracles_proven += u32::from(has_oracles);
                proofs.files.insert(pool.contract().clone(), file);
            }
            Proven::Unproven(why) => *proofs.unproven.entry(why).or_default() += 1,
            Proven::Contradicted(missing) => {
                tracing::error!(%pool, %missing, "not recorded");
                *read = Err(missing);
            }
        }
    }
    proofs
}
