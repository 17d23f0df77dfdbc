//! Converts rows into typed values. The content of a database file is untrusted.

use exitgap_core::ids::{DocumentHash, HeadHash, SnapshotHash};
use exitgap_core::series::{MissingReason, Slot};

use crate::db::{EntryRow, HeadRow, PoolRow};
use crate::error::StoreError;
use crate::log::FullEntry;
use crate::model::{Entry, Outcome, Pool, direction_of};

/// A slot read from this table.
pub fn slot_of(table: &'static str, number: i64) -> Result<Slot, StoreError> {
    u64::try_from(number)
        .ok()
        .and_then(|number| Slot::new(number).ok())
        .ok_or_else(|| StoreError::CorruptRow { table, found: format!("slot {number}") })
}

/// A pool.
pub fn pool_of(row: PoolRow) -> Result<Pool, StoreError> {
    let PoolRow { number, id, default_base_token: base, first_slot, retired_slot } = row;
    let table = "pool";
    let id =
        id.parse().map_err(|error| StoreError::CorruptRow { table, found: format!("{error}") });
    let default_base = direction_of(base)
        .ok_or_else(|| StoreError::CorruptRow { table, found: format!("base token {base}") });
    let first_slot = slot_of(table, first_slot)?;
    let retired_slot = retired_slot.map(|slot| slot_of("retirement", slot)).transpose()?;
    Ok(Pool { id: id?, default_base: default_base?, first_slot, retired_slot, number })
}

/// An entry.
pub fn entry_of(row: EntryRow) -> Result<Entry, StoreError> {
    let table = "entry";
    let corrupt = |found| StoreError::CorruptRow { table, found };
    let outcome = match (row.snapshot, row.missing_reason) {
        (Some(hash), None) => Outcome::Recorded(SnapshotHash(hash)),
        (None, Some(code)) => {
            // The recorder stores only reasons that this version knows.
            let known = MissingReason::ALL.into_iter().find(|reason| reason.code() == code);
            Outcome::Missing(known.ok_or_else(|| corrupt(format!("the reason {code:?}")))?)
        }
        (None, None) => Outcome::Retired,
        _ => return Err(corrupt("both a snapshot and a reason".to_owned())),
    };
    let small =
        |number: i64| u32::try_from(number).map_err(|_| corrupt(format!("the count {number}")));
    let (count, run) = (row.recorded_count, row.missing_run);
    let entry = Entry {
        slot: slot_of(table, row.slot)?,
        outcome,
        recorded_count: small(count)?,
        missing_run: small(run)?,
    };
    let recorded = matches!(outcome, Outcome::Recorded(_));
    let newest = entry.slot.number().checked_sub(entry.missing_run);
    let newest = newest.is_some_and(|newest| newest >= Slot::FIRST.number());
    let counts_agree = recorded == (entry.missing_run == 0)
        && (entry.recorded_count > 0 || !recorded)
        && (entry.recorded_count == 0 || newest);
    if counts_agree { Ok(entry) } else { Err(corrupt(format!("the counts {count} and {run}"))) }
}

/// An entry with the other contents of its head, except for retractions, and the head's hash.
pub fn full_entry_of(row: HeadRow) -> Result<(FullEntry, HeadHash), StoreError> {
    let table = "entry";
    let dollars = |depth: Option<i64>| {
        let checked = depth.map(u64::try_from).transpose();
        checked.map_err(|_| StoreError::CorruptRow { table, found: format!("the depth {depth:?}") })
    };
    let ([depth0, depth1], [lowest0, lowest1]) = (row.depth_usd, row.lowest_7d_usd);
    let full = FullEntry {
        entry: entry_of(row.entry)?,
        depth_usd: [dollars(depth0)?, dollars(depth1)?],
        lowest: [dollars(lowest0)?, dollars(lowest1)?],
        method_version: row.method_version,
        retracts: Vec::new(),
        fills: row.fills.map(DocumentHash),
        issued: row.issued.map(DocumentHash),
    };
    // A missing slot's head contains no depth, so its hash would not reveal a wrong one.
    if !matches!(full.entry.outcome, Outcome::Recorded(_)) && full.depth_usd != [None; 2] {
        let found = format!("depths for {}, which has no snapshot", full.entry.slot);
        return Err(StoreError::CorruptRow { table, found });
    }
    Ok((full, HeadHash(row.hash)))
}
