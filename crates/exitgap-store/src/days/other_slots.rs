//! The columns of a pool's figures that follow from other slots than the row's: those over seven days, and the slot that
//! retracted the row's. They are recomputed from heads, as far as these are there.

use std::collections::BTreeMap;

use exitgap_core::evidence::{Head, HeadEntry, LOWEST_DEPTH_SLOTS, MAX_RETRACTION_SLOTS};
use exitgap_core::ids::{HeadHash, PoolId};
use exitgap_core::series::Slot;

use super::around::RawHead;
use super::fault::DayFault;
use super::rows::{FIRST_MEDIAN, OWN_FIGURES, dollars, figures_table, slot_cell, window_cells};
use super::table::{Cell, Row};
use crate::derived::window::{DepthWindow, WindowEntry};

/// A head and its hash.
pub type HashedHead = (Head, HeadHash);

/// Whether columns were recomputed, and what was wrong with them.
#[derive(Debug, Clone, Default)]
pub struct Recomputed {
    /// Whether every row was.
    pub every_row: bool,
    /// The first row that differs, where that follows from other days than the audited one: it is a fault only if those hold.
    pub fault: Option<DayFault>,
}

impl Recomputed {
    /// The same of the next pool, too.
    pub fn add(&mut self, other: Self) {
        self.every_row &= other.every_row;
        if self.fault.is_none() {
            self.fault = other.fault;
        }
    }
}

/// The seven days up to a row.
pub struct SevenDays {
    window: DepthWindow,
    /// The first slot whose entry is known.
    begins: Option<Slot>,
    /// Whether that is the pool's first, so that nothing before it is needed.
    is_whole: bool,
    /// Whether entries of other days are among them.
    uses_other_days: bool,
    recomputed: Recomputed,
}

impl SevenDays {
    /// Begins with a pool's heads of the days before, and gives the last of them.
    pub fn from_heads(pool: &PoolId, before: &[RawHead]) -> (Self, Option<HashedHead>) {
        let recomputed = Recomputed { every_row: true, fault: None };
        let (window, begins) = (DepthWindow::default(), None);
        let mut days = Self {
            window,
            begins,
            is_whole: false,
            uses_other_days: !before.is_empty(),
            recomputed,
        };
        let mut last: Option<HashedHead> = None;
        for raw in before {
            match read_head(pool, raw, last.as_ref()) {
                Ok(head) => {
                    days.add(&head.0);
                    last = Some(head);
                }
                Err(fault) => {
                    // That day's own audit names it as a fault; here it only leaves columns unchecked.
                    days.put_off(fault.unknown(true));
                    return (days, None);
                }
            }
        }
        (days, last)
    }

    /// Adds what follows from other days, and is a fault only if they hold.
    pub fn put_off(&mut self, fault: DayFault) {
        self.recomputed.every_row = false;
        self.recomputed.fault.get_or_insert(fault);
    }

    fn add(&mut self, head: &Head) {
        for retraction in &head.retracts {
            self.window.retract(retraction.slot);
        }
        let added = match &head.entry {
            HeadEntry::Recorded { depth_usd, .. } => WindowEntry::Recorded(*depth_usd),
            HeadEntry::Missing(_) => WindowEntry::Missing,
            HeadEntry::Retired => WindowEntry::Nothing,
        };
        self.window.add(head.slot, added);
        if self.begins.is_none() {
            self.begins = Some(head.slot);
            self.is_whole = head.height == 0;
        }
    }

    /// Adds the row's head, and compares the row's columns over seven days with those of the heads up to it.
    pub fn check_row(&mut self, head: &Head, found: &Row) -> Result<(), DayFault> {
        self.add(head);
        let reach = head.slot.number().saturating_sub(LOWEST_DEPTH_SLOTS - 1);
        if !self.is_whole && self.begins.is_none_or(|begins| begins.number() > reach) {
            self.recomputed.every_row = false;
            return Ok(());
        }
        let fault = self.difference(head, found).map(|fault| fault.at(head.slot).by(&head.pool));
        match fault {
            Some(fault) if self.uses_other_days => self.put_off(fault),
            Some(fault) => return Err(fault),
            None => {}
        }
        Ok(())
    }

    fn difference(&mut self, head: &Head, found: &Row) -> Option<DayFault> {
        let window = self.window.figures();
        let lowest = window.directions.map(|direction| direction.lowest.map(|(_, usd)| usd));
        if lowest != head.lowest_depth_7d_usd {
            let detail = format!(
                "lowest_depth_7d_usd is {:?}, but the heads of seven days give {lowest:?}",
                head.lowest_depth_7d_usd
            );
            return Some(DayFault::new("lowest_depth_mismatch", detail));
        }
        let cells = found.iter().enumerate().skip(OWN_FIGURES + 1);
        let mut differing =
            cells.zip(window_cells(&window)).filter(|((_, found), cell)| *found != cell);
        let ((column, found), expected) =
            differing.find(|((column, found), _)| !self.is_earlier_median(*column, found))?;
        Some(differs(column, found, &expected, "the heads of seven days give"))
    }

    /// Whether a cell is a median as days had it before 30 November 2026: of an even number, the mean of the middle two.
    fn is_earlier_median(&self, column: usize, found: &Cell) -> bool {
        let token = column.checked_sub(FIRST_MEDIAN).filter(|token| *token < 2);
        let mean = token.and_then(|token| self.window.mean_of_middle(token));
        mean.is_some_and(|mean| *found == dollars(Some(mean)))
    }

    /// What became of the rows.
    pub fn recomputed(self) -> Recomputed {
        self.recomputed
    }
}

/// The slots that retracted rows.
#[derive(Default)]
pub struct Retractions {
    /// The day's slots that heads of the day retract, each with the slot of that head.
    own: BTreeMap<Slot, Slot>,
    /// Each row's slot, whether it has a snapshot, and its cell.
    rows: Vec<(Slot, bool, Cell)>,
}

impl Retractions {
    /// Adds a row of the day.
    pub fn add(&mut self, head: &Head, found: &Row) {
        self.own.extend(head.retracts.iter().map(|retraction| (retraction.slot, head.slot)));
        let cell = found.get(OWN_FIGURES).cloned().unwrap_or(Cell::Null);
        let is_recorded = matches!(head.entry, HeadEntry::Recorded { .. });
        self.rows.push((head.slot, is_recorded, cell));
    }

    /// Compares the rows with the heads of the day, and with those of the day after where they are there. `last` is the
    /// day's last head.
    pub fn check(
        self,
        pool: &PoolId,
        last: &HashedHead,
        after: Option<&[RawHead]>,
    ) -> Result<Recomputed, DayFault> {
        let is_retired = last.0.entry == HeadEntry::Retired;
        for (slot, is_recorded, found) in &self.rows {
            let by = self.own.get(slot).copied();
            let may_be_later = by.is_none() && *is_recorded && !is_retired;
            let reach = i64::from(slot.number()) + i64::from(MAX_RETRACTION_SLOTS);
            let is_later =
                |number: i64| (i64::from(last.0.slot.number()) + 1..=reach).contains(&number);
            let expected = slot_cell(by);
            let holds = match found {
                Cell::Int(number) if may_be_later => is_later(*number),
                found => *found == expected,
            };
            if !holds {
                let fault = differs(OWN_FIGURES, found, &expected, "the day's heads give");
                return Err(fault.at(*slot).by(pool));
            }
        }
        let recomputed = |fault: Option<DayFault>| Recomputed { every_row: fault.is_none(), fault };
        match after {
            // Nothing retracts a slot of a pool whose last head there was.
            _ if is_retired => Ok(recomputed(None)),
            None => Ok(Recomputed { every_row: false, fault: None }),
            Some(after) => Ok(recomputed(self.later(pool, last, after).err())),
        }
    }

    fn later(&self, pool: &PoolId, last: &HashedHead, after: &[RawHead]) -> Result<(), DayFault> {
        let mut later = BTreeMap::new();
        let mut before = None;
        for raw in after {
            let head = read_head(pool, raw, before.as_ref().or(Some(last)));
            // That the next day's heads hold is checked by its own audit; that it begins with the next one, here.
            let head = head.map_err(|fault| {
                let is_linked = before.is_some() || fault.code != "head_does_not_follow";
                let is_incomplete = fault.is_incomplete || is_linked;
                fault.unknown(is_incomplete)
            })?;
            later.extend(head.0.retracts.iter().map(|retraction| (retraction.slot, head.0.slot)));
            before = Some(head);
        }
        if before.is_none() {
            let detail = "the pool has no head on the next day, and was not retired";
            return Err(DayFault::new("pool_dropped", detail).at(last.0.slot).by(pool));
        }
        for (slot, _, found) in &self.rows {
            let by = self.own.get(slot).or_else(|| later.get(slot)).copied();
            let expected = slot_cell(by);
            if *found != expected {
                let fault =
                    differs(OWN_FIGURES, found, &expected, "the heads up to the next day give");
                return Err(fault.at(*slot).by(pool));
            }
        }
        Ok(())
    }
}

/// A head of another day, which follows the one before it.
fn read_head(
    pool: &PoolId,
    (slot, raw): &RawHead,
    before: Option<&HashedHead>,
) -> Result<HashedHead, DayFault> {
    let at = |fault: DayFault| fault.at(*slot).by(pool);
    let head = Head::from_canonical(raw).map_err(|error| {
        at(DayFault::new("head_invalid", error.to_string()).unknown(error.newer().is_some()))
    })?;
    if (head.slot, &head.pool) != (*slot, pool) {
        let detail = format!("the row's head belongs to {}, slot {}", head.pool, head.slot);
        return Err(at(DayFault::new("head_slot_mismatch", detail)));
    }
    if let Some((before, hash)) = before {
        head.check_follows(before, *hash)
            .map_err(|error| at(DayFault::new("head_does_not_follow", error.to_string())))?;
    }
    let hash = Head::hash_of(raw);
    Ok((head, hash))
}

/// A cell that is not the one that was computed.
fn differs(column: usize, found: &Cell, expected: &Cell, source: &str) -> DayFault {
    let column = figures_table().into_iter().nth(column);
    let name = column.map_or(String::new(), |column| column.name);
    DayFault::new("figures_mismatch", format!("{name} is {found:?}, but {source} {expected:?}"))
}
