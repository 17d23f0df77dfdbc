//! The exit result.

use exitgap_core::exit::{Estimate, Split};
use serde::{Deserialize, Serialize};

use crate::{Answer, Number};

/// The parts of a gap: `1 − gap = (1 − basis) × (1 − fee) × (1 − impact)`, each rounded to six
/// decimals separately.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct SplitPct {
    /// How far the pool's mid price is below the oracle price, percent.
    pub basis_pct: Number,
    /// The pool's fee, percent.
    pub fee_pct: Number,
    /// The price impact, percent.
    pub impact_pct: Number,
}

impl From<Split> for SplitPct {
    fn from(split: Split) -> Self {
        Self {
            basis_pct: split.basis.into(),
            fee_pct: split.fee.into(),
            impact_pct: split.impact.into(),
        }
    }
}

/// The figures of one exit.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Amounts {
    /// The size, USD.
    pub size_usd: Number,
    /// Gap between realized price and oracle price, percent. Positive: the fill is
    /// worse than the oracle; negative: better.
    pub exit_gap_pct: Number,
    /// The parts of the gap.
    pub split: SplitPct,
    /// USD per whole base token, as filled.
    pub realized_price_usd: Number,
    /// USD per whole base token at the pool's mid price before the exit.
    pub mid_price_usd: Number,
    /// USD per whole base token for the next unit after the exit, fee included.
    pub marginal_price_usd: Number,
    /// Raw units of the base token sold.
    pub amount_in_raw: String,
    /// Raw units of the quote token bought.
    pub amount_out_raw: String,
    /// Initialised ticks crossed. Absent for pools without ticks.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub ticks_crossed: Option<u32>,
}

impl From<&Estimate> for Amounts {
    fn from(estimate: &Estimate) -> Self {
        Self {
            size_usd: estimate.size.into(),
            exit_gap_pct: estimate.gap.into(),
            split: estimate.split.into(),
            realized_price_usd: estimate.realized_price.into(),
            mid_price_usd: estimate.mid_price.into(),
            marginal_price_usd: estimate.marginal_price.into(),
            amount_in_raw: estimate.amount_in.to_string(),
            amount_out_raw: estimate.amount_out.to_string(),
            ticks_crossed: estimate.ticks_crossed,
        }
    }
}

/// The answer to "at this size, how far below the oracle do I fill?".
pub type ExitResult = Answer<Amounts>;
