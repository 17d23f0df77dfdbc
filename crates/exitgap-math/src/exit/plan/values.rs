//! The values of raw units: exact fractions for the gap, and integers in units of `2^-160` dollars for the bound.

use crate::exit::terms::shortfall;
use crate::units::{Percent, UsdMicros, UsdPrice};
use crate::wide::{U256, U1024, narrow, power_of_ten};

/// A unit of value is `2^-160` dollars.
pub(super) const VALUE_BITS: usize = 160;

/// The value of a raw unit of one token.
#[derive(Debug, Clone)]
pub(super) struct Worth {
    numerator: U256,
    /// The decimals of the price and of the token.
    decimals: u32,
    /// In units of value, rounded down …
    pub low: U256,
    /// … and rounded up.
    pub high: U256,
}

impl Worth {
    /// `None` if a raw unit is worth 2^96 dollars or more.
    pub fn new(price: &UsdPrice, token_decimals: u8) -> Option<Self> {
        let decimals = price.decimals() + u32::from(token_decimals.min(36));
        // 240 and 160 bits, over at most 10^108.
        let scaled = U1024::from(price.numerator()) << VALUE_BITS;
        let low = narrow(scaled / power_of_ten(decimals))?;
        let high = narrow(scaled.div_ceil(power_of_ten(decimals)))?;
        Some(Self { numerator: price.numerator(), decimals, low, high })
    }

    /// The value of `amount` in parts of `10^-decimals` dollars. Below 2^856.
    fn exact(&self, amount: U256, decimals: u32) -> U1024 {
        let unit = U1024::from(self.numerator) * power_of_ten(decimals - self.decimals);
        unit * U1024::from(amount)
    }
}

/// A sale: what was sold, and what was received for it.
pub(super) struct Sale<'w> {
    pub sold: Vec<(&'w Worth, U256)>,
    pub received: Vec<(&'w Worth, U256)>,
}

impl Sale<'_> {
    fn decimals(&self) -> u32 {
        let all = self.sold.iter().chain(&self.received);
        all.map(|(worth, _)| worth.decimals).fold(6, u32::max)
    }

    /// `100 × (1 − received ÷ sold)`, rounded half-even once; `None` if it is outside a percentage's bounds.
    pub fn gap(&self) -> Option<Percent> {
        let decimals = self.decimals();
        let sold = exact_sum(&self.sold, decimals);
        if sold.is_zero() {
            return None;
        }
        shortfall(exact_sum(&self.received, decimals), sold)
    }

    /// What was received, rounded down to micro-dollars and capped.
    pub fn received_micros(&self) -> UsdMicros {
        let decimals = self.decimals();
        let micros = exact_sum(&self.received, decimals) / power_of_ten(decimals - 6);
        UsdMicros(narrow(micros).map_or(u64::MAX, |micros| micros.saturating_to()))
    }

    /// What was received, in units of value, token by token rounded down.
    pub fn received_low(&self) -> U1024 {
        low_sum(&self.received)
    }

    /// What was sold, in units of value, token by token rounded down.
    pub fn sold_low(&self) -> U1024 {
        low_sum(&self.sold)
    }
}

/// The value of amounts in parts of `10^-decimals` dollars.
fn exact_sum(amounts: &[(&Worth, U256)], decimals: u32) -> U1024 {
    let value = |(worth, amount): &(&Worth, U256)| worth.exact(*amount, decimals);
    amounts.iter().map(value).fold(U1024::ZERO, |sum, value| sum + value)
}

fn low_sum(amounts: &[(&Worth, U256)]) -> U1024 {
    let value = |(worth, amount): &(&Worth, U256)| U1024::from(*amount) * U1024::from(worth.low);
    amounts.iter().map(value).fold(U1024::ZERO, |sum, value| sum + value)
}

/// Units of value in micro-dollars, rounded up and capped.
pub(super) fn micros_up(value: U1024) -> UsdMicros {
    let micros = (value * U1024::from(1_000_000_u32)).div_ceil(U1024::ONE << VALUE_BITS);
    UsdMicros(narrow(micros).map_or(u64::MAX, |micros| micros.saturating_to()))
}
