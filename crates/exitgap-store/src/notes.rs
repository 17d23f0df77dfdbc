//! What a store knows beside its series: slots in doubt, and what the recorder has still to do
//! about earlier slots. No head says any of it.

use exitgap_core::ids::{BlockHash, ChainSlug, PoolId};
use exitgap_core::series::Slot;
use rusqlite::{Connection, OptionalExtension, TransactionBehavior, named_params};

use crate::error::{Doing, StoreError};
use crate::model::{NewDoubt, Pool};
use crate::reader::{Reader, slot_of};
use crate::sql;
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
pub struct Rechecked {
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
        let doing = "reading a doubt";
        let mut statement = self.connection.prepare_cached(sql::SELECT_DOUBT).doing(doing)?;
        let parameters = named_params! { ":pool_no": pool.number, ":slot": slot.number() };
        let found: Option<i64> = statement.query_row(parameters, |row| row.get(0)).doing(doing)?;
        found.map(|found| slot_of("doubt", found)).transpose()
    }

    /// How many slots of pools are in doubt.
    pub fn doubted_slots(&self) -> Result<u64, StoreError> {
        let count = self.connection.query_row(sql::SELECT_DOUBTED, (), |row| row.get::<_, i64>(0));
        Ok(count.doing("counting doubts")?.unsigned_abs())
    }

    /// The first slot of the chain whose blocks were not asked for again; `None`: nobody noted.
    pub fn recheck_from(&self, chain: &ChainSlug) -> Result<Option<Slot>, StoreError> {
        let doing = "reading how far slots were rechecked";
        let parameters = named_params! { ":chain": chain.as_str() };
        let next: Option<i64> = self
            .connection
            .query_row(sql::SELECT_RECHECK, parameters, |row| row.get(0))
            .optional()
            .doing(doing)?;
        next.map(|next| slot_of("recheck", next)).transpose()
    }

    /// Every suspicion whose slot is not taken back, oldest slot first.
    pub fn suspicions(&self) -> Result<Vec<Suspicion>, StoreError> {
        let doing = "reading suspicions";
        let mut statement = self.connection.prepare_cached(sql::SELECT_SUSPICIONS).doing(doing)?;
        let rows = statement
            .query_map((), |row| {
                let pool: String = row.get(0)?;
                Ok((pool, row.get(1)?, row.get(2)?, row.get(3)?, row.get(4)?))
            })
            .doing(doing)?;
        let table = "suspicion";
        rows.map(|row| {
            let (pool, slot, seen_by, confirmed, canonical) = row.doing(doing)?;
            let corrupt = |error| StoreError::CorruptRow { table, found: format!("{error}") };
            Ok(Suspicion {
                pool: pool.parse().map_err(corrupt)?,
                slot: slot_of(table, slot)?,
                canonical: BlockHash(canonical),
                seen_by: slot_of(table, seen_by)?,
                confirmed,
            })
        })
        .collect()
    }
}

impl Store {
    /// Notes what came of asking for a chain's earlier blocks again, in one transaction.
    pub fn note_rechecked(
        &mut self,
        chain: &ChainSlug,
        rechecked: &Rechecked,
    ) -> Result<(), StoreError> {
        let doing = "noting what was rechecked";
        let reader = self.reader();
        let transaction = rusqlite::Transaction::new_unchecked(
            &reader.connection,
            TransactionBehavior::Immediate,
        )
        .doing(doing)?;
        if let Some(next) = rechecked.next {
            let parameters =
                named_params! { ":chain": chain.as_str(), ":next_slot": next.number() };
            transaction.execute(sql::UPSERT_RECHECK, parameters).doing(doing)?;
        }
        for suspicion in &rechecked.suspected {
            let Some(pool) = reader.pool(&suspicion.pool)? else { continue };
            let parameters = named_params! {
                ":pool_no": pool.number,
                ":slot": suspicion.slot.number(),
                ":seen_by_slot": suspicion.seen_by.number(),
                ":confirmed": suspicion.confirmed,
                ":canonical_hash": suspicion.canonical.0,
            };
            transaction.execute(sql::UPSERT_SUSPICION, parameters).doing(doing)?;
        }
        for (pool, slot) in &rechecked.cleared {
            let Some(pool) = reader.pool(pool)? else { continue };
            let parameters = named_params! { ":pool_no": pool.number, ":slot": slot.number() };
            transaction.execute(sql::DELETE_SUSPICION, parameters).doing(doing)?;
        }
        transaction.commit().doing(doing)
    }
}

/// Writes doubts that the reading of `found` raised. What a pool did not have yet is left out.
pub fn insert_doubts(
    connection: &Connection,
    pools: &[Pool],
    found: Slot,
    doubts: &[NewDoubt],
) -> Result<(), StoreError> {
    let doing = "writing a doubt";
    let mut statement = connection.prepare_cached(sql::INSERT_DOUBT).doing(doing)?;
    for doubt in doubts {
        let Some(pool) = pools.iter().find(|pool| pool.id == doubt.pool) else { continue };
        let first = doubt.first.max(pool.first_slot);
        let Some(last) = found.previous().filter(|last| first <= *last) else { continue };
        let parameters = named_params! {
            ":pool_no": pool.number,
            ":found_slot": found.number(),
            ":first_slot": first.number(),
            ":last_slot": last.number(),
        };
        statement.execute(parameters).doing(doing)?;
    }
    Ok(())
}
