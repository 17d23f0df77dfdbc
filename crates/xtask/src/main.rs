//! Developers' commands of exitgap: `cargo xtask <command>`. See `cargo xtask --help`.
//!
//! In scope: fetching what tests need, running the tests, the checks and the measurements. Out of
//! scope: anything the product does; a command here only builds, starts and watches other programs.

mod baseline;
mod check;
mod defects;
mod demo;
mod failure;
mod faults;
mod fuzz;
mod licences;
mod measure;
mod measure_build;
mod measure_setup;
mod measure_web;
mod peers;
mod pkg;
mod process;
mod py;
mod setup;
mod test;
mod web;
mod web_program;
mod workspace;

use std::process::ExitCode;

use failure::{Failure, Result};

const HELP: &str = "\
Developers' commands of exitgap.

Usage: cargo xtask <command> [options]

Commands:
  setup    Fetch the node and the contracts' bytecode into .fixtures/ (once, 30 MB)
  demo     Play a day of slots on a development chain, record it, ask for exits
  test     Run tests: by name, the fast ones, those that a change must pass, or all
  check    Formatting, lints, crate arrows, floats, lengths, documentation
  licences Write the third-party licence notices of what is shipped
  fuzz     Run the fuzz targets for a while
  bench    Measure speed, compared with other libraries, and the size of evidence
  pkg      Build the npm package and its tarball
  py       Build the Python package and try its wheel in a fresh environment
  web      Build the site that the server embeds
  parity   Compare quotes with the real contracts on random pools
  faults   Kill, cut off, damage and flood a recorded series, and check that no data is lost
  defects  Apply sixty small defects, and check that the tests catch each

`cargo xtask <command> --help` describes a command.

A first session:
  cargo xtask setup && cargo xtask test && cargo xtask demo

Exit codes: 0 done, 1 something failed or does not pass, 2 the command line is wrong.
demo, bench, parity and faults end with the exit code of the program they run.";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match run(&arguments) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            eprintln!("error: {failure}");
            ExitCode::from(failure.code())
        }
    }
}

fn run(arguments: &[String]) -> Result<()> {
    let Some((command, rest)) = arguments.split_first() else {
        println!("{HELP}");
        return Ok(());
    };
    let help = match command.as_str() {
        "setup" => setup::HELP,
        "demo" => demo::HELP,
        "test" => test::HELP,
        "check" => check::HELP,
        "fuzz" => fuzz::HELP,
        "licences" => licences::HELP,
        "pkg" => pkg::HELP,
        "py" => py::HELP,
        "web" => web::HELP,
        "bench" => measure::BENCH_HELP,
        "parity" => measure::PARITY_HELP,
        "faults" => faults::HELP,
        "defects" => defects::HELP,
        "help" | "--help" | "-h" => {
            println!("{HELP}");
            return Ok(());
        }
        other => {
            return Err(Failure::usage(format!("unknown command `{other}`")).remedy(
                "the commands are setup, demo, test, check, licences, fuzz, bench, pkg, py, web, parity, faults and defects",
            ));
        }
    };
    if rest.iter().any(|argument| argument == "--help" || argument == "-h") {
        println!("{help}");
        return Ok(());
    }
    let root = workspace::root();
    match command.as_str() {
        "setup" => {
            let bench = flag(rest, "--bench")?;
            setup::ensure(&root)?;
            if bench {
                setup::ensure_js_sdk(&root)?;
            }
            eprintln!("setup: done");
            Ok(())
        }
        "demo" => demo::run(&root, rest),
        "test" => test::run(&root, rest),
        "check" => {
            no_arguments(rest)?;
            check::run(&root)
        }
        "licences" => {
            no_arguments(rest)?;
            licences::write(&root)
        }
        "fuzz" => fuzz::run(&root, rest),
        "bench" => measure::bench(&root, rest),
        "pkg" => {
            no_arguments(rest)?;
            let tarball = pkg::build(&root, workspace::Purpose::Shipped)?;
            println!("{}", tarball.display());
            Ok(())
        }
        "py" => {
            no_arguments(rest)?;
            py::run(&root)
        }
        "web" if flag(rest, "--plain")? => web::build_plain(&root, workspace::Purpose::Shown)
            .map(|made| println!("{}", made.display())),
        "web" => web::build(&root),
        "faults" => faults::run(&root, rest),
        "defects" => defects::run(&root, rest),
        _ => measure::parity(&root, rest),
    }
}

/// Whether the only argument allowed here was given.
fn flag(arguments: &[String], name: &str) -> Result<bool> {
    match arguments {
        [] => Ok(false),
        [one] if one == name => Ok(true),
        other => Err(Failure::usage(format!("unexpected `{}`", other.join(" ")))
            .remedy(format!("the only option here is {name}"))),
    }
}

fn no_arguments(arguments: &[String]) -> Result<()> {
    match arguments {
        [] => Ok(()),
        other => Err(Failure::usage(format!("unexpected `{}`", other.join(" ")))
            .remedy("this command takes no options")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn arguments(line: &str) -> Vec<String> {
        line.split_whitespace().map(str::to_owned).collect()
    }

    #[test]
    fn a_wrong_command_line_exits_with_2_and_names_what_is_right() {
        for (line, said, remedy) in [
            ("tset", "no command `tset`", "test"),
            ("test --al", "unexpected `--al`", "--all"),
            ("check now", "unexpected `now`", "no options"),
            ("setup --bench --bench", "unexpected", "--bench"),
        ] {
            let failure = run(&arguments(line)).unwrap_err();
            assert_eq!(failure.code(), 2, "{line}");
            let text = failure.to_string();
            assert!(text.contains(said) && text.contains(remedy), "{text}");
        }
    }

    #[test]
    fn every_command_explains_itself() {
        for command in [
            "setup", "demo", "test", "check", "licences", "fuzz", "bench", "pkg", "py", "web",
            "parity", "faults", "defects",
        ] {
            assert!(HELP.contains(&format!("\n  {command} ")), "{command}");
            assert!(run(&arguments(&format!("{command} --help"))).is_ok());
        }
        assert!(run(&[]).is_ok());
    }
}
