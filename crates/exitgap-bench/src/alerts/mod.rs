//! Evaluates rules for a sealed slot, and sends its events to many receivers at once.
//!
//! - `rules`: one slot for a hundred thousand rules
//! - `telling`: a slot's events to a thousand endpoints
//! - `streams`: a slot's events to ten thousand streams

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
