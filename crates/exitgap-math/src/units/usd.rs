//! Amounts in US dollars, stored as integer micro-dollars.

use core::fmt;
use core::str::FromStr;

use super::decimal::{DecimalError, format_scaled, parse_scaled};

/// A dollar amount in micro-dollars (`1` is 0.000001 USD), never negative.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct UsdMicros(pub u64);

impl UsdMicros {
    /// Whole dollars, rounded down.
    pub fn whole_dollars(self) -> u64 {
        self.0 / 1_000_000
    }
}

/// Writes dollars with up to six decimals, e.g. `1000` or `0.25`.
impl fmt::Display for UsdMicros {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&format_scaled(self.0.into(), 6, false))
    }
}

/// `size_usd`: the size of an exit, from 0.01 to 1,000,000,000 USD, with at most six decimals.
///
/// ```
/// use exitgap_math::units::SizeUsd;
/// let size: SizeUsd = "250000.5".parse()?;
/// assert_eq!(size.micros(), 250_000_500_000);
/// assert!("0.001".parse::<SizeUsd>().is_err());
/// # Ok::<(), exitgap_math::units::SizeError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SizeUsd(u64);

/// Why a `size_usd` is refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SizeError {
    /// The text is not a plain decimal of at most six decimals.
    #[error("size_usd: {0}")]
    Decimal(#[from] DecimalError),
    /// The size is below one cent.
    #[error("size_usd: {found} is below the smallest size, 0.01")]
    BelowMinimum {
        /// The size asked for.
        found: UsdMicros,
    },
    /// The size is above one billion dollars.
    #[error("size_usd: {found} is above the largest size, 1000000000")]
    AboveMaximum {
        /// The size asked for.
        found: UsdMicros,
    },
}

impl SizeUsd {
    /// One cent. Below it, rounding to token units has more effect than the pool.
    pub const MIN: Self = Self(10_000);
    /// One billion dollars. No pool can fill more, and every product of the method stays well within its integers.
    pub const MAX: Self = Self(1_000_000_000_000_000);
    /// The sizes of every slippage table: 1,000, 10,000, 100,000 and 1,000,000 USD.
    pub const STANDARD: [Self; 4] =
        [Self(1_000_000_000), Self(10_000_000_000), Self(100_000_000_000), Self(1_000_000_000_000)];

    /// The size with this many micro-dollars.
    pub fn from_micros(micros: u64) -> Result<Self, SizeError> {
        if micros < Self::MIN.0 {
            return Err(SizeError::BelowMinimum { found: UsdMicros(micros) });
        }
        if micros > Self::MAX.0 {
            return Err(SizeError::AboveMaximum { found: UsdMicros(micros) });
        }
        Ok(Self(micros))
    }

    /// The size in micro-dollars.
    pub fn micros(self) -> u64 {
        self.0
    }
}

impl From<SizeUsd> for UsdMicros {
    fn from(size: SizeUsd) -> Self {
        Self(size.0)
    }
}

impl FromStr for SizeUsd {
    type Err = SizeError;
    fn from_str(text: &str) -> Result<Self, SizeError> {
        let micros = parse_scaled(text, 6, false)?;
        let too_large = |_| DecimalError::TooLarge { found: text.chars().take(40).collect() };
        Self::from_micros(u64::try_from(micros).map_err(too_large)?)
    }
}

impl fmt::Display for SizeUsd {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&UsdMicros(self.0), f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_keep_to_their_bounds() {
        assert_eq!("0.01".parse::<SizeUsd>().unwrap(), SizeUsd::MIN);
        assert_eq!("1000000000".parse::<SizeUsd>().unwrap(), SizeUsd::MAX);
        assert_eq!("1000000000.000000".parse::<SizeUsd>().unwrap(), SizeUsd::MAX);
        assert!(matches!("0".parse::<SizeUsd>(), Err(SizeError::BelowMinimum { .. })));
        assert!(matches!("0.009999".parse::<SizeUsd>(), Err(SizeError::BelowMinimum { .. })));
        assert!(matches!(
            "1000000000.000001".parse::<SizeUsd>(),
            Err(SizeError::AboveMaximum { .. })
        ));
        assert!(matches!(
            "99999999999999999999".parse::<SizeUsd>(),
            Err(SizeError::Decimal(DecimalError::TooLarge { .. }))
        ));
        for text in ["-1", "1e6", "NaN", "", "1.0000001"] {
            assert!(matches!(text.parse::<SizeUsd>(), Err(SizeError::Decimal(_))), "{text:?}");
        }
    }
}
