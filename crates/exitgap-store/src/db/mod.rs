//! The database layer: all code that knows which database is used.
//!
//! The rest of the crate works with typed rows (`tables/`), and never sees a statement, a
//! connection or an error of the database. In this folder, `tables/` knows statements and columns,
//! by name, and everything next to it is the same for both databases: `SQLite`, one file
//! (`sqlite/`), and `PostgreSQL`, a server used by several machines (`postgres/`). Each knows how
//! to open, bind, step and commit; both run the same statements (`sql/`).
//!
//! No decisions are made here. Whether a row is valid is checked where rows are read (`rows.rs`).
//! Invalid writes are rejected by the schema of either database (`schema.sql`), whoever the caller
//! is.

pub mod alerts;
mod arg;
mod error;
pub mod payments;
mod postgres;
pub mod proofs;
mod row;
mod shards;
pub mod sidecar;
mod sqlite;
mod statements;
mod tables;
mod values;
pub mod witness;

use std::path::{Path, PathBuf};

use exitgap_core::series::Slot;

pub use error::DatabaseError;
pub use postgres::Claim;
pub use postgres::days::DayRemoval;
pub use postgres::migrate::{MigrationReport, migrate};
pub use postgres::place::{is_server, shown};
pub use postgres::shards::{Attendant, HeldShard, Put};
pub use postgres::state::ServerState;
pub use shards::attendant;
pub use sqlite::{AFTER_PAGES, FIRST_MIGRATED, PagesChecked, check_pages};
pub use tables::{
    BodyDay, BodyRow, CosignedRow, Counts, EntryRow, FiguresRow, FillsRow, HeadRow, IssuedRow,
    LeftRow, NewBodyRow, NewFillsRow, NextNumbers, PoolRow, SealedBodyRow, SealedSlotRow,
};
pub use values::Values;

use arg::Args;
use postgres::Postgres;
use row::Row;
use sqlite::Sqlite;
use statements::Statement;

use crate::error::StoreError;

/// A store's database, open for reading or for writing.
#[derive(Debug)]
pub enum Db {
    /// A file.
    Sqlite(Sqlite),
    /// A server's.
    Postgres(Box<Postgres>),
}

/// Several statements that are committed together or not at all. Dropping it without a commit rolls back.
pub enum Transaction<'a> {
    /// In a file.
    Sqlite(rusqlite::Transaction<'a>),
    /// On a server.
    Postgres(postgres::Transaction<'a>),
}

impl Transaction<'_> {
    /// Waits until all writes are done except the commit. An error is certain to leave nothing written.
    pub fn settle(&self) -> Result<(), StoreError> {
        match self {
            Self::Sqlite(_) => Ok(()),
            Self::Postgres(transaction) => transaction.settle(),
        }
    }

    /// Commits settled writes. They are durable when this returns.
    pub fn commit(self) -> Result<(), DatabaseError> {
        match self {
            Self::Sqlite(transaction) => transaction.commit().map_err(DatabaseError::engine),
            Self::Postgres(transaction) => transaction.commit(),
        }
    }
}

/// A consistent state of the database for all reads while it is held.
pub enum View<'a> {
    /// Of a file.
    Sqlite { _transaction: rusqlite::Transaction<'a> },
    /// Of a server's.
    Postgres { _transaction: postgres::Transaction<'a> },
}

impl Db {
    /// Opens an existing store for reading only.
    pub fn open_reader(path: &Path) -> Result<Self, StoreError> {
        if is_server(path) {
            return Postgres::open_reader(path).map(|db| Self::Postgres(Box::new(db)));
        }
        Sqlite::open_reader(path).map(Self::Sqlite)
    }

    /// Opens an existing store for writing. For a file the caller holds the lock; for a server the lock is taken here.
    pub fn open_writer(path: &Path) -> Result<Self, StoreError> {
        if is_server(path) {
            return Postgres::open_writer(path).map(|db| Self::Postgres(Box::new(db)));
        }
        Sqlite::open_writer(path).map(Self::Sqlite)
    }

    /// Creates a store where there is no file, or an empty database left by an interrupted creation; on a server, where
    /// nothing was recorded yet. The locks are as for a writer.
    pub fn create(path: &Path) -> Result<Self, StoreError> {
        if is_server(path) {
            return Postgres::create(path).map(|db| Self::Postgres(Box::new(db)));
        }
        Sqlite::create(path).map(Self::Sqlite)
    }

    /// Another reader of the same database. If a URL names several servers, it uses the same one.
    pub fn again(&self) -> Result<Self, StoreError> {
        match self {
            Self::Sqlite(db) => Self::open_reader(&db.path()),
            Self::Postgres(db) => db.again().map(|db| Self::Postgres(Box::new(db))),
        }
    }

    /// Reopens it for writing after the connection was lost; `None` for a file, whose connection is never lost.
    pub fn writer_again(&self) -> Result<Option<Self>, StoreError> {
        match self {
            Self::Sqlite(_) => Ok(None),
            Self::Postgres(db) => Ok(Some(Self::Postgres(Box::new(db.writer_again()?)))),
        }
    }

    /// The claim for a log of this size that is not sealed yet. Files have no claims, because only one process on one
    /// machine writes them.
    pub fn claim(&self, size: u64) -> Result<Option<Claim>, StoreError> {
        match self {
            Self::Sqlite(_) => Ok(None),
            Self::Postgres(db) => db.claim(size),
        }
    }

    /// Claims a slot that `make` describes, if the database uses claims. It is committed when this returns.
    pub fn put_claim(
        &self,
        slot: Slot,
        make: impl FnOnce() -> Result<Claim, StoreError>,
    ) -> Result<(), StoreError> {
        match self {
            Self::Sqlite(_) => Ok(()),
            Self::Postgres(db) => db.put_claim(slot.number(), &make()?),
        }
    }

    /// Waits until all writes so far are done except the commit. Any error is certain.
    pub fn settle(&self) -> Result<(), StoreError> {
        match self {
            Self::Sqlite(_) => Ok(()),
            Self::Postgres(db) => db.settle(),
        }
    }

    /// The maximum number of slots in a transaction. On a server no transaction may take as long as a lease.
    pub fn slots_at_once(&self) -> usize {
        match self {
            Self::Sqlite(_) => usize::MAX,
            Self::Postgres(_) => 50,
        }
    }

    /// Whether it can still be used. A lost connection cannot.
    pub fn is_open(&self) -> bool {
        match self {
            Self::Sqlite(_) => true,
            Self::Postgres(db) => db.is_open(),
        }
    }

    /// Begins a write transaction, with no other writers.
    pub fn begin(&self, doing: &'static str) -> Result<Transaction<'_>, StoreError> {
        match self {
            Self::Sqlite(db) => db.begin(doing).map(Transaction::Sqlite),
            Self::Postgres(db) => db.begin(doing).map(Transaction::Postgres),
        }
    }

    /// Holds the current state for reading.
    pub fn view(&self, doing: &'static str) -> Result<View<'_>, StoreError> {
        Ok(match self {
            Self::Sqlite(db) => View::Sqlite { _transaction: db.view(doing)? },
            Self::Postgres(db) => View::Postgres { _transaction: db.view(doing)? },
        })
    }

    /// Closes the database, and reports errors that dropping it would hide.
    pub fn close(self, doing: &'static str) -> Result<(), StoreError> {
        match self {
            Self::Sqlite(db) => db.close(doing),
            // Committed data is durable, and nothing else is needed.
            Self::Postgres(_) => Ok(()),
        }
    }

    /// Calls a function with every row found.
    fn each(
        &self,
        statement: &'static Statement,
        args: &Args,
        show: impl FnMut(Row) -> Result<(), StoreError>,
    ) -> Result<(), StoreError> {
        match self {
            Self::Sqlite(db) => db.each(statement, args, usize::MAX, show),
            Self::Postgres(db) => db.each(statement, args, usize::MAX, show),
        }
    }

    /// Maps every row that the statement finds. Rows are not kept.
    fn rows<R, T>(
        &self,
        statement: &'static Statement,
        args: &Args,
        read: impl Fn(Row) -> Result<R, DatabaseError>,
        mut make: impl FnMut(R) -> Result<T, StoreError>,
    ) -> Result<Vec<T>, StoreError> {
        let mut made = Vec::new();
        self.each(statement, args, |row| {
            made.push(make(read(row).map_err(|error| statement.store_error(error))?)?);
            Ok(())
        })?;
        Ok(made)
    }

    /// The first row that the statement finds.
    fn row<T>(
        &self,
        statement: &'static Statement,
        args: &Args,
        read: impl FnOnce(Row) -> Result<T, DatabaseError>,
    ) -> Result<Option<T>, StoreError> {
        let (mut read, mut found) = (Some(read), None);
        let show = |row: Row| {
            let first = read.take().map(|read| read(row)).transpose();
            found = first.map_err(|error| statement.store_error(error))?;
            Ok(())
        };
        match self {
            Self::Sqlite(db) => db.each(statement, args, 1, show)?,
            Self::Postgres(db) => db.each(statement, args, 1, show)?,
        }
        Ok(found)
    }

    /// The row of a statement that always finds one, such as a count or the number of a new row.
    fn require_row<T>(
        &self,
        statement: &'static Statement,
        args: &Args,
        read: impl FnOnce(Row) -> Result<T, DatabaseError>,
    ) -> Result<T, StoreError> {
        let found = self.row(statement, args, read)?;
        found.ok_or_else(|| statement.store_error(DatabaseError::no_row()))
    }

    /// Executes a write, and returns the number of rows.
    fn execute(&self, statement: &'static Statement, args: &Args) -> Result<usize, StoreError> {
        match self {
            Self::Sqlite(db) => db.execute(statement, args),
            Self::Postgres(db) => db.execute(statement, args),
        }
    }

    /// Executes a write. In a transaction an error may be reported only by a later operation, at the latest by the
    /// commit, because the code does not wait for a server between rows.
    fn execute_pipelined(
        &self,
        statement: &'static Statement,
        args: &Args,
    ) -> Result<(), StoreError> {
        match self {
            Self::Sqlite(db) => db.execute(statement, args).map(|_| ()),
            Self::Postgres(db) => db.execute_pipelined(statement, args),
        }
    }

    /// Writes a whole row, by position, like [`Db::execute_pipelined`].
    fn put(&self, statement: &'static Statement, values: &Values) -> Result<(), StoreError> {
        match self {
            Self::Sqlite(db) => db.put(statement, values),
            Self::Postgres(db) => db.put(statement, values),
        }
    }
}

/// The differences between a file and a server's database, other than how statements run.
impl Db {
    /// The path or URL with which it was opened, without a password.
    pub fn path(&self) -> PathBuf {
        match self {
            Self::Sqlite(db) => db.path(),
            Self::Postgres(db) => db.shown().to_owned(),
        }
    }

    /// A server's state; `None` for a file.
    pub fn server(&self) -> Result<Option<ServerState>, StoreError> {
        match self {
            Self::Sqlite(_) => Ok(None),
            Self::Postgres(db) => db.server().map(Some),
        }
    }

    /// Its size in bytes.
    pub fn bytes(&self, doing: &'static str) -> Result<u64, StoreError> {
        match self {
            Self::Sqlite(db) => db.bytes(doing),
            Self::Postgres(_) => self.require_row(&postgres::SELECT_BYTES, &[], |row| row.at(0)),
        }
    }

    /// Limits a file's growth to this many pages, or removes the limit.
    pub fn limit_growth(&self, pages: Option<u32>) -> Result<(), StoreError> {
        match self {
            Self::Sqlite(db) => db.limit_growth(pages),
            Self::Postgres(_) => Err(only_of_a_file("limiting the database's growth")),
        }
    }

    /// The first damage that the database finds in its own pages and indices, if any. A server must be checked with its
    /// own tools, such as `pg_amcheck`.
    pub fn page_damage(&self) -> Result<Option<String>, StoreError> {
        match self {
            Self::Sqlite(db) => db.page_damage(),
            Self::Postgres(_) => Ok(None),
        }
    }

    /// Copies the current state of the file to `path`, and opens the copy.
    pub fn copy_to(&self, path: &Path, doing: &'static str) -> Result<Self, StoreError> {
        match self {
            Self::Sqlite(db) => db.copy_to(path, doing).map(Self::Sqlite),
            Self::Postgres(_) => Err(StoreError::BackupOfServer { path: self.path() }),
        }
    }

    /// Checkpoints a file's write-ahead log if it has at least `pages` pages. Call it after a commit: an error means
    /// that the commit holds but the disk has a problem.
    pub fn fold_after_commit(&self, pages: u32) -> Result<(), StoreError> {
        match self {
            Self::Sqlite(db) => db.fold_after_commit(pages),
            Self::Postgres(_) => Ok(()),
        }
    }

    /// Checkpoints everything that no reader still needs.
    pub fn fold(&self) -> Result<(), StoreError> {
        match self {
            Self::Sqlite(db) => db.fold(),
            Self::Postgres(_) => Ok(()),
        }
    }
}

impl Statement {
    /// Converts an error of running it, or of reading a row.
    fn store_error(&self, source: DatabaseError) -> StoreError {
        if let Some(table) = source.joined_table() {
            return StoreError::CorruptRow { table, found: source.to_string() };
        }
        match self.table {
            Some(table) if source.is_of_a_column() => {
                StoreError::CorruptRow { table, found: source.to_string() }
            }
            _ => StoreError::Database { doing: self.doing, source },
        }
    }
}

fn only_of_a_file(doing: &'static str) -> StoreError {
    StoreError::Database { doing, source: DatabaseError::only_of_a_file() }
}

#[cfg(test)]
impl Db {
    /// An in-memory database with the store's tables but without their constraints, so rows can be written in any
    /// order.
    pub fn without_rules() -> Self {
        Self::Sqlite(Sqlite::without_rules())
    }
}

#[cfg(test)]
mod tests {
    use exitgap_core::units::{Percent, UsdMicros};

    use super::*;
    use crate::derived::figures::{Gap, NoGap};

    static COLUMNS: Statement = Statement {
        doing: "asking",
        sql: "SELECT NULL AS no, -1 AS less, 'i' AS code, x'0102' AS bytes, 1.5 AS part, x'ff' AS raw, \
              4611686018427387904 AS refused, 4611686018427387907 AS other",
        table: None,
    };
    static OF_A_TABLE: Statement =
        Statement { doing: "asking", sql: "SELECT 'x' AS gap", table: Some("figures") };

    #[test]
    fn a_column_that_holds_something_else_is_named_with_it() {
        let db = Db::without_rules();
        let refused = |found: Result<(), StoreError>| match found {
            Err(error @ StoreError::Database { .. }) => error.to_string(),
            other => panic!("{other:?}"),
        };
        let one = |read: fn(Row) -> Result<(), DatabaseError>| {
            refused(db.require_row(&COLUMNS, &[], read))
        };
        for (message, found) in [
            ("nothing in column no", one(|row| row.get::<i64>("no").map(|_| ()))),
            ("the number -1 in column less", one(|row| row.get::<Slot>("less").map(|_| ()))),
            ("the number -1 in column less", one(|row| row.at::<u64>(1).map(|_| ()))),
            ("the text \"i\" in column code", one(|row| row.get::<u32>("code").map(|_| ()))),
            (
                "a blob of 2 bytes in column bytes",
                one(|row| row.get::<[u8; 32]>("bytes").map(|_| ())),
            ),
            ("a fraction in column part", one(|row| row.from(4).next::<Gap>().map(|_| ()))),
            (
                "the number 4611686018427387907 in column other",
                one(|row| row.get::<Gap>("other").map(|_| ())),
            ),
            ("a blob of 1 bytes in column raw", one(|row| row.get::<String>("raw").map(|_| ()))),
        ] {
            assert_eq!(found, format!("asking: {message}"));
        }
        assert_eq!(
            db.require_row(&COLUMNS, &[], |row| row.get::<Option<i64>>("no")).unwrap(),
            None
        );
        let refusal = Gap::Refused(NoGap::NoInput);
        assert_eq!(
            db.require_row(&COLUMNS, &[], |row| row.get::<Gap>("refused")).unwrap(),
            refusal
        );
        let error = db.require_row(&OF_A_TABLE, &[], |row| row.get::<Gap>("gap")).unwrap_err();
        assert!(matches!(error, StoreError::CorruptRow { table: "figures", .. }), "{error}");
        // A column that a statement does not have is a bug, not damage of the file.
        let error = db.require_row(&OF_A_TABLE, &[], |row| row.get::<Gap>("gaps")).unwrap_err();
        assert!(matches!(error, StoreError::Database { .. }), "{error}");
    }

    #[test]
    fn a_row_that_is_written_is_found_as_it_is_and_chained_alike() {
        let db = Db::without_rules();
        let slot = Slot::FIRST;
        let mut values = Values::with_keys([1, slot.number().into()]);
        values.add(Some(false));
        for gap in [
            Gap::Filled(Percent(-7)),
            Gap::Refused(NoGap::BeyondLiquidity(UsdMicros(9))),
            Gap::Refused(NoGap::NoOutput),
            Gap::Refused(NoGap::GapOutOfRange),
        ] {
            values.gap(Some(gap));
        }
        for _ in 0..8 {
            values.percent(None);
        }
        values.add(Some(3_i64));
        values.dollars(Some(5));
        for _ in 0..3 {
            values.add(None::<i64>);
        }
        let number = i64::from(slot.number());
        assert!(!db.figures_are(1, slot, &values).unwrap());
        db.put_figures(&values).unwrap();
        assert!(db.figures_are(1, slot, &values).unwrap());
        assert_eq!(db.figures_chain(1, number, number).unwrap(), values.chain_hash([0; 32]));
        for other in ["NULL", "4611686018427387904", "-8"] {
            let tamper = format!("UPDATE figures SET gap0_1k = {other}");
            let Db::Sqlite(file) = &db else { panic!("{db:?}") };
            file.tamper(&tamper);
            assert!(!db.figures_are(1, slot, &values).unwrap(), "{other}");
            assert_ne!(db.figures_chain(1, number, number).unwrap(), values.chain_hash([0; 32]));
        }
        assert!(db.standing_is(1, None).unwrap());
    }

    /// The server's tables are defined separately in its own dialect, so a column could be missing in one of them.
    #[test]
    fn both_databases_have_the_same_tables_and_columns() {
        let Db::Sqlite(file) = Db::without_rules() else { panic!("a file") };
        let described = include_str!("postgres/sql/schema.txt");
        let mut there: Vec<(String, String, bool)> = described
            .lines()
            .filter_map(|line| line.strip_prefix("column ")?.split_once('.'))
            .map(|(table, rest)| {
                let (column, rest) = rest.split_once(' ').unwrap();
                (table.to_owned(), column.to_owned(), rest.contains("not null"))
            })
            .filter(|(table, ..)| {
                let of_servers = [
                    "attending",
                    "claim",
                    "claim_file",
                    "frozen",
                    "left_body",
                    "left_day",
                    "reading",
                    "schema_version",
                    "sealer",
                    "shard",
                ];
                table != "body_N" && !of_servers.contains(&table.as_str())
            })
            .collect();
        there.sort();
        assert_eq!(file.columns(), there);
    }

    #[test]
    fn what_is_not_committed_is_not_there() {
        let db = Db::without_rules();
        for (commits, nodes) in [(false, 0), (true, 1)] {
            let transaction = db.begin("writing").unwrap();
            db.insert_log_node(0, 0, &[7; 32]).unwrap();
            if commits {
                transaction.commit().unwrap();
            } else {
                drop(transaction);
            }
            let found = db.series_counts(&["log_node"]).unwrap();
            assert_eq!(found.rows, [nodes]);
        }
    }
}
