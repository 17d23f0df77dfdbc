//! Canonical JSON (RFC 8785) of documents that hold strings, booleans, small
//! integers, arrays and objects: what is hashed.

use serde_json::Value;

/// Why a document has no canonical form here.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CanonicalError {
    /// A number that is not an integer below `2^53` in size: two writers might
    /// spell it differently.
    #[error("{found} is not an integer below 2^53; hashed documents write such numbers as strings")]
    Number {
        /// The number found.
        found: String,
    },
}

/// The RFC 8785 bytes of `value`: no white space, keys in order, one spelling each.
pub fn to_canonical_json(value: &Value) -> Result<Vec<u8>, CanonicalError> {
    let mut bytes = Vec::new();
    write_value(value, &mut bytes)?;
    Ok(bytes)
}

fn write_value(value: &Value, bytes: &mut Vec<u8>) -> Result<(), CanonicalError> {
    match value {
        Value::Null => bytes.extend_from_slice(b"null"),
        Value::Bool(true) => bytes.extend_from_slice(b"true"),
        Value::Bool(false) => bytes.extend_from_slice(b"false"),
        Value::Number(number) => {
            let small = number.as_i64().filter(|n| n.unsigned_abs() < 1 << 53);
            let small =
                small.ok_or_else(|| CanonicalError::Number { found: number.to_string() })?;
            bytes.extend_from_slice(small.to_string().as_bytes());
        }
        Value::String(text) => write_string(text, bytes),
        Value::Array(items) => {
            bytes.push(b'[');
            for (index, item) in items.iter().enumerate() {
                if index > 0 {
                    bytes.push(b',');
                }
                write_value(item, bytes)?;
            }
            bytes.push(b']');
        }
        Value::Object(fields) => {
            // RFC 8785 orders keys by UTF-16 code units.
            let mut fields: Vec<_> = fields.iter().collect();
            fields.sort_by(|(a, _), (b, _)| a.encode_utf16().cmp(b.encode_utf16()));
            bytes.push(b'{');
            for (index, (key, field)) in fields.into_iter().enumerate() {
                if index > 0 {
                    bytes.push(b',');
                }
                write_string(key, bytes);
                bytes.push(b':');
                write_value(field, bytes)?;
            }
            bytes.push(b'}');
        }
    }
    Ok(())
}

/// RFC 8785, section 3.2.2.2: the two-character escapes where JSON has them, lower
/// case `\u00xx` for the other controls, everything else as it is.
fn write_string(text: &str, bytes: &mut Vec<u8>) {
    bytes.push(b'"');
    for c in text.chars() {
        match c {
            '"' => bytes.extend_from_slice(b"\\\""),
            '\\' => bytes.extend_from_slice(b"\\\\"),
            '\u{8}' => bytes.extend_from_slice(b"\\b"),
            '\u{9}' => bytes.extend_from_slice(b"\\t"),
            '\u{a}' => bytes.extend_from_slice(b"\\n"),
            '\u{c}' => bytes.extend_from_slice(b"\\f"),
            '\u{d}' => bytes.extend_from_slice(b"\\r"),
            c if c < ' ' => bytes.extend_from_slice(format!("\\u{:04x}", u32::from(c)).as_bytes()),
            c => bytes.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes()),
        }
    }
    bytes.push(b'"');
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn documents_have_one_spelling() {
        let value = json!({"b": [1, -2, true, null], "a": "\u{1}\n\"€", "😀": "", "ﬀ": ""});
        let text = String::from_utf8(to_canonical_json(&value).unwrap()).unwrap();
        // U+1F600 sorts before U+FB00 in UTF-16, after it in UTF-8.
        assert_eq!(
            text,
            "{\"a\":\"\\u0001\\n\\\"€\",\"b\":[1,-2,true,null],\"😀\":\"\",\"ﬀ\":\"\"}"
        );
    }

    #[test]
    fn numbers_that_writers_disagree_on_are_refused() {
        for value in [json!(0.5), json!(1_u64 << 53), json!(-(1_i64 << 53)), json!(u64::MAX)] {
            assert!(matches!(to_canonical_json(&value), Err(CanonicalError::Number { .. })));
        }
    }
}
