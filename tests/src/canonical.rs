//! Canonical JSON (RFC 8785) of any value, written apart from the core's writer: what that one is
//! compared with.

use serde_json::Value;

/// The bytes of `value`: no white space, keys in order, one spelling each; `None` where a number is
/// not an integer below `2^53` in size, which two writers might spell differently.
pub fn to_canonical_json(value: &Value) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    write_value(value, &mut bytes)?;
    Some(bytes)
}

fn write_value(value: &Value, bytes: &mut Vec<u8>) -> Option<()> {
    match value {
        Value::Null => bytes.extend_from_slice(b"null"),
        Value::Bool(true) => bytes.extend_from_slice(b"true"),
        Value::Bool(false) => bytes.extend_from_slice(b"false"),
        Value::Number(number) => {
            let small = number.as_i64().filter(|n| n.unsigned_abs() < 1 << 53);
            bytes.extend_from_slice(small?.to_string().as_bytes());
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
    Some(())
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
