//! The rows of a slot, and the transaction that they are written in.

use exitgap_core::series::Slot;
use rusqlite::{Connection, ErrorCode, Transaction, TransactionBehavior, named_params};

use super::append::Body;
use crate::error::{Doing, StoreError};
use crate::model::{NewEntry, Pool, base_token};
use crate::reader::Reader;
use crate::ready::Ready;
use crate::sql;

pub fn begin(reader: &Reader) -> Result<Transaction<'_>, StoreError> {
    Transaction::new_unchecked(&reader.connection, TransactionBehavior::Immediate)
        .doing("beginning to write")
}

pub fn insert_pool(
    transaction: &Transaction,
    slot: Slot,
    entry: &NewEntry<Ready>,
) -> Result<Pool, StoreError> {
    let doing = "writing a pool";
    let mut statement = transaction.prepare_cached(sql::INSERT_POOL).doing(doing)?;
    let parameters = named_params! {
        ":pool_id": entry.pool.to_string(),
        ":default_base_token": base_token(entry.default_base),
        ":first_slot": slot.number(),
    };
    let number = statement.query_row(parameters, |row| row.get(0)).doing(doing)?;
    let (id, default_base) = (entry.pool.clone(), entry.default_base);
    Ok(Pool { id, default_base, first_slot: slot, retired_slot: None, number })
}

pub fn keep_default_base(
    transaction: &Transaction,
    pool: &Pool,
    entry: &NewEntry<Ready>,
) -> Result<(), StoreError> {
    if pool.default_base == entry.default_base {
        return Ok(());
    }
    let doing = "setting a pool's default base";
    let mut statement = transaction.prepare_cached(sql::UPDATE_DEFAULT_BASE).doing(doing)?;
    let base = base_token(entry.default_base);
    let parameters = named_params! { ":pool_no": pool.number, ":default_base_token": base };
    statement.execute(parameters).doing(doing).map(|_| ())
}

pub fn insert_body(
    transaction: &Transaction,
    ready: &Ready,
    body: &Body,
) -> Result<i64, StoreError> {
    let doing = "writing a body";
    let mut statement = transaction.prepare_cached(sql::INSERT_BODY).doing(doing)?;
    let parameters = named_params! {
        ":slot": ready.slot.number(),
        ":snapshot_sha256": ready.hash.0,
        ":state_sha256": ready.state.0,
        ":level": body.level,
        ":dictionary_body_no": body.base.map(|(body_no, _)| body_no),
        ":snapshot_bytes": ready.snapshot_bytes.cast_signed(),
        ":state_bytes": (ready.joined.len() - ready.snapshot_bytes).cast_signed(),
        ":zstd": body.zstd,
    };
    statement.query_row(parameters, |row| row.get(0)).doing(doing)
}

pub fn insert_retirement(
    connection: &Connection,
    pool: &Pool,
    slot: Slot,
) -> Result<(), StoreError> {
    let parameters = named_params! { ":pool_no": pool.number, ":slot": slot.number() };
    let doing = "writing a retirement";
    connection.execute(sql::INSERT_RETIREMENT, parameters).doing(doing).map(|_| ())
}

pub fn commit(transaction: Transaction, slot: Slot) -> Result<(), StoreError> {
    transaction.commit().map_err(|source| match source.sqlite_error_code() {
        // The log's last frame, which makes the slot one, found no room: nothing was written.
        Some(ErrorCode::DiskFull) => StoreError::Sqlite { doing: "committing a slot", source },
        _ => StoreError::CommitUnknown { slot, source },
    })
}
