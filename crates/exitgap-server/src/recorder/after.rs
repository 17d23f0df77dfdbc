//! Step 5, after publication: work that a published slot triggers. None of it is in the slot's heads.

use std::mem::take;
use std::time::Duration;

use exitgap_core::series::Slot;
use exitgap_store::Store;
use tokio::time::Instant;

use super::append::SealedSlot;
use super::source::SlotReader;
use super::{Recorder, RecorderError, chains, recheck};

/// Time limit for rechecking earlier slots, after each slot.
const RECHECK_WITHIN: Duration = Duration::from_secs(20);

impl<R: SlotReader> Recorder<R> {
    /// Rechecks the blocks of earlier slots, proves the pools that the slot draws at random, and publishes stored
    /// proofs and a day's anchors. The next slot's report contains the results of the drawn proofs.
    pub(super) async fn after(&mut self, sealed: &SealedSlot) -> Result<(), RecorderError> {
        let slot = sealed.slot;
        self.recheck(slot).await?;
        self.drawn = self.prove_drawn(slot, &sealed.blocks).await?;
        self.publish_proofs().await;
        self.publish_anchors(slot).await
    }

    /// Rechecks the blocks of earlier slots after `last` was recorded. Orphaned slots are retracted with the next slot.
    async fn recheck(&mut self, last: Slot) -> Result<(), RecorderError> {
        let deadline = Instant::now() + RECHECK_WITHIN;
        let mut rechecks: Vec<_> = self
            .chains
            .iter_mut()
            .map(|chain| (chain.slug().clone(), chain.confirmations(), take(&mut chain.recheck)))
            .collect();
        let (rechecks, due) = self
            .store
            .run_blocking(move |store| {
                let due = rechecks.iter_mut().map(|(chain, confirmations, recheck)| {
                    let Some(confirmations) = *confirmations else { return Vec::new() };
                    let due = recheck.due(store.reader(), chain, last, confirmations);
                    due.unwrap_or_else(|error| {
                        tracing::error!(%chain, %error, "earlier slots are not rechecked");
                        Vec::new()
                    })
                });
                let due: Vec<_> = due.collect();
                (rechecks, due)
            })
            .await?;
        for (chain, (_, _, recheck)) in self.chains.iter_mut().zip(rechecks) {
            chain.recheck = recheck;
        }
        let compared = chains::read_canonical(&mut self.chains, due, deadline).await;
        for (place, compared) in compared.into_iter().enumerate() {
            let chain = self.chains[place].slug().clone();
            let settle = move |store: &mut Store| recheck::settle(store, &chain, last, &compared);
            match self.store.run_blocking(settle).await? {
                Ok(next) => {
                    if let Some(next) = next {
                        self.chains[place].recheck.compared_until(next);
                    }
                }
                Err(error) => {
                    let chain = self.chains[place].slug();
                    tracing::error!(%chain, %error, "results of the recheck are not stored yet");
                }
            }
        }
        Ok(())
    }
}
