//! Reading figures: of slots, of days, of all pools at once.

use exitgap_core::ids::BlockHash;
use exitgap_core::series::{MissingReason, Slot};
use exitgap_core::units::UsdMicros;
use rusqlite::{OptionalExtension, Row, named_params};

use crate::columns::Columns;
use crate::error::{Doing, StoreError};
use crate::figures::{
    AtLowest, BoardRow, DepthFigures, DirectionFigures, Figures, Gap, Retracted, SnapshotFigures,
    Standing, TakenBack, WindowFigures,
};
use crate::model::{Outcome, Page, Pool};
use crate::reader::{EntryRow, Reader, check_entry, check_pool, entry_row, pool_row, slot_of};
use crate::rollup::{Day, DirectionRollup, GapRollup, Rollup, day_of};
use crate::sql;

impl Reader {
    /// The pool's slots from `from` to `to`, both included, ascending, each with its figures:
    /// missing, retracted and last ones too. At most `limit` of them and never more than
    /// [`Reader::MAX_PAGE`].
    pub fn figures(
        &self,
        pool: &Pool,
        from: Slot,
        to: Slot,
        limit: usize,
    ) -> Result<Page<Figures>, StoreError> {
        let doing = "reading figures";
        let limit = limit.clamp(1, Self::MAX_PAGE);
        let mut statement = self.connection.prepare_cached(sql::SELECT_FIGURES).doing(doing)?;
        let mut rows = statement
            .query(named_params! {
                ":pool_no": pool.number,
                ":from_slot": from.number(),
                ":to_slot": to.number(),
                ":limit": limit.cast_signed(),
            })
            .doing(doing)?;
        let mut entries = Vec::new();
        while let Some(row) = rows.next().doing(doing)? {
            let raw = figures_row(row).map_err(|error| derived("figures", error, doing))?;
            entries.push(check_figures(raw)?);
        }
        let last = entries.last().filter(|_| entries.len() == limit);
        let next = last.and_then(|last| last.entry.slot.next()).filter(|next| *next <= to);
        Ok(Page { entries, next })
    }

    /// The pool's figures of one slot; `None` where it has no entry.
    pub fn figures_at(&self, pool: &Pool, slot: Slot) -> Result<Option<Figures>, StoreError> {
        Ok(self.figures(pool, slot, slot, 1)?.entries.pop())
    }

    /// The pool's UTC days from `from_day` to `to_day`, both included, ascending: those it has
    /// slots in. A day is counted from 1970-01-01.
    pub fn days(&self, pool: &Pool, from_day: u32, to_day: u32) -> Result<Vec<Day>, StoreError> {
        let Some((_, last)) = self.slots()? else { return Ok(Vec::new()) };
        let from_day = from_day.max(day_of(pool.first_slot));
        let to_day = to_day.min(day_of(pool.retired_slot.unwrap_or(last)));
        let mut days = Vec::new();
        for day in from_day..=to_day {
            days.extend(self.day(pool, day)?.map(|rollup| Day { day, rollup }));
        }
        Ok(days)
    }

    /// Where every pool stands, in the order of their names: one pass over a small table.
    pub fn board(&self) -> Result<Vec<BoardRow>, StoreError> {
        let doing = "reading the board";
        let mut statement = self.connection.prepare_cached(sql::SELECT_STANDINGS).doing(doing)?;
        let mut rows = statement.query(()).doing(doing)?;
        let mut board = Vec::new();
        while let Some(row) = rows.next().doing(doing)? {
            let pool = check_pool(pool_row(row).doing(doing)?)?;
            let standing = standing_row(row).map_err(|error| derived("standing", error, doing))?;
            board.push(BoardRow { pool, standing });
        }
        Ok(board)
    }

    /// Whether and how the pool's slot was taken back.
    pub fn retraction_of(&self, pool: &Pool, slot: Slot) -> Result<Option<Retracted>, StoreError> {
        Ok(self.retractions(pool, slot, slot)?.pop().map(|(_, retracted)| retracted))
    }

    /// The pool's slots from `from` to `to`, both included, that were taken back, ascending.
    pub fn retractions(
        &self,
        pool: &Pool,
        from: Slot,
        to: Slot,
    ) -> Result<Vec<(Slot, Retracted)>, StoreError> {
        let doing = "reading retractions";
        let mut statement = self.connection.prepare_cached(sql::SELECT_RETRACTIONS).doing(doing)?;
        let parameters = named_params! {
            ":pool_no": pool.number, ":from_slot": from.number(), ":to_slot": to.number(),
        };
        let rows = statement
            .query_map(parameters, |row| {
                Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?, row.get(4)?))
            })
            .doing(doing)?;
        let mut retractions = Vec::new();
        for row in rows {
            let row = row.map_err(|error| derived("retraction", error, doing));
            let (slot, by, orphaned, canonical, code): (_, _, _, _, String) = row?;
            let slot = slot_of("retraction", slot)?;
            let retracted = retracted(by, orphaned, canonical)?;
            let expected = match retracted.why {
                TakenBack::Orphaned { .. } => "orphaned",
                TakenBack::Misread => "misread",
            };
            if code != expected {
                let found =
                    format!("the code {:?} of {slot}", code.chars().take(40).collect::<String>());
                return Err(StoreError::CorruptRow { table: "retraction", found });
            }
            retractions.push((slot, retracted));
        }
        Ok(retractions)
    }

    /// The day's row as it is stored.
    pub(crate) fn day(&self, pool: &Pool, day: u32) -> Result<Option<Rollup>, StoreError> {
        let doing = "reading a day";
        let mut statement = self.connection.prepare_cached(sql::SELECT_DAY).doing(doing)?;
        let parameters = named_params! { ":day": day, ":pool_no": pool.number };
        let row = statement.query_row(parameters, |row| day_row(row, day)).optional();
        row.map_err(|error| derived("day", error, doing))
    }

    /// The day as its slots make it.
    pub(crate) fn rollup_of(&self, pool: &Pool, day: u32) -> Result<Rollup, StoreError> {
        let mut rollup = Rollup::default();
        let first = u64::from(day) * u64::from(Slot::PER_DAY);
        let slot = |number| Slot::new(number).unwrap_or(Slot::FIRST);
        let last = slot(first + u64::from(Slot::PER_DAY) - 1);
        for figures in self.figures(pool, slot(first), last, Self::MAX_PAGE)?.entries {
            rollup.add(&figures);
        }
        Ok(rollup)
    }

    /// Where the pool stands, as its rows make it; `None` before its first entry.
    pub(crate) fn standing_of(&self, pool: &Pool) -> Result<Option<Standing>, StoreError> {
        let Some(latest) = self.latest(pool, None)? else { return Ok(None) };
        let entry = latest.entry;
        let absent = |slot| absent(pool, slot);
        let figures = |slot| self.figures_at(pool, slot)?.ok_or_else(|| absent(slot));
        let newest = match latest.snapshot {
            Some((slot, _)) => Some((slot, figures(slot)?.snapshot.ok_or_else(|| absent(slot))?)),
            None => None,
        };
        let window = figures(entry.slot)?.window;
        let mut at_lowest = [None; 2];
        for (token, at_lowest) in at_lowest.iter_mut().enumerate() {
            if let Some((slot, _)) = window.directions[token].lowest {
                *at_lowest = at_lowest_of(&figures(slot)?, token);
            }
        }
        Ok(Some(Standing {
            slot: entry.slot,
            missing: match entry.outcome {
                Outcome::Missing(reason) => Some(reason),
                Outcome::Recorded(_) | Outcome::Retired => None,
            },
            recorded_count: entry.recorded_count,
            newest,
            newer_missing: latest.newer_missing,
            newer_retracted: latest.newer_retracted,
            window,
            at_lowest,
        }))
    }
}

/// What a slot with the lowest depth says besides.
pub(crate) fn at_lowest_of(figures: &Figures, token: usize) -> Option<AtLowest> {
    let basis = figures.snapshot?.directions[token].basis;
    Some(AtLowest { basis, missing_slots: figures.window.missing_slots })
}

fn absent(pool: &Pool, slot: Slot) -> StoreError {
    let found = format!("nothing of {} at {slot}", pool.id);
    StoreError::CorruptRow { table: "figures", found }
}

/// A column of another type is damage, not a failure to read.
pub(crate) fn derived(
    table: &'static str,
    source: rusqlite::Error,
    doing: &'static str,
) -> StoreError {
    match source {
        rusqlite::Error::SqliteFailure(..) => StoreError::Sqlite { doing, source },
        other => StoreError::CorruptRow { table, found: other.to_string() },
    }
}

/// Without hashes, the slot's ticks were misread: so the schema has it.
fn retracted(
    by: i64,
    orphaned: Option<[u8; 32]>,
    canonical: Option<[u8; 32]>,
) -> Result<Retracted, StoreError> {
    let by = slot_of("retraction", by)?;
    let hashes = orphaned.map(BlockHash).zip(canonical.map(BlockHash));
    let why = hashes.map_or(TakenBack::Misread, |(orphaned, canonical)| TakenBack::Orphaned {
        orphaned,
        canonical,
    });
    Ok(Retracted { by, why })
}

/// A row of `select_figures.sql`.
struct FiguresRow {
    entry: EntryRow,
    lowest: [Option<u64>; 2],
    oracle_stale: Option<bool>,
    directions: [Option<DirectionFigures>; 2],
    missing_slots: Option<u32>,
    median: [Option<u64>; 2],
    lowest_back: [Option<u32>; 2],
    retraction: (Option<i64>, Option<[u8; 32]>, Option<[u8; 32]>),
}

fn figures_row(row: &Row) -> rusqlite::Result<FiguresRow> {
    let entry = entry_row(row)?;
    let mut columns = Columns::from(row, 5);
    let depth = [columns.dollars()?, columns.dollars()?];
    Ok(FiguresRow {
        entry,
        lowest: [columns.dollars()?, columns.dollars()?],
        oracle_stale: columns.next()?,
        directions: [columns.gaps(depth[0])?, columns.gaps(depth[1])?],
        missing_slots: columns.next()?,
        median: [columns.dollars()?, columns.dollars()?],
        lowest_back: [columns.next()?, columns.next()?],
        retraction: (columns.next()?, columns.next()?, columns.next()?),
    })
}

fn check_figures(row: FiguresRow) -> Result<Figures, StoreError> {
    let entry = check_entry(row.entry)?;
    let corrupt = |what: &str| StoreError::CorruptRow {
        table: "figures",
        found: format!("{what} at {}", entry.slot),
    };
    let Some(missing_slots) = row.missing_slots else { return Err(corrupt("nothing")) };
    let snapshot = match (row.directions, row.oracle_stale) {
        ([Some(zero), Some(one)], Some(oracle_stale)) => {
            Some(SnapshotFigures { directions: [zero, one], oracle_stale })
        }
        ([None, None], None) => None,
        _ => return Err(corrupt("a part of the figures")),
    };
    if snapshot.is_some() != matches!(entry.outcome, Outcome::Recorded(_)) {
        return Err(corrupt("figures without a snapshot, or none with one"));
    }
    let mut directions = [DepthFigures { median_usd: None, lowest: None }; 2];
    for (token, figures) in directions.iter_mut().enumerate() {
        figures.median_usd = row.median[token];
        figures.lowest = match (row.lowest[token], row.lowest_back[token]) {
            (Some(lowest), Some(back)) => {
                let slot = entry.slot.number().checked_sub(back);
                let slot = slot.and_then(|slot| Slot::new(slot.into()).ok());
                Some((slot.ok_or_else(|| corrupt("a lowest slot too far back"))?, lowest))
            }
            (None, None) => None,
            _ => return Err(corrupt("a lowest depth without its slot, or none with one")),
        };
    }
    let retraction = match row.retraction {
        (Some(by), orphaned, canonical) => Some(retracted(by, orphaned, canonical)?),
        (None, ..) => None,
    };
    let window = WindowFigures { missing_slots, directions };
    Ok(Figures { entry, retraction, snapshot, window })
}

fn day_row(row: &Row, day: u32) -> rusqlite::Result<Rollup> {
    let mut columns = Columns::from(row, 0);
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
        let (lowest, at) = (columns.dollars()?, slot(columns.next()?));
        direction.lowest = at.zip(lowest);
        for gap in &mut direction.gaps {
            let last: Option<Gap> = columns.next()?;
            let (worst, worst_slot) = (columns.basis()?, slot(columns.next()?));
            let refused_slots: Option<u32> = columns.next()?;
            let (least, least_slot) = (columns.dollars()?, slot(columns.next()?));
            *gap = last.zip(refused_slots).map(|(last, refused_slots)| GapRollup {
                last,
                worst: worst_slot.zip(worst),
                refused_slots,
                least_fillable: least_slot.zip(least.map(UsdMicros)),
            });
        }
    }
    Ok(rollup)
}

/// The part of a row of `select_standings.sql` that is not the pool's.
fn standing_row(row: &Row) -> rusqlite::Result<Standing> {
    let mut columns = Columns::from(row, 5);
    let slot = columns.slot()?.unwrap_or(Slot::FIRST);
    let reason: Option<String> = columns.next()?;
    let recorded_count = columns.next()?;
    let newest_slot = columns.slot()?;
    let (newer_missing, newer_retracted) = (columns.next()?, columns.next()?);
    let missing_slots = columns.next()?;
    let oracle_stale: Option<bool> = columns.next()?;
    let mut snapshot = [None; 2];
    for direction in &mut snapshot {
        let depth = columns.dollars()?;
        *direction = columns.gaps(depth)?;
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
        let (median_usd, lowest) = (columns.dollars()?, columns.dollars()?);
        directions[token] = DepthFigures { median_usd, lowest: columns.slot()?.zip(lowest) };
        let (basis, missing_slots): (_, Option<u32>) = (columns.basis()?, columns.next()?);
        at_lowest[token] = missing_slots.map(|missing_slots| AtLowest { basis, missing_slots });
    }
    Ok(Standing {
        slot,
        missing: reason.as_deref().and_then(|code| MissingReason::from_code(code).ok()),
        recorded_count,
        newest,
        newer_missing,
        newer_retracted,
        window: WindowFigures { missing_slots, directions },
        at_lowest,
    })
}
