//! Discloses the method of figures that are computed from several slots.

use serde::{Deserialize, Serialize};

use crate::{DepthSourceKind, Number, Window};

/// The method behind figures of several slots. [`crate::Method`] is the same for a single answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct SeriesMethod {
    /// The size of the figures, USD. Absent if each figure names its own.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub assumed_size_usd: Option<Number>,
    /// The slots used.
    pub window: Window,
    /// Where their depth was read.
    pub depth_source: SeriesSource,
}

/// Where the depth of several slots was read. The evidence of each slot has its own block, snapshot
/// and oracles.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct SeriesSource {
    /// The source of the depth.
    pub kind: DepthSourceKind,
    /// The chain's slug. Absent if the figures are from several chains.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub chain: Option<String>,
}
