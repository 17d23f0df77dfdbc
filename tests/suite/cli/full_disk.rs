//! A full disk is called one by every program, whatever the system calls it, with what to do about it.

use std::fs::{self, File};
use std::process::{Command, Stdio};

use exitgap_store::alerts::Alerts;
use exitgap_store::payments::Payments;
use exitgap_store::proofs::Proofs;
use exitgap_store::witness::WitnessState;
use exitgap_tests::binaries;
use exitgap_tests::faults::disk_full::{Mounted, fill};
use tempfile::TempDir;

use crate::scenes::operator::{config, server};

fn require_named(about: &str, words: &str) {
    assert!(words.contains("the disk is full ("), "{about}: {words}");
    assert!(words.contains("free space on"), "{about}: {words}");
}

#[test]
fn standard_output_on_a_full_disk_is_called_one() {
    let folder = TempDir::new().unwrap();
    let full = Stdio::from(File::options().write(true).open("/dev/full").unwrap());
    let mut key = Command::new(binaries::path("exitgap-server"));
    key.args(["key", "new", "--out", "a.key", "--name", "l.example/log"]);
    let output = key.current_dir(folder.path()).stdout(full).output().unwrap();
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    require_named("output", &String::from_utf8_lossy(&output.stderr));
}

#[test]
fn files_and_databases_on_a_full_disk_are_called_that() {
    let folder = TempDir::new().unwrap();
    let elsewhere = TempDir::new().unwrap();
    let Ok(_disk) = Mounted::at(folder.path()).unwrap() else {
        eprintln!("not tried: this process may not mount a file system");
        return;
    };
    let at = folder.path();
    fill(&at.join("filler"), 0).unwrap();
    // The control: there is no room for a byte more.
    assert!(fs::write(at.join("control"), [7; 4096]).is_err());

    let made = ["key", "new", "--out", "a.key", "--name", "l.example/log"];
    let (code, _, words) = server(at, &made);
    assert_eq!(code, Some(1), "{words}");
    require_named("a key", &words);
    let databases: [(&str, String); 4] = [
        ("payments", Payments::open(&at.join("payments.db")).unwrap_err().to_string()),
        ("alerts", Alerts::open(&at.join("alerts.db")).unwrap_err().to_string()),
        ("proofs", Proofs::open(&at.join("proofs.db")).unwrap_err().to_string()),
        ("witness", WitnessState::open(&at.join("witness.db")).unwrap_err().to_string()),
    ];
    for (name, words) in databases {
        require_named(name, &words);
    }

    // A recorder whose store is on it, and its key elsewhere.
    assert_eq!(server(elsewhere.path(), &made).0, Some(0));
    let key = elsewhere.path().join("a.key").display().to_string();
    let store = at.join("series.db").display().to_string();
    let text = config(&store, &key, "log") + "[proofs]\nkeep = false\n";
    fs::write(elsewhere.path().join("exitgap.toml"), text).unwrap();
    let (code, _, words) = server(elsewhere.path(), &["record"]);
    assert_eq!(code, Some(1), "{words}");
    require_named("a store", &words);
}
