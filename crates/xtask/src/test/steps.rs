//! Runs each step: its command, and the summary it prints last.

use std::path::Path;
use std::process::Command;
use std::sync::LazyLock;
use std::time::Instant;

use super::plan::{Rooms, Step};
use super::reality;
use super::scratch::Scratch;
use super::summary::{Counts, is_empty, is_summary};
use super::{WASI, ensure_target};
use crate::failure::{Failure, Result};
use crate::{check, fuzz, measure, peers, process, py, setup, workspace};

/// The variable that makes browser tests check each page in all four modes instead of two.
const EVERY_WAY_VARIABLE: &str = "EXITGAP_EVERY_WAY";

/// The variable, with its value, that makes the suite use stores on a server.
pub const STORES_ON_A_SERVER: (&str, &str) = ("EXITGAP_TEST_STORE", "postgresql");

/// Tests to be skipped on a server, because they copy the store's file, run programs on it or measure its size.
const OF_A_FILE: [&str; 6] = [
    "a_busy_pool_of_1200_ticks_costs_little_more_than_a_kilobyte_per_slot",
    "a_copy_made_beside_the_writer_holds_and_is_refused_once_it_is_old",
    "a_log_goes_on_under_another_key_after_both_signed_for_a_while",
    "a_recorder_does_not_go_on_from_a_damaged_edge",
    "a_stolen_key_ends_the_log_and_its_forgeries_contradict_what_was_kept",
    "killed_at_any_moment_every_file_the_checkpoint_commits_to_is_there",
];

/// How native code is built for a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Build {
    /// With the compiler alone.
    Plain,
    /// With lints, see [`workspace::lint`].
    Linted,
}

/// A cargo command for native code.
pub fn cargo(root: &Path, build: Build, arguments: &[&str]) -> Command {
    let mut command = workspace::cargo(root);
    command.args(arguments);
    if build == Build::Linted {
        workspace::lint(&mut command);
    }
    command
}

/// Runs a step that is not a build, and appends the runners' summaries.
pub fn run(root: &Path, step: Step, build: Build, summaries: &mut Vec<String>) -> Result<()> {
    match step {
        Step::Checks => {
            begin("checking what needs no build");
            check::run_static(root)
        }
        Step::Lints => {
            begin("linting every target, and the site");
            check::run_lints(root)
        }
        Step::Documentation => {
            begin("building the documentation");
            check::run_documentation(root)
        }
        Step::Units => units(root, build, summaries),
        Step::Reality => reality::run_built(root, summaries),
        Step::Examples => examples(root, build, summaries),
        Step::Wasm(packages) => wasm(root, packages, summaries),
        Step::Suite(rooms) => suite(root, rooms, build, summaries),
        Step::OnServer(tests) => on_server(root, tests, build, summaries),
        Step::Fuzz => {
            begin("running the fuzz targets, each for five seconds");
            fuzz::run(root, &["--seconds".to_owned(), "5".to_owned()])
        }
        Step::Bench => {
            begin("running every part of the bench for a moment");
            measure::bench_for_a_moment(root)
        }
        Step::Peers => {
            begin("comparing with other people's libraries");
            setup::ensure(root)?;
            tests(&mut peers::tests(root), "tests/peers", "peers", summaries).map(drop)
        }
        Step::Python => {
            begin("building the Python package and testing it");
            py::run(root)
        }
    }
}

/// Builds all native code in one build, so that the features of shared dependencies are resolved once.
pub fn build_native(root: &Path, build: Build) -> Result<()> {
    begin(match build {
        Build::Plain => "building libraries, programs and tests",
        Build::Linted => "building libraries, programs and tests, with lints",
    });
    let mut command = cargo(root, build, &["build", "--locked", "--lib", "--bins", "--tests"]);
    command.args(workspace::NATIVE);
    // Two progress bars on one line are unreadable: the site is built at the same time.
    command.env("CARGO_TERM_PROGRESS_WHEN", "never");
    process::run(&mut command, "cargo build").map_err(|failure| match build {
        Build::Plain => failure,
        Build::Linted => {
            failure.remedy("lints count as errors here; cargo xtask check shows them all")
        }
    })
}

fn units(root: &Path, build: Build, summaries: &mut Vec<String>) -> Result<()> {
    begin("running the tests within each crate");
    let mut command = cargo(root, build, &["test", "--no-fail-fast", "--lib", "--bins"]);
    command.args(workspace::NATIVE);
    tests(&mut command, "unit tests", "unit tests", summaries).map(drop)
}

fn suite(root: &Path, rooms: Rooms, build: Build, summaries: &mut Vec<String>) -> Result<()> {
    let Rooms { names, slow, per_core } = rooms;
    let what = format!("the suite's rooms {}", names.join(", "));
    begin(&format!("running {what}{}", if slow { ", with the slow tests" } else { "" }));
    let mut command = cargo(root, build, &["test", "--no-fail-fast", "--test", "suite"]);
    command.args(workspace::NATIVE).arg("--");
    command.args(names.iter().map(|name| format!("{name}::")));
    command.args(["--test-threads", &places(per_core)]);
    if slow {
        command.arg("--include-ignored").env(EVERY_WAY_VARIABLE, "1");
    }
    tests(&mut command, &what, "suite", summaries).map(drop)
}

/// Runs tests of stores again, with the stores on a private `PostgreSQL` server.
fn on_server(root: &Path, names: &[&str], build: Build, summaries: &mut Vec<String>) -> Result<()> {
    begin("running tests of stores once more, on a PostgreSQL server");
    let mut command = cargo(root, build, &["test", "--no-fail-fast", "--test", "suite"]);
    command.args(workspace::NATIVE).arg("--").args(names).args(["--test-threads", &places(2)]);
    let (name, value) = STORES_ON_A_SERVER;
    command.env(name, value);
    command.args(OF_A_FILE.iter().flat_map(|name| ["--skip", name]));
    let ran = tests(&mut command, "tests of stores", "on PostgreSQL", summaries)?;
    at_least_one(ran, "no test of stores ran on a PostgreSQL server")
}

fn examples(root: &Path, build: Build, summaries: &mut Vec<String>) -> Result<()> {
    begin("running the documentation's examples");
    let mut command = cargo(root, build, &["test", "--doc", "--quiet"]);
    command.args(workspace::NATIVE);
    tests(&mut command, "cargo test --doc", "examples", summaries).map(drop)
}

/// Runs tests of these packages, the very same functions, as WebAssembly.
fn wasm(root: &Path, packages: &[&str], summaries: &mut Vec<String>) -> Result<()> {
    begin(&format!("running the tests of {} on {WASI} in Node.js", packages.join(", ")));
    let mut command = workspace::cargo(root);
    command.args(["test", "--lib"]);
    command.args(packages.iter().flat_map(|package| ["--package", package]));
    run_on_wasi(root, &mut command)?;
    let ran = tests(&mut command, "tests as WebAssembly", "as WebAssembly", summaries)?;
    at_least_one(ran, "no test ran as WebAssembly")
}

/// Makes `cargo test` run its tests as WebAssembly, in Node.js.
pub fn run_on_wasi(root: &Path, tests: &mut Command) -> Result<()> {
    ensure_target(root, WASI)?;
    let script = root.join("tests/js/wasi.mjs");
    let runner = format!("node --no-warnings {}", script.display());
    tests.args(["--target", WASI]).env("CARGO_TARGET_WASM32_WASIP1_RUNNER", runner);
    Ok(())
}

/// Runs a test runner; appends its summaries under a label, and returns the number of passed tests.
pub fn tests(
    command: &mut Command,
    what: &str,
    label: &str,
    summaries: &mut Vec<String>,
) -> Result<u64> {
    let started = Instant::now();
    let scratch = Scratch::new();
    scratch.give(command);
    let (picked, end) = process::run_and_pick(command, what, is_summary)?;
    let seconds = started.elapsed().as_secs();
    let picked: Vec<String> = picked.into_iter().filter(|line| !is_empty(line)).collect();
    let passed = Counts::from_summaries(&picked).passed;
    summaries.extend(picked.into_iter().map(|line| format!("{label} ({seconds} s): {line}")));
    end.map(|()| passed)
}

fn at_least_one(ran: u64, otherwise: &str) -> Result<()> {
    if ran == 0 { Err(Failure::new(otherwise)) } else { Ok(()) }
}

/// The number of concurrent tests, for this many per core.
fn places(per_core: usize) -> String {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    (per_core * cores).to_string()
}

/// When the run began.
static STARTED: LazyLock<Instant> = LazyLock::new(Instant::now);

/// Seconds since the run began.
pub fn elapsed_s() -> u64 {
    STARTED.elapsed().as_secs()
}

/// Prints which step begins, and when.
pub fn begin(what: &str) {
    eprintln!("\n== {} s: {what}", elapsed_s());
}
