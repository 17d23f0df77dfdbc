//! Fetches one pinned package: download, check, unpack in a temporary folder, rename.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use sha2::{Digest, Sha512};

use super::{hex, pins::Pin};
use crate::failure::{Context, Failure, Result};

/// Fetches `pin` into `folder`; if it fails, the destination is unchanged.
pub fn fetch(folder: &Path, pin: &Pin) -> Result<()> {
    let aside = Aside::new(folder, pin.folder)?;
    let file = pack(&aside.0, pin)?;
    let bytes = fs::read(&file).context(format!("reading {}", file.display()))?;
    check_sum(pin, &bytes)?;
    let unpacked = aside.0.join("unpacked");
    fs::create_dir(&unpacked).context(format!("creating {}", unpacked.display()))?;
    unpack(&file, &unpacked, pin)?;
    replace(&unpacked, &folder.join(pin.folder))
}

/// A temporary folder next to the final one, removed in every case.
pub struct Aside(pub PathBuf);

impl Aside {
    /// The name contains the process id, so that two concurrent runs do not share it.
    pub fn new(folder: &Path, name: &str) -> Result<Self> {
        let path = folder.join(format!(".{name}.partial-{}", std::process::id()));
        if path.exists() {
            fs::remove_dir_all(&path).context(format!("removing {}", path.display()))?;
        }
        fs::create_dir_all(&path).context(format!("creating {}", path.display()))?;
        Ok(Self(path))
    }
}

impl Drop for Aside {
    fn drop(&mut self) {
        // If it cannot be removed, git ignores it and the next run replaces it.
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// Removes temporary folders left by interrupted runs, except those that may still be in use.
pub fn sweep(folder: &Path) {
    const AGE: Duration = Duration::from_hours(1);
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    for entry in entries.filter(|entry| entry.file_name().to_string_lossy().contains(".partial-")) {
        let modified = entry.metadata().and_then(|metadata| metadata.modified());
        if modified.is_ok_and(|time| time.elapsed().is_ok_and(|age| age > AGE)) {
            // If it cannot be removed, the next run tries again.
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}

/// Renames a complete folder to its place; if another run was first with the same content, that one stays.
pub fn replace(complete: &Path, place: &Path) -> Result<()> {
    if place.exists() {
        fs::remove_dir_all(place).context(format!("removing {}", place.display()))?;
    }
    fs::rename(complete, place).context(format!("moving files to {}", place.display()))
}

/// The beginning of a tool's error message, enough to distinguish a missing network from a missing package.
pub fn first_words(stderr: &[u8]) -> String {
    let text = String::from_utf8_lossy(stderr);
    let lines: Vec<&str> = text.lines().filter(|line| !line.trim().is_empty()).take(4).collect();
    lines.join("\n    ")
}

fn pack(aside: &Path, pin: &Pin) -> Result<PathBuf> {
    let spec = format!("{}@{}", pin.package, pin.version);
    let output = Command::new("npm")
        .args(["pack", "--loglevel=error", &spec])
        .current_dir(aside)
        .output()
        .map_err(|error| {
            Failure::new(format!("`npm` could not be started: {error}"))
                .remedy("npm comes with Node.js; put it on PATH")
        })?;
    if !output.status.success() {
        return Err(Failure::new(format!(
            "npm could not fetch {spec}:\n    {}",
            first_words(&output.stderr)
        ))
        .remedy(
            "check the network (and npm's proxy and registry settings), then run \
             `cargo xtask setup` again: it continues where it stopped",
        ));
    }
    let text = String::from_utf8_lossy(&output.stdout);
    let name = text.lines().last().unwrap_or_default().trim();
    Ok(aside.join(name))
}

fn check_sum(pin: &Pin, bytes: &[u8]) -> Result<()> {
    let found = hex(&Sha512::digest(bytes));
    if found == pin.sha512 {
        return Ok(());
    }
    Err(Failure::new(format!(
        "{}@{} is not the file that was pinned\n    expected sha512 {}\n    found    sha512 {found}",
        pin.package, pin.version, pin.sha512
    ))
    .remedy("do not use it; clear npm's cache (`npm cache clean --force`) and run setup again"))
}

fn unpack(file: &Path, into: &Path, pin: &Pin) -> Result<()> {
    let output = Command::new("tar")
        .arg("-xzf")
        .arg(file)
        .arg("-C")
        .arg(into)
        .arg("--strip-components=1")
        .args(pin.keep.iter().map(|path| format!("package/{path}")))
        .output()
        .map_err(|error| {
            Failure::new(format!("`tar` could not be started: {error}"))
                .remedy("install tar and gzip and put them on PATH")
        })?;
    if output.status.success() {
        return Ok(());
    }
    Err(Failure::new(format!(
        "unpacking {} failed:\n    {}",
        pin.package,
        first_words(&output.stderr)
    )))
}

#[cfg(test)]
mod tests {
    use super::super::pins;
    use super::*;

    #[test]
    fn a_changed_byte_is_refused_with_both_sums() {
        let mut pin = pins::contracts()[0];
        let content = b"content";
        let sum = hex(&Sha512::digest(content));
        pin.sha512 = Box::leak(sum.clone().into_boxed_str());
        assert!(check_sum(&pin, content).is_ok());
        let message = check_sum(&pin, b"Content").unwrap_err().to_string();
        assert!(message.contains(&sum), "{message}");
        assert!(message.contains("is not the file that was pinned"), "{message}");
    }

    #[test]
    fn an_aside_folder_is_removed_when_work_on_it_fails() {
        let root = std::env::temp_dir().join(format!("exitgap-aside-{}", std::process::id()));
        let path = {
            let aside = Aside::new(&root, "thing").unwrap();
            fs::write(aside.0.join("half"), b"half").unwrap();
            aside.0.clone()
        };
        assert!(!path.exists());
        fs::remove_dir_all(root).unwrap();
    }
}
