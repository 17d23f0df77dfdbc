//! Rebuilds derived rows from bodies, entries and retractions.

use std::path::Path;

use exitgap_core::series::Slot;

use crate::corrupt::CorruptHead;
use crate::db::{AFTER_PAGES, Db, Transaction, is_server};
use crate::derived::follow::Follower;
use crate::derived::rollup::day_of;
use crate::derived::writer::{day_values, figures_values, standing_values, week_values};
use crate::error::StoreError;
use crate::folder::LogFolder;
use crate::fsck::Damage;
use crate::model::Pool;
use crate::reader::Reader;
use crate::writer::lock;

/// The maximum number of rows in a transaction, which limits the write-ahead log and the work lost when the process is
/// killed.
const MAX_ROWS: u32 = 5_000;

/// The progress of [`rebuild`].
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Rebuilt {
    /// The number of slots processed.
    pub slots: u64,
    /// The total number of slots.
    pub of_slots: u64,
    /// Rows that were wrong, absent or surplus, and are now corrected.
    pub rows: u64,
}

/// Recomputes every derived row of the store at `path`, and writes those that differ. Takes the recorder's lock
/// ([`StoreError::Locked`]), but needs no key, because signed data does not change.
///
/// Stops at the first damaged body or entry, because the basis of derived rows is not repaired here. Archived data is
/// read from the closed days in the log's folder `days`. If the process is killed, some rows are corrected and some are
/// not, and the next call continues from there.
pub fn rebuild(
    path: impl AsRef<Path>,
    days: Option<LogFolder>,
    mut progress: impl FnMut(&Rebuilt),
) -> Result<Rebuilt, Damage> {
    let path = path.as_ref();
    if !is_server(path) && !path.exists() {
        return Err(StoreError::NotFound { path: path.to_owned() }.into());
    }
    let _lock = lock(path)?;
    let reader = Reader::over(Db::open_writer(path)?, days);
    let mut rebuilt = Rebuilt { of_slots: reader.log_size()?, ..Rebuilt::default() };
    if let Some((first, last)) = reader.slots()? {
        let pools = reader.pools()?;
        let slots_at_once = (MAX_ROWS as usize / pools.len().max(1)).max(1);
        let mut follower = Follower::default();
        let mut next = Some(first).filter(|first| first <= &last);
        while let Some(from) = next {
            let transaction = begin(&reader.db)?;
            let mut slot = from;
            for _ in 0..slots_at_once {
                for pool in pools.iter().filter(|pool| pool.has(slot)) {
                    let changed = figures(&reader, &mut follower, pool, slot);
                    rebuilt.rows += changed.map_err(|error| Damage {
                        slot: Some(slot),
                        pool: Some(pool.id.clone()),
                        error: Box::new(error),
                    })?;
                }
                rebuilt.slots += 1;
                next = slot.next().filter(|next| *next <= last);
                let Some(following) = next else { break };
                slot = following;
            }
            commit(transaction)?;
            reader.db.fold_after_commit(AFTER_PAGES)?;
            progress(&rebuilt);
        }
        for pool in &pools {
            rebuilt.rows += rollups(&reader, pool, last)?;
            reader.db.fold_after_commit(AFTER_PAGES)?;
        }
    }
    rebuilt.rows += reader.db.delete_surplus(MAX_ROWS)?;
    reader.db.fold()?;
    progress(&rebuilt);
    Ok(rebuilt)
}

/// Recomputes the pool's figures of `slot`, and of the week up to it. Returns the number of changed rows.
fn figures(
    reader: &Reader,
    follower: &mut Follower,
    pool: &Pool,
    slot: Slot,
) -> Result<u64, StoreError> {
    let absent = || StoreError::CorruptHead {
        pool: pool.id.clone(),
        slot,
        what: CorruptHead::Rule("its entry is not in the store".to_owned()),
    };
    let (row, _) = reader.full_entry(pool, slot)?.ok_or_else(absent)?;
    let (snapshot, window, week) = follower.follow(reader, pool, &row)?;
    let values = figures_values(pool.number, slot, snapshot.as_ref(), &window);
    let differs = !reader.db.figures_are(pool.number, slot, &values)?;
    if differs {
        reader.db.put_figures(&values)?;
    }
    let values = week_values(pool.number, slot, &week);
    let week_differs = !reader.db.week_is(pool.number, slot, &values)?;
    if week_differs {
        reader.db.put_week(&values)?;
    }
    Ok(u64::from(differs) + u64::from(week_differs))
}

/// Recomputes the pool's days and status. Returns the number of changes.
fn rollups(reader: &Reader, pool: &Pool, last: Slot) -> Result<u64, StoreError> {
    let mut rows = 0;
    let transaction = begin(&reader.db)?;
    for day in day_of(pool.first_slot)..=day_of(pool.retired_slot.unwrap_or(last)) {
        let rollup = reader.rollup_of(pool, day)?;
        let values = day_values(pool.number, day, &rollup, reader.figures_digest(pool, day)?);
        if !reader.db.day_is(pool.number, day, &values)? {
            reader.db.put_day(&values)?;
            rows += 1;
        }
    }
    let standing = reader.standing_of(pool)?;
    let values = standing.map(|standing| standing_values(pool.number, &standing));
    if let Some(values) = values
        && !reader.db.standing_is(pool.number, Some(&values))?
    {
        reader.db.put_standing(&values)?;
        rows += 1;
    }
    commit(transaction)?;
    Ok(rows)
}

fn begin(db: &Db) -> Result<Transaction<'_>, StoreError> {
    db.begin("beginning to write")
}

fn commit(transaction: Transaction) -> Result<(), StoreError> {
    let doing = "committing derived rows";
    transaction.settle()?;
    transaction.commit().map_err(|source| StoreError::Database { doing, source })
}
