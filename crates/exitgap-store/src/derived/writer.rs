//! Writes the derived rows of a slot in the slot's transaction.
//!
//! The state that they depend on is kept per pool from slot to slot, and reread after a restart or a failure. Damaged
//! derived rows never stop the series: state that cannot be reread starts anew, and `fsck` reports the difference.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};

use exitgap_core::series::{MissingReason, Slot};

use crate::db::{Db, Values};
use crate::derived::figures::{AtLowest, PoolStatus, SnapshotFigures, WindowFigures};
use crate::derived::reader::at_lowest_of;
use crate::derived::rollup::{Rollup, day_of};
use crate::derived::week::{WeekFigures, WeekWindow, slot_depths};
use crate::derived::window::{DepthWindow, WindowEntry};
use crate::error::StoreError;
use crate::model::{Entry as PoolEntry, Outcome, Pool};
use crate::reader::Reader;

/// The state that the next slot's derived rows depend on.
#[derive(Debug, Default)]
pub struct DerivedState {
    /// By the pool's number.
    pools: BTreeMap<i64, State>,
}

#[derive(Debug, Default)]
struct State {
    window: DepthWindow,
    week: WeekWindow,
    day: u32,
    rollup: Rollup,
    /// The hash chain over the day's rows of figures.
    digest: [u8; 32],
    standing: Option<PoolStatus>,
    /// Whether day and status are not yet written.
    dirty: bool,
    /// Whether the pool has no further entries.
    ended: bool,
}

impl DerivedState {
    /// Clears everything, because counted data may not have been written.
    pub fn clear(&mut self) {
        self.pools.clear();
    }

    /// The number of pools with known state.
    pub fn len(&self) -> usize {
        self.pools.len()
    }

    /// Reads the state that the pool's rows for `slot`, the next one, depend on.
    pub fn know(&mut self, reader: &Reader, pool: &Pool, slot: Slot) -> Result<(), StoreError> {
        self.pools.insert(pool.number, State::load_before(reader, pool, slot)?);
        Ok(())
    }

    /// Adds the state of other pools.
    pub fn take_in(&mut self, others: Self) {
        self.pools.extend(others.pools);
    }

    /// Advances the pool's window to `slot` and returns its figures. Retracted slots, whose rows are already written,
    /// are left out. The slot's own entry is not written yet.
    pub fn advance(
        &mut self,
        reader: &Reader,
        pool: &Pool,
        slot: Slot,
        added: WindowEntry,
        retracts: &[Slot],
    ) -> Result<WindowFigures, StoreError> {
        let state = match self.pools.entry(pool.number) {
            Entry::Occupied(kept) => kept.into_mut(),
            Entry::Vacant(vacant) => vacant.insert(State::load_before(reader, pool, slot)?),
        };
        if state.day != day_of(slot) {
            if state.dirty {
                state.write_day(&reader.db, pool.number)?;
            }
            (state.day, state.rollup, state.digest) = (day_of(slot), Rollup::default(), [0; 32]);
        }
        for retracted in retracts {
            state.window.retract(*retracted);
            state.week.retract(*retracted);
        }
        let days: BTreeSet<u32> = retracts.iter().map(|slot| day_of(*slot)).collect();
        for day in days {
            let Some(rollup) = ignore_damage(reader.rollup_of(pool, day))? else { continue };
            if day == state.day {
                state.rollup = rollup;
            } else {
                // The slot's own figures stay. That it no longer counts changes only the day.
                let digest = reader.stored_digest(pool, day)?.unwrap_or_default();
                write_day(&reader.db, pool.number, day, &rollup, digest)?;
            }
        }
        let newest = state.standing.and_then(|standing| standing.newest);
        if newest.is_some_and(|(newest, _)| retracts.contains(&newest)) {
            state.standing = ignore_damage(reader.standing_of(pool))?.flatten();
        }
        state.window.add(slot, added);
        Ok(state.window.figures())
    }

    /// Writes the figures of the slot that [`DerivedState::advance`] advanced to, and notes them for day and status.
    /// Its entry must already be written.
    pub fn write_figures(
        &mut self,
        reader: &Reader,
        pool: &Pool,
        entry: &PoolEntry,
        snapshot: Option<&SnapshotFigures>,
        window: &WindowFigures,
    ) -> Result<(), StoreError> {
        let slot = entry.slot;
        let values = figures_values(pool.number, slot, snapshot, window);
        let state = self.pools.entry(pool.number).or_default();
        state.digest = values.chain_hash(state.digest);
        reader.db.put_figures(&values)?;
        state.week.add(slot, snapshot.map(SnapshotFigures::slot_depths));
        reader.db.put_week(&week_values(pool.number, slot, &state.week.figures()))?;
        match (entry.outcome, snapshot) {
            (Outcome::Missing(_), _) => state.rollup.add_missing(),
            (Outcome::Recorded(_), Some(snapshot)) => state.rollup.add_snapshot(slot, snapshot),
            _ => {}
        }
        state.stand(reader, pool, entry, snapshot, window)?;
        state.dirty = true;
        state.ended = entry.outcome == Outcome::Retired;
        Ok(())
    }

    /// Writes days and statuses of all pools that advanced, before the commit.
    pub fn finish(&mut self, reader: &Reader) -> Result<(), StoreError> {
        for (pool_no, state) in self.pools.iter_mut().filter(|(_, state)| state.dirty) {
            state.write_day(&reader.db, *pool_no)?;
            if let Some(standing) = &state.standing {
                reader.db.put_standing(&standing_values(*pool_no, standing))?;
            }
            state.dirty = false;
        }
        self.pools.retain(|_, state| !state.ended);
        Ok(())
    }
}

impl State {
    /// The state before `slot`.
    fn load_before(reader: &Reader, pool: &Pool, slot: Slot) -> Result<Self, StoreError> {
        let Some(last) = slot.previous().filter(|last| *last >= pool.first_slot) else {
            return Ok(Self { day: day_of(slot), ..Self::default() });
        };
        let day = day_of(last);
        let (window, week) = windows_of(reader, pool, last)?;
        Ok(Self {
            window,
            week,
            day,
            rollup: ignore_damage(reader.rollup_of(pool, day))?.unwrap_or_default(),
            // The chain as it was written, so that later damage stays detectable.
            digest: reader.stored_digest(pool, day)?.unwrap_or_default(),
            standing: ignore_damage(reader.standing_of(pool))?.flatten(),
            dirty: false,
            ended: false,
        })
    }

    fn write_day(&self, db: &Db, pool_no: i64) -> Result<(), StoreError> {
        write_day(db, pool_no, self.day, &self.rollup, self.digest)
    }

    /// Updates the status with the entry.
    fn stand(
        &mut self,
        reader: &Reader,
        pool: &Pool,
        entry: &PoolEntry,
        snapshot: Option<&SnapshotFigures>,
        window: &WindowFigures,
    ) -> Result<(), StoreError> {
        let slot = entry.slot;
        let before = self.standing;
        let (mut newest, mut newer_missing, mut newer_retracted) = before
            .map_or((None, 0, 0), |before| {
                (before.newest, before.newer_missing, before.newer_retracted)
            });
        let mut missing = None;
        match (entry.outcome, snapshot) {
            (Outcome::Recorded(_), Some(snapshot)) => {
                (newest, newer_missing, newer_retracted) = (Some((slot, *snapshot)), 0, 0);
            }
            (Outcome::Missing(reason), _) => {
                (missing, newer_missing) = (Some(reason), newer_missing + 1);
            }
            _ => {}
        }
        let mut at_lowest = [None; 2];
        for (token, at_lowest) in at_lowest.iter_mut().enumerate() {
            let Some((lowest, _)) = window.directions[token].lowest else { continue };
            let known = before
                .filter(|before| {
                    let known = before.window.directions[token].lowest;
                    known.is_some_and(|(slot, _)| slot == lowest)
                })
                .and_then(|before| before.at_lowest[token]);
            *at_lowest = match (known, snapshot) {
                (Some(known), _) => Some(known),
                (None, Some(snapshot)) if lowest == slot => Some(AtLowest {
                    basis: snapshot.directions[token].basis,
                    missing_slots: window.missing_slots,
                }),
                _ => {
                    let figures = ignore_damage(reader.figures_at(pool, lowest))?.flatten();
                    figures.and_then(|figures| at_lowest_of(&figures, token))
                }
            };
        }
        self.standing = Some(PoolStatus {
            slot,
            missing,
            recorded_count: entry.recorded_count,
            newest,
            newer_missing,
            newer_retracted,
            window: *window,
            at_lowest,
        });
        Ok(())
    }
}

/// The pool's windows that end at `last`: depths according to its newest heads, books and leads according to its figures.
fn windows_of(
    reader: &Reader,
    pool: &Pool,
    last: Slot,
) -> Result<(DepthWindow, WeekWindow), StoreError> {
    let first = last.number().saturating_sub(exitgap_core::evidence::LOWEST_DEPTH_SLOTS - 1);
    let (mut window, mut week) = (DepthWindow::default(), WeekWindow::default());
    let first = Slot::new(first.into()).unwrap_or(Slot::FIRST);
    let mut next = first.max(pool.first_slot);
    reader.db.window(pool.number, [first, last], |row| {
        let added = match (row.missing, row.retracted) {
            (_, true) => WindowEntry::Nothing,
            (true, _) => WindowEntry::Missing,
            (false, _) => WindowEntry::Recorded(row.depth_usd),
        };
        window.add(next, added);
        let counts = matches!(added, WindowEntry::Recorded(_));
        week.add(next, counts.then(|| slot_depths(row.depth_usd, row.book_usd, row.basis)));
        next = next.next().unwrap_or(next);
        Ok(())
    })?;
    Ok((window, week))
}

/// `None` if a derived row is damaged.
pub(crate) fn ignore_damage<T>(read: Result<T, StoreError>) -> Result<Option<T>, StoreError> {
    match read {
        Err(StoreError::CorruptRow { table: "figures" | "week" | "day" | "standing", .. }) => {
            Ok(None)
        }
        read => read.map(Some),
    }
}

/// The row of `figures`.
pub fn figures_values(
    pool_no: i64,
    slot: Slot,
    snapshot: Option<&SnapshotFigures>,
    window: &WindowFigures,
) -> Values {
    let mut values = Values::with_keys([pool_no, slot.number().into()]);
    values.add(snapshot.map(|snapshot| snapshot.oracle_stale));
    for token in 0..2 {
        values.gaps(snapshot.map(|snapshot| &snapshot.directions[token]));
    }
    values.add(Some(window.missing_slots));
    for figures in &window.directions {
        values.dollars(figures.median_usd);
    }
    for figures in &window.directions {
        let back = |lowest: Slot| slot.number().saturating_sub(lowest.number());
        values.add(figures.lowest.map(|(lowest, _)| back(lowest)));
    }
    values
}

/// The row of `week`.
pub fn week_values(pool_no: i64, slot: Slot, week: &WeekFigures) -> Values {
    let back = |at: Slot| slot.number().saturating_sub(at.number());
    let mut values = Values::with_keys([pool_no, slot.number().into()]);
    for lows in week {
        values.dollars(lows.at_lowest_depth.and_then(|(book_usd, _)| book_usd));
        values.add(lows.at_lowest_depth.map(|(_, lead_e6)| lead_e6));
        values.dollars(lows.lowest_book.map(|(_, book_usd)| book_usd));
        values.add(lows.lowest_book.map(|(at, _)| back(at)));
        values.dollars(lows.median_book_usd);
        values.add(lows.lead.largest.map(|(_, lead_e6)| lead_e6));
        values.add(lows.lead.largest.map(|(at, _)| back(at)));
        values.add(Some(lows.lead.slots));
        values.add(lows.lead.longest_run.map(|(_, slots)| slots));
        values.add(lows.lead.longest_run.map(|(from, _)| back(from)));
    }
    values
}

/// The row of `day`, over rows of figures with this hash chain.
pub fn day_values(pool_no: i64, day: u32, rollup: &Rollup, figures: [u8; 32]) -> Values {
    let at = |slot: Slot| slot.number() % Slot::PER_DAY;
    let mut values = Values::with_keys([day.into(), pool_no]);
    values.add(Some(rollup.recorded_slots));
    values.add(Some(rollup.missing_slots));
    values.add(Some(rollup.retracted_slots));
    values.add(rollup.last.map(at));
    for direction in &rollup.directions {
        values.dollars(direction.lowest.map(|(_, depth)| depth));
        values.add(direction.lowest.map(|(slot, _)| at(slot)));
        for gap in direction.gaps {
            let worst = gap.and_then(|gap| gap.worst);
            let least = gap.and_then(|gap| gap.least_fillable);
            values.gap(gap.map(|gap| gap.last));
            values.percent(worst.map(|(_, percent)| percent));
            values.add(worst.map(|(slot, _)| at(slot)));
            values.add(gap.map(|gap| gap.refused_slots));
            values.dollars(least.map(|(_, micros)| micros.0));
            values.add(least.map(|(slot, _)| at(slot)));
        }
    }
    values.hash(figures);
    values
}

/// The row of `standing`.
pub fn standing_values(pool_no: i64, standing: &PoolStatus) -> Values {
    let mut values = Values::with_keys([pool_no, standing.slot.number().into()]);
    values.code(standing.missing.as_ref().map(MissingReason::code));
    values.add(Some(standing.recorded_count));
    values.add(standing.newest.map(|(slot, _)| slot.number()));
    values.add(Some(standing.newer_missing));
    values.add(Some(standing.newer_retracted));
    values.add(Some(standing.window.missing_slots));
    values.add(standing.newest.map(|(_, snapshot)| snapshot.oracle_stale));
    for token in 0..2 {
        let direction = standing.newest.as_ref().map(|(_, snapshot)| &snapshot.directions[token]);
        values.dollars(direction.and_then(|direction| direction.depth_usd));
        values.gaps(direction);
    }
    for (figures, at_lowest) in standing.window.directions.iter().zip(standing.at_lowest) {
        values.dollars(figures.median_usd);
        values.dollars(figures.lowest.map(|(_, depth)| depth));
        values.add(figures.lowest.map(|(slot, _)| slot.number()));
        values.percent(at_lowest.and_then(|at_lowest| at_lowest.basis));
        values.add(at_lowest.map(|at_lowest| at_lowest.missing_slots));
    }
    values
}

/// Writes a row of `day`.
pub fn write_day(
    db: &Db,
    pool_no: i64,
    day: u32,
    rollup: &Rollup,
    figures: [u8; 32],
) -> Result<(), StoreError> {
    db.put_day(&day_values(pool_no, day, rollup, figures))
}

impl Reader {
    /// The hash chain over the pool's stored rows of `figures` of a day.
    pub(crate) fn figures_digest(&self, pool: &Pool, day: u32) -> Result<[u8; 32], StoreError> {
        let first = i64::from(day) * i64::from(Slot::PER_DAY);
        self.db.figures_chain(pool.number, first, first + i64::from(Slot::PER_DAY) - 1)
    }

    /// The chain as stored in the day's row; `None` if there is no such row, or it has no hash.
    pub(crate) fn stored_digest(
        &self,
        pool: &Pool,
        day: u32,
    ) -> Result<Option<[u8; 32]>, StoreError> {
        let found = self.db.day_chain(pool.number, day)?;
        Ok(found.and_then(|found| found.try_into().ok()))
    }
}
