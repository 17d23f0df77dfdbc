//! `cargo xtask test`: everything that must pass before a change is proposed.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::sync::LazyLock;
use std::time::Instant;

use crate::failure::{Failure, Result};
use crate::{pkg, process, py, setup, web, workspace};

/// What `cargo xtask test --help` prints.
pub const HELP: &str = "\
Run every test of the workspace.

Usage: cargo xtask test [--all]

  --all   also the slow tests, which are ignored else, and in Firefox, too, each page in all four ways (wide and narrow,
          light and dark; else wide and light, narrow and dark); for the slow tests it installs into .fixtures: schemathesis, moto,
          aics-witness, duckdb and pyarrow (Python programs), Lighthouse, the official x402 clients (of npm and Python; the crate's is built), and what
          the tools for agents are tried with (the protocol's conformance suite with a Node.js of its own, its
          inspector, its TypeScript and Python clients), and our own Python package as a wheel; as root on Debian also its
          packages systemd and debootstrap

In order: setup, the npm package and the site, and beside them one build of libraries, binaries and tests; the tests, with
cargo-nextest when it is on PATH and else with cargo test; those of stores once more, on a private PostgreSQL server; the
documentation's examples, and beside them the core's own tests once more as WebAssembly, in Node.js, since its arithmetic
is another there. Ends with the runners' summaries.

To run some tests only: cargo nextest run -p <package> <part of the name>, after one setup.";

/// The target of what browsers run.
pub const WASM: &str = "wasm32-unknown-unknown";

/// The target its tests run on as WebAssembly: the same machine with files and a standard output, for
/// which the ordinary test runner is there.
const WASI: &str = "wasm32-wasip1";

/// Where slow tests leave what they measured, each number a file of its name.
const MEASURED: &str = "target/measured";

/// What tells the test in Firefox to look at each page at both widths in both colours, instead of at each in one.
const EVERY_WAY_VARIABLE: &str = "EXITGAP_EVERY_WAY";

/// What tells the suite that stores are on a server.
const ON_A_SERVER_VARIABLE: &str = "EXITGAP_TEST_STORE";

/// The tests of the suite whose stores, payments and alerts can be on a server. The others look into files.
const ON_A_SERVER: [&str; 26] = [
    "store::series::",
    "store::sealing::",
    "store::retractions::",
    "store::fills::",
    "store::issued::",
    "store::keys::",
    "store::pairs::",
    "store::endings::",
    "store::folder::",
    "store::followed::",
    "store::figures::",
    "store::payments::",
    "store::alerts::",
    "store::claims::",
    "store::warm::",
    "recorder::slots::",
    "recorder::claims::",
    "recorder::witnessed::",
    "recorder::chain::",
    "recorder::four::",
    "service::stream::",
    "service::capabilities::",
    "service::alerts::",
    "payments::adversaries::",
    "payments::reorgs::",
    "service::accuracy_table::",
];

/// Those of them that copy the file, run the programs on it or weigh it.
const OF_A_FILE: [&str; 6] = [
    "a_busy_pool_of_1200_ticks_costs_little_more_than_a_kilobyte_per_slot",
    "a_copy_made_beside_the_writer_holds_and_is_refused_once_it_is_old",
    "a_log_goes_on_under_another_key_after_both_signed_for_a_while",
    "a_recorder_does_not_go_on_from_a_damaged_edge",
    "a_stolen_key_ends_the_log_and_its_forgeries_contradict_what_was_kept",
    "killed_at_any_moment_every_file_the_checkpoint_commits_to_is_there",
];

/// What slow tests measure.
const MEASURED_BY_TESTS: [&str; 2] = ["mcp.conformance_failures", "x402.clients_paid"];

/// Runs it all and prints the summaries last.
pub fn run(root: &Path, all: bool) -> Result<()> {
    let started = *STARTED;
    std::thread::scope(|scope| {
        // What is built for size keeps one core busy for minutes: the others build what is native, which never waits
        // for the site (a debug build reads it when it starts).
        let native = scope.spawn(|| build_native(root));
        let browsers = build_for_browsers(root);
        let panicked = |_| Err(Failure::new("building panicked"));
        native.join().unwrap_or_else(panicked).and(browsers)
    })?;
    if all {
        setup::ensure_deployment_tools();
        setup::ensure_schemathesis(root)?;
        setup::ensure_witness(root)?;
        setup::ensure_moto(root)?;
        setup::ensure_parquet_readers(root)?;
        setup::ensure_lighthouse(root)?;
        setup::ensure_x402_clients(root)?;
        setup::ensure_x402_python(root)?;
        setup::ensure_mcp_clients(root)?;
        setup::ensure_mcp_python(root)?;
        setup::ensure_webhooks_python(root)?;
        step("building the Python package");
        py::installed(root)?;
    }

    let measured = root.join(MEASURED);
    // What an earlier run measured says nothing of this one.
    let _ = fs::remove_dir_all(&measured);
    let mut summaries = Vec::new();
    let outcome = run_tests(root, all, &mut summaries)
        .and_then(|()| run_tests_on_a_server(root, &mut summaries))
        .and_then(|()| run_doc_and_wasm_tests(root, &mut summaries));
    let counts = Counts::of(&summaries);
    println!("\nsummary ({} s)", started.elapsed().as_secs());
    println!(
        "  {} tests passed, {} failed, {} skipped",
        counts.passed, counts.failed, counts.skipped
    );
    for summary in summaries {
        println!("  {summary}");
    }
    if all {
        for name in MEASURED_BY_TESTS {
            let found = fs::read_to_string(measured.join(name));
            println!("  {name}: {}", found.as_deref().unwrap_or("not measured"));
        }
    }
    outcome
}

/// What the tests need beside the programs: nodes, contracts, browsers, a database; the npm package and the site.
fn build_for_browsers(root: &Path) -> Result<()> {
    setup::ensure(root)?;
    setup::ensure_strace();
    setup::ensure_chromium();
    setup::ensure_firefox();
    setup::ensure_postgres();
    setup::ensure_npm_tools(root)?;
    setup::ensure_firefox_driver(root)?;
    step("building the npm package");
    pkg::build(root)?;
    step("building the site");
    web::build(root)
}

fn build_native(root: &Path) -> Result<()> {
    step("building libraries, binaries and tests");
    // One build of everything, so that the features of shared dependencies are resolved once.
    let mut build = workspace::cargo(root);
    build.arg("build").args(workspace::NATIVE).args(["--lib", "--bins", "--tests"]);
    // Two bars on one line say nothing.
    build.env("CARGO_TERM_PROGRESS_WHEN", "never");
    process::run(&mut build, "cargo build")
}

fn run_tests(root: &Path, all: bool, summaries: &mut Vec<String>) -> Result<()> {
    let mut command = workspace::cargo(root);
    let runner = if has_nextest(root) {
        command.args(["nextest", "run", "--no-fail-fast", "--no-tests=warn"]);
        command.args(workspace::NATIVE).args(["--test-threads", &places()]);
        command.args(if all { &["--run-ignored", "all"][..] } else { &[] });
        "cargo nextest"
    } else {
        command.arg("test").args(workspace::NATIVE);
        command.args(["--no-fail-fast", "--lib", "--bins", "--tests"]);
        command.args(if all { &["--", "--include-ignored"][..] } else { &[] });
        "cargo test"
    };
    if all {
        command.env(EVERY_WAY_VARIABLE, "1");
    }
    step(&format!(
        "running the tests with {runner}{}",
        if all { ", the slow ones too" } else { "" }
    ));
    let (picked, end) = process::run_and_pick(&mut command, runner, is_summary)?;
    // cargo test says one line per binary; those without tests tell nothing.
    summaries.extend(picked.into_iter().filter(|line| !line.contains(" 0 passed; 0 failed")));
    end
}

/// How many tests run at once, of those that wait most of the time: `.config/nextest.toml` names the others, which take
/// two places.
fn places() -> String {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    (2 * cores).to_string()
}

/// Runs the tests of stores once more, whose stores are on a private `PostgreSQL` server.
fn run_tests_on_a_server(root: &Path, summaries: &mut Vec<String>) -> Result<()> {
    step("running the tests of stores once more, on a PostgreSQL server");
    let mut command = workspace::cargo(root);
    let runner = if has_nextest(root) {
        command.args(["nextest", "run", "--no-fail-fast", "--test-threads", &places()]);
        command.args(workspace::NATIVE);
        "cargo nextest"
    } else {
        command.arg("test").args(workspace::NATIVE).args(["--no-fail-fast", "--test", "suite"]);
        "cargo test"
    };
    command.arg("--").args(ON_A_SERVER).env(ON_A_SERVER_VARIABLE, "postgresql");
    command.args(OF_A_FILE.iter().flat_map(|name| ["--skip", name]));
    let (picked, end) = process::run_and_pick(&mut command, runner, is_summary)?;
    let ran = Counts::of(&picked).passed;
    summaries.extend(picked.into_iter().map(|line| format!("on PostgreSQL: {line}")));
    end?;
    if ran == 0 {
        return Err(Failure::new("no test of stores ran on a PostgreSQL server"));
    }
    Ok(())
}

/// The two that wait for no clock, beside each other: WebAssembly has one thread.
fn run_doc_and_wasm_tests(root: &Path, summaries: &mut Vec<String>) -> Result<()> {
    let mut of_wasm = Vec::new();
    let outcome = std::thread::scope(|scope| {
        let wasm = scope.spawn(|| run_wasm_tests(root, &mut of_wasm));
        let doc = run_doc_tests(root, summaries);
        let panicked = |_| Err(Failure::new("running tests as WebAssembly panicked"));
        doc.and(wasm.join().unwrap_or_else(panicked))
    });
    summaries.extend(of_wasm);
    outcome
}

fn run_doc_tests(root: &Path, summaries: &mut Vec<String>) -> Result<()> {
    step("running the documentation's examples");
    let mut command = workspace::cargo(root);
    command.arg("test").args(workspace::NATIVE).args(["--doc", "--quiet"]);
    let (picked, end) = process::run_and_pick(&mut command, "cargo test --doc", is_summary)?;
    summaries.extend(
        picked
            .into_iter()
            .filter(|line| !line.contains(" 0 passed; 0 failed"))
            .map(|line| format!("doc: {line}")),
    );
    end
}

/// Runs the core's tests, the very same functions, as WebAssembly.
fn run_wasm_tests(root: &Path, summaries: &mut Vec<String>) -> Result<()> {
    let started = Instant::now();
    step(&format!("running exitgap-core's tests on {WASI} in Node.js"));
    ensure_target(root, WASI)?;
    let mut command = workspace::cargo(root);
    let packages = ["exitgap-math", "exitgap-tlog", "exitgap-core"];
    command.arg("test").args(packages.map(|name| format!("--package={name}")));
    command.args(["--lib", "--target", WASI]);
    let script = root.join("tests/js/wasi.mjs");
    command.env(
        "CARGO_TARGET_WASM32_WASIP1_RUNNER",
        format!("node --no-warnings {}", script.display()),
    );
    let what = "cargo test for WebAssembly";
    let (picked, end) = process::run_and_pick(&mut command, what, is_summary)?;
    let counts = Counts::of(&picked);
    let seconds = started.elapsed().as_secs();
    summaries.extend(picked.into_iter().map(|line| format!("wasm ({seconds} s): {line}")));
    end?;
    if counts.passed == 0 {
        return Err(Failure::new("no test of exitgap-core ran as WebAssembly"));
    }
    Ok(())
}

/// Installs the browser's target where it is not there yet.
pub fn ensure_wasm_target(root: &Path) -> Result<()> {
    ensure_target(root, WASM)
}

fn ensure_target(root: &Path, target: &str) -> Result<()> {
    if is_installed(root, target) {
        return Ok(());
    }
    eprintln!("the Rust target {target} is not installed: rustup target add {target}");
    let added = Command::new("rustup").args(["target", "add", target]).current_dir(root).status();
    if added.is_ok_and(|status| status.success()) {
        return Ok(());
    }
    Err(Failure::new(format!("the Rust target {target} could not be installed"))
        .remedy(format!("install it with your Rust distribution (`rustup target add {target}`)")))
}

fn has_nextest(root: &Path) -> bool {
    workspace::cargo(root)
        .args(["nextest", "--version"])
        .output()
        .is_ok_and(|output| output.status.success())
}

/// Asks the compiler rather than rustup, which not every distribution of Rust has.
fn is_installed(root: &Path, target: &str) -> bool {
    Command::new("rustc")
        .args(["--print", "target-libdir", "--target", target])
        .current_dir(root)
        .output()
        .ok()
        .and_then(|output| String::from_utf8(output.stdout).ok())
        .is_some_and(|folder| Path::new(folder.trim()).is_dir())
}

fn is_summary(line: &str) -> bool {
    let line = line.trim_start();
    line.starts_with("test result:")
        || (line.starts_with("Summary [") && line.contains("tests run"))
}

/// When the run began.
static STARTED: LazyLock<Instant> = LazyLock::new(Instant::now);

/// Says what begins, and when.
fn step(what: &str) {
    eprintln!("\n== {} s: {what}", STARTED.elapsed().as_secs());
}

/// Tests counted over all summary lines.
#[derive(Debug, Default, PartialEq, Eq)]
struct Counts {
    passed: u64,
    failed: u64,
    skipped: u64,
}

impl Counts {
    /// Adds up the numbers that stand before the runners' words.
    fn of(summaries: &[String]) -> Self {
        let mut counts = Self::default();
        for line in summaries {
            let words: Vec<&str> = line.split([' ', ';', ',', '(', ')']).collect();
            let words: Vec<&str> = words.into_iter().filter(|word| !word.is_empty()).collect();
            for pair in words.windows(2) {
                let Ok(number) = pair[0].parse::<u64>() else { continue };
                match pair[1] {
                    "passed" => counts.passed += number,
                    "failed" => counts.failed += number,
                    "skipped" | "ignored" => counts.skipped += number,
                    _ => {}
                }
            }
        }
        counts
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_summaries_of_both_runners_are_counted() {
        let lines = [
            "Summary [   2.037s] 12 tests run: 11 passed (1 slow), 1 failed, 2 skipped",
            "test result: ok. 3 passed; 0 failed; 1 ignored; 0 measured; 0 filtered out",
        ];
        assert!(lines.iter().all(|line| is_summary(line)));
        let counts = Counts::of(&lines.map(str::to_owned));
        assert_eq!(counts, Counts { passed: 14, failed: 1, skipped: 3 });
        assert!(!is_summary("test devchain::plays ... ok"));
    }
}
