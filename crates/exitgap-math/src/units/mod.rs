//! Units and checked numbers. Each type documents its unit, scale, sign and bounds.

mod decimal;
mod percent;
mod price;
mod usd;

pub use decimal::{DecimalError, format_scaled, parse_scaled};
pub use percent::{GapLimit, Percent, PercentError};
pub use price::{Decimal, PriceError, UsdPrice, round_half_even};
pub use usd::{SizeError, SizeUsd, UsdMicros};
