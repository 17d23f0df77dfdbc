//! Checks the data submitted for a slot, against itself and against sealed data.

use std::collections::BTreeMap;

use exitgap_core::series::Slot;

use super::Store;
use crate::error::StoreError;
use crate::model::{NewEntry, Outcome};
use crate::writer::changes::CheckedChanges;
use crate::writer::ready::Ready;

/// The entries of a slot by pool name, in the order of a slot's heads.
pub type Slotful = BTreeMap<String, NewEntry<Ready>>;

/// Checks a slot's entries against each other and the slot.
pub fn check_entries(slot: Slot, entries: Vec<NewEntry<Ready>>) -> Result<Slotful, StoreError> {
    if entries.is_empty() {
        return Err(StoreError::NoEntries { slot });
    }
    let mut checked = BTreeMap::new();
    for entry in entries {
        if let Ok(Ready { pool, slot: found, .. }) = &entry.reading {
            if *pool != entry.pool {
                let (expected, found) = (entry.pool, pool.clone());
                return Err(StoreError::SnapshotOfOtherPool { expected, found });
            }
            if *found != slot {
                let (pool, found) = (entry.pool, *found);
                return Err(StoreError::SnapshotOfOtherSlot { pool, expected: slot, found });
            }
        }
        let pool = entry.pool.clone();
        if checked.insert(pool.to_string(), entry).is_some() {
            return Err(StoreError::PoolRepeated { slot, pool });
        }
    }
    check_contracts(slot, &checked)?;
    Ok(checked)
}

/// Requires that pools of one contract have the same snapshot.
fn check_contracts(slot: Slot, checked: &Slotful) -> Result<(), StoreError> {
    let mut last: Option<&Ready> = None;
    for ready in checked.values().filter_map(|entry| entry.reading.as_ref().ok()) {
        let contract = ready.pool.contract();
        let same = |last: &Ready| last.pool.contract() != contract || last.hash == ready.hash;
        if !last.is_none_or(same) {
            return Err(StoreError::SnapshotsDiffer { slot, contract: contract.clone() });
        }
        last = Some(ready);
    }
    Ok(())
}

/// The outcome of the entry.
pub fn outcome_of(entry: &NewEntry<Ready>) -> Outcome {
    match &entry.reading {
        Ok(ready) => Outcome::Recorded(ready.hash),
        Err(reason) => Outcome::Missing(*reason),
    }
}

impl Store {
    /// Requires that a sealed slot has exactly these entries and changes.
    pub(super) fn compare(
        &self,
        slot: Slot,
        checked: &Slotful,
        changes: &CheckedChanges,
    ) -> Result<(), StoreError> {
        for entry in checked.values() {
            let pool = self.reader.pool(&entry.pool)?;
            let recorded = match &pool {
                Some(pool) => self.reader.entry(pool, slot)?,
                None => None,
            };
            let (pool, offered) = (entry.pool.clone(), outcome_of(entry));
            match recorded.map(|entry| entry.outcome) {
                Some(recorded) if recorded == offered => {}
                Some(recorded) => {
                    return Err(StoreError::EntryDiffers { slot, pool, recorded, offered });
                }
                None => return Err(StoreError::PoolNotInSlot { slot, pool }),
            }
        }
        for pool in self.reader.pools()?.into_iter().filter(|pool| pool.has(slot)) {
            let name = pool.id.to_string();
            let retires = pool.retired_slot == Some(slot);
            let row = self.reader.full_entry(&pool, slot)?.map(|(row, _)| row);
            let fills = row.as_ref().and_then(|row| row.fills);
            let issued = row.as_ref().and_then(|row| row.issued);
            let retracts = row.map(|row| row.retracts);
            let offered = changes.retracts.get(&name).map(Vec::as_slice).unwrap_or_default();
            if retires != changes.retires.contains_key(&name)
                || retracts.unwrap_or_default() != offered
                || fills != changes.fills.get(&name).map(|fills| fills.hash)
                || issued != changes.issued.get(&name).map(|issued| issued.hash)
            {
                return Err(StoreError::ChangesDiffer { slot, pool: pool.id });
            }
            if !retires && !checked.contains_key(&name) {
                return Err(StoreError::PoolWithoutEntry { slot, pool: pool.id });
            }
        }
        Ok(())
    }
}
