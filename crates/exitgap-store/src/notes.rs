//! What a store knows beside its series: slots in doubt, and what the recorder has still to do
//! about earlier slots. No head says any of it.

use exitgap_core::ids::{BlockHash, ChainSlug, PoolId};
use exitgap_core::series::Slot;

use crate::db::Db;
use crate::error::StoreError;
use crate::model::{NewDoubt, Pool};
use crate::reader::Reader;
use crate::rows::slot_of;
use crate::writer::Store;

/// A slot of a pool whose block was said to be orphaned.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Suspicion {
    /// The pool.
    pub pool: PoolId,
    /// The slot, recorded and not taken back yet.
    pub slot: Slot,
    /// The block that is said to stand at its block's number.
    pub canonical: BlockHash,
    /// The newest slot of the series when it was first said.
    pub seen_by: Slot,
    /// Whether it was said again, later or by another node: the next head takes the slot back.
    pub confirmed: bool,
}

/// What came of asking for the blocks of a chain's earlier slots again.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RecheckOutcome {
    /// The first slot that was not asked for; `None`: as before.
    pub next: Option<Slot>,
    /// Slots that are suspected, or are so still. A slot's first `seen_by` stays.
    pub suspected: Vec<Suspicion>,
    /// Slots of pools whose block stands after all.
    pub cleared: Vec<(PoolId, Slot)>,
}

impl Reader {
    /// The slot whose full reading put the pool's `slot` in doubt; `None`: it is in none.
    pub fn doubt_about(&self, pool: &Pool, slot: Slot) -> Result<Option<Slot>, StoreError> {
        let found = self.db.doubt(pool.number, slot)?;
        found.map(|found| slot_of("doubt", found)).transpose()
    }

    /// How many slots of pools are in doubt.
    pub fn doubted_slots(&self) -> Result<u64, StoreError> {
        self.db.count_doubts()
    }

    /// The first slot of the chain whose blocks were not asked for again; `None`: nobody noted.
    pub fn recheck_from(&self, chain: &ChainSlug) -> Result<Option<Slot>, StoreError> {
        let next = self.db.recheck(chain.as_str())?;
        next.map(|next| slot_of("recheck", next)).transpose()
    }

    /// Every suspicion whose slot is not taken back, oldest slot first.
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
    /// Notes what came of asking for a chain's earlier blocks again, in one transaction.
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

/// Writes doubts that the reading of `found` raised. What a pool did not have yet is left out.
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
