//! The claim of evidence about the chain's own state, for the module that checks it.

use exitgap_api::{Problem, state_claim as claim_of};
use exitgap_core::evidence::Evidence;

/// The claim of an evidence file as bytes, which `exitgap-proof-wasm` of the same version checks against a state proof.
pub fn state_claim(evidence: &[u8]) -> Result<Vec<u8>, Problem> {
    Ok(claim_of(&Evidence::from_bytes(evidence))?.to_bytes())
}
