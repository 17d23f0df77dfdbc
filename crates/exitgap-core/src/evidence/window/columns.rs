//! A window as a document: the values that cannot be derived from other heads, in columns.

use base64ct::{Base64, Encoding};

use super::WindowError;
use crate::evidence::commits::Commits;
use crate::evidence::file::PoolProof;
use crate::evidence::head::{Head, HeadEntry, LOWEST_DEPTH_SLOTS};
use crate::evidence::retraction::Retraction;
use crate::ids::{HeadHash, PoolId, SnapshotHash};
use crate::json::{Part, wire_struct};
use crate::series::{MissingReason, Slot};

/// The documents of a lowest slot's snapshot.
pub(super) struct WireLowest {
    pub snapshot: Part,
    pub state: Part,
}

wire_struct!(WireLowest { snapshot, state });

pub(super) struct WireWindow {
    pub v: u32,
    pub pool: PoolId,
    /// The first head's slot, height and predecessor, and the recorded count before it.
    pub first_slot: u64,
    pub first_height: u32,
    pub first_prev: Option<HeadHash>,
    pub recorded_before: u32,
    /// The number of heads.
    pub heads: u32,
    /// `[first index, version]`, ascending: the version applies from that index on.
    pub method_versions: Vec<(u32, String)>,
    /// `[first index, length, reason]`, ascending: runs of missing slots.
    pub missing: Vec<(u32, u32, MissingReason)>,
    /// Whether the last head retires the pool.
    pub retired: bool,
    /// The hashes of the recorded slots' snapshots, concatenated, in base64.
    pub snapshots: String,
    /// Per direction, the depth of each recorded slot.
    pub depth_usd: [Vec<Option<u64>>; 2],
    /// `[first index, depth, depth]`, ascending: the depths apply from that index on.
    pub lowest_depth_7d_usd: Vec<(u32, Option<u64>, Option<u64>)>,
    /// `[index, retractions]`, ascending.
    pub retracts: Vec<(u32, Vec<Retraction>)>,
    /// `[index, commitments]`, ascending.
    pub commits: Vec<(u32, Commits)>,
    /// The snapshots of the lowest slots, one per direction, or only one if both directions have the same slot.
    pub lowest_snapshots: Vec<WireLowest>,
    /// For the last head: its slot's leaf, its place in the leaf's tree, and the leaf's place in the log.
    pub leaf: Part,
    pub pool_proof: PoolProof,
    pub log_proof: String,
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
    commits,
    lowest_snapshots,
    leaf,
    pool_proof,
    log_proof,
});

/// The columns of a window while it is built.
#[derive(Default)]
pub(super) struct Columns {
    pub method_versions: Vec<(u32, String)>,
    pub missing: Vec<(u32, u32, MissingReason)>,
    pub retired: bool,
    pub snapshots: Vec<u8>,
    pub depth_usd: [Vec<Option<u64>>; 2],
    pub lowest: Vec<(u32, Option<u64>, Option<u64>)>,
    pub retracts: Vec<(u32, Vec<Retraction>)>,
    pub commits: Vec<(u32, Commits)>,
}

impl Columns {
    pub fn add(&mut self, index: u32, head: &Head) {
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
        if !head.commits.is_empty() {
            self.commits.push((index, head.commits.clone()));
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

pub(super) type Rebuilt = (Vec<(Head, Vec<u8>)>, Vec<HeadHash>);

impl WireWindow {
    /// Rebuilds the heads byte for byte, with the hash of each.
    pub fn rebuild(&self) -> Result<Rebuilt, WindowError> {
        if !(1..=LOWEST_DEPTH_SLOTS).contains(&self.heads) {
            return Err(WindowError::Length { found: self.heads });
        }
        let rows = [
            ("method_versions", self.method_versions.len()),
            ("missing", self.missing.len()),
            ("lowest_depth_7d_usd", self.lowest_depth_7d_usd.len()),
            ("retracts", self.retracts.len()),
            ("commits", self.commits.len()),
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
            let commits = self.commits.iter().find(|(at, _)| *at == index);
            let commits = commits.map(|(_, commits)| commits.clone()).unwrap_or_default();
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
                commits,
            };
            let bytes = head.checked_to_canonical()?;
            let hash = Head::hash_of(&bytes);
            prev = Some(hash);
            hashes.push(hash);
            heads.push((head, bytes));
        }
        Ok((heads, hashes))
    }

    /// The entry of each head, in order.
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

/// The last row whose first index is at most `index`.
fn since<R>(rows: &[R], index: u32, start: impl Fn(&R) -> u32) -> Option<&R> {
    rows.iter().rev().find(|row| start(row) <= index)
}
