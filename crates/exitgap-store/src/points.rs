//! A long run of slots of one direction and size, without what else they say: two passes over two
//! tables, and no row taken apart that is not asked for.

use std::collections::HashSet;

use exitgap_core::series::Slot;
use exitgap_core::units::Percent;
use rusqlite::named_params;

use crate::error::{Doing, StoreError};
use crate::figures::Gap;
use crate::history::derived;
use crate::model::Pool;
use crate::reader::{Reader, slot_of};
use crate::sql;

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

/// What the derived figures of a slot say at one size.
struct Told {
    slot: Slot,
    gap: Option<Gap>,
    basis: Option<Percent>,
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
        let _view = self.connection.unchecked_transaction().doing("reading a series")?;
        let retracted: HashSet<Slot> =
            self.retractions(pool, from, to)?.into_iter().map(|(slot, _)| slot).collect();
        let mut gaps = self.gaps(pool, token * 4 + size, from, to)?.into_iter();
        let doing = "reading entries";
        let mut statement = self.connection.prepare_cached(sql::SELECT_POINTS).doing(doing)?;
        let parameters = named_params! {
            ":pool_no": pool.number,
            ":token": token.cast_signed(),
            ":from_slot": from.number(),
            ":to_slot": to.number(),
        };
        let mut rows = statement.query(parameters).doing(doing)?;
        let mut points = Vec::new();
        while let Some(row) = rows.next().doing(doing)? {
            let slot = slot_of("entry", row.get(0).doing(doing)?)?;
            let (recorded, missing) = (row.get(1).doing(doing)?, row.get(2).doing(doing)?);
            let absent = |what: &str| StoreError::CorruptRow {
                table: "figures",
                found: format!("{what} of {} at {slot}", pool.id),
            };
            let told =
                gaps.next().filter(|told| told.slot == slot).ok_or_else(|| absent("nothing"))?;
            let held = match (recorded, missing) {
                (true, _) if retracted.contains(&slot) => Held::Retracted,
                (true, _) => {
                    let depth: Option<i64> = row.get(3).doing(doing)?;
                    let gap = told.gap.ok_or_else(|| absent("no gap"))?;
                    Held::Recorded(depth.map(i64::unsigned_abs), gap)
                }
                (false, true) => Held::Missing,
                (false, false) => Held::Retired,
            };
            points.push(Point { slot, held, basis: told.basis });
        }
        Ok(points)
    }

    fn gaps(&self, pool: &Pool, gap: usize, from: Slot, to: Slot) -> Result<Vec<Told>, StoreError> {
        let doing = "reading gaps";
        let mut statement = self.connection.prepare_cached(sql::SELECT_GAPS).doing(doing)?;
        let parameters = named_params! {
            ":pool_no": pool.number,
            ":gap": gap.cast_signed(),
            ":from_slot": from.number(),
            ":to_slot": to.number(),
        };
        let rows =
            statement.query_map(parameters, |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)));
        let mut gaps = Vec::new();
        for row in rows.doing(doing)? {
            let (slot, gap, basis): (i64, Option<Gap>, Option<i64>) =
                row.map_err(|error| derived("figures", error, doing))?;
            let basis = basis.map(|basis| Percent(basis.into()));
            gaps.push(Told { slot: slot_of("figures", slot)?, gap, basis });
        }
        Ok(gaps)
    }
}
