//! Decimal numbers as JSON numbers, without losing a digit.

use core::fmt;

use exitgap_core::pools::FeeRate;
use exitgap_core::units::{Decimal, GapLimit, Percent, SizeUsd, UsdMicros};
use serde::de::{Deserialize, Deserializer, Error, Visitor};
use serde::ser::{Serialize, Serializer};
#[cfg(not(all(target_arch = "wasm32", feature = "objects")))]
use serde_json::value::RawValue;

/// A decimal with at most fifteen significant digits, stored as plain text and written as a JSON number. Up to fifteen
/// digits, the conversion to a parser's 64-bit float and back is exact, so the parsed value has the same text as the
/// one sent.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Number(String);

impl Number {
    /// The plain decimal text, e.g. `1284.5` or `-0.25`.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// A percentage or ratio from the core's text with six decimals.
pub(crate) fn decimal(text: &str) -> Option<Number> {
    Percent::parse(text).ok().map(Number::from)
}

macro_rules! from_display {
    ($($type:ty),*) => {$(
        impl From<$type> for Number {
            fn from(value: $type) -> Self {
                Self(value.to_string())
            }
        }
    )*};
}
#[cfg(feature = "openapi")]
impl utoipa::PartialSchema for Number {
    fn schema() -> utoipa::openapi::RefOr<utoipa::openapi::schema::Schema> {
        use utoipa::openapi::schema::{ObjectBuilder, Type};
        ObjectBuilder::new()
            .schema_type(Type::Number)
            .description(Some("A decimal of at most fifteen significant digits."))
            .into()
    }
}

#[cfg(feature = "openapi")]
impl utoipa::ToSchema for Number {}

from_display!(Decimal, GapLimit, Percent, SizeUsd, UsdMicros, u32, u64);

impl Number {
    /// `millionths ÷ 1,000,000`.
    pub fn from_millionths(millionths: u64) -> Self {
        Self(UsdMicros(millionths).to_string())
    }

    /// A whole number from the core's text; 0 if the text is not one.
    pub fn from_whole(text: &str) -> Self {
        Self(text.parse::<i64>().unwrap_or(0).to_string())
    }

    /// The share in percent.
    pub fn from_percent(rate: FeeRate) -> Self {
        Self(rate.percent())
    }

    /// `hundredths ÷ 100`, for figures truncated to two decimals.
    pub fn from_hundredths(hundredths: u64) -> Self {
        // One hundredth is ten thousand millionths.
        Self(UsdMicros(hundredths.saturating_mul(10_000)).to_string())
    }
}

impl fmt::Display for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

#[cfg(not(all(target_arch = "wasm32", feature = "objects")))]
impl Serialize for Number {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        // The text is already a valid JSON number, so it is written without a detour through a float.
        let text: &RawValue = serde_json::from_str(&self.0).map_err(serde::ser::Error::custom)?;
        text.serialize(serializer)
    }
}

/// When serialized to JavaScript objects, it becomes the number that the browser parses from the text: exactly the
/// value that `JSON.parse` of the document would have.
#[cfg(all(target_arch = "wasm32", feature = "objects"))]
impl Serialize for Number {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_f64(js_sys::parse_float(&self.0))
    }
}

impl<'de> Deserialize<'de> for Number {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Plain;
        impl Visitor<'_> for Plain {
            type Value = Number;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a number")
            }
            fn visit_i64<E: Error>(self, value: i64) -> Result<Number, E> {
                Ok(Number(value.to_string()))
            }
            fn visit_u64<E: Error>(self, value: u64) -> Result<Number, E> {
                Ok(Number(value.to_string()))
            }
            fn visit_f64<E: Error>(self, value: f64) -> Result<Number, E> {
                if !value.is_finite() {
                    return Err(E::custom("a number must be finite"));
                }
                // The shortest text that parses back to this float, without an exponent.
                Ok(Number(value.to_string()))
            }
        }
        deserializer.deserialize_any(Plain)
    }
}

/// Whole numbers with a comma before each group of three digits.
pub(crate) fn group_thousands(number: u64) -> String {
    let digits = number.to_string();
    let mut grouped = String::with_capacity(digits.len() + digits.len() / 3);
    for (at, digit) in digits.char_indices() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thousands_are_grouped_from_the_right() {
        let grouped = [0, 999, 1_000, 486_468, 1_234_567].map(group_thousands);
        assert_eq!(grouped, ["0", "999", "1,000", "486,468", "1,234,567"]);
    }

    #[test]
    fn fifteen_digits_come_back_as_they_went() {
        for micros in [0, 1, 10_000, 999_999_999_999_999, 123_456_789_012_345, 1_000_000] {
            let number = Number::from(UsdMicros(micros));
            let json = serde_json::to_string(&number).unwrap();
            assert_eq!(serde_json::from_str::<Number>(&json).unwrap(), number, "{json}");
        }
        for millionths in [-1, -999_999_999_999_999, 431_234] {
            let number = Number::from(Percent(millionths));
            let json = serde_json::to_string(&number).unwrap();
            assert_eq!(serde_json::from_str::<Number>(&json).unwrap(), number, "{json}");
        }
        assert_eq!(serde_json::to_string(&Number::from(UsdMicros(1_000_000))).unwrap(), "1");
        assert_eq!(Number::from_hundredths(99).to_string(), "0.99");
        // As a value and among flattened fields, it is the same number.
        let value = serde_json::to_value(Number::from_hundredths(99)).unwrap();
        assert_eq!(value, serde_json::json!(0.99));
    }
}
