//! Checks some of the pools, day by day: the part of `fsck` that one thread does.

use std::collections::{BTreeMap, HashMap};
use std::sync::mpsc::SyncSender;

use exitgap_core::evidence::{Head, MAX_RETRACTION_SLOTS, Retraction};
use exitgap_core::ids::{HeadHash, SnapshotHash};
use exitgap_core::series::Slot;
use exitgap_core::tlog::Hash;

use crate::bodies::codec::{self, Dictionaries, Record};
use crate::corrupt::{CorruptBody, CorruptHead};
use crate::db::{BodyRow, SealedBodyRow};
use crate::derived::figures::SnapshotFigures;
use crate::derived::follow::{Follower, check_retracts};
use crate::derived::rollup::day_of;
use crate::derived::week::WeekWindow;
use crate::derived::writer::{day_values, figures_values, standing_values};
use crate::error::StoreError;
use crate::fsck::{Damage, day_count};
use crate::log::{FullEntry, check_head};
use crate::model::{Outcome, Pool};
use crate::reader::Reader;
use crate::rows::full_entry_of;

/// The number of rows of a pool that are read at once. This limits memory.
const ROWS_AT_ONCE: u32 = 48;

/// The same for rows of figures, which are small.
const ROWS_OF_WEEKS: usize = 288;

/// How much is computed again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Depth {
    /// Nothing that a hash already proves.
    Hashes,
    /// Every figure, from the bodies.
    Figures,
}

/// Some of the pools, checked by their own thread.
pub struct Part {
    reader: Reader,
    /// Each pool with its index among all pools.
    pools: Vec<(usize, Pool)>,
    depth: Depth,
    /// The newest head of each pool, by pool number.
    heads: HashMap<i64, (FullEntry, HeadHash)>,
    follower: Follower,
    /// A day whose bodies are known to be archived.
    left_day: Option<u32>,
}

/// The snapshot that a head names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HeldSnapshot {
    /// The head names none.
    None,
    /// In the database.
    Here(SnapshotHash),
    /// Archived.
    Left,
}

/// The result for a correct head.
#[derive(Debug, Clone, Copy)]
pub struct HeldHead {
    /// Its leaf hash.
    pub leaf: Hash,
    /// The snapshot that it names, if any.
    pub snapshot: HeldSnapshot,
    /// Whether it retires its pool.
    pub retired: bool,
    /// The number of slots that it retracts.
    pub retracted: u32,
    /// Whether it commits to a fills document.
    pub fills: bool,
    /// Whether it commits to a document of issued estimates.
    pub issued: bool,
}

/// The result for a pool's head in a slot: the head or the error.
pub struct FoundHead {
    /// The pool's index among all pools.
    pub at: usize,
    /// The result.
    pub found: Result<HeldHead, Box<Damage>>,
}

/// A slot's heads of one part.
pub type FoundHeads = Vec<FoundHead>;

/// A row of a pool's slot: the head and the body of its snapshot.
struct SealedRow {
    head: FullEntry,
    hash: HeadHash,
    body: Option<BodyRow>,
}

impl SealedRow {
    fn from_row(row: SealedBodyRow) -> Result<Self, StoreError> {
        let (head, hash) = full_entry_of(row.head)?;
        let slot = head.entry.slot;
        let body = match row.body {
            Some((found, _)) if found != i64::from(slot.number()) => {
                let found = format!("the body of {slot} stored as the body of slot {found}");
                return Err(StoreError::CorruptRow { table: "body", found });
            }
            body => body.map(|(_, body)| body),
        };
        Ok(Self { head, hash, body })
    }
}

impl Part {
    /// A part of these pools, read by this reader.
    pub fn new(reader: Reader, pools: Vec<(usize, Pool)>, depth: Depth) -> Self {
        Self {
            reader,
            pools,
            depth,
            heads: HashMap::new(),
            follower: Follower::default(),
            left_day: None,
        }
    }

    /// Checks the pools day by day and sends each slot's heads, until there is an error or the receiver is dropped.
    pub fn check(mut self, first: Slot, last: Slot, sender: &SyncSender<FoundHeads>) {
        let pools = std::mem::take(&mut self.pools);
        let mut next = Some(first);
        while let Some(from) = next.filter(|from| *from <= last) {
            let days_last = from.number() - from.number() % Slot::PER_DAY + Slot::PER_DAY - 1;
            let to = Slot::new(days_last.into()).map_or(last, |to| to.min(last));
            let slots = to.number() - from.number() + 1;
            let mut found: Vec<FoundHeads> = (0..slots).map(|_| Vec::new()).collect();
            for (at, pool) in &pools {
                self.check_day(pool, [from, to], |slot, held| {
                    let held = held.map_err(|error| {
                        let pool = Some(pool.id.clone());
                        Box::new(Damage { slot: Some(slot), pool, error: Box::new(error) })
                    });
                    let place = (slot.number() - from.number()) as usize;
                    if let Some(heads) = found.get_mut(place) {
                        heads.push(FoundHead { at: *at, found: held });
                    }
                });
            }
            for heads in found {
                let wrong = heads.iter().any(|head| head.found.is_err());
                if sender.send(heads).is_err() || wrong {
                    return;
                }
            }
            next = to.next();
        }
    }

    /// Checks the pool's slots of a day and stores each result, up to the first error.
    fn check_day(
        &mut self,
        pool: &Pool,
        [from, to]: [Slot; 2],
        mut tell: impl FnMut(Slot, Result<HeldHead, StoreError>),
    ) {
        let from = from.max(pool.first_slot);
        let to = pool.retired_slot.map_or(to, |retired| retired.min(to));
        if from > to {
            return;
        }
        let mut rows = Vec::new().into_iter().peekable();
        let mut kept = Dictionaries::default();
        let (mut next, mut unread) = (Some(from), Some(from));
        while let Some(slot) = next.filter(|slot| *slot <= to) {
            if unread == Some(slot) {
                let until = Slot::new(u64::from(slot.number() + ROWS_AT_ONCE - 1));
                let until = until.map_or(to, |until| until.min(to));
                rows = match self.reader.sealed_rows(pool, slot, until) {
                    Ok(rows) => rows.into_iter().peekable(),
                    Err(error) => return tell(slot, Err(error)),
                };
                unread = until.next();
            }
            let row = rows.next_if(|row| match row {
                Ok(row) => row.head.entry.slot == slot,
                Err((at, _)) => *at == slot,
            });
            let checked = match row {
                Some(Ok(row)) => self.check_row(pool, row, &mut kept),
                Some(Err((_, error))) => Err(error),
                None => Err(rule(pool, slot, "its entry is not in the store")),
            };
            let wrong = checked.is_err();
            tell(slot, checked);
            if wrong {
                return;
            }
            next = slot.next();
        }
    }

    /// Checks a pool's entry, head and body, and its figures if requested.
    fn check_row(
        &mut self,
        pool: &Pool,
        row: SealedRow,
        kept: &mut Dictionaries,
    ) -> Result<HeldHead, StoreError> {
        let SealedRow { head: row, hash, body } = row;
        let slot = row.entry.slot;
        let rule = |words: &str| rule(pool, slot, words);
        let known = self.heads.get(&pool.number);
        let stored = check_head(pool, &row, hash, known.map(|(_, hash)| *hash))?;
        let recorded = match row.entry.outcome {
            Outcome::Recorded(hash) => Some(hash),
            Outcome::Missing(_) | Outcome::Retired => None,
        };
        let retracted = u32::try_from(row.retracts.len()).unwrap_or(u32::MAX);
        let (count, run) =
            known.map_or((0, 0), |(row, _)| (row.entry.recorded_count, row.entry.missing_run));
        let count = (count + u32::from(recorded.is_some())).checked_sub(retracted);
        let run = if recorded.is_some() { 0 } else { run + 1 };
        if (Some(row.entry.recorded_count), row.entry.missing_run) != (count, run) {
            return Err(rule("its counts are inconsistent"));
        }
        let retired = row.entry.outcome == Outcome::Retired;
        if retired != (pool.retired_slot == Some(slot)) {
            return Err(rule("it contradicts the pool's retirement"));
        }
        let left = recorded.is_some() && body.is_none() && self.has_left(slot)?;
        match (self.depth, row.entry.outcome) {
            (Depth::Figures, _) => self.check_figures(pool, &row)?,
            (Depth::Hashes, outcome) => {
                for retraction in &row.retracts {
                    // For archived days, `exitgap audit` checks this.
                    if !self.has_left(retraction.slot)? {
                        check_retracts(&self.reader, pool, slot, retraction)?;
                    }
                }
                if let Outcome::Recorded(hash) = outcome
                    && !left
                {
                    let absent = StoreError::Corrupt { hash, what: CorruptBody::Absent };
                    self.reader.check_body(&body.ok_or(absent)?, slot, kept)?;
                }
            }
        }
        let fills = row.fills.is_some();
        if fills {
            self.reader.fills_of(pool, slot)?;
        }
        let issued = row.issued.is_some();
        if issued {
            self.reader.issued_of(pool, slot)?;
        }
        self.heads.insert(pool.number, (row, hash));
        let leaf = Head::leaf_of(&stored.canonical);
        let snapshot = match recorded {
            Some(_) if left => HeldSnapshot::Left,
            Some(hash) => HeldSnapshot::Here(hash),
            None => HeldSnapshot::None,
        };
        Ok(HeldHead { leaf, snapshot, retired, retracted, fills, issued })
    }

    /// Whether the slot's bodies are archived.
    fn has_left(&mut self, slot: Slot) -> Result<bool, StoreError> {
        let day = day_of(slot);
        if self.left_day != Some(day) && self.reader.db.has_left(day)? {
            self.left_day = Some(day);
        }
        Ok(self.left_day == Some(day))
    }

    /// Computes a slot's figures again, which must match its head and its derived row.
    fn check_figures(&mut self, pool: &Pool, row: &FullEntry) -> Result<(), StoreError> {
        let slot = row.entry.slot;
        let (snapshot, window, _) = self.follower.follow(&self.reader, pool, row)?;
        let lowest = window.directions.map(|figures| figures.lowest.map(|(_, depth)| depth));
        if row.lowest != lowest {
            return Err(rule(pool, slot, "its lowest depths differ from those of its window"));
        }
        let figures = figures_values(pool.number, slot, snapshot.as_ref(), &window);
        if !self.reader.db.figures_are(pool.number, slot, &figures)? {
            return Err(StoreError::Derived { table: "figures", pool: pool.id.clone(), at: slot });
        }
        Ok(())
    }

    /// Checks the derived data of these pools across slots. On an error, returns the index of the first wrong pool.
    pub fn check_derived(&self, last: Slot) -> Result<(), (usize, Damage)> {
        for (at, pool) in &self.pools {
            let rollups = self.reader.check_rollups_of(pool, last);
            rollups.and_then(|()| self.reader.check_weeks_of(pool, last)).map_err(|error| {
                (*at, Damage { pool: Some(pool.id.clone()), ..Damage::from(error) })
            })?;
        }
        Ok(())
    }
}

fn rule(pool: &Pool, slot: Slot, words: &str) -> StoreError {
    let what = CorruptHead::Rule(words.to_owned());
    StoreError::CorruptHead { pool: pool.id.clone(), slot, what }
}

/// A row, or the error and its slot.
type FoundRow = Result<SealedRow, (Slot, StoreError)>;

impl Reader {
    /// The pool's rows of some slots, each with its body, in one query.
    fn sealed_rows(&self, pool: &Pool, from: Slot, to: Slot) -> Result<Vec<FoundRow>, StoreError> {
        let mut retracts: HashMap<Slot, Vec<Retraction>> = self.retracts(pool, from, to)?;
        let (mut found, mut next) = (Vec::new(), Some(from));
        for row in self.db.sealed_bodies(pool.number, [from, to])? {
            // A row that cannot be read counts as the row of the next expected slot.
            let at = next.unwrap_or(to);
            match row.and_then(SealedRow::from_row) {
                Ok(mut row) => {
                    let slot = row.head.entry.slot;
                    // A head cannot retract a slot that is further back than the limit.
                    let near = |retracted: &Retraction| {
                        retracted.slot.number() + MAX_RETRACTION_SLOTS >= slot.number()
                    };
                    row.head.retracts = retracts.remove(&slot).unwrap_or_default();
                    row.head.retracts.retain(near);
                    next = slot.next();
                    found.push(Ok(row));
                }
                Err(error) => {
                    next = at.next();
                    found.push(Err((at, error)));
                }
            }
        }
        Ok(found)
    }

    /// Requires that a body matches both hashes of its row. `kept` are the day's bodies of the pool that it may use as
    /// dictionaries.
    fn check_body(
        &self,
        row: &BodyRow,
        slot: Slot,
        kept: &mut Dictionaries,
    ) -> Result<(), StoreError> {
        let (body_no, level) = (row.body_no, row.level);
        let base = row.base_no().map(|base| kept.find(base).filter(|base| base.level < level));
        let joined = match base {
            // It uses another dictionary than a recorder would choose.
            Some(None) => return self.documents_of(row, slot, kept).map(|_| ()),
            Some(Some(base)) => row.unpack(Some(&base.joined))?,
            // Its level requires a dictionary, but it names none.
            None if level > 0 => return self.documents_of(row, slot, kept).map(|_| ()),
            None => row.unpack(None)?,
        };
        if level < codec::MAX_LEVEL {
            kept.add(Record { body_no, level, slot, joined });
        }
        Ok(())
    }

    /// Requires that the pool's figures are those that its days were computed from, and that its days and standing
    /// follow from its figures.
    fn check_rollups_of(&self, pool: &Pool, last: Slot) -> Result<(), StoreError> {
        let wrong = |table, at| StoreError::Derived { table, pool: pool.id.clone(), at };
        let first_day = day_of(pool.first_slot);
        for day in first_day..first_day + day_count(pool, last) {
            // One consistent view of the store for all reads, even while a recorder writes.
            let _view = self.db.view("reading a day")?;
            let at = Slot::new(u64::from(day) * u64::from(Slot::PER_DAY)).unwrap_or(Slot::FIRST);
            let digest = self.figures_digest(pool, day)?;
            let stored = self.stored_digest(pool, day)?.ok_or_else(|| wrong("day", at))?;
            if stored != digest {
                return Err(wrong("figures", at));
            }
            let expected = as_derived("figures", pool, at, self.rollup_of(pool, day))?;
            let expected = day_values(pool.number, day, &expected, digest);
            if !self.db.day_is(pool.number, day, &expected)? {
                return Err(wrong("day", at));
            }
        }
        let _view = self.db.view("reading a status")?;
        let at = last;
        let expected = as_derived("figures", pool, at, self.standing_of(pool))?;
        let expected = expected.map(|standing| standing_values(pool.number, &standing));
        if !self.db.standing_is(pool.number, expected.as_ref())? {
            return Err(wrong("standing", at));
        }
        Ok(())
    }
}

impl Reader {
    /// Requires that the pool's rows of `week` follow from its figures, which were checked before.
    fn check_weeks_of(&self, pool: &Pool, last: Slot) -> Result<(), StoreError> {
        let (mut week, mut next) = (WeekWindow::default(), Some(pool.first_slot));
        let mut retracted: BTreeMap<Slot, Vec<Slot>> = BTreeMap::new();
        while let Some(from) = next {
            let page =
                as_derived("figures", pool, from, self.figures(pool, from, last, ROWS_OF_WEEKS))?;
            for figures in page.entries {
                let slot = figures.entry.slot;
                for earlier in retracted.remove(&slot).unwrap_or_default() {
                    week.retract(earlier);
                }
                if let Some(retraction) = figures.retraction {
                    retracted.entry(retraction.by).or_default().push(slot);
                }
                week.add(slot, figures.snapshot.as_ref().map(SnapshotFigures::slot_depths));
                if figures.week != Some(week.figures()) {
                    let pool = pool.id.clone();
                    return Err(StoreError::Derived { table: "week", pool, at: slot });
                }
            }
            next = page.next;
        }
        Ok(())
    }
}

/// Reports an error as an error of this derived table.
fn as_derived<T>(
    table: &'static str,
    pool: &Pool,
    at: Slot,
    read: Result<T, StoreError>,
) -> Result<T, StoreError> {
    read.map_err(|error| match error {
        StoreError::CorruptRow { table: "week", .. } => {
            StoreError::Derived { table: "week", pool: pool.id.clone(), at }
        }
        StoreError::CorruptRow { table: "figures" | "day" | "standing", .. } => {
            StoreError::Derived { table, pool: pool.id.clone(), at }
        }
        error => error,
    })
}
