//! `fsck` accepts a valid store and names every kind of damage.

use std::path::{Path, PathBuf};

use exitgap_core::evidence::{Commits, Head, Retraction, SlotLeaf};
use exitgap_core::ids::{BlockHash, HeadHash};
use exitgap_core::series::Slot;
use exitgap_core::tlog::{Checkpoint, Hash, root};
use exitgap_store::{
    Changes, CorruptBody, CorruptHead, CorruptLog, Damage, FsckCounts, NewRetraction, Reader,
    Store, StoreError,
};
use rusqlite::types::ValueRef;
use rusqlite::{Connection, params};
use tempfile::TempDir;

use crate::scenes::store::{BusyPool, key, slot};
use crate::store::sealing::{damage, damaged, sealed_store};

fn fsck(path: &Path) -> Result<FsckCounts, Damage> {
    Reader::open(path)?.fsck(|_| {})
}

/// Runs `fsck --derived`.
fn fsck_derived(path: &Path) -> Result<FsckCounts, Damage> {
    Reader::open(path)?.fsck_derived(|_| {})
}

#[test]
fn a_store_that_holds_is_counted_and_every_slot_told() {
    let (_folder, path) = sealed_store();
    let mut told = Vec::new();
    let reader = Reader::open(&path).unwrap();
    let checked = reader.fsck(|checked| told.push(checked.slots)).unwrap();
    let (heads, snapshots) = (11 + 11 + 6, 7 + 8 + 3);
    let whole = FsckCounts {
        slots: 11,
        of_slots: 11,
        heads,
        snapshots,
        bodies: snapshots,
        ..FsckCounts::default()
    };
    assert_eq!(checked, whole);
    assert_eq!(told, (1..=11).collect::<Vec<_>>());
    assert_eq!(fsck_derived(&path).unwrap(), whole);
}

/// The stored hash of a pool's figures of a day, computed independently by this test.
fn digest(connection: &Connection, pool_no: i64) -> Vec<u8> {
    let mut statement =
        connection.prepare("SELECT * FROM figures WHERE pool_no = ?1 ORDER BY slot").unwrap();
    let columns = statement.column_count();
    let mut rows = statement.query([pool_no]).unwrap();
    let mut digest = vec![0; 32];
    while let Some(row) = rows.next().unwrap() {
        for column in 0..columns {
            match row.get_ref(column).unwrap() {
                ValueRef::Null => digest.push(0),
                ValueRef::Integer(number) => {
                    digest.push(1);
                    digest.extend(number.to_be_bytes());
                }
                ValueRef::Text(text) => {
                    digest.push(2);
                    digest.extend((text.len() as u64).to_be_bytes());
                    digest.extend(text);
                }
                other => panic!("{other:?}"),
            }
        }
        // Every document's hash is the SHA-256 of its bytes.
        digest = Head::hash_of(&digest).0.to_vec();
    }
    digest
}

#[test]
fn figures_written_anew_with_their_hash_are_found_where_all_are_computed_anew() {
    let (_folder, path) = sealed_store();
    let connection = Connection::open(&path).unwrap();
    let sql = "SELECT figures_sha256 FROM day WHERE pool_no = 2";
    let stored: Vec<u8> = connection.query_row(sql, (), |row| row.get(0)).unwrap();
    assert_eq!(stored, digest(&connection, 2));
    // Nothing else depends on this value: the basis of a slot that is not the newest.
    let change = "UPDATE figures SET basis0 = basis0 + 1 WHERE pool_no = 2 AND slot = 5957860";
    connection.execute_batch(change).unwrap();
    let derived = |damage: Damage| {
        let figures = matches!(*damage.error, StoreError::Derived { table: "figures", .. });
        assert!(figures && damage.pool.is_some(), "{damage}");
        damage.slot
    };
    assert_eq!(derived(fsck(&path).unwrap_err()), None);
    assert_eq!(derived(fsck_derived(&path).unwrap_err()), Some(slot(4)));
    let sql = "UPDATE day SET figures_sha256 = ?1 WHERE pool_no = 2";
    connection.execute(sql, params![digest(&connection, 2)]).unwrap();
    fsck(&path).unwrap();
    assert_eq!(derived(fsck_derived(&path).unwrap_err()), Some(slot(4)));
}

#[test]
fn a_slots_tiles_are_checked_and_a_damaged_one_proves_nothing() {
    for change in [
        "UPDATE slot_tile SET hashes = zeroblob(length(hashes)) WHERE slot = 5957860",
        "UPDATE slot_tile SET hashes = substr(hashes, 1, 32) WHERE slot = 5957860",
        "DELETE FROM slot_tile WHERE slot = 5957860",
    ] {
        let (_folder, path) = damaged(change);
        let found = fsck(&path).expect_err(change);
        assert_eq!(found.slot, Some(slot(4)), "{found}");
        let tile = |error: &StoreError| {
            matches!(error, StoreError::CorruptLog { what: CorruptLog::SlotTile { .. }, .. })
        };
        assert!(tile(&found.error), "{found}");
        let reader = Reader::open(&path).unwrap();
        let pool = &reader.pools().unwrap()[1].id;
        assert!(tile(&reader.pool_proof(slot(4), pool).unwrap_err()), "{change}");
        reader.pool_proof(slot(3), pool).unwrap().unwrap();
    }
    let (_folder, path) =
        damaged("INSERT INTO slot_tile SELECT slot, 1, 0, hashes FROM slot_tile LIMIT 1");
    let found = fsck(&path).unwrap_err();
    assert!(matches!(*found.error, StoreError::Rows { table: "slot_tile", .. }), "{found}");
}

#[test]
fn what_no_answer_rests_on_is_looked_at_too() {
    // A body that should refer to another but names none.
    let (_folder, path) = damaged("UPDATE body SET level = 1 WHERE level = 0");
    let body = fsck(&path).unwrap_err();
    assert!(matches!(*body.error, StoreError::Corrupt { .. }), "{body}");
    // An additional signature of an unknown signer.
    let foreign = format!("— exitgap.example/test/5957856 {}=", "A".repeat(91));
    let (_folder, path) = damaged(&format!(
        "UPDATE sealed_slot SET checkpoint = checkpoint || '{foreign}' || char(10) WHERE slot = 5957860"
    ));
    let note = fsck(&path).unwrap_err();
    assert_eq!(note.slot, Some(slot(4)), "{note}");
    assert!(note.to_string().contains("not one of its log's keys"), "{note}");
}

#[test]
fn each_kind_of_damage_is_found_first_where_it_is() {
    let found = |change: &str| {
        let (_folder, path) = damaged(change);
        fsck(&path).expect_err(change)
    };
    let at_slot_4 = |damage: &Damage| assert_eq!(damage.slot, Some(slot(4)), "{damage}");
    // Damages a body, an entry's figures, a leaf, nodes of the tree, and a checkpoint.
    let body = found(
        "UPDATE body SET zstd = (SELECT zstd FROM body WHERE level = 0 ORDER BY body_no LIMIT 1)
         WHERE snapshot_sha256 = (SELECT snapshot_sha256 FROM entry WHERE slot = 5957860 AND pool_no = 2)",
    );
    at_slot_4(&body);
    assert!(body.pool.is_some() && matches!(*body.error, StoreError::Corrupt { .. }), "{body}");
    let absent = found(
        "DELETE FROM body WHERE snapshot_sha256 IN
            (SELECT snapshot_sha256 FROM entry WHERE slot = 5957866 AND pool_no = 2)",
    );
    assert_eq!(absent.slot, Some(slot(10)));
    assert!(matches!(*absent.error, StoreError::Corrupt { what: CorruptBody::Absent, .. }));
    let moved = found("UPDATE body SET slot = slot - 1 WHERE slot = 5957860 AND level = 3");
    at_slot_4(&moved);
    assert!(matches!(*moved.error, StoreError::CorruptRow { table: "body", .. }), "{moved}");
    for column in
        ["depth0_usd = 1", "depth1_usd = NULL", "lowest1_7d_usd = 1", "method_version = '0.9.0'"]
    {
        let head =
            found(&format!("UPDATE entry SET {column} WHERE slot = 5957860 AND pool_no = 1"));
        at_slot_4(&head);
        let what =
            matches!(*head.error, StoreError::CorruptHead { what: CorruptHead::Hash { .. }, .. });
        assert!(what, "{head}");
    }
    // The log's single row with another number, and an additional row.
    for change in [
        "UPDATE log SET log_no = 5",
        "INSERT INTO log (log_no, verifier_key, first_slot) SELECT 5, verifier_key, first_slot FROM log",
        "INSERT INTO predecessor (log_no, document) VALUES (5, 'predecessor of nothing')",
    ] {
        let stray = found(&format!("PRAGMA ignore_check_constraints = 1; {change}"));
        assert!(stray.to_string().contains("a row with number 5"), "{stray}");
    }
    // A rehashed chain of heads still contradicts the leaf.
    let run = found("UPDATE entry SET missing_run_slots = 7 WHERE missing_run_slots = 2");
    assert!(
        matches!(*run.error, StoreError::CorruptHead { what: CorruptHead::Rule(_), .. }),
        "{run}"
    );
    let root = found("UPDATE sealed_slot SET heads_root = zeroblob(32) WHERE slot = 5957860");
    at_slot_4(&root);
    assert!(matches!(
        *root.error,
        StoreError::CorruptLog { what: CorruptLog::HeadsRoot { .. }, .. }
    ));
    for (level, index, at) in [(0, 4, 4), (1, 2, 5), (2, 0, 3), (3, 0, 7)] {
        let node = found(&format!(
            "UPDATE log_node SET sha256 = zeroblob(32) WHERE level = {level} AND node_index = {index}"
        ));
        assert_eq!(node.slot, Some(slot(at)), "{node}");
        assert!(matches!(
            *node.error,
            StoreError::CorruptLog { what: CorruptLog::Node { level: l, index: i, .. }, .. }
                if (l, i) == (level, index)
        ));
    }
    for (change, words) in [
        ("(SELECT checkpoint FROM sealed_slot WHERE slot = 5957861)", "is of size 6, not 5"),
        ("replace(checkpoint, 'exitgap.example', 'exitgap.exemple')", "is of exitgap.exemple"),
        ("replace(checkpoint, char(10) || '5' || char(10), char(10) || '6' || char(10))", "size 6"),
        ("checkpoint || 'more'", "is not a checkpoint"),
    ] {
        let set = format!("UPDATE sealed_slot SET checkpoint = {change} WHERE slot = 5957860");
        let note = found(&set);
        at_slot_4(&note);
        assert!(note.to_string().contains(words), "{note}");
    }
    // The text is correct, but the signature is that of another slot.
    let forged = found(
        "UPDATE sealed_slot SET checkpoint =
            substr(checkpoint, 1, instr(checkpoint, '—') - 1) || (
                SELECT substr(other.checkpoint, instr(other.checkpoint, '—'))
                FROM sealed_slot AS other WHERE other.slot = 5957859
            ) WHERE slot = 5957860",
    );
    at_slot_4(&forged);
    assert!(forged.to_string().contains("is not signed by"), "{forged}");
    let depth = found("UPDATE entry SET depth1_usd = 3 WHERE missing_reason = 'chain_lagging'");
    assert!(matches!(*depth.error, StoreError::CorruptRow { table: "entry", .. }), "{depth}");
    // Rows that no head commits to.
    let rows = |change: &str, name: &str| {
        let damage = found(change);
        assert!(
            matches!(*damage.error, StoreError::Rows { table, .. } if table == name),
            "{damage}"
        );
    };
    rows("INSERT INTO log_node VALUES (9, 9, zeroblob(32))", "log_node");
    rows(
        "INSERT INTO body SELECT 99, slot, zeroblob(32), state_sha256, 0, NULL, 1, 1, zstd FROM body LIMIT 1",
        "body",
    );
    rows(
        "INSERT INTO entry SELECT pool_no, slot + 90, NULL, 'recorder_down', 1, 1, NULL, NULL, NULL,
            NULL, method_version, NULL, NULL, head_sha256 FROM entry LIMIT 1",
        "entry",
    );
}

/// The last slot of [`retracting_store`], which retracts the slot two before it.
const LAST: u32 = 300;

/// A store of one pool with more than a day of slots; its last slot retracts an earlier one.
fn retracting_store() -> (TempDir, PathBuf) {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("series.db");
    let mut store = Store::create(&path, &key()).unwrap();
    let mut pool = BusyPool::new(1, 5);
    store.append_slot(slot(0), &[pool.recorded(slot(0))]).unwrap();
    store.fill_until(slot(LAST - 2)).unwrap();
    for n in LAST - 2..LAST {
        store.append_slot(slot(n), &[pool.recorded(slot(n))]).unwrap();
    }
    let canonical = BlockHash([0xee; 32]);
    let retraction = NewRetraction::for_orphan(pool.id.clone(), slot(LAST - 2), canonical);
    let changes = Changes { retractions: vec![retraction], ..Changes::default() };
    store.append_slot_with(slot(LAST), &[pool.recorded(slot(LAST))], &changes).unwrap();
    store.close().unwrap();
    assert_eq!(fsck(&path).unwrap().retractions, 1);
    (folder, path)
}

#[test]
fn retractions_too_far_back_or_without_both_hashes_are_found() {
    let found = |change: &str| {
        let (_folder, path) = retracting_store();
        damage(&path, change);
        fsck(&path).expect_err(change)
    };
    for change in [
        // 300 slots earlier, where the slot is recorded, too.
        "UPDATE retraction SET slot = 5957856",
        "UPDATE retraction SET slot = slot + 1",
        "UPDATE retraction SET canonical_hash = orphaned_hash",
        "UPDATE retraction SET canonical_hash = zeroblob(32)",
        "DELETE FROM retraction",
    ] {
        let found = found(change);
        let head = matches!(&*found.error, StoreError::CorruptHead { .. });
        assert!(head && found.slot == Some(slot(LAST)), "{change}: {found}");
    }
    for change in ["canonical_hash = zeroblob(0)", "orphaned_hash = x'05'", "code = 'nrphaned'"] {
        let found = found(&format!("UPDATE retraction SET {change}"));
        let row = matches!(&*found.error, StoreError::CorruptRow { table: "retraction", .. });
        assert!(row, "{change}: {found}");
    }
    // An additional retraction that no head contains.
    let more = "INSERT INTO retraction SELECT pool_no, 5957856, by_slot, code, orphaned_hash,
                canonical_hash FROM retraction";
    let found = found(more);
    let rows = matches!(&*found.error, StoreError::Rows { table: "retraction", .. });
    assert!(rows, "{found}");
}

/// A store of one pool whose second and third slot commit to logged fills and to receipts.
fn store_with_documents() -> (TempDir, PathBuf) {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("series.db");
    let mut store = Store::create(&path, &key()).unwrap();
    let mut pool = BusyPool::new(1, 5);
    store.append_slot(slot(0), &[pool.recorded(slot(0))]).unwrap();
    for (n, receipt, blocks) in [(1, 1, [1_000, 1_010]), (2, 2, [1_010, 1_020])] {
        let changes = Changes {
            fills: vec![pool.fills(blocks)],
            issued: vec![pool.issued(&[receipt])],
            ..Changes::default()
        };
        store.append_slot_with(slot(n), &[pool.recorded(slot(n))], &changes).unwrap();
    }
    store.close().unwrap();
    let checked = fsck(&path).unwrap();
    assert_eq!([checked.fills, checked.issued], [2, 2]);
    (folder, path)
}

#[test]
fn fills_that_are_not_those_of_their_head_are_found() {
    let found = |change: &str| {
        let (_folder, path) = store_with_documents();
        damage(&path, change);
        fsck(&path).expect_err(change)
    };
    for change in [
        "zstd = (SELECT zstd FROM fills WHERE slot = 5957857)",
        "zstd = x'00'",
        "document_bytes = document_bytes - 1",
        "document_bytes = 4194305",
        "after_block = 1011",
        "to_block = 1021",
        "to_block = -1",
    ] {
        let found = found(&format!("UPDATE fills SET {change} WHERE slot = 5957858"));
        let row = matches!(&*found.error, StoreError::CorruptRow { table: "fills", .. });
        assert!(row && found.slot == Some(slot(2)), "{change}: {found}");
    }
    for change in ["fills_sha256 = zeroblob(32)", "fills_sha256 = NULL"] {
        let found = found(&format!("UPDATE entry SET {change} WHERE slot = 5957858"));
        let head = matches!(&*found.error, StoreError::CorruptHead { .. });
        assert!(head && found.slot == Some(slot(2)), "{change}: {found}");
    }
    let gone = found("DELETE FROM fills WHERE slot = 5957858");
    assert!(gone.to_string().contains("nothing for slot"), "{gone}");
    // One that no head commits to.
    let more =
        "INSERT INTO fills SELECT pool_no, 5957856, 1, 2, document_bytes, zstd FROM fills LIMIT 1";
    let found = found(more);
    assert!(matches!(&*found.error, StoreError::Rows { table: "fills", .. }), "{found}");
}

#[test]
fn issued_estimates_that_are_not_those_of_their_head_are_found() {
    let found = |change: &str| {
        let (_folder, path) = store_with_documents();
        damage(&path, change);
        fsck(&path).expect_err(change)
    };
    for change in [
        "zstd = (SELECT zstd FROM issued WHERE slot = 5957857)",
        "zstd = x'00'",
        "document_bytes = document_bytes - 1",
        "document_bytes = 524289",
    ] {
        let found = found(&format!("UPDATE issued SET {change} WHERE slot = 5957858"));
        let row = matches!(&*found.error, StoreError::CorruptRow { table: "issued", .. });
        assert!(row && found.slot == Some(slot(2)), "{change}: {found}");
    }
    for change in ["issued_sha256 = zeroblob(32)", "issued_sha256 = NULL"] {
        let found = found(&format!("UPDATE entry SET {change} WHERE slot = 5957858"));
        let head = matches!(&*found.error, StoreError::CorruptHead { .. });
        assert!(head && found.slot == Some(slot(2)), "{change}: {found}");
    }
    let gone = found("DELETE FROM issued WHERE slot = 5957858");
    assert!(gone.to_string().contains("nothing for slot"), "{gone}");
    // One that no head commits to.
    let more =
        "INSERT INTO issued SELECT pool_no, 5957856, document_bytes, zstd FROM issued LIMIT 1";
    let found = found(more);
    assert!(matches!(&*found.error, StoreError::Rows { table: "issued", .. }), "{found}");
}

/// Replaces the last head and everything that follows from it, signed with the log's own key, as an operator could.
fn reseal_last(path: &Path, head: &Head) {
    let reader = Reader::open(path).unwrap();
    let canonical = head.to_canonical().unwrap();
    let (root_of, commits) = (root(&[Head::leaf_of(&canonical)]), Commits::default());
    let leaf = SlotLeaf { slot: head.slot, pools: 1, root: root_of, commits };
    let leaf_hash = SlotLeaf::leaf_of(&leaf.to_canonical().unwrap());
    let sealed = |n| SlotLeaf::leaf_of(&reader.leaf(slot(n)).unwrap().unwrap().canonical);
    let mut leaves: Vec<Hash> = (0..LAST).map(sealed).collect();
    leaves.push(leaf_hash);
    let origin = reader.log().unwrap().unwrap().origin;
    let size = u64::from(LAST) + 1;
    let checkpoint =
        Checkpoint { origin: origin.clone(), size, root: root(&leaves), extensions: vec![] };
    let note = key().with_name(&origin.to_string()).unwrap().sign(&checkpoint.to_text()).unwrap();
    drop(reader);
    let hex = |bytes: [u8; 32]| HeadHash(bytes).to_string()[2..].to_owned();
    let at = head.slot.number();
    damage(
        path,
        &format!(
            "UPDATE entry SET head_sha256 = x'{}', recorded_count = {} WHERE slot = {at};
             UPDATE sealed_slot SET heads_root = x'{}', checkpoint = '{note}' WHERE slot = {at};
             UPDATE slot_tile SET hashes = x'{}' WHERE slot = {at};
             UPDATE log_node SET sha256 = x'{}' WHERE level = 0 AND node_index = {LAST};",
            hex(Head::hash_of(&canonical).0),
            head.recorded_count,
            hex(leaf.root.0),
            hex(Head::leaf_of(&canonical).0),
            hex(leaf_hash.0),
        ),
    );
}

#[test]
fn a_second_first_head_is_found_even_where_it_is_sealed_and_signed() {
    let (_folder, path) = retracting_store();
    let reader = Reader::open(&path).unwrap();
    let pool = reader.pools().unwrap().remove(0);
    let head = reader.head(&pool, slot(LAST)).unwrap().unwrap().head;
    drop(reader);
    // Control: rewriting the unchanged head causes no error, so the errors below come from the changes.
    reseal_last(&path, &head);
    fsck(&path).unwrap();
    let first = Head {
        height: 0,
        prev: None,
        recorded_count: 1,
        retracts: Vec::<Retraction>::new(),
        lowest_depth_7d_usd: head_depths(&path),
        ..head.clone()
    };
    reseal_last(&path, &first);
    let found = fsck(&path).unwrap_err();
    assert_eq!(found.slot, Some(slot(LAST)), "{found}");
    let what = matches!(&*found.error, StoreError::CorruptHead { .. });
    assert!(what && found.pool == Some(pool.id), "{found}");

    // If the pool supposedly begins with that head, the earlier heads belong to no pool.
    let (_folder, path) = retracting_store();
    reseal_last(&path, &first);
    damage(&path, &format!("UPDATE pool SET first_slot = {}", head.slot.number()));
    let found = fsck(&path).unwrap_err();
    let pools = CorruptLog::Pools { expected: 1, found: 0 };
    let error = &*found.error;
    assert!(
        matches!(error, StoreError::CorruptLog { slot, what } if *slot == Slot::FIRST && *what == pools),
        "{found}"
    );
}

/// The depths of the last slot's snapshot.
fn head_depths(path: &Path) -> [Option<u64>; 2] {
    let connection = Connection::open(path).unwrap();
    let sql = "SELECT depth0_usd, depth1_usd FROM entry WHERE slot = ?1";
    connection
        .query_row(sql, params![slot(LAST).number()], |row| {
            let depth = |n| row.get::<_, Option<i64>>(n).map(|d| d.map(i64::cast_unsigned));
            Ok([depth(0)?, depth(1)?])
        })
        .unwrap()
}
