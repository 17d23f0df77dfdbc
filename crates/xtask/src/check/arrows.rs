//! Checks which of our crates depend on which.

use serde_json::Value;

use super::Diagnostic;

/// It may depend on any of our crates.
const ANYTHING: &[&str] = &["*"];

/// The allowed dependencies, of all kinds: tests that need more are in `tests/`.
const ALLOWED: &[(&str, &[&str])] = &[
    ("exitgap-math", &[]),
    ("exitgap-tlog", &[]),
    ("exitgap-core", &["exitgap-math", "exitgap-tlog"]),
    ("exitgap-api", &["exitgap-core"]),
    ("exitgap-chain", &["exitgap-core"]),
    ("exitgap-store", &["exitgap-core"]),
    ("exitgap-client", &["exitgap-api", "exitgap-core"]),
    ("exitgap-pay", &["exitgap-api", "exitgap-client", "exitgap-core"]),
    ("exitgap-sample", &["exitgap-api", "exitgap-core"]),
    ("exitgap-wasm", &["exitgap-api", "exitgap-core"]),
    ("exitgap-proof-wasm", &["exitgap-api", "exitgap-core"]),
    ("exitgap-py", &["exitgap-api", "exitgap-client", "exitgap-core", "exitgap-wasm"]),
    ("exitgap-web", &["exitgap-api", "exitgap-client", "exitgap-core"]),
    ("exitgap-ops", &["exitgap-api", "exitgap-core", "exitgap-store"]),
    ("exitgap-mcp", &["exitgap-api", "exitgap-ops"]),
    (
        "exitgap-server",
        &[
            "exitgap-api",
            "exitgap-chain",
            "exitgap-client",
            "exitgap-core",
            "exitgap-mcp",
            "exitgap-ops",
            "exitgap-sample",
            "exitgap-store",
        ],
    ),
    (
        "exitgap-cli",
        &[
            "exitgap-api",
            "exitgap-chain",
            "exitgap-client",
            "exitgap-core",
            "exitgap-pay",
            "exitgap-mcp",
            "exitgap-ops",
            "exitgap-sample",
            "exitgap-store",
        ],
    ),
    ("exitgap-tests", ANYTHING),
    ("exitgap-reality", ANYTHING),
    ("exitgap-peers", ANYTHING),
    ("exitgap-bench", ANYTHING),
    ("xtask", &["exitgap-tlog"]),
];

/// A crate with its path dependencies, that is, those on our own crates.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Dependencies {
    name: String,
    on: Vec<String>,
}

/// Reads them from `cargo metadata`.
pub fn dependencies(metadata: &Value) -> Vec<Dependencies> {
    let none = Vec::new();
    let packages = metadata["packages"].as_array().unwrap_or(&none);
    packages
        .iter()
        .map(|package| Dependencies {
            name: package["name"].as_str().unwrap_or_default().to_owned(),
            on: package["dependencies"]
                .as_array()
                .unwrap_or(&none)
                .iter()
                .filter(|dependency| dependency["path"].is_string())
                .filter_map(|dependency| dependency["name"].as_str().map(str::to_owned))
                .collect(),
        })
        .collect()
}

/// The names of the crates.
pub fn names(crates: &[Dependencies]) -> Vec<String> {
    crates.iter().map(|one| one.name.clone()).collect()
}

/// Reports every dependency, and every crate, that is not in the list.
pub fn forbidden(crates: &[Dependencies]) -> Vec<Diagnostic> {
    let mut findings = Vec::new();
    for Dependencies { name, on } in crates {
        let Some((_, allowed)) = ALLOWED.iter().find(|(listed, _)| listed == name) else {
            findings.push(Diagnostic::error(
                name,
                "this crate is not in the list of arrows; decide which crates it may depend on and add it",
            ));
            continue;
        };
        for other in on {
            if *allowed != ANYTHING && !allowed.contains(&other.as_str()) {
                let may = if allowed.is_empty() {
                    "no crate of this workspace"
                } else {
                    &allowed.join(", ")
                };
                findings.push(Diagnostic::error(
                    name,
                    format!("it depends on {other}; it may depend on {may}"),
                ));
            }
        }
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::*;

    fn one(name: &str, on: &[&str]) -> Dependencies {
        Dependencies { name: name.to_owned(), on: on.iter().map(|&x| x.to_owned()).collect() }
    }

    #[test]
    fn a_forbidden_arrow_and_an_unknown_crate_are_found() {
        let findings = forbidden(&[
            one("exitgap-math", &["exitgap-core"]),
            one("exitgap-store", &["exitgap-core", "exitgap-chain"]),
            one("exitgap-tests", &["exitgap-server"]),
            one("exitgap-extra", &[]),
        ]);
        let texts: Vec<String> =
            findings.iter().map(|one| format!("{}: {}", one.place, one.message)).collect();
        assert_eq!(
            texts,
            [
                "exitgap-math: it depends on exitgap-core; it may depend on no crate of this workspace",
                "exitgap-store: it depends on exitgap-chain; it may depend on exitgap-core",
                "exitgap-extra: this crate is not in the list of arrows; decide which crates it may depend on and add it",
            ]
        );
    }

    #[test]
    fn the_code_map_has_the_same_table() {
        let map = include_str!("../../../ARCHITECTURE.md");
        let rows = map.lines().filter_map(|line| {
            let cells: Vec<_> = line.strip_prefix('|')?.split('|').map(str::trim).collect();
            let [name, _, may_use, ""] = cells[..] else { return None };
            let name =
                name.split('`').find(|part| ALLOWED.iter().any(|(crate_, _)| crate_ == part))?;
            Some((name, may_use.split(", ").collect::<Vec<_>>()))
        });
        let rows: Vec<_> = rows.collect();
        assert_eq!(rows.len(), ALLOWED.len(), "a crate is not in the table, or twice");
        for (name, mut may_use) in rows {
            let allowed = ALLOWED.iter().find(|(crate_, _)| *crate_ == name).unwrap().1;
            let mut allowed: Vec<_> = match allowed {
                [] => vec!["nothing of ours"],
                ["*"] => vec!["anything"],
                some => some.iter().map(|one| one.trim_start_matches("exitgap-")).collect(),
            };
            allowed.sort_unstable();
            may_use.sort_unstable();
            assert_eq!(may_use, allowed, "{name}");
        }
    }

    #[test]
    fn only_path_dependencies_are_arrows() {
        let metadata = serde_json::json!({"packages": [{
            "name": "exitgap-api",
            "dependencies": [
                {"name": "serde"},
                {"name": "exitgap-store", "path": "/x", "kind": "dev"},
            ],
        }]});
        let read = dependencies(&metadata);
        assert_eq!(read, [one("exitgap-api", &["exitgap-store"])]);
        assert_eq!(forbidden(&read).len(), 1);
    }
}
