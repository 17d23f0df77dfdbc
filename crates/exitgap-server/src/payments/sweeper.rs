//! Continues interrupted payments, and checks settled ones again.

use core::time::Duration;

use exitgap_chain::settle::{Authorization, Fees, HotKey};
use exitgap_store::payments::{Counts, Sent};
use tokio::sync::watch;
use tokio::time::Instant;

use super::settlement::sent_of;
use super::{LOOK, PaymentProcessor, Settler, Unavailable};

/// Interval between sweeps.
const EVERY: Duration = Duration::from_secs(5);

/// How long one process keeps the sweeper's lease, seconds. A nonce that a killed process left unused delays all later
/// transactions for this long. Two concurrent sweeps do no harm.
const LEASE_S: u64 = 12;

/// Seconds after which the fee of an unmined transaction is raised.
const BUMP_AFTER_S: u64 = 30;

/// Number of blocks after which a settlement is checked again.
const RECHECK_BLOCKS: u64 = 64;

/// How long the first presenter of a transaction hash is remembered, seconds.
const RESERVED_S: u64 = 24 * 3_600;

/// Sweeps until stopped; `told` receives the state of the payments after each sweep.
pub async fn sweep(
    till: PaymentProcessor,
    mut ended: watch::Receiver<bool>,
    told: impl Fn(Counts),
) {
    loop {
        till.look_after_health().await;
        // A failed step is retried in the next sweep, and was logged where it failed.
        let _ = till.sweep_once().await;
        if let Ok(counts) = till.payments(exitgap_store::payments::Payments::counts).await {
            told(counts);
        }
        tokio::select! {
            () = tokio::time::sleep(EVERY) => {}
            _ = ended.changed() => return,
        }
        if *ended.borrow() {
            return;
        }
    }
}

impl PaymentProcessor {
    /// Runs one sweep, unless another process does.
    async fn sweep_once(&self) -> Result<(), Unavailable> {
        let (now, holder) = (self.now(), self.0.holder);
        let ours = self.payments(move |payments| payments.lease("sweep", holder, LEASE_S, now));
        if !ours.await? {
            return Ok(());
        }
        self.payments(move |payments| payments.tidy(now, RESERVED_S)).await?;
        for payment in self.payments(exitgap_store::payments::Payments::open_payments).await? {
            self.conclude(&payment).await;
        }
        self.fill_numbers().await?;
        self.look_again().await
    }

    /// Sends unmined transactions again, and raises the fee of those that wait too long: no nonce may stay unused.
    async fn fill_numbers(&self) -> Result<(), Unavailable> {
        let Settler::Local(hot) = &self.0.settler else { return Ok(()) };
        let until = Instant::now() + LOOK;
        let signer = hot.address();
        let count = self.0.node.count(signer, until).await?;
        let unfilled =
            self.payments(move |payments| payments.pending_transactions(signer, count)).await?;
        for (key, sent) in unfilled {
            let waits_s = self.now().saturating_sub(sent.signed_s);
            let replaced =
                if waits_s < BUMP_AFTER_S { None } else { self.bump(hot, &key, &sent).await? };
            self.send(replaced.as_ref().unwrap_or(&sent)).await;
        }
        Ok(())
    }

    /// Signs the transaction again with the same nonce and a higher fee; `None` if the maximum is reached.
    async fn bump(
        &self,
        hot: &HotKey,
        key: &str,
        sent: &Sent,
    ) -> Result<Option<Sent>, Unavailable> {
        let asked = key.to_owned();
        let payment = self.payments(move |payments| payments.payment(&asked)).await?;
        let authorization =
            payment.and_then(|payment| Authorization::of_bytes(&payment.authorization));
        let Some(authorization) = authorization else { return Ok(None) };
        let most = self.0.plan.max_fee_wei;
        let Ok(now) = self.0.node.fees(most, Instant::now() + LOOK).await else { return Ok(None) };
        let Some(fees) = Fees { max_fee: sent.max_fee, tip: sent.tip }.bump(now, most) else {
            tracing::warn!(%key, "payments: a transaction waits at the highest fee allowed");
            return Ok(None);
        };
        let target = (self.0.token.network.0, self.0.token.address);
        let signed = authorization.sign(hot, target, sent.nonce, fees)?;
        let (key, signer, now) = (key.to_owned(), hot.address(), self.now());
        let replacing = sent_of(&signed, sent.nonce, fees, now);
        let written = replacing.clone();
        self.payments(move |payments| payments.replace(&key, signer, &written, now)).await?;
        Ok(Some(replacing))
    }

    /// Checks settlements again once no reorganization is to be expected.
    async fn look_again(&self) -> Result<(), Unavailable> {
        let until = Instant::now() + LOOK;
        let head = self.0.node.head(until).await?.number;
        let Some(block) = head.checked_sub(RECHECK_BLOCKS) else { return Ok(()) };
        for payment in self.payments(move |payments| payments.unchecked_payments(block)).await? {
            let Some(settled) = payment.settled else { continue };
            let found = self.settled_in(settled.transaction, &payment.key, until).await?;
            let key = payment.key.clone();
            if found.is_some() {
                self.payments(move |payments| payments.mark_rechecked(&key)).await?;
            } else {
                tracing::error!(key = %payment.key, "payments: a settlement is no longer on the chain");
                self.payments(move |payments| payments.orphan(&key)).await?;
            }
        }
        Ok(())
    }
}
