//! The payment layer around priced operations.

use axum::body::{Body, to_bytes};
use axum::extract::{Request, State};
use axum::http::{Method, StatusCode};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use exitgap_api::x402::RequestPayment;
use exitgap_api::{Problem, ProblemCode};

use super::answers::{Refusal, refuse, refuse_malformed};
use super::request::{PricedRequest, find_payment};
use super::{PaymentProcessor, Unavailable};
use crate::http::HttpRefusal;

/// Maximum length of a priced answer, bytes: it is a small document.
const MAX_ANSWER: usize = 1 << 20;

/// Maximum length of a priced address, bytes: offers and receipts repeat it, and proxies limit headers to 4096 bytes in
/// total.
const MAX_ADDRESS: usize = 512;

/// Computes the answer, and returns it if it was paid for. Only a `GET` is ever settled.
pub async fn charge(
    State(till): State<PaymentProcessor>,
    request: Request,
    next: Next,
) -> Response {
    if !matches!(*request.method(), Method::GET | Method::HEAD) {
        return next.run(request).await;
    }
    let length = request.uri().path_and_query().map_or(0, |target| target.as_str().len());
    if length > MAX_ADDRESS {
        let detail = format!("a priced URL may have at most {MAX_ADDRESS} bytes");
        let problem = Problem::new(ProblemCode::AddressTooLong, detail);
        return HttpRefusal::from(problem.hint("shorten the parameters")).into_response();
    }
    let asked = PricedRequest::from_uri(request.uri(), &till.0.base_url);
    let pays = *request.method() == Method::GET;
    let presented = if pays { find_payment(request.headers()) } else { Ok(None) };
    if let Ok(Some(RequestPayment::Payment(payment))) = &presented {
        // A paid answer is repeated even if it could no longer be computed.
        match till.known(payment, &asked).await {
            Ok(None) => {}
            Ok(Some(response)) => return response,
            // It may have been charged before, which is unknown while the database is unreachable.
            Err(Unavailable) => return refuse(Refusal::Pending, None),
        }
    }
    let answered = next.run(request).await;
    if answered.status() != StatusCode::OK {
        return answered;
    }
    let presented = match presented {
        Ok(None) => return till.offer(&asked, "a payment is required"),
        Ok(Some(presented)) => presented,
        Err(error) => return refuse_malformed(&error),
    };
    let Ok(answer) = to_bytes(answered.into_body(), MAX_ANSWER).await else {
        tracing::error!("an answer is too long to be sold");
        return refuse(Refusal::Unavailable, None);
    };
    let answer = answer.to_vec();
    match presented {
        RequestPayment::Payment(payment) => till.take_authorization(&payment, &asked, answer).await,
        RequestPayment::Proof(proof) => till.take_transfer(&proof, &asked, answer).await,
    }
}

impl PaymentProcessor {
    /// The offer, or an error if nothing could be settled now.
    fn offer(&self, asked: &PricedRequest, why: &str) -> Response {
        if self.is_well() {
            self.require_payment(asked, why, None)
        } else {
            refuse(Refusal::Unavailable, None)
        }
    }
}

/// An answer's body.
pub fn body(bytes: Vec<u8>) -> Body {
    Body::from(bytes)
}
