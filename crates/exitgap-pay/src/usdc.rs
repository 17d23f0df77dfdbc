//! Amounts of dollars' tokens.

use core::fmt;
use core::str::FromStr;

use exitgap_api::x402::{Units, X402Error};

/// Decimals of every token that is paid with.
pub const DECIMALS: u8 = 6;

/// An amount of a dollar's token, in its smallest units: millionths. Read from and written as whole
/// tokens.
///
/// ```
/// use exitgap_pay::Usdc;
/// assert_eq!("0.02".parse(), Ok(Usdc(20_000)));
/// assert_eq!(Usdc(1_500_000).to_string(), "1.5");
/// assert!("2e-2".parse::<Usdc>().is_err());
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Usdc(pub u128);

impl Usdc {
    /// Their sum; the most that can be written where it is more.
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }
}

impl From<Units> for Usdc {
    fn from(units: Units) -> Self {
        Self(units.0)
    }
}

impl FromStr for Usdc {
    type Err = X402Error;
    fn from_str(text: &str) -> Result<Self, X402Error> {
        Units::of_tokens("the amount", text, DECIMALS).map(Self::from)
    }
}

impl fmt::Display for Usdc {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&Units(self.0).in_tokens(DECIMALS))
    }
}
