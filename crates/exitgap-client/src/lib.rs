//! Typed client for exitgap's REST API, native and in WebAssembly.
//!
//! **In scope**: addresses, timeouts, retries and typed errors ([`Client`], [`ClientError`]); the
//! service's answers as documents of `exitgap-api`; recomputing them from a recorded snapshot whose
//! hash was checked ([`FetchedSnapshot`]); verifying evidence against the last checkpoint that this reader
//! saw ([`LogWatch`]); with the feature `copy`, downloading a published log into a folder (`copy`).
//! **Out of scope**: the arithmetic and verification themselves (`exitgap-core`), the sockets and
//! the `fetch` behind them ([`Transport`]; `Native` and `Browser` implement it).
//!
//! Nothing from a server is trusted: every answer has a size limit, and every wait has a time
//! limit.

#![allow(
    clippy::result_large_err,
    reason = "a problem carries what it found, and a request makes one at most; on 32 bits it is small enough"
)]

mod base_url;
mod client;
#[cfg(all(feature = "copy", not(target_arch = "wasm32")))]
pub mod copy;
mod document;
mod documents;
mod error;
mod figures;
mod history_request;
#[cfg(not(target_arch = "wasm32"))]
mod kept_alerts;
mod logwatch;
mod memory;
mod since;
mod tiles;
mod transport;
mod verified_exit;

#[cfg(test)]
mod tests;

#[cfg(target_arch = "wasm32")]
mod browser;
#[cfg(not(target_arch = "wasm32"))]
mod native;
mod routes;
mod snapshots;

// So that one dependency is enough.
pub use {exitgap_api, exitgap_core};

pub use base_url::BaseUrl;
pub use client::{Client, Options};
pub use error::{ClientError, PaymentChallenge, ServerProblem};
pub use exitgap_api::operations::EvidenceOf;
pub use history_request::HistoryOf;
pub use logwatch::{Continuity, FigureVerification, LogState, LogWatch, TrustBasis, Verification};
pub use memory::{Memory, Storage};
pub use since::Since;
pub use snapshots::{FetchedSnapshot, rank_routes};
pub use transport::{Request, Response, Transport, TransportError};
pub use verified_exit::VerifiedExit;

#[cfg(target_arch = "wasm32")]
pub use browser::Browser;
#[cfg(not(target_arch = "wasm32"))]
pub use native::{Native, StreamedResponse};
