//! The store by itself: its contents, the entries that it rejects, and the damage that it names.

use exitgap_core::pools::Direction;
use exitgap_core::series::{MissingReason, Slot};
use exitgap_store::{AppendOutcome, Entry, Latest, Outcome, Reader, Store, StoreError};
use tempfile::TempDir;

use crate::scenes::store::{BusyPool, key, slot, store_in};

fn outcomes(reader: &Reader, pool: &exitgap_store::Pool) -> Vec<Outcome> {
    let page = reader.entries(pool, Slot::FIRST, Slot::LAST, 1_000).unwrap();
    assert_eq!(page.next, None);
    page.entries.into_iter().map(|entry| entry.outcome).collect()
}

const DOWN: Outcome = Outcome::Missing(MissingReason::RecorderDown);
const LAGGING: Outcome = Outcome::Missing(MissingReason::ChainLagging);

#[test]
fn a_pause_is_filled_and_a_pool_added_later_begins_later() {
    let folder = TempDir::new().unwrap();
    let path = store_in(folder.path(), "series.db");
    let (mut first, mut second) = (BusyPool::new(1, 3), BusyPool::new(2, 3));
    let mut store = Store::create(&path, &key()).unwrap();
    assert_eq!(store.reader().slots().unwrap(), None);
    let written = |filled_slots| AppendOutcome { written: true, filled_slots };

    let zero = first.snapshot(slot(0));
    let entry = exitgap_store::NewEntry { reading: Ok(zero.clone()), ..first.recorded(slot(0)) };
    assert_eq!(store.append_slot(slot(0), &[entry]).unwrap(), written(0));
    let one = first.missing(MissingReason::ChainLagging);
    assert_eq!(store.append_slot(slot(1), &[one]).unwrap(), written(0));
    drop(store);

    let mut store = Store::open(&path, &key()).unwrap();
    let mut turned = first.recorded(slot(5));
    turned.default_base = Direction::OneForZero;
    assert_eq!(
        store.append_slot(slot(5), &[second.recorded(slot(5)), turned]).unwrap(),
        written(3)
    );

    // Reads while the writer is still open.
    let reader = Reader::open(&path).unwrap();
    assert_eq!(reader.slots().unwrap(), Some((slot(0), slot(5))));
    let pools = reader.pools().unwrap();
    assert_eq!(pools.iter().map(|pool| &pool.id).collect::<Vec<_>>(), [&first.id, &second.id]);
    assert_eq!(pools.iter().map(|pool| pool.first_slot).collect::<Vec<_>>(), [slot(0), slot(5)]);
    assert_eq!(pools[0].default_base, Direction::OneForZero);
    let found = outcomes(&reader, &pools[0]);
    assert_eq!(found[1..5], [LAGGING, DOWN, DOWN, DOWN]);
    assert!(matches!(found[..], [Outcome::Recorded(_), _, _, _, _, Outcome::Recorded(_)]));
    assert!(matches!(outcomes(&reader, &pools[1])[..], [Outcome::Recorded(_)]));

    let latest = reader.latest(&pools[0], Some(slot(4))).unwrap().unwrap();
    let Outcome::Recorded(hash) = found[0] else { unreachable!() };
    let entry = Entry { slot: slot(4), outcome: DOWN, recorded_count: 1, missing_run: 4 };
    assert_eq!(
        latest,
        Latest { entry, snapshot: Some((slot(0), hash)), newer_missing: 4, newer_retracted: 0 }
    );
    assert_eq!(reader.snapshot_at(&pools[0], slot(0)).unwrap(), Some(zero.clone()));
    let documents = zero.to_canonical().unwrap();
    let state = exitgap_core::pools::PoolState::hash_of(&documents.state);
    assert_eq!(reader.state(state).unwrap(), Some(documents.state.clone()));
    assert_eq!(reader.documents(hash).unwrap(), Some(documents));
    assert_eq!(reader.snapshot_at(&pools[0], slot(4)).unwrap(), None);
    assert_eq!(reader.recorded_count(&pools[0], None).unwrap(), 2);
    assert_eq!(reader.latest(&pools[1], Some(slot(4))).unwrap(), None);
    assert_eq!(reader.recorded_count(&pools[1], Some(slot(4))).unwrap(), 0);

    let page = reader.entries(&pools[0], slot(1), slot(4), 3).unwrap();
    assert_eq!((page.entries.len(), page.next), (3, Some(slot(4))));
    let page = reader.entries(&pools[0], slot(4), slot(4), 3).unwrap();
    assert_eq!((page.entries.len(), page.next), (1, None));
}

#[test]
fn the_same_slot_again_is_accepted_and_another_content_refused() {
    let folder = TempDir::new().unwrap();
    let mut store = Store::create(store_in(folder.path(), "series.db"), &key()).unwrap();
    let (mut first, mut second) = (BusyPool::new(1, 3), BusyPool::new(2, 3));
    let entries = [first.recorded(slot(3)), second.missing(MissingReason::CallReverted)];
    store.append_slot(slot(3), &entries).unwrap();
    store.append_slot(slot(4), &[first.recorded(slot(4)), second.recorded(slot(4))]).unwrap();

    let again = store.append_slot(slot(3), &entries).unwrap();
    assert_eq!(again, AppendOutcome { written: false, filled_slots: 0 });
    let mut refused = |at, entries: &[_]| store.append_slot(slot(at), entries).unwrap_err();
    let other = [first.recorded(slot(3)), entries[1].clone()];
    assert!(matches!(
        refused(3, &other),
        StoreError::EntryDiffers { pool, recorded: Outcome::Recorded(_), .. } if pool == first.id
    ));
    let other = [entries[0].clone(), second.missing(MissingReason::RpcUnavailable)];
    assert!(
        matches!(refused(3, &other), StoreError::EntryDiffers { pool, .. } if pool == second.id)
    );
    assert!(matches!(
        refused(3, &entries[..1]),
        StoreError::PoolWithoutEntry { pool, .. } if pool == second.id
    ));
    let third = BusyPool::new(3, 3);
    let more = [&entries[..], &[third.missing(MissingReason::CallReverted)]].concat();
    assert!(
        matches!(refused(3, &more), StoreError::PoolNotInSlot { pool, .. } if pool == third.id)
    );
    assert!(matches!(
        refused(2, &[first.recorded(slot(2))]),
        StoreError::BeforeFirstSlot { first, found } if (first, found) == (slot(3), slot(2))
    ));

    // Invalid contents of a slot are rejected before anything is written, including the slots of the pause.
    assert!(matches!(refused(9, &[]), StoreError::NoEntries { .. }));
    let twice = [first.recorded(slot(9)), first.recorded(slot(9))];
    assert!(
        matches!(refused(9, &twice), StoreError::PoolRepeated { pool, .. } if pool == first.id)
    );
    assert!(matches!(
        refused(9, &[first.recorded(slot(9))]),
        StoreError::PoolWithoutEntry { pool, .. } if pool == second.id
    ));
    let mut wrong = first.recorded(slot(8));
    assert!(matches!(
        refused(9, std::slice::from_ref(&wrong)),
        StoreError::SnapshotOfOtherSlot { expected, found, .. } if (expected, found) == (slot(9), slot(8))
    ));
    wrong.pool = second.id.clone();
    assert!(matches!(
        refused(9, &[wrong]),
        StoreError::SnapshotOfOtherPool { expected, found } if (&expected, &found) == (&second.id, &first.id)
    ));
    assert_eq!(store.reader().slots().unwrap(), Some((slot(3), slot(4))));
}

#[test]
fn a_long_pause_is_filled_in_bounded_transactions() {
    let folder = TempDir::new().unwrap();
    let mut store = Store::create(store_in(folder.path(), "series.db"), &key()).unwrap();
    let mut pools: Vec<_> = (0..40).map(|number| BusyPool::new(number, 1)).collect();
    let all = |pools: &mut Vec<BusyPool>, at| -> Vec<_> {
        pools.iter_mut().map(|pool| pool.recorded(at)).collect()
    };
    store.append_slot(slot(0), &all(&mut pools, slot(0))).unwrap();
    // 1,200 slots of 40 pools: three transactions.
    assert_eq!(store.fill_until(slot(1_201)).unwrap(), 1_200);
    assert_eq!(store.fill_until(slot(1_201)).unwrap(), 0);
    store.append_slot(slot(1_201), &all(&mut pools, slot(1_201))).unwrap();
    let reader = store.reader();
    let latest = reader.latest(&reader.pools().unwrap()[39], Some(slot(1_200))).unwrap().unwrap();
    assert_eq!((latest.entry.missing_run, latest.entry.recorded_count), (1_200, 1));
    assert_eq!(latest.snapshot.unwrap().0, slot(0));
}

#[test]
fn a_busy_pool_of_1200_ticks_costs_little_more_than_a_kilobyte_per_slot() {
    let folder = TempDir::new().unwrap();
    let path = store_in(folder.path(), "series.db");
    let mut store = Store::create(&path, &key()).unwrap();
    let empty = store.reader().totals().unwrap().database_bytes;
    let mut pool = BusyPool::new(1, 600);
    let mut snapshots = Vec::new();
    for n in 0..288 {
        // After a restart, the day's key record is still used.
        if n == 150 {
            drop(store);
            store = Store::open(&path, &key()).unwrap();
        }
        let entry = pool.recorded(slot(n));
        store.append_slot(slot(n), std::slice::from_ref(&entry)).unwrap();
        snapshots.push(entry.reading.unwrap());
    }
    let reader = store.reader();
    let totals = reader.totals().unwrap();
    assert_eq!(totals.snapshots, 288);
    assert!(totals.canonical_bytes / 288 > 30_000, "{totals:?}");
    assert!(totals.zstd_bytes / 288 <= 600, "{totals:?}");
    // Includes entry, head, figures and week, and the slot's leaf and checkpoint, which all pools share.
    assert!((totals.database_bytes - empty) / 288 <= 1_600, "{totals:?}");
    let pool = &reader.pools().unwrap()[0];
    for (n, snapshot) in (0..).zip(&snapshots) {
        assert_eq!(reader.snapshot_at(pool, slot(n)).unwrap().as_ref(), Some(snapshot));
    }
}
