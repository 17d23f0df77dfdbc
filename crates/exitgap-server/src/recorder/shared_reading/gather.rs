//! The recorder that seals a slot gathers the readings of all recorders.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::time::Duration;

use exitgap_chain::ReadFailure;
use exitgap_core::ids::{ChainSlug, Contract, PoolId};
use exitgap_core::series::{MissingReason, Slot};
use exitgap_store::shards::SharingError;
use exitgap_store::{Store, StoreError};
use tokio::time::{Instant, sleep_until};

use super::super::chains::{self, ChainPools, ChainReading, PoolReading, ReadingPlan};
use super::super::source::SlotReader;
use super::super::{Recorder, RecorderError};
use super::Shard;
use super::document::{self, ShardReading};

/// Polling interval for complete readings.
const LOOK_EVERY: Duration = Duration::from_millis(250);

/// How long before the slot's deadline waiting for readings stops, which leaves time to build the slot.
const FREEZE_BEFORE: Duration = Duration::from_secs(10);

/// The final readings of a slot.
struct Taken {
    /// By shard.
    readings: Vec<(String, ShardReading)>,
    /// Shards whose readings could not be decoded.
    unreadable: BTreeSet<String>,
    /// Shards that some recorder was assigned.
    held: BTreeSet<String>,
}

impl<R: SlotReader> Recorder<R> {
    /// The readings of all sharing recorders at a slot, chain by chain: as soon as they are complete, or `deadline` is
    /// near.
    pub(in super::super) async fn gather_readings(
        &mut self,
        slot: Slot,
        plans: Vec<ReadingPlan>,
        deadline: Instant,
    ) -> Result<Vec<ChainReading>, RecorderError> {
        let shards = self.shards.clone().unwrap_or_default();
        let left = deadline.saturating_duration_since(Instant::now());
        let until = deadline - FREEZE_BEFORE.min(left / 4);
        let asking = chains::ask_logs(&mut self.chains, plans, deadline);
        loop {
            let came = self.store.run_blocking(move |store| store.shards_read(slot)).await??;
            if shards.iter().all(|shard| came.contains(&shard.name)) || Instant::now() >= until {
                break;
            }
            sleep_until(until.min(Instant::now() + LOOK_EVERY)).await;
        }
        let taken = self.store.run_blocking(move |store| taken(store, slot)).await??;
        let answers = asking.answers(&mut self.chains).await;
        let mut chains = by_chain(&shards, taken);
        let mut readings = Vec::with_capacity(self.chains.len());
        for (chain, (logs, requests)) in self.chains.iter_mut().zip(answers) {
            let mut of = chains.remove(chain.slug()).unwrap_or_default();
            of.requests += requests;
            of.logs = logs;
            let reading = chain.sort(slot, of);
            chain.recorded = reading.block().or(chain.recorded);
            chains::warn_of_missing(slot, chain, &reading);
            readings.push(reading);
        }
        Ok(readings)
    }
}

/// Freezes the slot, and takes its readings. A reading that cannot be decoded counts as missing.
fn taken(store: &mut Store, slot: Slot) -> Result<Taken, StoreError> {
    let held = store.shards_held()?.into_iter().collect();
    store.freeze(slot)?;
    let (mut readings, mut unreadable) = (Vec::new(), BTreeSet::new());
    for shard in store.shards_read(slot)? {
        let reading = match store.shard_reading(slot, &shard) {
            Ok(Some(bytes)) => document::decode_reading(slot, &bytes),
            Ok(None) => continue,
            Err(SharingError::Store(error)) => return Err(error),
            Err(error) => Err(error.to_string()),
        };
        match reading {
            Ok(reading) => readings.push((shard, reading)),
            Err(error) => {
                tracing::error!(%slot, shard, error, "a shard's reading cannot be decoded");
                unreadable.insert(shard);
            }
        }
    }
    Ok(Taken { readings, unreadable, held })
}

/// The readings of each chain. Pools of shards without a reading are missing, with the reason.
fn by_chain(shards: &[Shard], taken: Taken) -> HashMap<ChainSlug, ChainPools> {
    let mut chains: HashMap<ChainSlug, ChainPools> = HashMap::new();
    for shard in shards {
        if taken.readings.iter().any(|(name, _)| *name == shard.name) {
            continue;
        }
        let (reason, why) = if taken.unreadable.contains(&shard.name) {
            (MissingReason::RecorderDown, "was read, but its reading cannot be decoded")
        } else if taken.held.contains(&shard.name) {
            (MissingReason::DeadlineExceeded, "was not read in time")
        } else {
            (MissingReason::RecorderDown, "has no reader")
        };
        let missing = ReadFailure { reason, detail: format!("shard {} {why}", shard.name) };
        let of = |pool: &PoolId| -> (PoolId, PoolReading) { (pool.clone(), Err(missing.clone())) };
        let pools = &mut chains.entry(shard.chain.clone()).or_default().pools;
        pools.extend(shard.pools.iter().map(of));
    }
    for (_, ShardReading { chain, of }) in taken.readings {
        let all = chains.entry(chain).or_default();
        // Accept readings of the shard's own pools only.
        let own: HashSet<&PoolId> = of.pools.iter().map(|(pool, _)| pool).collect();
        let contracts: HashSet<&Contract> = own.iter().map(|pool| pool.contract()).collect();
        let mut proofs = of.proofs;
        proofs.files.retain(|contract, _| contracts.contains(contract));
        all.doubts.extend(of.doubts.into_iter().filter(|doubt| own.contains(&doubt.pool)));
        all.requests += of.requests;
        all.proofs.add(proofs);
        all.pools.extend(of.pools);
    }
    for all in chains.values_mut() {
        // During a configuration change a pool may belong to two shards: the last reading counts.
        all.pools.sort_by_key(|(_, reading)| reading.is_ok());
    }
    chains
}
