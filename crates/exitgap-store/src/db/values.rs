//! Whole rows of the derived tables: many columns, by index.

use exitgap_core::units::{Percent, UsdMicros};
use sha2::{Digest, Sha256};

use super::arg::{Arg, Value};
use super::row::{ColumnValue, FromColumn, Row};
use crate::derived::figures::{DirectionFigures, Gap, NoGap};

/// A row's values in column order. `fsck` compares them with the stored ones, so each row must have exactly one form.
#[derive(Debug, Default)]
pub struct Values(Vec<Value>);

impl Values {
    /// A row that begins with these numbers.
    pub fn with_keys(keys: [i64; 2]) -> Self {
        Self(keys.map(Value::Integer).into())
    }

    /// A row as stored.
    pub(super) fn from_row(row: Row) -> Self {
        Self(row.values().map(Value::from).collect())
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
        // Depths are at most 1,000,000,000, so they fit.
        self.add(value.map(u64::cast_signed));
    }

    /// The next value, a gap.
    pub fn gap(&mut self, gap: Option<Gap>) {
        match gap {
            Some(Gap::Refused(none)) => self.add(Some(refusal_code(none))),
            Some(Gap::Filled(percent)) => self.percent(Some(percent)),
            None => self.add(None::<i64>),
        }
    }

    /// Adds millionths of a percent, which are below 10^15 in absolute value and so fit.
    pub fn percent(&mut self, percent: Option<Percent>) {
        self.add(percent.and_then(|percent| i64::try_from(percent.0).ok()));
    }

    /// Adds six values: gaps, basis and book of one direction, if there are any.
    pub fn gaps(&mut self, figures: Option<&DirectionFigures>) {
        for size in 0..4 {
            self.gap(figures.map(|figures| figures.gaps[size]));
        }
        self.percent(figures.and_then(|figures| figures.basis));
        self.dollars(figures.and_then(|figures| figures.book_usd));
    }

    /// The next value, a hash.
    pub fn hash(&mut self, hash: [u8; 32]) {
        self.0.push(Value::Blob(hash.into()));
    }

    /// The hash of a row in a chain: over the previous rows' hash, and each value's kind and bytes.
    pub fn chain_hash(&self, before: [u8; 32]) -> [u8; 32] {
        chain_values(before, self.args().map(ColumnValue::from))
    }

    /// The row as a statement's parameters.
    pub(super) fn args(&self) -> impl ExactSizeIterator<Item = Arg<'_>> {
        self.0.iter().map(Value::arg)
    }

    /// Whether the stored row equals this one.
    pub(super) fn are(&self, row: Row) -> bool {
        self.args().map(ColumnValue::from).eq(row.values())
    }
}

/// The chain hash of a stored row.
pub(super) fn chained_row(before: [u8; 32], row: Row) -> [u8; 32] {
    chain_values(before, row.values())
}

fn chain_values<'a>(before: [u8; 32], values: impl Iterator<Item = ColumnValue<'a>>) -> [u8; 32] {
    let mut digest = Sha256::new_with_prefix(before);
    for value in values {
        match value {
            ColumnValue::Nothing => digest.update([0]),
            ColumnValue::Integer(number) => {
                digest.update([1]);
                digest.update(number.to_be_bytes());
            }
            ColumnValue::Text(text) => {
                digest.update([2]);
                digest.update((text.len() as u64).to_be_bytes());
                digest.update(text);
            }
            // Rows of figures have no such values, so a stored one was not written by us.
            ColumnValue::Fraction | ColumnValue::Blob(_) => digest.update([3]),
        }
    }
    digest.finalize().into()
}

impl<'a> From<Arg<'a>> for ColumnValue<'a> {
    /// The value as it is found again after writing.
    fn from(arg: Arg<'a>) -> Self {
        match arg {
            Arg::Null => Self::Nothing,
            Arg::Integer(number) => Self::Integer(number),
            Arg::Text(text) => Self::Text(text.as_bytes()),
            Arg::Blob(bytes) => Self::Blob(bytes),
        }
    }
}

impl From<ColumnValue<'_>> for Value {
    /// The value as it is written again. A value that our databases never contain becomes null, which the column
    /// refuses.
    fn from(found: ColumnValue<'_>) -> Self {
        match found {
            ColumnValue::Nothing | ColumnValue::Fraction => Self::Null,
            ColumnValue::Integer(number) => Self::Integer(number),
            ColumnValue::Text(text) => Self::Text(String::from_utf8_lossy(text).into_owned()),
            ColumnValue::Blob(bytes) => Self::Blob(bytes.to_owned()),
        }
    }
}

/// From this number on, a gap's number is the reason why there is none. Percentages are far smaller.
const NO_GAP: i64 = 1 << 62;
/// The base number if the size is beyond the liquidity. The maximum fillable amount is added to it.
const BEYOND_LIQUIDITY: i64 = NO_GAP + 16;

/// The number for a size without a gap.
fn refusal_code(none: NoGap) -> i64 {
    match none {
        NoGap::NoInput => NO_GAP,
        NoGap::NoOutput => NO_GAP + 1,
        NoGap::GapOutOfRange => NO_GAP + 2,
        // The fillable amount is below the requested size, which is at most a million dollars, so it fits.
        NoGap::BeyondLiquidity(most) => BEYOND_LIQUIDITY.saturating_add_unsigned(most.0),
    }
}

/// The reverse of [`refusal_code`]; `None` if the number is not such a code.
fn refusal_of(code: i64) -> Option<NoGap> {
    Some(match code - NO_GAP {
        0 => NoGap::NoInput,
        1 => NoGap::NoOutput,
        2 => NoGap::GapOutOfRange,
        _ => NoGap::BeyondLiquidity(UsdMicros(
            u64::try_from(code.checked_sub(BEYOND_LIQUIDITY)?).ok()?,
        )),
    })
}

impl FromColumn for Gap {
    #[inline]
    fn from_column(found: ColumnValue<'_>) -> Option<Self> {
        match found {
            ColumnValue::Integer(code @ NO_GAP..) => refusal_of(code).map(Self::Refused),
            ColumnValue::Integer(millionths) => Some(Self::Filled(Percent(millionths.into()))),
            _ => None,
        }
    }
}
