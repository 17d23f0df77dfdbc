//! Compares an evidence file with the chain's own state.

use exitgap_core::evidence::{Evidence, Outcome};
use exitgap_core::ids::BlockHash;
use exitgap_core::pools::Direction;
use exitgap_core::proof::{
    BlockSource, ChainSays, StateCheck, StateCheckName, StateClaim, StateProof, check_canonical,
    check_claim, check_code, confirm_next,
};
use exitgap_core::units::SizeUsd;

use crate::{Problem, ProblemCode};

/// The comparison of an evidence file's snapshot with a state proof.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StateReport {
    /// `header`, `pool_state`, `oracle_state`, `canonical` where another source was asked for the block, and `code` where the
    /// contract runs code that is known, or is said to.
    pub checks: Vec<StateCheck>,
    /// What still has to be trusted.
    pub unproven: Vec<&'static str>,
    /// The overall result.
    pub says: ChainSays,
}

/// The sale of an evidence file.
pub fn size_asked(evidence: &Evidence) -> Option<(Direction, SizeUsd)> {
    let request = &evidence.statement()?.request;
    Some((Direction::from(request.base), request.size_usd.parse().ok()?))
}

/// The claim of an evidence file's snapshot about the chain's state, including the state that its sale needs.
pub fn state_claim(evidence: &Evidence) -> Result<StateClaim, Problem> {
    let snapshot = evidence.snapshot().ok_or_else(|| {
        let detail = "evidence: the file has no readable snapshot";
        Problem::new(ProblemCode::InvalidParameter, detail).field("evidence")
    })?;
    Ok(StateClaim::from_snapshot(snapshot, size_asked(evidence)))
}

/// What still has to be trusted after the checks: each thing once, the block's place on the chain only where no source confirmed
/// it, and what the contract's code says only where that code is not known.
pub fn still_unproven(checks: &[StateCheck]) -> Vec<&'static str> {
    let is_canonical = |check: &StateCheck| {
        check.name == StateCheckName::Canonical && check.outcome == Outcome::Pass
    };
    let said = checks.iter().any(is_canonical);
    let is_settled = |what: &str| {
        checks.iter().any(|check| check.settled.contains(&what))
            || (said && what == StateCheck::CANONICAL_UNPROVEN)
    };
    let mut unproven: Vec<&'static str> = Vec::new();
    for what in checks.iter().flat_map(|check| check.unproven.iter().copied()) {
        if !is_settled(what) && !unproven.contains(&what) {
            unproven.push(what);
        }
    }
    unproven
}

impl StateReport {
    /// Compares a claim with the bytes of a proof. `asked` lists the sources that the reader asked for the block, with
    /// the hash that each returned for its number. At least `at_least` of them must have the block; `None`: all.
    pub fn from_proof(
        claim: &StateClaim,
        proof: &[u8],
        asked: &[(String, Option<BlockHash>)],
        at_least: Option<usize>,
    ) -> Self {
        let proof = StateProof::from_bytes(proof);
        let mut checks = check_claim(&proof, claim).to_vec();
        if !asked.is_empty() {
            let sources: Vec<BlockSource> = asked
                .iter()
                .map(|(name, hash)| BlockSource::from_answer(name.as_str(), *hash))
                .collect();
            let child = proof.as_ref().ok().and_then(|proof| proof.child.as_ref());
            confirm_next(&mut checks[0], child, &sources);
            checks.push(check_canonical(claim.block, child, &sources, at_least));
        }
        // A pool whose code is not the same for all of its kind cannot be judged without that code.
        checks.extend(check_code(&proof, claim, None));
        let unproven = still_unproven(&checks);
        let says = ChainSays::from_checks(&checks);
        Self { checks, unproven, says }
    }
}
