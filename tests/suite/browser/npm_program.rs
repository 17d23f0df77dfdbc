//! The program of the npm package: it shows the same sample, in the same words, as the native program.

use std::process::{Command, Output};

use exitgap_tests::binaries;
use serde_json::Value;

use crate::scenes::npm::{Project, said};

/// Runs the installed program in the project's folder.
fn program(project: &Project, arguments: &[&str]) -> Output {
    let path = project.path().join("node_modules/.bin/exitgap");
    project.run(Command::new(path).args(arguments))
}

/// The text up to the next commands, which are those of each program.
fn shown(output: &Output) -> String {
    assert!(output.status.success(), "{}", said(output));
    let text = String::from_utf8(output.stdout.clone()).unwrap();
    text.split_once("Next:").unwrap().0.to_owned()
}

#[test]
fn the_package_and_the_native_program_show_the_same_sample() {
    let project = Project::new();
    for arguments in [&["try"][..], &["try", "--size-usd", "1234.5"]] {
        let native = Command::new(binaries::path("exitgap")).args(arguments).output().unwrap();
        assert_eq!(shown(&program(&project, arguments)), shown(&native));
    }
    let found = program(&project, &["try", "--json"]);
    let found: Value = serde_json::from_slice(&found.stdout).unwrap();
    assert_eq!(found["sample"], true);
    assert_eq!(found["tampering"]["verification"]["verdict"], "invalid");
}

#[test]
fn the_packages_program_verifies_and_estimates_files() {
    let project = Project::new();
    let (evidence, key) =
        ("node_modules/exitgap/sample/evidence.json", "node_modules/exitgap/sample/verifier-key");
    for (arguments, code, words) in [
        (&["verify", evidence, "--trust", key][..], 0, "VALID\n"),
        (&["verify", evidence], 7, "INCOMPLETE\n"),
        (&["verify", "package.json", "--trust", key], 6, "INVALID\n"),
        (&["verify", "absent.json"], 5, "source_unreadable"),
        (&["verify"], 2, "verify needs one file"),
        (&["estimate", evidence, "--size-usd", "1000", "--base", "WETH"], 0, "exit gap"),
        (&["estimate", evidence, "--size-usd", "1000"], 2, "--base TOKEN"),
        (&["estimate", evidence, "--size-usd", "x", "--base", "WETH"], 2, "size_usd"),
        (
            &["estimate", evidence, "--size-usd", "1000000000", "--base", "WETH"],
            3,
            "beyond_liquidity",
        ),
        (
            &["estimate", "package.json", "--size-usd", "1", "--base", "WETH"],
            5,
            "source_unreadable",
        ),
        (&["try", "--siz"], 2, "--siz"),
        (&["trie"], 2, "there is no command trie"),
        (&["--help"], 0, "Exit codes:"),
        (&["--version"], 0, env!("CARGO_PKG_VERSION")),
    ] {
        let output = program(&project, arguments);
        let words_found = said(&output);
        assert_eq!(output.status.code(), Some(code), "{arguments:?}: {words_found}");
        assert!(words_found.contains(words), "{arguments:?}: {words_found}");
    }
}
