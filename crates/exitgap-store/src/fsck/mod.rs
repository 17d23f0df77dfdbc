//! Checks a whole store: hashes everything again, from bodies to signed checkpoints.

mod part;

use std::num::NonZero;
use std::sync::mpsc::{Receiver, sync_channel};
use std::thread::{ScopedJoinHandle, available_parallelism};

use exitgap_core::evidence::SlotLeaf;
use exitgap_core::ids::PoolId;
use exitgap_core::series::Slot;
use exitgap_core::tlog::{Hash, node_hash};

use crate::corrupt::CorruptLog;
use crate::db::Counts;
use crate::derived::rollup::day_of;
use crate::error::StoreError;
use crate::log::slot_tiles;
use crate::model::Pool;
use crate::reader::Reader;
use part::{Depth, FoundHeads, HeldSnapshot, Part};

/// The progress of [`Reader::fsck`].
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct FsckCounts {
    /// Slots whose leaf and checkpoint are correct.
    pub slots: u64,
    /// The total number of slots.
    pub of_slots: u64,
    /// Heads that match the sealed hash.
    pub heads: u64,
    /// Snapshots whose canonical bytes match their hash.
    pub snapshots: u64,
    /// The number of them whose bodies were archived. Only their heads were checked.
    pub left: u64,
    /// The bodies of all other snapshots. Pools of one contract share one snapshot per slot.
    pub bodies: u64,
    /// Retracted slots.
    pub retractions: u64,
    /// Retired pools.
    pub retirements: u64,
    /// Fills documents whose bytes match the hash that a head commits to.
    pub fills: u64,
    /// Documents of issued estimates whose bytes match the hash that a head commits to.
    pub issued: u64,
    /// Slots whose checkpoint was submitted to witnesses.
    pub asked_witnesses: u64,
    /// The number of them, except for the newest slot, whose cosignatures are unchanged.
    pub cosigned: u64,
}

/// The first error in a store and its location.
#[derive(Debug, thiserror::Error)]
#[error("{}{}{error}", slot.map(|slot| format!("slot {slot}: ")).unwrap_or_default(), pool.as_ref().map(|pool| format!("{pool}: ")).unwrap_or_default())]
pub struct Damage {
    /// The slot, if the error belongs to a single slot.
    pub slot: Option<Slot>,
    /// The pool, if the error belongs to a single pool.
    pub pool: Option<PoolId>,
    /// The error.
    pub error: Box<StoreError>,
}

impl From<StoreError> for Damage {
    fn from(error: StoreError) -> Self {
        Self { slot: None, pool: None, error: Box::new(error) }
    }
}

/// The maximum number of threads that check in parallel.
const MAX_PARTS: usize = 16;

/// The number of slots that a part may be ahead of the tree. This limits memory.
const SLOTS_AHEAD: usize = 16;

/// The log's tree, built from the leaves: on each level, the node that waits for its right sibling.
#[derive(Default)]
struct Tree {
    waiting: Vec<Option<Hash>>,
}

impl Reader {
    /// Hashes everything again, slot by slot, up to the slot that was newest at the start. Checks that each body
    /// matches its hash; that each head follows from its row and the previous head; that each leaf commits to its
    /// heads, the log's tree to the leaves, and each checkpoint, signed by the log's key, to the tree; that a slot's
    /// figures are unchanged, using the day's hash over them, and that weeks, days and standings follow from the figures; and
    /// that there are no further rows. Stops at the first error.
    ///
    /// These checks alone cover everything that is signed. They do not check that depths and figures follow from the
    /// bodies: [`Reader::fsck_derived`] computes those again. For archived days only the heads are checked;
    /// `exitgap audit` checks the rest.
    ///
    /// Memory does not grow with the number of slots. Calls `progress` after each slot.
    pub fn fsck(&self, progress: impl FnMut(&FsckCounts)) -> Result<FsckCounts, Damage> {
        self.check(Depth::Hashes, progress)
    }

    /// Same as [`Reader::fsck`], and also checks that every depth, lowest depth and figure follows from the bodies. It
    /// computes all curves again, which takes about twenty times as long.
    pub fn fsck_derived(&self, progress: impl FnMut(&FsckCounts)) -> Result<FsckCounts, Damage> {
        self.check(Depth::Figures, progress)
    }

    fn check(
        &self,
        depth: Depth,
        mut progress: impl FnMut(&FsckCounts),
    ) -> Result<FsckCounts, Damage> {
        self.check_pages()?;
        self.check_single_rows()?;
        let left_days = self.db.left_days()?;
        let of_slots = self.log_size()?;
        let (Some((first, last)), Some(log)) = (self.slots()?, self.log()?) else {
            let checked = FsckCounts { of_slots, ..FsckCounts::default() };
            self.check_counts(&checked, 0, None)?;
            return Ok(checked);
        };
        if log.origin.first_slot() != first {
            let what = CorruptLog::Absent("the log's first slot");
            return Err(StoreError::CorruptLog { slot: first, what }.into());
        }
        let pools = self.pools()?;
        let (checked, tiles) = std::thread::scope(|scope| {
            let mut workers = Vec::new();
            for part in self.parts(&pools, depth)? {
                let (sender, found) = sync_channel(SLOTS_AHEAD);
                scope.spawn(move || part.check(first, last, &sender));
                workers.push(found);
            }
            self.check_slots(&workers, [first, last], of_slots, &mut progress)
        })?;
        // If a day is archived while this runs, some counts are from before and some from after.
        let counted = self.check_counts(&checked, tiles, Some(last));
        if self.db.left_days()? == left_days {
            counted?;
        }
        let parts = self.parts(&pools, depth)?;
        let found = std::thread::scope(|scope| {
            let check = |part: Part| scope.spawn(move || part.check_derived(last));
            let workers: Vec<_> = parts.into_iter().map(check).collect();
            let ended = workers.into_iter().map(ScopedJoinHandle::join);
            ended.collect::<Vec<_>>()
        });
        let mut first: Option<(usize, Damage)> = None;
        for ended in found {
            let ended = ended.map_err(|_| Damage::from(StoreError::Interrupted))?;
            if let Err((at, damage)) = ended
                && first.as_ref().is_none_or(|(first, _)| at < *first)
            {
                first = Some((at, damage));
            }
        }
        if let Some((_, damage)) = first {
            return Err(damage);
        }
        self.check_derived_counts(&pools, checked.heads, last)?;
        Ok(checked)
    }

    /// Divides the pools evenly among the processors. Each part has its own reader, and all readers see the same sealed
    /// data.
    fn parts(&self, pools: &[Pool], depth: Depth) -> Result<Vec<Part>, StoreError> {
        let processors = available_parallelism().map_or(1, NonZero::get).min(MAX_PARTS);
        let part = |number: usize| {
            let of_part = pools.iter().enumerate().skip(number).step_by(processors);
            let pools = of_part.map(|(at, pool)| (at, pool.clone())).collect();
            Ok(Part::new(self.again()?, pools, depth))
        };
        (0..processors.min(pools.len())).map(part).collect()
    }

    /// Goes through the slots with the results of the parts: checks that each slot's heads give its leaf, the leaves
    /// the tree, and the tree the checkpoint. Also counts the tiles that should exist.
    fn check_slots(
        &self,
        workers: &[Receiver<FoundHeads>],
        [first, last]: [Slot; 2],
        of_slots: u64,
        progress: &mut impl FnMut(&FsckCounts),
    ) -> Result<(FsckCounts, u64), Damage> {
        let (mut tiles, newest) = (0, last);
        let mut checked = FsckCounts { of_slots, ..FsckCounts::default() };
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
            let mut last = HeldSnapshot::None;
            for head in heads {
                let held = head.found.map_err(|damage| *damage)?;
                hashes.push(held.leaf);
                checked.heads += 1;
                checked.snapshots += u64::from(held.snapshot != HeldSnapshot::None);
                checked.left += u64::from(held.snapshot == HeldSnapshot::Left);
                if let HeldSnapshot::Here(_) = held.snapshot
                    && last != held.snapshot
                {
                    checked.bodies += 1;
                    last = held.snapshot;
                }
                checked.retirements += u64::from(held.retired);
                checked.retractions += u64::from(held.retracted);
                checked.fills += u64::from(held.fills);
                checked.issued += u64::from(held.issued);
            }
            self.check_heads_root(slot, &hashes).map_err(at)?;
            self.check_slot_tiles(slot, &hashes).map_err(at)?;
            tiles += slot_tiles::row_count(hashes.len());
            let sealed = self.sealed_slot(slot).map_err(at)?;
            let absent = CorruptLog::Absent("the sealed slot");
            let (leaf, checkpoint) =
                sealed.ok_or_else(|| at(StoreError::CorruptLog { slot, what: absent }))?;
            let leaf = SlotLeaf::leaf_of(&leaf.canonical);
            tree.add(self, slot, checked.slots, leaf).map_err(at)?;
            self.check_checkpoint(slot, &checkpoint, tree.root()).map_err(at)?;
            let [asked, answered] = self.check_cosignatures(slot, &checkpoint).map_err(at)?;
            checked.asked_witnesses += asked;
            // Cosignatures of the newest slot may be written while this runs.
            checked.cosigned += if slot == newest { 0 } else { answered };
            checked.slots += 1;
            progress(&checked);
            next = slot.next();
        }
        Ok((checked, tiles))
    }

    /// Requires that the file's pages and indices are consistent.
    fn check_pages(&self) -> Result<(), StoreError> {
        match self.db.page_damage()? {
            None => Ok(()),
            Some(found) => Err(StoreError::Pages { found }),
        }
    }

    /// Requires that single-row tables have no second row.
    fn check_single_rows(&self) -> Result<(), StoreError> {
        let Some((table, number)) = self.db.stray_row()? else { return Ok(()) };
        let table = if table == "log" { "log" } else { "predecessor" };
        let found = format!("a row with number {number}, where only 1 is allowed");
        Err(StoreError::CorruptRow { table, found })
    }

    /// Requires that the tables have as many rows as were checked, unless a recorder has meanwhile added slots after
    /// `last`.
    fn check_counts(
        &self,
        checked: &FsckCounts,
        tiles: u64,
        last: Option<Slot>,
    ) -> Result<(), StoreError> {
        let FsckCounts { slots, heads, bodies, retractions, retirements, fills, .. } = *checked;
        let FsckCounts { issued, asked_witnesses, cosigned, .. } = *checked;
        let expected = [
            ("body", bodies),
            ("entry", heads),
            ("log_node", Tree::nodes(slots)),
            ("slot_tile", tiles),
            ("retraction", retractions),
            ("retirement", retirements),
            ("fills", fills),
            ("issued", issued),
            ("cosigning", asked_witnesses),
            ("cosigned", cosigned),
        ];
        compare_counts(&expected, last, |tables| self.db.series_counts(tables))?;
        match self.db.left_named()? {
            found if found == checked.left => Ok(()),
            found => Err(StoreError::Rows { table: "left_body", expected: checked.left, found }),
        }
    }

    /// Same for the derived tables, whose expected rows were all compared.
    fn check_derived_counts(
        &self,
        pools: &[Pool],
        heads: u64,
        last: Slot,
    ) -> Result<(), StoreError> {
        let days = pools.iter().map(|pool| u64::from(day_count(pool, last))).sum();
        let pools = pools.len() as u64;
        let expected = [("figures", heads), ("week", heads), ("day", days), ("standing", pools)];
        compare_counts(&expected, Some(last), |tables| self.db.derived_counts(tables))
    }
}

/// Requires that the tables have this many rows, unless slots after `last` were sealed meanwhile.
fn compare_counts(
    expected: &[(&'static str, u64)],
    last: Option<Slot>,
    count: impl FnOnce(&[&str]) -> Result<Counts, StoreError>,
) -> Result<(), StoreError> {
    let tables: Vec<&str> = expected.iter().map(|(table, _)| *table).collect();
    let Counts { rows, last_slot } = count(&tables)?;
    if last_slot != last.map(|last| last.number().into()) {
        return Ok(());
    }
    for ((table, expected), found) in expected.iter().copied().zip(rows) {
        if found != expected {
            return Err(StoreError::Rows { table, expected, found });
        }
    }
    Ok(())
}

/// The number of days in which the pool has slots, up to the store's `last`.
pub fn day_count(pool: &Pool, last: Slot) -> u32 {
    day_of(pool.retired_slot.unwrap_or(last)).saturating_sub(day_of(pool.first_slot)) + 1
}

impl Tree {
    /// Adds the leaf of `slot`. The leaf and the nodes that it completes must match the stored nodes.
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

    /// The root over all leaves so far, at least one.
    fn root(&self) -> Hash {
        let mut waiting = self.waiting.iter().flatten();
        let lowest = waiting.next().copied().unwrap_or(Hash([0; 32]));
        waiting.fold(lowest, |right, left| node_hash(*left, right))
    }

    /// The number of complete subtrees in a log of `size` leaves.
    fn nodes(size: u64) -> u64 {
        (0..u64::BITS).map(|level| size >> level).sum()
    }
}
