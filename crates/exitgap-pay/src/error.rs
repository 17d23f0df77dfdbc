//! Why nothing was paid, or why the outcome of a payment is unknown.

use std::path::PathBuf;

use exitgap_api::x402::X402Error;
use exitgap_client::TransportError;
use exitgap_core::ids::{Address, Caip2};

use crate::Usdc;

/// An error of this wallet. Unless its variant says otherwise, nothing was signed and nothing is owed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PayError {
    /// The price exceeds the maximum per call.
    #[error("the price is {asked} USDC, but one call may cost at most {most}")]
    MaxPerCallExceeded {
        /// The price.
        asked: Usdc,
        /// The policy's `max_per_call`.
        most: Usdc,
    },
    /// The price exceeds what is left of a budget.
    #[error(
        "the price is {asked} USDC, but of {limit} for {scope}, {spent} are spent and {reserved} reserved"
    )]
    BudgetExceeded {
        /// The price.
        asked: Usdc,
        /// Which budget: host, path, chain and window.
        scope: String,
        /// The budget's limit.
        limit: Usdc,
        /// Sent payments, except those known to be void.
        spent: Usdc,
        /// Reserved by payments in progress.
        reserved: Usdc,
        /// When enough of it no longer counts, Unix seconds; `None` if that never happens.
        resets_at: Option<u64>,
    },
    /// No budget covers this host, path and chain.
    #[error("no budget covers {host}{path} on {network}")]
    NoBudget {
        /// The host, with a port if it is not the default.
        host: String,
        /// The path.
        path: String,
        /// The chain of the offer.
        network: Caip2,
    },
    /// The policy does not allow this chain.
    #[error("payment is requested on {network}, which the policy does not allow")]
    NetworkNotAllowed {
        /// The chain.
        network: Caip2,
    },
    /// The policy does not allow this token, or the token's name does not match.
    #[error("payment is requested in {asset} on {network}: {why}")]
    AssetNotAllowed {
        /// The token's contract.
        asset: Address,
        /// The chain.
        network: Caip2,
        /// What is wrong with it.
        why: String,
    },
    /// The policy does not list this payee.
    #[error("payment is requested to {payee}, which the policy does not list")]
    PayeeNotAllowed {
        /// The payee of the offer.
        payee: Address,
    },
    /// The payee differs from the one that the host named before.
    #[error("{host} requested payment to {first} before, but now to {now}")]
    PayeeChanged {
        /// The host.
        host: String,
        /// The payee of earlier payments.
        first: Address,
        /// The payee of this offer.
        now: Address,
    },
    /// The offers of one answer ask for different payments.
    #[error("the offers in one response contradict each other: {why}")]
    OfferInconsistent {
        /// The difference.
        why: String,
    },
    /// An amount is not an integer number of units.
    #[error("{0}")]
    AmountUnreadable(X402Error),
    /// An offer is not valid, or of a kind that this wallet does not support.
    #[error("the offer cannot be paid: {0}")]
    OfferUnreadable(String),
    /// Payments are not sent to this address.
    #[error("{url}: {why}")]
    AddressNotPaid {
        /// The address.
        url: String,
        /// The reason.
        why: &'static str,
    },
    /// The signer did not sign.
    #[error("the signer did not sign: {0}")]
    SignerFailed(String),
    /// The payment was sent, but the service reports that it failed. It stays counted.
    #[error(
        "the payment of {amount} USDC was sent, but the service reported that it failed: {reason}"
    )]
    PaymentRefused {
        /// How much.
        amount: Usdc,
        /// The service's reason.
        reason: String,
    },
    /// The payment was sent, but its outcome is unknown. It stays counted.
    #[error("a payment of {amount} USDC was sent, but its outcome is unknown: {last}")]
    PaymentUnknown {
        /// How much.
        amount: Usdc,
        /// What came last.
        last: String,
    },
    /// The payment was sent and expired without an answer. It stays counted until the chain is asked.
    #[error(
        "a payment of {amount} USDC was sent and has expired, but its outcome is unknown: {last}"
    )]
    PaymentExpired {
        /// How much.
        amount: Usdc,
        /// What came last.
        last: String,
    },
    /// The payment was sent and settled, but the service did not answer.
    #[error("a payment of {amount} USDC was settled, but the service did not answer: {last}")]
    PaymentUnanswered {
        /// How much.
        amount: Usdc,
        /// What came last.
        last: String,
    },
    /// The ledger cannot be read or written, so it is unknown what is left.
    #[error("the ledger {}: {why}", path.display())]
    LedgerUnreadable {
        /// The ledger's file.
        path: PathBuf,
        /// What is wrong.
        why: String,
    },
    /// The clock is behind the ledger's records.
    #[error("the clock is {behind_ms} ms behind the newest record of the ledger {}", path.display())]
    ClockSteppedBack {
        /// The ledger's file.
        path: PathBuf,
        /// By how much.
        behind_ms: u64,
    },
}

impl PayError {
    /// A stable code, the same as the npm package's.
    pub fn code(&self) -> &'static str {
        match self {
            Self::MaxPerCallExceeded { .. } => "max_per_call_exceeded",
            Self::BudgetExceeded { .. } => "budget_exceeded",
            Self::NoBudget { .. } => "no_budget",
            Self::NetworkNotAllowed { .. } => "network_not_allowed",
            Self::AssetNotAllowed { .. } => "asset_not_allowed",
            Self::PayeeNotAllowed { .. } => "payee_not_allowed",
            Self::PayeeChanged { .. } => "payee_changed",
            Self::OfferInconsistent { .. } => "offer_inconsistent",
            Self::AmountUnreadable(_) => "amount_unreadable",
            Self::OfferUnreadable(_) => "offer_unreadable",
            Self::AddressNotPaid { .. } => "address_not_paid",
            Self::SignerFailed(_) => "signer_failed",
            Self::PaymentRefused { .. } => "payment_refused",
            Self::PaymentUnknown { .. }
            | Self::PaymentExpired { .. }
            | Self::PaymentUnanswered { .. } => "payment_unknown",
            Self::LedgerUnreadable { .. } => "ledger_unreadable",
            Self::ClockSteppedBack { .. } => "clock_stepped_back",
        }
    }

    /// The remedy.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::MaxPerCallExceeded { .. } => {
                "raise the maximum price of one call, or do not make the call"
            }
            Self::BudgetExceeded { resets_at: Some(_), .. } => {
                "wait until enough of the spending has expired, or raise the budget's limit"
            }
            Self::BudgetExceeded { resets_at: None, .. } => "raise the budget's limit",
            Self::NoBudget { .. } => "add a budget for this host and path",
            Self::NetworkNotAllowed { .. } => {
                "add the chain to the policy, if you have funds there"
            }
            Self::AssetNotAllowed { .. } => {
                "add the token to the policy, with the name and version of its contract, if you want to pay with \
                 it"
            }
            Self::PayeeNotAllowed { .. } => {
                "add the payee to the policy, once you know whose address it is"
            }
            Self::PayeeChanged { .. } => {
                "ask the service's operator through another channel whether the payee changed, then add it to the \
                 policy"
            }
            Self::OfferInconsistent { .. } | Self::AmountUnreadable(_) => {
                "this cannot be fixed on your side; inform the service's operator"
            }
            Self::OfferUnreadable(_) => {
                "this wallet pays by x402's scheme `exact`, versions 1 and 2, on EVM chains"
            }
            Self::AddressNotPaid { .. } => "use https and the current address of the service",
            Self::SignerFailed(_) => "see the signer; nothing was sent",
            Self::PaymentRefused { .. }
            | Self::PaymentUnknown { .. }
            | Self::PaymentUnanswered { .. } => {
                "call again: the same signed payment is sent until it expires; after that, check the chain \
                 (exitgap pay reconcile). The amount stays counted until then"
            }
            Self::PaymentExpired { .. } => {
                "check the chain (exitgap pay reconcile) before another payment is signed for this request; until \
                 then the amount stays counted"
            }
            Self::LedgerUnreadable { .. } => {
                "nothing is paid while it is unreadable; repair it, or move it away and lower the budgets by the \
                 amount spent"
            }
            Self::ClockSteppedBack { .. } => {
                "nothing is paid until the clock is right again; set the clock, or wait"
            }
        }
    }
}

impl From<PayError> for TransportError {
    fn from(error: PayError) -> Self {
        Self::Payment {
            code: error.code(),
            detail: error.to_string(),
            hint: error.hint().to_owned(),
        }
    }
}
