//! Checking a whole store: everything is hashed again, from bodies to signed checkpoints.

use std::collections::HashMap;
use std::num::NonZero;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::available_parallelism;

use exitgap_core::evidence::{Head, SlotLeaf};
use exitgap_core::ids::{HeadHash, PoolId};
use exitgap_core::series::Slot;
use exitgap_core::tlog::{Hash, node_hash};
use rusqlite::OptionalExtension;

use crate::derive::{day_values, figures_values, standing_values};
use crate::error::{CorruptHead, CorruptLog, Doing, StoreError};
use crate::follow::Follower;
use crate::log::{HeadRow, check_head};
use crate::model::{Outcome, Pool};
use crate::reader::Reader;
use crate::rollup::day_of;
use crate::sql;

/// What [`Reader::fsck`] has checked so far.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Checked {
    /// Slots whose leaf and checkpoint hold.
    pub slots: u64,
    /// Slots there are.
    pub of_slots: u64,
    /// Heads that hash to what was sealed.
    pub heads: u64,
    /// Snapshots whose canonical bytes hash to their name.
    pub snapshots: u64,
    /// Slots taken back.
    pub retractions: u64,
    /// Pools that retired.
    pub retirements: u64,
}

/// The first thing wrong with a store, and where.
#[derive(Debug, thiserror::Error)]
#[error("{}{}{error}", slot.map(|slot| format!("slot {slot}: ")).unwrap_or_default(), pool.as_ref().map(|pool| format!("{pool}: ")).unwrap_or_default())]
pub struct Damage {
    /// The slot, where it is one slot's.
    pub slot: Option<Slot>,
    /// The pool, where it is one pool's.
    pub pool: Option<PoolId>,
    /// What is wrong.
    pub error: Box<StoreError>,
}

impl From<StoreError> for Damage {
    fn from(error: StoreError) -> Self {
        Self { slot: None, pool: None, error: Box::new(error) }
    }
}

/// The most threads that check side by side.
const MAX_PARTS: usize = 16;

/// Slots that a part may be ahead of the tree: it bounds memory.
const SLOTS_AHEAD: usize = 16;

/// What a check remembers of the slots before.
#[derive(Default)]
struct Before {
    /// The newest head of each pool, by the pool's number.
    heads: HashMap<i64, (HeadRow, HeadHash)>,
    follower: Follower,
}

/// Some of the pools, checked by a thread of their own.
struct Part {
    reader: Reader,
    /// Each with its place among all pools.
    pools: Vec<(usize, Pool)>,
    before: Before,
}

/// A pool's head in a slot: its hash as a leaf, what the entry holds, and how many slots it takes
/// back; or what is wrong.
struct FoundHead {
    at: usize,
    found: Result<(Hash, Outcome, u64), Damage>,
}

/// A slot's heads of one part.
type FoundHeads = Vec<FoundHead>;

/// The log's tree as the leaves make it: per level the node that waits for its right one.
#[derive(Default)]
struct Tree {
    waiting: Vec<Option<Hash>>,
}

impl Reader {
    /// Hashes everything again, slot by slot up to the newest at the start: that each body
    /// is what its name says, each head what its row and the head before make, that each
    /// leaf commits to its heads, the log's tree to the leaves, and each checkpoint, signed
    /// by the log's key, to the tree; that depths and derived rows are what the bodies make;
    /// and that no row is beside these. Ends at the first thing wrong.
    ///
    /// Memory does not grow with the number of slots. `progress` is told after each.
    pub fn fsck(&self, mut progress: impl FnMut(&Checked)) -> Result<Checked, Damage> {
        self.check_pages()?;
        self.check_single_rows()?;
        let of_slots = self.log_size()?;
        let (Some((first, last)), Some(log)) = (self.slots()?, self.log()?) else {
            let checked = Checked { of_slots, ..Checked::default() };
            self.check_counts(&checked, None)?;
            return Ok(checked);
        };
        if log.origin.first_slot() != first {
            let what = CorruptLog::Absent("the log's first slot");
            return Err(StoreError::CorruptLog { slot: first, what }.into());
        }
        let pools = self.pools()?;
        let checked = std::thread::scope(|scope| {
            let mut workers = Vec::new();
            for part in self.parts(&pools)? {
                let (sender, found) = sync_channel(SLOTS_AHEAD);
                scope.spawn(move || part.check(first, last, &sender));
                workers.push(found);
            }
            self.check_slots(&workers, [first, last], of_slots, &mut progress)
        })?;
        self.check_counts(&checked, Some(last))?;
        for pool in &pools {
            let in_pool = |error| Damage { pool: Some(pool.id.clone()), ..Damage::from(error) };
            self.check_rollups_of(pool, last).map_err(in_pool)?;
        }
        self.check_derived_counts(&pools, checked.heads, last)?;
        Ok(checked)
    }

    /// The pools shared out, as many to each processor, each with a reader of its own: what is
    /// sealed is the same for all of them.
    fn parts(&self, pools: &[Pool]) -> Result<Vec<Part>, StoreError> {
        let processors = available_parallelism().map_or(1, NonZero::get).min(MAX_PARTS);
        let path = self.connection.path().unwrap_or_default();
        let part = |number: usize| {
            let of_part = pools.iter().enumerate().skip(number).step_by(processors);
            let (reader, before) = (Self::open(path)?, Before::default());
            Ok(Part {
                reader,
                pools: of_part.map(|(at, pool)| (at, pool.clone())).collect(),
                before,
            })
        };
        (0..processors.min(pools.len())).map(part).collect()
    }

    /// Goes through the slots with what the parts found: each slot's heads make its leaf, its leaf
    /// the tree, the tree the checkpoint.
    fn check_slots(
        &self,
        workers: &[Receiver<FoundHeads>],
        [first, last]: [Slot; 2],
        of_slots: u64,
        progress: &mut impl FnMut(&Checked),
    ) -> Result<Checked, Damage> {
        let mut checked = Checked { of_slots, ..Checked::default() };
        let mut tree = Tree::default();
        let mut next = Some(first);
        while let Some(slot) = next.filter(|slot| *slot <= last) {
            let at = |error| Damage { slot: Some(slot), ..Damage::from(error) };
            let ended = |_| at(StoreError::Interrupted);
            let mut heads = Vec::new();
            for worker in workers {
                heads.extend(worker.recv().map_err(ended)?);
            }
            heads.sort_unstable_by_key(|head| head.at);
            let mut hashes = Vec::with_capacity(heads.len());
            for head in heads {
                let (hash, outcome, retracted) = head.found?;
                hashes.push(hash);
                checked.heads += 1;
                checked.snapshots += u64::from(matches!(outcome, Outcome::Recorded(_)));
                checked.retirements += u64::from(outcome == Outcome::Retired);
                checked.retractions += retracted;
            }
            self.check_heads_root(slot, &hashes).map_err(at)?;
            let sealed = self.sealed(slot).map_err(at)?;
            let absent = CorruptLog::Absent("the sealed slot");
            let (leaf, checkpoint) =
                sealed.ok_or_else(|| at(StoreError::CorruptLog { slot, what: absent }))?;
            let leaf = SlotLeaf::leaf_of(&leaf.canonical);
            tree.add(self, slot, checked.slots, leaf).map_err(at)?;
            self.check_checkpoint(slot, &checkpoint, tree.root()).map_err(at)?;
            checked.slots += 1;
            progress(&checked);
            next = slot.next();
        }
        Ok(checked)
    }

    /// Requires that the file's pages and indices hold together.
    fn check_pages(&self) -> Result<(), StoreError> {
        let doing = "checking the database's pages";
        let found: String = self
            .connection
            .pragma_query_value(None, "integrity_check", |row| row.get(0))
            .doing(doing)?;
        if found == "ok" { Ok(()) } else { Err(StoreError::Pages { found }) }
    }

    /// Requires that the tables of one row have no other.
    fn check_single_rows(&self) -> Result<(), StoreError> {
        let read = |row: &rusqlite::Row| Ok((row.get(0)?, row.get(1)?));
        let stray: Option<(String, i64)> = self
            .connection
            .query_row(sql::SELECT_STRAY_ROW, (), read)
            .optional()
            .doing("looking for stray rows")?;
        let Some((table, number)) = stray else { return Ok(()) };
        let table = if table == "log" { "log" } else { "predecessor" };
        let found = format!("a row of number {number}, where 1 is the only one");
        Err(StoreError::CorruptRow { table, found })
    }

    /// Requires that there are as many rows as were checked, unless a recorder went on after
    /// the slot `last` meanwhile.
    fn check_counts(&self, checked: &Checked, last: Option<Slot>) -> Result<(), StoreError> {
        let Checked { slots, heads, snapshots, retractions, retirements, .. } = *checked;
        let expected = [
            ("body", snapshots),
            ("entry", heads),
            ("log_node", Tree::nodes(slots)),
            ("retraction", retractions),
            ("retirement", retirements),
        ];
        self.compare_counts(sql::SELECT_COUNTS, &expected, last)
    }

    /// The same of the derived tables, of which every row there should be was compared.
    fn check_derived_counts(
        &self,
        pools: &[Pool],
        heads: u64,
        last: Slot,
    ) -> Result<(), StoreError> {
        let days = pools.iter().map(|pool| u64::from(day_count(pool, last))).sum();
        let expected = [("figures", heads), ("day", days), ("standing", pools.len() as u64)];
        self.compare_counts(sql::SELECT_DERIVED_COUNTS, &expected, Some(last))
    }

    fn compare_counts(
        &self,
        sql: &str,
        expected: &[(&'static str, u64)],
        last: Option<Slot>,
    ) -> Result<(), StoreError> {
        let doing = "counting rows";
        let read = |row: &rusqlite::Row| {
            let counts = expected.iter().map(|(table, _)| row.get::<_, i64>(*table));
            Ok((counts.collect::<Result<Vec<_>, _>>()?, row.get::<_, Option<i64>>("last_slot")?))
        };
        let (found, newest) = self.connection.query_row(sql, (), read).doing(doing)?;
        if newest != last.map(|last| last.number().into()) {
            return Ok(());
        }
        for ((table, expected), found) in expected.iter().copied().zip(found) {
            let found = found.unsigned_abs();
            if found != expected {
                return Err(StoreError::Rows { table, expected, found });
            }
        }
        Ok(())
    }

    /// Requires that the pool's days and standing are what its figures, which were checked, make.
    fn check_rollups_of(&self, pool: &Pool, last: Slot) -> Result<(), StoreError> {
        let first_day = day_of(pool.first_slot);
        for day in first_day..first_day + day_count(pool, last) {
            // One state of the store for both, also while a recorder goes on.
            let _view = self.connection.unchecked_transaction().doing("reading a day")?;
            let at = Slot::new(u64::from(day) * u64::from(Slot::PER_DAY)).unwrap_or(Slot::FIRST);
            let expected = as_derived("figures", pool, at, self.rollup_of(pool, day))?;
            let expected = day_values(pool.number, day, &expected);
            if self.day_values(pool, day)? != Some(expected) {
                return Err(StoreError::Derived { table: "day", pool: pool.id.clone(), at });
            }
        }
        let _view = self.connection.unchecked_transaction().doing("reading a standing")?;
        let at = last;
        let expected = as_derived("figures", pool, at, self.standing_of(pool))?;
        let expected = expected.map(|standing| standing_values(pool.number, &standing));
        if self.standing_values(pool)? != expected {
            return Err(StoreError::Derived { table: "standing", pool: pool.id.clone(), at });
        }
        Ok(())
    }
}

impl Part {
    /// Checks the pools of this part slot by slot, and tells each slot's heads; until something is
    /// wrong, or nobody listens any more.
    fn check(mut self, first: Slot, last: Slot, sender: &SyncSender<FoundHeads>) {
        let pools = std::mem::take(&mut self.pools);
        let mut next = Some(first);
        while let Some(slot) = next.filter(|slot| *slot <= last) {
            let mut heads = Vec::new();
            for (at, pool) in pools.iter().filter(|(_, pool)| pool.has(slot)) {
                let found = self.check_entry_of(pool, slot).map_err(|error| Damage {
                    slot: Some(slot),
                    pool: Some(pool.id.clone()),
                    error: Box::new(error),
                });
                heads.push(FoundHead { at: *at, found });
            }
            let wrong = heads.iter().any(|head| head.found.is_err());
            if sender.send(heads).is_err() || wrong {
                return;
            }
            next = slot.next();
        }
    }

    /// Checks a pool's entry, head, snapshot and figures; returns the head's hash as a leaf, what the
    /// entry holds, and how many slots it takes back.
    fn check_entry_of(
        &mut self,
        pool: &Pool,
        slot: Slot,
    ) -> Result<(Hash, Outcome, u64), StoreError> {
        let Self { reader, before, .. } = self;
        let corrupt = |what| StoreError::CorruptHead { pool: pool.id.clone(), slot, what };
        let rule = |rule: &str| corrupt(CorruptHead::Rule(rule.to_owned()));
        let row = reader.head_row(pool, slot)?;
        let (row, hash) = row.ok_or_else(|| rule("its entry is not in the store"))?;
        let known = before.heads.get(&pool.number);
        let stored = check_head(pool, &row, hash, known.map(|(_, hash)| *hash))?;
        let recorded = matches!(row.entry.outcome, Outcome::Recorded(_));
        let retracted = u32::try_from(row.retracts.len()).unwrap_or(u32::MAX);
        let (count, run) =
            known.map_or((0, 0), |(row, _)| (row.entry.recorded_count, row.entry.missing_run));
        let count = (count + u32::from(recorded)).checked_sub(retracted);
        let run = if recorded { 0 } else { run + 1 };
        if (Some(row.entry.recorded_count), row.entry.missing_run) != (count, run) {
            return Err(rule("its counts do not add up"));
        }
        if (row.entry.outcome == Outcome::Retired) != (pool.retired_slot == Some(slot)) {
            return Err(rule("it and the pool's retirement disagree"));
        }
        let (snapshot, window) = before.follower.follow(reader, pool, &row)?;
        let lowest = window.directions.map(|figures| figures.lowest.map(|(_, depth)| depth));
        if row.lowest != lowest {
            return Err(rule("its lowest depths are not those of its window"));
        }
        let figures = figures_values(pool.number, slot, snapshot.as_ref(), &window);
        if reader.figures_values(pool, slot)? != Some(figures) {
            return Err(StoreError::Derived { table: "figures", pool: pool.id.clone(), at: slot });
        }
        let outcome = row.entry.outcome;
        before.heads.insert(pool.number, (row, hash));
        Ok((Head::leaf_of(&stored.canonical), outcome, retracted.into()))
    }
}

/// How many days the pool has slots in, up to the store's `last`.
fn day_count(pool: &Pool, last: Slot) -> u32 {
    day_of(pool.retired_slot.unwrap_or(last)).saturating_sub(day_of(pool.first_slot)) + 1
}

/// Names what cannot be read in a derived table as such.
fn as_derived<T>(
    table: &'static str,
    pool: &Pool,
    at: Slot,
    read: Result<T, StoreError>,
) -> Result<T, StoreError> {
    read.map_err(|error| match error {
        StoreError::CorruptRow { table: "figures" | "day" | "standing", .. } => {
            StoreError::Derived { table, pool: pool.id.clone(), at }
        }
        error => error,
    })
}

impl Tree {
    /// Adds the leaf of `slot`, which must be the stored node, as must those it completes.
    fn add(
        &mut self,
        reader: &Reader,
        slot: Slot,
        index: u64,
        leaf: Hash,
    ) -> Result<(), StoreError> {
        let (mut index, mut expected) = (index, leaf);
        for level in 0..=u64::BITS {
            let found = reader.nodes().node(level, index)?;
            if found != expected {
                let what = CorruptLog::Node { level, index, expected, found };
                return Err(StoreError::CorruptLog { slot, what });
            }
            let place = level as usize;
            if place == self.waiting.len() {
                self.waiting.push(None);
            }
            let Some(left) = self.waiting[place].take() else {
                self.waiting[place] = Some(expected);
                break;
            };
            (expected, index) = (node_hash(left, expected), index >> 1);
        }
        Ok(())
    }

    /// The root over all leaves so far, of which there is one at least.
    fn root(&self) -> Hash {
        let mut waiting = self.waiting.iter().flatten();
        let lowest = waiting.next().copied().unwrap_or(Hash([0; 32]));
        waiting.fold(lowest, |right, left| node_hash(*left, right))
    }

    /// How many complete subtrees a log of `size` leaves has.
    fn nodes(size: u64) -> u64 {
        (0..u64::BITS).map(|level| size >> level).sum()
    }
}
