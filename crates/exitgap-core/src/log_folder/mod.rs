//! The files of a slot in the folder of a published log (`docs/log-folder-v1.md`). A manifest names
//! parts, and the table of a part has heads and the positions of their snapshots' bodies.
//!
//! **In scope**: the lines of manifests and tables, their limits, and how to find a body to which
//! another body refers ([`Bodies`]). **Out of scope**, with the code responsible: opening files and
//! unpacking them (the store, the command line: a [`Folder`]).

mod bases;
mod bodies;
pub mod days;
mod file;
mod frame;
mod manifest;
mod part;
mod table;

use crate::Newer;
use crate::evidence::{MAX_HEAD_BYTES, MAX_LEAF_BYTES};
use crate::ids::PoolId;
use crate::json::{DocumentError, Wire, check_canonical, parse, to_canonical};
use crate::tlog::MAX_NOTE_BYTES;

pub use bases::{DefaultBases, MAX_BASES_BYTES, NoBases};
pub use bodies::{Bodies, BodyError, Folder, Place};
pub use file::{LogFile, ProofName};
pub use frame::{FrameError, check_frame, is_one_frame, most_packed};
pub use manifest::{Manifest, PartRef};
pub use part::PartError;
pub use table::{FrameRef, Table};

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

/// A path at which the folder of a log never has a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the log has no such file")]
pub struct NoSuchFile;

/// Why bytes are not a manifest or a table.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PublishedError {
    /// More bytes than there may be.
    #[error("{found} bytes are more than the maximum of {most}")]
    TooLarge {
        /// Bytes found.
        found: usize,
        /// Bytes accepted.
        most: usize,
    },
    /// It ends before it is whole.
    #[error("it ends in line {line}, where {what} and a line break are expected")]
    Ends {
        /// The line, from 1.
        line: usize,
        /// What should stand there.
        what: &'static str,
    },
    /// It does not end where it should.
    #[error("it continues after its last line, {line}")]
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
    #[error("line {line}: {field} is {found}, which is outside the range {least} to {most}")]
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
    #[error("a slot must have 1 to {MAX_PARTS} parts, found {found} or more")]
    Parts {
        /// Parts found.
        found: usize,
    },
    /// The parts are not in the order of pool ids.
    #[error("line {line}: the part from {first} does not follow the previous part")]
    Order {
        /// The line, from 1.
        line: usize,
        /// The part's first pool.
        first: PoolId,
    },
    /// The parts hold more or fewer heads than the leaf commits to.
    #[error("the parts have {found} heads, but the leaf commits to {expected}")]
    Pools {
        /// Heads the leaf commits to.
        expected: u32,
        /// Heads in the parts.
        found: u64,
    },
    /// A part has more or fewer bodies than its heads name snapshots.
    #[error("the table has {found} bodies, but its heads name {expected} snapshots")]
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
    fn from_bytes(bytes: &'a [u8], most: usize) -> Result<Self, PublishedError> {
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
    let document = T::from_json(&parse(line, most)?).map_err(DocumentError::Shape)?;
    check_canonical(&to_canonical(&document)?, line)?;
    Ok(document)
}
