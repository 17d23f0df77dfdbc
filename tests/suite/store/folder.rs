//! Publishing a log: every file as an independent auditor expects it, kills at any moment, and starts that would
//! produce a second history.

use std::collections::BTreeMap;
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use exitgap_core::series::Slot;
use exitgap_core::tlog::SignerKey;
use exitgap_store::{
    Cosignatures, FsckCounts, LogFolder, PublishError, PublishReport, Reader, RestoreError, Store,
    StoreError,
};
use exitgap_tests::binaries;
use exitgap_tests::devchain::Rng;
use serde_json::Value;
use tempfile::TempDir;

use crate::scenes::store::{BusyPool, copy, key, slot, store_in};
use crate::store::sealing::sealed_store;

/// The report of `exitgap audit` on a folder, with the key of the store's log.
pub fn audit(folder: &Path, store: &Path) -> Value {
    let key = Reader::open(store).unwrap().log().unwrap().unwrap().keys[0].to_string();
    let mut command = Command::new(binaries::path("exitgap"));
    let output = command.args(["audit", "--json", "--trust", &key]).arg(folder).output().unwrap();
    serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|_| panic!("{}", String::from_utf8_lossy(&output.stderr)))
}

/// Restores a log into a new store at `path`; returns the result and the store.
pub fn restored_from(log: &LogFolder, path: &Path) -> (Result<u64, String>, Store) {
    let mut restored = Store::create(path, &key()).unwrap();
    let ended = log.restore(&mut restored, |_, _| {}).map_err(|error| error.to_string());
    (ended, restored)
}

/// Every file of a folder with its content.
pub fn files(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut found = BTreeMap::new();
    for file in fs::read_dir(folder).unwrap() {
        let path = file.unwrap().path();
        if path.is_dir() {
            found.extend(files(&path));
        } else {
            found.insert(path.clone(), fs::read(path).unwrap());
        }
    }
    found
}

fn publish(folder: &Path, store: &Path) -> Result<PublishReport, PublishError> {
    LogFolder::new(folder).publish(&Reader::open(store).unwrap())
}

#[test]
fn what_is_published_is_what_an_auditor_wants_also_across_full_tiles() {
    let (home, path) = sealed_store();
    let folder = home.path().join("log");
    assert_eq!(publish(&folder, &path).unwrap(), PublishReport { size: 11, slots: 11 });
    let report = audit(&folder, &path);
    assert_eq!(report["verdict"], "valid", "{report}");
    let counts = ["slots", "pools", "heads", "snapshots"].map(|name| report[name].as_u64());
    assert_eq!(counts, [11, 3, 11 + 11 + 6, 7 + 8 + 3].map(Some));
    let before = files(&folder);
    assert_eq!(publish(&folder, &path).unwrap(), PublishReport { size: 11, slots: 0 });
    assert_eq!(files(&folder), before);

    // Grows to 255, 256 and 257 slots, one at a time, and then to 600 at once.
    let mut store = Store::open(&path, &key()).unwrap();
    for size in [255, 256, 257, 600] {
        store.fill_until(slot(size)).unwrap();
        assert_eq!(publish(&folder, &path).unwrap().size, u64::from(size));
        let report = audit(&folder, &path);
        assert_eq!((&report["verdict"], &report["slots"]), (&"valid".into(), &size.into()));
    }
    let after = files(&folder);
    for (file, content) in &before {
        let changes = file.ends_with("checkpoint") || file.to_string_lossy().contains("/tile/");
        assert!(changes || after[file] == *content, "{}", file.display());
    }
    let tiles: Vec<_> = after
        .keys()
        .filter_map(|file| file.strip_prefix(folder.join("tile")).ok()?.to_str())
        .collect();
    let expected = [
        "0/000",
        "0/001",
        "0/002.p/1",
        "0/002.p/65",
        "0/002.p/88",
        "1/000.p/1",
        "1/000.p/2",
        "entries/000",
        "entries/001",
        "entries/002.p/1",
        "entries/002.p/65",
        "entries/002.p/88",
    ];
    assert_eq!(tiles, expected, "partial tiles stay until the full one is there");
}

/// The fault: a slot with more parts than a manifest may name, simulated by a limit of zero.
#[test]
fn a_slot_that_could_not_be_published_is_not_recorded() {
    let (home, path) = sealed_store();
    let folder = home.path().join("log");
    let log = LogFolder::new(&folder);
    let mut pools: Vec<_> = (1..=3).map(|number| BusyPool::new(number, 5)).collect();
    let mut entries = || pools.iter_mut().map(|pool| pool.recorded(slot(11))).collect::<Vec<_>>();
    let mut store = Store::open(&path, &key()).unwrap().limit_parts(0);
    let offered = entries();
    let refused = store.append_slot(slot(11), &offered).unwrap_err();
    assert!(matches!(refused, StoreError::SlotTooLarge { found: 1, most: 0, .. }), "{refused}");
    assert!(refused.to_string().contains("record fewer pools in one log"), "{refused}");
    assert_eq!(store.reader().log_size().unwrap(), 11);
    assert_eq!(log.publish_newest(&mut store).unwrap(), PublishReport { size: 11, slots: 11 });
    // The same slot is written after the limit is raised, and the published files equal those published from the store
    // by a reader.
    let mut store = store.limit_parts(1);
    store.append_slot(slot(11), &offered).unwrap();
    let other = home.path().join("other-log");
    publish(&other, &path).unwrap();
    log.publish_newest(&mut store).unwrap();
    let names = |folder: &Path| {
        let found = files(folder).into_iter();
        let relative = |(path, bytes): (PathBuf, Vec<u8>)| {
            (path.strip_prefix(folder).unwrap().to_owned(), bytes)
        };
        found.map(relative).filter(|(path, _)| !path.starts_with("tile")).collect::<Vec<_>>()
    };
    assert_eq!(names(&folder), names(&other));
    assert_eq!(audit(&folder, &path)["verdict"], "valid");
    store.reader().fsck(|_| {}).unwrap();
}

#[test]
fn a_folder_of_an_earlier_version_is_refused_by_name() {
    let (home, path) = sealed_store();
    let folder = home.path().join("log");
    fs::create_dir_all(folder.join("bundles")).unwrap();
    let log = LogFolder::new(&folder);
    let named = |error: &PublishError| {
        assert!(matches!(error, PublishError::OlderFolder { .. }), "{error}");
        assert!(error.to_string().contains("publish in a new folder"), "{error}");
    };
    named(&log.check(&Reader::open(&path).unwrap()).unwrap_err());
    named(&publish(&folder, &path).unwrap_err());
    let mut empty = Store::create(store_in(home.path(), "empty.db"), &key()).unwrap();
    let RestoreError::Folder(refused) = log.restore(&mut empty, |_, _| {}).unwrap_err() else {
        panic!("it is the folder")
    };
    named(&refused);
}

/// Files of other programs in the folder stay untouched.
#[test]
fn reserved_folders_are_ignored_by_writer_auditor_and_restore() {
    let (home, path) = sealed_store();
    let folder = home.path().join("log");
    for reserved in ["claims", "days", "proofs", "anchors", "fills", "peers"] {
        fs::create_dir_all(folder.join(reserved)).unwrap();
        fs::write(folder.join(reserved).join("11"), "not ours").unwrap();
    }
    LogFolder::new(&folder).check(&Reader::open(&path).unwrap()).unwrap();
    publish(&folder, &path).unwrap();
    assert_eq!(audit(&folder, &path)["verdict"], "valid");
    let mut empty = Store::create(store_in(home.path(), "empty.db"), &key()).unwrap();
    assert_eq!(LogFolder::new(&folder).restore(&mut empty, |_, _| {}).unwrap(), 11);
    for reserved in ["claims", "days", "proofs", "anchors", "fills", "peers"] {
        assert_eq!(fs::read(folder.join(reserved).join("11")).unwrap(), b"not ours");
    }
}

#[test]
fn a_copy_made_beside_the_writer_holds_and_is_refused_once_it_is_old() {
    let (home, path) = sealed_store();
    let (folder, copy) = (home.path().join("log"), store_in(home.path(), "copy.db"));
    let mut store = Store::open(&path, &key()).unwrap();
    // These slots are still in the write-ahead log during the copy.
    store.fill_until(slot(12)).unwrap();
    publish(&folder, &path).unwrap();
    fs::write(home.path().join("copy.db.part"), "left by an earlier try").unwrap();
    Reader::open(&path).unwrap().backup(&copy).unwrap();
    let again = Reader::open(&path).unwrap().backup(&copy).unwrap_err();
    assert!(matches!(again, StoreError::AlreadyExists { path } if path == copy));
    assert!(!home.path().join("copy.db.part").exists());
    assert_eq!(Reader::open(&copy).unwrap().fsck(|_| {}).unwrap().slots, 12);
    let check = || LogFolder::new(&folder).check(&Reader::open(&copy).unwrap());
    check().unwrap();
    store.fill_until(slot(13)).unwrap();
    publish(&folder, &path).unwrap();
    assert!(matches!(check(), Err(PublishError::StoreOlder { published: 13, found: 12, .. })));
    // A store with damage in its newest slot is not copied as valid.
    drop(store);
    crate::store::sealing::damage(
        &path,
        "UPDATE entry SET lowest0_7d_usd = 1 WHERE slot = 5957868",
    );
    let other = store_in(home.path(), "other.db");
    let refused = Reader::open(&path).unwrap().backup(&other).unwrap_err();
    assert!(matches!(refused, StoreError::CorruptHead { .. }), "{refused}");
    assert!(!other.exists());
}

#[test]
fn a_lost_store_comes_back_from_its_slots_and_no_other_does() {
    let (home, path) = sealed_store();
    let (folder, lost) = (home.path().join("log"), store_in(home.path(), "lost.db"));
    let log = LogFolder::new(&folder);
    let mut empty = Store::create(&lost, &key()).unwrap();
    let nothing = log.restore(&mut empty, |_, _| {}).unwrap_err();
    assert!(matches!(nothing, RestoreError::NothingPublished { .. }), "{nothing}");
    publish(&folder, &path).unwrap();

    // Two slots, then a damaged manifest, then the rest: the restore continues from the older state.
    let at = |n: u32| folder.join(format!("slots/{}.jsonl", slot(n).number()));
    let (third, fourth) = (fs::read(at(2)).unwrap(), fs::read(at(3)).unwrap());
    fs::write(at(2), &fourth).unwrap();
    let wrong = log.restore(&mut empty, |_, _| {}).unwrap_err();
    assert!(matches!(&wrong, RestoreError::Slot { path, .. } if *path == at(2)), "{wrong}");
    assert_eq!(empty.reader().log_size().unwrap(), 2);
    // Signatures of others next to the log's own are not restored.
    let own = String::from_utf8(third).unwrap();
    let witness = SignerKey::from_seed("witness.example", [9; 32]).unwrap();
    let line = witness.sign("another text\n").unwrap().lines().last().unwrap().to_owned();
    let cosigned = own.replace("\\n\"}\n", &format!("\\n{line}\\n\"}}\n"));
    assert_ne!(cosigned, own);
    fs::write(at(2), cosigned).unwrap();
    let mut told = Vec::new();
    assert_eq!(log.restore(&mut empty, |done, of| told.push((done, of))).unwrap(), 9);
    assert_eq!((told[0], told[8]), ((3, 11), (11, 11)));
    log.check(empty.reader()).unwrap();
    let reader = Reader::open(&path).unwrap();
    assert_eq!(empty.reader().checkpoint(11).unwrap(), reader.checkpoint(11).unwrap());
    assert_eq!(empty.reader().slot_heads(slot(10)).unwrap(), reader.slot_heads(slot(10)).unwrap());
    let lines = Cosignatures::Lines(format!("{line}\n"));
    assert_eq!(empty.reader().cosignatures(slot(2)).unwrap(), lines);
    let expected = FsckCounts { asked_witnesses: 1, cosigned: 1, ..reader.fsck(|_| {}).unwrap() };
    assert_eq!(empty.reader().fsck(|_| {}).unwrap(), expected);
    empty.fill_until(slot(12)).unwrap();
    assert_eq!(log.publish(empty.reader()).unwrap(), PublishReport { size: 12, slots: 1 });
    assert_eq!(audit(&folder, &lost)["verdict"], "valid");

    // Another history with the same name is not merged into this one, and a store with another key is rejected.
    let other = store_in(home.path(), "other.db");
    let mut second = Store::create(&other, &key()).unwrap();
    second.append_slot(slot(0), &[BusyPool::new(1, 5).recorded(slot(0))]).unwrap();
    let refused = log.restore(&mut second, |_, _| {}).unwrap_err();
    assert!(matches!(refused, RestoreError::Store(_)), "{refused}");
    assert_eq!(second.reader().log_size().unwrap(), 1);
    let stranger = SignerKey::from_seed("exitgap.example/test", [8; 32]).unwrap();
    let mut third = Store::create(store_in(home.path(), "third.db"), &stranger).unwrap();
    let refused = log.restore(&mut third, |_, _| {}).unwrap_err();
    assert!(matches!(refused, RestoreError::Folder(PublishError::OtherLog { .. })), "{refused}");
}

/// The variable that names store and folder to the child process. Without it, the child does nothing.
const CHILD_FOLDER: &str = "EXITGAP_TEST_CHILD_FOLDER";

/// Not a test by itself: records and publishes slot after slot until it is killed.
#[test]
fn child_that_publishes_until_it_is_killed() {
    let Ok(home) = std::env::var(CHILD_FOLDER) else { return };
    let home = Path::new(&home);
    let mut store = Store::open(store_in(home, "series.db"), &key()).unwrap();
    let folder = LogFolder::new(home.join("log"));
    folder.check(store.reader()).unwrap();
    folder.publish(store.reader()).unwrap();
    let mut pools: Vec<_> = (0..6).map(|number| BusyPool::new(number, 30)).collect();
    let begin = store.reader().slots().unwrap().map_or(slot(0), |(_, last)| last.next().unwrap());
    for n in begin.number() - Slot::FIRST.number().. {
        let entries: Vec<_> = pools.iter_mut().map(|pool| pool.recorded(slot(n))).collect();
        store.append_slot(slot(n), &entries).unwrap();
        folder.publish(store.reader()).unwrap();
        writeln!(std::io::stderr(), "published {n}").unwrap();
    }
}

#[test]
fn killed_at_any_moment_every_file_the_checkpoint_commits_to_is_there() {
    let home = TempDir::new().unwrap();
    let (path, folder) = (store_in(home.path(), "series.db"), home.path().join("log"));
    drop(Store::create(&path, &key()).unwrap());
    let mut rng = Rng::new(9);
    let (mut within, mut kills) = (0, 0);
    // Continues until some kills occurred between a slot's commit and its checkpoint.
    while kills < 12 || within < 3 {
        assert!(kills < 200, "no kill ever fell into a publication");
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "store::folder::child_that_publishes_until_it_is_killed"])
            .arg("--nocapture")
            .env(CHILD_FOLDER, home.path())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
        assert!(lines.any(|line| line.unwrap().starts_with("published")), "it ended by itself");
        // The test waits for no particular state, so that the moment is random.
        std::thread::sleep(Duration::from_micros(rng.below(40_000)));
        child.kill().unwrap();
        let status = child.wait().unwrap();
        assert_eq!(status.signal(), Some(9), "it was killed, and did not end otherwise: {status}");
        kills += 1;
        let report = audit(&folder, &path);
        assert_eq!(report["verdict"], "valid", "{report}");
        let recorded = Reader::open(&path).unwrap().log_size().unwrap();
        let published = report["size"].as_u64().unwrap();
        assert!(published <= recorded, "nothing is published that is not recorded");
        within += usize::from(published < recorded);
    }
    let store = Store::open(&path, &key()).unwrap();
    let log = LogFolder::new(&folder);
    log.check(store.reader()).unwrap();
    let size = store.reader().log_size().unwrap();
    assert_eq!(log.publish(store.reader()).unwrap().size, size);
    let report = audit(&folder, &path);
    assert_eq!((&report["verdict"], &report["slots"]), (&"valid".into(), &size.into()));
}

#[test]
fn no_store_goes_on_that_would_make_a_second_history() {
    let (home, path) = sealed_store();
    let folder = home.path().join("log");
    publish(&folder, &path).unwrap();
    let old = store_in(home.path(), "old.db");
    copy(&path, &old);
    let mut pool = BusyPool::new(1, 5);
    let mut store = Store::open(&path, &key()).unwrap();
    store.fill_until(slot(13)).unwrap();
    publish(&folder, &path).unwrap();
    let check = |store: &Path| LogFolder::new(&folder).check(&Reader::open(store).unwrap());
    let refused = |store: &Path| check(store).unwrap_err();
    check(&path).unwrap();

    // An old copy, with and without an old checkpoint in the folder, and an empty store.
    let newest = fs::read(folder.join("checkpoint")).unwrap();
    let older = |error: PublishError, size| {
        let wanted =
            matches!(error, PublishError::StoreOlder { published: 13, found, .. } if found == size);
        assert!(wanted, "{error}");
    };
    older(refused(&old), 11);
    let empty = store_in(home.path(), "empty.db");
    drop(Store::create(&empty, &key()).unwrap());
    older(refused(&empty), 0);
    let checkpoint = Reader::open(&path).unwrap().checkpoint(11).unwrap().unwrap();
    fs::write(folder.join("checkpoint"), checkpoint).unwrap();
    assert!(matches!(
        refused(&old),
        PublishError::SealedBefore { path } if path.ends_with("slots/5957867.jsonl")
    ));
    fs::remove_file(folder.join("checkpoint")).unwrap();
    assert!(matches!(refused(&empty), PublishError::SealedBefore { .. }));
    fs::write(folder.join("checkpoint"), &newest).unwrap();

    // A history with the same name and key, but other content.
    let rewritten = store_in(home.path(), "rewritten.db");
    let mut second = Store::create(&rewritten, &key()).unwrap();
    second.append_slot(slot(0), &[pool.recorded(slot(0))]).unwrap();
    second.fill_until(slot(20)).unwrap();
    assert!(matches!(refused(&rewritten), PublishError::Rewritten { size: 13, .. }));
    assert!(matches!(publish(&folder, &rewritten), Err(PublishError::Rewritten { .. })));
    // A different log.
    let other = store_in(home.path(), "other.db");
    let key = SignerKey::from_seed("exitgap.example/other", [8; 32]).unwrap();
    let mut third = Store::create(&other, &key).unwrap();
    third.append_slot(slot(0), &[pool.recorded(slot(0))]).unwrap();
    let found = "exitgap.example/test/5957856+";
    assert!(matches!(
        refused(&other),
        PublishError::OtherLog { found: log, .. } if log.starts_with(found)
    ));

    // An existing manifest with other content is not overwritten.
    fs::remove_file(folder.join("checkpoint")).unwrap();
    let manifest = folder.join("slots/5957859.jsonl");
    let whole = fs::read(&manifest).unwrap();
    fs::write(&manifest, b"something else").unwrap();
    assert!(
        matches!(publish(&folder, &path), Err(PublishError::Differs { path }) if path == manifest)
    );
    assert_eq!(fs::read(&manifest).unwrap(), b"something else");
    fs::write(&manifest, whole).unwrap();
    assert_eq!(publish(&folder, &path).unwrap(), PublishReport { size: 13, slots: 13 });
    assert_eq!(fs::read(folder.join("checkpoint")).unwrap(), newest);

    fs::write(folder.join("checkpoint"), "none").unwrap();
    assert!(matches!(refused(&path), PublishError::Checkpoint { .. }));
    fs::write(folder.join("superseded-by"), "exitgap.example/next/5957900\n").unwrap();
    assert!(matches!(
        refused(&path),
        PublishError::Superseded { successor, .. } if successor == "exitgap.example/next/5957900"
    ));
}
