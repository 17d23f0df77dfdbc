//! Step 2, assemble: determines the contents of a slot's heads from its readings and the pending changes of earlier
//! slots.

use std::collections::BTreeMap;
use std::sync::Arc;

use exitgap_chain::Unproven;
use exitgap_core::ids::{BlockHash, Contract, PoolId};
use exitgap_core::series::{MissingReason, Slot};
use exitgap_store::payments::Payments;
use exitgap_store::{Changes, NewDoubt, NewEntry, NewFills, NewRetraction};

use super::chains::ReadSnapshot;
use super::proofs::Proofs;
use super::slot_reading::ReadSlot;
use super::store::BlockingStore;
use super::{RecorderError, receipts, recheck};

/// Pending changes from earlier slots for the next heads.
pub struct PendingChanges {
    /// Pools that retire with the slot.
    pub retirements: Vec<PoolId>,
    /// The pools' logs in final blocks.
    pub fills: Vec<NewFills>,
}

/// A slot that is ready to be appended.
pub struct SlotDraft {
    pub slot: Slot,
    pub entries: Vec<NewEntry<ReadSnapshot>>,
    pub changes: Changes,
    /// The block at which each chain was read, in the order of the chains.
    pub blocks: Vec<Option<BlockHash>>,
    /// State proofs of the readings, stored once the slot is sealed.
    pub proof_files: BTreeMap<Contract, Vec<u8>>,
    pub counts: SlotCounts,
}

/// The counts for a slot's report; the last two are set when the slot is appended.
pub struct SlotCounts {
    pub recorded: u32,
    pub missing: BTreeMap<MissingReason, u32>,
    pub retracted: u32,
    pub doubts: u32,
    pub proven: u32,
    pub oracles_proven: u32,
    pub unproven: BTreeMap<Unproven, u32>,
    pub requests: u64,
    /// Number of pools whose logs arrived but cannot be read.
    pub unread_logs: u32,
    /// Number of documents that the store rejected.
    pub refused_documents: u32,
}

/// Assembles the slot; fails if it has no pool. Reads pending retractions from the store and receipts from `payments`,
/// and removes those from their lists that no head can commit to any more.
pub async fn assemble(
    store: &mut BlockingStore,
    payments: Option<&Arc<Payments>>,
    pending: PendingChanges,
    read: ReadSlot,
) -> Result<SlotDraft, RecorderError> {
    let ReadSlot { slot, entries, blocks, doubts, proofs, requests, .. } = read;
    if entries.is_empty() {
        return Err(RecorderError::NoPool);
    }
    let (recorded, missing) = count_entries(&entries);
    let retractions = store.run_blocking(move |store| recheck::retractions(store, slot)).await??;
    for NewRetraction { pool, slot: retracted, .. } in &retractions {
        tracing::warn!(%slot, %pool, %retracted, "retracted: its block was orphaned");
    }
    for NewDoubt { pool, first } in &doubts {
        tracing::error!(%slot, %pool, from = %first, "its slots up to this one are in doubt: a full reading found different ticks");
    }
    let issued = receipts::due_receipts(store, payments, slot, &entries).await?;
    let Proofs { files: proof_files, proven, oracles_proven, unproven } = proofs;
    let counts = SlotCounts {
        recorded,
        missing,
        retracted: u32::try_from(retractions.len()).unwrap_or(u32::MAX),
        doubts: u32::try_from(doubts.len()).unwrap_or(u32::MAX),
        proven,
        oracles_proven,
        unproven,
        requests,
        unread_logs: 0,
        refused_documents: 0,
    };
    let PendingChanges { retirements, fills } = pending;
    let changes = Changes { retractions, retirements, doubts, fills, issued };
    Ok(SlotDraft { slot, entries, changes, blocks, proof_files, counts })
}

/// How many pools have a snapshot, and how many have none, by reason.
fn count_entries(entries: &[NewEntry<ReadSnapshot>]) -> (u32, BTreeMap<MissingReason, u32>) {
    let (mut recorded, mut missing) = (0, BTreeMap::new());
    for entry in entries {
        match &entry.reading {
            Ok(_) => recorded += 1,
            Err(reason) => *missing.entry(*reason).or_default() += 1,
        }
    }
    (recorded, missing)
}
