//! Values as the files spell them.

use std::fmt::Display;
use std::str::FromStr;

use base64ct::{Base64, Encoding as _};
use exitgap_core::ids::Word;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A value that is written as a text, such as a number of more than 53 bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Text<T>(pub T);

impl<'de, T: FromStr> Deserialize<'de> for Text<T> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let text = String::deserialize(from)?;
        let unreadable = || D::Error::custom(format!("{text:?} cannot be read"));
        text.parse().map(Self).map_err(|_| unreadable())
    }
}

impl<T: Display> Serialize for Text<T> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(&self.0)
    }
}

/// Bytes in base64.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Bytes(pub Vec<u8>);

impl<'de> Deserialize<'de> for Bytes {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let text = String::deserialize(from)?;
        Base64::decode_vec(&text).map(Self).map_err(|_| D::Error::custom("bytes are not in base64"))
    }
}

/// Bytes in hexadecimal digits, with or without `0x`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hex(pub Vec<u8>);

impl FromStr for Hex {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let digits = text.strip_prefix("0x").unwrap_or(text).as_bytes();
        let value = |digit: u8| char::from(digit).to_digit(16).ok_or("a digit is not hexadecimal");
        // A number may have an odd count of digits.
        let (first, pairs) = digits.split_at(digits.len() % 2);
        let byte = |pair: &[u8]| {
            let sum =
                pair.iter().try_fold(0, |sum, digit| Ok::<_, &str>(sum << 4 | value(*digit)?))?;
            u8::try_from(sum).map_err(|_| "a byte is too large")
        };
        [first]
            .into_iter()
            .filter(|first| !first.is_empty())
            .chain(pairs.chunks(2))
            .map(byte)
            .collect::<Result<_, _>>()
            .map(Self)
    }
}

/// A word of storage, written as a number in hexadecimal digits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Slot(pub Word);

impl FromStr for Slot {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let Hex(bytes) = text.parse()?;
        let start = 32_usize.checked_sub(bytes.len()).ok_or("a word has more than 32 bytes")?;
        let mut word = [0; 32];
        word[start..].copy_from_slice(&bytes);
        Ok(Self(Word(word)))
    }
}

/// A hash in hexadecimal digits, with or without `0x`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Hash(pub [u8; 32]);

impl FromStr for Hash {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let Hex(bytes) = text.parse()?;
        bytes.try_into().map(Self).map_err(|_| "a hash does not have 32 bytes")
    }
}
