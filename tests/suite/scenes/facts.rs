//! The committed facts of real blocks, read as they are.

use std::fs;
use std::path::{Path, PathBuf};

use alloy::primitives::{Address, Bytes, U256};
use base64ct::{Base64, Encoding as _};
use serde_json::Value;

/// Their folder.
pub fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("reality/facts")
}

/// The file of a kind.
pub fn file(kind: &str) -> Value {
    serde_json::from_slice(&fs::read(folder().join(format!("{kind}.json"))).unwrap()).unwrap()
}

/// A text of a file.
pub fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_else(|| panic!("{value} is not a text"))
}

/// A number that is written as a text, with `0x` in hexadecimal digits.
pub fn number(value: &Value) -> U256 {
    text(value).parse().unwrap_or_else(|error| panic!("{value}: {error}"))
}

/// An address.
pub fn address(value: &Value) -> Address {
    text(value).parse().unwrap_or_else(|error| panic!("{value}: {error}"))
}

/// Bytes in base64.
pub fn bytes(value: &Value) -> Bytes {
    Base64::decode_vec(text(value)).unwrap().into()
}
