//! A log whose first days are closed.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use exitgap_core::ids::BlockHash;
use exitgap_core::log_folder::days::DayManifest;
use exitgap_core::series::{MissingReason, Slot};
use exitgap_store::days::DaysLog;
use exitgap_store::{Changes, LogFolder, NewEntry, NewRetraction, Reader, Store};
use exitgap_tests::binaries;
use serde_json::Value;
use tempfile::TempDir;

use crate::scenes::operator::{config, write_key};
use crate::scenes::store::{BusyPool, key, slot};

/// Number of slots in the log's first day, which begins in the evening.
pub const EVENING: u32 = 20;

/// The slot count after which the second day is closed, too.
pub const CLOSED: u32 = EVENING + 3 * 288;

/// A published store of three pools with the first evening and three days. The second pool retires in the first full
/// day, and the third starts in it. The first has missing slots and logged fills, and one of its slots is retracted a
/// day later.
pub struct Days {
    pub home: TempDir,
    pub pools: [BusyPool; 3],
}

impl Days {
    pub fn new() -> Self {
        let home = TempDir::new().unwrap();
        let mut pools = [1, 2, 3].map(|number| BusyPool::new(number, 4));
        let mut store = Store::create(home.path().join("series.db"), &key()).unwrap();
        for n in 0..CLOSED {
            let at = Self::slot(n);
            let mut changes = Changes::default();
            let mut entries: Vec<NewEntry> = Vec::new();
            let first = pools[0].recorded(at);
            entries.push(if n % 50 == 7 {
                NewEntry { reading: Err(MissingReason::ChainLagging), ..first }
            } else {
                first
            });
            if n < 200 {
                entries.push(pools[1].recorded(at));
            } else if n == 200 {
                changes.retirements = vec![pools[1].id.clone()];
            }
            if n >= 100 {
                entries.push(pools[2].recorded(at));
            }
            if n == 60 {
                changes.fills = vec![pools[0].fills([1_000, 1_010])];
            }
            if n == 70 {
                let (pool, slot) = (pools[0].id.clone(), Self::slot(66));
                changes.retractions =
                    vec![NewRetraction::for_orphan(pool, slot, BlockHash([9; 32]))];
            }
            if n == 310 {
                let (pool, slot) = (pools[0].id.clone(), Self::slot(80));
                changes.retractions =
                    vec![NewRetraction::for_orphan(pool, slot, BlockHash([9; 32]))];
            }
            store.append_slot_with(at, &entries, &changes).unwrap();
        }
        let days = Self { home, pools };
        days.folder().publish(store.reader()).unwrap();
        days
    }

    pub fn slot(n: u32) -> Slot {
        slot(288 - EVENING + n)
    }

    pub fn store(&self) -> PathBuf {
        self.home.path().join("series.db")
    }

    pub fn folder(&self) -> LogFolder {
        LogFolder::new(self.home.path().join("log"))
    }

    pub fn open(&self) -> DaysLog {
        DaysLog::open(self.folder(), &self.store(), vec![key()]).unwrap()
    }

    /// Writes every day that is due; returns the manifests.
    pub fn write(&self) -> Vec<DayManifest> {
        let (days, reader) = (self.open(), Reader::open(self.store()).unwrap());
        let next = || days.write_next(&reader, |_, _| {}).unwrap();
        std::iter::from_fn(next).map(|written| written.manifest).collect()
    }

    pub fn path(&self, file: &str) -> PathBuf {
        self.folder().path().join("days").join(file)
    }

    /// Writes a configuration for this store and log next to them, and the log's key.
    pub fn configure(&self) {
        let home = self.home.path();
        let config = config("series.db", "exitgap.key", "log");
        fs::write(home.join("exitgap.toml"), config).unwrap();
        write_key(&home.join("exitgap.key"), &key());
    }

    /// `exitgap-server days` with this configuration.
    pub fn command(&self) -> Command {
        let mut command = Command::new(binaries::path("exitgap-server"));
        command.args(["days", "--config"]).arg(self.home.path().join("exitgap.toml"));
        command
    }

    pub fn key(&self) -> String {
        let reader = Reader::open(self.store()).unwrap();
        reader.log().unwrap().unwrap().keys[0].to_string()
    }
}

/// Runs `exitgap`; returns exit code, document and error output.
pub fn exitgap(arguments: &[&str]) -> (Option<i32>, Value, String) {
    let output = Command::new(binaries::path("exitgap")).args(arguments).output().unwrap();
    let document = serde_json::from_slice(&output.stdout).unwrap_or(Value::Null);
    (output.status.code(), document, String::from_utf8(output.stderr).unwrap())
}

/// The audit report on a folder with a day or a log.
pub fn audit(folder: &Path, key: &str) -> Value {
    let audited = exitgap(&["audit", folder.to_str().unwrap(), "--trust", key, "--json"]);
    let (code, report, said) = audited;
    let expected = match report["verdict"].as_str() {
        Some("valid") => 0,
        Some("invalid") => 6,
        Some("incomplete") => 7,
        other => panic!("{other:?}: {said}"),
    };
    assert_eq!(code, Some(expected));
    report
}

/// Requires that a day holds, and that nothing of it is unchecked but what needs these: `day_after` of the newest closed day, or
/// the new log of days of a reader who trusts an old key.
pub fn require_held(report: &Value, lacking: &[&str]) {
    let unchecked = report["unchecked"].as_array().unwrap();
    let mut reasons: Vec<&str> =
        unchecked.iter().map(|open| open["reason"].as_str().unwrap()).collect();
    reasons.sort_unstable();
    reasons.dedup();
    assert_eq!(reasons, lacking, "{report}");
    let expected = if lacking.is_empty() { "valid" } else { "incomplete" };
    assert_eq!((report["verdict"].as_str(), &report["fault"]), (Some(expected), &Value::Null));
}

/// The text output of a command.
pub fn exitgap_text(arguments: &[&str]) -> String {
    let output = Command::new(binaries::path("exitgap")).args(arguments).output().unwrap();
    String::from_utf8([output.stdout, output.stderr].concat()).unwrap()
}
