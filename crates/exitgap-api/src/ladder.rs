//! The ladder: depth by gap, slippage by size.

use exitgap_core::exit::{GapRow, SizeRow};
use serde::{Deserialize, Serialize};

use crate::{Amounts, Answer, MaxSize, Number, Problem};

/// A row by gap: how much exits within the limit.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct GapRung {
    /// The limit and the depth within it.
    #[serde(flatten)]
    pub depth: MaxSize,
    /// The exit of exactly that size; absent where nothing passes.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub exit: Option<Amounts>,
}

impl From<&GapRow> for GapRung {
    fn from(row: &GapRow) -> Self {
        Self { depth: (&row.depth).into(), exit: row.estimate.as_ref().map(Amounts::from) }
    }
}

/// A row by size: what it fills at, or why it cannot be filled.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SizeRung {
    /// The size, USD.
    pub size_usd: Number,
    /// The exit of that size.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub exit: Option<Amounts>,
    /// Why there is none.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub problem: Option<Problem>,
}

impl From<&SizeRow> for SizeRung {
    fn from(row: &SizeRow) -> Self {
        Self {
            size_usd: row.size.into(),
            exit: row.outcome.as_ref().ok().map(Amounts::from),
            problem: row.outcome.as_ref().err().map(Problem::from),
        }
    }
}

/// A ladder's rows.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LadderRows {
    /// Depth by gap, ascending.
    pub by_gap: Vec<GapRung>,
    /// Slippage by size, ascending.
    pub by_size: Vec<SizeRung>,
}

/// A pool's ladder in one direction.
pub type Ladder = Answer<LadderRows>;
