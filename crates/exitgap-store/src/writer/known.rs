//! Cached input for the next slot: the heads that its heads follow, and the bodies that its bodies may use as
//! dictionaries. [`DerivedState`] caches the derived data. The cache is kept from slot to slot, and is read back after
//! a restart, pool by pool.
//!
//! Reading it takes several queries per pool, and on a server each is a round trip. A process that takes over a store
//! of many pools should read it over several connections at once ([`Store::warm`]), before the instant of its first
//! slot.

use std::collections::{BTreeMap, HashMap};
use std::num::NonZero;
use std::thread::{ScopedJoinHandle, available_parallelism};

use exitgap_core::ids::{Contract, HeadHash};
use exitgap_core::series::Slot;

use super::Store;
use crate::bodies::codec::{Dictionaries, Record};
use crate::bodies::unpack;
use crate::derived::writer::DerivedState;
use crate::error::StoreError;
use crate::log::FullEntry;
use crate::model::{Outcome, Pool};
use crate::reader::Reader;
use crate::writer::seal::SealTarget;

/// The heads of the newest slot, so that the next slot does not have to read them.
#[derive(Debug, Default)]
pub struct LastHeads {
    slot: Option<Slot>,
    /// By pool number.
    heads: HashMap<i64, (FullEntry, HeadHash)>,
}

impl LastHeads {
    /// Heads of a slot, by pool number.
    pub fn from_heads(slot: Slot, heads: HashMap<i64, (FullEntry, HeadHash)>) -> Self {
        Self { slot: Some(slot), heads }
    }

    /// Reads the pool's head of the slot.
    fn know(&mut self, reader: &Reader, pool: &Pool) -> Result<(), StoreError> {
        let Some(slot) = self.slot else { return Ok(()) };
        if let Some(head) = reader.full_entry(pool, slot)? {
            self.heads.insert(pool.number, head);
        }
        Ok(())
    }

    /// Adds heads of other pools of the same slot.
    fn take_in(&mut self, others: Self) {
        if others.slot.is_some() {
            self.slot = others.slot;
            self.heads.extend(others.heads);
        }
    }

    /// The pool as a target for its next head after `last`.
    pub fn seal_target(
        &self,
        reader: &Reader,
        pool: &Pool,
        last: Slot,
    ) -> Result<SealTarget, StoreError> {
        let kept = self.heads.get(&pool.number).filter(|_| self.slot == Some(last));
        let before = match kept {
            Some(kept) => Some(kept.clone()),
            None => reader.full_entry(pool, last)?,
        };
        Ok(SealTarget { pool: pool.clone(), before })
    }
}

/// The dictionaries for the next body of the contract of these pools, read back after a restart.
pub fn dictionaries_of(reader: &Reader, pools: &[&Pool]) -> Result<Dictionaries, StoreError> {
    let mut stored = Dictionaries::default();
    // Includes retracted ones: the choice of dictionary must not depend on when the process started.
    let mut newest = None;
    for pool in pools {
        let entry = reader.newest_entry(pool, Slot::LAST)?;
        let slot = entry.and_then(|entry| entry.newest_snapshot(pool));
        newest = newest.max(slot.map(|slot| (slot, pool.number)));
    }
    let newest = newest.and_then(|(slot, number)| {
        let pool = pools.iter().find(|pool| pool.number == number)?;
        Some(reader.entry(pool, slot))
    });
    let newest = newest.transpose()?.flatten();
    let newest = newest.map(|newest| (newest.slot, newest.outcome));
    if let Some((slot, Outcome::Recorded(hash))) = newest {
        let chain = reader.chain(hash, Some(slot));
        let unpacked = chain.and_then(|chain| Ok((unpack(&chain)?, chain)));
        let (unpacked, chain) = match unpacked {
            Ok(read) => read,
            // A damaged body is not used as a dictionary: the next body is compressed without one.
            Err(StoreError::Corrupt { .. }) => return Ok(stored),
            Err(error) => return Err(error),
        };
        for (row, joined) in chain.iter().zip(unpacked) {
            let (body_no, level, slot) = (row.body_no, row.level, row.slot);
            stored.add(Record { body_no, level, slot, joined });
        }
    }
    Ok(stored)
}

/// The number of simultaneous readers. On a server they mostly wait.
const ON_A_SERVER: usize = 8;

/// The number of pools from which additional readers are worthwhile.
const FEWEST: usize = 64;

/// The data read for some pools.
#[derive(Default)]
struct Part {
    derived: DerivedState,
    heads: LastHeads,
    dictionaries: HashMap<Contract, Dictionaries>,
}

impl Store {
    /// Reads the input for the slot after the newest one, if nothing is cached: after a start, or after the store was
    /// opened again. Otherwise the next slot reads it itself. Returns the number of pools for which it was read.
    pub fn warm(&mut self) -> Result<usize, StoreError> {
        if self.derived.len() > 0 {
            return Ok(0);
        }
        let Some((_, last)) = self.reader.slots()? else { return Ok(0) };
        let newest = self.reader.checkpoint(self.reader.log_size()?)?;
        let pools = self.reader.pools()?;
        if pools.len() < FEWEST {
            return Ok(0);
        }
        let mut contracts: BTreeMap<&Contract, Vec<&Pool>> = BTreeMap::new();
        for pool in &pools {
            contracts.entry(pool.id.contract()).or_default().push(pool);
        }
        let lives = |pools: &Vec<&Pool>| pools.iter().any(|pool| pool.retired_slot.is_none());
        let contracts: Vec<Vec<&Pool>> = contracts.into_values().filter(lives).collect();
        let readers = if self.reader.is_of_a_server() {
            ON_A_SERVER
        } else {
            available_parallelism().map_or(1, NonZero::get)
        };
        let share = contracts.len().div_ceil(readers).max(1);
        let read = std::thread::scope(|scope| {
            let (size, newest) = (self.reader.log_size()?, &newest);
            let read = |share| {
                let reader = self.reader.again()?;
                let of_store = (last, size, newest);
                Ok::<_, StoreError>(scope.spawn(move || Part::load_part(&reader, of_store, share)))
            };
            let workers = contracts.chunks(share).map(read).collect::<Result<Vec<_>, _>>()?;
            let ended = workers.into_iter().map(ScopedJoinHandle::join);
            let parts = ended.map(|ended| ended.unwrap_or(Err(StoreError::Interrupted)));
            parts.collect::<Result<Vec<Part>, _>>()
        })?;
        for part in read {
            self.derived.take_in(part.derived);
            self.heads.take_in(part.heads);
            self.dictionaries.extend(part.dictionaries);
        }
        Ok(self.derived.len())
    }
}

impl Part {
    /// Reads the input for a slot after `last`. Reads nothing if the store's newest slot is not `last` with this
    /// checkpoint.
    fn load_part(
        reader: &Reader,
        (last, size, newest): (Slot, u64, &Option<String>),
        contracts: &[Vec<&Pool>],
    ) -> Result<Self, StoreError> {
        let mut part =
            Self { heads: LastHeads::from_heads(last, HashMap::new()), ..Self::default() };
        if reader.log_size()? != size || reader.checkpoint(size)? != *newest {
            return Ok(Self::default());
        }
        let Some(next) = last.next() else { return Ok(part) };
        for pools in contracts {
            for pool in pools.iter().filter(|pool| pool.retired_slot.is_none()) {
                part.derived.know(reader, pool, next)?;
                part.heads.know(reader, pool)?;
            }
            // A retired pool may have had the contract's newest body.
            if let Some(pool) = pools.first() {
                let contract = pool.id.contract().clone();
                part.dictionaries.insert(contract, dictionaries_of(reader, pools)?);
            }
        }
        Ok(part)
    }
}

#[cfg(test)]
mod tests {
    use exitgap_core::pools::Direction;
    use exitgap_core::tlog::SignerKey;

    use super::*;
    use crate::model::NewEntry;
    use crate::samples::{pool, slot, snapshot};

    /// For example a server that lags behind, or one that continued alone after another had taken over.
    #[test]
    fn nothing_is_taken_from_a_store_that_is_not_this_one() {
        let home = tempfile::tempdir().unwrap();
        let key = SignerKey::from_seed("exitgap.example/log", [7; 32]).unwrap();
        let mut store = Store::create(home.path().join("series.db"), &key).unwrap();
        for index in 0..3 {
            let reading = Ok(snapshot(index));
            let entry = NewEntry { pool: pool(), default_base: Direction::ZeroForOne, reading };
            store.append_slot(slot(index), &[entry]).unwrap();
        }
        let reader = store.reader();
        let pools = reader.pools().unwrap();
        let contracts = [pools.iter().collect::<Vec<_>>()];
        let known = |last, size, newest: &Option<String>| {
            let part = Part::load_part(reader, (slot(last), size, newest), &contracts).unwrap();
            [part.derived.len(), part.heads.heads.len(), part.dictionaries.len()]
        };
        let newest = reader.checkpoint(3).unwrap();
        assert_eq!(known(2, 3, &newest), [1; 3]);
        assert_eq!(known(2, 4, &newest), [0; 3]);
        assert_eq!(known(2, 3, &reader.checkpoint(2).unwrap()), [0; 3]);
        assert_eq!(known(2, 3, &None), [0; 3]);
    }
}
