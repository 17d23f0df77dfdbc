//! A wallet that cannot overspend: requests that are paid for, within budgets that hold across
//! processes, crashes and services that lie.
//!
//! **In scope**: what may be paid ([`Policy`]), what was spent ([`Ledger`]), and a transport of
//! `exitgap-client` that pays ([`Paying`]), by x402's scheme `exact`. The npm package's `exitgap/pay`
//! does the same, and shares ledgers with this crate: `docs/pay-ledger-v1.md` is their format.
//! **Out of scope**: keys beyond one in memory (implement [`Signer`]), transfers made by the payer
//! itself, asking a node (implement [`Chain`]), the shapes of offers and payments (`exitgap-api`).
//!
//! What holds, whatever the service, the network or this machine does:
//!
//! - A payment is reserved in the ledger, durably, before it is signed, and marked as sent, durably,
//!   before it is sent. What breaks off in between under-spends.
//! - What was sent counts until the chain shows that it was not used and no longer can be. A service
//!   that says "failed" gives nothing back.
//! - One request makes at most one payment. What got no answer is asked for again with the same
//!   signature.
//! - The offers of one answer must agree; nothing is paid at an address that was redirected to.
//!
//! A clock that is set forward lets sliding windows end early; set back, nothing is paid. Budgets in
//! total do not depend on it.
//!
//! ```no_run
//! use exitgap_pay::{Asset, Budget, Ledger, LocalSigner, Paying, Payees, Policy, Window};
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let base = "eip155:8453".parse()?;
//! let policy = Policy {
//!     max_per_call: "0.02".parse()?,
//!     budgets: vec![Budget {
//!         host: "exitgap.example".to_owned(),
//!         path_prefix: "/v1/exit".to_owned(),
//!         network: base,
//!         limit: "1.00".parse()?,
//!         window: Window::Sliding(std::time::Duration::from_secs(86_400)),
//!     }],
//!     networks: vec![base],
//!     assets: Asset::known(),
//!     payees: Payees::FirstUse,
//! };
//! let signer = LocalSigner::of_hex(&std::fs::read_to_string("key")?)?;
//! let ledger = Ledger::open("spent.jsonl".as_ref())?;
//! let transport = Paying::new(exitgap_client::Native::new()?, signer, policy, ledger);
//! let client = exitgap_client::Client::new(transport, "https://exitgap.example".parse().unwrap());
//! # let _ = client; Ok(()) }
//! ```

mod chain;
mod choice;
mod error;
mod ledger;
mod paying;
mod policy;
mod signer;
mod usdc;

#[cfg(test)]
mod tests;

pub use chain::{AuthorizationState, Chain, Reconciled};
pub use error::PayError;
pub use ledger::{Entry, Ledger, Reserved, Sent, Standing, State};
pub use paying::{Paid, Paying};
pub use policy::{Asset, Budget, Payees, Policy, Window};
pub use signer::{LocalSigner, Signer, TypedData};
pub use usdc::Usdc;
