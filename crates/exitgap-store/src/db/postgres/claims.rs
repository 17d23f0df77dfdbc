//! Claims: what is about to be signed is stored and committed first.
//!
//! A recorder that fails between its signature and its commit has signed a checkpoint that must not be contradicted.
//! The text and the slot's files are therefore committed first, over a separate connection. The next recorder finds
//! them and seals the same.

use super::connect::{Connection, Fault};
use super::lease::require_clock;
use super::{Postgres, database_error};
use crate::error::StoreError;

/// A slot that is about to be signed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Claim {
    /// The size of the log including it.
    pub size: u64,
    /// The text to be signed.
    pub checkpoint: String,
    /// The slot's manifest, with an unsigned checkpoint.
    pub manifest: Vec<u8>,
    /// The files that it names, by their paths.
    pub files: Vec<(String, Vec<u8>)>,
}

const DOING: &str = "claiming a slot";

impl Postgres {
    /// The claim for this size that is not sealed yet.
    pub fn claim(&self, size: u64) -> Result<Option<Claim>, StoreError> {
        let failed = |fault| database_error("reading a claim", fault);
        let number = size.cast_signed();
        let ask = |sql| self.connection.ask(sql, &[&number]).map_err(failed);
        let rows = ask("SELECT checkpoint, manifest FROM exitgap.claim WHERE size = $1")?;
        let Some(row) = rows.first() else { return Ok(None) };
        let read = |fault: tokio_postgres::Error| failed(fault.into());
        let files =
            ask("SELECT path, bytes FROM exitgap.claim_file WHERE size = $1 ORDER BY path")?;
        let files = files.iter().map(|row| Ok((row.try_get(0)?, row.try_get(1)?)));
        Ok(Some(Claim {
            size,
            checkpoint: row.try_get(0).map_err(read)?,
            manifest: row.try_get(1).map_err(read)?,
            files: files.collect::<Result<_, _>>().map_err(read)?,
        }))
    }

    /// Claims a slot that is completely written except for its seal. Refused if other contents are claimed for it
    /// ([`StoreError::Claimed`]).
    pub fn put_claim(&self, slot: u32, claim: &Claim) -> Result<(), StoreError> {
        let fail = |fault| database_error(DOING, fault);
        // Data that the schema refuses must not be claimed, because it could never be sealed, and nothing else could be
        // sealed either.
        self.settle()?;
        self.holds().map_err(fail)?;
        let connection = self.of_claims().map_err(fail)?;
        // The clock may have been changed since the lease was last renewed.
        require_clock(connection, &self.place)?;
        connection.batch("BEGIN").map_err(fail)?;
        let written = written(connection, slot, claim);
        match written {
            Ok(true) => commit_or_abandon(connection).map_err(fail),
            Ok(false) => {
                connection.roll_back();
                let held = "SELECT checkpoint FROM exitgap.claim WHERE size = $1";
                let held = connection.ask(held, &[&claim.size.cast_signed()]).map_err(fail)?;
                let held: Option<&str> = held.first().and_then(|row| row.try_get(0).ok());
                if held == Some(&claim.checkpoint) {
                    return self.confirm_claims();
                }
                Err(StoreError::Claimed { size: claim.size })
            }
            Err(fault) => {
                connection.roll_back();
                Err(fail(fault))
            }
        }
    }

    /// Requires that claims have reached the standby, because the process that made them may not have waited for it.
    fn confirm_claims(&self) -> Result<(), StoreError> {
        let fail = |fault| database_error("confirming a claim", fault);
        let connection = self.of_claims().map_err(fail)?;
        connection.batch("BEGIN").map_err(fail)?;
        // A commit waits for all earlier writes, but only if it writes something itself.
        let written = connection.ask("SELECT pg_logical_emit_message(true, 'exitgap', '')", &[]);
        if let Err(fault) = written {
            connection.roll_back();
            return Err(fail(fault));
        }
        commit_or_abandon(connection).map_err(fail)
    }
}

/// Commits. If that fails, only a new connection can find out what happened.
fn commit_or_abandon(connection: &Connection) -> Result<(), Fault> {
    connection.commit().inspect_err(|_| connection.give_up())
}

/// Inserts the claim. Returns whether it is the first for its size.
fn written(connection: &Connection, slot: u32, claim: &Claim) -> Result<bool, Fault> {
    let size = claim.size.cast_signed();
    // Claims of sealed slots are no longer needed.
    for sealed in ["claim_file", "claim"] {
        let sql = format!("DELETE FROM exitgap.{sealed} WHERE size <= (SELECT exitgap.log_size())");
        connection.batch(&sql)?;
    }
    let insert = "INSERT INTO exitgap.claim (size, slot, checkpoint, manifest) VALUES ($1, $2, $3, $4) \
                  ON CONFLICT DO NOTHING RETURNING size";
    let args: [&(dyn tokio_postgres::types::ToSql + Sync); 4] =
        [&size, &i64::from(slot), &claim.checkpoint, &claim.manifest];
    if connection.ask(insert, &args)?.is_empty() {
        return Ok(false);
    }
    for (path, bytes) in &claim.files {
        let insert = "INSERT INTO exitgap.claim_file (size, path, bytes) VALUES ($1, $2, $3)";
        connection.ask(insert, &[&size, path, bytes])?;
    }
    Ok(true)
}
