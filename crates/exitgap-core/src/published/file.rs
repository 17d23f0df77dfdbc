//! The files of a published log's folder, by their paths there.

use core::fmt;
use core::str::FromStr;

use crate::ids::DocumentHash;
use crate::series::Slot;
use crate::tlog::Tile;

/// A file of the folder. Its one path is what it displays as, and is read back from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LogFile {
    /// The newest signed checkpoint.
    Checkpoint,
    /// The log's keys, a line each.
    VerifierKey,
    /// What the log succeeds, where it succeeds one.
    Predecessor,
    /// The log that succeeds this one, once it has ended.
    SupersededBy,
    /// A slot's manifest.
    Slot(Slot),
    /// A part of a slot, or of several.
    Part(DocumentHash),
    /// What pools logged, to which a slot's heads commit, packed.
    Fills(Slot),
    /// A tile of the log's tree, or of its leaves.
    Tile(Tile),
}

impl LogFile {
    /// Their paths, for people.
    pub const PATHS: &str = "checkpoint, verifier-key, predecessor, superseded-by, tile/<level>/<index>, \
        tile/entries/<index>, slots/<slot>.jsonl, parts/<sha256>, fills/<slot>.zst";
}

impl fmt::Display for LogFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Checkpoint => f.write_str("checkpoint"),
            Self::VerifierKey => f.write_str("verifier-key"),
            Self::Predecessor => f.write_str("predecessor"),
            Self::SupersededBy => f.write_str("superseded-by"),
            Self::Slot(slot) => write!(f, "slots/{}.jsonl", slot.number()),
            Self::Part(sha256) => {
                let hash = sha256.to_string();
                write!(f, "parts/{}", hash.strip_prefix("0x").unwrap_or(&hash))
            }
            Self::Fills(slot) => write!(f, "fills/{}.zst", slot.number()),
            Self::Tile(tile) => f.write_str(&tile.path()),
        }
    }
}

/// A path at which the folder of a log never has a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the log has no such file")]
pub struct NoSuchFile;

impl FromStr for LogFile {
    type Err = NoSuchFile;

    /// Reads the one spelling of a path. Nothing else passes: no part of it begins with a dot, so that
    /// it stays inside the folder.
    fn from_str(path: &str) -> Result<Self, NoSuchFile> {
        let slot = |number: &str| {
            let slot = number.parse().ok().and_then(|number| Slot::new(number).ok());
            slot.filter(|slot| slot.number().to_string() == number).map(Self::Slot)
        };
        let file = match path.split_once('/') {
            None => match path {
                "checkpoint" => Some(Self::Checkpoint),
                "verifier-key" => Some(Self::VerifierKey),
                "predecessor" => Some(Self::Predecessor),
                "superseded-by" => Some(Self::SupersededBy),
                _ => None,
            },
            Some(("slots", file)) => file.strip_suffix(".jsonl").and_then(slot),
            Some(("parts", hash)) => format!("0x{hash}").parse().ok().map(Self::Part),
            Some(("fills", file)) => match file.strip_suffix(".zst").and_then(slot) {
                Some(Self::Slot(slot)) => Some(Self::Fills(slot)),
                _ => None,
            },
            Some(("tile", _)) => path.parse().ok().map(Self::Tile),
            Some(_) => None,
        };
        file.ok_or(NoSuchFile)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_path_has_one_spelling_and_stays_inside_the_folder() {
        for path in [
            "checkpoint",
            "verifier-key",
            "predecessor",
            "superseded-by",
            "slots/5957856.jsonl",
            "parts/00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff",
            "fills/5957856.zst",
            "tile/0/000",
            "tile/0/x001/234",
            "tile/1/000.p/7",
            "tile/entries/x001/234.p/255",
        ] {
            assert_eq!(path.parse::<LogFile>().map(|file| file.to_string()), Ok(path.to_owned()));
        }
        for path in [
            "",
            "../exitgap.key",
            "slots/../../exitgap.key",
            "slots/..jsonl",
            "slots/05957856.jsonl",
            "slots/+5957856.jsonl",
            "slots/1.jsonl",
            "slots/5957856.jsonl/..",
            "parts/00112233445566778899aabbccddeeff00112233445566778899aabbccddee/.",
            "parts/00112233445566778899AABBCCDDEEFF00112233445566778899aabbccddeeff",
            "parts/..",
            "fills/..",
            "fills/05957856.zst",
            "fills/5957856",
            "tile/0/..",
            "tile/../checkpoint",
            "tile/0//etc/passwd",
            "tile/0/000.p/..",
            "tile/0/000.p/7/8",
            "checkpoint/",
            "/checkpoint",
            "slots/1\0.jsonl",
            "tile/0/x1/x2/x3/x4/5",
        ] {
            assert_eq!(path.parse::<LogFile>(), Err(NoSuchFile), "{path}");
        }
    }
}
