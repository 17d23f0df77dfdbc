//! The terms of one payment: amount, token, chain and recipient.

use exitgap_core::ids::{Address, Caip2};
use serde::{Deserialize, Serialize};

use super::codec::address;
use super::{Units, X402Error, shown};

/// The x402 version of an offer or a payment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Version {
    /// Offers in the body, chains by name.
    V1,
    /// Offers in a header, chains by CAIP-2 id.
    V2,
}

/// A way to pay with the scheme `exact`, in either version.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Terms {
    /// The chain.
    pub network: Caip2,
    /// The token's contract.
    pub asset: Address,
    /// The recipient.
    pub pay_to: Address,
    /// The exact amount.
    pub amount: Units,
    /// How long the authorization must be valid, in seconds.
    pub max_timeout_s: u32,
    /// The token's name and version for signing authorizations.
    pub domain: TokenDomain,
}

/// A token's EIP-712 name and version. Together with chain and contract they form the signing domain of its
/// authorizations.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TokenDomain {
    /// For example `USD Coin`.
    pub name: String,
    /// For example `2`.
    pub version: String,
}

/// The scheme for an authorization of exactly the price.
pub(super) const EXACT: &str = "exact";

/// The longest validity that an offer can ask for: one day.
const MAX_TIMEOUT_S: u64 = 86_400;

/// Chains with a name in version 1. Other chains have no version 1 offer, because version 1 clients would refuse the
/// whole response.
const V1_NAMES: [(&str, u64); 6] = [
    ("base", 8453),
    ("base-sepolia", 84532),
    ("avalanche", 43114),
    ("avalanche-fuji", 43113),
    ("polygon", 137),
    ("polygon-amoy", 80002),
];

/// A chain's name in version 1.
pub fn v1_name(network: Caip2) -> Option<&'static str> {
    V1_NAMES.iter().find(|(_, id)| *id == network.0).map(|(name, _)| *name)
}

/// The chain with this name in version 1.
pub fn network_of_v1_name(name: &str) -> Option<Caip2> {
    V1_NAMES.iter().find(|(known, _)| *known == name).map(|(_, id)| Caip2(*id))
}

/// An entry of `accepts` in version 2.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct WireV2 {
    pub scheme: String,
    pub network: String,
    pub amount: String,
    pub asset: String,
    pub pay_to: String,
    pub max_timeout_seconds: u64,
    pub extra: Option<Extra>,
}

/// An entry of `accepts` in version 1.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct WireV1 {
    pub scheme: String,
    pub network: String,
    pub max_amount_required: String,
    pub resource: String,
    pub description: String,
    pub mime_type: String,
    pub pay_to: String,
    pub max_timeout_seconds: u64,
    pub asset: String,
    pub extra: Option<Extra>,
}

/// `extra`: only the token's domain is used.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Extra {
    pub name: Option<String>,
    pub version: Option<String>,
}

impl Terms {
    pub(super) fn of_v2(wire: &WireV2) -> Result<Self, X402Error> {
        let network = wire.network.parse().ok();
        Self::from_parts(
            &wire.scheme,
            (network, &wire.network),
            Units::from_digits("amount", &wire.amount)?,
            [&wire.asset, &wire.pay_to],
            wire.max_timeout_seconds,
            wire.extra.as_ref(),
        )
    }

    pub(super) fn of_v1(wire: &WireV1) -> Result<Self, X402Error> {
        Self::from_parts(
            &wire.scheme,
            (network_of_v1_name(&wire.network), &wire.network),
            Units::from_digits("maxAmountRequired", &wire.max_amount_required)?,
            [&wire.asset, &wire.pay_to],
            wire.max_timeout_seconds,
            wire.extra.as_ref(),
        )
    }

    fn from_parts(
        scheme: &str,
        (network, named): (Option<Caip2>, &str),
        amount: Units,
        [asset, pay_to]: [&str; 2],
        max_timeout_seconds: u64,
        extra: Option<&Extra>,
    ) -> Result<Self, X402Error> {
        if scheme != EXACT {
            return Err(X402Error::Scheme { found: shown(scheme) });
        }
        let network = network.ok_or_else(|| X402Error::Network { found: shown(named) })?;
        let timeout = u32::try_from(max_timeout_seconds)
            .ok()
            .filter(|_| (1..=MAX_TIMEOUT_S).contains(&max_timeout_seconds));
        let max_timeout_s = timeout.ok_or_else(|| X402Error::Seconds {
            field: "maxTimeoutSeconds",
            found: max_timeout_seconds.to_string(),
        })?;
        let text = |text: Option<&String>| {
            let text = text.filter(|text| (1..=64).contains(&text.len()));
            text.cloned().ok_or(X402Error::Domain)
        };
        let extra = extra.ok_or(X402Error::Domain)?;
        let domain = TokenDomain {
            name: text(extra.name.as_ref())?,
            version: text(extra.version.as_ref())?,
        };
        let (asset, pay_to) = (address("asset", asset)?, address("payTo", pay_to)?);
        Ok(Self { network, asset, pay_to, amount, max_timeout_s, domain })
    }

    pub(super) fn to_v2(&self) -> WireV2 {
        WireV2 {
            scheme: EXACT.to_owned(),
            network: self.network.to_string(),
            amount: self.amount.to_string(),
            asset: self.asset.to_string(),
            pay_to: self.pay_to.to_string(),
            max_timeout_seconds: self.max_timeout_s.into(),
            extra: Some(self.extra()),
        }
    }

    pub(super) fn extra(&self) -> Extra {
        let TokenDomain { name, version } = self.domain.clone();
        Extra { name: Some(name), version: Some(version) }
    }

    /// Whether both are for the same payment. Only the validity may differ.
    pub fn is_same_payment(&self, other: &Self) -> bool {
        let Self { network, asset, pay_to, amount, max_timeout_s: _, domain } = self;
        (network, asset, pay_to, amount, domain)
            == (&other.network, &other.asset, &other.pay_to, &other.amount, &other.domain)
    }
}
