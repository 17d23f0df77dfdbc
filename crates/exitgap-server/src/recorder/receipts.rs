//! Gathers the receipts of paid estimates while slots are sealed, so that heads can commit to them.
//!
//! The payments database lists the receipts that no head commits to yet. They are removed from the list once the slot
//! is written. If the process is interrupted in between, the next slot finds them in the pool's newest document and
//! does not commit to them again.

use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

use exitgap_core::analytics::accuracy::{IssuedReceipts, MAX_ISSUED};
use exitgap_core::ids::{PoolId, Word};
use exitgap_core::series::Slot;
use exitgap_store::payments::{Payments, PaymentsError};
use exitgap_store::{NewEntry, Reader, Store, StoreError};

use super::RecorderError;
use super::chains::ReadSnapshot;
use super::store::BlockingStore;

/// Maximum number of receipts processed per slot; more wait for the next ones.
const MOST: usize = 4 * MAX_ISSUED;

/// Why receipts wait for another slot.
#[derive(Debug, thiserror::Error)]
enum IssuedError {
    /// Access to the payments database failed.
    #[error(transparent)]
    Payments(#[from] PaymentsError),
    /// Access to the store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// The receipts that the heads of `slot` commit to. If reading them fails, they wait for another slot; the failure does
/// not prevent recording.
pub async fn due_receipts(
    store: &mut BlockingStore,
    payments: Option<&Arc<Payments>>,
    slot: Slot,
    entries: &[NewEntry<ReadSnapshot>],
) -> Result<Vec<IssuedReceipts>, RecorderError> {
    let Some(payments) = payments.cloned() else { return Ok(Vec::new()) };
    let pools: HashSet<PoolId> = entries.iter().map(|entry| entry.pool.clone()).collect();
    let due = move |store: &mut Store| due(&payments, store.reader(), |pool| pools.contains(pool));
    Ok(store.run_blocking(due).await?.unwrap_or_else(|error| {
        tracing::error!(%slot, %error, "receipts wait for the next slot");
        Vec::new()
    }))
}

/// Records that the heads of the sealed `slot` commit to these receipts.
pub async fn note_committed(
    store: &mut BlockingStore,
    payments: Option<&Arc<Payments>>,
    slot: Slot,
    issued: Vec<IssuedReceipts>,
) -> Result<(), RecorderError> {
    let Some(payments) = payments.cloned() else { return Ok(()) };
    let noted = store.run_blocking(move |_| written(&payments, &issued)).await?;
    if let Err(error) = noted {
        tracing::error!(%slot, %error, "committed receipts are marked with the next slot");
    }
    Ok(())
}

/// The receipts that the next slot's heads commit to, for pools that have a head in it.
fn due(
    payments: &Arc<Payments>,
    reader: &Reader,
    has_head: impl Fn(&PoolId) -> bool,
) -> Result<Vec<IssuedReceipts>, IssuedError> {
    let mut by_pool: BTreeMap<String, IssuedReceipts> = BTreeMap::new();
    let (mut done, mut lost) = (Vec::new(), Vec::new());
    let mut newest: BTreeMap<String, Option<IssuedReceipts>> = BTreeMap::new();
    for (pool, receipt) in payments.uncommitted_receipts(MOST)? {
        let name = pool.to_string();
        let Some(stored) = reader.pool(&pool)?.filter(|_| has_head(&pool)) else {
            lost.push(receipt);
            continue;
        };
        if !newest.contains_key(&name) {
            let found = reader.newest_issued(&stored)?.map(|stored| stored.issued);
            newest.insert(name.clone(), found);
        }
        if newest[&name].as_ref().is_some_and(|issued| issued.has(&receipt)) {
            done.push(receipt);
            continue;
        }
        let issued =
            by_pool.entry(name).or_insert_with(|| IssuedReceipts { pool, receipts: Vec::new() });
        if issued.receipts.len() < MAX_ISSUED {
            issued.receipts.push(receipt);
        }
    }
    if !lost.is_empty() {
        let receipts = lost.len();
        tracing::error!(receipts, "their pools have no further heads, so nothing commits to them");
    }
    payments.mark_committed(&[done, lost].concat())?;
    Ok(by_pool.into_values().map(in_order).collect())
}

/// Removes committed receipts from the list. If that fails, the next slot does it.
fn written(payments: &Arc<Payments>, issued: &[IssuedReceipts]) -> Result<(), IssuedError> {
    let receipts: Vec<Word> = issued.iter().flat_map(|issued| issued.receipts.clone()).collect();
    if receipts.is_empty() { Ok(()) } else { Ok(payments.mark_committed(&receipts)?) }
}

fn in_order(mut issued: IssuedReceipts) -> IssuedReceipts {
    issued.receipts.sort_unstable();
    issued
}
