//! `PostgreSQL`: one database on a server, used by several machines.
//!
//! - `place`: its URL; `connect`: the connection, and waiting for its answers
//! - `open`: the conditions that the database must meet before its content is used; `migrate`:
//!   creating them
//! - `state`: what a server reports about itself
//! - `lease`: who may write, one at a time; `claims`: what is about to be signed
//! - `shards`: who reads which pools, and the results
//! - `days`: bodies, which are stored by day and removed by day
//! - `dialect`: the statements in the server's syntax; `wire`: values sent and received
//!
//! A slot is many rows. Within a transaction, writes are sent without waiting. Their results are
//! awaited before the next query is answered, and before the commit. So many rows cost only one
//! round trip to the server, invisibly to callers.

mod claims;
mod connect;
pub mod days;
mod dialect;
mod lease;
pub mod migrate;
mod open;
pub mod place;
pub mod shards;
pub mod state;
mod wire;

use std::cell::{Cell, OnceCell, RefCell};
use std::collections::{HashMap, VecDeque};
use std::future::Future;
use std::path::Path;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use super::arg::{Args, Value};
use super::row::Row;
use super::statements::Statement;
use super::{DatabaseError, Values};
use crate::error::StoreError;
use connect::Connection;
use dialect::number_placeholders;
use lease::Lease;
use place::Place;

pub use claims::Claim;
pub use connect::Fault;
pub use tokio_postgres::Row as PgRow;
pub use wire::column_value;

/// The size of the database.
pub static SELECT_BYTES: Statement = Statement {
    doing: "weighing the database",
    sql: include_str!("sql/select_bytes.sql"),
    table: None,
};

/// The maximum number of writes that are sent but not yet answered.
const MAX_PENDING: usize = 512;

/// A server's database, open for reading or for writing.
pub struct Postgres {
    /// All servers that its URL names.
    all: Place,
    /// The server that the connection uses.
    place: Place,
    connection: Connection,
    prepared: RefCell<HashMap<usize, Arc<PreparedStatement>>>,
    /// Writes of the current transaction that are sent but not yet answered, in order.
    pending: RefCell<VecDeque<PendingWrite>>,
    state: Cell<State>,
    /// The day whose partition is known to exist.
    room: Cell<Option<u32>>,
    /// The lease of a writer.
    lease: Option<Lease>,
    /// The connection that commits claims while the slot's own transaction is open; opened when it is first needed.
    claims: OnceCell<Connection>,
}

/// Whether there is a transaction, and its state.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    /// No transaction: each statement is its own.
    Single,
    /// One is begun.
    Begun,
    /// The transaction has failed. The server would silently treat a commit as a rollback.
    Failed,
}

struct PreparedStatement {
    statement: tokio_postgres::Statement,
    names: Vec<&'static str>,
}

struct PendingWrite {
    statement: &'static Statement,
    answer: Pin<Box<dyn Future<Output = Result<u64, tokio_postgres::Error>> + Send>>,
}

/// A transaction, rolled back when dropped.
pub struct Transaction<'a>(&'a Postgres);

impl Transaction<'_> {
    /// Waits for the results of all writes. An error is certain to leave nothing written.
    pub fn settle(&self) -> Result<(), StoreError> {
        self.0.settle()
    }

    /// Commits settled writes. When this returns they are on the server's disk, and on a standby's if the server waits
    /// for one.
    pub fn commit(self) -> Result<(), DatabaseError> {
        let db = self.0;
        // Settle first, so that a failed write is never treated as committed.
        if db.settle().is_err() || db.state.get() == State::Failed {
            return Err(Fault::Aborted.into());
        }
        db.state.set(State::Single);
        db.connection.commit().map_err(|fault| {
            // Only a new connection can find out what happened.
            db.connection.give_up();
            fault.into()
        })
    }
}

impl Drop for Transaction<'_> {
    fn drop(&mut self) {
        let db = self.0;
        if db.state.get() != State::Single {
            db.pending.borrow_mut().clear();
            db.state.set(State::Single);
            db.connection.roll_back();
        }
    }
}

impl Postgres {
    fn new(all: Place, place: Place, connection: Connection) -> Self {
        Self {
            all,
            place,
            connection,
            prepared: RefCell::default(),
            pending: RefCell::default(),
            state: Cell::new(State::Single),
            room: Cell::new(None),
            lease: None,
            claims: OnceCell::new(),
        }
    }

    /// Its URL, without a password.
    pub fn shown(&self) -> &Path {
        &self.place.shown
    }

    /// Makes the connection unusable.
    pub fn give_up(&self) {
        self.connection.give_up();
    }

    /// Whether the connection works and, for a writer, the lease is held.
    pub fn is_open(&self) -> bool {
        self.connection.is_open()
            && self.claims.get().is_none_or(Connection::is_open)
            && self.lease.as_ref().is_none_or(|lease| !lease.is_lost())
    }

    /// The connection for claims, which acts as the writer.
    fn of_claims(&self) -> Result<&Connection, Fault> {
        if let Some(connection) = self.claims.get() {
            return Ok(connection);
        }
        let connection = Connection::to(&self.place)?;
        if let Some(lease) = &self.lease {
            lease.tell(&connection)?;
        }
        Ok(self.claims.get_or_init(|| connection))
    }

    /// Begins a write transaction.
    pub fn begin(&self, doing: &'static str) -> Result<Transaction<'_>, StoreError> {
        self.start("BEGIN ISOLATION LEVEL READ COMMITTED", doing)
    }

    /// Holds the current state for reading.
    pub fn view(&self, doing: &'static str) -> Result<Transaction<'_>, StoreError> {
        self.start("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY", doing)
    }

    /// Requires that a writer holds the lease, as far as it knows.
    fn holds(&self) -> Result<(), Fault> {
        let lost = self.lease.as_ref().is_some_and(Lease::is_lost);
        if lost { Err(Fault::NoLease) } else { Ok(()) }
    }

    fn start(&self, sql: &'static str, doing: &'static str) -> Result<Transaction<'_>, StoreError> {
        self.holds().map_err(|fault| database_error(doing, fault))?;
        self.connection.batch(sql).map_err(|fault| database_error(doing, fault))?;
        self.state.set(State::Begun);
        Ok(Transaction(self))
    }

    /// Calls a function with every row found, up to `most`.
    pub fn each(
        &self,
        statement: &'static Statement,
        args: &Args,
        most: usize,
        mut show: impl FnMut(Row) -> Result<(), StoreError>,
    ) -> Result<(), StoreError> {
        let found = self.prepare(statement).and_then(|prepared| {
            let args = in_order(&prepared, args);
            self.connection.query(&prepared.statement, &args)
        });
        let rows = found.map_err(|fault| self.first_failed(statement, fault))?;
        self.settle()?;
        rows.iter().take(most).try_for_each(|row| show(Row::Postgres(row)))
    }

    /// Executes a write, and returns the number of rows.
    pub fn execute(&self, statement: &'static Statement, args: &Args) -> Result<usize, StoreError> {
        let written = self.prepare(statement).and_then(|prepared| {
            let args = in_order(&prepared, args);
            self.connection.execute(prepared.statement.clone(), args)
        });
        let rows = written.map_err(|fault| self.first_failed(statement, fault))?;
        self.settle()?;
        Ok(usize::try_from(rows).unwrap_or(usize::MAX))
    }

    /// Executes a write. In a transaction it does not wait for the result.
    pub fn execute_pipelined(
        &self,
        statement: &'static Statement,
        args: &Args,
    ) -> Result<(), StoreError> {
        let prepared =
            self.prepare(statement).map_err(|fault| self.first_failed(statement, fault))?;
        let args = in_order(&prepared, args);
        self.send(statement, &prepared, args)
    }

    /// Writes a whole row, by position, like [`Postgres::execute_pipelined`].
    pub fn put(&self, statement: &'static Statement, values: &Values) -> Result<(), StoreError> {
        let prepared =
            self.prepare(statement).map_err(|fault| self.first_failed(statement, fault))?;
        self.send(statement, &prepared, values.args().map(Value::from).collect())
    }

    fn send(
        &self,
        statement: &'static Statement,
        prepared: &PreparedStatement,
        args: Vec<Value>,
    ) -> Result<(), StoreError> {
        let mut answer = self.connection.execute_async(prepared.statement.clone(), args);
        if self.state.get() == State::Single {
            let written = self.connection.wait(answer);
            return written.map(|_| ()).map_err(|fault| database_error(statement.doing, fault));
        }
        // Polling once sends it.
        match answer.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(Ok(_)) => return Ok(()),
            Poll::Ready(Err(error)) => return Err(self.first_failed(statement, error.into())),
            Poll::Pending => {}
        }
        let mut pending = self.pending.borrow_mut();
        pending.push_back(PendingWrite { statement, answer });
        let full = pending.len() >= MAX_PENDING;
        drop(pending);
        if full { self.settle() } else { Ok(()) }
    }

    /// Waits for the results of everything that was sent, and returns the first error, if any.
    pub fn settle(&self) -> Result<(), StoreError> {
        loop {
            let Some(PendingWrite { statement, answer }) = self.pending.borrow_mut().pop_front()
            else {
                return Ok(());
            };
            if let Err(fault) = self.connection.wait(answer) {
                self.pending.borrow_mut().clear();
                self.state.set(State::Failed);
                return Err(database_error(statement.doing, fault));
            }
        }
    }

    /// The first failure: of this statement, or of one sent before.
    fn first_failed(&self, statement: &'static Statement, fault: Fault) -> StoreError {
        if let Err(earlier) = self.settle() {
            return earlier;
        }
        if self.state.get() == State::Begun {
            self.state.set(State::Failed);
        }
        database_error(statement.doing, fault)
    }

    /// The prepared statement. It is parsed once per connection.
    fn prepare(&self, statement: &'static Statement) -> Result<Arc<PreparedStatement>, Fault> {
        // Its address in the program, which is unique.
        let name = statement.sql.as_ptr().addr();
        if let Some(prepared) = self.prepared.borrow().get(&name) {
            return Ok(prepared.clone());
        }
        let numbered = number_placeholders(statement.sql);
        let made = self.connection.prepare(&numbered.sql)?;
        let prepared = Arc::new(PreparedStatement { statement: made, names: numbered.names });
        self.prepared.borrow_mut().insert(name, prepared.clone());
        Ok(prepared)
    }
}

impl Drop for Postgres {
    fn drop(&mut self) {
        if let Some(lease) = self.lease.take() {
            lease.give_back(&self.connection);
        }
    }
}

impl std::fmt::Debug for Postgres {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Postgres").field("place", &self.place.shown).finish_non_exhaustive()
    }
}

/// A statement's parameters in the order of their numbers.
fn in_order(prepared: &PreparedStatement, args: &Args) -> Vec<Value> {
    let of_name = |name: &&'static str| {
        let arg = args.iter().find(|(given, _)| given == name);
        arg.map_or(Value::Null, |(_, arg)| Value::from(*arg))
    };
    debug_assert_eq!(prepared.names.len(), args.len());
    prepared.names.iter().map(of_name).collect()
}

fn database_error(doing: &'static str, fault: Fault) -> StoreError {
    StoreError::Database { doing, source: fault.into() }
}

#[cfg(test)]
mod tests {
    use super::super::statements::every_statement_is_used;
    use super::*;

    #[test]
    fn every_file_of_statements_is_used() {
        let batches = [
            include_str!("sql/connection.sql"),
            include_str!("sql/grants.sql"),
            include_str!("sql/select_server.sql"),
            open::SELECT_SCHEMA,
            SELECT_BYTES.sql,
        ];
        assert!(days::ALL.iter().all(|statement| !statement.doing.is_empty()));
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/src/db/postgres/sql");
        every_statement_is_used(Path::new(folder), days::FILES, &batches);
    }
}
