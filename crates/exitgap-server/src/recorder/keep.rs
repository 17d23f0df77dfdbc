//! Stores and publishes state proofs: a slot's own, those kept permanently, and which ones are removed.

use std::collections::BTreeMap;
use std::sync::Arc;

use exitgap_core::ids::Contract;
use exitgap_core::log_folder::{LogFile, ProofName};
use exitgap_core::proof::Reach;
use exitgap_core::series::Slot;
use exitgap_store::proofs::{Proofs as KeptProofs, ProofsError};
use exitgap_store::{LogFolder, PublishError, StoreError};

use super::source::SlotReader;
use super::{Recorder, RecorderError};

/// Number of slots between two decisions on which proofs are kept permanently and which are removed: an hour's.
const SORT_EVERY: u32 = Slot::PER_DAY / 24;

/// Maximum number of proofs published after a slot; more wait for the next slot.
const PUBLISHED_AT_ONCE: u32 = 64;

impl<R: SlotReader> Recorder<R> {
    /// Stores a slot's proofs, and removes old ones. The slot is recorded even if this fails, because a proof can be
    /// created again.
    pub(super) async fn keep(
        &mut self,
        slot: Slot,
        files: BTreeMap<Contract, Vec<u8>>,
    ) -> Result<(), RecorderError> {
        let Some(kept) = self.kept.clone() else { return Ok(()) };
        let is_sorted = slot.number().is_multiple_of(SORT_EVERY);
        let lowest = if is_sorted { self.lowest_slots().await? } else { Vec::new() };
        let keeping = move || {
            let files: Vec<(Contract, Vec<u8>)> = files.into_iter().collect();
            kept.keep(slot, &files)?;
            if is_sorted {
                // First mark what is kept permanently, so that it is not removed.
                kept.let_stay(&lowest)?;
                let thinned = kept.thin(slot)?;
                if thinned.proofs > 0 {
                    let (proofs, nodes) = (thinned.proofs, thinned.nodes);
                    tracing::info!(proofs, nodes, "old state proofs were thinned");
                }
            }
            Ok::<_, ProofsError>(())
        };
        if let Err(error) = run_blocking(keeping).await {
            tracing::error!(%slot, error, "the slot's state proofs were not kept");
        }
        Ok(())
    }

    /// The slots with the lowest depths of the last seven days, for every pool and both directions: head windows refer
    /// to them.
    async fn lowest_slots(&mut self) -> Result<Vec<ProofName>, RecorderError> {
        let board = self.store.run_blocking(|store| store.reader().board()).await?;
        let rows = board.unwrap_or_else(|error: StoreError| {
            tracing::error!(%error, "the slots with the lowest depths could not be determined; their proofs may be removed");
            Vec::new()
        });
        let of_pool = |row: &exitgap_store::BoardRow| {
            let contract = row.pool.id.contract().clone();
            let lowest = row.standing.window.directions.map(|direction| direction.lowest);
            lowest.into_iter().flatten().map(move |(slot, _)| ProofName {
                contract: contract.clone(),
                slot,
                reach: Reach::Figures,
            })
        };
        Ok(rows.iter().flat_map(of_pool).collect())
    }

    /// Publishes the permanent proofs that are not published yet.
    pub(super) async fn publish_proofs(&self) {
        let (Some(kept), Some(folder)) = (self.kept.clone(), self.folder.clone()) else { return };
        if let Err(error) = run_blocking(move || publish(&kept, &folder)).await {
            tracing::error!(error, "permanently kept state proofs are not published yet");
        }
    }
}

/// Why proofs could not be published.
#[derive(Debug, thiserror::Error)]
enum NotPublished {
    #[error(transparent)]
    Proofs(#[from] ProofsError),
    #[error(transparent)]
    Folder(#[from] PublishError),
}

fn publish(kept: &Arc<KeptProofs>, folder: &LogFolder) -> Result<(), NotPublished> {
    for name in kept.to_publish(PUBLISHED_AT_ONCE)? {
        match kept.file(&name) {
            Ok(Some(file)) => folder.publish_beside(&LogFile::Proof(name.clone()), &file)?,
            Ok(None) => {}
            // It cannot be recovered, and must not block the others.
            Err(error @ ProofsError::Damaged { .. }) => tracing::error!(%error, "not published"),
            Err(error) => return Err(error.into()),
        }
        kept.mark_published(&name)?;
    }
    Ok(())
}

/// Runs blocking work on a blocking thread; the error is a message.
async fn run_blocking<E: std::fmt::Display + Send + 'static>(
    work: impl FnOnce() -> Result<(), E> + Send + 'static,
) -> Result<(), String> {
    match tokio::task::spawn_blocking(work).await {
        Ok(done) => done.map_err(|error| error.to_string()),
        Err(error) => Err(error.to_string()),
    }
}
