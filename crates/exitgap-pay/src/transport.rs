//! A transport that pays where it is asked to, within a policy.

use core::time::Duration;
use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use exitgap_api::receipt::Receipt;
use exitgap_api::x402::{
    Authorization, Offer, Offers, PAYMENT_RESPONSE, Settlement, Terms, X_PAYMENT_RECEIPT,
    X_PAYMENT_RESPONSE,
};
use exitgap_client::{Request, Response, Transport, TransportError};
use exitgap_core::ids::{Address, Word};
use url::{Host, Position, Url};

use crate::choice::{choose, unreadable};
use crate::ledger::{Admission, PaymentIntent};
use crate::{Ledger, PayError, Policy, Signer, TypedData, Usdc};

/// A transport that pays for what it is asked to pay for, and repeats what it has paid for.
///
/// One [`Transport::send`] makes at most one payment. What is lost on the way is asked for again with
/// the *same* signed header until its authorization expires, and never with another.
#[derive(Debug)]
pub struct PayingTransport<T, S> {
    transport: T,
    signer: S,
    policy: Policy,
    ledger: Ledger,
    /// Payments that were sent and not answered, by address.
    open: Mutex<HashMap<String, InFlight>>,
    paid: Mutex<Vec<Paid>>,
}

/// A payment that was answered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Paid {
    /// Its name in the ledger.
    pub id: String,
    /// The address.
    pub url: String,
    /// What was paid.
    pub terms: Terms,
    /// The transaction, where the service named one.
    pub transaction: Option<Word>,
    /// The status of the answer. It counts whatever that is.
    pub status: u16,
    /// Who paid.
    pub payer: Address,
    /// SHA-256 of the answer's bytes.
    pub answer_sha256: Word,
    /// The service's receipt, as it came: nothing of it is checked.
    pub receipt: Option<String>,
}

/// A payment on its way.
#[derive(Debug, Clone)]
struct InFlight {
    id: String,
    header: (&'static str, String),
    terms: Terms,
    valid_before_s: u64,
}

/// The longest that an authorization of ours is valid, whatever is asked for: so long it is repeated,
/// and so long it counts beyond its window.
const MAX_VALID_S: u64 = 600;

/// How long a payment waits for others that were reserved before it.
const PATIENCE: Duration = Duration::from_secs(5);

/// How long between two looks at the ledger.
const LOOK: Duration = Duration::from_millis(25);

/// Pauses between repetitions: where the service asks for none, and at most.
const PAUSE: Duration = Duration::from_secs(2);
const LONGEST_PAUSE: Duration = Duration::from_secs(10);

/// The most payments whose headers are kept for a repetition by the caller.
const MAX_OPEN: usize = 64;

impl<T: Transport, S: Signer> PayingTransport<T, S> {
    /// Pays by `signer`, as far as `policy` and what `ledger` holds allow.
    pub fn new(transport: T, signer: S, policy: Policy, ledger: Ledger) -> Self {
        let (open, paid) = (Mutex::default(), Mutex::default());
        Self { transport, signer, policy, ledger, open, paid }
    }

    /// The ledger.
    pub fn ledger(&self) -> &Ledger {
        &self.ledger
    }

    /// The policy.
    pub fn policy(&self) -> &Policy {
        &self.policy
    }

    /// The payments that were answered since this was asked last.
    pub fn take_paid(&self) -> Vec<Paid> {
        std::mem::take(&mut self.paid.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Takes up an offer of this answer: a payment on its way.
    async fn pay(&self, request: &Request, answer: &Response) -> Result<InFlight, PayError> {
        let (host, path) = place(&request.url)?;
        let offers =
            Offers::from_response(|name| answer.header(name), &answer.body).map_err(unreadable)?;
        let offer = choose(&self.policy, offers)?;
        let terms = &offer.terms;
        let budgets = self.policy.budgets_for(&host, &path, terms.network)?;
        let now_s = self.ledger.now_ms() / 1000;
        let valid_before_s = now_s + u64::from(terms.max_timeout_s).min(MAX_VALID_S);
        let wanted = PaymentIntent { host: &host, path: &path, terms, valid_before_s };
        let id = self.ledger.reserve(&wanted)?;
        let mut waited = Duration::ZERO;
        loop {
            match self.ledger.admission(&id, &wanted, &budgets, &self.policy.payees)? {
                Admission::Holds => break,
                Admission::Waits(_) if waited < PATIENCE => {
                    self.transport.pause(LOOK).await;
                    waited += LOOK;
                }
                Admission::Waits(error) | Admission::Refused(error) => {
                    self.ledger.withdraw(&id)?;
                    return Err(error);
                }
            }
        }
        match self.sign(&offer, valid_before_s).await {
            Ok((authorization, header)) => {
                self.ledger.sent(&id, authorization.from, authorization.nonce)?;
                Ok(InFlight { id, header, terms: offer.terms, valid_before_s })
            }
            Err(error) => {
                self.ledger.never_sent(&id)?;
                Err(error)
            }
        }
    }

    async fn sign(
        &self,
        offer: &Offer,
        valid_before_s: u64,
    ) -> Result<(Authorization, (&'static str, String)), PayError> {
        let Terms { network, asset, pay_to, amount, domain, .. } = offer.terms.clone();
        let mut nonce = [0; 32];
        getrandom::fill(&mut nonce).map_err(|error| {
            PayError::SignerFailed(format!("no random numbers are available: {error}"))
        })?;
        let authorization = Authorization {
            from: self.signer.address(),
            to: pay_to,
            value: amount,
            valid_after_s: 0,
            valid_before_s,
            nonce: Word(nonce),
        };
        let data = TypedData { network, asset, domain, authorization };
        let signature = self.signer.sign(&data).await.map_err(PayError::SignerFailed)?;
        let header = data.authorization.to_header(offer, &signature);
        Ok((data.authorization, header))
    }

    /// Sends a payment with its request until there is an answer, or the payment has expired.
    async fn send(&self, request: &Request, open: &InFlight) -> Result<Response, TransportError> {
        let mut paid = request.clone();
        paid.headers.push(open.header.clone());
        let amount = Usdc::from(open.terms.amount);
        loop {
            let outcome = self.transport.send(&paid).await;
            let (last, pause) = match outcome {
                Ok(answer) if is_pending(answer.status) => (reason(&answer), pause_of(&answer)),
                Ok(answer) => return self.record_answer(request, open, answer),
                // It came, and no repetition makes it shorter.
                Err(error @ TransportError::TooLarge { .. }) => {
                    self.forget(&request.url);
                    return Err(PayError::PaymentUnknown { amount, last: error.to_string() }.into());
                }
                Err(error) => (error.to_string(), PAUSE),
            };
            let end_ms = open.valid_before_s.saturating_mul(1000);
            let pause_ms = u64::try_from(pause.as_millis()).unwrap_or(u64::MAX);
            if self.ledger.now_ms().saturating_add(pause_ms) >= end_ms {
                return Err(PayError::PaymentUnknown { amount, last }.into());
            }
            self.transport.pause(pause).await;
        }
    }

    /// What the ledger keeps of an answer.
    fn record_answer(
        &self,
        request: &Request,
        open: &InFlight,
        answer: Response,
    ) -> Result<Response, TransportError> {
        self.forget(&request.url);
        let told = settlement(&answer);
        let transaction = told.as_ref().and_then(|told| told.transaction.parse().ok());
        if told.is_some_and(|told| told.success) {
            self.ledger.mark_settled(&open.id, transaction)?;
        }
        if answer.status == 402 {
            let (amount, reason) = (Usdc::from(open.terms.amount), reason(&answer));
            return Err(PayError::PaymentRefused { amount, reason }.into());
        }
        let (id, url, terms) = (open.id.clone(), request.url.clone(), open.terms.clone());
        let new = Paid {
            id,
            url,
            terms,
            transaction,
            status: answer.status,
            payer: self.signer.address(),
            answer_sha256: Receipt::name_of(&answer.body),
            receipt: answer.header(X_PAYMENT_RECEIPT).map(str::to_owned),
        };
        self.paid.lock().unwrap_or_else(PoisonError::into_inner).push(new);
        Ok(answer)
    }

    /// The payment that a caller's earlier request for this address was given up with.
    fn recall_payment(&self, url: &str) -> Option<InFlight> {
        let mut all = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        let now_s = self.ledger.now_ms() / 1000;
        all.retain(|_, open| open.valid_before_s > now_s);
        all.get(url).cloned()
    }

    fn remember(&self, url: &str, open: &InFlight) {
        let mut all = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        if all.len() < MAX_OPEN {
            all.insert(url.to_owned(), open.clone());
        }
    }

    fn forget(&self, url: &str) {
        self.open.lock().unwrap_or_else(PoisonError::into_inner).remove(url);
    }
}

impl<T: Transport, S: Signer> Transport for PayingTransport<T, S> {
    async fn send(&self, request: &Request) -> Result<Response, TransportError> {
        if let Some(open) = self.recall_payment(&request.url) {
            return self.send(request, &open).await;
        }
        let answer = self.transport.send(request).await?;
        if answer.status != 402 {
            return Ok(answer);
        }
        let open = self.pay(request, &answer).await?;
        self.remember(&request.url, &open);
        self.send(request, &open).await
    }

    async fn pause(&self, time: Duration) {
        self.transport.pause(time).await;
    }

    fn random(&self) -> u32 {
        self.transport.random()
    }
}

/// The host and path of an address that payments may be sent to: over TLS, or to this machine.
fn place(url: &str) -> Result<(String, String), PayError> {
    let refused = |why| PayError::AddressNotPaid { url: url.to_owned(), why };
    let read = Url::parse(url).map_err(|_| refused("it is not a valid address"))?;
    let here = match read.host() {
        Some(Host::Domain(name)) => name == "localhost",
        Some(Host::Ipv4(address)) => address.is_loopback(),
        Some(Host::Ipv6(address)) => address.is_loopback(),
        None => return Err(refused("it has no host")),
    };
    if read.scheme() != "https" && !here {
        return Err(refused("without TLS anyone on the network path can change the payee"));
    }
    let host = read[Position::BeforeHost..Position::AfterPort].to_owned();
    Ok((host, read.path().to_owned()))
}

/// Whether such an answer leaves open what became of the payment.
fn is_pending(status: u16) -> bool {
    matches!(status, 429 | 500 | 502 | 503 | 504)
}

fn pause_of(answer: &Response) -> Duration {
    let asked = answer.header("retry-after").and_then(|text| text.parse().ok());
    asked.map_or(PAUSE, Duration::from_secs).clamp(Duration::from_millis(100), LONGEST_PAUSE)
}

fn settlement(answer: &Response) -> Option<Settlement> {
    let header = answer.header(PAYMENT_RESPONSE).or_else(|| answer.header(X_PAYMENT_RESPONSE))?;
    Settlement::of_header(header).ok()
}

/// What an answer says of a payment that it did not take.
fn reason(answer: &Response) -> String {
    let told = settlement(answer).and_then(|told| told.error_reason);
    let cut = |text: String| text.chars().filter(|c| !c.is_control()).take(120).collect::<String>();
    told.map_or_else(|| format!("status {}", answer.status), cut)
}
