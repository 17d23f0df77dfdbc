//! Payment for the operations that the table marks as priced: a layer around handlers that are unaware of it.
//!
//! The order is: compute the answer, quote the price, then verify, claim and settle the payment, and only then answer.
//! A request that cannot be answered fails before a price is quoted. A payment with an unknown outcome never gets
//! another price quoted, because its payer would sign again.
//!
//! | the request carries | the answer |
//! |---|---|
//! | no payment | 402, with one offer in three payment formats |
//! | something that cannot be parsed, or two payments | 400 |
//! | a payment that provably charged no one | 402, with the reason |
//! | a payment bound to another request | 409 |
//! | a payment whose outcome is not known yet | 503; repeat it unchanged |
//! | a payment while the chain is unreachable or gas is too expensive | 503 |
//! | a settled payment | 200; and the same bytes again for a day |
//!
//! With a facilitator (`facilitator.rs`), nothing that it reports counts as an outcome: only the chain does. Every 200
//! has a receipt, the same each time: `receipts.rs`.
//!
//! `layer.rs` wraps the handlers; `authorizations.rs` and `transfers.rs` judge the two kinds of payments,
//! `settlement.rs` sends transactions and finds their outcomes, `sweeper.rs` continues interrupted payments,
//! `answers.rs` writes all texts. `exitgap-store::payments` stores the payments, `exitgap-chain::settle` reads the
//! chain.

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

/// The decimals of the token in which prices are quoted.
const DECIMALS: u8 = 6;

/// The token's name in offers.
const CURRENCY: &str = "USDC";

/// What the price buys, in words.
const BUYS: &str = "an answer without computing it, and a signed receipt; snapshots, evidence and \
    portfolios answer the same questions free of charge";

/// How long an authorization should be valid, seconds.
const VALID_S: u32 = 120;

/// How long a quoted price remains valid, and how long a transfer may be presented, seconds.
const WINDOW_S: u64 = 15 * 60;

/// How long a paid answer can be repeated, seconds.
const REPLAY_S: u64 = 24 * 3_600;

/// How long a request waits for its payment before the answer is that it is pending: less than the time limit of any
/// answer.
const WAIT: Duration = Duration::from_secs(10);

/// Time limit for one check of the chain.
const LOOK: Duration = Duration::from_secs(8);

/// Maximum age of the last successful check of the chain and of the key's balance, seconds.
const HEALTHY_S: u64 = 45;

/// The number of transactions whose fees the key must be able to pay before a price is offered.
const RESERVE: u128 = 3;

/// Takes payments. Shared by all handlers.
#[derive(Clone)]
pub struct PaymentProcessor(Arc<Inner>);

struct Inner {
    node: TokenNode,
    token: Token,
    settler: Settler,
    signer: ReceiptSigner,
    payments: Arc<Payments>,
    /// Serializes access to the payments database.
    turn: Arc<tokio::sync::Mutex<()>>,
    plan: PaymentsPlan,
    base_url: String,
    now: Now,
    holder: ClaimToken,
    health: Mutex<Health>,
}

/// The configured settlement, ready for use.
enum Settler {
    /// This process.
    Local(HotKey),
    /// Another party.
    Facilitator(Facilitator),
}

/// Whether payments can be settled, at the last check.
#[derive(Debug, Clone, Copy, Default)]
struct Health {
    /// When the last check succeeded, Unix seconds.
    well_s: Option<u64>,
    /// Whether the last database access failed.
    unwritten: bool,
}

/// Why payments cannot be taken.
#[derive(Debug, thiserror::Error)]
pub enum TillError {
    /// The token or the chain does not match the configuration, or the node cannot be reached.
    #[error("[payments]: {0}")]
    Chain(#[from] SettleError),
    /// The key that pays fees could not be read.
    #[error("[payments] hot_key_file: {0}")]
    Key(#[from] KeyFileError),
    /// The facilitator's client could not be created.
    #[error("[payments] settle: {0}")]
    Facilitator(reqwest::Error),
    /// The key that signs receipts could not be read.
    #[error("[payments] receipt_key_file: {0}")]
    Receipts(#[from] ReceiptFileError),
    /// The database could not be opened.
    #[error("[payments] database: {0}")]
    Database(#[from] PaymentsError),
    /// The system returned no random numbers.
    #[error("the system returned no random numbers: {0}")]
    Random(getrandom::Error),
    /// A file.
    #[error("[payments]: {path}: {source}")]
    File {
        /// The file.
        path: PathBuf,
        /// The error of the operating system.
        source: std::io::Error,
    },
}

impl PaymentProcessor {
    /// Opens the payment processor: reads the keys, none of which may be a key of these logs, checks the token on the
    /// chain, and puts the price into force.
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

    /// The payment terms.
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

    /// The sender of the settling transaction, as far as verification needs it: any sender is allowed.
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

    /// Whether payments could be settled at the last check.
    fn is_well(&self) -> bool {
        let Health { well_s, unwritten } = *self.health();
        !unwritten && well_s.is_some_and(|well_s| self.now().saturating_sub(well_s) <= HEALTHY_S)
    }

    /// Checks whether the chain answers and the key can pay fees.
    async fn look_after_health(&self) {
        let Inner { node, settler, plan, .. } = &*self.0;
        let until = Instant::now() + LOOK;
        let looked = async {
            let Settler::Local(key) = settler else {
                // A facilitator pays its own fees.
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
            // Known to be impossible: offer nothing from now on.
            Ok(false) | Err(SettleError::TooDear { .. }) => health.well_s = None,
            // A brief node failure: it is asked again soon.
            Err(_) => {}
        }
    }

    /// Reads or writes payments on a thread that may block.
    async fn payments<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Payments) -> Result<T, PaymentsError> + Send + 'static,
    ) -> Result<T, Unavailable> {
        let payments = self.0.payments.clone();
        // Access is serialized. Requests wait here, so that they do not occupy blocking threads that others need.
        let turn = self.0.turn.clone().lock_owned().await;
        let worked = tokio::task::spawn_blocking(move || {
            let _until_done = turn;
            work(&payments)
        });
        let worked = worked.await;
        // If the database cannot be written, no payment is offered either.
        self.health().unwritten = matches!(&worked, Ok(Err(PaymentsError::Database(_))));
        match worked {
            Ok(Ok(done)) => Ok(done),
            Ok(Err(error)) => Err(Unavailable::from_error(&error)),
            Err(error) => Err(Unavailable::from_error(&error)),
        }
    }

    /// The prices that a client may still pay.
    async fn prices(&self) -> Result<Vec<Units>, Unavailable> {
        let since = self.now().saturating_sub(WINDOW_S);
        let mut prices = self.payments(move |payments| payments.prices_since(since)).await?;
        // This process's own price, even if other processes on the same database offer others.
        prices.push(self.0.plan.price.0);
        Ok(prices.into_iter().map(Units).collect())
    }
}

/// Payments cannot be handled now. The log has the reason.
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
