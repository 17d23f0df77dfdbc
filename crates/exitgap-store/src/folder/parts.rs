//! A slot's files: parts with heads and bodies, and the manifest that names them. They are built in memory before the
//! slot is committed, so that a slot that cannot be published is not recorded.

use std::io::{self, Write};
use std::path::Path;

use exitgap_core::analytics::accuracy::{CommittedDocument, Fills, IssuedReceipts};
use exitgap_core::evidence::HeadEntry;
use exitgap_core::ids::PoolId;
use exitgap_core::log_folder::{
    FrameRef, LogFile, MAX_PART_BYTES, MAX_PART_POOLS, MAX_PARTS, Manifest, PartRef, Table,
};
use exitgap_core::series::Slot;
use exitgap_core::tlog::Checkpoint;

use super::{PublishError, durable};
use crate::corrupt::CorruptLog;
use crate::db::Claim;
use crate::error::StoreError;
use crate::log::cosignatures::Cosignatures;
use crate::reader::Reader;

/// zstd's compression level for tables. Most of a table is hashes, which do not compress at any level.
const EFFORT: i32 = 1;

/// A pool's head in a slot, with its snapshot's body if there is one.
pub struct Piece {
    /// The pool.
    pub pool: PoolId,
    /// The head's canonical bytes.
    pub head: Vec<u8>,
    /// The body's frame reference and its compressed bytes.
    pub body: Option<(FrameRef, Vec<u8>)>,
}

/// The files of a slot, as they are published.
#[derive(Debug)]
pub struct SlotFiles {
    /// The slot.
    pub slot: Slot,
    parts: Vec<(PartRef, Vec<u8>)>,
    manifest: Manifest,
    /// The compressed documents that the heads commit to, one file per kind.
    committed: Vec<(LogFile, Vec<u8>)>,
}

impl SlotFiles {
    /// The files of a slot with these heads, which must be in the order of pool ids. Fails if they need more than
    /// `parts_most` parts.
    pub fn new(
        slot: Slot,
        (leaf, checkpoint): (Vec<u8>, String),
        pieces: impl IntoIterator<Item = Piece>,
        parts_most: usize,
    ) -> Result<Self, StoreError> {
        let mut parts = Vec::new();
        let mut part = PartInHand::default();
        for piece in pieces {
            if !part.has_room_for(&piece) {
                parts.push(std::mem::take(&mut part).finish(slot)?);
            }
            part.add(piece);
        }
        parts.push(part.finish(slot)?);
        if parts.len() > parts_most {
            let (found, most) = (parts.len(), parts_most);
            return Err(StoreError::SlotTooLarge { slot, found, most });
        }
        let manifest = Manifest {
            leaf,
            parts: parts.iter().map(|(part, _)| part.clone()).collect(),
            checkpoint,
        };
        manifest.to_bytes().map_err(|error| unwritable(slot, &error))?;
        Ok(Self { slot, parts, manifest, committed: Vec::new() })
    }

    /// Sets the checkpoint that the log signed, or that witnesses also signed, if it belongs to this slot.
    pub fn set_checkpoint(&mut self, slot: Slot, checkpoint: String) {
        if self.slot == slot {
            self.manifest.checkpoint = checkpoint;
        }
    }

    /// The claim of this slot before its checkpoint is signed.
    pub fn claim(&self, checkpoint: &Checkpoint) -> Result<Claim, StoreError> {
        let manifest = self.manifest.to_bytes().map_err(|error| unwritable(self.slot, &error))?;
        let parts = self.parts.iter().map(|(part, bytes)| (part.path(), bytes.clone()));
        let committed =
            self.committed.iter().map(|(file, bytes)| (file.to_string(), bytes.clone()));
        let files = parts.chain(committed).collect();
        Ok(Claim { size: checkpoint.size, checkpoint: checkpoint.to_text(), manifest, files })
    }

    /// Adds canonical documents of one kind that the heads commit to, in the order of pool ids.
    pub fn with<'a, D: CommittedDocument>(
        mut self,
        documents: impl Iterator<Item = &'a [u8]>,
    ) -> Result<Self, StoreError> {
        let mut lines = Vec::new();
        for canonical in documents {
            let line = D::line(self.slot, canonical);
            lines.extend(line.map_err(|error| unwritable(self.slot, &error))?);
        }
        if !lines.is_empty() {
            let packed = zstd::encode_all(&lines[..], EFFORT);
            let packed = packed.map_err(|error| unwritable(self.slot, &error))?;
            self.committed.push((D::file(self.slot), packed));
        }
        Ok(self)
    }

    /// The files of a slot, read from the store.
    pub fn from_reader(reader: &Reader, slot: Slot) -> Result<Self, StoreError> {
        let absent =
            || StoreError::CorruptLog { slot, what: CorruptLog::Absent("the sealed slot") };
        let (leaf, checkpoint) = reader.sealed_slot(slot)?.ok_or_else(absent)?;
        let checkpoint = match reader.cosignatures(slot)? {
            Cosignatures::Lines(lines) => checkpoint + &lines,
            Cosignatures::NotAsked | Cosignatures::Awaited => checkpoint,
        };
        let mut pieces = Vec::new();
        let (mut last, mut fills, mut issued) = (None, Vec::new(), Vec::new());
        for stored in reader.slot_heads(slot)? {
            if stored.head.commits.get(Fills::NAME).is_some() {
                let pool = reader.pool(&stored.head.pool)?.ok_or_else(absent)?;
                fills.push(reader.fills_of(&pool, slot)?.canonical);
            }
            if stored.head.commits.get(IssuedReceipts::NAME).is_some() {
                let pool = reader.pool(&stored.head.pool)?.ok_or_else(absent)?;
                issued.push(reader.issued_of(&pool, slot)?.canonical);
            }
            let pool = stored.head.pool;
            let body = match stored.head.entry {
                HeadEntry::Recorded { snapshot: hash, .. } => {
                    let Some(row) = reader.body_row(hash, Some(slot))? else {
                        return Err(reader.absent(hash, slot)?);
                    };
                    let shared = last.replace(hash) == Some(hash);
                    Some(if shared { row.into_shared()? } else { row.into_frame()? })
                }
                HeadEntry::Missing(_) | HeadEntry::Retired => None,
            };
            pieces.push(Piece { pool, head: stored.canonical, body });
        }
        let files = Self::new(slot, (leaf.canonical, checkpoint), pieces, MAX_PARTS)?;
        let files = files.with::<Fills>(fills.iter().map(Vec::as_slice))?;
        files.with::<IssuedReceipts>(issued.iter().map(Vec::as_slice))
    }

    /// Writes the parts and the documents that the heads commit to, and then the manifest at `manifest`. Existing files
    /// must have the same content.
    pub fn write_files(&self, folder: &Path, manifest: &Path) -> Result<(), PublishError> {
        let parts = self.parts.iter().map(|(part, bytes)| (folder.join(part.path()), &bytes[..]));
        durable::write_all_once(&folder.join("parts"), parts)?;
        for (file, packed) in &self.committed {
            durable::write_once(&folder.join(file.to_string()), packed)?;
        }
        let bytes = self.manifest.to_bytes().map_err(|error| unwritable(self.slot, &error))?;
        durable::write_once(manifest, &bytes)
    }
}

/// A part under construction.
#[derive(Default)]
struct PartInHand {
    first: Option<PoolId>,
    heads: Vec<Vec<u8>>,
    frames: Vec<FrameRef>,
    bodies: Vec<u8>,
    /// The number of bytes of the heads.
    head_bytes: u64,
}

impl PartInHand {
    /// Whether one more pool fits, however well its table compresses.
    fn has_room_for(&self, piece: &Piece) -> bool {
        let more = piece.head.len() + piece.body.as_ref().map_or(0, |(_, body)| body.len());
        // Twice the heads: leaves room for the lines of bodies and for data that does not compress.
        let bytes = self.bodies.len() as u64 + 2 * self.head_bytes + 2 * more as u64;
        self.heads.is_empty()
            || self.heads.len() < MAX_PART_POOLS as usize && bytes < MAX_PART_BYTES - (1 << 20)
    }

    fn add(&mut self, piece: Piece) {
        self.first.get_or_insert(piece.pool);
        self.head_bytes += piece.head.len() as u64;
        self.heads.push(piece.head);
        if let Some((frame, body)) = piece.body {
            self.frames.push(frame);
            self.bodies.extend_from_slice(&body);
        }
    }

    /// The reference with the length of the compressed table, and the bytes: the compressed table, then the bodies.
    fn finish(self, slot: Slot) -> Result<(PartRef, Vec<u8>), StoreError> {
        let Self { first, heads, frames, bodies, .. } = self;
        let first = first.ok_or(StoreError::NoEntries { slot })?;
        let pools = u32::try_from(heads.len()).unwrap_or(u32::MAX);
        let table = Table { heads, frames };
        let table = table.to_bytes().map_err(|error| unwritable(slot, &error))?;
        let packed = pack(&table).map_err(|error| unwritable(slot, &error))?;
        let length = u32::try_from(packed.len()).map_err(|error| unwritable(slot, &error))?;
        let bytes = [&length.to_be_bytes()[..], &packed, &bodies].concat();
        let sha256 = PartRef::hash_of(&bytes);
        Ok((PartRef { sha256, bytes: bytes.len() as u64, first, pools }, bytes))
    }
}

/// A Zstandard frame that its reader can decompress with half a megabyte of memory, whatever its length.
fn pack(table: &[u8]) -> io::Result<Vec<u8>> {
    let mut encoder = zstd::Encoder::new(Vec::new(), EFFORT)?;
    encoder.write_all(table)?;
    encoder.finish()
}

fn unwritable(slot: Slot, error: &dyn std::fmt::Display) -> StoreError {
    StoreError::Seal { slot, reason: format!("the slot's files cannot be created: {error}") }
}
