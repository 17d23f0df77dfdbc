//! `x402-once`: both wallets and the official, unmodified clients, with a service that is still settling.

use std::fs;
use std::path::Path;
use std::process::Command;

use exitgap_tests::{binaries, fixtures};
use serde_json::Value;

use crate::scenes::npm::{root, said};

#[test]
#[ignore = "fetches the official clients: `cargo xtask test --all` runs it"]
fn our_wallets_sign_one_payment_for_one_answer() {
    let mut build = Command::new("cargo");
    build.args(["build", "--quiet", "--locked", "-p", "exitgap-pay"]);
    build.args(["--example", "pay_until_answered"]).current_dir(root());
    let built = build.output().unwrap();
    assert!(built.status.success(), "{}", said(&built));

    let folder = fixtures::folder();
    assert!(folder.join("x402-clients").is_dir(), "run `cargo xtask test --all`");
    let mut once = Command::new("node");
    once.arg(root().join("tests/x402-once/once.mjs")).arg("--json");
    once.arg("--rust").arg(binaries::path("examples/pay_until_answered"));
    let output = once.arg("--fixtures").arg(folder).output().unwrap();
    let found: Value = serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|error| panic!("{error}: {}", said(&output)));
    let results = found["results"].as_array().unwrap();
    let clients = |name: &str| results.iter().filter(|one| one["client"] == name).count();
    let ours = ["exitgap/pay (npm)", "exitgap-pay (Rust)", "both in turn"];
    for client in ours.into_iter().chain(["@x402/fetch (npm)", "control"]) {
        assert_eq!(clients(client), 6, "{client}, each way");
    }
    for one in results {
        eprintln!("{}, {}: {} signed twice", one["client"], one["way"], one["signed_twice"]);
    }
    let measured = Path::new(env!("CARGO_MANIFEST_DIR")).join("../target/measured");
    fs::create_dir_all(&measured).unwrap();
    fs::write(measured.join("payments.signed_twice"), found["payments.signed_twice"].to_string())
        .unwrap();
    assert_eq!(found["problems"], serde_json::json!([]));
    assert_eq!(found["payments.signed_twice"], 0);
}
