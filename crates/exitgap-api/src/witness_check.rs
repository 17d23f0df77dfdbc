//! Whether those whom a reader trusts cosigned the checkpoint that evidence rests on.

use exitgap_core::evidence::{Evidence, WitnessCheck};
use exitgap_core::tlog::WitnessPolicy;

use crate::{Problem, ProblemCode};

/// Holds an evidence file against the text of a policy (C2SP `tlog-policy`): which witnesses the reader trusts, and how
/// many of them must have cosigned. `now_s` is the reader's clock; what is from later does not count.
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
