//! The program of `cargo xtask test reality`: how it ends on the committed facts, and on facts that are gone, damaged or others.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use exitgap_tests::{binaries, fixtures, folders};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::scenes::facts;

/// How the program ends on a folder of facts.
pub fn run(folder: &Path) -> Output {
    let published = "uniswap-v3-core/artifacts/contracts/UniswapV3Pool.sol/UniswapV3Pool.json";
    let mut program = Command::new(binaries::path("reality"));
    program.arg(folder).arg(fixtures::folder().join(published)).arg("--json").output().unwrap()
}

fn errors(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn the_committed_facts_are_as_the_core_computes() {
    let output = run(&facts::folder());
    assert_eq!(output.status.code(), Some(0), "{}", errors(&output));
    let figures: Value = serde_json::from_slice(&output.stdout).unwrap();
    for (name, expected) in [
        ("reality.swaps", 193),
        ("reality.equal", 170),
        ("reality.wrong", 0),
        ("reality.headers", 73),
        ("reality.headers_differing", 0),
        ("reality.proofs", 11),
        ("reality.proofs_failed", 0),
        ("reality.feeds", 11),
        ("reality.feeds_unproven", 0),
        ("reality.code", 100),
        ("reality.code_differing", 0),
    ] {
        assert_eq!(figures[name], expected, "{name}");
    }
    assert!(figures.as_object().unwrap().values().all(Value::is_u64), "{figures}");
}

#[test]
fn facts_that_are_gone_damaged_or_others_end_it_with_1() {
    type Lie = fn(&mut Value);

    let absent = run(&facts::folder().join("nowhere"));
    assert_eq!((absent.status.code(), absent.stdout.len()), (Some(1), 0));
    assert!(errors(&absent).contains("nowhere does not exist"), "{}", errors(&absent));
    let folder = TempDir::new().unwrap();
    folders::copy(&facts::folder(), folder.path()).unwrap();
    let lies: [(&str, &str, Lie); 7] = [
        ("swaps", "reality.wrong is 1", |file| file["cases"][1]["amount_out"] = json!("1")),
        ("swaps", "reality.swaps is 192", |file| {
            file["cases"].as_array_mut().unwrap().pop();
        }),
        ("headers", "reality.headers_differing is 1", |file| {
            file["cases"][0]["hash"] = file["cases"][1]["hash"].clone();
        }),
        ("proofs", "reality.proofs_failed is 1", |file| {
            file["cases"][0]["words"][0] = json!("0x2");
        }),
        ("walks", "reality.walks_failed is 1", |file| file["cases"][0][3] = json!("-")),
        ("feeds", "reality.feeds_unproven is 1", |file| file["cases"][0]["answer"] = json!("1")),
        ("code", "reality.code_differing is 1", |file| file["cases"][0][4] = json!(500)),
    ];
    for (kind, said, lie) in lies {
        let path = folder.path().join(format!("{kind}.json"));
        let whole = fs::read(&path).unwrap();
        let mut file: Value = serde_json::from_slice(&whole).unwrap();
        lie(&mut file);
        fs::write(&path, file.to_string()).unwrap();
        let output = run(folder.path());
        assert_eq!(output.status.code(), Some(1), "{said}: {}", errors(&output));
        assert!(errors(&output).contains(said), "{said}: {}", errors(&output));
        fs::write(&path, &whole[..whole.len() - 7]).unwrap();
        let output = run(folder.path());
        assert_eq!(output.status.code(), Some(1), "{kind}: {}", errors(&output));
        assert!(
            errors(&output).contains(&format!("{kind}.json is damaged")),
            "{}",
            errors(&output)
        );
        fs::write(&path, whole).unwrap();
    }
    fs::remove_file(folder.path().join("feeds.json")).unwrap();
    let output = run(folder.path());
    assert_eq!(output.status.code(), Some(1));
    assert!(errors(&output).contains("feeds.json"), "{}", errors(&output));
}
