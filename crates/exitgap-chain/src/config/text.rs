//! Values as people write them: addresses in any case, URLs with secrets, large numbers.

use core::fmt;
use core::str::FromStr;

use alloy::primitives::Address as ChecksumAddress;
use exitgap_core::U256;
use exitgap_core::ids::{Address, Word};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer};

use super::PoolPlace;

/// The URL of a node. It may contain a key, so only scheme, host and port are shown.
#[derive(Clone, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub struct RpcUrl(reqwest::Url);

/// Why a text is not a node's URL. Does not repeat the text, which may contain a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum UrlError {
    /// Not a URL.
    #[error("rpc_urls: not a URL; write https://host/path or http://host:port")]
    NotUrl,
    /// Neither `http` nor `https`.
    #[error("rpc_urls: the scheme must be http or https")]
    Scheme,
}

impl RpcUrl {
    /// The whole URL, only for requests.
    pub(crate) fn for_request(&self) -> reqwest::Url {
        self.0.clone()
    }
}

impl FromStr for RpcUrl {
    type Err = UrlError;
    fn from_str(text: &str) -> Result<Self, UrlError> {
        let url: reqwest::Url = text.parse().map_err(|_| UrlError::NotUrl)?;
        if !matches!(url.scheme(), "http" | "https") {
            return Err(UrlError::Scheme);
        }
        if url.host_str().is_none_or(str::is_empty) {
            return Err(UrlError::NotUrl);
        }
        Ok(Self(url))
    }
}

impl TryFrom<String> for RpcUrl {
    type Error = UrlError;
    fn try_from(text: String) -> Result<Self, UrlError> {
        text.parse()
    }
}

impl fmt::Display for RpcUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}://{}", self.0.scheme(), self.0.host_str().unwrap_or_default())?;
        self.0.port().map_or(Ok(()), |port| write!(f, ":{port}"))
    }
}

impl fmt::Debug for RpcUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// Deserializes an address in lower case, or in mixed case with its EIP-55 checksum.
pub(super) fn address<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Address, D::Error> {
    let text = String::deserialize(deserializer)?;
    parse_address(&text).map_err(D::Error::custom)
}

pub(super) fn optional_address<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<Address>, D::Error> {
    address(deserializer).map(Some)
}

/// Deserializes addresses like [`address`].
pub(super) fn addresses<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Vec<Address>, D::Error> {
    let texts = Vec::<String>::deserialize(deserializer)?;
    texts.iter().map(|text| parse_address(text).map_err(D::Error::custom)).collect()
}

/// Deserializes an address like [`address`], or the 32 bytes of a pool's id.
pub(super) fn place<'de, D: Deserializer<'de>>(deserializer: D) -> Result<PoolPlace, D::Error> {
    let text = String::deserialize(deserializer)?;
    let id = text.to_ascii_lowercase().parse::<Word>();
    id.map(PoolPlace::Managed)
        .or_else(|_| parse_address(&text).map(PoolPlace::Contract))
        .map_err(D::Error::custom)
}

/// Parses an address in lower case, or in mixed case with its EIP-55 checksum. The error describes the problem.
pub fn parse_address(text: &str) -> Result<Address, String> {
    let lower = text.to_ascii_lowercase();
    let address: Address = lower
        .parse()
        .map_err(|_| format!("{text:?} is not an address; write 0x and 40 hexadecimal digits"))?;
    let digits = text.get(2..).unwrap_or_default();
    let mixed = digits.chars().any(|c| c.is_ascii_uppercase())
        && digits.chars().any(|c| c.is_ascii_lowercase());
    if mixed && ChecksumAddress::parse_checksummed(text, None).is_err() {
        return Err(format!(
            "{text:?} has a wrong EIP-55 checksum; correct the address, or write it in lower case"
        ));
    }
    Ok(address)
}

/// A whole number, as a TOML integer or as decimal digits in a string.
pub(super) fn whole_number<'de, D: Deserializer<'de>>(deserializer: D) -> Result<U256, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum NumberSpelling {
        Integer(u64),
        Text(String),
    }
    let wrong =
        || D::Error::custom("answer: write a whole number without sign, e.g. \"100000000\"");
    match NumberSpelling::deserialize(deserializer).map_err(|_| wrong())? {
        NumberSpelling::Integer(number) => Ok(U256::from(number)),
        NumberSpelling::Text(text) => {
            let digits = !text.is_empty() && text.bytes().all(|c| c.is_ascii_digit());
            let number = digits.then(|| U256::from_str_radix(&text, 10).ok()).flatten();
            number.ok_or_else(wrong)
        }
    }
}
