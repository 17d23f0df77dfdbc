//! Payment for what the table of operations calls priced: a layer around handlers that know nothing of it.
//!
//! The order is: the answer is computed, then priced, then a payment is verified, claimed, settled and only
//! then answered. What cannot be answered is refused before a price is named, and what a payment's outcome
//! is not known of is never answered with another price: its payer would sign again.
//!
//! | a request carries | it is answered |
//! |---|---|
//! | nothing | 402, with one offer for three families of payers |
//! | what cannot be read, or two payments | 400 |
//! | a payment that provably charged nobody | 402, with the reason |
//! | a payment bound to another request | 409 |
//! | a payment whose outcome is not known yet | 503, to be repeated as it is |
//! | a payment while the chain or the fees are out of reach | 503 |
//! | a payment that was settled | 200; and the same bytes again for a day |
//!
//! Where a facilitator settles, `facilitator.rs`, nothing that it says is an outcome: the chain's word is.
//! Every 200 has a receipt, the same each time: `receipts.rs`.
//!
//! `layer.rs` stands around the handlers; `authorizations.rs` and `transfers.rs` judge the two kinds of
//! payments, `settlement.rs` sends and finds out, `sweeper.rs` goes on with what was interrupted, `answers.rs`
//! words it all. What was written down is `exitgap-store::payments`'s, what is true on the chain
//! `exitgap-chain::settle`'s.

mod answers;
mod authorizations;
mod config;
mod facilitator;
mod layer;
mod receipts;
mod request;
mod settlement;
mod sweeper;
mod transfers;

use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use exitgap_api::operations::Operation;
use exitgap_api::receipt::ReceiptSigner;
use exitgap_api::x402::{Terms, TokenDomain, Units};
use exitgap_chain::config::ChainPlan;
use exitgap_chain::settle::{HotKey, KeyFileError, SettleError, Token, TokenNode};
use exitgap_core::ids::Address;
use exitgap_core::tlog::VerifierKey;
use exitgap_store::payments::{ClaimToken, Payments, PaymentsError};
use tokio::time::Instant;

use crate::ops::Now;
use facilitator::Facilitator;

pub use answers::Members;
pub use config::{PaymentsConfig, PaymentsPlan, Settle};
pub use facilitator::FacilitatorUrl;
pub use layer::charge;
pub use receipts::{ReceiptFileError, read_signer, write_signer};
pub use request::fingerprint;
pub use sweeper::sweep;

/// The decimals of the token that prices are written in.
const DECIMALS: u8 = 6;

/// What that token is called in offers.
const CURRENCY: &str = "USDC";

/// What the price buys, as people are told.
const BUYS: &str = "an answer without computing it, and a signed receipt; snapshots, evidence and \
    portfolios answer the same questions free of charge";

/// How long an authorization is asked to be valid, seconds.
const VALID_S: u32 = 120;

/// How long a price stays good for those it was offered to, and a transfer for those who made it, seconds.
const WINDOW_S: u64 = 15 * 60;

/// How long a paid answer is given again, seconds.
const REPLAY_S: u64 = 24 * 3_600;

/// How long an answer waits for its payment before it says that it is pending: less than the edge lets
/// any answer take.
const WAIT: Duration = Duration::from_secs(10);

/// How long one look at the chain may take.
const LOOK: Duration = Duration::from_secs(8);

/// How old the last good look at the chain and the key's coin may be, seconds.
const HEALTHY_S: u64 = 45;

/// Transactions whose fees the key must be able to pay for a price to be offered.
const RESERVE: u128 = 3;

/// Where payments are taken. Shared by all that answer.
#[derive(Clone)]
pub struct PaymentProcessor(Arc<Inner>);

struct Inner {
    node: TokenNode,
    token: Token,
    settler: Settler,
    signer: ReceiptSigner,
    payments: Arc<Payments>,
    /// Whose turn it is with them.
    turn: Arc<tokio::sync::Mutex<()>>,
    plan: PaymentsPlan,
    base_url: String,
    now: Now,
    holder: ClaimToken,
    health: Mutex<Health>,
}

/// Who settles, ready to.
enum Settler {
    /// This process.
    Local(HotKey),
    /// Somebody else.
    Facilitator(Facilitator),
}

/// Whether payments can be settled, as last seen.
#[derive(Debug, Clone, Copy, Default)]
struct Health {
    /// When it last was so, Unix seconds.
    well_s: Option<u64>,
    /// Whether the database failed when it was last asked.
    unwritten: bool,
}

/// Why payments cannot be taken.
#[derive(Debug, thiserror::Error)]
pub enum TillError {
    /// The token or the chain is not what was configured, or cannot be asked.
    #[error("[payments]: {0}")]
    Chain(#[from] SettleError),
    /// The key that pays fees.
    #[error("[payments] hot_key_file: {0}")]
    Key(#[from] KeyFileError),
    /// The facilitator.
    #[error("[payments] settle: {0}")]
    Facilitator(reqwest::Error),
    /// The key that signs receipts.
    #[error("[payments] receipt_key_file: {0}")]
    Receipts(#[from] ReceiptFileError),
    /// The database.
    #[error("[payments] database: {0}")]
    Database(#[from] PaymentsError),
    /// The system gave no randomness.
    #[error("the system returned no random numbers: {0}")]
    Random(getrandom::Error),
    /// A file.
    #[error("[payments]: {path}: {source}")]
    File {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
}

impl PaymentProcessor {
    /// Opens the till: reads the keys, of which none is one of these logs', checks the token against the chain, and puts the price in force.
    pub async fn open(
        plan: PaymentsPlan,
        chain: &ChainPlan,
        logs: &[VerifierKey],
        base_url: String,
        now: Now,
    ) -> Result<Self, TillError> {
        let settler = match &plan.settle {
            Settle::Local(file) => Settler::Local(HotKey::from_file(file)?),
            Settle::Facilitator(url) => {
                Settler::Facilitator(Facilitator::new(url).map_err(TillError::Facilitator)?)
            }
        };
        let signer = read_signer(&plan.receipt_key_file, logs)?;
        let node = TokenNode::new(chain, plan.asset)?;
        let token = node.describe(DECIMALS, Instant::now() + Duration::from_secs(30)).await?;
        let payments = Payments::open(&plan.database)?;
        payments.set_price(plan.price.0, now())?;
        let (payments, holder) = (Arc::new(payments), token_of_chance()?);
        let health = Mutex::default();
        let turn = Arc::default();
        let inner = Inner {
            node,
            token,
            settler,
            signer,
            payments,
            turn,
            plan,
            base_url,
            now,
            holder,
            health,
        };
        let till = Self(Arc::new(inner));
        till.look_after_health().await;
        Ok(till)
    }

    /// What is asked for.
    pub(crate) fn terms(&self) -> Terms {
        let Inner { token, plan, .. } = &*self.0;
        Terms {
            network: token.network,
            asset: token.address,
            pay_to: plan.pay_to,
            amount: plan.price,
            max_timeout_s: VALID_S,
            domain: TokenDomain { name: token.name.clone(), version: token.version.clone() },
        }
    }

    /// The document of `GET /v1/payments`.
    pub fn document(&self) -> exitgap_api::Payments {
        let terms = self.terms();
        exitgap_api::Payments {
            priced: vec![Operation::Exit.template().to_owned()],
            price: terms.amount.in_tokens(DECIMALS),
            price_units: terms.amount,
            currency: CURRENCY.to_owned(),
            network: terms.network,
            asset: terms.asset,
            pay_to: terms.pay_to,
            receipt_key: self.0.signer.key().to_jwk(),
            free_estimates_per_day: self.0.plan.free_estimates_per_day,
            buys: BUYS.to_owned(),
        }
    }

    /// Who sends what settles a payment, as far as verifying it asks for: anybody may.
    fn sender(&self) -> Address {
        match &self.0.settler {
            Settler::Local(key) => key.address(),
            Settler::Facilitator(_) => self.0.plan.pay_to,
        }
    }

    fn now(&self) -> u64 {
        (self.0.now)()
    }

    fn health(&self) -> MutexGuard<'_, Health> {
        self.0.health.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether payments could be settled a moment ago.
    fn is_well(&self) -> bool {
        let Health { well_s, unwritten } = *self.health();
        !unwritten && well_s.is_some_and(|well_s| self.now().saturating_sub(well_s) <= HEALTHY_S)
    }

    /// Looks whether the chain answers and the key can pay fees.
    async fn look_after_health(&self) {
        let Inner { node, settler, plan, .. } = &*self.0;
        let until = Instant::now() + LOOK;
        let looked = async {
            let Settler::Local(key) = settler else {
                // A facilitator's own fees are its own matter.
                return node.head(until).await.map(|_| true);
            };
            let fees = node.fees(plan.max_fee_wei, until).await?;
            let coin = node.balance(key.address(), until).await?;
            let is_enough = coin >= fees.cost().saturating_mul(RESERVE);
            if !is_enough {
                tracing::error!(key = %key.address(), "payments: the hot key cannot pay its fees");
            }
            Ok::<_, SettleError>(is_enough)
        };
        let well = looked.await;
        if let Err(error) = &well {
            tracing::warn!(%error, "payments: the chain cannot be used");
        }
        let now = self.now();
        let mut health = self.health();
        match well {
            Ok(true) => health.well_s = Some(now),
            // Known to be so: nothing is offered from now on.
            Ok(false) | Err(SettleError::TooDear { .. }) => health.well_s = None,
            // A node that was out for a moment is asked again before long.
            Err(_) => {}
        }
    }

    /// Reads or writes payments on a thread that may block.
    async fn payments<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Payments) -> Result<T, PaymentsError> + Send + 'static,
    ) -> Result<T, Unavailable> {
        let payments = self.0.payments.clone();
        // One at a time has the database. Who waits for it waits here, and not on a thread that others need.
        let turn = self.0.turn.clone().lock_owned().await;
        let worked = tokio::task::spawn_blocking(move || {
            let _until_done = turn;
            work(&payments)
        });
        let worked = worked.await;
        // What cannot be written down is not offered, either.
        self.health().unwritten = matches!(&worked, Ok(Err(PaymentsError::Database(_))));
        match worked {
            Ok(Ok(done)) => Ok(done),
            Ok(Err(error)) => Err(Unavailable::from_error(&error)),
            Err(error) => Err(Unavailable::from_error(&error)),
        }
    }

    /// The prices that somebody may still pay.
    async fn prices(&self) -> Result<Vec<Units>, Unavailable> {
        let since = self.now().saturating_sub(WINDOW_S);
        let mut prices = self.payments(move |payments| payments.prices_since(since)).await?;
        // What this process offers, whatever others that share the database do.
        prices.push(self.0.plan.price.0);
        Ok(prices.into_iter().map(Units).collect())
    }
}

/// That payments cannot be dealt with now. Why, the log says.
#[derive(Debug, Clone, Copy)]
struct Unavailable;

impl Unavailable {
    fn from_error(error: &dyn std::error::Error) -> Self {
        tracing::warn!(%error, "payments: a payment cannot be processed now");
        Self
    }
}

impl From<SettleError> for Unavailable {
    fn from(error: SettleError) -> Self {
        Self::from_error(&error)
    }
}

/// Sixteen random bytes.
fn token_of_chance() -> Result<ClaimToken, TillError> {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes).map_err(TillError::Random)?;
    Ok(ClaimToken(bytes))
}
