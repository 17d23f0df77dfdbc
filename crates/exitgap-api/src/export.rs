//! Closed days as Parquet: which there are, and the hashes that they are checked by.

use exitgap_core::ids::{DocumentHash, PoolId};
use exitgap_core::published::days::{DayFile, DayManifest, DaysFile, FileRef};
use serde::{Deserialize, Serialize};

/// Closed days of a log.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Export {
    /// The signed checkpoint of the log of days, under the log's own key; `null` while no day is closed and written.
    pub checkpoint: Option<String>,
    /// Days that it covers.
    pub days_closed: u64,
    /// The days asked for, ascending.
    pub days: Vec<ExportedDay>,
    /// `from` of the next page; `null` where this is the last.
    pub next_from: Option<String>,
}

/// A closed day.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ExportedDay {
    /// The day, UTC.
    pub day: String,
    /// The first of its slots that the log has.
    pub first_slot: u32,
    /// Its last slot.
    pub last_slot: u32,
    /// Pools that have rows.
    pub pools: u64,
    /// Rows: one for each pool and slot.
    pub rows: u64,
    /// Where the manifest is, which says everything else.
    pub manifest_url: String,
    /// The manifest's SHA-256, to which the log of days commits.
    pub manifest_sha256: String,
    /// The files; only those that have rows of the pools asked for.
    pub files: Vec<ExportedFile>,
}

/// A file of a day.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ExportedFile {
    /// Its name.
    pub name: String,
    /// Where it is.
    pub url: String,
    /// Its bytes.
    pub bytes: u64,
    /// Its rows.
    pub rows: u64,
    /// The SHA-256 of its bytes.
    pub sha256: String,
    /// The first of its pools, in the order of their ids; `null` in the file of slots.
    pub first_pool: Option<String>,
    /// The last of them.
    pub last_pool: Option<String>,
}

impl ExportedDay {
    /// A day by its manifest, whose hash this is. `log_url` is where the log's files are.
    pub fn of(manifest: &DayManifest, hash: DocumentHash, log_url: &str, pools: &[PoolId]) -> Self {
        let url = |file| format!("{log_url}/{}", DaysFile::Day(manifest.day, file));
        let file = |file: &FileRef| ExportedFile {
            name: file.file.to_string(),
            url: url(file.file),
            bytes: file.bytes,
            rows: file.rows,
            sha256: file.sha256.to_string(),
            first_pool: file.range.as_ref().map(|range| range.first.to_string()),
            last_pool: file.range.as_ref().map(|range| range.last.to_string()),
        };
        let pools = (!pools.is_empty()).then_some(pools);
        Self {
            day: manifest.day.to_string(),
            first_slot: manifest.first.number(),
            last_slot: manifest.day.last().number(),
            pools: manifest.pools(),
            rows: manifest.rows(),
            manifest_url: url(DayFile::Manifest),
            manifest_sha256: hash.to_string(),
            files: manifest.files_of(pools).map(file).collect(),
        }
    }
}
