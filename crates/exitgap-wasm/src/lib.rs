//! The face of exitgap's verifier and SDK in WebAssembly, as the npm package `exitgap` calls it.
//!
//! **In scope**: bytes and text in (several texts as lines), one JSON document out, the same that
//! `exitgap … --json` prints; what is refused is thrown as the text of a [`Problem`] document.
//! **Out of scope**: arithmetic and verification (`exitgap-core`), documents and the reading of
//! parameters (`exitgap-api`); types of arguments, their largest lengths, being ready, errors as
//! objects (the package's `api.js`, the only caller).
//!
//! Text and not objects: so no object of a caller's runs its own code in the middle of ours, numbers
//! keep their spelling, and no reader of JSON beside the evidence's own has to be loaded.

#![expect(
    clippy::result_large_err,
    reason = "a problem carries what it found, and a request makes one at most"
)]

mod opened;
mod routes;
mod verifying;

pub use opened::{Opened, snapshot_hash};
pub use routes::Venues;
pub use verifying::{recompute, verify};

use exitgap_api::Problem;
use exitgap_core::evidence::{MAX_EVIDENCE_BYTES, MAX_WINDOW_BYTES};
use exitgap_core::pools::MAX_STATE_BYTES;
use exitgap_core::snapshot::{MAX_SNAPSHOT_BYTES, MAX_SNAPSHOT_FILE_BYTES};
use serde::Serialize;
use wasm_bindgen::prelude::wasm_bindgen;

/// Half as large as the one that comes with Rust.
#[cfg(target_arch = "wasm32")]
#[global_allocator]
static ALLOCATOR: rlsf::SmallGlobalTlsf = rlsf::SmallGlobalTlsf::new();

/// The version of this package.
#[wasm_bindgen]
pub fn version() -> String {
    env!("CARGO_PKG_VERSION").to_owned()
}

/// The most bytes that are looked at of what a caller passes, or fetches to pass it on, by the kind
/// of document: a caller checks them before it copies.
#[wasm_bindgen]
pub fn limits() -> String {
    let limits = Limits {
        snapshot: MAX_SNAPSHOT_BYTES,
        state: MAX_STATE_BYTES,
        snapshot_file: MAX_SNAPSHOT_FILE_BYTES,
        evidence: MAX_EVIDENCE_BYTES,
        window: MAX_WINDOW_BYTES,
        text: MAX_TEXT_BYTES,
    };
    text(&limits)
}

/// The most bytes of any other argument, such as a policy or ladders.
const MAX_TEXT_BYTES: usize = 4 << 20;

#[derive(Serialize)]
struct Limits {
    snapshot: usize,
    state: usize,
    snapshot_file: usize,
    evidence: usize,
    window: usize,
    text: usize,
}

/// The text of a document, or of the problem.
fn document<T: Serialize>(outcome: Result<T, Problem>) -> Result<String, String> {
    outcome.map(|document| text(&document)).map_err(refusal)
}

/// What is thrown of a problem.
#[expect(clippy::needless_pass_by_value, reason = "it maps the error of a result")]
fn refusal(problem: Problem) -> String {
    text(&problem)
}

/// Documents hold texts and finite numbers: each has a JSON form.
fn text(document: &impl Serialize) -> String {
    serde_json::to_string(document).unwrap_or_default()
}

/// The lines of an argument that is several texts; none where it is empty.
fn lines(text: &str) -> Vec<String> {
    if text.is_empty() { Vec::new() } else { text.split('\n').map(str::to_owned).collect() }
}
