//! Finds, decompresses and parses files. None is trusted: numbers and sizes are limited.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use exitgap_core::pools::vectors::{MAX_RECORDED_BYTES, RecordedFills};
use miniz_oxide::inflate::decompress_to_vec_zlib_with_limit;
use serde_json::Value;

/// Maximum number of files in a folder.
const MAX_FILES: usize = 1_000;

/// What is wrong with a file or folder.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{path}: {what}")]
pub struct FileError {
    path: String,
    what: String,
}

/// The content of a file.
#[derive(Debug)]
pub enum Content {
    /// Recorded fills.
    Fills(RecordedFills),
    /// JSON without recorded fills.
    Other,
}

impl FileError {
    pub(super) fn new(path: &Path, what: &str) -> Self {
        Self { path: path.display().to_string(), what: what.to_owned() }
    }
}

/// The folder's `.json` and `.json.zz` files, ordered by name.
pub(super) fn find(folder: &Path) -> Result<Vec<PathBuf>, FileError> {
    let failed = |error: std::io::Error| FileError::new(folder, &error.to_string());
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(failed)? {
        let entry = entry.map_err(failed)?;
        let path = entry.path();
        let ends = |path: &Path, extension| path.extension().is_some_and(|end| end == extension);
        let packed = || {
            ends(&path, "zz") && path.file_stem().is_some_and(|stem| ends(stem.as_ref(), "json"))
        };
        if (ends(&path, "json") || packed()) && path.is_file() {
            found.push(path);
        }
        if found.len() > MAX_FILES {
            return Err(FileError::new(folder, &format!("more than {MAX_FILES} files")));
        }
    }
    found.sort();
    Ok(found)
}

/// Reads a file.
pub(super) fn read(path: &Path) -> Result<Content, FileError> {
    let wrong = |what: &str| FileError::new(path, what);
    let mut bytes = Vec::new();
    let most = u64::try_from(MAX_RECORDED_BYTES).unwrap_or(u64::MAX);
    let file = File::open(path).map_err(|error| wrong(&error.to_string()))?;
    file.take(most + 1).read_to_end(&mut bytes).map_err(|error| wrong(&error.to_string()))?;
    let too_long = || wrong(&format!("more than {MAX_RECORDED_BYTES} bytes"));
    if bytes.len() > MAX_RECORDED_BYTES {
        return Err(too_long());
    }
    if path.extension().is_some_and(|extension| extension == "zz") {
        bytes = decompress_to_vec_zlib_with_limit(&bytes, MAX_RECORDED_BYTES).map_err(|error| {
            match error.status {
                miniz_oxide::inflate::TINFLStatus::HasMoreOutput => too_long(),
                status => wrong(&format!("does not unpack: {status:?}")),
            }
        })?;
    }
    match RecordedFills::from_bytes(&bytes) {
        Ok(fills) => Ok(Content::Fills(fills)),
        Err(_) if is_other(&bytes) => Ok(Content::Other),
        Err(error) => Err(wrong(&error.to_string())),
    }
}

/// Whether this is JSON without either of the members that files of recorded fills have.
fn is_other(bytes: &[u8]) -> bool {
    let value: Option<Value> = serde_json::from_slice(bytes).ok();
    value.is_some_and(|value| value.get("kind").is_none() && value.get("pools").is_none())
}
