//! The worked example of `evidence-v1.md`: its commands print the output on the page, which equals the core's results.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use exitgap_core::evidence::{Head, SlotLeaf};
use exitgap_core::pools::PoolState;
use exitgap_core::snapshot::Snapshot;
use exitgap_core::tlog::Checkpoint;
use exitgap_tests::canonical::to_canonical_json;
use serde_json::Value;
use tempfile::TempDir;

const VECTOR: &str = "tests/vectors/evidence/true_constant_product.json";

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// Joins the code blocks of a language in the last section of the page.
fn blocks(language: &str) -> String {
    let page = root().join("crates/exitgap-core/docs/evidence-v1.md");
    let page = fs::read_to_string(page).unwrap();
    let (_, section) = page.split_once("\n## A worked example\n").expect("the section is there");
    let fence = format!("```{language}\n");
    let blocks = section.split(&fence).skip(1).map(|rest| rest.split_once("```").unwrap().0);
    let joined: String = blocks.collect();
    assert!(!joined.is_empty(), "no block of {language}");
    joined
}

/// Returns the output of the commands for a vector.
fn printed(vector: &Path) -> String {
    let output = Command::new("sh")
        .args(["-eu", "-c", &blocks("sh")])
        .current_dir(root())
        .env("vector", vector)
        .output()
        .expect("a POSIX shell");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn its_commands_print_what_stands_there_and_what_the_core_computes() {
    let found = printed(Path::new(VECTOR));
    assert_eq!(found, blocks("text"));

    let vector: Value = serde_json::from_slice(&fs::read(root().join(VECTOR)).unwrap()).unwrap();
    let file: Value = serde_json::from_str(vector["evidence"].as_str().unwrap()).unwrap();
    let part = |name: &str| to_canonical_json(&file[name]).unwrap();
    let (state, snapshot) = (part("state"), part("snapshot"));
    let (head, leaf) = (part("head"), part("leaf"));
    let note = file["log_proof"].as_str().unwrap().split_once("\n\n").unwrap().1;
    let expected = [
        PoolState::hash_of(&state).to_string(),
        Snapshot::hash_of(&snapshot).to_string(),
        Head::hash_of(&head).to_string(),
        SlotLeaf::from_canonical(&leaf).unwrap().root.to_string(),
        Checkpoint::from_note(note).unwrap().0.root.to_string(),
    ];
    let lines: Vec<&str> =
        found.lines().map(|line| line.split_once("  ").unwrap().1.trim()).collect();
    let [state, snapshot, head, root, signed] = expected;
    assert_eq!(
        lines,
        [&state, &state, &snapshot, &snapshot, &head, &root, &root, &signed, &signed]
    );
}

#[test]
fn its_commands_show_a_changed_file() {
    let folder = TempDir::new().unwrap();
    let vector = fs::read_to_string(root().join(VECTOR)).unwrap();
    // A changed reserve, count and number of pools: they change the state, the head and the leaf.
    let changes = [
        (r#"\"reserves\":[\"9"#, r#"\"reserves\":[\"8"#, ["state", "named"]),
        (r#"\"recorded_count\":5"#, r#"\"recorded_count\":4"#, ["computed", "leaf"]),
        (r#"\"leaf\":{\"pools\":2"#, r#"\"leaf\":{\"pools\":3"#, ["computed", "signed"]),
    ];
    for (from, to, pair) in changes {
        let changed = vector.replacen(from, to, 1);
        assert_ne!(changed, vector, "the change must happen");
        let path = folder.path().join("changed.json");
        fs::write(&path, changed).unwrap();
        let found = printed(&path);
        let lines: Vec<(&str, &str)> =
            found.lines().map(|line| line.split_once(' ').unwrap()).collect();
        let differs = |two: &[(&str, &str)]| {
            [two[0].0, two[1].0] == pair && two[0].1.trim() != two[1].1.trim()
        };
        assert!(lines.windows(2).any(differs), "{from}: {found}");
    }
}
