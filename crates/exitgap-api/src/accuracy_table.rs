//! The table of the accuracy of all pools: one row per pool, computed in turn and cached.

use serde::{Deserialize, Serialize};

use crate::{
    AccuracyErrors, AccuracyNotCompared, Number, PoolAccuracy, Problem, SeriesMethod, Status,
};

/// How accurate the estimates of all recorded pools were: `GET /v1/accuracy`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct AccuracyTable {
    /// The version of the rules: `accuracy/2`.
    pub figure: String,
    /// Pools on all pages whose row is not computed yet.
    pub waiting: u32,
    /// One row per pool on the page, in the order of the pool identifiers.
    pub pools: Vec<AccuracyRow>,
    /// The cursor of the next page. Absent on the last page.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub next_cursor: Option<String>,
}

/// A pool in the table.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct AccuracyRow {
    /// The pool.
    pub pool: String,
    /// Venue and fee. Absent before the first snapshot.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub name: Option<String>,
    /// The record of the last seven days, as far as it was computed. `null` if there is none.
    pub record: Option<AccuracySummary>,
    /// Why there is no record: `waiting` (not computed yet), or a problem code such as
    /// `figure_unsupported_kind`. Absent if there is a record.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub why_not: Option<String>,
}

impl AccuracyRow {
    /// The state of a row that is not yet computed.
    pub const WAITING: &str = "waiting";

    /// The row of a pool; the report is `None` if it is not yet computed.
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
    /// The newest slot when the row was computed, RFC 3339. The row does not include anything
    /// sealed later.
    pub until: String,
    /// Live or preview.
    pub status: Status,
    /// Whether this is a full record: at least 200 compared swaps and 2,016 judged slots (seven
    /// days).
    pub enough: bool,
    /// Slots with a snapshot that was not retracted.
    pub slots: u32,
    /// Slots whose state follows from the logs since the slot before.
    pub judged_slots: u32,
    /// Later slots, recorded and not retracted, whose swaps no head commits to yet.
    pub slots_waiting: u32,
    /// Intervals between two slots. Each one is replayed.
    pub stretches: u32,
    /// Intervals whose replayed logs did not give the later state.
    pub stretches_incomplete: u32,
    /// Swaps logged.
    pub swaps: u32,
    /// Swaps compared. Together with the swaps not compared, these are all swaps.
    pub compared: u32,
    /// Swaps not compared.
    pub not_compared: AccuracyNotCompared,
    /// Errors of estimates from the newest slot before each swap.
    #[serde(flatten)]
    pub errors: AccuracyErrors,
    /// Days of snapshots up to the pool's newest snapshot, at 288 slots a day.
    pub days_observed: Number,
    /// The version of the method behind the estimates.
    pub method_version: String,
    /// The method, disclosed. Its window counts the slots of the record.
    pub method: SeriesMethod,
    /// The URL of the full record of this period.
    pub accuracy_url: String,
    /// URL of the figure file. Anyone can recompute the row from this file.
    pub figure_url: String,
}

impl AccuracySummary {
    /// The summary of a complete record, known up to `until`, whose URL is `accuracy_url`.
    pub fn from_accuracy(told: PoolAccuracy, until: String, accuracy_url: String) -> Self {
        let PoolAccuracy { record, days_observed, slots_waiting, figure_url, .. } = told;
        let PoolAccuracy { method_version, method, .. } = told;
        let none = AccuracyErrors {
            n: 0,
            exact_n: 0,
            bracketed_n: 0,
            abs_error_pct_q50: None,
            abs_error_pct_q95: None,
            worst_pct: None,
            worst_for_seller_pct: None,
            mean_error_pct: None,
        };
        Self {
            from: record.from,
            to: record.to,
            until,
            status: record.status,
            enough: record.enough,
            slots: record.slots,
            judged_slots: record.judged_slots,
            slots_waiting,
            stretches: record.stretches,
            stretches_incomplete: record.stretches_incomplete,
            swaps: record.swaps,
            compared: record.compared,
            not_compared: record.not_compared,
            errors: record.by_age.into_iter().next().map_or(none, |newest| newest.errors),
            days_observed,
            method_version,
            method,
            accuracy_url,
            figure_url,
        }
    }

    /// The code of a refusal as used in a row.
    pub fn refusal_code(problem: &Problem) -> String {
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
        let refused = row(Some(Err(AccuracySummary::refusal_code(&problem)))).ok();
        let expected = serde_json::json!({ "pool": "p", "record": null, "why_not": "figure_unsupported_kind" });
        assert_eq!(refused, Some(expected));
    }
}
