//! A recorder's database as a source.

use std::path::Path;

use exitgap_api::{DepthWeek, Number, Problem, Provenance};
use exitgap_core::analytics::redemption::{Pace, RedemptionFacts};
use exitgap_core::ids::PoolId;
use exitgap_core::series::Slot;
use exitgap_store::{FindError, Latest, Pool, Reader, SlotLookup, StoreError};

use super::{FoundPool, unreadable};
use crate::failure::Failure;

/// Opens the database for reading.
pub fn open(path: &Path) -> Result<Reader, Failure> {
    Reader::open(path).map_err(store_failure)
}

/// All pools of the database.
pub fn list_pools(reader: &Reader) -> Result<Vec<(Pool, Option<Latest>)>, Failure> {
    let pools = reader.pools().map_err(store_failure)?;
    pools
        .into_iter()
        .map(|pool| {
            let latest = reader.latest(&pool, None).map_err(store_failure)?;
            Ok((pool, latest))
        })
        .collect()
}

/// Finds the pool's snapshot at the requested slot, or its newest one.
pub fn find(path: &Path, id: &PoolId, at: Option<&str>) -> Result<FoundPool, Failure> {
    let at = at.map(|at| exitgap_api::slot_at("at", at)).transpose()?;
    let reader = open(path)?;
    let recorded = reader.find(id, at).map_err(|error| match error {
        FindError::Lookup(error) => Problem::from(&error).into(),
        FindError::Store(error) => store_failure(error),
    })?;
    let SlotLookup { pool, slot, hash, recorded_count, newer_slots_missing } = recorded;
    let snapshot = reader.snapshot_at(&pool, slot).map_err(store_failure)?.ok_or_else(|| {
        unreadable(format!("{id} at slot {slot}: the snapshot was removed while it was being read"))
    })?;
    let head = reader.head(&pool, slot).map_err(store_failure)?;
    let lowest = head.map_or([None; 2], |head| head.head.lowest_depth_7d_usd);
    let week = reader.week_at(&pool, slot).map_err(store_failure)?;
    let provenance = Provenance::Recorded {
        slot,
        snapshot_hash: hash,
        first_slot: pool.first_slot,
        recorded_slots: recorded_count.into(),
        newer_slots_missing: newer_slots_missing.map(Into::into),
    };
    Ok(FoundPool {
        observation: snapshot.observation().clone(),
        provenance,
        default_base: Some(pool.default_base),
        lowest_depth_7d_usd: lowest.map(|usd| usd.map(Number::from)),
        weeks: week.map_or_else(Default::default, |week| {
            week.each_ref().map(|lows| DepthWeek::from_lows(lows, None))
        }),
        published: None,
        documents: reader.documents(hash).map_err(store_failure)?,
    })
}

/// The speed of a redemption queue in the seven days up to a slot; `None` if too little is recorded.
pub fn pace(
    path: &Path,
    pool: &PoolId,
    facts: &RedemptionFacts,
    slot: Slot,
) -> Result<Option<Pace>, Failure> {
    open(path)?.pace(pool, facts, slot).map_err(|error| unreadable(error.to_string()).into())
}

/// A store's error as a problem.
#[expect(clippy::needless_pass_by_value, reason = "it is what `map_err` hands over")]
pub fn store_failure(error: StoreError) -> Failure {
    unreadable(error.to_string())
        .hint("--db takes the SQLite file that `exitgap-server record` writes")
        .into()
}
