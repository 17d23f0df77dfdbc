//! A log that grows slot by slot, without a chain.

use crate::scenes::store::store_in;
use std::fs;
use std::path::Path;

use exitgap_core::series::MissingReason;
use exitgap_store::{Changes, LogFolder, Store};
use serde_json::json;
use tempfile::TempDir;

use super::store::{BusyPool, key, slot};

/// A growing log.
pub struct Log {
    folder: TempDir,
    store: Store,
    pub pools: [BusyPool; 2],
    next: u32,
}

impl Log {
    pub fn new() -> Self {
        let folder = TempDir::new().unwrap();
        let store = Store::create(store_in(folder.path(), "series.db"), &key()).unwrap();
        let pools = [1, 2].map(|number| BusyPool::new(number, 5));
        Self { folder, store, pools, next: 0 }
    }

    pub fn seal(&mut self, second_is_missing: bool) {
        self.append(second_is_missing);
        self.publish();
    }

    pub fn publish(&self) {
        LogFolder::new(self.folder.path().join("log")).publish(self.store.reader()).unwrap();
    }

    /// Seals a slot without publishing it.
    pub fn append(&mut self, second_is_missing: bool) {
        let at = slot(self.next);
        let [first, second] = &mut self.pools;
        let second = if second_is_missing {
            second.missing(MissingReason::ChainLagging)
        } else {
            second.recorded(at)
        };
        // Every other slot contains fills of the first pool.
        let after = 1_000 + 10 * u64::from(self.next / 2);
        let fills = (self.next % 2 == 1).then(|| first.fills([after, after + 10]));
        let changes = Changes { fills: fills.into_iter().collect(), ..Changes::default() };
        self.store.append_slot_with(at, &[first.recorded(at), second], &changes).unwrap();
        self.next += 1;
    }

    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    /// Writes a rule for missing slots of the second pool.
    pub fn write_rule(&self) {
        let rule = json!({
            "v": 1, "alert": "mine", "pool": self.pools[1].id.to_string(), "base": "token0", "kind": "missing",
            "first_slot": slot(0).number(), "web_url": "https://exits.example", "for_slots": 1, "clear_for_slots": 1,
            "refire_slots": 0,
        });
        fs::write(self.path().join("rule.json"), rule.to_string()).unwrap();
    }
}
