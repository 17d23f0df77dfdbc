//! The npm package `@uniswap/v3-sdk`, in a Node.js process that times itself.

use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::Duration;

use alloy_primitives::U256;
use serde_json::{Value, json};

use super::{Peer, Run};
use crate::BenchError;
use crate::scene::Scene;

/// The environment variable with the folder that contains the package's `node_modules`.
const FOLDER_VARIABLE: &str = "EXITGAP_JS_SDK";

/// A running Node.js process that has loaded the pool.
pub struct JsSdk {
    process: Child,
    to: ChildStdin,
    from: BufReader<ChildStdout>,
}

impl JsSdk {
    pub fn start(scene: &Scene) -> Result<Self, BenchError> {
        let root = Path::new(env!("CARGO_MANIFEST_DIR"));
        let folder = std::env::var_os(FOLDER_VARIABLE)
            .map_or_else(|| root.join("../../.fixtures/js-sdk"), PathBuf::from);
        let modules = folder.join("node_modules");
        if !modules.is_dir() {
            return Err(BenchError::Missing(modules));
        }
        let mut process = Command::new("node")
            .arg(root.join("js/quote.cjs"))
            .env("NODE_PATH", modules)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .map_err(|error| BenchError::Peer(format!("starting `node`: {error}")))?;
        let gone = || BenchError::Peer("node has no pipes".to_owned());
        let to = process.stdin.take().ok_or_else(gone)?;
        let from = BufReader::new(process.stdout.take().ok_or_else(gone)?);
        let mut peer = Self { process, to, from };
        let pool = &scene.pool;
        let ticks: Vec<_> = pool
            .ticks()
            .iter()
            .map(|net| json!([net.tick, net.liquidity_net.to_string()]))
            .collect();
        peer.ask(&json!({
            "fee_pips": pool.fee_pips(),
            "sqrt_price_x96": pool.sqrt_price_x96().to_string(),
            "liquidity": pool.liquidity().to_string(),
            "tick": pool.tick(),
            "ticks": ticks,
        }))?;
        Ok(peer)
    }

    fn ask(&mut self, question: &Value) -> Result<Value, BenchError> {
        let lost = |error: std::io::Error| BenchError::Peer(format!("talking to node: {error}"));
        writeln!(self.to, "{question}").map_err(lost)?;
        let mut answer = String::new();
        self.from.read_line(&mut answer).map_err(lost)?;
        serde_json::from_str(&answer)
            .map_err(|error| BenchError::Peer(format!("node answered {answer:?}: {error}")))
    }
}

impl Peer for JsSdk {
    fn name(&self) -> &'static str {
        "js_sdk"
    }

    fn run(&mut self, amounts: &[U256], repeats: u32) -> Result<Run, BenchError> {
        let texts: Vec<String> = amounts.iter().map(U256::to_string).collect();
        let answer = self.ask(&json!({"amounts": texts, "repeats": repeats}))?;
        let strange = || BenchError::Peer(format!("node answered {answer}"));
        let outputs = answer["outputs"].as_array().ok_or_else(strange)?;
        let amounts_out = outputs
            .iter()
            .map(|output| output.as_str()?.parse().ok())
            .collect::<Option<Vec<U256>>>()
            .ok_or_else(strange)?;
        let nanoseconds = answer["nanoseconds"].as_u64().ok_or_else(strange)?;
        Ok(Run { took: Duration::from_nanos(nanoseconds), amounts_out })
    }
}

impl Drop for JsSdk {
    fn drop(&mut self) {
        // It ends when its input does; this does not wait for that.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
