//! What an audit of a day leaves unchecked, column by column, and the log of days that lies next to its folder.

use std::path::Path;

use exitgap_core::log_folder::days::{DayManifest, HistoryError};
use exitgap_core::series::Day;
use exitgap_core::tlog::{MAX_NOTE_BYTES, VerifierKey};

use super::fault::DayFault;
use super::log::read_history;
use super::rows::{OWN_FIGURES, figures_table};
use crate::folder::read_bytes;

/// Why columns were not checked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UncheckedReason {
    /// Days before the day are absent, or do not hold.
    DaysBefore,
    /// The day after it is absent, or does not hold.
    DayAfter,
    /// The signed log of days does not commit to the day, or is absent.
    LogOfDays,
}

impl UncheckedReason {
    /// The stable code.
    pub fn code(self) -> &'static str {
        match self {
            Self::DaysBefore => "days_before",
            Self::DayAfter => "day_after",
            Self::LogOfDays => "log_of_days",
        }
    }
}

/// Columns of a day, or fields of its manifest, that an audit did not check in every row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unchecked {
    /// `figures`, `slots` or `manifest`.
    pub file: &'static str,
    /// Their names.
    pub columns: Vec<String>,
    /// Why.
    pub reason: UncheckedReason,
    /// The same in words: what is needed.
    pub detail: String,
}

impl Unchecked {
    /// The columns over seven days.
    pub fn seven_days(detail: String) -> Self {
        let names = figures_table().into_iter().map(|column| column.name);
        let lowest = names.clone().take(OWN_FIGURES).filter(|name| name.contains("_7d_"));
        let columns = lowest.chain(names.skip(OWN_FIGURES + 1)).collect();
        Self { file: "figures", columns, reason: UncheckedReason::DaysBefore, detail }
    }

    /// The column of retractions.
    pub fn retractions(detail: String) -> Self {
        let names = figures_table().into_iter().map(|column| column.name);
        let columns = names.skip(OWN_FIGURES).take(1).collect();
        Self { file: "figures", columns, reason: UncheckedReason::DayAfter, detail }
    }

    /// What no checkpoint of the log is over.
    pub fn unsigned(detail: &str) -> [Self; 2] {
        [("slots", "checkpoint"), ("manifest", "keys")].map(|(file, column)| Self {
            file,
            columns: vec![column.to_owned()],
            reason: UncheckedReason::LogOfDays,
            detail: detail.to_owned(),
        })
    }
}

/// How many days the log of days has that commits to these bytes of a manifest. Inside, why it is not checked. `siblings` has
/// a folder for each day, and the log of days: as `days/` of a log's folder, or as days are exported.
pub fn check_log_of_days(
    siblings: Option<&Path>,
    day: Day,
    manifest: &[u8],
    keys: &[VerifierKey],
) -> Result<Result<u64, String>, DayFault> {
    let absent = "the signed log of days is not next to the day's folder";
    let Some(days) = siblings else { return Ok(Err(absent.to_owned())) };
    let Some(note) = ["checkpoint", "days-checkpoint"]
        .into_iter()
        .find_map(|name| read_bytes(&days.join(name), MAX_NOTE_BYTES as u64).ok().flatten())
    else {
        return Ok(Err(absent.to_owned()));
    };
    let wrong =
        |why: String| DayFault::new("log_of_days_invalid", format!("the log of days: {why}"));
    let note = String::from_utf8(note).map_err(|_| wrong("its checkpoint is not UTF-8".into()))?;
    let history = match read_history(days, &note, keys) {
        Ok(history) => history,
        Err(HistoryError::Tile(why)) => return Ok(Err(format!("the log of days: {why}"))),
        // Another log's, or signed by a key that took the place of those that the reader trusts.
        Err(error @ (HistoryError::OtherLog { .. } | HistoryError::NotTrusted { .. })) => {
            return Ok(Err(error.to_string()));
        }
        Err(error) => return Err(wrong(error.to_string())),
    };
    let Some(leaf) = history.leaf(day) else {
        let days = history.checkpoint.size;
        return Ok(Err(format!(
            "the signed log of days has {days} days, and {day} is none of them"
        )));
    };
    let (found, expected) = (DayManifest::hash_of(manifest), leaf.manifest);
    if found != expected {
        let detail = format!(
            "manifest.json has the hash {found}, but the signed log of days has {expected}"
        );
        return Err(DayFault::new("log_of_days_mismatch", detail));
    }
    Ok(Ok(history.checkpoint.size))
}
