//! One exchange over HTTP: bounded in time and in bytes, before anything is parsed.

use core::time::Duration;

use alloy::primitives::U64;
use reqwest::header::{DATE, HeaderMap, HeaderValue, RETRY_AFTER};
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;

use super::error::{RpcError, cut};
use crate::config::RpcUrl;

/// A node that did not answer, and when it wants to be asked again, where it says so.
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

/// Sends one JSON-RPC request and returns the bytes of its answer.
///
/// `body` is the whole request; `within` covers connecting, sending and the last byte; no more
/// than `most` bytes are read, and a longer declared length is not read at all.
pub(super) async fn post(
    client: &reqwest::Client,
    url: &RpcUrl,
    body: Vec<u8>,
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
        .header(reqwest::header::CONTENT_TYPE, "application/json")
        .timeout(within)
        .body(body)
        .send()
        .await
        .map_err(fault)?;
    let status = response.status();
    let retry_after = retry_after(response.headers());
    let refusal = |error| Refusal { error, retry_after };
    match status.as_u16() {
        429 => return Err(refusal(RpcError::RateLimited("HTTP status 429".to_owned()))),
        413 => return Err(RpcError::RefusedForSize("HTTP status 413".to_owned()).into()),
        _ => {}
    }
    let oversized = || RpcError::Oversized { most };
    if response.content_length().is_some_and(|length| length > most as u64) {
        return Err(oversized().into());
    }
    let mut bytes = Vec::new();
    while let Some(part) = response.chunk().await.map_err(fault)? {
        if bytes.len() + part.len() > most {
            return Err(oversized().into());
        }
        bytes.extend_from_slice(&part);
    }
    if status.is_success() {
        return Ok(bytes);
    }
    // Some nodes put a JSON-RPC error under a status that is not 200.
    match serde_json::from_slice::<Answer<'_>>(&bytes) {
        Ok(Answer { error: Some(error), .. }) => Err(refusal(error.sort())),
        _ => Err(refusal(RpcError::Status(status.as_u16()))),
    }
}

/// How long `Retry-After` (RFC 9110, 10.2.3) asks to wait: seconds, or a date, which is compared
/// with the answer's own `Date`, because the node's clock need not be ours.
fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    let text = |name| headers.get(name).and_then(|value: &HeaderValue| value.to_str().ok());
    let wanted = text(RETRY_AFTER)?.trim();
    if let Ok(seconds) = wanted.parse::<u32>() {
        return Some(Duration::from_secs(seconds.into()));
    }
    let now = httpdate::parse_http_date(text(DATE)?).ok()?;
    httpdate::parse_http_date(wanted).ok()?.duration_since(now).ok()
}

#[derive(Deserialize)]
struct Answer<'a> {
    id: Option<u64>,
    #[serde(borrow, default, deserialize_with = "present")]
    result: Option<&'a RawValue>,
    error: Option<ErrorObject>,
}

/// Keeps `"result": null` apart from an answer without a result.
fn present<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<&'de RawValue>, D::Error> {
    <&RawValue>::deserialize(deserializer).map(Some)
}

#[derive(Deserialize)]
struct ErrorObject {
    #[serde(default)]
    code: i64,
    #[serde(default)]
    message: String,
}

impl ErrorObject {
    fn sort(&self) -> RpcError {
        RpcError::of_node(self.code, &self.message)
    }
}

/// The `result` of the answer to request `id`, still as text.
pub(super) fn result_of(bytes: &[u8], id: u64) -> Result<&RawValue, RpcError> {
    let answer: Answer<'_> =
        serde_json::from_slice(bytes).map_err(|error| RpcError::Malformed(error.to_string()))?;
    if let Some(error) = answer.error {
        return Err(error.sort());
    }
    if answer.id != Some(id) {
        return Err(RpcError::Contradiction {
            what: "the response's id",
            expected: id.to_string(),
            found: answer.id.map_or_else(|| "absent".to_owned(), |found| found.to_string()),
        });
    }
    answer.result.ok_or_else(|| RpcError::Malformed("neither result nor error".to_owned()))
}

/// Reads a value out of a `result`.
pub(crate) fn value<'a, T: Deserialize<'a>>(raw: &'a RawValue) -> Result<T, RpcError> {
    serde_json::from_str(raw.get()).map_err(|error| RpcError::Malformed(error.to_string()))
}

/// Reads a `0x` quantity of at most 64 bits.
pub(super) fn quantity(raw: &RawValue) -> Result<u64, RpcError> {
    value::<U64>(raw).map(|number| number.to())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_that_are_none_are_refused() {
        let malformed = |text: &str| {
            assert!(matches!(result_of(text.as_bytes(), 7), Err(RpcError::Malformed(_))), "{text}");
        };
        for text in ["", "{", "[]", "null", r#"{"id":7}"#, r#"{"id":"7","result":1}"#, "<html>"] {
            malformed(text);
        }
        assert!(matches!(
            result_of(br#"{"id":8,"result":1}"#, 7),
            Err(RpcError::Contradiction { what: "the response's id", .. })
        ));
        assert!(matches!(
            result_of(br#"{"id":7,"error":{"code":3,"message":"execution reverted"}}"#, 7),
            Err(RpcError::Reverted(_))
        ));
        assert_eq!(result_of(br#"{"id":7,"result":null}"#, 7).unwrap().get(), "null");
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
