//! `cargo xtask parity --vectors`: the folder of recorded fills, and damaged folders.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use exitgap_tests::binaries;
use exitgap_tests::parity::folder::{self, Report};
use miniz_oxide::inflate::decompress_to_vec_zlib;
use serde_json::{Value, json};

fn kept() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("vectors/pools")
}

/// Reads and decompresses a recorded file.
fn file(name: &str) -> Value {
    let packed = fs::read(kept().join(format!("{name}.json.zz"))).unwrap();
    serde_json::from_slice(&decompress_to_vec_zlib(&packed).unwrap()).unwrap()
}

/// A recorded file with only its first pools.
fn start_of(name: &str, pools: usize) -> Value {
    let mut file = file(name);
    file["pools"].as_array_mut().unwrap().truncate(pools);
    file
}

fn compare(files: &[(&str, String)], limits: u64) -> Report {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in files {
        fs::write(folder.path().join(name), text).unwrap();
    }
    folder::run(folder.path(), 1, limits, &mut |_, _, _, _| ()).unwrap()
}

fn number(report: &Report, name: &str) -> Value {
    serde_json::from_str::<Value>(&report.json()).unwrap()[name].clone()
}

fn parity(arguments: &[&str]) -> Output {
    Command::new(binaries::path("parity")).args(arguments).output().unwrap()
}

#[test]
fn core_says_of_every_kept_sale_what_the_contract_did() {
    let output = parity(&["--vectors", kept().to_str().unwrap(), "--limits", "6", "--json"]);
    let words = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{words}");
    let numbers: Value = serde_json::from_slice(&output.stdout).unwrap();
    let numbers = numbers.as_object().unwrap();
    assert!(numbers.values().all(Value::is_u64), "{numbers:?}");
    for (name, count) in numbers.iter().filter(|(name, _)| name.ends_with("mismatches")) {
        assert_eq!(count, 0, "{name}: {words}");
    }
    assert_eq!(numbers["files"], 14);
    for (name, count) in [
        ("curve_plain.cases", 3_356),
        ("balancer_v3_stable.cases", 1_728),
        ("uniswap_v4.cases", 1_008),
        ("curve_tricrypto_ng.unmodelled_refusals", 192),
        ("curve_twocrypto_ng.unmodelled_refusals", 76),
        ("curve_twocrypto_ng.size_cases", 0),
    ] {
        assert_eq!(numbers[name], count, "{name}");
    }
    // Every kind of pool has limit questions, except the kinds without sizes.
    let asked = |kind: &str| {
        let of = |what| numbers.get(&format!("{kind}.{what}")).and_then(Value::as_u64).unwrap_or(0);
        of("size_cases") + of("size_given_up") + of("sizing_not_exact")
    };
    let kinds = numbers.keys().filter_map(|name| name.strip_suffix(".cases"));
    let unasked: Vec<&str> = kinds.filter(|kind| asked(kind) == 0).collect();
    assert!(unasked.is_empty(), "{unasked:?}");
    assert_eq!(numbers["curve_tricrypto_ng.sizing_not_exact"], 6);
}

#[test]
fn a_changed_number_is_one_mismatch_and_nothing_else_is() {
    let cases = [
        ("curve_plain", "out", "mismatches"),
        ("balancer_v2_weighted", "out", "mismatches"),
        ("uniswap_v4", "out", "mismatches"),
        ("slipstream", "consumed", "mismatches"),
        ("curve_tricrypto_ng", "out", "mismatches"),
    ];
    for (name, field, counted) in cases {
        let mut changed = start_of(name, 2);
        let has = |case: &&mut Value| case.get(field).is_some_and(|value| value != "0");
        let pools = changed["pools"].as_array_mut().unwrap().iter_mut();
        let mut cases = pools.flat_map(|pool| pool["cases"].as_array_mut().unwrap());
        let case = cases.find(has).unwrap();
        let mut digits = case[field].as_str().unwrap().to_owned();
        let last = digits.pop().unwrap();
        digits.push(if last == '7' { '8' } else { '7' });
        case[field] = json!(digits);
        let report = compare(&[("changed.json", changed.to_string())], 0);
        assert_eq!(number(&report, &format!("{name}.{counted}")), 1, "{}", report.json());
        assert!(!report.agrees());
        let said = report.complaints().join("\n");
        assert!(said.contains(name) && said.contains("the contract"), "{said}");
    }
}

#[test]
fn a_sale_that_only_one_of_them_refuses_is_a_mismatch() {
    for (name, unmodelled) in [("aerodrome_stable", false), ("curve_twocrypto_ng", true)] {
        let mut changed = start_of(name, 1);
        let before = compare(&[("a.json", changed.to_string())], 0);
        let cases = changed["pools"][0]["cases"].as_array_mut().unwrap();
        let filled = cases.iter_mut().find(|case| case.get("out").is_some()).unwrap();
        filled.as_object_mut().unwrap().remove("out");
        filled["revert"] = json!(true);
        let report = compare(&[("a.json", changed.to_string())], 0);
        assert_eq!(number(&report, &format!("{name}.mismatches")), u64::from(!unmodelled));
        let refused = |report: &Report| report.kinds.values().map(|kind| kind.unmodelled).sum();
        let more: u64 = refused(&report);
        assert_eq!(more - refused(&before), u64::from(unmodelled), "{name}");
    }
}

#[test]
fn files_that_are_not_of_the_form_are_named_with_the_place() {
    let good = start_of("aerodrome_volatile", 1);
    let with = |path: &str, value: Value| {
        let mut broken = good.clone();
        *broken.pointer_mut(path).unwrap() = value;
        broken.to_string()
    };
    let cut = good.to_string()[..500].to_owned();
    for (text, said) in [
        (cut, "EOF while parsing"),
        (with("/kind", json!("aerodrome")), "kind: `aerodrome` is not known"),
        (with("/pools", json!({})), "pools: not a list"),
        (with("/pools/0/id", json!(7)), "pools[0].id: not a string"),
        (with("/pools/0/state", json!({})), "pools[0].state: missing field `stable`"),
        (with("/pools/0/cases/1/in", json!("-1")), "pools[0].cases[1].in: `-1` is no amount"),
        (with("/pools/0/cases/1/in", json!("9".repeat(100))), "is no amount of 256 bits"),
        (with("/pools/0/cases/1/in", json!("0")), "cases[1].in: nothing is offered"),
        (with("/pools/0/cases/2/j", json!(2)), "pools[0].cases[2].j: not one of 2 tokens"),
        (with("/pools/0/cases/2/j", json!(0)), "`i` and `j` are the same token"),
        (with("/pools/0/cases/0", json!({"i": 0, "j": 1, "in": "1"})), "neither `out` alone"),
    ] {
        // The other file is still compared.
        let report = compare(&[("broken.json", text), ("good.json", good.to_string())], 0);
        assert_eq!((report.files, report.broken.len()), (1, 1), "{said}");
        let complaint = &report.broken[0];
        assert!(complaint.contains("broken.json") && complaint.contains(said), "{complaint}");
        assert!(!report.agrees(), "{said}");
    }
}

#[test]
fn what_is_no_file_of_recorded_fills_is_left_out_and_said() {
    let good = start_of("aerodrome_volatile", 1).to_string();
    let report =
        compare(&[("good.json", good), ("proof.json", json!({"block": 1}).to_string())], 0);
    assert_eq!((report.files, report.left_out.len()), (1, 1));
    assert!(report.left_out[0].contains("proof.json"), "{:?}", report.left_out);
    assert!(report.agrees());

    let empty = tempfile::tempdir().unwrap();
    let output = parity(&["--vectors", empty.path().to_str().unwrap()]);
    assert_eq!(output.status.code(), Some(1));
    let words = String::from_utf8_lossy(&output.stderr);
    assert!(words.contains("no file of recorded fills"), "{words}");
    fs::write(empty.path().join("a.json.zz"), "not packed").unwrap();
    let output = parity(&["--vectors", empty.path().to_str().unwrap(), "--json"]);
    assert_eq!(output.status.code(), Some(1));
    let words = String::from_utf8_lossy(&output.stderr);
    assert!(words.contains("a.json.zz: does not unpack"), "{words}");
}
