//! Archives of files that are in the repository: the source, and what an operator deploys.

use std::fs;
use std::process::Command;

use super::formats::{Tree, gzip, tar};
use super::release::{Release, Written};
use crate::failure::{Context, Failure, Result};

/// Folders of the deploy bundle, with their names in it.
const DEPLOYED: [(&str, &str); 2] =
    [("crates/exitgap-server/deploy", "deploy"), ("examples", "examples")];

/// Files that only a build from source uses.
const OF_SOURCES: [&str; 2] = ["Containerfile", "Containerfile.containerignore"];

/// The script that installs an archive.
const INSTALLER: &str = "crates/exitgap-server/deploy/install.sh";

/// The committed files.
pub fn source(release: &Release) -> Result<Written> {
    let name = format!("exitgap-{}-source", release.version);
    let mut archive = Command::new("git");
    archive.args(["archive", "--format=tar", &format!("--prefix={name}/"), "HEAD"]);
    let output = archive.current_dir(release.root).output().context("starting git archive")?;
    if !output.status.success() {
        let words = String::from_utf8_lossy(&output.stderr);
        return Err(Failure::new(format!("git archive failed:\n    {}", words.trim())));
    }
    release.write(&format!("{name}.tar.gz"), &gzip::pack(&output.stdout))
}

/// The compose file, the files that it mounts, the systemd unit, and the configurations of known chains.
pub fn deploy(release: &Release) -> Result<Written> {
    let mut tree = Tree::default();
    for (folder, name) in DEPLOYED {
        let reading = || format!("reading {folder}");
        for entry in fs::read_dir(release.root.join(folder)).context(reading())? {
            let path = entry.context(reading())?.path();
            let file = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            if path.is_file() && !OF_SOURCES.contains(&file.as_str()) {
                let is_script = path.extension().is_some_and(|extension| extension == "sh");
                let mode = if is_script { 0o755 } else { 0o644 };
                let bytes = fs::read(&path).context(format!("reading {}", path.display()))?;
                tree.file(&format!("{name}/{file}"), mode, bytes);
            }
        }
    }
    for licence in ["LICENSE-APACHE", "LICENSE-MIT"] {
        tree.text(licence, release.read(licence)?);
    }
    let name = format!("exitgap-{}-deploy", release.version);
    let packed = gzip::pack(&tar::pack(&tree, &format!("{name}/"), release.time_s)?);
    release.write(&format!("{name}.tar.gz"), &packed)
}

/// The script that checks the release's signature before it installs an archive.
pub fn installer(release: &Release) -> Result<Written> {
    release.write("install.sh", release.read(INSTALLER)?.as_bytes())
}
