//! Prices: exact rational numbers internally, at most twelve significant digits in output.

use core::fmt;

use crate::wide::{U256, U1024, narrow, power_of_ten, times};

/// The exact value of one whole token in USD: `numerator ÷ 10^decimals`. It is the product of one or more oracle
/// answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct UsdPrice {
    numerator: U256,
    decimals: u32,
}

/// Why a number is not a price.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum PriceError {
    /// A price of zero or less is not valid.
    #[error("a price must be greater than zero")]
    NotPositive,
    /// The answer is above `10^36` before its decimals are applied. No feed returns that.
    #[error("the oracle answer is above the maximum of 10^36")]
    AnswerTooLarge,
    /// The answer has more than 36 decimals.
    #[error("the oracle answer has {found} decimals; at most 36 are accepted")]
    TooManyDecimals {
        /// The number of decimals found.
        found: u32,
    },
    /// There are more than two answers to multiply into one price.
    #[error("a price must be the product of at most two oracle answers, found {found}")]
    TooManyFactors {
        /// The number of answers found.
        found: usize,
    },
}

impl UsdPrice {
    /// The maximum number of decimals of an answer.
    pub const MAX_DECIMALS: u32 = 36;
    /// The maximum number of answers multiplied into one price (a ratio feed and a USD feed). With the bounds on each
    /// answer this keeps every exact comparison within 1,024 bits.
    pub const MAX_FACTORS: usize = 2;

    /// The product of oracle answers, each `answer ÷ 10^decimals`.
    ///
    /// ```
    /// use exitgap_math::{U256, units::UsdPrice};
    /// // 1.15 ETH per wstETH × 3,000 USD per ETH
    /// let price = UsdPrice::product(&[(U256::from(115), 2), (U256::from(3_000), 0)])?;
    /// assert_eq!(price.to_decimal().to_string(), "3450");
    /// # Ok::<(), exitgap_math::units::PriceError>(())
    /// ```
    pub fn product(answers: &[(U256, u32)]) -> Result<Self, PriceError> {
        if answers.is_empty() {
            return Err(PriceError::NotPositive);
        }
        if answers.len() > Self::MAX_FACTORS {
            return Err(PriceError::TooManyFactors { found: answers.len() });
        }
        let largest = U256::from(10_u128.pow(36));
        let mut price = Self { numerator: U256::ONE, decimals: 0 };
        for (answer, decimals) in answers {
            if answer.is_zero() {
                return Err(PriceError::NotPositive);
            }
            if *answer > largest {
                return Err(PriceError::AnswerTooLarge);
            }
            if *decimals > Self::MAX_DECIMALS {
                return Err(PriceError::TooManyDecimals { found: *decimals });
            }
            // At most 10^72, which fits in 256 bits.
            price.numerator = times(price.numerator, *answer);
            price.decimals += decimals;
        }
        Ok(price)
    }

    /// The price after a fall by `fall_e8` millionths of a percent, exactly. `None` if the fall is the whole price, or
    /// if the result has too many digits.
    pub fn fallen(&self, fall_e8: u32) -> Option<Self> {
        let (mut kept, mut decimals) = (100_000_000_u32.checked_sub(fall_e8)?, 8);
        while decimals > 0 && kept.is_multiple_of(10) {
            (kept, decimals) = (kept / 10, decimals - 1);
        }
        let most = power_of_ten(72);
        let numerator = U1024::from(self.numerator) * U1024::from(kept);
        let decimals = self.decimals + decimals;
        if kept == 0 || numerator > most || decimals > 72 {
            return None;
        }
        Some(Self { numerator: narrow(numerator)?, decimals })
    }

    /// The numerator over `10^decimals`.
    pub fn numerator(&self) -> U256 {
        self.numerator
    }

    /// The exponent of the denominator of [`UsdPrice::numerator`].
    pub fn decimals(&self) -> u32 {
        self.decimals
    }

    /// The price for people, rounded half-even to at most twelve significant digits.
    pub fn to_decimal(&self) -> Decimal {
        Decimal::of_ratio(U1024::from(self.numerator), power_of_ten(self.decimals))
    }
}

/// A non-negative decimal with at most twelve significant digits: `digits × 10^exponent`. It is only for display, and
/// nothing is computed from it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Decimal {
    digits: u64,
    exponent: i32,
}

impl Decimal {
    /// The number of significant digits.
    pub const SIGNIFICANT: u32 = 12;

    /// `numerator ÷ denominator`, rounded half-even to twelve significant digits. The caller must ensure that the
    /// denominator is positive and that both are below `2^980`.
    pub fn of_ratio(numerator: U1024, denominator: U1024) -> Self {
        if numerator.is_zero() {
            return Self { digits: 0, exponent: 0 };
        }
        // A first guess of the exponent from the bit lengths (log10 2 ≈ 1233/4096), then at most one or two steps until
        // there are exactly twelve digits before the point.
        let bits = |n: U1024| i32::try_from(n.bit_len()).unwrap_or(1_024);
        let bits = bits(numerator) - bits(denominator);
        let mut exponent = (bits * 1_233).div_euclid(4_096) - 11;
        let (low, high) = (U1024::from(10_u64.pow(11)), U1024::from(10_u64.pow(12)));
        loop {
            let (n, d) = if exponent >= 0 {
                (numerator, denominator * power_of_ten(exponent.unsigned_abs()))
            } else {
                (numerator * power_of_ten(exponent.unsigned_abs()), denominator)
            };
            let (floor, rest) = n.div_rem(d);
            if floor < low {
                exponent -= 1;
            } else if floor >= high {
                exponent += 1;
            } else {
                let digits = nearest(floor, rest, d);
                return Self { digits: digits.saturating_to_u64(), exponent }.normalize();
            }
        }
    }

    /// Removes trailing zeros, so that equal numbers are equal values.
    fn normalize(mut self) -> Self {
        while self.digits != 0 && self.digits.is_multiple_of(10) {
            self.digits /= 10;
            self.exponent += 1;
        }
        self
    }
}

/// `n ÷ d`, rounded to the nearest integer, ties to even.
pub fn round_half_even(n: U1024, d: U1024) -> U1024 {
    let (floor, rest) = n.div_rem(d);
    nearest(floor, rest, d)
}

/// The nearest integer, given the quotient `floor` and the remainder `rest` of a division by `d`.
fn nearest(floor: U1024, rest: U1024, d: U1024) -> U1024 {
    let twice = rest << 1;
    if twice > d || (twice == d && floor.is_odd()) { floor + U1024::ONE } else { floor }
}

/// Plain decimal notation, never an exponent, e.g. `3000.5` or `0.000000012`.
impl fmt::Display for Decimal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let digits = self.digits.to_string();
        let text = if self.exponent >= 0 {
            format!("{digits}{}", "0".repeat(self.exponent.unsigned_abs() as usize))
        } else {
            let decimals = self.exponent.unsigned_abs() as usize;
            let padded = format!("{digits:0>width$}", width = decimals + 1);
            let (whole, fraction) = padded.split_at(padded.len() - decimals);
            format!("{whole}.{fraction}")
        };
        f.pad(&text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ratio(n: u128, d: u128) -> String {
        Decimal::of_ratio(U1024::from(n), U1024::from(d)).to_string()
    }

    #[test]
    fn prices_keep_twelve_digits_half_even() {
        assert_eq!(ratio(0, 7), "0");
        assert_eq!(ratio(1, 3), "0.333333333333");
        assert_eq!(ratio(2, 3), "0.666666666667");
        assert_eq!(ratio(3_000, 1), "3000");
        assert_eq!(ratio(1, 10_u128.pow(30)), "0.000000000000000000000000000001");
        assert_eq!(ratio(10_u128.pow(38), 3), "33333333333300000000000000000000000000");
        // Ties: …2.5 is rounded down to even, …3.5 up to even.
        assert_eq!(ratio(1_000_000_000_025, 10), "100000000002");
        assert_eq!(ratio(1_000_000_000_035, 10), "100000000004");
        assert_eq!(ratio(9_999_999_999_999, 10), "1000000000000");
    }

    #[test]
    fn answers_out_of_bounds_are_refused_by_name() {
        let ten36 = U256::from(10).pow(U256::from(36));
        assert_eq!(UsdPrice::product(&[]), Err(PriceError::NotPositive));
        assert_eq!(UsdPrice::product(&[(U256::ZERO, 8)]), Err(PriceError::NotPositive));
        assert_eq!(UsdPrice::product(&[(ten36 + U256::ONE, 8)]), Err(PriceError::AnswerTooLarge));
        assert_eq!(
            UsdPrice::product(&[(U256::ONE, 37)]),
            Err(PriceError::TooManyDecimals { found: 37 })
        );
        assert_eq!(
            UsdPrice::product(&[(U256::ONE, 0); 3]),
            Err(PriceError::TooManyFactors { found: 3 })
        );
        assert!(UsdPrice::product(&[(ten36, 36), (ten36, 36)]).is_ok());
    }
}
