//! Requests to a facilitator, and its answers. A facilitator is a third party that sends payers' transactions.

use serde::{Deserialize, Serialize};

use super::payment::WirePayload;
use super::terms::{EXACT, WireV1, WireV2};
use super::{Payment, PricedOffer, Terms, Version, X402Error, codec, v1_name};

/// The body of `POST /verify` and `POST /settle`.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct WireRequest<P, R> {
    #[serde(rename = "x402Version")]
    version: u64,
    payment_payload: P,
    payment_requirements: R,
}

#[derive(Serialize)]
struct PayloadV1 {
    #[serde(rename = "x402Version")]
    version: u64,
    scheme: &'static str,
    network: &'static str,
    payload: WirePayload,
}

#[derive(Serialize)]
struct PayloadV2 {
    #[serde(rename = "x402Version")]
    version: u64,
    accepted: WireV2,
    payload: WirePayload,
}

/// A facilitator's answer to a request to verify a payment.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Verification {
    /// Whether the facilitator would settle it.
    pub is_valid: bool,
    /// If not, the reason as a short code.
    #[serde(default)]
    pub invalid_reason: Option<String>,
}

impl Verification {
    /// Parses the body of an answer.
    pub fn of_body(bytes: &[u8]) -> Result<Self, X402Error> {
        codec::of_body("the facilitator's answer", bytes)
    }
}

impl PricedOffer {
    /// The request to a facilitator about a payment of this price, in the payment's version; `None` if that version has
    /// no name for the chain.
    pub fn to_facilitator(&self, payment: &Payment) -> Option<Vec<u8>> {
        let payload = payment.to_payload();
        let body = match payment.version {
            Version::V1 => {
                let network = v1_name(payment.network)?;
                serde_json::to_vec(&WireRequest::<_, WireV1> {
                    version: 1,
                    payment_payload: PayloadV1 { version: 1, scheme: EXACT, network, payload },
                    payment_requirements: self.to_v1()?,
                })
            }
            Version::V2 => {
                let accepted =
                    payment.accepted.as_ref().map_or_else(|| self.terms.to_v2(), Terms::to_v2);
                serde_json::to_vec(&WireRequest {
                    version: 2,
                    payment_payload: PayloadV2 { version: 2, accepted, payload },
                    payment_requirements: self.terms.to_v2(),
                })
            }
        };
        body.ok()
    }
}
