use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;

use super::patch::Group;
use super::*;
use crate::workspace;

const HEADER: &str = "\
what: A bound is off by one.
group: moved
tier: default
test: exitgap-core lib a::b::tests::c
test: suite store::series::
build: site
";

const DIFF: &str = "\
diff --git a/web/src/text.rs b/web/src/text.rs
--- a/web/src/text.rs
+++ b/web/src/text.rs
@@ -1 +1 @@
-a
+b
";

fn of_header(name: &str, header: &str) -> Result<Defect> {
    Defect::from_patch(Path::new(name), &format!("{header}\n{DIFF}"))
}

#[test]
fn a_header_is_read() {
    let defect = of_header("x/07-off-by-one.patch", HEADER).unwrap();
    assert_eq!((defect.number, defect.name.as_str()), (7, "off-by-one"));
    assert_eq!(defect.title(), "07 off-by-one");
    assert_eq!(defect.what, "A bound is off by one.");
    let kinds = (defect.group, defect.tier, defect.build);
    assert_eq!(kinds, (Group::Moved, Tier::Default, Some(Build::Site)));
    assert_eq!(defect.files, ["web/src/text.rs"]);
    let [unit, suite] = &defect.tests[..] else { panic!("{defect:?}") };
    assert_eq!(unit.runner, Runner::Lib("exitgap-core".to_owned()));
    assert!(unit.is_exact() && !suite.is_exact());
    assert_eq!(suite.shown(), "suite store::series::");
}

#[test]
fn a_header_that_is_wrong_is_refused_with_the_file_and_the_reason() {
    for (from, to, said) in [
        ("what: A bound is off by one.\n", "", "no line `what: …`"),
        ("group: moved", "group: new", "`group: new`"),
        ("tier: default", "tier: later", "`tier: later`"),
        ("tier: default\n", "tier: default\ntier: all\n", "`tier: all`"),
        ("build: site", "build: everything", "`build: everything`"),
        ("test: suite store::series::", "test: suite", "`test: suite`"),
        ("test: suite", "see: suite", "`see: suite store::series::`"),
        ("tier: default", "tier default", "`tier default`"),
    ] {
        let changed = HEADER.replacen(from, to, 1);
        assert_ne!(changed, HEADER);
        let failure = of_header("07-a.patch", &changed).unwrap_err().to_string();
        assert!(
            failure.contains("tests/defects/07-a.patch") && failure.contains(said),
            "{failure}"
        );
        assert!(failure.contains("README.md"), "{failure}");
    }
    let untested = "what: a\ngroup: other\ntier: all\n";
    assert!(of_header("07-a.patch", untested).unwrap_err().to_string().contains("`test: …`"));
    for name in ["7-a.patch", "007-a.patch", "07.patch", "aa-a.patch", "07-a.diff"] {
        assert!(of_header(name, HEADER).unwrap_err().to_string().contains("two digits"), "{name}");
    }
    let plain = Defect::from_patch(Path::new("07-a.patch"), HEADER).unwrap_err();
    assert!(plain.to_string().contains("diff --git"), "{plain}");
}

/// The crates and folders that are shipped, or that check what is shipped: each must have at least two defects.
const COVERED: [&str; 19] = [
    "crates/exitgap-core/",
    "crates/exitgap-api/",
    "crates/exitgap-chain/",
    "crates/exitgap-store/",
    "crates/exitgap-client/",
    "crates/exitgap-pay/",
    "crates/exitgap-mcp/",
    "crates/exitgap-ops/",
    "crates/exitgap-server/",
    "crates/exitgap-cli/",
    "crates/exitgap-wasm/",
    "crates/exitgap-proof-wasm/",
    "crates/exitgap-py/src/",
    "crates/exitgap-py/python/",
    "crates/xtask/",
    "web/src/",
    "pkg/",
    "tests/js/",
    "crates/exitgap-server/deploy/",
];

#[test]
fn there_are_sixty_and_they_are_spread() {
    let defects = patch::read_defects(&workspace::root()).unwrap();
    let numbers: Vec<u32> = defects.iter().map(|defect| defect.number).collect();
    assert_eq!(numbers, (1..=60).collect::<Vec<_>>());
    let names: BTreeSet<&str> = defects.iter().map(|defect| defect.name.as_str()).collect();
    assert_eq!(names.len(), defects.len());
    let of = |group: Group| defects.iter().filter(|defect| defect.group == group).count();
    assert!(of(Group::Slow) >= 10 && of(Group::Moved) >= 30, "{defects:?}");
    for folder in COVERED {
        let is_there = |defect: &&Defect| defect.files.iter().any(|file| file.starts_with(folder));
        assert!(defects.iter().filter(is_there).count() >= 2, "{folder}");
    }
    for defect in &defects {
        assert!(defect.what.ends_with('.') && !defect.files.is_empty(), "{}", defect.title());
        let is_slow = defect.group == Group::Slow;
        assert!(!is_slow || defect.tier == Tier::All, "{}", defect.title());
    }
}

/// Appends every Rust file of a folder to one text.
fn sources(folder: &Path, text: &mut String) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            sources(&path, text);
        } else if path.extension().is_some_and(|end| end == "rs") {
            text.push_str(&fs::read_to_string(path).unwrap());
        }
    }
}

#[test]
fn every_named_test_is_there() {
    let root = workspace::root();
    for defect in patch::read_defects(&root).unwrap() {
        for noticing in defect.tests.iter().filter(|noticing| noticing.is_exact()) {
            let mut parts: Vec<&str> = noticing.path.split("::").collect();
            let name = parts.pop().unwrap();
            let folder: PathBuf = match &noticing.runner {
                Runner::Suite | Runner::Server => root.join("tests/suite").join(parts[0]),
                Runner::Lib(package)
                | Runner::Bin(package)
                | Runner::Doc(package)
                | Runner::Wasm(package) => root.join("crates").join(package).join("src"),
            };
            assert!(folder.is_dir(), "{}: no folder {}", defect.title(), folder.display());
            let mut text = String::new();
            sources(&folder, &mut text);
            assert!(text.contains(&format!("fn {name}(")), "{}: no test {name}", defect.title());
        }
    }
}

#[test]
fn what_a_runner_says_is_understood() {
    let failed = "running 2 tests\ntest a ... ok\ntest b ... FAILED\n\ntest result: FAILED. 1 passed; 1 failed; 0 ignored";
    assert_eq!(Ran::from_output(failed, false), Ran::Failed);
    let passed = "running 1 test\ntest a ... ok\n\ntest result: ok. 1 passed; 0 failed; 0 ignored";
    assert_eq!(Ran::from_output(passed, true), Ran::Passed);
    let none = "     Running unittests src/lib.rs\n\nrunning 0 tests\n\ntest result: ok. 0 passed; 0 failed";
    assert_eq!(Ran::from_output(none, true), Ran::None);
    let broken = "error[E0308]: mismatched types\nerror: could not compile `exitgap-core`";
    assert_eq!(Ran::from_output(broken, false), Ran::NotBuilt);
    // In WebAssembly a panic ends the program before its summary.
    assert_eq!(Ran::from_output("running 3 tests\nRuntimeError: unreachable", false), Ran::Failed);
    let caught = |ran: Ran| ran.objection().is_none();
    assert!(caught(Ran::Failed));
    assert!(![Ran::Passed, Ran::None, Ran::NotBuilt].into_iter().any(caught));
}

#[test]
fn the_command_line_is_read_or_refused_with_what_is_right() {
    let words = |line: &str| line.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
    let read = |line: &str| plan(&words(line));
    assert_eq!(read("").unwrap(), Plan::default());
    let some = read("7 09 --tier quick --control --json").unwrap();
    let tier = Some(Tier::Quick);
    let expected = Plan { numbers: vec![7, 9], tier, control: true, json: true, ..Plan::default() };
    assert_eq!(some, expected);
    for (line, said) in [
        ("--tier", "needs a tier"),
        ("--tier slow", "needs a tier"),
        ("--all", "unexpected `--all`"),
        ("seven", "unexpected `seven`"),
    ] {
        let failure = read(line).unwrap_err();
        assert!(failure.code() == 2 && failure.to_string().contains(said), "{failure}");
    }
    let defects = || vec![of_header("07-a.patch", HEADER).unwrap()];
    let of = |line: &str| chosen(defects(), &read(line).unwrap());
    assert_eq!(of("7").unwrap().len(), 1);
    assert!(of("8").unwrap_err().to_string().contains("defect 08 does not exist"));
    assert_eq!(of("--tier quick").unwrap_err().code(), 2);
}
