//! Following a series slot by slot: what its bodies say, whatever derived rows say of it.

use std::collections::HashMap;

use crate::error::{CorruptBody, CorruptHead, StoreError};
use crate::figures::{SnapshotFigures, WindowFigures};
use crate::model::{Outcome, Pool};
use crate::reader::Reader;
use crate::sealed::HeadRow;
use crate::window::{Added, DepthWindow};

/// The windows of all pools, by the pool's number.
#[derive(Default)]
pub struct Follower {
    windows: HashMap<i64, DepthWindow>,
}

impl Follower {
    /// What the pool's next row says: its body hashed and computed anew, its depths those of
    /// the row, its retractions those of bodies before.
    pub fn follow(
        &mut self,
        reader: &Reader,
        pool: &Pool,
        row: &HeadRow,
    ) -> Result<(Option<SnapshotFigures>, WindowFigures), StoreError> {
        let slot = row.entry.slot;
        let rule = |rule: &str| StoreError::CorruptHead {
            pool: pool.id.clone(),
            slot,
            what: CorruptHead::Rule(rule.to_owned()),
        };
        for retraction in &row.retracts {
            let taken_back = reader.snapshot_at(pool, retraction.slot)?;
            let block = taken_back.map(|snapshot| snapshot.observation().block().hash);
            if block != Some(retraction.orphaned) {
                return Err(rule("it retracts a slot without a snapshot, or one of another block"));
            }
        }
        let (snapshot, added) = match row.entry.outcome {
            Outcome::Recorded(hash) => {
                let absent = StoreError::Corrupt { hash, what: CorruptBody::Absent };
                let snapshot = reader.snapshot_at(pool, slot)?.ok_or(absent)?;
                let figures = SnapshotFigures::of(&snapshot);
                if figures.depths() != row.depth_usd {
                    return Err(rule("its depths are not those of its snapshot"));
                }
                (Some(figures), Added::Recorded(row.depth_usd))
            }
            Outcome::Missing(_) => (None, Added::Missing),
            Outcome::Retired => (None, Added::Nothing),
        };
        let window = self.windows.entry(pool.number).or_default();
        for retraction in &row.retracts {
            window.retract(retraction.slot);
        }
        window.add(slot, added);
        Ok((snapshot, window.figures()))
    }
}
