//! A release that is being made: where it comes from, and its files.

use std::fs;
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

use super::git;
use crate::failure::{Context, Failure, Result};
use crate::workspace;

/// A release that is being made.
pub struct Release<'a> {
    pub root: &'a Path,
    /// Where its files are written.
    folder: PathBuf,
    pub version: String,
    pub maintainer: String,
    pub commit: String,
    /// The time of the commit, which every file of the release has.
    pub time_s: u64,
}

/// A file of the release.
pub struct Written {
    pub name: String,
    pub bytes: usize,
    pub sha256: [u8; 32],
}

impl<'a> Release<'a> {
    pub fn new(root: &'a Path, folder: PathBuf, time_s: u64) -> Result<Self> {
        let metadata = workspace::metadata(root)?;
        let mut packages = metadata["packages"].as_array().into_iter().flatten();
        let ours = packages.find(|package| package["name"] == "exitgap-cli");
        let ours = ours.ok_or_else(|| Failure::new("the workspace has no package exitgap-cli"))?;
        let text = |value: &serde_json::Value| value.as_str().unwrap_or_default().to_owned();
        let commit = git(root, &["rev-parse", "HEAD"])?;
        let maintainer = text(&ours["authors"][0]);
        let version = text(&ours["version"]);
        Ok(Self { root, folder, version, maintainer, commit, time_s })
    }

    /// A file of the repository.
    pub fn read(&self, path: &str) -> Result<String> {
        fs::read_to_string(self.root.join(path)).context(format!("reading {path}"))
    }

    /// Writes a file of the release.
    pub fn write(&self, name: &str, bytes: &[u8]) -> Result<Written> {
        fs::write(self.folder.join(name), bytes).context(format!("writing {name}"))?;
        eprintln!("dist: {name}, {} bytes", bytes.len());
        let sha256 = Sha256::digest(bytes).into();
        Ok(Written { name: name.to_owned(), bytes: bytes.len(), sha256 })
    }

    /// Its time, such as `2026-01-02T03:04:05Z`.
    pub fn rfc3339(&self) -> String {
        let of_day = self.time_s % 86_400;
        let (hour, minute, second) = (of_day / 3_600, of_day / 60 % 60, of_day % 60);
        format!("{}T{hour:02}:{minute:02}:{second:02}Z", self.date())
    }

    /// Its date, such as `2026-01-02`.
    pub fn date(&self) -> String {
        // Counts from 1 March of year 0, so that the day of a leap year comes last.
        let days = self.time_s / 86_400 + 719_468;
        let (era, of_era) = (days / 146_097, days % 146_097);
        let year = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
        let of_year = of_era - (365 * year + year / 4 - year / 100);
        let month = (5 * of_year + 2) / 153;
        let day = of_year - (153 * month + 2) / 5 + 1;
        let (month, carry) = if month < 10 { (month + 3, 0) } else { (month - 9, 1) };
        format!("{:04}-{month:02}-{day:02}", era * 400 + year + carry)
    }
}

#[cfg(test)]
impl<'a> Release<'a> {
    /// A release whose time is known.
    pub fn for_tests(root: &'a Path) -> Self {
        let [version, maintainer, commit] = ["1.2.3", "The makers", "c0"].map(str::to_owned);
        Self { root, folder: PathBuf::new(), version, maintainer, commit, time_s: 1_709_251_199 }
    }

    /// The same, in a new folder of this test.
    pub fn in_folder(root: &'a Path, test: &str) -> (Self, PathBuf) {
        let folder = std::env::temp_dir().join(format!("exitgap-{test}-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        (Self { folder: folder.clone(), ..Self::for_tests(root) }, folder)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_those_of_the_calendar() {
        let root = workspace::root();
        let at = |time_s| Release { time_s, ..Release::for_tests(&root) }.rfc3339();
        assert_eq!(at(0), "1970-01-01T00:00:00Z");
        assert_eq!(at(951_782_400), "2000-02-29T00:00:00Z");
        assert_eq!(at(1_709_251_199), "2024-02-29T23:59:59Z");
        assert_eq!(at(1_709_251_200), "2024-03-01T00:00:00Z");
        assert_eq!(at(4_102_444_799), "2099-12-31T23:59:59Z");
    }
}
