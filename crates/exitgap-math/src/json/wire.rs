//! Maps documents to structs. Each field occurs exactly once, and there are no other fields.

use std::borrow::Cow;

use super::Json;
use super::reader::MAX_FIELDS;
use crate::ids::{
    Address, BlockHash, Caip2, Code, Contract, DocumentHash, HeadHash, PoolId, SnapshotHash,
    StateHash, TableHash, Word,
};
use crate::wide::U256;

/// A value with exactly one JSON form.
pub trait Wire: Sized {
    /// Parses the value. The error text states what is wrong.
    fn from_json(json: &Json<'_>) -> Result<Self, String>;
    /// The value's one form.
    fn to_json(&self) -> Json<'_>;
}

/// The fields of an object, which are taken one by one.
pub struct Fields<'j, 'a> {
    fields: &'j [(Cow<'a, str>, Json<'a>)],
    /// One bit per taken field. No document has more than 64 fields.
    taken: u64,
}

impl<'j, 'a> Fields<'j, 'a> {
    /// The fields of an object. The error states what was found instead.
    pub fn from_json(json: &'j Json<'a>) -> Result<Self, String> {
        match json {
            Json::Object(fields) if fields.len() <= MAX_FIELDS => Ok(Self { fields, taken: 0 }),
            Json::Object(fields) => Err(format!("{} fields are more than it has", fields.len())),
            other => Err(describe_unexpected("an object", other)),
        }
    }

    fn find(&mut self, name: &str) -> Result<Option<&'j Json<'a>>, String> {
        let mut found = None;
        for (index, (key, json)) in self.fields.iter().enumerate() {
            if key == name {
                if found.is_some() {
                    return Err(format!("duplicate field `{name}`"));
                }
                self.taken |= 1 << index;
                found = Some(json);
            }
        }
        Ok(found)
    }

    fn find_one(&mut self, name: &str) -> Result<&'j Json<'a>, String> {
        self.find(name)?.ok_or_else(|| format!("missing field `{name}`"))
    }

    /// The field of this name, which must occur exactly once.
    pub fn take_field<T: Wire>(&mut self, name: &str) -> Result<T, String> {
        T::from_json(self.find_one(name)?).map_err(|error| inside(name, &error))
    }

    /// The field of this name, or the default of its type if the field is missing.
    pub fn take_or_default<T: Wire + Default>(&mut self, name: &str) -> Result<T, String> {
        match self.find(name)? {
            Some(json) => T::from_json(json).map_err(|error| inside(name, &error)),
            None => Ok(T::default()),
        }
    }

    /// Requires that every field was taken.
    pub fn end(self) -> Result<(), String> {
        let left = (0..).zip(self.fields).find(|(index, _)| self.taken >> index & 1 == 0);
        match left {
            Some((_, (key, _))) => {
                Err(format!("unknown field `{}`", key.chars().take(40).collect::<String>()))
            }
            None => Ok(()),
        }
    }
}

/// An error inside a field. It is a separate function because there is one parser per type.
#[cold]
#[inline(never)]
fn inside(name: &str, error: &str) -> String {
    format!("{name}: {error}")
}

#[cold]
#[inline(never)]
fn describe_unexpected(what: &str, found: &Json<'_>) -> String {
    format!("expected {what}, found {}", found.kind())
}

/// Implements [`Wire`] for a struct with these fields. Optional fields are omitted if they are `null`, an empty list or
/// an empty object.
#[macro_export]
#[doc(hidden)] // It is documented as `json::wire_struct`.
macro_rules! wire_struct {
    ($type:ty { $($field:ident),* $(; optional $($optional:ident),*)? $(,)? }) => {
        impl $crate::json::Wire for $type {
            fn from_json(json: &$crate::json::Json<'_>) -> Result<Self, String> {
                let mut fields = $crate::json::Fields::from_json(json)?;
                let read = Self {
                    $($field: fields.take_field(stringify!($field))?,)*
                    $($($optional: fields.take_or_default(stringify!($optional))?,)*)?
                };
                fields.end()?;
                Ok(read)
            }

            fn to_json(&self) -> $crate::json::Json<'_> {
                use $crate::json::{Json, Wire};
                let fields = vec![$((stringify!($field).into(), Wire::to_json(&self.$field)),)*];
                $(
                    let mut fields = fields;
                    $(
                        let json = Wire::to_json(&self.$optional);
                        if !json.is_nothing() {
                            fields.push((stringify!($optional).into(), json));
                        }
                    )*
                )?
                Json::Object(fields)
            }
        }
    };
}

/// Implements [`Wire`] for types that are a single text.
#[macro_export]
#[doc(hidden)]
macro_rules! wire_text {
    ($($type:ty),* $(,)?) => {$(
        impl $crate::json::Wire for $type {
            fn from_json(json: &$crate::json::Json<'_>) -> Result<Self, String> {
                let text: String = $crate::json::Wire::from_json(json)?;
                Self::try_from(text).map_err(|error| error.to_string())
            }

            fn to_json(&self) -> $crate::json::Json<'_> {
                $crate::json::Json::Text(self.to_string().into())
            }
        }
    )*};
}

/// Implements [`Wire`] for enums whose variants have a code.
#[macro_export]
#[doc(hidden)]
macro_rules! wire_code {
    ($type:ty, $all:expr) => {
        impl $crate::json::Wire for $type {
            fn from_json(json: &$crate::json::Json<'_>) -> Result<Self, String> {
                let code: String = $crate::json::Wire::from_json(json)?;
                let unknown =
                    || format!("unknown variant `{}`", code.chars().take(40).collect::<String>());
                $all.into_iter().find(|one| one.code() == code).ok_or_else(unknown)
            }

            fn to_json(&self) -> $crate::json::Json<'_> {
                $crate::json::Json::Text(self.code().into())
            }
        }
    };
}

#[doc(inline)]
pub use {wire_code, wire_struct, wire_text};

macro_rules! wire_integer {
    ($($type:ty),*) => {$(
        impl Wire for $type {
            fn from_json(json: &Json<'_>) -> Result<Self, String> {
                let of = concat!("an integer of type ", stringify!($type));
                match json {
                    Json::Number(spelled) => {
                        spelled.parse().map_err(|_| format!("expected {of}"))
                    }
                    other => Err(describe_unexpected(of, other)),
                }
            }

            fn to_json(&self) -> Json<'_> {
                Json::Number(self.to_string().into())
            }
        }
    )*};
}

wire_integer!(u8, u32, u64, i32);

impl Wire for bool {
    fn from_json(json: &Json<'_>) -> Result<Self, String> {
        match json {
            Json::Bool(value) => Ok(*value),
            other => Err(describe_unexpected("a boolean", other)),
        }
    }

    fn to_json(&self) -> Json<'_> {
        Json::Bool(*self)
    }
}

impl Wire for String {
    fn from_json(json: &Json<'_>) -> Result<Self, String> {
        match json {
            Json::Text(text) => Ok(text.as_ref().to_owned()),
            other => Err(describe_unexpected("a string", other)),
        }
    }

    fn to_json(&self) -> Json<'_> {
        Json::Text(Cow::Borrowed(self))
    }
}

wire_text!(
    Address,
    BlockHash,
    Caip2,
    Code,
    Contract,
    DocumentHash,
    HeadHash,
    PoolId,
    SnapshotHash,
    StateHash,
    TableHash,
    Word,
);

/// Raw integers: decimal digits in a string, in canonical form.
macro_rules! wire_raw {
    ($($type:ty),*) => {$(
        impl Wire for $type {
            fn from_json(json: &Json<'_>) -> Result<Self, String> {
                match json {
                    Json::Text(text) => raw(text).ok_or_else(|| not_raw(text)),
                    other => Err(describe_unexpected("a whole number in a string", other)),
                }
            }

            fn to_json(&self) -> Json<'_> {
                Json::Text(self.to_string().into())
            }
        }
    )*};
}

wire_raw!(u128, i128, U256);

fn raw<N: core::str::FromStr>(text: &str) -> Option<N> {
    // 2^256 has 78 digits. A longer text is not parsed.
    let digits = text.strip_prefix('-').unwrap_or(text);
    let plain = (1..=80).contains(&digits.len()) && digits.bytes().all(|c| c.is_ascii_digit());
    if !plain || (digits.starts_with('0') && text != "0") {
        return None;
    }
    text.parse().ok()
}

#[cold]
#[inline(never)]
fn not_raw(text: &str) -> String {
    let found: String = text.chars().take(90).collect();
    format!("{found:?} is not a whole number in range without plus sign or leading zeros")
}

impl<T: Wire> Wire for Option<T> {
    fn from_json(json: &Json<'_>) -> Result<Self, String> {
        match json {
            Json::Null => Ok(None),
            other => T::from_json(other).map(Some),
        }
    }

    fn to_json(&self) -> Json<'_> {
        self.as_ref().map_or(Json::Null, T::to_json)
    }
}

/// The items of a list, which must have this length if it is given.
fn items<'j, 'a>(json: &'j Json<'a>, length: Option<usize>) -> Result<&'j [Json<'a>], String> {
    match json {
        Json::List(items) if length.is_none_or(|length| length == items.len()) => Ok(items),
        Json::List(items) => Err(format!("an array of {} items has the wrong length", items.len())),
        other => Err(describe_unexpected("an array", other)),
    }
}

impl<T: Wire> Wire for Vec<T> {
    fn from_json(json: &Json<'_>) -> Result<Self, String> {
        items(json, None)?.iter().map(T::from_json).collect()
    }

    fn to_json(&self) -> Json<'_> {
        Json::List(self.iter().map(T::to_json).collect())
    }
}

impl<T: Wire> Wire for [T; 2] {
    fn from_json(json: &Json<'_>) -> Result<Self, String> {
        let items = items(json, Some(2))?;
        Ok([T::from_json(&items[0])?, T::from_json(&items[1])?])
    }

    fn to_json(&self) -> Json<'_> {
        Json::List(self.iter().map(T::to_json).collect())
    }
}

impl<A: Wire, B: Wire> Wire for (A, B) {
    fn from_json(json: &Json<'_>) -> Result<Self, String> {
        let items = items(json, Some(2))?;
        Ok((A::from_json(&items[0])?, B::from_json(&items[1])?))
    }

    fn to_json(&self) -> Json<'_> {
        Json::List(vec![self.0.to_json(), self.1.to_json()])
    }
}

impl<A: Wire, B: Wire, C: Wire> Wire for (A, B, C) {
    fn from_json(json: &Json<'_>) -> Result<Self, String> {
        let items = items(json, Some(3))?;
        Ok((A::from_json(&items[0])?, B::from_json(&items[1])?, C::from_json(&items[2])?))
    }

    fn to_json(&self) -> Json<'_> {
        Json::List(vec![self.0.to_json(), self.1.to_json(), self.2.to_json()])
    }
}
