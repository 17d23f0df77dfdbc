//! The WebAssembly interface of exitgap's verifier and SDK, as called by the npm package `exitgap`.
//!
//! **In scope**: each call as a function of bytes and options that returns the document printed by
//! `exitgap … --json` or fails with a [`Problem`](exitgap_api::Problem); and the same functions as
//! JavaScript calls them. **Out of scope**: arithmetic and verification (`exitgap-core`), documents
//! and the parsing of parameters (`exitgap-api`); argument types and maximum lengths,
//! initialization, and JavaScript error objects (the package's `api.js`, the only caller).
//!
//! - `verification`, `figure`, `open_snapshot`, `routes`, `split`, `alert`, `state`, `witness_check`: the
//!   functions, the same natively and in WebAssembly
//! - `face`: the same functions, for JavaScript
//! - `objects`: documents as objects
//!
//! Options are passed as texts, whole numbers and arrays of texts; see decision 23.

#![allow(
    clippy::result_large_err,
    reason = "a problem carries what it found, and a request makes one at most"
)]

mod alert;
mod face;
mod figure;
mod objects;
mod open_snapshot;
mod routes;
mod split;
#[cfg(feature = "proof")]
mod state;
mod verification;
mod witness_check;

pub use alert::{RunningAlert, SaidEvent, StandingNow, checkpoint_of};
pub use figure::{CheckedFigure, WantedPage};
pub use open_snapshot::{OpenSnapshot, snapshot_hash};
pub use routes::Venues;
pub use split::SplitOver;
#[cfg(feature = "proof")]
pub use state::state_claim;
pub use verification::{recompute, verify};
pub use witness_check::check_witnesses;

use exitgap_api::MAX_SNAPSHOT_PAGE_BYTES;
use exitgap_core::analytics::figure::MAX_FIGURE_BYTES;
use exitgap_core::evidence::{MAX_EVIDENCE_BYTES, MAX_WINDOW_BYTES};
use exitgap_core::pools::MAX_STATE_BYTES;
use exitgap_core::proof::MAX_PROOF_BYTES;
use exitgap_core::snapshot::{MAX_SNAPSHOT_BYTES, MAX_SNAPSHOT_FILE_BYTES};
use serde::Serialize;

/// Half as large as Rust's default allocator.
#[cfg(target_arch = "wasm32")]
#[global_allocator]
static ALLOCATOR: rlsf::SmallGlobalTlsf = rlsf::SmallGlobalTlsf::new();

/// The maximum size of a caller's input, by the kind of document. Callers check it before they copy or download the
/// input.
pub const LIMITS: Limits = Limits {
    snapshot: MAX_SNAPSHOT_BYTES,
    state: MAX_STATE_BYTES,
    snapshot_file: MAX_SNAPSHOT_FILE_BYTES,
    evidence: MAX_EVIDENCE_BYTES,
    window: MAX_WINDOW_BYTES,
    figure: MAX_FIGURE_BYTES,
    page: MAX_SNAPSHOT_PAGE_BYTES,
    proof: MAX_PROOF_BYTES,
    text: MAX_TEXT_BYTES,
};

/// The maximum size of any other argument, such as a policy or ladders.
const MAX_TEXT_BYTES: usize = 4 << 20;

/// The maximum size of each kind of document, bytes.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct Limits {
    /// A snapshot, alone.
    pub snapshot: usize,
    /// A state, alone.
    pub state: usize,
    /// Both, as one file.
    pub snapshot_file: usize,
    /// An evidence file.
    pub evidence: usize,
    /// A window of heads.
    pub window: usize,
    /// A figure file.
    pub figure: usize,
    /// A page of snapshots or of a pool's logs.
    pub page: usize,
    /// A state proof.
    pub proof: usize,
    /// Any other argument.
    pub text: usize,
}
