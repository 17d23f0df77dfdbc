//! Rows of the derived tables: many columns, by their places.

use exitgap_core::series::Slot;
use exitgap_core::units::{Percent, UsdMicros};
use rusqlite::types::{FromSql, FromSqlError, FromSqlResult, Value, ValueRef};
use rusqlite::{Connection, OptionalExtension, Row, params_from_iter};
use sha2::{Digest, Sha256};

use crate::error::{Doing, StoreError};
use crate::figures::{DirectionFigures, Gap, NoGap};

/// A row's values, in the order of its columns: what is written, and what `fsck` compares, so
/// that a row has one spelling.
#[derive(Debug, Default, PartialEq)]
pub struct Values(Vec<Value>);

impl Values {
    /// A row that begins with these numbers.
    pub fn of(keys: [i64; 2]) -> Self {
        Self(keys.map(Value::Integer).into())
    }

    /// The next value; `None` is NULL.
    pub fn add(&mut self, value: Option<impl Into<i64>>) {
        self.0.push(value.map_or(Value::Null, |value| Value::Integer(value.into())));
    }

    /// The next value, a code.
    pub fn code(&mut self, code: Option<&str>) {
        self.0.push(code.map_or(Value::Null, |code| Value::Text(code.to_owned())));
    }

    /// The next value, whole dollars.
    pub fn dollars(&mut self, value: Option<u64>) {
        // Depths are at most 1,000,000,000: they fit.
        self.add(value.map(u64::cast_signed));
    }

    /// The next value, a gap.
    pub fn gap(&mut self, gap: Option<Gap>) {
        match gap {
            Some(Gap::Refused(none)) => self.0.push(Value::Text(refusal_text(none))),
            Some(Gap::Filled(percent)) => self.percent(Some(percent)),
            None => self.add(None::<i64>),
        }
    }

    /// The next value, millionths of a percent: below 10^15 either way, they fit.
    pub fn percent(&mut self, percent: Option<Percent>) {
        self.add(percent.and_then(|percent| i64::try_from(percent.0).ok()));
    }

    /// The next five: gaps and basis of one direction, where there are any.
    pub fn gaps(&mut self, figures: Option<&DirectionFigures>) {
        for size in 0..4 {
            self.gap(figures.map(|figures| figures.gaps[size]));
        }
        self.percent(figures.and_then(|figures| figures.basis));
    }

    /// The next value, a hash.
    pub fn hash(&mut self, hash: [u8; 32]) {
        self.0.push(Value::Blob(hash.into()));
    }

    /// The hash of a row that comes after others: of theirs, and of each value's kind and bytes.
    pub fn chained(&self, before: [u8; 32]) -> [u8; 32] {
        let mut digest = Sha256::new_with_prefix(before);
        for value in &self.0 {
            match value {
                Value::Null => digest.update([0]),
                Value::Integer(number) => {
                    digest.update([1]);
                    digest.update(number.to_be_bytes());
                }
                Value::Text(text) => {
                    digest.update([2]);
                    digest.update((text.len() as u64).to_be_bytes());
                    digest.update(text);
                }
                // No row of figures has one: what is found there is not what was written.
                Value::Real(_) | Value::Blob(_) => digest.update([3]),
            }
        }
        digest.finalize().into()
    }

    /// Reads the rows of these keys as they are, and chains them.
    pub fn read_chained(
        connection: &Connection,
        sql: &str,
        keys: &[i64],
        doing: &'static str,
    ) -> Result<[u8; 32], StoreError> {
        let mut statement = connection.prepare_cached(sql).doing(doing)?;
        let columns = statement.column_count();
        let mut rows = statement.query(params_from_iter(keys)).doing(doing)?;
        let mut digest = [0; 32];
        while let Some(row) = rows.next().doing(doing)? {
            let values: Result<_, _> = (0..columns).map(|column| row.get(column)).collect();
            digest = Self(values.doing(doing)?).chained(digest);
        }
        Ok(digest)
    }

    /// Writes the row.
    pub fn write(
        self,
        connection: &Connection,
        sql: &str,
        doing: &'static str,
    ) -> Result<(), StoreError> {
        let mut statement = connection.prepare_cached(sql).doing(doing)?;
        statement.execute(params_from_iter(self.0)).doing(doing).map(|_| ())
    }

    /// Reads the row of these keys as it is; `None` where there is none.
    pub fn read(
        connection: &Connection,
        sql: &str,
        keys: &[i64],
        doing: &'static str,
    ) -> Result<Option<Self>, StoreError> {
        let mut statement = connection.prepare_cached(sql).doing(doing)?;
        let columns = statement.column_count();
        let row = statement.query_row(params_from_iter(keys), |row| {
            (0..columns).map(|column| row.get(column)).collect::<Result<_, _>>().map(Self)
        });
        row.optional().doing(doing)
    }
}

/// How a size without a gap is written.
fn refusal_text(none: NoGap) -> String {
    match none {
        NoGap::NoInput => "i".to_owned(),
        NoGap::NoOutput => "o".to_owned(),
        NoGap::BeyondLiquidity(most) => format!("l{}", most.0),
        NoGap::GapOutOfRange => "r".to_owned(),
    }
}

/// The reverse of [`refusal_text`]; `None` where it is none, or not in its one spelling.
fn refusal_of(text: &[u8]) -> Option<NoGap> {
    Some(match text {
        b"i" => NoGap::NoInput,
        b"o" => NoGap::NoOutput,
        b"r" => NoGap::GapOutOfRange,
        _ => {
            let most = core::str::from_utf8(text.strip_prefix(b"l")?).ok()?.parse().ok()?;
            let none = NoGap::BeyondLiquidity(UsdMicros(most));
            return (refusal_text(none).as_bytes() == text).then_some(none);
        }
    })
}

/// A row's columns, one after the other.
pub struct Columns<'a> {
    row: &'a Row<'a>,
    next: usize,
}

impl<'a> Columns<'a> {
    /// The columns from place `next` on.
    pub fn from(row: &'a Row<'a>, next: usize) -> Self {
        Self { row, next }
    }

    /// The next one.
    pub fn next<T: FromSql>(&mut self) -> rusqlite::Result<T> {
        let value = self.row.get(self.next);
        self.next += 1;
        value
    }

    /// The next five: the gaps and basis of one direction. `None` where there are none.
    pub fn gaps(&mut self, depth_usd: Option<u64>) -> rusqlite::Result<Option<DirectionFigures>> {
        let gaps: [Option<Gap>; 4] = [self.next()?, self.next()?, self.next()?, self.next()?];
        let basis = self.basis()?;
        let [Some(a), Some(b), Some(c), Some(d)] = gaps else { return Ok(None) };
        Ok(Some(DirectionFigures { depth_usd, gaps: [a, b, c, d], basis }))
    }

    /// The next one, millionths of a percent.
    pub fn basis(&mut self) -> rusqlite::Result<Option<Percent>> {
        Ok(self.next::<Option<i64>>()?.map(|millionths| Percent(millionths.into())))
    }

    /// The next one, whole dollars.
    pub fn dollars(&mut self) -> rusqlite::Result<Option<u64>> {
        let dollars = self.next::<Option<i64>>()?.map(u64::try_from).transpose();
        dollars.map_err(|error| FromSqlError::Other(Box::new(error)).into())
    }

    /// The next one, a slot.
    pub fn slot(&mut self) -> rusqlite::Result<Option<Slot>> {
        self.next::<Option<u32>>()?.map(Self::slot_of).transpose()
    }

    /// A slot by its number.
    pub fn slot_of(number: u32) -> rusqlite::Result<Slot> {
        Slot::try_from(number).map_err(|error| FromSqlError::Other(Box::new(error)).into())
    }
}

impl FromSql for Gap {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
        Ok(match value {
            ValueRef::Integer(millionths) => Self::Filled(Percent(millionths.into())),
            ValueRef::Text(text) => {
                Self::Refused(refusal_of(text).ok_or(FromSqlError::InvalidType)?)
            }
            _ => return Err(FromSqlError::InvalidType),
        })
    }
}
