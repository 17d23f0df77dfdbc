//! The command line and the npm package give the same verdict on the cosignatures of a checkpoint.

use std::fs;
use std::process::Command;

use exitgap_core::evidence::Base;
use exitgap_core::tlog::{Cosigner, Note, SignerKey};
use exitgap_store::Store;
use exitgap_tests::binaries;
use serde_json::Value;

use crate::scenes::npm::Project;
use crate::scenes::store::{BusyPool, key, slot};

fn witness(name: &str, seed: u8) -> Cosigner {
    Cosigner::new(SignerKey::from_seed(name, [seed; 32]).unwrap())
}

#[test]
fn a_checkpoints_witnesses_are_judged_by_every_reader_alike() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    let mut store = Store::create(at.join("series.db"), &key()).unwrap();
    store.await_cosignatures(true);
    let mut pool = BusyPool::new(1, 3);
    store.append_slot(slot(0), &[pool.recorded(slot(0))]).unwrap();
    let [first, second] = [witness("w1.example", 1), witness("w2.example", 2)];
    let note = store.reader().checkpoint(1).unwrap().unwrap();
    let lines = first.cosign(Note::parse(&note).unwrap().text, 1_700_000_000)
        + &second.cosign("another text\n", 1_700_000_001);
    store.record_cosignatures(&lines).unwrap();
    let size = "1000".parse().unwrap();
    let evidence = store.reader().evidence(&pool.id, Base::Token0, slot(0), size).unwrap();
    fs::write(at.join("evidence.json"), evidence).unwrap();
    let [w1, w2] = [&first, &second].map(Cosigner::verifier);
    let policies = [
        format!("witness w1 {w1}\nquorum w1\n"),
        format!("witness w1 {w1}\nwitness w2 {w2}\nquorum w1\n"),
        format!("log {}\nwitness w1 {w1}\nquorum w1\n", key().verifier()),
        "quorum none\n".to_owned(),
    ];
    let codes = ["ok", "cosignature_forged", "log_not_in_policy", "ok"];
    let project = Project::new();
    project.add(&["witnessed.mjs"]);
    let file = at.join("evidence.json").display().to_string();
    let (mut asked, mut ours) = (vec!["witnessed.mjs".to_owned(), file.clone()], Vec::new());
    for (place, (policy, code)) in policies.iter().zip(codes).enumerate() {
        let path = at.join(format!("policy{place}")).display().to_string();
        fs::write(&path, policy).unwrap();
        let mut verify = Command::new(binaries::path("exitgap"));
        verify.args(["verify", &file, "--json", "--witnesses", &path]);
        let report: Value = serde_json::from_slice(&verify.output().unwrap().stdout).unwrap();
        assert_eq!(report["witnessed"]["code"], code, "{report}");
        ours.push(report["witnessed"].clone());
        asked.push(path);
    }
    let asked: Vec<&str> = asked.iter().map(String::as_str).collect();
    let theirs: Value = serde_json::from_str(&project.node(&asked)).unwrap();
    assert_eq!(theirs, Value::Array(ours));
}
