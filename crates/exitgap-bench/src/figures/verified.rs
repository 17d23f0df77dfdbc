//! Recomputes a week's figure file from its snapshots.

use std::collections::BTreeMap;
use std::fs;

use exitgap_core::analytics::figure::{FigureVerifier, FigureWant};
use exitgap_core::evidence::Verdict;
use exitgap_core::series::Slot;
use exitgap_core::tlog::{SignerKey, VerifierKey};
use exitgap_store::Reader;
use serde_json::json;

use super::{failed, milliseconds};
use crate::BenchError;
use crate::browser;

/// Number of slots per page of snapshots, as a service returns them.
const PAGE: u32 = 96;

/// A file, with the source of its inputs.
pub struct File<'a> {
    reader: &'a Reader,
    key: VerifierKey,
    bytes: Vec<u8>,
}

impl<'a> File<'a> {
    pub fn new(reader: &'a Reader, key: &SignerKey, bytes: Vec<u8>) -> Result<Self, BenchError> {
        let log = reader.log().map_err(failed)?.ok_or_else(|| failed("there is no log"))?;
        let key = key.with_name(&log.origin.to_string()).map_err(failed)?.verifier();
        Ok(Self { reader, key, bytes })
    }

    /// Recomputes it natively, from the store.
    pub fn natively_ms(&self) -> Result<f64, BenchError> {
        milliseconds(|| -> Result<(), BenchError> {
            let mut verifier = FigureVerifier::new(&self.bytes, core::slice::from_ref(&self.key));
            while let Some(FigureWant::Snapshot(wanted)) = verifier.next_want() {
                let documents = self.reader.documents(wanted.snapshot).map_err(failed)?;
                verifier.add_snapshot(documents.as_ref());
            }
            match verifier.finish().verdict {
                Verdict::Valid => Ok(()),
                verdict => Err(failed(format!("the file is {verdict:?}"))),
            }
        })
    }

    /// Recomputes it in Chromium with the npm package, downloading every page of snapshots.
    pub fn in_browser_ms(&self) -> Result<f64, BenchError> {
        let folder = browser::install("figures", &["figure.html", "page.js"])?;
        let at = |name: String| folder.path().join(name);
        fs::write(at("figure.json".to_owned()), &self.bytes).map_err(failed)?;
        let keys = json!({ "keys": [self.key.to_string()] });
        fs::write(at("question.json".to_owned()), keys.to_string()).map_err(failed)?;
        let figure: serde_json::Value = serde_json::from_slice(&self.bytes).map_err(failed)?;
        let uses = figure["uses"].as_array().ok_or_else(|| failed("the file uses nothing"))?;
        let mut pages: BTreeMap<&str, u64> = BTreeMap::new();
        let mut bytes = 0;
        for one in uses {
            let named = one["pool"].as_str().unwrap_or_default();
            let slot = one["slot"].as_u64().unwrap_or_default();
            // The page that begins with the pool's slot before this one may have this one, too.
            if slot < pages.get(named).copied().unwrap_or_default() {
                continue;
            }
            let pool = named.parse().map_err(failed)?;
            let from = Slot::new(slot).map_err(failed)?;
            let to = Slot::new(slot + u64::from(PAGE) - 1).map_err(failed)?;
            let lines = self.reader.snapshot_lines(&pool, from, to, usize::MAX).map_err(failed)?;
            bytes += lines.len();
            let name = named.replace(':', "-");
            fs::write(at(format!("{name}-{slot}.ndjson")), lines).map_err(failed)?;
            pages.insert(named, slot + u64::from(PAGE));
        }
        let found = browser::shown(folder.path(), "figure.html")?;
        if found["verdict"] != "valid" {
            return Err(failed(format!("the browser answers otherwise: {found}")));
        }
        eprintln!("figures: in Chromium, {} MB of snapshots: {found}", bytes / 1_000_000);
        found["verify_ms"].as_f64().ok_or_else(|| failed("the page told no time"))
    }
}
