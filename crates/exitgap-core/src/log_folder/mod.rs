//! The files of a slot in the folder of a published log (`docs/log-folder-v1.md`). A manifest names parts. The table of
//! a part contains heads and the positions of their snapshots' bodies.
//!
//! **In scope**: the lines of manifests and tables, their limits, and how to find the dictionary of a body
//! ([`Bodies`]). **Out of scope**, with the code responsible: opening and decompressing files (the store, the command
//! line: a [`Folder`]).

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

/// The most pools in a part.
pub const MAX_PART_POOLS: u32 = 250;

/// The maximum size of a part's file, in bytes: fifteen times the largest body of a pool.
pub const MAX_PART_BYTES: u64 = 64 << 20;

/// The most parts of a slot, enough for a million pools.
pub const MAX_PARTS: usize = 4_096;

/// The maximum length, in bytes, of a line that names a part.
const MAX_PART_LINE_BYTES: usize = 512;

/// The maximum length, in bytes, of a line with a checkpoint: a note with all characters escaped, and the JSON around
/// it.
const MAX_CHECKPOINT_LINE_BYTES: usize = 2 * MAX_NOTE_BYTES + 64;

/// The maximum size of a manifest, in bytes.
pub const MAX_MANIFEST_BYTES: usize =
    MAX_LEAF_BYTES + MAX_PARTS * MAX_PART_LINE_BYTES + MAX_CHECKPOINT_LINE_BYTES + 2;

/// The maximum length, in bytes, of a line that gives the position of a body.
const MAX_FRAME_LINE_BYTES: usize = 128;

/// The maximum size of a part's uncompressed table, in bytes.
pub const MAX_TABLE_BYTES: usize =
    MAX_PART_POOLS as usize * (MAX_HEAD_BYTES + MAX_FRAME_LINE_BYTES + 2);

/// How many slots earlier the body that another refers to can be. Both must be in the same day of 288 slots.
pub const MAX_BACK: u32 = 287;

/// The maximum number of references from a body to a self-contained one.
pub const MAX_STEPS: usize = 3;

/// The path is never that of a file in a log's folder.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the log has no such file")]
pub struct NoSuchFile;

/// Why bytes are not a manifest or a table.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PublishedError {
    /// Too many bytes.
    #[error("{found} bytes are more than the maximum of {most}")]
    TooLarge {
        /// Bytes found.
        found: usize,
        /// Bytes accepted.
        most: usize,
    },
    /// The file ends before it is complete.
    #[error("it ends in line {line}, where {what} and a line break are expected")]
    Ends {
        /// The line, from 1.
        line: usize,
        /// What was expected there.
        what: &'static str,
    },
    /// The file continues after its end.
    #[error("it continues after its last line, {line}")]
    GoesOn {
        /// The last line, from 1.
        line: usize,
    },
    /// A line is invalid.
    #[error("line {line}, {what}: {error}")]
    Line {
        /// The line, from 1.
        line: usize,
        /// What was expected there.
        what: &'static str,
        /// The reason.
        error: DocumentError,
    },
    /// A number is out of bounds.
    #[error("line {line}: {field} is {found}, which is outside the range {least} to {most}")]
    Bounds {
        /// The line, from 1.
        line: usize,
        /// The field.
        field: &'static str,
        /// The value found.
        found: u64,
        /// The minimum.
        least: u64,
        /// The maximum.
        most: u64,
    },
    /// Too many parts.
    #[error("a slot must have 1 to {MAX_PARTS} parts, found {found} or more")]
    Parts {
        /// Parts found.
        found: usize,
    },
    /// The parts are not ordered by pool id.
    #[error("line {line}: the part from {first} does not follow the previous part")]
    Order {
        /// The line, from 1.
        line: usize,
        /// The part's first pool.
        first: PoolId,
    },
    /// The number of heads in the parts is not the one that the leaf commits to.
    #[error("the parts have {found} heads, but the leaf commits to {expected}")]
    Pools {
        /// Heads the leaf commits to.
        expected: u32,
        /// Heads in the parts.
        found: u64,
    },
    /// The number of bodies in a part is not the number of snapshots that its heads name.
    #[error("the table has {found} bodies, but its heads name {expected} snapshots")]
    Frames {
        /// The number of snapshots named.
        expected: usize,
        /// The number of bodies found.
        found: usize,
    },
}

impl PublishedError {
    /// The later version that wrote it, if that is the cause of the error.
    pub fn newer(&self) -> Option<Newer> {
        match self {
            Self::Line { error: DocumentError::Newer(newer), .. } => Some(*newer),
            _ => None,
        }
    }
}

/// A reader of consecutive lines.
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

/// Reads a line that contains a document without a version field.
fn read_line<T: Wire>(line: &[u8], most: usize) -> Result<T, DocumentError> {
    let document = T::from_json(&parse(line, most)?).map_err(DocumentError::Shape)?;
    check_canonical(&to_canonical(&document)?, line)?;
    Ok(document)
}
