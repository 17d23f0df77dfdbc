//! What a replica rejects: two histories, slots that differ from the signed ones, logs and keys of others. Its data
//! stays unchanged.

use std::fs;
use std::path::Path;
use std::process::Command;

use exitgap_core::log_folder::Manifest;
use exitgap_core::tlog::{Checkpoint, SignerKey};
use exitgap_tests::binaries;
use tempfile::TempDir;

use super::replica::{once, replicated};
use crate::scenes::growing::Log;
use crate::scenes::origin::{Origin, answer, files, wait_until, words};
use crate::scenes::service::Service;
use crate::scenes::store::slot;

/// Answers with the file of another log, if that log has it.
fn from(log: &Path) -> impl Fn(&str, Vec<u8>) -> Option<Vec<u8>> + Send + 'static {
    let log = log.to_owned();
    move |file, _| {
        Some(match fs::read(log.join(file)) {
            Ok(bytes) => answer("200 OK", "", &bytes),
            Err(_) => answer("404 Not Found", "", b""),
        })
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_second_history_is_refused_kept_as_proof_and_the_first_goes_on() {
    let mut origin = Origin::start(4).await;
    let folder = TempDir::new().unwrap();
    let key = origin.folder().join("verifier-key");
    let key = key.to_str().unwrap().to_owned();
    let url = origin.log_url();
    assert!(once(&folder, &url, &key).status.success());
    let held = files(&folder.path().join("log"));

    // The same key signs another history, with as many slots and with more.
    for (slots, fork) in [(4, "fork-4-4.json"), (6, "fork-4-6.json")] {
        let mut other = Log::new();
        (0..slots).for_each(|index| other.append(index % 3 == 2));
        other.publish();
        origin.lie(from(&other.path().join("log")));
        let refused = once(&folder, &url, &key);
        assert!(origin.be_honest() > 0);
        let said = words(&refused);
        assert_eq!(refused.status.code(), Some(1), "{said}");
        assert!(
            said.contains("two histories are signed in its name") && said.contains(fork),
            "{said}"
        );
        assert!(files(&folder.path().join("log")) == held, "nothing of it came in");
        // Anyone with the key can see that its holder signed both.
        let mut judge = Command::new(binaries::path("exitgap"));
        judge.args(["verify", &format!("refused/{fork}"), "--trust", &key, "--json"]);
        let judged = judge.current_dir(folder.path()).output().unwrap();
        let report: serde_json::Value = serde_json::from_slice(&judged.stdout).unwrap();
        assert_eq!(report["verdict"], "valid", "{report}");
    }
    origin.log.seal(false);
    let followed = once(&folder, &url, &key);
    assert_eq!(String::from_utf8_lossy(&followed.stdout), "followed 1 slots, 5 in total\n");
    assert!(replicated(&folder) == origin.published());
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_first_look_accepted_counts_even_if_no_slot_came() {
    // Published after two slots, and after each of two more: the tiles of the shorter state are still there.
    let mut origin = Origin::start(2).await;
    let shorter = fs::read(origin.folder().join("checkpoint")).unwrap();
    origin.log.seal(false);
    origin.log.seal(false);
    let key = origin.folder().join("verifier-key");
    let key = key.to_str().unwrap();
    let url = origin.log_url();
    let mut other = Log::new();
    (0..6).for_each(|index| other.append(index % 3 == 2));
    other.publish();
    let folder = TempDir::new().unwrap();
    origin.lie(|file, _| file.starts_with("slots/").then(|| answer("404 Not Found", "", b"")));
    assert!(!once(&folder, &url, key).status.success());
    assert!(origin.be_honest() > 0);
    assert!(!folder.path().join("log/checkpoint").exists(), "no slot came");
    origin.lie(from(&other.path().join("log")));
    let refused = words(&once(&folder, &url, key));
    assert!(origin.be_honest() > 0);
    assert!(refused.contains("fork-4-6.json"), "{refused}");
    origin.lie(move |file, _| (file == "checkpoint").then(|| answer("200 OK", "", &shorter)));
    let refused = words(&once(&folder, &url, key));
    assert!(origin.be_honest() > 0);
    assert!(refused.contains("has 2 slots, but an accepted one had 4"), "{refused}");
    let followed = once(&folder, &url, key);
    assert_eq!(String::from_utf8_lossy(&followed.stdout), "followed 4 slots, 4 in total\n");
    // A control: who sees the other history first follows it.
    let newcomer = TempDir::new().unwrap();
    origin.lie(from(&other.path().join("log")));
    assert!(once(&newcomer, &url, key).status.success());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_running_replica_says_that_it_refuses_and_answers_on() {
    let mut origin = Origin::start(3).await;
    let folder = TempDir::new().unwrap();
    let key = origin.folder().join("verifier-key");
    let trust = ["--trust", key.to_str().unwrap(), "--every-s", "1"];
    let replica = Service::follow(folder.path(), &origin.log_url(), &trust);
    let says = |what: &str| wait_until(|| replica.get("/metrics").body_text().contains(what));
    says("exitgap_replica_slots_held 3\n");
    let mut other = Log::new();
    (0..5).for_each(|index| other.append(index == 0));
    other.publish();
    origin.lie(from(&other.path().join("log")));
    says("exitgap_replica_refuses 1\n");
    assert!(origin.fired() > 0);
    let held = replica.get("/log/checkpoint").body;
    assert_eq!(held, fs::read(origin.folder().join("checkpoint")).unwrap());
    assert_eq!(replica.get("/v1/pools").found()["pools"].as_array().unwrap().len(), 2);
    // With true answers, the replica recovers from a poisoned cache.
    assert!(origin.be_honest() > 0);
    origin.log.seal(false);
    says("exitgap_replica_refuses 0\n");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_slot_that_is_not_what_was_signed_is_refused_and_asked_for_again() {
    let origin = Origin::start(5).await;
    let folder = TempDir::new().unwrap();
    let key = origin.folder().join("verifier-key");
    let key = key.to_str().unwrap();
    let url = origin.log_url();
    // A valid manifest whose parts belong to an earlier slot: each part still has the hash in its name.
    let manifest = |index: u32| {
        let file = origin.folder().join(format!("slots/{}.jsonl", slot(index).number()));
        Manifest::from_bytes(&fs::read(file).unwrap()).unwrap()
    };
    let mut mixed = manifest(3);
    mixed.parts = manifest(2).parts;
    let (file, bytes) = (format!("slots/{}.jsonl", slot(3).number()), mixed.to_bytes().unwrap());
    let lied = file.clone();
    origin.lie(move |asked, _| (asked == lied).then(|| answer("200 OK", "", &bytes)));
    let refused = once(&folder, &url, key);
    assert_eq!(origin.be_honest(), 1);
    let said = words(&refused);
    assert!(refused.status.code() == Some(1), "{said}");
    assert!(said.contains("its heads are not those that the slot's leaf signs"), "{said}");
    assert!(!folder.path().join("refused").join(&file).exists(), "nothing of it stays");
    assert!(!folder.path().join("log").join(&file).exists());
    let note = fs::read_to_string(folder.path().join("log/checkpoint"));
    assert!(note.is_err() || Checkpoint::from_note(&note.unwrap()).unwrap().0.size <= 3);
    let followed = once(&folder, &url, key);
    assert_eq!(String::from_utf8_lossy(&followed.stdout), "followed 2 slots, 5 in total\n");
    assert!(replicated(&folder) == origin.published());
}

#[tokio::test(flavor = "multi_thread")]
async fn keys_logs_and_folders_that_do_not_fit_are_named() {
    let origin = Origin::start(2).await;
    let (folder, url) = (TempDir::new().unwrap(), origin.log_url());
    let key = origin.folder().join("verifier-key");
    let key = key.to_str().unwrap();
    let refused = |folder: &TempDir, log: &str, trust: &str, says: &str| {
        let output = once(folder, log, trust);
        let said = words(&output);
        assert!(!output.status.success() && said.contains(says), "{says}: {said}");
    };
    // Another key with the log's own name.
    let name = fs::read_to_string(key).unwrap().split('+').next().unwrap().to_owned();
    let other = SignerKey::from_seed(&name, [9; 32]).unwrap().verifier().to_string();
    refused(&folder, &url, &other, "the newest checkpoint is not accepted");
    assert!(!folder.path().join("log/checkpoint").exists());
    // An invalid key.
    refused(&folder, &url, "exits.example+00000000+AAAA", "--trust exits.example+00000000+AAAA");
    refused(&folder, &url, "absent", "--trust absent: No such file");
    fs::write(folder.path().join("empty"), "\n").unwrap();
    refused(&folder, &url, "empty", "it contains no key");
    // Invalid addresses, and an unreachable one.
    refused(&folder, "exitgap.example", key, "not a URL such as");
    refused(&folder, "http://127.0.0.1:1/log", key, "127.0.0.1:1/log/checkpoint");
    // A folder with other content, and one of another log.
    let foreign = TempDir::new().unwrap();
    fs::create_dir(foreign.path().join("log")).unwrap();
    fs::write(foreign.path().join("log/holiday.jpg"), "").unwrap();
    refused(&foreign, &url, key, "has other files and is not a copy of a log");
    assert!(once(&folder, &url, key).status.success());
    refused(&folder, &url, &other_log(), "no given key has that name");
    // A second replica with the same folder.
    let _running = Service::follow(folder.path(), &url, &["--trust", key]);
    refused(&folder, &url, key, "series.db");
}

fn other_log() -> String {
    SignerKey::from_seed("other.example/log/5957856", [9; 32]).unwrap().verifier().to_string()
}
