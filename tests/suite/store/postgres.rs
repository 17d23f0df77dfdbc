//! A store on a `PostgreSQL` server: what is different of one.

use std::fs;
use std::path::Path;

use exitgap_store::{Reader, Store, StoreError};
use exitgap_tests::postgres::{READER, RECORDER, shared};

use crate::scenes::store::{BusyPool, key, slot};

/// Makes the description of the schema anew where it is asked to.
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
fn slots_are_written_and_read_again() {
    let url = shared().store();
    let (mut first, mut second) = (BusyPool::new(1, 3), BusyPool::new(2, 3));
    let mut store = Store::open(&url, &key()).unwrap();
    for n in 0..4 {
        let entries = [first.recorded(slot(n)), second.recorded(slot(n))];
        assert!(store.append_slot(slot(n), &entries).unwrap().written);
    }
    assert!(matches!(Store::open(&url, &key()), Err(StoreError::Locked { .. })));
    drop(store);
    let reader = Reader::open(&url).unwrap();
    assert_eq!(reader.slots().unwrap(), Some((slot(0), slot(3))));
    reader.fsck_derived(|_| {}).unwrap();
    let _ = READER;
}
