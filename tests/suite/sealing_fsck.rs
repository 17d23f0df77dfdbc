//! `fsck`: a store that holds, and damage of every kind, named.

use std::path::Path;

use exitgap_store::{Checked, CorruptBody, CorruptHead, CorruptLog, Damage, Reader, StoreError};

use crate::sealing::{damaged, sealed_store};
use crate::store_scene::slot;

fn fsck(path: &Path) -> Result<Checked, Damage> {
    Reader::open(path)?.fsck(|_| {})
}

#[test]
fn a_store_that_holds_is_counted_and_every_slot_told() {
    let (_folder, path) = sealed_store();
    let mut told = Vec::new();
    let reader = Reader::open(&path).unwrap();
    let checked = reader.fsck(|checked| told.push(checked.slots)).unwrap();
    let (heads, snapshots) = (11 + 11 + 6, 7 + 8 + 3);
    let whole = Checked { slots: 11, of_slots: 11, heads, snapshots, ..Checked::default() };
    assert_eq!(checked, whole);
    assert_eq!(told, (1..=11).collect::<Vec<_>>());
}

#[test]
fn each_kind_of_damage_is_found_first_where_it_is() {
    let found = |change: &str| {
        let (_folder, path) = damaged(change);
        fsck(&path).expect_err(change)
    };
    let at_slot_4 = |damage: &Damage| assert_eq!(damage.slot, Some(slot(4)), "{damage}");
    // A body, an entry's figures, a leaf, nodes of the tree, a checkpoint.
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
    // A chain of heads hashed anew still meets the leaf.
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
        ("checkpoint || 'more'", "is none"),
    ] {
        let set = format!("UPDATE sealed_slot SET checkpoint = {change} WHERE slot = 5957860");
        let note = found(&set);
        at_slot_4(&note);
        assert!(note.to_string().contains(words), "{note}");
    }
    // Signed by nobody we know: the text is right, the signature is that of another slot.
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
    // Rows that nothing commits to.
    let rows = |change: &str, name: &str| {
        let damage = found(change);
        assert!(
            matches!(*damage.error, StoreError::Rows { table, .. } if table == name),
            "{damage}"
        );
    };
    rows("INSERT INTO log_node VALUES (9, 9, zeroblob(32))", "log_node");
    rows("INSERT INTO body SELECT 99, zeroblob(32), 0, NULL, 1, zstd FROM body LIMIT 1", "body");
    rows(
        "INSERT INTO entry SELECT pool_no, slot + 90, NULL, 'recorder_down', 1, 1, NULL, NULL, NULL,
            NULL, method_version, head_sha256 FROM entry LIMIT 1",
        "entry",
    );
}
