//! A recorded series with a slot taken back and a time in which nobody recorded.

use std::fs;

use exitgap_core::ids::{BlockHash, PoolId};
use exitgap_core::series::{MissingReason, Slot};
use exitgap_server::config::CheckedConfig;
use exitgap_store::{Changes, LogFolder, NewEntry, NewRetraction, Store};

use crate::scenes::service::Recorded;

/// Slots in which nobody recorded: an hour of the chart is empty.
const PAUSE: u64 = 26;

/// Takes a slot of the first pool back, lets some slots go by unrecorded, and publishes that.
/// Gives the pool and the slot that was taken back.
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
