//! The method behind figures that are drawn from several slots, disclosed.

use serde::{Deserialize, Serialize};

use crate::{DepthSourceKind, Number, Window};

/// What [`crate::Method`] says of a single answer, said of figures of several slots.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct SeriesMethod {
    /// The size the figures hold for, USD; absent where each figure names its own.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub assumed_size_usd: Option<Number>,
    /// The slots looked at.
    pub window: Window,
    /// Where their depth was read.
    pub depth_source: SeriesSource,
}

/// Where the depth of several slots was read. Each slot's own block, snapshot and oracles are in
/// its evidence.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct SeriesSource {
    /// Where it was read.
    pub kind: DepthSourceKind,
    /// The chain's slug; absent where the figures are of several chains.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub chain: Option<String>,
}
