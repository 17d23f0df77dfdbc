//! The derived tables `figures`, `week`, `day` and `standing`: many columns, read by index, and written and compared as whole
//! rows.

use exitgap_core::analytics::depths::{DepthLows, OracleLead};
use exitgap_core::series::{MissingReason, Slot};
use exitgap_core::units::Percent;

use super::entries::args_of;
use super::{Arg, Columns, DatabaseError, Db, EntryRow, PoolRow, Row, Values, statements};
use crate::db::row::FromColumn;
use crate::db::statements::Statement;
use crate::db::values::chained_row;
use crate::derived::figures::{
    AtLowest, DepthFigures, DirectionFigures, Gap, PoolStatus, SnapshotFigures, WindowFigures,
};
use crate::derived::rollup::{DirectionRollup, GapRollup, Rollup};
use crate::derived::week::WeekFigures;
use crate::error::StoreError;

/// A slot with its figures and its retraction.
pub struct FiguresRow {
    pub entry: EntryRow,
    pub lowest_7d_usd: [Option<u64>; 2],
    pub oracle_stale: Option<bool>,
    pub directions: [Option<DirectionFigures>; 2],
    pub missing_slots: Option<u32>,
    pub median_usd: [Option<u64>; 2],
    pub lowest_back: [Option<u32>; 2],
    /// The slot that retracted it, and the orphaned and the canonical block.
    pub retraction: (Option<i64>, Option<[u8; 32]>, Option<[u8; 32]>),
    pub week: Option<WeekFigures>,
}

/// A slot with one of its gaps.
pub struct GapRow {
    pub slot: i64,
    pub gap: Option<Gap>,
    pub basis: Option<Percent>,
    pub book_usd: Option<u64>,
}

impl FiguresRow {
    fn from_row(row: Row) -> Result<Self, DatabaseError> {
        let entry = EntryRow::from_row(row)?;
        let mut columns = row.from(5);
        let depth = [columns.next()?, columns.next()?];
        let lowest_7d_usd: [Option<u64>; 2] = [columns.next()?, columns.next()?];
        let oracle_stale = columns.next()?;
        let directions = [gaps(&mut columns, depth[0])?, gaps(&mut columns, depth[1])?];
        let missing_slots = columns.next()?;
        let median_usd = [columns.next()?, columns.next()?];
        let lowest_back: [Option<u32>; 2] = [columns.next()?, columns.next()?];
        let retraction = (columns.next()?, columns.next()?, columns.next()?);
        let slot = row.at(0)?;
        let lowest = [0, 1].map(|token| {
            let at = slot_back(slot, lowest_back[token]);
            at.zip(lowest_7d_usd[token])
        });
        let week = read_week(&mut columns, slot, lowest)?;
        Ok(Self {
            entry,
            lowest_7d_usd,
            oracle_stale,
            directions,
            missing_slots,
            median_usd,
            lowest_back,
            retraction,
            week,
        })
    }
}

/// The next six columns: gaps, basis and book of one direction. `None` if there are none.
fn gaps(
    columns: &mut Columns,
    depth_usd: Option<u64>,
) -> Result<Option<DirectionFigures>, DatabaseError> {
    let gaps: [Option<Gap>; 4] =
        [columns.next()?, columns.next()?, columns.next()?, columns.next()?];
    let (basis, book_usd) = (columns.next()?, columns.next()?);
    let [Some(a), Some(b), Some(c), Some(d)] = gaps else { return Ok(None) };
    Ok(Some(DirectionFigures { depth_usd, gaps: [a, b, c, d], basis, book_usd }))
}

/// The slot so many slots before another.
fn slot_back(slot: Slot, back: Option<u32>) -> Option<Slot> {
    Slot::new(slot.number().checked_sub(back?)?.into()).ok()
}

/// The next two columns, a value and its slot: both are there or neither is.
fn value_back<T: FromColumn>(
    columns: &mut Columns,
    slot: Slot,
) -> Result<Option<(Slot, T)>, DatabaseError> {
    let (value, back): (Option<T>, Option<u32>) = (columns.next()?, columns.next()?);
    match (value, back, slot_back(slot, back)) {
        (None, None, _) => Ok(None),
        (Some(value), _, Some(at)) => Ok(Some((at, value))),
        _ => Err(columns.impossible_in("week")),
    }
}

/// The columns of `week` in the row of a slot whose lowest depths are known; `None` if it has no row there.
fn read_week(
    columns: &mut Columns,
    slot: Slot,
    lowest_depth: [Option<(Slot, u64)>; 2],
) -> Result<Option<WeekFigures>, DatabaseError> {
    let mut week = [DepthLows::default(); 2];
    let mut has_row = true;
    for (lows, lowest_depth) in week.iter_mut().zip(lowest_depth) {
        let (book_usd, lead_e6): (Option<u64>, Option<u32>) = (columns.next()?, columns.next()?);
        if lead_e6.is_none() && book_usd.is_some() {
            return Err(columns.impossible_in("week"));
        }
        let lowest_book = value_back(columns, slot)?;
        let median_book_usd = columns.next()?;
        let largest = value_back(columns, slot)?;
        let slots: Option<u32> = columns.next()?;
        let longest_run = value_back(columns, slot)?;
        has_row &= slots.is_some();
        *lows = DepthLows {
            lowest_depth,
            at_lowest_depth: lead_e6.map(|lead_e6| (book_usd, lead_e6)),
            lowest_book,
            median_book_usd,
            lead: OracleLead { largest, slots: slots.unwrap_or(0), longest_run },
        };
    }
    Ok(has_row.then_some(week))
}

fn read_day(row: Row, day: u32) -> Result<Rollup, DatabaseError> {
    let mut columns = row.from(0);
    let slot = |at: Option<u32>| {
        let first = u64::from(day) * u64::from(Slot::PER_DAY);
        at.and_then(|at| Slot::new(first + u64::from(at)).ok())
    };
    let mut rollup = Rollup {
        recorded_slots: columns.next()?,
        missing_slots: columns.next()?,
        retracted_slots: columns.next()?,
        last: slot(columns.next()?),
        directions: [DirectionRollup::default(); 2],
    };
    for direction in &mut rollup.directions {
        let (lowest, at) = (columns.next()?, slot(columns.next()?));
        direction.lowest = at.zip(lowest);
        for gap in &mut direction.gaps {
            let last: Option<Gap> = columns.next()?;
            let (worst, worst_slot) = (columns.next()?, slot(columns.next()?));
            let refused_slots: Option<u32> = columns.next()?;
            let (least, least_slot) = (columns.next()?, slot(columns.next()?));
            *gap = last.zip(refused_slots).map(|(last, refused_slots)| GapRollup {
                last,
                worst: worst_slot.zip(worst),
                refused_slots,
                least_fillable: least_slot.zip(least),
            });
        }
    }
    Ok(rollup)
}

/// The columns of a standing row that do not belong to the pool, with those of its week.
fn read_standing(row: Row) -> Result<(PoolStatus, Option<WeekFigures>), DatabaseError> {
    let mut columns = row.from(5);
    let slot = columns.next::<Option<Slot>>()?.unwrap_or(Slot::FIRST);
    let reason: Option<String> = columns.next()?;
    let recorded_count = columns.next()?;
    let newest_slot: Option<Slot> = columns.next()?;
    let (newer_missing, newer_retracted) = (columns.next()?, columns.next()?);
    let missing_slots = columns.next()?;
    let oracle_stale: Option<bool> = columns.next()?;
    let mut snapshot = [None; 2];
    for direction in &mut snapshot {
        let depth = columns.next()?;
        *direction = gaps(&mut columns, depth)?;
    }
    let newest = match (newest_slot, oracle_stale, snapshot) {
        (Some(slot), Some(oracle_stale), [Some(zero), Some(one)]) => {
            Some((slot, SnapshotFigures { directions: [zero, one], oracle_stale }))
        }
        _ => None,
    };
    let mut directions = [DepthFigures { median_usd: None, lowest: None }; 2];
    let mut at_lowest = [None; 2];
    for token in 0..2 {
        let (median_usd, lowest) = (columns.next()?, columns.next()?);
        let lowest_slot: Option<Slot> = columns.next()?;
        directions[token] = DepthFigures { median_usd, lowest: lowest_slot.zip(lowest) };
        let (basis, missing_slots): (_, Option<u32>) = (columns.next()?, columns.next()?);
        at_lowest[token] = missing_slots.map(|missing_slots| AtLowest { basis, missing_slots });
    }
    let week = read_week(&mut columns, slot, directions.map(|of| of.lowest))?;
    let standing = PoolStatus {
        slot,
        missing: reason.as_deref().and_then(|code| MissingReason::from_code(code).ok()),
        recorded_count,
        newest,
        newer_missing,
        newer_retracted,
        window: WindowFigures { missing_slots, directions },
        at_lowest,
    };
    Ok((standing, week))
}

impl Db {
    /// The pool's slots in a range, both ends included, ascending, each with its figures; at most `limit`.
    pub fn figures<T>(
        &self,
        pool_no: i64,
        run: [Slot; 2],
        limit: usize,
        make: impl FnMut(FiguresRow) -> Result<T, StoreError>,
    ) -> Result<Vec<T>, StoreError> {
        let [pool_no, from, to] = args_of(pool_no, run);
        let args = [pool_no, from, to, (":limit", limit.into())];
        self.rows(&statements::SELECT_FIGURES, &args, FiguresRow::from_row, make)
    }

    /// One gap, the basis and the book for the pool's slots in a range, both ends included, ascending. The gaps are of four sizes when selling
    /// token 0, then of four when selling token 1.
    pub fn gaps(
        &self,
        pool_no: i64,
        gap: usize,
        run: [Slot; 2],
    ) -> Result<Vec<GapRow>, StoreError> {
        let [pool_no, from, to] = args_of(pool_no, run);
        let args = [pool_no, from, to, (":gap", gap.into())];
        let read = |row: Row| {
            let (slot, gap, basis) = (row.at(0)?, row.at(1)?, row.at(2)?);
            Ok(GapRow { slot, gap, basis, book_usd: row.at(3)? })
        };
        self.rows(&statements::SELECT_GAPS, &args, read, Ok)
    }

    /// The pool's day.
    pub fn day(&self, pool_no: i64, day: u32) -> Result<Option<Rollup>, StoreError> {
        let args = [(":day", day.into()), (":pool_no", pool_no.into())];
        self.row(&statements::SELECT_DAY, &args, |row| read_day(row, day))
    }

    /// Every pool with its status, in the order of names.
    pub fn standings<T>(
        &self,
        make: impl FnMut((PoolRow, PoolStatus, Option<WeekFigures>)) -> Result<T, StoreError>,
    ) -> Result<Vec<T>, StoreError> {
        let read = |row: Row| {
            let (standing, week) = read_standing(row)?;
            Ok((PoolRow::from_row(row)?, standing, week))
        };
        self.rows(&statements::SELECT_STANDINGS, &[], read, make)
    }

    /// Whether the row of `figures` equals this one in every value.
    pub fn figures_are(
        &self,
        pool_no: i64,
        slot: Slot,
        expected: &Values,
    ) -> Result<bool, StoreError> {
        let args = [(":pool_no", pool_no.into()), (":slot", slot.into())];
        self.row_is(&statements::SELECT_FIGURES_ROW, &args, Some(expected))
    }

    /// Whether the row of `week` equals this one in every value.
    pub fn week_is(&self, pool_no: i64, slot: Slot, expected: &Values) -> Result<bool, StoreError> {
        let args = [(":pool_no", pool_no.into()), (":slot", slot.into())];
        self.row_is(&statements::SELECT_WEEK_ROW, &args, Some(expected))
    }

    /// Whether the row of `day` equals this one in every value.
    pub fn day_is(&self, pool_no: i64, day: u32, expected: &Values) -> Result<bool, StoreError> {
        let args = [(":day", day.into()), (":pool_no", pool_no.into())];
        self.row_is(&statements::SELECT_DAY_ROW, &args, Some(expected))
    }

    /// Whether the row of `standing` equals this one in every value, or is absent as expected.
    pub fn standing_is(&self, pool_no: i64, expected: Option<&Values>) -> Result<bool, StoreError> {
        let args = [(":pool_no", pool_no.into())];
        self.row_is(&statements::SELECT_STANDING_ROW, &args, expected)
    }

    fn row_is(
        &self,
        statement: &'static Statement,
        args: &[(&'static str, Arg)],
        expected: Option<&Values>,
    ) -> Result<bool, StoreError> {
        let same = self
            .row(statement, args, |row| Ok(expected.is_some_and(|expected| expected.are(row))))?;
        Ok(same.unwrap_or(expected.is_none()))
    }

    /// The hash chain over the pool's stored rows of `figures` from slot `from` to `to`, both included.
    pub fn figures_chain(&self, pool_no: i64, from: i64, to: i64) -> Result<[u8; 32], StoreError> {
        let args =
            [(":pool_no", pool_no.into()), (":from_slot", from.into()), (":to_slot", to.into())];
        let mut chain = [0; 32];
        self.each(&statements::SELECT_FIGURES_ROWS, &args, |row| {
            chain = chained_row(chain, row);
            Ok(())
        })?;
        Ok(chain)
    }

    /// The chain as stored in the day's row, whatever it contains.
    pub fn day_chain(&self, pool_no: i64, day: u32) -> Result<Option<Vec<u8>>, StoreError> {
        let args = [(":day", day.into()), (":pool_no", pool_no.into())];
        self.row(&statements::SELECT_FIGURES_DIGEST, &args, |row| row.at(0))
    }

    /// Writes a row of `figures`, replacing an existing one.
    pub fn put_figures(&self, values: &Values) -> Result<(), StoreError> {
        self.put(&statements::INSERT_FIGURES, values)
    }

    /// Writes a row of `week`, replacing an existing one.
    pub fn put_week(&self, values: &Values) -> Result<(), StoreError> {
        self.put(&statements::INSERT_WEEK, values)
    }

    /// Writes a row of `day`, replacing an existing one.
    pub fn put_day(&self, values: &Values) -> Result<(), StoreError> {
        self.put(&statements::INSERT_DAY, values)
    }

    /// Writes a row of `standing`, replacing an existing one.
    pub fn put_standing(&self, values: &Values) -> Result<(), StoreError> {
        self.put(&statements::INSERT_STANDING, values)
    }

    /// Removes derived rows without a basis in the series, at most `at_once` at a time. Returns their number.
    pub fn delete_surplus(&self, at_once: u32) -> Result<u64, StoreError> {
        let mut rows = 0;
        for statement in [
            &statements::DELETE_FIGURES,
            &statements::DELETE_WEEKS,
            &statements::DELETE_DAYS,
            &statements::DELETE_STANDINGS,
        ] {
            loop {
                let removed = self.execute(statement, &[(":limit", at_once.into())])?;
                if removed == 0 {
                    break;
                }
                rows += removed as u64;
            }
        }
        Ok(rows)
    }
}
