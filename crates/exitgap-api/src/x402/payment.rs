//! Payments: a signed authorization of a transfer, in a header of the request that it pays for.

use exitgap_core::ids::{Address, Caip2, Word};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::codec::{self, address, hex, word};
use super::terms::{EXACT, WireV2};
use super::{
    Offer, PAYMENT_SIGNATURE, Terms, Units, Version, X_PAYMENT, X_PAYMENT_PROOF, X402Error,
    network_of_v1_name, shown, v1_name,
};

/// The message that the payer signs: EIP-3009's `TransferWithAuthorization`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Authorization {
    /// The payer.
    pub from: Address,
    /// The payee.
    pub to: Address,
    /// The amount.
    pub value: Units,
    /// The authorization is valid after this Unix second.
    pub valid_after_s: u64,
    /// The authorization is valid before this Unix second.
    pub valid_before_s: u64,
    /// Any 32 bytes that the payer uses only once for this token.
    pub nonce: Word,
}

/// A payment in a request's header.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Payment {
    /// The version of the payment, which is also the version of the answer's header.
    pub version: Version,
    /// The chain.
    pub network: Caip2,
    /// In version 2, the terms that the payer says it accepted.
    pub accepted: Option<Terms>,
    /// The authorization.
    pub authorization: Authorization,
    /// The signature's bytes: 65, or a longer signature that the payer's contract verifies.
    pub signature: Vec<u8>,
    /// In version 2, the payer's own identifier for repeats of this request.
    pub identifier: Option<String>,
}

/// The longest signature that is parsed.
const MAX_SIGNATURE_BYTES: usize = 4096;

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct WireAuthorization {
    from: String,
    to: String,
    value: String,
    valid_after: String,
    valid_before: String,
    nonce: String,
}

#[derive(Serialize, Deserialize)]
pub(super) struct WirePayload {
    signature: String,
    authorization: WireAuthorization,
}

#[derive(Serialize, Deserialize)]
struct WirePaymentV1 {
    #[serde(rename = "x402Version")]
    version: u64,
    scheme: String,
    network: String,
    payload: WirePayload,
}

#[derive(Deserialize)]
struct WirePaymentV2 {
    accepted: WireV2,
    payload: WirePayload,
    #[serde(default)]
    extensions: Option<Extensions>,
}

#[derive(Deserialize)]
struct Extensions {
    #[serde(rename = "payment-identifier")]
    identifier: Option<Identifier>,
}

#[derive(Deserialize)]
struct Identifier {
    info: Option<IdentifierInfo>,
}

#[derive(Deserialize)]
struct IdentifierInfo {
    id: Option<String>,
}

/// Any document, of which only the version is parsed.
#[derive(Deserialize)]
struct AnyVersion {
    #[serde(rename = "x402Version")]
    version: u64,
}

#[derive(Serialize)]
struct WritePaymentV2<'a> {
    #[serde(rename = "x402Version")]
    version: u64,
    accepted: &'a RawValue,
    payload: WirePayload,
    #[serde(skip_serializing_if = "Option::is_none")]
    resource: Option<&'a RawValue>,
    #[serde(skip_serializing_if = "Option::is_none")]
    extensions: Option<&'a RawValue>,
}

fn require_version(what: &'static str, text: &str, expected: u64) -> Result<(), X402Error> {
    let AnyVersion { version: found } = codec::of_header(what, text)?;
    if found == expected { Ok(()) } else { Err(X402Error::Version { what, found, expected }) }
}

impl Authorization {
    fn from_wire(wire: &WireAuthorization) -> Result<Self, X402Error> {
        let seconds = |field: &'static str, text: &str| {
            let units =
                Units::from_digits(field, text).ok().and_then(|units| units.0.try_into().ok());
            units.ok_or_else(|| X402Error::Seconds { field, found: shown(text) })
        };
        Ok(Self {
            from: address("from", &wire.from)?,
            to: address("to", &wire.to)?,
            value: Units::from_digits("value", &wire.value)?,
            valid_after_s: seconds("validAfter", &wire.valid_after)?,
            valid_before_s: seconds("validBefore", &wire.valid_before)?,
            nonce: word("nonce", &wire.nonce)?,
        })
    }

    fn to_wire(&self) -> WireAuthorization {
        WireAuthorization {
            from: self.from.to_string(),
            to: self.to.to_string(),
            value: self.value.to_string(),
            valid_after: self.valid_after_s.to_string(),
            valid_before: self.valid_before_s.to_string(),
            nonce: self.nonce.to_string(),
        }
    }

    /// The name and value of the header that pays for `offer`. For an offer of version 2, the service's own parts are
    /// sent back unchanged.
    pub fn to_header(&self, offer: &Offer, signature: &[u8]) -> (&'static str, String) {
        let payload = WirePayload { signature: hex(signature), authorization: self.to_wire() };
        match &offer.wire {
            super::offers::Wire::V1 { network } => {
                let (scheme, network) = (EXACT.to_owned(), network.clone());
                let payment = WirePaymentV1 { version: 1, scheme, network, payload };
                (X_PAYMENT, codec::to_header(&payment))
            }
            super::offers::Wire::V2 { accepted, resource, extensions } => {
                let (resource, extensions) = (resource.as_deref(), extensions.as_deref());
                let payment =
                    WritePaymentV2 { version: 2, accepted, payload, resource, extensions };
                (PAYMENT_SIGNATURE, codec::to_header(&payment))
            }
        }
    }
}

impl Payment {
    /// Parses the value of [`PAYMENT_SIGNATURE`].
    pub fn of_v2_header(text: &str) -> Result<Self, X402Error> {
        require_version(PAYMENT_SIGNATURE, text, 2)?;
        let WirePaymentV2 { accepted, payload, extensions } =
            codec::of_header(PAYMENT_SIGNATURE, text)?;
        let accepted = Terms::of_v2(&accepted)?;
        let identifier = extensions
            .and_then(|extensions| extensions.identifier?.info?.id)
            .map(identifier)
            .transpose()?;
        let network = accepted.network;
        Self::from_payload(Version::V2, network, Some(accepted), &payload, identifier)
    }

    /// Parses the value of [`X_PAYMENT`].
    pub fn of_v1_header(text: &str) -> Result<Self, X402Error> {
        require_version(X_PAYMENT, text, 1)?;
        let WirePaymentV1 { version: _, scheme, network, payload } =
            codec::of_header(X_PAYMENT, text)?;
        if scheme != EXACT {
            return Err(X402Error::Scheme { found: shown(&scheme) });
        }
        let known = network_of_v1_name(&network);
        let network = known.ok_or_else(|| X402Error::Network { found: shown(&network) })?;
        Self::from_payload(Version::V1, network, None, &payload, None)
    }

    fn from_payload(
        version: Version,
        network: Caip2,
        accepted: Option<Terms>,
        payload: &WirePayload,
        identifier: Option<String>,
    ) -> Result<Self, X402Error> {
        Ok(Self {
            version,
            network,
            accepted,
            authorization: Authorization::from_wire(&payload.authorization)?,
            signature: codec::bytes("signature", &payload.signature, MAX_SIGNATURE_BYTES)?,
            identifier,
        })
    }

    /// The header's payload: authorization and signature.
    pub(super) fn to_payload(&self) -> WirePayload {
        let authorization = self.authorization.to_wire();
        WirePayload { signature: hex(&self.signature), authorization }
    }

    /// The chain's name in this payment's version, which its settlement uses as well.
    pub fn network_name(&self) -> String {
        let name = match self.version {
            Version::V1 => v1_name(self.network),
            Version::V2 => None,
        };
        name.map_or_else(|| self.network.to_string(), str::to_owned)
    }
}

fn identifier(text: String) -> Result<String, X402Error> {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_".contains(&byte);
    if (16..=128).contains(&text.len()) && text.bytes().all(plain) {
        return Ok(text);
    }
    Err(X402Error::Identifier { found: shown(&text) })
}

/// The means of payment in a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RequestPayment {
    /// A signed authorization.
    Payment(Box<Payment>),
    /// A completed transfer.
    Proof(Proof),
}

impl RequestPayment {
    /// Finds the payment in a request's headers; `None` if there is none. Two payments are refused. The caller must
    /// make sure that no header is repeated.
    pub fn find<'a>(header: impl Fn(&str) -> Option<&'a str>) -> Result<Option<Self>, X402Error> {
        let carriers = [PAYMENT_SIGNATURE, X_PAYMENT, X_PAYMENT_PROOF];
        let mut found = carriers.into_iter().filter_map(|name| Some((name, header(name)?)));
        let Some((first, text)) = found.next() else { return Ok(None) };
        if let Some((second, _)) = found.next() {
            return Err(X402Error::Twice { first, second });
        }
        Ok(Some(match first {
            PAYMENT_SIGNATURE => Self::Payment(Payment::of_v2_header(text)?.into()),
            X_PAYMENT => Self::Payment(Payment::of_v1_header(text)?.into()),
            _ => Self::Proof(Proof::of_header(text)?),
        }))
    }
}

/// The value of [`X_PAYMENT_PROOF`]: a completed transfer, optionally with its sender's claim to it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Proof {
    /// The transaction's hash.
    pub transaction: Word,
    /// The sender's signature of what the transfer pays for.
    pub claim: Option<[u8; 65]>,
}

impl Proof {
    /// Parses a header's value: 32 or 97 bytes in hex.
    pub fn of_header(text: &str) -> Result<Self, X402Error> {
        let wrong =
            || X402Error::Hex { field: X_PAYMENT_PROOF, digits: "64 or 194", found: shown(text) };
        let bytes = codec::bytes(X_PAYMENT_PROOF, text, 97).map_err(|_| wrong())?;
        let (hash, claim) = bytes.split_first_chunk::<32>().ok_or_else(wrong)?;
        let claim = match claim {
            [] => None,
            claim => Some(claim.try_into().map_err(|_| wrong())?),
        };
        Ok(Self { transaction: Word(*hash), claim })
    }

    /// The value of the header.
    pub fn to_header(&self) -> String {
        let claim = self.claim.as_ref().map_or(&[][..], |claim| claim);
        hex(&[&self.transaction.0, claim].concat())
    }
}
