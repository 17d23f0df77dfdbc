//! The files in a published log's folder, by their paths.

use core::fmt;
use core::str::FromStr;

use super::days::{DayFile, DaysFile, MAX_DAY_FILE_BYTES};
use super::{MAX_PART_BYTES, NoSuchFile};
use crate::ids::{ChainSlug, Contract, DocumentHash};
use crate::proof::Reach;
use crate::series::Slot;
use crate::tlog::Tile;

/// A file in the folder. `Display` writes its path and `FromStr` parses it; each file has exactly one path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LogFile {
    /// The newest signed checkpoint.
    Checkpoint,
    /// The log's keys, one per line.
    VerifierKey,
    /// The log that this log succeeds, if there is one.
    Predecessor,
    /// The log that succeeds this one, after this log has ended.
    SupersededBy,
    /// The pools for which token 1 is sold if a request does not name a token.
    DefaultBases,
    /// A slot's manifest.
    Slot(Slot),
    /// A part of one or more slots.
    Part(DocumentHash),
    /// The pool logs that a slot's heads commit to, compressed.
    Fills(Slot),
    /// The receipts of paid estimates that a slot's heads commit to, compressed.
    Issued(Slot),
    /// A tile of the log's tree or of its leaves.
    Tile(Tile),
    /// A state proof that is kept permanently.
    Proof(ProofName),
    /// The block hashes of a chain's day, proven from a newer block. The day is counted from 1970-01-01 UTC.
    Anchors(ChainSlug, u32),
    /// The differences between a slot in another operator's log and in this one. The other log is named by its origin's
    /// SHA-256.
    PeerSlot(DocumentHash, Slot),
    /// The newest checkpoint of another operator's log that was compared with this one.
    PeerCheckpoint(DocumentHash),
    /// A file of a closed day, or of the log of days that commits to it.
    Days(DaysFile),
}

/// The name of a state proof that an operator keeps.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ProofName {
    /// The contract that holds the pool, or all of its pools.
    pub contract: Contract,
    /// The slot.
    pub slot: Slot,
    /// How much of the pool it proves.
    pub reach: Reach,
}

impl fmt::Display for ProofName {
    /// Writes its path in a log's folder.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { contract, slot, reach } = self;
        let end = match reach {
            Reach::Figures => "egp",
            Reach::Whole => "whole.egp",
        };
        write!(f, "proofs/{contract}/{}.{end}", slot.number())
    }
}

impl LogFile {
    /// All path forms, for error messages.
    pub const PATHS: &str = "checkpoint, verifier-key, predecessor, superseded-by, default-bases, tile/<level>/<index>, \
        tile/entries/<index>, slots/<slot>.jsonl, parts/<sha256>, fills/<slot>.zst, issued/<slot>.zst, proofs/<contract>/<slot>.egp, \
        proofs/<contract>/<slot>.whole.egp, anchors/<chain>/<day>, peers/<sha256>/checkpoint, peers/<sha256>/<slot>.json, days/checkpoint, \
        days/verifier-key, days/tile/<level>/<index>, days/<date>/manifest.json, days/<date>/slots.parquet, \
        days/<date>/figures-<range>.parquet, days/<date>/snapshots-<range>.parquet";

    /// The maximum size of the file, in bytes.
    pub fn max_bytes(&self) -> u64 {
        match self {
            Self::Days(DaysFile::Day(_, file)) if *file != DayFile::Manifest => MAX_DAY_FILE_BYTES,
            _ => MAX_PART_BYTES,
        }
    }
}

impl fmt::Display for LogFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Checkpoint => f.write_str("checkpoint"),
            Self::VerifierKey => f.write_str("verifier-key"),
            Self::Predecessor => f.write_str("predecessor"),
            Self::SupersededBy => f.write_str("superseded-by"),
            Self::DefaultBases => f.write_str("default-bases"),
            Self::Slot(slot) => write!(f, "slots/{}.jsonl", slot.number()),
            Self::Part(sha256) => {
                write!(f, "parts/{}", hex(sha256))
            }
            Self::Fills(slot) => write!(f, "fills/{}.zst", slot.number()),
            Self::Issued(slot) => write!(f, "issued/{}.zst", slot.number()),
            Self::Tile(tile) => f.write_str(&tile.path()),
            Self::Proof(name) => name.fmt(f),
            Self::Anchors(chain, day) => write!(f, "anchors/{}/{day}", chain.as_str()),
            Self::PeerSlot(peer, slot) => write!(f, "peers/{}/{}.json", hex(peer), slot.number()),
            Self::PeerCheckpoint(peer) => write!(f, "peers/{}/checkpoint", hex(peer)),
            Self::Days(file) => file.fmt(f),
        }
    }
}

impl FromStr for LogFile {
    type Err = NoSuchFile;

    /// Parses a path. Only canonical paths are accepted, and no component starts with a dot, so a path cannot leave the
    /// folder.
    fn from_str(path: &str) -> Result<Self, NoSuchFile> {
        let slot = |number: &str| slot_of(number).map(Self::Slot);
        let file = match path.split_once('/') {
            None => match path {
                "checkpoint" => Some(Self::Checkpoint),
                "verifier-key" => Some(Self::VerifierKey),
                "predecessor" => Some(Self::Predecessor),
                "superseded-by" => Some(Self::SupersededBy),
                "default-bases" => Some(Self::DefaultBases),
                _ => None,
            },
            Some(("slots", file)) => file.strip_suffix(".jsonl").and_then(slot),
            Some(("parts", hash)) => format!("0x{hash}").parse().ok().map(Self::Part),
            Some(("fills", file)) => file.strip_suffix(".zst").and_then(slot_of).map(Self::Fills),
            Some(("issued", file)) => file.strip_suffix(".zst").and_then(slot_of).map(Self::Issued),
            Some(("proofs", file)) => proof_of(file).map(Self::Proof),
            Some(("anchors", file)) => anchors_of(file),
            Some(("peers", file)) => peer_of(file),
            Some(("tile", _)) => path.parse().ok().map(Self::Tile),
            Some((DaysFile::FOLDER, _)) => path.parse().ok().map(Self::Days),
            Some(_) => None,
        };
        file.ok_or(NoSuchFile)
    }
}

fn slot_of(number: &str) -> Option<Slot> {
    let slot = number.parse().ok().and_then(|number| Slot::new(number).ok());
    slot.filter(|slot| slot.number().to_string() == number)
}

/// A hash's hex digits as used in paths.
fn hex(hash: &DocumentHash) -> String {
    let digits = hash.to_string();
    digits.strip_prefix("0x").map(str::to_owned).unwrap_or(digits)
}

/// `<sha256>/<slot>.json` or `<sha256>/checkpoint`.
fn peer_of(file: &str) -> Option<LogFile> {
    let (peer, file) = file.split_once('/')?;
    let peer = format!("0x{peer}").parse().ok()?;
    if file == "checkpoint" {
        return Some(LogFile::PeerCheckpoint(peer));
    }
    Some(LogFile::PeerSlot(peer, slot_of(file.strip_suffix(".json")?)?))
}

/// `<chain>/<day>`.
fn anchors_of(file: &str) -> Option<LogFile> {
    let (chain, number) = file.split_once('/')?;
    let day = number.parse().ok().filter(|day: &u32| day.to_string() == number)?;
    Some(LogFile::Anchors(chain.parse().ok()?, day))
}

/// `<contract>/<slot>.egp` or `<contract>/<slot>.whole.egp`.
fn proof_of(file: &str) -> Option<ProofName> {
    let (contract, file) = file.split_once('/')?;
    let file = file.strip_suffix(".egp")?;
    let (number, reach) = match file.strip_suffix(".whole") {
        Some(number) => (number, Reach::Whole),
        None => (file, Reach::Figures),
    };
    let name = ProofName { contract: contract.parse().ok()?, slot: slot_of(number)?, reach };
    // An address can be written in several ways, but a path only in one.
    (name.contract.to_string() == contract).then_some(name)
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
            "default-bases",
            "slots/5957856.jsonl",
            "parts/00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff",
            "fills/5957856.zst",
            "tile/0/000",
            "tile/0/x001/234",
            "tile/1/000.p/7",
            "tile/entries/x001/234.p/255",
            "proofs/anvil:0x00000000000000000000000000000000000000aa/5957856.egp",
            "proofs/anvil:0x00000000000000000000000000000000000000aa/5957856.whole.egp",
            "anchors/anvil/20687",
            "peers/00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff/checkpoint",
            "peers/00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff/5957856.json",
            "days/checkpoint",
            "days/2026-11-26/snapshots-0000.parquet",
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
            "anchors/..",
            "anchors/../20687",
            "anchors/anvil/..",
            "anchors/anvil/020687",
            "anchors/anvil/20687/..",
            "anchors/anvil/4294967296",
            "anchors/Anvil/20687",
            "proofs/..",
            "peers/..",
            "peers/../checkpoint",
            "peers/00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff/..",
            "proofs/../5957856.egp",
            "proofs/anvil:0x00000000000000000000000000000000000000aa/..",
            "proofs/anvil:0x00000000000000000000000000000000000000aa/05957856.egp",
            "proofs/anvil:0x00000000000000000000000000000000000000AA/5957856.egp",
            "proofs/anvil:0x00000000000000000000000000000000000000aa/5957856.full.egp",
        ] {
            assert_eq!(path.parse::<LogFile>(), Err(NoSuchFile), "{path}");
        }
    }
}
