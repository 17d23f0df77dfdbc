//! One table of the accuracy of all pools: a row each, summed up in turn and remembered.

use serde::{Deserialize, Serialize};

use crate::{AccuracyErrors, AccuracyNotCompared, Number, PoolAccuracy, Problem, Status};

/// How good the estimates of all recorded pools were: `GET /v1/accuracy`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct AccuracyTable {
    /// The rules: `accuracy/1`.
    pub figure: String,
    /// Pools of all pages of which no row was summed up yet.
    pub waiting: u32,
    /// A row for each pool of the page, in the order of their identifiers.
    pub pools: Vec<AccuracyRow>,
    /// Where the next page begins; absent on the last.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub next_cursor: Option<String>,
}

/// A pool in the table.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct AccuracyRow {
    /// The pool.
    pub pool: String,
    /// Venue and fee in words; absent before the first snapshot.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub name: Option<String>,
    /// Its record of the last seven days, as far as it was summed up; `null` where there is none.
    pub record: Option<AccuracySummary>,
    /// Why there is none: `waiting`, it was not summed up yet, or the code of a refusal, such as
    /// `figure_unsupported_kind`. Absent where there is one.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub why_not: Option<String>,
}

impl AccuracyRow {
    /// Of a row that was not summed up yet.
    pub const WAITING: &str = "waiting";

    /// The row of a pool; `told` is `None` where it was not summed up yet.
    pub fn new(
        pool: String,
        name: Option<String>,
        told: Option<Result<AccuracySummary, String>>,
    ) -> Self {
        let told = told.unwrap_or_else(|| Err(Self::WAITING.to_owned()));
        let why_not = told.as_ref().err().cloned();
        Self { pool, name, record: told.ok(), why_not }
    }
}

/// An accuracy record without its swaps.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct AccuracySummary {
    /// The first slot, RFC 3339.
    pub from: String,
    /// The last slot, RFC 3339.
    pub to: String,
    /// The newest slot when the row was summed up, RFC 3339: it knows nothing of what was sealed later.
    pub until: String,
    /// Live or preview.
    pub status: Status,
    /// Whether it is a record: 200 swaps compared and seven days.
    pub enough: bool,
    /// Slots that stand.
    pub slots: u32,
    /// Later slots that stand, and whose swaps no head commits to yet.
    pub slots_waiting: u32,
    /// Stretches between two slots, each replayed.
    pub stretches: u32,
    /// Of them those whose logs did not give the later state.
    pub stretches_incomplete: u32,
    /// Swaps logged.
    pub swaps: u32,
    /// Swaps compared; with those not compared they are all.
    pub compared: u32,
    /// Those that were not.
    pub not_compared: AccuracyNotCompared,
    /// Errors of estimates of the newest slot before.
    #[serde(flatten)]
    pub errors: AccuracyErrors,
    /// Days of snapshots behind the pool's newest, at 288 a day.
    pub days_observed: Number,
    /// The whole record of this period.
    pub accuracy_url: String,
    /// The file by which anyone computes the row again.
    pub figure_url: String,
}

impl AccuracySummary {
    /// Of a whole record, known up to `until`, that is at an address.
    pub fn of(told: PoolAccuracy, until: String, accuracy_url: String) -> Self {
        let PoolAccuracy { record, days_observed, slots_waiting, figure_url, .. } = told;
        let none = AccuracyErrors {
            n: 0,
            exact_n: 0,
            abs_error_pct_q50: None,
            abs_error_pct_q95: None,
            worst_pct: None,
            mean_error_pct: None,
        };
        Self {
            from: record.from,
            to: record.to,
            until,
            status: record.status,
            enough: record.enough,
            slots: record.slots,
            slots_waiting,
            stretches: record.stretches,
            stretches_incomplete: record.stretches_incomplete,
            swaps: record.swaps,
            compared: record.compared,
            not_compared: record.not_compared,
            errors: record.by_age.into_iter().next().map_or(none, |newest| newest.errors),
            days_observed,
            accuracy_url,
            figure_url,
        }
    }

    /// The code of a refusal, as a row has it.
    pub fn refused(problem: &Problem) -> String {
        problem.code.as_str().to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ProblemCode;

    #[test]
    fn a_row_has_a_record_or_says_why_not() {
        let row = |told| serde_json::to_value(AccuracyRow::new("p".to_owned(), None, told));
        let waiting = serde_json::json!({ "pool": "p", "record": null, "why_not": "waiting" });
        assert_eq!(row(None).ok(), Some(waiting));
        let problem = Problem::new(ProblemCode::FigureUnsupportedKind, "");
        let refused = row(Some(Err(AccuracySummary::refused(&problem)))).ok();
        let expected = serde_json::json!({ "pool": "p", "record": null, "why_not": "figure_unsupported_kind" });
        assert_eq!(refused, Some(expected));
    }
}
