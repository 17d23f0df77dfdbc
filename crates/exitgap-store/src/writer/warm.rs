//! What a slot rests on, read before it is due: of many pools, several side by side.
//!
//! It is some questions for each pool, and on a server each of them is a way there and back. Whoever takes over a store of many
//! pools has it read by a few connections at once, and best before its first slot's instant.

use std::collections::{BTreeMap, HashMap};
use std::num::NonZero;
use std::thread::{ScopedJoinHandle, available_parallelism};

use exitgap_core::ids::Contract;
use exitgap_core::series::Slot;

use super::Store;
use super::append::{LastHeads, dictionaries_of};
use crate::bodies::packing::Dictionaries;
use crate::derived::write::Derived;
use crate::error::StoreError;
use crate::model::Pool;
use crate::reader::Reader;

/// Readers at once. On a server they wait more than they work.
const ON_A_SERVER: usize = 8;

/// Pools for which other readers are worth opening.
const FEWEST: usize = 64;

/// What was read of some pools.
#[derive(Default)]
struct Part {
    derived: Derived,
    heads: LastHeads,
    dictionaries: HashMap<Contract, Dictionaries>,
}

impl Store {
    /// Reads what the slot after the newest rests on, where nothing of it is known: after a start, or once the store was opened again. A
    /// slot that comes without it reads it itself. Of how many pools it was read.
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
                let reader = self.reader.beside()?;
                let of_store = (last, size, newest);
                Ok::<_, StoreError>(scope.spawn(move || Part::read(&reader, of_store, share)))
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
    /// Reads what a slot after `last` rests on; nothing where that is not the slot of this store, with this checkpoint.
    fn read(
        reader: &Reader,
        (last, size, newest): (Slot, u64, &Option<String>),
        contracts: &[Vec<&Pool>],
    ) -> Result<Self, StoreError> {
        let mut part = Self { heads: LastHeads::of(last), ..Self::default() };
        if reader.log_size()? != size || reader.checkpoint(size)? != *newest {
            return Ok(Self::default());
        }
        let Some(next) = last.next() else { return Ok(part) };
        for pools in contracts {
            for pool in pools.iter().filter(|pool| pool.retired_slot.is_none()) {
                part.derived.know(reader, pool, next)?;
                part.heads.know(reader, pool)?;
            }
            // A pool that retired may have had the contract's newest body.
            if let Some(pool) = pools.first() {
                let contract = pool.id.contract().clone();
                part.dictionaries.insert(contract, dictionaries_of(reader, pools)?);
            }
        }
        Ok(part)
    }
}
