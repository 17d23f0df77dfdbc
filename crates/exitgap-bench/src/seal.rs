//! Sealing: from a slot's prepared readings to its published checkpoint; a slot's size in the store and in the log's
//! folder; and checking and proving what was sealed. Everything is synced to disk as in production.

use std::fmt;
use std::fs;
use std::ops::Range;
use std::path::Path;
use std::time::Instant;

use exitgap_core::evidence::Base;
use exitgap_core::series::Slot;
use exitgap_core::tlog::SignerKey;
use exitgap_store::{Changes, LogFolder, NewEntry, Reader, Ready, Store};
use tempfile::TempDir;

use crate::BenchError;
use crate::clock::median;
use crate::effort::Effort;
use crate::evidence::{float, slot};
use crate::market::{BUSY_TICKS, BusyPool, QUIET_TICKS};
use crate::report::Report;

/// Number of warm-up slots: the first ones contain complete bodies of every pool.
const WARMING: u32 = 2;

/// Number of slots with 100 pools: half a day, so that every level of bodies occurs several times.
const SLOTS: Effort<u32> = Effort::new(144, 2);

/// Number of pools in a slot.
const FEW: Effort<u16> = Effort::new(100, 4);
const MANY: Effort<u16> = Effort::new(1_000, 20);
const MOST: Effort<u16> = Effort::new(10_000, 50);

/// Slots of 1,000 pools.
const SLOTS_OF_MANY: Effort<u32> = Effort::new(24, 1);

/// Slots of 10,000 pools.
const SLOTS_OF_MOST: Effort<u32> = Effort::new(4, 1);

/// With 1,000 or more pools, one in this many has [`BUSY_TICKS`]; the others have [`QUIET_TICKS`].
const ONE_BUSY_OF: usize = 5;

/// Adds `seal.*`, `store.bytes_per_slot_pool`, `log.bytes_per_slot_pool`, `fsck.*` and
/// `evidence.cold_ms`.
pub fn measure(report: &mut Report) -> Result<(), BenchError> {
    let busy = Sealed::new(FEW.get(), SLOTS.get(), |_| BUSY_TICKS)?;
    report.add("seal.100_pools_ms", median(busy.seal_ms.clone()));
    report.add("store.bytes_per_slot_pool", busy.store_bytes);
    report.add("log.bytes_per_slot_pool", busy.log_bytes);
    report.add("fsck.1200_ticks_slots_per_s", busy.fsck_slots_per_s()?);
    drop(busy);
    let quiet = Sealed::new(FEW.get(), SLOTS.get(), |_| QUIET_TICKS)?;
    report.add("fsck.slots_per_s", quiet.fsck_slots_per_s()?);
    drop(quiet);
    let mixed = |number| if number % ONE_BUSY_OF == 0 { BUSY_TICKS } else { QUIET_TICKS };
    let thousand = Sealed::new(MANY.get(), SLOTS_OF_MANY.get(), mixed)?;
    report.add("seal.1000_pools_ms", median(thousand.seal_ms.clone()));
    drop(thousand);
    let most = Sealed::new(MOST.get(), SLOTS_OF_MOST.get(), mixed)?;
    report.add("seal.10000_pools_ms", median(most.seal_ms.clone()));
    report.add("evidence.cold_ms", most.cold_ms()?);
    Ok(())
}

/// A store of many pools, and the time for sealing it.
struct Sealed {
    folder: TempDir,
    pools: Vec<BusyPool>,
    last: Slot,
    seal_ms: Vec<f64>,
    store_bytes: f64,
    log_bytes: f64,
}

impl Sealed {
    /// Seals slots of this many pools, each with the number of ticks that `ticks` returns.
    fn new(pools: u16, slots: u32, ticks: impl Fn(usize) -> usize) -> Result<Self, BenchError> {
        eprintln!("seal: {slots} slots of {pools} pools");
        let folder = tempfile::tempdir().map_err(failed)?;
        let log_path = folder.path().join("log");
        let log = LogFolder::new(&log_path);
        let key = SignerKey::from_seed("exitgap.example/bench", [7; 32]).map_err(failed)?;
        let mut store = Store::create(folder.path().join("series.db"), &key).map_err(failed)?;
        let mut market: Vec<BusyPool> =
            (0..pools).map(|number| BusyPool::real(number, ticks(number.into()))).collect();
        let mut times = Times::default();
        times.of(&mut store, &log, &mut market, 0..WARMING)?;
        let (store_before, log_before) = (database_bytes(&store)?, weight(&log_path)?);
        times = Times::default();
        times.of(&mut store, &log, &mut market, WARMING..WARMING + slots)?;
        let each = f64::from(slots) * f64::from(pools);
        let store_bytes = float(database_bytes(&store)? - store_before) / each;
        let log_bytes = float(weight(&log_path)? - log_before) / each;
        eprintln!(
            "seal: {times}; {store_bytes:.0} bytes a pool and slot in the store, {log_bytes:.0} in the log"
        );
        store.close().map_err(failed)?;
        let last = slot(WARMING + slots - 1)?;
        Ok(Self { folder, pools: market, last, seal_ms: times.seal_ms, store_bytes, log_bytes })
    }

    fn reader(&self) -> Result<Reader, BenchError> {
        Reader::open(self.folder.path().join("series.db")).map_err(failed)
    }

    /// Runs the default checks of `exitgap-server fsck`.
    fn fsck_slots_per_s(&self) -> Result<f64, BenchError> {
        let reader = self.reader()?;
        let start = Instant::now();
        let checked = reader.fsck(|_| {}).map_err(failed)?;
        Ok(float(checked.slots) / start.elapsed().as_secs_f64())
    }

    /// Creates evidence files for one pool after another, each with a reader that has read nothing before.
    fn cold_ms(&self) -> Result<f64, BenchError> {
        let size = "25000".parse().map_err(failed)?;
        let mut cold_ms = Vec::new();
        for pool in self.pools.iter().step_by(self.pools.len() / 25) {
            let start = Instant::now();
            let reader = self.reader()?;
            reader.evidence(&pool.id, Base::Token0, self.last, size).map_err(failed)?;
            cold_ms.push(start.elapsed().as_secs_f64() * 1e3);
        }
        Ok(median(cold_ms))
    }
}

/// The time for each slot.
#[derive(Default)]
pub struct Times {
    /// From prepared readings to the published checkpoint.
    pub seal_ms: Vec<f64>,
    /// The part of that for publishing.
    publish_ms: Vec<f64>,
    /// Preparing readings.
    ready_ms: Vec<f64>,
    /// The size of the largest body.
    canonical: usize,
}

impl Times {
    /// Seals and publishes these slots of all pools.
    pub fn of(
        &mut self,
        store: &mut Store,
        log: &LogFolder,
        market: &mut [BusyPool],
        slots: Range<u32>,
    ) -> Result<(), BenchError> {
        for index in slots {
            let slot = slot(index)?;
            let entries = market.iter_mut().map(|pool| pool.recorded(slot));
            let entries = entries.collect::<Result<Vec<_>, _>>()?;
            let start = Instant::now();
            let ready = Ready::prepare_entries(&entries).map_err(failed)?;
            self.ready_ms.push(start.elapsed().as_secs_f64() * 1e3);
            self.canonical = self.canonical.max(bytes_of(&entries)?);
            drop(entries);
            let start = Instant::now();
            store.append_ready(slot, ready, &Changes::default()).map_err(failed)?;
            let sealed_ms = start.elapsed().as_secs_f64() * 1e3;
            log.publish_newest(store).map_err(failed)?;
            let all_ms = start.elapsed().as_secs_f64() * 1e3;
            self.seal_ms.push(all_ms);
            self.publish_ms.push(all_ms - sealed_ms);
        }
        Ok(())
    }
}

impl fmt::Display for Times {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{:.0} ms a slot, {:.0} of them publishing, slowest {:.0} ms; made ready before in {:.0} ms; the largest body {} bytes",
            median(self.seal_ms.clone()),
            median(self.publish_ms.clone()),
            self.seal_ms.iter().copied().fold(0.0, f64::max),
            median(self.ready_ms.clone()),
            self.canonical,
        )
    }
}

/// The size of the first entry's documents, which belong to one of the busiest pools.
fn bytes_of(entries: &[NewEntry]) -> Result<usize, BenchError> {
    let first = entries.first().and_then(|entry| entry.reading.as_ref().ok());
    let documents = first.map(exitgap_core::snapshot::Snapshot::to_canonical);
    let documents = documents.transpose().map_err(failed)?;
    Ok(documents.map_or(0, |documents| documents.snapshot.len() + documents.state.len()))
}

/// The size of the database.
pub fn database_bytes(store: &Store) -> Result<u64, BenchError> {
    Ok(store.reader().totals().map_err(failed)?.database_bytes)
}

/// The total size of a folder's files.
fn weight(folder: &Path) -> Result<u64, BenchError> {
    let mut bytes = 0;
    for file in fs::read_dir(folder).map_err(failed)? {
        let file = file.map_err(failed)?;
        let about = file.metadata().map_err(failed)?;
        bytes += if about.is_dir() { weight(&file.path())? } else { about.len() };
    }
    Ok(bytes)
}

fn failed(error: impl fmt::Display) -> BenchError {
    BenchError::Evidence(error.to_string())
}
