//! A store on a `PostgreSQL` server: its differences from a file.

use std::fs;
use std::path::{Path, PathBuf};

use exitgap_store::{LogFolder, Reader, Store, StoreError, is_server, migrate};
use exitgap_tests::postgres::{Cluster, READER, RECORDER, database_of, shared};
use tempfile::TempDir;

use crate::scenes::operator::{config, server, write_key};
use crate::scenes::store::{BusyPool, key, slot};
use crate::store::sealing::sealed_store;

/// A store with this many slots of two pools.
pub fn store_with(slots: u32) -> (PathBuf, [BusyPool; 2]) {
    let url = shared().store();
    let mut store = Store::open(&url, &key()).unwrap();
    let mut pools = [BusyPool::new(1, 3), BusyPool::new(2, 3)];
    for n in 0..slots {
        let entries = pools.each_mut().map(|pool| pool.recorded(slot(n)));
        store.append_slot(slot(n), &entries).unwrap();
    }
    (url, pools)
}

pub fn checkpoints(store: &Path) -> Vec<String> {
    let reader = Reader::open(store).unwrap();
    let sizes = 1..=reader.log_size().unwrap();
    sizes.map(|size| reader.checkpoint(size).unwrap().unwrap()).collect()
}

/// Rewrites the description of the schema on request.
#[test]
fn the_schema_is_described_as_the_migrations_make_it() {
    let path = Path::new("../crates/exitgap-store/src/db/postgres/sql");
    let query = fs::read_to_string(path.join("select_schema.sql")).unwrap();
    let database = shared().database();
    let query = format!("SET search_path = exitgap, pg_temp; {query}");
    let found = shared().sql_as(RECORDER, &database, &query).unwrap() + "\n";
    if std::env::var_os("EXITGAP_WRITE_SCHEMA").is_some() {
        fs::write(path.join("schema.txt"), &found).unwrap();
    }
    assert_eq!(found, fs::read_to_string(path.join("schema.txt")).unwrap());
}

#[test]
fn a_store_moves_to_a_server_and_back_with_every_checkpoint_byte_for_byte() {
    let (home, path) = sealed_store();
    assert!(!is_server(&path));
    let folder = home.path().join("log");
    LogFolder::new(&folder).publish(Reader::open(&path).as_ref().unwrap()).unwrap();
    let url = shared().store();
    let mut there = Store::open(&url, &key()).unwrap();
    assert_eq!(LogFolder::new(&folder).restore(&mut there, |_, _| {}).unwrap(), 11);
    drop(there);
    assert_eq!(checkpoints(&url), checkpoints(&path));
    Reader::open(&url).unwrap().fsck_derived(|_| {}).unwrap();
    // Recording continues on the server, and publishing continues from the published state.
    let mut there = Store::open(&url, &key()).unwrap();
    let mut pools: Vec<_> = (1..=3).map(|number| BusyPool::new(number, 5)).collect();
    let entries: Vec<_> = pools.iter_mut().map(|pool| pool.recorded(slot(11))).collect();
    there.append_slot(slot(11), &entries).unwrap();
    LogFolder::new(&folder).check(there.reader()).unwrap();
    assert_eq!(LogFolder::new(&folder).publish(there.reader()).unwrap().slots, 1);
    let other = home.path().join("other-log");
    LogFolder::new(&other).publish(there.reader()).unwrap();
    drop(there);
    for ((name, bytes), (other, others)) in files(&folder).iter().zip(files(&other)) {
        assert_eq!((name, bytes == &others), (&other, true));
    }
    let back = home.path().join("back.db");
    let mut store = Store::create(&back, &key()).unwrap();
    assert_eq!(LogFolder::new(&folder).restore(&mut store, |_, _| {}).unwrap(), 12);
    drop(store);
    assert_eq!(checkpoints(&back), checkpoints(&url));
}

/// Every file below a folder with its bytes, except tiles that wider ones replace.
pub fn files(folder: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let (mut found, mut folders) = (Vec::new(), vec![folder.to_owned()]);
    while let Some(inner) = folders.pop() {
        for entry in fs::read_dir(inner).unwrap() {
            let path = entry.unwrap().path();
            if path.extension().is_some_and(|kind| kind == "p") {
                continue;
            }
            if path.is_dir() {
                folders.push(path);
            } else {
                let name = path.strip_prefix(folder).unwrap().to_owned();
                found.push((name, fs::read(path).unwrap()));
            }
        }
    }
    found.sort();
    found
}

/// Forbidden changes of recorded data, each with a row that it would affect.
const FORBIDDEN: [&str; 9] = [
    "UPDATE exitgap.entry SET depth0_usd = 1",
    "DELETE FROM exitgap.entry",
    "TRUNCATE exitgap.retraction",
    "UPDATE exitgap.body SET zstd = ''",
    "UPDATE exitgap.sealed_slot SET checkpoint = 'x'",
    "DELETE FROM exitgap.log_node",
    "UPDATE exitgap.log SET verifier_key = 'x'",
    "UPDATE exitgap.pool SET pool_id = 'x'",
    "DELETE FROM exitgap.pool",
];

#[test]
fn nothing_recorded_is_changed_by_whoever_records_nor_past_the_triggers() {
    let (url, _) = store_with(2);
    let database = database_of(&url).unwrap();
    let before = checkpoints(&url);
    for sql in FORBIDDEN {
        let refused = shared().sql_as(RECORDER, database, sql).unwrap_err();
        assert!(refused.contains("permission denied"), "{sql}: {refused}");
        // The superuser, who can bypass ordinary triggers.
        for mode in ["origin", "replica"] {
            let sql = format!("SET session_replication_role = {mode}; {sql}");
            let refused = shared().sql_as("postgres", database, &sql).unwrap_err();
            assert!(refused.contains("exitgap: "), "{sql}: {refused}");
        }
    }
    let row = "INSERT INTO exitgap.sealed_slot SELECT slot + 1, pools, heads_root, checkpoint FROM exitgap.sealed_slot";
    for (sql, why) in [
        (
            "INSERT INTO exitgap.log_node SELECT * FROM exitgap.log_node ON CONFLICT (level, node_index) DO UPDATE SET sha256 = excluded.sha256",
            "permission denied",
        ),
        ("ALTER TABLE exitgap.entry DISABLE TRIGGER ALL", "must be owner"),
        ("DROP TABLE exitgap.entry", "must be owner"),
        ("CREATE TABLE exitgap.more ()", "permission denied"),
        ("SET session_replication_role = replica", "permission denied"),
        ("UPDATE exitgap.schema_version SET version = 1", "permission denied"),
        ("UPDATE exitgap.sealer SET epoch = epoch - 1", "counts one up"),
        ("UPDATE exitgap.sealer SET owner = 'me'", "counts one up"),
        ("DELETE FROM exitgap.sealer", "permission denied"),
        (row, "another recorder has taken over"),
        (
            "SELECT set_config('exitgap.epoch', (SELECT epoch::text FROM exitgap.sealer), false); INSERT INTO exitgap.sealed_slot VALUES (5957899, 1, decode(repeat('00', 32), 'hex'), '')",
            "follows the one before it",
        ),
    ] {
        let refused = shared().sql_as(RECORDER, database, sql).unwrap_err();
        assert!(refused.contains(why), "{sql}: {refused}");
    }
    for sql in ["INSERT INTO exitgap.recheck VALUES ('a', 1)", "SELECT exitgap.log_size()"] {
        let refused = shared().sql_as(READER, database, sql).unwrap_err();
        assert!(refused.contains("permission denied"), "{sql}: {refused}");
    }
    assert_eq!(checkpoints(&url), before);
    // The reader role can read everything.
    let reader = Reader::open(shared().url(READER, database)).unwrap();
    reader.fsck_derived(|_| {}).unwrap();
    assert!(matches!(
        Store::open(shared().url(READER, database), &key()),
        Err(StoreError::Database { .. })
    ));
}

#[test]
fn a_database_that_is_no_store_is_named_with_what_to_do() {
    let database = shared().database();
    let (url, admin) = (shared().url(RECORDER, &database), shared().url("postgres", "postgres"));
    let error = |url: &Path| {
        let errors = (Reader::open(url).unwrap_err(), Store::open(url, &key()).unwrap_err());
        assert_eq!(errors.0.to_string(), errors.1.to_string());
        errors.0
    };
    // Repeating the migration changes nothing.
    let again = migrate(&url, &admin, None, None).unwrap();
    assert_eq!((again.made.len(), again.from, again.to), (0, Some(12), 12));
    shared().sql(&database, "DROP TRIGGER entry_follows ON exitgap.entry");
    let altered = error(&url);
    assert!(
        matches!(&altered, StoreError::SchemaAltered { object, .. } if object == "trigger entry_follows"),
        "{altered}"
    );
    shared().sql(&database, "INSERT INTO exitgap.schema_version VALUES (13)");
    assert!(matches!(error(&url), StoreError::NewerSchema { found: 13, expected: 12, .. }));
    assert!(matches!(migrate(&url, &admin, None, None), Err(StoreError::NewerSchema { .. })));

    for (change, is) in [
        ("ALTER TABLE exitgap.entry DISABLE TRIGGER entry_stays", "trigger entry_stays"),
        (
            "CREATE OR REPLACE FUNCTION exitgap.refuse() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NEW; END'",
            "function refuse()",
        ),
        ("ALTER TABLE exitgap.figures DROP COLUMN basis0", "column figures.basis0"),
        ("CREATE RULE nothing AS ON INSERT TO exitgap.entry DO INSTEAD NOTHING", "table entry"),
        ("ALTER TABLE exitgap.entry ENABLE ROW LEVEL SECURITY", "table entry"),
    ] {
        let database = shared().database();
        shared().sql(&database, change);
        let altered = error(&shared().url(RECORDER, &database));
        assert!(
            matches!(&altered, StoreError::SchemaAltered { object, .. } if object == is),
            "{altered}"
        );
    }

    shared().sql("postgres", "CREATE DATABASE foreign_one");
    let foreign = shared().url(RECORDER, "foreign_one");
    assert!(matches!(error(&foreign), StoreError::NotMigrated { .. }));
    assert!(error(&foreign).to_string().contains("exitgap-server migrate"));
    shared().sql("postgres", "CREATE ROLE somebody LOGIN");
    assert!(matches!(error(&shared().url("somebody", &database)), StoreError::NotGranted { .. }));
    let nowhere = error(&shared().url(RECORDER, "nowhere"));
    assert!(nowhere.to_string().contains("does not exist"), "{nowhere}");
    let away = error(Path::new("postgresql://rec:secret@127.0.0.1:1/gaps"));
    assert!(matches!(away, StoreError::Unreachable { .. }), "{away}");
    assert!(away.to_string().contains("refused") && !away.to_string().contains("secret"), "{away}");
    let own = migrate(&admin, &admin, None, None).unwrap_err();
    assert!(matches!(own, StoreError::RecorderOwns { .. }), "{own}");
    let role = migrate(&url, &admin, Some("a\"; DROP"), None).unwrap_err();
    assert!(matches!(role, StoreError::RoleName { .. }), "{role}");
    let mut store = Store::open(shared().store(), &key()).unwrap();
    store.append_slot(slot(0), &[BusyPool::new(1, 3).recorded(slot(0))]).unwrap();
    let copied = store.reader().backup("/tmp/never.db").unwrap_err();
    assert!(matches!(copied, StoreError::BackupOfServer { .. }), "{copied}");
    assert!(store.limit_growth(Some(1)).is_err());
}

/// The three commands in the operator's guide.
#[test]
fn an_operator_moves_a_store_to_a_server_by_three_commands() {
    let (home, path) = sealed_store();
    let home = home.path();
    LogFolder::new(home.join("log")).publish(Reader::open(&path).as_ref().unwrap()).unwrap();
    write_key(&home.join("exitgap.key"), &key());
    let cluster = Cluster::start(&["fsync=off"]).unwrap();
    let url = cluster.url("gaps_recorder", "gaps");
    let write = |name: &str, store: &str| {
        fs::write(home.join(name), config(store, "exitgap.key", "log")).unwrap();
    };
    write("file.toml", "series.db");
    write("exitgap.toml", url.to_str().unwrap());
    let admin = cluster.url("postgres", "postgres");
    let run = |args: &[&str], config: &str| {
        let args = [args, &["--config", config]].concat();
        let (code, out, err) = server(home, &args);
        (code, out + &err)
    };
    let (code, said) = run(&["restore"], "exitgap.toml");
    assert!(code == Some(1) && said.contains("does not exist"), "{said}");
    let as_admin = ["migrate", "--as", admin.to_str().unwrap(), "--reader", "gaps_reader"];
    let (code, said) = run(&as_admin, "file.toml");
    assert!(code == Some(1) && said.contains("set [store] path to postgresql://"), "{said}");
    let (code, said) = run(&as_admin, "exitgap.toml");
    assert_eq!(code, Some(0), "{said}");
    assert_eq!(
        said,
        "created database gaps\n\
         created role gaps_recorder, without a password: set one if it logs in over a network\n\
         created role gaps_reader, without a password: set one if it logs in over a network\n\
         created the tables of schema version 12\n"
    );
    let (code, said) = run(&as_admin, "exitgap.toml");
    assert_eq!((code, said.as_str()), (Some(0), "the tables already have schema version 12\n"));
    let (code, said) = run(&["restore"], "exitgap.toml");
    assert_eq!((code, said.as_str()), (Some(0), "restored 11 slots\n"));
    assert_eq!(checkpoints(&url), checkpoints(&path));
    let (code, said) = run(&["fsck", "--derived"], "exitgap.toml");
    assert!(code == Some(0) && said.starts_with("ok: "), "{said}");
    // `check` reports what the server could lose. The chain's node is unreachable here.
    let (code, said) = run(&["check"], "exitgap.toml");
    assert_eq!(code, Some(1));
    for part in [
        "store on a server: PostgreSQL ",
        "fsync = off: a power failure",
        "no commit waits for a standby",
    ] {
        assert!(said.contains(part), "{part}: {said}");
    }
    assert!(!said.contains("can change recorded data"), "{said}");
    // `check` also tests whether alerts can be stored there, with the role that stores them.
    for (role, expected) in [
        ("gaps_recorder", "alerts on a server: can be written"),
        ("gaps_reader", "is not allowed to read it; run `exitgap-server migrate`"),
    ] {
        let url = cluster.url(role, "gaps");
        let alerts = format!("\n[alerts]\nenabled = true\ndatabase = \"{}\"\n", url.display());
        let config =
            config(cluster.url("gaps_recorder", "gaps").to_str().unwrap(), "exitgap.key", "log");
        fs::write(home.join("alerts.toml"), config + &alerts).unwrap();
        let (_, said) = run(&["check"], "alerts.toml");
        assert!(said.contains(expected), "{role}: {said}");
    }
    let (code, said) = run(&["fsck", "--rebuild"], "exitgap.toml");
    assert!(code == Some(0) && said.contains("0 rows were wrong"), "{said}");
    let (code, said) = run(&["backup", "--out", "copy.db"], "exitgap.toml");
    assert!(code == Some(1) && said.contains("pg_dump"), "{said}");
    // The command line uses the same URL, also with the read-only role.
    for role in ["gaps_recorder", "gaps_reader"] {
        let url = cluster.url(role, "gaps");
        let mut exitgap = std::process::Command::new(exitgap_tests::binaries::path("exitgap"));
        let pools = exitgap.args(["pools", "--db"]).arg(url).output().unwrap();
        let pools = String::from_utf8(pools.stdout).unwrap();
        assert_eq!(pools.matches("anvil:0x").count(), 3, "{pools}");
    }
    // A log can end only if the target has no log yet.
    let next = exitgap_core::tlog::SignerKey::from_seed("exitgap.example/next", [9; 32]).unwrap();
    write_key(&home.join("next.key"), &next);
    fs::write(home.join("next.toml"), config(url.to_str().unwrap(), "next.key", "next-log"))
        .unwrap();
    let (code, said) = run(&["successor", "--of", "log", "--key-stolen"], "next.toml");
    assert!(code == Some(1) && said.contains("already exists"), "{said}");
    assert!(!home.join("log/superseded-by").exists());
    let held = Store::open(&url, &key()).unwrap();
    let (code, said) = run(&["restore"], "exitgap.toml");
    assert!(code == Some(1) && said.contains("another recorder ("), "{said}");
    drop(held);
}

/// Writes a certificate for 127.0.0.1, signed by a separate authority, to a folder.
fn certify(folder: &Path) {
    let openssl = |args: &str| {
        let done = std::process::Command::new("openssl")
            .args(args.split(' '))
            .current_dir(folder)
            .output()
            .unwrap();
        assert!(done.status.success(), "{args}: {}", String::from_utf8_lossy(&done.stderr));
    };
    fs::write(
        folder.join("extensions"),
        "subjectAltName=IP:127.0.0.1\nbasicConstraints=CA:FALSE\n",
    )
    .unwrap();
    openssl("req -x509 -newkey rsa:2048 -nodes -keyout ca.key -out ca.pem -subj /CN=ca -days 2");
    openssl("req -newkey rsa:2048 -nodes -keyout server.key -out server.csr -subj /CN=server");
    openssl(
        "x509 -req -in server.csr -CA ca.pem -CAkey ca.key -out server.pem -days 2 -extfile extensions",
    );
}

#[test]
fn what_goes_to_another_machine_is_encrypted_and_its_server_is_known() {
    let home = TempDir::new().unwrap();
    let home = home.path();
    certify(home);
    let mut cluster = Cluster::start(&["fsync=off"]).unwrap();
    let url = cluster.store();
    cluster.encrypt(home).unwrap();
    let port = cluster.port();
    let at = |mode: &str| {
        let database = database_of(&url).unwrap();
        format!("postgresql://{RECORDER}@127.0.0.1:{port}/{database}?sslmode={mode}")
    };
    write_key(&home.join("exitgap.key"), &key());
    let check = |mode: &str, authority: &str| {
        fs::write(home.join("exitgap.toml"), config(&at(mode), "exitgap.key", "log")).unwrap();
        let mut command =
            std::process::Command::new(exitgap_tests::binaries::path("exitgap-server"));
        command.args(["fsck"]).current_dir(home).env("SSL_CERT_FILE", home.join(authority));
        let output = command.output().unwrap();
        (output.status.success(), String::from_utf8(output.stderr).unwrap())
    };
    assert_eq!(check("require", "ca.pem"), (true, String::new()));
    // Another authority that did not sign the certificate, and a connection that does not require encryption.
    fs::create_dir(home.join("other")).unwrap();
    certify(&home.join("other"));
    let (done, said) = check("require", "other/ca.pem");
    assert!(!done && said.contains("certificate"), "{said}");
    let (done, said) = check("disable", "ca.pem");
    assert!(!done && said.contains("no encryption"), "{said}");
}

#[test]
fn a_recorder_does_not_go_on_from_an_edge_that_was_damaged_past_every_guard() {
    for damage in [
        "UPDATE sealed_slot SET heads_root = decode(repeat('00', 32), 'hex') WHERE slot = 5957858",
        "UPDATE entry SET depth0_usd = depth0_usd + 1 WHERE slot = 5957858",
        "DELETE FROM entry WHERE slot = 5957858 AND pool_no = 1",
        "UPDATE sealed_slot SET checkpoint = replace(checkpoint, 'exitgap', 'exitgab') WHERE slot = 5957858",
    ] {
        let (url, _) = store_with(3);
        shared().damage(database_of(&url).unwrap(), damage);
        let refused = Store::open(&url, &key()).expect_err(damage);
        assert!(!matches!(refused, StoreError::SchemaAltered { .. }), "{damage}: {refused}");
        Reader::open(&url).unwrap().fsck(|_| {}).expect_err(damage);
    }
}
