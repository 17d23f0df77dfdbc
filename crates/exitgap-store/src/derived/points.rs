//! Reads a long run of slots in one direction and at one size, without other values: two passes over two tables,
//! reading only the needed columns.

use std::collections::HashSet;

use exitgap_core::analytics::depths::SlotDepths;
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

/// A slot's values in one direction and at one size.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Point {
    /// The slot.
    pub slot: Slot,
    /// The slot's contents.
    pub held: Held,
    /// How far the mid price was below the oracle price, if there is a snapshot with that value.
    pub basis: Option<Percent>,
    /// The book, if there is a snapshot and its search was not given up.
    pub book_usd: Option<u64>,
}

impl Point {
    /// Both depths of a recorded slot that was not retracted.
    pub fn depths(&self) -> Option<SlotDepths> {
        let Held::Recorded(depth_usd, _) = self.held else { return None };
        let lead_e6 = SlotDepths::lead_of(self.basis);
        Some(SlotDepths { depth_usd, book_usd: self.book_usd, lead_e6 })
    }
}

/// The contents of a slot.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Held {
    /// A snapshot: its depth, unless the search was given up, and its gap.
    Recorded(Option<u64>, Gap),
    /// No snapshot.
    Missing,
    /// A snapshot that was later retracted.
    Retracted,
    /// The pool's end.
    Retired,
}

impl Reader {
    /// The pool's slots from `from` to `to`, both included, ascending, when selling `token` 0 or 1 at the standard size
    /// with index `size`. The caller limits the range.
    pub fn points(
        &self,
        pool: &Pool,
        [token, size]: [usize; 2],
        from: Slot,
        to: Slot,
    ) -> Result<Vec<Point>, StoreError> {
        // Both tables are read in the same state of the store.
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
            Ok(Point { slot, held, basis: told.basis, book_usd: told.book_usd })
        })
    }

    /// The same at any size: the gaps are computed from the snapshots, one after the other. Each point comes with the
    /// stored figures of its slot. At most [`Reader::MAX_PAGE`] slots.
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
            let told = told.map(|told| told.directions[direction.base_index()]);
            let (basis, book_usd) = told.map_or((None, None), |told| (told.basis, told.book_usd));
            Ok((Point { slot, held, basis, book_usd }, figures))
        };
        page.entries.into_iter().map(point).collect()
    }
}
