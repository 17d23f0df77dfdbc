//! The files, read.

use std::fs;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde::de::DeserializeOwned;

use crate::{code, curve, feeds, proofs, swaps, tries};

/// Why there is nothing to be judged.
#[derive(Debug, thiserror::Error)]
pub enum FactsError {
    /// The folder is not there.
    #[error("the folder of facts {0} does not exist")]
    NoFolder(PathBuf),
    /// A file cannot be read.
    #[error("reading {path}: {error}")]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// Why.
        error: std::io::Error,
    },
    /// A file is not what its name says.
    #[error("{path} is damaged: {reason}")]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
}

/// Everything that is judged.
#[derive(Debug)]
pub struct Facts {
    /// Swaps of pairs and of pools of ranges.
    pub swaps: Vec<swaps::Swap>,
    /// Swaps of Curve's pools.
    pub curve: Vec<curve::CurveSwap>,
    /// Headers with their hashes.
    pub headers: Vec<tries::Header>,
    /// Walks down tries.
    pub walks: tries::Walks,
    /// Words of contracts, proven.
    pub proofs: proofs::Proofs,
    /// Rounds of oracles.
    pub feeds: Vec<feeds::Reading>,
    /// Hashes of pools' code.
    pub code: code::Codes,
}

/// Where numbers are from.
#[derive(Debug, Deserialize)]
pub struct Source {
    /// As cases name it.
    pub id: String,
    /// The public repository.
    pub repo: String,
    /// Its commit.
    pub commit: String,
    /// Its licence.
    pub licence: String,
}

/// What every file has: its kind, where its numbers are from, and the rest of it.
#[derive(Debug, Deserialize)]
pub struct File<T> {
    schema: String,
    /// Where its numbers are from.
    pub sources: Vec<Source>,
    /// What is in it.
    #[serde(flatten)]
    pub content: T,
}

/// The content of a file that has nothing but cases.
#[derive(Debug, Deserialize)]
struct Cases<T> {
    cases: Vec<T>,
}

impl Facts {
    /// Reads the files of a folder.
    pub fn from_folder(folder: &Path) -> Result<Self, FactsError> {
        if !folder.is_dir() {
            return Err(FactsError::NoFolder(folder.to_owned()));
        }
        Ok(Self {
            swaps: read_file::<Cases<_>>(folder, "swaps")?.content.cases,
            curve: read_file::<Cases<_>>(folder, "curve")?.content.cases,
            headers: read_file::<Cases<_>>(folder, "headers")?.content.cases,
            walks: read_file(folder, "walks")?.content,
            proofs: read_file(folder, "proofs")?.content,
            feeds: read_file::<Cases<_>>(folder, "feeds")?.content.cases,
            code: read_file(folder, "code")?.content,
        })
    }
}

/// The file of a kind.
pub fn read_file<T: DeserializeOwned>(folder: &Path, kind: &str) -> Result<File<T>, FactsError> {
    let path = folder.join(format!("{kind}.json"));
    let bytes = read_bytes(&path)?;
    let damaged = |reason: String| FactsError::Damaged { path: path.clone(), reason };
    let file: File<T> =
        serde_json::from_slice(&bytes).map_err(|error| damaged(error.to_string()))?;
    let expected = format!("exitgap.reality.{kind}/1");
    if file.schema != expected {
        return Err(damaged(format!("its schema is {:?} instead of {expected:?}", file.schema)));
    }
    if file.sources.iter().any(|source| source.repo.is_empty() || source.licence.is_empty()) {
        return Err(damaged("a source has no repository or no licence".to_owned()));
    }
    Ok(file)
}

/// The bytes of a file.
pub(crate) fn read_bytes(path: &Path) -> Result<Vec<u8>, FactsError> {
    fs::read(path).map_err(|error| FactsError::Unreadable { path: path.to_owned(), error })
}
