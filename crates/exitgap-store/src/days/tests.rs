//! Days whose files an expert attacker rewrote with matching hashes: only the rows show the forgery.

use std::fs;
use std::path::Path;

use exitgap_core::ids::PoolId;
use exitgap_core::log_folder::days::{DayFile, DayManifest, FileRef};
use exitgap_core::pools::Direction;
use exitgap_core::series::MissingReason;
use exitgap_core::tlog::SignerKey;
use serde_json::{Value, json};

use super::rows::{figures_table, slots_table, snapshots_table};
use super::table::{Cell, Column, Row, TableReader, TableWriter};
use super::{DayAudited, DayFolder, DaysLog, audit_day};
use crate::db::LeftRow;
use crate::error::StoreError;
use crate::folder::LogFolder;
use crate::model::{NewEntry, Outcome};
use crate::reader::Reader;
use crate::samples::{pool, slot, snapshot};
use crate::writer::Store;

/// The number of slots before the log's first slot, which is late on its first day.
const FIRST: u32 = 288 - 12;

/// A closed day of twelve slots, one of them missing, with its folder.
fn written() -> (tempfile::TempDir, std::path::PathBuf) {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("series.db");
    let key = SignerKey::from_seed("exitgap.example/log", [7; 32]).unwrap();
    let mut store = Store::create(&path, &key).unwrap();
    for index in FIRST..=FIRST + 12 + 288 {
        let missing = index == FIRST + 5 || index >= FIRST + 12;
        let reading = if missing { Err(MissingReason::ChainLagging) } else { Ok(snapshot(index)) };
        let entry = NewEntry { pool: pool(), default_base: Direction::ZeroForOne, reading };
        store.append_slot(slot(index), &[entry]).unwrap();
    }
    let folder = LogFolder::new(home.path().join("log"));
    folder.publish(store.reader()).unwrap();
    let days = DaysLog::open(folder.clone(), &path, vec![key]).unwrap();
    let reader = Reader::open(&path).unwrap();
    let written = days.write_next(&reader, |_, _| {}).unwrap().unwrap();
    assert_eq!((written.days, written.manifest.rows()), (1, 12));
    assert_eq!(days.write_next(&reader, |_, _| {}).unwrap(), None);
    let day = folder.path().join("days").join(written.manifest.day.to_string());
    (home, day)
}

fn audited(day: &Path) -> DayAudited {
    audit_day(&DayFolder::new(day), None, |_, _| {}).unwrap()
}

pub fn table(file: DayFile) -> Vec<Column> {
    match file {
        DayFile::Slots => slots_table(),
        DayFile::Figures(_) => figures_table(),
        _ => snapshots_table(),
    }
}

/// A file rewritten with other rows: its bytes, and the number of rows.
pub fn rewritten(day: &Path, file: DayFile, change: impl FnOnce(&mut Vec<Row>)) -> (Vec<u8>, u64) {
    let path = day.join(file.to_string());
    let read = TableReader::open(&path, table(file)).unwrap();
    let groups = (0..read.groups()).map(|group| read.read_rows(group, usize::MAX).unwrap());
    let mut rows: Vec<Row> = groups.flatten().collect();
    let before = rows.clone();
    change(&mut rows);
    assert_ne!(rows, before, "something is changed");
    let mut writer = TableWriter::new(Vec::new(), table(file)).unwrap();
    for row in rows {
        writer.push(row);
    }
    writer.finish().unwrap()
}

/// Rewrites a file with other rows, and updates its hash in the manifest.
pub fn rewrite(day: &Path, file: DayFile, change: impl FnOnce(&mut Vec<Row>)) {
    let (bytes, rows) = rewritten(day, file, change);
    replaced(day, file, &bytes, Some(rows));
}

type Change<'a> = Box<dyn FnOnce(&mut Vec<Row>) + 'a>;

/// A change of fields of a head, which is then canonical again.
fn edit_head(row: usize, edit: fn(&mut Value)) -> Change<'static> {
    let at = column(DayFile::Snapshots(0), "head");
    Box::new(move |rows: &mut Vec<Row>| {
        let Cell::Text(text) = &rows[row][at] else { panic!("a head") };
        let mut head: Value = serde_json::from_slice(text).unwrap();
        edit(&mut head);
        rows[row][at] = Cell::text(serde_json::to_vec(&head).unwrap());
    })
}

/// Replaces a file's bytes, and updates its hash in the manifest.
pub fn replaced(day: &Path, file: DayFile, bytes: &[u8], rows: Option<u64>) {
    fs::write(day.join(file.to_string()), bytes).unwrap();
    let path = day.join("manifest.json");
    let mut manifest = DayManifest::from_canonical(&fs::read(&path).unwrap()).unwrap();
    let found: &mut FileRef = manifest.files.iter_mut().find(|one| one.file == file).unwrap();
    found.sha256 = DayManifest::hash_of(bytes);
    found.bytes = bytes.len() as u64;
    found.rows = rows.unwrap_or(found.rows);
    fs::write(path, manifest.to_canonical().unwrap()).unwrap();
}

pub fn column(file: DayFile, name: &str) -> usize {
    table(file).iter().position(|column| column.name == name).unwrap()
}

/// Changes to files, each with the resulting fault.
fn made_up() -> Vec<(DayFile, Change<'static>, &'static str)> {
    use DayFile::{Figures, Slots, Snapshots};
    let text = |cell: &Cell| match cell {
        Cell::Text(text) => String::from_utf8(text.to_vec()).unwrap(),
        other => panic!("{other:?}"),
    };
    let set = |file, row: usize, name: &str, cell: Cell| -> Change<'static> {
        let at = column(file, name);
        Box::new(move |rows: &mut Vec<Row>| rows[row][at] = cell)
    };
    let replace =
        |file, row: usize, name: &str, from: &'static str, to: &'static str| -> Change<'static> {
            let at = column(file, name);
            Box::new(move |rows: &mut Vec<Row>| {
                rows[row][at] = Cell::text(text(&rows[row][at]).replacen(from, to, 1));
            })
        };
    let swap = |file, name: &str| -> Change<'static> {
        let at = column(file, name);
        Box::new(move |rows: &mut Vec<Row>| {
            let other = rows[2][at].clone();
            rows[1][at] = other;
        })
    };
    let (s, f, v) = (Slots, Figures(0), Snapshots(0));
    vec![
        (f, set(f, 3, "token0_depth_usd", Cell::Int(7)), "figures_mismatch"),
        (f, set(f, 3, "token1_exit_gap_pct_1000", Cell::Int(7)), "figures_mismatch"),
        (f, set(f, 3, "token1_exit_gap_pct_1000", Cell::Null), "figures_mismatch"),
        (
            f,
            set(f, 3, "token1_refusal_1000000", Cell::text("beyond_liquidity")),
            "figures_mismatch",
        ),
        (f, set(f, 5, "missing_reason", Cell::text("recorder_down")), "figures_mismatch"),
        (f, set(f, 3, "slot_time", Cell::Int(0)), "figures_mismatch"),
        (v, replace(v, 3, "head", "\"height\":3", "\"height\":4"), "head_does_not_follow"),
        (v, replace(v, 3, "head", "1.0.0", "1.0.1"), "head_does_not_follow"),
        (
            v,
            replace(v, 11, "head", "\"recorded_count\":11", "\"recorded_count\":11 "),
            "head_invalid",
        ),
        (v, replace(v, 3, "snapshot", "\"timestamp\"", "\"timestamq\""), "snapshot_hash_mismatch"),
        (v, replace(v, 3, "state", "3000", "3001"), "snapshot_invalid"),
        (v, swap(v, "snapshot"), "snapshot_hash_mismatch"),
        (v, swap(v, "head"), "head_slot_mismatch"),
        // A missing slot gets the snapshot of another slot.
        (
            v,
            Box::new(move |rows: &mut Vec<Row>| {
                for at in ["snapshot", "state"].map(|name| column(v, name)) {
                    rows[5][at] = rows[4][at].clone();
                }
            }),
            "snapshot_unnamed",
        ),
        (
            v,
            Box::new(move |rows: &mut Vec<Row>| {
                for at in ["snapshot", "state"].map(|name| column(v, name)) {
                    rows[4][at] = Cell::Null;
                }
            }),
            "snapshot_absent",
        ),
        (
            v,
            edit_head(11, |head| head["depth_usd"] = json!(["999999999", "999999999"])),
            "depth_mismatch",
        ),
        (
            v,
            edit_head(11, |head| head["lowest_depth_7d_usd"] = json!(["0", "0"])),
            "figures_mismatch",
        ),
        (v, edit_head(0, |head| head["height"] = json!(1)), "head_invalid"),
        (v, set(v, 3, "head", Cell::text("x".repeat(200_000))), "table_invalid"),
        (v, set(v, 3, "state", Cell::Null), "table_invalid"),
        (v, set(v, 3, "slot_time", Cell::Int(0)), "table_invalid"),
        (v, set(v, 3, "slot", Cell::Int(1)), "table_invalid"),
        (v, set(v, 3, "pool", Cell::text("anvil:0x")), "table_invalid"),
        (v, set(v, 3, "fills", Cell::text("{}")), "fills_hash_mismatch"),
        (v, set(v, 3, "issued", Cell::text("{}")), "issued_hash_mismatch"),
        (v, Box::new(|rows: &mut Vec<Row>| rows.swap(3, 4)), "head_does_not_follow"),
        (s, set(s, 3, "pools", Cell::Int(2)), "heads_root_mismatch"),
        (s, swap(s, "leaf"), "leaf_slot_mismatch"),
        (s, swap(s, "checkpoint"), "checkpoint_mismatch"),
        (s, replace(s, 3, "leaf", "\"pools\":1", "\"pools\":2"), "heads_root_mismatch"),
        (s, replace(s, 3, "checkpoint", "\n4\n", "\n5\n"), "signature_forged"),
        (s, Box::new(|rows: &mut Vec<Row>| rows.swap(3, 4)), "slot_order"),
    ]
}

#[test]
fn rows_that_were_made_up_do_not_pass_though_their_hashes_fit() {
    let (_home, day) = written();
    let good = audited(&day);
    assert_eq!(good.fault, None);
    assert_eq!((good.counts.slots, good.counts.snapshots, good.counts.unsupported), (12, 11, 0));
    let files =
        ["manifest.json", "slots.parquet", "figures-0000.parquet", "snapshots-0000.parquet"];
    for (number, (file, change, expected)) in made_up().into_iter().enumerate() {
        let other = tempfile::tempdir().unwrap();
        for name in files {
            fs::copy(day.join(name), other.path().join(name)).unwrap();
        }
        rewrite(other.path(), file, change);
        let fault =
            audited(other.path()).fault.unwrap_or_else(|| panic!("{number}: {expected} passes"));
        assert_eq!(fault.code, expected, "{number}: {}", fault.detail);
    }
}

/// Consistent heads, leaves and slots that were not signed: only the trees show that.
#[test]
fn what_is_sound_in_itself_has_to_be_what_was_signed() {
    let (_home, day) = written();
    let file = |name: &str| fs::read(day.join(name)).unwrap();
    let names =
        ["manifest.json", "slots.parquet", "figures-0000.parquet", "snapshots-0000.parquet"];
    let good = names.map(file);
    let faulty = || {
        let fault = audited(&day).fault.unwrap();
        for (name, bytes) in names.iter().zip(&good) {
            fs::write(day.join(name), bytes).unwrap();
        }
        (fault.code, fault.detail)
    };
    // A pool's last head, with a matching row of figures.
    rewrite(
        &day,
        DayFile::Snapshots(0),
        edit_head(11, |head| head["lowest_depth_7d_usd"] = json!(["0", "0"])),
    );
    rewrite(&day, DayFile::Figures(0), |rows| {
        for token in 0..2 {
            let name = format!("token{token}_lowest_depth_7d_usd");
            rows[11][column(DayFile::Figures(0), &name)] = Cell::Int(0);
        }
    });
    assert_eq!(faulty().0, "lowest_depth_mismatch", "the heads of the day give another");
    // The same head that commits to something more, which no figure follows from.
    rewrite(
        &day,
        DayFile::Snapshots(0),
        edit_head(11, |head| {
            head["commits"] = json!({"more": format!("0x{}", "07".repeat(32))});
        }),
    );
    let (code, detail) = faulty();
    assert_eq!(code, "heads_root_mismatch");
    assert!(detail.starts_with("the heads give the root "), "{detail}");
    // A leaf over the same heads with an additional commitment.
    let at = column(DayFile::Slots, "leaf");
    rewrite(&day, DayFile::Slots, |rows| {
        let Cell::Text(text) = &rows[3][at] else { panic!("a leaf") };
        let mut leaf: Value = serde_json::from_slice(text).unwrap();
        leaf["commits"] = json!({"more": format!("0x{}", "07".repeat(32))});
        rows[3][at] = Cell::text(serde_json::to_vec(&leaf).unwrap());
    });
    let (code, detail) = faulty();
    assert_eq!(code, "checkpoint_mismatch");
    assert!(detail.starts_with("the checkpoint's root is "), "{detail}");
    // One slot is left out, but the manifest is unchanged.
    let (bytes, _) = rewritten(&day, DayFile::Slots, |rows| drop(rows.pop()));
    replaced(&day, DayFile::Slots, &bytes, None);
    assert_eq!(faulty().0, "rows_mismatch");
    assert_eq!(audited(&day).fault, None);
}

/// Rows are left out of both files of the range.
#[test]
fn a_pool_that_ends_early_and_files_that_do_not_go_together_are_named() {
    let (home, day) = written();
    let copy = || {
        let other = tempfile::tempdir().unwrap();
        for name in fs::read_dir(&day).unwrap() {
            let path = name.unwrap().path();
            fs::copy(&path, other.path().join(path.file_name().unwrap())).unwrap();
        }
        other
    };
    let both = |change: fn(&mut Vec<Row>)| {
        let other = copy();
        // The manifest requires the same number of rows in both files, and is checked first.
        let path = other.path().join("manifest.json");
        let mut manifest = DayManifest::from_canonical(&fs::read(&path).unwrap()).unwrap();
        for file in [DayFile::Figures(0), DayFile::Snapshots(0)] {
            let (bytes, rows) = rewritten(other.path(), file, change);
            fs::write(other.path().join(file.to_string()), &bytes).unwrap();
            let found = manifest.files.iter_mut().find(|one| one.file == file).unwrap();
            found.sha256 = DayManifest::hash_of(&bytes);
            (found.bytes, found.rows) = (bytes.len() as u64, rows);
        }
        fs::write(path, manifest.to_canonical().unwrap()).unwrap();
        audited(other.path()).fault.unwrap().code
    };
    assert_eq!(both(|rows| drop(rows.pop())), "pool_dropped");
    assert_eq!(both(|rows| drop(rows.remove(0))), "head_without_predecessor");
    assert_eq!(both(|rows| drop(rows.remove(4))), "head_does_not_follow");
    // The files must match the manifest's statements about a range and its rows.
    let said = |change: fn(&mut DayManifest)| {
        let other = copy();
        let path = other.path().join("manifest.json");
        let mut manifest = DayManifest::from_canonical(&fs::read(&path).unwrap()).unwrap();
        change(&mut manifest);
        fs::write(path, manifest.to_canonical().unwrap()).unwrap();
        audited(other.path()).fault.unwrap().code
    };
    let fewer = |manifest: &mut DayManifest| {
        manifest.files.iter_mut().skip(1).for_each(|file| file.rows = 11);
    };
    assert_eq!(said(fewer), "rows_mismatch");
    let another = |manifest: &mut DayManifest| {
        let pool: PoolId = format!("anvil:0x{}", "bb".repeat(20)).parse().unwrap();
        for range in manifest.files.iter_mut().filter_map(|file| file.range.as_mut()) {
            (range.first, range.last) = (pool.clone(), pool.clone());
        }
    };
    assert_eq!(said(another), "range_mismatch");
    drop(home);
}

/// A file that is not Parquet, or is broken, is refused immediately with a message, even if its hash matches.
#[test]
fn broken_parquet_is_refused_in_words() {
    let (_home, day) = written();
    for file in [DayFile::Slots, DayFile::Figures(0), DayFile::Snapshots(0)] {
        let path = day.join(file.to_string());
        let good = fs::read(&path).unwrap();
        let mut refused = 0;
        let step = (good.len() / 150).max(1);
        for at in (0..good.len()).step_by(step) {
            for mask in [0x01, 0x80, 0xff] {
                let mut bytes = good.clone();
                bytes[at] ^= mask;
                replaced(&day, file, &bytes, None);
                refused += u32::from(audited(&day).fault.is_some());
            }
        }
        for cut in [0, 1, 4, 12, good.len() / 2, good.len() - 1] {
            replaced(&day, file, &good[..cut], None);
            let fault = audited(&day).fault.unwrap();
            assert_eq!(fault.code, "table_invalid", "{cut}: {}", fault.detail);
        }
        assert!(refused > 250, "{refused} of {file} were refused");
        replaced(&day, file, &good, None);
        assert_eq!(audited(&day).fault, None);
    }
}

/// Archived data is read from here by callers that know a hash. Nothing else is trusted.
#[test]
fn what_is_read_back_is_the_snapshot_of_its_name_with_its_own_state() {
    let (home, day) = written();
    let folder = LogFolder::new(home.path().join("log"));
    let read = || Reader::open(home.path().join("series.db")).unwrap().with_days(folder.clone());
    let of_pool = |index| vec![LeftRow { pool: pool().to_string(), slot: slot(index) }];
    let pool = read().pool(&pool()).unwrap().unwrap();
    let entry = read().entry(&pool, slot(FIRST + 3)).unwrap().unwrap();
    let Outcome::Recorded(hash) = entry.outcome else { panic!("{entry:?}") };
    let expected = read().documents(hash).unwrap();
    assert!(expected.is_some());
    let found = read().documents_in_days(of_pool(FIRST + 3), hash).unwrap();
    assert_eq!(found, expected);
    // Of several places the one that has it is found, even after one that has nothing.
    let places = [FIRST + 5, FIRST + 4, FIRST + 3].map(of_pool).concat();
    assert_eq!(read().documents_in_days(places, hash).unwrap(), expected);
    assert_eq!(read().documents_in_days(Vec::new(), hash).unwrap(), None);
    let is_unread = |index: u32| {
        let error = read().documents_in_days(of_pool(index), hash).unwrap_err();
        assert!(matches!(error, StoreError::LeftUnread { .. }), "{error}");
    };
    is_unread(FIRST + 4);
    is_unread(FIRST + 5);
    is_unread(FIRST + 20);
    for name in ["state", "snapshot"] {
        let file = DayFile::Snapshots(0);
        let whole = fs::read(day.join(file.to_string())).unwrap();
        rewrite(&day, file, |rows| {
            let cell = &mut rows[3][column(file, name)];
            let Cell::Text(text) = &*cell else { panic!("a document") };
            *cell = Cell::text([&text[..], b" "].concat());
        });
        let same = read();
        let found = same.documents_in_days(of_pool(FIRST + 3), hash);
        assert!(matches!(found, Err(StoreError::LeftUnread { .. })), "{name}: {found:?}");
        replaced(&day, file, &whole, None);
        // Failures are not cached.
        assert_eq!(same.documents_in_days(of_pool(FIRST + 3), hash).unwrap(), expected);
    }
    assert_eq!(read().documents_in_days(of_pool(FIRST + 3), hash).unwrap(), expected);
}
