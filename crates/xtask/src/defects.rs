//! `cargo xtask defects`: applies small defects one after the other, and checks whether the tests notice them.

mod patch;
mod tree;
mod verdict;

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Instant;

use crate::failure::{Failure, Result};
use crate::setup;
use patch::{Build, Defect, Runner, TestSelector, Tier};
use tree::Tree;
use verdict::Ran;

/// The output of `cargo xtask defects --help`.
pub const HELP: &str = "\
Check that the tests notice sixty small defects.

Usage: cargo xtask defects [NN …] [--tier TIER] [--control] [--list | --check] [--json]

Each defect is a patch in tests/defects. Its header says what the defect does and names the tests that have to fail.
The command applies one patch after the other in a git worktree of its own (target/defects/tree), builds what the
tests need and runs them. A defect counts as caught if every named test runs and fails. It does not count if the patch
does not compile or if a named test does not exist. Your own files are not changed, but they must be committed.

  NN            only the defects with these numbers, such as 07 or 7
  --tier TIER   only the defects of one tier: quick (unit tests), default (the suite), all (the slow tests)
  --control     first run the named tests without the defects; they must pass. Without this option a test that fails
                for another reason, such as a missing tool, counts as well
  --list        list the defects with their tests; run nothing
  --check       only check that each patch applies to the checkout as it is; takes a second
  --json        end stdout with one JSON object; the lines for each defect go to stderr

Run `cargo xtask test` once before (`--all` for the tier all): it fetches and builds what the suite needs. Builds are
incremental, and all sixty take some hours on two cores. What the tests print is in target/defects/log. To free the disk
space afterwards: git worktree remove --force target/defects/tree && rm -r target/defects

Example: cargo xtask defects --tier quick --control

Prints one line for each defect, then `build.defects_caught N of 60`. Exit codes: 0 all were caught, 1 some were not,
2 the command line is wrong.";

/// What to do with each defect.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum Action {
    /// Apply it and run the tests.
    #[default]
    Test,
    /// Print it.
    List,
    /// Check whether it applies.
    Check,
}

/// What to do, and with which defects.
#[derive(Debug, Default, PartialEq, Eq)]
struct Plan {
    numbers: Vec<u32>,
    tier: Option<Tier>,
    action: Action,
    control: bool,
    json: bool,
}

/// Runs the command.
pub fn run(root: &Path, arguments: &[String]) -> Result<()> {
    let plan = plan(arguments)?;
    let defects = chosen(patch::read_defects(root)?, &plan)?;
    if plan.action == Action::List {
        for defect in &defects {
            list(defect);
        }
        return Ok(());
    }
    let mut caught = 0;
    if plan.action == Action::Check {
        for defect in &defects {
            let judged = tree::applies(root, defect);
            caught += usize::from(tell(defect, &judged, ["applies", ""], plan.json));
        }
        let unapplied = defects.len() - caught;
        return if unapplied == 0 {
            Ok(())
        } else {
            Err(Failure::new(format!("{unapplied} of {} defects do not apply", defects.len())))
        };
    }
    if defects.iter().any(|defect| defect.tests.iter().any(needs_fixtures)) {
        setup::ensure(root)?;
    }
    let tree = Tree::for_root(root)?;
    let controls = if plan.control { controls(&tree, &defects)? } else { BTreeMap::new() };
    for defect in &defects {
        let begun = Instant::now();
        let judged = tree.reset().and_then(|()| judge(&tree, defect, &controls));
        let how = format!("caught ({} s)", begun.elapsed().as_secs());
        caught += usize::from(tell(defect, &judged, [&how, "NOT caught: "], plan.json));
    }
    tree.reset()?;
    summarise(caught, defects.len(), plan.json)
}

fn needs_fixtures(noticing: &TestSelector) -> bool {
    matches!(noticing.runner, Runner::Suite | Runner::Server)
}

/// The results of these defects' tests without the defects, each test run once.
fn controls(tree: &Tree, defects: &[Defect]) -> Result<BTreeMap<TestSelector, Ran>> {
    // The site first: it builds some of the package's files, which the package then builds again.
    for build in [Build::Site, Build::Package, Build::Python] {
        if defects.iter().any(|defect| defect.build == Some(build)) {
            tree.build(build)?;
        }
    }
    let mut found = BTreeMap::new();
    for defect in defects {
        for (at, noticing) in defect.tests.iter().enumerate() {
            if !found.contains_key(noticing) {
                eprintln!("control: {}", noticing.path);
                let log = format!("../log/{:02}-{at}-control.txt", defect.number);
                let ran = verdict::run(tree, noticing, defect.tier, &tree.path.join(log))?;
                found.insert(noticing.clone(), ran);
            }
        }
    }
    Ok(found)
}

/// Applies a defect and requires that its tests fail, and that they passed without it if that was checked.
fn judge(tree: &Tree, defect: &Defect, controls: &BTreeMap<TestSelector, Ran>) -> Result<()> {
    for noticing in &defect.tests {
        match controls.get(noticing) {
            None | Some(Ran::Passed) => {}
            Some(other) => {
                let why = other.objection().unwrap_or("it fails");
                return Err(Failure::new(format!("without the defect, {}: {why}", noticing.path)));
            }
        }
    }
    tree.apply(defect)?;
    if let Some(build) = defect.build {
        tree.build(build)
            .map_err(|failure| Failure::new(format!("it does not compile: {failure}")))?;
    }
    for (at, noticing) in defect.tests.iter().enumerate() {
        let log = tree.path.join(format!("../log/{:02}-{at}.txt", defect.number));
        let ran = verdict::run(tree, noticing, defect.tier, &log)?;
        if let Some(why) = ran.objection() {
            return Err(Failure::new(format!("{}: {why}", noticing.path)));
        }
    }
    Ok(())
}

/// Prints a defect's result, with the text for a good one or before the reason for a bad one; returns whether it is
/// good.
fn tell(defect: &Defect, judged: &Result<()>, [good, bad]: [&str; 2], json: bool) -> bool {
    let line = match judged {
        Ok(()) => format!("{}: {good}", defect.title()),
        Err(failure) => format!("{}: {bad}{failure}", defect.title()),
    };
    if json {
        eprintln!("{line}");
    } else {
        println!("{line}");
    }
    judged.is_ok()
}

fn summarise(caught: usize, all: usize, json: bool) -> Result<()> {
    if json {
        println!("{{\"build.defects_caught\": {caught}, \"build.defects\": {all}}}");
    } else {
        println!("build.defects_caught {caught} of {all}");
    }
    if caught == all {
        return Ok(());
    }
    Err(Failure::new(format!("{} of {all} defects were not caught", all - caught))
        .remedy("each line above says why; what the tests printed is in target/defects/log"))
}

fn list(defect: &Defect) {
    println!("{}  [{}, {}]", defect.title(), defect.tier.word(), defect.group.word());
    println!("    {}", defect.what);
    for noticing in &defect.tests {
        println!("    {}", noticing.shown());
    }
}

/// The selected defects, by number.
fn chosen(defects: Vec<Defect>, plan: &Plan) -> Result<Vec<Defect>> {
    if let Some(unknown) =
        plan.numbers.iter().find(|number| !defects.iter().any(|one| one.number == **number))
    {
        return Err(Failure::usage(format!("defect {unknown:02} does not exist"))
            .remedy("`cargo xtask defects --list` lists them"));
    }
    let mut chosen = defects;
    chosen.retain(|defect| {
        let is_named = plan.numbers.is_empty() || plan.numbers.contains(&defect.number);
        is_named && plan.tier.is_none_or(|tier| tier == defect.tier)
    });
    if chosen.is_empty() {
        return Err(Failure::usage("no defect has this number and tier")
            .remedy("`cargo xtask defects --list` lists them"));
    }
    Ok(chosen)
}

fn plan(arguments: &[String]) -> Result<Plan> {
    let mut plan = Plan::default();
    let mut rest = arguments.iter();
    while let Some(argument) = rest.next() {
        match argument.as_str() {
            "--control" => plan.control = true,
            "--list" => plan.action = Action::List,
            "--check" => plan.action = Action::Check,
            "--json" => plan.json = true,
            "--tier" => {
                let tier = rest.next().and_then(|word| Tier::from_word(word));
                plan.tier = Some(tier.ok_or_else(|| {
                    Failure::usage("--tier needs a tier").remedy("one of quick, default and all")
                })?);
            }
            number => match number.parse() {
                Ok(number) => plan.numbers.push(number),
                Err(_) => {
                    return Err(Failure::usage(format!("unexpected `{number}`")).remedy(
                        "numbers of defects, --tier, --control, --list, --check and --json",
                    ));
                }
            },
        }
    }
    Ok(plan)
}

#[cfg(test)]
mod tests;
