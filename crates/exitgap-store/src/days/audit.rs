//! A day's files, checked by themselves: hashed against their manifest, every head and snapshot read and recomputed, every
//! slot's leaf held against the checkpoint that the log signed over it.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use exitgap_core::evidence::SlotLeaf;
use exitgap_core::ids::PoolId;
use exitgap_core::log_folder::days::{DayManifest, FileRef};
use exitgap_core::series::Slot;
use exitgap_core::tlog::{Checkpoint, Frontier, Hash, TrustError, VerifierKey};

use super::fault::{AuditError, DayFault};
use super::open::{DayFolder, Groups};
use super::pool::{PoolAudited, PoolDay};
use super::rows::{EvidenceRow, SlotRow, figures_table, slots_table, snapshots_table};
use super::table::{Row, TableError};

/// The most pools that are checked side by side: each is held whole.
const MAX_WORKERS: usize = 8;

/// The most bytes of a pool's day: as many snapshots of the largest states as a day has slots.
const MAX_POOL_BYTES: usize = 1_536 << 20;

/// What was found to hold.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct DayCounts {
    /// Slots.
    pub slots: u64,
    /// Pools.
    pub pools: u64,
    /// Heads, each with its row of figures.
    pub heads: u64,
    /// Snapshots, each recomputed.
    pub snapshots: u64,
    /// Slots that heads of this day take back.
    pub retracted: u64,
    /// Heads and snapshots of which only a later version of exitgap knows all.
    pub unsupported: u64,
}

/// What an audit of a day came to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DayAudited {
    /// What the day says of itself, where that can be read.
    pub manifest: Option<DayManifest>,
    /// What holds; of pools those that were looked at before a fault.
    pub counts: DayCounts,
    /// The first fault.
    pub fault: Option<DayFault>,
}

/// Checks a day. `keys` are those whose signature counts; without any the manifest's own. `tick` is told how many pools are
/// done, and of how many. An error is this machine's: a file that is there could not be read.
pub fn audit_day(
    folder: &DayFolder,
    keys: Option<&[VerifierKey]>,
    mut tick: impl FnMut(u64, u64),
) -> Result<DayAudited, TableError> {
    let mut audited = DayAudited { manifest: None, counts: DayCounts::default(), fault: None };
    let manifest = match folder.manifest()? {
        Ok(manifest) => manifest,
        Err(fault) => return Ok(DayAudited { fault: Some(fault), ..audited }),
    };
    audited.manifest = Some(manifest.clone());
    let mut walk = Walk {
        folder,
        manifest: &manifest,
        keys: keys.unwrap_or(&manifest.keys),
        trees: BTreeMap::new(),
        counts: &mut audited.counts,
    };
    match walk.whole(&mut tick) {
        Ok(()) => {}
        Err(AuditError::Fault(fault)) => audited.fault = Some(*fault),
        Err(AuditError::Machine(error)) => return Err(error),
    }
    Ok(audited)
}

struct Walk<'a> {
    folder: &'a DayFolder,
    manifest: &'a DayManifest,
    keys: &'a [VerifierKey],
    /// The tree over each slot's heads, as far as its pools were looked at.
    trees: BTreeMap<Slot, Frontier>,
    counts: &'a mut DayCounts,
}

impl Walk<'_> {
    fn whole(&mut self, tick: &mut impl FnMut(u64, u64)) -> Result<(), AuditError> {
        self.verify_checkpoint("manifest.json", &self.manifest.checkpoint)?;
        let mut absent = None;
        for file in &self.manifest.files {
            match self.folder.check_hash(file) {
                Err(AuditError::Fault(fault)) if fault.is_incomplete => {
                    absent = absent.or(Some(fault));
                }
                checked => checked?,
            }
        }
        let slots = self.slots()?;
        for (figures, snapshots) in self.manifest.ranges() {
            if self.folder.has(figures) && self.folder.has(snapshots) {
                self.range(figures, snapshots, tick)?;
            }
        }
        match absent {
            // Over some of its heads nothing is known of a slot's tree.
            Some(absent) => Err(AuditError::Fault(absent)),
            None => self.leaves(slots),
        }
    }

    /// Requires that a trusted key of the log signed a checkpoint.
    fn verify_checkpoint(&self, file: &str, note: &str) -> Result<Checkpoint, DayFault> {
        let wrong = |code, what: String| DayFault::new(code, format!("{file}: {what}"));
        let (checkpoint, note) = Checkpoint::from_note(note)
            .map_err(|error| wrong("checkpoint_invalid", error.to_string()))?;
        note.signed_by(&checkpoint.origin, self.keys).map_err(|error| match error {
            TrustError::Forged { signer } => wrong(
                "signature_forged",
                format!("the signature named {signer} was not made by that key"),
            ),
            TrustError::NotTrusted { origin, found } => {
                let found = if found.is_empty() { "none".to_owned() } else { found.join(", ") };
                let what =
                    format!("expected a signature by a trusted key of {origin}, found {found}");
                wrong("signature_not_trusted", what)
            }
        })?;
        Ok(checkpoint)
    }

    /// The rows of slots, which are those of the day.
    fn slots(&self) -> Result<Vec<SlotRow>, AuditError> {
        let file = self.manifest.files.first().filter(|file| self.folder.has(file));
        let Some(file) = file else { return Ok(Vec::new()) };
        let mut rows = Groups::open(self.folder, file, slots_table())?;
        let mut slots = Vec::new();
        let mut expected = Some(self.manifest.first);
        while let Some(row) = rows.next()? {
            if slots.len() as u64 >= self.manifest.slots() {
                return Err(DayFault::new("slot_order", "more slots than the day has").into());
            }
            let row = SlotRow::from_cells(row).map_err(|column| wrong_column(file, column))?;
            if Some(row.slot) != expected || row.slot > self.manifest.day.last() {
                let detail = format!("{} is in the place of another slot", row.slot);
                return Err(DayFault::new("slot_order", detail).at(row.slot).into());
            }
            expected = row.slot.next();
            slots.push(row);
        }
        Ok(slots)
    }

    /// Checks the pools of a range, side by side.
    fn range(
        &mut self,
        figures: &FileRef,
        snapshots: &FileRef,
        tick: &mut impl FnMut(u64, u64),
    ) -> Result<(), AuditError> {
        let mut evidence = Groups::open(self.folder, snapshots, snapshots_table())?;
        let mut figures = Groups::open(self.folder, figures, figures_table())?;
        let workers = thread::available_parallelism().map_or(1, usize::from).min(MAX_WORKERS);
        let (jobs, queue) = sync_channel::<(usize, PoolDay)>(workers);
        let queue = Arc::new(Mutex::new(queue));
        let (told, results) = channel();
        let pools = self.manifest.pools();
        thread::scope(|scope| {
            for _ in 0..workers {
                let (queue, told) = (Arc::clone(&queue), told.clone());
                scope.spawn(move || work(&queue, &told));
            }
            drop((told, queue));
            let mut merged = ReorderBuffer::default();
            let mut take = |walk: &mut Self, (number, audited)| {
                merged.push_pool(number, audited, walk)?;
                tick(walk.counts.pools, pools);
                Ok(())
            };
            let mut merging = true;
            let read = self.read_pools(&mut evidence, &mut figures, &jobs, |walk| {
                let taken = results.try_iter().try_for_each(|result| take(walk, result));
                merging = taken.is_ok();
                taken
            });
            drop(jobs);
            if !merging {
                return read;
            }
            // What is still worked on stands before the place at which reading ended.
            results.iter().try_for_each(|result| take(self, result)).and(read)
        })
        .and_then(|found| {
            let range = snapshots.range.as_ref();
            let expected =
                range.map(|range| (range.first.clone(), range.last.clone(), range.pools));
            if found == expected {
                return Ok(());
            }
            let detail =
                format!("{} does not have the pools listed in the manifest", snapshots.file);
            Err(DayFault::new("range_mismatch", detail).into())
        })
    }

    /// Reads a range pool by pool and gives each to whoever is free; the first pool, the last, and how many they are.
    fn read_pools(
        &mut self,
        evidence: &mut Groups,
        figures: &mut Groups,
        jobs: &SyncSender<(usize, PoolDay)>,
        mut merge: impl FnMut(&mut Self) -> Result<(), AuditError>,
    ) -> Result<Option<(PoolId, PoolId, u32)>, AuditError> {
        let (mut seen, mut held): (Option<(PoolId, PoolId, u32)>, Option<PoolDay>) = (None, None);
        let mut number = 0;
        loop {
            let row = evidence.next()?;
            let row = row.map(EvidenceRow::from_cells).transpose();
            let row = row.map_err(|column| wrong_column(evidence.file(), column))?;
            let same =
                row.as_ref().zip(held.as_ref()).is_some_and(|(row, held)| row.pool == held.pool);
            if let Some(whole) = held.take_if(|_| !same) {
                // Nobody listens any more only where the workers panicked, which ends this, too.
                if jobs.send((number, whole)).is_err() {
                    return Ok(seen);
                }
                number += 1;
                merge(self)?;
            }
            let of_figures = figures.next()?;
            let (row, of_figures) = match (row, of_figures) {
                (Some(row), Some(figures)) => (row, figures),
                (None, None) => return Ok(seen),
                _ => {
                    return Err(DayFault::new(
                        "figures_rows",
                        "figures and snapshots do not have the same rows",
                    )
                    .into());
                }
            };
            if held.is_none() {
                let pool = row.pool.clone();
                let follows =
                    seen.as_ref().is_none_or(|(_, last, _)| last.to_string() < pool.to_string());
                if !follows {
                    let detail = "the pool is not in the order of pool ids";
                    return Err(DayFault::new("head_order", detail).at(row.slot).by(&pool).into());
                }
                seen = Some(match seen {
                    Some((first, _, count)) => (first, pool.clone(), count + 1),
                    None => (pool.clone(), pool.clone(), 1),
                });
            }
            let run = [self.manifest.first, self.manifest.day.last()];
            let held = held.get_or_insert_with(|| PoolDay::new(row.pool.clone(), run));
            let wrong = |detail: &str| DayFault::new("head_order", detail).by(&row.pool);
            if held.rows.len() as u64 >= self.manifest.slots() {
                return Err(wrong("a pool has more rows than the day has slots").into());
            }
            if held.bytes() > MAX_POOL_BYTES {
                return Err(wrong("the day of a pool is larger than the maximum").into());
            }
            held.push(row, of_figures);
        }
    }

    /// Holds each slot's heads against its leaf, and the leaves against the checkpoints.
    fn leaves(&mut self, slots: Vec<SlotRow>) -> Result<(), AuditError> {
        let mut tree = self
            .manifest
            .tree()
            .map_err(|error| DayFault::new("manifest_invalid", error.to_string()))?;
        let newest = self
            .manifest
            .log()
            .map_err(|error| DayFault::new("checkpoint_invalid", error.to_string()))?;
        for row in slots {
            let slot = row.slot;
            self.leaf(row, &mut tree, &newest).map_err(|fault| fault.at(slot))?;
            self.counts.slots += 1;
        }
        match self.trees.keys().next() {
            Some(slot) => {
                Err(DayFault::new("head_slot_mismatch", "heads of a slot outside the day")
                    .at(*slot)
                    .into())
            }
            None => Ok(()),
        }
    }

    fn leaf(
        &mut self,
        row: SlotRow,
        tree: &mut Frontier,
        newest: &Checkpoint,
    ) -> Result<(), DayFault> {
        let leaf = SlotLeaf::from_canonical(&row.leaf).map_err(|error| {
            DayFault::new("leaf_invalid", error.to_string()).unknown(error.newer().is_some())
        })?;
        if leaf.slot != row.slot {
            return Err(DayFault::new(
                "leaf_slot_mismatch",
                format!("the leaf belongs to {}", leaf.slot),
            ));
        }
        let heads = self.trees.remove(&row.slot).unwrap_or_default();
        let (found, of_row) = (heads.size(), u64::from(row.pools));
        if [found, of_row] != [u64::from(leaf.pools); 2] {
            let detail = format!("{found} heads, but the leaf commits to {}", leaf.pools);
            return Err(DayFault::new("heads_root_mismatch", detail));
        }
        if heads.root() != leaf.root {
            let (found, expected) = (heads.root(), leaf.root);
            let detail =
                format!("the heads give the root {found}, but the slot leaf commits to {expected}");
            return Err(DayFault::new("heads_root_mismatch", detail));
        }
        tree.push(SlotLeaf::leaf_of(&row.leaf));
        let note = String::from_utf8(row.checkpoint)
            .map_err(|_| DayFault::new("checkpoint_invalid", "it is not UTF-8"))?;
        let found = self.verify_checkpoint("slots.parquet", &note)?;
        let same = |of, expected: &dyn ToString, found: &dyn ToString| {
            let (expected, found) = (expected.to_string(), found.to_string());
            if expected == found {
                return Ok(());
            }
            let detail = format!("the checkpoint's {of} is {found}, expected {expected}");
            Err(DayFault::new("checkpoint_mismatch", detail))
        };
        same("origin", &newest.origin, &found.origin)?;
        same("size", &tree.size(), &found.size)?;
        same("root", &tree.root(), &found.root)?;
        if found.size == newest.size {
            return same("root", &newest.root, &found.root);
        }
        Ok(())
    }
}

fn wrong_column(file: &FileRef, column: &str) -> DayFault {
    DayFault::new("table_invalid", format!("{}: a row has an invalid {column}", file.file))
}

/// Checks pools as long as there are any.
fn work(
    queue: &Mutex<Receiver<(usize, PoolDay)>>,
    told: &Sender<(usize, Result<PoolAudited, DayFault>)>,
) {
    loop {
        let job = queue.lock().unwrap_or_else(PoisonError::into_inner).recv();
        let Ok((number, pool)) = job else { return };
        if told.send((number, pool.audit())).is_err() {
            return;
        }
    }
}

/// What became of pools, put back into their order: a slot's tree is over its heads in the order of pool ids.
#[derive(Default)]
struct ReorderBuffer {
    waiting: BTreeMap<usize, Result<PoolAudited, DayFault>>,
    next: usize,
}

impl ReorderBuffer {
    fn push_pool(
        &mut self,
        number: usize,
        audited: Result<PoolAudited, DayFault>,
        walk: &mut Walk<'_>,
    ) -> Result<(), AuditError> {
        self.waiting.insert(number, audited);
        while let Some(audited) = self.waiting.remove(&self.next) {
            self.next += 1;
            let PoolAudited { heads, snapshots, retracted, unsupported } = audited?;
            let counts = &mut *walk.counts;
            counts.pools += 1;
            counts.heads += heads.len() as u64;
            counts.snapshots += snapshots;
            counts.retracted += retracted;
            counts.unsupported += unsupported;
            for (slot, leaf) in heads {
                let tree: &mut Frontier = walk.trees.entry(slot).or_default();
                tree.push(leaf);
            }
        }
        Ok(())
    }
}

/// A pool's slots with the leaf hashes of their heads.
pub type Leaves = Vec<(Slot, Hash)>;

/// A row of evidence beside its row of figures.
pub type RowPair = (EvidenceRow, Row);

/// Whether a folder holds a day, and not a log.
pub fn is_day(path: &Path) -> bool {
    path.join("manifest.json").is_file() && !path.join("checkpoint").exists()
}
