//! The same proof in the npm package: evidence held against it in WebAssembly.

use std::fs;
use std::process::Command;

use exitgap_core::evidence::Base;
use exitgap_core::pools::Direction;
use exitgap_core::snapshot::Snapshot;
use exitgap_core::tlog::SignerKey;
use exitgap_store::{NewEntry, Store};
use serde_json::json;

use super::failed;
use crate::BenchError;
use crate::browser::{answer, install};
use crate::report::Report;

/// Adds `proof.verify_wasm_ms`: reading evidence, and holding it against the proof of a range.
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
    report.add("proof.verify_wasm_ms", told["ms"].as_f64().unwrap_or(f64::NAN));
    Ok(())
}
