//! Head windows: the last heads of a pool, up to 2,016 of them (seven days), in compact form.
//!
//! A window has what cannot be derived, and rebuilds every head byte for byte. It proves the chain
//! of `prev` hashes behind its last head and the figures computed from these heads. It includes the
//! leaf of its last head and the proof of both, so that head is the one sealed by the leaf of its
//! slot. Proving the same for each earlier head requires the whole log.

mod columns;

use base64ct::{Base64, Encoding};
use columns::{Columns, WireLowest, WireWindow};

use crate::Newer;
use crate::evidence::file::HeadProof;
use crate::evidence::head::{Depths, Head, HeadEntry, HeadError, LOWEST_DEPTH_SLOTS};
use crate::evidence::leaf::{LeafError, SlotLeaf};
use crate::evidence::proof::{Fault, head_in_slot, leaf_in_log};
use crate::evidence::result::{DepthsCompared, ResultError, check_method, compare_depths, depths};
use crate::evidence::retraction::Retraction;
use crate::ids::HeadHash;
use crate::json::{DocumentError, Part, VERSION, from_canonical, to_canonical};
use crate::pools::MAX_STATE_BYTES;
use crate::series::{Slot, SlotError};
use crate::snapshot::{Snapshot, SnapshotDocuments, SnapshotError};
use crate::tlog::{Checkpoint, CheckpointError, LogProof};

/// The largest window that is parsed, in bytes: 2,016 heads and the snapshots of the lowest slots.
pub const MAX_WINDOW_BYTES: usize = 2 * MAX_STATE_BYTES + (2 << 20);

/// Why a document is not a head window, or does not prove its last head.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum WindowError {
    /// The bytes are not a canonical window.
    #[error("not a head window: {0}")]
    Document(#[from] DocumentError),
    /// A slot is not one of the series.
    #[error(transparent)]
    Slot(#[from] SlotError),
    /// Not 1 to 2,016 heads.
    #[error("a window must have 1 to {most} heads, found {found}", most = LOWEST_DEPTH_SLOTS)]
    Length {
        /// Heads found.
        found: u32,
    },
    /// A column does not match the others in length, or is not in canonical order or form.
    #[error("column {column} does not fit the window")]
    Column {
        /// The column's name.
        column: &'static str,
    },
    /// A head of the window does not follow the previous one.
    #[error(transparent)]
    Head(#[from] HeadError),
    /// The heads cannot be written as a canonical window.
    #[error("the heads must be all heads of a pool or those of seven days")]
    NotWhole,
    /// The lowest depth stated by the last head is not the lowest of the window.
    #[error("the lowest depth of token{token} is {found:?}, but the last head has {expected:?}")]
    LowestDepth {
        /// The token sold: 0 or 1.
        token: usize,
        /// The depth that the head states.
        expected: Option<u64>,
        /// The lowest depth in the window.
        found: Option<u64>,
    },
    /// The snapshot of a lowest slot is absent, is another one, or has other depths.
    #[error("the snapshot of the lowest slot {slot} is a different one or has different depths")]
    LowestSnapshot {
        /// The slot.
        slot: Slot,
    },
    /// A snapshot in the window is invalid.
    #[error("the snapshot of a slot with the lowest depth: {0}")]
    Snapshot(#[from] SnapshotError),
    /// A retraction names a slot without a snapshot, or one that is already retracted.
    #[error("slot {slot} is retracted, but has no snapshot or was already retracted")]
    Retraction {
        /// The slot.
        slot: Slot,
    },
    /// The leaf cannot be parsed.
    #[error("the last head's leaf: {0}")]
    Leaf(#[from] LeafError),
    /// The proof of the leaf, or its checkpoint, cannot be parsed.
    #[error("the last head's proof: {0}")]
    LogProof(#[from] CheckpointError),
    /// The last head is not proven.
    #[error("the last head is not in the log: {code}: expected {expected}, found {found}")]
    NotProven {
        /// What is wrong, for example `pool_proof_mismatch`.
        code: &'static str,
        /// The expected value.
        expected: String,
        /// The value found.
        found: String,
    },
}

impl From<Fault> for WindowError {
    fn from(Fault { code, expected, found }: Fault) -> Self {
        Self::NotProven { code, expected, found }
    }
}

impl WindowError {
    /// The later version that wrote it, if that is the cause of the error.
    pub fn newer(&self) -> Option<Newer> {
        match self {
            Self::Document(DocumentError::Newer(newer)) => Some(*newer),
            Self::Leaf(error) => error.newer(),
            _ => None,
        }
    }
}

/// A window, rebuilt and checked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HeadWindow {
    heads: Vec<(Head, Vec<u8>)>,
    /// The hash of each head.
    hashes: Vec<HeadHash>,
    lowest_snapshots: Vec<SnapshotDocuments>,
    proof: HeadProof,
    unchecked: Unchecked,
}

/// What keeps a window from being checked whole.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Unchecked {
    /// What a later version of exitgap made.
    newer: Option<Newer>,
    /// A slot with the lowest depth in one direction, of whose other depth its head or a search says nothing.
    given_up: Option<Slot>,
}

impl HeadWindow {
    /// A window of these heads, given as canonical bytes, ascending, with the proof of the last head. `snapshot`
    /// returns the documents of a slot's snapshot.
    pub fn new(
        heads: &[Vec<u8>],
        mut snapshot: impl FnMut(Slot) -> Option<SnapshotDocuments>,
        proof: HeadProof,
    ) -> Result<Self, WindowError> {
        let heads = heads
            .iter()
            .map(|bytes| Ok((Head::from_canonical(bytes)?, bytes.clone())))
            .collect::<Result<Vec<_>, HeadError>>()?;
        let hashes = heads.iter().map(|(_, bytes)| Head::hash_of(bytes)).collect();
        let window = Self {
            heads,
            hashes,
            lowest_snapshots: Vec::new(),
            proof,
            unchecked: Unchecked::default(),
        };
        let mut slots: Vec<Slot> =
            window.lowest()?.iter().flatten().map(|(slot, _)| *slot).collect();
        slots.dedup();
        let lowest_snapshots = slots
            .into_iter()
            .map(|slot| snapshot(slot).ok_or(WindowError::LowestSnapshot { slot }))
            .collect::<Result<_, _>>()?;
        Self { lowest_snapshots, ..window }.into_checked()
    }

    /// The canonical bytes.
    pub fn to_canonical(&self) -> Result<Vec<u8>, WindowError> {
        Ok(to_canonical(&self.to_wire()?)?)
    }

    /// Parses untrusted bytes, rebuilds the heads and validates them.
    pub fn from_canonical(bytes: &[u8]) -> Result<Self, WindowError> {
        let wire: WireWindow = from_canonical(bytes, MAX_WINDOW_BYTES, "a head window")?;
        let (heads, hashes) = wire.rebuild()?;
        let lowest_snapshots = wire
            .lowest_snapshots
            .into_iter()
            .map(|lowest| SnapshotDocuments { snapshot: lowest.snapshot.0, state: lowest.state.0 });
        let proof = HeadProof {
            leaf: wire.leaf.0,
            pool_proof: wire.pool_proof,
            log_proof: LogProof::from_text(&wire.log_proof)?,
        };
        let lowest_snapshots = lowest_snapshots.collect();
        let unchecked = Unchecked::default();
        let window = Self { heads, hashes, lowest_snapshots, proof, unchecked }.into_checked()?;
        // Only the canonical form is accepted: runs as long, and changes as few, as possible.
        if window.to_canonical()? != bytes {
            return Err(WindowError::Column { column: "heads" });
        }
        Ok(window)
    }

    /// The heads, ascending, each with its canonical bytes.
    pub fn heads(&self) -> &[(Head, Vec<u8>)] {
        &self.heads
    }

    /// The canonical bytes of the last head.
    pub fn last(&self) -> Option<&(Head, Vec<u8>)> {
        self.heads.last()
    }

    /// The signed checkpoint that proves the last head. The caller must check its signature.
    pub fn checkpoint(&self) -> &str {
        &self.proof.log_proof.checkpoint
    }

    /// The leaf of the last head's slot, and the proof of both.
    pub(crate) fn proof(&self) -> &HeadProof {
        &self.proof
    }

    /// A value of a later version of exitgap that this version could not check.
    pub fn newer(&self) -> Option<Newer> {
        self.unchecked.newer
    }

    /// A slot with the lowest depth in one direction, of whose other depth its head or a search says nothing.
    pub fn given_up(&self) -> Option<Slot> {
        self.unchecked.given_up
    }

    fn into_checked(self) -> Result<Self, WindowError> {
        let unchecked = self.check()?;
        Ok(Self { unchecked, ..self })
    }

    /// Checks the window, above all the figures of its last head. Returns the first value that cannot be checked.
    fn check(&self) -> Result<Unchecked, WindowError> {
        let found = u32::try_from(self.heads.len()).unwrap_or(u32::MAX);
        if !(1..=LOWEST_DEPTH_SLOTS).contains(&found) {
            return Err(WindowError::Length { found });
        }
        for (pair, hash) in self.heads.windows(2).zip(&self.hashes) {
            let [(before, _), (head, _)] = pair else { continue };
            head.check_follows(before, *hash)?;
        }
        let lowest = self.lowest()?;
        let Some(((first, _), (last, _))) = self.heads.first().zip(self.heads.last()) else {
            return Err(WindowError::Length { found });
        };
        if first.height != 0 && found != LOWEST_DEPTH_SLOTS {
            return Err(WindowError::NotWhole);
        }
        for (token, lowest) in lowest.iter().enumerate() {
            let (expected, found) =
                (last.lowest_depth_7d_usd[token], lowest.map(|(_, depth)| depth));
            if expected != found {
                return Err(WindowError::LowestDepth { token, expected, found });
            }
        }
        let of_heads = self.heads.iter().find_map(|(head, _)| head.newer());
        let Unchecked { newer, given_up } = self.check_lowest_snapshots(&lowest)?;
        Ok(Unchecked { newer: self.check_proof()?.or(newer).or(of_heads), given_up })
    }

    /// Checks that the last head is the one that its slot's leaf committed to, and that the log contains the leaf. If
    /// this version does not understand the leaf, only the leaf's bytes are checked.
    fn check_proof(&self) -> Result<Option<Newer>, WindowError> {
        let Some((head, bytes)) = self.heads.last() else { return Ok(None) };
        let HeadProof { leaf: leaf_bytes, pool_proof, log_proof } = &self.proof;
        let newer = match SlotLeaf::from_canonical(leaf_bytes) {
            Ok(leaf) if leaf.slot != head.slot => {
                let (expected, found) = (head.slot.number(), leaf.slot.number());
                let fault =
                    Fault::new("leaf_slot_mismatch", expected.to_string(), found.to_string());
                return Err(fault.into());
            }
            Ok(leaf) => head_in_slot(bytes, &leaf, pool_proof).map(|_| None)?,
            Err(error) => Some(error.newer().ok_or(error)?),
        };
        let (checkpoint, _) = Checkpoint::from_note(&log_proof.checkpoint)?;
        leaf_in_log(leaf_bytes, checkpoint.origin.index_of(head.slot), log_proof, &checkpoint)?;
        Ok(newer)
    }

    /// For each direction, the lowest depth that is recorded and not retracted, with its slot; of equal depths the
    /// earliest slot.
    fn lowest(&self) -> Result<[Option<(Slot, u64)>; 2], WindowError> {
        // Ascending by slot, because heads follow each other.
        let mut recorded: Vec<(Slot, Depths)> = Vec::new();
        let mut before: Vec<Slot> = Vec::new();
        let first = self.heads.first().map(|(head, _)| head.slot);
        for (head, _) in &self.heads {
            for Retraction { slot, .. } in &head.retracts {
                // A slot before the window cannot be looked up in it.
                let inside = first.is_some_and(|first| *slot >= first);
                match recorded.binary_search_by_key(slot, |(recorded, _)| *recorded) {
                    Ok(index) => drop(recorded.remove(index)),
                    Err(_) if inside || before.contains(slot) => {
                        return Err(WindowError::Retraction { slot: *slot });
                    }
                    Err(_) => before.push(*slot),
                }
            }
            if let HeadEntry::Recorded { depth_usd, .. } = &head.entry {
                recorded.push((head.slot, *depth_usd));
            }
        }
        Ok([0, 1].map(|token| {
            let depths = recorded.iter().filter_map(|(slot, depth)| Some((*slot, depth[token]?)));
            depths.min_by_key(|(slot, depth)| (*depth, *slot))
        }))
    }

    /// Recomputes the depths of the lowest slots from their snapshots, so that they are more than claims.
    fn check_lowest_snapshots(
        &self,
        lowest: &[Option<(Slot, u64)>; 2],
    ) -> Result<Unchecked, WindowError> {
        let mut unchecked = Unchecked::default();
        let mut slots: Vec<Slot> = lowest.iter().flatten().map(|(slot, _)| *slot).collect();
        slots.dedup();
        if slots.len() != self.lowest_snapshots.len() {
            return Err(WindowError::Column { column: "lowest_snapshots" });
        }
        for (slot, documents) in slots.into_iter().zip(&self.lowest_snapshots) {
            let head = self.heads.iter().find(|(head, _)| head.slot == slot).map(|(head, _)| head);
            let Some(head) = head else { return Err(WindowError::LowestSnapshot { slot }) };
            let HeadEntry::Recorded { snapshot, depth_usd } = &head.entry else {
                return Err(WindowError::LowestSnapshot { slot });
            };
            if documents.hash() != *snapshot {
                return Err(WindowError::LowestSnapshot { slot });
            }
            let read =
                Snapshot::parse_documents(Some(&head.pool), &documents.snapshot, &documents.state);
            let read = match read {
                Ok(read) => read,
                Err(error) => {
                    unchecked.newer = Some(error.newer().ok_or(error)?);
                    continue;
                }
            };
            let of_head = read.slot == slot
                && read.contract == *head.pool.contract()
                && head.pool.tokens_of(read.tokens).is_some();
            match (check_method(&head.method_version), read.snapshot) {
                _ if !of_head => return Err(WindowError::LowestSnapshot { slot }),
                (Err(ResultError::Newer(method)), _) => unchecked.newer = Some(method),
                (_, Err(unknown)) => unchecked.newer = Some(unknown),
                (_, Ok(read)) => match compare_depths(&read, depths(&read), *depth_usd) {
                    DepthsCompared::Same => {}
                    DepthsCompared::GivenUp => unchecked.given_up = Some(slot),
                    DepthsCompared::Differ => return Err(WindowError::LowestSnapshot { slot }),
                },
            }
        }
        Ok(unchecked)
    }

    fn to_wire(&self) -> Result<WireWindow, WindowError> {
        let Some((first, _)) = self.heads.first() else {
            return Err(WindowError::Length { found: 0 });
        };
        let recorded_first = u32::from(matches!(first.entry, HeadEntry::Recorded { .. }));
        let retracted_first = u32::try_from(first.retracts.len()).unwrap_or(u32::MAX);
        let recorded_before =
            (first.recorded_count + retracted_first).saturating_sub(recorded_first);
        let mut columns = Columns::default();
        for (index, (head, _)) in (0..).zip(&self.heads) {
            columns.add(index, head);
        }
        Ok(WireWindow {
            v: VERSION,
            pool: first.pool.clone(),
            first_slot: first.slot.number().into(),
            first_height: first.height,
            first_prev: first.prev,
            recorded_before,
            heads: u32::try_from(self.heads.len()).unwrap_or(u32::MAX),
            method_versions: columns.method_versions,
            missing: columns.missing,
            retired: columns.retired,
            snapshots: Base64::encode_string(&columns.snapshots),
            depth_usd: columns.depth_usd,
            lowest_depth_7d_usd: columns.lowest,
            retracts: columns.retracts,
            commits: columns.commits,
            lowest_snapshots: self
                .lowest_snapshots
                .iter()
                .map(|documents| {
                    let snapshot = Part::from_bytes(&documents.snapshot)?;
                    Ok(WireLowest { snapshot, state: Part::from_bytes(&documents.state)? })
                })
                .collect::<Result<_, DocumentError>>()?,
            leaf: Part::from_bytes(&self.proof.leaf)?,
            pool_proof: self.proof.pool_proof.clone(),
            log_proof: self.proof.log_proof.to_text(),
        })
    }
}
