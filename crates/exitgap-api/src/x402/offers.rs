//! Parses and writes the offers in a 402 response.

use exitgap_core::ids::{Address, Caip2};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::codec::{self, address};
use super::terms::{EXACT, WireV1, WireV2};
use super::{
    MAX_ACCEPTS, PAYMENT_REQUIRED, Terms, Units, Version, X_PAYMENT_AMOUNT, X_PAYMENT_CURRENCY,
    X_PAYMENT_NETWORK, X_PAYMENT_RECIPIENT, X402Error, shown, v1_name,
};

/// All offers in a 402 response.
#[derive(Debug)]
pub struct Offers {
    /// The ways to pay of version 2, in the service's order. An entry that this client cannot use, such as one on
    /// another kind of chain, is an error. Empty if such an offer is missing.
    pub v2: Vec<Result<Offer, X402Error>>,
    /// The same for version 1.
    pub v1: Vec<Result<Offer, X402Error>>,
    /// A plain transfer.
    pub plain: Option<PlainOffer>,
}

/// A way to pay that this client can use.
#[derive(Debug, Clone)]
pub struct Offer {
    /// The terms of the payment.
    pub terms: Terms,
    pub(super) wire: Wire,
}

/// The parts that the payer must send back unchanged.
#[derive(Debug, Clone)]
pub(super) enum Wire {
    V1 {
        network: String,
    },
    V2 {
        accepted: Box<RawValue>,
        resource: Option<Box<RawValue>>,
        extensions: Option<Box<RawValue>>,
    },
}

/// An offer to pay by a plain transfer that the payer makes itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlainOffer {
    /// The price in whole tokens, as written. The token's decimals determine the number of units.
    pub amount: String,
    /// The token's symbol.
    pub currency: String,
    /// The chain.
    pub network: Caip2,
    /// The recipient of the payment.
    pub recipient: Address,
}

#[derive(Serialize, Deserialize)]
struct WireRequiredV2<A> {
    #[serde(rename = "x402Version")]
    version: u64,
    #[serde(skip_serializing_if = "Option::is_none", default = "Option::default")]
    error: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none", default = "Option::default")]
    resource: Option<Box<RawValue>>,
    accepts: Vec<A>,
    #[serde(skip_serializing_if = "Option::is_none", default = "Option::default")]
    extensions: Option<Box<RawValue>>,
}

/// The members of version 1 in a body. A body without `accepts` has no such offer.
#[derive(Deserialize)]
struct WireRequiredV1 {
    #[serde(rename = "x402Version")]
    version: Option<u64>,
    accepts: Option<Vec<Box<RawValue>>>,
}

impl Offer {
    /// The version of the offer.
    pub fn version(&self) -> Version {
        match self.wire {
            Wire::V1 { .. } => Version::V1,
            Wire::V2 { .. } => Version::V2,
        }
    }
}

impl Offers {
    /// Parses the offers in these headers and this body. A body that is not a JSON object has no offer of version 1. An
    /// offer that is present but malformed is an error.
    pub fn from_response<'a>(
        header: impl Fn(&str) -> Option<&'a str>,
        body: &[u8],
    ) -> Result<Self, X402Error> {
        let v2 = header(PAYMENT_REQUIRED).map(of_v2_header).transpose()?.unwrap_or_default();
        let is_object = body.trim_ascii_start().starts_with(b"{");
        let v1 = if is_object { of_v1_body(body)? } else { Vec::new() };
        Ok(Self { v2, v1, plain: PlainOffer::from_headers(header)? })
    }
}

fn check_accepts<T>(accepts: Vec<T>) -> Result<Vec<T>, X402Error> {
    match accepts.len() {
        1..=MAX_ACCEPTS => Ok(accepts),
        found => Err(X402Error::Accepts { found }),
    }
}

/// Parses an entry of `accepts`.
fn entry<'a, D: Deserialize<'a>>(what: &'static str, raw: &'a RawValue) -> Result<D, X402Error> {
    serde_json::from_str(raw.get())
        .map_err(|error| X402Error::NotJson { what, why: shown(&error.to_string()) })
}

fn of_v2_header(text: &str) -> Result<Vec<Result<Offer, X402Error>>, X402Error> {
    let required: WireRequiredV2<Box<RawValue>> = codec::of_header(PAYMENT_REQUIRED, text)?;
    let WireRequiredV2 { version, error: _, resource, accepts, extensions } = required;
    if version != 2 {
        return Err(X402Error::Version { what: PAYMENT_REQUIRED, found: version, expected: 2 });
    }
    let offer = |accepted: Box<RawValue>| {
        let terms = Terms::of_v2(&entry::<WireV2>("accepts", &accepted)?)?;
        let (resource, extensions) = (resource.clone(), extensions.clone());
        Ok(Offer { terms, wire: Wire::V2 { accepted, resource, extensions } })
    };
    Ok(check_accepts(accepts)?.into_iter().map(offer).collect())
}

fn of_v1_body(body: &[u8]) -> Result<Vec<Result<Offer, X402Error>>, X402Error> {
    let WireRequiredV1 { version, accepts } = codec::of_body("body", body)?;
    let (Some(version), Some(accepts)) = (version, accepts) else { return Ok(Vec::new()) };
    if version != 1 {
        // A body may repeat the offer of version 2, which is read from its header instead.
        return Ok(Vec::new());
    }
    let offer = |raw: Box<RawValue>| {
        let wire: WireV1 = entry("accepts", &raw)?;
        let terms = Terms::of_v1(&wire)?;
        Ok(Offer { terms, wire: Wire::V1 { network: wire.network } })
    };
    Ok(check_accepts(accepts)?.into_iter().map(offer).collect())
}

impl PlainOffer {
    /// Parses the four headers; `None` if none of them is present.
    fn from_headers<'a>(
        header: impl Fn(&str) -> Option<&'a str>,
    ) -> Result<Option<Self>, X402Error> {
        let names = [X_PAYMENT_AMOUNT, X_PAYMENT_CURRENCY, X_PAYMENT_NETWORK, X_PAYMENT_RECIPIENT];
        if names.iter().all(|name| header(name).is_none()) {
            return Ok(None);
        }
        for field in names {
            header(field).ok_or(X402Error::Missing { field })?;
        }
        let [amount, currency, network, recipient] = names.map(|name| header(name).unwrap_or(""));
        // The token's decimals are unknown here, so any number of decimals is accepted.
        Units::of_tokens(X_PAYMENT_AMOUNT, amount, 18)?;
        Ok(Some(Self {
            amount: amount.to_owned(),
            currency: shown(currency),
            network: network.parse().map_err(|_| X402Error::Network { found: shown(network) })?,
            recipient: address(X_PAYMENT_RECIPIENT, recipient)?,
        }))
    }
}

/// A price that is offered in all three ways.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PricedOffer {
    /// The terms of the payment.
    pub terms: Terms,
    /// The token's symbol.
    pub currency: String,
    /// The token's decimals.
    pub decimals: u8,
    /// The absolute URL of the paid resource.
    pub url: String,
    /// A short description of the resource.
    pub description: String,
    /// Why payment is requested: nothing was paid, or the payment was invalid.
    pub error: String,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Resource<'a> {
    url: &'a str,
    description: &'a str,
    mime_type: &'a str,
}

const JSON: &str = "application/json";

/// The extension with which a payer can identify a repeated request.
const EXTENSIONS: &str = "{\"payment-identifier\":{\"info\":{\"required\":false},\"schema\":{\"$schema\":\
\"https://json-schema.org/draft/2020-12/schema\",\"type\":\"object\",\"properties\":{\"required\":\
{\"type\":\"boolean\"},\"id\":{\"type\":\"string\",\"minLength\":16,\"maxLength\":128,\"pattern\":\
\"^[a-zA-Z0-9_-]+$\"}},\"required\":[\"required\"]}}}";

/// The members of a body with an offer of version 1.
#[derive(Debug, Clone, Serialize)]
pub struct BodyMembers {
    #[serde(rename = "x402Version")]
    version: u64,
    error: &'static str,
    accepts: [WireV1; 1],
}

impl PricedOffer {
    /// The headers of a 402: the offer of version 2 and the plain offer.
    pub fn headers(&self) -> [(&'static str, String); 5] {
        let Terms { network, pay_to, amount, .. } = &self.terms;
        [
            (PAYMENT_REQUIRED, self.required_header()),
            (X_PAYMENT_AMOUNT, amount.in_tokens(self.decimals)),
            (X_PAYMENT_CURRENCY, self.currency.clone()),
            (X_PAYMENT_NETWORK, network.to_string()),
            (X_PAYMENT_RECIPIENT, pay_to.to_string()),
        ]
    }

    fn required_header(&self) -> String {
        let Self { url, description, error, .. } = self;
        let resource = Resource { url, description, mime_type: JSON };
        codec::to_header(&WireRequiredV2 {
            version: 2,
            error: Some(error.clone()),
            resource: serde_json::value::to_raw_value(&resource).ok(),
            accepts: vec![self.terms.to_v2()],
            extensions: RawValue::from_string(EXTENSIONS.to_owned()).ok(),
        })
    }

    /// The members of a 402's body with the offer of version 1; `None` if that version has no name for the chain.
    pub fn body_members(&self) -> Option<BodyMembers> {
        let error = "X-PAYMENT header is required";
        Some(BodyMembers { version: 1, error, accepts: [self.to_v1()?] })
    }

    /// The offer of version 1.
    pub(super) fn to_v1(&self) -> Option<WireV1> {
        let terms = &self.terms;
        Some(WireV1 {
            scheme: EXACT.to_owned(),
            network: v1_name(terms.network)?.to_owned(),
            max_amount_required: terms.amount.to_string(),
            resource: self.url.clone(),
            description: self.description.clone(),
            mime_type: JSON.to_owned(),
            pay_to: terms.pay_to.to_string(),
            max_timeout_seconds: terms.max_timeout_s.into(),
            asset: terms.asset.to_string(),
            extra: Some(terms.extra()),
        })
    }
}
