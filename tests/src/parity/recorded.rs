//! The vectors in `tests/vectors/quotes/`: a small set of named pools that reaches every branch of the arithmetic,
//! recorded from the contracts by the package `exitgap-peers`.

use std::path::{Path, PathBuf};

use super::VectorError;
use super::vector::Vector;

/// The folder of the vectors.
pub fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("vectors/quotes")
}

/// All vectors with their file names, sorted.
pub fn read_all() -> Result<Vec<(String, Vector)>, VectorError> {
    let unreadable = |error| VectorError::Vector(format!("{}: {error}", folder().display()));
    let mut vectors = Vec::new();
    for entry in std::fs::read_dir(folder()).map_err(unreadable)? {
        let path = entry.map_err(unreadable)?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        vectors.push((name, Vector::read(&path)?));
    }
    vectors.sort_by(|a, b| a.0.cmp(&b.0));
    Ok(vectors)
}
