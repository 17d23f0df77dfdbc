//! What an answer says about the payment that was sent for it.

use core::time::Duration;

use base64ct::{Base64, Encoding};
use exitgap_api::x402::{PAYMENT_REQUIRED, PAYMENT_RESPONSE, Settlement, X_PAYMENT_RESPONSE};
use exitgap_client::Response;
use serde::Deserialize;

/// Pauses between retries: the default, and the maximum.
const PAUSE: Duration = Duration::from_secs(2);
const LONGEST_PAUSE: Duration = Duration::from_secs(10);
const SHORTEST_PAUSE: Duration = Duration::from_millis(100);

/// The reasons that facilitators give for a payment that failed their check. They only affect how long this waits,
/// never what is signed.
const REFUSALS: [&str; 3] = ["insufficient_funds", "invalid_", "unsupported_"];

/// Maximum length of a service's reason that is passed on.
const MAX_REASON_CHARS: usize = 120;

/// Whether the payment's outcome is still open after such an answer. A service that is still settling answers 402, too.
pub fn leaves_open(status: u16) -> bool {
    matches!(status, 402 | 429 | 500 | 502 | 503 | 504)
}

/// Whether the service reports that the payment failed its check.
pub fn is_refusal(answer: &Response) -> bool {
    let reason = reason_of(answer);
    answer.status == 402 && REFUSALS.iter().any(|start| reason.starts_with(start))
}

/// The pause before the payment is sent again.
pub fn pause_after(answer: Option<&Response>) -> Duration {
    let asked = answer.and_then(|answer| answer.header("retry-after"));
    let asked = asked.and_then(|text| text.parse().ok());
    asked.map_or(PAUSE, Duration::from_secs).clamp(SHORTEST_PAUSE, LONGEST_PAUSE)
}

/// The settlement that the service reports.
pub fn settlement_of(answer: &Response) -> Option<Settlement> {
    let header = answer.header(PAYMENT_RESPONSE).or_else(|| answer.header(X_PAYMENT_RESPONSE))?;
    Settlement::of_header(header).ok()
}

/// The reason in an answer that did not accept a payment.
pub fn reason_of(answer: &Response) -> String {
    let reported = settlement_of(answer).and_then(|settlement| settlement.error_reason);
    let reason = reported.or_else(|| error_of_offer(answer)).filter(|reason| !reason.is_empty());
    let cut = |text: String| {
        text.chars().filter(|c| !c.is_control()).take(MAX_REASON_CHARS).collect::<String>()
    };
    reason.map_or_else(|| format!("status {}", answer.status), cut)
}

/// The error in a version 2 offer: after a payment, why it was not accepted.
fn error_of_offer(answer: &Response) -> Option<String> {
    #[derive(Deserialize)]
    struct WithError {
        error: String,
    }
    let bytes = Base64::decode_vec(answer.header(PAYMENT_REQUIRED)?).ok()?;
    serde_json::from_slice(&bytes).ok().map(|WithError { error }| error)
}
