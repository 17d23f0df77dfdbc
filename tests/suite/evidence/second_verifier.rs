//! The second verifier, `tests/js`, written in another language from the format page alone: it
//! comes to the same end on every shared vector.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

fn tests() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn agree(arguments: &[&str]) -> Output {
    Command::new("node")
        .arg(tests().join("js/agree.mjs"))
        .args(arguments)
        .output()
        .expect("node, version 20 or later, is on the path")
}

/// How the comparison reports a folder of which it compared every file.
fn report(kind: &str, disagreeing: usize) -> String {
    let folder = tests().join("vectors").join(kind);
    let files = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let vectors = files.filter(|path| path.extension().is_some_and(|e| e == "json")).count();
    assert!(vectors > 0, "no vectors of {kind}");
    format!("{kind}: compared {vectors}, disagreeing {disagreeing}\n")
}

/// The recorded sales of other venues.
const POOLS: &str = "pools: compared 3600, disagreeing 0\n";

#[test]
fn it_agrees_on_every_vector() {
    let output = agree(&[]);
    let found = String::from_utf8(output.stdout).unwrap();
    let differences = String::from_utf8_lossy(&output.stderr);
    let agreed = ["evidence", "quotes", "hours"].map(|kind| report(kind, 0)).concat() + POOLS;
    assert_eq!(found, agreed, "{differences}");
    assert!(output.status.success(), "{differences}");
}

/// The recorded sales of Curve, Aerodrome and Balancer, kind by kind.
const FILLS: &str = r#"{"kind":"curve_plain","cases":3356,"mismatches":0}
{"kind":"curve_ng","cases":2080,"mismatches":0}
{"kind":"aerodrome_stable","cases":1888,"mismatches":0}
{"kind":"aerodrome_volatile","cases":944,"mismatches":0}
{"kind":"balancer_v2_weighted","cases":2346,"mismatches":0}
{"kind":"balancer_v2_composable_stable","cases":1756,"mismatches":0}
{"kind":"balancer_v3_weighted","cases":1828,"mismatches":0}
{"kind":"balancer_v3_stable","cases":1728,"mismatches":0}
"#;

#[test]
fn it_fills_every_recorded_sale_of_other_curves() {
    let mut node = Command::new("node");
    let output = node.arg(tests().join("js/fills.mjs")).output().unwrap();
    let differences = String::from_utf8_lossy(&output.stderr);
    assert_eq!(String::from_utf8_lossy(&output.stdout), FILLS, "{differences}");
    assert!(output.status.success(), "{differences}");
}

#[test]
fn a_disagreement_is_noticed() {
    for (vector, evidence, quotes, hours) in [
        ("true_constant_product", 1, 0, 0),
        ("uniswap-v3-gaps-sell-token0", 0, 1, 0),
        ("xnys_1", 0, 0, 1),
    ] {
        let output = agree(&["--flip", vector]);
        let found = String::from_utf8(output.stdout).unwrap();
        let kinds = [("evidence", evidence), ("quotes", quotes), ("hours", hours)];
        assert_eq!(found, kinds.map(|(kind, wrong)| report(kind, wrong)).concat() + POOLS);
        assert_eq!(output.status.code(), Some(1));
    }
}

#[test]
fn it_counts_a_documents_values_as_the_core_does() {
    let script = r#"
        import { parse } from "./canonical.mjs";
        const list = (values) => Buffer.from(`[${"0,".repeat(values - 2)}0]`);
        const found = [2 ** 20, 2 ** 20 + 1].map((values) => {
          try { parse(list(values), 2 ** 22); return "read"; } catch (error) { return error.message; }
        });
        console.log(found.join(", "));
    "#;
    let mut node = Command::new("node");
    node.args(["--input-type=module", "-e", script]).current_dir(tests().join("js"));
    let output = node.output().unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stdout), "read, too many values\n", "{output:?}");
}

#[test]
fn it_computes_recorded_figures_again() {
    let mut node = Command::new("node");
    let output = node.arg(tests().join("js/figures.mjs")).output().unwrap();
    let differences = String::from_utf8_lossy(&output.stderr);
    let expected = "figures: compared 8, disagreeing 0\n";
    assert_eq!(String::from_utf8_lossy(&output.stdout), expected, "{differences}");
    assert!(output.status.success(), "{differences}");
}

/// The cases of state proofs, file by file.
fn cases_of_proofs() -> usize {
    let folder = tests().join("vectors/proofs");
    let cases = fs::read_dir(folder).unwrap().map(|entry| {
        let text = fs::read_to_string(entry.unwrap().path()).unwrap();
        let vector: serde_json::Value = serde_json::from_str(&text).unwrap();
        vector["cases"].as_array().unwrap().len()
    });
    cases.sum()
}

fn proofs(arguments: &[&str]) -> Output {
    let program = tests().join("js/proofs.mjs");
    Command::new("node").arg(program).args(arguments).output().unwrap()
}

const MAINNET: &str = "mainnet: a header, two accounts and eight words\n";

#[test]
fn it_follows_state_proofs_down_from_their_block() {
    let cases = cases_of_proofs();
    assert!(cases > 500, "{cases}");
    let output = proofs(&[]);
    let differences = String::from_utf8_lossy(&output.stderr);
    let expected = format!("proofs: compared {cases}, disagreeing 0\n{MAINNET}");
    assert_eq!(String::from_utf8_lossy(&output.stdout), expected, "{differences}");
    assert!(output.status.success(), "{differences}");
    let flipped = proofs(&["--flip", "uniswap_v4"]);
    let expected = format!("proofs: compared {cases}, disagreeing 1\n{MAINNET}");
    assert_eq!(String::from_utf8_lossy(&flipped.stdout), expected);
    assert_eq!(flipped.status.code(), Some(1));
}
