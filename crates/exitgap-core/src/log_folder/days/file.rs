//! The paths of the files of closed days in a log's folder.

use core::fmt;
use core::str::FromStr;

use crate::log_folder::NoSuchFile;
use crate::series::Day;
use crate::tlog::Tile;

/// A file of one day. `Display` gives its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum DayFile {
    /// The list of the day's files, and the values that they are checked against.
    Manifest,
    /// One row per slot: its leaf, and the checkpoint up to it.
    Slots,
    /// The figures of a range of pools.
    Figures(u16),
    /// The heads and snapshots of a range of pools.
    Snapshots(u16),
}

/// A file below `days/`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DaysFile {
    /// The newest signed checkpoint of the log of days.
    Checkpoint,
    /// The keys of that log, one per line.
    VerifierKey,
    /// A tile of that log.
    Tile(Tile),
    /// A file of a day.
    Day(Day, DayFile),
}

impl DaysFile {
    /// The folder inside a log's folder that contains them.
    pub const FOLDER: &str = "days";
}

impl fmt::Display for DayFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Manifest => f.write_str("manifest.json"),
            Self::Slots => f.write_str("slots.parquet"),
            Self::Figures(range) => write!(f, "figures-{range:04}.parquet"),
            Self::Snapshots(range) => write!(f, "snapshots-{range:04}.parquet"),
        }
    }
}

impl FromStr for DayFile {
    type Err = NoSuchFile;

    /// Parses a name. Each file has exactly one valid name.
    fn from_str(name: &str) -> Result<Self, NoSuchFile> {
        let range = |prefix: &str| {
            let digits = name.strip_prefix(prefix)?.strip_suffix(".parquet")?;
            digits.parse().ok()
        };
        let file = match name {
            "manifest.json" => Some(Self::Manifest),
            "slots.parquet" => Some(Self::Slots),
            _ => range("figures-")
                .map(Self::Figures)
                .or_else(|| range("snapshots-").map(Self::Snapshots)),
        };
        file.filter(|file| file.to_string() == name).ok_or(NoSuchFile)
    }
}

impl fmt::Display for DaysFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(Self::FOLDER)?;
        match self {
            Self::Checkpoint => f.write_str("/checkpoint"),
            Self::VerifierKey => f.write_str("/verifier-key"),
            Self::Tile(tile) => write!(f, "/{}", tile.path()),
            Self::Day(day, file) => write!(f, "/{day}/{file}"),
        }
    }
}

impl FromStr for DaysFile {
    type Err = NoSuchFile;

    /// Parses a path. Only canonical paths are accepted, so a path cannot leave the folder.
    fn from_str(path: &str) -> Result<Self, NoSuchFile> {
        let (folder, file) = path.split_once('/').ok_or(NoSuchFile)?;
        if folder != Self::FOLDER {
            return Err(NoSuchFile);
        }
        match file.split_once('/') {
            None if file == "checkpoint" => Ok(Self::Checkpoint),
            None if file == "verifier-key" => Ok(Self::VerifierKey),
            Some(("tile", _)) => file.parse().map(Self::Tile).map_err(|_| NoSuchFile),
            Some((date, name)) => {
                let day = date.parse().map_err(|_| NoSuchFile)?;
                Ok(Self::Day(day, name.parse()?))
            }
            None => Err(NoSuchFile),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_path_has_one_spelling_and_stays_inside_the_folder() {
        for path in [
            "days/checkpoint",
            "days/verifier-key",
            "days/tile/0/000.p/7",
            "days/tile/entries/000.p/7",
            "days/2026-11-26/manifest.json",
            "days/2026-11-26/slots.parquet",
            "days/2026-11-26/figures-0000.parquet",
            "days/2026-11-26/snapshots-4096.parquet",
        ] {
            assert_eq!(path.parse::<DaysFile>().map(|file| file.to_string()), Ok(path.to_owned()));
        }
        for path in [
            "days",
            "days/",
            "checkpoint",
            "days/predecessor",
            "days/2026-11-26",
            "days/2026-11-26/",
            "days/2026-13-26/manifest.json",
            "days/2026-11-26/manifest.json.part",
            "days/2026-11-26/../manifest.json",
            "days/2026-11-26/figures-0.parquet",
            "days/2026-11-26/figures-+001.parquet",
            "days/2026-11-26/figures-70000.parquet",
            "days/../2026-11-26/manifest.json",
        ] {
            assert_eq!(path.parse::<DaysFile>(), Err(NoSuchFile), "{path}");
        }
    }
}
