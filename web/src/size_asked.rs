//! Sizes that a reader writes, and what is said of those that are none.

use exitgap_api::{Problem, size_as_written};
use exitgap_core::units::SizeUsd;

/// Reads a size as a person writes it.
pub fn size_asked(text: &str) -> Result<SizeUsd, Problem> {
    size_as_written(text).map_err(|problem| {
        let is = |words: &str| problem.detail.contains(words);
        let written = "Write a size in dollars, such as 250,000.";
        let detail = if is("grouped") {
            let why = problem.detail.strip_prefix("size_usd: ").unwrap_or_default();
            return Problem { detail: format!("{why}. {written}"), hint: None, ..problem };
        } else if is("above the largest") || is("longer than any") {
            "The largest size is $1,000,000,000."
        } else if is("below the smallest") {
            "The smallest size is one cent, $0.01."
        } else {
            written
        };
        Problem { detail: detail.to_owned(), hint: None, ..problem }
    })
}
