//! Rows of stored proofs, by the names of their columns, and the statements on them.

use rusqlite::{OptionalExtension, Params, Row, ToSql, named_params};

use super::super::DatabaseError;
use super::super::statements::{Statement, find};
use super::Rows;

/// A statement of `sql/proofs.sql`.
macro_rules! sql {
    ($name:ident) => {{
        static STATEMENT: Statement = find(include_str!("sql/proofs.sql"), stringify!($name));
        STATEMENT.sql
    }};
}

/// The key of a proof.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProofKey {
    pub contract: String,
    pub slot: i64,
    pub reach: i64,
}

impl ProofKey {
    fn params(&self) -> [(&str, &dyn ToSql); 3] {
        [(":contract", &self.contract), (":slot", &self.slot), (":reach", &self.reach)]
    }
}

/// A chain's day.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DayRow {
    pub no: i64,
    pub day: i64,
    pub thinned: i64,
}

type Result<T> = std::result::Result<T, DatabaseError>;

impl Rows<'_> {
    fn select_rows<T>(
        &self,
        sql: &str,
        params: impl Params,
        read: fn(&Row<'_>) -> rusqlite::Result<T>,
    ) -> Result<Vec<T>> {
        let rows = || {
            let mut statement = self.0.prepare_cached(sql)?;
            statement.query_map(params, read)?.collect::<rusqlite::Result<Vec<T>>>()
        };
        rows().map_err(DatabaseError::engine)
    }

    fn select_row<T>(
        &self,
        sql: &str,
        params: impl Params,
        read: fn(&Row<'_>) -> rusqlite::Result<T>,
    ) -> Result<Option<T>> {
        let row = || self.0.prepare_cached(sql)?.query_row(params, read).optional();
        row().map_err(DatabaseError::engine)
    }

    fn run(&self, sql: &str, params: impl Params) -> Result<usize> {
        let run = || self.0.prepare_cached(sql)?.execute(params);
        run().map_err(DatabaseError::engine)
    }

    /// The day of a chain, inserted if it does not exist.
    pub fn day(&self, chain: &str, day: i64) -> Result<i64> {
        let params = named_params! {":chain": chain, ":day": day};
        self.run(sql!(INSERT_DAY), params)?;
        let no = self.select_row(sql!(SELECT_DAY), params, |row| row.get("no"))?;
        no.ok_or_else(|| DatabaseError::engine(rusqlite::Error::QueryReturnedNoRows))
    }

    /// A node's number. The node is inserted if it does not exist.
    pub fn node(&self, chain_day: i64, hash: &[u8; 32], bytes: &[u8]) -> Result<i64> {
        let params = named_params! {":chain_day": chain_day, ":hash": hash};
        if let Some(no) = self.select_row(sql!(SELECT_NODE), params, |row| row.get("no"))? {
            return Ok(no);
        }
        let params = named_params! {":chain_day": chain_day, ":hash": hash, ":bytes": bytes};
        let no = self.select_row(sql!(INSERT_NODE), params, |row| row.get("no"))?;
        no.ok_or_else(|| DatabaseError::engine(rusqlite::Error::QueryReturnedNoRows))
    }

    pub fn node_bytes(&self, no: i64) -> Result<Option<Vec<u8>>> {
        self.select_row(sql!(SELECT_BYTES), named_params! {":no": no}, |row| row.get("bytes"))
    }

    /// Inserts a proof, unless one with this key exists.
    pub fn put_proof(&self, key: &ProofKey, chain_day: i64, body: &[u8]) -> Result<bool> {
        let params = named_params! {
            ":contract": key.contract, ":slot": key.slot, ":reach": key.reach,
            ":chain_day": chain_day, ":body": body,
        };
        Ok(self.run(sql!(INSERT_PROOF), params)? == 1)
    }

    /// A proof's body, and whether it is kept permanently.
    pub fn proof(&self, key: &ProofKey) -> Result<Option<(Vec<u8>, bool)>> {
        self.select_row(sql!(SELECT_PROOF), key.params().as_slice(), |row| {
            Ok((row.get("body")?, row.get("forever")?))
        })
    }

    /// Keeps a proof permanently. Returns whether it exists and was not kept permanently before.
    pub fn mark_forever(&self, key: &ProofKey) -> Result<bool> {
        Ok(self.run(sql!(MARK_FOREVER), key.params().as_slice())? == 1)
    }

    pub fn mark_published(&self, key: &ProofKey) -> Result<()> {
        self.run(sql!(MARK_PUBLISHED), key.params().as_slice()).map(drop)
    }

    /// Proofs that are kept permanently and not yet published, oldest first.
    pub fn to_publish(&self, most: i64) -> Result<Vec<ProofKey>> {
        self.select_rows(sql!(SELECT_TO_PUBLISH), named_params! {":most": most}, |row| {
            Ok(ProofKey {
                contract: row.get("contract")?,
                slot: row.get("slot")?,
                reach: row.get("reach")?,
            })
        })
    }

    /// Days before this one that are not completely thinned, oldest first.
    pub fn days_before(&self, before: i64) -> Result<Vec<DayRow>> {
        self.select_rows(sql!(SELECT_DAYS), named_params! {":before": before}, |row| {
            Ok(DayRow { no: row.get("no")?, day: row.get("day")?, thinned: row.get("thinned")? })
        })
    }

    /// Deletes a day's proofs, except those of every `every`-th slot and those that are kept permanently.
    pub fn thin(&self, chain_day: i64, every: u32) -> Result<usize> {
        let params = named_params! {":chain_day": chain_day, ":every": every};
        self.run(sql!(DELETE_PROOFS), params)
    }

    pub fn mark_thinned(&self, chain_day: i64, thinned: i64) -> Result<()> {
        let params = named_params! {":chain_day": chain_day, ":thinned": thinned};
        self.run(sql!(MARK_THINNED), params).map(drop)
    }

    pub fn bodies(&self, chain_day: i64) -> Result<Vec<Vec<u8>>> {
        let params = named_params! {":chain_day": chain_day};
        self.select_rows(sql!(SELECT_BODIES), params, |row| row.get("body"))
    }

    pub fn nodes(&self, chain_day: i64) -> Result<Vec<i64>> {
        self.select_rows(sql!(SELECT_NODES), named_params! {":chain_day": chain_day}, |row| {
            row.get("no")
        })
    }

    pub fn delete_node(&self, no: i64) -> Result<()> {
        self.run(sql!(DELETE_NODE), named_params! {":no": no}).map(drop)
    }

    pub fn proofs(&self) -> Result<i64> {
        let number = self.select_row(sql!(COUNT_PROOFS), (), |row| row.get("number"))?;
        Ok(number.unwrap_or_default())
    }

    pub fn bytes(&self) -> Result<i64> {
        let number = self.select_row(sql!(SUM_BYTES), (), |row| row.get("number"))?;
        Ok(number.unwrap_or_default())
    }
}
