//! Sizes that a reader writes, and what is said of those that are none.

use exitgap_api::{Problem, WrittenSizeError, written_size};
use exitgap_core::units::{DecimalError, SizeUsd};

/// Reads a size as a person writes it.
pub fn size_asked(text: &str) -> Result<SizeUsd, Problem> {
    written_size(text).map_err(|error| {
        let written = "Write a size in dollars, such as 250,000.";
        let detail = match &error {
            WrittenSizeError::DigitGroups { .. } => format!("{error}. {written}"),
            WrittenSizeError::TooLong { .. }
            | WrittenSizeError::AboveMaximum { .. }
            | WrittenSizeError::Decimal(DecimalError::TooLarge { .. }) => {
                "The largest size is $1,000,000,000.".to_owned()
            }
            WrittenSizeError::BelowMinimum { .. } => {
                "The smallest size is one cent, $0.01.".to_owned()
            }
            WrittenSizeError::Decimal(_) => written.to_owned(),
        };
        Problem { detail, hint: None, ..error.into() }
    })
}
