//! Reads figures: of slots, of days, and of all pools at once.

use exitgap_core::ids::BlockHash;
use exitgap_core::series::Slot;

use crate::db::FiguresRow;
use crate::derived::figures::{
    AtLowest, BoardRow, DepthFigures, Figures, PoolStatus, SlotRetraction, SnapshotFigures,
    TakenBack, WindowFigures,
};
use crate::derived::rollup::{Day, Rollup, day_of};
use crate::derived::week::WeekFigures;
use crate::derived::writer::ignore_damage;
use crate::error::StoreError;
use crate::model::{Outcome, Page, Pool};
use crate::reader::Reader;
use crate::rows::{entry_of, pool_of, slot_of};

impl Reader {
    /// The pool's slots from `from` to `to`, both included, ascending, each with its figures, including missing,
    /// retracted and last slots. At most `limit`, and never more than [`Reader::MAX_PAGE`].
    pub fn figures(
        &self,
        pool: &Pool,
        from: Slot,
        to: Slot,
        limit: usize,
    ) -> Result<Page<Figures>, StoreError> {
        let limit = limit.clamp(1, Self::MAX_PAGE);
        let entries = self.db.figures(pool.number, [from, to], limit, figures_of)?;
        let last = entries.last().filter(|_| entries.len() == limit);
        let next = last.and_then(|last| last.entry.slot.next()).filter(|next| *next <= to);
        Ok(Page { entries, next })
    }

    /// The pool's figures for one slot; `None` if it has no entry.
    pub fn figures_at(&self, pool: &Pool, slot: Slot) -> Result<Option<Figures>, StoreError> {
        Ok(self.figures(pool, slot, slot, 1)?.entries.pop())
    }

    /// Both readings of the pool's depth over the seven days up to a slot; `None` if they are not there, or damaged.
    pub fn week_at(&self, pool: &Pool, slot: Slot) -> Result<Option<WeekFigures>, StoreError> {
        Ok(ignore_damage(self.figures_at(pool, slot))?.flatten().and_then(|figures| figures.week))
    }

    /// The pool's UTC days from `from_day` to `to_day`, both included, ascending, as far as it has slots in them. Days
    /// are counted from 1970-01-01.
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

    /// The status of every pool, in the order of names, from one pass over a small table.
    pub fn board(&self) -> Result<Vec<BoardRow>, StoreError> {
        self.db.standings(|(pool, standing, week)| {
            Ok(BoardRow { pool: pool_of(pool)?, standing, week })
        })
    }

    /// The retraction of the pool's slot, if there is one.
    pub fn retraction_of(
        &self,
        pool: &Pool,
        slot: Slot,
    ) -> Result<Option<SlotRetraction>, StoreError> {
        Ok(self.retractions(pool, slot, slot)?.pop().map(|(_, retracted)| retracted))
    }

    /// The pool's retracted slots from `from` to `to`, both included, ascending.
    pub fn retractions(
        &self,
        pool: &Pool,
        from: Slot,
        to: Slot,
    ) -> Result<Vec<(Slot, SlotRetraction)>, StoreError> {
        self.db.retractions(pool.number, [from, to], |row| {
            let slot = slot_of("retraction", row.slot)?;
            let retracted = make_retraction(row.by, row.orphaned, row.canonical)?;
            let expected = match retracted.why {
                TakenBack::Orphaned { .. } => "orphaned",
                TakenBack::Misread => "misread",
            };
            if row.code != expected {
                let code: String = row.code.chars().take(40).collect();
                let found = format!("the code {code:?} of {slot}");
                return Err(StoreError::CorruptRow { table: "retraction", found });
            }
            Ok((slot, retracted))
        })
    }

    /// The day's row as it is stored.
    pub(crate) fn day(&self, pool: &Pool, day: u32) -> Result<Option<Rollup>, StoreError> {
        self.db.day(pool.number, day)
    }

    /// The day computed from its slots.
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

    /// The pool's status computed from its rows; `None` before its first entry.
    pub(crate) fn standing_of(&self, pool: &Pool) -> Result<Option<PoolStatus>, StoreError> {
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
        Ok(Some(PoolStatus {
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

/// Further values of a slot with the lowest depth.
pub(crate) fn at_lowest_of(figures: &Figures, token: usize) -> Option<AtLowest> {
    let basis = figures.snapshot?.directions[token].basis;
    Some(AtLowest { basis, missing_slots: figures.window.missing_slots })
}

fn absent(pool: &Pool, slot: Slot) -> StoreError {
    let found = format!("nothing for {} at {slot}", pool.id);
    StoreError::CorruptRow { table: "figures", found }
}

/// A retraction without hashes means that the slot's ticks were misread; the schema guarantees this.
fn make_retraction(
    by: i64,
    orphaned: Option<[u8; 32]>,
    canonical: Option<[u8; 32]>,
) -> Result<SlotRetraction, StoreError> {
    let by = slot_of("retraction", by)?;
    let hashes = orphaned.map(BlockHash).zip(canonical.map(BlockHash));
    let why = hashes.map_or(TakenBack::Misread, |(orphaned, canonical)| TakenBack::Orphaned {
        orphaned,
        canonical,
    });
    Ok(SlotRetraction { by, why })
}

/// A slot with its figures.
fn figures_of(row: FiguresRow) -> Result<Figures, StoreError> {
    let entry = entry_of(row.entry)?;
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
        return Err(corrupt("figures without a snapshot, or a snapshot without figures"));
    }
    let mut directions = [DepthFigures { median_usd: None, lowest: None }; 2];
    for (token, figures) in directions.iter_mut().enumerate() {
        figures.median_usd = row.median_usd[token];
        figures.lowest = match (row.lowest_7d_usd[token], row.lowest_back[token]) {
            (Some(lowest), Some(back)) => {
                let slot = entry.slot.number().checked_sub(back);
                let slot = slot.and_then(|slot| Slot::new(slot.into()).ok());
                Some((slot.ok_or_else(|| corrupt("a lowest slot too far back"))?, lowest))
            }
            (None, None) => None,
            _ => {
                return Err(corrupt(
                    "a lowest depth without its slot, or a slot without a lowest depth",
                ));
            }
        };
    }
    let retraction = match row.retraction {
        (Some(by), orphaned, canonical) => Some(make_retraction(by, orphaned, canonical)?),
        (None, ..) => None,
    };
    let window = WindowFigures { missing_slots, directions };
    Ok(Figures { entry, retraction, snapshot, window, week: row.week })
}
