//! JSON in headers, with size limits.

use base64ct::{Base64, Encoding};
use exitgap_core::ids::{Address, Word};
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::{MAX_BODY_BYTES, MAX_HEADER_BYTES, X402Error, shown};

/// Parses the JSON in a base64 header.
pub fn of_header<D: DeserializeOwned>(what: &'static str, text: &str) -> Result<D, X402Error> {
    if text.len() > MAX_HEADER_BYTES {
        return Err(X402Error::TooLong { what, found: text.len(), most: MAX_HEADER_BYTES });
    }
    let bytes = Base64::decode_vec(text).map_err(|_| X402Error::NotBase64 { what })?;
    of_json(what, &bytes)
}

/// Parses a JSON body.
pub fn of_body<D: DeserializeOwned>(what: &'static str, bytes: &[u8]) -> Result<D, X402Error> {
    if bytes.len() > MAX_BODY_BYTES {
        return Err(X402Error::TooLong { what, found: bytes.len(), most: MAX_BODY_BYTES });
    }
    of_json(what, bytes)
}

fn of_json<D: DeserializeOwned>(what: &'static str, bytes: &[u8]) -> Result<D, X402Error> {
    serde_json::from_slice(bytes)
        .map_err(|error| X402Error::NotJson { what, why: shown(&error.to_string()) })
}

/// A document as a header value. All documents of this module consist of strings, numbers and maps with string keys, so
/// they can always be written as JSON.
pub fn to_header<S: Serialize>(document: &S) -> String {
    Base64::encode_string(&serde_json::to_vec(document).unwrap_or_default())
}

/// Parses an address, with or without checksum capitals.
pub fn address(field: &'static str, text: &str) -> Result<Address, X402Error> {
    let wrong = || X402Error::Hex { field, digits: "40", found: shown(text) };
    lower(text).and_then(|text| text.parse().ok()).ok_or_else(wrong)
}

/// Parses 32 bytes.
pub fn word(field: &'static str, text: &str) -> Result<Word, X402Error> {
    let wrong = || X402Error::Hex { field, digits: "64", found: shown(text) };
    lower(text).and_then(|text| text.parse().ok()).ok_or_else(wrong)
}

/// Converts hex digits to lower case; `None` if the prefix is not exactly `0x`.
fn lower(text: &str) -> Option<String> {
    text.starts_with("0x").then(|| text.to_ascii_lowercase())
}

/// Parses bytes of variable length.
pub fn bytes(field: &'static str, text: &str, most: usize) -> Result<Vec<u8>, X402Error> {
    let wrong = || X402Error::Hex { field, digits: "an even number of", found: shown(text) };
    let digits = text.strip_prefix("0x").ok_or_else(wrong)?.as_bytes();
    if digits.is_empty() || !digits.len().is_multiple_of(2) || digits.len() > 2 * most {
        return Err(wrong());
    }
    let value = |digit: &u8| char::from(*digit).to_digit(16);
    let byte = |pair: &[u8]| {
        let both = value(&pair[0])? << 4 | value(&pair[1])?;
        u8::try_from(both).ok()
    };
    digits.chunks_exact(2).map(|pair| byte(pair).ok_or_else(wrong)).collect()
}

/// Bytes as `0x` and lower-case hex digits.
pub fn hex(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(2 + 2 * bytes.len());
    text.push_str("0x");
    for byte in bytes {
        for digit in [byte >> 4, byte & 15] {
            text.extend(char::from_digit(digit.into(), 16));
        }
    }
    text
}
