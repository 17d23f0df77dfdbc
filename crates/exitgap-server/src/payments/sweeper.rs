//! What goes on with payments that were interrupted, and looks at settled ones again.

use core::time::Duration;

use exitgap_chain::settle::{Authorization, Fees, HotKey};
use exitgap_store::payments::{Counts, Sent};
use tokio::sync::watch;
use tokio::time::Instant;

use super::settlement::sent_of;
use super::{LOOK, PaymentProcessor, Settler, Unavailable};

/// How often is swept.
const EVERY: Duration = Duration::from_secs(5);

/// How long a process that sweeps is left to it, seconds: a number that a killed process left open keeps
/// all later transactions waiting for so long. Two that sweep at once do no harm.
const LEASE_S: u64 = 12;

/// Seconds after which a transaction that is not mined is offered more for.
const BUMP_AFTER_S: u64 = 30;

/// Blocks after which a settlement is looked at again.
const RECHECK_BLOCKS: u64 = 64;

/// How long it is remembered who came first with a hash, seconds.
const RESERVED_S: u64 = 24 * 3_600;

/// Sweeps until it is told to end; `told` is told after each time how the payments stand.
pub async fn sweep(
    till: PaymentProcessor,
    mut ended: watch::Receiver<bool>,
    told: impl Fn(Counts),
) {
    loop {
        till.look_after_health().await;
        // What fails is tried again, and said where it failed.
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
    /// Does once what is due, unless another process does.
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

    /// Sends again what is not mined, and offers more for what waits too long: no number stays unfilled.
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

    /// Signs the transaction anew, of the same number, for more; `None` where more is not allowed.
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

    /// Looks at settlements again once no reorganisation is to be expected.
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
