//! Evidence: what a file and a week's window weigh, how long verifying, sealing and fsck take,
//! and what the store and the verifier in a browser weigh. Everything on disk is synced as it is
//! in production.

use std::io::Write;
use std::path::Path;
use std::process::Command;
use std::time::Instant;

use exitgap_core::evidence::{Base, HeadWindow, LOWEST_DEPTH_SLOTS, Policy, Verdict, verify};
use exitgap_core::series::Slot;
use exitgap_core::tlog::{SignerKey, VerifierKey};
use exitgap_store::{LogFolder, Store};
use flate2::Compression;
use flate2::write::GzEncoder;
use tempfile::TempDir;

use crate::BenchError;
use crate::clock::{median, nanoseconds};
use crate::market::BusyPool;
use crate::report::Report;

/// Slots before measuring: the first ones hold whole records of every pool.
const WARMING: u32 = 2;

/// Slots measured with 100 pools: one round of the store's levels of records.
const SLOTS: u32 = 48;

/// Slots measured with 1,000 pools.
const SLOTS_OF_MANY: u32 = 5;

/// Adds `evidence.*`, `seal.*`, `store.bytes_per_slot_pool`, `fsck.slots_per_s` and
/// `verify_wasm.gzip_bytes`.
pub fn measure(report: &mut Report) -> Result<(), BenchError> {
    weigh_module(report)?;
    files(report)?;
    let hundred = Sealed::new(100, SLOTS)?;
    report.add("seal.100_pools_ms", median(hundred.seal_ms));
    report.add("store.bytes_per_slot_pool", hundred.bytes_per_slot_pool);
    report.add("fsck.slots_per_s", hundred.fsck_slots_per_s);
    let thousand = Sealed::new(1_000, SLOTS_OF_MANY)?;
    report.add("seal.1000_pools_ms", median(thousand.seal_ms));
    Ok(())
}

/// A pool of 1,200 ticks after seven days: what is verified.
pub struct Week {
    /// An evidence file of its last slot.
    pub file: Vec<u8>,
    /// The heads of all seven days.
    pub window: HeadWindow,
    /// The log's key.
    pub key: VerifierKey,
}

/// Records that week.
pub fn week() -> Result<Week, BenchError> {
    eprintln!("evidence: recording a week of one pool of 1,200 ticks");
    let folder = tempfile::tempdir().map_err(failed)?;
    let mut store = Store::create(folder.path().join("series.db"), &key()?).map_err(failed)?;
    let mut pool = BusyPool::new(0);
    for index in 0..LOWEST_DEPTH_SLOTS {
        let slot = slot(index)?;
        store.append_slot(slot, &[pool.recorded(slot)?]).map_err(failed)?;
    }
    let (reader, last) = (store.reader(), slot(LOWEST_DEPTH_SLOTS - 1)?);
    let size = "250000".parse().map_err(failed)?;
    let file = reader.evidence(&pool.id, Base::Token0, last, size).map_err(failed)?;
    let window = reader.window(&pool.id, last).map_err(failed)?;
    let log = reader.log().map_err(failed)?;
    let log = log.ok_or_else(|| BenchError::Evidence("the store has no log".to_owned()))?;
    Ok(Week { file, window, key: log.verifier })
}

/// What the week's file and window weigh, and verifying them.
fn files(report: &mut Report) -> Result<(), BenchError> {
    let Week { file, window, key } = week()?;
    let depths: std::collections::BTreeSet<_> =
        window.heads().iter().map(|(head, _)| format!("{:?}", head.entry)).collect();
    eprintln!("evidence: {} different heads in the window", depths.len());
    let window = window.to_canonical().map_err(failed)?;
    report.add("evidence.file_bytes", float(file.len() as u64));
    report.add("evidence.file_gzip_bytes", gzip_bytes(&file)?);
    report.add("evidence.window_gzip_bytes", gzip_bytes(&window)?);
    eprintln!("evidence: the window has {} bytes", window.len());

    let mut policy = Policy::trusting(vec![key]);
    for key in ["evidence.verify_ms", "evidence.verify_window_ms"] {
        let found = verify(&file, &policy);
        if found.verdict != Verdict::Valid {
            return Err(BenchError::Evidence(format!("{key}: not valid: {found:?}")));
        }
        report.add(key, nanoseconds(|| verify(&file, &policy)) / 1e6);
        policy.window = Some(window.clone());
    }
    Ok(())
}

/// A store of many pools, and what sealing it took.
struct Sealed {
    seal_ms: Vec<f64>,
    bytes_per_slot_pool: f64,
    fsck_slots_per_s: f64,
}

impl Sealed {
    /// Seals slots of `pools` pools of 1,200 ticks: all that follows once the snapshots are
    /// read, up to the published checkpoint.
    fn new(pools: u16, slots: u32) -> Result<Self, BenchError> {
        eprintln!("evidence: sealing {slots} slots of {pools} pools of 1,200 ticks");
        let folder = tempfile::tempdir().map_err(failed)?;
        let log = LogFolder::new(folder.path().join("log"));
        let mut store = Store::create(folder.path().join("series.db"), &key()?).map_err(failed)?;
        let mut market: Vec<BusyPool> = (0..pools).map(BusyPool::new).collect();
        let (mut seal_ms, mut before) = (Vec::new(), 0);
        for index in 0..WARMING + slots {
            let slot = slot(index)?;
            let entries = market.iter_mut().map(|pool| pool.recorded(slot));
            let entries = entries.collect::<Result<Vec<_>, _>>()?;
            if index == WARMING {
                before = database_bytes(&store)?;
                seal_ms.clear();
            }
            let start = Instant::now();
            store.append_slot(slot, &entries).map_err(failed)?;
            log.publish(store.reader()).map_err(failed)?;
            seal_ms.push(start.elapsed().as_secs_f64() * 1e3);
        }
        let grown = float(database_bytes(&store)? - before);
        let bytes_per_slot_pool = grown / f64::from(slots) / f64::from(pools);
        print_published(&folder, WARMING + slots, pools);
        let start = Instant::now();
        let checked = store.reader().fsck(|_| {}).map_err(failed)?;
        let fsck_slots_per_s = float(checked.slots) / start.elapsed().as_secs_f64();
        Ok(Self { seal_ms, bytes_per_slot_pool, fsck_slots_per_s })
    }
}

fn database_bytes(store: &Store) -> Result<u64, BenchError> {
    Ok(store.reader().totals().map_err(failed)?.database_bytes)
}

/// The bundles beside the store hold every snapshot again.
fn print_published(folder: &TempDir, slots: u32, pools: u16) {
    let bundles = std::fs::read_dir(folder.path().join("log/bundles")).into_iter().flatten();
    let bytes: u64 = bundles.flatten().filter_map(|file| Some(file.metadata().ok()?.len())).sum();
    let each = float(bytes) / f64::from(slots) / f64::from(pools);
    eprintln!("evidence: the published bundles have {each:.0} bytes per slot and pool");
}

/// The module that `cargo xtask bench` built, once it agrees on every shared vector.
fn weigh_module(report: &mut Report) -> Result<(), BenchError> {
    let module = std::env::var_os("EXITGAP_VERIFY_WASM").ok_or(BenchError::NoModule)?;
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let output = Command::new("node")
        .arg(here.join("js/verify.cjs"))
        .arg(&module)
        .arg(here.join("../../tests/vectors/evidence"))
        .output()
        .map_err(|error| BenchError::Evidence(format!("starting node: {error}")))?;
    let found: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap_or_default();
    if found["disagreeing"] != 0 || found["compared"].as_u64().is_none_or(|vectors| vectors == 0) {
        let words = String::from_utf8_lossy(&output.stderr);
        return Err(BenchError::Evidence(format!("the WASM module disagrees: {found}\n{words}")));
    }
    eprintln!("evidence: the WASM module agrees on {} vectors", found["compared"]);
    let bytes = std::fs::read(&module).map_err(failed)?;
    eprintln!("evidence: the WASM module has {} bytes", bytes.len());
    report.add("verify_wasm.gzip_bytes", gzip_bytes(&bytes)?);
    Ok(())
}

/// The length as `gzip -9` makes it: what is published never changes and is compressed once.
pub fn gzip_bytes(bytes: &[u8]) -> Result<f64, BenchError> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(bytes).map_err(failed)?;
    Ok(float(encoder.finish().map_err(failed)?.len() as u64))
}

/// The slot of this index in the series.
pub fn slot(index: u32) -> Result<Slot, BenchError> {
    Slot::new(u64::from(Slot::FIRST.number() + index)).map_err(failed)
}

fn key() -> Result<SignerKey, BenchError> {
    SignerKey::from_seed("exitgap.example/bench", [7; 32]).map_err(failed)
}

/// A count as a measured number.
pub fn float(number: u64) -> f64 {
    f64::from(u32::try_from(number).unwrap_or(u32::MAX))
}

fn failed(error: impl std::fmt::Display) -> BenchError {
    BenchError::Evidence(error.to_string())
}
