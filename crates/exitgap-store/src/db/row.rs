//! Rows found by statements, and the values in their columns.

use std::fmt;

use super::error::DatabaseError;
use super::postgres::{self, PgRow};
use super::sqlite;
use exitgap_core::series::Slot;
use exitgap_core::units::{Percent, UsdMicros};

/// A row that was found. It is valid until the next one is read.
#[derive(Clone, Copy)]
pub enum Row<'a> {
    /// In a file.
    Sqlite(&'a rusqlite::Row<'a>),
    /// On a server.
    Postgres(&'a PgRow),
}

/// A value as stored in its column, whatever was expected.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ColumnValue<'a> {
    /// NULL.
    Nothing,
    /// A whole number.
    Integer(i64),
    /// A floating-point number, which a store never writes.
    Fraction,
    /// Text that may not be valid UTF-8.
    Text(&'a [u8]),
    /// Bytes.
    Blob(&'a [u8]),
}

/// A type that a column can be read as.
pub trait FromColumn: Sized {
    /// `None` if the value does not have this type.
    fn from_column(found: ColumnValue<'_>) -> Option<Self>;
}

impl<'a> Row<'a> {
    /// The value in the column with this name.
    #[inline]
    pub fn get<T: FromColumn>(self, column: &str) -> Result<T, DatabaseError> {
        let found = match self {
            Self::Sqlite(row) => sqlite::value_by_name(row, column)?,
            Self::Postgres(row) => postgres::column_value(row, column)?,
        };
        T::from_column(found).ok_or_else(|| DatabaseError::column(column, found.to_string()))
    }

    /// The value in the column with this index, for rows with many columns.
    #[inline]
    pub fn at<T: FromColumn>(self, place: usize) -> Result<T, DatabaseError> {
        let found = self.value_at(place)?;
        T::from_column(found).ok_or_else(|| self.column_error(place, found))
    }

    #[inline]
    fn value_at(self, place: usize) -> Result<ColumnValue<'a>, DatabaseError> {
        match self {
            Self::Sqlite(row) => sqlite::value_at(row, place),
            Self::Postgres(row) => postgres::column_value(row, place),
        }
    }

    #[cold]
    fn column_error(self, place: usize, found: ColumnValue) -> DatabaseError {
        DatabaseError::column(self.column_name(place), found.to_string())
    }

    fn column_name(self, place: usize) -> &'a str {
        match self {
            Self::Sqlite(row) => row.as_ref().column_name(place).unwrap_or_default(),
            Self::Postgres(row) => row.columns().get(place).map_or("", |column| column.name()),
        }
    }

    /// The columns from this index on, one after the other.
    pub fn from(self, place: usize) -> Columns<'a> {
        Columns { row: self, next: place }
    }

    /// The stored values of all columns.
    pub fn values(self) -> impl Iterator<Item = ColumnValue<'a>> {
        let columns = match self {
            Self::Sqlite(row) => row.as_ref().column_count(),
            Self::Postgres(row) => row.len(),
        };
        (0..columns).map_while(move |place| self.value_at(place).ok())
    }
}

/// A row's columns, one after the other.
pub struct Columns<'a> {
    row: Row<'a>,
    next: usize,
}

impl Columns<'_> {
    /// The next one.
    #[inline]
    pub fn next<T: FromColumn>(&mut self) -> Result<T, DatabaseError> {
        let value = self.row.at(self.next);
        self.next += 1;
        value
    }

    /// The error that the column before, of a table that was joined, has an impossible value.
    #[cold]
    pub fn impossible_in(&self, table: &'static str) -> DatabaseError {
        let place = self.next.saturating_sub(1);
        match self.row.value_at(place) {
            Ok(found) => {
                DatabaseError::joined(table, self.row.column_name(place), found.to_string())
            }
            Err(error) => error,
        }
    }
}

/// A short description of the value, for people.
impl fmt::Display for ColumnValue<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Nothing => f.write_str("nothing"),
            Self::Integer(number) => write!(f, "the number {number}"),
            Self::Fraction => f.write_str("a fraction"),
            Self::Text(text) => {
                let text = String::from_utf8_lossy(text);
                write!(f, "the text {:?}", text.chars().take(40).collect::<String>())
            }
            Self::Blob(bytes) => write!(f, "a blob of {} bytes", bytes.len()),
        }
    }
}

impl<T: FromColumn> FromColumn for Option<T> {
    #[inline]
    fn from_column(found: ColumnValue<'_>) -> Option<Self> {
        match found {
            ColumnValue::Nothing => Some(None),
            found => T::from_column(found).map(Some),
        }
    }
}

impl FromColumn for i64 {
    #[inline]
    fn from_column(found: ColumnValue<'_>) -> Option<Self> {
        match found {
            ColumnValue::Integer(number) => Some(number),
            _ => None,
        }
    }
}

/// Integer types that may be too small for a column's number.
macro_rules! integers {
    ($($integer:ty),*) => {$(
        impl FromColumn for $integer {
            #[inline]
            fn from_column(found: ColumnValue<'_>) -> Option<Self> {
                i64::from_column(found)?.try_into().ok()
            }
        }
    )*};
}

integers!(u64, u32, u8);

impl FromColumn for bool {
    #[inline]
    fn from_column(found: ColumnValue<'_>) -> Option<Self> {
        i64::from_column(found).map(|number| number != 0)
    }
}

impl FromColumn for Slot {
    #[inline]
    fn from_column(found: ColumnValue<'_>) -> Option<Self> {
        Self::try_from(u32::from_column(found)?).ok()
    }
}

/// Whole millionths of a percent.
impl FromColumn for Percent {
    #[inline]
    fn from_column(found: ColumnValue<'_>) -> Option<Self> {
        i64::from_column(found).map(|millionths| Self(millionths.into()))
    }
}

/// Whole millionths of a dollar.
impl FromColumn for UsdMicros {
    #[inline]
    fn from_column(found: ColumnValue<'_>) -> Option<Self> {
        u64::from_column(found).map(Self)
    }
}

impl FromColumn for String {
    #[inline]
    fn from_column(found: ColumnValue<'_>) -> Option<Self> {
        match found {
            ColumnValue::Text(text) => Some(std::str::from_utf8(text).ok()?.to_owned()),
            _ => None,
        }
    }
}

impl FromColumn for Vec<u8> {
    #[inline]
    fn from_column(found: ColumnValue<'_>) -> Option<Self> {
        match found {
            ColumnValue::Blob(bytes) => Some(bytes.to_owned()),
            _ => None,
        }
    }
}

/// A hash, or an address.
impl<const N: usize> FromColumn for [u8; N] {
    #[inline]
    fn from_column(found: ColumnValue<'_>) -> Option<Self> {
        match found {
            ColumnValue::Blob(bytes) => bytes.try_into().ok(),
            _ => None,
        }
    }
}
