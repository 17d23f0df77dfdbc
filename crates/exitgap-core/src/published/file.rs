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
    /// What a pool logged in some blocks, packed; the name is that of the document in it.
    Fills(DocumentHash),
    /// A tile of the log's tree, or of its leaves.
    Tile(Tile),
}

impl LogFile {
    /// Their paths, for people.
    pub const PATHS: &str = "checkpoint, verifier-key, predecessor, superseded-by, tile/<level>/<index>, \
        tile/entries/<index>, slots/<slot>.jsonl, parts/<sha256>, fills/<sha256>";
}

impl fmt::Display for LogFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Checkpoint => f.write_str("checkpoint"),
            Self::VerifierKey => f.write_str("verifier-key"),
            Self::Predecessor => f.write_str("predecessor"),
            Self::SupersededBy => f.write_str("superseded-by"),
            Self::Slot(slot) => write!(f, "slots/{}.jsonl", slot.number()),
            Self::Part(sha256) => write!(f, "parts/{}", digits(sha256)),
            Self::Fills(sha256) => write!(f, "fills/{}", digits(sha256)),
            Self::Tile(tile) => f.write_str(&tile.path()),
        }
    }
}

/// The hash without what says that it is one.
fn digits(hash: &DocumentHash) -> String {
    let hash = hash.to_string();
    hash.strip_prefix("0x").unwrap_or(&hash).to_owned()
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
            Some(("fills", hash)) => format!("0x{hash}").parse().ok().map(Self::Fills),
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
            "fills/00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff",
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
