//! Parameters of statements.

use exitgap_core::series::Slot;

/// A borrowed parameter value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Arg<'a> {
    /// None.
    Null,
    /// A number; also 0 and 1 for false and true.
    Integer(i64),
    /// A name or a code.
    Text(&'a str),
    /// A hash, or a body's bytes.
    Blob(&'a [u8]),
}

/// The parameters of a statement, by name.
pub type Args<'a> = [(&'static str, Arg<'a>)];

/// An owned parameter value.
#[derive(Debug, Clone)]
pub enum Value {
    /// None.
    Null,
    /// A number.
    Integer(i64),
    /// A name or a code.
    Text(String),
    /// A hash, or a body's bytes.
    Blob(Vec<u8>),
}

impl Value {
    /// The value, borrowed.
    pub fn arg(&self) -> Arg<'_> {
        match self {
            Self::Null => Arg::Null,
            Self::Integer(number) => Arg::Integer(*number),
            Self::Text(text) => Arg::Text(text),
            Self::Blob(bytes) => Arg::Blob(bytes),
        }
    }
}

impl From<Arg<'_>> for Value {
    fn from(arg: Arg<'_>) -> Self {
        match arg {
            Arg::Null => Self::Null,
            Arg::Integer(number) => Self::Integer(number),
            Arg::Text(text) => Self::Text(text.to_owned()),
            Arg::Blob(bytes) => Self::Blob(bytes.to_owned()),
        }
    }
}
/// Integer types that always fit.
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
    /// Counts and lengths of data in memory always fit.
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

impl<'a> From<&'a String> for Arg<'a> {
    fn from(text: &'a String) -> Self {
        Self::Text(text)
    }
}

impl<'a> From<&'a Vec<u8>> for Arg<'a> {
    fn from(bytes: &'a Vec<u8>) -> Self {
        Self::Blob(bytes)
    }
}

/// A hash, or an address.
impl<'a, const N: usize> From<&'a [u8; N]> for Arg<'a> {
    fn from(bytes: &'a [u8; N]) -> Self {
        Self::Blob(bytes)
    }
}

impl<'a, T: Into<Arg<'a>>> From<Option<T>> for Arg<'a> {
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::Null, Into::into)
    }
}
