//! Whether those whom a reader trusts cosigned the checkpoint of evidence.

use exitgap_api::Problem;
use exitgap_core::evidence::{Evidence, WitnessCheck};

/// Holds an evidence file against a policy of witnesses. `now_s` is the caller's clock, where it has one.
pub fn check_witnesses(
    evidence: &[u8],
    policy: &[u8],
    now_s: Option<f64>,
) -> Result<WitnessCheck, Problem> {
    // Past it no number is exact, and no clock is.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "it was checked by the caller: a whole number"
    )]
    let now_s = now_s.map(|now_s| now_s as u64);
    exitgap_api::check_witnesses(&Evidence::from_bytes(evidence), policy, now_s)
}
