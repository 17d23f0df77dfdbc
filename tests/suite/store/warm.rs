//! Reading the data that the next slot depends on in parallel beforehand gives the same result as a recorder that never
//! stopped.

use exitgap_core::ids::BlockHash;
use exitgap_core::series::MissingReason;
use exitgap_store::{Changes, NewEntry, NewRetraction, Store};
use tempfile::TempDir;

use super::postgres::checkpoints;
use crate::scenes::store::{BusyPool, key, slot, store_in};

/// More pools than there are additional readers.
const POOLS: u8 = 70;

/// The contents of a slot. The first slots differ between pools: some are missing, and two slots contain a retraction.
fn read(pools: &mut [BusyPool], n: u32) -> (Vec<NewEntry>, Changes) {
    let mut changes = Changes::default();
    if n == 3 || n == 5 {
        let (pool, of) = (pools[usize::try_from(n).unwrap()].id.clone(), slot(n - 1));
        changes.retractions = vec![NewRetraction::for_orphan(pool, of, BlockHash([9; 32]))];
    }
    let mut entries = Vec::new();
    for (at, pool) in (0..).zip(pools.iter_mut()) {
        let entry = pool.recorded(slot(n));
        let misses = (n + at) % 9 == 4;
        let reading = if misses { Err(MissingReason::ChainLagging) } else { entry.reading };
        entries.push(NewEntry { reading, ..entry });
    }
    (entries, changes)
}

fn append(store: &mut Store, pools: &mut [BusyPool], n: u32) {
    let (entries, changes) = read(pools, n);
    store.append_slot_with(slot(n), &entries, &changes).unwrap();
}

#[test]
fn a_recorder_that_takes_over_goes_on_as_if_it_had_been_there() {
    let home = TempDir::new().unwrap();
    let paths = ["one.db", "warmed.db", "cold.db"].map(|name| store_in(home.path(), name));
    let mut markets = [(); 3]
        .map(|()| -> Vec<BusyPool> { (0..POOLS).map(|number| BusyPool::new(number, 2)).collect() });
    let mut stores = paths.each_ref().map(|path| Store::create(path, &key()).unwrap());
    for n in 0..5 {
        for (store, pools) in stores.iter_mut().zip(&mut markets) {
            append(store, pools, n);
        }
    }
    // The process that wrote the slot already has all of this data.
    assert_eq!(stores[0].warm().unwrap(), 0);
    let [mut one, warmed, cold] = stores;
    drop((warmed, cold));
    let mut warmed = Store::open(&paths[1], &key()).unwrap();
    assert_eq!(warmed.warm().unwrap(), usize::from(POOLS));
    assert_eq!(warmed.warm().unwrap(), 0);
    let mut cold = Store::open(&paths[2], &key()).unwrap();
    for n in 5..8 {
        for (store, pools) in [&mut one, &mut warmed, &mut cold].into_iter().zip(&mut markets) {
            append(store, pools, n);
        }
    }
    // After a pause, whose slots are filled, and into the next day.
    drop(warmed);
    let mut warmed = Store::open(&paths[1], &key()).unwrap();
    assert_eq!(warmed.warm().unwrap(), usize::from(POOLS));
    for (store, pools) in [&mut one, &mut warmed, &mut cold].into_iter().zip(&mut markets) {
        append(store, pools, 290);
        store.reader().fsck_derived(|_| {}).unwrap();
    }
    let expected = checkpoints(&paths[0]);
    assert_eq!(expected.len(), 291);
    assert_eq!(checkpoints(&paths[1]), expected);
    assert_eq!(checkpoints(&paths[2]), expected);
    let weights = [&one, &warmed, &cold].map(|store| store.reader().totals().unwrap().zstd_bytes);
    assert_eq!(weights, [weights[0]; 3]);
}
