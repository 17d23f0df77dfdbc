//! Step 3, append: claims, signs and commits the slot, and then settles what depends on its commit.

use exitgap_core::ids::{BlockHash, PoolId};
use exitgap_core::series::{MissingReason, Slot};
use exitgap_store::{NewEntry, Ready, Store, StoreError, spread};

use super::assemble::{SlotCounts, SlotDraft};
use super::chains::{ReadSnapshot, make_ready};
use super::source::SlotReader;
use super::{Recorder, RecorderError, receipts};

/// A slot that is sealed in the store, but not published yet.
pub struct SealedSlot {
    pub slot: Slot,
    /// The block at which each chain was read, in the order of the chains.
    pub blocks: Vec<Option<BlockHash>>,
    pub counts: SlotCounts,
    /// Number of earlier slots that were filled with `recorder_down`.
    pub filled_slots: u32,
}

impl<R: SlotReader> Recorder<R> {
    /// Appends the slot in one transaction. Then updates the lists of pending receipts, logs and retirements, to which
    /// the slot's heads now commit, and stores its state proofs.
    pub(super) async fn append(&mut self, draft: SlotDraft) -> Result<SealedSlot, RecorderError> {
        let SlotDraft { slot, entries, mut changes, blocks, proof_files, mut counts } = draft;
        let append = move |store: &mut Store| {
            // An invalid document of one pool must not prevent the slot of all pools.
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

/// The pool whose logs document the store rejected.
fn pool_of_fills(refused: &StoreError) -> Option<PoolId> {
    match refused {
        StoreError::Fills { pool, .. } => Some(pool.clone()),
        _ => None,
    }
}

/// The entries to write. Snapshots that were not prepared earlier for lack of time are prepared now; those that cannot
/// be stored become missing.
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
