//! Head windows: the last heads of a pool, up to 2,016 of them (seven days), compactly.
//!
//! A window holds what cannot be derived and rebuilds every head byte for byte; it
//! proves the chain of `prev` hashes behind its last head, and bears out the figures
//! drawn from it. It does not prove that each head is the one its slot's leaf sealed:
//! that takes the whole log.

use base64ct::{Base64, Encoding};

use super::document::{DocumentError, Part, from_canonical, to_canonical};
use super::head::{Depths, Head, HeadEntry, HeadError, LOWEST_DEPTH_SLOTS, Retraction};
use super::result::depths;
use crate::ids::{HeadHash, PoolId, SnapshotHash};
use crate::json::wire_struct;
use crate::series::{MissingReason, Slot, SlotError};
use crate::snapshot::{MAX_SNAPSHOT_BYTES, Snapshot, SnapshotError};

/// The most bytes of a window that are looked at: 2,016 heads, and the snapshots of
/// the lowest slots.
pub const MAX_WINDOW_BYTES: usize = 2 * MAX_SNAPSHOT_BYTES + (2 << 20);

const VERSION: u32 = 1;

/// Why a document is not a head window, or does not bear out its last head.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum WindowError {
    /// The bytes are not a canonical window.
    #[error("not a head window: {0}")]
    Document(#[from] DocumentError),
    /// A slot is not one of the series.
    #[error(transparent)]
    Slot(#[from] SlotError),
    /// Not 1 to 2,016 heads.
    #[error("a window holds 1 to {most} heads, found {found}", most = LOWEST_DEPTH_SLOTS)]
    Length {
        /// Heads found.
        found: u32,
    },
    /// A column is not as long, as ordered or as spelled as the others demand.
    #[error("column {column} does not fit the window")]
    Column {
        /// The column's name.
        column: &'static str,
    },
    /// Two heads of the window do not follow each other.
    #[error(transparent)]
    Head(#[from] HeadError),
    /// The heads do not make a canonical document.
    #[error("the heads are neither all of a pool nor seven days")]
    NotWhole,
    /// The lowest depth stated by the last head is not the lowest of the window.
    #[error("the lowest depth of token{token} is {found:?}, the last head says {expected:?}")]
    LowestDepth {
        /// The token sold: 0 or 1.
        token: usize,
        /// What the head states.
        expected: Option<u64>,
        /// What the window's depths make.
        found: Option<u64>,
    },
    /// The snapshot of a lowest slot is absent, another one, or of other depths.
    #[error("the snapshot of the lowest slot {slot} is another, or of other depths")]
    LowestSnapshot {
        /// The slot.
        slot: Slot,
    },
    /// A snapshot of the window is not one.
    #[error("the snapshot of a lowest slot: {0}")]
    Snapshot(#[from] SnapshotError),
    /// A retraction names a slot that holds no snapshot, or one retracted before.
    #[error("slot {slot} is retracted, but holds no snapshot or was retracted before")]
    Retraction {
        /// The slot.
        slot: Slot,
    },
}

struct WireWindow {
    v: u32,
    pool: PoolId,
    /// The first head's slot, height and predecessor, and the count before it.
    first_slot: u64,
    first_height: u32,
    first_prev: Option<HeadHash>,
    recorded_before: u32,
    /// How many heads.
    heads: u32,
    /// `[first index, version]`, ascending: from there on.
    method_versions: Vec<(u32, String)>,
    /// `[first index, length, reason]`, ascending: runs of missing slots.
    missing: Vec<(u32, u32, MissingReason)>,
    /// Whether the last head retires the pool.
    retired: bool,
    /// The hashes of the recorded slots' snapshots, joined, in base64.
    snapshots: String,
    /// Per direction, the depth of each recorded slot.
    depth_usd: [Vec<Option<u64>>; 2],
    /// `[first index, depth, depth]`, ascending: from there on.
    lowest_depth_7d_usd: Vec<(u32, Option<u64>, Option<u64>)>,
    /// `[index, retractions]`, ascending.
    retracts: Vec<(u32, Vec<Retraction>)>,
    /// The snapshots of the lowest slots, one per direction; one where both are the
    /// same slot.
    lowest_snapshots: Vec<Part>,
}

wire_struct!(WireWindow {
    v,
    pool,
    first_slot,
    first_height,
    first_prev,
    recorded_before,
    heads,
    method_versions,
    missing,
    retired,
    snapshots,
    depth_usd,
    lowest_depth_7d_usd,
    retracts,
    lowest_snapshots,
});

/// A window, rebuilt and checked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HeadWindow {
    heads: Vec<(Head, Vec<u8>)>,
    /// Of each head.
    hashes: Vec<HeadHash>,
    lowest_snapshots: Vec<Vec<u8>>,
}

impl HeadWindow {
    /// A window of these heads, given as canonical bytes, ascending. `snapshot` gives
    /// the canonical bytes of the snapshot of a slot of the window.
    pub fn new(
        heads: &[Vec<u8>],
        mut snapshot: impl FnMut(Slot) -> Option<Vec<u8>>,
    ) -> Result<Self, WindowError> {
        let heads = heads
            .iter()
            .map(|bytes| Ok((Head::from_canonical(bytes)?, bytes.clone())))
            .collect::<Result<Vec<_>, HeadError>>()?;
        let hashes = heads.iter().map(|(_, bytes)| Head::hash_of(bytes)).collect();
        let window = Self { heads, hashes, lowest_snapshots: Vec::new() };
        let mut slots: Vec<Slot> =
            window.lowest()?.iter().flatten().map(|(slot, _)| *slot).collect();
        slots.dedup();
        let lowest_snapshots = slots
            .into_iter()
            .map(|slot| snapshot(slot).ok_or(WindowError::LowestSnapshot { slot }))
            .collect::<Result<_, _>>()?;
        let window = Self { lowest_snapshots, ..window };
        window.check()?;
        Ok(window)
    }

    /// The canonical bytes.
    pub fn to_canonical(&self) -> Result<Vec<u8>, WindowError> {
        Ok(to_canonical(&self.to_wire()?)?)
    }

    /// Reads untrusted bytes, rebuilds the heads and checks them.
    pub fn from_canonical(bytes: &[u8]) -> Result<Self, WindowError> {
        let wire: WireWindow = from_canonical(bytes, MAX_WINDOW_BYTES)?;
        if wire.v != VERSION {
            return Err(DocumentError::Version { found: wire.v, known: VERSION }.into());
        }
        let (heads, hashes) = wire.rebuild()?;
        let lowest_snapshots = wire.lowest_snapshots.into_iter().map(|Part(bytes)| bytes).collect();
        let window = Self { heads, hashes, lowest_snapshots };
        window.check()?;
        // One spelling: runs are as long, and changes as few, as they can be.
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

    /// Checks what the window claims, its last head's figures above all.
    fn check(&self) -> Result<(), WindowError> {
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
        self.check_lowest_snapshots(&lowest)
    }

    /// Per direction, the slot of the lowest depth that is recorded and not retracted,
    /// the earliest where several are, and that depth.
    fn lowest(&self) -> Result<[Option<(Slot, u64)>; 2], WindowError> {
        // By slot: heads follow each other.
        let mut recorded: Vec<(Slot, Depths)> = Vec::new();
        let first = self.heads.first().map(|(head, _)| head.slot);
        for (head, _) in &self.heads {
            for Retraction { slot, .. } in &head.retracts {
                // What lies before the window cannot be looked up in it.
                let inside = first.is_some_and(|first| *slot >= first);
                match recorded.binary_search_by_key(slot, |(recorded, _)| *recorded) {
                    Ok(index) => drop(recorded.remove(index)),
                    Err(_) if inside => return Err(WindowError::Retraction { slot: *slot }),
                    Err(_) => {}
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

    /// The lowest slots' snapshots are recomputed: those depths are no mere claims.
    fn check_lowest_snapshots(&self, lowest: &[Option<(Slot, u64)>; 2]) -> Result<(), WindowError> {
        let mut slots: Vec<Slot> = lowest.iter().flatten().map(|(slot, _)| *slot).collect();
        slots.dedup();
        if slots.len() != self.lowest_snapshots.len() {
            return Err(WindowError::Column { column: "lowest_snapshots" });
        }
        for (slot, bytes) in slots.into_iter().zip(&self.lowest_snapshots) {
            let head = self.heads.iter().find(|(head, _)| head.slot == slot).map(|(head, _)| head);
            let Some(HeadEntry::Recorded { snapshot, depth_usd }) = head.map(|head| &head.entry)
            else {
                return Err(WindowError::LowestSnapshot { slot });
            };
            if Snapshot::hash_of(bytes) != *snapshot
                || depths(&Snapshot::from_canonical(bytes)?) != *depth_usd
            {
                return Err(WindowError::LowestSnapshot { slot });
            }
        }
        Ok(())
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
            lowest_snapshots: self
                .lowest_snapshots
                .iter()
                .map(|bytes| Part::of(bytes))
                .collect::<Result<_, _>>()?,
        })
    }
}

/// The columns of a window in the making.
#[derive(Default)]
struct Columns {
    method_versions: Vec<(u32, String)>,
    missing: Vec<(u32, u32, MissingReason)>,
    retired: bool,
    snapshots: Vec<u8>,
    depth_usd: [Vec<Option<u64>>; 2],
    lowest: Vec<(u32, Option<u64>, Option<u64>)>,
    retracts: Vec<(u32, Vec<Retraction>)>,
}

impl Columns {
    fn add(&mut self, index: u32, head: &Head) {
        if self.method_versions.last().is_none_or(|(_, version)| *version != head.method_version) {
            self.method_versions.push((index, head.method_version.clone()));
        }
        let [low0, low1] = head.lowest_depth_7d_usd;
        if self.lowest.last().is_none_or(|(_, last0, last1)| [*last0, *last1] != [low0, low1]) {
            self.lowest.push((index, low0, low1));
        }
        if !head.retracts.is_empty() {
            self.retracts.push((index, head.retracts.clone()));
        }
        match &head.entry {
            HeadEntry::Recorded { snapshot, depth_usd } => {
                self.snapshots.extend_from_slice(&snapshot.0);
                for (column, depth) in self.depth_usd.iter_mut().zip(depth_usd) {
                    column.push(*depth);
                }
            }
            HeadEntry::Missing(reason) => match self.missing.last_mut() {
                Some((start, length, last)) if *start + *length == index && last == reason => {
                    *length += 1;
                }
                _ => self.missing.push((index, 1, *reason)),
            },
            HeadEntry::Retired => self.retired = true,
        }
    }
}

type Rebuilt = (Vec<(Head, Vec<u8>)>, Vec<HeadHash>);

impl WireWindow {
    /// The heads, byte for byte, and the hash of each.
    fn rebuild(&self) -> Result<Rebuilt, WindowError> {
        if !(1..=LOWEST_DEPTH_SLOTS).contains(&self.heads) {
            return Err(WindowError::Length { found: self.heads });
        }
        let rows = [
            ("method_versions", self.method_versions.len()),
            ("missing", self.missing.len()),
            ("lowest_depth_7d_usd", self.lowest_depth_7d_usd.len()),
            ("retracts", self.retracts.len()),
        ];
        if let Some((column, _)) = rows.into_iter().find(|(_, rows)| *rows > self.heads as usize) {
            return Err(WindowError::Column { column });
        }
        let mut entries = self.entries()?.into_iter();
        let (mut heads, mut hashes): Rebuilt = Default::default();
        let (mut recorded, mut prev) = (self.recorded_before, self.first_prev);
        for index in 0..self.heads {
            let retracts = self.retracts.iter().find(|(at, _)| *at == index);
            let retracts = retracts.map(|(_, retracts)| retracts.clone()).unwrap_or_default();
            let retracted = u32::try_from(retracts.len()).unwrap_or(u32::MAX);
            let entry = entries.next().ok_or(WindowError::Column { column: "missing" })?;
            let is_recorded = matches!(entry, HeadEntry::Recorded { .. });
            recorded = recorded
                .checked_add(u32::from(is_recorded))
                .and_then(|count| count.checked_sub(retracted))
                .ok_or(WindowError::Column { column: "recorded_before" })?;
            let lowest = since(&self.lowest_depth_7d_usd, index, |row| row.0)
                .ok_or(WindowError::Column { column: "lowest_depth_7d_usd" })?;
            let version = since(&self.method_versions, index, |row| row.0)
                .ok_or(WindowError::Column { column: "method_versions" })?;
            let height = self.first_height.checked_add(index);
            let head = Head {
                pool: self.pool.clone(),
                slot: Slot::new(self.first_slot.saturating_add(index.into()))?,
                height: height.ok_or(WindowError::Column { column: "first_height" })?,
                recorded_count: recorded,
                prev,
                entry,
                lowest_depth_7d_usd: [lowest.1, lowest.2],
                method_version: version.1.clone(),
                retracts,
            };
            let bytes = head.checked_to_canonical()?;
            let hash = Head::hash_of(&bytes);
            prev = Some(hash);
            hashes.push(hash);
            heads.push((head, bytes));
        }
        Ok((heads, hashes))
    }

    /// What each head says of its slot, in order.
    fn entries(&self) -> Result<Vec<HeadEntry>, WindowError> {
        let wrong = |column| WindowError::Column { column };
        let hashes = Base64::decode_vec(&self.snapshots).map_err(|_| wrong("snapshots"))?;
        let (hashes, rest) = hashes.as_chunks::<32>();
        let counts = [hashes.len(), self.depth_usd[0].len(), self.depth_usd[1].len()];
        if !rest.is_empty() || counts.iter().any(|count| *count != counts[0]) {
            return Err(wrong("snapshots"));
        }
        let mut recorded = hashes.iter().zip(self.depth_usd[0].iter().zip(&self.depth_usd[1]));
        let mut runs = self.missing.iter().peekable();
        let mut entries = Vec::with_capacity(self.heads as usize);
        while entries.len() < self.heads as usize {
            let index = u32::try_from(entries.len()).unwrap_or(u32::MAX);
            if let Some((_, length, reason)) = runs.next_if(|(start, ..)| *start == index) {
                let left = self.heads - index;
                let length = (1..=left).contains(length).then_some(*length);
                let length = length.ok_or_else(|| wrong("missing"))?;
                entries.extend((0..length).map(|_| HeadEntry::Missing(*reason)));
            } else if let Some((hash, (depth0, depth1))) = recorded.next() {
                let (snapshot, depth_usd) = (SnapshotHash(*hash), [*depth0, *depth1]);
                entries.push(HeadEntry::Recorded { snapshot, depth_usd });
            } else if self.retired && index + 1 == self.heads {
                entries.push(HeadEntry::Retired);
            } else {
                return Err(wrong("snapshots"));
            }
        }
        if runs.next().is_some() || recorded.next().is_some() {
            return Err(wrong("heads"));
        }
        Ok(entries)
    }
}

/// The last row that begins at or before `index`.
fn since<R>(rows: &[R], index: u32, start: impl Fn(&R) -> u32) -> Option<&R> {
    rows.iter().rev().find(|row| start(row) <= index)
}
