//! A day whose columns were changed one by one, and whose hashes were made anew, up to a log of days signed again with the
//! log's own key. With the days around it no such day holds.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use exitgap_core::ids::BlockHash;
use exitgap_core::log_folder::days::{DayFile, DayLeaf, DayManifest};
use exitgap_core::pools::Direction;
use exitgap_core::series::MissingReason;
use exitgap_core::tlog::{Checkpoint, Frontier, Origin, SignerKey, push_entry};

use super::rows::{FIRST_MEDIAN, OWN_FIGURES};
use super::table::{Cell, Kind, Row, TableReader};
use super::tests::{column, rewrite, table};
use super::{DayAudited, DayFolder, DaysLog, audit_day, audit_day_among};
use crate::folder::LogFolder;
use crate::model::{Changes, NewEntry, NewRetraction};
use crate::reader::Reader;
use crate::samples::{pool, slot, snapshot_with};
use crate::writer::Store;

/// The log begins twelve slots before the end of its first day.
const FIRST: u32 = 288 - 12;

/// Nine whole days after the first, all of them closed.
const DAYS: u32 = 10;

/// The day that is forged: the seven days before it are whole, and there is a day after it.
const FORGED: u64 = 8;

fn key() -> SignerKey {
    SignerKey::from_seed("exitgap.example/log", [7; 32]).unwrap()
}

/// The slots of the forged day that heads retract: one of the day itself, one of the day after.
const RETRACTED: [(u32, u32); 2] = [(8 * 288 + 20, 8 * 288 + 50), (8 * 288 + 200, 9 * 288 + 10)];

/// The log of days with its tree signed anew by the log's own key, over the manifests that are in the folder.
fn sign_again(days: &Path) {
    let note = fs::read_to_string(days.join("checkpoint")).unwrap();
    let (before, _) = Checkpoint::from_note(&note).unwrap();
    let (mut tree, mut entries) = (Frontier::default(), Vec::new());
    for name in day_names(days) {
        let manifest = fs::read(days.join(&name).join("manifest.json")).unwrap();
        let leaf =
            DayLeaf { day: name.parse().unwrap(), manifest: DayManifest::hash_of(&manifest) };
        let leaf = leaf.to_canonical().unwrap();
        tree.push(DayLeaf::leaf_of(&leaf));
        assert!(push_entry(&mut entries, &leaf));
    }
    assert_eq!(tree.size(), before.size);
    let signed = Checkpoint { root: tree.root(), ..before };
    let signer = key().with_name(&signed.origin.to_string()).unwrap();
    fs::write(days.join("checkpoint"), signer.sign(&signed.to_text()).unwrap()).unwrap();
    let tile = days.join(format!("tile/entries/000.p/{}", signed.size));
    assert!(tile.exists());
    fs::write(tile, entries).unwrap();
}

fn day_names(days: &Path) -> Vec<String> {
    let names = fs::read_dir(days).unwrap().map(|entry| entry.unwrap().file_name());
    let names = names.map(|name| name.into_string().unwrap());
    let mut names: Vec<String> = names.filter(|name| name.starts_with("20")).collect();
    names.sort_unstable();
    names
}

/// A copy of a log's closed days.
struct Days {
    _home: tempfile::TempDir,
    path: PathBuf,
    /// Of the days, as long as all of them are there.
    names: Vec<String>,
}

impl Days {
    /// Ten closed days of a log, which is made once.
    fn copy() -> Self {
        static MADE: OnceLock<tempfile::TempDir> = OnceLock::new();
        let made = MADE.get_or_init(make_log);
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("days");
        copy_all(&made.path().join("log/days"), &path);
        let names = day_names(&path);
        Self { _home: home, path, names }
    }

    fn day(&self, index: u64) -> PathBuf {
        self.path.join(&self.names[usize::try_from(index).unwrap()])
    }

    fn forged(&self) -> PathBuf {
        self.day(FORGED)
    }

    fn audit(&self) -> DayAudited {
        let keys = [key().verifier()];
        let folder = DayFolder::new(self.forged());
        let origin: Origin = manifest(&self.forged()).log().unwrap().origin;
        let keys = keys.map(|key| key.with_name(&origin.to_string()).unwrap());
        audit_day_among(&folder, Some(&keys), Some(&self.path), |_, _| {}).unwrap()
    }
}

fn manifest(day: &Path) -> DayManifest {
    DayManifest::from_canonical(&fs::read(day.join("manifest.json")).unwrap()).unwrap()
}

fn copy_all(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let to = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy_all(&entry.path(), &to);
        } else {
            fs::copy(entry.path(), to).unwrap();
        }
    }
}

fn make_log() -> tempfile::TempDir {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("series.db");
    let mut store = Store::create(&path, &key()).unwrap();
    for index in FIRST..(DAYS + 1) * 288 {
        // A snapshot every ten slots: each is recomputed. Depths differ, so that medians and lowest slots move.
        let liquidity = 40_000_000_000_000 + u128::from(index * 7_919 % 1_013) * 10_000_000_000;
        let reading = if index % 288 % 10 == 0 {
            Ok(snapshot_with(index, liquidity))
        } else {
            Err(MissingReason::ChainLagging)
        };
        let entry = NewEntry { pool: pool(), default_base: Direction::ZeroForOne, reading };
        let retracted = RETRACTED.iter().filter(|(_, by)| *by == index);
        let retractions = retracted
            .map(|(of, _)| NewRetraction::for_orphan(pool(), slot(*of), BlockHash([6; 32])));
        let changes = Changes { retractions: retractions.collect(), ..Changes::default() };
        store.append_slot_with(slot(index), &[entry], &changes).unwrap();
    }
    let folder = LogFolder::new(home.path().join("log"));
    folder.publish(store.reader()).unwrap();
    let days = DaysLog::open(folder, &path, vec![key()]).unwrap();
    let reader = Reader::open(&path).unwrap();
    while days.write_next(&reader, |_, _| {}).unwrap().is_some() {}
    home
}

/// Other values of a cell, of its column's kind.
fn other_cells(cell: &Cell, kind: Kind, is_optional: bool) -> Vec<Cell> {
    let mut others = match (cell, kind) {
        (Cell::Int(value), _) => vec![Cell::Int(value + 1), Cell::Int(value - 1)],
        (Cell::Bool(value), _) => vec![Cell::Bool(!value)],
        (Cell::Text(text), _) => vec![Cell::text([&text[..], b" "].concat()), Cell::text("x")],
        (Cell::Null, Kind::Bool) => vec![Cell::Bool(true)],
        (Cell::Null, Kind::Text(_)) => vec![Cell::text("beyond_liquidity")],
        (Cell::Null, _) => vec![Cell::Int(7)],
    };
    if is_optional && *cell != Cell::Null {
        others.push(Cell::Null);
    }
    others
}

fn read_rows(day: &Path, file: DayFile) -> Vec<Row> {
    let read = TableReader::open(&day.join(file.to_string()), table(file)).unwrap();
    (0..read.groups()).flat_map(|group| read.read_rows(group, usize::MAX).unwrap()).collect()
}

/// A day's folder by itself.
fn copy_of_day(days: &Days) -> tempfile::TempDir {
    let copy = tempfile::tempdir().unwrap();
    copy_all(&days.forged(), copy.path());
    copy
}

/// Whether the day's own rows are not enough to check a column.
fn needs_other_days(file: DayFile, at: usize) -> bool {
    matches!(file, DayFile::Figures(_)) && at >= OWN_FIGURES
}

#[test]
fn a_day_with_the_days_around_it_and_the_log_of_days_is_checked_in_every_column() {
    let days = Days::copy();
    let audited = days.audit();
    assert_eq!((audited.fault, audited.unchecked), (None, Vec::new()));
    assert_eq!(audited.log_of_days, Some(u64::from(DAYS)));
    assert_eq!((audited.counts.slots, audited.counts.retracted), (288, 1));
    // The log's first day needs no days before it.
    let first = audit_day_among(&DayFolder::new(days.day(0)), None, Some(&days.path), |_, _| {});
    let first = first.unwrap();
    assert_eq!((first.fault, first.unchecked), (None, Vec::new()));
}

/// Every column of every file, changed in a retracted and a missing row, those that follow from other days also in a last
/// one and in one that the next day retracts. The manifest is hashed anew, and the log's
/// own key signs a log of days that commits to it.
#[test]
fn a_day_with_one_column_changed_is_invalid_though_all_hashes_and_signatures_fit() {
    let whole = Days::copy();
    let mut changes = [0, 0];
    for file in [DayFile::Slots, DayFile::Figures(0), DayFile::Snapshots(0)] {
        let rows = read_rows(&whole.forged(), file);
        for (at, column) in table(file).into_iter().enumerate() {
            let is_far = needs_other_days(file, at);
            let more = if is_far { &[200, 287][..] } else { &[] };
            for row in [20, 21].into_iter().chain(more.iter().copied()) {
                for other in other_cells(&rows[row][at], column.kind, column.optional) {
                    let change = |rows: &mut Vec<Row>| rows[row][at] = other.clone();
                    let fault = if is_far {
                        let days = Days::copy();
                        rewrite(&days.forged(), file, change);
                        sign_again(&days.path);
                        days.audit().fault
                    } else {
                        let day = copy_of_day(&whole);
                        rewrite(day.path(), file, change);
                        audit_day(&DayFolder::new(day.path()), None, |_, _| {}).unwrap().fault
                    };
                    let name = &column.name;
                    let fault = fault.unwrap_or_else(|| panic!("{name} of row {row}: {other:?}"));
                    assert!(!fault.is_incomplete, "{name} of row {row}: {other:?}, {fault:?}");
                    changes[usize::from(is_far)] += 1;
                }
            }
        }
    }
    assert!(changes[0] > 150 && changes[1] > 40, "{changes:?}");
}

/// The same changes where other days are absent: the day is never called valid, and the column is named.
#[test]
fn a_day_alone_names_the_columns_that_it_cannot_check() {
    let days = Days::copy();
    let day = copy_of_day(&days);
    let alone = audit_day(&DayFolder::new(day.path()), None, |_, _| {}).unwrap();
    assert_eq!((alone.fault, alone.log_of_days), (None, None));
    let open: Vec<String> = alone.unchecked.iter().flat_map(|open| open.columns.clone()).collect();
    let names = |range: std::ops::RangeFrom<usize>| -> Vec<String> {
        table(DayFile::Figures(0))[range].iter().map(|column| column.name.clone()).collect()
    };
    for name in names(OWN_FIGURES..) {
        assert!(open.contains(&name), "{name} is not among {open:?}");
    }
    for name in ["token0_lowest_depth_7d_usd", "token1_lowest_depth_7d_usd", "keys", "checkpoint"] {
        assert!(open.contains(&name.to_owned()), "{name} is not among {open:?}");
    }
    assert_eq!(open.len(), names(OWN_FIGURES..).len() + 4);

    // One of the seven days before it is absent, or the day after it, or the log of days: what needs that is named.
    let without = |path: &str, absent: &str| {
        let days = Days::copy();
        let path = days.path.join(path);
        if path.is_dir() {
            fs::remove_dir_all(path).unwrap();
        } else {
            fs::remove_file(path).unwrap();
        }
        let audited = days.audit();
        assert_eq!(audited.fault, None);
        let reasons: Vec<&str> = audited.unchecked.iter().map(|open| open.reason.code()).collect();
        assert!(
            !reasons.is_empty() && reasons.iter().all(|reason| *reason == absent),
            "{reasons:?}"
        );
        audited.unchecked[0].detail.clone()
    };
    let names = day_names(&days.path);
    let detail = without(&names[1], "days_before");
    assert!(detail.starts_with(&names[1]), "{detail}");
    let detail = without(&names[4], "days_before");
    assert!(detail.starts_with(&format!("{} to {}", names[1], names[4])), "{detail}");
    without(&names[9], "day_after");
    without("checkpoint", "log_of_days");
    without("tile", "log_of_days");
    // The first of the log's days is needed by none of its rows.
    let earliest = Days::copy();
    fs::remove_dir_all(earliest.day(0)).unwrap();
    assert_eq!(earliest.audit().unchecked, Vec::new());
}

/// A day next to it that does not hold makes no fault of it, and checks nothing.
#[test]
fn a_neighbour_that_does_not_hold_leaves_columns_unchecked() {
    for (index, reason) in [(3, "days_before"), (9, "day_after")] {
        let days = Days::copy();
        let file = DayFile::Snapshots(0);
        let head = column(file, "head");
        rewrite(&days.day(index), file, |rows| {
            let Cell::Text(text) = &rows[40][head] else { panic!("a head") };
            let text = String::from_utf8(text.to_vec()).unwrap();
            rows[40][head] = Cell::text(text.replacen("\"height\":", "\"height\":1", 1));
        });
        sign_again(&days.path);
        let audited = days.audit();
        assert_eq!(audited.fault, None);
        let open: Vec<_> = audited.unchecked.iter().map(|open| open.reason.code()).collect();
        assert_eq!(open, [reason], "{:?}", audited.unchecked);
        assert!(
            audited.unchecked[0].detail.contains(" does not hold: "),
            "{:?}",
            audited.unchecked
        );
    }
}

/// Nor does one that cannot be read: its manifest is a folder, or its folder is a file.
#[test]
fn a_neighbour_that_cannot_be_read_leaves_columns_unchecked() {
    for (index, reason) in [(3, "days_before"), (9, "day_after")] {
        for is_file in [false, true] {
            let days = Days::copy();
            let manifest = days.day(index).join("manifest.json");
            if is_file {
                fs::remove_dir_all(days.day(index)).unwrap();
                fs::write(days.day(index), "a file").unwrap();
            } else {
                fs::remove_file(&manifest).unwrap();
                fs::create_dir(&manifest).unwrap();
            }
            let audited = days.audit();
            assert_eq!(audited.fault, None);
            let open: Vec<_> = audited.unchecked.iter().map(|open| open.reason.code()).collect();
            assert_eq!(open, [reason], "{:?}", audited.unchecked);
            let detail = &audited.unchecked[0].detail;
            assert!(detail.contains(" does not hold: "), "{detail}");
        }
    }
}

/// A retraction that no head makes, or that another head makes than the column has, is seen by the day's own heads.
#[test]
fn retractions_within_the_day_follow_from_its_own_heads() {
    let days = Days::copy();
    let (retracted, by) = (20, i64::from(slot(RETRACTED[0].1).number()));
    let end = i64::from(slot(9 * 288).number());
    for (row, cell, is_fault) in [
        (retracted, Cell::Null, true),
        (retracted, Cell::Int(by + 1), true),
        (30, Cell::Int(by), true),
        (21, Cell::Int(end), true),
        (30, Cell::Int(end + 40), true),
        // What a head of the next day may retract, the day alone cannot deny.
        (30, Cell::Int(end), false),
        (200, Cell::Null, false),
    ] {
        let day = copy_of_day(&days);
        let at = column(DayFile::Figures(0), "retracted_by_slot");
        rewrite(day.path(), DayFile::Figures(0), |rows| rows[row][at] = cell.clone());
        let audited = audit_day(&DayFolder::new(day.path()), None, |_, _| {}).unwrap();
        let code = audited.fault.map(|fault| fault.code);
        assert_eq!(code, is_fault.then_some("figures_mismatch"), "{row}: {cell:?}");
    }
}

/// A file that the manifest does not name, and a log of days that does not commit to the day.
#[test]
fn a_file_that_is_not_named_and_a_manifest_that_was_not_signed_are_faults() {
    for name in ["figures-0001.parquet", "figures-0000.parquet.part", "notes.txt"] {
        let days = Days::copy();
        fs::copy(days.forged().join("figures-0000.parquet"), days.forged().join(name)).unwrap();
        let fault = days.audit().fault.unwrap();
        assert_eq!(fault.code, "file_unnamed");
        assert!(fault.detail.contains(name), "{}", fault.detail);
    }
    let changed = || {
        let days = Days::copy();
        let (at, column) = (30, column(DayFile::Figures(0), "missing_slots_7d"));
        rewrite(&days.forged(), DayFile::Figures(0), |rows| rows[at][column] = Cell::Int(1));
        days
    };
    let days = changed();
    assert_eq!(days.audit().fault.unwrap().code, "log_of_days_mismatch");
    // A signature without the key is useless.
    let note = fs::read_to_string(days.path.join("checkpoint")).unwrap();
    sign_again(&days.path);
    let signed = fs::read_to_string(days.path.join("checkpoint")).unwrap();
    let text = |note: &str| note.split("\n\n").next().unwrap().to_owned();
    fs::write(days.path.join("checkpoint"), signed.replace(&text(&signed), &text(&note))).unwrap();
    assert_eq!(days.audit().fault.unwrap().code, "log_of_days_invalid");
    // With the key the log of days commits to it; the days before it do not.
    let days = changed();
    sign_again(&days.path);
    assert_eq!(days.audit().fault.unwrap().code, "figures_mismatch");
    // As days are exported, the checkpoint has another name.
    let days = Days::copy();
    fs::rename(days.path.join("checkpoint"), days.path.join("days-checkpoint")).unwrap();
    assert_eq!(days.audit().unchecked, Vec::new());
}

#[test]
fn a_median_as_days_had_it_before_is_accepted() {
    const ROW: usize = 60;
    let days = Days::copy();
    let file = DayFile::Figures(0);
    let depth = column(file, "token0_depth_usd");
    let mut depths = Vec::new();
    // The window's first slot is 2,015 before; the slot in row 20 is retracted by row 50.
    for (day, from) in (1..=FORGED).map(|day| (day, if day == 1 { ROW + 1 } else { 0 })) {
        let rows = read_rows(&days.day(day), file);
        let rows = rows.iter().enumerate().skip(from);
        let rows = rows.filter(|(row, _)| day != FORGED || (*row <= ROW && *row != 20));
        depths.extend(rows.filter_map(|(_, row)| match row[depth] {
            Cell::Int(depth) => Some(depth),
            _ => None,
        }));
    }
    depths.sort_unstable();
    let [lower, upper] = [depths[depths.len() / 2 - 1], depths[depths.len() / 2]];
    let mean = i64::midpoint(lower, upper);
    assert!(depths.len().is_multiple_of(2) && mean > lower, "{} {lower} {upper}", depths.len());
    assert_eq!(read_rows(&days.forged(), file)[ROW][FIRST_MEDIAN], Cell::Int(lower));
    for (median, is_accepted) in [(mean, true), (mean + 1, false), (upper + 1, false)] {
        let days = Days::copy();
        rewrite(&days.forged(), file, |rows| rows[ROW][FIRST_MEDIAN] = Cell::Int(median));
        sign_again(&days.path);
        assert_eq!(days.audit().fault.is_none(), is_accepted, "{median}");
    }
}
