//! The recorder and its witnesses: it publishes their cosignatures with the slot and in the evidence, and does not wait
//! for a witness that does not answer.

use std::fs;
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use exitgap_core::evidence::Base;
use exitgap_core::tlog::{Cosigner, Note, SignerKey};
use exitgap_server::recorder::{ManualClock, Recorder, Stop};
use exitgap_server::witness::{WitnessConfig, Witnesses};
use exitgap_store::{Cosignatures, EvidenceError, LogFolder, Reader, Store};
use exitgap_tests::binaries;
use exitgap_tests::fixtures;
use exitgap_tests::receiver::{Does, Receiver};
use serde_json::Value;
use tempfile::TempDir;
use tokio::sync::watch;

use super::slots::{Act, Scripted, recorder, source};
use crate::scenes::store::{BusyPool, key, slot, store_in};
use crate::scenes::witness::Witness;

fn witnesses(asks: &[String]) -> Witnesses {
    let config = WitnessConfig { asks: asks.to_vec(), ..WitnessConfig::default() };
    Witnesses::new(config.plan().unwrap().asks).unwrap()
}

fn other(name: &str, seed: u8) -> Cosigner {
    Cosigner::new(SignerKey::from_seed(name, [seed; 32]).unwrap())
}

/// Runs `exitgap`; returns the exit code and the printed document.
fn exitgap(arguments: &[&str]) -> (Option<i32>, Value) {
    let output =
        Command::new(binaries::path("exitgap")).args(arguments).arg("--json").output().unwrap();
    let document = serde_json::from_slice(&output.stdout);
    (
        output.status.code(),
        document.unwrap_or_else(|_| panic!("{}", String::from_utf8_lossy(&output.stderr))),
    )
}

/// A recorder of one pool that publishes its log.
fn publishing(folder: &Path) -> Recorder<Scripted> {
    let mut recorder = recorder(&store_in(folder, "series.db"), vec![source(1, |_| Act::Read)]);
    recorder.publish_in(LogFolder::new(folder.join("log"))).unwrap();
    recorder
}

fn evidence(folder: &Path, n: u32) -> Result<Vec<u8>, Box<EvidenceError>> {
    let pool = BusyPool::new(1, 3).id;
    let reader = Reader::open(store_in(folder, "series.db")).unwrap();
    reader.evidence(&pool, Base::Token0, slot(n), "1000".parse().unwrap()).map_err(Box::new)
}

#[tokio::test]
async fn a_slot_is_published_with_what_its_witnesses_signed() {
    let folder = TempDir::new().unwrap();
    let at = folder.path();
    let mut witness = Witness::start(&[&key().verifier().to_string()]);
    let liar = Receiver::start(Ipv4Addr::LOCALHOST, |_| Does::Answers(200, String::new())).unwrap();
    let silent = Receiver::start(Ipv4Addr::LOCALHOST, |_| Does::Hangs).unwrap();
    let asks = [
        witness.asked(),
        format!("{} http://127.0.0.1:1/witness", other("dead.example", 1).verifier()),
        format!("{} http://{}/witness", other("liar.example", 2).verifier(), liar.address()),
        format!("{} http://{}/witness", other("silent.example", 3).verifier(), silent.address()),
    ];
    let mut recorder = publishing(at);
    recorder.ask_witnesses(witnesses(&asks)).unwrap();
    let report = recorder.record_slot(slot(0)).await.unwrap();
    assert_eq!((report.cosigned, report.unpublished), (1, None));
    let why = |name: &str| {
        let found = report.not_cosigned.iter().find(|(witness, _)| witness == name);
        found.unwrap_or_else(|| panic!("{name}: {:?}", report.not_cosigned)).1.clone()
    };
    assert_eq!(why("dead.example"), "no connection could be made");
    assert_eq!(why("liar.example"), "its answer is not a cosignature by its key");
    assert_eq!(why("silent.example"), "it did not answer within 5 s");
    // From here on, it only asks this witness. The witness is killed for one slot and cosigns again after its restart.
    recorder.ask_witnesses(witnesses(&asks[..1])).unwrap();
    assert_eq!(recorder.record_slot(slot(1)).await.unwrap().cosigned, 1);
    witness.kill();
    assert_eq!(recorder.record_slot(slot(2)).await.unwrap().cosigned, 0);
    witness.restart();
    assert_eq!(recorder.record_slot(slot(3)).await.unwrap().cosigned, 1);
    assert_eq!(recorder.published_slots(), 4);
    recorder.close().unwrap();

    let log = at.join("log");
    let published = fs::read_to_string(log.join("checkpoint")).unwrap();
    assert_eq!(published.matches("\u{2014} ").count(), 2, "{published}");
    let trusted = log.join("verifier-key");
    let (trusted, log) = (trusted.to_str().unwrap(), log.to_str().unwrap());
    assert_eq!(exitgap(&["audit", log, "--trust", trusted]).1["verdict"], "valid");
    let store = Store::open(store_in(at, "series.db"), &key()).unwrap();
    let checked = store.reader().fsck(|_| {}).unwrap();
    assert_eq!((checked.asked_witnesses, checked.cosigned), (4, 3), "but for the newest's");
    drop(store);
    verified(at, &witness, trusted);
}

/// Requires the results of a reader who trusts the witness.
fn verified(at: &Path, witness: &Witness, trusted: &str) {
    let policy = |text: &str| {
        let path = at.join("policy");
        fs::write(&path, text).unwrap();
        path.to_str().unwrap().to_owned()
    };
    let file = at.join("evidence.json");
    fs::write(&file, evidence(at, 3).unwrap()).unwrap();
    let file = file.to_str().unwrap();
    let verify =
        |policy: &str| exitgap(&["verify", file, "--trust", trusted, "--witnesses", policy]);
    let one = format!("witness w1 {}\nquorum w1\n", witness.key);
    let (code, document) = verify(&policy(&one));
    assert_eq!(code, Some(0), "{document}");
    let witnessed = &document["witnessed"];
    assert_eq!((&witnessed["outcome"], &witnessed["code"]), (&"pass".into(), &"ok".into()));
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs();
    assert!(now - witnessed["recorded_before_s"].as_u64().unwrap() < 120, "{witnessed}");
    // A quorum with one witness missing; an invalid policy; cosignatures of others.
    let two = format!(
        "witness w1 {}\nwitness w2 {}\ngroup both all w1 w2\nquorum both\n",
        witness.key,
        other("w2.example", 9).verifier()
    );
    let (code, document) = verify(&policy(&two));
    let missing = document["witnessed"]["code"].clone();
    assert_eq!((code, missing), (Some(7), "quorum_missing".into()), "{document}");
    let refused = Command::new(binaries::path("exitgap"))
        .args(["verify", file, "--trust", trusted, "--witnesses", &policy("quorum w1\n")])
        .output()
        .unwrap();
    let said = String::from_utf8(refused.stderr).unwrap();
    assert!(refused.status.code() == Some(2) && said.contains("line 1"), "{said}");
    let text = fs::read_to_string(file).unwrap();
    let at_line = text.find("witness.example/w1 ").unwrap() + 60;
    let mut changed = text.into_bytes();
    changed[at_line] = if changed[at_line] == b'A' { b'B' } else { b'A' };
    fs::write(file, changed).unwrap();
    let (code, document) = verify(&policy(&one));
    let forged = document["witnessed"]["code"].clone();
    assert_eq!((code, forged), (Some(6), "cosignature_forged".into()), "{document}");
}

/// The store's newest slot waits for its witnesses: the process ended before they answered.
fn interrupted(folder: &Path) {
    let mut store = Store::create(store_in(folder, "series.db"), &key()).unwrap();
    store.await_cosignatures(true);
    let mut pool = BusyPool::new(1, 3);
    for n in 0..2 {
        store.append_slot(slot(n), &[pool.recorded(slot(n))]).unwrap();
    }
    store.close().unwrap();
    let log = LogFolder::new(folder.join("log"));
    let reader = Reader::open(store_in(folder, "series.db")).unwrap();
    assert_eq!(log.publish(&reader).unwrap().size, 1, "what awaits its witnesses is not published");
    assert!(matches!(*evidence(folder, 1).unwrap_err(), EvidenceError::Awaited { .. }));
    assert_eq!(reader.cosignatures(slot(0)).unwrap(), Cosignatures::Lines(String::new()));
}

#[tokio::test]
async fn a_recorder_that_ended_before_its_witnesses_answered_asks_them_again() {
    for asked in [true, false] {
        let folder = TempDir::new().unwrap();
        interrupted(folder.path());
        let witness = Witness::start(&[&key().verifier().to_string()]);
        let mut recorder = publishing(folder.path());
        if asked {
            recorder.ask_witnesses(witnesses(&[witness.asked()])).unwrap();
        }
        let (_stop, stopped) = watch::channel(Stop::No);
        let clock = ManualClock::new(Duration::from_secs(slot(1).unix_s()));
        recorder.run(&clock, stopped, Some(slot(1))).await.unwrap();
        assert_eq!(recorder.published_slots(), 2);
        recorder.close().unwrap();
        let published = fs::read_to_string(folder.path().join("log/checkpoint")).unwrap();
        let note = Note::parse(&published).unwrap();
        let lines = published.matches("\u{2014} ").count();
        assert_eq!(lines, if asked { 2 } else { 1 }, "{}", note.text);
        assert!(evidence(folder.path(), 1).is_ok());
    }
}

#[tokio::test]
async fn a_witness_that_has_seen_another_past_is_told_by_name() {
    let witness = Witness::start(&[&key().verifier().to_string()]);
    let folders = [TempDir::new().unwrap(), TempDir::new().unwrap()];
    // One log with two stores, like an operator who shows different histories to different readers.
    for (place, (folder, pool)) in folders.iter().zip([1, 2]).enumerate() {
        let mut recorder =
            recorder(&store_in(folder.path(), "series.db"), vec![source(pool, |_| Act::Read)]);
        recorder.ask_witnesses(witnesses(&[witness.asked()])).unwrap();
        let report = recorder.record_slot(slot(0)).await.unwrap();
        assert_eq!(report.cosigned, u32::from(place == 0), "{report:?}");
        if place == 1 {
            let (name, why) = &report.not_cosigned[0];
            assert!(name == "witness.example/w1" && why.contains("409"), "{why}");
        }
    }
}

/// A third-party witness (`aics-witness` from Python's package index) for a log of ours.
struct Others {
    child: Child,
    address: SocketAddr,
    key: String,
}

impl Drop for Others {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Others {
    fn start(folder: &Path, origin: &str, log: &str) -> Self {
        let program = fixtures::folder().join("aics-witness/bin/aics-witness");
        let run = |arguments: &[&str]| {
            let mut command = Command::new(&program);
            let output = command.args(arguments).current_dir(folder).output().unwrap();
            assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
            String::from_utf8(output.stdout).unwrap()
        };
        let made = run(&["init", "--name", "aics.example/w"]);
        let key = made.lines().find(|line| line.starts_with("aics.example/w+")).unwrap().to_owned();
        run(&["add-log", "--origin", origin, "--vkey", log]);
        let address = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
        let listen = address.to_string();
        let mut serve = Command::new(&program);
        serve.args(["serve", "--listen", &listen]).current_dir(folder).stderr(Stdio::null());
        let others = Self { child: serve.spawn().unwrap(), address, key };
        for _ in 0..200 {
            if TcpStream::connect(address).is_ok() {
                return others;
            }
            std::thread::sleep(Duration::from_millis(50));
        }
        panic!("the witness does not listen");
    }
}

#[tokio::test]
#[ignore = "needs a Python package: with `cargo xtask test --all`, which installs aics-witness"]
async fn an_unmodified_witness_of_others_cosigns_slot_by_slot() {
    let (folder, theirs) = (TempDir::new().unwrap(), TempDir::new().unwrap());
    let at = folder.path();
    let mut recorder = publishing(at);
    recorder.record_slot(slot(0)).await.unwrap();
    let log = fs::read_to_string(at.join("log/verifier-key")).unwrap();
    let origin = log.split('+').next().unwrap();
    let others = Others::start(theirs.path(), origin, log.trim());
    let asked = format!("{} http://{}", others.key, others.address);
    recorder.ask_witnesses(witnesses(&[asked])).unwrap();
    for n in 1..8 {
        let report = recorder.record_slot(slot(n)).await.unwrap();
        assert_eq!(report.cosigned, 1, "{n}: {:?}", report.not_cosigned);
    }
    recorder.close().unwrap();
    let file = at.join("evidence.json");
    fs::write(&file, evidence(at, 7).unwrap()).unwrap();
    let policy = at.join("policy");
    fs::write(&policy, format!("witness theirs {}\nquorum theirs\n", others.key)).unwrap();
    let [file, policy] = [file.to_str().unwrap(), policy.to_str().unwrap()];
    let document = exitgap(&["verify", file, "--witnesses", policy]).1;
    assert_eq!(document["witnessed"]["code"], "ok", "{document}");
    // Another history of the same log: the third-party witness refuses and reports it.
    let other = TempDir::new().unwrap();
    let mut liar = recorder_of(other.path(), 2);
    liar.ask_witnesses(witnesses(&[format!("{} http://{}", others.key, others.address)])).unwrap();
    let report = liar.record_slot(slot(0)).await.unwrap();
    assert_eq!((report.cosigned, report.not_cosigned.len()), (0, 1), "{report:?}");
}

/// A recorder of another pool with the same log's key.
fn recorder_of(folder: &Path, pool: u8) -> Recorder<Scripted> {
    recorder(&store_in(folder, "series.db"), vec![source(pool, |_| Act::Read)])
}
