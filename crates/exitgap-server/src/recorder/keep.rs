//! Proofs that are kept and published: a slot's own, what stays for ever, what goes.

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

/// Slots after which it is looked which proofs stay for ever and which go: those of an hour.
const SORT_EVERY: u32 = Slot::PER_DAY / 24;

/// The most proofs that are published after a slot; others wait for the next.
const PUBLISHED_AT_ONCE: u32 = 64;

impl<R: SlotReader> Recorder<R> {
    /// Keeps a slot's proofs, and forgets old ones. The slot is recorded whatever comes of it: a proof can be made again.
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
                // First what stays, so that it is not taken away.
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

    /// The slots whose depths are the lowest of seven days now, of every pool and in both directions: head windows name them.
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

    /// Publishes what is kept for ever and is not published yet.
    pub(super) async fn publish_proofs(&self) {
        let (Some(kept), Some(folder)) = (self.kept.clone(), self.folder.clone()) else { return };
        if let Err(error) = run_blocking(move || publish(&kept, &folder)).await {
            tracing::error!(error, "permanently kept state proofs are not published yet");
        }
    }
}

/// Why proofs are not published.
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
            // It cannot be had any more, and does not hold up the others.
            Err(error @ ProofsError::Damaged { .. }) => tracing::error!(%error, "not published"),
            Err(error) => return Err(error.into()),
        }
        kept.mark_published(&name)?;
    }
    Ok(())
}

/// Does what blocks on a thread that may, and gives words where it failed.
async fn run_blocking<E: std::fmt::Display + Send + 'static>(
    work: impl FnOnce() -> Result<(), E> + Send + 'static,
) -> Result<(), String> {
    match tokio::task::spawn_blocking(work).await {
        Ok(done) => done.map_err(|error| error.to_string()),
        Err(error) => Err(error.to_string()),
    }
}
