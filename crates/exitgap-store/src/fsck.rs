//! Checking a whole store: everything is hashed again, from bodies to signed checkpoints.

use std::collections::HashMap;

use exitgap_core::evidence::{Hash, Head, SlotLeaf, node_hash};
use exitgap_core::ids::{HeadHash, PoolId};
use exitgap_core::series::Slot;

use crate::error::{CorruptBody, CorruptHead, CorruptLog, Doing, StoreError};
use crate::model::{Outcome, Pool};
use crate::reader::Reader;
use crate::sealed::{HeadRow, check_head};
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

/// The log's tree as the leaves make it: per level the node that waits for its right one.
#[derive(Default)]
struct Tree {
    waiting: Vec<Option<Hash>>,
}

impl Reader {
    /// Hashes everything again, slot by slot up to the newest at the start: that each body
    /// is what its name says, each head what its row and the head before make, that each
    /// leaf commits to its heads, the log's tree to the leaves, and each checkpoint, signed
    /// by the log's key, to the tree; and that no row is beside these. Ends at the first
    /// thing wrong.
    ///
    /// Memory does not grow with the number of slots. `progress` is told after each.
    pub fn fsck(&self, mut progress: impl FnMut(&Checked)) -> Result<Checked, Damage> {
        self.check_pages()?;
        let of_slots = self.log_size()?;
        let mut checked = Checked { of_slots, ..Checked::default() };
        let (Some((first, last)), Some(log)) = (self.slots()?, self.log()?) else {
            self.check_counts(&checked, None)?;
            return Ok(checked);
        };
        if log.origin.first_slot() != first {
            let what = CorruptLog::Absent("the log's first slot");
            return Err(StoreError::CorruptLog { slot: first, what }.into());
        }
        let pools = self.pools()?;
        let mut before: HashMap<i64, (HeadRow, HeadHash)> = HashMap::new();
        let mut tree = Tree::default();
        let mut next = Some(first);
        while let Some(slot) = next.filter(|slot| *slot <= last) {
            let at = |error| Damage { slot: Some(slot), ..Damage::from(error) };
            let mut hashes = Vec::new();
            for pool in pools.iter().filter(|pool| pool.first_slot <= slot) {
                let hash = self
                    .check_entry_of(pool, slot, &mut before, &mut checked)
                    .map_err(|error| Damage { pool: Some(pool.id.clone()), ..at(error) })?;
                hashes.push(hash);
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
        self.check_counts(&checked, Some(last))?;
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

    /// Requires that there are as many rows as were checked, unless a recorder went on after
    /// the slot `last` meanwhile.
    fn check_counts(&self, checked: &Checked, last: Option<Slot>) -> Result<(), StoreError> {
        let doing = "counting rows";
        let (found, newest): ([(&str, i64); 3], Option<i64>) = self
            .connection
            .query_row(sql::SELECT_COUNTS, (), |row| {
                let found = [
                    ("body", row.get("bodies")?),
                    ("entry", row.get("entries")?),
                    ("log_node", row.get("log_nodes")?),
                ];
                Ok((found, row.get("last_slot")?))
            })
            .doing(doing)?;
        if newest != last.map(|last| last.number().into()) {
            return Ok(());
        }
        let expected = [checked.snapshots, checked.heads, Tree::nodes(checked.slots)];
        for ((table, found), expected) in found.into_iter().zip(expected) {
            let found = found.unsigned_abs();
            if found != expected {
                return Err(StoreError::Rows { table, expected, found });
            }
        }
        Ok(())
    }

    /// Checks a pool's entry, head and snapshot, and returns the head's hash as a leaf.
    fn check_entry_of(
        &self,
        pool: &Pool,
        slot: Slot,
        before: &mut HashMap<i64, (HeadRow, HeadHash)>,
        checked: &mut Checked,
    ) -> Result<Hash, StoreError> {
        let corrupt = |what| StoreError::CorruptHead { pool: pool.id.clone(), slot, what };
        let absent = || corrupt(CorruptHead::Rule("its entry is not in the store".to_owned()));
        let (row, hash) = self.head_row(pool, slot)?.ok_or_else(absent)?;
        let known = before.get(&pool.number);
        let stored = check_head(pool, &row, hash, known.map(|(_, hash)| *hash))?;
        let recorded = matches!(row.entry.outcome, Outcome::Recorded(_));
        let (count, run) =
            known.map_or((0, 0), |(row, _)| (row.entry.recorded_count, row.entry.missing_run));
        let run = if recorded { 0 } else { run + 1 };
        if (row.entry.recorded_count, row.entry.missing_run) != (count + u32::from(recorded), run) {
            return Err(corrupt(CorruptHead::Rule("its counts do not add up".to_owned())));
        }
        if let Outcome::Recorded(hash) = row.entry.outcome {
            let absent = StoreError::Corrupt { hash, what: CorruptBody::Absent };
            self.canonical(hash)?.ok_or(absent)?;
            checked.snapshots += 1;
        }
        checked.heads += 1;
        before.insert(pool.number, (row, hash));
        Ok(Head::leaf_of(&stored.canonical))
    }
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
