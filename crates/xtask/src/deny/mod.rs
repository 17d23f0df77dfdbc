//! `cargo xtask deny`: licences, sources, bans and advisories of the packages that we build with, by `cargo deny`.

mod advisories;

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use crate::check::Diagnostic;
use crate::failure::{Context, Failure, Result};
use crate::{licences, py, setup, test, workspace};

/// The output of `cargo xtask deny --help`.
pub const HELP: &str = "\
Check licences, sources, bans and advisories of the packages that exitgap is built with.

Usage: cargo xtask deny [--from FOLDER]

  --from FOLDER  first write the snapshot of advisories again, from a clone of https://github.com/RustSec/advisory-db

The rules are in deny.toml. `cargo xtask check` does the same for this workspace and for the Python package. Advisories come from
a committed snapshot, crates/xtask/src/deny/advisories.tsv, so that the check needs no network and a new advisory does not fail a change
that has nothing to do with it. The snapshot says what it covers. `cargo deny` is a pinned package of Python's
index; where it cannot be installed, the check says what it skipped.";

/// The rules.
const RULES: &str = "deny.toml";

/// The manifests of what is shipped.
const MANIFESTS: [&str; 2] = ["Cargo.toml", py::MANIFEST];

/// Checks, and writes the snapshot again if a clone of the database is named.
pub fn run(root: &Path, arguments: &[String]) -> Result<()> {
    match arguments {
        [] => {}
        [option, folder] if option == "--from" => write_snapshot(root, Path::new(folder))?,
        other => {
            return Err(Failure::usage(format!("unexpected `{}`", other.join(" ")))
                .remedy("the only option is --from FOLDER"));
        }
    }
    let findings = findings(root)?;
    for finding in &findings {
        println!("{finding}");
    }
    let failed = findings.iter().filter(|finding| !finding.is_warning()).count();
    if failed == 0 {
        Ok(())
    } else {
        Err(Failure::new(format!("{failed} findings")).remedy(format!("see {RULES}")))
    }
}

/// What `cargo deny` finds; a warning if it could not be installed.
pub fn findings(root: &Path) -> Result<Vec<Diagnostic>> {
    let deny = match setup::ensure_deny(root) {
        Ok(deny) => deny,
        Err(failure) => {
            let message =
                format!("licences, sources, bans and advisories were not checked: {failure}");
            return Ok(vec![Diagnostic::warning(RULES, message)]);
        }
    };
    let databases = prepare_advisories(root)?;
    let mut found = Vec::new();
    for manifest in MANIFESTS {
        let of_manifest = check(&deny, &databases, &root.join(manifest), &root.join(RULES))?;
        found.extend(of_manifest.into_iter().map(|message| Diagnostic::error(manifest, message)));
    }
    Ok(found)
}

/// Makes the database of advisories from the committed snapshot, and returns the folder in which it is.
fn prepare_advisories(root: &Path) -> Result<PathBuf> {
    let folder = setup::fixtures_folder(root).join("advisories");
    let text = fs::read_to_string(root.join(advisories::FILE))
        .context(format!("reading {}", advisories::FILE))?;
    let stamp = folder.join("snapshot.tsv");
    if fs::read_to_string(&stamp).is_ok_and(|found| found == text) {
        return Ok(folder);
    }
    let (_, list) = advisories::read(&text)?;
    fs::create_dir_all(&folder).context(format!("creating {}", folder.display()))?;
    advisories::make_database(&folder, &list)?;
    fs::write(&stamp, text).context(format!("writing {}", stamp.display()))?;
    Ok(folder)
}

/// What `cargo deny` reports for one manifest.
fn check(deny: &Path, databases: &Path, manifest: &Path, rules: &Path) -> Result<Vec<String>> {
    let metadata = databases.join(format!("metadata-{}.json", std::process::id()));
    fs::write(&metadata, whole_metadata(manifest)?)
        .context(format!("writing {}", metadata.display()))?;
    let mut command = Command::new(deny);
    command.args(["--format", "json", "--offline", "--config"]).arg(rules);
    command.arg("--metadata-path").arg(&metadata).arg("--manifest-path").arg(manifest).arg("check");
    // The rules name the folder of databases by this variable.
    command.env("EXITGAP_ADVISORIES", databases);
    let output = command.output().context("starting cargo deny")?;
    // If it cannot be removed, git ignores it.
    let _ = fs::remove_file(&metadata);
    let text = String::from_utf8_lossy(&output.stderr);
    let found = errors_in(&text);
    if output.status.success() || !found.is_empty() {
        return Ok(found);
    }
    Err(Failure::new(format!("cargo deny ended with {}:\n{}", output.status, text.trim())))
}

/// `cargo metadata` with all packages that builds for this machine and for browsers take, and no others: these are on this
/// machine already, or are about to be.
fn whole_metadata(manifest: &Path) -> Result<Vec<u8>> {
    let folder = manifest.parent().unwrap_or(manifest);
    let mut metadata = workspace::cargo(folder);
    metadata
        .args([
            "metadata",
            "--locked",
            "--format-version",
            "1",
            "--all-features",
            "--manifest-path",
        ])
        .arg(manifest);
    metadata.args(["--filter-platform", licences::NATIVE, "--filter-platform", test::WASM]);
    let output = metadata.output().context("starting cargo metadata")?;
    if output.status.success() {
        return Ok(output.stdout);
    }
    let words = String::from_utf8_lossy(&output.stderr);
    Err(Failure::new(format!("cargo metadata failed:\n{words}")))
}

/// The errors in the output of `cargo deny`, which is one JSON document for each line.
fn errors_in(output: &str) -> Vec<String> {
    let documents = output.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let mut found = Vec::new();
    for document in documents.filter(|document| document["type"] == "diagnostic") {
        let fields = &document["fields"];
        if fields["severity"] != "error" {
            continue;
        }
        let packages: BTreeSet<String> =
            fields["graphs"].as_array().into_iter().flatten().map(package_in).collect();
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let id = text(&fields["advisory"]["id"]);
        let parts = [
            text(&fields["code"]),
            id,
            text(&fields["message"]),
            packages.into_iter().collect::<Vec<_>>().join(", "),
        ];
        let message =
            parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(": ");
        found.push(message);
    }
    found
}

fn package_in(graph: &Value) -> String {
    let of = |name: &str| graph["Krate"][name].as_str().unwrap_or_default();
    format!("{} {}", of("name"), of("version"))
}

/// Writes the snapshot from a clone of the database.
fn write_snapshot(root: &Path, clone: &Path) -> Result<()> {
    let mut packages = BTreeSet::new();
    for manifest in MANIFESTS {
        let lock = root.join(manifest).with_file_name("Cargo.lock");
        let text = fs::read_to_string(&lock).context(format!("reading {}", lock.display()))?;
        packages.extend(packages_in(&text));
    }
    let found = advisories::collect(clone, &packages)?;
    let date = Command::new("git")
        .current_dir(clone)
        .args(["show", "--no-patch", "--format=%cs %h", "HEAD"])
        .output();
    let date = date.context("starting git")?;
    let date = String::from_utf8_lossy(&date.stdout).trim().to_owned();
    let notes = [
        "Advisories of the RustSec database for packages of our lock files. `cargo xtask deny --from FOLDER` writes this file.".to_owned(),
        format!("{date}: all advisories for {} packages.", packages.len()),
    ];
    fs::write(root.join(advisories::FILE), advisories::write(&notes, &found))
        .context(format!("writing {}", advisories::FILE))?;
    println!("{}: {} advisories", advisories::FILE, found.len());
    Ok(())
}

/// The names of the packages in a lock file.
fn packages_in(lock: &str) -> impl Iterator<Item = String> {
    lock.lines()
        .filter_map(|line| line.strip_prefix("name = \"")?.strip_suffix('"'))
        .map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A package that depends on another one, with this licence of the other, checked by the project's rules.
    fn check_with(name: &str, licence: &str) -> Option<Vec<String>> {
        let root = workspace::root();
        let deny = setup::ensure_deny(&root)
            .map_err(|failure| eprintln!("not checked: {failure}"))
            .ok()?;
        let folder =
            std::env::temp_dir().join(format!("exitgap-deny-{}-{name}", std::process::id()));
        let package = |name: &str, licence: &str, rest: &str| {
            let place = folder.join(name);
            fs::create_dir_all(place.join("src")).unwrap();
            fs::write(place.join("src/lib.rs"), "").unwrap();
            let text = format!(
                "[package]\nname = \"{name}\"\nversion = \"1.0.0\"\nedition = \"2021\"\nlicense = \"{licence}\"\n\n[workspace]\n{rest}"
            );
            fs::write(place.join("Cargo.toml"), text).unwrap();
        };
        package(name, licence, "");
        package("ours", "MIT", &format!("[dependencies]\n{name} = {{ path = \"../{name}\" }}\n"));
        let manifest = folder.join("ours/Cargo.toml");
        let mut lock = workspace::cargo(&root);
        lock.args(["generate-lockfile", "--offline", "--quiet", "--manifest-path"]).arg(&manifest);
        assert!(lock.status().unwrap().success());
        let databases = prepare_advisories(&root).unwrap();
        let found = check(&deny, &databases, &manifest, &root.join(RULES)).unwrap();
        fs::remove_dir_all(folder).unwrap();
        Some(found)
    }

    #[test]
    fn a_forbidden_licence_a_banned_package_and_an_advisory_are_refused_by_our_rules() {
        let Some(fine) = check_with("fine", "MIT OR GPL-3.0-only") else { return };
        assert_eq!(fine, Vec::<String>::new());
        let licence = check_with("copyleft", "GPL-3.0-only").unwrap();
        assert!(licence.len() == 1 && licence[0].starts_with("rejected: "), "{licence:?}");
        assert!(licence[0].ends_with("copyleft 1.0.0"), "{licence:?}");
        let banned = check_with("openssl-sys", "MIT").unwrap();
        assert!(banned.len() == 1 && banned[0].starts_with("banned: "), "{banned:?}");
    }

    #[test]
    fn errors_are_read_and_help_is_not() {
        let output = "{\"type\":\"diagnostic\",\"fields\":{\"severity\":\"help\",\"code\":\"accepted\",\"message\":\"m\"}}\n\
            {\"type\":\"diagnostic\",\"fields\":{\"severity\":\"error\",\"code\":\"vulnerability\",\"message\":\"Bad\",\
            \"advisory\":{\"id\":\"RUSTSEC-2030-0001\"},\"graphs\":[{\"Krate\":{\"name\":\"a\",\"version\":\"1.0.0\"}}]}}\n\
            {\"type\":\"summary\",\"fields\":{}}\nnot JSON\n";
        assert_eq!(errors_in(output), ["vulnerability: RUSTSEC-2030-0001: Bad: a 1.0.0"]);
    }

    #[test]
    fn the_rules_accept_the_licences_that_the_notices_accept() {
        let quoted = |file: &str, key: &str| -> BTreeSet<String> {
            let text = fs::read_to_string(workspace::root().join(file)).unwrap();
            let (_, rest) = text.split_once(&format!("\n{key} = [")).unwrap();
            rest.split_once(']')
                .unwrap()
                .0
                .split('"')
                .skip(1)
                .step_by(2)
                .map(str::to_owned)
                .collect()
        };
        assert_eq!(quoted(RULES, "allow"), quoted("crates/xtask/about.toml", "accepted"));
    }

    #[test]
    fn packages_are_read_from_a_lock_file() {
        let lock = "[[package]]\nname = \"a-b\"\nversion = \"1\"\n\n[[package]]\nname = \"c\"\n";
        assert_eq!(packages_in(lock).collect::<Vec<_>>(), ["a-b", "c"]);
    }
}
