//! Follows a series slot by slot, using only its bodies, regardless of derived rows.

use std::collections::HashMap;

use exitgap_core::evidence::{Retraction, RetractionCause};
use exitgap_core::ids::SnapshotHash;
use exitgap_core::series::Slot;
use exitgap_core::snapshot::Snapshot;

use crate::bodies::codec::Dictionaries;
use crate::bodies::parse;
use crate::corrupt::{CorruptBody, CorruptHead};
use crate::derived::figures::{SnapshotFigures, WindowFigures};
use crate::derived::week::{WeekFigures, WeekWindow};
use crate::derived::window::{DepthWindow, WindowEntry};
use crate::error::StoreError;
use crate::log::FullEntry;
use crate::model::{Outcome, Pool};
use crate::reader::Reader;

/// The maximum size of all cached dictionaries together. Bodies of further pools are decompressed again.
const KEPT_BYTES: usize = 24 << 20;

/// The windows and dictionaries of all pools, by the pool's number.
#[derive(Default)]
pub struct Follower {
    windows: HashMap<i64, (DepthWindow, WeekWindow)>,
    dictionaries: HashMap<i64, Dictionaries>,
    kept_bytes: usize,
}

impl Follower {
    /// The pool's next row, computed from its body, whose hash is verified. Its depths are compared with the row's, and
    /// its retractions with earlier bodies.
    pub fn follow(
        &mut self,
        reader: &Reader,
        pool: &Pool,
        row: &FullEntry,
    ) -> Result<(Option<SnapshotFigures>, WindowFigures, WeekFigures), StoreError> {
        let slot = row.entry.slot;
        for retraction in &row.retracts {
            check_retracts(reader, pool, slot, retraction)?;
        }
        let (snapshot, added) = match row.entry.outcome {
            Outcome::Recorded(hash) => {
                let snapshot = self.snapshot(reader, pool, slot, hash)?;
                let figures = SnapshotFigures::from_snapshot(&snapshot);
                if figures.depths() != row.depth_usd {
                    return Err(rule(pool, slot, "its depths differ from those of its snapshot"));
                }
                (Some(figures), WindowEntry::Recorded(row.depth_usd))
            }
            Outcome::Missing(_) => (None, WindowEntry::Missing),
            Outcome::Retired => (None, WindowEntry::Nothing),
        };
        let (window, week) = self.windows.entry(pool.number).or_default();
        for retraction in &row.retracts {
            window.retract(retraction.slot);
            week.retract(retraction.slot);
        }
        window.add(slot, added);
        week.add(slot, snapshot.as_ref().map(SnapshotFigures::slot_depths));
        Ok((snapshot, window.figures(), week.figures()))
    }

    /// The pool's snapshot of the slot, verified against its hash and the entry.
    fn snapshot(
        &mut self,
        reader: &Reader,
        pool: &Pool,
        slot: Slot,
        hash: SnapshotHash,
    ) -> Result<Snapshot, StoreError> {
        let corrupt = |what| StoreError::Corrupt { hash, what };
        let mut kept = self.dictionaries.remove(&pool.number).unwrap_or_default();
        self.kept_bytes -= kept.bytes();
        let documents = reader.documents_after(hash, slot, &mut kept)?;
        if self.kept_bytes + kept.bytes() <= KEPT_BYTES {
            self.kept_bytes += kept.bytes();
            self.dictionaries.insert(pool.number, kept);
        }
        let documents = documents.ok_or_else(|| corrupt(CorruptBody::Absent))?;
        let snapshot = parse(&pool.id, hash, &documents)?;
        let (found_pool, found_slot) = (snapshot.observation().pool(), snapshot.slot());
        if *found_pool == pool.id && found_slot == slot {
            return Ok(snapshot);
        }
        Err(corrupt(CorruptBody::OfAnother { pool: found_pool.clone(), slot: found_slot }))
    }
}

/// Requires that the slots that the head of slot `by` retracts were recorded, and at the blocks that it names.
pub fn check_retracts(
    reader: &Reader,
    pool: &Pool,
    by: Slot,
    retraction: &Retraction,
) -> Result<(), StoreError> {
    let taken_back = reader.snapshot_at(pool, retraction.slot)?;
    let block = taken_back.map(|snapshot| snapshot.observation().block().hash);
    let possible = match &retraction.cause {
        RetractionCause::Orphaned { orphaned, .. } => block == Some(*orphaned),
        RetractionCause::Misread => block.is_some(),
        RetractionCause::Newer { .. } => false,
    };
    if possible {
        return Ok(());
    }
    let words = "it retracts a slot without a snapshot, or with a different block";
    Err(rule(pool, by, words))
}

fn rule(pool: &Pool, slot: Slot, words: &str) -> StoreError {
    let what = CorruptHead::Rule(words.to_owned());
    StoreError::CorruptHead { pool: pool.id.clone(), slot, what }
}
