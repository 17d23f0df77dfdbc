//! The drills of `exitgap-server`'s page on change: what is done when a log's key is stolen.

use std::fs;
use std::path::Path;
use std::process::Command;

use exitgap_core::tlog::SignerKey;
use exitgap_store::{LogFolder, Reader, Store};
use exitgap_tests::binaries;
use serde_json::Value;

use crate::scenes::operator::{config, server};
use crate::scenes::store::{BusyPool, key, slot};
use crate::store::sealing::sealed_store;

/// `exitgap audit` of a folder, as somebody elsewhere runs it.
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

    // The thief signs another history, of the same slots and one more, in the log's name.
    let mut forged = Store::create(home.join("forged.db"), &key()).unwrap();
    let mut pool = BusyPool::new(1, 7);
    for n in 0..12 {
        let entry = pool.recorded(slot(n));
        forged.append_slot(slot(n), &[entry]).unwrap();
    }
    LogFolder::new(home.join("forged")).publish(forged.reader()).unwrap();
    // Who has nothing but the key is deceived; who kept a checkpoint is not.
    let alone = audit(home, &["forged", "--trust", "key"]);
    assert_eq!((&alone["verdict"], &alone["slots"]), (&"valid".into(), &12.into()), "{alone}");
    let told = audit(home, &["forged", "--trust", "key", "--since", "kept-checkpoint"]);
    assert_eq!(told["verdict"], "invalid", "{told}");
    assert!(told["contradiction"].is_object(), "{told}");

    // The operator: the folder is still theirs, the log ends, another begins.
    let checked = audit(home, &["log", "--trust", "key", "--since", "kept-checkpoint"]);
    assert_eq!(checked["verdict"], "valid", "{checked}");
    let (code, _, err) =
        server(home, &["key", "new", "--out", "b.key", "--name", "exitgap.example/b"]);
    assert_eq!(code, Some(0), "{err}");
    fs::write(home.join("old.key"), key().to_secret_text()).unwrap();
    fs::write(home.join("old.toml"), config("old.db", "old.key", "log")).unwrap();
    fs::write(home.join("b.toml"), config("b.db", "b.key", "b-log")).unwrap();
    let successor = ["successor", "--of", "log", "--config", "b.toml"];
    let (code, _, err) = server(home, &successor);
    assert_eq!(code, Some(1));
    assert!(err.contains("say --key-stolen"), "{err}");
    let (code, out, err) = server(home, &[&successor[..], &["--key-stolen"]].concat());
    assert_eq!(code, Some(0), "{err}");
    assert_eq!(out, "exitgap.example/b succeeds exitgap.example/test/5957856 of 11 slots\n");
    assert!(err.contains("its key is in other hands"), "{err}");
    // Nobody goes on with the old log by accident.
    let (code, _, err) = server(home, &["record", "--config", "old.toml"]);
    assert_eq!(code, Some(1));
    assert!(err.contains("has ended: exitgap.example/b succeeds it"), "{err}");

    // What the new log's first leaf commits to is the old one's last state, and not the thief's.
    let secret = fs::read_to_string(home.join("b.key")).unwrap();
    let key: SignerKey = secret.trim_end().parse().unwrap();
    let mut next = Store::open(home.join("b.db"), &key).unwrap();
    let entry = BusyPool::new(1, 5).recorded(slot(20));
    next.append_slot(slot(20), &[entry]).unwrap();
    LogFolder::new(home.join("b-log")).publish(next.reader()).unwrap();
    let report = audit(home, &["b-log", "--trust", "b-log/verifier-key"]);
    assert_eq!(report["verdict"], "valid", "{report}");
    let kept = fs::read_to_string(home.join("kept-checkpoint")).unwrap();
    let state: Vec<&str> = kept.lines().take(3).collect();
    assert_eq!(report["predecessor"], state.join(" "), "{report}");
}
