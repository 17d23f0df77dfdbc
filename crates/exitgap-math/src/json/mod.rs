//! JSON of hashed documents: a small reader and the one canonical writer.
//!
//! Hashed documents have no fractions, so a number is stored as the digits that were read. The parser does not need to
//! reject every unusual notation: a document is valid only if writing it canonically gives the same bytes. This module
//! is small on purpose, because browsers load it to check evidence.

mod document;
mod reader;
mod wire;

use std::borrow::Cow;

pub use document::{
    DocumentError, Part, VERSION, check_canonical, check_version, from_canonical, from_parsed,
    parse, to_canonical, to_canonical_within,
};
pub use reader::parse_json;
pub use wire::{Fields, Wire, wire_code, wire_struct, wire_text};

use crate::stable_sort::positions;

/// Why a document has no canonical form here.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CanonicalError {
    /// The number is not an integer of magnitude below `2^53`, so two writers might write it differently.
    #[error("{found} is not an integer below 2^53; hashed documents write such numbers as strings")]
    Number {
        /// The number found.
        found: String,
    },
}

/// A document or a part of one. Texts without escapes are borrowed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Json<'a> {
    /// `null`.
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// The original notation: digits, optionally with a sign, a fraction or an exponent.
    Number(Cow<'a, str>),
    /// A string.
    Text(Cow<'a, str>),
    /// An array.
    List(Vec<Json<'a>>),
    /// An object: its fields, in their original order.
    Object(Vec<(Cow<'a, str>, Json<'a>)>),
    /// A document as its canonical bytes. They are written unchanged and never parsed.
    Canonical(&'a [u8]),
}

impl Json<'_> {
    /// The kind of value, for messages.
    fn kind(&self) -> &'static str {
        match self {
            Self::Null => "null",
            Self::Bool(_) => "a boolean",
            Self::Number(_) => "a number",
            Self::Text(_) => "a string",
            Self::List(_) => "an array",
            Self::Object(_) => "an object",
            Self::Canonical(_) => "a document",
        }
    }

    /// Whether an optional field with this value is omitted.
    pub fn is_nothing(&self) -> bool {
        match self {
            Self::Null => true,
            Self::List(items) => items.is_empty(),
            Self::Object(fields) => fields.is_empty(),
            _ => false,
        }
    }

    /// The field of an object. If it is repeated, the first one.
    pub fn field(&self, name: &str) -> Option<&Self> {
        let Self::Object(fields) = self else { return None };
        fields.iter().find(|(key, _)| key == name).map(|(_, value)| value)
    }

    /// The RFC 8785 bytes: no white space, sorted keys, and one notation for each value. If a key is repeated, the last
    /// value is used.
    pub fn to_canonical(&self) -> Result<Vec<u8>, CanonicalError> {
        let mut bytes = Vec::new();
        self.append_to(&mut bytes)?;
        Ok(bytes)
    }

    fn append_to(&self, bytes: &mut Vec<u8>) -> Result<(), CanonicalError> {
        match self {
            Self::Null => bytes.extend_from_slice(b"null"),
            Self::Bool(true) => bytes.extend_from_slice(b"true"),
            Self::Bool(false) => bytes.extend_from_slice(b"false"),
            Self::Number(spelled) => {
                // Two writers might write anything other than a small integer differently.
                let small = spelled.parse::<i64>().ok().filter(|n| n.unsigned_abs() < 1 << 53);
                if small.is_none_or(|small| small.to_string() != *spelled) {
                    let found = spelled.chars().take(40).collect();
                    return Err(CanonicalError::Number { found });
                }
                bytes.extend_from_slice(spelled.as_bytes());
            }
            Self::Text(text) => append_text(text, bytes),
            Self::List(items) => {
                bytes.push(b'[');
                for (index, item) in items.iter().enumerate() {
                    if index > 0 {
                        bytes.push(b',');
                    }
                    item.append_to(bytes)?;
                }
                bytes.push(b']');
            }
            Self::Object(fields) => append_object(fields, bytes)?,
            Self::Canonical(document) => bytes.extend_from_slice(document),
        }
        Ok(())
    }
}

fn append_object(
    fields: &[(Cow<'_, str>, Json<'_>)],
    bytes: &mut Vec<u8>,
) -> Result<(), CanonicalError> {
    // RFC 8785 orders keys by UTF-16 code units.
    let order =
        positions(fields.len(), &|a, b| fields[a].0.encode_utf16().cmp(fields[b].0.encode_utf16()));
    bytes.push(b'{');
    let mut separate = false;
    for (index, position) in order.iter().enumerate() {
        let (key, value) = &fields[*position];
        if order.get(index + 1).is_some_and(|next| fields[*next].0 == *key) {
            continue;
        }
        if separate {
            bytes.push(b',');
        }
        separate = true;
        append_text(key, bytes);
        bytes.push(b':');
        value.append_to(bytes)?;
    }
    bytes.push(b'}');
    Ok(())
}

/// RFC 8785, section 3.2.2.2: two-character escapes if JSON has one, lower case `\u00xx` for other control characters,
/// and everything else unchanged.
fn append_text(text: &str, bytes: &mut Vec<u8>) {
    const HEX: &[u8; 16] = b"0123456789abcdef";
    bytes.push(b'"');
    let mut rest = text.as_bytes();
    loop {
        let plain = rest.iter().position(|byte| matches!(byte, b'"' | b'\\' | 0..b' '));
        let (plain, escaped) = rest.split_at(plain.unwrap_or(rest.len()));
        bytes.extend_from_slice(plain);
        let [byte, after @ ..] = escaped else { break };
        rest = after;
        let short = match byte {
            0x8 => b'b',
            b'\t' => b't',
            b'\n' => b'n',
            0xc => b'f',
            b'\r' => b'r',
            b'"' | b'\\' => *byte,
            _ => {
                bytes.extend_from_slice(b"\\u00");
                bytes.push(HEX[usize::from(byte >> 4)]);
                bytes.push(HEX[usize::from(byte & 15)]);
                continue;
            }
        };
        bytes.extend_from_slice(&[b'\\', short]);
    }
    bytes.push(b'"');
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn documents_have_one_spelling() {
        for (text, canonical) in [
            (
                r#"{"b": [1, -2, true, null, false], "a": "\u0001\n\"€\u20ac\ud83d\ude00\/", "😀": "", "ﬀ": {}}"#,
                // U+1F600 sorts before U+FB00 in UTF-16, after it in UTF-8.
                r#"{"a":"\u0001\n\"€€😀/","b":[1,-2,true,null,false],"😀":"","ﬀ":{}}"#,
            ),
            (
                r#"[[], {}, [0], "\b\f\r\t\\\u001f\u007f"]"#,
                "[[],{},[0],\"\\b\\f\\r\\t\\\\\\u001f\u{7f}\"]",
            ),
            (r#"{"a": 1, "b": {"a": 1, "a": 2}, "a": 3}"#, r#"{"a":3,"b":{"a":2}}"#),
            ("  7 ", "7"),
        ] {
            let written = parse_json(text.as_bytes()).unwrap().to_canonical().unwrap();
            assert_eq!(core::str::from_utf8(&written), Ok(canonical));
            assert_eq!(parse_json(&written).unwrap().to_canonical().as_ref(), Ok(&written));
        }
    }

    #[test]
    fn numbers_that_writers_disagree_on_are_refused() {
        for text in
            ["-0", "0.5", "9007199254740992", "-9007199254740992", "1e3", "18446744073709551616"]
        {
            let written = parse_json(text.as_bytes()).unwrap().to_canonical();
            assert_eq!(written, Err(CanonicalError::Number { found: text.to_owned() }));
        }
    }
}
