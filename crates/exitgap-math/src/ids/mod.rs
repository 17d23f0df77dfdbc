//! Names: addresses, hashes, chains and pools. Each is checked once, when it is parsed.

mod code;
mod pool;

pub use code::{Code, CodeError};
pub use pool::{Contract, Pair, PoolId};

use core::fmt;
use core::str::FromStr;

use serde::{Deserialize, Serialize};

/// Why a text is not a valid name. Contains the given text, shortened for printing.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum IdError {
    /// The text is not `0x` and the expected number of lower-case hex digits.
    #[error("expected 0x and {expected} lower-case hex digits, found {found:?}")]
    NotHex {
        /// The expected number of hex digits.
        expected: usize,
        /// The text as given, cut to 80 characters.
        found: String,
    },
    /// The text is not a chain slug: 1 to 32 of `a-z`, `0-9` and `-`, starting with a letter.
    #[error(
        "expected a chain slug (1 to 32 characters from a-z, 0-9 and '-', starting with a letter), found {found:?}"
    )]
    NotChainSlug {
        /// The text as given, cut to 80 characters.
        found: String,
    },
    /// The text has no colon between chain and address, or does not end with a valid pair of tokens.
    #[error("expected <chain>:<address>, for example ethereum:0x88e6…, found {found:?}")]
    NotPoolId {
        /// The text as given, cut to 80 characters.
        found: String,
    },
    /// The text is not a CAIP-2 id of an EVM chain.
    #[error("expected a CAIP-2 chain id such as eip155:1, found {found:?}")]
    NotCaip2 {
        /// The text as given, cut to 80 characters.
        found: String,
    },
}

fn cut(text: &str) -> String {
    text.chars().take(80).collect()
}

fn parse_hex<const N: usize>(text: &str) -> Result<[u8; N], IdError> {
    let wrong = || IdError::NotHex { expected: 2 * N, found: cut(text) };
    let digits = text.strip_prefix("0x").ok_or_else(wrong)?.as_bytes();
    if digits.len() != 2 * N {
        return Err(wrong());
    }
    let mut bytes = [0; N];
    for (at, byte) in bytes.iter_mut().enumerate() {
        let pair = nibble(digits[2 * at]).zip(nibble(digits[2 * at + 1]));
        let (high, low) = pair.ok_or_else(wrong)?;
        *byte = high << 4 | low;
    }
    Ok(bytes)
}

/// The value of a lower-case hex digit.
fn nibble(digit: u8) -> Option<u8> {
    match digit {
        b'0'..=b'9' => Some(digit - b'0'),
        b'a'..=b'f' => Some(digit - b'a' + 10),
        _ => None,
    }
}

/// Writes digit by digit, because the library's formatter takes ten times as long, and a range of heads contains
/// thousands of hashes.
fn write_hex(bytes: &[u8], f: &mut fmt::Formatter<'_>) -> fmt::Result {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let mut text = String::with_capacity(2 + 2 * bytes.len());
    text.push_str("0x");
    for byte in bytes {
        text.push(char::from(DIGITS[usize::from(byte >> 4)]));
        text.push(char::from(DIGITS[usize::from(byte & 15)]));
    }
    f.write_str(&text)
}

macro_rules! hex_name {
    ($(#[$doc:meta])* $name:ident, $bytes:literal) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(try_from = "String", into = "String")]
        pub struct $name(pub [u8; $bytes]);

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write_hex(&self.0, f)
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Display::fmt(self, f)
            }
        }

        impl FromStr for $name {
            type Err = IdError;
            fn from_str(text: &str) -> Result<Self, IdError> {
                parse_hex(text).map(Self)
            }
        }

        impl TryFrom<String> for $name {
            type Error = IdError;
            fn try_from(text: String) -> Result<Self, IdError> {
                text.parse()
            }
        }

        impl From<$name> for String {
            fn from(name: $name) -> Self {
                name.to_string()
            }
        }
    };
}

hex_name!(
    /// A contract's or token's 20-byte address, written as `0x` and 40 lower-case hex digits.
    Address, 20
);
hex_name!(
    /// A 32-byte word of a contract's response, or the id of a pool in a manager contract.
    Word, 32
);
hex_name!(
    /// The Keccak-256 hash of a block's header, as the chain names it.
    BlockHash, 32
);
hex_name!(
    /// The SHA-256 hash of a snapshot's canonical bytes.
    SnapshotHash, 32
);

hex_name!(
    /// The SHA-256 hash of a state body's canonical bytes.
    StateHash, 32
);

hex_name!(
    /// The SHA-256 hash of a head's canonical bytes.
    HeadHash, 32
);

hex_name!(
    /// The SHA-256 hash of a document that a head or a leaf commits to.
    DocumentHash, 32
);
hex_name!(
    /// The SHA-256 hash of the canonical text of a calendar's table.
    TableHash, 32
);

/// A chain's short name in a [`PoolId`], for example `ethereum`: 1 to 32 of `a-z`, `0-9` and `-`, starting with a
/// letter.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct ChainSlug(String);

impl ChainSlug {
    /// The slug as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for ChainSlug {
    type Err = IdError;
    fn from_str(text: &str) -> Result<Self, IdError> {
        let fits = (1..=32).contains(&text.len())
            && text.as_bytes()[0].is_ascii_lowercase()
            && text.bytes().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == b'-');
        if fits {
            Ok(Self(text.to_owned()))
        } else {
            Err(IdError::NotChainSlug { found: cut(text) })
        }
    }
}

impl TryFrom<String> for ChainSlug {
    type Error = IdError;
    fn try_from(text: String) -> Result<Self, IdError> {
        text.parse()
    }
}

impl From<ChainSlug> for String {
    fn from(slug: ChainSlug) -> Self {
        slug.0
    }
}

impl fmt::Display for ChainSlug {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A chain's CAIP-2 id in the `eip155` namespace, e.g. `eip155:1`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Caip2(pub u64);

impl FromStr for Caip2 {
    type Err = IdError;
    fn from_str(text: &str) -> Result<Self, IdError> {
        let wrong = || IdError::NotCaip2 { found: cut(text) };
        let digits = text.strip_prefix("eip155:").ok_or_else(wrong)?;
        let id: u64 = digits.parse().map_err(|_| wrong())?;
        // Only the canonical form is accepted: no sign, no leading zeros.
        if id.to_string() == digits { Ok(Self(id)) } else { Err(wrong()) }
    }
}

impl TryFrom<String> for Caip2 {
    type Error = IdError;
    fn try_from(text: String) -> Result<Self, IdError> {
        text.parse()
    }
}

impl From<Caip2> for String {
    fn from(id: Caip2) -> Self {
        id.to_string()
    }
}

impl fmt::Display for Caip2 {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "eip155:{}", self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_round_trip_and_refuse_other_spellings() {
        let text = "anvil:0x00000000000000000000000000000000000000ff";
        assert_eq!(text.parse::<PoolId>().unwrap().to_string(), text);
        for wrong in
            ["anvil", "Anvil:0x00000000000000000000000000000000000000ff", "anvil:0x00FF", ""]
        {
            assert!(wrong.parse::<PoolId>().is_err(), "{wrong:?}");
        }
        assert!(matches!(
            "0x00000000000000000000000000000000000000FF".parse::<Address>(),
            Err(IdError::NotHex { expected: 40, .. })
        ));
        assert_eq!("eip155:1".parse::<Caip2>().unwrap(), Caip2(1));
        for wrong in ["eip155:01", "eip155:+1", "1", "eip155:", "solana:1"] {
            assert!(matches!(wrong.parse::<Caip2>(), Err(IdError::NotCaip2 { .. })), "{wrong:?}");
        }
    }
}
