//! `cargo xtask licences`: collects the notices that third-party licences require with distributed builds.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use crate::check::Diagnostic;
use crate::failure::{Context, Failure, Result};
use crate::{process, py, setup, test, workspace};

/// The output of `cargo xtask licences --help`.
pub const HELP: &str = "\
Write the third-party licence notices of everything that is shipped.

Usage: cargo xtask licences

  crates/exitgap-server/THIRD-PARTY.txt   what `exitgap-server licences` prints
  crates/exitgap-cli/THIRD-PARTY.txt      what `exitgap licences` prints
  web/THIRD-PARTY.txt                     goes with the site, as /third-party.txt
  pkg/THIRD-PARTY.txt                     goes with the npm package
  crates/exitgap-py/THIRD-PARTY.txt       goes with the Python package

The texts are those in the sources of each package, collected by cargo-about, which is installed from
source into .fixtures/ when it is missing (some minutes). Licences that are not in
crates/xtask/about.toml are refused. `cargo xtask check` compares the packages named in these files,
and their versions, with those that the build takes: run this after a change of Cargo.lock.";

/// The target of native builds.
pub const NATIVE: &str = "x86_64-unknown-linux-gnu";

/// Something that is distributed.
struct Artifact {
    package: &'static str,
    manifest: &'static str,
    target: &'static str,
    notices: &'static str,
}

const SHIPPED: [Artifact; 5] = [
    Artifact {
        package: "exitgap-server",
        manifest: "crates/exitgap-server/Cargo.toml",
        target: NATIVE,
        notices: "crates/exitgap-server/THIRD-PARTY.txt",
    },
    Artifact {
        package: "exitgap-cli",
        manifest: "crates/exitgap-cli/Cargo.toml",
        target: NATIVE,
        notices: "crates/exitgap-cli/THIRD-PARTY.txt",
    },
    Artifact {
        package: "exitgap-web",
        manifest: "web/Cargo.toml",
        target: test::WASM,
        notices: "web/THIRD-PARTY.txt",
    },
    Artifact {
        package: "exitgap-wasm",
        manifest: "crates/exitgap-wasm/Cargo.toml",
        target: test::WASM,
        notices: "pkg/THIRD-PARTY.txt",
    },
    Artifact {
        package: "exitgap-py",
        manifest: py::MANIFEST,
        target: NATIVE,
        notices: "crates/exitgap-py/THIRD-PARTY.txt",
    },
];

/// Rewrites all notices.
pub fn write_notices(root: &Path) -> Result<()> {
    let about = setup::ensure_about(root)?;
    let home = root.join("crates/xtask");
    for Artifact { package, manifest, target, notices } in SHIPPED {
        let path = root.join(notices);
        // The tool needs the packages of every target; a build fetched only its own.
        let mut fetch = workspace::cargo(root);
        fetch.args(["fetch", "--locked", "--quiet", "--manifest-path"]).arg(root.join(manifest));
        process::run(&mut fetch, "cargo fetch")?;
        let mut generate = std::process::Command::new(&about);
        generate.current_dir(root).args([
            "generate",
            "--locked",
            "--offline",
            "--fail",
            "--target",
        ]);
        generate.arg(target).arg("--config").arg(home.join("about.toml"));
        generate.arg("--manifest-path").arg(root.join(manifest));
        generate.arg("--output-file").arg(&path).arg(home.join("about.hbs"));
        process::run(&mut generate, "cargo-about")?;
        let text = fs::read_to_string(&path).context(format!("reading {notices}"))?;
        fs::write(&path, tidy(&text)).context(format!("writing {notices}"))?;
        eprintln!("licences: {package} into {notices}");
    }
    Ok(())
}

/// Normalizes line breaks and removes trailing white space, because the texts come from many sources.
fn tidy(text: &str) -> String {
    let mut tidied = String::with_capacity(text.len());
    for line in text.lines() {
        tidied.push_str(line.trim_end());
        tidied.push('\n');
    }
    tidied
}

/// Packages that are shipped without a notice, and notices for packages that are not used.
pub fn differences(root: &Path) -> Result<Vec<Diagnostic>> {
    let mut findings = Vec::new();
    for shipped in SHIPPED {
        let text = fs::read_to_string(root.join(shipped.notices)).unwrap_or_default();
        // A macro's own code is not shipped, only its output; its notice may be listed.
        let (shipped_with, built_with) =
            (tree(root, &shipped, "normal,no-proc-macro")?, tree(root, &shipped, "normal")?);
        findings.extend(compare(
            shipped.notices,
            &shipped_with,
            &built_with,
            &parse_notices(&text),
        ));
    }
    Ok(findings)
}

fn tree(root: &Path, shipped: &Artifact, edges: &str) -> Result<BTreeSet<String>> {
    let mut tree = workspace::cargo(root);
    tree.args(["tree", "--locked", "--prefix", "none", "--no-dedupe", "--format", "{p}"]);
    tree.args(["--edges", edges, "--package", shipped.package, "--target", shipped.target]);
    tree.args(["--manifest-path", shipped.manifest]);
    let output = tree.output().context("starting cargo tree")?;
    if output.status.success() {
        return Ok(taken(&String::from_utf8_lossy(&output.stdout)));
    }
    let words = String::from_utf8_lossy(&output.stderr);
    Err(Failure::new(format!("cargo tree failed:\n{words}")))
}

/// The packages in the output of `cargo tree`, as `name version`, without those of this workspace, which have a path.
fn taken(tree: &str) -> BTreeSet<String> {
    let others = tree.lines().filter(|line| !line.contains('/'));
    others
        .filter_map(|line| {
            let (name, rest) = line.split_once(" v")?;
            Some(format!("{name} {}", rest.split(' ').next()?))
        })
        .collect()
}

/// The packages named in the notices: lines of two words, after two spaces and a dash.
fn parse_notices(notices: &str) -> BTreeSet<String> {
    let lines = notices.lines().filter_map(|line| line.strip_prefix("  - "));
    lines.filter(|line| !line.starts_with("exitgap-")).map(str::to_owned).collect()
}

fn compare(
    notices: &str,
    shipped_with: &BTreeSet<String>,
    built_with: &BTreeSet<String>,
    named: &BTreeSet<String>,
) -> Vec<Diagnostic> {
    let remedy = "run `cargo xtask licences`";
    let absent = shipped_with.difference(named);
    let absent = absent.map(|one| format!("{one} is missing; {remedy}"));
    let left =
        named.difference(built_with).map(|one| format!("{one} is listed but unused; {remedy}"));
    absent.chain(left).map(|message| Diagnostic::error(notices, message)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_package_without_a_notice_and_a_notice_without_a_package_are_found() {
        let tree = "exitgap-cli v0.1.0 (/home/x)\nserde v1.0.1\nserde_derive v1.0.1 (proc-macro)\nserde v1.0.1\n";
        let taken = taken(tree);
        assert_eq!(taken.iter().collect::<Vec<_>>(), ["serde 1.0.1", "serde_derive 1.0.1"]);
        let named =
            parse_notices("MIT License\n\n  - serde 1.0.1\n  - gone 2.0.0\n\nPermission is\n");
        let found = compare("a.txt", &taken, &taken, &named);
        let messages: Vec<&str> = found.iter().map(|one| one.message.as_str()).collect();
        assert_eq!(messages.len(), 2);
        assert!(messages[0].contains("serde_derive 1.0.1 is missing"), "{messages:?}");
        assert!(messages[1].contains("gone 2.0.0 is listed but unused"), "{messages:?}");
        assert_eq!(compare("a.txt", &taken, &taken, &taken), []);
    }

    #[test]
    fn what_is_committed_is_what_is_built() {
        assert_eq!(differences(&workspace::root()).unwrap(), []);
        for Artifact { notices, .. } in SHIPPED {
            let text = fs::read_to_string(workspace::root().join(notices)).unwrap();
            assert!(parse_notices(&text).len() > 10, "{notices}");
        }
    }
}
