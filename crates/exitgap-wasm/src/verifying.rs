//! Evidence, checked and computed anew.

use exitgap_api::{Problem, ProblemCode, Recomputation, VerificationReport};
use exitgap_core::evidence::{CheckName, Evidence, Policy, SeenCheckpoint};
use exitgap_core::tlog::{Hash, VerifierKey};
use wasm_bindgen::prelude::wasm_bindgen;

use crate::{document, lines};

/// Verifies an evidence file. `keys` are lines; `seen` is a checkpoint seen before and `proof` the
/// lines that link it with the file's; `window` is a head window that ends at the file's head.
/// Consistency and window are required where the caller gives what they need.
#[wasm_bindgen]
pub fn verify(
    evidence: &[u8],
    keys: &str,
    seen: Option<String>,
    proof: &str,
    window: Option<Vec<u8>>,
) -> Result<String, String> {
    let policy = policy(keys, seen, proof, window);
    document(policy.map(|policy| VerificationReport::of(&Evidence::read(evidence), &policy)))
}

/// Computes the result of an evidence file anew from its own snapshot and head, and compares.
/// This checks no hash and no signature.
#[wasm_bindgen]
pub fn recompute(evidence: &[u8]) -> Result<String, String> {
    document(Recomputation::of(&Evidence::read(evidence)))
}

fn policy(
    keys: &str,
    seen: Option<String>,
    proof: &str,
    window: Option<Vec<u8>>,
) -> Result<Policy, Problem> {
    let keys = lines(keys);
    let keys = keys.iter().map(|key| key.trim().parse::<VerifierKey>());
    let keys = keys.collect::<Result<Vec<_>, _>>().map_err(|error| {
        let hint = "a verifier key is <origin>+<8 hex digits>+<base64>, as the log's file \
                    `verifier-key` has it";
        invalid("keys", &error.to_string()).hint(hint)
    })?;
    let mut policy = Policy::trusting(keys);
    if let Some(note) = seen {
        let hashes = lines(proof);
        let hashes = hashes.iter().map(|text| Hash::from_base64(text)).collect::<Option<_>>();
        let proof = hashes.ok_or_else(|| invalid("proof", "it holds a text that is no hash"))?;
        policy.seen = Some(SeenCheckpoint { note, proof });
        policy.required.push(CheckName::Consistency);
    }
    if window.is_some() {
        policy.window = window;
        policy.required.push(CheckName::Window);
    }
    Ok(policy)
}

fn invalid(field: &str, why: &str) -> Problem {
    Problem::new(ProblemCode::InvalidParameter, format!("{field}: {why}")).field(field)
}
