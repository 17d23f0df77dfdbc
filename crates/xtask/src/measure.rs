//! `cargo xtask bench` and `cargo xtask parity`: measuring programs, built with optimisation.
//!
//! Their stdout is handed through untouched; cargo's and setup's words go to stderr. So with
//! `--json` nothing but the program's JSON is on stdout.

use std::path::{Path, PathBuf};

use crate::failure::Result;
use crate::{
    measure_build, measure_setup, measure_web, peers, pkg, process, setup, test, workspace,
};

/// What `cargo xtask bench --help` prints.
pub const BENCH_HELP: &str = "\
Measure speed, beside other libraries in the same run.

Usage: cargo xtask bench [--json] [what]

  --json   one flat JSON object of numbers on stdout, nothing else
  what     only this part, such as `quote` or `evidence`

The parts are `quote`, `exit`, `evidence`, `seal`, `figures`, `proof`, `alerts`, `verify`, `recorder`, `export`, `replica`, `http`, `scale`, `sharing`, `hot` and `wasm`; `evidence` measures
files, windows, verifying, and the size of the verifier as a WASM module; `seal` sealing 100 to 10,000 pools, what a
slot weighs, fsck and uncached evidence (needs 3 GB of memory); `figures` decay, exposure, stress, a split, a day at any
size and swaps against estimates, from a store of thirty days that it generates, and verifying a week's figure file,
in Chromium too (three minutes); `proof` state proofs of a large pool, checked, also in WebAssembly, changed and lied about, and
a witness asked by a log and by other pasts of it (two minutes); `alerts` a hundred thousand rules over a slot, and a slot told to ten thousand
streams; `verify` searches a
minute for the evidence file that takes longest to verify; `export` closed days as files, written and checked (three minutes); `replica` how late a replica of a log answers (two minutes); `http` the service
under load, on a store of 1,000 pools and 90 days that it generates in the system's folder for
temporary files (5 GB, some minutes); `scale`, which runs only when named, slots of 40,000 small pools and of 1,000 busy ones in a file,
and on a private PostgreSQL server with a standby, by four recorders in turn, and into storage that speaks S3, with and without claims there (fifteen minutes, 3 GB); `sharing`, only when named, slots of 40,000 small pools that four recorders read (five minutes); `hot`, only when named, a day whose snapshots leave such a server's database (three minutes); `wasm`, which runs only when named, the npm package: its size
and its speed in Node.js and Chromium; `web`, which runs alone and only when named, the site: its size,
and its pages in Chromium on a recorded day; `setup`, alone and only when named, how long a newcomer
waits: it clones the last commit into target/ and runs `cargo xtask demo` there with empty caches; `build`, alone and only when
named, how long a change waits: it clones the last commit, runs what CI runs twice, and changes a line of a figure and one of
a handler (an hour; `build cold`, `build warm` and `build edits` measure one of the three).

Builds crates/exitgap-bench (excluded from the workspace, with its own lock file) with optimisation,
fetches what it needs (a JavaScript library to compare with, the optimiser of WASM modules), and runs
it. EXITGAP_JS_SDK and EXITGAP_VERIFY_WASM tell it where library and module are.";

/// What `cargo xtask parity --help` prints.
pub const PARITY_HELP: &str = "\
Compare quotes with the real contracts on random pools.

Usage: cargo xtask parity [--cases N] [--seed S] [--json]
       cargo xtask parity --vectors FOLDER [--limits N] [--seed S] [--json]

  --cases N         how many random v3 sales; v2, Aerodrome v2 and Balancer v2's weighted and stable
                    pools get a quarter as many each, max_size_for a tenth
  --seed S          the seed they are drawn from; a failing case prints what reproduces it
  --vectors FOLDER  instead, every file of recorded fills in a folder (tests/vectors/pools says how they are
                    written; .json or .json.zz), and the largest exits within sampled limits
  --limits N        so many limits of each file
  --json            one flat JSON object of numbers on stdout, nothing else

Builds tests/peers for it (excluded from the workspace, with its own lock file), but for --vectors, which needs no
contract. Ends with exit code 1 when a single unit differs, or a file cannot be compared.";

/// Runs the benches.
pub fn bench(root: &Path, arguments: &[String]) -> Result<()> {
    if arguments.iter().any(|argument| argument == "web") {
        return measure_web::bench(root);
    }
    let has = |name: &str| arguments.iter().any(|argument| argument == name);
    if has("build") {
        return measure_build::bench(root, has("--json"), measure_build::Parts::named(arguments));
    }
    if arguments.iter().any(|argument| argument == "setup") {
        return measure_setup::bench(root, arguments.iter().any(|argument| argument == "--json"));
    }
    setup::ensure(root)?;
    let js_sdk = setup::ensure_js_sdk(root)?;
    let of = |part: &str| arguments.iter().any(|argument| argument == part);
    let other_part = [
        "quote", "exit", "seal", "figures", "proof", "alerts", "verify", "recorder", "http",
        "replica", "scale", "sharing", "hot", "wasm",
    ]
    .into_iter()
    .any(of);
    let mut command = workspace::cargo(root);
    command
        .args(["run", "--release", "--quiet", "--locked"])
        .args(["--manifest-path", "crates/exitgap-bench/Cargo.toml", "--"])
        .args(arguments)
        .env("EXITGAP_JS_SDK", js_sdk);
    if !other_part {
        command.env("EXITGAP_VERIFY_WASM", verifier_module(root)?);
    }
    let all = arguments.is_empty() || arguments == ["--json"];
    if all || of("proof") {
        command.env("EXITGAP_WITHOUT_PROOF", pkg::without_proof(root)?);
    }
    if all || of("wasm") || of("figures") || of("proof") {
        pkg::build(root, workspace::Purpose::Shipped)?;
        setup::ensure_chromium();
        command
            .env("EXITGAP_PKG", root.join("pkg"))
            .env("EXITGAP_NPM_TOOLS", setup::ensure_npm_tools(root)?);
    }
    if of("scale") || of("sharing") || of("hot") {
        setup::ensure_postgres();
    }
    if of("scale") {
        setup::ensure_moto(root)?;
    }
    if of("wasm") {
        command.env("EXITGAP_HELIOS", setup::ensure_helios(root)?);
    }
    if all || of("http") || of("replica") {
        // They start the service by name, which `cargo run` alone would not build.
        let mut build = workspace::cargo(root);
        build.args(["build", "--release", "--quiet", "--locked", "--bins"]);
        build.args(["--manifest-path", "crates/exitgap-bench/Cargo.toml"]);
        process::run(&mut build, "cargo build of the bench")?;
    }
    process::run(&mut command, "the bench")
}

/// Builds `verify` alone as a WASM module, as small as a page would have it.
fn verifier_module(root: &Path) -> Result<PathBuf> {
    let wasm_opt = setup::ensure_wasm_opt(root)?;
    test::ensure_wasm_target(root)?;
    let folder = root.join("crates/exitgap-bench/target");
    let mut build = workspace::cargo(root);
    build
        .args(["build", "--quiet", "--locked", "--profile", "wasm"])
        .args(["--manifest-path", "crates/exitgap-bench/Cargo.toml", "--package", "verify-wasm"])
        .args(["--target", test::WASM, "--target-dir"])
        .arg(&folder);
    workspace::forget_folders(root, &mut build);
    process::run(&mut build, "cargo build for wasm")?;
    let built = folder.join(test::WASM).join("wasm/verify_wasm.wasm");
    let module = folder.join("verify.wasm");
    pkg::optimise(&wasm_opt, &built, &module)?;
    Ok(module)
}

/// Runs the comparison with the contracts, or with what they said once.
pub fn parity(root: &Path, arguments: &[String]) -> Result<()> {
    let place = |name| arguments.iter().position(|argument| argument == name);
    if place("--vectors").or(place("--vector")).is_none() {
        setup::ensure(root)?;
        return peers::compare(root, arguments);
    }
    let mut arguments = arguments.to_vec();
    let folder = place("--vectors").and_then(|index| arguments.get_mut(index + 1));
    // Given from where the command was called.
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
