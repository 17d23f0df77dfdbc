//! Paths in the workspace, from cargo's metadata.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use crate::failure::{Failure, Result};
use crate::{process, test};

/// Everything that is built for this machine: the site is only for browsers.
pub const NATIVE: [&str; 3] = ["--workspace", "--exclude", "exitgap-web"];

/// The workspace's root folder.
pub fn root() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.ancestors().nth(2).unwrap_or(here).to_owned()
}

/// A cargo command in `root`, with the same cargo that runs this program.
pub fn cargo(root: &Path) -> Command {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.current_dir(root);
    // The variables that `cargo run` sets for this program do not concern the build, and would make build scripts that
    // read them run again.
    for (name, _) in std::env::vars_os() {
        let text = name.to_string_lossy();
        if ["CARGO_PKG_", "CARGO_MANIFEST_"].iter().any(|ours| text.starts_with(ours)) {
            command.env_remove(&name);
        }
    }
    command
}

/// Makes a cargo command compile the workspace's own crates with clippy's lints, with warnings as errors, so that
/// tested and linted code is compiled once.
pub fn lint(command: &mut Command) {
    // As an argument and not as a variable, so that tests that start cargo do not inherit it.
    command.args(["--config", "build.rustc-workspace-wrapper='clippy-driver'"]);
    // Clippy reads its arguments from this variable, with this mark after each.
    command.env("CLIPPY_ARGS", ["-D", "warnings", ""].join("__CLIPPY_HACKERY__"));
}

/// The same for installing a build tool from source: without debug information, which saves a third of the time and
/// nine tenths of the disk space.
pub fn cargo_for_tools(root: &Path) -> Command {
    let mut command = cargo(root);
    command.env("CARGO_PROFILE_DEV_DEBUG", "false").env("CARGO_PROFILE_DEV_STRIP", "true");
    command.env("CARGO_INCREMENTAL", "0");
    command
}

/// Makes a build for browsers, and its child processes, omit this machine's source paths.
pub fn forget_folders(root: &Path, build: &mut Command) {
    build.env("CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_RUSTFLAGS", remap_flags(root));
}

/// The compiler flags that remove the builder's folders from shipped files, so that builds are the same everywhere.
pub fn remap_flags(root: &Path) -> String {
    let flags = builders_folders(root)
        .into_iter()
        .map(|(folder, name)| format!("--remap-path-prefix={}={name}", folder.display()))
        // The variable cannot represent a space.
        .filter(|flag| !flag.contains(' '))
        .collect::<Vec<_>>();
    flags.join(" ")
}

/// The folders of this machine that a build can mention, each with its name in shipped files: sources of packages, of the
/// standard library and of the workspace, and generated code. Of two that contain each other, the last one counts.
pub fn builders_folders(root: &Path) -> Vec<(PathBuf, &'static str)> {
    let home = std::env::var_os("CARGO_HOME").map(PathBuf::from);
    let home = home.or_else(|| std::env::home_dir().map(|home| home.join(".cargo")));
    let registries = home.and_then(|home| std::fs::read_dir(home.join("registry/src")).ok());
    let registries = registries.into_iter().flatten().flatten().map(|entry| (entry.path(), ""));
    let mut rustc = Command::new("rustc");
    let rustc = rustc.args(["--print", "sysroot"]).current_dir(root);
    let sysroot = process::output(rustc, "rustc").ok();
    let sysroot = sysroot.map(|path| (PathBuf::from(path.trim()), "rust"));
    let target = std::env::var_os("CARGO_TARGET_DIR").map(|target| (root.join(target), "target"));
    registries.chain(sysroot).chain([(root.to_owned(), "")]).chain(target).collect()
}

/// The purpose of a module for browsers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Purpose {
    /// Users load it: it is as small as possible.
    Shipped,
    /// The demonstration loads it: it is built fast.
    Shown,
    /// Tests load it: it is built fast, and linted, so that linting needs no separate build.
    Tested,
}

impl Purpose {
    /// The profile in the root manifest.
    fn profile(self) -> &'static str {
        match self {
            Self::Shipped => "wasm",
            Self::Shown | Self::Tested => "plain",
        }
    }
}

/// Everything that is compiled for browsers.
const FOR_BROWSERS: [&str; 3] = ["exitgap-web", "exitgap-wasm", "exitgap-proof-wasm"];

/// Compiles a package for browsers with these additional arguments, and returns the path of its module.
pub fn wasm_module(
    root: &Path,
    purpose: Purpose,
    [package, name]: [&str; 2],
    more: &[&str],
) -> Result<PathBuf> {
    let profile = purpose.profile();
    let mut build = cargo(root);
    if purpose == Purpose::Tested {
        lint(&mut build);
    }
    build.args(["build", "--locked", "--profile", profile, "--target", test::WASM]).args(more);
    // Shipped modules are built alone, with as few features as they need. The others are built together, so that shared
    // code is compiled once.
    let packages = match purpose {
        Purpose::Shipped => &[package][..],
        Purpose::Shown | Purpose::Tested => &FOR_BROWSERS,
    };
    build.args(packages.iter().flat_map(|package| ["--package", package]));
    forget_folders(root, &mut build);
    process::run(&mut build, "compiling for wasm")?;
    let target = metadata(root)?["target_directory"].as_str().map(PathBuf::from);
    let target = target.unwrap_or_else(|| root.join("target"));
    Ok(target.join(test::WASM).join(profile).join(format!("{name}.wasm")))
}

/// `cargo metadata` of the workspace's own packages.
pub fn metadata(root: &Path) -> Result<Value> {
    metadata_of(root, "Cargo.toml")
}

/// The same for the workspace of another manifest.
pub fn metadata_of(root: &Path, manifest: &str) -> Result<Value> {
    let output = cargo(root)
        .args(["metadata", "--no-deps", "--format-version", "1", "--manifest-path", manifest])
        .output()
        .map_err(|error| Failure::new(format!("starting cargo metadata: {error}")))?;
    if !output.status.success() {
        let words = String::from_utf8_lossy(&output.stderr);
        return Err(Failure::new(format!("cargo metadata failed:\n{words}")));
    }
    serde_json::from_slice(&output.stdout)
        .map_err(|error| Failure::new(format!("reading cargo metadata: {error}")))
}

/// The path of a binary in the debug build.
pub fn debug_binary(metadata: &Value, name: &str) -> PathBuf {
    Path::new(metadata["target_directory"].as_str().unwrap_or("target"))
        .join("debug")
        .join(format!("{name}{}", std::env::consts::EXE_SUFFIX))
}
