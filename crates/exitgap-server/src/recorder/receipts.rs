//! The receipts of estimates that were paid for, gathered while slots are sealed, so that heads commit to them.
//!
//! The database of payments keeps those that no head commits to. They are taken off its list once the slot is written:
//! who is interrupted in between finds them in the pool's newest document, and does not commit to them again.

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

/// The most receipts that are looked at with a slot; more wait for the next ones.
const MOST: usize = 4 * MAX_ISSUED;

/// Why receipts wait for another slot.
#[derive(Debug, thiserror::Error)]
enum IssuedError {
    /// The database of payments.
    #[error(transparent)]
    Payments(#[from] PaymentsError),
    /// The store.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// The receipts that the heads of `slot` commit to. What cannot be read waits for another slot: it keeps none of them
/// from being recorded.
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

/// Notes that the heads of `slot`, which is sealed, commit to these.
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

/// What the heads of the next slot commit to, of pools that get one there with a snapshot or a reason.
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

/// Takes what was written off the list. Where that fails, the next slot does it.
fn written(payments: &Arc<Payments>, issued: &[IssuedReceipts]) -> Result<(), IssuedError> {
    let receipts: Vec<Word> = issued.iter().flat_map(|issued| issued.receipts.clone()).collect();
    if receipts.is_empty() { Ok(()) } else { Ok(payments.mark_committed(&receipts)?) }
}

fn in_order(mut issued: IssuedReceipts) -> IssuedReceipts {
    issued.receipts.sort_unstable();
    issued
}
