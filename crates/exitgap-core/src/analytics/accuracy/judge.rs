//! One swap and one estimate: whether they agree, and the error.

use super::AccuracyRules;
use crate::exit::estimate_error;
use crate::pools::{Direction, FillError, PoolState};
use crate::snapshot::Observation;
use crate::units::Percent;
use crate::wide::U256;

/// A logged sale of one token.
#[derive(Debug, Clone, Copy)]
pub(super) struct Sale {
    pub direction: Direction,
    pub amount_in: U256,
    pub amount_out: U256,
    /// Whether it was an order for an output: see [`super::replay::Replay::is_for_output`].
    pub is_for_output: bool,
}

/// How the amount received compares with the estimate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Agreement {
    /// It is the estimated amount.
    Exact,
    /// It is what an order for an output receives: at most the estimate for the amount sold, and at least the estimate
    /// for one raw unit less.
    Bracketed,
    /// It is another amount.
    Differs,
}

impl Agreement {
    /// The code in documents.
    pub const fn code(self) -> &'static str {
        match self {
            Self::Exact => "exact",
            Self::Bracketed => "bracketed",
            Self::Differs => "differs",
        }
    }
}

/// An estimate compared with the sale.
#[derive(Debug, Clone, Copy)]
pub(super) struct Judged {
    pub estimated_out: U256,
    pub error: Percent,
    pub agreement: Agreement,
}

/// Why a sale has no error.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum NotJudged {
    /// The estimate is refused.
    Refused,
    /// The error is out of a percentage's bounds.
    OutOfRange,
}

/// Compares a sale with the estimate for it in an observed state.
pub(super) fn judge(
    rules: AccuracyRules,
    observation: &Observation,
    sale: &Sale,
) -> Result<Judged, NotJudged> {
    let Sale { direction, amount_in, amount_out, is_for_output } = *sale;
    let state = observation.state();
    let fill = state.fill_once(direction, amount_in).map_err(|_| NotJudged::Refused)?;
    let estimated_out = fill.amount_out;
    let is_bracketed = || {
        let is_judged_so = rules == AccuracyRules::Two && is_for_output;
        is_judged_so && estimated_out > amount_out && pays_at_most(state, sale)
    };
    if is_bracketed() {
        let agreement = Agreement::Bracketed;
        return Ok(Judged { estimated_out, error: Percent(0), agreement });
    }
    let amounts = [estimated_out, amount_out];
    let error = estimate_error(observation, direction, amount_in, amounts);
    let error = error.ok_or(NotJudged::OutOfRange)?;
    let is_exact = match rules {
        AccuracyRules::One => error == Percent(0),
        AccuracyRules::Two => estimated_out == amount_out,
    };
    let agreement = if is_exact { Agreement::Exact } else { Agreement::Differs };
    Ok(Judged { estimated_out, error, agreement })
}

/// Whether one raw unit less than the amount sold pays at most the amount received. An amount that is zero, or that
/// rounds to nothing, pays nothing.
pub(super) fn pays_at_most(state: &PoolState, sale: &Sale) -> bool {
    let less = sale.amount_in.saturating_sub(U256::ONE);
    match state.fill_once(sale.direction, less) {
        Ok(fill) => fill.amount_out <= sale.amount_out,
        Err(FillError::ZeroInput | FillError::ZeroOutput) => true,
        Err(_) => false,
    }
}
