//! Archives of files that are in the repository: the source, and what an operator deploys.

use std::process::Command;

use super::formats::{Tree, gzip, tar};
use super::git;
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
    // Settings of the user who builds would change modes and bytes.
    for setting in ["tar.umask=0022", "core.autocrlf=false", "core.attributesFile=/dev/null"] {
        archive.args(["-c", setting]);
    }
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
        // Only what is committed: an operator who works in this folder has keys and passwords in it.
        for path in git(release.root, &["ls-files", folder])?.lines() {
            let file = path.rsplit('/').next().unwrap_or(path);
            if OF_SOURCES.contains(&file) {
                continue;
            }
            let is_script = file.rsplit_once('.').is_some_and(|(_, extension)| extension == "sh");
            let mode = if is_script { 0o755 } else { 0o644 };
            tree.file(&format!("{name}/{file}"), mode, release.read(path)?);
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

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::workspace;

    #[test]
    fn the_deploy_bundle_has_what_the_compose_file_mounts_and_no_file_that_is_not_committed() {
        let root = workspace::root();
        let secret = root.join("crates/exitgap-server/deploy/a-test.key");
        fs::write(&secret, "secret").unwrap();
        let (release, folder) = Release::in_folder(&root, "deploy");
        let written = deploy(&release);
        fs::remove_file(&secret).unwrap();
        let packed = fs::read(folder.join(written.unwrap().name)).unwrap();
        fs::remove_dir_all(&folder).unwrap();
        let entries = tar::entries(&gzip::unpack(&packed).unwrap()).unwrap();
        let has = |path: &str| {
            let begin = format!("exitgap-1.2.3-deploy/{path} (");
            entries.iter().any(|(about, _)| about.starts_with(&begin))
        };
        assert!(!has("deploy/a-test.key") && !has("deploy/Containerfile"));
        for path in
            ["deploy/compose.yaml", "deploy/server.env", "examples/mainnet.toml", "LICENSE-MIT"]
        {
            assert!(has(path), "{path}");
        }
        let compose = release.read("crates/exitgap-server/deploy/compose.yaml").unwrap();
        let mounts: Vec<&str> = compose
            .lines()
            .filter_map(|line| line.trim().strip_prefix("- ./")?.split(':').next())
            .filter(|file| *file != "exitgap.toml")
            .collect();
        assert!(mounts.len() > 4, "{mounts:?}");
        for file in mounts {
            assert!(has(&format!("deploy/{file}")), "{file}");
        }
    }
}
