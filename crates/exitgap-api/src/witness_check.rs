//! Checks whether witnesses that the reader trusts cosigned the checkpoint of an evidence file.

use exitgap_core::evidence::{Evidence, WitnessCheck};
use exitgap_core::tlog::WitnessPolicy;

use crate::{Problem, ProblemCode};

/// Checks an evidence file against the text of a witness policy (C2SP `tlog-policy`), which lists the trusted witnesses
/// and how many of them must have cosigned. `now_s` is the reader's clock; cosignatures with later times are ignored.
pub fn check_witnesses(
    evidence: &Evidence,
    policy: &[u8],
    now_s: Option<u64>,
) -> Result<WitnessCheck, Problem> {
    Ok(evidence.check_witnesses(&parse_witness_policy(policy)?, now_s))
}

/// Reads the text of a policy.
pub fn parse_witness_policy(policy: &[u8]) -> Result<WitnessPolicy, Problem> {
    WitnessPolicy::parse(policy).map_err(|error| {
        Problem::new(ProblemCode::InvalidParameter, format!("policy: {error}"))
            .field("policy")
            .hint("lines such as `witness <name> <key>`, `group <name> 2 <name> <name> <name>` and `quorum <name>`")
    })
}
