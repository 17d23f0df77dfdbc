//! A wallet that cannot overspend: paid requests within budgets that hold across processes, crashes
//! and dishonest services.
//!
//! **In scope**: what may be paid ([`Policy`]), what was spent ([`Ledger`]), and a paying transport
//! for `exitgap-client` ([`PayingTransport`]), with x402's scheme `exact`. The npm package's `exitgap/pay`
//! does the same and shares ledgers with this crate; `docs/pay-ledger-v1.md` describes their
//! format. **Out of scope**: keys other than one in memory (implement [`Signer`]), transfers made
//! by the payer itself, querying a node (implement [`Chain`]), the formats of offers and payments
//! (`exitgap-api`).
//!
//! These rules hold whatever the service, the network or this machine does:
//!
//! - A payment is durably reserved in the ledger before it is signed, and durably marked as sent
//!   before it is sent. An interruption in between can only lead to spending less.
//! - A sent payment counts until the chain shows that it was not used and can no longer be used. If
//!   a service reports "failed", the amount still counts.
//! - One answer is never paid for twice. A sent payment is sent again, by this process or a later one,
//!   until it expires or the service answers and reports the settlement. If it expires without an
//!   answer, nothing more is signed for that request until the chain shows whether it was made.
//! - The offers in one answer must agree. Nothing is paid at an address that was reached by a
//!   redirect.
//!
//! If the clock is set forward, sliding windows end early. If it is set back, nothing is paid.
//! Total budgets do not depend on the clock.
//!
//! ```no_run
//! use exitgap_pay::{Asset, Budget, Ledger, LocalSigner, Payees, PayingTransport, Policy, Window};
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
//! let transport = PayingTransport::new(exitgap_client::Native::new()?, signer, policy, ledger);
//! let client = exitgap_client::Client::new(transport, "https://exitgap.example".parse().unwrap());
//! # let _ = client; Ok(()) }
//! ```

mod chain;
mod choice;
mod error;
mod ledger;
mod open;
mod outcome;
mod policy;
mod signer;
mod transport;
mod usdc;

#[cfg(test)]
mod tests;

pub use chain::{AuthorizationState, Chain, Reconciliation};
pub use error::PayError;
pub use ledger::{BudgetUsage, Entry, Ledger, ReservationRecord, Sent, State};
pub use policy::{Asset, Budget, Payees, Policy, Window};
pub use signer::{LocalSigner, Signer, TypedData};
pub use transport::{Paid, PayingTransport};
pub use usdc::Usdc;
