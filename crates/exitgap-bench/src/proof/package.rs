//! The same proof in the npm package: checking evidence against it in WebAssembly, and the package's size.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use exitgap_core::evidence::Base;
use exitgap_core::pools::Direction;
use exitgap_core::snapshot::Snapshot;
use exitgap_core::tlog::SignerKey;
use exitgap_store::{NewEntry, Store};
use flate2::Compression;
use flate2::write::GzEncoder;
use serde_json::json;

use super::failed;
use crate::BenchError;
use crate::browser::{answer, install};
use crate::report::Report;

/// Adds `proof.verify_wasm_ms`: parsing evidence, extracting its claim, and checking that against the proof of a range;
/// `proof.claim_wasm_ms` and `proof.claim_bytes` for the first two; and the numbers of [`weights`].
pub fn measure(report: &mut Report, snapshot: &Snapshot, proof: &[u8]) -> Result<(), BenchError> {
    let folder = install("proof", &["verify.mjs"])?;
    let key = SignerKey::from_seed("bench.example/exits", [6; 32]).map_err(failed)?;
    let mut store = Store::create(folder.path().join("series.db"), &key).map_err(failed)?;
    let (pool, slot) = (snapshot.observation().pool().clone(), snapshot.slot());
    let default_base = Direction::ZeroForOne;
    let entry = NewEntry { pool: pool.clone(), default_base, reading: Ok(snapshot.clone()) };
    store.append_slot(slot, &[entry]).map_err(failed)?;
    let size = "1".parse().map_err(failed)?;
    let evidence = store.reader().evidence(&pool, Base::Token0, slot, size).map_err(failed)?;
    fs::write(folder.path().join("evidence.json"), evidence).map_err(failed)?;
    fs::write(folder.path().join("state.egp"), proof).map_err(failed)?;
    let told = answer(Command::new("node").arg("verify.mjs").current_dir(folder.path()))?;
    let passed = json!(["header ok", "pool_state ok", "oracle_state ok"]);
    if told["codes"] != passed {
        return Err(failed(format!("in WebAssembly it does not pass: {told}")));
    }
    let number = |name: &str| told[name].as_f64().unwrap_or(f64::NAN);
    report.add("proof.verify_wasm_ms", number("ms"));
    report.add("proof.claim_wasm_ms", number("claimMs"));
    report.add("proof.claim_bytes", number("claimBytes"));
    weights(report)
}

/// Adds `proof.wasm_gzip_added_bytes`, the increase of the package's main module and its interface through state
/// proofs, compared with a build without them; and `proof.module_gzip_bytes`, the size of the module of `exitgap/proof`
/// with its scripts, which only that entry loads.
fn weights(report: &mut Report) -> Result<(), BenchError> {
    let folder = |name: &str| {
        let told = std::env::var_os(name).map(PathBuf::from);
        told.ok_or_else(|| failed(format!("{name} is not set: `cargo xtask bench proof` sets it")))
    };
    let (package, without) = (folder("EXITGAP_PKG")?, folder("EXITGAP_WITHOUT_PROOF")?);
    let main = ["exitgap.js", "exitgap_bg.wasm"];
    let dist = package.join("dist");
    let (whole, less) = (gzip(&dist, &main)?, gzip(&without, &main)?);
    let added = f64::from(u32::try_from(whole).unwrap_or(u32::MAX))
        - f64::from(u32::try_from(less).unwrap_or(u32::MAX));
    report.add("proof.wasm_gzip_added_bytes", added);
    let own = gzip(&dist, &["proof.js", "proof_bg.wasm"])?;
    let own = own + gzip(&package, &["proof.js", "state.js"])?;
    report.add("proof.module_gzip_bytes", super::float(own as u64));
    Ok(())
}

/// The gzip size of files in a folder, each compressed separately.
fn gzip(folder: &Path, names: &[&str]) -> Result<usize, BenchError> {
    let mut all = 0;
    for name in names {
        let path = folder.join(name);
        let bytes =
            fs::read(&path).map_err(|error| failed(format!("{}: {error}", path.display())))?;
        let mut packed = GzEncoder::new(Vec::new(), Compression::best());
        packed.write_all(&bytes).map_err(failed)?;
        all += packed.finish().map_err(failed)?.len();
    }
    Ok(all)
}
