//! The database behind a seam: everything that knows which one it is.
//!
//! The rest of the crate asks for typed rows (`tables/`) and gives typed rows, and never sees a
//! statement, a connection or an error of the database. In here, `tables/` knows statements and
//! columns, by name, and what stands beside it alone knows `SQLite`: another database would be
//! another way to open, to bind, to step and to commit.
//!
//! Nothing is decided here. That a row makes sense is asked where rows are read from (`rows.rs`);
//! what is written is refused by the schema (`sql/schema.sql`), whoever asks for it.

pub mod alerts;
pub mod apart;
mod arg;
mod copy;
mod error;
mod file;
mod fold;
mod open;
pub mod payments;
pub mod proofs;
mod row;
mod statements;
mod tables;
mod values;
pub mod witness;

pub use error::DatabaseError;
pub use fold::AFTER_PAGES;
pub use tables::{
    BodyRow, CosignedRow, Counts, EntryRow, FiguresRow, FillsRow, HeadRow, IssuedRow, NewBodyRow,
    NewFillsRow, PoolRow, SealedBodyRow, SealedSlotRow,
};
pub use values::Values;

use arg::Args;
use row::Row;
use rusqlite::{CachedStatement, Connection, TransactionBehavior, params_from_iter};
use statements::Statement;

use crate::error::StoreError;

/// A store's database, open for reading or for writing.
#[derive(Debug)]
pub struct Db {
    connection: Connection,
}

/// Several statements that are written together or not at all: dropped uncommitted, not at all.
pub struct Transaction<'a>(rusqlite::Transaction<'a>);

impl Transaction<'_> {
    /// Commits: all of it is on the disk when this returns.
    pub fn commit(self) -> Result<(), DatabaseError> {
        self.0.commit().map_err(DatabaseError::engine)
    }
}

/// One state of the database for all that is read while it is held.
pub struct View<'a> {
    _transaction: rusqlite::Transaction<'a>,
}

impl Db {
    /// Begins to write, while nobody else does.
    pub fn begin(&self, doing: &'static str) -> Result<Transaction<'_>, StoreError> {
        let behavior = TransactionBehavior::Immediate;
        let transaction = rusqlite::Transaction::new_unchecked(&self.connection, behavior);
        transaction.map(Transaction).map_err(|error| failed(doing, error))
    }

    /// Holds on to the database as it is.
    pub fn view(&self, doing: &'static str) -> Result<View<'_>, StoreError> {
        let transaction = self.connection.unchecked_transaction();
        transaction
            .map(|transaction| View { _transaction: transaction })
            .map_err(|error| failed(doing, error))
    }

    /// Closes the database, and says what dropping it would keep to itself.
    pub fn close(self, doing: &'static str) -> Result<(), StoreError> {
        self.connection.close().map_err(|(_, error)| failed(doing, error))
    }

    /// The statement, ready to be run several times. It is parsed once for a connection.
    fn prepare(&self, statement: &'static Statement) -> Result<Prepared<'_>, StoreError> {
        let prepared = self.connection.prepare_cached(statement.sql);
        let prepared = prepared.map_err(|error| failed(statement.doing, error))?;
        Ok(Prepared { statement, prepared })
    }

    /// What `make` makes of every row that the statement finds, one after the other: none is kept.
    fn rows<R, T>(
        &self,
        statement: &'static Statement,
        args: &Args,
        read: impl Fn(Row) -> Result<R, DatabaseError>,
        mut make: impl FnMut(R) -> Result<T, StoreError>,
    ) -> Result<Vec<T>, StoreError> {
        let mut made = Vec::new();
        self.prepare(statement)?.each(args, |row| {
            made.push(make(read(row).map_err(|error| statement.failed(error))?)?);
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
        self.prepare(statement)?.row(args, read)
    }

    /// The one row of a statement that always finds one: a count, or the number of a new row.
    fn one<T>(
        &self,
        statement: &'static Statement,
        args: &Args,
        read: impl FnOnce(Row) -> Result<T, DatabaseError>,
    ) -> Result<T, StoreError> {
        let found = self.prepare(statement)?.row(args, read)?;
        found.ok_or_else(|| failed(statement.doing, rusqlite::Error::QueryReturnedNoRows))
    }

    /// Writes, and tells how many rows.
    fn execute(&self, statement: &'static Statement, args: &Args) -> Result<usize, StoreError> {
        self.prepare(statement)?.execute(args)
    }

    /// Writes a whole row, by place.
    fn put(&self, statement: &'static Statement, values: &Values) -> Result<(), StoreError> {
        let mut prepared = self.prepare(statement)?;
        let written = prepared.prepared.execute(params_from_iter(values.args()));
        written.map(|_| ()).map_err(|error| failed(statement.doing, error))
    }
}

/// A statement that is ready to be run.
struct Prepared<'a> {
    statement: &'static Statement,
    prepared: CachedStatement<'a>,
}

impl Prepared<'_> {
    /// Shows every row that is found, one after the other.
    fn each(
        &mut self,
        args: &Args,
        mut show: impl FnMut(Row) -> Result<(), StoreError>,
    ) -> Result<(), StoreError> {
        let Self { statement, prepared } = self;
        debug_assert_eq!(prepared.parameter_count(), args.len(), "{}", statement.doing);
        let mut rows = prepared.query(args).map_err(|error| failed(statement.doing, error))?;
        while let Some(row) = rows.next().map_err(|error| failed(statement.doing, error))? {
            show(Row::of(row))?;
        }
        Ok(())
    }

    fn row<T>(
        &mut self,
        args: &Args,
        read: impl FnOnce(Row) -> Result<T, DatabaseError>,
    ) -> Result<Option<T>, StoreError> {
        let Self { statement, prepared } = self;
        debug_assert_eq!(prepared.parameter_count(), args.len(), "{}", statement.doing);
        let mut rows = prepared.query(args).map_err(|error| failed(statement.doing, error))?;
        let row = rows.next().map_err(|error| failed(statement.doing, error))?;
        let read = row.map(|row| read(Row::of(row)));
        read.transpose().map_err(|error| statement.failed(error))
    }

    fn execute(&mut self, args: &Args) -> Result<usize, StoreError> {
        let Self { statement, prepared } = self;
        debug_assert_eq!(prepared.parameter_count(), args.len(), "{}", statement.doing);
        prepared.execute(args).map_err(|error| failed(statement.doing, error))
    }
}

impl Statement {
    /// What came of running it, or of reading a row that it found.
    fn failed(&self, source: DatabaseError) -> StoreError {
        match self.table {
            Some(table) if source.is_of_a_column() => {
                StoreError::CorruptRow { table, found: source.to_string() }
            }
            _ => StoreError::Database { doing: self.doing, source },
        }
    }
}

fn failed(doing: &'static str, error: rusqlite::Error) -> StoreError {
    StoreError::Database { doing, source: DatabaseError::engine(error) }
}

#[cfg(test)]
impl Db {
    /// A database in memory with the store's tables and none of their rules: rows can be written in
    /// any order.
    pub fn without_rules() -> Self {
        let connection = Connection::open_in_memory().unwrap();
        connection.execute_batch(statements::SCHEMA).unwrap();
        let mut triggers =
            connection.prepare("SELECT name FROM sqlite_schema WHERE type = 'trigger'").unwrap();
        let names = triggers.query_map((), |row| row.get(0)).unwrap();
        let names = names.collect::<Result<Vec<String>, _>>().unwrap();
        drop(triggers);
        for name in names {
            connection.execute_batch(&format!("DROP TRIGGER {name}")).unwrap();
        }
        Self { connection }
    }
}

#[cfg(test)]
mod tests {
    use exitgap_core::series::Slot;
    use exitgap_core::units::{Percent, UsdMicros};

    use super::*;
    use crate::derived::figures::{Gap, NoGap};

    static COLUMNS: Statement = Statement {
        doing: "asking",
        sql: "SELECT NULL AS no, -1 AS less, 'i' AS code, x'0102' AS bytes, 1.5 AS part, x'ff' AS raw",
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
        let one = |read: fn(Row) -> Result<(), DatabaseError>| refused(db.one(&COLUMNS, &[], read));
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
            ("a blob of 1 bytes in column raw", one(|row| row.get::<String>("raw").map(|_| ()))),
        ] {
            assert_eq!(found, format!("asking: {message}"));
        }
        assert_eq!(db.one(&COLUMNS, &[], |row| row.get::<Option<i64>>("no")).unwrap(), None);
        let refusal = Gap::Refused(NoGap::NoInput);
        assert_eq!(db.one(&COLUMNS, &[], |row| row.get::<Gap>("code")).unwrap(), refusal);
        let error = db.one(&OF_A_TABLE, &[], |row| row.get::<Gap>("gap")).unwrap_err();
        assert!(matches!(error, StoreError::CorruptRow { table: "figures", .. }), "{error}");
        // A column that no statement has is the program's mistake, not the file's.
        let error = db.one(&OF_A_TABLE, &[], |row| row.get::<Gap>("gaps")).unwrap_err();
        assert!(matches!(error, StoreError::Database { .. }), "{error}");
    }

    #[test]
    fn a_row_that_is_written_is_found_as_it_is_and_chained_alike() {
        let db = Db::without_rules();
        let slot = Slot::FIRST;
        let mut values = Values::of([1, slot.number().into()]);
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
        assert_eq!(db.figures_chain(1, number, number).unwrap(), values.chained([0; 32]));
        for other in ["1.5", "NULL", "'i'", "-8", "x'00'"] {
            let tamper = format!("UPDATE figures SET gap0_1k = {other}");
            db.connection.execute_batch(&tamper).unwrap();
            assert!(!db.figures_are(1, slot, &values).unwrap(), "{other}");
            assert_ne!(db.figures_chain(1, number, number).unwrap(), values.chained([0; 32]));
        }
        assert!(db.standing_is(1, None).unwrap());
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
