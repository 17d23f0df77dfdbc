//! The npm package: its size compared with a light client's, and how fast it starts, verifies and quotes, in Node.js
//! and in Chromium, compared with `@uniswap/v3-sdk` and native code.

use std::fs;
use std::path::Path;
use std::process::Command;

use exitgap_core::evidence::{Policy, Verdict, verify};
use exitgap_core::ids::{Address, BlockHash};
use exitgap_core::pools::PoolState;
use exitgap_core::snapshot::{
    BlockRef, ChainKind, ChainTag, Observation, OracleReading, OracleRole, OracleSource, Snapshot,
    Symbol, Token,
};
use serde_json::{Value, json};

use crate::BenchError;
use crate::browser::{self, answer, named};
use crate::clock::nanoseconds;
use crate::evidence::{Week, float, slot, week};
use crate::peers::Peer;
use crate::peers::js_sdk::JsSdk;
use crate::report::Report;
use crate::scene::{SIZES, Scene};

/// Numbers of initialised ticks that the measured quotes cross.
const TICKS: [u32; 3] = [1, 10, 100];

/// Adds `pkg.*`, `peer.*` and `wasm.*`.
pub fn measure(report: &mut Report) -> Result<(), BenchError> {
    let package = named("EXITGAP_PKG")?;
    weigh(&package, report)?;
    let folder = browser::install("wasm", &["measure.mjs", "measure.html", "page.js"])?;
    let scene = Scene::new()?;
    let week = week()?;
    let asked = question(&scene, &week)?;
    fs::write(folder.path().join("question.json"), asked.to_string()).map_err(failed)?;
    let node = answer(Command::new("node").arg("measure.mjs").current_dir(folder.path()))?;
    let chromium = browser::shown(folder.path(), "measure.html")?;
    for (name, found) in [("Node.js", &node), ("Chromium", &chromium)] {
        if found["outputs"] != asked["outputs"] || found["verdicts"] != json!(["valid", "valid"]) {
            return Err(BenchError::Wasm(format!("{name} answers otherwise: {found}")));
        }
        eprintln!("wasm: in {name}: {}", found["measured"]);
    }
    // The slower of the two counts.
    let slower = |key: &str| {
        let of = |found: &Value| found["measured"][key].as_f64().unwrap_or(f64::NAN);
        of(&node).max(of(&chromium))
    };
    for key in ["init_ms", "verify_ms", "verify_window_ms"] {
        report.add(format!("wasm.{key}"), slower(key));
    }
    let mut peer = JsSdk::start(&scene)?;
    for (index, ticks) in TICKS.into_iter().enumerate() {
        let ours = node["measured"]["quote_ns"][index].as_f64().unwrap_or(f64::NAN);
        report.add(format!("wasm.quote.{ticks}.ours_ns"), ours);
        report.add(format!("wasm.quote.{ticks}.js_sdk_ns"), peer_ns(&mut peer, &scene, ticks)?);
    }
    let policy = Policy::with_keys(vec![week.key.clone()]);
    if verify(&week.file, &policy).verdict != Verdict::Valid {
        return Err(BenchError::Wasm("the native code finds the file not valid".to_owned()));
    }
    let native = nanoseconds(|| verify(&week.file, &policy)) / 1e6;
    report.add("wasm.native_ratio", slower("verify_ms") / native);
    Ok(())
}

fn weigh(package: &Path, report: &mut Report) -> Result<(), BenchError> {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("js/wasm/weigh.mjs");
    let mut weigh = Command::new("node");
    weigh.arg(script).arg(package);
    for variable in ["EXITGAP_HELIOS", "EXITGAP_JS_SDK", "EXITGAP_NPM_TOOLS"] {
        weigh.arg(named(variable)?);
    }
    let weighed = answer(&mut weigh)?;
    for (key, bytes) in weighed.as_object().into_iter().flatten() {
        report.add(key.clone(), bytes.as_f64().unwrap_or(f64::NAN));
    }
    let packed = Command::new("npm")
        .args(["pack", "--dry-run", "--json", "--ignore-scripts"])
        .current_dir(package)
        .output()
        .map_err(failed)?;
    let packed: Value = serde_json::from_slice(&packed.stdout).map_err(failed)?;
    let unpacked = find(&packed, "unpackedSize");
    report.add("pkg.unpacked_bytes", float(unpacked.unwrap_or_default()));
    Ok(())
}

/// The first number with this name; npm versions nest it differently.
fn find(value: &Value, name: &str) -> Option<u64> {
    match value {
        Value::Object(fields) => fields
            .get(name)
            .and_then(Value::as_u64)
            .or_else(|| fields.values().find_map(|field| find(field, name))),
        Value::Array(items) => items.iter().find_map(|item| find(item, name)),
        _ => None,
    }
}

/// The input of both runs, with the amounts that the contract pays.
fn question(scene: &Scene, week: &Week) -> Result<Value, BenchError> {
    let (mut amounts, mut outputs) = (Vec::new(), Vec::new());
    for ticks in TICKS {
        let asked = scene.amounts(ticks)?;
        let paid = scene.amounts_out(&asked)?;
        let texts = |list: Vec<alloy_primitives::U256>| -> Vec<String> {
            list.iter().map(ToString::to_string).collect()
        };
        amounts.push(texts(asked));
        outputs.push(texts(paid));
    }
    let window = week.window.to_canonical().map_err(failed)?;
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).map_err(failed);
    Ok(json!({
        "snapshot": text(snapshot(scene)?)?,
        "evidence": text(week.file.clone())?,
        "window": text(window)?,
        "keys": [week.key.to_string()],
        "amounts": amounts,
        "outputs": outputs,
    }))
}

/// A snapshot of the scene's pool, with both tokens worth a dollar.
fn snapshot(scene: &Scene) -> Result<Vec<u8>, BenchError> {
    let slot = slot(0)?;
    let timestamp = slot.unix_s() - 4;
    let token = |last: u8, symbol| Token {
        address: Address([last; 20]),
        decimals: 18,
        symbol: Symbol::clean(symbol),
    };
    let reading = |role| OracleReading {
        role,
        answer: alloy_primitives::U256::from(1),
        decimals: 0,
        source: OracleSource::Fixed,
    };
    let observation = Observation::new(
        format!("anvil:0x{}", "ab".repeat(20)).parse().map_err(failed)?,
        ChainTag { caip2: "eip155:31337".parse().map_err(failed)?, kind: ChainKind::Preview },
        BlockRef { hash: BlockHash([9; 32]), number: 1, timestamp },
        [token(1, "T0"), token(2, "T1")],
        PoolState::Concentrated(scene.pool.clone()),
        vec![reading(OracleRole::TokenUsd(0)), reading(OracleRole::TokenUsd(1))],
        Vec::new(),
    );
    let snapshot = Snapshot::new(slot, observation.map_err(failed)?).map_err(failed)?;
    let pool = snapshot.observation().pool();
    snapshot.to_canonical().map_err(failed)?.to_file(pool).map_err(failed)
}

/// Nanoseconds per quote of the npm peer: the median of five batches of about 100 ms.
fn peer_ns(peer: &mut JsSdk, scene: &Scene, ticks: u32) -> Result<f64, BenchError> {
    let amounts = scene.amounts(ticks)?;
    let expected = scene.amounts_out(&amounts)?;
    let mut batch = |repeats: u32| {
        let run = peer.run(&amounts, repeats)?;
        if run.amounts_out != expected {
            return Err(BenchError::Different { peer: "js_sdk", what: ticks.to_string() });
        }
        Ok(run.took.as_secs_f64() * 1e9 / f64::from(repeats) / f64::from(SIZES))
    };
    let cold = batch(3)?;
    let repeats = (1e8 / (cold * f64::from(SIZES))).clamp(1.0, 1_000.0);
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "1 to 1,000")]
    let repeats = repeats as u32;
    let rounds = (0..5).map(|_| batch(repeats)).collect::<Result<Vec<_>, _>>()?;
    Ok(crate::clock::median(rounds))
}

fn failed(error: impl std::fmt::Display) -> BenchError {
    BenchError::Wasm(error.to_string())
}
