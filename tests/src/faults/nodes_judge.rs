//! Compares what a disturbed recorder signed with what an undisturbed one did, and with the chain.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::time::Duration;

use exitgap_chain::config::Plan;
use exitgap_chain::{Limits, PoolLogs};
use exitgap_core::analytics::accuracy::Fills;
use exitgap_core::ids::PoolId;
use exitgap_core::series::{MissingReason, Slot};
use exitgap_core::snapshot::Snapshot;
use exitgap_store::{Outcome, Reader};
use tokio::time::Instant;

use super::Result;
use super::nodes_claim::Difference;

/// More documents of a pool than a run makes.
const MOST_DOCUMENTS: usize = 100_000;

/// The entries of one slot.
pub type Entries = BTreeMap<PoolId, Outcome>;

/// How one slot of a disturbed recorder differs from the same slot of an undisturbed one.
#[derive(Debug, Clone, Default)]
pub struct Judged {
    /// Pools without a snapshot, with the reason; `None`: the slot has no entry of the pool.
    pub missing: Vec<(PoolId, Option<MissingReason>)>,
    /// Pools whose snapshot differs.
    pub other: Vec<PoolId>,
}

/// The entries of a slot.
pub fn entries_at(reader: &Reader, slot: Slot) -> Result<Entries> {
    let mut entries = Entries::new();
    for pool in reader.pools()? {
        if let Some(entry) = reader.entry(&pool, slot)? {
            entries.insert(pool.id, entry.outcome);
        }
    }
    Ok(entries)
}

/// Compares the entries of one slot. An error if the undisturbed recorder did not read every pool: it must.
pub fn compare(truth: &Entries, found: &Entries, slot: Slot) -> Result<Judged> {
    let mut judged = Judged::default();
    for (pool, outcome) in truth {
        if !matches!(outcome, Outcome::Recorded(_)) {
            return Err(format!("slot {slot} of {pool} is {outcome:?} without any fault").into());
        }
        match found.get(pool) {
            Some(same) if same == outcome => {}
            Some(Outcome::Recorded(_)) => judged.other.push(pool.clone()),
            Some(Outcome::Missing(reason)) => {
                judged.missing.push((pool.clone(), Some(*reason)));
            }
            Some(Outcome::Retired) | None => judged.missing.push((pool.clone(), None)),
        }
    }
    Ok(judged)
}

/// Whether a later reading of the recorder put its snapshot of this pool and slot in doubt.
pub fn is_in_doubt(reader: &Reader, id: &PoolId, slot: Slot) -> Result<bool> {
    let pool = reader.pool(id)?.ok_or_else(|| format!("{id} is not in the store"))?;
    Ok(reader.doubt_about(&pool, slot)?.is_some())
}

/// How the snapshots of a pool and slot in two stores differ.
pub fn difference(truth: &Reader, found: &Reader, id: &PoolId, slot: Slot) -> Result<Difference> {
    let of = |reader: &Reader| -> Result<Snapshot> {
        let pool = reader.pool(id)?.ok_or_else(|| format!("{id} is not in the store"))?;
        let snapshot = reader.snapshot_at(&pool, slot)?;
        Ok(snapshot.ok_or_else(|| format!("slot {slot} of {id} has no snapshot"))?)
    };
    Difference::between(&of(truth)?, &of(found)?)
}

/// The documents of logs that heads of a store commit to.
#[derive(Debug, Clone, Default)]
pub struct LogDocuments {
    /// Their number.
    pub count: u64,
    /// The slots and pools of those that differ from the chain's own logs.
    pub other: BTreeSet<(Slot, PoolId)>,
}

/// Compares every such document with the logs that a node without faults has of the same blocks.
pub async fn compare_logs(store: &Path, plan: &Plan) -> Result<LogDocuments> {
    let reader = Reader::open(store)?;
    let mut found = LogDocuments::default();
    for pool in reader.pools()? {
        let Some(address) = pool.id.contract().address() else { continue };
        let logs = PoolLogs::new(plan, pool.id.chain(), Limits::default())?
            .ok_or("the chain is not configured")?;
        let documents = reader.fills(&pool, [Slot::FIRST, Slot::LAST], MOST_DOCUMENTS)?.entries;
        for stored in documents {
            let Fills { after_block, to_block, logs: told, .. } =
                Fills::from_canonical(&stored.canonical)?;
            let deadline = Instant::now() + Duration::from_mins(1);
            let true_logs = logs.read_logs(address, after_block, to_block, deadline).await;
            found.count += 1;
            if true_logs.map_err(|error| error.to_string())? != told {
                found.other.insert((stored.slot, pool.id.clone()));
            }
        }
    }
    Ok(found)
}
