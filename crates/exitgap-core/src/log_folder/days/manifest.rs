//! A day's manifest: its files with their hashes, and the values that its rows are checked against.

use sha2::{Digest, Sha256};

use super::{DayFile, MAX_DAY_FILE_BYTES, MAX_DAY_MANIFEST_BYTES, MAX_RANGE_POOLS};
use crate::Newer;
use crate::ids::{DocumentHash, PoolId};
use crate::json::{DocumentError, VERSION, from_canonical, to_canonical_within, wire_struct};
use crate::series::{Day, NoDay, Slot};
use crate::tlog::{Checkpoint, CheckpointError, Frontier, Hash, VerifierKey};

/// A file of a day.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileRef {
    /// The kind of file.
    pub file: DayFile,
    /// The SHA-256 of its bytes.
    pub sha256: DocumentHash,
    /// Its size in bytes.
    pub bytes: u64,
    /// The number of its rows.
    pub rows: u64,
    /// The pools of its rows; `None` for the file of slots.
    pub range: Option<RangeRef>,
}

impl FileRef {
    /// The hash of a file's bytes.
    pub fn hash_of(bytes: &[u8]) -> DocumentHash {
        DocumentHash(Sha256::digest(bytes).into())
    }
}

/// Pools that are consecutive in the order of their ids as text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RangeRef {
    /// The first pool.
    pub first: PoolId,
    /// The last pool.
    pub last: PoolId,
    /// The number of pools.
    pub pools: u32,
}

impl RangeRef {
    /// Whether a pool belongs to the range if the day has it.
    pub fn may_have(&self, pool: &PoolId) -> bool {
        let [first, last, pool] = [&self.first, &self.last, pool].map(ToString::to_string);
        (first..=last).contains(&pool)
    }
}

/// A closed day of a log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DayManifest {
    /// The day.
    pub day: Day,
    /// The first slot of the day that the log has: midnight, except on the log's first day. The last slot is always the
    /// day's last.
    pub first: Slot,
    /// The signed checkpoint of the log up to the day's last slot.
    pub checkpoint: String,
    /// The log's tree before `first`: the roots of its complete subtrees, largest first.
    pub before: Vec<Hash>,
    /// The keys of the log, oldest first.
    pub keys: Vec<VerifierKey>,
    /// The file of slots, followed by the file of figures and the file of snapshots of each range of pools.
    pub files: Vec<FileRef>,
}

/// Why bytes are not a day's manifest.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DayManifestError {
    /// The bytes are not a canonical document of this kind.
    #[error("not a manifest of a day: {0}")]
    Document(#[from] DocumentError),
    /// Its day is not valid.
    #[error("not a manifest of a day: {0}")]
    Day(#[from] NoDay),
    /// Its checkpoint cannot be parsed.
    #[error("its checkpoint: {0}")]
    Checkpoint(#[from] CheckpointError),
    /// A field has an invalid value.
    #[error("{field}: {reason}")]
    Field {
        /// The field.
        field: &'static str,
        /// The reason.
        reason: String,
    },
}

impl DayManifestError {
    /// The later version that wrote it, if that is the cause of the error.
    pub fn newer(&self) -> Option<Newer> {
        match self {
            Self::Document(DocumentError::Newer(newer)) => Some(*newer),
            _ => None,
        }
    }
}

struct WireFile {
    name: String,
    sha256: DocumentHash,
    bytes: u64,
    rows: u64,
    first_pool: Option<PoolId>,
    last_pool: Option<PoolId>,
    pools: Option<u32>,
}

wire_struct!(WireFile { name, sha256, bytes, rows; optional first_pool, last_pool, pools });

struct WireManifest {
    v: u32,
    day: String,
    first_slot: Slot,
    checkpoint: String,
    before: Vec<String>,
    keys: Vec<String>,
    files: Vec<WireFile>,
}

wire_struct!(WireManifest { v, day, first_slot, checkpoint, before, keys, files });

fn wrong(field: &'static str, reason: impl Into<String>) -> DayManifestError {
    DayManifestError::Field { field, reason: reason.into() }
}

impl DayManifest {
    /// The canonical bytes, if parsing them gives exactly this manifest.
    pub fn to_canonical(&self) -> Result<Vec<u8>, DayManifestError> {
        let files = self.files.iter().map(|file| WireFile {
            name: file.file.to_string(),
            sha256: file.sha256,
            bytes: file.bytes,
            rows: file.rows,
            first_pool: file.range.as_ref().map(|range| range.first.clone()),
            last_pool: file.range.as_ref().map(|range| range.last.clone()),
            pools: file.range.as_ref().map(|range| range.pools),
        });
        let wire = WireManifest {
            v: VERSION,
            day: self.day.to_string(),
            first_slot: self.first,
            checkpoint: self.checkpoint.clone(),
            before: self.before.iter().map(ToString::to_string).collect(),
            keys: self.keys.iter().map(ToString::to_string).collect(),
            files: files.collect(),
        };
        let bytes = to_canonical_within(&wire, MAX_DAY_MANIFEST_BYTES)?;
        self.check()?;
        Ok(bytes)
    }

    /// The hash that the log of days commits to.
    pub fn hash_of(canonical: &[u8]) -> DocumentHash {
        DocumentHash(Sha256::digest(canonical).into())
    }

    /// Parses and validates untrusted bytes. The checkpoint's signatures are not checked.
    pub fn from_canonical(bytes: &[u8]) -> Result<Self, DayManifestError> {
        let wire: WireManifest = from_canonical(bytes, MAX_DAY_MANIFEST_BYTES, "a day's manifest")?;
        let hash = |text: &String| Hash::from_base64(text);
        let before: Option<Vec<Hash>> = wire.before.iter().map(hash).collect();
        let keys = wire.keys.iter().map(|text| text.parse::<VerifierKey>());
        let keys = keys.collect::<Result<_, _>>().map_err(|error| wrong("keys", error.to_string()));
        let manifest = Self {
            day: wire.day.parse()?,
            first: wire.first_slot,
            checkpoint: wire.checkpoint,
            before: before.ok_or_else(|| wrong("before", "not all are 32 bytes of base64"))?,
            keys: keys?,
            files: wire.files.into_iter().map(file_of).collect::<Result<_, _>>()?,
        };
        manifest.check()?;
        Ok(manifest)
    }

    /// The number of the log's slots in the day.
    pub fn slots(&self) -> u64 {
        u64::from(self.day.last().number() - self.first.number()) + 1
    }

    /// The number of pools.
    pub fn pools(&self) -> u64 {
        let ranges = self.ranges().map(|(_, snapshots)| snapshots);
        ranges.filter_map(|file| file.range.as_ref()).map(|range| u64::from(range.pools)).sum()
    }

    /// The number of heads. Each has a row of figures.
    pub fn rows(&self) -> u64 {
        self.ranges().map(|(_, snapshots)| snapshots.rows).sum()
    }

    /// The files of each range: figures and snapshots.
    pub fn ranges(&self) -> impl Iterator<Item = (&FileRef, &FileRef)> {
        let files = self.files.get(1..).unwrap_or_default();
        files.chunks_exact(2).map(|pair| (&pair[0], &pair[1]))
    }

    /// The files that contain rows of these pools, or all files.
    pub fn files_of<'a>(
        &'a self,
        pools: Option<&'a [PoolId]>,
    ) -> impl Iterator<Item = &'a FileRef> {
        self.files.iter().filter(move |file| match (&file.range, pools) {
            (Some(range), Some(pools)) => pools.iter().any(|pool| range.may_have(pool)),
            _ => true,
        })
    }

    /// The parsed checkpoint.
    pub fn log(&self) -> Result<Checkpoint, CheckpointError> {
        Checkpoint::from_note(&self.checkpoint).map(|(checkpoint, _)| checkpoint)
    }

    /// The log's tree before the day.
    pub fn tree(&self) -> Result<Frontier, DayManifestError> {
        let log = self.log()?;
        let before = log.origin.index_of(self.first);
        let tree = before.and_then(|size| Frontier::from_roots(size, self.before.clone()));
        tree.ok_or_else(|| wrong("before", "not the roots of a tree with that number of slots"))
    }

    fn check(&self) -> Result<(), DayManifestError> {
        if Day::from_slot(self.first) != self.day {
            return Err(wrong(
                "first_slot",
                format!("{} is not a slot of {}", self.first, self.day),
            ));
        }
        let log = self.log()?;
        let begins = log.origin.first_slot();
        if self.first != self.day.first().max(begins) {
            return Err(wrong("first_slot", "not the first slot of the day in the log"));
        }
        let expected = log.origin.index_of(self.day.last()).map(|index| index + 1);
        if expected != Some(log.size) {
            return Err(wrong("checkpoint", "not the checkpoint of the day's last slot"));
        }
        self.tree()?;
        self.check_files()
    }

    /// Checks which files exist, for which pools, and that their numbers of rows are possible.
    fn check_files(&self) -> Result<(), DayManifestError> {
        let Some((slots, rest)) = self.files.split_first() else {
            return Err(wrong("files", "none"));
        };
        if (slots.file, slots.rows) != (DayFile::Slots, self.slots()) || slots.range.is_some() {
            return Err(wrong(
                "files",
                format!("the first file is not slots.parquet with {} rows", self.slots()),
            ));
        }
        if !rest.len().is_multiple_of(2) {
            return Err(wrong("files", "each range of pools must have two files"));
        }
        let mut last: Option<String> = None;
        for (number, (figures, snapshots)) in (0..).zip(self.ranges()) {
            let named = (figures.file, snapshots.file);
            if named != (DayFile::Figures(number), DayFile::Snapshots(number)) {
                let reason =
                    format!("{} and {} are not the files of range {number}", named.0, named.1);
                return Err(wrong("files", reason));
            }
            let (Some(range), true) = (&snapshots.range, figures.range == snapshots.range) else {
                return Err(wrong(
                    "files",
                    format!("the two files of range {number} do not have the same pools"),
                ));
            };
            let pools = u64::from(range.pools);
            let rows = pools..=pools * self.slots();
            let fits = (1..=MAX_RANGE_POOLS).contains(&range.pools)
                && figures.rows == snapshots.rows
                && rows.contains(&snapshots.rows);
            let (first, end) = (range.first.to_string(), range.last.to_string());
            let follows = last.is_none_or(|last| last < first);
            let ordered = if range.pools == 1 { first == end } else { first < end };
            if !(fits && follows && ordered) {
                return Err(wrong(
                    "files",
                    format!("range {number} has an invalid number or order of pools or rows"),
                ));
            }
            last = Some(end);
        }
        match self.files.iter().find(|file| file.bytes > MAX_DAY_FILE_BYTES) {
            Some(file) => {
                Err(wrong("files", format!("{} is larger than the maximum file size", file.file)))
            }
            None => Ok(()),
        }
    }
}

fn file_of(wire: WireFile) -> Result<FileRef, DayManifestError> {
    let WireFile { name, sha256, bytes, rows, first_pool, last_pool, pools } = wire;
    let file = name.parse().ok().filter(|file| *file != DayFile::Manifest);
    let shown = || name.chars().take(60).collect::<String>();
    let file =
        file.ok_or_else(|| wrong("files", format!("{:?} is not a file of a day", shown())))?;
    let range = match (first_pool, last_pool, pools) {
        (Some(first), Some(last), Some(pools)) => Some(RangeRef { first, last, pools }),
        (None, None, None) => None,
        _ => return Err(wrong("files", format!("{name} gives only a part of its range"))),
    };
    Ok(FileRef { file, sha256, bytes, rows, range })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tlog::{Origin, SignerKey, leaf_hash};

    fn pool(digit: char) -> PoolId {
        format!("anvil:0x{}", digit.to_string().repeat(40)).parse().unwrap()
    }

    /// The second day of a log that began at 12:00 of the first.
    fn manifest() -> DayManifest {
        let first = Slot::new(u64::from(Slot::FIRST.number()) + 144).unwrap();
        let origin = Origin::new("exitgap.example/log", first).unwrap();
        let key = SignerKey::from_seed(&origin.to_string(), [7; 32]).unwrap();
        let size = 144 + 288;
        let checkpoint = Checkpoint { origin, size, root: leaf_hash(b""), extensions: Vec::new() };
        let file = |file, rows, range| FileRef {
            file,
            sha256: DocumentHash([9; 32]),
            bytes: 40,
            rows,
            range,
        };
        let range =
            |first, last, pools| Some(RangeRef { first: pool(first), last: pool(last), pools });
        DayManifest {
            day: "2026-08-23".parse().unwrap(),
            first: "2026-08-23".parse::<Day>().unwrap().first(),
            checkpoint: key.sign(&checkpoint.to_text()).unwrap(),
            before: vec![leaf_hash(b"a"), leaf_hash(b"b")],
            keys: vec![key.verifier()],
            files: vec![
                file(DayFile::Slots, 288, None),
                file(DayFile::Figures(0), 300, range('a', 'b', 2)),
                file(DayFile::Snapshots(0), 300, range('a', 'b', 2)),
                file(DayFile::Figures(1), 288, range('c', 'c', 1)),
                file(DayFile::Snapshots(1), 288, range('c', 'c', 1)),
            ],
        }
    }

    #[test]
    fn a_manifest_comes_back_as_it_was_and_counts_what_it_has() {
        let manifest = manifest();
        let bytes = manifest.to_canonical().unwrap();
        assert_eq!(DayManifest::from_canonical(&bytes), Ok(manifest.clone()));
        assert_eq!((manifest.slots(), manifest.pools(), manifest.rows()), (288, 3, 588));
        assert_eq!(manifest.tree().unwrap().size(), 144);
        let pools = [pool('c')];
        let needed: Vec<String> =
            manifest.files_of(Some(&pools)).map(|file| file.file.to_string()).collect();
        let expected = ["slots.parquet", "figures-0001.parquet", "snapshots-0001.parquet"];
        assert_eq!(needed, expected);
        assert_eq!(manifest.files_of(None).count(), 5);
    }

    type Change = fn(&mut DayManifest);

    #[test]
    fn what_a_manifest_says_goes_together() {
        let refused = |change: Change| {
            let mut changed = manifest();
            change(&mut changed);
            changed.to_canonical().unwrap_err().to_string()
        };
        let cases: [(Change, &str); 12] = [
            (
                |m| m.day = "2026-08-24".parse().unwrap(),
                "first_slot: 2026-08-23T00:00:00Z is not a slot",
            ),
            (
                |m| m.first = m.first.next().unwrap(),
                "first_slot: not the first slot of the day in the log",
            ),
            (
                |m| m.checkpoint = m.checkpoint.replace("\n432\n", "\n431\n"),
                "checkpoint: not the checkpoint of",
            ),
            (|m| m.checkpoint.clear(), "its checkpoint: "),
            (|m| m.before.truncate(1), "before: not the roots"),
            (|m| m.files.clear(), "files: none"),
            (|m| m.files[0].rows = 287, "files: the first file is not slots.parquet with 288 rows"),
            (|m| m.files.truncate(4), "files: each range of pools must have two files"),
            (|m| m.files.swap(1, 2), "are not the files of range 0"),
            (|m| m.files[1].rows = 299, "range 0 has an invalid number"),
            (|m| m.files.swap(1, 3), "are not the files of range 0"),
            (|m| m.files[4].range = None, "the two files of range 1 do not"),
        ];
        for (change, expected) in cases {
            let error = refused(change);
            assert!(error.contains(expected), "{error:?} does not say {expected:?}");
        }
        let bytes = String::from_utf8(manifest().to_canonical().unwrap()).unwrap();
        for (from, to, expected) in [
            ("\"v\":1", "\"v\":2", "version"),
            ("slots.parquet", "slots.csv", "is not a file of a day"),
            ("slots.parquet", "manifest.json", "is not a file of a day"),
            ("\"day\":\"2026-08-23", "\"day\":\"2026-08-33", "expected a date"),
            (",\"pools\":1,", ",", "gives only a part of its range"),
        ] {
            let changed = bytes.replacen(from, to, 1);
            assert_ne!(changed, bytes, "{from}");
            let error = DayManifest::from_canonical(changed.as_bytes()).unwrap_err().to_string();
            assert!(error.contains(expected), "{error:?} does not say {expected:?}");
        }
    }
}
