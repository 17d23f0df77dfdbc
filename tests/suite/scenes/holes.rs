//! A recorded series with a retracted slot and a gap without a recorder.

use std::fs;

use exitgap_core::ids::{BlockHash, PoolId};
use exitgap_core::series::{MissingReason, Slot};
use exitgap_server::config::CheckedConfig;
use exitgap_store::{Changes, LogFolder, NewEntry, NewRetraction, Store};

use crate::scenes::service::Recorded;

/// Number of slots without a recorder, so that the chart has an empty hour.
const PAUSE: u64 = 26;

/// Retracts a slot of the first pool, lets some slots pass unrecorded, and publishes the result. Returns the pool and
/// the retracted slot.
pub fn tear_holes(recorded: &Recorded) -> (PoolId, Slot) {
    let checked = CheckedConfig::from_file(&recorded.path("exitgap.toml")).unwrap();
    let key = fs::read_to_string(&checked.config.evidence.key_file).unwrap();
    let mut store =
        Store::open(&checked.config.store.path, &key.trim_end().parse().unwrap()).unwrap();
    let pool: PoolId = recorded.pool(0).parse().unwrap();
    let after = |slots: u64| Slot::new(u64::from(recorded.last.number()) + slots).unwrap();
    let slot = Slot::new(u64::from(recorded.last.number()) - 9).unwrap();
    let entries: Vec<_> = store
        .reader()
        .pools()
        .unwrap()
        .into_iter()
        .map(|pool| NewEntry {
            pool: pool.id,
            default_base: pool.default_base,
            reading: Err(MissingReason::ChainLagging),
        })
        .collect();
    let canonical = BlockHash([0xee; 32]);
    let retraction = NewRetraction::for_orphan(pool.clone(), slot, canonical);
    let changes = Changes { retractions: vec![retraction], ..Changes::default() };
    store.append_slot_with(after(1), &entries, &changes).unwrap();
    let filled = store.append_slot(after(PAUSE), &entries).unwrap().filled_slots;
    assert_eq!(u64::from(filled), PAUSE - 2, "slots went by unrecorded");
    LogFolder::new(&checked.config.evidence.folder).publish(store.reader()).unwrap();
    (pool, slot)
}
