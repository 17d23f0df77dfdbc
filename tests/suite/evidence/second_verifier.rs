//! The second verifier, `tests/js`, was written in another language from the format page alone. It gives the same
//! verdict for every shared vector.

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

/// The comparison's report on a folder in which it compared every file.
fn report(kind: &str, disagreeing: usize) -> String {
    let folder = tests().join("vectors").join(kind);
    let files = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let vectors = files.filter(|path| path.extension().is_some_and(|e| e == "json")).count();
    assert!(vectors > 0, "no vectors of {kind}");
    format!("{kind}: compared {vectors}, disagreeing {disagreeing}\n")
}

#[test]
fn it_agrees_on_every_vector() {
    let output = agree(&[]);
    let found = String::from_utf8(output.stdout).unwrap();
    let differences = String::from_utf8_lossy(&output.stderr);
    let agreed = ["evidence", "quotes", "hours"].map(|kind| report(kind, 0)).concat();
    assert_eq!(found, agreed, "{differences}");
    assert!(output.status.success(), "{differences}");
}

/// The recorded sales of every kind, and the fills that crypto pools reverted afterwards.
const FILLS: &str = r#"{"kind":"pancake_v3","cases":864,"mismatches":0}
{"kind":"slipstream","cases":864,"mismatches":0}
{"kind":"uniswap_v4","cases":1008,"mismatches":0}
{"kind":"algebra_integral","cases":864,"mismatches":0}
{"kind":"curve_plain","cases":3356,"mismatches":0}
{"kind":"curve_ng","cases":2080,"mismatches":0}
{"kind":"aerodrome_stable","cases":1888,"mismatches":0}
{"kind":"aerodrome_volatile","cases":944,"mismatches":0}
{"kind":"balancer_v2_weighted","cases":2346,"mismatches":0}
{"kind":"balancer_v2_composable_stable","cases":1756,"mismatches":0}
{"kind":"balancer_v3_weighted","cases":1828,"mismatches":0}
{"kind":"balancer_v3_stable","cases":1728,"mismatches":0}
{"kind":"curve_tricrypto_ng","cases":3060,"mismatches":0,"unmodelled":192}
{"kind":"curve_twocrypto_ng","cases":1560,"mismatches":0,"unmodelled":76}
"#;

fn fills(folder: Option<&Path>) -> Output {
    let mut node = Command::new("node");
    node.arg(tests().join("js/fills.mjs")).args(folder).output().unwrap()
}

#[test]
fn it_fills_every_recorded_sale() {
    let output = fills(None);
    let differences = String::from_utf8_lossy(&output.stderr);
    assert_eq!(String::from_utf8_lossy(&output.stdout), FILLS, "{differences}");
    assert!(output.status.success(), "{differences}");
}

#[test]
fn it_says_where_a_recorded_sale_differs() {
    let folder = tempfile::tempdir().unwrap();
    let none = fills(Some(folder.path()));
    assert_eq!((none.status.code(), none.stdout.len()), (Some(1), 0));
    assert!(String::from_utf8_lossy(&none.stderr).contains("without files of recorded fills"));

    let state = r#"{"n":2,"decimals":[18,18],"balances":["3342198000000000000000001","1114066000000000000000000001"],
        "price_scale":["3000000000000000"],"last_prices":["3000000000000000"],"D":"6684396000000000000000001",
        "A":"20000000","gamma":"460040700143855","mid_fee":"26000000","out_fee":"50080507","fee_gamma":"230000000000000"}"#;
    // The contract paid one unit more; and a contract cannot pay for an input amount that does not exist.
    let cases = r#"[{"i":0,"j":1,"in":"10756844603514559048295","out":"3575908137483333510815497"},
        {"i":1,"j":0,"in":"1","out":"1"},{"i":0,"j":1,"in":"10756844603514559048295","revert":true}]"#;
    let kind = "curve_twocrypto_ng";
    let file =
        format!(r#"{{"kind":"{kind}","pools":[{{"id":"a","state":{state},"cases":{cases}}}]}}"#);
    fs::write(folder.path().join(format!("{kind}.json")), file).unwrap();
    let output = fills(Some(folder.path()));
    let counted = format!(r#"{{"kind":"{kind}","cases":3,"mismatches":2,"unmodelled":1}}"#);
    assert_eq!(String::from_utf8_lossy(&output.stdout).trim_end(), counted);
    let differences = String::from_utf8_lossy(&output.stderr);
    assert!(
        differences.contains("expected 3575908137483333510815497, found 3575908137483333510815496")
    );
    assert!(differences.contains("1 of 1 for 0: expected 1, found a refusal"), "{differences}");
    assert_eq!(output.status.code(), Some(1));
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
        assert_eq!(found, kinds.map(|(kind, wrong)| report(kind, wrong)).concat());
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
    let expected = format!("figures: compared {}, disagreeing 0\n", cases_of_figures());
    assert_eq!(String::from_utf8_lossy(&output.stdout), expected, "{differences}");
    assert!(output.status.success(), "{differences}");
}

/// Counts the cases of all recorded figures: each as it is, with another result, and, if it has calendars, with a later
/// table.
fn cases_of_figures() -> usize {
    let folder = tests().join("vectors/figures");
    let cases = fs::read_dir(folder).unwrap().map(|entry| {
        let text = fs::read_to_string(entry.unwrap().path()).unwrap();
        if text.contains(r#"\"calendars\":[{"#) { 3 } else { 2 }
    });
    cases.sum()
}

/// Counts the cases in all files of state proofs.
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

#[test]
fn it_knows_the_published_code_of_real_pools() {
    let (fixtures, script) = (tests().join("../.fixtures"), tests().join("js/code.mjs"));
    let mut node = Command::new("node");
    node.arg(script)
        .arg(
            fixtures
                .join("uniswap-v3-core/artifacts/contracts/UniswapV3Pool.sol/UniswapV3Pool.json"),
        )
        .arg(fixtures.join("uniswap-v2-core/build/UniswapV2Pair.json"))
        .arg(tests().join("reality/facts/code.json"));
    let output = node.output().unwrap();
    let differences = String::from_utf8_lossy(&output.stderr);
    assert_eq!(String::from_utf8_lossy(&output.stdout), "code: 100 pools\n", "{differences}");
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
