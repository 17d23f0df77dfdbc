//! Amounts of a token.

use core::fmt;
use core::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::{X402Error, shown};

/// Whole units of a token: for a token with six decimals, one million units are one token. Written as decimal text. Up
/// to 2^128 − 1, which is more than the possible supply of any token with six decimals.
///
/// ```
/// use exitgap_api::x402::Units;
/// let price = Units::of_tokens("amount", "0.01", 6).unwrap();
/// assert_eq!((price, price.in_tokens(6).as_str()), (Units(10_000), "0.01"));
/// // Beyond what a 64-bit float distinguishes.
/// assert_eq!("9007199254740993".parse(), Ok(Units(9_007_199_254_740_993)));
/// assert!("1e3".parse::<Units>().is_err());
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Units(pub u128);

/// The maximum number of decimals in a text of whole tokens.
const MAX_DECIMALS: u8 = 18;

impl Units {
    /// Parses whole units: digits only.
    pub(super) fn from_digits(field: &'static str, text: &str) -> Result<Self, X402Error> {
        let wrong = || X402Error::Amount { field, found: shown(text) };
        let canonical = text == "0" || !text.starts_with('0');
        let digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        if !(canonical && digits) {
            return Err(wrong());
        }
        text.parse().map(Self).map_err(|_| wrong())
    }

    /// Parses an amount in whole tokens, such as `0.01`, of a token with this many decimals. Nothing is rounded: digits
    /// below the smallest unit are refused.
    pub fn of_tokens(field: &'static str, text: &str, decimals: u8) -> Result<Self, X402Error> {
        let wrong = || X402Error::Amount { field, found: shown(text) };
        if decimals > MAX_DECIMALS {
            return Err(wrong());
        }
        let (whole, part) = match text.split_once('.') {
            Some((_, "")) => return Err(wrong()),
            Some((whole, part)) => (whole, part),
            None => (text, ""),
        };
        let places = usize::from(decimals);
        if part.len() > places || !part.bytes().all(|byte| byte.is_ascii_digit()) {
            return Err(wrong());
        }
        let whole = Self::from_digits(field, whole).map_err(|_| wrong())?;
        let part: u128 = format!("{part:0<places$}").parse().unwrap_or(0);
        let units = whole.0.checked_mul(10_u128.pow(decimals.into()));
        units.and_then(|units| units.checked_add(part)).map(Self).ok_or_else(wrong)
    }

    /// The amount in whole tokens without trailing zeros, which [`Self::of_tokens`] parses.
    pub fn in_tokens(self, decimals: u8) -> String {
        let unit = 10_u128.pow(decimals.min(MAX_DECIMALS).into());
        let (whole, part) = (self.0 / unit, self.0 % unit);
        if part == 0 {
            return whole.to_string();
        }
        let part = format!("{part:0places$}", places = usize::from(decimals.min(MAX_DECIMALS)));
        format!("{whole}.{}", part.trim_end_matches('0'))
    }
}

impl fmt::Display for Units {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, f)
    }
}

impl FromStr for Units {
    type Err = X402Error;
    fn from_str(text: &str) -> Result<Self, X402Error> {
        Self::from_digits("amount", text)
    }
}

impl Serialize for Units {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Units {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        text.parse().map_err(serde::de::Error::custom)
    }
}
