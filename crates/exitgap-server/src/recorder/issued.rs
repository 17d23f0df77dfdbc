//! The receipts of estimates that were paid for, gathered while slots are sealed, so that heads commit to them.
//!
//! The database of payments keeps those that no head commits to. They are taken off its list once the slot is written:
//! who is interrupted in between finds them in the pool's newest document, and does not commit to them again.

use std::collections::BTreeMap;
use std::sync::Arc;

use exitgap_core::analytics::accuracy::{Issued, MAX_ISSUED};
use exitgap_core::ids::{PoolId, Word};
use exitgap_store::payments::{Payments, PaymentsError};
use exitgap_store::{Reader, StoreError};

/// The most receipts that are looked at with a slot; more wait for the next ones.
const MOST: usize = 4 * MAX_ISSUED;

/// Why receipts wait for another slot.
#[derive(Debug, thiserror::Error)]
pub enum IssuedError {
    /// The database of payments.
    #[error(transparent)]
    Payments(#[from] PaymentsError),
    /// The store.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// What the heads of the next slot commit to, of pools that get one there with a snapshot or a reason.
pub fn due(
    payments: &Arc<Payments>,
    reader: &Reader,
    has_head: impl Fn(&PoolId) -> bool,
) -> Result<Vec<Issued>, IssuedError> {
    let mut by_pool: BTreeMap<String, Issued> = BTreeMap::new();
    let (mut done, mut lost) = (Vec::new(), Vec::new());
    let mut newest: BTreeMap<String, Option<Issued>> = BTreeMap::new();
    for (pool, receipt) in payments.uncommitted(MOST)? {
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
        let issued = by_pool.entry(name).or_insert_with(|| Issued { pool, receipts: Vec::new() });
        if issued.receipts.len() < MAX_ISSUED {
            issued.receipts.push(receipt);
        }
    }
    if !lost.is_empty() {
        let receipts = lost.len();
        tracing::error!(receipts, "their pools have no further heads: nothing commits to them");
    }
    payments.committed(&[done, lost].concat())?;
    Ok(by_pool.into_values().map(in_order).collect())
}

/// Takes what was written off the list. Where that fails, the next slot does it.
pub fn written(payments: &Arc<Payments>, issued: &[Issued]) -> Result<(), IssuedError> {
    let receipts: Vec<Word> = issued.iter().flat_map(|issued| issued.receipts.clone()).collect();
    if receipts.is_empty() { Ok(()) } else { Ok(payments.committed(&receipts)?) }
}

fn in_order(mut issued: Issued) -> Issued {
    issued.receipts.sort_unstable();
    issued
}
