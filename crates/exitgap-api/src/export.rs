//! Closed days as Parquet: a list of the days, with the hashes to verify them.

use exitgap_core::ids::{DocumentHash, PoolId};
use exitgap_core::log_folder::days::{DayFile, DayManifest, DaysFile, FileRef};
use serde::{Deserialize, Serialize};

/// Closed days of a log.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Export {
    /// The signed checkpoint of the log of days, signed with the log's own key. `null` until a day
    /// is closed and written.
    pub checkpoint: Option<String>,
    /// The number of days in that log.
    pub days_closed: u64,
    /// The requested days, ascending.
    pub days: Vec<ExportedDay>,
    /// The `from` of the next page. `null` on the last page.
    pub next_from: Option<String>,
}

/// A closed day.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ExportedDay {
    /// The day, UTC.
    pub day: String,
    /// The first slot of the day in the log.
    pub first_slot: u32,
    /// The last slot of the day.
    pub last_slot: u32,
    /// Pools that have rows.
    pub pools: u64,
    /// Rows: one per pool and slot.
    pub rows: u64,
    /// The URL of the manifest, which has all other details.
    pub manifest_url: String,
    /// The manifest's SHA-256. The log of days commits to it.
    pub manifest_sha256: String,
    /// The files. If pools were requested, only files with rows of those pools.
    pub files: Vec<ExportedFile>,
}

/// One file of a day.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ExportedFile {
    /// The file name.
    pub name: String,
    /// The URL.
    pub url: String,
    /// The size in bytes.
    pub bytes: u64,
    /// The number of rows.
    pub rows: u64,
    /// The SHA-256 of the file.
    pub sha256: String,
    /// The first pool in the file, in the order of the pool ids. `null` in the file of slots.
    pub first_pool: Option<String>,
    /// The last pool in the file.
    pub last_pool: Option<String>,
}

impl ExportedDay {
    /// A day from its manifest and the manifest's hash. `log_url` is the URL of the log's files.
    pub fn from_manifest(
        manifest: &DayManifest,
        hash: DocumentHash,
        log_url: &str,
        pools: &[PoolId],
    ) -> Self {
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
