//! Closed days as Parquet files: written from a store, committed to by their own log, audited separately, exported.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::sync::mpsc::channel;
use std::time::Duration;

use exitgap_core::evidence::Head;
use exitgap_core::tlog::{Checkpoint, Hash, SignerKey};
use exitgap_server::days::start;
use exitgap_store::days::{DaysError, DaysLog};
use exitgap_store::{Gap, Reader, StoreError};
use exitgap_tests::{binaries, fixtures};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::scenes::days::{Days, EVENING, audit, exitgap, exitgap_text, require_held};
use crate::scenes::store::key;

#[test]
fn closed_days_are_written_audited_by_themselves_and_exported() {
    let days = Days::new();
    let manifests = days.write();
    let names: Vec<String> = manifests.iter().map(|manifest| manifest.day.to_string()).collect();
    assert_eq!(names, ["2026-08-22", "2026-08-23", "2026-08-24"]);
    assert_eq!((manifests[0].slots(), manifests[0].pools(), manifests[0].rows()), (20, 2, 40));
    // The retired pool's last row is included, and the new pool has no row before its first.
    assert_eq!(manifests[1].rows(), 288 + 181 + 208);
    // No day is due twice, and the log of days contains exactly the written ones.
    assert!(days.write().is_empty());

    let key = days.key();
    for (manifest, [heads, snapshots, retracted]) in
        manifests.iter().zip([[40, 39, 0], [677, 670, 1], [576, 571, 1]])
    {
        let report = audit(&days.path(&manifest.day.to_string()), &key);
        // Slots of the newest closed day can be retracted by the next one, which is not closed.
        let is_newest = manifest.day == manifests[2].day;
        require_held(&report, if is_newest { &["day_after"] } else { &[] });
        assert_eq!(report["log_of_days"], 3, "{report}");
        let found = ["heads", "snapshots", "retracted"].map(|name| report[name].as_u64().unwrap());
        assert_eq!(found, [heads, snapshots, retracted], "{report}");
    }
    // With only the manifest's own key, the author is unknown.
    let (code, report, _) =
        exitgap(&["audit", days.path("2026-08-23").to_str().unwrap(), "--json"]);
    assert_eq!((code, &report["verdict"]), (Some(7), &"incomplete".into()));

    let checkpoint = days.folder().path().join("checkpoint");
    for more in [["--since", checkpoint.to_str().unwrap()], ["--copy", "elsewhere"]] {
        let day = days.path("2026-08-23");
        let (code, _, said) = exitgap(&["audit", day.to_str().unwrap(), more[0], more[1]]);
        assert_eq!(code, Some(2), "{said}");
    }
    // A day's manifest inside a log's folder does not change what is audited.
    let inside = days.folder().path().join("manifest.json");
    fs::copy(days.path("2026-08-23/manifest.json"), &inside).unwrap();
    let (code, report, _) =
        exitgap(&["audit", days.folder().path().to_str().unwrap(), "--trust", &key, "--json"]);
    assert_eq!((code, &report["size"]), (Some(0), &884.into()), "{report}");
    fs::remove_file(inside).unwrap();

    // Exports the files of one pool only: as few files as contain it, and the output says so.
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
    let words = exitgap_text(&["export", log, "--out", out_path, "--from", "2026-08-23"]);
    assert!(
        words.contains("2 of 3 closed days of exitgap.example/test/days/5958124 are in "),
        "{words}"
    );
    assert!(words.contains("Each file matches the signed log of days"), "{words}");
    // A log of days that is inconsistent with the stored checkpoint is reported.
    let seen = out.path().join("days-checkpoint");
    let note = fs::read_to_string(&seen).unwrap();
    let root = note.lines().nth(2).unwrap();
    for other in [
        note.replace(root, "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="),
        note.replace("\n3\n", "\n4\n"),
    ] {
        fs::write(&seen, other).unwrap();
        let (code, report, _) = export(&[]);
        assert_eq!((code, &report["verdict"]), (Some(6), &"invalid".into()));
        assert!(report["fault"].as_str().unwrap().contains("does not continue"), "{report}");
        let other = fs::read_to_string(out.path().join("days-checkpoint.contradicts")).unwrap();
        assert_eq!(other, note, "both that were signed are kept");
    }
    fs::write(&seen, note).unwrap();
    // Of two days that were exported the first lacks the day before it; with all of them nothing is left open.
    let report = audit(&out.path().join("2026-08-23"), &key);
    require_held(&report, &["days_before"]);
    assert_eq!(export(&[]).0, Some(0));
    require_held(&audit(&out.path().join("2026-08-23"), &key), &[]);
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
    // A database URL in the environment does not interfere.
    let mut beside = Command::new(binaries::path("exitgap"));
    beside.env("EXITGAP_DB", "nowhere.db").args(["snapshot", &pool, "--at", &at, "--day"]);
    let output = beside.arg(&folder).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
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
    assert!(said.contains("but the manifest has"), "{said}");
}

#[test]
fn what_was_signed_of_days_is_never_signed_otherwise() {
    let days = Days::new();
    assert_eq!(days.write().len(), 3);
    let reader = Reader::open(days.store()).unwrap();
    let guard = days.home.path().join("series.db.days");
    let [checkpoint, tile] = ["checkpoint", "tile/entries/000.p/3"].map(|file| days.path(file));
    let [note, bytes] = [&checkpoint, &tile].map(|path| fs::read(path).unwrap());

    // The process ended between writing the guard and the folder: the next start publishes the same.
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

    // The last day's files are missing, too: the day is written again and must equal the signed one.
    let back = || {
        for file in ["checkpoint", "tile/entries/000.p/3", "tile/0/000.p/3"] {
            fs::remove_file(days.path(file)).unwrap();
        }
        fs::write(&checkpoint, &older).unwrap();
        for (file, bytes) in &shorter {
            fs::write(days.path(file), bytes).unwrap();
        }
        fs::remove_dir_all(days.path("2026-08-24")).unwrap();
    };
    back();
    assert_eq!(days.write().len(), 1);
    assert_eq!(fs::read(&checkpoint).unwrap(), note);
    let signed = fs::read(&guard).unwrap();
    back();
    let opened = days.open();
    let root = String::from_utf8(note.clone()).unwrap().lines().nth(2).unwrap().to_owned();
    let stranger = Checkpoint {
        origin: "exitgap.example/test/days/5958124".parse().unwrap(),
        size: 3,
        root: Hash([3; 32]),
        extensions: Vec::new(),
    };
    assert_ne!(stranger.root.to_string(), root);
    let signer = key().with_name("exitgap.example/test/days/5958124").unwrap();
    fs::write(&guard, signer.sign(&stranger.to_text()).unwrap()).unwrap();
    let refused = opened.write_next(&reader, |_, _| {}).unwrap_err();
    assert!(matches!(refused, DaysError::Differs { signed: 3, .. }), "{refused}");
    assert_eq!(fs::read(&checkpoint).unwrap(), older, "nothing is published");
    fs::write(&guard, signed).unwrap();
    drop(opened);
    // The identical files exist and only need to be published.
    assert!(days.write().is_empty());
    assert_eq!(fs::read(&checkpoint).unwrap(), note);

    // Lost days are not signed a second time.
    let kept = TempDir::new().unwrap();
    let moved = kept.path().join("days");
    fs::rename(days.folder().path().join("days"), &moved).unwrap();
    let refused = days.open().due(&reader).unwrap_err();
    assert!(matches!(refused, DaysError::Lost { found: 0, signed: 3, .. }), "{refused}");
    fs::rename(&moved, days.folder().path().join("days")).unwrap();
    assert_eq!(days.open().due(&reader).unwrap(), None);

    // The guard file contains another checkpoint, or one with another key: both are rejected.
    let [ours, other] = [fs::read(&guard).unwrap(), b"exitgap".to_vec()];
    fs::write(&guard, other).unwrap();
    assert!(matches!(days.open().due(&reader).unwrap_err(), DaysError::Guard { .. }));
    fs::write(&guard, &ours).unwrap();
    // With two processes at the same time, the second reports the lock.
    let _held = days.open();
    let second = DaysLog::open(days.folder(), &days.store(), vec![key()]);
    assert!(matches!(second, Err(DaysError::Locked { .. })));
}

/// While a service records, each day is written when it closes, once an operator has started the writing of the many
/// days already due.
#[test]
fn a_service_that_records_writes_days_as_they_close() {
    let days = Days::new();
    let begin = || {
        let (told, heard) = channel();
        let (folder, store) = (days.folder(), days.store());
        let path = store.clone();
        let open = Box::new(move || DaysLog::open(folder.clone(), &path, vec![key()]));
        let tell = Box::new(move |due| {
            // The receiver may be gone once the test has received enough.
            let _ = told.send(due);
        });
        (start(open, store, tell).unwrap(), heard)
    };
    let (writing, heard) = begin();
    assert_eq!(
        heard.recv_timeout(Duration::from_mins(1)).unwrap(),
        None,
        "they may have been lost"
    );
    assert!(!days.path("checkpoint").exists());
    drop(writing);
    // The writer ends at its next check at the latest, and then the lock is free.
    let opened = until_open(&days);
    let reader = Reader::open(days.store()).unwrap();
    opened.write_next(&reader, |_, _| {}).unwrap().unwrap();
    drop(opened);
    let (_writing, heard) = begin();
    let next = || heard.recv_timeout(Duration::from_mins(1)).unwrap();
    assert_eq!([next(), next(), next()], [Some(2), Some(1), Some(0)]);
    for (day, lacking) in
        [("2026-08-22", &[][..]), ("2026-08-23", &[]), ("2026-08-24", &["day_after"])]
    {
        require_held(&audit(&days.path(day), &days.key()), lacking);
    }
}

fn until_open(days: &Days) -> DaysLog {
    loop {
        match DaysLog::open(days.folder(), &days.store(), vec![key()]) {
            Err(DaysError::Locked { .. }) => std::thread::sleep(Duration::from_millis(20)),
            opened => return opened.unwrap(),
        }
    }
}

/// Manually, for the days that have already closed; a second run has nothing to do.
#[test]
fn an_operator_writes_days_by_hand() {
    let days = Days::new();
    days.configure();
    let run = || {
        let output = days.command().output().unwrap();
        let said = [output.stdout, output.stderr].map(|words| String::from_utf8(words).unwrap());
        (output.status.code(), said)
    };
    let (code, [said, err]) = run();
    assert_eq!((code, err.as_str()), (Some(0), ""), "{said}");
    let lines: Vec<&str> = said.lines().collect();
    assert_eq!(lines.len(), 4, "{said}");
    assert!(lines[1].starts_with("wrote 2026-08-23: 677 rows of 3 pools, 3 files, "), "{said}");
    assert_eq!(lines[3], "wrote 3 closed days; a day closes 24 hours after its end");
    assert_eq!(run().1[0], "wrote 0 closed days; a day closes 24 hours after its end\n");
    let _held = days.open();
    let (code, [_, err]) = run();
    assert_eq!(code, Some(1));
    assert!(err.contains("another process"), "{err}");
}

/// A key that is not the log's signs nothing and leaves no files.
#[test]
fn only_the_logs_own_key_signs_its_days() {
    let days = Days::new();
    let reader = Reader::open(days.store()).unwrap();
    let stranger = SignerKey::from_seed("exitgap.example/test", [8; 32]).unwrap();
    let opened = DaysLog::open(days.folder(), &days.store(), vec![stranger]).unwrap();
    let refused = opened.write_next(&reader, |_, _| {}).unwrap_err();
    let DaysError::Store(refused) = refused else { panic!("{refused}") };
    assert!(matches!(*refused, StoreError::WrongKey { .. }), "{refused}");
    assert!(!opened.is_begun() && !days.path("").exists());
    drop(opened);
    assert_eq!(days.write().len(), 3);
}

/// Every modification of a day is reported by name.
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

/// The output of a Python program of the fixtures about the files.
fn read_by(program: &str, folder: &str, arguments: &[&str]) -> Value {
    let python = fixtures::folder().join(folder).join("bin/python");
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("py").join(program);
    let output = Command::new(python).arg(script).args(arguments).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

/// Third-party readers see the rows, types and numbers of the store.
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
        let missing = figures.entry.missing_reason().map(|reason| reason.code().to_owned());
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
