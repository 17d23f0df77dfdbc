//! Payments by a signed authorization: x402, both versions.

use axum::response::Response;
use exitgap_api::x402::{Payment as Presented, Version};
use exitgap_chain::settle::{Authorization, ReplayKey, Verdict};
use exitgap_store::payments::{
    Claim, ClaimToken, Family, NewPayment, Payment, PaymentSettlement, State,
};
use tokio::time::Instant;

use super::answers::{PaymentFailure, Refusal, refuse};
use super::request::PricedRequest;
use super::{
    LOOK, PaymentProcessor, REPLAY_S, Settler, Unavailable, WAIT, WINDOW_S, token_of_chance,
};

/// An authorization must remain valid for this many seconds, so that it can be mined.
const LEFT_S: u64 = 30;

/// Number of blocks to search for a use of an authorization by another party: a quarter of an hour for two-second
/// blocks, longer for slower ones.
const USED_BLOCKS: u64 = WINDOW_S / 2;

/// Why an authorization is not accepted, with the specification's reason codes where they exist.
type Reason = (&'static str, &'static str);

fn reason_of(verdict: Verdict) -> Option<Reason> {
    Some(match verdict {
        Verdict::Good => return None,
        Verdict::Signature => {
            ("invalid_exact_evm_payload_signature", "the signature is not from the payer")
        }
        Verdict::Undeployed => (
            "invalid_exact_evm_payload_signature",
            "a wallet that is not deployed yet (EIP-6492) cannot pay here",
        ),
        Verdict::Used => {
            ("invalid_transaction_state", "the authorization was already used or cancelled")
        }
        Verdict::NotYet => (
            "invalid_exact_evm_payload_authorization_valid_after",
            "the authorization is not valid yet",
        ),
        Verdict::Expired => (
            "invalid_exact_evm_payload_authorization_valid_before",
            "the authorization has expired or expires in less than 30 s",
        ),
        Verdict::Funds => ("insufficient_funds", "the payer's balance is below the price"),
        Verdict::Refused => ("invalid_transaction_state", "the token rejects the transfer"),
    })
}

impl PaymentProcessor {
    /// The answer to a payment that was claimed before; `None` if it was not claimed, or failed.
    pub(super) async fn known(
        &self,
        presented: &Presented,
        asked: &PricedRequest,
    ) -> Result<Option<Response>, Unavailable> {
        let key = self.key_of(presented);
        let found = self.payments(move |payments| payments.payment(&key)).await?;
        // The same authorization with another signature is judged as if it were new.
        let held = authorization_of(presented).to_bytes();
        let same = |found: &Payment| [&held[..], &[]].contains(&&found.authorization[..]);
        Ok(match found.filter(|found| found.state != State::Failed && same(found)) {
            Some(found) => Some(self.answer_held(found, presented, asked).await),
            None => None,
        })
    }

    /// Accepts a payment that was not claimed before.
    pub(super) async fn take_authorization(
        &self,
        presented: &Presented,
        asked: &PricedRequest,
        answer: Vec<u8>,
    ) -> Response {
        let refused = |(reason, why): Reason| {
            self.require_payment(asked, why, Some(&PaymentFailure::for_payment(presented, reason)))
        };
        let unavailable = |Unavailable| refuse(Refusal::Unavailable, None);
        let authorization = authorization_of(presented);
        let (node, until) = (&self.0.node, Instant::now() + LOOK);
        let settled = match self.judge_authorization(presented, &authorization, until).await {
            Ok(Ok(settled)) => settled,
            Ok(Err(reason)) => return refused(reason),
            Err(out) => return unavailable(out),
        };
        match self.answer_repeated(presented, asked).await {
            Ok(None) => {}
            Ok(Some(response)) => return response,
            Err(out) => return unavailable(out),
        }
        if settled.is_none()
            && let Some(refused) = self.facilitator_refuses(presented, asked).await
        {
            return refused;
        }
        let head = match node.head(until).await {
            Ok(head) => head.number,
            Err(error) => return unavailable(error.into()),
        };
        let new = NewPayment {
            settled,
            since_block: head,
            ..self.new_payment(presented, &authorization, asked, answer)
        };
        self.claim_and_settle(new, presented, asked).await
    }

    /// Handles a facilitator that rejects a payment which the token would accept, or does not answer: nothing is
    /// claimed, and no other payment is requested, because the facilitator already has this one.
    async fn facilitator_refuses(
        &self,
        presented: &Presented,
        asked: &PricedRequest,
    ) -> Option<Response> {
        let Settler::Facilitator(facilitator) = &self.0.settler else { return None };
        let request =
            self.make_paid_offer(asked, presented, String::new()).to_facilitator(presented);
        let said = match request {
            Some(request) => facilitator.verify(request).await,
            None => return Some(refuse(Refusal::Unavailable, None)),
        };
        match said {
            Ok(said) if said.is_valid => return None,
            Ok(said) => {
                let reason = said.invalid_reason.as_deref().unwrap_or("none");
                let reason: String = reason.chars().take(80).collect();
                tracing::warn!(
                    reason,
                    "payments: the facilitator refused to settle a valid payment"
                );
            }
            Err(error) => tracing::warn!(%error, "payments: the facilitator cannot be reached"),
        }
        let told = PaymentFailure::for_payment(presented, "facilitator_unavailable");
        Some(refuse(Refusal::Unavailable, Some(&told)))
    }

    /// Judges an authorization: `None` if it is acceptable, else why not. If it was used or has expired but paid us
    /// recently, the payment is returned, whoever settled it.
    async fn judge_authorization(
        &self,
        presented: &Presented,
        authorization: &Authorization,
        until: Instant,
    ) -> Result<Result<Option<PaymentSettlement>, Reason>, Unavailable> {
        let node = &self.0.node;
        let verdict = match self.mismatch(presented).await? {
            None => node.verify(authorization, self.sender(), until).await?,
            Some(reason) if Some(reason) == reason_of(Verdict::Expired) => Verdict::Expired,
            Some(reason) => return Ok(Err(reason)),
        };
        let Some(reason) = reason_of(verdict) else { return Ok(Ok(None)) };
        if !matches!(verdict, Verdict::Used | Verdict::Expired) {
            return Ok(Err(reason));
        }
        // Payer and nonce of a used authorization are public, and the token reports the use before it checks the
        // signature; so the signature is checked here.
        if !node.is_signed(authorization, self.0.token.domain_separator, until).await? {
            return Ok(Err(reason_of(Verdict::Signature).unwrap_or(reason)));
        }
        let settled = self.settled_by_others(authorization, until).await?;
        Ok(settled.map(Some).ok_or(reason))
    }

    /// Claims the payment and settles it, in a task that continues if the connection ends.
    async fn claim_and_settle(
        &self,
        new: NewPayment,
        presented: &Presented,
        asked: &PricedRequest,
    ) -> Response {
        let unavailable = || refuse(Refusal::Unavailable, None);
        let Ok(token) = token_of_chance() else { return unavailable() };
        let (now, key, is_open) = (self.now(), new.key.clone(), new.settled.is_none());
        let Ok(claim) = self.payments(move |payments| payments.claim(&new, token, now)).await
        else {
            // It may be claimed already, or settled by others.
            return refuse(Refusal::Pending, None);
        };
        match claim {
            Claim::Held(found) => return self.answer_held(*found, presented, asked).await,
            Claim::Taken if is_open => {
                let (till, key) = (self.clone(), key.clone());
                let (authorization, presented) = (authorization_of(presented), presented.clone());
                let priced = self.make_paid_offer(asked, &presented, String::new());
                let settling = async move {
                    match &till.0.settler {
                        Settler::Local(hot) => till.settle(hot, &key, token, &authorization).await,
                        Settler::Facilitator(facilitator) => {
                            let request = priced.to_facilitator(&presented);
                            till.settle_elsewhere(facilitator, &key, token, request).await;
                        }
                    }
                };
                // The task stores its result, and the request waits for that.
                tokio::spawn(settling);
            }
            Claim::Taken => {}
        }
        self.wait_for(key, Some(token), presented, asked).await
    }

    /// The answer to a payment that is already claimed.
    async fn answer_held(
        &self,
        found: Payment,
        presented: &Presented,
        asked: &PricedRequest,
    ) -> Response {
        if found.fingerprint != asked.fingerprint {
            let told = PaymentFailure::for_payment(presented, "payment_used");
            return refuse(Refusal::Used, Some(&told));
        }
        self.wait_for(found.key, None, presented, asked).await
    }

    /// Waits until a payment's outcome is known, and answers. `ours` is the claim of a first request: if it was given
    /// up, nothing was sent.
    async fn wait_for(
        &self,
        key: String,
        ours: Option<ClaimToken>,
        presented: &Presented,
        asked: &PricedRequest,
    ) -> Response {
        let until = Instant::now() + WAIT;
        loop {
            let asked_key = key.clone();
            let found = self.payments(move |payments| payments.payment(&asked_key)).await;
            let found = match found {
                Ok(Some(found)) => found,
                // Given up before anything was sent.
                Ok(None) => return refuse(Refusal::Unavailable, None),
                Err(Unavailable) => return self.answer_pending(&key, presented).await,
            };
            if found.fingerprint != asked.fingerprint {
                let told = PaymentFailure::for_payment(presented, "payment_used");
                return refuse(Refusal::Used, Some(&told));
            }
            match found.state {
                State::Settled | State::Orphaned => return self.give_again(found, presented).await,
                State::Failed => {
                    let told = PaymentFailure::for_payment(presented, "invalid_transaction_state");
                    let why = "the transfer was not made; nothing was charged";
                    return self.require_payment(asked, why, Some(&told));
                }
                State::Claimed | State::Settling if Instant::now() < until => {
                    let pause = if ours.is_some() { 100 } else { 200 };
                    tokio::time::sleep(core::time::Duration::from_millis(pause)).await;
                }
                State::Claimed | State::Settling => {
                    return self.answer_pending(&key, presented).await;
                }
            }
        }
    }

    /// Sends the same bytes again, for a day.
    async fn give_again(&self, found: Payment, presented: &Presented) -> Response {
        let settled_s = found.settled.map_or(0, |settled| settled.settled_s);
        if self.now().saturating_sub(settled_s) > REPLAY_S {
            return refuse(
                Refusal::Used,
                Some(&PaymentFailure::for_payment(presented, "payment_used")),
            );
        }
        self.give(found, Some(presented)).await
    }

    /// The answer that the outcome is not known yet, with the newest transaction that may settle it.
    async fn answer_pending(&self, key: &str, presented: &Presented) -> Response {
        let key = key.to_owned();
        let sent = self.payments(move |payments| payments.sent_for(&key)).await;
        let hash = sent.ok().and_then(|sent| sent.last().map(|sent| sent.hash));
        let told = PaymentFailure::for_payment(presented, "settlement_pending").sent_as(hash);
        refuse(Refusal::Pending, Some(&told))
    }

    /// Compares the payment with what is required, before any node or facilitator is asked.
    async fn mismatch(&self, presented: &Presented) -> Result<Option<Reason>, Unavailable> {
        let (terms, authorization) = (self.terms(), &presented.authorization);
        if presented.network != terms.network {
            return Ok(Some(("invalid_network", "the payment is made for another chain")));
        }
        if authorization.to != terms.pay_to {
            let reason = "invalid_exact_evm_payload_recipient_mismatch";
            return Ok(Some((reason, "the authorization pays a different address")));
        }
        if !self.prices().await?.contains(&authorization.value) {
            let reason = "invalid_exact_evm_payload_authorization_value";
            return Ok(Some((reason, "the authorization is not for exactly the price")));
        }
        if let Some(accepted) = &presented.accepted {
            let same = accepted.asset == terms.asset
                && accepted.pay_to == terms.pay_to
                && accepted.amount == authorization.value
                && accepted.domain == terms.domain;
            if !same {
                let why = "the payment accepts different terms than offered";
                return Ok(Some(("invalid_payment_requirements", why)));
            }
        }
        let now = self.now();
        if authorization.valid_before_s < now + LEFT_S {
            return Ok(reason_of(Verdict::Expired));
        }
        if authorization.valid_after_s > now {
            return Ok(reason_of(Verdict::NotYet));
        }
        Ok(None)
    }

    /// Finds a recent settlement of this authorization by another party, which paid us all the same.
    async fn settled_by_others(
        &self,
        authorization: &Authorization,
        until: Instant,
    ) -> Result<Option<PaymentSettlement>, Unavailable> {
        let head = self.0.node.head(until).await?;
        let since = head.number.saturating_sub(USED_BLOCKS);
        let found = self.find_use(authorization, since, until).await?;
        Ok(found
            .filter(|(_, time)| time.saturating_add(WINDOW_S) >= self.now())
            .map(|found| found.0))
    }

    /// If the payer names a request that was paid for before, repeats its answer without charge, to the same payer and
    /// for the same request.
    async fn answer_repeated(
        &self,
        presented: &Presented,
        asked: &PricedRequest,
    ) -> Result<Option<Response>, Unavailable> {
        let Some(identifier) = presented.identifier.clone() else { return Ok(None) };
        let found =
            self.payments(move |payments| payments.payment_by_identifier(&identifier)).await?;
        let Some(found) = found else { return Ok(None) };
        if found.payer != presented.authorization.from || found.fingerprint != asked.fingerprint {
            let told = PaymentFailure::for_payment(presented, "payment_identifier_conflict");
            return Ok(Some(refuse(Refusal::Used, Some(&told))));
        }
        Ok(Some(self.wait_for(found.key, None, presented, asked).await))
    }

    fn key_of(&self, presented: &Presented) -> String {
        let authorization = &presented.authorization;
        let key = ReplayKey::Authorization {
            network: presented.network,
            asset: self.0.token.address,
            from: authorization.from,
            nonce: authorization.nonce,
        };
        key.to_string()
    }

    fn new_payment(
        &self,
        presented: &Presented,
        authorization: &Authorization,
        asked: &PricedRequest,
        answer: Vec<u8>,
    ) -> NewPayment {
        let family = match presented.version {
            Version::V1 => Family::X402V1,
            Version::V2 => Family::X402V2,
        };
        NewPayment {
            key: self.key_of(presented),
            fingerprint: asked.fingerprint,
            family,
            signed: true,
            payer: authorization.from,
            amount: authorization.value,
            identifier: presented.identifier.clone(),
            authorization: authorization.to_bytes(),
            valid_before_s: authorization.valid_before_s,
            since_block: 0,
            answer,
            resource_url: asked.url.clone(),
            settled: None,
        }
    }
}

fn authorization_of(presented: &Presented) -> Authorization {
    let authorization = &presented.authorization;
    Authorization {
        from: authorization.from,
        to: authorization.to,
        value: authorization.value.0,
        valid_after_s: authorization.valid_after_s,
        valid_before_s: authorization.valid_before_s,
        nonce: authorization.nonce,
        signature: presented.signature.clone(),
    }
}
