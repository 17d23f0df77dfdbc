//! What this deployment can do.

use serde::{Deserialize, Serialize};

/// How far a capability may be depended on.
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
    /// As documents spell it.
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
    /// Its status here: live where it is so on any chain.
    pub status: CapabilityStatus,
    /// The chains on which it is live; on the others it is at most preview.
    #[serde(default)]
    pub live_on: Vec<String>,
    /// Where it is, or what is not built of it.
    #[serde(rename = "where")]
    pub place: String,
    /// What gates it, as the specification says: capabilities by their names here, or what else
    /// has to be there first.
    #[serde(default)]
    pub gated_by: Vec<String>,
}

/// How a chain stands: what the statuses of capabilities rest on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ChainCapability {
    /// The chain's slug.
    pub chain: String,
    /// Live where all that is needed for that holds, else preview.
    pub status: CapabilityStatus,
    /// The newest recorded slot of its pools, RFC 3339; absent before the first.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub newest_recorded_slot: Option<String>,
    /// Seconds from that slot's instant to this answer.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub age_s: Option<u64>,
    /// Why it is not live; absent where it is.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub not_live_because: Option<String>,
}

/// `GET /v1/capabilities`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Capabilities {
    /// Where pages, evidence and the log are, where that is another address than the API's: all
    /// addresses that do not begin with `/v1/`.
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
    /// Every capability of the specification.
    pub capabilities: Vec<Capability>,
}
