//! Canonical JSON (RFC 8785) of any value, written by a library: the reference for the core's own writer.

use canon_json::CanonJsonSerialize;
use serde_json::Value;

/// The canonical bytes of `value`; `None` if it contains a number that is not an integer with an absolute value below
/// `2^53`: writers might spell such numbers differently, and none of our documents has them.
pub fn to_canonical_json(value: &Value) -> Option<Vec<u8>> {
    if !holds_small_integers_only(value) {
        return None;
    }
    value.to_canon_json_vec().ok()
}

fn holds_small_integers_only(value: &Value) -> bool {
    match value {
        Value::Number(number) => number.as_i64().is_some_and(|n| n.unsigned_abs() < 1 << 53),
        Value::Array(items) => items.iter().all(holds_small_integers_only),
        Value::Object(fields) => fields.values().all(holds_small_integers_only),
        Value::Null | Value::Bool(_) | Value::String(_) => true,
    }
}
