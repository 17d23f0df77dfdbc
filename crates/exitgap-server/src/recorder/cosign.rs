//! Submits a sealed slot's checkpoint to this log's witnesses before it is published.

use std::sync::Arc;

use exitgap_core::tlog::Hash;
use exitgap_store::{Store, StoreError};

use super::source::SlotReader;
use super::{Recorder, RecorderError};
use crate::witness::{CosignResults, Due, Shown, Witnesses};

/// The number of cosignatures, and the witnesses that did not cosign, with reasons.
type CosignOutcome = (u32, Vec<(String, String)>);

impl<R: SlotReader> Recorder<R> {
    /// From the next slot on, submits each slot to these witnesses before it is published.
    pub fn ask_witnesses(&mut self, witnesses: Witnesses) -> Result<(), RecorderError> {
        self.store.get_mut()?.await_cosignatures(true);
        self.witnesses = Some(Arc::new(witnesses));
        Ok(())
    }

    /// If the process ended before the witnesses answered, submits the newest slot to them again, and then publishes
    /// it.
    pub(super) async fn resume_cosigning(&mut self) -> Result<(), RecorderError> {
        if self.store()?.reader().awaited_slot()?.is_none() {
            return Ok(());
        }
        self.cosign().await?;
        // If no witnesses are configured any more, record that there are no cosignatures.
        self.store.run_blocking(|store| store.record_cosignatures("")).await??;
        if let Err(error) = self.publish_newest().await? {
            tracing::error!(%error, "the newest slot is recorded but not published yet");
        }
        Ok(())
    }

    /// Submits the slot that was just sealed, and stores the results: it waits at most five seconds, and the slot is
    /// published whatever the witnesses answer.
    pub(super) async fn cosign(&mut self) -> Result<CosignOutcome, RecorderError> {
        let Some(witnesses) = self.witnesses.clone() else { return Ok((0, Vec::new())) };
        let sealed = |store: &mut Store| {
            let size = store.reader().log_size()?;
            Ok::<_, StoreError>(store.reader().checkpoint(size)?.map(|note| Shown::now(note, size)))
        };
        let Some(shown) = self.store.run_blocking(sealed).await?? else {
            return Ok((0, Vec::new()));
        };
        let mut answered = CosignResults::default();
        let asks = self.with_proofs(witnesses.due_witnesses(shown.size), shown.size).await?;
        let again = witnesses.ask(&shown, asks, &mut answered).await;
        if !again.is_empty() {
            let asks = self.with_proofs(again, shown.size).await?;
            let third = witnesses.ask(&shown, asks, &mut answered).await;
            witnesses.give_up(&third, &mut answered);
        }
        let CosignResults { lines, cosigned, failed } = answered;
        self.store.run_blocking(move |store| store.record_cosignatures(&lines)).await??;
        Ok((cosigned, failed))
    }

    /// The due witnesses, each with a proof that the log extends the size that it last cosigned.
    async fn with_proofs(
        &mut self,
        due: Vec<Due>,
        size: u64,
    ) -> Result<Vec<(Due, Vec<Hash>)>, RecorderError> {
        let proven = move |store: &mut Store| {
            let with = due.into_iter().map(|due| {
                let proof =
                    if due.old == 0 { None } else { store.reader().consistency(due.old, size)? };
                Ok((due, proof.unwrap_or_default()))
            });
            with.collect::<Result<Vec<_>, StoreError>>()
        };
        Ok(self.store.run_blocking(proven).await??)
    }
}
