//! Parameters as text, read; what is wrong with one is said with its name and remedy.

use exitgap_core::exit::{OrderPlan, OrderPlanError};
use exitgap_core::units::{GapLimit, Percent, PercentError, SizeError, SizeUsd};

use crate::{Problem, ProblemCode};

/// More rows than anybody reads.
pub const MAX_LADDER_STEPS: usize = 100;

const RECOVERY_HINT: &str = "recovery_pct is a plain percentage from 0 to 100";

/// A parameter that holds no acceptable value.
pub fn invalid_parameter(field: &str, detail: &str, hint: &str) -> Problem {
    Problem::new(ProblemCode::InvalidParameter, detail).field(field).hint(hint)
}

/// Reads a `size_usd`.
pub fn parse_size(text: &str) -> Result<SizeUsd, Problem> {
    text.parse().map_err(|error: SizeError| {
        let hint = "size_usd is a plain number from 0.01 to 1000000000 with at most six decimals";
        invalid_parameter("size_usd", &error.to_string(), hint)
    })
}

/// Reads a gap limit.
pub fn parse_gap_limit(text: &str) -> Result<GapLimit, Problem> {
    text.parse().map_err(|error: PercentError| {
        let hint = "gap is a plain percentage from -100 to 100 with at most six decimals";
        invalid_parameter("gap", &format!("gap: {error}"), hint)
    })
}

/// Reads a plan of orders.
pub fn parse_order_plan(
    size_usd: &str,
    orders: u32,
    recovery_pct: &str,
    interval_s: u32,
) -> Result<OrderPlan, Problem> {
    let size = parse_size(size_usd)?;
    let recovery = Percent::parse(recovery_pct).map_err(|error| {
        invalid_parameter("recovery_pct", &format!("recovery_pct: {error}"), RECOVERY_HINT)
    })?;
    OrderPlan::new(size, orders, recovery, interval_s).map_err(|error| {
        let (field, hint) = match error {
            OrderPlanError::Parts { .. } => ("orders", "ask for 1 to 1000 orders"),
            _ => ("recovery_pct", RECOVERY_HINT),
        };
        invalid_parameter(field, &error.to_string(), hint)
    })
}

/// Reads a ladder's steps, sorted and each once; `standard` where there are none.
pub fn parse_steps<T: Clone + Ord>(
    field: &str,
    texts: &[String],
    standard: &[T],
    parse: impl Fn(&str) -> Result<T, Problem>,
) -> Result<Vec<T>, Problem> {
    if texts.len() > MAX_LADDER_STEPS {
        let detail =
            format!("{} steps are more than the {MAX_LADDER_STEPS} of a ladder", texts.len());
        return Err(invalid_parameter(field, &detail, "ask for fewer steps"));
    }
    if texts.is_empty() {
        return Ok(standard.to_vec());
    }
    // In order, each once.
    let mut steps = Vec::new();
    for text in texts {
        let step = parse(text)?;
        if let Err(position) = steps.binary_search(&step) {
            steps.insert(position, step);
        }
    }
    Ok(steps)
}
