//! The drills of `exitgap-server`'s documentation about changes: a key rotation, and a stolen key.

use std::fs;
use std::path::Path;
use std::process::Command;

use exitgap_core::series::MissingReason;
use exitgap_core::tlog::SignerKey;
use exitgap_store::{LogFolder, NewEntry, PublishError, Reader, Store, StoreError};
use exitgap_tests::binaries;
use serde_json::Value;

use crate::scenes::operator::{config, server, write_key};
use crate::scenes::store::{BusyPool, key, slot, store_in};
use crate::store::sealing::sealed_store;

/// `exitgap audit` of a folder, as a third party runs it.
fn audit(home: &Path, arguments: &[&str]) -> Value {
    let mut command = Command::new(binaries::path("exitgap"));
    let output = command.arg("audit").args(arguments).arg("--json").current_dir(home).output();
    serde_json::from_slice(&output.unwrap().stdout).unwrap()
}

#[test]
fn a_stolen_key_ends_the_log_and_its_forgeries_contradict_what_was_kept() {
    let (home, path) = sealed_store();
    let home = home.path();
    let own = LogFolder::new(home.join("log"));
    own.publish(&Reader::open(&path).unwrap()).unwrap();
    fs::copy(home.join("log/checkpoint"), home.join("kept-checkpoint")).unwrap();
    fs::copy(home.join("log/verifier-key"), home.join("key")).unwrap();

    // The thief signs another history with the log's name: the same slots and one more.
    let mut forged = Store::create(store_in(home, "forged.db"), &key()).unwrap();
    let mut pool = BusyPool::new(1, 7);
    for n in 0..12 {
        let entry = pool.recorded(slot(n));
        forged.append_slot(slot(n), &[entry]).unwrap();
    }
    LogFolder::new(home.join("forged")).publish(forged.reader()).unwrap();
    // A reader with only the key accepts the forged log; a reader with an earlier checkpoint does not.
    let alone = audit(home, &["forged", "--trust", "key"]);
    assert_eq!((&alone["verdict"], &alone["slots"]), (&"valid".into(), &12.into()), "{alone}");
    let told = audit(home, &["forged", "--trust", "key", "--since", "kept-checkpoint"]);
    assert_eq!(told["verdict"], "invalid", "{told}");
    assert!(told["contradiction"].is_object(), "{told}");

    // The operator still has the folder, ends the log, and starts a successor.
    let checked = audit(home, &["log", "--trust", "key", "--since", "kept-checkpoint"]);
    assert_eq!(checked["verdict"], "valid", "{checked}");
    let (code, _, err) =
        server(home, &["key", "new", "--out", "b.key", "--name", "exitgap.example/b"]);
    assert_eq!(code, Some(0), "{err}");
    write_key(&home.join("old.key"), &key());
    fs::write(home.join("old.toml"), config("old.db", "old.key", "log")).unwrap();
    fs::write(home.join("b.toml"), config("b.db", "b.key", "b-log")).unwrap();
    let successor = ["successor", "--of", "log", "--config", "b.toml"];
    let (code, _, err) = server(home, &successor);
    assert_eq!(code, Some(1));
    assert!(err.contains("use --key-stolen"), "{err}");
    let (code, out, err) = server(home, &[&successor[..], &["--key-stolen"]].concat());
    assert_eq!(code, Some(0), "{err}");
    assert_eq!(out, "exitgap.example/b succeeds exitgap.example/test/5957856 with 11 slots\n");
    assert!(err.contains("its key is compromised"), "{err}");
    // The old log cannot be continued by accident.
    let (code, _, err) = server(home, &["record", "--config", "old.toml"]);
    assert_eq!(code, Some(1));
    assert!(err.contains("has ended; its successor is exitgap.example/b"), "{err}");

    // The first leaf of the new log commits to the last state of the old log, not of the thief's.
    let secret = fs::read_to_string(home.join("b.key")).unwrap();
    let key: SignerKey = secret.trim_end().parse().unwrap();
    let mut next = Store::open(store_in(home, "b.db"), &key).unwrap();
    let entry = BusyPool::new(1, 5).recorded(slot(20));
    next.append_slot(slot(20), &[entry]).unwrap();
    LogFolder::new(home.join("b-log")).publish(next.reader()).unwrap();
    let report = audit(home, &["b-log", "--trust", "b-log/verifier-key"]);
    assert_eq!(report["verdict"], "valid", "{report}");
    let kept = fs::read_to_string(home.join("kept-checkpoint")).unwrap();
    let state: Vec<&str> = kept.lines().take(3).collect();
    assert_eq!(report["predecessor"], state.join(" "), "{report}");
}

/// The verdict on a log's folder for anyone who trusts the keys in a file.
fn verdict(home: &Path, trusted: &str) -> (Value, Value) {
    let report = audit(home, &["log", "--trust", trusted]);
    (report["verdict"].clone(), report["fault"]["code"].clone())
}

/// Records slots like the recorder does with these keys, and publishes them.
fn record(home: &Path, keys: &[&SignerKey], slots: std::ops::Range<u32>) {
    let mut store = Store::open(store_in(home, "series.db"), keys[0]).unwrap();
    if let Some(second) = keys.get(1) {
        store.sign_beside(second).unwrap();
    }
    let mut pools: Vec<_> = (1..=3).map(|number| BusyPool::new(number, 5)).collect();
    let known = store.reader().pools().unwrap();
    for n in slots {
        let mut entries: Vec<_> = pools.iter_mut().map(|pool| pool.recorded(slot(n))).collect();
        // The pool that the recorder was configured for.
        for pool in &known {
            if entries.iter().all(|entry| entry.pool != pool.id) {
                let (pool, default_base) = (pool.id.clone(), pool.default_base);
                let reading = Err(MissingReason::RpcUnavailable);
                entries.push(NewEntry { pool, default_base, reading });
            }
        }
        store.append_slot(slot(n), &entries).unwrap();
    }
    LogFolder::new(home.join("log")).publish(store.reader()).unwrap();
    store.reader().fsck(|_| {}).unwrap();
}

/// Runs `exitgap-server record` for one slot with an unreachable node and these lines under `[evidence]`; returns the
/// exit code and the error output.
fn record_slot(home: &Path, keys: &str, n: u32) -> (Option<i32>, String) {
    let text = config("series.db", "none.key", "log").replace("key_file = \"none.key\"", keys);
    let text = format!("{text}[recorder]\nseal_after_s = 5\n");
    fs::write(home.join("record.toml"), text).unwrap();
    let at = slot(n).number().to_string();
    let record = ["record", "--config", "record.toml", "--rehearse-at", &at, "--until", &at];
    let (code, _, err) = server(home, &record);
    (code, err)
}

#[test]
fn a_log_goes_on_under_another_key_after_both_signed_for_a_while() {
    let (home, path) = sealed_store();
    let home = home.path();
    assert_eq!(path, store_in(home, "series.db"));
    let old = key();
    record(home, &[&old], 20..22);
    let old_lines = fs::read_to_string(home.join("log/verifier-key")).unwrap();
    fs::write(home.join("old-key"), &old_lines).unwrap();

    let made = ["key", "new", "--out", "new.key", "--name", "exitgap.example/test"];
    let (code, _, err) = server(home, &made);
    assert_eq!(code, Some(0), "{err}");
    let new: SignerKey =
        fs::read_to_string(home.join("new.key")).unwrap().trim_end().parse().unwrap();
    // A key that never signed together with one of the log's own is rejected, and so is a key with another name.
    assert!(matches!(Store::open(&path, &new), Err(StoreError::WrongKey { .. })));
    let stranger = SignerKey::from_seed("exitgap.example/other", [3; 32]).unwrap();
    let mut store = Store::open(&path, &old).unwrap();
    assert!(matches!(store.sign_beside(&stranger), Err(StoreError::OtherName { .. })));
    drop(store);
    let mut young = Store::create(store_in(home, "young.db"), &old).unwrap();
    assert!(matches!(young.sign_beside(&new), Err(StoreError::KeyBeforeLog)));

    Reader::open(&path).unwrap().backup(home.join("before.db")).unwrap();
    write_key(&home.join("old.key"), &old);
    let (code, said) = record_slot(home, "key_file = \"new.key\"", 22);
    assert_eq!(code, Some(1));
    assert!(said.contains("use the log's key"), "{said}");

    // Both keys sign: a reader who trusts either can verify.
    let both = "key_file = \"new.key\"\nretiring_key_file = \"old.key\"";
    let (code, said) = record_slot(home, both, 22);
    assert_eq!(code, Some(0), "{said}");
    let note = fs::read_to_string(home.join("log/checkpoint")).unwrap();
    assert_eq!(note.matches("\n— ").count(), 2, "{note}");
    record(home, &[&old, &new], 23..24);
    let lines = fs::read_to_string(home.join("log/verifier-key")).unwrap();
    assert!(lines.starts_with(&old_lines), "{lines}");
    let new_line = lines.strip_prefix(&old_lines).unwrap();
    assert_eq!(new_line.lines().count(), 1, "{lines}");
    fs::write(home.join("new-key"), new_line).unwrap();
    fs::write(home.join("both-keys"), &lines).unwrap();
    let note = fs::read_to_string(home.join("log/checkpoint")).unwrap();
    assert_eq!(note.matches("\n— ").count(), 2, "{note}");
    assert_eq!(verdict(home, "old-key"), ("valid".into(), Value::Null));
    assert_eq!(verdict(home, "both-keys"), ("valid".into(), Value::Null));
    let evidence = |at: u32, keys: &str| {
        let pool = BusyPool::new(1, 5).id.to_string();
        let (at, size) = (slot(at).to_string(), "1000");
        let out = format!("evidence-{}.json", keys.len());
        fs::write(home.join("log.toml"), config("series.db", "new.key", "log")).unwrap();
        let ask = ["evidence", &pool, "--size-usd", size, "--at", &at, "--out", &out];
        let (code, _, err) = server(home, &[&ask[..], &["--config", "log.toml"]].concat());
        assert_eq!(code, Some(0), "{err}");
        let mut verify = Command::new(binaries::path("exitgap"));
        let done = verify.args(["verify", &out, "--trust", keys]).current_dir(home).output();
        fs::remove_file(home.join(&out)).unwrap();
        done.unwrap().status.code()
    };
    // While both sign, either key suffices; before that, only the old key does.
    assert_eq!((evidence(23, "old-key"), evidence(23, "new-key")), (Some(0), Some(0)));
    assert_eq!((evidence(21, "old-key"), evidence(21, "new-key")), (Some(0), Some(6)));

    // An older copy of the store cannot continue, and the error says what to do.
    let copy = Store::open(home.join("before.db"), &old).unwrap();
    let refused = LogFolder::new(home.join("log")).check(copy.reader()).unwrap_err();
    assert!(matches!(refused, PublishError::KeyNotKnown { .. }), "{refused}");
    assert!(refused.to_string().contains("restore"), "{refused}");
    drop(copy);

    // The old key was deleted.
    fs::remove_file(home.join("old.key")).unwrap();
    let (code, said) = record_slot(home, "key_file = \"new.key\"", 24);
    assert_eq!(code, Some(0), "{said}");
    record(home, &[&new], 25..26);
    let note = fs::read_to_string(home.join("log/checkpoint")).unwrap();
    assert_eq!(note.matches("\n— ").count(), 1, "{note}");
    assert_eq!((evidence(25, "old-key"), evidence(25, "new-key")), (Some(6), Some(0)));
    // Its signatures stay valid under its public key.
    assert_eq!(evidence(21, "old-key"), Some(0));
    assert_eq!(verdict(home, "both-keys"), ("valid".into(), Value::Null));
    assert_eq!(verdict(home, "old-key").1, "signature_not_trusted");

    // A lost store can be restored without the old key, with all original signatures.
    let published = |size: u64| {
        let reader = Reader::open(&path).unwrap();
        reader.checkpoint(size).unwrap().unwrap()
    };
    fs::write(home.join("again.toml"), config("again.db", "new.key", "log")).unwrap();
    let (code, _, err) = server(home, &["restore", "--config", "again.toml"]);
    assert_eq!(code, Some(0), "{err}");
    let again = Store::open(store_in(home, "again.db"), &new).unwrap();
    let size = again.reader().log_size().unwrap();
    assert_eq!(size, 26);
    for size in 1..=size {
        assert_eq!(again.reader().checkpoint(size).unwrap().unwrap(), published(size));
    }
    assert_eq!(again.reader().log().unwrap(), Reader::open(&path).unwrap().log().unwrap());
    again.reader().fsck(|_| {}).unwrap();
}
