//! Evidence: the size of a file and of a week's window, the time to verify them, and the size of the verifier in a
//! browser.

use std::io::Write;
use std::path::Path;
use std::process::Command;

use exitgap_core::evidence::{Base, HeadWindow, LOWEST_DEPTH_SLOTS, Policy, Verdict, verify};
use exitgap_core::series::Slot;
use exitgap_core::tlog::{SignerKey, VerifierKey};
use exitgap_store::Store;
use flate2::Compression;
use flate2::write::GzEncoder;

use crate::BenchError;
use crate::clock::nanoseconds;
use crate::effort::Effort;
use crate::market::BusyPool;
use crate::report::Report;

/// A week.
const SLOTS: Effort<u32> = Effort::new(LOWEST_DEPTH_SLOTS, 12);

/// Adds `evidence.*` except `evidence.cold_ms`, and `verify_wasm.gzip_bytes`.
pub fn measure(report: &mut Report) -> Result<(), BenchError> {
    weigh_module(report)?;
    files(report)
}

/// A pool of 1,200 ticks after seven days, for verification.
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
    for index in 0..SLOTS.get() {
        let slot = slot(index)?;
        store.append_slot(slot, &[pool.recorded(slot)?]).map_err(failed)?;
    }
    let (reader, last) = (store.reader(), slot(SLOTS.get() - 1)?);
    let size = "250000".parse().map_err(failed)?;
    let file = reader.evidence(&pool.id, Base::Token0, last, size).map_err(failed)?;
    let window = reader.window(&pool.id, last).map_err(failed)?;
    let log = reader.log().map_err(failed)?;
    let mut log = log.ok_or_else(|| BenchError::Evidence("the store has no log".to_owned()))?;
    Ok(Week { file, window, key: log.keys.remove(0) })
}

/// Measures the size of the week's file and window, and the time to verify them.
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

    let mut policy = Policy::with_keys(vec![key]);
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

/// Measures the module that `cargo xtask bench` built, after checking that it agrees on every shared vector.
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

/// The size after `gzip -9`: published files never change and are compressed once.
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
