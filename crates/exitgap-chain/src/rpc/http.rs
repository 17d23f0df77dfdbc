//! One exchange over HTTP, limited in time and size before anything is parsed.

use core::time::Duration;
use std::io::Read as _;

use alloy::primitives::U64;
use flate2::read::MultiGzDecoder;
use reqwest::header::{
    ACCEPT_ENCODING, CONTENT_ENCODING, CONTENT_TYPE, DATE, HeaderMap, HeaderName, HeaderValue,
    RETRY_AFTER,
};
use serde::{Deserialize, Deserializer};
use serde_json::Value;
use serde_json::value::RawValue;

use super::error::{RpcError, cut};
use super::outcome::Fault;
use crate::config::RpcUrl;

/// A node's failure to answer, with the time after which it wants to be asked again, if it names one.
#[derive(Debug)]
pub(super) struct Refusal {
    pub(super) error: RpcError,
    pub(super) retry_after: Option<Duration>,
}

impl From<RpcError> for Refusal {
    fn from(error: RpcError) -> Self {
        Self { error, retry_after: None }
    }
}

/// Sends one JSON-RPC request and returns the bytes of its answer, decompressed.
///
/// `body` is the whole request. `within` covers connecting, sending and the last byte. At most `most` bytes are read or
/// decompressed, and an answer with a larger declared length is not read at all.
pub(super) async fn post(
    client: &reqwest::Client,
    url: &RpcUrl,
    (method, body): (&str, Vec<u8>),
    within: Duration,
    most: usize,
) -> Result<Vec<u8>, Refusal> {
    let fault = |error: reqwest::Error| {
        if error.is_timeout() {
            return RpcError::TimedOut { within };
        }
        let error = error.without_url();
        let cause = std::error::Error::source(&error).map(ToString::to_string);
        RpcError::Connection(cut(&cause.unwrap_or_else(|| error.to_string())))
    };
    let mut response = client
        .post(url.for_request())
        .header(CONTENT_TYPE, "application/json")
        .header(ACCEPT_ENCODING, "gzip, identity")
        .timeout(within)
        .body(body)
        .send()
        .await
        .map_err(fault)?;
    let status = response.status();
    let retry_after = retry_after(response.headers());
    let encoding = text_of(response.headers(), CONTENT_ENCODING).map(str::to_ascii_lowercase);
    let is_refusal = !status.is_success();
    let most_read = if is_refusal { most.min(REFUSAL_BYTES) } else { most };
    let declares_too_much = response.content_length().is_some_and(|length| length > most as u64);
    if declares_too_much && !is_refusal {
        return Err(RpcError::Oversized { most }.into());
    }
    let mut bytes = Vec::new();
    let read = loop {
        match response.chunk().await {
            Ok(None) => break Ok(()),
            Ok(Some(part)) if bytes.len() + part.len() > most_read => {
                break Err(RpcError::Oversized { most });
            }
            Ok(Some(part)) => bytes.extend_from_slice(&part),
            Err(error) => break Err(fault(error)),
        }
    };
    if is_refusal {
        // Where its body cannot be read, or not to its end, the status says enough.
        let body = unpacked(bytes, encoding.as_deref(), most).unwrap_or_default();
        return Err(Refusal { error: sort_refusal(&body, method, status.as_u16()), retry_after });
    }
    read?;
    Ok(unpacked(bytes, encoding.as_deref(), most)?)
}

/// Bytes read of the body under a status that is not 200.
const REFUSAL_BYTES: usize = 64 << 10;

/// The meaning of a status other than 200. Some nodes send a JSON-RPC error with it, and some plain text.
fn sort_refusal(body: &[u8], method: &str, status: u16) -> RpcError {
    match answer_of(body).ok().and_then(|answer| answer.error) {
        Some(error) => error.sort(method, status),
        None => sort_text(body, method, status),
    }
}

/// A body without its content encoding. A body that starts like gzip is decompressed even without the header, because
/// JSON never starts like that.
fn unpacked(bytes: Vec<u8>, encoding: Option<&str>, most: usize) -> Result<Vec<u8>, RpcError> {
    const GZIP: [u8; 2] = [0x1f, 0x8b];
    if bytes.starts_with(&GZIP) {
        let mut unpacked = Vec::new();
        let bound = u64::try_from(most).unwrap_or(u64::MAX).saturating_add(1);
        let read = MultiGzDecoder::new(&bytes[..]).take(bound).read_to_end(&mut unpacked);
        if unpacked.len() > most {
            return Err(RpcError::Oversized { most });
        }
        read.map_err(|error| RpcError::Unreadable(format!("gzip: {error}")))?;
        return Ok(unpacked);
    }
    match encoding {
        // A proxy that decompressed the body may have left the header.
        None | Some("" | "identity" | "gzip" | "x-gzip") => Ok(bytes),
        Some(other) => Err(RpcError::Unreadable(cut(&format!("it is encoded as {other}")))),
    }
}

/// A header's value as text.
fn text_of(headers: &HeaderMap, name: HeaderName) -> Option<&str> {
    headers.get(name).and_then(|value: &HeaderValue| value.to_str().ok()).map(str::trim)
}

/// The wait requested by `Retry-After` (RFC 9110, 10.2.3): seconds, or a date, which is compared with the answer's own
/// `Date`, because the node's clock can differ from ours.
fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    let wanted = text_of(headers, RETRY_AFTER)?;
    if let Ok(seconds) = wanted.parse::<u32>() {
        return Some(Duration::from_secs(seconds.into()));
    }
    let now = httpdate::parse_http_date(text_of(headers, DATE)?).ok()?;
    httpdate::parse_http_date(wanted).ok()?.duration_since(now).ok()
}

/// An answer as nodes write it. The envelope is parsed whatever the types of its fields are.
#[derive(Deserialize)]
struct Wire<'a> {
    id: Option<Value>,
    #[serde(borrow, default, deserialize_with = "present")]
    result: Option<&'a RawValue>,
    error: Option<Value>,
    // Some gateways write the fields of `error` at the top level instead.
    code: Option<Value>,
    message: Option<Value>,
    data: Option<Value>,
}

/// Distinguishes `"result": null` from an answer without a result.
fn present<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<&'de RawValue>, D::Error> {
    <&RawValue>::deserialize(deserializer).map(Some)
}

/// An answer with its id, and its result or error.
struct Answer<'a> {
    id: Option<u64>,
    result: Option<&'a RawValue>,
    error: Option<ErrorObject>,
}

/// An error reported by a node.
#[derive(Debug, Default, PartialEq, Eq)]
struct ErrorObject {
    code: Option<i64>,
    message: String,
    data: String,
}

impl ErrorObject {
    /// Parses an `error`: an object, or plain text.
    fn of(error: &Value) -> Self {
        match error {
            Value::Object(fields) => {
                let field = |name| fields.get(name);
                let message = field("message").or_else(|| field("error")).map(words_of);
                Self {
                    code: field("code").and_then(number_of),
                    message: message.unwrap_or_default(),
                    data: field("data").map(words_of).unwrap_or_default(),
                }
            }
            words => Self { message: words_of(words), ..Self::default() },
        }
    }

    fn sort(&self, method: &str, status: u16) -> RpcError {
        let Self { code, message, data } = self;
        Fault { method, status, code: *code, message, data }.sort()
    }
}

/// Text unchanged, other values as JSON.
fn words_of(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

/// A number, also if it is written as text.
fn number_of(value: &Value) -> Option<i64> {
    match value {
        Value::Number(number) => number.as_i64(),
        Value::String(text) => text.trim().parse().ok(),
        _ => None,
    }
}

/// Parses an answer, or a list with one answer.
fn answer_of(bytes: &[u8]) -> Result<Answer<'_>, RpcError> {
    let unreadable = |error: serde_json::Error| RpcError::Unreadable(error.to_string());
    let is_list = bytes.iter().find(|byte| !byte.is_ascii_whitespace()) == Some(&b'[');
    let wire = if is_list {
        let mut list: Vec<Wire<'_>> = serde_json::from_slice(bytes).map_err(unreadable)?;
        let count = list.len();
        let only = list.pop().filter(|_| count == 1);
        only.ok_or_else(|| RpcError::Unreadable(format!("a list of {count} responses")))?
    } else {
        serde_json::from_slice::<Wire<'_>>(bytes).map_err(unreadable)?
    };
    let Wire { id, result, error, code, message, data } = wire;
    let error = error.filter(|error| !matches!(error, Value::Null | Value::Bool(false)));
    let error = match error {
        Some(error) => Some(ErrorObject::of(&error)),
        None if result.is_none() && (code.is_some() || message.is_some()) => Some(ErrorObject {
            code: code.as_ref().and_then(number_of),
            message: message.as_ref().map(words_of).unwrap_or_default(),
            data: data.as_ref().map(words_of).unwrap_or_default(),
        }),
        None => None,
    };
    let id = id.as_ref().and_then(number_of).and_then(|id| u64::try_from(id).ok());
    Ok(Answer { id, result, error })
}

/// Classifies a body that is not JSON-RPC. Some gateways answer with plain text.
fn sort_text(bytes: &[u8], method: &str, status: u16) -> RpcError {
    let text = cut(String::from_utf8_lossy(bytes).trim());
    Fault { method, status, message: &text, ..Fault::default() }.sort()
}

/// The `result` of the answer to request `id`, not yet parsed.
pub(super) fn result_of<'a>(
    bytes: &'a [u8],
    method: &str,
    id: u64,
) -> Result<&'a RawValue, RpcError> {
    const STATUS: u16 = 200;
    let answer = answer_of(bytes).map_err(|error| {
        let text = cut(String::from_utf8_lossy(bytes).trim());
        let fault = Fault { method, status: STATUS, message: &text, ..Fault::default() };
        // A web page or a truncated answer can contain any words.
        let is_words = !text.starts_with(['<', '{', '[', '"']);
        if is_words && fault.is_known() { fault.sort() } else { error }
    })?;
    if let Some(error) = answer.error {
        return Err(error.sort(method, STATUS));
    }
    if answer.id != Some(id) {
        return Err(RpcError::Contradiction {
            what: "the response's id",
            expected: id.to_string(),
            found: answer.id.map_or_else(|| "absent".to_owned(), |found| found.to_string()),
        });
    }
    answer.result.ok_or_else(|| RpcError::Unreadable("neither result nor error".to_owned()))
}

/// Parses a value from a `result`.
pub(crate) fn value<'a, T: Deserialize<'a>>(raw: &'a RawValue) -> Result<T, RpcError> {
    serde_json::from_str(raw.get()).map_err(|error| RpcError::Malformed(error.to_string()))
}

/// Parses a `0x` quantity of at most 64 bits.
pub(super) fn quantity(raw: &RawValue) -> Result<u64, RpcError> {
    value::<U64>(raw).map(|number| number.to())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trial_node::gzip;

    fn result(text: &str) -> Result<&RawValue, RpcError> {
        result_of(text.as_bytes(), "eth_call", 7)
    }

    #[test]
    fn answers_that_are_none_are_refused() {
        for text in
            ["", "{", "[]", "null", r#"{"id":7}"#, "<html>", r#"[{"id":7,"result":1},{"id":8}]"#]
        {
            assert!(matches!(result(text), Err(RpcError::Unreadable(_))), "{text}");
        }
        for text in [r#"{"id":8,"result":1}"#, r#"{"result":1}"#, r#"{"id":{},"result":1}"#] {
            assert!(
                matches!(
                    result(text),
                    Err(RpcError::Contradiction { what: "the response's id", .. })
                ),
                "{text}"
            );
        }
        assert!(matches!(
            result(r#"{"id":7,"error":{"code":3,"message":"execution reverted"}}"#),
            Err(RpcError::Reverted(_))
        ));
        assert_eq!(result(r#"{"id":7,"result":null}"#).unwrap().get(), "null");
    }

    #[test]
    fn the_envelope_is_read_whatever_the_types_of_its_fields_are() {
        for text in [
            r#"{"id":"7","result":5}"#,
            r#"{"id":7,"result":5,"error":null}"#,
            r#"{"jsonrpc":1,"id":7,"result":5,"more":{}}"#,
            r#" [{"id":7,"result":5}]"#,
        ] {
            assert_eq!(result(text).unwrap().get(), "5", "{text}");
        }
        for text in [
            r#"{"id":7,"error":{"code":"429","message":"no"}}"#,
            r#"{"id":7,"error":"too many requests"}"#,
            r#"{"id":null,"code":429,"message":"no"}"#,
            r#"{"code":"-32005","message":"daily request count exceeded"}"#,
            r#"{"error":{"message":{"text":"rate limit"}}}"#,
            r#"{"id":7,"result":null,"error":{"code":-32000,"message":"no","data":"rate limit"}}"#,
            "Too Many Requests",
        ] {
            assert!(
                matches!(result(text), Err(RpcError::RateLimited(_))),
                "{text}: {:?}",
                result(text)
            );
        }
        // A web page with these words is not a rate limit.
        assert!(matches!(result("<p>rate limit</p>"), Err(RpcError::Unreadable(_))));
    }

    #[test]
    fn gzip_is_unpacked_within_the_bound() {
        let text = vec![b'x'; 100_000];
        let packed = gzip(&text);
        assert!(packed.len() < 1_000, "the control: it is far smaller");
        for encoding in [Some("gzip"), Some("identity"), None] {
            assert_eq!(unpacked(packed.clone(), encoding, 100_000), Ok(text.clone()));
            let beyond = unpacked(packed.clone(), encoding, 99_999);
            assert_eq!(beyond, Err(RpcError::Oversized { most: 99_999 }));
        }
        let cut_short = packed[..packed.len() / 2].to_vec();
        assert!(matches!(unpacked(cut_short, Some("gzip"), 100_000), Err(RpcError::Unreadable(_))));
        assert_eq!(unpacked(b"{}".to_vec(), Some("gzip"), 10), Ok(b"{}".to_vec()));
        assert!(matches!(unpacked(b"{}".to_vec(), Some("br"), 10), Err(RpcError::Unreadable(_))));
    }

    #[test]
    fn a_wait_is_asked_for_in_seconds_or_as_a_date() {
        let asked = |wait: &str, date: Option<&str>| {
            let mut headers = HeaderMap::new();
            headers.insert(RETRY_AFTER, wait.parse().unwrap());
            if let Some(date) = date {
                headers.insert(DATE, date.parse().unwrap());
            }
            retry_after(&headers).map(|wait| wait.as_secs())
        };
        let now = Some("Sun, 22 Nov 2026 07:05:37 GMT");
        assert_eq!(asked("1", None), Some(1));
        assert_eq!(asked("Sun, 22 Nov 2026 07:06:07 GMT", now), Some(30));
        assert_eq!(asked("Sun, 22 Nov 2026 07:05:07 GMT", now), None, "it is past");
        assert_eq!(asked("Sun, 22 Nov 2026 07:06:07 GMT", None), None, "no clock to compare");
        for wrong in ["-1", "soon", "", "99999999999"] {
            assert_eq!(asked(wrong, now), None, "{wrong}");
        }
    }

    #[test]
    fn quantities_are_hexadecimal_and_bounded() {
        let raw = |text: &str| RawValue::from_string(text.to_owned()).unwrap();
        assert_eq!(quantity(&raw("\"0x7a69\"")), Ok(31_337));
        for wrong in ["\"0x10000000000000000\"", "\"zz\"", "null", "{}"] {
            assert!(matches!(quantity(&raw(wrong)), Err(RpcError::Malformed(_))), "{wrong}");
        }
    }
}
