//! The steps of each tier of `cargo xtask test`, and how `--all` is divided into parts.

/// A step of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    /// Checks that need no build: formatting, arrows, links, licences, lock files.
    Checks,
    /// Lints of every native target and of the site, as in `cargo xtask check`.
    Lints,
    /// The documentation of every crate.
    Documentation,
    /// The fuzz targets, briefly.
    Fuzz,
    /// Every part of the benchmark, with a minimal amount of work.
    Bench,
    /// The tests within each crate.
    Units,
    /// The core, held against facts of real blocks.
    Reality,
    /// The examples in the documentation.
    Examples,
    /// The tests of the core crates with arithmetic, as WebAssembly.
    Wasm(&'static [&'static str]),
    /// These rooms of the suite.
    Suite(Rooms),
    /// These tests of the suite again, with stores on a private `PostgreSQL` server.
    OnServer(&'static [&'static str]),
    /// The comparison with other people's libraries, a separate workspace.
    Peers,
    /// The Python package.
    Python,
}

/// Rooms of the suite that run together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rooms {
    /// Their names, as `tests/suite/main.rs` declares them.
    pub names: &'static [&'static str],
    /// With the tests marked slow, each page in all four modes, and the site as shipped.
    pub slow: bool,
    /// The number of concurrent tests per core. Tests in browsers keep a core busy; the others mostly wait for nodes
    /// and clocks.
    pub per_core: usize,
}

/// Rooms whose tests mostly wait.
const fn io_bound(names: &'static [&'static str], slow: bool) -> Step {
    Step::Suite(Rooms { names, slow, per_core: 2 })
}

/// Rooms whose tests keep a core busy.
const fn cpu_bound(names: &'static [&'static str], slow: bool) -> Step {
    Step::Suite(Rooms { names, slow, per_core: 1 })
}

/// Tests that assert the same for a store in a file and on a server, and take seconds on a server.
const ALIKE: &[&str] =
    &["store::series::", "store::sealing::", "store::folder::", "store::claims::"];

/// All tests of the suite whose stores, payments and alerts can be on a server. The others inspect files.
const ON_A_SERVER: &[&str] = &[
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

/// The crate whose arithmetic is compiled differently for WebAssembly.
const ARITHMETIC: &[&str] = &["exitgap-math"];

/// All crates with which browsers verify.
const VERIFYING: &[&str] = &["exitgap-math", "exitgap-tlog", "exitgap-core"];

/// `cargo xtask test quick`.
pub const QUICK: &[Step] = &[Step::Checks, Step::Units];

/// `cargo xtask test`, which every change must pass.
pub const DEFAULT: &[Step] = &[
    Step::Checks,
    Step::Units,
    Step::Reality,
    io_bound(
        &[
            "agents",
            "browser",
            "chain",
            "cli",
            "client",
            "documents",
            "evidence",
            "harness",
            "payments",
            "recorder",
            "service",
            "store",
            "witness",
        ],
        false,
    ),
    Step::OnServer(ALIKE),
    Step::Wasm(ARITHMETIC),
    Step::Examples,
];

/// `cargo xtask test --all`, in parts of at most forty minutes on two cores.
pub const PARTS: [&[Step]; 4] = [
    &[
        Step::Checks,
        Step::Lints,
        Step::Documentation,
        Step::Units,
        Step::Reality,
        Step::Examples,
        Step::Wasm(VERIFYING),
        Step::Peers,
        Step::Fuzz,
        Step::Bench,
    ],
    &[io_bound(&["chain", "evidence", "harness", "recorder", "store", "witness"], true)],
    &[
        Step::Python,
        cpu_bound(&["browser"], true),
        io_bound(&["agents", "client", "documents"], true),
    ],
    &[io_bound(&["cli", "payments", "service"], true), Step::OnServer(ON_A_SERVER)],
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workspace;

    fn rooms(steps: &[Step]) -> Vec<&'static str> {
        let mut names: Vec<&str> = steps
            .iter()
            .filter_map(|step| match step {
                Step::Suite(rooms) => Some(rooms.names),
                _ => None,
            })
            .flatten()
            .copied()
            .collect();
        names.sort_unstable();
        names
    }

    #[test]
    fn every_room_of_the_suite_is_in_the_default_run_and_in_one_part() {
        let main = workspace::root().join("tests/suite/main.rs");
        let main = std::fs::read_to_string(main).unwrap();
        let mut declared: Vec<&str> = main
            .lines()
            .filter_map(|line| line.strip_prefix("mod ")?.strip_suffix(';'))
            .filter(|name| *name != "scenes")
            .collect();
        declared.sort_unstable();
        assert_eq!(rooms(DEFAULT), declared);
        assert_eq!(rooms(&PARTS.concat()), declared);
    }

    #[test]
    fn what_the_default_run_does_is_done_by_a_part_too() {
        let all = PARTS.concat();
        for step in DEFAULT {
            let is_in = match step {
                Step::Suite(_) => true,
                Step::OnServer(few) => few.iter().all(|test| ON_A_SERVER.contains(test)),
                Step::Wasm(few) => few.iter().all(|name| VERIFYING.contains(name)),
                other => all.contains(other),
            };
            assert!(is_in, "{step:?}");
        }
        for step in [Step::Lints, Step::Documentation, Step::Fuzz, Step::Bench, Step::Python] {
            assert!(all.contains(&step), "{step:?}");
        }
    }
}
