//! Builds the two programs for a platform, and what they print about themselves: completions and manual pages.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::manual;
use super::platforms::{CLibrary, Platform, Toolchain};
use super::release::Release;
use crate::failure::{Context, Failure, Result};
use crate::{process, workspace};

/// The command line and the service.
pub const CLI: &str = "exitgap";
pub const SERVER: &str = "exitgap-server";

/// The profile in the root manifest.
const PROFILE: &str = "dist";

/// The programs of a platform.
pub struct Programs {
    pub platform: &'static Platform,
    pub cli: Vec<u8>,
    pub server: Vec<u8>,
    /// What the programs were built from and with.
    pub built_with: String,
    pub c_library: CLibrary,
    /// Where they were built.
    folder: PathBuf,
}

/// What is the same on every platform.
pub struct Texts {
    /// Completion scripts: the shell, the name of the file where the shell looks for it, and the script.
    pub completions: Vec<(&'static str, &'static str, String)>,
    /// Manual pages: the name of the file, and the page.
    pub manual: Vec<(String, String)>,
}

impl Programs {
    /// Builds them. The site must be built before, because the service embeds it.
    pub fn build(release: &Release, toolchain: &Toolchain) -> Result<Self> {
        let Toolchain { platform, target, compiler, c_library } = toolchain;
        let root = release.root;
        eprintln!("dist: the programs for {}, by {target} and {compiler}", platform.name);
        let folder = super::target_folder(root)?.join(target).join(PROFILE);
        forget_other_times(release, target, &folder)?;
        let mut build = workspace::cargo(root);
        build.args(["build", "--locked", "--profile", PROFILE, "--target", target]);
        build.args(["--package", "exitgap-cli", "--package", "exitgap-server", "--bins"]);
        for (name, value) in build_variables(root, toolchain) {
            build.env(name, value);
        }
        process::run(&mut build, "cargo build")?;
        let read = |name: &str| {
            let path = folder.join(name);
            fs::read(&path).context(format!("reading {}", path.display()))
        };
        let (cli, server) = (read(CLI)?, read(SERVER)?);
        for (name, bytes) in [(CLI, &cli), (SERVER, &server)] {
            if is_dynamic(bytes) {
                return Err(Failure::new(format!("{name} for {target} is not a static program")));
            }
        }
        let built_with = describe(release, toolchain)?;
        Ok(Self { platform, cli, server, built_with, c_library: *c_library, folder })
    }

    /// What the programs print, which is asked of those that run here.
    pub fn texts(&self, release: &Release) -> Result<Texts> {
        let say = |program: &str, arguments: &[&str]| {
            let mut command = Command::new(self.folder.join(program));
            // Help shows the values of variables.
            process::output(command.args(arguments).env_clear(), program)
        };
        let mut completions = Vec::new();
        for (shell, file) in [("bash", "exitgap"), ("zsh", "_exitgap"), ("fish", "exitgap.fish")] {
            completions.push((shell, file, say(CLI, &["completions", shell])?));
        }
        let mut manual = Vec::new();
        for program in [CLI, SERVER] {
            let page = manual::page(program, &release.version, &release.date(), &|arguments| {
                say(program, arguments)
            })?;
            manual.push((format!("{program}.1"), page));
        }
        Ok(Texts { completions, manual })
    }
}

/// What takes times from `SOURCE_DATE_EPOCH` when it is compiled: embedded pages, and `__DATE__` in C. Cargo does not see
/// that, and would keep what was compiled for another commit.
const WITH_TIMES: [&str; 2] = ["exitgap-server", "libmimalloc-sys"];

/// Removes what an earlier build compiled with another time.
fn forget_other_times(release: &Release, target: &str, folder: &Path) -> Result<()> {
    let stamp = folder.join("source-date-epoch");
    let time = release.time_s.to_string();
    if !folder.is_dir() || fs::read_to_string(&stamp).is_ok_and(|found| found == time) {
        fs::create_dir_all(folder).context(format!("creating {}", folder.display()))?;
        return fs::write(&stamp, time).context(format!("writing {}", stamp.display()));
    }
    let mut clean = workspace::cargo(release.root);
    clean.args(["clean", "--quiet", "--profile", PROFILE, "--target", target]);
    clean.args(WITH_TIMES.iter().flat_map(|package| ["--package", package]));
    process::run(&mut clean, "cargo clean")?;
    fs::write(&stamp, time).context(format!("writing {}", stamp.display()))
}

/// The variables that make a build the same in every folder, and static.
fn build_variables(root: &Path, toolchain: &Toolchain) -> Vec<(String, String)> {
    let Toolchain { platform, target, compiler, c_library } = toolchain;
    let (lower, upper) = (target.replace('-', "_"), target.replace('-', "_").to_uppercase());
    let mut flags = workspace::remap_flags(root);
    if *c_library == CLibrary::Glibc {
        flags.push_str(" -Ctarget-feature=+crt-static");
    }
    let folders = workspace::builders_folders(root).into_iter().map(|(folder, name)| {
        let name = if name.is_empty() { "." } else { name };
        format!("-ffile-prefix-map={}={name}", folder.display())
    });
    let mut variables = vec![
        (format!("CARGO_TARGET_{upper}_RUSTFLAGS"), flags),
        (format!("CC_{lower}"), compiler.clone()),
        (format!("CFLAGS_{lower}"), folders.collect::<Vec<_>>().join(" ")),
    ];
    if !platform.is_native() {
        variables.push((format!("CARGO_TARGET_{upper}_LINKER"), compiler.clone()));
    }
    variables
}

/// Whether a program names an interpreter, which loads libraries: a program header of type `PT_INTERP` in a 64-bit
/// little-endian ELF file.
fn is_dynamic(program: &[u8]) -> bool {
    const INTERPRETER: u64 = 3;
    let number = |at: usize, bytes: usize| -> Option<u64> {
        let field = program.get(at..at.checked_add(bytes)?)?;
        Some(field.iter().rev().fold(0, |number, byte| (number << 8) | u64::from(*byte)))
    };
    let place = |number: u64| usize::try_from(number).ok();
    let interpreted = || {
        let (from, size, count) = (place(number(32, 8)?)?, place(number(54, 2)?)?, number(56, 2)?);
        let mut headers = 0..place(count)?;
        Some(headers.any(|index| number(from + index * size, 4) == Some(INTERPRETER)))
    };
    // What cannot be read is not a program for Linux.
    !program.starts_with(b"\x7fELF\x02\x01") || interpreted().unwrap_or(true)
}

/// What the programs were built from and with: enough to build the same bytes again.
fn describe(release: &Release, toolchain: &Toolchain) -> Result<String> {
    let Toolchain { target, compiler, c_library, .. } = toolchain;
    let first_line = |program: &str| -> Result<String> {
        let text = process::output(
            Command::new(program).arg("--version").current_dir(release.root),
            program,
        )?;
        Ok(text.lines().next().unwrap_or_default().to_owned())
    };
    let c_library = match c_library {
        CLibrary::Musl => "musl",
        CLibrary::Glibc => "glibc",
    };
    Ok(format!(
        "exitgap {}\ncommit {}\nSOURCE_DATE_EPOCH {}\ntarget {target}\nC library {c_library}, static\n{}\n{}\n\n\
         `cargo xtask dist` at this commit, with this compiler and this C compiler, makes the same bytes.\n",
        release.version,
        release.commit,
        release.time_s,
        first_line("rustc")?,
        first_line(compiler)?,
    ))
}

#[cfg(test)]
impl Programs {
    /// Programs that print their name.
    pub fn for_tests() -> Self {
        let script = |name: &str| format!("#!/bin/sh\necho {name}\n").into_bytes();
        Self {
            platform: &super::platforms::PLATFORMS[0],
            cli: script(CLI),
            server: script(SERVER),
            built_with: "a test\n".to_owned(),
            c_library: CLibrary::Musl,
            folder: PathBuf::new(),
        }
    }
}

#[cfg(test)]
impl Texts {
    pub fn for_tests() -> Self {
        let completions = [("bash", "exitgap"), ("zsh", "_exitgap"), ("fish", "exitgap.fish")];
        let completions = completions.map(|(shell, file)| (shell, file, format!("{shell}\n")));
        let manual = [CLI, SERVER].map(|name| (format!("{name}.1"), format!(".TH {name}\n")));
        Self { completions: completions.to_vec(), manual: manual.to_vec() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_dynamic_program_is_told_from_a_static_one() {
        let this = fs::read(std::env::current_exe().unwrap()).unwrap();
        assert!(is_dynamic(&this), "tests are built as dynamic programs");
        assert!(is_dynamic(b"#!/bin/sh\n"), "a script is not a program");
        // A header that names one program header, of a loaded segment.
        let mut program = vec![0; 64 + 56];
        program[..6].copy_from_slice(b"\x7fELF\x02\x01");
        (program[32], program[54], program[56], program[64]) = (64, 56, 1, 1);
        assert!(!is_dynamic(&program));
        program[64] = 3;
        assert!(is_dynamic(&program));
    }
}
