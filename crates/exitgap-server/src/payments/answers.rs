//! All answers about payments, with their texts and headers.

use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE, RETRY_AFTER};
use axum::http::{HeaderName, HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use exitgap_api::x402::{
    BodyMembers, Payment as Presented, PricedOffer, Settlement, Terms, X_PAYMENT_RECEIPT, X402Error,
};
use exitgap_api::{Problem, ProblemCode};
use exitgap_core::ids::Word;
use exitgap_store::payments::{Payment, PaymentSettlement};

use super::layer::body;
use super::request::PricedRequest;
use super::{CURRENCY, DECIMALS, PaymentProcessor, Unavailable};
use crate::http::HttpRefusal;

/// Extra members of a problem document: the offer of x402, version 1.
#[derive(Clone)]
pub struct Members(pub BodyMembers);

/// Why a payment gets no answer, if no price is quoted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Refusal {
    /// The payment was used for another request, or too long ago.
    Used,
    /// Its outcome is not known yet.
    Pending,
    /// Payments cannot be settled now.
    Unavailable,
}

/// Why a payment failed, for the answer header of an x402 payment in its version.
pub struct PaymentFailure<'a> {
    payment: Option<&'a Presented>,
    reason: &'static str,
    transaction: Option<Word>,
}

impl<'a> PaymentFailure<'a> {
    /// For an x402 payment.
    pub fn for_payment(payment: &'a Presented, reason: &'static str) -> Self {
        Self { payment: Some(payment), reason, transaction: None }
    }

    /// For a transfer, which has no such header: only in the document.
    pub fn plain(reason: &'static str) -> Self {
        Self { payment: None, reason, transaction: None }
    }

    /// Adds the transaction that may settle it.
    pub fn sent_as(self, transaction: Option<Word>) -> Self {
        Self { transaction, ..self }
    }

    fn write_header(&self, response: &mut Response) {
        let Some(payment) = self.payment else { return };
        let transaction = self.transaction.map(|hash| hash.to_string()).unwrap_or_default();
        let settlement = Settlement {
            success: false,
            error_reason: Some(self.reason.to_owned()),
            transaction,
            network: payment.network_name(),
            payer: Some(payment.authorization.from.to_string()),
        };
        set(response, Settlement::header_name(payment.version), &settlement.to_header());
    }
}

fn set(response: &mut Response, name: &'static str, value: &str) {
    // Base64, hex digits and numbers are always valid in a header.
    if let Ok(value) = HeaderValue::try_from(value) {
        response.headers_mut().insert(HeaderName::from_static(name), value);
    }
}

/// The answer to something that cannot be parsed as a payment.
pub fn refuse_malformed(error: &X402Error) -> Response {
    let problem = Problem::new(ProblemCode::PaymentMalformed, error.to_string());
    let problem = problem.hint(
        "nothing was charged; repeat the request without a payment to see the accepted terms",
    );
    HttpRefusal::from(problem).into_response()
}

/// An error that quotes no price.
pub fn refuse(refusal: Refusal, told: Option<&PaymentFailure<'_>>) -> Response {
    let (code, detail, hint) = match refusal {
        Refusal::Used => (
            ProblemCode::PaymentUsed,
            "this payment was already used for another request, or more than a day ago",
            "a payment covers one request; send other requests without this payment",
        ),
        Refusal::Pending => (
            ProblemCode::PaymentPending,
            "the outcome of this payment is not known yet",
            "repeat the request with the same payment; do not pay again",
        ),
        Refusal::Unavailable => (
            ProblemCode::PaymentsUnavailable,
            "payments cannot be settled at the moment",
            "nothing was charged; try again later",
        ),
    };
    let problem = Problem::new(code, detail).hint(hint);
    let problem = match told {
        Some(told) => Problem { reason: Some(told.reason.to_owned()), ..problem },
        None => problem,
    };
    let mut response = HttpRefusal::from(problem).into_response();
    if refusal != Refusal::Used {
        let wait = if refusal == Refusal::Pending { "2" } else { "30" };
        response.headers_mut().insert(RETRY_AFTER, HeaderValue::from_static(wait));
    }
    if let Some(told) = told {
        told.write_header(&mut response);
    }
    response
}

impl PaymentProcessor {
    /// The paid answer. It is never sent without its receipt: a client that repeats the payment gets both.
    pub(super) async fn give(&self, payment: Payment, presented: Option<&Presented>) -> Response {
        let pending = || {
            let told =
                presented.map(|payment| PaymentFailure::for_payment(payment, "settlement_pending"));
            refuse(Refusal::Pending, told.as_ref())
        };
        let Some(settled) = payment.settled else { return pending() };
        match self.receipt(&payment, settled).await {
            Ok(receipt) => given(payment, settled, &receipt, presented),
            Err(Unavailable) => pending(),
        }
    }

    fn make_offer(asked: &PricedRequest, terms: Terms, error: String) -> PricedOffer {
        PricedOffer {
            terms,
            currency: CURRENCY.to_owned(),
            decimals: DECIMALS,
            url: asked.url.clone(),
            description: "what this size fills at now".to_owned(),
            error,
        }
    }

    /// The offer that a payment pays, which may have been made a moment ago.
    pub(super) fn make_paid_offer(
        &self,
        asked: &PricedRequest,
        paid: &Presented,
        error: String,
    ) -> PricedOffer {
        let terms = Terms { amount: paid.authorization.value, ..self.terms() };
        Self::make_offer(asked, terms, error)
    }

    /// The price, in all three formats, and the reason why payment is required.
    pub(super) fn require_payment(
        &self,
        asked: &PricedRequest,
        why: &str,
        told: Option<&PaymentFailure<'_>>,
    ) -> Response {
        let priced = Self::make_offer(asked, self.terms(), why.to_owned());
        let problem = Problem::new(ProblemCode::PaymentRequired, why);
        let problem = match told {
            Some(told) => Problem { reason: Some(told.reason.to_owned()), ..problem },
            None => problem,
        };
        let mut response = HttpRefusal::from(problem.hint(
            "pay as the headers describe, by x402 or by a transfer; snapshots and evidence are free",
        ))
        .into_response();
        for (name, value) in priced.headers() {
            set(&mut response, name, &value);
        }
        if let Some(members) = priced.body_members() {
            response.extensions_mut().insert(Members(members));
        }
        if let Some(told) = told {
            told.write_header(&mut response);
        }
        response
    }
}

/// The paid answer with its receipt, the same bytes each time.
fn given(
    payment: Payment,
    settled: PaymentSettlement,
    receipt: &str,
    presented: Option<&Presented>,
) -> Response {
    let mut response = (StatusCode::OK, body(payment.answer)).into_response();
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("private, no-store"));
    set(&mut response, X_PAYMENT_RECEIPT, receipt);
    if let Some(presented) = presented {
        let settlement = Settlement {
            success: true,
            error_reason: None,
            transaction: settled.transaction.to_string(),
            network: presented.network_name(),
            payer: Some(payment.payer.to_string()),
        };
        let name = Settlement::header_name(presented.version);
        set(&mut response, name, &settlement.to_header());
    }
    response
}
