//! What statements are given.

use exitgap_core::series::Slot;
use rusqlite::types::{ToSql, ToSqlOutput, ValueRef};

/// A value that a statement is given, borrowed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Arg<'a> {
    /// None.
    Null,
    /// A number, or 0 and 1 for no and yes.
    Integer(i64),
    /// A name or a code.
    Text(&'a str),
    /// A hash, or a body's bytes.
    Blob(&'a [u8]),
}

/// What a statement is given, by the names that it has for it.
pub type Args<'a> = [(&'static str, Arg<'a>)];

impl ToSql for Arg<'_> {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(ToSqlOutput::Borrowed(match self {
            Self::Null => ValueRef::Null,
            Self::Integer(number) => ValueRef::Integer(*number),
            Self::Text(text) => ValueRef::Text(text.as_bytes()),
            Self::Blob(bytes) => ValueRef::Blob(bytes),
        }))
    }
}

/// What always fits.
macro_rules! integers {
    ($($integer:ty),*) => {$(
        impl From<$integer> for Arg<'_> {
            fn from(number: $integer) -> Self {
                Self::Integer(number.into())
            }
        }
    )*};
}

integers!(i64, u32, u8, bool);

impl From<usize> for Arg<'_> {
    /// Counts and lengths of what is in memory: they fit.
    fn from(number: usize) -> Self {
        Self::Integer(i64::try_from(number).unwrap_or(i64::MAX))
    }
}

impl From<Slot> for Arg<'_> {
    fn from(slot: Slot) -> Self {
        slot.number().into()
    }
}

impl<'a> From<&'a str> for Arg<'a> {
    fn from(text: &'a str) -> Self {
        Self::Text(text)
    }
}

impl<'a> From<&'a [u8]> for Arg<'a> {
    fn from(bytes: &'a [u8]) -> Self {
        Self::Blob(bytes)
    }
}

impl<'a> From<&'a [u8; 32]> for Arg<'a> {
    fn from(hash: &'a [u8; 32]) -> Self {
        Self::Blob(hash)
    }
}

impl<'a, T: Into<Arg<'a>>> From<Option<T>> for Arg<'a> {
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::Null, Into::into)
    }
}
