//! The files of a slot in a published log's folder (`docs/log-folder-v1.md`): a manifest names
//! parts, a part's table holds heads and says where the bodies of their snapshots stand.
//!
//! **In scope**: the lines of manifests and tables, their limits, and how a body that refers to
//! an earlier one is found ([`Bodies`]). **Out of scope**, and who does it: opening files and
//! unpacking them (the store, the command line: a [`Folder`]).

mod bodies;

use crate::evidence::{MAX_HEAD_BYTES, MAX_LEAF_BYTES, SlotLeaf};
use crate::ids::{DocumentHash, PoolId};
use crate::json::{
    DocumentError, Wire, check_canonical, from_canonical, parse, to_canonical, wire_struct,
};
use crate::newer::Newer;
use crate::pools::MAX_STATE_BYTES;
use crate::snapshot::MAX_SNAPSHOT_BYTES;
use crate::tlog::MAX_NOTE_BYTES;
use sha2::{Digest, Sha256};

pub use bodies::{Bodies, BodyError, Folder, Place};

/// The most pools of a part.
pub const MAX_PART_POOLS: u32 = 250;

/// The most bytes of a part's file. One pool's largest body fits fifteen times.
pub const MAX_PART_BYTES: u64 = 64 << 20;

/// The most parts of a slot: a million pools.
pub const MAX_PARTS: usize = 4_096;

/// The most bytes of a line that names a part.
const MAX_PART_LINE_BYTES: usize = 512;

/// The most bytes of a line that holds a checkpoint: a note, all of it escaped, and its frame.
const MAX_CHECKPOINT_LINE_BYTES: usize = 2 * MAX_NOTE_BYTES + 64;

/// The most bytes of a manifest.
pub const MAX_MANIFEST_BYTES: usize =
    MAX_LEAF_BYTES + MAX_PARTS * MAX_PART_LINE_BYTES + MAX_CHECKPOINT_LINE_BYTES + 2;

/// The most bytes of a line that says where a body stands.
const MAX_FRAME_LINE_BYTES: usize = 128;

/// The most bytes of a part's table, unpacked.
pub const MAX_TABLE_BYTES: usize =
    MAX_PART_POOLS as usize * (MAX_HEAD_BYTES + MAX_FRAME_LINE_BYTES + 2);

/// How many slots before its own the body stands at most that another refers to: both are of one
/// day of 288 slots.
pub const MAX_BACK: u32 = 287;

/// The most steps from a body to the one that stands alone.
pub const MAX_STEPS: usize = 3;

/// A part of a slot, as its manifest names it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PartRef {
    /// The SHA-256 of the file, which names it.
    pub sha256: DocumentHash,
    /// The length of the file.
    pub bytes: u64,
    /// The pool of its first head.
    pub first: PoolId,
    /// How many heads it holds.
    pub pools: u32,
}

impl PartRef {
    /// The hash of a part's file.
    pub fn hash_of(file: &[u8]) -> DocumentHash {
        DocumentHash(Sha256::digest(file).into())
    }

    /// Where the part lies in the folder.
    pub fn path(&self) -> String {
        let hash = self.sha256.to_string();
        format!("parts/{}", hash.strip_prefix("0x").unwrap_or(&hash))
    }
}

struct PartLine {
    v: u32,
    sha256: DocumentHash,
    bytes: u64,
    first: PoolId,
    pools: u32,
}

wire_struct!(PartLine { v, sha256, bytes, first, pools });

struct CheckpointLine {
    checkpoint: String,
}

wire_struct!(CheckpointLine { checkpoint });

/// Where the body of a head's snapshot stands in its part, and what it refers to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FrameRef {
    /// How many slots before stands the body of the same pool that it refers to; 0: it stands
    /// alone.
    pub back: u32,
    /// The length of the frame.
    pub bytes: u32,
    /// The length of the snapshot's canonical bytes.
    pub snapshot: u32,
    /// The length of its state's, which follow.
    pub state: u32,
}

wire_struct!(FrameRef { back, bytes, snapshot, state });

impl FrameRef {
    /// Bytes of both documents.
    pub fn unpacked(&self) -> usize {
        self.snapshot as usize + self.state as usize
    }
}

/// What a slot was sealed with, and where its heads and bodies are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Manifest {
    /// The slot leaf's canonical bytes; a [`SlotLeaf`] only once they are read as one.
    pub leaf: Vec<u8>,
    /// The parts, in the order of pool ids.
    pub parts: Vec<PartRef>,
    /// The signed checkpoint of the log up to and with this slot.
    pub checkpoint: String,
}

/// Why bytes are not a manifest or a table.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PublishedError {
    /// More bytes than there may be.
    #[error("{found} bytes are more than the {most} that there may be")]
    TooLarge {
        /// Bytes found.
        found: usize,
        /// Bytes accepted.
        most: usize,
    },
    /// It ends before it is whole.
    #[error("it ends in line {line}, which should be {what} and a line break")]
    Ends {
        /// The line, from 1.
        line: usize,
        /// What should stand there.
        what: &'static str,
    },
    /// It does not end where it should.
    #[error("it goes on after its last line, {line}")]
    GoesOn {
        /// The last line, from 1.
        line: usize,
    },
    /// A line is not what it should be.
    #[error("line {line}, {what}: {error}")]
    Line {
        /// The line, from 1.
        line: usize,
        /// What should stand there.
        what: &'static str,
        /// What is wrong.
        error: DocumentError,
    },
    /// A number that is out of its bounds.
    #[error("line {line}: {field} is {found}, which is not from {least} to {most}")]
    Bounds {
        /// The line, from 1.
        line: usize,
        /// The field.
        field: &'static str,
        /// What it is.
        found: u64,
        /// The least it may be.
        least: u64,
        /// The most.
        most: u64,
    },
    /// Too many parts.
    #[error("a slot has 1 to {MAX_PARTS} parts, found {found} or more")]
    Parts {
        /// Parts found.
        found: usize,
    },
    /// The parts are not in the order of pool ids.
    #[error("line {line}: the part from {first} does not follow the one before it")]
    Order {
        /// The line, from 1.
        line: usize,
        /// The part's first pool.
        first: PoolId,
    },
    /// The parts hold more or fewer heads than the leaf commits to.
    #[error("the parts hold {found} heads, the leaf commits to {expected}")]
    Pools {
        /// Heads the leaf commits to.
        expected: u32,
        /// Heads in the parts.
        found: u64,
    },
    /// A part has more or fewer bodies than its heads name snapshots.
    #[error("the table says where {found} bodies stand, its heads name {expected} snapshots")]
    Frames {
        /// Snapshots named.
        expected: usize,
        /// Bodies found.
        found: usize,
    },
}

impl PublishedError {
    /// What a later version of exitgap made, where that is the reason.
    pub fn newer(&self) -> Option<Newer> {
        match self {
            Self::Line { error: DocumentError::Newer(newer), .. } => Some(*newer),
            _ => None,
        }
    }
}

/// Lines taken one after the other.
struct Lines<'a> {
    rest: &'a [u8],
    line: usize,
}

impl<'a> Lines<'a> {
    fn of(bytes: &'a [u8], most: usize) -> Result<Self, PublishedError> {
        let found = bytes.len();
        if found > most {
            return Err(PublishedError::TooLarge { found, most });
        }
        Ok(Self { rest: bytes, line: 0 })
    }

    fn next(&mut self, what: &'static str) -> Result<&'a [u8], PublishedError> {
        self.line += 1;
        let end = self.rest.iter().position(|byte| *byte == b'\n');
        let end = end.ok_or(PublishedError::Ends { line: self.line, what })?;
        let (line, rest) = self.rest.split_at(end);
        self.rest = rest.get(1..).unwrap_or_default();
        Ok(line)
    }

    fn wrong(&self, what: &'static str, error: DocumentError) -> PublishedError {
        PublishedError::Line { line: self.line, what, error }
    }

    fn within(
        &self,
        field: &'static str,
        found: u64,
        [least, most]: [u64; 2],
    ) -> Result<(), PublishedError> {
        if (least..=most).contains(&found) {
            return Ok(());
        }
        Err(PublishedError::Bounds { line: self.line, field, found, least, most })
    }
}

impl Manifest {
    /// The file's bytes.
    pub fn to_bytes(&self) -> Result<Vec<u8>, PublishedError> {
        if !(1..=MAX_PARTS).contains(&self.parts.len()) {
            return Err(PublishedError::Parts { found: self.parts.len() });
        }
        let mut bytes = [&self.leaf[..], b"\n"].concat();
        for (line, part) in (2..).zip(&self.parts) {
            let PartRef { sha256, bytes: length, ref first, pools } = *part;
            let line_of = PartLine { v: 1, sha256, bytes: length, first: first.clone(), pools };
            push_line(&mut bytes, line, "a part", &line_of)?;
        }
        let checkpoint = CheckpointLine { checkpoint: self.checkpoint.clone() };
        push_line(&mut bytes, self.parts.len() + 2, "the checkpoint", &checkpoint)?;
        Ok(bytes)
    }

    /// Reads and checks untrusted bytes. The leaf and the checkpoint are not looked into.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, PublishedError> {
        let mut lines = Lines::of(bytes, MAX_MANIFEST_BYTES)?;
        let leaf = lines.next("the slot leaf")?.to_vec();
        let mut parts: Vec<PartRef> = Vec::new();
        loop {
            let line = lines.next("a part or the checkpoint")?;
            if line.starts_with(br#"{"checkpoint":"#) {
                let what = "the checkpoint";
                let read: CheckpointLine = read_line(line, MAX_CHECKPOINT_LINE_BYTES)
                    .map_err(|error| lines.wrong(what, error))?;
                if parts.is_empty() {
                    return Err(PublishedError::Parts { found: 0 });
                }
                if !lines.rest.is_empty() {
                    return Err(PublishedError::GoesOn { line: lines.line });
                }
                return Ok(Self { leaf, parts, checkpoint: read.checkpoint });
            }
            if parts.len() == MAX_PARTS {
                return Err(PublishedError::Parts { found: MAX_PARTS + 1 });
            }
            let read: PartLine = from_canonical(line, MAX_PART_LINE_BYTES, "a part's line")
                .map_err(|error| lines.wrong("a part", error))?;
            let PartLine { sha256, bytes, first, pools, .. } = read;
            lines.within("bytes", bytes, [5, MAX_PART_BYTES])?;
            lines.within("pools", pools.into(), [1, MAX_PART_POOLS.into()])?;
            // The order is that of the ids as text.
            let before = parts.last().map(|part| part.first.to_string());
            if before.is_some_and(|before| before >= first.to_string()) {
                return Err(PublishedError::Order { line: lines.line, first });
            }
            parts.push(PartRef { sha256, bytes, first, pools });
        }
    }

    /// Requires that the parts hold as many heads as the leaf commits to.
    pub fn check_pools(&self, leaf: &SlotLeaf) -> Result<(), PublishedError> {
        let found = self.parts.iter().map(|part| u64::from(part.pools)).sum();
        if found == u64::from(leaf.pools) {
            return Ok(());
        }
        Err(PublishedError::Pools { expected: leaf.pools, found })
    }

    /// The part that holds the pool's head, where there is one.
    pub fn part_of(&self, pool: &PoolId) -> Option<&PartRef> {
        let name = pool.to_string();
        let after = self.parts.partition_point(|part| part.first.to_string() <= name);
        self.parts.get(after.checked_sub(1)?)
    }
}

/// A part's table: its heads, and where the bodies of those stand that name a snapshot.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Table {
    /// The heads' canonical bytes, in the order of pool ids.
    pub heads: Vec<Vec<u8>>,
    /// One for each head that names a snapshot, in their order.
    pub frames: Vec<FrameRef>,
}

impl Table {
    /// The table's bytes, not yet packed.
    pub fn to_bytes(&self) -> Result<Vec<u8>, PublishedError> {
        let mut bytes = Vec::new();
        for head in &self.heads {
            bytes.extend_from_slice(head);
            bytes.push(b'\n');
        }
        for (line, frame) in (self.heads.len() + 1..).zip(&self.frames) {
            push_line(&mut bytes, line, "a body's place", frame)?;
        }
        Ok(bytes)
    }

    /// Reads the unpacked table of a part of so many pools. The heads are not looked into.
    pub fn from_bytes(bytes: &[u8], pools: u32) -> Result<Self, PublishedError> {
        let mut lines = Lines::of(bytes, MAX_TABLE_BYTES)?;
        let pools = pools.min(MAX_PART_POOLS);
        let mut heads = Vec::with_capacity(pools as usize);
        for _ in 0..pools {
            heads.push(lines.next("a head")?.to_vec());
        }
        let mut frames = Vec::new();
        while !lines.rest.is_empty() {
            if frames.len() == heads.len() {
                return Err(PublishedError::GoesOn { line: lines.line });
            }
            let line = lines.next("a body's place")?;
            let frame: FrameRef = read_line(line, MAX_FRAME_LINE_BYTES)
                .map_err(|error| lines.wrong("a body's place", error))?;
            lines.within("back", frame.back.into(), [0, MAX_BACK.into()])?;
            lines.within("bytes", frame.bytes.into(), [1, MAX_PART_BYTES])?;
            lines.within("snapshot", frame.snapshot.into(), [1, MAX_SNAPSHOT_BYTES as u64])?;
            lines.within("state", frame.state.into(), [1, MAX_STATE_BYTES as u64])?;
            frames.push(frame);
        }
        Ok(Self { heads, frames })
    }

    /// Requires that a part of `bytes` ends with the last body, where its first begins at `start`.
    pub fn check_length(&self, start: u64, bytes: u64) -> Result<(), PublishedError> {
        let end = start + self.frames.iter().map(|frame| u64::from(frame.bytes)).sum::<u64>();
        if end == bytes {
            return Ok(());
        }
        let (line, field) = (self.heads.len() + self.frames.len(), "the end of the last body");
        Err(PublishedError::Bounds { line, field, found: end, least: bytes, most: bytes })
    }
}

fn push_line(
    bytes: &mut Vec<u8>,
    line: usize,
    what: &'static str,
    document: &impl Wire,
) -> Result<(), PublishedError> {
    let canonical =
        to_canonical(document).map_err(|error| PublishedError::Line { line, what, error })?;
    bytes.extend_from_slice(&canonical);
    bytes.push(b'\n');
    Ok(())
}

/// A line of a document without a version of its own.
fn read_line<T: Wire>(line: &[u8], most: usize) -> Result<T, DocumentError> {
    let document = T::read(&parse(line, most)?).map_err(DocumentError::Shape)?;
    check_canonical(&to_canonical(&document)?, line)?;
    Ok(document)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn part(first: &str, pools: u32) -> PartRef {
        let first = first.parse().unwrap();
        PartRef { sha256: DocumentHash([7; 32]), bytes: 40, first, pools }
    }

    const POOLS: [&str; 2] = [
        "anvil-b:0xaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
        "anvil:0xbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb",
    ];

    fn manifest() -> Manifest {
        Manifest {
            leaf: b"{}".to_vec(),
            parts: vec![part(POOLS[0], 250), part(POOLS[1], 3)],
            checkpoint: "a\n1\n\n".to_owned(),
        }
    }

    #[test]
    fn manifests_have_these_bytes_and_no_others() {
        let bytes = manifest().to_bytes().unwrap();
        let hash = "07".repeat(32);
        let line = |first: &str, pools: u32| {
            format!(r#"{{"bytes":40,"first":"{first}","pools":{pools},"sha256":"0x{hash}","v":1}}"#)
        };
        let expected = format!(
            "{{}}\n{}\n{}\n{}\n",
            line(POOLS[0], 250),
            line(POOLS[1], 3),
            r#"{"checkpoint":"a\n1\n\n"}"#
        );
        assert_eq!(String::from_utf8(bytes.clone()).unwrap(), expected);
        assert_eq!(Manifest::from_bytes(&bytes), Ok(manifest()));
        assert_eq!(manifest().parts[0].path(), format!("parts/{hash}"));

        let refused = |from: &str, to: &str| {
            let changed = expected.replacen(from, to, 1);
            assert_ne!(changed, expected);
            Manifest::from_bytes(changed.as_bytes()).unwrap_err()
        };
        let bounds =
            |error, name| matches!(error, PublishedError::Bounds { field, .. } if field == name);
        assert!(bounds(refused("\"bytes\":40", "\"bytes\":67108865"), "bytes"));
        assert!(bounds(refused("\"bytes\":40", "\"bytes\":4"), "bytes"));
        assert!(bounds(refused("\"pools\":250", "\"pools\":251"), "pools"));
        assert!(bounds(refused("\"pools\":3", "\"pools\":0"), "pools"));
        assert!(matches!(refused("\"v\":1", "\"v\":2"), PublishedError::Line { line: 2, .. }));
        assert!(matches!(refused("{\"bytes\"", "{ \"bytes\""), PublishedError::Line { .. }));
        assert!(matches!(
            refused(POOLS[0], &POOLS[1].replace('b', "c")),
            PublishedError::Order { line: 3, .. }
        ));
        assert!(matches!(refused("\"}\n", "\"}\n\n"), PublishedError::GoesOn { line: 4 }));
        assert!(matches!(refused("\"}\n", "\"}"), PublishedError::Ends { line: 4, .. }));
        assert!(matches!(
            Manifest::from_bytes(b"{}\n{\"checkpoint\":\"\"}\n"),
            Err(PublishedError::Parts { found: 0 })
        ));
        let long = vec![b'\n'; MAX_MANIFEST_BYTES + 1];
        assert!(matches!(Manifest::from_bytes(&long), Err(PublishedError::TooLarge { .. })));
    }

    #[test]
    fn a_pools_part_is_the_last_that_begins_at_or_before_it() {
        let manifest = manifest();
        let first = |pool: &str| {
            manifest.part_of(&pool.parse().unwrap()).map(|part| part.first.to_string())
        };
        assert_eq!(first(POOLS[0]).as_deref(), Some(POOLS[0]));
        assert_eq!(first(POOLS[1]).as_deref(), Some(POOLS[1]));
        assert_eq!(
            first(&POOLS[0].replace('a', "b").replace("bnvil", "anvil")).as_deref(),
            Some(POOLS[0])
        );
        assert_eq!(first("aaa:0xaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"), None);
    }

    #[test]
    fn tables_have_a_line_for_each_head_and_each_body() {
        let frame = FrameRef { back: 6, bytes: 300, snapshot: 900, state: 40_000 };
        let table = Table { heads: vec![b"{}".to_vec(), b"[]".to_vec()], frames: vec![frame] };
        let bytes = table.to_bytes().unwrap();
        let expected = "{}\n[]\n{\"back\":6,\"bytes\":300,\"snapshot\":900,\"state\":40000}\n";
        assert_eq!(core::str::from_utf8(&bytes).unwrap(), expected);
        assert_eq!(Table::from_bytes(&bytes, 2), Ok(table.clone()));
        assert_eq!(table.check_length(20, 320), Ok(()));
        assert!(table.check_length(20, 321).is_err());
        for (from, to) in [
            ("\"back\":6", "\"back\":288"),
            ("\"bytes\":300", "\"bytes\":0"),
            ("\"state\":40000", "\"state\":4194305"),
            ("\"snapshot\":900", "\"snapshot\":131073"),
        ] {
            let changed = expected.replace(from, to);
            let refused = Table::from_bytes(changed.as_bytes(), 2);
            assert!(matches!(refused, Err(PublishedError::Bounds { line: 3, .. })), "{to}");
        }
        assert!(matches!(Table::from_bytes(b"{}\n", 2), Err(PublishedError::Ends { .. })));
        let more = [expected, expected].concat();
        assert!(matches!(Table::from_bytes(more.as_bytes(), 2), Err(PublishedError::Line { .. })));
        let frames = expected.split_once("]\n").unwrap().1.repeat(3);
        let more = format!("{{}}\n[]\n{frames}");
        assert!(matches!(
            Table::from_bytes(more.as_bytes(), 2),
            Err(PublishedError::GoesOn { .. })
        ));
    }
}
