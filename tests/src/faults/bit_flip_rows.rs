//! Changed rows: every cell of every table, deleted rows and added rows.

use rusqlite::types::Value;
use rusqlite::{Connection, params_from_iter};

use super::bit_flip::{Victim, note};
use super::{Part, Progress, Result};
use crate::devchain::Rng;

/// The recorder's own notes: slots in doubt, suspected blocks and rechecks. Nothing published depends on them, so
/// changes cannot be detected.
const NOTES: [&str; 3] = ["doubt", "recheck", "suspicion"];

/// The tables of a store, from the file itself.
pub fn table_names(connection: &Connection) -> Result<Vec<String>> {
    let sql = "SELECT name FROM sqlite_schema
               WHERE type = 'table' AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY name";
    let mut statement = connection.prepare(sql)?;
    let names = statement.query_map((), |row| row.get(0))?;
    Ok(names.collect::<std::result::Result<_, _>>()?)
}

/// A table with its columns and rows.
struct Table {
    name: String,
    columns: Vec<Column>,
    rows: Vec<Vec<Value>>,
}

struct Column {
    name: String,
    kind: String,
    is_key: bool,
}

/// One change of one row.
enum Change {
    /// Flips a bit of this column's value.
    Bit(usize),
    /// Sets this column's value to null.
    Null(usize),
    /// Deletes the row.
    Delete,
    /// Adds a row with another key.
    Insert,
}

/// Changes rows of every table: all of them in every way if that is at most `most`, else that many.
pub fn run(
    victim: &Victim,
    most: u64,
    rng: &mut Rng,
    part: &mut Part,
    progress: Progress<'_>,
) -> Result<()> {
    victim.restore()?;
    let tables = {
        let connection = Connection::open(victim.home.store())?;
        let names = table_names(&connection)?;
        let names = names.into_iter().filter(|name| !NOTES.contains(&name.as_str()));
        names.map(|name| Table::read(&connection, name)).collect::<Result<Vec<_>>>()?
    };
    // A table without rows cannot be tested: add a row of it to the victim.
    for empty in tables.iter().filter(|table| table.rows.is_empty()) {
        part.problem("bit_flip.empty_tables", format!("{} has no row to change", empty.name));
    }
    let filled = tables.iter().filter(|table| !table.rows.is_empty());
    part.set("bit_flip.tables", filled.count());
    let mut changes = Vec::new();
    for table in &tables {
        for row in &table.rows {
            let bits = (0..table.columns.len()).map(Change::Bit);
            let nulls = (0..table.columns.len())
                .filter(|column| row[*column] != Value::Null)
                .map(Change::Null);
            let whole = [Change::Delete, Change::Insert];
            changes.extend(bits.chain(nulls).chain(whole).map(|change| (table, row, change)));
        }
    }
    let step = (changes.len() / usize::try_from(most.max(1))?).max(1);
    let of = (changes.len() / step) as u64;
    for (done, (table, row, change)) in changes.iter().step_by(step).enumerate() {
        victim.restore()?;
        let connection = Connection::open(victim.home.store())?;
        let changed = table.change(&connection, row, change, rng)?;
        drop(connection);
        if let Some(what) = changed {
            part.count("bit_flip.rows");
            note(victim.judge(), &what, part);
        }
        progress("bit_flip (rows)", done as u64 + 1, of);
    }
    victim.restore()
}

impl Table {
    fn read(connection: &Connection, name: String) -> Result<Self> {
        let mut statement =
            connection.prepare("SELECT name, type, pk FROM pragma_table_info(?1) ORDER BY cid")?;
        let columns = statement.query_map([&name], |row| {
            let is_key = row.get::<_, i64>(2)? > 0;
            Ok(Column { name: row.get(0)?, kind: row.get(1)?, is_key })
        })?;
        let columns = columns.collect::<std::result::Result<Vec<_>, _>>()?;
        let mut statement = connection.prepare(&format!("SELECT * FROM \"{name}\""))?;
        let rows =
            statement.query_map((), |row| (0..columns.len()).map(|n| row.get(n)).collect())?;
        let rows = rows.collect::<std::result::Result<_, _>>()?;
        Ok(Self { name, columns, rows })
    }

    /// Makes the change with the guards removed and restored afterwards; returns a description. `None`: the table does
    /// not allow such a row.
    fn change(
        &self,
        connection: &Connection,
        row: &[Value],
        change: &Change,
        rng: &mut Rng,
    ) -> Result<Option<String>> {
        let guards = guards(connection)?;
        let mut before = "PRAGMA synchronous = OFF; PRAGMA foreign_keys = OFF;
                          PRAGMA ignore_check_constraints = ON; BEGIN;"
            .to_owned();
        before.extend(guards.iter().map(|(name, _)| format!("DROP TRIGGER \"{name}\";")));
        connection.execute_batch(&before)?;
        let (sql, values, what) = self.statement(row, change, rng);
        let changed = connection.execute(&sql, params_from_iter(values));
        for (_, sql) in &guards {
            connection.execute_batch(sql)?;
        }
        connection.execute_batch("COMMIT")?;
        Ok(changed.is_ok_and(|rows| rows > 0).then_some(what))
    }

    fn statement(
        &self,
        row: &[Value],
        change: &Change,
        rng: &mut Rng,
    ) -> (String, Vec<Value>, String) {
        let table = &self.name;
        let keys = || self.columns.iter().enumerate().filter(|(_, column)| column.is_key);
        let here: Vec<String> =
            keys().map(|(index, column)| format!("\"{}\" = ?{}", column.name, index + 1)).collect();
        let here = here.join(" AND ");
        let mut values = row.to_vec();
        let which: Vec<String> =
            keys().map(|(index, column)| format!("{} {:?}", column.name, row[index])).collect();
        let place = format!("{table}, {}", which.join(", "));
        match change {
            Change::Bit(column) | Change::Null(column) => {
                let Column { name, kind, .. } = &self.columns[*column];
                let value = match change {
                    Change::Null(_) => Value::Null,
                    _ => flipped(&row[*column], kind, rng),
                };
                let what = format!("{place}: {name} {:?} becomes {value:?}", row[*column]);
                values.push(value);
                let sql =
                    format!("UPDATE \"{table}\" SET \"{name}\" = ?{} WHERE {here}", values.len());
                (sql, values, what)
            }
            Change::Delete => (
                format!("DELETE FROM \"{table}\" WHERE {here}"),
                values,
                format!("{place} is gone"),
            ),
            Change::Insert => {
                for (index, column) in self.columns.iter().enumerate() {
                    // Values that may have to be unique are changed.
                    if column.is_key
                        || matches!(row[index], Value::Blob(_))
                        || column.name.ends_with("_id")
                    {
                        values[index] = flipped(&row[index], &column.kind, rng);
                    }
                }
                let marks: Vec<String> = (1..=values.len()).map(|n| format!("?{n}")).collect();
                let sql = format!("INSERT INTO \"{table}\" VALUES ({})", marks.join(", "));
                (sql, values, format!("{place} is there once more"))
            }
        }
    }
}

/// The triggers, with the statements that create them.
fn guards(connection: &Connection) -> Result<Vec<(String, String)>> {
    let sql = "SELECT name, sql FROM sqlite_schema WHERE type = 'trigger'";
    let mut statement = connection.prepare(sql)?;
    let guards = statement.query_map((), |row| Ok((row.get(0)?, row.get(1)?)))?;
    Ok(guards.collect::<std::result::Result<_, _>>()?)
}

/// The value with one bit flipped; a null becomes a value.
fn flipped(value: &Value, kind: &str, rng: &mut Rng) -> Value {
    match value {
        Value::Integer(number) => Value::Integer(number ^ (1 << rng.below(12))),
        Value::Text(text) => {
            let mut bytes = text.clone().into_bytes();
            let ascii: Vec<usize> = (0..bytes.len()).filter(|at| bytes[*at] < 0x80).collect();
            match ascii.len() as u64 {
                0 => Value::Text(format!("{text}x")),
                choices => {
                    let at = ascii[usize::try_from(rng.below(choices)).unwrap_or(0)];
                    bytes[at] ^= 1 << rng.below(7);
                    Value::Text(String::from_utf8(bytes).unwrap_or_default())
                }
            }
        }
        Value::Blob(bytes) if !bytes.is_empty() => {
            let mut bytes = bytes.clone();
            let bit = usize::try_from(rng.below(bytes.len() as u64 * 8)).unwrap_or(0);
            bytes[bit / 8] ^= 1 << (bit % 8);
            Value::Blob(bytes)
        }
        _ if kind.eq_ignore_ascii_case("BLOB") => Value::Blob(vec![0; 32]),
        _ if kind.eq_ignore_ascii_case("TEXT") => Value::Text("x".to_owned()),
        _ => Value::Integer(1),
    }
}
