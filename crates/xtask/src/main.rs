//! Developers' commands of exitgap: `cargo xtask <command>`. See `cargo xtask --help`.
//!
//! In scope: fetching the tests' requirements, running the tests, the checks and the measurements. Out of scope:
//! anything the product does; a command here only builds, starts and watches other programs.

mod baseline;
mod changelog;
mod check;
mod defects;
mod demo;
mod deny;
mod dist;
mod failure;
mod faults;
mod fuzz;
mod generate;
mod licences;
mod measure;
mod measure_build;
mod measure_setup;
mod measure_web;
mod peers;
mod pkg;
mod process;
mod py;
mod reality;
mod sample;
mod setup;
mod surface;
mod test;
mod web;
mod web_order;
mod web_program;
mod workspace;

use std::fmt::Write;
use std::path::Path;
use std::process::ExitCode;

use failure::{Failure, Result};

/// A developer's command.
struct Command {
    name: &'static str,
    /// A one-line description.
    about: &'static str,
    /// The output of `--help`.
    help: &'static str,
    run: fn(&Path, &[String]) -> Result<()>,
}

/// The commands, in the order of the help.
const COMMANDS: [Command; 20] = [
    Command {
        name: "setup",
        about: "Fetch the node and the contracts' bytecode into .fixtures/ (once, 30 MB)",
        help: setup::HELP,
        run: |root, rest| {
            let bench = flag(rest, "--bench")?;
            setup::ensure(root)?;
            if bench {
                setup::ensure_js_sdk(root)?;
            }
            eprintln!("setup: done");
            Ok(())
        },
    },
    Command {
        name: "demo",
        about: "Play a day of slots on a development chain, record it, ask for exits",
        help: demo::HELP,
        run: demo::run,
    },
    Command {
        name: "test",
        about: "Run the tests: of a name, the fast ones, what a change must pass, or all",
        help: test::HELP,
        run: test::run,
    },
    Command {
        name: "check",
        about: "Check formatting, lints, dependencies between crates, lengths, documentation",
        help: check::HELP,
        run: |root, rest| no_arguments(rest).and_then(|()| check::run(root)),
    },
    Command {
        name: "generate",
        about: "Make the types of the API's documents for TypeScript and Python",
        help: generate::HELP,
        run: |root, rest| generate::run(root, flag(rest, "--check")?),
    },
    Command {
        name: "licences",
        about: "Write the third-party licence notices of what is shipped",
        help: licences::HELP,
        run: |root, rest| no_arguments(rest).and_then(|()| licences::write_notices(root)),
    },
    Command {
        name: "deny",
        about: "Check licences, sources, bans and advisories of dependencies",
        help: deny::HELP,
        run: deny::run,
    },
    Command {
        name: "changelog",
        about: "Write the titles of commits into CHANGELOG.md, grouped by area",
        help: changelog::HELP,
        run: changelog::run,
    },
    Command {
        name: "fuzz",
        about: "Run the fuzz targets for a while",
        help: fuzz::HELP,
        run: fuzz::run,
    },
    Command {
        name: "bench",
        about: "Measure speed, against other libraries, and sizes",
        help: measure::BENCH_HELP,
        run: measure::bench,
    },
    Command {
        name: "pkg",
        about: "Build the npm package and its tarball",
        help: pkg::HELP,
        run: |root, rest| {
            no_arguments(rest)?;
            let tarball = pkg::build(root, workspace::Purpose::Shipped)?;
            println!("{}", tarball.display());
            Ok(())
        },
    },
    Command {
        name: "py",
        about: "Build the Python package and try its wheel in a fresh environment",
        help: py::HELP,
        run: |root, rest| no_arguments(rest).and_then(|()| py::run(root)),
    },
    Command {
        name: "sample",
        about: "Make the recorded sample that `exitgap try` shows",
        help: sample::HELP,
        run: |root, rest| sample::run(root, flag(rest, "--check")?),
    },
    Command {
        name: "web",
        about: "Build the site that the server embeds",
        help: web::HELP,
        run: |root, rest| {
            if flag(rest, "--plain")? {
                let made = web::build_plain(root, workspace::Purpose::Shown)?;
                println!("{}", made.display());
                return Ok(());
            }
            web::build(root)
        },
    },
    Command {
        name: "dist",
        about: "Make a signed release, or check that two builds are the same and run",
        help: dist::HELP,
        run: dist::run,
    },
    Command {
        name: "parity",
        about: "Compare quotes with the real contracts on random pools",
        help: measure::PARITY_HELP,
        run: measure::parity,
    },
    Command {
        name: "reality",
        about: "Compute the swaps of a node's blocks, and compare them with what was logged",
        help: reality::HELP,
        run: reality::run,
    },
    Command {
        name: "faults",
        about: "Kill, cut off, damage and flood a recorder, and see what is lost",
        help: faults::HELP,
        run: faults::run,
    },
    Command {
        name: "surface",
        about: "Count files, lines, names and words that a reader meets",
        help: surface::HELP,
        run: surface::run,
    },
    Command {
        name: "defects",
        about: "Apply sixty small defects, and see whether the tests notice each",
        help: defects::HELP,
        run: defects::run,
    },
];

fn help() -> String {
    let mut commands = String::new();
    for Command { name, about, .. } in &COMMANDS {
        // Writing to a string cannot fail.
        let _ = writeln!(commands, "  {name:<9} {about}");
    }
    format!(
        "Developers' commands of exitgap.

Usage: cargo xtask <command> [options]

Commands:
{commands}
`cargo xtask <command> --help` says more about each.

A first session:
  cargo xtask setup && cargo xtask test && cargo xtask demo

Exit codes: 0 done, 1 something failed or does not pass, 2 the command line is wrong.
demo, bench, parity, reality and faults end with the exit code of the program they run."
    )
}

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
    let Some((name, rest)) = arguments.split_first() else {
        println!("{}", help());
        return Ok(());
    };
    if ["help", "--help", "-h"].contains(&name.as_str()) {
        println!("{}", help());
        return Ok(());
    }
    let Some(command) = COMMANDS.iter().find(|command| command.name == name) else {
        let names: Vec<&str> = COMMANDS.iter().map(|command| command.name).collect();
        return Err(Failure::usage(format!("there is no command `{name}`"))
            .remedy(format!("the commands are {}", names.join(", "))));
    };
    if rest.iter().any(|argument| argument == "--help" || argument == "-h") {
        println!("{}", command.help);
        return Ok(());
    }
    (command.run)(&workspace::root(), rest)
}

/// Whether the only supported argument was given.
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
            ("reality --blocks 3", "no node is given", "--rpc"),
        ] {
            let failure = run(&arguments(line)).unwrap_err();
            assert_eq!(failure.code(), 2, "{line}");
            let text = failure.to_string();
            assert!(text.contains(said) && text.contains(remedy), "{text}");
        }
    }

    #[test]
    fn every_command_explains_itself() {
        for Command { name, help, .. } in &COMMANDS {
            assert!(super::help().contains(&format!("\n  {name} ")), "{name}");
            assert!(help.contains(&format!("Usage: cargo xtask {name}")), "{name}");
            assert!(run(&arguments(&format!("{name} --help"))).is_ok());
        }
        assert!(run(&[]).is_ok());
    }
}
