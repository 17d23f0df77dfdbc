//! A day's files, checked: hashed against their manifest, every head and snapshot read and recomputed, every slot's leaf
//! compared with the checkpoint that the log signed over it; and with the days around it the columns that follow from these.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use exitgap_core::ids::PoolId;
use exitgap_core::log_folder::days::{DayManifest, FileRef};
use exitgap_core::series::{Day, Slot};
use exitgap_core::tlog::{Hash, VerifierKey};

use super::around::{Around, Neighbours};
use super::fault::{AuditError, DayFault};
use super::open::{DayFolder, Groups, wrong_column};
use super::other_slots::Recomputed;
use super::pool::{PoolAudited, PoolDay};
use super::rows::{EvidenceRow, figures_table, snapshots_table};
use super::signed_day::SignedDay;
use super::table::{Row, TableError};
use super::unchecked::{Unchecked, check_log_of_days};

/// The maximum number of pools that are checked in parallel. Each is held in memory as a whole.
const MAX_WORKERS: usize = 8;

/// The maximum size of a pool's day, in bytes: snapshots of the largest states in all slots of a day.
const MAX_POOL_BYTES: usize = 1_536 << 20;

/// The contents that were found valid.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct DayCounts {
    /// Slots.
    pub slots: u64,
    /// Pools.
    pub pools: u64,
    /// Heads, each with its row of figures.
    pub heads: u64,
    /// Snapshots, all recomputed.
    pub snapshots: u64,
    /// Slots that heads of this day retract.
    pub retracted: u64,
    /// Heads and snapshots with values that only a later version of exitgap knows.
    pub unsupported: u64,
}

/// The result of auditing a day.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DayAudited {
    /// The day's manifest, if it can be read.
    pub manifest: Option<DayManifest>,
    /// The valid contents. If there is a fault, only pools checked before it are counted.
    pub counts: DayCounts,
    /// How many days the signed log of days has, where it commits to this one.
    pub log_of_days: Option<u64>,
    /// Columns that were not checked in every row.
    pub unchecked: Vec<Unchecked>,
    /// The first fault.
    pub fault: Option<DayFault>,
}

/// Checks a day by itself: what needs other days is unchecked. `keys` are those whose signature counts; without any the
/// manifest's own. `tick` is told how many pools are done, and of how many. An error is this machine's: a file that is there
/// could not be read.
pub fn audit_day(
    folder: &DayFolder,
    keys: Option<&[VerifierKey]>,
    tick: impl FnMut(u64, u64),
) -> Result<DayAudited, TableError> {
    audit_day_among(folder, keys, None, tick)
}

/// Checks a day with the days around it and the log of days, which are looked for in `siblings`.
pub fn audit_day_among(
    folder: &DayFolder,
    keys: Option<&[VerifierKey]>,
    siblings: Option<&Path>,
    mut tick: impl FnMut(u64, u64),
) -> Result<DayAudited, TableError> {
    let (counts, unchecked) = (DayCounts::default(), Vec::new());
    let mut audited =
        DayAudited { manifest: None, counts, log_of_days: None, unchecked, fault: None };
    let manifest = match folder.manifest()? {
        Ok(manifest) => manifest,
        Err(fault) => return Ok(DayAudited { fault: Some(fault), ..audited }),
    };
    audited.manifest = Some(manifest.clone());
    let keys = keys.unwrap_or(&manifest.keys);
    let neighbours = Neighbours::find(siblings, &manifest);
    let walk = Walk {
        signed: SignedDay::new(folder, &manifest, keys),
        around: neighbours.readers(keys),
        seven_days: Recomputed { every_row: true, fault: None },
        retractions: Recomputed { every_row: true, fault: None },
        audited: &mut audited,
    };
    match walk.check(siblings, &neighbours, &mut tick) {
        Ok(()) => {}
        Err(AuditError::Fault(fault)) => audited.fault = Some(*fault),
        Err(AuditError::Machine(error)) => return Err(error),
    }
    Ok(audited)
}

struct Walk<'a, 'b> {
    signed: SignedDay<'a>,
    around: Around<'a>,
    /// The columns over seven days, of the pools so far.
    seven_days: Recomputed,
    /// The column of retractions.
    retractions: Recomputed,
    audited: &'b mut DayAudited,
}

impl Walk<'_, '_> {
    /// Checks the day, and what the days around it and the log of days show of it.
    fn check(
        mut self,
        siblings: Option<&Path>,
        neighbours: &Neighbours,
        tick: &mut impl FnMut(u64, u64),
    ) -> Result<(), AuditError> {
        self.log_of_days(siblings)?;
        let absent = self.rows(tick)?;
        self.other_days(neighbours)?;
        absent.map_or(Ok(()), |absent| Err(AuditError::Fault(absent)))
    }

    /// Compares the manifest with the log of days, where that is there.
    fn log_of_days(&mut self, siblings: Option<&Path>) -> Result<(), AuditError> {
        let SignedDay { folder, manifest, keys, .. } = &self.signed;
        let bytes = folder.manifest_bytes()?.unwrap_or_default();
        match check_log_of_days(siblings, manifest.day, &bytes, keys)? {
            Ok(days) => self.audited.log_of_days = Some(days),
            Err(why) => self.audited.unchecked.extend(Unchecked::unsigned(&why)),
        }
        Ok(())
    }

    /// Checks the day's own rows. Gives the fault that a file is absent, where only that leaves something unchecked.
    fn rows(
        &mut self,
        tick: &mut impl FnMut(u64, u64),
    ) -> Result<Option<Box<DayFault>>, AuditError> {
        let SignedDay { folder, manifest, .. } = self.signed;
        self.signed.verify_checkpoint("manifest.json", &manifest.checkpoint)?;
        folder.check_names(manifest)?;
        let mut absent = None;
        for file in &manifest.files {
            match folder.check_hash(file) {
                Err(AuditError::Fault(fault)) if fault.is_incomplete => {
                    absent = absent.or(Some(fault));
                }
                checked => checked?,
            }
        }
        let slots = self.signed.slots()?;
        for (figures, snapshots) in manifest.ranges() {
            if folder.has(figures) && folder.has(snapshots) {
                self.range(figures, snapshots, tick)?;
            }
        }
        // Over some of its heads nothing is known of a slot's tree.
        if absent.is_none() {
            let counts = &mut self.audited.counts;
            self.signed.check_leaves(slots, || counts.slots += 1)?;
        }
        Ok(absent)
    }

    /// Requires that what follows from other days does so, where these hold; what was not checked is named.
    fn other_days(self, neighbours: &Neighbours) -> Result<(), AuditError> {
        let Self { signed, around, seven_days, retractions, audited } = self;
        let checked = around.finish(signed.manifest);
        if let Some(contradiction) = checked.contradiction {
            return Err(contradiction.into());
        }
        let span = |[first, last]: [Day; 2]| {
            let span = if first == last { first.to_string() } else { format!("{first} to {last}") };
            format!("{span} must be next to the day's folder")
        };
        let why = unchecked_why(seven_days, checked.before, neighbours.absent_before().map(span))?;
        audited.unchecked.extend(why.map(Unchecked::seven_days));
        let absent = neighbours.absent_after().map(|day| span([day; 2]));
        let why = unchecked_why(retractions, checked.after, absent)?;
        audited.unchecked.extend(why.map(Unchecked::retractions));
        Ok(())
    }

    /// Checks the pools of a range in parallel.
    fn range(
        &mut self,
        figures: &FileRef,
        snapshots: &FileRef,
        tick: &mut impl FnMut(u64, u64),
    ) -> Result<(), AuditError> {
        let SignedDay { folder, manifest, .. } = self.signed;
        let mut evidence = Groups::open(folder, snapshots, snapshots_table())?;
        let mut figures = Groups::open(folder, figures, figures_table())?;
        let workers = thread::available_parallelism().map_or(1, usize::from).min(MAX_WORKERS);
        let (jobs, queue) = sync_channel::<(usize, PoolDay)>(workers);
        let queue = Arc::new(Mutex::new(queue));
        let (told, results) = channel();
        let pools = manifest.pools();
        thread::scope(|scope| {
            for _ in 0..workers {
                let (queue, told) = (Arc::clone(&queue), told.clone());
                scope.spawn(move || work(&queue, &told));
            }
            drop((told, queue));
            let mut merged = ReorderBuffer::default();
            let mut take = |walk: &mut Self, (number, audited)| {
                merged.push_pool(number, audited, walk)?;
                tick(walk.audited.counts.pools, pools);
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
            // Pools that are still being checked come before the place at which reading ended.
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

    /// Reads a range pool by pool and gives each to a free worker. Returns the first and the last pool, and their
    /// number.
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
                // The receiver is closed only if the workers panicked, which ends the audit as well.
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
            let manifest = self.signed.manifest;
            let run = [manifest.first, manifest.day.last()];
            let around = &mut self.around;
            let held = held
                .get_or_insert_with(|| PoolDay::new(row.pool.clone(), run, around.take(&row.pool)));
            let wrong = |detail: &str| DayFault::new("head_order", detail).by(&row.pool);
            if held.rows.len() as u64 >= manifest.slots() {
                return Err(wrong("a pool has more rows than the day has slots").into());
            }
            if held.bytes() > MAX_POOL_BYTES {
                return Err(wrong("the day of a pool is larger than the maximum").into());
            }
            held.push(row, of_figures);
        }
    }
}

/// Why columns that follow from other days were not checked in every row; a fault where they differ, and those days hold.
fn unchecked_why(
    recomputed: Recomputed,
    broken: Option<(Day, DayFault)>,
    absent: Option<String>,
) -> Result<Option<String>, DayFault> {
    if let Some((day, fault)) = broken {
        return Ok(Some(format!("{day} does not hold: {}", fault.detail)));
    }
    match recomputed.fault {
        Some(fault) if fault.is_incomplete => {
            let slot = fault.slot.map(|slot| format!("{slot}: ")).unwrap_or_default();
            Ok(Some(format!("{slot}{}", fault.detail)))
        }
        Some(fault) => Err(fault),
        None if recomputed.every_row => Ok(None),
        None => Ok(Some(absent.unwrap_or_else(|| "heads of other days are absent".to_owned()))),
    }
}

/// Checks pools until there are no more.
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

/// Restores the order of finished pools, because a slot's tree is over its heads in the order of pool ids.
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
        walk: &mut Walk<'_, '_>,
    ) -> Result<(), AuditError> {
        self.waiting.insert(number, audited);
        while let Some(audited) = self.waiting.remove(&self.next) {
            self.next += 1;
            let PoolAudited { heads, snapshots, retracted, unsupported, seven_days, retractions } =
                audited?;
            walk.seven_days.add(seven_days);
            walk.retractions.add(retractions);
            let counts = &mut walk.audited.counts;
            counts.pools += 1;
            counts.heads += heads.len() as u64;
            counts.snapshots += snapshots;
            counts.retracted += retracted;
            counts.unsupported += unsupported;
            for (slot, leaf) in heads {
                walk.signed.push_head(slot, leaf);
            }
        }
        Ok(())
    }
}

/// A pool's slots with the leaf hashes of their heads.
pub type Leaves = Vec<(Slot, Hash)>;

/// A row of evidence with its row of figures.
pub type RowPair = (EvidenceRow, Row);

/// Whether a folder contains a day rather than a log.
pub fn is_day(path: &Path) -> bool {
    path.join("manifest.json").is_file() && !path.join("checkpoint").exists()
}
