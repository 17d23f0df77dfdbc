//! Reads a store, even while a recorder writes to it.

use std::cell::RefCell;
use std::path::Path;

use exitgap_core::ids::PoolId;
use exitgap_core::series::{Day, Slot};
use exitgap_core::snapshot::Snapshot;

use crate::bodies::left::LeftRows;
use crate::corrupt::CorruptBody;
use crate::db::{DayRemoval, Db, ServerState};
use crate::derived::rollup::day_of;
use crate::error::StoreError;
use crate::folder::LogFolder;
use crate::model::{Entry, Latest, Outcome, Page, Pool, Totals};
use crate::rows::{entry_of, pool_of, slot_of};

/// A read-only view of a store. Every call sees only complete slots; two calls may see different ones. Any number of
/// readers may be open at the same time as the one recorder.
#[derive(Debug)]
pub struct Reader {
    pub(crate) db: Db,
    /// The log's folder, whose archives of closed days contain the bodies that were removed from the database.
    pub(crate) days: Option<LogFolder>,
    /// The archived rows that were read last, because a pool's slots are usually requested one after the other.
    pub(crate) left: RefCell<LeftRows>,
}

impl Reader {
    /// The maximum number of entries of one [`Page`]: five weeks.
    pub const MAX_PAGE: usize = 10_080;

    /// Opens the store at `path` (a file or a server's URL) for reading.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, StoreError> {
        Ok(Self::over(Db::open_reader(path.as_ref())?, None))
    }

    /// A reader of an open database.
    pub(crate) fn over(db: Db, days: Option<LogFolder>) -> Self {
        Self { db, days, left: RefCell::default() }
    }

    /// Makes the reader read archived bodies from the closed days in this folder of the store's log.
    #[must_use]
    pub fn with_days(self, folder: LogFolder) -> Self {
        Self { days: Some(folder), ..self }
    }

    /// Another reader of the same store. If the URL names several servers, it uses the one that this reader uses.
    pub(crate) fn again(&self) -> Result<Self, StoreError> {
        Ok(Self::over(self.db.again()?, self.days.clone()))
    }

    /// Removes the bodies of an archived day from a server's database and returns their number. The caller must have
    /// checked the day's files ([`check_leaving`](crate::days::check_leaving)). `admin` is a URL of the same server for
    /// a member of the role that owns the tables, as created by `migrate`.
    pub fn leave(&self, admin: &Path, day: Day) -> Result<u64, StoreError> {
        let nothing = || StoreError::NothingToLeave { day };
        let log = self.log()?.ok_or_else(nothing)?;
        let key = log.keys.first().ok_or_else(nothing)?.to_string();
        let last = log.origin.index_of(day.last()).ok_or_else(nothing)?;
        let checkpoint = self.checkpoint(last + 1)?.ok_or_else(nothing)?;
        let day = day_of(day.first());
        self.db.leave(admin, DayRemoval { day, key: &key, checkpoint: &checkpoint })
    }

    /// Whether the reader is usable. If the connection to a server is lost, open a new reader.
    pub fn is_open(&self) -> bool {
        self.db.is_open()
    }

    /// Whether the store is on a server.
    pub(crate) fn is_of_a_server(&self) -> bool {
        matches!(self.db, Db::Postgres(_))
    }

    /// The state that the store's server reports; `None` for a file.
    pub fn server(&self) -> Result<Option<ServerState>, StoreError> {
        self.db.server()
    }

    /// The store's first and last slot; `None` before anything is recorded. The store has every slot between them.
    pub fn slots(&self) -> Result<Option<(Slot, Slot)>, StoreError> {
        match self.db.sealed_slots()? {
            (Some(first), Some(last)) => {
                Ok(Some((slot_of("sealed_slot", first)?, slot_of("sealed_slot", last)?)))
            }
            _ => Ok(None),
        }
    }

    /// All pools of the store, sorted by name.
    pub fn pools(&self) -> Result<Vec<Pool>, StoreError> {
        self.db.pools(pool_of)
    }

    /// The pool with this name; `None` if the store has none.
    pub fn pool(&self, id: &PoolId) -> Result<Option<Pool>, StoreError> {
        self.db.pool(&id.to_string())?.map(pool_of).transpose()
    }

    /// The pool's entry for `slot`; `None` before its first slot and after the last.
    pub fn entry(&self, pool: &Pool, slot: Slot) -> Result<Option<Entry>, StoreError> {
        Ok(self.entries(pool, slot, slot, 1)?.entries.pop())
    }

    /// The pool's entries from slot `from` to `to`, both included, ascending: at most `limit`, and never more than
    /// [`Reader::MAX_PAGE`].
    pub fn entries(
        &self,
        pool: &Pool,
        from: Slot,
        to: Slot,
        limit: usize,
    ) -> Result<Page, StoreError> {
        let limit = limit.clamp(1, Self::MAX_PAGE);
        let entries = self.db.entries(pool.number, [from, to], limit, entry_of)?;
        // After a full page there may be another one. The page after the last entry is empty.
        let next = match entries.last() {
            Some(last) if entries.len() == limit => last.slot.next().filter(|next| *next <= to),
            _ => None,
        };
        Ok(Page { entries, next })
    }

    /// The state of the pool at slot `at`, or now: its newest entry at or before that slot, and its newest snapshot
    /// that is not retracted. `None` before its first slot.
    pub fn latest(&self, pool: &Pool, at: Option<Slot>) -> Result<Option<Latest>, StoreError> {
        let Some(entry) = self.newest_entry(pool, at.unwrap_or(Slot::LAST))? else {
            return Ok(None);
        };
        let (mut newest, mut newer_retracted) = (entry.newest_snapshot(pool), 0);
        while let Some(slot) = newest {
            if self.retraction_of(pool, slot)?.is_none() {
                break;
            }
            newer_retracted += 1;
            let before = slot.previous().filter(|before| *before >= pool.first_slot);
            let before = before.map(|before| self.newest_entry(pool, before)).transpose()?;
            newest = before.flatten().and_then(|before| before.newest_snapshot(pool));
        }
        let mut snapshot = None;
        if let Some(slot) = newest {
            let found = self.entry(pool, slot)?.map(|found| found.outcome);
            let Some(Outcome::Recorded(hash)) = found else {
                let found = format!("no snapshot at {slot}, although {} names it", entry.slot);
                return Err(StoreError::CorruptRow { table: "entry", found });
            };
            snapshot = Some((slot, hash));
        }
        let since = newest.map_or(pool.first_slot.number(), |newest| newest.number() + 1);
        let retired = u32::from(entry.outcome == Outcome::Retired);
        let newer = (entry.slot.number() + 1).saturating_sub(since + newer_retracted + retired);
        Ok(Some(Latest { entry, snapshot, newer_missing: newer, newer_retracted }))
    }

    /// The pool's newest slot at or before `at` that has a snapshot, retracted or not.
    pub fn last_recorded(&self, pool: &Pool, at: Slot) -> Result<Option<Slot>, StoreError> {
        Ok(self.newest_entry(pool, at)?.and_then(|entry| entry.newest_snapshot(pool)))
    }

    /// The pool's newest entry at or before `at`.
    pub(crate) fn newest_entry(&self, pool: &Pool, at: Slot) -> Result<Option<Entry>, StoreError> {
        self.db.newest_entry(pool.number, at)?.map(entry_of).transpose()
    }

    /// The number of recorded slots of the pool that are not retracted, up to and including `at`, or up to now. It is
    /// stored as a running count, so this reads one row.
    pub fn recorded_count(&self, pool: &Pool, at: Option<Slot>) -> Result<u32, StoreError> {
        let newest = self.newest_entry(pool, at.unwrap_or(Slot::LAST))?;
        Ok(newest.map_or(0, |newest| newest.recorded_count))
    }

    /// The pool's snapshot of `slot`, checked against its hash and the entry; `None` if there is no entry or the slot
    /// is missing.
    pub fn snapshot_at(&self, pool: &Pool, slot: Slot) -> Result<Option<Snapshot>, StoreError> {
        let Some(Entry { outcome: Outcome::Recorded(hash), .. }) = self.entry(pool, slot)? else {
            return Ok(None);
        };
        let corrupt = |what| StoreError::Corrupt { hash, what };
        let found = match self.snapshot_of(&pool.id, hash, slot)? {
            // The same snapshot may be stored for another slot.
            None => self.snapshot(&pool.id, hash)?,
            found => found,
        };
        let snapshot = found.ok_or_else(|| corrupt(CorruptBody::Absent))?;
        let (found_pool, found_slot) = (snapshot.observation().pool(), snapshot.slot());
        if *found_pool == pool.id && found_slot == slot {
            return Ok(Some(snapshot));
        }
        Err(corrupt(CorruptBody::OfAnother { pool: found_pool.clone(), slot: found_slot }))
    }

    /// The content and size of the store. Reads every row, so do not call this in requests.
    pub fn totals(&self) -> Result<Totals, StoreError> {
        self.db.totals()
    }
}
