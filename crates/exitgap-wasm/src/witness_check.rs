//! Checks whether witnesses that the reader trusts cosigned the evidence's checkpoint.

use exitgap_api::Problem;
use exitgap_core::evidence::{Evidence, WitnessCheck};

/// Checks an evidence file against a witness policy. `now_s` is the caller's clock, if it has one.
pub fn check_witnesses(
    evidence: &[u8],
    policy: &[u8],
    now_s: Option<f64>,
) -> Result<WitnessCheck, Problem> {
    // Beyond this range neither floats nor clocks are exact.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "it was checked by the caller: a whole number"
    )]
    let now_s = now_s.map(|now_s| now_s as u64);
    exitgap_api::check_witnesses(&Evidence::from_bytes(evidence), policy, now_s)
}
