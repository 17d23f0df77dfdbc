//! The capabilities of this deployment.

use serde::{Deserialize, Serialize};

/// The status of a capability.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum CapabilityStatus {
    /// In production, on data that is being recorded of a live chain.
    Live,
    /// Built and usable, but not on such data.
    Preview,
    /// Specified, and not built or not part of this deployment.
    Roadmap,
}

impl CapabilityStatus {
    /// The code used in documents.
    pub const fn code(self) -> &'static str {
        match self {
            Self::Live => "live",
            Self::Preview => "preview",
            Self::Roadmap => "roadmap",
        }
    }
}

/// One capability.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Capability {
    /// Its name.
    pub capability: String,
    /// The status on this service: live if the capability is live on any chain.
    pub status: CapabilityStatus,
    /// The chains on which the capability is live. On other chains it is at most preview.
    #[serde(default)]
    pub live_on: Vec<String>,
    /// Where to find the capability, or what is not built yet.
    #[serde(rename = "where")]
    pub place: String,
    /// What the capability depends on, according to the specification: other capabilities by name,
    /// or other conditions.
    #[serde(default)]
    pub gated_by: Vec<String>,
}

/// The status of a chain. The statuses of capabilities depend on it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ChainCapability {
    /// The chain's slug.
    pub chain: String,
    /// Live if all conditions for that are met, otherwise preview.
    pub status: CapabilityStatus,
    /// The newest recorded slot of the chain's pools, RFC 3339. Absent before the first slot.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub newest_recorded_slot: Option<String>,
    /// Seconds from that slot to this answer.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub age_s: Option<u64>,
    /// Why the chain is not live. Absent if it is live.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub not_live_because: Option<String>,
}

/// `GET /v1/capabilities`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Capabilities {
    /// The base URL of pages, evidence and the log, if it differs from the API's: all addresses
    /// that do not begin with `/v1/`.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub web_url: Option<String>,
    /// Whether this process records.
    #[serde(default)]
    pub recording: bool,
    /// Whether this process serves pages.
    #[serde(default)]
    pub pages: bool,
    /// Every chain with a monitored pool.
    #[serde(default)]
    pub chains: Vec<ChainCapability>,
    /// Every capability in the specification.
    pub capabilities: Vec<Capability>,
}
