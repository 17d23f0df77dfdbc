//! What a request is before its messages are read: which media types it accepts, and whether its body is one message, several
//! or none. The library answers all of these with an HTTP status alone, and several messages not at all.

use http::HeaderMap;
use http::header::ACCEPT;
use serde_json::{Value, json};

/// The one revision in which a body may hold several messages.
pub const BATCH_REVISION: &str = "2025-03-26";

/// The most messages of one body: fewer than a client may send in a minute by default.
pub const MAX_BATCH: usize = 20;

/// The header that names the revision. A request without it is of [`BATCH_REVISION`].
pub const REVISION: &str = "mcp-protocol-version";

/// JSON-RPC's codes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ErrorCode {
    /// The body is not JSON.
    Parse = -32_700,
    /// It is JSON, and not a message.
    InvalidRequest = -32_600,
    /// A message had no answer.
    Internal = -32_603,
}

/// An error as a JSON-RPC message. `id` is null where the message's own is not known.
pub fn error_message(id: &Value, code: ErrorCode, message: &str) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "error": {"code": code as i64, "message": message}})
}

/// Whether several messages may be sent at once.
pub fn takes_batches(headers: &HeaderMap) -> bool {
    headers.get(REVISION).is_none_or(|revision| revision == BATCH_REVISION)
}

/// Whether a value is one message of JSON-RPC; refused with its id, or null.
pub fn check_message(value: &Value) -> Result<(), Value> {
    let id = value.get("id");
    let is_id = |id: &Value| id.is_string() || id.is_i64() || id.is_u64();
    let known = id.filter(|id| is_id(id)).cloned().unwrap_or(Value::Null);
    let has = |name: &str| value.get(name).is_some();
    let is_call = value.get("method").is_some_and(Value::is_string)
        && id.is_none_or(is_id)
        && !has("result")
        && !has("error");
    let is_answer = !has("method") && (has("result") ^ has("error"));
    if value.get("jsonrpc") == Some(&json!("2.0")) && (is_call || is_answer) {
        Ok(())
    } else {
        Err(known)
    }
}

/// Whether answers may be sent as JSON and as a stream of events, which are the two that the protocol has. Ranges such as
/// `*/*` count, and without the header everything is accepted.
pub fn accepts_answers(headers: &HeaderMap) -> bool {
    let mut ranges = Vec::new();
    for value in headers.get_all(ACCEPT) {
        let Ok(text) = value.to_str() else { continue };
        ranges.extend(text.split(',').filter_map(parse_range));
    }
    if !headers.contains_key(ACCEPT) {
        return true;
    }
    ["application/json", "text/event-stream"].iter().all(|media_type| {
        let fitting = ranges
            .iter()
            .filter_map(|(range, wanted)| Some((precision(range, media_type)?, *wanted)));
        // The most precise range decides.
        fitting.max_by_key(|(precision, _)| *precision).is_some_and(|(_, wanted)| wanted)
    })
}

/// A range, and whether it is wanted: a weight of zero says that it is not.
fn parse_range(entry: &str) -> Option<(String, bool)> {
    let mut parts = entry.split(';');
    let range = parts.next()?.trim().to_ascii_lowercase();
    let is_zero = |weight: &str| {
        let weight = weight.trim();
        weight.starts_with('0') && weight.bytes().all(|byte| matches!(byte, b'0' | b'.'))
    };
    let unwanted = parts
        .filter_map(|parameter| parameter.split_once('='))
        .any(|(name, weight)| name.trim().eq_ignore_ascii_case("q") && is_zero(weight));
    Some((range, !unwanted))
}

/// How precisely a range names a media type; `None` where it does not.
fn precision(range: &str, media_type: &str) -> Option<u8> {
    let kind = media_type.split('/').next().unwrap_or_default();
    match range.strip_suffix("/*") {
        Some("*") => Some(0),
        Some(found) => (found == kind).then_some(1),
        None => (range == media_type).then_some(2),
    }
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;

    use super::*;

    #[test]
    fn ranges_accept_what_they_cover() {
        let accepts = |values: &[&str]| {
            let mut headers = HeaderMap::new();
            for value in values {
                headers.append(ACCEPT, HeaderValue::from_str(value).unwrap());
            }
            accepts_answers(&headers)
        };
        for yes in [
            &[][..],
            &["*/*"],
            &["*/*;q=0.1"],
            &["application/json, text/event-stream"],
            &["application/json", "text/event-stream"],
            &["APPLICATION/JSON;q=0.9,Text/Event-Stream; charset=utf-8"],
            &["application/*, text/*"],
            &["application/json, */*;q=0.8"],
            &["text/html, application/xhtml+xml, */*;q=0.8"],
            &["text/*", "application/json"],
        ] {
            assert!(accepts(yes), "{yes:?}");
        }
        for no in [
            &[""][..],
            &["text/html"],
            &["application/json"],
            &["text/event-stream"],
            &["*/*;q=0"],
            &["*/*, application/json;q=0"],
            &["*/*, application/*;q=0.0"],
            &["application/*"],
            &["*"],
        ] {
            assert!(!accepts(no), "{no:?}");
        }
    }

    #[test]
    fn only_messages_of_json_rpc_are_messages() {
        for message in [
            json!({"jsonrpc": "2.0", "id": 1, "method": "ping"}),
            json!({"jsonrpc": "2.0", "id": "a", "method": "ping", "params": {}}),
            json!({"jsonrpc": "2.0", "method": "notifications/initialized"}),
            json!({"jsonrpc": "2.0", "id": 1, "result": {}}),
            json!({"jsonrpc": "2.0", "id": 1, "error": {"code": 1, "message": "a"}}),
        ] {
            assert_eq!(check_message(&message), Ok(()), "{message}");
        }
        for (value, id) in [
            (json!(null), json!(null)),
            (json!(1), json!(null)),
            (json!("ping"), json!(null)),
            (json!({}), json!(null)),
            (json!({"id": 1, "method": "ping"}), json!(1)),
            (json!({"jsonrpc": "1.0", "id": 7, "method": "ping"}), json!(7)),
            (json!({"jsonrpc": 2.0, "id": "a", "method": "ping"}), json!("a")),
            (json!({"jsonrpc": "2.0", "id": null, "method": "ping"}), json!(null)),
            (json!({"jsonrpc": "2.0", "id": 1.5, "method": "ping"}), json!(null)),
            (json!({"jsonrpc": "2.0", "id": {}, "method": "ping"}), json!(null)),
            (json!({"jsonrpc": "2.0", "id": 1, "method": 2}), json!(1)),
            (json!({"jsonrpc": "2.0", "id": 1}), json!(1)),
            (json!({"jsonrpc": "2.0", "id": 1, "method": "ping", "result": {}}), json!(1)),
            (json!({"jsonrpc": "2.0", "id": 1, "result": {}, "error": {}}), json!(1)),
        ] {
            assert_eq!(check_message(&value), Err(id), "{value}");
        }
    }
}
