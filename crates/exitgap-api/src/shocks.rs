//! Named shocks: the effects of recorded price moves.

use serde::{Deserialize, Serialize};

use crate::{Number, ProblemCode};

/// `GET /v1/shocks`: shocks named by the operator, as input for a stress test.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct NamedShocks {
    /// The shocks, in the order of the configuration. Empty if the operator configured none.
    pub shocks: Vec<NamedShock>,
}

/// The effect of the greatest price fall in a recorded period.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct NamedShock {
    /// The name of the shock: lower-case letters, digits and hyphens.
    pub name: String,
    /// The operator's description.
    pub about: String,
    /// The pool of the observation.
    pub pool: String,
    /// The token whose price fell, as configured by the operator.
    pub base: Option<String>,
    /// The first slot used, RFC 3339.
    pub from: String,
    /// The last slot used, RFC 3339.
    pub to: String,
    /// How far the pool's mid price must have moved to count, percent.
    pub move_pct: Number,
    /// The number of slots within which it must have moved.
    pub within_slots: u32,
    /// The gap at which depth is measured, percent.
    pub gap_pct: Number,
    /// The slot of the greatest fall, RFC 3339; the first if there are several. `null` if there is
    /// none.
    pub time: Option<String>,
    /// How far the mid price fell, percent: the `fall_pct` of a stress test. At most 99.
    pub fall_pct: Option<Number>,
    /// The greatest share of the depth that was missing at any horizon after the move, beyond the
    /// effect of the fall alone, percent: the `haircut_pct` of a stress test. At most 99.
    pub haircut_pct: Option<Number>,
    /// Why there is no fall: the code of a problem, or `no_fall`.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub why_not: Option<String>,
    /// URL of the figure file behind this shock.
    pub figure_url: Option<String>,
}

impl NamedShock {
    /// The reason for no shock: no price drop was large enough.
    pub const NO_FALL: &'static str = "no_fall";

    /// A shock without numbers, for this reason.
    #[must_use]
    pub fn without(self, code: ProblemCode) -> Self {
        Self { why_not: Some(code.as_str().to_owned()), ..self }
    }
}
