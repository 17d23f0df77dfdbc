//! Sends the transactions that settle payments, and finds their outcomes.

use core::time::Duration;

use exitgap_chain::settle::{Authorization, Fees, HotKey, SettleError, SignedTransaction};
use exitgap_core::ids::Word;
use exitgap_store::payments::{ClaimToken, Payment, PaymentSettlement, PaymentsError, Sent};
use tokio::time::Instant;

use super::facilitator::Facilitator;
use super::{LOOK, PaymentProcessor, Unavailable};

/// How long the sending task polls for its transaction's receipt; after that the sweeper does.
const FOLLOW: Duration = Duration::from_mins(1);

/// Seconds after its expiry at which an unused authorization counts as never used: answers may come from several nodes
/// that are not at the same block.
const OVER_S: u64 = 30;

/// The known outcome of a payment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// The payment was made.
    Settled(PaymentSettlement),
    /// The payment was provably not made.
    Failed,
    /// The outcome is not known yet.
    Open,
}

/// Why a transaction was not signed.
enum NotSigned {
    Store(PaymentsError),
    Chain(SettleError),
}

impl From<PaymentsError> for NotSigned {
    fn from(error: PaymentsError) -> Self {
        Self::Store(error)
    }
}

/// The transaction in the form that is stored.
pub fn sent_of(signed: &SignedTransaction, nonce: u64, fees: Fees, now_s: u64) -> Sent {
    let Fees { max_fee, tip } = fees;
    Sent { nonce, hash: signed.hash, raw: signed.raw.clone(), max_fee, tip, signed_s: now_s }
}

/// The stored transaction in the form that is sent.
pub fn signed_of(sent: &Sent) -> SignedTransaction {
    SignedTransaction { raw: sent.raw.clone(), hash: sent.hash }
}

impl PaymentProcessor {
    /// Signs, stores, sends and follows the transaction for a claimed payment. A failure before the transaction is
    /// stored releases the claim, because nothing was sent. After that, the sweeper handles failures.
    pub(super) async fn settle(
        &self,
        hot: &HotKey,
        key: &str,
        token: ClaimToken,
        authorization: &Authorization,
    ) {
        let Ok(sent) = self.sign(hot, key, token, authorization).await else {
            let key = key.to_owned();
            // If this fails too, the claim expires.
            let _ = self.payments(move |payments| payments.release(&key, token)).await;
            return;
        };
        self.send(&sent).await;
        self.follow(key).await;
    }

    /// Passes a claimed payment to the facilitator, and checks the chain meanwhile and afterwards, whatever the
    /// facilitator answers: a silent one may have settled it, and an answer may be false.
    pub(super) async fn settle_elsewhere(
        &self,
        facilitator: &Facilitator,
        key: &str,
        token: ClaimToken,
        request: Option<Vec<u8>>,
    ) {
        let owned = key.to_owned();
        let handed = match request {
            Some(request) => {
                let handed = self.payments(move |payments| payments.hand_over(&owned, token));
                handed.await.ok().map(|()| request)
            }
            None => None,
        };
        let Some(request) = handed else {
            let key = key.to_owned();
            let _ = self.payments(move |payments| payments.release(&key, token)).await;
            return;
        };
        let settle = async {
            match facilitator.settle(request).await {
                Ok(said) if said.success => {}
                Ok(said) => {
                    let reason: String =
                        said.error_reason.unwrap_or_default().chars().take(80).collect();
                    tracing::warn!(key, reason, "payments: the facilitator reports a failure");
                }
                Err(error) => {
                    tracing::warn!(key, %error, "payments: the facilitator did not report an outcome");
                }
            }
        };
        tokio::join!(settle, self.follow(key));
    }

    /// Polls a payment's outcome until it is known, for a limited time.
    async fn follow(&self, key: &str) {
        let until = Instant::now() + FOLLOW;
        while Instant::now() < until {
            let asked = key.to_owned();
            let found = self.payments(move |payments| payments.payment(&asked)).await;
            let Ok(Some(payment)) = found else { return };
            if self.conclude(&payment).await {
                return;
            }
            tokio::time::sleep(Duration::from_millis(300)).await;
        }
    }

    async fn sign(
        &self,
        hot: &HotKey,
        key: &str,
        token: ClaimToken,
        authorization: &Authorization,
    ) -> Result<Sent, Unavailable> {
        let until = Instant::now() + LOOK;
        let (node, signer) = (&self.0.node, hot.address());
        let fees = node.fees(self.0.plan.max_fee_wei, until).await?;
        let count = node.count(signer, until).await?;
        let (till, key, authorization) = (self.clone(), key.to_owned(), authorization.clone());
        let hot = hot.clone();
        let sign = move || {
            let inner = &till.0;
            let (target, now) = ((inner.token.network.0, inner.token.address), till.now());
            let sign = |nonce| {
                let signed = authorization.sign(&hot, target, nonce, fees);
                Ok(sent_of(&signed.map_err(NotSigned::Chain)?, nonce, fees, now))
            };
            inner.payments.begin_settling((&key, token), (signer, count), now, sign)
        };
        match tokio::task::spawn_blocking(sign).await {
            Ok(Ok(sent)) => Ok(sent),
            Ok(Err(NotSigned::Store(error))) => Err(Unavailable::from_error(&error)),
            Ok(Err(NotSigned::Chain(error))) => Err(error.into()),
            Err(error) => Err(Unavailable::from_error(&error)),
        }
    }

    /// Sends a stored transaction. Its receipt later shows whether it arrived.
    pub(super) async fn send(&self, sent: &Sent) {
        let sending = self.0.node.broadcast(&signed_of(sent), Instant::now() + LOOK).await;
        if let Err(error) = sending {
            tracing::warn!(hash = %sent.hash, %error, "payments: a transaction may not have arrived");
        }
    }

    /// Stores a payment's outcome; returns whether it is known.
    pub(super) async fn conclude(&self, payment: &Payment) -> bool {
        let outcome = self.outcome(payment).await.unwrap_or(Outcome::Open);
        let key = payment.key.clone();
        let written = match outcome {
            Outcome::Open => return false,
            Outcome::Settled(settled) => {
                self.payments(move |payments| payments.settle(&key, settled)).await
            }
            Outcome::Failed => self.payments(move |payments| payments.fail(&key)).await,
        };
        written.is_ok()
    }

    /// Reads a payment's outcome from the chain: from the receipts of the transactions sent for it, and from the
    /// token's record of the authorization, whoever settled it. A missing answer is never an outcome.
    pub(super) async fn outcome(&self, payment: &Payment) -> Result<Outcome, Unavailable> {
        let Some(authorization) = Authorization::of_bytes(&payment.authorization) else {
            return self.outcome_of_transfer(payment).await;
        };
        let until = Instant::now() + LOOK;
        let key = payment.key.clone();
        let sent = self.payments(move |payments| payments.sent_for(&key)).await?;
        let mut reverted = false;
        for sent in &sent {
            let Some(receipt) = self.0.node.receipt(sent.hash, until).await? else { continue };
            if receipt.succeeded {
                let found = self.settled_in(sent.hash, &payment.key, until).await?;
                return Ok(found.map_or(Outcome::Open, |(settled, _)| Outcome::Settled(settled)));
            }
            reverted |= self.is_deep(receipt.block, until).await?;
        }
        let (payer, nonce) = (authorization.from, authorization.nonce);
        let head = self.0.node.head(until).await?;
        let is_over = head.timestamp_s > authorization.valid_before_s.saturating_add(OVER_S);
        if self.0.node.is_used(payer, nonce, until).await? {
            let since = payment.since_block.saturating_sub(1);
            if let Some((settled, _)) = self.find_use(&authorization, since, until).await? {
                return Ok(Outcome::Settled(settled));
            }
            let used = self.0.node.used_since((payer, nonce), since, until).await?;
            // Cancelled: the authorization was used, but not by a transfer.
            let cancelled = used.is_none() && (reverted || is_over);
            return Ok(if cancelled { Outcome::Failed } else { Outcome::Open });
        }
        Ok(if reverted || is_over { Outcome::Failed } else { Outcome::Open })
    }

    /// Whether a transfer that was removed by a reorganization is on the chain again.
    async fn outcome_of_transfer(&self, payment: &Payment) -> Result<Outcome, Unavailable> {
        let Some(settled) = payment.settled else { return Ok(Outcome::Open) };
        let until = Instant::now() + LOOK;
        let found = self.settled_in(settled.transaction, &payment.key, until).await?;
        Ok(found.map_or(Outcome::Open, |(settled, _)| Outcome::Settled(settled)))
    }

    /// The transfer that used an authorization since this block, and its time.
    pub(super) async fn find_use(
        &self,
        authorization: &Authorization,
        since: u64,
        until: Instant,
    ) -> Result<Option<(PaymentSettlement, u64)>, Unavailable> {
        let of = (authorization.from, authorization.nonce);
        let Some(used) = self.0.node.used_since(of, since, until).await? else { return Ok(None) };
        let token = &self.0.token;
        let key = exitgap_chain::settle::ReplayKey::Authorization {
            network: token.network,
            asset: token.address,
            from: authorization.from,
            nonce: authorization.nonce,
        };
        self.settled_in(used.transaction, &key.to_string(), until).await
    }

    /// The settlement with this key in a sufficiently deep transaction, and its block's time.
    pub(super) async fn settled_in(
        &self,
        transaction: Word,
        key: &str,
        until: Instant,
    ) -> Result<Option<(PaymentSettlement, u64)>, Unavailable> {
        let (node, token) = (&self.0.node, &self.0.token);
        let Some(receipt) = node.receipt(transaction, until).await? else { return Ok(None) };
        let transfers = receipt.transfers(token.network, token.address, self.0.plan.pay_to);
        if !transfers.iter().any(|transfer| transfer.key.to_string() == key)
            || !self.is_deep(receipt.block, until).await?
        {
            return Ok(None);
        }
        let time = node.block_time(receipt.block, receipt.block_hash, until).await?;
        let (block, block_hash, settled_s) = (receipt.block, receipt.block_hash, self.now());
        Ok(time.map(|time| (PaymentSettlement { transaction, block, block_hash, settled_s }, time)))
    }

    /// Whether a block has the required number of confirmations.
    pub(super) async fn is_deep(&self, block: u64, until: Instant) -> Result<bool, Unavailable> {
        let head = self.0.node.head(until).await?.number;
        Ok(head.saturating_add(1) >= block.saturating_add(self.0.plan.confirmations))
    }
}
