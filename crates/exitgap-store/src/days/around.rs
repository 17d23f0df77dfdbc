//! The days around an audited day: the heads of the seven days before it, from which its columns over seven days follow, and
//! those of the day after it, which may retract its slots. Of these days the heads are read and compared with what the log
//! signed; their snapshots are not recomputed.

use std::path::Path;

use exitgap_core::evidence::Head;
use exitgap_core::ids::PoolId;
use exitgap_core::log_folder::days::{DayManifest, FileRef};
use exitgap_core::series::{Day, Slot};
use exitgap_core::tlog::VerifierKey;

use super::fault::{AuditError, DayFault};
use super::open::{DayFolder, Groups, wrong_column};
use super::rows::{EvidenceRow, HEAD_COLUMNS, snapshots_table};
use super::signed_day::SignedDay;

/// How many days before a day a window of 2,016 slots can begin: that of its first slot begins in the seventh.
const DAYS_BEFORE: u64 = 7;

/// A head as it is in the file.
pub type RawHead = (Slot, Vec<u8>);

/// The heads of a pool on the days around.
#[derive(Debug, Default)]
pub struct PoolAround {
    /// Those of the days before, the oldest first.
    pub before: Vec<RawHead>,
    /// Whether the last day before is there, so that a pool's first head of the day follows one of it or is its first.
    pub has_day_before: bool,
    /// Those of the day after, where that is there.
    pub after: Option<Vec<RawHead>>,
}

/// A day next to the audited one, and its manifest.
pub struct Neighbour {
    day: Day,
    folder: DayFolder,
    manifest: Result<DayManifest, DayFault>,
}

/// Which days are next to the audited one.
#[derive(Default)]
pub struct Neighbours {
    /// Those before it, the oldest first, without a gap up to it.
    before: Vec<Neighbour>,
    /// The day after it.
    after: Option<Neighbour>,
    /// Days before it that its columns follow from, and that are not there.
    absent_before: Option<[Day; 2]>,
    /// The day after it, where that is not there.
    absent_after: Option<Day>,
}

impl Neighbours {
    /// Looks for the days around one in the folder that has a folder for each day; without a folder all of them are absent.
    pub fn find(siblings: Option<&Path>, manifest: &DayManifest) -> Self {
        let mut found = Self::default();
        let begins = manifest.log().map_or(manifest.first, |log| log.origin.first_slot());
        let first_of_log = Day::from_slot(begins);
        let mut day = manifest.day;
        let needed = manifest.day.days_after(first_of_log).unwrap_or_default().min(DAYS_BEFORE);
        let oldest = (0..needed).fold(day, |day, _| before(day).unwrap_or(day));
        for _ in 0..needed {
            let Some(earlier) = before(day) else { break };
            let Some(neighbour) = Neighbour::open(siblings, earlier, manifest) else {
                found.absent_before = Some([oldest, earlier]);
                break;
            };
            found.before.insert(0, neighbour);
            day = earlier;
        }
        if let Some(after) = manifest.day.later(1) {
            found.after = Neighbour::open(siblings, after, manifest);
            found.absent_after = found.after.is_none().then_some(after);
        }
        found
    }

    /// Days before the audited one that are absent: the first and the last of them.
    pub fn absent_before(&self) -> Option<[Day; 2]> {
        self.absent_before
    }

    /// The day after it, where that is absent.
    pub fn absent_after(&self) -> Option<Day> {
        self.absent_after
    }

    /// Begins to read their heads.
    pub fn readers<'a>(&'a self, keys: &'a [VerifierKey]) -> Around<'a> {
        Around {
            before: self.before.iter().map(|day| HeadReader::new(day, keys)).collect(),
            after: self.after.as_ref().map(|day| HeadReader::new(day, keys)),
        }
    }
}

fn before(day: Day) -> Option<Day> {
    day.first().previous().map(Day::from_slot)
}

impl Neighbour {
    /// The day in its folder, where that is there. It is of the log of `audited`.
    fn open(siblings: Option<&Path>, day: Day, audited: &DayManifest) -> Option<Self> {
        let folder = DayFolder::new(siblings?.join(day.to_string()));
        if folder.manifest_bytes().is_ok_and(|bytes| bytes.is_none()) {
            return None;
        }
        let origin = |manifest: &DayManifest| manifest.log().ok().map(|log| log.origin);
        let read = folder.manifest().unwrap_or_else(|error| Err(fault_of(error.into())));
        let manifest = read.and_then(|manifest| {
            if manifest.day == day && origin(&manifest) == origin(audited) {
                return Ok(manifest);
            }
            let detail = format!("its folder has {} of another day or log", manifest.day);
            Err(DayFault::new("manifest_invalid", detail))
        });
        Some(Self { day, folder, manifest })
    }
}

/// The heads of the days around, read pool by pool.
pub struct Around<'a> {
    before: Vec<HeadReader<'a>>,
    after: Option<HeadReader<'a>>,
}

/// What became of the days around.
#[derive(Debug, Default)]
pub struct AroundChecked {
    /// The first day before that does not hold, and why.
    pub before: Option<(Day, DayFault)>,
    /// The day after, where that does not hold, and why.
    pub after: Option<(Day, DayFault)>,
    /// The log signed two histories: these days, each of which holds, do not continue each other.
    pub contradiction: Option<DayFault>,
}

impl Around<'_> {
    /// The heads of a pool. Pools are taken in the order of their ids.
    pub fn take(&mut self, pool: &PoolId) -> PoolAround {
        let id = pool.to_string();
        let before = self.before.iter_mut().flat_map(|day| day.take(&id).unwrap_or_default());
        PoolAround {
            before: before.collect(),
            has_day_before: self.before.last().is_some_and(|day| day.fault.is_none()),
            after: self
                .after
                .as_mut()
                .map(|day| day.take(&id).unwrap_or_default())
                .filter(|_| self.after.as_ref().is_some_and(|day| day.fault.is_none())),
        }
    }

    /// Reads what is left, and compares every slot with what was signed. `manifest` is the audited day's, whose own rows hold.
    pub fn finish(mut self, manifest: &DayManifest) -> AroundChecked {
        let mut checked = AroundChecked::default();
        for day in &mut self.before {
            if let Some(fault) = day.finish() {
                checked.before.get_or_insert((day.day, fault));
            }
        }
        if let Some(day) = &mut self.after {
            checked.after = day.finish().map(|fault| (day.day, fault));
        }
        let days = self.before.iter().filter(|_| checked.before.is_none());
        let mut manifests: Vec<&DayManifest> = days.filter_map(HeadReader::manifest).collect();
        manifests.push(manifest);
        let after = self.after.as_ref().filter(|_| checked.after.is_none());
        manifests.extend(after.and_then(HeadReader::manifest));
        checked.contradiction = manifests.windows(2).find_map(|pair| follows(pair[0], pair[1]));
        checked
    }
}

/// Requires that a day's log continues that of the day before it.
fn follows(earlier: &DayManifest, later: &DayManifest) -> Option<DayFault> {
    let (signed, tree) = (earlier.log().ok()?, later.tree().ok()?);
    let same = (signed.size, signed.root) == (tree.size(), tree.root());
    let detail = || {
        let (found, expected) = (tree.root(), signed.root);
        let (earlier, later) = (earlier.day, later.day);
        format!(
            "{later} continues the root {found}, but {earlier} ends with {expected}: the log signed two histories"
        )
    };
    (!same).then(|| DayFault::new("history_rewritten", detail()))
}

/// The heads of a day, read pool by pool.
struct HeadReader<'a> {
    day: Day,
    signed: Option<SignedDay<'a>>,
    /// Files that were not begun.
    files: std::vec::IntoIter<&'a FileRef>,
    rows: Option<Groups>,
    /// The row that was read last, and is not of the pool given last.
    next: Option<EvidenceRow>,
    /// The pool given last, or passed over.
    last: Option<String>,
    fault: Option<DayFault>,
}

impl<'a> HeadReader<'a> {
    fn new(neighbour: &'a Neighbour, keys: &'a [VerifierKey]) -> Self {
        let manifest = neighbour.manifest.as_ref();
        let files = manifest.map(|manifest| manifest.ranges().map(|(_, snapshots)| snapshots));
        let files: Vec<&FileRef> = files.map(Iterator::collect).unwrap_or_default();
        let signed =
            manifest.ok().map(|manifest| SignedDay::new(&neighbour.folder, manifest, keys));
        let unsigned = |signed: &SignedDay<'_>| {
            signed.verify_checkpoint("manifest.json", &signed.manifest.checkpoint).err()
        };
        let fault = neighbour.manifest.as_ref().err().cloned();
        let fault = fault.or_else(|| signed.as_ref().and_then(unsigned));
        let (rows, next, last) = (None, None, None);
        Self { day: neighbour.day, signed, files: files.into_iter(), rows, next, last, fault }
    }

    fn manifest(&self) -> Option<&'a DayManifest> {
        self.signed.as_ref().map(|signed| signed.manifest)
    }

    /// The heads of a pool; `None` where the day has none of it, or does not hold.
    fn take(&mut self, pool: &str) -> Option<Vec<RawHead>> {
        self.take_until(pool).unwrap_or_else(|error| {
            self.fault = Some(fault_of(error));
            None
        })
    }

    fn take_until(&mut self, pool: &str) -> Result<Option<Vec<RawHead>>, AuditError> {
        while self.fault.is_none() {
            let Some(id) = self.next_pool()? else { break };
            if id.as_str() > pool {
                break;
            }
            let heads = self.read_pool(&id)?;
            if id == pool {
                return Ok(Some(heads));
            }
        }
        Ok(None)
    }

    /// The id of the next pool.
    fn next_pool(&mut self) -> Result<Option<String>, AuditError> {
        if self.next.is_none() {
            self.next = self.next_row()?;
        }
        Ok(self.next.as_ref().map(|row| row.pool.to_string()))
    }

    /// The heads of the next pool, each in its slot's tree.
    fn read_pool(&mut self, id: &str) -> Result<Vec<RawHead>, AuditError> {
        if self.last.as_deref().is_some_and(|last| last >= id) {
            return Err(DayFault::new("head_order", "the pools are not in the order of ids").into());
        }
        self.last = Some(id.to_owned());
        let mut heads = Vec::new();
        while let Some(row) = self.next.take() {
            if row.pool.to_string() != id {
                self.next = Some(row);
                break;
            }
            if heads.len() >= Slot::PER_DAY as usize {
                let detail = "a pool has more rows than the day has slots";
                return Err(DayFault::new("head_order", detail).by(&row.pool).into());
            }
            if let Some(signed) = &mut self.signed {
                signed.push_head(row.slot, Head::leaf_of(&row.head));
            }
            heads.push((row.slot, row.head));
            self.next = self.next_row()?;
        }
        Ok(heads)
    }

    fn next_row(&mut self) -> Result<Option<EvidenceRow>, AuditError> {
        loop {
            if let Some(rows) = &mut self.rows {
                if let Some(row) = rows.next()? {
                    let row = EvidenceRow::from_cells(row);
                    return Ok(Some(row.map_err(|column| wrong_column(rows.file(), column))?));
                }
                self.rows = None;
            }
            let (Some(signed), Some(file)) = (&self.signed, self.files.next()) else {
                return Ok(None);
            };
            if !signed.folder.has(file) {
                let detail = format!("{} does not exist", file.file);
                return Err(DayFault::new("file_absent", detail).into());
            }
            let groups = Groups::open(signed.folder, file, snapshots_table())?;
            self.rows = Some(groups.with_columns(HEAD_COLUMNS));
        }
    }

    /// Reads the rest, and compares every slot with what was signed; what is wrong.
    fn finish(&mut self) -> Option<DayFault> {
        let read = self.finish_reading();
        if let Err(error) = read {
            self.fault.get_or_insert(fault_of(error));
        }
        self.fault.clone()
    }

    fn finish_reading(&mut self) -> Result<(), AuditError> {
        if self.fault.is_some() {
            return Ok(());
        }
        while let Some(id) = self.next_pool()? {
            self.read_pool(&id)?;
        }
        let Some(signed) = &mut self.signed else { return Ok(()) };
        let slots = signed.slots()?;
        if slots.is_empty() {
            return Err(DayFault::new("file_absent", "slots.parquet does not exist").into());
        }
        Ok(signed.check_leaves(slots, || {})?)
    }
}

/// A day next to the audited one that this machine cannot read leaves columns unchecked, as one that does not hold.
fn fault_of(error: AuditError) -> DayFault {
    match error {
        AuditError::Fault(fault) => *fault,
        AuditError::Machine(error) => DayFault::new("file_unreadable", error.to_string()),
    }
}
