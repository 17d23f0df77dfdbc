//! `cargo xtask bench` and `cargo xtask parity`: run measuring programs, built with optimisation.
//!
//! Their stdout is passed through unchanged; the output of cargo and of the setup goes to stderr. So with `--json`,
//! stdout contains only the program's JSON.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::failure::{Context, Failure, Result};
use crate::workspace::Purpose;
use crate::{
    baseline, measure_build, measure_setup, measure_web, peers, pkg, process, setup, test,
    workspace,
};

/// The output of `cargo xtask bench --help`.
pub const BENCH_HELP: &str = "\
Measure speed, compared with other libraries in the same run.

Usage: cargo xtask bench [--json] [part]
       cargo xtask bench --moment [part]
       cargo xtask bench --baseline [part]
       cargo xtask bench --compare [part]

  --json      one flat JSON object of numbers on stdout, nothing else
  --moment    run every part on small inputs, built for development: shows that the bench works, and prints no figure
  --baseline  run three times, and keep the medians in crates/exitgap-bench/baseline.json; keys of other parts stay
  --compare   run once; fail if a key is worse than the baseline by more than a tenth and by more than its three runs differ
  part        only this part, such as `quote` or `evidence`

Parts that run when none is named:
  quote     fills and sizes of every kind of pool
  exit      step tables, the largest exit, a ladder
  evidence  files, windows, verifying, the size of the verifier as a WASM module
  seal      sealing 100 to 10,000 pools, what a slot weighs, fsck, uncached evidence (3 GB of memory)
  figures   figures over thirty days that it generates, and a week's file verified, in Chromium too (3 minutes)
  proof     state proofs of a large pool: checked, changed, lied about; a witness (2 minutes)
  alerts    a hundred thousand rules over a slot; a slot sent to ten thousand streams
  verify    a search for the evidence file that takes longest to verify (1 minute)
  recorder  a recorder on the development chain, and what its store weighs
  export    closed days as files, written and checked (3 minutes)
  replica   how late a replica of a log answers (2 minutes)
  http      the service under load, on 1,000 pools and 90 days that it generates (5 GB of temporary files)

Parts that run only when named:
  scale     slots of 40,000 small and of 1,000 busy pools, in a file, on PostgreSQL and into S3 (15 minutes, 3 GB)
  sharing   slots of 40,000 small pools read by four recorders (5 minutes)
  hot       a day whose snapshots leave a server's database (3 minutes)
  wasm      the npm package: its size, and its speed in Node.js and Chromium

Parts that run alone:
  web       the site: its size, and its pages in Chromium on a recorded day
  setup     first-run time: `cargo xtask demo` in a clone of the last commit with empty caches
  build     build and test time: the CI run, twice, in a clone of the last commit, and after one changed line in a
            figure and in a handler (an hour); `build cold`, `build warm` and `build edits` measure one of the three, and
            `build uncached` what CI runs with empty caches of cargo, npm and pip

The bench is a package of its own, crates/exitgap-bench, with its own lock file. Setup installs what a part needs.";

/// The output of `cargo xtask parity --help`.
pub const PARITY_HELP: &str = "\
Compare quotes with the real contracts on random pools.

Usage: cargo xtask parity [--cases N] [--seed S] [--json]
       cargo xtask parity --vectors FOLDER [--limits N] [--seed S] [--json]

  --cases N         how many random v3 sales; v2, Aerodrome v2 and Balancer v2's weighted and stable
                    pools get a quarter as many each, max_size_for a tenth, and as many limits are asked of
                    pools of few units (size_zero_wrong: answered with 0 although an amount passes)
  --seed S          the random seed; a failing case prints how to reproduce it
  --vectors FOLDER  instead, every file of recorded fills in a folder (tests/vectors/pools says how they are
                    written; .json or .json.zz), and the largest exits within sampled limits
  --limits N        number of limits per file
  --json            one flat JSON object of numbers on stdout, nothing else

Builds tests/peers for it (excluded from the workspace, with its own lock file), but for --vectors, which needs no
contract. Exit code 1 if a single token unit differs, or a file cannot be compared.";

/// What a part of the benchmark needs in addition to the JavaScript library that every run has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Prerequisite {
    /// `verify` alone as a WASM module.
    Verifier,
    /// The npm package, the tools to bundle it, and a browser.
    Package,
    /// The package's main module without state proofs.
    WithoutProof,
    /// The programs that the benchmark starts by name.
    Programs,
    Postgres,
    /// An S3-compatible server.
    Moto,
    /// A light client for comparison.
    Helios,
}

/// A part with requirements: its name, whether it runs by default, and what it needs.
const NEEDS: [(&str, bool, &[Prerequisite]); 9] = [
    ("evidence", true, &[Prerequisite::Verifier]),
    ("figures", true, &[Prerequisite::Package]),
    ("proof", true, &[Prerequisite::Package, Prerequisite::WithoutProof]),
    ("http", true, &[Prerequisite::Programs]),
    ("replica", true, &[Prerequisite::Programs]),
    ("scale", false, &[Prerequisite::Postgres, Prerequisite::Moto]),
    ("sharing", false, &[Prerequisite::Postgres]),
    ("hot", false, &[Prerequisite::Postgres]),
    ("wasm", false, &[Prerequisite::Package, Prerequisite::Helios]),
];

/// Runs the benchmarks.
pub fn bench(root: &Path, arguments: &[String]) -> Result<()> {
    let has = |word: &str| arguments.iter().any(|argument| argument == word);
    let ways = ["--json", "--moment", "--baseline", "--compare"];
    if ways.iter().filter(|way| has(way)).count() > 1 {
        return Err(Failure::usage(format!("only one of {} can be given", ways.join(", "))));
    }
    if has("build") {
        return measure_build::bench(
            root,
            has("--json"),
            &measure_build::Part::from_words(arguments),
        );
    }
    if has("setup") {
        return measure_setup::bench(root, has("--json"));
    }
    let is_part = |argument: &&String| !ways.contains(&argument.as_str());
    let parts: Vec<String> = arguments.iter().filter(is_part).cloned().collect();
    if has("--moment") {
        return process::run(&mut prepare(root, &parts, true)?, "the bench");
    }
    if has("--baseline") {
        let runs = (0..baseline::RUNS).map(|run| {
            eprintln!("bench: run {} of {}", run + 1, baseline::RUNS);
            figures(root, &parts)
        });
        return baseline::keep(root, &runs.collect::<Result<Vec<_>>>()?);
    }
    if has("--compare") {
        return baseline::compare(root, &figures(root, &parts)?);
    }
    if has("web") {
        return measure_web::bench(root);
    }
    process::run(&mut prepare(root, arguments, false)?, "the bench")
}

/// The numbers of one run.
fn figures(root: &Path, parts: &[String]) -> Result<baseline::Figures> {
    let mut command = prepare(root, &[parts, &["--json".to_owned()]].concat(), false)?;
    let output = command.stderr(Stdio::inherit()).output().context("starting the bench")?;
    if !output.status.success() {
        return Err(Failure::new(format!("the bench ended with {}", output.status)));
    }
    baseline::read_figures(&String::from_utf8_lossy(&output.stdout))
}

/// Runs every part of the benchmark on small inputs.
pub fn bench_for_a_moment(root: &Path) -> Result<()> {
    process::run(&mut prepare(root, &[], true)?, "the bench")
}

/// The benchmark command, after preparing what its parts need.
fn prepare(root: &Path, arguments: &[String], moment: bool) -> Result<Command> {
    let named = arguments.iter().find(|argument| !argument.starts_with('-'));
    let needs = |need: Prerequisite| {
        NEEDS.iter().any(|(part, by_default, needs)| {
            let runs = named.map_or(*by_default || moment, |named| named == part);
            runs && needs.contains(&need)
        })
    };
    setup::ensure(root)?;
    let mut command = peers::bench(root, "run", moment);
    command.arg("--").args(arguments).env("EXITGAP_JS_SDK", setup::ensure_js_sdk(root)?);
    if moment {
        command.env("EXITGAP_BENCH_FOR_A_MOMENT", "1");
    }
    if needs(Prerequisite::Verifier) {
        command.env("EXITGAP_VERIFY_WASM", verifier_module(root, moment)?);
    }
    if needs(Prerequisite::Package) {
        let purpose = if moment { Purpose::Tested } else { Purpose::Shipped };
        pkg::build(root, purpose)?;
        setup::ensure_chromium();
        command
            .env("EXITGAP_PKG", root.join("pkg"))
            .env("EXITGAP_NPM_TOOLS", setup::ensure_npm_tools(root)?);
    }
    if needs(Prerequisite::WithoutProof) {
        let without = if moment { root.join("pkg/dist") } else { pkg::without_proof(root)? };
        command.env("EXITGAP_WITHOUT_PROOF", without);
    }
    if needs(Prerequisite::Postgres) {
        setup::ensure_postgres();
    }
    if needs(Prerequisite::Moto) {
        setup::ensure_moto(root)?;
    }
    if needs(Prerequisite::Helios) {
        command.env("EXITGAP_HELIOS", setup::ensure_helios(root)?);
    }
    if needs(Prerequisite::Programs) {
        // They start the service by name, which `cargo run` alone would not build.
        let mut build = peers::bench(root, "build", moment);
        process::run(build.arg("--bins"), "cargo build of the bench")?;
    }
    Ok(command)
}

/// Builds `verify` alone as a WASM module, as small as for a page.
fn verifier_module(root: &Path, moment: bool) -> Result<PathBuf> {
    test::ensure_wasm_target(root)?;
    let profile = if moment { "release" } else { "wasm" };
    let folder = root.join("crates/exitgap-bench/target");
    let mut build = workspace::cargo(root);
    build
        .args(["build", "--quiet", "--locked", "--profile", profile])
        .args(["--manifest-path", "crates/exitgap-bench/Cargo.toml", "--package", "verify-wasm"])
        .args(["--target", test::WASM, "--target-dir"])
        .arg(&folder);
    workspace::forget_folders(root, &mut build);
    process::run(&mut build, "cargo build for wasm")?;
    let built = folder.join(test::WASM).join(profile).join("verify_wasm.wasm");
    if moment {
        return Ok(built);
    }
    let wasm_opt = setup::ensure_wasm_opt(root)?;
    let module = folder.join("verify.wasm");
    pkg::optimise(&wasm_opt, &built, &module)?;
    Ok(module)
}

/// Runs the comparison with the contracts, or with their recorded outputs.
pub fn parity(root: &Path, arguments: &[String]) -> Result<()> {
    let place = |name| arguments.iter().position(|argument| argument == name);
    if place("--vectors").or(place("--vector")).is_none() {
        setup::ensure(root)?;
        return peers::compare(root, arguments);
    }
    let mut arguments = arguments.to_vec();
    let folder = place("--vectors").and_then(|index| arguments.get_mut(index + 1));
    // A path relative to the caller's working directory.
    if let Some(folder) = folder
        && let Ok(whole) = std::path::absolute(&*folder)
    {
        *folder = whole.to_string_lossy().into_owned();
    }
    let mut command = workspace::cargo(root);
    command
        .args(["run", "--release", "--quiet"])
        .args(["--package", "exitgap-tests", "--bin", "parity", "--"])
        .args(arguments);
    process::run(&mut command, "the comparison")
}
