//! The source of a log: a folder, or a service whose log is copied into a folder.

use std::ffi::OsString;
use std::fs;
use std::hash::{BuildHasher, RandomState};
use std::path::{Path, PathBuf};
use std::time::Duration;

use exitgap_api::invalid_parameter;
use exitgap_client::BaseUrl;
use exitgap_client::copy::{Copier, CopyError};
use exitgap_core::log_folder::LogFile;
use exitgap_core::tlog::VerifierKey;
use indicatif::{ProgressBar, ProgressStyle};

use crate::failure::Failure;
use crate::format::printable;
use crate::source::unreadable;

/// A log, as given in the arguments.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LogAt {
    /// The folder in which it is published, or a copy.
    Folder(PathBuf),
    /// The URL of a service, or of its log.
    Url(String),
}

impl From<OsString> for LogAt {
    fn from(argument: OsString) -> Self {
        match argument.to_str() {
            Some(url) if url.contains("://") => Self::Url(url.to_owned()),
            _ => Self::Folder(argument.into()),
        }
    }
}

/// A folder to read a log from, and the means to update it.
pub struct LogSource {
    path: PathBuf,
    copier: Option<Copier>,
    /// Deletes a temporary copy when dropped.
    _temporary: Option<Temporary>,
}

impl LogSource {
    /// A log to be read once. A service's log is downloaded to `copy`, or to a temporary folder, if one of the
    /// `trusted` keys signed it; if none is given, one of the keys that it names itself.
    pub fn for_reading(
        log: &LogAt,
        copy: Option<&Path>,
        trusted: &[VerifierKey],
    ) -> Result<Self, Failure> {
        Self::read_once(log, copy, |url, copy| Self::from_url(url, copy, trusted))
    }

    /// The same of a log that is compared with another, where the trusted keys may be of both.
    pub fn for_comparing(
        log: &LogAt,
        copy: Option<&Path>,
        trusted: &[VerifierKey],
    ) -> Result<Self, Failure> {
        Self::read_once(log, copy, |url, copy| {
            let source = Self::from_url(url, copy, trusted)?;
            let copier = source.copier.map(Copier::with_keys_of_several_logs);
            Ok(Self { copier, ..source })
        })
    }

    fn read_once(
        log: &LogAt,
        copy: Option<&Path>,
        from_url: impl Fn(&str, &Path) -> Result<Self, Failure>,
    ) -> Result<Self, Failure> {
        let mut source = match (log, copy) {
            (LogAt::Folder(path), copy) => Self::of_folder(path, copy)?,
            (LogAt::Url(url), Some(copy)) => from_url(url, copy)?,
            (LogAt::Url(url), None) => {
                let temporary = Temporary::new()?;
                let source = from_url(url, &temporary.0)?;
                let path = temporary.0.display();
                anstream::eprintln!(
                    "Copying the log to {path}, which is deleted afterwards. Use --copy FOLDER to keep the copy."
                );
                Self { _temporary: Some(temporary), ..source }
            }
        };
        if let Some(copier) = &mut source.copier {
            let bar = progress();
            let updated = copier.update(Duration::MAX, &|done, of| {
                bar.set_length(of);
                bar.set_position(done);
            });
            bar.finish_and_clear();
            updated?;
        }
        Ok(source)
    }

    /// A log to be followed. A service's log is stored in `copy`, which is not updated yet.
    pub fn for_watching(
        log: &LogAt,
        copy: Option<&Path>,
        trusted: &[VerifierKey],
    ) -> Result<Self, Failure> {
        match (log, copy) {
            (LogAt::Folder(path), copy) => Self::of_folder(path, copy),
            (LogAt::Url(url), Some(copy)) => Self::from_url(url, copy, trusted),
            (LogAt::Url(_), None) => {
                let detail = "copy: following a log at a URL needs a folder for the copy";
                let hint = "give --copy FOLDER; the next run continues from there";
                Err(invalid_parameter("copy", detail, hint).into())
            }
        }
    }

    fn of_folder(path: &Path, copy: Option<&Path>) -> Result<Self, Failure> {
        if copy.is_some() {
            let detail = "copy: the log is already a local folder, so no copy is made";
            let hint = "use --copy only with the URL of a service or of its log";
            return Err(invalid_parameter("copy", detail, hint).into());
        }
        Ok(Self { path: path.to_owned(), copier: None, _temporary: None })
    }

    fn from_url(url: &str, path: &Path, trusted: &[VerifierKey]) -> Result<Self, Failure> {
        let copier = Copier::new(address(url)?, path, trusted.to_vec())?;
        Ok(Self { path: path.to_owned(), copier: Some(copier), _temporary: None })
    }

    /// The folder.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Downloads a file into a copy, if this is one; returns whether the file exists.
    pub fn fetch_file(&self, file: &LogFile, most: usize) -> Result<bool, CopyError> {
        self.copier.as_ref().map_or(Ok(false), |copier| copier.fetch_file(file, most))
    }

    /// Whether the log is copied from a service.
    pub fn is_copied(&self) -> bool {
        self.copier.is_some()
    }

    /// Updates a copy, within `limit`; a folder that is read in place is updated by another program.
    pub fn refresh(&mut self, limit: Duration) -> Result<(), CopyError> {
        match &mut self.copier {
            Some(copier) => copier.update(limit, &|_, _| {}),
            None => Ok(()),
        }
    }
}

pub fn address(url: &str) -> Result<BaseUrl, Failure> {
    url.parse().map_err(|_| {
        let shown: String = url.chars().take(80).collect();
        let detail = format!("log: {shown:?} is not a valid log URL");
        let hint = "write it like https://exitgap.example or https://exitgap.example/log, without user name, password, query or fragment";
        invalid_parameter("log", &printable(&detail), hint).into()
    })
}

/// A progress bar on stderr, shown only on a terminal.
fn progress() -> ProgressBar {
    let style =
        ProgressStyle::with_template("{bar:30} {pos} of {len} slots copied, {per_sec}, {eta} left");
    ProgressBar::new(0).with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()))
}

/// A temporary folder of this process, deleted when dropped.
struct Temporary(PathBuf);

impl Temporary {
    fn new() -> Result<Self, Failure> {
        // A hasher's keys are random, so the name is unpredictable, and an existing folder is an error.
        let name = format!("exitgap-log-{:016x}", RandomState::new().hash_one(()));
        let path = std::env::temp_dir().join(name);
        fs::create_dir(&path)
            .map_err(|error| unreadable(format!("{}: {error}", path.display())))?;
        Ok(Self(path))
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

impl From<CopyError> for Failure {
    fn from(error: CopyError) -> Self {
        let hint = match &error {
            CopyError::NotACopy { .. } => {
                "--copy needs an empty folder, or one that this program created"
            }
            CopyError::OtherLog { .. } | CopyError::OtherKeys { .. } => {
                "keep this copy: it shows what the log was; use another folder with --copy"
            }
            CopyError::Newer { .. } => "update exitgap",
            CopyError::Unsigned { .. } => {
                "if the log changed its key, compare the new one with a copy from a place you trust, and pass both with --trust"
            }
            _ => {
                "downloaded files stay in the folder given with --copy, and the next run continues from there"
            }
        };
        let code = error.code().to_owned();
        Self::Service { code, problem: Box::new(unreadable(error.to_string()).hint(hint)) }
    }
}
