//! What this deployment can do.

use serde::{Deserialize, Serialize};

/// How far a capability may be depended on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum CapabilityStatus {
    /// In production, on recorded data of live chains.
    Live,
    /// Built and usable, on preview data.
    Preview,
    /// Specified, and not built.
    Roadmap,
}

/// One capability.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Capability {
    /// Its name.
    pub capability: String,
    /// Its status here.
    pub status: CapabilityStatus,
    /// Where it is, or what is not built of it.
    #[serde(rename = "where")]
    pub place: String,
}

/// `GET /v1/capabilities`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Capabilities {
    /// Every capability of the specification.
    pub capabilities: Vec<Capability>,
}
