//! What is about to be signed, written down and committed before it is.
//!
//! A recorder that is cut off between its signature and its commit has signed a checkpoint that nobody may
//! contradict. So the text, and the files of the slot that it is of, are committed first, by a connection of
//! their own: whoever seals next finds them, and seals the same.

use super::connect::{Connection, Fault};
use super::lease::require_clock;
use super::{Postgres, database_error};
use crate::error::StoreError;

/// A slot as it is about to be signed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Claim {
    /// The size of the log with it.
    pub size: u64,
    /// What is to be signed.
    pub checkpoint: String,
    /// The slot's manifest, its checkpoint without a signature.
    pub manifest: Vec<u8>,
    /// The files that it names, by their paths.
    pub files: Vec<(String, Vec<u8>)>,
}

const DOING: &str = "claiming a slot";

impl Postgres {
    /// What was claimed for this size and is not sealed yet.
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

    /// Claims a slot, all of which but its seal is written. Refused where another content of it is claimed
    /// ([`StoreError::Claimed`]).
    pub fn put_claim(&self, slot: u32, claim: &Claim) -> Result<(), StoreError> {
        let fail = |fault| database_error(DOING, fault);
        // What the schema refuses is not claimed: it could never be sealed, and nothing else could be.
        self.settle()?;
        self.holds().map_err(fail)?;
        let connection = self.of_claims().map_err(fail)?;
        // It may have been set since the lease was last renewed.
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

    /// Requires that what is claimed is where a commit has to be: whoever claimed it may not have waited for a standby.
    fn confirm_claims(&self) -> Result<(), StoreError> {
        let fail = |fault| database_error("confirming a claim", fault);
        let connection = self.of_claims().map_err(fail)?;
        connection.batch("BEGIN").map_err(fail)?;
        // A commit waits for all that was written before it, and only if it writes something itself.
        let written = connection.ask("SELECT pg_logical_emit_message(true, 'exitgap', '')", &[]);
        if let Err(fault) = written {
            connection.roll_back();
            return Err(fail(fault));
        }
        commit_or_abandon(connection).map_err(fail)
    }
}

/// Commits; where that fails, what became of it is known to a connection that begins after it only.
fn commit_or_abandon(connection: &Connection) -> Result<(), Fault> {
    connection.commit().inspect_err(|_| connection.give_up())
}

/// Writes the claim, and whether it is the first of its size.
fn written(connection: &Connection, slot: u32, claim: &Claim) -> Result<bool, Fault> {
    let size = claim.size.cast_signed();
    // Those of sealed slots have done what they were for.
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
