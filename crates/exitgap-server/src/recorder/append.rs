//! Step 3, append: the slot is claimed, signed and committed; then whatever waited for its commit is settled.

use exitgap_core::ids::{BlockHash, PoolId};
use exitgap_core::series::{MissingReason, Slot};
use exitgap_store::{NewEntry, Ready, Store, StoreError, spread};

use super::assemble::{SlotCounts, SlotDraft};
use super::chains::{ReadSnapshot, make_ready};
use super::source::SlotReader;
use super::{Recorder, RecorderError, receipts};

/// A slot that is sealed in the store, and not published yet.
pub struct SealedSlot {
    pub slot: Slot,
    /// At which block each chain was read, in the order of the chains.
    pub blocks: Vec<Option<BlockHash>>,
    pub counts: SlotCounts,
    /// Slots before it that were filled with `recorder_down`.
    pub filled_slots: u32,
}

impl<R: SlotReader> Recorder<R> {
    /// Appends the slot in one transaction. Then takes what its heads say off the lists it came from: receipts, what pools
    /// logged, retirements; and keeps its state proofs.
    pub(super) async fn append(&mut self, draft: SlotDraft) -> Result<SealedSlot, RecorderError> {
        let SlotDraft { slot, entries, mut changes, blocks, proof_files, mut counts } = draft;
        let append = move |store: &mut Store| {
            // What one pool's document breaks is no reason to lose the slot of all.
            let refused = store.take_refused(slot, &mut changes)?;
            let appended = store.append_ready(slot, all_ready(entries), &changes)?;
            Ok::<_, StoreError>((appended, changes.issued, refused))
        };
        let (appended, issued, refused) = self.store.run_blocking(append).await??;
        let filled_slots = appended.filled_slots;
        receipts::note_committed(&mut self.store, self.payments.as_ref(), slot, issued).await?;
        let refused_fills: Vec<PoolId> = refused.iter().filter_map(pool_of_fills).collect();
        self.chains.iter_mut().for_each(|chain| chain.fills.written(slot, &refused_fills));
        counts.unread_logs = self.chains.iter().map(|chain| chain.fills.unread()).sum();
        counts.refused_documents = u32::try_from(refused.len()).unwrap_or(u32::MAX);
        for error in refused {
            tracing::error!(%slot, %error, "the slot is recorded without a document that the store refused");
        }
        self.keep(slot, proof_files).await?;
        for pool in self.retiring.drain(..) {
            tracing::warn!(%slot, %pool, "retired: this was its last entry");
        }
        Ok(SealedSlot { slot, blocks, counts, filled_slots })
    }
}

/// Whose logs the store refused.
fn pool_of_fills(refused: &StoreError) -> Option<PoolId> {
    match refused {
        StoreError::Fills { pool, .. } => Some(pool.clone()),
        _ => None,
    }
}

/// The entries to be written. What there was no time to make ready before is made now; what cannot
/// be stored at all is missing.
fn all_ready(entries: Vec<NewEntry<ReadSnapshot>>) -> Vec<NewEntry<Ready>> {
    let made = spread(&entries, |entry| match &entry.reading {
        Ok(ReadSnapshot { snapshot, ready: None }) => Some(make_ready(snapshot)),
        _ => None,
    });
    let entries = entries.into_iter().zip(made);
    let ready = entries.map(|(NewEntry { pool, default_base, reading }, made)| {
        let reading = match (made, reading) {
            (Some(Ok(ready)), _) | (None, Ok(ReadSnapshot { ready: Some(ready), .. })) => Ok(ready),
            (_, Err(reason)) => Err(reason),
            (made, Ok(_)) => {
                let error = made.and_then(Result::err).map(|missing| missing.detail);
                tracing::error!(%pool, error, "missing");
                Err(MissingReason::PoolUnsupported)
            }
        };
        NewEntry { pool, default_base, reading }
    });
    ready.collect()
}
