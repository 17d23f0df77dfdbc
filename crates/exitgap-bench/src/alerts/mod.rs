//! Rules over a sealed slot, and slots told to many at once.
//!
//! - `rules`: a hundred thousand rules take one slot
//! - `telling`: a thousand endpoints are sent what a slot made
//! - `streams`: ten thousand streams are told of one

mod rules;
pub mod streams;
mod telling;

use crate::BenchError;
use crate::report::Report;

/// Adds `alerts.*` and `stream.*`.
pub fn measure(report: &mut Report) -> Result<(), BenchError> {
    report.add("alerts.eval_100k_ms", rules::eval_ms()?);
    report.add("alerts.seal_to_post_p99_ms", telling::seal_to_post_p99_ms()?);
    streams::measure(report)
}

fn failed(error: impl std::fmt::Display) -> BenchError {
    BenchError::Http(error.to_string())
}
