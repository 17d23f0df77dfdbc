//! `cargo xtask dist`: a release, signed, in one folder.

mod archive;
mod bundles;
mod check;
mod debian;
mod differences;
mod formats;
mod image;
mod manual;
mod options;
mod platforms;
mod programs;
mod release;
mod release_log;
mod sbom;
mod signing;
mod trials;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::failure::{Context, Failure, Result};
use crate::workspace::Purpose;
use crate::{pkg, process, py, setup, web, workspace};
use exitgap_tlog::{
    RELEASE_PROOF_FILE, ReleaseFile, ReleaseList, SUMS_FILE, SUMS_NOTE_FILE, SignerKey,
};
use options::{Artefact, Options};
use platforms::{PLATFORMS, Toolchain};
use programs::{Programs, Texts};
use release::{Release, Written};

/// The output of `cargo xtask dist --help`.
pub const HELP: &str = "\
Make a release: archives, image and packages, lists of what is in them, and a signed list of all files.

Usage: cargo xtask dist [--out FOLDER] [--key FILE]... [--log FOLDER --log-key FILE] [--only ARTEFACT,...]
       cargo xtask dist --check [--json] [--only ARTEFACT,...]

  --out FOLDER    where the release goes [default: dist in the target folder]; an earlier release there is replaced
  --key FILE      a key that signs, made by `exitgap-server key new`; give two while one replaces the other. Without
                  it, a key is made that no one keeps. With it, the tree must have no uncommitted changes
  --log FOLDER    the log of releases, which is created or continued; --log-key FILE signs it
  --only          the artefacts to make, separated by commas:
                  source     the committed files
                  sbom       what each product is compiled from, as CycloneDX
                  deploy     compose file, systemd unit, monitoring, configurations
                  installer  install.sh, which checks the signature before it installs an archive
                  npm        the npm package
                  wheel      the Python package
                  archive    both programs for each platform, static, with completions, manual pages and licences
                  image      the service as a container image, for `podman load` and `docker load`
                  deb        both programs as a Debian package
  --check         build the last commit twice, in two folders, and compare all files byte for byte; then run the
                  programs of the archive, the image and the package in an empty root (as root), install the npm
                  package, the wheel and the archive, and verify the release
  --json          print the figures of the check as one JSON object on stdout

The programs are static, with musl or, where Rust's library for musl is not installed, with glibc. A platform that cannot
be built here is left out, and the output says what is missing. The same commit gives the same bytes with the
same compilers, in any folder: see BUILT-WITH.txt in each archive.

Needs: what `cargo xtask web` and `cargo xtask py` need, and a C compiler with a static C library (Debian: musl-tools).
Nothing is published. How to publish, and how to replace a key: crates/exitgap-server/docs/releases.md.

Examples:
  cargo xtask dist
  cargo xtask dist --only image && podman load --input target/dist/exitgap-image-*.tar
  cargo xtask dist --key releases.key --log release-log --log-key release-log.key
  cargo xtask dist --check";

/// Variables that are the same in every build of a release. `None`: not set.
fn environment(time_s: u64) -> Vec<(&'static str, Option<String>)> {
    let unset = [
        "CARGO_BUILD_RUSTFLAGS",
        "CARGO_ENCODED_RUSTFLAGS",
        "CC",
        "CFLAGS",
        "LDFLAGS",
        "RUSTFLAGS",
    ];
    let set = [
        ("CARGO_INCREMENTAL", "0".to_owned()),
        ("LC_ALL", "C.UTF-8".to_owned()),
        ("SOURCE_DATE_EPOCH", time_s.to_string()),
        ("TZ", "UTC".to_owned()),
    ];
    let set = set.map(|(name, value)| (name, Some(value)));
    unset.map(|name| (name, None)).into_iter().chain(set).collect()
}

/// Makes a release, or checks that one can be made.
pub fn run(root: &Path, arguments: &[String]) -> Result<()> {
    let options = Options::parse(arguments)?;
    if options.check {
        return check::run(root, &options);
    }
    let time_s = committed_at(root)?;
    let environment = environment(time_s);
    let is_set = |(name, value): &(&str, Option<String>)| std::env::var(name).ok() == *value;
    if environment.iter().all(is_set) {
        return make(root, time_s, &options);
    }
    let mut again = Command::new(std::env::current_exe().context("finding this program")?);
    again.arg("dist").args(arguments);
    for (name, value) in environment {
        match value {
            Some(value) => again.env(name, value),
            None => again.env_remove(name),
        };
    }
    process::run(&mut again, "cargo xtask dist")
}

/// Makes it.
fn make(root: &Path, time_s: u64, options: &Options) -> Result<()> {
    let (keys, log_key) = read_keys(root, options)?;
    let out = match &options.out {
        Some(out) => out.clone(),
        None => target_folder(root)?.join("dist"),
    };
    let partial = prepare(&out)?;
    let release = Release::new(root, partial.clone(), time_s)?;
    let mut left_out = Vec::new();
    let written = artefacts(&release, options, &mut left_out)?;
    let list = |files: &[Written]| {
        let file = |file: &Written| ReleaseFile { name: file.name.clone(), sha256: file.sha256 };
        ReleaseList::new(files.iter().map(file).collect())
            .map_err(|error| Failure::new(format!("the list of files: {error}")))
    };
    let list = list(&written)?;
    release.write(SUMS_FILE, list.to_text().as_bytes())?;
    release.write(SUMS_NOTE_FILE, signing::sign(&list.to_text(), &keys)?.as_bytes())?;
    if let Some((folder, _)) = &options.log
        && let Some(key) = log_key
    {
        let proof = release_log::append(folder, &key, &list.log_entry())?;
        release.write(RELEASE_PROOF_FILE, proof.as_bytes())?;
    }
    let placing = || format!("placing the release in {}", out.display());
    if out.exists() {
        fs::remove_dir_all(&out).context(placing())?;
    }
    fs::rename(&partial, &out).context(placing())?;
    report(&out, &written, &left_out, &keys, options.keys.is_empty());
    Ok(())
}

/// The keys that sign the release and its log.
fn read_keys(root: &Path, options: &Options) -> Result<(Vec<SignerKey>, Option<SignerKey>)> {
    let log_key = options.log.as_ref().map(|(_, key)| signing::read_key(key)).transpose()?;
    let changed = git(root, &["status", "--porcelain", "--untracked-files=no"])?;
    if !changed.is_empty() {
        let first = changed.lines().next().unwrap_or_default().trim();
        if !options.keys.is_empty() {
            return Err(Failure::new(format!("the tree has uncommitted changes: {first}"))
                .remedy("commit them: what is signed must follow from a commit"));
        }
        eprintln!(
            "dist: WARNING: the tree has uncommitted changes ({first}); the source archive is without them"
        );
    }
    if options.keys.is_empty() {
        return Ok((vec![signing::throwaway_key("throwaway.example/releases")?], log_key));
    }
    let keys = options.keys.iter().map(|path| signing::read_key(path)).collect::<Result<_>>()?;
    Ok((keys, log_key))
}

/// An empty folder next to the place of the release, which must be free or have nothing but an earlier release.
fn prepare(out: &Path) -> Result<PathBuf> {
    if let Some(other) = other_file(out)? {
        return Err(Failure::new(format!(
            "{} is not a release and is not replaced: it has {other}",
            out.display()
        ))
        .remedy("give another folder with --out"));
    }
    let mut name = out.file_name().unwrap_or_default().to_owned();
    name.push(".partial");
    let partial = out.with_file_name(name);
    if partial.exists() {
        fs::remove_dir_all(&partial).context(format!("removing {}", partial.display()))?;
    }
    fs::create_dir_all(&partial).context(format!("creating {}", partial.display()))?;
    Ok(partial)
}

/// A file of a folder that is not one of a release: not named in its list, and not the list itself.
fn other_file(folder: &Path) -> Result<Option<String>> {
    if !folder.exists() {
        return Ok(None);
    }
    let reading = || format!("reading {}", folder.display());
    let list = fs::read_to_string(folder.join(SUMS_FILE)).unwrap_or_default();
    let list = ReleaseList::from_text(&list).ok();
    let own = [SUMS_FILE, SUMS_NOTE_FILE, RELEASE_PROOF_FILE];
    for entry in fs::read_dir(folder).context(reading())? {
        let name = entry.context(reading())?.file_name().to_string_lossy().into_owned();
        let is_listed =
            list.as_ref().is_some_and(|list| list.files().iter().any(|file| file.name == name));
        if !is_listed && !own.contains(&name.as_str()) {
            return Ok(Some(name));
        }
    }
    Ok(None)
}

/// An artefact or platform that could not be made here: its name, the cause and the remedy.
type LeftOut = [String; 3];

/// Makes what is asked for; adds what cannot be made here to `left_out`.
fn artefacts(
    release: &Release,
    options: &Options,
    left_out: &mut Vec<LeftOut>,
) -> Result<Vec<Written>> {
    let (mut written, mut native) = (Vec::new(), Vec::new());
    for artefact in Artefact::ALL.into_iter().filter(|artefact| options.wants(*artefact)) {
        match artefact {
            Artefact::Source => written.push(bundles::source(release)?),
            Artefact::Sbom => written.extend(sbom::make(release)?),
            Artefact::Deploy => written.push(bundles::deploy(release)?),
            Artefact::Installer => written.push(bundles::installer(release)?),
            Artefact::Npm => {
                written.push(copied(release, &pkg::build(release.root, Purpose::Shipped)?)?);
            }
            Artefact::Wheel => match setup::require_python() {
                Ok(()) => written.push(copied(release, &py::build(release.root)?)?),
                Err(failure) => {
                    left_out.push(["wheel".to_owned(), failure.to_string(), String::new()]);
                }
            },
            Artefact::Archive | Artefact::Image | Artefact::Debian => native.push(artefact),
        }
    }
    if !native.is_empty() {
        written.extend(native_artefacts(release, &native, left_out)?);
    }
    Ok(written)
}

/// Makes those that contain the native programs, for each platform.
fn native_artefacts(
    release: &Release,
    wanted: &[Artefact],
    left_out: &mut Vec<LeftOut>,
) -> Result<Vec<Written>> {
    let mut toolchains: Vec<Toolchain> = Vec::new();
    for platform in &PLATFORMS {
        match platform.find(release.root) {
            Ok(toolchain) => toolchains.push(toolchain),
            Err([cause, remedy]) => left_out.push([platform.name.to_owned(), cause, remedy]),
        }
    }
    let Some(native) = toolchains.iter().position(|one| one.platform.is_native()) else {
        let causes: Vec<String> = left_out.iter().map(|one| one.join(": ")).collect();
        return Err(Failure::new("this machine cannot build programs for itself")
            .remedy(causes.join("\n     ")));
    };
    // Completions and manual pages come from the programs that run here.
    toolchains.swap(0, native);
    web::build(release.root)?;
    let mut written = Vec::new();
    let mut texts: Option<Texts> = None;
    for toolchain in &toolchains {
        let programs = Programs::build(release, toolchain)?;
        let texts = match &mut texts {
            Some(texts) => texts,
            none => none.insert(programs.texts(release)?),
        };
        for artefact in wanted {
            written.push(match artefact {
                Artefact::Image => image::make(release, &programs)?,
                Artefact::Debian => debian::make(release, &programs, texts)?,
                // The only other one with programs.
                _ => archive::make(release, &programs, texts)?,
            });
        }
    }
    Ok(written)
}

/// A file that another command made.
fn copied(release: &Release, path: &Path) -> Result<Written> {
    let bytes = fs::read(path).context(format!("reading {}", path.display()))?;
    release.write(&path.file_name().unwrap_or_default().to_string_lossy(), &bytes)
}

/// Prints what was made, what was not, and by which keys it is signed.
fn report(
    out: &Path,
    written: &[Written],
    left_out: &[LeftOut],
    keys: &[SignerKey],
    is_throwaway: bool,
) {
    let bytes: usize = written.iter().map(|file| file.bytes).sum();
    eprintln!("dist: {} files, {bytes} bytes", written.len());
    for [name, cause, remedy] in left_out {
        eprintln!("dist: {name} is left out: {cause}");
        if !remedy.is_empty() {
            eprintln!("  -> {remedy}");
        }
    }
    if is_throwaway {
        eprintln!(
            "dist: NO KEY WAS GIVEN. This release is signed by a throwaway key, which no one keeps: do not publish it.\n  \
             -> `exitgap-server key new` makes a key, and --key FILE signs with it"
        );
    }
    for key in keys {
        eprintln!("dist: signed by {}", key.verifier());
    }
    println!("{}", out.display());
}

/// The target folder of the workspace.
fn target_folder(root: &Path) -> Result<PathBuf> {
    let metadata = workspace::metadata(root)?;
    let folder = metadata["target_directory"].as_str().map(PathBuf::from);
    Ok(folder.unwrap_or_else(|| root.join("target")))
}

/// When the last commit was made, in seconds since 1970.
fn committed_at(root: &Path) -> Result<u64> {
    let text = git(root, &["show", "--no-patch", "--format=%ct", "HEAD"])?;
    text.parse().map_err(|_| Failure::new(format!("git reports the time {text:?}")))
}

/// What git prints, without the last line break.
fn git(root: &Path, arguments: &[&str]) -> Result<String> {
    let text = process::output(Command::new("git").args(arguments).current_dir(root), "git")
        .map_err(|failure| {
            failure.remedy("a release is made from a commit, in a clone of the repository")
        })?;
    Ok(text.trim_end().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_with_other_files_is_not_replaced() {
        let folder = std::env::temp_dir().join(format!("exitgap-dist-{}", std::process::id()));
        let out = folder.join("out");
        fs::create_dir_all(&out).unwrap();
        assert_eq!(prepare(&out).unwrap(), folder.join("out.partial"));
        fs::write(out.join("thesis.txt"), "").unwrap();
        let refused = prepare(&out).unwrap_err().to_string();
        assert!(refused.contains("is not a release") && refused.contains("--out"), "{refused}");
        assert!(refused.contains("thesis.txt"), "{refused}");
        let list =
            ReleaseList::new(vec![ReleaseFile { name: "a.txt".to_owned(), sha256: [1; 32] }])
                .unwrap();
        fs::write(out.join(SUMS_FILE), list.to_text()).unwrap();
        fs::write(out.join("a.txt"), "").unwrap();
        assert!(prepare(&out).is_err(), "a folder with a release and another file is kept");
        fs::remove_file(out.join("thesis.txt")).unwrap();
        fs::write(folder.join("out.partial/left"), "").unwrap();
        let partial = prepare(&out).unwrap();
        assert_eq!(fs::read_dir(partial).unwrap().count(), 0);
        fs::remove_dir_all(&folder).unwrap();
    }
}
