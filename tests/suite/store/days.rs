//! Closed days as Parquet: written out of a store, committed to by a log of their own, audited by themselves, exported.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use exitgap_core::evidence::Head;
use exitgap_core::ids::BlockHash;
use exitgap_core::published::days::DayManifest;
use exitgap_core::series::{MissingReason, Slot};
use exitgap_core::tlog::SignerKey;
use exitgap_store::days::{DaysError, DaysLog};
use exitgap_store::{Changes, Gap, LogFolder, NewEntry, NewRetraction, Reader, Store};
use exitgap_tests::{binaries, fixtures};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::scenes::store::{BusyPool, key, slot};

/// Slots that the log's first day has: it begins in the evening.
const EVENING: u32 = 20;

/// The slots after which the second day is closed, too.
const CLOSED: u32 = EVENING + 3 * 288;

/// A store of three pools over the first evening and three days, published: the second pool retires in the whole day, the
/// third begins in it; the first misses slots, logged fills, and one of its slots is taken back a day later.
pub struct Days {
    home: TempDir,
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
                changes.retractions = vec![NewRetraction::orphaned(pool, slot, BlockHash([9; 32]))];
            }
            if n == 310 {
                let (pool, slot) = (pools[0].id.clone(), Self::slot(80));
                changes.retractions = vec![NewRetraction::orphaned(pool, slot, BlockHash([9; 32]))];
            }
            store.append_slot_with(at, &entries, &changes).unwrap();
        }
        let days = Self { home, pools };
        days.folder().publish(store.reader()).unwrap();
        days
    }

    fn slot(n: u32) -> Slot {
        slot(288 - EVENING + n)
    }

    fn store(&self) -> PathBuf {
        self.home.path().join("series.db")
    }

    fn folder(&self) -> LogFolder {
        LogFolder::new(self.home.path().join("log"))
    }

    fn open(&self) -> DaysLog {
        DaysLog::open(self.folder(), &self.store(), vec![key()]).unwrap()
    }

    /// Writes every day that is due; their manifests.
    pub fn write(&self) -> Vec<DayManifest> {
        let (days, reader) = (self.open(), Reader::open(self.store()).unwrap());
        let next = || days.write_next(&reader, |_, _| {}).unwrap();
        std::iter::from_fn(next).map(|written| written.manifest).collect()
    }

    fn path(&self, file: &str) -> PathBuf {
        self.folder().path().join("days").join(file)
    }

    fn key(&self) -> String {
        let reader = Reader::open(self.store()).unwrap();
        reader.log().unwrap().unwrap().keys[0].to_string()
    }
}

/// What a command says, and its exit code.
fn exitgap(arguments: &[&str]) -> (Option<i32>, Value, String) {
    let output = Command::new(binaries::path("exitgap")).args(arguments).output().unwrap();
    let document = serde_json::from_slice(&output.stdout).unwrap_or(Value::Null);
    (output.status.code(), document, String::from_utf8(output.stderr).unwrap())
}

fn audit(day: &Path, key: &str) -> Value {
    let (code, report, said) = exitgap(&["audit", day.to_str().unwrap(), "--trust", key, "--json"]);
    let expected = match report["verdict"].as_str() {
        Some("valid") => 0,
        Some("invalid") => 6,
        Some("incomplete") => 7,
        other => panic!("{other:?}: {said}"),
    };
    assert_eq!(code, Some(expected));
    report
}

#[test]
fn closed_days_are_written_audited_by_themselves_and_exported() {
    let days = Days::new();
    let manifests = days.write();
    let names: Vec<String> = manifests.iter().map(|manifest| manifest.day.to_string()).collect();
    assert_eq!(names, ["2026-08-22", "2026-08-23", "2026-08-24"]);
    assert_eq!((manifests[0].slots(), manifests[0].pools(), manifests[0].rows()), (20, 2, 40));
    // The retired one has its last row, the new one no row before its first.
    assert_eq!(manifests[1].rows(), 288 + 181 + 208);
    // Nothing is due twice, and what is written is what the log of days has.
    assert!(days.write().is_empty());

    let key = days.key();
    for (manifest, [heads, snapshots, retracted]) in
        manifests.iter().zip([[40, 39, 0], [677, 670, 1], [576, 571, 1]])
    {
        let report = audit(&days.path(&manifest.day.to_string()), &key);
        assert_eq!(report["verdict"], "valid", "{report}");
        let found = ["heads", "snapshots", "retracted"].map(|name| report[name].as_u64().unwrap());
        assert_eq!(found, [heads, snapshots, retracted], "{report}");
    }
    // By the manifest's own key it is not known whose it is.
    let (code, report, _) =
        exitgap(&["audit", days.path("2026-08-23").to_str().unwrap(), "--json"]);
    assert_eq!((code, &report["verdict"]), (Some(7), &"incomplete".into()));

    // Fetched again elsewhere, of one pool only: as few files as have it, and they say so.
    let out = TempDir::new().unwrap();
    let [log, out_path] = [days.folder().path().to_owned(), out.path().to_owned()];
    let [log, out_path] = [log.to_str().unwrap(), out_path.to_str().unwrap()];
    let export = |more: &[&str]| {
        exitgap(&[&["export", log, "--out", out_path, "--trust", &key, "--json"], more].concat())
    };
    let (code, report, said) = export(&["--from", "2026-08-23"]);
    assert_eq!((code, &report["verdict"]), (Some(0), &"valid".into()), "{said}");
    assert_eq!((&report["days"], &report["rows"]), (&2.into(), &(677 + 576).into()));
    assert_eq!((&report["files"], &report["kept"]), (&8.into(), &0.into()));
    let (_, report, _) = export(&["--from", "2026-08-23"]);
    assert_eq!(report["kept"], 6);
    let report = audit(&out.path().join("2026-08-23"), &key);
    assert_eq!(report["verdict"], "valid", "{report}");
    for (more, code) in [
        (&["--from", "2026-08-25"][..], 4),
        (&["--to", "2026-08-21"], 2),
        (&["--from", "2026-08-24", "--to", "2026-08-23"], 2),
        (&["--pools", "anvil"], 2),
    ] {
        assert_eq!(export(more).0, Some(code), "{more:?}");
    }
}

#[test]
fn an_old_slot_is_answered_from_its_days_files() {
    let days = Days::new();
    days.write();
    let at = Days::slot(50).to_string();
    let pool = days.pools[0].id.to_string();
    let folder = days.path("2026-08-23");
    let ask = |source: &[&str]| {
        let asked = ["estimate", &pool, "--size-usd", "1000", "--base", "token0", "--at", &at];
        exitgap(&[&asked[..], source, &["--json"]].concat())
    };
    let (code, of_day, said) = ask(&["--day", folder.to_str().unwrap()]);
    assert_eq!(code, Some(0), "{said}");
    let (code, of_store, _) = ask(&["--db", days.store().to_str().unwrap()]);
    assert_eq!(code, Some(0));
    for field in ["exit_gap_pct", "amount_in_raw", "amount_out_raw"] {
        assert_eq!(of_day.pointer(&format!("/{field}")), of_store.pointer(&format!("/{field}")));
    }
    assert_ne!(of_day["exit_gap_pct"], Value::Null, "{of_day}");
    let refused = |pool: &str, at: &str| {
        let day = folder.to_str().unwrap();
        let (code, _, said) = exitgap(&["snapshot", pool, "--at", at, "--day", day]);
        (code.unwrap(), said)
    };
    assert_eq!(refused(&pool, &Days::slot(57).to_string()).0, 4, "a missing slot");
    assert_eq!(refused(&pool, &Days::slot(2).to_string()).0, 4, "another day's");
    assert_eq!(refused(&pool.replace("0x00", "0xff"), &at).0, 4, "no such pool");
    fs::write(folder.join("snapshots-0000.parquet"), b"PAR1").unwrap();
    let (code, said) = refused(&pool, &at);
    assert_eq!(code, 5);
    assert!(said.contains("the manifest says"), "{said}");
}

#[test]
fn what_was_signed_of_days_is_never_signed_otherwise() {
    let days = Days::new();
    assert_eq!(days.write().len(), 3);
    let reader = Reader::open(days.store()).unwrap();
    let guard = days.home.path().join("series.db.days");
    let [checkpoint, tile] = ["checkpoint", "tile/entries/000.p/3"].map(|file| days.path(file));
    let [note, bytes] = [&checkpoint, &tile].map(|path| fs::read(path).unwrap());

    // Cut off between the guard and the folder: the next start publishes the same.
    for file in ["checkpoint", "tile/entries/000.p/3", "tile/0/000.p/3"] {
        fs::remove_file(days.path(file)).unwrap();
    }
    let (older, shorter) = {
        let other = Days::new();
        let (opened, reader) = (other.open(), Reader::open(other.store()).unwrap());
        for _ in 0..2 {
            opened.write_next(&reader, |_, _| {}).unwrap().unwrap();
        }
        let read = |file: &str| fs::read(other.path(file)).unwrap();
        (
            read("checkpoint"),
            ["tile/entries/000.p/2", "tile/0/000.p/2"].map(|file| (file, read(file))),
        )
    };
    fs::write(&checkpoint, &older).unwrap();
    for (file, bytes) in &shorter {
        fs::write(days.path(file), bytes).unwrap();
    }
    assert_eq!(days.open().due(&reader).unwrap(), None);
    assert_eq!(fs::read(&checkpoint).unwrap(), note);
    assert_eq!(fs::read(&tile).unwrap(), bytes);

    // Days that were lost are not signed a second time.
    let kept = TempDir::new().unwrap();
    let moved = kept.path().join("days");
    fs::rename(days.folder().path().join("days"), &moved).unwrap();
    let refused = days.open().due(&reader).unwrap_err();
    assert!(matches!(refused, DaysError::Lost { found: 0, signed: 3, .. }), "{refused}");
    fs::rename(&moved, days.folder().path().join("days")).unwrap();
    assert_eq!(days.open().due(&reader).unwrap(), None);

    // Another's checkpoint beside the store, or one under another key, is none.
    let [ours, other] = [fs::read(&guard).unwrap(), b"exitgap".to_vec()];
    fs::write(&guard, other).unwrap();
    assert!(matches!(days.open().due(&reader).unwrap_err(), DaysError::Guard { .. }));
    fs::write(&guard, &ours).unwrap();
    let stranger = SignerKey::from_seed("exitgap.example/test", [8; 32]).unwrap();
    let opened = DaysLog::open(days.folder(), &days.store(), vec![stranger]).unwrap();
    assert_eq!(opened.due(&reader).unwrap(), None);
    // Two processes at once: the second is told.
    let second = DaysLog::open(days.folder(), &days.store(), vec![key()]);
    assert!(second.is_err_and(|error| error.to_string().contains("another")));
}

/// What is wrong with a day is named, and nothing wrong passes.
#[test]
fn a_day_that_was_tampered_with_does_not_pass() {
    let days = Days::new();
    days.write();
    let key = days.key();
    let good = days.path("2026-08-23");
    let changed = |file: &str, change: &dyn Fn(Vec<u8>) -> Vec<u8>| {
        let home = TempDir::new().unwrap();
        for name in fs::read_dir(&good).unwrap() {
            let path = name.unwrap().path();
            fs::copy(&path, home.path().join(path.file_name().unwrap())).unwrap();
        }
        let path = home.path().join(file);
        let before = fs::read(&path).unwrap();
        let after = change(before.clone());
        assert_ne!(after, before, "the fault is there");
        fs::write(&path, after).unwrap();
        let report = audit(home.path(), &key);
        (
            report["verdict"].as_str().unwrap().to_owned(),
            report["fault"]["code"].as_str().unwrap().to_owned(),
        )
    };
    let invalid = |code: &str| ("invalid".to_owned(), code.to_owned());
    let flipped = |mut bytes: Vec<u8>| {
        let middle = bytes.len() / 2;
        bytes[middle] ^= 1;
        bytes
    };
    for file in ["slots.parquet", "figures-0000.parquet", "snapshots-0000.parquet"] {
        assert_eq!(changed(file, &flipped), invalid("file_hash_mismatch"), "{file}");
    }
    let cut = |bytes: Vec<u8>| bytes[..bytes.len() - 1].to_vec();
    assert_eq!(changed("snapshots-0000.parquet", &cut), invalid("file_hash_mismatch"));
    assert_eq!(changed("manifest.json", &cut), invalid("manifest_invalid"));
    let text = |from: &'static str, to: &'static str| {
        move |bytes: Vec<u8>| String::from_utf8(bytes).unwrap().replacen(from, to, 1).into_bytes()
    };
    assert_eq!(
        changed("manifest.json", &text("\"v\":1", "\"v\":2")),
        ("incomplete".to_owned(), "manifest_invalid".to_owned())
    );
    assert_eq!(
        changed("manifest.json", &text("exitgap.example/test/", "exitgap.example/tost/")).1,
        "signature_forged"
    );
    let home = TempDir::new().unwrap();
    fs::copy(good.join("manifest.json"), home.path().join("manifest.json")).unwrap();
    let report = audit(home.path(), &key);
    assert_eq!(
        (&report["verdict"], &report["fault"]["code"]),
        (&"incomplete".into(), &"file_absent".into())
    );
}

/// What a Python program of the fixtures says of the files.
fn read_by(program: &str, folder: &str, arguments: &[&str]) -> Value {
    let python = fixtures::folder().join(folder).join("bin/python");
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("py").join(program);
    let output = Command::new(python).arg(script).args(arguments).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

/// Others' readers see the rows, types and numbers that a store has.
#[test]
#[ignore = "slow: with `cargo xtask test --all`, which installs duckdb and pyarrow"]
fn duckdb_and_pyarrow_read_the_files() {
    let days = Days::new();
    days.write();
    let pool = days.pools[0].id.to_string();
    let folder = days.path("");
    let arguments = [folder.to_str().unwrap(), &pool];
    let [duckdb, pyarrow] = [("days_duckdb.py", "duckdb"), ("days_pyarrow.py", "pyarrow")]
        .map(|(program, folder)| read_by(program, folder, &arguments));
    assert_eq!(duckdb, pyarrow);
    assert_eq!(duckdb["rows"], 40 + 677 + 576);
    assert_eq!(duckdb["types"]["slot_time"], "timestamp[ms, UTC]");
    assert_eq!(duckdb["types"]["token0_exit_gap_pct_1000"], "decimal(18,6)");
    assert_eq!(duckdb["types"]["token0_depth_usd"], "int64");

    let reader = Reader::open(days.store()).unwrap();
    let stored = reader.pool(&days.pools[0].id).unwrap().unwrap();
    let run = [Days::slot(0), Days::slot(EVENING + 2 * 288 - 1)];
    let figures = reader.figures(&stored, run[0], run[1], Reader::MAX_PAGE).unwrap().entries;
    let heads = reader.heads(&stored, run[0], run[1]).unwrap();
    let rows = duckdb["of_pool"].as_array().unwrap();
    assert_eq!(rows.len(), figures.len());
    for ((row, figures), head) in rows.iter().zip(&figures).zip(&heads) {
        let own = figures.snapshot.map(|snapshot| snapshot.directions[0]);
        let gap = own.and_then(|own| match own.gaps[0] {
            Gap::Filled(gap) => Some(gap.to_fixed()),
            Gap::Refused(_) => None,
        });
        let depth = own.and_then(|own| own.depth_usd);
        let retracted = figures.retraction.map(|retracted| retracted.by.number());
        let missing = figures.entry.missing().map(|reason| reason.code().to_owned());
        let expected = json!([
            figures.entry.slot.number(),
            figures.entry.slot.to_string(),
            depth,
            gap,
            retracted,
            missing,
            Head::hash_of(&head.canonical).to_string(),
        ]);
        assert_eq!(*row, expected);
    }
    assert!(rows.iter().any(|row| row[4].is_number()) && rows.iter().any(|row| row[5].is_string()));
}
