//! Amounts of dollar tokens.

use core::fmt;
use core::str::FromStr;

use exitgap_api::x402::{Units, X402Error};

/// The decimals of every supported token.
pub const DECIMALS: u8 = 6;

/// An amount of a dollar token, in its smallest units: millionths. Parsed from and formatted as whole tokens.
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
    /// The sum, capped at the largest value that can be written.
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
