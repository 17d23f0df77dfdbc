//! Units and checked numbers. Each type states its unit, scale, sign and bounds.

mod decimal;
mod percent;
mod price;
mod usd;

pub(crate) use decimal::format_scaled;
pub use decimal::{DecimalError, parse_scaled};
pub use percent::{GapLimit, Percent, PercentError};
pub(crate) use price::round_half_even;
pub use price::{Decimal, PriceError, UsdPrice};
pub use usd::{SizeError, SizeUsd, UsdMicros};
