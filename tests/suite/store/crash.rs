//! A writer that is killed, and two writers on one store.

use std::io::{BufRead, BufReader, Write};
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use exitgap_core::series::{MissingReason, Slot};
use exitgap_store::{Outcome, Reader, Store, StoreError};
use tempfile::TempDir;

use crate::scenes::store::{BusyPool, key, slot};

/// The variable that names the database to the child process. Without it, the child does nothing.
const CHILD_DATABASE: &str = "EXITGAP_TEST_CHILD_DATABASE";
/// The child's number of pools, chosen so that a slot takes long enough to be interrupted.
const POOLS: u8 = 20;

/// Not a test by itself, but the writing process of the other tests: it records slot after slot and prints a line after
/// each commit until it is killed.
#[test]
fn child_that_records_until_it_is_killed() {
    let Ok(path) = std::env::var(CHILD_DATABASE) else { return };
    let mut store = Store::open(&path, &key()).unwrap();
    let mut pools: Vec<_> = (0..POOLS).map(|number| BusyPool::new(number, 50)).collect();
    let begin = store.reader().slots().unwrap().map_or(0, |(_, last)| {
        // One slot is skipped after each restart.
        last.number() - Slot::FIRST.number() + 2
    });
    for n in begin.. {
        let entries: Vec<_> = pools.iter_mut().map(|pool| pool.recorded(slot(n))).collect();
        store.append_slot(slot(n), &entries).unwrap();
        writeln!(std::io::stderr(), "acknowledged {n}").unwrap();
    }
}

fn spawn_writer(path: &Path) -> Child {
    Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "store::crash::child_that_records_until_it_is_killed", "--nocapture"])
        .env(CHILD_DATABASE, path)
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
}

/// Lets the writer acknowledge `slots` more slots, kills it, and returns the last acknowledged slot.
fn kill_after(mut child: Child, slots: usize) -> u32 {
    let acknowledged = |line: std::io::Result<String>| {
        line.unwrap().strip_prefix("acknowledged ").map(|n| n.parse::<u32>().unwrap())
    };
    let mut lines = BufReader::new(child.stderr.take().unwrap()).lines().filter_map(acknowledged);
    let seen = lines.by_ref().nth(slots - 1).expect("the writer ended by itself");
    child.kill().unwrap();
    // Lines that it printed between the decision and its end count, too.
    let last = lines.last();
    let status = child.wait().unwrap();
    assert_eq!(status.signal(), Some(9), "it was killed, and did not end otherwise: {status}");
    last.unwrap_or(seen)
}

#[test]
fn a_killed_writer_loses_no_acknowledged_slot_and_leaves_no_half_slot() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("series.db");
    drop(Store::create(&path, &key()).unwrap());
    let mut restarts = Vec::new();
    for kill in 0..6 {
        let before = Reader::open(&path).unwrap().slots().unwrap();
        let acknowledged = kill_after(spawn_writer(&path), 3 + kill);
        let reader = Reader::open(&path).unwrap();
        let (_, last) = reader.slots().unwrap().unwrap();
        assert!(last >= slot(acknowledged), "{last} is older than what was acknowledged");
        if let Some((_, before)) = before {
            restarts.push(before.next().unwrap());
        }
    }
    let reader = Reader::open(&path).unwrap();
    let (first, last) = reader.slots().unwrap().unwrap();
    let pools = reader.pools().unwrap();
    assert_eq!(pools.len(), usize::from(POOLS));
    for pool in &pools {
        let entries = reader.entries(pool, first, last, Reader::MAX_PAGE).unwrap().entries;
        assert_eq!(entries.len(), (last.number() - first.number() + 1) as usize);
        for entry in &entries {
            let down = entry.outcome == Outcome::Missing(MissingReason::RecorderDown);
            assert_eq!(down, restarts.contains(&entry.slot), "{entry:?}");
            assert_eq!(reader.snapshot_at(pool, entry.slot).unwrap().is_none(), down);
        }
    }
    let check: String = rusqlite::Connection::open(&path)
        .unwrap()
        .query_row("PRAGMA integrity_check", (), |row| row.get(0))
        .unwrap();
    assert_eq!(check, "ok");
}

#[test]
fn a_second_writer_is_refused_until_the_first_is_gone() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("series.db");
    drop(Store::create(&path, &key()).unwrap());
    let link = folder.path().join("link.db");
    std::os::unix::fs::symlink(&path, &link).unwrap();
    let mut child = spawn_writer(&path);
    let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
    assert!(lines.any(|line| line.unwrap().starts_with("acknowledged")));
    for name in [&path, &link] {
        match Store::open(name, &key()) {
            Err(error @ StoreError::Locked { holder, .. }) => {
                assert_eq!(holder, Some(child.id()));
                let text = error.to_string();
                assert!(text.contains("stop it first"), "{text}");
            }
            other => panic!("{other:?}"),
        }
    }
    child.kill().unwrap();
    assert_eq!(child.wait().unwrap().signal(), Some(9));
    assert!(Store::open(&path, &key()).is_ok(), "the kernel released the lock");
}
