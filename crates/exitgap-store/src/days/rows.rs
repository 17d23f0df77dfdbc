//! The three tables of a day (`exitgap-core/docs/days-v1.md`): their columns, and their rows as typed values.

use exitgap_core::analytics::accuracy::{Fills, IssuedReceipts, MAX_FILLS_BYTES, MAX_ISSUED_BYTES};
use exitgap_core::evidence::{Head, HeadEntry, MAX_HEAD_BYTES, MAX_LEAF_BYTES};
use exitgap_core::ids::PoolId;
use exitgap_core::pools::MAX_STATE_BYTES;
use exitgap_core::series::Slot;
use exitgap_core::snapshot::MAX_SNAPSHOT_BYTES;
use exitgap_core::tlog::MAX_NOTE_BYTES;
use exitgap_core::units::{Percent, SizeUsd, UsdMicros};

use super::table::{Cell, Column, Kind, Row};
use crate::derived::figures::{
    DirectionFigures, Figures, Gap, NoGap, SnapshotFigures, WindowFigures,
};

/// A slot's row: its leaf, and the checkpoint up to it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SlotRow {
    /// The slot.
    pub slot: Slot,
    /// The number of pools with a head.
    pub pools: u32,
    /// The slot leaf's canonical bytes.
    pub leaf: Vec<u8>,
    /// The signed checkpoint of the log up to and including this slot, as published.
    pub checkpoint: Vec<u8>,
}

/// A pool's row of a slot, as bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EvidenceRow {
    /// The slot.
    pub slot: Slot,
    /// The pool.
    pub pool: PoolId,
    /// The head's canonical bytes.
    pub head: Vec<u8>,
    /// The canonical bytes of its snapshot and of the snapshot's state, if the head names one.
    pub snapshot: Option<[Vec<u8>; 2]>,
    /// The document of fills that the head commits to.
    pub fills: Option<Vec<u8>>,
    /// The document of issued estimates that the head commits to.
    pub issued: Option<Vec<u8>>,
}

/// The number of an evidence row's columns that identify the row.
pub const NAMING_COLUMNS: usize = 3;

/// How many of its columns are needed for its head.
pub const HEAD_COLUMNS: usize = NAMING_COLUMNS + 1;

/// The number of figure columns that follow from the row's head and snapshot. The later ones also depend on other
/// slots.
pub const OWN_FIGURES: usize = 10 + 2 * (4 + 2 * SIZES);

/// The column of token 0's median; that of token 1 follows.
pub const FIRST_MEDIAN: usize = OWN_FIGURES + 2;

const SIZES: usize = SizeUsd::STANDARD.len();

/// A name, a code or a hash.
const NAME: Kind = Kind::Text(256);

fn slot_columns() -> [Column; 2] {
    [Column::new("slot", Kind::Int32), Column::new("slot_time", Kind::Instant)]
}

fn slot_cells(slot: Slot) -> [Cell; 2] {
    let millis = i64::try_from(slot.unix_s() * 1_000).unwrap_or(i64::MAX);
    [Cell::Int(slot.number().into()), Cell::Int(millis)]
}

/// The columns of a day's slots.
pub fn slots_table() -> Vec<Column> {
    let mut columns = slot_columns().to_vec();
    columns.push(Column::new("pools", Kind::Int32));
    columns.push(Column::new("leaf", Kind::Text(MAX_LEAF_BYTES)));
    columns.push(Column::new("checkpoint", Kind::Text(MAX_NOTE_BYTES)));
    columns
}

/// The columns of a range's evidence.
pub fn snapshots_table() -> Vec<Column> {
    let mut columns = slot_columns().to_vec();
    columns.push(Column::new("pool", NAME));
    columns.push(Column::new("head", Kind::Text(MAX_HEAD_BYTES)));
    let optional = [
        ("snapshot", MAX_SNAPSHOT_BYTES),
        ("state", MAX_STATE_BYTES),
        (Fills::NAME, MAX_FILLS_BYTES),
        (IssuedReceipts::NAME, MAX_ISSUED_BYTES),
    ];
    columns.extend(optional.map(|(name, most)| Column::optional(name, Kind::Text(most))));
    columns
}

/// The columns of a range's figures.
pub fn figures_table() -> Vec<Column> {
    let mut columns = slot_columns().to_vec();
    columns.extend([
        Column::new("pool", NAME),
        Column::new("entry", NAME),
        Column::optional("missing_reason", NAME),
        Column::optional("snapshot", NAME),
        Column::new("recorded_count", Kind::Int32),
        Column::optional("oracle_stale", Kind::Bool),
    ]);
    let token = |columns: &mut Vec<Column>, name: &str, kind| {
        columns.extend([0, 1].map(|token| Column::optional(format!("token{token}_{name}"), kind)));
    };
    token(&mut columns, "lowest_depth_7d_usd", Kind::Int64);
    token(&mut columns, "depth_usd", Kind::Int64);
    token(&mut columns, "book_usd", Kind::Int64);
    token(&mut columns, "basis_pct", Kind::Millionths);
    token(&mut columns, "max_fillable_usd", Kind::Millionths);
    for size in SizeUsd::STANDARD {
        let dollars = size.micros() / 1_000_000;
        token(&mut columns, &format!("exit_gap_pct_{dollars}"), Kind::Millionths);
        token(&mut columns, &format!("refusal_{dollars}"), NAME);
    }
    columns.push(Column::optional("retracted_by_slot", Kind::Int32));
    columns.push(Column::new("missing_slots_7d", Kind::Int32));
    token(&mut columns, "median_depth_7d_usd", Kind::Int64);
    token(&mut columns, "lowest_depth_7d_slot", Kind::Int32);
    columns
}

impl SlotRow {
    /// Converts it to cells.
    pub fn cells(self) -> Row {
        let mut row = slot_cells(self.slot).to_vec();
        row.extend([
            Cell::Int(self.pools.into()),
            Cell::text(self.leaf),
            Cell::text(self.checkpoint),
        ]);
        row
    }

    /// Parses cells of [`slots_table`]. The error is the invalid column.
    pub fn from_cells(row: Row) -> Result<Self, &'static str> {
        let mut cells = row.into_iter();
        let slot = take_slot(&mut cells)?;
        let pools = u32::try_from(take_int(&mut cells).ok_or("pools")?).map_err(|_| "pools")?;
        let leaf = take_text(&mut cells).ok_or("leaf")?;
        let checkpoint = take_text(&mut cells).ok_or("checkpoint")?;
        Ok(Self { slot, pools, leaf, checkpoint })
    }
}

impl EvidenceRow {
    /// Converts it to cells.
    pub fn cells(self) -> Row {
        let optional = |text: Option<Vec<u8>>| text.map_or(Cell::Null, Cell::text);
        let (snapshot, state) = self.snapshot.map(|[snapshot, state]| (snapshot, state)).unzip();
        let mut row = slot_cells(self.slot).to_vec();
        row.extend([
            Cell::text(self.pool.to_string()),
            Cell::text(self.head),
            optional(snapshot),
            optional(state),
            optional(self.fills),
            optional(self.issued),
        ]);
        row
    }

    /// Parses cells of [`snapshots_table`]. The error is the invalid column.
    pub fn from_cells(row: Row) -> Result<Self, &'static str> {
        let mut cells = row.into_iter();
        let slot = take_slot(&mut cells)?;
        let pool = take_pool(&mut cells)?;
        let head = take_text(&mut cells).ok_or("head")?;
        let [snapshot, state, fills, issued] = [(); 4].map(|()| take_text(&mut cells));
        let snapshot = match (snapshot, state) {
            (Some(snapshot), Some(state)) => Some([snapshot, state]),
            (None, None) => None,
            _ => return Err("state"),
        };
        Ok(Self { slot, pool, head, snapshot, fills, issued })
    }

    /// The slot and pool of a row of which only the identifying columns were read.
    pub fn name_of(row: &Row) -> Result<(Slot, PoolId), &'static str> {
        let mut cells = row.iter().cloned();
        let slot = take_slot(&mut cells)?;
        Ok((slot, take_pool(&mut cells)?))
    }
}

/// The part of a row of figures that follows from the head and its snapshot.
pub fn own_figures(head: &Head, figures: Option<&SnapshotFigures>) -> Row {
    let text = |text: &str| Cell::text(text.to_owned());
    let (entry, reason, snapshot) = match &head.entry {
        HeadEntry::Recorded { snapshot, .. } => ("recorded", None, Some(snapshot.to_string())),
        HeadEntry::Missing(reason) => ("missing", Some(reason.code()), None),
        HeadEntry::Retired => ("retired", None, None),
    };
    let mut row = slot_cells(head.slot).to_vec();
    row.extend([
        text(&head.pool.to_string()),
        text(entry),
        reason.map_or(Cell::Null, text),
        snapshot.as_deref().map_or(Cell::Null, text),
        Cell::Int(head.recorded_count.into()),
        figures.map_or(Cell::Null, |figures| Cell::Bool(figures.oracle_stale)),
    ]);
    row.extend(head.lowest_depth_7d_usd.map(dollars));
    let each = |of: &dyn Fn(&DirectionFigures) -> Cell| {
        [0, 1].map(|token| figures.map_or(Cell::Null, |figures| of(&figures.directions[token])))
    };
    row.extend(each(&|figures| dollars(figures.depth_usd)));
    row.extend(each(&|figures| dollars(figures.book_usd)));
    row.extend(each(&|figures| figures.basis.map_or(Cell::Null, percent)));
    row.extend(each(&|figures| most_fillable(figures).map_or(Cell::Null, micros)));
    for size in 0..SIZES {
        row.extend(each(&|figures| match figures.gaps[size] {
            Gap::Filled(gap) => percent(gap),
            Gap::Refused(_) => Cell::Null,
        }));
        row.extend(each(&|figures| match figures.gaps[size] {
            Gap::Filled(_) => Cell::Null,
            Gap::Refused(why) => text(why.code()),
        }));
    }
    row
}

/// A row of figures from a store.
pub fn figures_row(head: &Head, figures: &Figures) -> Row {
    let mut row = own_figures(head, figures.snapshot.as_ref());
    row.push(slot_cell(figures.retraction.map(|retracted| retracted.by)));
    row.extend(window_cells(&figures.window));
    row
}

/// The number of a slot, or nothing.
pub fn slot_cell(slot: Option<Slot>) -> Cell {
    slot.map_or(Cell::Null, |slot| Cell::Int(slot.number().into()))
}

/// What follows from the seven days up to a row, in the order of its last columns.
pub fn window_cells(window: &WindowFigures) -> [Cell; 5] {
    let [median0, median1] = window.directions.map(|depths| dollars(depths.median_usd));
    let [lowest0, lowest1] =
        window.directions.map(|depths| slot_cell(depths.lowest.map(|(slot, _)| slot)));
    [Cell::Int(window.missing_slots.into()), median0, median1, lowest0, lowest1]
}

/// The maximum that the recorded liquidity can fill, if a standard size exceeds it.
fn most_fillable(figures: &DirectionFigures) -> Option<UsdMicros> {
    figures.gaps.iter().find_map(|gap| match gap {
        Gap::Refused(NoGap::BeyondLiquidity(most)) => Some(*most),
        _ => None,
    })
}

/// An amount in whole dollars, or nothing.
pub fn dollars(dollars: Option<u64>) -> Cell {
    Cell::int(dollars.and_then(|dollars| i64::try_from(dollars).ok()))
}

fn micros(micros: UsdMicros) -> Cell {
    Cell::int(i64::try_from(micros.0).ok())
}

/// Estimates' percentages are within limits that fit.
fn percent(percent: Percent) -> Cell {
    Cell::int(i64::try_from(percent.0).ok())
}

fn take_int(cells: &mut impl Iterator<Item = Cell>) -> Option<i64> {
    match cells.next()? {
        Cell::Int(value) => Some(value),
        _ => None,
    }
}

fn take_text(cells: &mut impl Iterator<Item = Cell>) -> Option<Vec<u8>> {
    match cells.next()? {
        Cell::Text(text) => Some(text.to_vec()),
        _ => None,
    }
}

fn take_pool(cells: &mut impl Iterator<Item = Cell>) -> Result<PoolId, &'static str> {
    let text = take_text(cells).and_then(|text| String::from_utf8(text).ok());
    text.and_then(|text| text.parse().ok()).ok_or("pool")
}

fn take_slot(cells: &mut impl Iterator<Item = Cell>) -> Result<Slot, &'static str> {
    let number = take_int(cells).and_then(|number| u64::try_from(number).ok());
    let slot = number.and_then(|number| Slot::new(number).ok()).ok_or("slot")?;
    let [_, expected] = slot_cells(slot);
    if cells.next() == Some(expected) { Ok(slot) } else { Err("slot_time") }
}
