//! A long run of slots of one direction and size, without what else they say: two passes over two
//! tables, and no row taken apart that is not asked for.

use std::collections::HashSet;

use exitgap_core::exit::Exit;
use exitgap_core::pools::Direction;
use exitgap_core::series::Slot;
use exitgap_core::units::{Percent, SizeUsd};

use crate::bodies::codec::Dictionaries;
use crate::bodies::parse;
use crate::corrupt::CorruptBody;
use crate::derived::figures::{Figures, Gap};
use crate::error::StoreError;
use crate::model::{Outcome, Pool};
use crate::reader::Reader;
use crate::rows::slot_of;

/// What one slot says in one direction at one size.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Point {
    /// The slot.
    pub slot: Slot,
    /// What it holds.
    pub held: Held,
    /// How far the mid price lay below the oracle, where a snapshot says so.
    pub basis: Option<Percent>,
}

/// What a slot holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Held {
    /// A snapshot: its depth, where the search for it was not given up, and its gap.
    Recorded(Option<u64>, Gap),
    /// None.
    Missing,
    /// One that was taken back later.
    Retracted,
    /// The pool's end.
    Retired,
}

impl Reader {
    /// The pool's slots from `from` to `to`, both included, ascending, selling `token` 0 or 1, at
    /// the standard size of place `size`. The caller bounds the run.
    pub fn points(
        &self,
        pool: &Pool,
        [token, size]: [usize; 2],
        from: Slot,
        to: Slot,
    ) -> Result<Vec<Point>, StoreError> {
        // One state of the store for both tables.
        let _view = self.db.view("reading a series")?;
        let retracted: HashSet<Slot> =
            self.retractions(pool, from, to)?.into_iter().map(|(slot, _)| slot).collect();
        let mut gaps = self.db.gaps(pool.number, token * 4 + size, [from, to])?.into_iter();
        self.db.points(pool.number, token, [from, to], |row| {
            let slot = slot_of("entry", row.slot)?;
            let absent = |what: &str| StoreError::CorruptRow {
                table: "figures",
                found: format!("{what} of {} at {slot}", pool.id),
            };
            let told = gaps.next().filter(|told| told.slot == row.slot);
            let told = told.ok_or_else(|| absent("nothing"))?;
            let held = match (row.recorded, row.missing) {
                (true, _) if retracted.contains(&slot) => Held::Retracted,
                (true, _) => {
                    let gap = told.gap.ok_or_else(|| absent("no gap"))?;
                    Held::Recorded(row.depth_usd, gap)
                }
                (false, true) => Held::Missing,
                (false, false) => Held::Retired,
            };
            Ok(Point { slot, held, basis: told.basis })
        })
    }

    /// The same at any size: the gaps are computed from the snapshots, one after the other. With each point what was
    /// kept of its slot. At most [`Reader::MAX_PAGE`] slots.
    pub fn points_at(
        &self,
        pool: &Pool,
        direction: Direction,
        size: SizeUsd,
        from: Slot,
        to: Slot,
    ) -> Result<Vec<(Point, Figures)>, StoreError> {
        let page = self.figures(pool, from, to, Self::MAX_PAGE)?;
        let mut kept = Dictionaries::default();
        let point = |figures: Figures| {
            let slot = figures.entry.slot;
            let held = match figures.entry.outcome {
                Outcome::Missing(_) => Held::Missing,
                Outcome::Retired => Held::Retired,
                Outcome::Recorded(_) if figures.retraction.is_some() => Held::Retracted,
                Outcome::Recorded(hash) => {
                    let absent = || StoreError::Corrupt { hash, what: CorruptBody::Absent };
                    let documents = self.documents_after(hash, slot, &mut kept)?;
                    let snapshot = parse(&pool.id, hash, &documents.ok_or_else(absent)?)?;
                    let estimate = Exit::estimate_once(snapshot.observation(), direction, size);
                    let told = figures.snapshot.as_ref();
                    let told = told.map(|told| told.directions[direction.base_index()]);
                    Held::Recorded(
                        told.and_then(|told| told.depth_usd),
                        Gap::from_estimate(&estimate),
                    )
                }
            };
            let told = figures.snapshot.as_ref();
            let basis = told.and_then(|told| told.directions[direction.base_index()].basis);
            Ok((Point { slot, held, basis }, figures))
        };
        page.entries.into_iter().map(point).collect()
    }
}
