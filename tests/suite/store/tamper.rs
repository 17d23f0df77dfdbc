//! Interference by a second connection, a damaged disk, or another program.

use std::fs;
use std::path::{Path, PathBuf};

use exitgap_core::pools::PoolState;
use exitgap_core::series::{MissingReason, Slot};
use exitgap_core::snapshot::Snapshot;
use exitgap_store::{Changes, CorruptBody, Outcome, Reader, Store, StoreError};
use rusqlite::Connection;
use tempfile::TempDir;

use crate::scenes::store::{BusyPool, key, slot};

/// A store of one pool: `recorded` snapshots, then one missing slot. The returned folder keeps it alive.
fn store_with(recorded: u32) -> (TempDir, PathBuf, BusyPool) {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("series.db");
    let mut store = Store::create(&path, &key()).unwrap();
    let mut pool = BusyPool::new(1, 20);
    for n in 0..recorded {
        store.append_slot(slot(n), &[pool.recorded(slot(n))]).unwrap();
    }
    let changes = Changes {
        fills: vec![pool.fills([1_010, 1_020])],
        issued: vec![pool.issued(&[3])],
        ..Changes::default()
    };
    let missing = [pool.missing(MissingReason::ChainLagging)];
    store.append_slot_with(slot(recorded), &missing, &changes).unwrap();
    (folder, path, pool)
}

/// Every row of every table, as text.
pub fn dump(path: &Path) -> Vec<String> {
    let connection = Connection::open(path).unwrap();
    [
        "pool",
        "body",
        "entry",
        "log",
        "log_node",
        "slot_tile",
        "sealed_slot",
        "cosigning",
        "cosigned",
        "retraction",
        "retirement",
        "fills",
        "issued",
        "log_key",
        "predecessor",
        "figures",
        "week",
        "day",
        "standing",
    ]
    .iter()
    .flat_map(|table| {
        let mut statement = connection.prepare(&format!("SELECT * FROM {table}")).unwrap();
        let columns = statement.column_count();
        let rows = statement.query_map((), |row| {
            let values = (0..columns).map(|n| format!("{:?}", row.get_ref(n).unwrap()));
            Ok(format!("{table}: {}", values.collect::<Vec<_>>().join(", ")))
        });
        rows.unwrap().map(Result::unwrap).collect::<Vec<_>>()
    })
    .collect()
}

/// Removes a guard, changes something, and restores the guard, so that the schema stays unchanged.
fn behind_the_guard(path: &Path, guard: &str, change: &str) {
    let second = Connection::open(path).unwrap();
    let query = "SELECT sql FROM sqlite_schema WHERE name = ?1";
    let sql: String = second.query_row(query, [guard], |row| row.get(0)).unwrap();
    let changed = format!("{CARELESS} DROP TRIGGER {guard}; {change}; {sql}");
    second.execute_batch(&changed).unwrap();
}

/// Settings that disable checks; every connection can choose them.
const CARELESS: &str = "PRAGMA foreign_keys = OFF; PRAGMA recursive_triggers = OFF;";

/// Statements of a second connection with these settings, and the database's answers.
const ATTACKS: [(&str, &str); 65] = [
    (
        "UPDATE entry SET missing_reason = 'recorder_down' WHERE missing_reason IS NOT NULL",
        "an entry is never changed",
    ),
    ("UPDATE OR REPLACE entry SET slot = slot + 1", "an entry is never changed"),
    ("DELETE FROM entry", "an entry is never deleted"),
    ("INSERT OR REPLACE INTO entry SELECT * FROM entry LIMIT 1", "the slot is sealed"),
    (
        "REPLACE INTO entry SELECT pool_no, slot, NULL, 'recorder_down', 0, 1,
         NULL, NULL, NULL, NULL, '1.0.0', NULL, NULL, head_sha256 FROM entry LIMIT 1",
        "the slot is sealed",
    ),
    ("INSERT OR IGNORE INTO entry SELECT * FROM entry LIMIT 1", "the slot is sealed"),
    (
        "INSERT INTO entry SELECT * FROM entry WHERE true
         ON CONFLICT DO UPDATE SET missing_reason = 'recorder_down', snapshot_sha256 = NULL",
        "the slot is sealed",
    ),
    (
        "INSERT INTO entry VALUES (1, 5957880, NULL, 'recorder_down', 3, 20,
         NULL, NULL, NULL, NULL, '1.0.0', NULL, NULL, zeroblob(32))",
        "an entry follows the one before it",
    ),
    (
        "INSERT INTO entry VALUES (1, 5957860, NULL, 'recorder_down', 9, 2,
         NULL, NULL, NULL, NULL, '1.0.0', NULL, NULL, zeroblob(32))",
        "an entry follows the one before it",
    ),
    (
        "INSERT INTO entry VALUES (2, 5957860, NULL, 'recorder_down', 0, 1,
         NULL, NULL, NULL, NULL, '1.0.0', NULL, NULL, zeroblob(32))",
        "an entry follows the one before it",
    ),
    ("UPDATE body SET zstd = x'00'", "a body is never changed"),
    ("DELETE FROM body WHERE level = 3", "a body is never deleted"),
    ("INSERT OR REPLACE INTO body SELECT * FROM body", "the body is in the store already"),
    (
        "INSERT INTO body SELECT * FROM body WHERE true ON CONFLICT DO UPDATE SET zstd = x'00'",
        "the body is in the store already",
    ),
    (
        "INSERT INTO body VALUES (90, 5957860, zeroblob(32), zeroblob(32), 1, 90, 1, 1, x'00')",
        "a dictionary has a lower level",
    ),
    ("UPDATE pool SET first_slot = first_slot + 1", "a pool keeps its name"),
    ("UPDATE pool SET pool_id = 'other'", "a pool keeps its name"),
    ("DELETE FROM pool", "a pool is never deleted"),
    ("REPLACE INTO pool SELECT * FROM pool", "the pool is in the store already"),
    (
        "INSERT INTO pool VALUES (2, 'other', 0, 5957856)",
        "a pool begins in a slot that is not sealed",
    ),
    ("UPDATE sealed_slot SET pools = 2", "a sealed slot is never changed"),
    ("DELETE FROM sealed_slot", "a sealed slot is never deleted"),
    (
        "REPLACE INTO sealed_slot SELECT * FROM sealed_slot",
        "a sealed slot follows the one before it",
    ),
    (
        "INSERT INTO sealed_slot VALUES (5957860, 1, zeroblob(32), '')",
        "sealed with its leaf in the log",
    ),
    (
        "INSERT INTO log_node VALUES (0, 4, zeroblob(32));
         INSERT INTO sealed_slot VALUES (5957860, 1, zeroblob(32), '')",
        "one entry for every pool",
    ),
    ("UPDATE log SET verifier_key = 'other'", "a log keeps its name and its key"),
    ("DELETE FROM log", "a log is never deleted"),
    ("REPLACE INTO log SELECT * FROM log", "the store has its log already"),
    ("UPDATE log_node SET sha256 = zeroblob(32)", "a node of the log is never changed"),
    ("DELETE FROM log_node WHERE level = 0", "a node of the log is never deleted"),
    ("REPLACE INTO log_node SELECT * FROM log_node", "the node is in the store already"),
    ("INSERT INTO log_node VALUES (0, 9, zeroblob(32))", "that of the slot to be sealed"),
    ("INSERT INTO log_node VALUES (1, 2, zeroblob(32))", "stands over two others"),
    (
        "INSERT INTO retraction VALUES (1, 5957856, 5957858, 'orphaned', zeroblob(32), randomblob(32))",
        "the slot is sealed",
    ),
    (
        "INSERT INTO retraction VALUES (1, 5957859, 5957860, 'orphaned', zeroblob(32), randomblob(32))",
        "only a recorded slot is retracted",
    ),
    (
        "INSERT INTO retraction VALUES (1, 5957856, 5957860, 'orphaned', zeroblob(32), randomblob(32));
         INSERT OR REPLACE INTO retraction VALUES (1, 5957856, 5957860, 'misread', NULL, NULL)",
        "a slot is retracted once",
    ),
    (
        "INSERT INTO retraction VALUES (1, 5957856, 5958200, 'orphaned', zeroblob(32), randomblob(32))",
        "CHECK constraint failed: by_slot",
    ),
    (
        "INSERT INTO retraction VALUES (1, 5957856, 5957860, 'orphaned', zeroblob(32), zeroblob(32))",
        "CHECK constraint failed: orphaned_hash",
    ),
    (
        "INSERT INTO retraction VALUES (1, 5957856, 5957860, 'orphaned', zeroblob(32), randomblob(32));
         UPDATE retraction SET by_slot = by_slot + 1",
        "a retraction is never changed",
    ),
    (
        "INSERT INTO retraction VALUES (1, 5957856, 5957860, 'orphaned', zeroblob(32), randomblob(32));
         DELETE FROM retraction",
        "a retraction is never deleted",
    ),
    (
        "INSERT INTO retraction VALUES (1, 5957856, 5957860, 'orphaned', zeroblob(32), randomblob(32));
         INSERT INTO entry VALUES (1, 5957860, NULL, 'recorder_down', 3, 2,
         NULL, NULL, NULL, NULL, '1.0.0', NULL, NULL, zeroblob(32))",
        "an entry follows the one before it",
    ),
    ("INSERT INTO retirement VALUES (1, 5957859)", "the slot is sealed"),
    (
        "INSERT INTO entry VALUES (1, 5957860, NULL, NULL, 3, 2,
         NULL, NULL, NULL, NULL, '1.0.0', NULL, NULL, zeroblob(32))",
        "or the last of a retired pool",
    ),
    (
        "INSERT INTO retirement VALUES (1, 5957860); REPLACE INTO retirement VALUES (1, 5957861)",
        "a pool retires once",
    ),
    (
        "INSERT INTO retirement VALUES (1, 5957860); DELETE FROM retirement",
        "a retirement is final",
    ),
    ("INSERT INTO log_key VALUES (7, 'other')", "numbered from its first one"),
    (
        "INSERT INTO log_key VALUES (2, 'other'); UPDATE log_key SET verifier_key = 'another'",
        "a log keeps its keys",
    ),
    ("INSERT INTO log_key VALUES (2, 'other'); DELETE FROM log_key", "a log keeps its keys"),
    ("INSERT INTO predecessor VALUES (1, 'other')", "before its first slot"),
    ("UPDATE slot_tile SET hashes = zeroblob(32)", "a tile of a slot is never changed"),
    ("DELETE FROM slot_tile", "a tile of a slot is never deleted"),
    ("INSERT OR REPLACE INTO slot_tile SELECT * FROM slot_tile", "the slot is sealed"),
    ("UPDATE fills SET zstd = x'00'", "fills are never changed"),
    ("DELETE FROM fills", "fills are never deleted"),
    ("INSERT OR REPLACE INTO fills SELECT * FROM fills", "the slot is sealed"),
    ("INSERT INTO fills VALUES (1, 5957860, 0, 1, 1, x'00')", "fills follow those before them"),
    (
        "INSERT INTO fills VALUES (1, 5957860, 1020, 1030, 1, x'00');
         REPLACE INTO fills VALUES (1, 5957860, 1020, 1030, 1, x'01')",
        "the fills are in the store already",
    ),
    (
        "INSERT INTO fills VALUES (1, 5957860, 1020, 1030, 1, x'00');
         INSERT INTO entry VALUES (1, 5957860, NULL, 'recorder_down', 3, 2,
         NULL, NULL, NULL, NULL, '1.0.0', NULL, NULL, zeroblob(32))",
        "commits to the fills that are there",
    ),
    (
        "INSERT INTO entry VALUES (1, 5957860, NULL, 'recorder_down', 3, 2,
         NULL, NULL, NULL, NULL, '1.0.0', zeroblob(32), NULL, zeroblob(32))",
        "commits to the fills that are there",
    ),
    ("UPDATE issued SET zstd = x'00'", "issued estimates are never changed"),
    ("DELETE FROM issued", "issued estimates are never deleted"),
    ("INSERT OR REPLACE INTO issued SELECT * FROM issued", "the slot is sealed"),
    (
        "INSERT INTO issued VALUES (1, 5957860, 1, x'00');
         REPLACE INTO issued VALUES (1, 5957860, 1, x'01')",
        "the issued estimates are in the store already",
    ),
    (
        "INSERT INTO issued VALUES (1, 5957860, 1, x'00');
         INSERT INTO entry VALUES (1, 5957860, NULL, 'recorder_down', 3, 2,
         NULL, NULL, NULL, NULL, '1.0.0', NULL, NULL, zeroblob(32))",
        "commits to the issued estimates that are there",
    ),
    (
        "INSERT INTO entry VALUES (1, 5957860, NULL, 'recorder_down', 3, 2,
         NULL, NULL, NULL, NULL, '1.0.0', NULL, zeroblob(32), zeroblob(32))",
        "commits to the issued estimates that are there",
    ),
];

#[test]
fn a_second_connection_cannot_change_what_is_written() {
    let (_folder, path, _) = store_with(3);
    let before = dump(&path);
    assert_eq!(before.len(), 1 + 3 + 4 + 1 + 7 + 4 + 4 + 4 + 4 + 1 + 1 + 1 + 1);
    let second = Connection::open(&path).unwrap();
    second.execute_batch(CARELESS).unwrap();
    for (attack, answer) in ATTACKS {
        // Rolls back the statements before the rejected one.
        let refusal = second.execute_batch(&format!("BEGIN; {attack}")).expect_err(attack);
        second.execute_batch("ROLLBACK").unwrap();
        let refusal = refusal.to_string();
        assert!(refusal.contains(answer), "{attack}: {refusal}");
    }
    assert_eq!(dump(&path), before);
    // Control: without one of the guards, its statement succeeds.
    second.execute_batch("DROP TRIGGER entry_stays; DELETE FROM entry").unwrap();
    assert_ne!(dump(&path), before);
}

#[test]
fn a_dropped_guard_another_file_and_a_newer_schema_are_named_on_open() {
    let (folder, path, _) = store_with(1);
    let error =
        |path: &Path| (Reader::open(path).unwrap_err(), Store::open(path, &key()).unwrap_err());
    let alter = |sql| Connection::open(&path).unwrap().execute_batch(sql).unwrap();

    alter("DROP TRIGGER entry_follows");
    let altered = |error| matches!(error, StoreError::SchemaAltered { object, .. } if object == "trigger entry_follows");
    assert!(altered(error(&path).0) && altered(error(&path).1));
    alter("PRAGMA user_version = 10");
    let older = |error| matches!(error, StoreError::OlderSchema { expected: 12, found: 10, .. });
    assert!(older(error(&path).0) && older(error(&path).1));
    alter("PRAGMA user_version = 13");
    let newer = |error| matches!(error, StoreError::NewerSchema { expected: 12, found: 13, .. });
    assert!(newer(error(&path).0) && newer(error(&path).1));

    let foreign = folder.path().join("foreign.db");
    let other = Connection::open(&foreign).unwrap();
    other.execute_batch("CREATE TABLE t (x); PRAGMA application_id = 7").unwrap();
    let not_a_store = |error| matches!(error, StoreError::NotAStore { found: 7, .. });
    assert!(not_a_store(error(&foreign).0) && not_a_store(error(&foreign).1));
    assert!(matches!(Store::create(&foreign, &key()), Err(StoreError::AlreadyExists { .. })));
    let text = folder.path().join("text.db");
    fs::write(&text, "a file that is no database, but long enough to be looked at by SQLite")
        .unwrap();
    assert!(matches!(error(&text).0, StoreError::NotAStore { found: 0, .. }));
    let journal: String = other.pragma_query_value(None, "journal_mode", |row| row.get(0)).unwrap();
    assert_eq!(journal, "delete", "a foreign database is left as it was");

    let nowhere = folder.path().join("nowhere.db");
    assert!(matches!(error(&nowhere).0, StoreError::NotFound { .. }));
    assert!(matches!(error(&nowhere).1, StoreError::NotFound { .. }));
    // An interrupted creation leaves an empty file, which is not a store but no obstacle.
    fs::write(&nowhere, "").unwrap();
    assert!(matches!(error(&nowhere).0, StoreError::NotFound { .. }));
    assert!(Store::create(&nowhere, &key()).is_ok());
    assert!(Reader::open(&nowhere).is_ok());
}

#[test]
fn every_flipped_bit_of_a_body_is_named_when_it_is_read() {
    let (_folder, path, mut pool) = store_with(3);
    let reader = Reader::open(&path).unwrap();
    let entries = reader.entries(&reader.pools().unwrap()[0], Slot::FIRST, Slot::LAST, 3).unwrap();
    let hashes: Vec<_> = entries
        .entries
        .iter()
        .map(|entry| match entry.outcome {
            Outcome::Recorded(hash) => hash,
            Outcome::Missing(_) | Outcome::Retired => panic!("{entry:?}"),
        })
        .collect();
    drop(reader);
    let second = Connection::open(&path).unwrap();
    // Thousands of changes; none of them must survive a crash.
    second.execute_batch("PRAGMA synchronous = OFF; DROP TRIGGER body_is_not_changed").unwrap();
    let body = |number: usize| -> Vec<u8> {
        let sql = "SELECT zstd FROM body WHERE snapshot_sha256 = ?1";
        second.query_row(sql, [hashes[number].0], |row| row.get(0)).unwrap()
    };
    let put = |number: usize, zstd: &[u8]| {
        let sql = "UPDATE body SET zstd = ?2 WHERE snapshot_sha256 = ?1";
        assert_eq!(second.execute(sql, (hashes[number].0, zstd)).unwrap(), 1);
    };
    // The reader would reject the changed schema, so the guard is restored around each change.
    let guard = "CREATE TRIGGER body_is_not_changed BEFORE UPDATE ON body BEGIN
    SELECT RAISE(ABORT, 'exitgap: a body is never changed');
END";
    second.execute_batch(guard).unwrap();
    let reader = Reader::open(&path).unwrap();
    second.execute_batch("DROP TRIGGER body_is_not_changed").unwrap();

    // Damage to a key record affects the records that refer to it; the error names the key record.
    for (damaged, read) in [(0, 0), (2, 2), (0, 2)] {
        let whole = body(damaged);
        let content = reader.documents(hashes[read]).unwrap().unwrap();
        let (mut by_hash, mut harmless) = (0, 0);
        for bit in 0..whole.len() * 8 {
            let mut flipped = whole.clone();
            flipped[bit / 8] ^= 1 << (bit % 8);
            put(damaged, &flipped);
            match reader.documents(hashes[read]) {
                // Another encoding of the same content, for example with a match at another position.
                Ok(Some(bytes)) if bytes == content => harmless += 1,
                Err(StoreError::Corrupt { hash, what }) => {
                    assert_eq!(hash, hashes[damaged], "bit {bit}: {what}");
                    by_hash += usize::from(matches!(
                        what,
                        CorruptBody::Hash { .. } | CorruptBody::State { .. }
                    ));
                }
                other => panic!("bit {bit}: {other:?}"),
            }
        }
        assert!(by_hash > 0, "some damage decompresses and is found by its hash alone");
        assert!(harmless * 20 < whole.len() * 8, "{harmless} of {} bits", whole.len() * 8);
        put(damaged, &whole);
        assert!(reader.documents(hashes[read]).unwrap().is_some());
    }

    // A recorder that starts on a damaged store does not refer to damaged data.
    put(0, b"damaged");
    second.execute_batch(guard).unwrap();
    let mut store = Store::open(&path, &key()).unwrap();
    let entry = pool.recorded(slot(4));
    store.append_slot(slot(4), std::slice::from_ref(&entry)).unwrap();
    let pools = store.reader().pools().unwrap();
    assert_eq!(store.reader().snapshot_at(&pools[0], slot(4)).unwrap(), entry.reading.ok());
}

#[test]
fn a_body_that_would_inflate_beyond_bounds_is_not_inflated() {
    let (_folder, path, _) = store_with(1);
    // A frame that declares 1 TiB and repeats a zero.
    let bomb = "28b52ffd c0 58 0000000000010000 030010 00".replace(' ', "");
    let change =
        format!("UPDATE body SET zstd = x'{bomb}', snapshot_bytes = 4096, state_bytes = 4190208");
    behind_the_guard(&path, "body_is_not_changed", &change);
    let reader = Reader::open(&path).unwrap();
    let pool = &reader.pools().unwrap()[0];
    assert!(matches!(
        reader.snapshot_at(pool, slot(0)),
        Err(StoreError::Corrupt { what: CorruptBody::Zstd { expected: 4_194_304, .. }, .. })
    ));
}

#[test]
fn rows_that_contradict_each_other_are_named() {
    let damaged = |guard, change| {
        let (folder, path, _) = store_with(3);
        behind_the_guard(&path, guard, change);
        let reader = Reader::open(&path).unwrap();
        let pool = reader.pools().unwrap().remove(0);
        (folder, reader, pool)
    };
    let what = |guard, change, n| {
        let (_folder, reader, pool) = damaged(guard, change);
        match reader.snapshot_at(&pool, slot(n)).unwrap_err() {
            StoreError::Corrupt { what, .. } => what,
            other => panic!("{other}"),
        }
    };
    let body = "body_is_not_changed";
    let round = "UPDATE body SET dictionary_body_no = body_no WHERE level > 0";
    assert!(matches!(what(body, round, 2), CorruptBody::NoDictionary { body_no: Some(3) }));
    let nowhere = "UPDATE body SET dictionary_body_no = 99 WHERE level > 0";
    assert!(matches!(what(body, nowhere, 2), CorruptBody::NoDictionary { body_no: Some(99) }));
    assert!(matches!(
        what("body_stays", "DELETE FROM body WHERE level > 0", 2),
        CorruptBody::Absent
    ));
    let entry = "entry_is_not_changed";
    let other = "UPDATE entry SET snapshot_sha256 = (SELECT snapshot_sha256 FROM body ORDER BY body_no LIMIT 1)
                 WHERE slot = 5957858";
    assert!(matches!(
        what(entry, other, 2),
        CorruptBody::OfAnother { slot: found, .. } if found == slot(0)
    ));

    let reason = "UPDATE entry SET missing_reason = 'tired' WHERE missing_reason IS NOT NULL";
    let (_folder, reader, pool) = damaged(entry, reason);
    assert!(matches!(
        reader.latest(&pool, None),
        Err(StoreError::CorruptRow { table: "entry", found }) if found.contains("tired")
    ));
    let run = "UPDATE entry SET missing_run_slots = 9 WHERE missing_reason IS NOT NULL";
    let (_folder, reader, pool) = damaged(entry, run);
    assert!(matches!(
        reader.latest(&pool, None),
        Err(StoreError::CorruptRow { table: "entry", .. })
    ));

    let (_folder, path, _) = store_with(1);
    behind_the_guard(&path, "pool_keeps_its_name", "UPDATE pool SET pool_id = 'no pool'");
    let reader = Reader::open(&path).unwrap();
    assert!(matches!(reader.pools(), Err(StoreError::CorruptRow { table: "pool", .. })));
    // A body with correct hashes may still not be a snapshot.
    let (name, state) = (Snapshot::hash_of(b"{"), PoolState::hash_of(b"}"));
    let zstd = "28b52ffd 20 02 11 0000 7b7d".replace(' ', "");
    let insert = format!(
        "INSERT INTO body VALUES (9, 5957860, x'{}', x'{}', 0, NULL, 1, 1, x'{zstd}')",
        &name.to_string()[2..],
        &state.to_string()[2..]
    );
    Connection::open(&path).unwrap().execute_batch(&insert).unwrap();
    let documents = reader.documents(name).unwrap().unwrap();
    assert_eq!((&documents.snapshot[..], &documents.state[..]), (&b"{"[..], &b"}"[..]));
    assert_eq!(reader.state(state).unwrap().as_deref(), Some(&b"}"[..]));
    assert!(matches!(
        reader.snapshot(&pool.id, name),
        Err(StoreError::Corrupt { what: CorruptBody::NotASnapshot(_), .. })
    ));
}
