//! The ladder: depth by gap, and slippage by size.

use exitgap_core::analytics::depths::SlotDepths;
use exitgap_core::exit;
use exitgap_core::exit::{GapRow, SizeRow};
use exitgap_core::units::{SizeUsd, UsdMicros};
use serde::{Deserialize, Serialize};

use crate::{Amounts, Answer, DepthReading, Number, Problem};

/// A row by gap: the size that can be sold within the limit, and its fill.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct GapRung {
    /// The limit, percent.
    pub gap_limit_pct: Number,
    /// The depth within the limit. Absent if its computation was given up.
    #[serde(flatten)]
    pub depth: Option<MaxSize>,
    /// The depth within the limit from the pool's own price.
    #[serde(flatten)]
    pub reading: DepthReading,
    /// The exit of exactly that size. Absent if nothing can be sold within the limit.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub exit: Option<Amounts>,
    /// Why depth or exit is absent.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub problem: Option<Problem>,
    /// A smaller size whose gap exceeds the limit, USD: the fee of this pool depends on the size.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub worse_below_usd: Option<Number>,
    /// URL of the evidence for the exit, or that the size cannot be filled, if a service answers.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub evidence_url: Option<String>,
}

impl From<&GapRow> for GapRung {
    fn from(row: &GapRow) -> Self {
        let refused = row.estimate.as_ref().and_then(|outcome| outcome.as_ref().err());
        let size = row.depth.as_ref().ok().map(|depth| depth.size.map_or(0, SizeUsd::micros));
        let depths = SlotDepths {
            depth_usd: size.map(|micros| micros / DOLLAR),
            book_usd: row.book_usd,
            lead_e6: SlotDepths::lead_of(row.basis),
        };
        Self {
            gap_limit_pct: row.limit.into(),
            depth: row.depth.as_ref().ok().map(MaxSize::from),
            reading: DepthReading::from_depths(depths),
            exit: row
                .estimate
                .as_ref()
                .and_then(|outcome| outcome.as_ref().ok())
                .map(Amounts::from),
            problem: match &row.depth {
                Err(exhausted) => Some(Problem::from(exhausted)),
                Ok(_) => refused.map(Problem::from),
            },
            worse_below_usd: row.worse_below.map(Number::from),
            evidence_url: None,
        }
    }
}

const DOLLAR: u64 = 1_000_000;

/// A row by size: its fill, or why the size cannot be filled.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct SizeRung {
    /// The size, USD.
    pub size_usd: Number,
    /// The exit of that size.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub exit: Option<Amounts>,
    /// Why there is no exit.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub problem: Option<Problem>,
    /// A smaller size with a larger gap, USD: the fee of this pool depends on the size.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub worse_below_usd: Option<Number>,
    /// URL of the evidence for the exit, or that the size cannot be filled, if a service answers.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub evidence_url: Option<String>,
}

impl From<&SizeRow> for SizeRung {
    fn from(row: &SizeRow) -> Self {
        Self {
            size_usd: row.size.into(),
            exit: row.outcome.as_ref().ok().map(Amounts::from),
            problem: row.outcome.as_ref().err().map(|why| Problem::of_estimate(why, row.size)),
            worse_below_usd: row.worse_below.map(Number::from),
            evidence_url: None,
        }
    }
}

/// A ladder's rows.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct LadderRows {
    /// Depth by gap, ascending.
    pub by_gap: Vec<GapRung>,
    /// Slippage by size, ascending.
    pub by_size: Vec<SizeRung>,
}

impl LadderRows {
    /// Converts the rows of a ladder. `evidence` returns the evidence URL of a size, or `None` from a caller that
    /// serves no evidence.
    pub fn from_rows(
        by_gap: &[GapRow],
        by_size: &[SizeRow],
        evidence: impl Fn(&Number) -> Option<String>,
    ) -> Self {
        // A refusal is proven like a fill, if the size has evidence at all.
        let url = |size: &Number, problem: Option<&Problem>| {
            let is_proven = problem.is_none_or(|problem| problem.code.has_evidence());
            is_proven.then(|| evidence(size)).flatten()
        };
        let of_gap = |rung: &GapRung| match (&rung.exit, &rung.depth) {
            (Some(exit), _) => url(&exit.size_usd, None),
            (None, Some(depth)) => url(&depth.max_size_usd, Some(rung.problem.as_ref()?)),
            (None, None) => None,
        };
        let by_gap = by_gap.iter().map(GapRung::from);
        let by_gap = by_gap.map(|rung| GapRung { evidence_url: of_gap(&rung), ..rung });
        let by_size = by_size.iter().map(SizeRung::from);
        let by_size = by_size.map(|rung| SizeRung {
            evidence_url: url(&rung.size_usd, rung.problem.as_ref()),
            ..rung
        });
        Self { by_gap: by_gap.collect(), by_size: by_size.collect() }
    }
}

/// A pool's ladder in one direction.
pub type Ladder = Answer<LadderRows>;

/// The largest exit within a gap limit.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct MaxSize {
    /// The largest size whose own estimate is within the limit, USD. Zero if there is none.
    pub max_size_usd: Number,
    /// The largest raw amount of the base token within the limit, usually slightly above
    /// `max_size_usd`.
    pub max_amount_in_raw: String,
    /// The amount that the pool pays for it, raw units of the quote token.
    pub max_amount_out_raw: String,
    /// `gap`, `liquidity` (the pool's liquidity ends first) or `size_bound`.
    pub limited_by: String,
}

impl From<&exit::MaxSize> for MaxSize {
    fn from(max: &exit::MaxSize) -> Self {
        Self {
            max_size_usd: max.size.map_or(UsdMicros(0), UsdMicros::from).into(),
            max_amount_in_raw: max.max_amount_in.to_string(),
            max_amount_out_raw: max.max_amount_out.to_string(),
            limited_by: max.limited_by.code().to_owned(),
        }
    }
}

/// The answer to "how much can I sell within this gap?".
pub type MaxSizeResult = Answer<GapRung>;
