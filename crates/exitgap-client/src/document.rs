//! Parses the service's documents.

use serde::de::DeserializeOwned;

/// Parses a document; the error says why it is not the expected one.
#[cfg(not(target_arch = "wasm32"))]
pub(crate) fn parse_json<D: DeserializeOwned>(bytes: &[u8]) -> Result<D, String> {
    serde_json::from_slice(bytes).map_err(|error| error.to_string())
}

/// The same with the browser's own JSON parser: a second one, with its tables of powers of ten, would enlarge the
/// page's program needlessly. Both parse a number to the same 64-bit float.
#[cfg(target_arch = "wasm32")]
pub(crate) fn parse_json<D: DeserializeOwned>(bytes: &[u8]) -> Result<D, String> {
    let text = core::str::from_utf8(bytes).map_err(|error| error.to_string())?;
    if is_deeper_than(MOST_NESTED, bytes) {
        return Err(format!("it is nested more than {MOST_NESTED} levels deep"));
    }
    let value = js_sys::JSON::parse(text).map_err(|_| "it is not JSON".to_owned())?;
    serde_wasm_bindgen::from_value(value).map_err(|error| error.to_string())
}

/// The same nesting limit as the native parser. No document of the service is ten levels deep; without a limit, deeper
/// input could overflow the stack.
#[cfg(any(target_arch = "wasm32", test))]
const MOST_NESTED: usize = 127;

/// Whether JSON is nested deeper. The result for invalid JSON is arbitrary.
#[cfg(any(target_arch = "wasm32", test))]
fn is_deeper_than(most: usize, json: &[u8]) -> bool {
    let (mut depth, mut quoted, mut escaped) = (0_usize, false, false);
    for byte in json {
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = quoted,
            b'"' => quoted = !quoted,
            b'[' | b'{' if !quoted => depth += 1,
            b']' | b'}' if !quoted => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth > most {
            return true;
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_brackets_outside_of_texts_nest() {
        assert!(!is_deeper_than(2, br#"[{"a[[[":"\"[[[{{{"},[1],{"b":2}]"#));
        assert!(is_deeper_than(2, br#"[{"a":"\\","b":[]}]"#));
        let nested = |deep| [vec![b'['; deep], vec![b']'; deep]].concat();
        assert!(!is_deeper_than(MOST_NESTED, &nested(MOST_NESTED)));
        assert!(is_deeper_than(MOST_NESTED, &nested(MOST_NESTED + 1)));
        // The native parser's limit, too.
        assert!(parse_json::<serde_json::Value>(&nested(MOST_NESTED)).is_ok());
        assert!(parse_json::<serde_json::Value>(&nested(MOST_NESTED + 1)).is_err());
    }
}
