//! `exitgap-server witness` as a separate process.

use std::path::Path;
use std::process::Command;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{scope, sleep};
use std::time::Duration;

use exitgap_core::series::Slot;
use exitgap_core::tlog::{
    AddCheckpoint, Checkpoint, Hash, Origin, SignerKey, WitnessKey, consistency_proof, leaf_hash,
    root,
};
use exitgap_tests::devchain::Rng;
use tempfile::TempDir;

use crate::scenes::operator::server;
use crate::scenes::service::post;
use crate::scenes::witness::Witness;

const NAME: &str = "c2sp.example/log";
const SEED: [u8; 32] = [0x42; 32];

fn log_key() -> SignerKey {
    SignerKey::from_seed(NAME, SEED).unwrap()
}

#[test]
fn a_log_written_from_the_specification_alone_is_cosigned_by_its_rules() {
    let witness = Witness::start(&[&log_key().verifier().to_string()]);
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("js/witness.mjs");
    let (address, key) = (witness.url(), witness.key.to_string());
    let mut node = Command::new("node");
    node.arg(script).args([&address, &key, &"42".repeat(32), &format!("{NAME}/5957856")]);
    let output = node.output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
    assert_eq!(String::from_utf8_lossy(&output.stdout).trim(), "{\"forks_cosigned\":0}");
}

/// A request to cosign a log of these leaves, with `old` as the previous size.
fn request(leaves: &[Hash], old: usize) -> Vec<u8> {
    let origin = Origin::new(NAME, Slot::FIRST).unwrap();
    let signer = log_key().with_name(&origin.to_string()).unwrap();
    let checkpoint = Checkpoint {
        origin,
        size: leaves.len() as u64,
        root: root(leaves),
        extensions: Vec::new(),
    };
    let proof = if old == 0 { Vec::new() } else { consistency_proof(leaves, old).unwrap() };
    let checkpoint = signer.sign(&checkpoint.to_text()).unwrap();
    AddCheckpoint { old: old as u64, proof, checkpoint }.to_text().into_bytes()
}

/// Whether a witness cosigns these leaves; `None` if it did not answer.
fn cosigns(witness: &Witness, leaves: &[Hash], old: usize) -> Option<bool> {
    let answered = witness.try_post(&request(leaves, old))?;
    assert!([200, 409].contains(&answered), "{answered}");
    Some(answered == 200)
}

#[test]
fn a_witness_that_is_killed_while_it_cosigns_never_cosigns_another_past() {
    let mut witness = Witness::start(&[&log_key().verifier().to_string()]);
    let mut random = Rng::new(18);
    let mut past: Vec<Hash> = vec![leaf_hash(b"first")];
    assert_eq!(cosigns(&witness, &past, 0), Some(true));
    let (mut answered_before, mut killed_before) = (0, 0);
    for round in 0_u32..24 {
        let old = past.len();
        let forks: Vec<Vec<Hash>> = [b"left ", b"right"]
            .map(|side| {
                [&past[..], &[leaf_hash(&[&side[..], &round.to_be_bytes()].concat())]].concat()
            })
            .to_vec();
        let ended = AtomicBool::new(false);
        let told = Mutex::new([false; 2]);
        // From a fraction of the response time to many times it, for any speed of disk and machine.
        let wait = Duration::from_micros(random.below(250 << (round % 10)));
        scope(|threads| {
            let (witness, told, ended, forks) = (&witness, &told, &ended, &forks);
            for side in [0, 1] {
                threads.spawn(move || {
                    for _ in 0..50 {
                        if ended.load(Ordering::SeqCst) {
                            return;
                        }
                        match cosigns(witness, &forks[side], old) {
                            Some(true) => told.lock().unwrap()[side] = true,
                            Some(false) => {}
                            None => return,
                        }
                    }
                });
            }
            sleep(wait);
            witness.kill();
            ended.store(true, Ordering::SeqCst);
        });
        witness.restart();
        let told = *told.lock().unwrap();
        assert_ne!(told, [true; 2], "round {round}: both pasts were cosigned before the kill");
        let again = [0, 1].map(|side| cosigns(&witness, &forks[side], old).unwrap());
        // At the previous size, only a fork that was never cosigned may win; at the new size, the one that was
        // cosigned.
        let same = [0, 1].map(|side| {
            let size = forks[side].len();
            cosigns(&witness, &forks[side], size).unwrap()
        });
        assert_ne!(same, [true; 2], "round {round}");
        let winner = usize::from(same[1]);
        assert!(same[winner], "round {round}: one of them is cosigned");
        assert!(
            !told[1 - winner] && !again[1 - winner],
            "round {round}: another past after a kill"
        );
        if told.contains(&true) {
            answered_before += 1;
        } else {
            killed_before += 1;
        }
        past.clone_from(&forks[winner]);
    }
    // Both kinds of kills occurred.
    assert!(answered_before > 0 && killed_before > 0, "{answered_before} {killed_before}");
}

#[test]
fn a_witness_has_a_key_of_its_own_and_logs_to_look_after() {
    let folder = TempDir::new().unwrap();
    let at = folder.path();
    let (code, printed, said) =
        server(at, &["key", "witness", "--out", "witness.key", "--name", "w.example/witness"]);
    assert_eq!(code, Some(0), "{said}");
    assert_eq!(printed.trim().parse::<WitnessKey>().unwrap().name(), "w.example/witness");
    let fails = |arguments: &[&str], expected: &str| {
        let (code, _, said) = server(at, arguments);
        assert!(code == Some(1) && said.contains(expected), "{arguments:?}: {said}");
    };
    fails(&["key", "witness", "--out", "witness.key", "--name", "w"], "is not overwritten");
    fails(&["key", "witness", "--out", "other.key", "--name", "a b"], "--name");
    let log = log_key().verifier().to_string();
    fails(&["witness", "--log", "nonsense"], "--log");
    fails(&["witness", "--log", &log, "--log", &log], "listed twice");
    fails(&["witness", "--log", &log, "--key", "absent.key"], "key witness --out");
    std::fs::write(at.join("open.key"), "x").unwrap();
    fails(&["witness", "--log", &log, "--key", "open.key"], "set mode 600");
    let text = std::fs::read_to_string(at.join("witness.key")).unwrap();
    let same: SignerKey = text.trim_end().parse().unwrap();
    fails(&["witness", "--log", &same.verifier().to_string()], "is the key of a log");
    std::fs::write(at.join("witness.db"), vec![7; 4096]).unwrap();
    fails(&["witness", "--log", &log], "witness");
    assert_eq!(server(at, &["witness"]).0, Some(2));
}

#[test]
fn what_is_no_configuration_of_witnesses_is_named_with_its_key() {
    let folder = TempDir::new().unwrap();
    let check = |table: &str| {
        let config = crate::scenes::operator::config("a.db", "a.key", "log");
        std::fs::write(folder.path().join("exitgap.toml"), format!("{config}[witness]\n{table}\n"))
            .unwrap();
        let (code, _, said) = server(folder.path(), &["check"]);
        assert_eq!(code, Some(1), "{said}");
        said
    };
    for (table, expected) in [
        ("asks = [\"w.example\"]", "[witness] asks"),
        ("logs = [\"l.example\"]", "[witness] logs"),
        ("ask = []", "unknown field"),
    ] {
        let said = check(table);
        assert!(said.contains(expected), "{said}");
    }
}

#[test]
fn a_request_that_is_cut_off_is_nothing() {
    let witness = Witness::start(&[&log_key().verifier().to_string()]);
    let leaves = [leaf_hash(b"only")];
    let whole = request(&leaves, 0);
    for length in [0, 5, 40, whole.len() / 2, whole.len() - 1] {
        let answered = post(witness.address, "/witness/add-checkpoint", &[], &whole[..length]);
        assert!([400, 403].contains(&answered.status), "{length}: {}", answered.status);
    }
    assert_eq!(cosigns(&witness, &leaves, 0), Some(true));
}
