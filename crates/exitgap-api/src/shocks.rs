//! Shocks that have names: what recorded moves did.

use serde::{Deserialize, Serialize};

use crate::{Number, ProblemCode};

/// `GET /v1/shocks`: shocks that the operator named, as a stress takes them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct NamedShocks {
    /// In the order of the configuration; none where the operator named none.
    pub shocks: Vec<NamedShock>,
}

/// What the greatest fall of a recorded period did.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct NamedShock {
    /// Its name, of small letters, digits and hyphens.
    pub name: String,
    /// What it was, in the operator's words.
    pub about: String,
    /// The pool that it was seen in.
    pub pool: String,
    /// The token whose price fell, as the operator named it.
    pub base: Option<String>,
    /// The first slot looked at, RFC 3339.
    pub from: String,
    /// The last slot looked at, RFC 3339.
    pub to: String,
    /// How far the pool's mid price must have moved to count, percent.
    pub move_pct: Number,
    /// Over how many slots.
    pub within_slots: u32,
    /// The gap at which books are measured, percent.
    pub gap_pct: Number,
    /// The slot of the greatest fall, RFC 3339, of equals the first; `null` where there is none.
    pub time: Option<String>,
    /// How far the mid price fell, percent; what a stress takes as `fall_pct`. At most 99.
    pub fall_pct: Option<Number>,
    /// The greatest share of the book that was gone at a horizon of the decay, beyond what the fall alone did, percent; what a
    /// stress takes as `haircut_pct`. At most 99.
    pub haircut_pct: Option<Number>,
    /// Why there is none: the problem's code, or `no_fall`.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub why_not: Option<String>,
    /// The figure file of the decay that it is read from.
    pub figure_url: Option<String>,
}

impl NamedShock {
    /// Why there is none: nothing fell so far.
    pub const NO_FALL: &'static str = "no_fall";

    /// Without numbers, for this reason.
    #[must_use]
    pub fn without(self, code: ProblemCode) -> Self {
        Self { why_not: Some(code.as_str().to_owned()), ..self }
    }
}
