//! Parses parameters from text. A refusal names the parameter and gives a hint.

use exitgap_core::exit::{OrderPlan, OrderPlanError};
use exitgap_core::ids::{IdError, PoolId};
use exitgap_core::series::{Slot, SlotError};
use exitgap_core::units::{GapLimit, Percent, PercentError, SizeError, SizeUsd};

use crate::operations::parameters::{BASE, ORDERS, POOL, RECOVERY, SLOT};
use crate::{Problem, ProblemCode};

/// More rows than a reader needs.
pub const MAX_LADDER_STEPS: usize = 100;

/// The maximum length of a token's name, which is that of an address.
pub(crate) const MAX_TOKEN_NAME_BYTES: usize = 42;

/// How many characters of an invalid value are shown.
const SHOWN: usize = 40;

/// The problem for a parameter with an invalid value.
pub fn invalid_parameter(field: &str, detail: &str, hint: &str) -> Problem {
    Problem::new(ProblemCode::InvalidParameter, detail).field(field).hint(hint)
}

/// Parses a `size_usd`.
pub fn parse_size(text: &str) -> Result<SizeUsd, Problem> {
    text.parse().map_err(|error: SizeError| {
        let hint = "size_usd is a plain number from 0.01 to 1000000000 with at most six decimals";
        invalid_parameter("size_usd", &error.to_string(), hint)
    })
}

/// Parses a pool's identifier. Pasted addresses often contain checksum capitals, but the identifier is lower case.
pub fn parse_pool(text: &str) -> Result<PoolId, Problem> {
    text.to_ascii_lowercase().parse().map_err(|error: IdError| {
        let problem = Problem::new(ProblemCode::InvalidPool, error.to_string());
        problem.field(POOL.name).hint(POOL.hint.unwrap_or_default())
    })
}

/// Parses a token's name: printable ASCII, like recorded symbols. Only the pool determines whether it has such a token.
pub fn parse_token_name(text: &str) -> Result<&str, Problem> {
    let printable = text.bytes().all(|byte| matches!(byte, b' '..=b'~'));
    if printable && (1..=MAX_TOKEN_NAME_BYTES).contains(&text.len()) {
        return Ok(text);
    }
    let detail = format!("base: {:?} is not a token name", shown(text));
    Err(invalid_parameter(BASE.name, &detail, BASE.hint.unwrap_or_default()))
}

/// Parses a slot number.
pub fn parse_slot(text: &str) -> Result<Slot, Problem> {
    let hint = SLOT.hint.unwrap_or_default();
    let number = digits(text).ok_or_else(|| {
        invalid_parameter(SLOT.name, &format!("slot: {:?} is not a number", shown(text)), hint)
    })?;
    Slot::new(number).map_err(|error| {
        let code = match error {
            SlotError::BeforeSeries { .. } => ProblemCode::BeforeSeries,
            SlotError::TooLate { .. } => ProblemCode::InvalidParameter,
        };
        Problem::new(code, error.to_string()).field(SLOT.name).hint(hint)
    })
}

/// A whole number in digits only.
pub(crate) fn digits(text: &str) -> Option<u64> {
    let plain = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    plain.then(|| text.parse().ok())?
}

/// The first characters of an invalid value.
pub(crate) fn shown(text: &str) -> String {
    text.chars().take(SHOWN).collect()
}

/// Parses a gap limit.
pub fn parse_gap_limit(text: &str) -> Result<GapLimit, Problem> {
    text.parse().map_err(|error: PercentError| {
        let hint = "gap is a plain percentage from -100 to 100 with at most six decimals";
        invalid_parameter("gap", &format!("gap: {error}"), hint)
    })
}

/// Parses the plan of a sale in several orders.
pub fn parse_order_plan(
    size_usd: &str,
    orders: u32,
    recovery_pct: &str,
    interval_s: u32,
) -> Result<OrderPlan, Problem> {
    order_plan(parse_size(size_usd)?, orders, parse_recovery(recovery_pct)?, interval_s)
}

/// Parses a `recovery_pct`. The order plan checks its bounds.
pub(crate) fn parse_recovery(text: &str) -> Result<Percent, Problem> {
    Percent::parse(text).map_err(|error| {
        let detail = format!("{}: {error}", RECOVERY.name);
        invalid_parameter(RECOVERY.name, &detail, RECOVERY.hint.unwrap_or_default())
    })
}

/// Builds a plan of orders. A refusal names the parameter at fault.
pub(crate) fn order_plan(
    size: SizeUsd,
    orders: u32,
    recovery: Percent,
    interval_s: u32,
) -> Result<OrderPlan, Problem> {
    OrderPlan::new(size, orders, recovery, interval_s).map_err(|error| {
        let at_fault = match error {
            OrderPlanError::Parts { .. } => ORDERS,
            _ => RECOVERY,
        };
        invalid_parameter(at_fault.name, &error.to_string(), at_fault.hint.unwrap_or_default())
    })
}

/// Parses a ladder's steps, sorted and without duplicates; `standard` if none are given.
pub fn parse_steps<T: Clone + Ord>(
    field: &str,
    texts: &[String],
    standard: &[T],
    parse: impl Fn(&str) -> Result<T, Problem>,
) -> Result<Vec<T>, Problem> {
    if texts.len() > MAX_LADDER_STEPS {
        let detail = format!(
            "{} steps are given, but a ladder takes at most {MAX_LADDER_STEPS}",
            texts.len()
        );
        return Err(invalid_parameter(field, &detail, "ask for fewer steps"));
    }
    if texts.is_empty() {
        return Ok(standard.to_vec());
    }
    // Sorted and without duplicates.
    let mut steps = Vec::new();
    for text in texts {
        let step = parse(text)?;
        if let Err(position) = steps.binary_search(&step) {
            steps.insert(position, step);
        }
    }
    Ok(steps)
}
