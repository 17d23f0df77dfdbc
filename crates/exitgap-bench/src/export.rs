//! Closed days: writing them from a store, checking them by their hashes and by their rows, and reading one old slot.

use std::path::{Path, PathBuf};
use std::time::Instant;

use exitgap_core::log_folder::days::{DayFile, DayManifest};
use exitgap_core::series::Slot;
use exitgap_core::tlog::SignerKey;
use exitgap_store::days::{AuditError, DayFolder, DaysLog, PublishedDays, audit_day};
use exitgap_store::{LogFolder, Reader, Store};

use crate::BenchError;
use crate::clock::median;
use crate::effort::Effort;
use crate::evidence::{float, slot};
use crate::market::{BUSY_TICKS, BusyPool};
use crate::report::Report;

/// Pools of the day.
const POOLS: Effort<u16> = Effort::new(100, 2);

/// Number of rounds for fast operations.
const ROUNDS: Effort<u32> = Effort::new(9, 1);

/// Adds `export.*`.
pub fn measure(report: &mut Report) -> Result<(), BenchError> {
    let slots = Slot::PER_DAY;
    eprintln!("export: a day of {POOLS} pools of {BUSY_TICKS} ticks");
    let home = tempfile::tempdir().map_err(failed)?;
    let path = home.path().join("series.db");
    let log = LogFolder::new(home.path().join("log"));
    let key = SignerKey::from_seed("exitgap.example/bench", [7; 32]).map_err(failed)?;
    let mut store = Store::create(&path, &key).map_err(failed)?;
    let mut market: Vec<BusyPool> =
        (0..POOLS.get()).map(|number| BusyPool::real(number, BUSY_TICKS)).collect();
    for index in 0..slots {
        let slot = slot(index)?;
        let entries = market.iter_mut().map(|pool| pool.recorded(slot));
        let entries = entries.collect::<Result<Vec<_>, _>>()?;
        store.append_slot(slot, &entries).map_err(failed)?;
    }
    // The next day closes it; nothing is recorded on that day.
    store.fill_until(slot(2 * slots + 1)?).map_err(failed)?;
    log.publish(store.reader()).map_err(failed)?;
    store.close().map_err(failed)?;

    let days = DaysLog::open(log.clone(), &path, vec![key]).map_err(failed)?;
    let reader = Reader::open(&path).map_err(failed)?;
    let start = Instant::now();
    let written = days.write_next(&reader, |_, _| {}).map_err(failed)?;
    let manifest = written.ok_or_else(|| failed("no day was closed"))?.manifest;
    let rows = float(manifest.rows());
    report.add("export.write_rows_per_s", rows / start.elapsed().as_secs_f64());
    let bytes_of = |which: fn(&DayFile) -> bool| {
        let files = manifest.files.iter().filter(|file| which(&file.file));
        float(files.map(|file| file.bytes).sum::<u64>())
    };
    let snapshots = bytes_of(|file| matches!(file, DayFile::Snapshots(_)));
    report.add("export.bytes_per_snapshot", snapshots / rows);
    report.add(
        "export.figures_bytes_per_row",
        bytes_of(|file| matches!(file, DayFile::Figures(_))) / rows,
    );
    let day = log.path().join("days").join(manifest.day.to_string());
    report.add("export.verify_rows_per_s", rows / median_s(|| by_hash(&log, &day))?);
    let start = Instant::now();
    let audited = audit_day(&DayFolder::new(&day), None, |_, _| {}).map_err(failed)?;
    if audited.fault.is_some() || audited.counts.heads != manifest.rows() {
        return Err(failed(format!("the day does not hold: {:?}", audited.fault)));
    }
    report.add("export.audit_rows_per_s", rows / start.elapsed().as_secs_f64());
    let at = slot(slots / 2)?;
    let read = || {
        let folder = DayFolder::new(&day);
        let pool = &market[usize::from(POOLS.get() / 2)].id;
        let entry = folder.entry(&manifest, pool, at).map_err(stopped)?;
        entry.and_then(|entry| entry.documents).map(|_| ()).ok_or_else(|| failed("no such slot"))
    };
    report.add("export.read_slot_ms", median_s(read)? * 1e3);
    Ok(())
}

/// Checks a day as a client would after downloading it: the log of days, the manifest, each file.
fn by_hash(log: &LogFolder, day: &Path) -> Result<(), BenchError> {
    let days = PublishedDays::from_folder(log).map_err(failed)?.ok_or_else(|| failed("no days"))?;
    let leaf = days.history.leaves.first().ok_or_else(|| failed("no day"))?;
    let manifest: DayManifest = days.manifest(leaf).map_err(failed)?;
    let folder = DayFolder::new(PathBuf::from(day));
    manifest.files.iter().try_for_each(|file| folder.check_hash(file).map_err(stopped))
}

fn median_s(mut work: impl FnMut() -> Result<(), BenchError>) -> Result<f64, BenchError> {
    let mut seconds = Vec::new();
    for _ in 0..ROUNDS.get() {
        let start = Instant::now();
        work()?;
        seconds.push(start.elapsed().as_secs_f64());
    }
    Ok(median(seconds))
}

fn stopped(stopped: AuditError) -> BenchError {
    match stopped {
        AuditError::Fault(fault) => failed(fault.detail),
        AuditError::Machine(error) => failed(error),
    }
}

fn failed(error: impl std::fmt::Display) -> BenchError {
    BenchError::Evidence(error.to_string())
}
