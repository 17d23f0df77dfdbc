//! A service's statement about the result of a payment.

use serde::{Deserialize, Serialize};

use super::{PAYMENT_RESPONSE, Version, X_PAYMENT_RESPONSE, X402Error, codec};

/// The document in [`PAYMENT_RESPONSE`] and [`X_PAYMENT_RESPONSE`]. It is only the service's claim: a payment that it
/// calls failed can still settle while its authorization is valid.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Settlement {
    /// Whether the transfer was made.
    pub success: bool,
    /// If not, the reason as a short code.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub error_reason: Option<String>,
    /// The transaction's hash; empty if there is none.
    #[serde(default)]
    pub transaction: String,
    /// The chain: a CAIP-2 id in version 2, a name in version 1.
    #[serde(default)]
    pub network: String,
    /// The payer.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub payer: Option<String>,
}

impl Settlement {
    /// The response header for a payment of this version.
    pub fn header_name(version: Version) -> &'static str {
        match version {
            Version::V1 => X_PAYMENT_RESPONSE,
            Version::V2 => PAYMENT_RESPONSE,
        }
    }

    /// The value of the header.
    pub fn to_header(&self) -> String {
        codec::to_header(self)
    }

    /// Parses the body of a facilitator's answer.
    pub fn of_body(bytes: &[u8]) -> Result<Self, X402Error> {
        codec::of_body("the facilitator's answer", bytes)
    }

    /// Parses a header's value.
    pub fn of_header(text: &str) -> Result<Self, X402Error> {
        codec::of_header(PAYMENT_RESPONSE, text)
    }
}
