//! Payments by a completed transfer, presented as proof.

use axum::http::HeaderValue;
use axum::http::header::RETRY_AFTER;
use axum::response::Response;
use exitgap_api::x402::Proof;
use exitgap_chain::settle::{Receipt, Transfer, claim_text, claimant};
use exitgap_core::ids::Address;
use exitgap_store::payments::{Claim, Family, NewPayment, Payment, PaymentSettlement, State};
use tokio::time::Instant;

use super::answers::{PaymentFailure, Refusal, refuse};
use super::request::PricedRequest;
use super::{LOOK, PaymentProcessor, REPLAY_S, Unavailable, WINDOW_S, token_of_chance};

/// The answer for a transaction that is not known. A transaction sent through another node may still arrive, and its hash
/// stays reserved for its request.
const UNKNOWN: &str = "no transaction with this hash is known; if you sent it a moment ago, repeat this request with the \
    same proof and do not pay again";

/// The result of checking a proof.
enum ProofVerdict {
    /// A payment for this request, made now or before.
    Paid(Box<Payment>),
    /// It charged no one for this request.
    Unpaid(&'static str, String),
    /// It was used for another request.
    Used,
    /// No node has the transaction, not even among those that wait to be mined.
    Unknown,
    /// It is not mined, or not deep enough.
    Pending,
}

impl PaymentProcessor {
    /// Accepts a transfer as payment for this request.
    pub(super) async fn take_transfer(
        &self,
        proof: &Proof,
        asked: &PricedRequest,
        answer: Vec<u8>,
    ) -> Response {
        match self.judge(proof, asked, answer).await {
            Ok(ProofVerdict::Paid(payment)) => self.give(*payment, None).await,
            Ok(ProofVerdict::Unpaid(reason, why)) => {
                self.require_payment(asked, &why, Some(&PaymentFailure::plain(reason)))
            }
            Ok(ProofVerdict::Unknown) => {
                let failure = PaymentFailure::plain("payment_not_found");
                let mut response = self.require_payment(asked, UNKNOWN, Some(&failure));
                response.headers_mut().insert(RETRY_AFTER, HeaderValue::from_static("2"));
                response
            }
            Ok(ProofVerdict::Used) => {
                refuse(Refusal::Used, Some(&PaymentFailure::plain("payment_used")))
            }
            Ok(ProofVerdict::Pending) => {
                refuse(Refusal::Pending, Some(&PaymentFailure::plain("settlement_pending")))
            }
            // The transfer is already made.
            Err(Unavailable) => refuse(Refusal::Pending, None),
        }
    }

    async fn judge(
        &self,
        proof: &Proof,
        asked: &PricedRequest,
        answer: Vec<u8>,
    ) -> Result<ProofVerdict, Unavailable> {
        let (network, fingerprint, now) = (self.0.token.network, asked.fingerprint, self.now());
        let signer = match &proof.claim {
            None => None,
            Some(claim) => {
                let text = claim_text(network, proof.transaction, fingerprint);
                match claimant(&text, claim) {
                    Some(signer) => Some(signer),
                    None => {
                        return Ok(unpaid("claim_invalid", "the claim's signature is invalid"));
                    }
                }
            }
        };
        let hash = proof.transaction;
        let reserve = move |payments: &exitgap_store::payments::Payments| {
            payments.reserve(hash, fingerprint, now)
        };
        let reserved = self.payments(reserve).await?;
        let until = Instant::now() + LOOK;
        let Some(receipt) = self.0.node.receipt(hash, until).await? else {
            if !self.0.node.knows_transaction(hash, until).await? {
                return Ok(ProofVerdict::Unknown);
            }
            if now.saturating_sub(reserved.since_s) > WINDOW_S {
                let why = "no such transaction was mined within 15 minutes";
                return Ok(unpaid("payment_not_found", why));
            }
            return Ok(ProofVerdict::Pending);
        };
        let eligible = match self.eligible(&receipt, signer).await? {
            Ok(eligible) => eligible,
            Err(judged) => return Ok(judged),
        };
        for transfer in &eligible {
            let key = transfer.key.to_string();
            let found = self.payments(move |payments| payments.payment(&key)).await?;
            if let Some(found) = found.filter(|found| found.fingerprint == fingerprint) {
                return Ok(self.again(found));
            }
        }
        let time = self.0.node.block_time(receipt.block, receipt.block_hash, until).await?;
        let Some(time) = time else { return Ok(ProofVerdict::Pending) };
        if now.saturating_sub(time) > WINDOW_S {
            return Ok(unpaid("proof_expired", "the transfer was made more than 15 minutes ago"));
        }
        if !self.is_deep(receipt.block, until).await? {
            return Ok(ProofVerdict::Pending);
        }
        // Only the payer knew the hash at first, so the first presenter gets the first transfer.
        let place = usize::try_from(reserved.place).unwrap_or(usize::MAX);
        if signer.is_none() && place >= eligible.len() {
            return Ok(ProofVerdict::Used);
        }
        self.claim_first(&receipt, eligible, signer.is_some(), asked, answer).await
    }

    /// The transfers that pay the price, from this sender if one is claimed; or why there is none.
    async fn eligible(
        &self,
        receipt: &Receipt,
        signer: Option<Address>,
    ) -> Result<Result<Vec<Transfer>, ProofVerdict>, Unavailable> {
        if !receipt.succeeded {
            return Ok(Err(unpaid("payment_reverted", "the transaction reverted")));
        }
        let token = &self.0.token;
        let mut transfers = receipt.transfers(token.network, token.address, self.0.plan.pay_to);
        if let Some(signer) = signer {
            transfers.retain(|transfer| transfer.from == signer);
        }
        let Some(most) = transfers.iter().map(|transfer| transfer.value).max() else {
            let why =
                "the transaction contains no transfer of this token from the claimant to the payee";
            return Ok(Err(unpaid("payment_not_found", why)));
        };
        let least =
            self.prices().await?.into_iter().map(|price| price.0).min().unwrap_or(u128::MAX);
        transfers.retain(|transfer| transfer.value >= least);
        if transfers.is_empty() {
            let short = least.saturating_sub(most);
            let why = format!(
                "the transfer is {short} units below the price; transfers are not added up"
            );
            return Ok(Err(ProofVerdict::Unpaid("payment_too_low", why)));
        }
        Ok(Ok(transfers))
    }

    /// Claims the first transfer that is not claimed yet.
    async fn claim_first(
        &self,
        receipt: &Receipt,
        transfers: Vec<Transfer>,
        signed: bool,
        asked: &PricedRequest,
        answer: Vec<u8>,
    ) -> Result<ProofVerdict, Unavailable> {
        for transfer in transfers {
            let now = self.now();
            let key = transfer.key.to_string();
            let new = NewPayment {
                key: key.clone(),
                fingerprint: asked.fingerprint,
                family: Family::Transfer,
                signed,
                payer: transfer.from,
                amount: transfer.value,
                identifier: None,
                authorization: Vec::new(),
                valid_before_s: 0,
                since_block: receipt.block,
                answer: answer.clone(),
                resource_url: asked.url.clone(),
                settled: Some(PaymentSettlement {
                    transaction: receipt.transaction,
                    block: receipt.block,
                    block_hash: receipt.block_hash,
                    settled_s: now,
                }),
            };
            let token = token_of_chance().map_err(|error| Unavailable::from_error(&error))?;
            let claim = self.payments(move |payments| payments.claim(&new, token, now)).await?;
            let found = match claim {
                Claim::Held(found) if found.fingerprint != asked.fingerprint => continue,
                Claim::Held(found) => Some(*found),
                Claim::Taken => self.payments(move |payments| payments.payment(&key)).await?,
            };
            return Ok(found.map_or(ProofVerdict::Pending, |found| self.again(found)));
        }
        Ok(ProofVerdict::Used)
    }

    /// A payment for this request, if it was settled recently enough.
    fn again(&self, found: Payment) -> ProofVerdict {
        let is_settled = matches!(found.state, State::Settled | State::Orphaned);
        match found.settled {
            Some(settled) if is_settled => {
                let is_old = self.now().saturating_sub(settled.settled_s) > REPLAY_S;
                if is_old { ProofVerdict::Used } else { ProofVerdict::Paid(Box::new(found)) }
            }
            // An authorization in progress, presented as the transfer that it will become.
            _ => ProofVerdict::Pending,
        }
    }
}

fn unpaid(reason: &'static str, why: &str) -> ProofVerdict {
    ProofVerdict::Unpaid(reason, why.to_owned())
}
