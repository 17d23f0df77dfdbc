//! Runs everything of a release, as its users would.

mod places;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use super::check::{Figure, Keys};
use super::image::USER;
use super::platforms::PLATFORMS;
use super::programs::{CLI, SERVER};
use crate::failure::{Context, Failure, Result};
use crate::process;
use places::Root;

/// The largest sizes, in MB.
const MOST_SERVER_MB: f64 = 25.0;
const MOST_CLI_MB: f64 = 20.0;
const MOST_IMAGE_MB: f64 = 30.0;

/// What `exitgap try` prints about valid evidence, and about evidence that was changed.
const SHOWN: [&str; 3] = ["SAMPLE DATA", "VALID: ", "INVALID: "];

/// Tries what the release has for this machine, and returns the sizes.
pub fn try_all(release: &Path, work: &Path, keys: &Keys) -> Result<Vec<Figure>> {
    let trial = Trial { release, work, keys };
    let mut figures = Vec::new();
    let native = PLATFORMS.iter().find(|platform| platform.is_native());
    let native =
        native.ok_or_else(|| Failure::new("no platform of a release is this machine's"))?;
    if let Some(archive) = trial.find(&format!("-{}.tar.gz", native.name)) {
        figures.extend(trial.archive(&archive)?);
    }
    let image = trial.find(&format!("-{}.tar", native.name));
    if let Some(image) = image {
        trial.image(&image)?;
        figures.push(figure("dist.image_mb", &image, MOST_IMAGE_MB)?);
    }
    if let Some(package) = trial.find(&format!("_{}.deb", native.architecture)) {
        trial.debian(&package)?;
    }
    if let Some(tarball) = trial.find(".tgz") {
        trial.npm(&tarball)?;
    }
    if let Some(wheel) = trial.find(".whl") {
        trial.wheel(&wheel)?;
    }
    Ok(figures)
}

struct Trial<'a> {
    release: &'a Path,
    work: &'a Path,
    keys: &'a Keys,
}

impl Trial<'_> {
    /// The file of the release whose name ends so, if there is one.
    fn find(&self, end: &str) -> Option<PathBuf> {
        let entries = fs::read_dir(self.release).ok()?.flatten().map(|entry| entry.path());
        let found = entries.into_iter().find(|path| path.to_string_lossy().ends_with(end));
        if found.is_none() {
            eprintln!("dist: not tried: the release has no file *{end}");
        }
        found
    }

    /// A new folder for a trial.
    fn folder(&self, name: &str) -> Result<PathBuf> {
        let folder = self.work.join("trials").join(name);
        fs::create_dir_all(&folder).context(format!("creating {}", folder.display()))?;
        Ok(folder)
    }

    /// The archive's programs in an empty root, the release as they verify it, and `install.sh`.
    fn archive(&self, archive: &Path) -> Result<[Figure; 2]> {
        let folder = self.folder("archive")?;
        unpack(archive, &folder)?;
        let name = archive.file_name().unwrap_or_default().to_string_lossy();
        let unpacked = folder.join(name.trim_end_matches(".tar.gz"));
        let root = Root::new(self.folder("empty-root")?, None);
        for program in [CLI, SERVER] {
            let copied = fs::copy(unpacked.join(program), root.folder.join(program));
            copied.context(format!("copying {program}"))?;
        }
        let temporary = root.folder.join("tmp");
        fs::create_dir_all(&temporary).context("creating a temporary folder")?;
        eprintln!("dist: trying the archive's programs, {}", root.describe());
        shows_the_sample(&mut root.command(CLI))?;
        places::serves(&root, SERVER)?;
        self.verified_by(&unpacked.join(CLI))?;
        self.installed(&name)?;
        Ok([
            figure("dist.server_mb", &unpacked.join(SERVER), MOST_SERVER_MB)?,
            figure("dist.cli_mb", &unpacked.join(CLI), MOST_CLI_MB)?,
        ])
    }

    /// The release is valid, and one with a changed file is not.
    fn verified_by(&self, program: &Path) -> Result<()> {
        eprintln!("dist: verifying the release");
        let verify = |folder: &Path| {
            let mut verify = Command::new(program);
            verify.arg("verify-release").arg(folder);
            let [key, log_key] = &self.keys.public;
            verify.args(["--key", key, "--log-key", log_key]);
            verify
        };
        let said = process::output(&mut verify(self.release), "exitgap verify-release")?;
        eprint!("{said}");
        let changed = self.folder("changed-release")?;
        for entry in fs::read_dir(self.release).context("reading the release")?.flatten() {
            fs::copy(entry.path(), changed.join(entry.file_name()))
                .context("copying the release")?;
        }
        let script = changed.join("install.sh");
        let changed_file = if script.exists() { script } else { changed.join(super::SUMS_FILE) };
        let mut bytes = fs::read(&changed_file).context("reading a file to change")?;
        bytes.extend(b"\n# changed\n");
        fs::write(&changed_file, bytes).context("changing a file")?;
        let refused = verify(&changed).output().context("starting exitgap verify-release")?;
        // The exit code of what is invalid.
        if refused.status.code() == Some(6) {
            return Ok(());
        }
        Err(Failure::new("exitgap verify-release did not refuse a changed release"))
    }

    /// `install.sh` installs the archive, and its programs run.
    fn installed(&self, archive: &str) -> Result<()> {
        let script = self.release.join("install.sh");
        if !script.exists() {
            return Ok(());
        }
        eprintln!("dist: installing by install.sh");
        let to = self.folder("installed")?;
        let mut install = Command::new("sh");
        install.arg(script).arg("--from").arg(self.release).arg("--to").arg(&to);
        install.args(["--key", &self.keys.public[0]]);
        eprint!("{}", process::output(&mut install, "install.sh")?);
        for program in [CLI, SERVER] {
            let said = process::output(Command::new(to.join(program)).arg("--version"), program)?;
            let version = said.trim().rsplit(' ').next().unwrap_or_default().to_owned();
            if version.is_empty() || !archive.contains(&format!("-{version}-")) {
                return Err(Failure::new(format!("{program} of {archive} says it is {said}")));
            }
        }
        Ok(())
    }

    /// The image's service in the image's root, as its user and with its variables.
    fn image(&self, image: &Path) -> Result<()> {
        let layout = self.folder("image")?;
        unpack(image, &layout)?;
        let json = |path: &Path| -> Result<Value> {
            let text = fs::read_to_string(path).context(format!("reading {}", path.display()))?;
            serde_json::from_str(&text)
                .map_err(|error| Failure::new(format!("reading {}: {error}", path.display())))
        };
        let blob = |descriptor: &Value| {
            let digest = descriptor["digest"].as_str().unwrap_or_default();
            layout.join("blobs").join(digest.replace(':', "/"))
        };
        let index = json(&layout.join("index.json"))?;
        let manifest = json(&blob(&index["manifests"][0]))?;
        let config = json(&blob(&manifest["config"]))?;
        let root = Root::new(self.folder("image-root")?, Some(USER));
        unpack(&blob(&manifest["layers"][0]), &root.folder)?;
        eprintln!("dist: trying the image's service, {}", root.describe());
        let entry = config["config"]["Entrypoint"][0].as_str().unwrap_or_default();
        places::serves(&root, &format!("usr/local/bin/{entry}"))
    }

    /// The package's program in the package's root, if this machine has `dpkg-deb`.
    fn debian(&self, package: &Path) -> Result<()> {
        if Command::new("dpkg-deb").arg("--version").output().is_err() {
            eprintln!("dist: not tried: the Debian package, because dpkg-deb is not installed");
            return Ok(());
        }
        eprintln!("dist: trying the Debian package");
        process::output(Command::new("dpkg-deb").arg("--info").arg(package), "dpkg-deb --info")?;
        let root = Root::new(self.folder("debian")?, None);
        let mut extract = Command::new("dpkg-deb");
        extract.arg("--extract").arg(package).arg(&root.folder);
        process::output(&mut extract, "dpkg-deb --extract")?;
        shows_the_sample(&mut root.command(&format!("usr/bin/{CLI}")))
    }

    /// The npm package in a folder without others.
    fn npm(&self, tarball: &Path) -> Result<()> {
        eprintln!("dist: trying the npm package");
        let folder = self.folder("npm")?;
        fs::write(folder.join("package.json"), "{}").context("writing package.json")?;
        let mut install = Command::new("npm");
        install.args(["install", "--offline", "--no-audit", "--no-fund", "--silent"]).arg(tarball);
        process::output(install.current_dir(&folder), "npm install")?;
        shows_the_sample(
            Command::new(folder.join("node_modules/.bin/exitgap")).current_dir(&folder),
        )
    }

    /// The wheel in an environment without other packages.
    fn wheel(&self, wheel: &Path) -> Result<()> {
        eprintln!("dist: trying the Python package");
        let folder = self.folder("python")?;
        process::output(
            Command::new("python3").args(["-m", "venv"]).arg(&folder),
            "python3 -m venv",
        )?;
        let mut install = Command::new(folder.join("bin/pip"));
        install.args(["install", "--quiet", "--no-index"]).arg(wheel);
        process::output(&mut install, "pip install")?;
        shows_the_sample(Command::new(folder.join("bin/exitgap")).current_dir(&folder))
    }
}

/// Runs `exitgap try`, which shows that valid evidence is accepted and changed evidence is refused.
fn shows_the_sample(command: &mut Command) -> Result<()> {
    let said = process::output(command.arg("try"), "exitgap try")?;
    match SHOWN.iter().find(|words| !said.contains(**words)) {
        None => Ok(()),
        Some(words) => Err(Failure::new(format!("exitgap try does not print {words:?}:\n{said}"))),
    }
}

/// Unpacks an archive with `tar`, with its owners where this process may set them.
fn unpack(archive: &Path, folder: &Path) -> Result<()> {
    let mut tar = Command::new("tar");
    tar.args(["--numeric-owner", "-xpf"]).arg(archive).arg("-C").arg(folder);
    process::output(&mut tar, "tar").map(drop)
}

/// The size of a file as a figure, in MB.
fn figure(key: &'static str, file: &Path, most: f64) -> Result<Figure> {
    let metadata = fs::metadata(file).context(format!("reading {}", file.display()))?;
    // Whole kilobytes are exact enough, and fit.
    let kilobytes = u32::try_from(metadata.len() / 1_000).unwrap_or(u32::MAX);
    Ok(Figure { key, value: f64::from(kilobytes) / 1_000.0, least: 0.0, most })
}
