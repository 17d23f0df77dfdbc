//! The derived rows: figures of slots, days and all pools, each compared with a naive computation; `fsck` checks and
//! rebuilds them.

use std::collections::BTreeMap;
use std::path::Path;

use exitgap_core::evidence::LOWEST_DEPTH_SLOTS;
use exitgap_core::exit::{Exit, Refusal};
use exitgap_core::pools::Direction;
use exitgap_core::series::{MissingReason, Slot};
use exitgap_core::units::SizeUsd;
use exitgap_store::{
    Figures, Gap, NoGap, Outcome, Pool, Reader, Rollup, Store, StoreError, day_of, migrate, rebuild,
};
use exitgap_tests::postgres;
use rusqlite::Connection;
use tempfile::TempDir;

use crate::scenes::store::{BusyPool, key, slot, store_in, tamper};
use crate::store::sealing::sealed_store;

fn all(reader: &Reader, pool: &Pool) -> Vec<Figures> {
    let page = reader.figures(pool, Slot::FIRST, Slot::LAST, Reader::MAX_PAGE).unwrap();
    assert_eq!(page.next, None);
    page.entries
}

#[test]
fn figures_are_those_of_each_snapshot_and_its_window() {
    let folder = TempDir::new().unwrap();
    let path = store_in(folder.path(), "series.db");
    let mut store = Store::create(&path, &key()).unwrap();
    // One pool is deep enough for the standard sizes, the other for none of them. The store is reopened in between.
    let (mut pool, mut shallow) = (BusyPool::new(4, 40), BusyPool::new(5, 1));
    for n in (0..30).chain(2_000..2_060) {
        if n % 20 == 7 {
            drop(store);
            store = Store::open(&path, &key()).unwrap();
        }
        let entry = match n % 9 {
            4 => pool.missing(MissingReason::ChainLagging),
            _ => pool.recorded(slot(n)),
        };
        store.append_slot(slot(n), &[entry, shallow.recorded(slot(n))]).unwrap();
    }
    let reader = store.reader();
    let mut counts = (0, 0, 0);
    for stored in reader.pools().unwrap() {
        let (filled, refused, medians) = check_figures(reader, &stored);
        counts = (counts.0 + filled, counts.1 + refused, counts.2 + medians);
    }
    let (filled, refused, medians) = counts;
    assert!(filled > 1_000 && refused > 40 && medians == 4 * 2_060, "{filled} {refused}");
    reader.fsck(|_| {}).unwrap();
}

/// Requires that the pool's figures equal those computed from its snapshots; counts the compared gaps, rejections and
/// medians.
fn check_figures(reader: &Reader, stored: &Pool) -> (u32, u32, u32) {
    let figures = all(reader, stored);
    assert_eq!(figures.len(), 2_060);
    let (mut filled, mut refused, mut medians) = (0, 0, 0);
    for (n, row) in figures.iter().enumerate() {
        assert_eq!(row.entry, reader.entry(stored, row.entry.slot).unwrap().unwrap());
        assert_eq!(row.retraction, None);
        let snapshot = reader.snapshot_at(stored, row.entry.slot).unwrap();
        assert_eq!(row.snapshot.is_some(), snapshot.is_some());
        if let Some((snapshot, found)) = snapshot.zip(row.snapshot) {
            assert_eq!(found.oracle_stale, snapshot.observation().oracle_stale());
            for (direction, found) in Direction::BOTH.into_iter().zip(found.directions) {
                let exit = Exit::from_pool(snapshot.observation(), direction);
                for (size, gap) in SizeUsd::STANDARD.into_iter().zip(found.gaps) {
                    match (exit.estimate(size), gap) {
                        (Ok(estimate), Gap::Filled(gap)) => {
                            assert_eq!(estimate.gap, gap);
                            assert_eq!(found.basis, Some(estimate.split.basis));
                            filled += 1;
                        }
                        (Err(refusal), Gap::Refused(why)) => {
                            assert_eq!(refusal.code(), why.code());
                            if let (
                                Refusal::BeyondLiquidity { max_fillable_usd, .. },
                                NoGap::BeyondLiquidity(most),
                            ) = (refusal, why)
                            {
                                assert_eq!(max_fillable_usd, most);
                            }
                            refused += 1;
                        }
                        other => panic!("{other:?}"),
                    }
                }
            }
        }
        let window = &figures[(n + 1).saturating_sub(LOWEST_DEPTH_SLOTS as usize)..=n];
        let missing = window.iter().filter(|row| row.snapshot.is_none()).count();
        assert_eq!(row.window.missing_slots as usize, missing);
        for (token, found) in row.window.directions.iter().enumerate() {
            let depth =
                |row: &Figures| Some((row.snapshot?.directions[token].depth_usd?, row.entry.slot));
            let mut depths: Vec<_> = window.iter().filter_map(depth).collect();
            depths.sort_unstable();
            assert_eq!(found.lowest, depths.first().map(|(depth, slot)| (*slot, *depth)));
            // Of an even number, the lower of the middle two.
            assert_eq!(found.median_usd, Some(depths[(depths.len() - 1) / 2].0));
            medians += 1;
            let lows = row.week.unwrap()[token];
            assert_eq!(lows.lowest_depth, found.lowest);
            let book =
                |row: &Figures| Some((row.snapshot?.directions[token].book_usd?, row.entry.slot));
            let mut books: Vec<_> = window.iter().filter_map(book).collect();
            books.sort_unstable();
            assert_eq!(lows.lowest_book, books.first().map(|(book, slot)| (*slot, *book)));
            assert_eq!(lows.median_book_usd, Some(books[(books.len() - 1) / 2].0));
        }
    }
    (filled, refused, medians)
}

/// Computes the day in one pass over its rows, independently of the store's code.
fn naive_day(rows: &[&Figures]) -> Rollup {
    let recorded: Vec<_> = rows
        .iter()
        .filter(|row| row.retraction.is_none())
        .filter_map(|row| Some((row.entry.slot, row.snapshot?)))
        .collect();
    let missing = |row: &&&Figures| matches!(row.entry.outcome, Outcome::Missing(_));
    let mut day = Rollup {
        recorded_slots: u32::try_from(recorded.len()).unwrap(),
        missing_slots: u32::try_from(rows.iter().filter(missing).count()).unwrap(),
        retracted_slots: u32::try_from(rows.iter().filter(|row| row.retraction.is_some()).count())
            .unwrap(),
        last: recorded.last().map(|(slot, _)| *slot),
        ..Rollup::default()
    };
    for token in 0..2 {
        let depths = recorded.iter().filter_map(|(slot, snapshot)| {
            snapshot.directions[token].depth_usd.map(|depth| (depth, *slot))
        });
        day.directions[token].lowest = depths.min().map(|(depth, slot)| (slot, depth));
        for size in 0..4 {
            let gap = |(slot, snapshot): &(Slot, exitgap_store::SnapshotFigures)| {
                (*slot, snapshot.directions[token].gaps[size])
            };
            let gaps: Vec<_> = recorded.iter().map(gap).collect();
            let number = |(slot, gap): &(Slot, Gap)| match gap {
                Gap::Filled(percent) => Some((*slot, *percent)),
                Gap::Refused(_) => None,
            };
            let most = |(slot, gap): &(Slot, Gap)| match gap {
                Gap::Refused(NoGap::BeyondLiquidity(most)) => Some((*slot, *most)),
                _ => None,
            };
            let numbers: Vec<_> = gaps.iter().filter_map(number).collect();
            let rollup = gaps.last().map(|(_, last)| exitgap_store::GapRollup {
                last: *last,
                // Of equal values, the latest counts: `max_by_key` returns the last one, and the order is reversed.
                worst: numbers.iter().rev().copied().max_by_key(|(_, percent)| percent.0),
                refused_slots: u32::try_from(gaps.len() - numbers.len()).unwrap(),
                least_fillable: gaps.iter().filter_map(most).min_by_key(|(_, most)| *most),
            });
            day.directions[token].gaps[size] = rollup;
        }
    }
    day
}

/// Requires that days, board and newest slots equal those computed from the figures.
pub fn check_rollups(reader: &Reader) {
    let board = reader.board().unwrap();
    let pools = reader.pools().unwrap();
    assert_eq!(
        board.iter().map(|row| &row.pool).collect::<Vec<_>>(),
        pools.iter().collect::<Vec<_>>()
    );
    for row in board {
        let figures = all(reader, &row.pool);
        let mut by_day: BTreeMap<u32, Vec<&Figures>> = BTreeMap::new();
        for row in &figures {
            by_day.entry(day_of(row.entry.slot)).or_default().push(row);
        }
        let days = reader.days(&row.pool, 0, u32::MAX).unwrap();
        assert_eq!(days.len(), by_day.len());
        for day in days {
            assert_eq!(day.rollup, naive_day(&by_day[&day.day]), "{day:?}");
        }
        let last = figures.last().unwrap();
        let standing = row.standing;
        assert_eq!(standing.slot, last.entry.slot);
        assert_eq!(standing.recorded_count, last.entry.recorded_count);
        assert_eq!(standing.window, last.window);
        let stands = |row: &&Figures| row.snapshot.is_some() && row.retraction.is_none();
        let newest = figures.iter().rev().find(stands);
        assert_eq!(standing.newest, newest.map(|row| (row.entry.slot, row.snapshot.unwrap())));
        let newer = figures.iter().rev().take_while(|row| !stands(row)).collect::<Vec<_>>();
        let retracted = newer.iter().filter(|row| row.retraction.is_some()).count();
        let retired = newer.iter().filter(|row| row.entry.outcome == Outcome::Retired).count();
        assert_eq!(standing.newer_retracted as usize, retracted);
        assert_eq!(standing.newer_missing as usize, newer.len() - retracted - retired);
        let latest = reader.latest(&row.pool, None).unwrap().unwrap();
        assert_eq!(latest.snapshot.map(|(slot, _)| slot), newest.map(|row| row.entry.slot));
        assert_eq!(latest.newer_missing, standing.newer_missing);
        assert_eq!(latest.newer_retracted, standing.newer_retracted);
        for token in 0..2 {
            let lowest = last.window.directions[token].lowest.map(|(slot, _)| slot);
            let there =
                lowest.and_then(|lowest| figures.iter().find(|row| row.entry.slot == lowest));
            let at = standing.at_lowest[token].map(|at| (at.basis, at.missing_slots));
            let expected = there.map(|row| {
                (row.snapshot.unwrap().directions[token].basis, row.window.missing_slots)
            });
            assert_eq!(at, expected);
        }
    }
}

#[test]
fn days_and_the_board_are_those_of_the_figures() {
    let folder = TempDir::new().unwrap();
    let path = store_in(folder.path(), "series.db");
    let mut store = Store::create(&path, &key()).unwrap();
    let mut pools: Vec<_> = (1..=3).map(|number| BusyPool::new(number, 20)).collect();
    for n in 0..700_u32 {
        // Restarts within a day and at its edges, a pause over midnight, a pool that begins late.
        if [100, 288, 400, 576].contains(&n) {
            drop(store);
            store = Store::open(&path, &key()).unwrap();
        }
        if (280..300).contains(&n) {
            continue;
        }
        let known = if n < 350 { 2 } else { 3 };
        let entries: Vec<_> = (0..known)
            .map(|pool| match (pool, n) {
                (1, 500..) => pools[1].missing(MissingReason::RpcUnavailable),
                (0, n) if n % 50 == 3 => pools[0].missing(MissingReason::ChainLagging),
                _ => pools[pool].recorded(slot(n)),
            })
            .collect();
        store.append_slot(slot(n), &entries).unwrap();
        if n % 97 == 0 {
            check_rollups(store.reader());
        }
    }
    check_rollups(store.reader());
    let board = store.reader().board().unwrap();
    assert_eq!(board[1].standing.newer_missing, 200);
    assert_eq!(board[1].standing.missing, Some(MissingReason::RpcUnavailable));
    let day = store.reader().days(&board[0].pool, day_of(slot(300)), day_of(slot(300))).unwrap();
    assert_eq!(day.len(), 1);
    assert_eq!((day[0].rollup.recorded_slots, day[0].rollup.missing_slots), (288 - 12 - 6, 12 + 6));
}

/// Damage to derived rows: `fsck` finds each, and a rebuild repairs it.
const DAMAGE: [(&str, &str); 14] = [
    ("figures", "UPDATE figures SET gap0_1k = gap0_1k + 1 WHERE pool_no = 2 AND slot = 5957860"),
    (
        "figures",
        "UPDATE figures SET gap1_1m = 4611686018427387907 WHERE pool_no = 2 AND slot = 5957860",
    ),
    (
        "figures",
        "UPDATE figures SET gap1_1m = 4611686018427387919 WHERE pool_no = 2 AND slot = 5957860",
    ),
    (
        "figures",
        "UPDATE figures SET gap1_1m = 4611686018427387904 WHERE pool_no = 2 AND slot = 5957860",
    ),
    ("figures", "UPDATE figures SET median0_7d_usd = NULL WHERE pool_no = 2 AND slot = 5957860"),
    ("figures", "UPDATE figures SET lowest1_7d_back = lowest1_7d_back + 1 WHERE slot = 5957860"),
    ("figures", "DELETE FROM figures WHERE slot >= 5957860"),
    ("week", "UPDATE week SET lowest_book1_usd = lowest_book1_usd + 1 WHERE slot = 5957860"),
    ("week", "UPDATE week SET led0_slots = 7, largest_lead0 = NULL WHERE pool_no = 2"),
    ("week", "DELETE FROM week WHERE pool_no = 3"),
    (
        "day",
        "UPDATE day SET least0_10k_micros = 1, worst0_10k_at = 1 - worst0_10k_at WHERE pool_no = 1",
    ),
    ("day", "DELETE FROM day"),
    ("standing", "UPDATE standing SET newer_missing = 5 WHERE pool_no = 3"),
    ("standing", "DELETE FROM standing WHERE pool_no = 1"),
];

fn dump(path: &Path) -> Vec<String> {
    let mut rows = Vec::new();
    if let Some(database) = postgres::database_of(path) {
        for table in ["figures", "week", "day", "standing"] {
            let found = postgres::shared()
                .sql(database, &format!("SELECT * FROM exitgap.{table} ORDER BY 1, 2"));
            rows.extend(found.lines().map(|row| format!("{table}: {row}")));
        }
        return rows;
    }
    let connection = Connection::open(path).unwrap();
    for table in ["figures", "week", "day", "standing"] {
        let mut statement = connection.prepare(&format!("SELECT * FROM {table}")).unwrap();
        let columns = statement.column_count();
        let row = statement.query_map((), |row| {
            let values = (0..columns).map(|n| format!("{:?}", row.get_ref(n).unwrap()));
            Ok(format!("{table}: {}", values.collect::<Vec<_>>().join(", ")))
        });
        rows.extend(row.unwrap().map(Result::unwrap));
    }
    rows
}

#[test]
fn damage_to_what_is_derived_is_named_and_made_good() {
    for (table, change) in DAMAGE {
        let (_folder, path) = sealed_store();
        let whole = dump(&path);
        assert_eq!(whole.len(), 28 + 28 + 3 + 3);
        tamper(&path, change);
        assert_ne!(dump(&path), whole, "{change}");
        let damage = Reader::open(&path).unwrap().fsck(|_| {}).expect_err(change);
        let StoreError::Derived { table: found, .. } = *damage.error else { panic!("{damage}") };
        assert_eq!(found, table, "{change}");
        let derived = Reader::open(&path).unwrap().fsck_derived(|_| {}).expect_err(change);
        assert!(matches!(*derived.error, StoreError::Derived { .. }), "{derived}");
        assert!(damage.to_string().contains("fsck --rebuild"), "{damage}");
        let mut told = Vec::new();
        let rebuilt = rebuild(&path, None, |rebuilt| told.push(rebuilt.slots)).unwrap();
        assert!(rebuilt.rows > 0, "{change}");
        assert_eq!((rebuilt.slots, rebuilt.of_slots), (11, 11));
        assert_eq!(told.last(), Some(&11));
        assert_eq!(dump(&path), whole, "{change}");
        assert_eq!(rebuild(&path, None, |_| {}).unwrap().rows, 0);
        Reader::open(&path).unwrap().fsck(|_| {}).unwrap();
    }
    // Rows without underlying data.
    let (_folder, path) = sealed_store();
    let whole = dump(&path);
    let surplus =
        "INSERT INTO figures SELECT 9, slot, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL,
            NULL, NULL, NULL, NULL, NULL, 0, NULL, NULL, NULL, NULL FROM figures WHERE pool_no = 1;
        INSERT INTO week (pool_no, slot, led0_slots, led1_slots) VALUES (9, 5957860, 0, 0);
        INSERT INTO day (day, pool_no, recorded_slots, missing_slots, retracted_slots)
            VALUES (20686, 1, 0, 0, 0), (20687, 9, 0, 0, 0)";
    tamper(&path, surplus);
    let damage = Reader::open(&path).unwrap().fsck(|_| {}).unwrap_err();
    assert!(matches!(
        *damage.error,
        StoreError::Rows { table: "figures", found: 39, expected: 28 }
    ));
    assert_eq!(rebuild(&path, None, |_| {}).unwrap().rows, 14);
    assert_eq!(dump(&path), whole);
}

/// A store as a version before the weeks left it: without their table.
fn as_version_11(path: &Path) {
    if postgres::database_of(path).is_some() {
        let version = "DELETE FROM schema_version WHERE version = 12";
        return tamper(path, &format!("DROP TABLE week; {version}"));
    }
    tamper(path, "DROP TABLE week; PRAGMA user_version = 11");
}

#[test]
fn a_store_from_before_the_weeks_is_migrated_and_its_weeks_are_rebuilt() {
    let folder = TempDir::new().unwrap();
    let path = store_in(folder.path(), "series.db");
    let mut store = Store::create(&path, &key()).unwrap();
    let (mut pool, mut other) = (BusyPool::new(4, 9), BusyPool::new(5, 3));
    let mut append = |store: &mut Store, n: u32| {
        let entry = match n % 5 {
            3 => pool.missing(MissingReason::ChainLagging),
            _ => pool.recorded(slot(n)),
        };
        store.append_slot(slot(n), &[entry, other.recorded(slot(n))]).unwrap();
    };
    (0..20).for_each(|n| append(&mut store, n));
    drop(store);
    let whole = dump(&path);
    as_version_11(&path);
    let older = Reader::open(&path).unwrap_err();
    if postgres::database_of(&path).is_some() {
        assert!(matches!(older, StoreError::NotMigrated { .. }), "{older}");
        let admin = postgres::shared().url("postgres", "postgres");
        let report = migrate(&path, &admin, None, None).unwrap();
        assert_eq!((report.from, report.to), (Some(11), 12));
    } else {
        let expected = matches!(older, StoreError::OlderSchema { expected: 12, found: 11, .. });
        assert!(expected && older.to_string().contains("fsck --rebuild"), "{older}");
    }
    // A recorder migrates the file and goes on. New slots have their week at once, earlier ones not yet.
    let mut store = Store::open(&path, &key()).unwrap();
    append(&mut store, 20);
    let stored = store.reader().pools().unwrap();
    let weeks: Vec<bool> =
        all(store.reader(), &stored[0]).iter().map(|row| row.week.is_some()).collect();
    assert_eq!(weeks, [vec![false; 20], vec![true]].concat());
    let newest = store.reader().board().unwrap()[0].week;
    let damage = store.reader().fsck(|_| {}).unwrap_err();
    assert!(matches!(*damage.error, StoreError::Derived { table: "week", .. }), "{damage}");
    assert!(damage.to_string().contains("fsck --rebuild"), "{damage}");
    drop(store);
    assert_eq!(rebuild(&path, None, |_| {}).unwrap().rows, 2 * 20);
    let reader = Reader::open(&path).unwrap();
    reader.fsck_derived(|_| {}).unwrap();
    assert!(newest.is_some());
    assert_eq!(reader.board().unwrap()[0].week, newest);
    let rebuilt = dump(&path);
    let weeks = |rows: &[String]| {
        let mut weeks = rows.to_vec();
        weeks.retain(|row| row.starts_with("week"));
        weeks
    };
    assert_eq!(weeks(&whole).len(), 2 * 20);
    assert!(weeks(&whole).iter().all(|row| rebuilt.contains(row)));
}

#[test]
fn damage_to_what_is_derived_never_stops_the_series() {
    for (_, change) in DAMAGE {
        let (_folder, path) = sealed_store();
        tamper(&path, change);
        let mut store = Store::open(&path, &key()).unwrap();
        let mut pools: Vec<_> = (1..=3).map(|number| BusyPool::new(number, 5)).collect();
        let entries: Vec<_> = pools.iter_mut().map(|pool| pool.recorded(slot(11))).collect();
        store.append_slot(slot(11), &entries).unwrap();
        assert!(matches!(
            rebuild(&path, None, |_| {}).unwrap_err().error.as_ref(),
            StoreError::Locked { .. } | StoreError::Leased { .. }
        ));
        drop(store);
        rebuild(&path, None, |_| {}).unwrap();
        Reader::open(&path).unwrap().fsck(|_| {}).unwrap();
        check_rollups(&Reader::open(&path).unwrap());
    }
    let nowhere = TempDir::new().unwrap();
    let error = rebuild(nowhere.path().join("none.db"), None, |_| {}).unwrap_err().error;
    assert!(matches!(*error, StoreError::NotFound { .. }));
}
