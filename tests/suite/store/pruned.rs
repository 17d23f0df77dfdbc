//! Days whose snapshots left a server's database: their files answer requests, and nothing else changes.

use std::fs;

use exitgap_core::ids::{SnapshotHash, StateHash};
use exitgap_core::pools::PoolState;
use exitgap_core::series::Day;
use exitgap_core::snapshot::SnapshotDocuments;
use exitgap_store::days::{DaysLog, list_old_days};
use exitgap_store::{CorruptBody, LogFolder, PublishError, Reader, Store, StoreError};
use exitgap_tests::postgres::RECORDER;
use tempfile::TempDir;

use super::postgres::checkpoints;
use crate::scenes::days::{audit, exitgap};
use crate::scenes::here::{Here, With};
use crate::scenes::left_days::{DAYS, Scene};
use crate::scenes::operator::{config, server};
use crate::scenes::store::{BusyPool, key, slot};

fn state_of(documents: &SnapshotDocuments) -> StateHash {
    PoolState::hash_of(&documents.state)
}

/// Whether the database has a partition for a day's bodies.
fn has_place(scene: &Scene, n: u32) -> bool {
    let place = format!("SELECT to_regclass('exitgap.body_{}') IS NOT NULL", day(n));
    scene.sql(&place) == "t"
}

/// Number of snapshots of a day.
fn left_of(scene: &Scene, n: u32) -> String {
    let of_day = format!(
        "SELECT count(*) FROM exitgap.entry WHERE snapshot_sha256 IS NOT NULL AND slot / 288 = {}",
        day(n)
    );
    scene.sql(&of_day)
}

fn day(n: u32) -> u32 {
    slot(n * 288).number() / 288
}

#[test]
#[ignore = "slow: `cargo xtask test --all` runs it"]
fn what_has_left_is_read_from_its_days_and_answers_are_what_they_were() {
    let mut scene = Scene::new();
    let home = scene.home().to_owned();
    scene.write_days();
    let snapshots = scene.snapshots();
    let old = snapshots.len() - 2;
    let first = snapshots.iter().filter(|(_, at, _)| *at < slot(288)).count();
    assert_eq!([old, first], [463, 231]);
    let before: Vec<SnapshotDocuments> = snapshots
        .iter()
        .map(|(.., hash)| scene.reader().documents(*hash).unwrap().unwrap())
        .collect();
    let (pool, then) = (&scene.pools[0].id, slot(17));
    let targets = [
        format!("/v1/exit/{pool}?size_usd=25000&at={then}"),
        format!("/api/v1/exit/{pool}?slot={}&size_usd=25000", then.number()),
        "/v1/pools".to_owned(),
        format!("/v1/history/{pool}?size_usd=25000&from={then}&to={}", slot(40)),
    ];
    let ask = || {
        // The list contains the names of the retired pool and of the pool that is no longer read.
        let here = Here::start(&home, With { store: Some(scene.url.clone()), ..With::default() });
        here.refresh();
        targets.each_ref().map(|target| {
            let answer = here.get(target);
            assert_eq!(answer.status, 200, "{target}: {}", String::from_utf8_lossy(&answer.body));
            answer.body
        })
    };
    let answers = ask();
    let signed = checkpoints(&scene.url);

    // A dry run changes nothing.
    let (code, said) = scene.prune(&["--one-copy", "--hot-days", "10", "--dry-run"]);
    assert_eq!(code, Some(0), "{said}");
    assert!(said.contains("2026-08-22: the folder has a complete copy;"), "{said}");
    assert!(said.contains("3 days would leave the database"), "{said}");
    assert_eq!(list_old_days(&scene.reader(), 10).unwrap().len(), 3);
    let (code, said) = scene.prune(&["--one-copy", "--hot-days", "10"]);
    assert_eq!(code, Some(0), "{said}");
    assert!(said.contains("2026-08-22: 231 snapshots removed"), "{said}");
    assert!(said.contains("3 days left the database"), "{said}");
    assert!(said.ends_with("the newest 10 days stay\n"), "{said}");
    let (code, said) = scene.prune(&["--one-copy", "--hot-days", "10"]);
    assert_eq!((code, said.contains("0 days left")), (Some(0), true), "{said}");

    // The database no longer contains them, and its error names the day.
    let count = scene.sql("SELECT count(*) FROM exitgap.body");
    assert_eq!(count, "2");
    let left = |found: Result<_, StoreError>| match found {
        Err(StoreError::Left { day, .. }) => day.to_string(),
        other => panic!("{:?}", other.map(|_: Option<SnapshotDocuments>| ())),
    };
    assert_eq!(left(scene.reader().documents(snapshots[0].2)), "2026-08-22");
    // A reader with the folder can read every snapshot, by any of its keys.
    let reader = scene.with_days();
    for ((pool, at, hash), documents) in snapshots.iter().zip(&before) {
        assert_eq!(reader.documents(*hash).unwrap().as_ref(), Some(documents));
        assert_eq!(reader.state(state_of(documents)).unwrap(), Some(documents.state.clone()));
        let pool = reader.pool(pool).unwrap().unwrap();
        let snapshot = reader.snapshot_at(&pool, *at).unwrap().unwrap();
        assert_eq!((snapshot.slot(), snapshot.observation().pool()), (*at, &pool.id));
    }
    // An unknown hash is not found, even if it begins like a known one.
    let (mut hash, mut state) = (snapshots[0].2, state_of(&before[0]));
    (hash.0[31], state.0[31]) = (hash.0[31] ^ 1, state.0[31] ^ 1);
    for (hash, state) in [(hash, state), (SnapshotHash([7; 32]), StateHash([7; 32]))] {
        assert_eq!(reader.documents(hash).unwrap(), None);
        assert_eq!(reader.state(state).unwrap(), None);
    }
    assert_eq!(ask(), answers);

    // Everything is still valid and can continue.
    let checked = reader.fsck(|_| {}).unwrap();
    assert_eq!((checked.snapshots, checked.left, checked.bodies), (465, 463, 2));
    assert_eq!(reader.fsck_derived(|_| {}).unwrap(), checked);
    assert_eq!(scene.reader().fsck(|_| {}).unwrap(), checked);
    let damage = scene.reader().fsck_derived(|_| {}).unwrap_err();
    assert!(matches!(*damage.error, StoreError::Left { .. }), "{damage}");
    let (code, out, said) = server(scene.home(), &["fsck"]);
    assert_eq!(code, Some(0), "{said}");
    assert!(out.contains("465 snapshots, 463 of them in closed days"), "{out}");
    assert_eq!(checkpoints(&scene.url), signed);
    let mut store = Store::open(&scene.url, &key()).unwrap();
    assert_eq!([DAYS - 1, DAYS].map(|n| has_place(&scene, n)), [true, false]);
    // The partition of the next day is created two hours before it begins.
    for (slots_before, made) in [(287, false), (25, false), (24, true), (0, true)] {
        scene.append(&mut store, DAYS * 288 - slots_before);
        assert_eq!(has_place(&scene, DAYS), made, "{slots_before}");
    }
    let folder = scene.folder();
    folder.publish(store.reader()).unwrap();
    // A lost folder cannot be rebuilt from a database that lacks its days.
    let other = LogFolder::new(scene.home().join("other"));
    let error = other.publish(store.reader()).unwrap_err();
    assert!(
        matches!(&error, PublishError::Store(error) if matches!(**error, StoreError::Left { .. })),
        "{error}"
    );
    drop(store);
    // A complete database can be restored from the published files.
    let whole = scene.home().join("whole.db");
    let mut restored = Store::create(&whole, &key()).unwrap();
    folder.restore(&mut restored, |_, _| {}).unwrap();
    drop(restored);
    assert_eq!(checkpoints(&whole), checkpoints(&scene.url));
    let report = audit(folder.path(), &reader.log().unwrap().unwrap().keys[0].to_string());
    assert_eq!(report["verdict"], "valid");
}

#[test]
#[ignore = "slow: `cargo xtask test --all` runs it"]
fn only_what_every_copy_has_leaves() {
    let scene = Scene::new();
    let refused = |arguments: &[&str], why: &str| {
        let (code, said) = scene.prune(arguments);
        assert_eq!(code, Some(1), "{said}");
        assert!(said.contains(why), "{why}: {said}");
        assert_eq!(list_old_days(&scene.reader(), 10).unwrap().len(), 3);
    };
    refused(&["--hot-days", "10"], "log would be the only copy of the removed snapshots");
    refused(&["--one-copy", "--hot-days", "10"], "it is not in the log of days");
    let (code, said) = scene.prune(&["--one-copy", "--hot-days", "8"]);
    assert_eq!(code, Some(2), "{said}");
    assert!(said.contains("8 is not in 9.."), "{said}");
    scene.write_days();
    let file = scene.folder().path().join("days/2026-08-22/snapshots-0000.parquet");
    let whole = fs::read(&file).unwrap();
    let mut changed = whole.clone();
    changed[1_000] ^= 1;
    fs::write(&file, &changed).unwrap();
    refused(&["--one-copy", "--hot-days", "10"], "2026-08-22 stays in the database");
    fs::remove_file(&file).unwrap();
    refused(&["--one-copy", "--hot-days", "10"], "snapshots-0000.parquet does not exist");
    fs::write(&file, &whole).unwrap();
    // The days of another log do not belong to this store.
    let (other, path) = (TempDir::new().unwrap(), scene.home().join("other.db"));
    let mut store = Store::create(&path, &key()).unwrap();
    store.append_slot(slot(0), &[BusyPool::new(9, 2).recorded(slot(0))]).unwrap();
    store.fill_until(slot(3 * 288)).unwrap();
    let folder = LogFolder::new(other.path());
    folder.publish(store.reader()).unwrap();
    let days = DaysLog::open(folder, &path, vec![key()]).unwrap();
    assert!(days.write_next(store.reader(), |_, _| {}).unwrap().is_some());
    let stranger =
        config(scene.url.to_str().unwrap(), "exitgap.key", other.path().to_str().unwrap());
    let own = fs::read_to_string(scene.home().join("exitgap.toml")).unwrap();
    fs::write(scene.home().join("exitgap.toml"), stranger).unwrap();
    refused(
        &["--one-copy", "--hot-days", "10"],
        "its files belong to a different log from the store",
    );
    fs::write(scene.home().join("exitgap.toml"), own).unwrap();
    // A store in a file keeps everything.
    let file = config("series.db", "exitgap.key", "log");
    fs::write(scene.home().join("file.toml"), file).unwrap();
    let (code, said) = scene.prune(&["--one-copy", "--config", "file.toml"]);
    assert_eq!(code, Some(1));
    assert!(said.contains("only a database on a server can be pruned"), "{said}");
}

#[test]
#[ignore = "slow: `cargo xtask test --all` runs it"]
fn nobody_else_removes_a_day_and_none_leaves_out_of_turn() {
    let scene = Scene::new();
    let first = day(0);
    let leave = |day: u32| {
        format!(
            "SELECT exitgap.leave_day({day}, (SELECT verifier_key FROM exitgap.log), \
             (SELECT checkpoint FROM exitgap.sealed_slot WHERE slot = {day} * 288 + 287))"
        )
    };
    for (sql, why) in [
        (
            format!("SELECT exitgap.leave_day({first}, '', '')"),
            "permission denied for function leave_day",
        ),
        ("SELECT exitgap.make_day(1)".to_owned(), "no slot of the day can be next"),
        (format!("SELECT exitgap.make_day({})", day(DAYS + 2)), "no slot of the day can be next"),
        (
            "BEGIN; LOCK TABLE exitgap.left_day IN SHARE ROW EXCLUSIVE MODE".to_owned(),
            "permission denied",
        ),
        (format!("DELETE FROM exitgap.body_{first}"), "permission denied"),
        (format!("DROP TABLE exitgap.body_{first}"), "must be owner"),
        (
            format!("ALTER TABLE exitgap.body DETACH PARTITION exitgap.body_{first}"),
            "must be owner",
        ),
        (
            format!("INSERT INTO exitgap.body_{first} SELECT * FROM exitgap.body"),
            "permission denied",
        ),
        (format!("INSERT INTO exitgap.left_day VALUES ({first}, 1)"), "permission denied"),
    ] {
        let refused = scene.sql_as(RECORDER, &sql).unwrap_err();
        assert!(refused.contains(why), "{sql}: {refused}");
    }
    for (sql, why) in [
        (format!("UPDATE exitgap.body_{first} SET zstd = ''"), "never changed or deleted"),
        (
            format!("SET session_replication_role = replica; DELETE FROM exitgap.body_{first}"),
            "never changed",
        ),
        (leave(day(1)), "days leave in their order"),
        (leave(day(DAYS - 8)), "the last eight days stay"),
        (leave(first).replace("verifier_key FROM", "'other' FROM"), "another database"),
        (leave(first).replace("+ 287", "+ 286"), "another database"),
    ] {
        let refused = scene.sql_as("postgres", &sql).unwrap_err();
        assert!(refused.contains(why), "{sql}: {refused}");
    }
    // A running read delays the removal: the reader still sees the rows, and they leave afterwards.
    let reading = std::thread::scope(|scope| {
        let reading = scope.spawn(|| {
            let sql = format!(
                "BEGIN; SELECT count(*) FROM exitgap.body; SELECT pg_sleep(2); \
                               SELECT count(*) FROM exitgap.body_{first}; COMMIT"
            );
            scene.sql(&sql)
        });
        let sleeps = "SELECT count(*) FROM pg_stat_activity WHERE query LIKE '%pg_sleep(2)%' AND wait_event = 'PgSleep'";
        while scene.sql(sleeps) == "0" {
            std::thread::sleep(std::time::Duration::from_millis(20));
        }
        assert_eq!(scene.reader().leave(&scene.admin(), Day::from_slot(slot(0))).unwrap(), 231);
        assert_eq!(scene.sql(sleeps), "0");
        reading.join().unwrap()
    });
    assert_eq!(reading.lines().rfind(|line| !line.is_empty()), Some("231"));
    // A day that has left is not created again.
    let again = format!("SELECT exitgap.make_day({first})");
    let refused = scene.sql_as(RECORDER, &again).unwrap_err();
    assert!(refused.contains("no slot of the day can be next"), "{refused}");
    // The number of days and the server's query plan do not matter.
    let more = "DO $$ DECLARE place text; BEGIN FOR day IN 90000..90099 LOOP place := format('exitgap.body_%s', day); \
                EXECUTE format('CREATE TABLE %s (LIKE exitgap.body INCLUDING ALL)', place); \
                EXECUTE format('CREATE TRIGGER body_stays BEFORE UPDATE OR DELETE OR TRUNCATE ON %s FOR EACH STATEMENT \
                    EXECUTE FUNCTION exitgap.refuse(%L)', place, 'a body is never changed or deleted'); \
                EXECUTE format('ALTER TABLE %s ENABLE ALWAYS TRIGGER body_stays', place); \
                EXECUTE format('ALTER TABLE exitgap.body ATTACH PARTITION %s FOR VALUES FROM (%s) TO (%s)', \
                    place, day * 288, day * 288 + 288); END LOOP; END $$";
    let as_owner = format!("SET ROLE exitgap_owner; {more}");
    scene.sql(&as_owner);
    scene.sql("ANALYZE");
    assert_eq!(scene.sql(&leave(day(1))), left_of(&scene, 1));
    let (_, said, _) = server(scene.home(), &["check"]);
    assert!(
        said.contains("warning: store on a server: it has the snapshots of 102 days"),
        "{said}"
    );
    scene
        .sql(&as_owner.replace("90000..90099", "90100..90100").replace("ENABLE ALWAYS", "DISABLE"));
    // Partitions that differ from the others are rejected.
    let error = Reader::open(&scene.url).unwrap_err();
    assert!(
        matches!(&error, StoreError::SchemaAltered { object, .. } if object.contains("body_stays")),
        "{error}"
    );
}

#[test]
#[ignore = "slow: `cargo xtask test --all` runs it"]
fn files_that_are_not_those_of_before_are_said_to_be_that() {
    let scene = Scene::new();
    scene.write_days();
    let (code, said) = scene.prune(&["--one-copy", "--hot-days", "10"]);
    assert_eq!(code, Some(0), "{said}");
    let (.., hash) = scene.snapshots()[3];
    let days = scene.folder().path().join("days");
    let (checkpoint, aside) = (days.join("checkpoint"), days.join("aside"));
    fs::rename(&checkpoint, &aside).unwrap();
    let (code, _, said) = server(scene.home(), &["fsck"]);
    assert_eq!(code, Some(1), "{said}");
    assert!(
        said.contains("2026-08-22 was removed from the database, but is not in the log of days"),
        "{said}"
    );
    fs::rename(&aside, &checkpoint).unwrap();
    let (code, _, said) = server(scene.home(), &["fsck"]);
    assert_eq!(code, Some(0), "{said}");
    let fault = |what: &str| match scene.with_days().documents(hash) {
        Err(error @ StoreError::LeftUnread { .. }) => {
            let error = error.to_string();
            assert!(error.contains(what) && error.contains("2026-08-22"), "{what}: {error}");
        }
        other => panic!("{what}: {other:?}"),
    };
    let [one, other] = ["2026-08-22", "2026-08-23"].map(|day| days.join(day));
    let snapshots = "snapshots-0000.parquet";
    let whole = fs::read(one.join(snapshots)).unwrap();
    fs::write(one.join(snapshots), fs::read(other.join(snapshots)).unwrap()).unwrap();
    fault("it has no snapshot of");
    fs::write(one.join(snapshots), &whole[..whole.len() - 9]).unwrap();
    fault(snapshots);
    fs::remove_file(one.join(snapshots)).unwrap();
    fault(snapshots);
    fs::write(one.join(snapshots), &whole).unwrap();
    assert!(scene.with_days().documents(hash).unwrap().is_some());
    fs::remove_file(one.join("manifest.json")).unwrap();
    fault("manifest.json does not exist");
    // A lost body is not confused with one that has left.
    let newest = scene.snapshots().into_iter().max_by_key(|(_, at, _)| *at).unwrap();
    scene.damage(&format!("DELETE FROM body_{} WHERE true", day(DAYS - 1)));
    let reader = scene.with_days();
    let pool = reader.pool(&newest.0).unwrap().unwrap();
    let error = reader.snapshot_at(&pool, newest.1).unwrap_err();
    assert!(matches!(error, StoreError::Corrupt { what: CorruptBody::Absent, .. }), "{error}");
    let (code, _, said) = exitgap(&[
        "estimate",
        &newest.0.to_string(),
        "--size-usd",
        "1000",
        "--db",
        scene.url.to_str().unwrap(),
        "--at",
        &slot(5).to_string(),
    ]);
    assert_eq!(code, Some(5), "{said}");
    assert!(
        said.contains("was removed from the database together with those of 2026-08-22"),
        "{said}"
    );
}
