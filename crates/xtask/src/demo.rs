//! `cargo xtask demo`: builds the programs and starts `exitgap-demo`.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::failure::{Context, Failure, Result};
use crate::{process, setup, workspace};

/// The output of `cargo xtask demo --help`.
pub const HELP: &str = "\
Play days on a development chain, record them, query an exit, and serve.

Usage: cargo xtask demo [--once | --payments]

  --once      play one day, the same each time, print the results, and exit
  --payments  play an hour, deploy the real USDC contract, charge for answers, pay for one,
              check its receipt, its bytes and its evidence, and exit

First, a small program is built that prints a number of a recorded sample, as `exitgap try` does. Then the
native programs are built. The node and the real Uniswap and Chainlink contracts are downloaded meanwhile.
One day of five-minute slots is played in step with the recorder, and the first number is
printed with its verified evidence. Then seven more days are played up to the present, while the site is
built (without --once; its output is in target/site.log). Pools, a ladder and some sizes are printed; an
estimated size is really sold, and the difference is shown in token units. A second operator records the
same pools, and each cosigns the other's log. With --once, a number is then confirmed by the chain and by
the cosigners, without the operator's key. Finally the service and its pages keep running on
http://127.0.0.1:8080 (or a free port) and record every five minutes, until Ctrl-C. All started processes
end with it. Database and configuration stay in target/demo for more queries.

`cargo xtask bench setup` measures how long this takes from an empty home folder.";

/// The programs of a demonstration.
pub struct Programs {
    /// `exitgap-demo`.
    pub demo: PathBuf,
    /// `exitgap-server`.
    pub server: PathBuf,
    /// `exitgap`.
    pub cli: PathBuf,
}

/// What is built before the first number is shown: the programs, and only that part of the test package which simulates
/// the chain. The rest would triple the amount of code to compile.
const FIRST: [&str; 8] = [
    "--package",
    "exitgap-server",
    "--package",
    "exitgap-cli",
    "--package",
    "exitgap-tests",
    "--no-default-features",
    "--bins",
];

/// A build of some programs.
fn build_of(root: &Path) -> Command {
    let mut build = workspace::cargo(root);
    // Most users build the demonstration only once, and incremental builds would cost time and disk space now.
    build.env("CARGO_INCREMENTAL", "0").arg("build");
    build
}

/// A program that was built.
fn built(metadata: &Value, name: &str) -> Result<PathBuf> {
    let path = workspace::debug_binary(metadata, name);
    if path.is_file() {
        return Ok(path);
    }
    Err(Failure::new(format!("the build made no {}", path.display()))
        .remedy("one of the packages does not declare its binary"))
}

/// Builds the smallest program that shows the recorded sample, and runs it.
fn show_sample(root: &Path) -> Result<()> {
    eprintln!(
        "demo: building a small program that shows a recorded sample; the first time takes about a minute"
    );
    process::run(build_of(root).args(["--package", SAMPLE]), "cargo build")?;
    let mut sample = Command::new(built(&workspace::metadata(root)?, SAMPLE)?);
    process::run(sample.args(NEXT), SAMPLE)
}

/// Builds them.
pub fn build(root: &Path) -> Result<Programs> {
    process::run(build_of(root).args(FIRST), "cargo build")?;
    let metadata = workspace::metadata(root)?;
    let binary = |name: &str| built(&metadata, name);
    let (demo, server) = (binary("exitgap-demo")?, binary("exitgap-server")?);
    Ok(Programs { demo, server, cli: binary("exitgap")? })
}

/// The package, and its program, that shows the sample.
const SAMPLE: &str = "exitgap-sample";

/// What follows the sample.
const NEXT: [&str; 1] = ["(this demonstration, now with a private chain and the real contracts)"];

/// Builds and runs the demonstration.
pub fn run(root: &Path, arguments: &[String]) -> Result<()> {
    let (once, payments) = match arguments {
        [flag] if flag == "--payments" => (false, true),
        _ => (crate::flag(arguments, "--once")?, false),
    };
    eprintln!(
        "demo: building the native programs, and downloading the node and the contracts meanwhile; the first time usually takes six minutes on two cores"
    );
    let fetched = std::thread::scope(|scope| {
        let fetching = scope.spawn(|| setup::ensure(root));
        let built = show_sample(root).and_then(|()| build(root));
        let fetched = fetching.join().unwrap_or_else(|_| Err(Failure::new("fetching panicked")));
        fetched.and(built)
    });
    let programs = fetched?;
    let target = root.join("target");
    let pages = target.join("demo.pages");
    // Left by an earlier demonstration.
    let _ = fs::remove_file(&pages);
    let mut demo = Command::new(programs.demo);
    demo.arg("--server").arg(programs.server);
    demo.arg("--cli").arg(programs.cli);
    demo.arg("--folder").arg(target.join("demo"));
    if once {
        demo.arg("--once");
    } else if payments {
        demo.arg("--payments");
    } else {
        demo.arg("--pages").arg(&pages);
        let root = root.to_owned();
        // It ends with this process: the programs it runs are in the same process group.
        std::thread::spawn(move || build_pages(&root, &pages));
    }
    demo.arg("--lifeline");
    process::run_on_lifeline(demo.current_dir(root), "exitgap-demo")
}

/// Builds the site and writes its folder to the file `pages`; writes nothing if the build fails.
fn build_pages(root: &Path, pages: &Path) {
    let log = root.join("target/site.log");
    eprintln!(
        "demo: building the service's pages and their tools meanwhile; the first time this usually takes six minutes; output: {}",
        log.display()
    );
    let site = match site(root, &log) {
        Ok(site) => site.display().to_string(),
        Err(failure) => {
            eprintln!("demo: {failure}");
            String::new()
        }
    };
    // The file is written completely before it gets its name. If it cannot be written, the demonstration keeps waiting,
    // and Ctrl-C ends it.
    let written = pages.with_extension("partial");
    if fs::write(&written, site).and_then(|()| fs::rename(&written, pages)).is_err() {
        eprintln!("demo: {} could not be written; press Ctrl-C", pages.display());
    }
}

/// The folder of the built site. The build's output goes to `log`.
fn site(root: &Path, log: &Path) -> Result<PathBuf> {
    let words = || format!("writing {}", log.display());
    let out = File::create(log).context(words())?;
    let err = out.try_clone().context(words())?;
    let this = std::env::current_exe().context("finding this program")?;
    // The simulation has priority: the number is shown before the pages are ready.
    let mut build = if cfg!(unix) { Command::new("nice") } else { Command::new(&this) };
    if cfg!(unix) {
        build.args(["-n", "10"]).arg(this);
    }
    build.args(["web", "--plain"]).current_dir(root).stdin(Stdio::null()).stdout(out).stderr(err);
    process::run(&mut build, "cargo xtask web --plain")
        .map_err(|failure| failure.remedy(format!("see {}", log.display())))?;
    Ok(root.join("target/pages"))
}
