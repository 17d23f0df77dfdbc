//! What a store records outside its series: slots in doubt, and the recorder's pending work on earlier slots. Heads
//! contain none of it.

use exitgap_core::ids::{BlockHash, ChainSlug, PoolId};
use exitgap_core::series::Slot;

use crate::db::Db;
use crate::error::StoreError;
use crate::model::{NewDoubt, Pool};
use crate::reader::Reader;
use crate::rows::slot_of;
use crate::writer::Store;

/// A slot of a pool whose block a node reported as orphaned.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Suspicion {
    /// The pool.
    pub pool: PoolId,
    /// The slot, which is recorded and not yet retracted.
    pub slot: Slot,
    /// The block that the node reported at that block number instead.
    pub canonical: BlockHash,
    /// The newest slot of the series at the first report.
    pub seen_by: Slot,
    /// Whether there was a second report, later or from another node. If so, the next head retracts the slot.
    pub confirmed: bool,
}

/// The result of requesting the blocks of a chain's earlier slots again.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RecheckOutcome {
    /// The first slot whose blocks were not requested; `None`: unchanged.
    pub next: Option<Slot>,
    /// Slots that are newly or still suspected. An existing `seen_by` of a slot stays unchanged.
    pub suspected: Vec<Suspicion>,
    /// Slots of pools whose block turned out to be valid.
    pub cleared: Vec<(PoolId, Slot)>,
}

impl Reader {
    /// The slot whose full reading put the pool's `slot` in doubt; `None` if the slot is not in doubt.
    pub fn doubt_about(&self, pool: &Pool, slot: Slot) -> Result<Option<Slot>, StoreError> {
        let found = self.db.doubt(pool.number, slot)?;
        found.map(|found| slot_of("doubt", found)).transpose()
    }

    /// The number of slots of pools that are in doubt.
    pub fn doubted_slots(&self) -> Result<u64, StoreError> {
        self.db.count_doubts()
    }

    /// The chain's first slot whose blocks were not requested again; `None` if nothing was stored.
    pub fn recheck_from(&self, chain: &ChainSlug) -> Result<Option<Slot>, StoreError> {
        let next = self.db.recheck(chain.as_str())?;
        next.map(|next| slot_of("recheck", next)).transpose()
    }

    /// Every suspicion whose slot is not retracted, oldest slot first.
    pub fn suspicions(&self) -> Result<Vec<Suspicion>, StoreError> {
        let table = "suspicion";
        self.db.suspicions(|row| {
            let corrupt = |error| StoreError::CorruptRow { table, found: format!("{error}") };
            Ok(Suspicion {
                pool: row.pool_id.parse().map_err(corrupt)?,
                slot: slot_of(table, row.slot)?,
                canonical: BlockHash(row.canonical),
                seen_by: slot_of(table, row.seen_by)?,
                confirmed: row.confirmed,
            })
        })
    }
}

impl Store {
    /// Stores the result of requesting a chain's earlier blocks again, in one transaction.
    pub fn note_rechecked(
        &mut self,
        chain: &ChainSlug,
        rechecked: &RecheckOutcome,
    ) -> Result<(), StoreError> {
        let doing = "recording what was rechecked";
        let reader = self.reader();
        let transaction = reader.db.begin(doing)?;
        if let Some(next) = rechecked.next {
            reader.db.set_recheck(chain.as_str(), next)?;
        }
        for suspicion in &rechecked.suspected {
            let Some(pool) = reader.pool(&suspicion.pool)? else { continue };
            let Suspicion { slot, seen_by, confirmed, canonical, .. } = suspicion;
            reader.db.set_suspicion(pool.number, *slot, *seen_by, *confirmed, &canonical.0)?;
        }
        for (pool, slot) in &rechecked.cleared {
            let Some(pool) = reader.pool(pool)? else { continue };
            reader.db.delete_suspicion(pool.number, *slot)?;
        }
        transaction.settle()?;
        transaction.commit().map_err(|source| StoreError::Database { doing, source })
    }
}

/// Writes the doubts that the reading of `found` raised, without slots before a pool's first one.
pub fn insert_doubts(
    db: &Db,
    pools: &[Pool],
    found: Slot,
    doubts: &[NewDoubt],
) -> Result<(), StoreError> {
    let runs = doubts.iter().filter_map(|doubt| {
        let pool = pools.iter().find(|pool| pool.id == doubt.pool)?;
        let first = doubt.first.max(pool.first_slot);
        let last = found.previous().filter(|last| first <= *last)?;
        Some((pool.number, first, last))
    });
    db.insert_doubts(found, runs)
}
