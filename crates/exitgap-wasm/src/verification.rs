//! Verifies and recomputes evidence.

use exitgap_api::{Problem, ProblemCode, Recomputation, VerificationReport};
use exitgap_core::evidence::{CheckName, Evidence, Policy, SeenCheckpoint};
use exitgap_core::tlog::{Hash, VerifierKey};

/// Verifies an evidence file. `seen` is a checkpoint seen before, with the base64 hashes that prove its consistency
/// with the file's; `window` is a head window that ends at the file's head. The checks of consistency and window are
/// required if the caller gives their inputs.
pub fn verify(
    evidence: &[u8],
    keys: &[String],
    seen: Option<(String, &[String])>,
    window: Option<Vec<u8>>,
) -> Result<VerificationReport, Problem> {
    let policy = policy(keys, seen, window)?;
    Ok(VerificationReport::from_evidence(&Evidence::from_bytes(evidence), &policy))
}

/// Recomputes the result of an evidence file from its own snapshot and head, and compares. This checks no hash and no
/// signature.
pub fn recompute(evidence: &[u8]) -> Result<Recomputation, Problem> {
    Recomputation::from_evidence(&Evidence::from_bytes(evidence))
}

fn policy(
    keys: &[String],
    seen: Option<(String, &[String])>,
    window: Option<Vec<u8>>,
) -> Result<Policy, Problem> {
    let mut policy = Policy::with_keys(verifier_keys(keys)?);
    if let Some((note, proof)) = seen {
        let hashes = proof.iter().map(|text| Hash::from_base64(text)).collect::<Option<_>>();
        let proof = hashes.ok_or_else(|| invalid("proof", "it has a text that is not a hash"))?;
        policy.seen = Some(SeenCheckpoint { note, proof });
        policy.required.push(CheckName::Consistency);
    }
    if window.is_some() {
        policy.window = window;
        policy.required.push(CheckName::Window);
    }
    Ok(policy)
}

/// Parses the keys that a caller trusts.
pub(crate) fn verifier_keys(keys: &[String]) -> Result<Vec<VerifierKey>, Problem> {
    let keys = keys.iter().map(|key| key.trim().parse::<VerifierKey>());
    keys.collect::<Result<Vec<_>, _>>().map_err(|error| {
        let hint = "a verifier key is <origin>+<8 hex digits>+<base64>, as in the log's file `verifier-key`";
        invalid("keys", &error.to_string()).hint(hint)
    })
}

fn invalid(field: &str, why: &str) -> Problem {
    Problem::new(ProblemCode::InvalidParameter, format!("{field}: {why}")).field(field)
}
