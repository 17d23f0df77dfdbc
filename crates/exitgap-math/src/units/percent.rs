//! Percentages with six decimals, and gap limits.

use core::fmt;
use core::str::FromStr;

use super::decimal::{DecimalError, format_scaled, parse_scaled};

/// A signed percentage in millionths of a percent (`1` is 0.000001%).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Percent(pub i128);

impl Percent {
    /// Results are below one billion percent in both directions: a larger value means that the oracle is wrong, and
    /// every JSON parser keeps fifteen digits.
    pub const BOUND: i128 = 1_000_000_000_000_000;

    /// Parses a percentage with at most six decimals, for example `-0.25`.
    pub fn parse(text: &str) -> Result<Self, DecimalError> {
        parse_scaled(text, 6, true).map(Self)
    }

    /// All six decimals, as used in evidence, for example `0.250000`.
    pub fn to_fixed(self) -> String {
        format_scaled(self.0, 6, true)
    }
}

/// Writes at most six decimals, without trailing zeros.
impl fmt::Display for Percent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&format_scaled(self.0, 6, false))
    }
}

/// The maximum gap that a caller accepts: from −100% to 100%, with at most six decimals. A fill passes if its exact
/// gap, before any rounding, is at most this.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct GapLimit(i64);

/// Why a percentage is refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PercentError {
    /// The text is not a plain decimal of at most six decimals.
    #[error(transparent)]
    Decimal(#[from] DecimalError),
    /// The percentage is outside its bounds.
    #[error("{found}% is outside the range {min}% to {max}%")]
    OutOfRange {
        /// The requested percentage.
        found: Percent,
        /// The lowest one allowed.
        min: Percent,
        /// The highest one allowed.
        max: Percent,
    },
}

impl GapLimit {
    const BOUND: i64 = 100_000_000;

    /// The standard gap limit of a depth: 2%.
    pub const DEPTH: Self = Self(2_000_000);
    /// The gap limits of every ladder: 0.1, 0.25, 0.5, 1, 2, 3, 5 and 10%.
    pub const LADDER: [Self; 8] = [
        Self(100_000),
        Self(250_000),
        Self(500_000),
        Self(1_000_000),
        Self(2_000_000),
        Self(3_000_000),
        Self(5_000_000),
        Self(10_000_000),
    ];

    /// The limit with this many millionths of a percent.
    pub fn from_millionths(millionths: i64) -> Result<Self, PercentError> {
        if (-Self::BOUND..=Self::BOUND).contains(&millionths) {
            Ok(Self(millionths))
        } else {
            Err(PercentError::OutOfRange {
                found: Percent(millionths.into()),
                min: Percent((-Self::BOUND).into()),
                max: Percent(Self::BOUND.into()),
            })
        }
    }

    /// The limit in millionths of a percent.
    pub fn millionths(self) -> i64 {
        self.0
    }
}

impl FromStr for GapLimit {
    type Err = PercentError;
    fn from_str(text: &str) -> Result<Self, PercentError> {
        let millionths = Percent::parse(text)?.0;
        Self::from_millionths(i64::try_from(millionths).unwrap_or(i64::MAX))
    }
}

impl From<GapLimit> for Percent {
    fn from(limit: GapLimit) -> Self {
        Self(limit.0.into())
    }
}

impl fmt::Display for GapLimit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&Percent::from(*self), f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_keep_to_their_bounds() {
        assert_eq!("2".parse::<GapLimit>().unwrap(), GapLimit::DEPTH);
        assert_eq!("-100".parse::<GapLimit>().unwrap().millionths(), -100_000_000);
        assert!(matches!("100.000001".parse::<GapLimit>(), Err(PercentError::OutOfRange { .. })));
        assert!(matches!("0.0000001".parse::<GapLimit>(), Err(PercentError::Decimal(_))));
        assert_eq!("0.5".parse::<GapLimit>().unwrap().to_string(), "0.5");
    }
}
