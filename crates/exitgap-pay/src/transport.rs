//! A transport that pays when required, within a policy.

use core::time::Duration;
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use exitgap_api::receipt::Receipt;
use exitgap_api::x402::{Authorization, Offer, Offers, Terms, TokenDomain, X_PAYMENT_RECEIPT};
use exitgap_client::{Request, Response, Transport, TransportError};
use exitgap_core::ids::{Address, Word};
use url::{Host, Position, Url};

use crate::choice::{choose, unreadable};
use crate::ledger::{Admission, PaymentIntent};
use crate::open::{OpenPayment, OpenPayments, name_of_request};
use crate::outcome::{is_refusal, leaves_open, pause_after, reason_of, settlement_of};
use crate::{Budget, Entry, Ledger, PayError, Policy, Signer, State, TypedData, Usdc};

/// A transport that pays for requests that require it, and retries paid requests.
///
/// It never pays twice for one answer. Once a payment was sent, the *same* signed header is sent again until it
/// expires, whatever the service answers (402, 429, 5xx, nothing), by this [`Transport::send`] and by later ones for
/// the same method, URL and body, also in another process with the same ledger. Another payment is signed for such a
/// request only after the service answered and reported the settlement, or after the payment expired and either the
/// service answered or [`Ledger::reconcile`] found on the chain whether it was made.
#[derive(Debug)]
pub struct PayingTransport<T, S> {
    transport: T,
    signer: S,
    policy: Policy,
    ledger: Ledger,
    /// Sent payments with an open outcome.
    open: OpenPayments,
    max_wait: Duration,
    paid: Mutex<Vec<Paid>>,
}

/// A payment that was answered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Paid {
    /// Its id in the ledger.
    pub id: String,
    /// The address.
    pub url: String,
    /// The terms of the payment.
    pub terms: Terms,
    /// The transaction, if the service named one.
    pub transaction: Option<Word>,
    /// The status of the answer. The payment counts whatever the status.
    pub status: u16,
    /// The payer.
    pub payer: Address,
    /// SHA-256 of the answer's bytes.
    pub answer_sha256: Word,
    /// The service's receipt, unverified.
    pub receipt: Option<String>,
}

/// Maximum validity of our authorizations, whatever the service asks for: a payment is retried this long, and counts
/// this long beyond its window.
const MAX_VALID_S: u64 = 600;

/// How long a payment waits for earlier reservations.
const PATIENCE: Duration = Duration::from_secs(5);

/// Polling interval for the ledger.
const LOOK: Duration = Duration::from_millis(25);

/// How long one call retries a payment by default.
const MAX_WAIT: Duration = Duration::from_mins(2);

/// How often one call sends a payment that the service calls invalid.
const REFUSED_SENDS: u32 = 3;

/// How many payments one call tries, if another call or the chain ends each of them.
const ROUNDS: u32 = 3;

impl<T: Transport, S: Signer> PayingTransport<T, S> {
    /// Pays with `signer`, as far as `policy` and the content of `ledger` allow.
    pub fn new(transport: T, signer: S, policy: Policy, ledger: Ledger) -> Self {
        let (open, paid) = (OpenPayments::next_to(ledger.path()), Mutex::default());
        Self { transport, signer, policy, ledger, open, max_wait: MAX_WAIT, paid }
    }

    /// Sets how long one call retries a payment, two minutes by default. Later calls continue with the same payment.
    #[must_use]
    pub fn with_max_wait(self, max_wait: Duration) -> Self {
        Self { max_wait, ..self }
    }

    /// The ledger.
    pub fn ledger(&self) -> &Ledger {
        &self.ledger
    }

    /// The policy.
    pub fn policy(&self) -> &Policy {
        &self.policy
    }

    /// The payments that were answered since the last call.
    pub fn take_paid(&self) -> Vec<Paid> {
        std::mem::take(&mut self.paid.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Accepts an offer of this answer, and prepares the payment.
    async fn pay(
        &self,
        request: &Request,
        name: &str,
        answer: &Response,
    ) -> Result<OpenPayment, PayError> {
        let (host, path) = place(&request.url)?;
        let offers =
            Offers::from_response(|name| answer.header(name), &answer.body).map_err(unreadable)?;
        let offer = choose(&self.policy, offers)?;
        let terms = &offer.terms;
        let budgets = self.policy.budgets_for(&host, &path, terms.network)?;
        let now_ms = self.ledger.now_ms();
        let valid_before_s = now_ms / 1000 + u64::from(terms.max_timeout_s).min(MAX_VALID_S);
        let wanted = PaymentIntent { host: &host, path: &path, terms, valid_before_s };
        let id = self.ledger.reserve(&wanted)?;
        self.admit(&id, &wanted, &budgets).await?;
        let signed = self.sign(&offer, valid_before_s).await.and_then(|(authorization, header)| {
            let file = self.open.keep(&id, name, &header, now_ms)?;
            Ok((authorization, header, file))
        });
        match signed {
            Ok((Authorization { from: payer, nonce, .. }, header, file)) => {
                self.ledger.sent(&id, payer, nonce)?;
                Ok(OpenPayment { id, header, terms: offer.terms, payer, valid_before_s, file })
            }
            Err(error) => {
                self.ledger.never_sent(&id)?;
                Err(error)
            }
        }
    }

    /// Waits until a reserved payment may be made; withdraws it if it may not.
    async fn admit(
        &self,
        id: &str,
        wanted: &PaymentIntent<'_>,
        budgets: &[&Budget],
    ) -> Result<(), PayError> {
        let mut waited = Duration::ZERO;
        loop {
            match self.ledger.admission(id, wanted, budgets, &self.policy.payees)? {
                Admission::Holds => return Ok(()),
                Admission::Waits(_) if waited < PATIENCE => {
                    self.transport.pause(LOOK).await;
                    waited += LOOK;
                }
                Admission::Waits(error) | Admission::Refused(error) => {
                    self.ledger.withdraw(id)?;
                    return Err(error);
                }
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

    /// Sends a payment with its request, with retries until there is an answer or this call's time is over. Returns
    /// `None` if the payment ended meanwhile: another call received the answer, or the chain showed that it cannot
    /// settle.
    async fn send_open(
        &self,
        request: &Request,
        open: &OpenPayment,
    ) -> Result<Option<Response>, TransportError> {
        // A cached answer would not be the answer to the payment.
        let mut paid = Request { fresh: true, ..request.clone() };
        paid.headers.push(open.header.clone());
        let expires_ms = open.valid_before_s.saturating_mul(1000);
        let (started, mut paused) = (Instant::now(), Duration::ZERO);
        for sent in 1_u32.. {
            open.hold(self.ledger.now_ms());
            let outcome = self.transport.send(&paid).await;
            let (answer, last) = match outcome {
                Ok(answer) => {
                    self.note_settlement(open, &answer)?;
                    if !leaves_open(answer.status) {
                        return self.record_answer(request, open, answer).map(Some);
                    }
                    let last = reason_of(&answer);
                    (Some(answer), last)
                }
                // The answer arrived, and a retry would not make it shorter.
                Err(error @ TransportError::TooLarge { .. }) => {
                    open.answer(&self.ledger, self.ledger.now_ms())?;
                    return Err(self.unanswered(open, None, &error.to_string(), sent)?.into());
                }
                Err(error) => (None, error.to_string()),
            };
            if open.has_ended(&self.ledger)? {
                return Ok(None);
            }
            let pause = pause_after(answer.as_ref());
            let pause_ms = u64::try_from(pause.as_millis()).unwrap_or(u64::MAX);
            let over = self.ledger.now_ms().saturating_add(pause_ms) >= expires_ms
                || started.elapsed().max(paused).saturating_add(pause) >= self.max_wait;
            let refused = answer.as_ref().is_some_and(is_refusal) && sent >= REFUSED_SENDS;
            if over || refused {
                return Err(self.unanswered(open, answer.as_ref(), &last, sent)?.into());
            }
            self.transport.pause(pause).await;
            paused += pause;
        }
        Ok(None)
    }

    /// Records a settlement that the service reported, once.
    fn note_settlement(&self, open: &OpenPayment, answer: &Response) -> Result<(), PayError> {
        let Some(settlement) = settlement_of(answer).filter(|settlement| settlement.success) else {
            return Ok(());
        };
        let state = self.ledger.entry(&open.id)?.map(|entry| entry.state);
        if state == Some(State::Sent) {
            self.ledger.mark_settled(&open.id, settlement.transaction.parse().ok())?;
        }
        Ok(())
    }

    /// The error of a payment that was sent `sent` times and has no answer yet.
    fn unanswered(
        &self,
        open: &OpenPayment,
        answer: Option<&Response>,
        last: &str,
        sent: u32,
    ) -> Result<PayError, PayError> {
        let times = if sent == 1 { "once".to_owned() } else { format!("{sent} times") };
        let last = format!(
            "{last}; the same signed payment was sent {times} in this call, and no other was signed"
        );
        let amount = Usdc::from(open.terms.amount);
        let state = self.ledger.entry(&open.id)?.map(|entry| entry.state);
        Ok(if state == Some(State::Settled) {
            PayError::PaymentUnanswered { amount, last }
        } else if self.ledger.now_ms() >= open.valid_before_s.saturating_mul(1000) {
            PayError::PaymentExpired { amount, last }
        } else if answer.is_some_and(|answer| answer.status == 402) {
            PayError::PaymentRefused { amount, reason: last }
        } else {
            PayError::PaymentUnknown { amount, last }
        })
    }

    /// Records an answer.
    fn record_answer(
        &self,
        request: &Request,
        open: &OpenPayment,
        answer: Response,
    ) -> Result<Response, TransportError> {
        open.answer(&self.ledger, self.ledger.now_ms())?;
        let transaction =
            settlement_of(&answer).and_then(|settlement| settlement.transaction.parse().ok());
        let (id, url, terms) = (open.id.clone(), request.url.clone(), open.terms.clone());
        let new = Paid {
            id,
            url,
            terms,
            transaction,
            status: answer.status,
            payer: open.payer,
            answer_sha256: Receipt::name_of(&answer.body),
            receipt: answer.header(X_PAYMENT_RECEIPT).map(str::to_owned),
        };
        self.paid.lock().unwrap_or_else(PoisonError::into_inner).push(new);
        Ok(answer)
    }

    /// The signing domain of an open payment's token.
    fn domain_of(&self, entry: &Entry) -> Result<TokenDomain, PayError> {
        let (network, asset) = (entry.reserved.network, entry.reserved.asset);
        let known = self
            .policy
            .assets
            .iter()
            .find(|known| (known.network, known.address) == (network, asset));
        let why = || "a payment in it is open, but the policy no longer lists it".to_owned();
        let known =
            known.ok_or_else(|| PayError::AssetNotAllowed { asset, network, why: why() })?;
        Ok(known.domain.clone())
    }
}

/// While this exists, other processes leave a payment to this one.
struct Held<'a>(&'a OpenPayment);

impl Drop for Held<'_> {
    fn drop(&mut self) {
        self.0.let_go();
    }
}

impl<T: Transport, S: Signer> Transport for PayingTransport<T, S> {
    async fn send(&self, request: &Request) -> Result<Response, TransportError> {
        let name = name_of_request(request);
        let mut round = 1;
        loop {
            let domain_of = |entry: &Entry| self.domain_of(entry);
            let now_ms = self.ledger.now_ms();
            let open = self.open.find(&name, &self.ledger, now_ms, domain_of)?;
            let open = if let Some(open) = open {
                open
            } else {
                let answer = self.transport.send(request).await?;
                if answer.status != 402 {
                    return Ok(answer);
                }
                self.pay(request, &name, &answer).await?
            };
            let held = Held(&open);
            let answer = self.send_open(request, &open).await?;
            drop(held);
            match answer {
                Some(answer) => return Ok(answer),
                // Another round follows only if the payment ended without an answer to this call.
                None if round < ROUNDS => round += 1,
                None => {
                    let last = "it ended while it was being sent";
                    return Err(self.unanswered(&open, None, last, round)?.into());
                }
            }
        }
    }

    async fn pause(&self, time: Duration) {
        self.transport.pause(time).await;
    }

    fn random(&self) -> u32 {
        self.transport.random()
    }
}

/// The host and path of a URL to which payments may be sent: over TLS, or on this machine.
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
