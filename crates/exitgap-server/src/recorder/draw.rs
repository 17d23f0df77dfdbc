//! Whole-pool proofs, selected by a random draw that was unknown while their slot was signed
//! (`exitgap-core::proof::is_drawn`).

use std::collections::BTreeSet;
use std::time::Duration;

use exitgap_core::ids::BlockHash;
use exitgap_core::log_folder::ProofName;
use exitgap_core::proof::{Reach, is_drawn};
use exitgap_core::series::Slot;
use exitgap_core::snapshot::Snapshot;
use exitgap_store::{Pool, Reader, StoreError};
use tokio::time::Instant;

use super::chains;
use super::source::SlotReader;
use super::{Drawn, Recorder, RecorderError};
use crate::challenges::say_what_differs;

/// Time limit for the drawn proofs, after a slot.
const PROVE_WITHIN: Duration = Duration::from_secs(40);

/// How far back drawn slots may be: nodes prove old states only for a limited time.
const FURTHEST_BACK: u32 = Slot::PER_DAY;

impl<R: SlotReader> Recorder<R> {
    /// Creates whole-pool proofs for what this slot draws from each chain's previous recorded slot. `blocks`: the block
    /// at which each chain was read, if it was.
    pub(super) async fn prove_drawn(
        &mut self,
        slot: Slot,
        blocks: &[Option<BlockHash>],
    ) -> Result<Drawn, RecorderError> {
        let (Some(kept), true) = (self.kept.clone(), self.prove) else {
            return Ok(Drawn::default());
        };
        let mut due = Vec::with_capacity(blocks.len());
        for (place, block) in blocks.iter().enumerate() {
            let Some(block) = *block else {
                due.push(Vec::new());
                continue;
            };
            let pools: Vec<_> =
                self.chains[place].pools().iter().map(|(pool, _)| pool.clone()).collect();
            let find =
                move |store: &mut exitgap_store::Store| drawn(store.reader(), &pools, slot, block);
            due.push(self.store.run_blocking(find).await?.unwrap_or_else(|error| {
                tracing::error!(%slot, %error, "the drawn proofs could not be determined");
                Vec::new()
            }));
        }
        let mut drawn = Drawn::default();
        let deadline = Instant::now() + PROVE_WITHIN;
        drawn.due =
            due.iter().map(|of_chain| u32::try_from(of_chain.len()).unwrap_or(u32::MAX)).sum();
        for (snapshot, made) in chains::prove_whole(&mut self.chains, due, deadline).await {
            let contract = snapshot.observation().pool().contract().clone();
            let name = ProofName { contract, slot: snapshot.slot(), reach: Reach::Whole };
            let file = match made {
                Ok(file) => file,
                Err(why) => {
                    tracing::warn!(proof = %name, why, "drawn but not proven");
                    continue;
                }
            };
            let kept = kept.clone();
            let keep = move || {
                say_what_differs(&name, &file, &snapshot);
                kept.keep_for_ever(&name, &file)
            };
            match tokio::task::spawn_blocking(keep).await {
                Ok(Ok(())) => drawn.proven += 1,
                Ok(Err(error)) => tracing::error!(%error, "a drawn proof was not kept"),
                Err(error) => tracing::error!(%error, "a drawn proof was not kept"),
            }
        }
        Ok(drawn)
    }
}

/// The snapshots of a chain's last recorded slot before `slot` that the block of `slot` draws, one per contract;
/// without contracts of unknown storage layout, and without retracted snapshots.
fn drawn(
    reader: &Reader,
    pools: &[exitgap_core::ids::PoolId],
    slot: Slot,
    block: BlockHash,
) -> Result<Vec<Snapshot>, StoreError> {
    let Some(before) = slot.previous() else { return Ok(Vec::new()) };
    let mut recorded: Vec<(Pool, Slot)> = Vec::new();
    for pool in pools {
        let Some(pool) = reader.pool(pool)? else { continue };
        if let Some(last) = reader.last_recorded(&pool, before)? {
            recorded.push((pool, last));
        }
    }
    let Some(of) = recorded.iter().map(|(_, last)| *last).max() else { return Ok(Vec::new()) };
    if slot.number() - of.number() > FURTHEST_BACK {
        return Ok(Vec::new());
    }
    let (mut seen, mut drawn) = (BTreeSet::new(), Vec::new());
    for (pool, last) in recorded {
        let contract = pool.id.contract();
        if last != of || !is_drawn(contract, block) || !seen.insert(contract.clone()) {
            continue;
        }
        if reader.retraction_of(&pool, of)?.is_none()
            && let Some(snapshot) = reader.snapshot_at(&pool, of)?
            && exitgap_core::proof::Place::from_observation(snapshot.observation()).layout.is_some()
        {
            drawn.push(snapshot);
        }
    }
    Ok(drawn)
}
