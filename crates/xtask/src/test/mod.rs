//! `cargo xtask test`: everything that must pass before a change is proposed, and parts of it.

mod plan;
mod reality;
mod results;
mod scratch;
mod steps;
mod summary;
mod words;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use plan::Step;
use steps::Build;
pub use steps::{STORES_ON_A_SERVER, run_on_wasi};
use summary::Counts;
use words::{Needs, SourceTest, Target};

use crate::failure::{Failure, Result};
use crate::workspace::Purpose;
use crate::{pkg, process, setup, web, workspace};

/// The output of `cargo xtask test --help`.
pub const HELP: &str = "\
Run the tests.

Usage: cargo xtask test                      what a change must pass; also run by CI
       cargo xtask test quick                checks that need no build, and the tests within each crate
       cargo xtask test reality [--json]     the core, held against facts of real blocks
       cargo xtask test <word>...            the tests whose name has every word, and only what they need
       cargo xtask test --all [--part K/4]   everything, also what is slow or rare
       cargo xtask test --all --report       which parts of --all passed on the files as they are now

  --all       with the slow tests, each page in all four variants (wide and narrow, light and dark) and in Firefox, the
              tests of stores once more on a PostgreSQL server, Lighthouse, other people's clients, the fuzz targets for
              five seconds each, the Python package, and every part of the bench for a moment; with words: the slow tests of
              that name, too
  --part K/4  one part of it, at most forty minutes on two cores; how it ended is kept in target/test-results for
              the git tree it ran on
  --report    fails unless every part passed on this tree
  reality     swaps, headers, proofs, oracle rounds and code of public chains, of tests/reality/facts or of the folder that
              EXITGAP_REALITY names. With --json, one flat JSON object of numbers on stdout. Fails if a number is not what it
              must be, or a file is missing or damaged. Part of a run without arguments, too

In order: setup, the npm package and the pages, and at the same time one build of libraries, programs and tests with
lints; the tests; the core's arithmetic once more as WebAssembly, in Node.js. Ends with the runners' summaries.
Missing tools are installed into .fixtures and reported; as root on Debian, system packages too.

Examples:
  cargo xtask test decay                     every test with `decay` in its name
  cargo xtask test service::limits::         one file of the suite
  cargo xtask test store kill --all          slow ones, too";

/// The compilation target for browsers.
pub const WASM: &str = "wasm32-unknown-unknown";

/// The compilation target for running tests as WebAssembly: the same instruction set, with files and a standard output,
/// which the ordinary test runner needs.
const WASI: &str = "wasm32-wasip1";

/// The folder in which slow tests save their measurements, one file per number.
const MEASURED: &str = "target/measured";

/// The measurements of slow tests.
const MEASURED_BY_TESTS: [&str; 3] =
    ["mcp.conformance_failures", "payments.signed_twice", "x402.clients_paid"];

/// The requested tests.
#[derive(Debug, PartialEq, Eq)]
enum Request {
    /// The steps of a tier.
    Steps(&'static [Step]),
    /// Parts of `--all`, counted from 1.
    Parts(Vec<usize>),
    /// The core, held against facts of real blocks; with one JSON object on stdout.
    Reality { json: bool },
    /// The report of which parts passed.
    Report,
    /// Tests selected by words in their names.
    Words { words: Vec<String>, slow: bool },
}

/// Runs the requested tests.
pub fn run(root: &Path, arguments: &[String]) -> Result<()> {
    match parse_arguments(arguments)? {
        Request::Steps(steps) => {
            let (outcome, _) = run_steps(root, steps);
            outcome
        }
        Request::Reality { json } => reality::run(root, json),
        Request::Report => results::report(root),
        Request::Words { words, slow } => run_words(root, &words, slow),
        Request::Parts(parts) => {
            // Measurements of an earlier run do not apply to this one.
            let _ = fs::remove_dir_all(root.join(MEASURED));
            let mut ended = Ok(());
            for part in parts {
                ended = ended.and(run_part(root, part));
            }
            ended
        }
    }
}

fn parse_arguments(arguments: &[String]) -> Result<Request> {
    let (mut all, mut report, mut json) = (false, false, false);
    let (mut part, mut words) = (None, Vec::new());
    let mut rest = arguments.iter();
    while let Some(argument) = rest.next() {
        match argument.as_str() {
            "--all" => all = true,
            "--report" => report = true,
            "--json" => json = true,
            "--part" => part = Some(part_of(rest.next().map_or("", String::as_str))?),
            option if option.starts_with('-') => {
                return Err(Failure::usage(format!("unexpected `{option}`"))
                    .remedy("the options are --all, --part K/4, --report and --json"));
            }
            word => words.push(word.to_owned()),
        }
    }
    if (report || part.is_some()) && (!all || !words.is_empty() || (report && part.is_some())) {
        return Err(Failure::usage("--part and --report need --all, and only one can be given")
            .remedy("for example cargo xtask test --all --part 1/4"));
    }
    let of_reality = !all && words == ["reality"];
    if json && !of_reality {
        return Err(Failure::usage("--json needs `reality`, and nothing else")
            .remedy("for example cargo xtask test reality --json"));
    }
    Ok(match (all, words.is_empty()) {
        _ if of_reality => Request::Reality { json },
        _ if report => Request::Report,
        (true, true) => {
            Request::Parts(part.map_or((1..=plan::PARTS.len()).collect(), |part| vec![part]))
        }
        (false, true) => Request::Steps(plan::DEFAULT),
        (false, false) if words == ["quick"] => Request::Steps(plan::QUICK),
        (slow, false) => Request::Words { words, slow },
    })
}

/// The number of a part, from `K/4`.
fn part_of(text: &str) -> Result<usize> {
    let of = plan::PARTS.len();
    let number = text.strip_suffix(&format!("/{of}")).and_then(|number| number.parse().ok());
    number.filter(|part| (1..=of).contains(part)).ok_or_else(|| {
        Failure::usage(format!("`{text}` is not a part"))
            .remedy(format!("the parts are 1/{of} to {of}/{of}"))
    })
}

/// Runs a part of `--all` and saves its result, unless files changed meanwhile.
fn run_part(root: &Path, part: usize) -> Result<()> {
    let before = results::tree(root)?;
    let started = steps::elapsed_s();
    let (outcome, counts) = run_steps(root, plan::PARTS[part - 1]);
    let seconds = steps::elapsed_s() - started;
    for name in MEASURED_BY_TESTS {
        if let Ok(found) = fs::read_to_string(root.join(MEASURED).join(name)) {
            println!("  {name}: {found}");
        }
    }
    if let Some((ok, all)) = hosts_ok(&root.join(MEASURED).join("pkg.hosts_ok")) {
        println!("  pkg.hosts_ok {ok} of {all}");
    }
    if results::tree(root)? == before {
        let outcome = results::Outcome { passed: outcome.is_ok(), counts, seconds };
        results::keep(root, &before, part, outcome)?;
    } else {
        println!("  the files changed during the run: its result is not kept");
    }
    outcome
}

/// The number of hosts on which the npm package worked, and of all hosts. Each test of a host that passes leaves a file, which
/// has the second number.
fn hosts_ok(folder: &Path) -> Option<(usize, String)> {
    let passed: Vec<PathBuf> =
        fs::read_dir(folder).ok()?.filter_map(|file| Some(file.ok()?.path())).collect();
    let all = passed.first().and_then(|file| fs::read_to_string(file).ok())?;
    Some((passed.len(), all))
}

/// Runs steps and prints the summaries last.
fn run_steps(root: &Path, steps: &[Step]) -> (Result<()>, Counts) {
    let mut summaries = Vec::new();
    let outcome = carry_out(root, steps, &mut summaries);
    let counts = Counts::from_summaries(&summaries);
    println!("\nsummary ({} s)", steps::elapsed_s());
    for summary in summaries {
        println!("  {summary}");
    }
    let Counts { passed, failed, skipped } = counts;
    println!("{passed} passed, {failed} failed, {skipped} skipped");
    (outcome, counts)
}

fn carry_out(root: &Path, steps: &[Step], summaries: &mut Vec<String>) -> Result<()> {
    // The fastest steps come first.
    for step in steps.iter().filter(|step| **step == Step::Checks) {
        steps::run(root, *step, Build::Linted, summaries)?;
    }
    let rooms = || {
        steps
            .iter()
            .filter_map(|step| if let Step::Suite(rooms) = step { Some(rooms) } else { None })
    };
    let of_suite = rooms().next().is_some();
    let slow = rooms().any(|rooms| rooms.slow);
    let build = if steps == plan::QUICK { Build::Plain } else { Build::Linted };
    // At its end, building for browsers uses only one core: the other builds and tests native code.
    let beside = |step: &Step| matches!(step, Step::Units | Step::Examples);
    let mut of_native = Vec::new();
    let (native, browsers) = std::thread::scope(|scope| {
        let native = scope.spawn(|| {
            steps::build_native(root, build)?;
            Ok(run_each(steps.iter().filter(|step| beside(step)), |step| {
                steps::run(root, *step, build, &mut of_native)
            }))
        });
        let browsers = if of_suite { build_for_browsers(root, slow) } else { Ok(()) };
        let browsers = browsers.and_then(|()| if slow { setup_slow(root) } else { Ok(()) });
        let panicked = |_| Err(Failure::new("building panicked"));
        (native.join().unwrap_or_else(panicked), browsers)
    });
    summaries.extend(of_native);
    // A failed build ends the run. A failed test does not prevent the others from running.
    let passed = native?;
    browsers?;
    let rest = steps.iter().filter(|step| **step != Step::Checks && !beside(step));
    passed.and(run_each(rest, |step| steps::run(root, *step, build, summaries)))
}

/// Runs a function for each item, even if one fails, and returns the first failure.
fn run_each<'a>(
    steps: impl Iterator<Item = &'a Step>,
    mut run: impl FnMut(&Step) -> Result<()>,
) -> Result<()> {
    let mut ended = Ok(());
    for step in steps {
        ended = ended.and(run(step));
    }
    ended
}

/// Prepares what the suite needs besides the programs: nodes, contracts, browsers, a database; the npm package and the
/// pages.
fn build_for_browsers(root: &Path, shipped: bool) -> Result<()> {
    setup::ensure(root)?;
    setup::ensure_strace();
    setup::ensure_chromium();
    setup::ensure_postgres();
    setup::ensure_npm_tools(root)?;
    if shipped {
        setup::ensure_firefox();
        setup::ensure_firefox_driver(root)?;
    }
    let purpose = if shipped { Purpose::Shipped } else { Purpose::Tested };
    steps::begin("building the npm package");
    pkg::build(root, purpose)?;
    steps::begin("building the pages");
    web::build_plain(root, Purpose::Tested)?;
    if shipped { web::build(root) } else { Ok(()) }
}

/// Prepares what only slow tests need.
fn setup_slow(root: &Path) -> Result<()> {
    setup::ensure_deployment_tools();
    setup::ensure_schemathesis(root)?;
    setup::ensure_witness(root)?;
    setup::ensure_moto(root)?;
    setup::ensure_parquet_readers(root)?;
    setup::ensure_lighthouse(root)?;
    setup::ensure_npm_hosts(root);
    setup::ensure_x402_clients(root)?;
    setup::ensure_x402_python(root)?;
    setup::ensure_mcp_clients(root)?;
    setup::ensure_mcp_python(root)?;
    setup::ensure_webhooks_python(root)
}

/// Builds and runs the tests with these words in their names, and nothing else.
fn run_words(root: &Path, words: &[String], slow: bool) -> Result<()> {
    let metadata = workspace::metadata(root)?;
    let found = words::find(root, &metadata, words)?;
    eprintln!("test: {} tests match", found.len());
    let needs = Needs::for_tests(&found);
    if needs.chain {
        setup::ensure(root)?;
    }
    if needs.servers {
        setup::ensure_strace();
        setup::ensure_postgres();
    }
    if needs.browsers {
        build_for_browsers(root, false)?;
    }
    if slow && needs != Needs::default() {
        setup_slow(root)?;
    }
    let mut summaries = Vec::new();
    let mut ended = Ok(());
    let mut of: Vec<(&str, Target)> =
        found.iter().map(|test| (test.package.as_str(), test.target)).collect();
    of.dedup();
    for (package, target) in of {
        let names = found.iter().filter(|test| test.package == package && test.target == target);
        ended = ended.and(run_named(root, (package, target), names, slow, &mut summaries));
    }
    let Counts { passed, failed, skipped } = Counts::from_summaries(&summaries);
    println!("{passed} passed, {failed} failed, {skipped} skipped");
    if skipped > 0 && !slow {
        println!("the skipped ones are slow: add --all to run them");
    }
    ended?;
    if passed + skipped == 0 {
        return Err(Failure::new("none of these tests ran"));
    }
    Ok(())
}

fn run_named<'a>(
    root: &Path,
    (package, target): (&str, Target),
    tests: impl Iterator<Item = &'a SourceTest>,
    slow: bool,
    summaries: &mut Vec<String>,
) -> Result<()> {
    let mut command = workspace::cargo(root);
    match target {
        Target::Suite => {
            // The suite starts the programs by name.
            let mut programs = workspace::cargo(root);
            programs.args(["build", "--bins"]).args(workspace::NATIVE);
            process::run(&mut programs, "cargo build")?;
            command.args(["test", "--test", "suite"]).args(workspace::NATIVE);
        }
        Target::Library => drop(command.args(["test", "--package", package, "--lib"])),
        Target::Programs => drop(command.args(["test", "--package", package, "--bins"])),
    }
    command.args(["--", "--exact"]).args(tests.map(|test| &test.name));
    if slow {
        command.arg("--include-ignored");
    }
    steps::tests(&mut command, package, package, summaries).map(drop)
}

/// Installs the browser target if needed.
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

/// Asks the compiler and not rustup, which not every installation of Rust has.
fn is_installed(root: &Path, target: &str) -> bool {
    Command::new("rustc")
        .args(["--print", "target-libdir", "--target", target])
        .current_dir(root)
        .output()
        .ok()
        .and_then(|output| String::from_utf8(output.stdout).ok())
        .is_some_and(|folder| Path::new(folder.trim()).is_dir())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read_line(line: &str) -> Result<Request> {
        parse_arguments(&line.split_whitespace().map(str::to_owned).collect::<Vec<_>>())
    }

    #[test]
    fn each_tier_is_asked_for_by_its_name() {
        assert_eq!(read_line("").unwrap(), Request::Steps(plan::DEFAULT));
        assert_eq!(read_line("quick").unwrap(), Request::Steps(plan::QUICK));
        assert_eq!(read_line("--all").unwrap(), Request::Parts(vec![1, 2, 3, 4]));
        assert_eq!(read_line("--all --part 2/4").unwrap(), Request::Parts(vec![2]));
        assert_eq!(read_line("--all --report").unwrap(), Request::Report);
        assert_eq!(read_line("reality").unwrap(), Request::Reality { json: false });
        assert_eq!(read_line("reality --json").unwrap(), Request::Reality { json: true });
        let words = vec!["reality".to_owned(), "swaps".to_owned()];
        assert_eq!(read_line("reality swaps").unwrap(), Request::Words { words, slow: false });
        let words = vec!["store".to_owned(), "kill".to_owned()];
        assert_eq!(
            read_line("store kill").unwrap(),
            Request::Words { words: words.clone(), slow: false }
        );
        assert_eq!(read_line("store kill --all").unwrap(), Request::Words { words, slow: true });
    }

    #[test]
    fn only_hosts_that_passed_are_counted() {
        let folder = std::env::temp_dir().join(format!("exitgap-hosts-{}", std::process::id()));
        assert_eq!(hosts_ok(&folder), None);
        fs::create_dir_all(&folder).unwrap();
        assert_eq!(hosts_ok(&folder), None);
        for host in ["deno", "jest", "deno"] {
            fs::write(folder.join(host), "20").unwrap();
        }
        assert_eq!(hosts_ok(&folder), Some((2, "20".to_owned())));
        fs::remove_dir_all(&folder).unwrap();
    }

    #[test]
    fn a_wrong_request_names_what_is_right() {
        for (line, said, remedy) in [
            ("--al", "unexpected `--al`", "--all"),
            ("--part 1/4", "need --all", "--part 1/4"),
            ("--report", "need --all", "--all"),
            ("--all --part 5/4", "`5/4` is not a part", "1/4 to 4/4"),
            ("--all --part", "`` is not a part", "1/4"),
            ("--all --part 0/4", "is not a part", "1/4"),
            ("--all --part 1/4 --report", "only one can be given", "--all"),
            ("--all --part 1/4 decay", "need --all", "--all"),
            ("--json", "--json needs `reality`", "reality --json"),
            ("decay --json", "--json needs `reality`", "reality --json"),
            ("reality --all --json", "--json needs `reality`", "reality --json"),
        ] {
            let failure = read_line(line).unwrap_err();
            assert_eq!(failure.code(), 2, "{line}");
            let text = failure.to_string();
            assert!(text.contains(said) && text.contains(remedy), "{text}");
        }
    }
}
