//! Verifies a pool's day: each head follows the previous one, and each snapshot is the one that its head names and
//! gives its figures.

use std::collections::BTreeMap;

use exitgap_core::analytics::accuracy::{Fills, IssuedReceipts};
use exitgap_core::evidence::{Head, HeadEntry, RetractionCause};
use exitgap_core::exit::METHOD_VERSION;
use exitgap_core::ids::{BlockHash, PoolId};
use exitgap_core::series::Slot;
use exitgap_core::snapshot::{Snapshot, SnapshotDocuments};

use super::around::PoolAround;
use super::audit::{Leaves, RowPair};
use super::fault::DayFault;
use super::other_slots::{HashedHead, Recomputed, Retractions, SevenDays};
use super::rows::{EvidenceRow, OWN_FIGURES, figures_table, own_figures};
use super::table::Row;
use crate::derived::figures::SnapshotFigures;

/// A pool's rows of a day.
pub struct PoolDay {
    /// The pool.
    pub pool: PoolId,
    /// Its rows, in file order.
    pub rows: Vec<RowPair>,
    bytes: usize,
    /// The day's first and last slot.
    run: [Slot; 2],
    /// Its heads of the days around.
    around: PoolAround,
}

/// The valid contents.
pub struct PoolAudited {
    /// Its slots with the leaf hashes of their heads.
    pub heads: Leaves,
    /// Snapshots recomputed.
    pub snapshots: u64,
    /// Retracted slots.
    pub retracted: u64,
    /// Heads and snapshots of a later version.
    pub unsupported: u64,
    /// Its columns over seven days.
    pub seven_days: Recomputed,
    /// Its column of retractions.
    pub retractions: Recomputed,
}

/// A snapshot of the day that no head has retracted so far.
struct LiveSnapshot {
    block: Option<BlockHash>,
}

impl PoolDay {
    /// A pool's day without rows.
    pub fn new(pool: PoolId, run: [Slot; 2], around: PoolAround) -> Self {
        Self { pool, rows: Vec::new(), bytes: 0, run, around }
    }

    /// Adds a row.
    pub fn push(&mut self, row: EvidenceRow, figures: Row) {
        let documents = row.snapshot.iter().flatten().chain(&row.fills).chain(&row.issued);
        self.bytes += row.head.len() + documents.map(Vec::len).sum::<usize>();
        self.rows.push((row, figures));
    }

    /// The size of its documents.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// Checks its rows.
    pub fn audit(self) -> Result<PoolAudited, DayFault> {
        let Self { pool, rows, run: [first, last], around, .. } = self;
        let mut counts = Counts::default();
        let mut live = BTreeMap::new();
        let (mut seven_days, day_before) = SevenDays::from_heads(&pool, &around.before);
        let mut retractions = Retractions::default();
        let mut before: Option<HashedHead> = None;
        for (row, figures) in rows {
            let slot = row.slot;
            let at = |fault: DayFault| fault.at(slot).by(&pool);
            let head = head_of(&row).map_err(at)?;
            match &before {
                Some(before) => follow(&head, before).map_err(at)?,
                None if head.height == 0 || slot == first => {
                    let linked = begin(&head, day_before.as_ref(), &around);
                    if let Err(fault) = linked {
                        seven_days.put_off(at(fault));
                    }
                }
                None => return Err(at(without_predecessor())),
            }
            let hash = Head::hash_of(&row.head);
            counts.heads.push((slot, Head::leaf_of(&row.head)));
            counts.retracted += head.retracts.len() as u64;
            retract(&head, first, &mut live).map_err(at)?;
            check_documents(&head, &row).map_err(at)?;
            if let Some(snapshot) = check_snapshot(&head, row, &figures, &mut counts).map_err(at)? {
                live.insert(slot, snapshot);
            }
            seven_days.check_row(&head, &figures)?;
            retractions.add(&head, &figures);
            before = Some((head, hash));
        }
        let Some(newest) = before else {
            return Ok(counts.audited(Recomputed::default(), Recomputed::default()));
        };
        if newest.0.slot < last && newest.0.entry != HeadEntry::Retired {
            let detail = "the pool has no head after this slot, and was not retired";
            return Err(DayFault::new("pool_dropped", detail).at(newest.0.slot).by(&pool));
        }
        let retractions = retractions.check(&pool, &newest, around.after.as_deref())?;
        Ok(counts.audited(seven_days.recomputed(), retractions))
    }
}

/// What was counted of a pool's rows.
#[derive(Default)]
struct Counts {
    heads: Leaves,
    snapshots: u64,
    retracted: u64,
    unsupported: u64,
}

impl Counts {
    fn audited(self, seven_days: Recomputed, retractions: Recomputed) -> PoolAudited {
        let Self { heads, snapshots, retracted, unsupported } = self;
        PoolAudited { heads, snapshots, retracted, unsupported, seven_days, retractions }
    }
}

/// Requires that a head follows the one before it.
fn follow(head: &Head, (before, hash): &HashedHead) -> Result<(), DayFault> {
    head.check_follows(before, *hash)
        .map_err(|error| DayFault::new("head_does_not_follow", error.to_string()))
}

/// Requires that a pool's first head of the day follows its last head of the day before, where that day is there.
fn begin(
    head: &Head,
    day_before: Option<&HashedHead>,
    around: &PoolAround,
) -> Result<(), DayFault> {
    match day_before {
        Some(before) => follow(head, before),
        None if head.height > 0 && around.has_day_before && around.before.is_empty() => {
            Err(without_predecessor())
        }
        None => Ok(()),
    }
}

fn without_predecessor() -> DayFault {
    let detail = "the pool's first head of the day is not its first head, and the heads before it are missing";
    DayFault::new("head_without_predecessor", detail)
}

/// Recomputes a row's snapshot, and compares the row's own figures with it. Gives the snapshot, where the head names one.
fn check_snapshot(
    head: &Head,
    row: EvidenceRow,
    figures: &Row,
    counts: &mut Counts,
) -> Result<Option<LiveSnapshot>, DayFault> {
    let known = head.method_version == METHOD_VERSION && head.newer().is_none();
    counts.unsupported += u64::from(!known);
    match snapshot_of(head, row)? {
        RowSnapshot::None => {
            check_figures(head, None, figures)?;
            Ok(None)
        }
        RowSnapshot::Newer => {
            counts.unsupported += 1;
            Ok(Some(LiveSnapshot { block: None }))
        }
        RowSnapshot::Snapshot(snapshot) => {
            counts.snapshots += 1;
            if known {
                let own = SnapshotFigures::from_snapshot(&snapshot);
                check_depths(head, &own)?;
                check_figures(head, Some(&own), figures)?;
            }
            Ok(Some(LiveSnapshot { block: Some(snapshot.observation().block().hash) }))
        }
    }
}

/// A row's head, which must be of the row's pool and slot.
pub fn head_of(row: &EvidenceRow) -> Result<Head, DayFault> {
    let head = Head::from_canonical(&row.head).map_err(|error| {
        DayFault::new("head_invalid", error.to_string()).unknown(error.newer().is_some())
    })?;
    if (head.slot, &head.pool) != (row.slot, &row.pool) {
        let detail = format!("the row's head belongs to {}, slot {}", head.pool, head.slot);
        return Err(DayFault::new("head_slot_mismatch", detail));
    }
    Ok(head)
}

/// Applies the head's retractions of slots in the day. Earlier slots are not available.
fn retract(
    head: &Head,
    first: Slot,
    standing: &mut BTreeMap<Slot, LiveSnapshot>,
) -> Result<(), DayFault> {
    for retraction in head.retracts.iter().filter(|retraction| retraction.slot >= first) {
        let wrong = |what: &str| {
            DayFault::new(
                "retraction_invalid",
                format!("the retraction of {}: {what}", retraction.slot),
            )
        };
        let taken = standing.remove(&retraction.slot);
        let taken =
            taken.ok_or_else(|| wrong("the slot has no snapshot, or was already retracted"))?;
        match &retraction.cause {
            RetractionCause::Orphaned { orphaned, .. }
                if taken.block.is_some_and(|block| block != *orphaned) =>
            {
                return Err(wrong("`orphaned` is not the block at which its snapshot was read"));
            }
            _ => {}
        }
    }
    Ok(())
}

/// Requires that the row has exactly the documents that the head commits to.
fn check_documents(head: &Head, row: &EvidenceRow) -> Result<(), DayFault> {
    let invalid = |code, what: &dyn ToString| DayFault::new(code, what.to_string());
    let fills = row.fills.as_deref();
    if head.commits.get(Fills::NAME) != fills.map(Fills::hash_of) {
        return Err(invalid(
            "fills_hash_mismatch",
            &"the row's fills differ from those to which the head commits",
        ));
    }
    if let Some(fills) = fills {
        let fills =
            Fills::from_canonical(fills).map_err(|error| invalid("fills_invalid", &error))?;
        if fills.contract != *head.pool.contract() {
            return Err(invalid(
                "fills_do_not_follow",
                &format!("the fills belong to {}", fills.contract),
            ));
        }
    }
    let issued = row.issued.as_deref();
    if head.commits.get(IssuedReceipts::NAME) != issued.map(IssuedReceipts::hash_of) {
        let what = "the row's issued estimates differ from those to which the head commits";
        return Err(invalid("issued_hash_mismatch", &what));
    }
    if let Some(issued) = issued {
        let issued = IssuedReceipts::from_canonical(issued)
            .map_err(|error| invalid("issued_invalid", &error))?;
        if issued.pool != head.pool {
            return Err(invalid(
                "issued_of_another_pool",
                &format!("the estimates belong to {}", issued.pool),
            ));
        }
    }
    Ok(())
}

/// A row's snapshot.
pub enum RowSnapshot {
    /// The head names no snapshot.
    None,
    /// A later version wrote it.
    Newer,
    /// The snapshot.
    Snapshot(Box<Snapshot>),
}

/// The snapshot that the head names, which must be the row's.
pub fn snapshot_of(head: &Head, row: EvidenceRow) -> Result<RowSnapshot, DayFault> {
    let named = match &head.entry {
        HeadEntry::Recorded { snapshot, .. } => Some(snapshot),
        HeadEntry::Missing(_) | HeadEntry::Retired => None,
    };
    let (expected, [snapshot, state]) = match (named, row.snapshot) {
        (Some(expected), Some(documents)) => (expected, documents),
        (None, None) => return Ok(RowSnapshot::None),
        (Some(_), None) => {
            let detail = "the head names a snapshot, but the row has none";
            return Err(DayFault::new("snapshot_absent", detail));
        }
        (None, Some(_)) => {
            let detail = "the row has a snapshot, but the head names none";
            return Err(DayFault::new("snapshot_unnamed", detail));
        }
    };
    let documents = SnapshotDocuments { snapshot, state };
    let found = documents.hash();
    if found != *expected {
        let detail =
            format!("the row's snapshot has the hash {found}, but the head names {expected}");
        return Err(DayFault::new("snapshot_hash_mismatch", detail));
    }
    match Snapshot::of_pool(&head.pool, &documents.snapshot, &documents.state) {
        Ok(snapshot)
            if snapshot.slot() == head.slot && snapshot.observation().pool() == &head.pool =>
        {
            Ok(RowSnapshot::Snapshot(Box::new(snapshot)))
        }
        Ok(snapshot) => {
            let detail = format!("the head names a snapshot of slot {}", snapshot.slot());
            Err(DayFault::new("snapshot_of_another", detail))
        }
        Err(error) if error.newer().is_some() => Ok(RowSnapshot::Newer),
        Err(error) => Err(DayFault::new("snapshot_invalid", format!("the snapshot: {error}"))),
    }
}

fn check_depths(head: &Head, own: &SnapshotFigures) -> Result<(), DayFault> {
    match &head.entry {
        HeadEntry::Recorded { depth_usd, .. } if *depth_usd != own.depths() => {
            let detail =
                format!("depth_usd is {depth_usd:?}, but the snapshot gives {:?}", own.depths());
            Err(DayFault::new("depth_mismatch", detail))
        }
        _ => Ok(()),
    }
}

/// Requires that a row of figures has the values that follow from its head and snapshot.
fn check_figures(head: &Head, own: Option<&SnapshotFigures>, found: &Row) -> Result<(), DayFault> {
    let expected = own_figures(head, own);
    let cells = expected.iter().zip(found).take(OWN_FIGURES);
    let differs = cells.enumerate().find(|(_, (expected, found))| expected != found);
    match differs {
        Some((column, (expected, found))) => {
            let name =
                figures_table().into_iter().nth(column).map_or(String::new(), |column| column.name);
            let detail = format!("{name} is {found:?}, but the snapshot gives {expected:?}");
            Err(DayFault::new("figures_mismatch", detail))
        }
        None => Ok(()),
    }
}
