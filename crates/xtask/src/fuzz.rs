//! `cargo xtask fuzz`: the fuzz targets of `fuzz/` under `libFuzzer`, with the ordinary compiler.
//!
//! `libFuzzer` needs code instrumented with branch counters. The required flags are stable, so neither a nightly
//! compiler nor `cargo fuzz` is needed; the latter works too.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::failure::{Context, Failure, Result};
use crate::{process, workspace};

/// The output of `cargo xtask fuzz --help`.
pub const HELP: &str = "\
Run the fuzz targets.

Usage: cargo xtask fuzz [--seconds N] [target]

  --seconds N   how long each target runs; default 60
  target        only this one: verify, checkpoint, window, snapshot, slot or tile

Builds fuzz/ (excluded from the workspace, with its own lock file; needs a C++ compiler for
libFuzzer), fills fuzz/target/seeds from the shared vectors, and runs one target after the other on
these, on fuzz/corpus and on what earlier runs found. Prints how many inputs each target ran. An input
that breaks a guarantee, or takes half a minute or two gigabytes, ends the run with exit code 1 and is stored in
fuzz/artifacts/<target>; run the target's binary on that file to reproduce it.";

/// The targets, as the suite runs them too.
const TARGETS: [&str; 6] = ["verify", "checkpoint", "window", "snapshot", "slot", "tile"];

/// The compiler flags that `libFuzzer` needs.
const COVERAGE: &str = "--cfg fuzzing -Cpasses=sancov-module -Ccodegen-units=1 \
    -Cllvm-args=-sanitizer-coverage-level=4 -Cllvm-args=-sanitizer-coverage-inline-8bit-counters \
    -Cllvm-args=-sanitizer-coverage-pc-table -Cllvm-args=-sanitizer-coverage-trace-compares";

/// Maximum length of an input: several times the largest seed.
const MAX_INPUT_BYTES: u32 = 16_384;

/// The line in which `libFuzzer` reports the number of executed inputs.
const EXECUTED: &str = "stat::number_of_executed_units:";

/// The selected targets.
#[derive(Debug, PartialEq, Eq)]
struct Chosen {
    seconds: u32,
    targets: Vec<&'static str>,
}

/// Builds and runs the targets.
pub fn run(root: &Path, arguments: &[String]) -> Result<()> {
    let plan = plan(arguments)?;
    let host = host(root)?;
    let manifest = root.join("fuzz/Cargo.toml");
    let mut build = workspace::cargo(root);
    // An explicit target keeps the flags away from build scripts.
    build.args(["build", "--release", "--locked", "--bins", "--target", &host, "--target-dir"]);
    build.arg(root.join("fuzz/target")).arg("--manifest-path").arg(&manifest);
    process::run(build.env("RUSTFLAGS", COVERAGE), "cargo build of the fuzz targets")?;
    let mut seeds = workspace::cargo(root);
    seeds.args(["run", "--quiet", "--locked", "--example", "seeds", "--target-dir"]);
    seeds.arg(root.join("fuzz/target")).arg("--manifest-path").arg(&manifest);
    seeds.arg("--").arg(root.join("fuzz/target/seeds"));
    process::run(&mut seeds, "writing the seeds")?;
    let mut failed = Vec::new();
    for target in plan.targets {
        match run_target(root, &host, target, plan.seconds) {
            Ok(executed) => println!("fuzz {target}: {executed} inputs, no finding"),
            Err(failure) => {
                println!("fuzz {target}: FAILED ({failure})");
                failed.push(target);
            }
        }
    }
    if failed.is_empty() {
        return Ok(());
    }
    Err(Failure::new(format!("these targets have findings: {}", failed.join(", ")))
        .remedy("the inputs are in fuzz/artifacts; each target's output is above"))
}

/// Runs one target; returns the number of inputs, or an error if it found something.
fn run_target(root: &Path, host: &str, target: &str, seconds: u32) -> Result<String> {
    let folder = root.join("fuzz");
    let (found, artifacts) =
        (folder.join("target/found").join(target), folder.join("artifacts").join(target));
    for place in [&found, &artifacts] {
        fs::create_dir_all(place).context(format!("creating {}", place.display()))?;
    }
    let binary = folder.join("target").join(host).join("release").join(target);
    let mut command = Command::new(binary);
    command.arg(format!("-max_total_time={seconds}")).arg(format!("-max_len={MAX_INPUT_BYTES}"));
    command.args(["-timeout=30", "-rss_limit_mb=2048", "-print_final_stats=1"]);
    command.arg(format!("-artifact_prefix={}/", artifacts.display()));
    // New inputs go to the first folder.
    command.arg(found).arg(folder.join("target/seeds").join(target));
    command.arg(folder.join("corpus").join(target));
    let wanted = |line: &str| line.starts_with(EXECUTED);
    let (lines, end) = process::run_and_pick(&mut command, &format!("fuzzing {target}"), wanted)?;
    end.map_err(|failure| failure.with_code(1))?;
    let executed = lines.iter().find_map(|line| line.strip_prefix(EXECUTED));
    executed
        .map(|count| count.trim().to_owned())
        .ok_or_else(|| Failure::new("it ended without reporting how many inputs it ran"))
}

fn plan(arguments: &[String]) -> Result<Chosen> {
    let mut plan = Chosen { seconds: 60, targets: TARGETS.to_vec() };
    let mut rest = arguments.iter();
    while let Some(argument) = rest.next() {
        if argument == "--seconds" {
            let number = rest.next().and_then(|text| text.parse().ok()).filter(|n| *n > 0);
            plan.seconds = number.ok_or_else(|| {
                Failure::usage("--seconds needs a number").remedy("for example --seconds 600")
            })?;
        } else if let Some(target) = TARGETS.iter().find(|target| *target == argument) {
            plan.targets = vec![*target];
        } else {
            return Err(Failure::usage(format!("unexpected `{argument}`"))
                .remedy(format!("the targets are {}", TARGETS.join(", "))));
        }
    }
    Ok(plan)
}

/// The compiler's default target.
fn host(root: &Path) -> Result<String> {
    let output = Command::new("rustc").arg("-vV").current_dir(root).output();
    let output = output.context("querying rustc for its host")?;
    let text = String::from_utf8_lossy(&output.stdout);
    let host = text.lines().find_map(|line| line.strip_prefix("host: "));
    host.map(str::to_owned).ok_or_else(|| Failure::new("rustc -vV reports no host"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_is_read_or_refused_with_what_is_right() {
        let plan_of =
            |line: &str| plan(&line.split_whitespace().map(str::to_owned).collect::<Vec<_>>());
        let all = TARGETS.to_vec();
        assert_eq!(plan_of("").unwrap(), Chosen { seconds: 60, targets: all });
        let one = plan_of("--seconds 600 window").unwrap();
        assert_eq!(one, Chosen { seconds: 600, targets: vec!["window"] });
        for (line, said) in [
            ("--seconds", "a number"),
            ("--seconds 0", "a number"),
            ("--seconds x", "a number"),
            ("windows", "unexpected `windows`"),
        ] {
            let failure = plan_of(line).unwrap_err();
            assert_eq!(failure.code(), 2);
            assert!(failure.to_string().contains(said), "{failure}");
        }
    }

    #[test]
    fn every_target_has_a_binary_and_a_corpus() {
        let manifest = fs::read_to_string(workspace::root().join("fuzz/Cargo.toml")).unwrap();
        for target in TARGETS {
            assert!(manifest.contains(&format!("name = \"{target}\"")), "{target}");
            assert!(workspace::root().join("fuzz/corpus").join(target).is_dir(), "{target}");
        }
        assert_eq!(manifest.matches("[[bin]]").count(), TARGETS.len());
    }
}
