//! The database of payments, shared by processes: opening it, and its rows.

mod rows;

use std::path::Path;

use super::Db;
use super::sidecar::{FileKind, SidecarDb, SidecarKind, copied};
use super::statements::Statement;
use crate::error::StoreError;

#[cfg(test)]
pub use rows::{ALL as STATEMENTS, FILES};
pub use rows::{LeaseRow, NewPaymentRow, PaymentRow, SentRow, SettledRow};

/// `EXPY` in a file's header.
pub static KIND: SidecarKind = SidecarKind {
    application_id: 0x4558_5059,
    versions: &[
        include_str!("sql/schema.sql"),
        include_str!("sql/schema_2.sql"),
        include_str!("sql/schema_3.sql"),
    ],
    schema: "exitgap_payments",
    tables: include_str!("sql/server.sql"),
    kept: &["sent"],
    written: Statement {
        doing: "looking for payments",
        sql: "SELECT 1 FROM payment UNION ALL SELECT 1 FROM sent UNION ALL SELECT 1 FROM uncommitted \
              UNION ALL SELECT 1 FROM reservation LIMIT 1",
        table: None,
    },
    // The table of leases is not copied, because any process can take them.
    copied: copied! {
        "payment": "key", "fingerprint", "family", "signed", "payer", "amount", "identifier",
            "\"authorization\"", "valid_before_s", "since_block", "state", "claim", "answer",
            "answer_sha256", "resource_url", "settled_by", "block", "block_hash", "rechecked",
            "claimed_s", "settled_s";
        "sent": "signer", "nonce", "hash", "raw", "max_fee", "tip", "key", "signed_s";
        "reservation": "id", "hash", "fingerprint", "reserved_s";
        "price": "id", "amount", "since_s" => "ON CONFLICT (id) DO UPDATE SET amount = excluded.amount, since_s = excluded.since_s";
        "receipt": "key", "signed";
        "uncommitted": "id", "pool", "receipt_sha256";
    },
};

/// Payments, open for writing.
#[derive(Debug)]
pub struct PaymentsDb(SidecarDb);

impl PaymentsDb {
    /// Opens the database.
    pub fn open(path: &Path) -> Result<Result<Self, FileKind>, StoreError> {
        Ok(SidecarDb::open(path, &KIND)?.map(Self))
    }

    /// The same, but a server is contacted only with the first statement.
    pub fn open_later(path: &Path) -> Result<Result<Self, FileKind>, StoreError> {
        Ok(SidecarDb::open_later(path, &KIND)?.map(Self))
    }

    /// Copies another database into this empty one. Returns the number of rows.
    pub fn copy_from(&mut self, other: &mut Self) -> Result<u64, StoreError> {
        self.0.copy_from(&mut other.0)
    }

    /// Runs `work` in a transaction: all or nothing, and without other writers. The changes are durable when this
    /// returns.
    pub fn write_transaction<T, E: From<StoreError>>(
        &mut self,
        work: impl FnOnce(&WriteTransaction<'_>) -> Result<T, E>,
    ) -> Result<T, E> {
        self.0.write_transaction(|db| work(&WriteTransaction(db)))
    }
}

/// A transaction that writes.
pub struct WriteTransaction<'a>(&'a Db);

/// Creates a database in the form of its first or second version.
#[cfg(test)]
pub fn make_version(path: &Path, version: usize) {
    let connection = rusqlite::Connection::open(path).unwrap();
    for sql in &KIND.versions[..version] {
        connection.execute_batch(sql).unwrap();
    }
}
