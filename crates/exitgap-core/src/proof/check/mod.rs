//! Checks of a snapshot's claim against the chain's own state: its block here and in `canonical`,
//! its pool in `pool`, that pool's code in `code`, its oracles in `oracle`, and the overall result as a sentence in `rung`.

mod canonical;
mod code;
mod oracle;
mod pool;
mod rung;

use serde::Serialize;

pub use canonical::{BlockSaid, BlockSource, check_canonical};
pub use code::check_code;
pub use rung::{ChainSays, Rung, WitnessesSay};

use super::claim::{ClaimedState, StateClaim};
use super::file::{ProofError, StateProof};
use super::header::BlockHeader;
use super::layout::Layout;
use crate::evidence::Outcome;
use crate::ids::{Address, Word};
use crate::pools::Direction;
use crate::snapshot::{Fact, Observation, Snapshot};
use crate::units::SizeUsd;

/// A check of a state proof.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum StateCheckName {
    /// The header is that of the snapshot's block, and the next block's timestamp is after the slot's instant.
    Header,
    /// The pool's recorded state matches the block's state.
    PoolState,
    /// The recorded oracle readings match the block's state.
    OracleState,
    /// The chain contains this block, according to the sources that the reader chose.
    Canonical,
    /// The pool's contract runs the published code of its kind.
    Code,
}

/// The result of one check.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct StateCheck {
    /// The check.
    pub name: StateCheckName,
    /// Its outcome.
    pub outcome: Outcome,
    /// A stable code: `ok`, or the cause of the failure or omission.
    pub code: &'static str,
    /// The value that would have passed.
    pub expected: String,
    /// The value found.
    pub found: String,
    /// What still has to be taken on the operator's word.
    pub unproven: Vec<&'static str>,
    /// What other checks leave to be trusted, and this one does not.
    #[serde(skip)]
    pub settled: Vec<&'static str>,
}

/// What a proof of a pool's storage cannot show.
const HEADER_UNPROVEN: [&str; 2] =
    [StateCheck::CANONICAL_UNPROVEN, "that no later block came before the slot's instant"];

/// The same with a next header: nothing but its parent's hash ties it to the block, and anyone can write one.
const NEXT_UNPROVEN: [&str; 2] =
    [StateCheck::CANONICAL_UNPROVEN, "that the next header in the file is the chain's"];

impl StateCheck {
    /// What only the sources of the `canonical` check can show.
    pub const CANONICAL_UNPROVEN: &str = "that the chain has a block with this hash";
    /// What only the contract's code says.
    pub const CODE_UNPROVEN: &str = "what the contract's code does";

    fn pass(name: StateCheckName, found: String, unproven: &[&'static str]) -> Self {
        let (outcome, expected) = (Outcome::Pass, found.clone());
        let (unproven, settled) = (unproven.to_vec(), Vec::new());
        Self { name, outcome, code: "ok", expected, found, unproven, settled }
    }

    fn with_outcome(
        name: StateCheckName,
        outcome: Outcome,
        code: &'static str,
        [expected, found]: [String; 2],
    ) -> Self {
        Self { name, outcome, code, expected, found, unproven: Vec::new(), settled: Vec::new() }
    }

    fn not_checked(name: StateCheckName, code: &'static str, why: String) -> Self {
        Self::with_outcome(
            name,
            Outcome::NotChecked,
            code,
            ["a proof of this snapshot's state".to_owned(), why],
        )
    }
}

/// Compares a snapshot with a proof. The proof must cover the depths at 2 %, which a head states for every snapshot,
/// and the fill of a sale of `size` if one is given.
pub fn check_state(
    proof: &Result<StateProof, ProofError>,
    snapshot: &Snapshot,
    size: Option<(Direction, SizeUsd)>,
) -> [StateCheck; 3] {
    check_claim(proof, &StateClaim::from_snapshot(snapshot, size))
}

/// The same for a snapshot's claim.
pub fn check_claim(proof: &Result<StateProof, ProofError>, claim: &StateClaim) -> [StateCheck; 3] {
    let unusable = |why: String| {
        let of = |name| StateCheck::not_checked(name, "proof_unusable", why.clone());
        // If no layout supports this kind of state, another file would not help.
        let is_kept = claim.state != ClaimedState::Other;
        let of_pool = if is_kept { of(StateCheckName::PoolState) } else { pool::other_kind(claim) };
        [of(StateCheckName::Header), of_pool, of(StateCheckName::OracleState)]
    };
    let proof = match proof {
        Ok(proof) => proof,
        Err(error) => return unusable(error.to_string()),
    };
    if let Err(why) = is_of(proof, claim) {
        return unusable(why);
    }
    let oracles = oracle::state(proof, &claim.readings);
    [header(proof, claim), pool::state(proof, claim), oracles]
}

/// Where the chain stores a snapshot's pool, according to the snapshot.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Place {
    /// The contract whose storage has it; `None` if the snapshot does not name its manager contract.
    pub address: Option<Address>,
    /// Its id, if it belongs to a manager contract.
    pub id: Option<Word>,
    /// The layout of that storage; `None` if no fact names the factory that created the contract.
    pub layout: Option<Layout>,
}

impl Place {
    /// Reads it from a pool's name and facts.
    pub fn from_observation(observation: &Observation) -> Self {
        let (contract, facts) = (observation.pool().contract(), observation.facts());
        let manager = || facts.iter().find(|fact| fact.name.as_str() == Fact::POOL_KEY);
        let address = contract.address().or_else(|| Some(manager()?.contract));
        Self { address, id: contract.id(), layout: Layout::of_facts(facts) }
    }
}

/// Requires that a proof is for the snapshot's pool and block.
fn is_of(proof: &StateProof, claim: &StateClaim) -> Result<(), String> {
    let (block, subject) = (claim.block, &proof.subject);
    if proof.header.hash != block.hash {
        return Err(format!(
            "the proof is for block {}, the snapshot for block {}",
            proof.header.hash, block.hash
        ));
    }
    if subject.chain != claim.chain {
        return Err(format!("the proof is for chain {}", subject.chain));
    }
    let own = claim.place;
    if subject.id != own.id || own.address.is_some_and(|own| own != subject.address) {
        return Err(format!("the proof is for contract {}", subject.address));
    }
    match own.layout {
        Some(layout) if layout != subject.layout => {
            let [of, found] = [layout, subject.layout].map(Layout::code);
            Err(format!("the proof uses the layout {found}, but the pool has the layout {of}"))
        }
        _ => Ok(()),
    }
}

fn header(proof: &StateProof, claim: &StateClaim) -> StateCheck {
    let name = StateCheckName::Header;
    let (block, header) = (claim.block, &proof.header);
    if (header.number, header.timestamp) != (block.number, block.timestamp) {
        let of = |number, timestamp| format!("number {number}, timestamp {timestamp}");
        let expected = of(header.number, header.timestamp);
        let found = of(block.number, block.timestamp);
        return StateCheck::with_outcome(name, Outcome::Fail, "block_differs", [expected, found]);
    }
    let instant = claim.instant;
    match proof.child {
        Some(child) if child.timestamp <= instant => {
            let expected = format!("a next block after {instant}");
            let found =
                format!("block {} at {}, which no source confirms", child.number, child.timestamp);
            StateCheck::with_outcome(name, Outcome::NotChecked, NOT_THE_LAST, [expected, found])
        }
        Some(child) => {
            let found = format!("{}, followed by {}", header.hash, child.hash);
            StateCheck::pass(name, found, &NEXT_UNPROVEN)
        }
        None => StateCheck::pass(name, header.hash.to_string(), &HEADER_UNPROVEN),
    }
}

/// A next block that came before the slot's instant: the snapshot's is not the last before it.
const NOT_THE_LAST: &str = "not_the_last_block";

/// Takes into account that one of the reader's sources has the next header's block. The header is then not an invention of
/// the file's author, so it is no longer taken on trust, and a header from before the slot's instant is the operator's fault.
pub fn confirm_next(header: &mut StateCheck, child: Option<&BlockHeader>, sources: &[BlockSource]) {
    let Some(child) = child else { return };
    if !sources.iter().any(|source| source.said.next() == Some(child.hash)) {
        return;
    }
    header.unproven.retain(|unproven| *unproven != NEXT_UNPROVEN[1]);
    if header.code == NOT_THE_LAST {
        header.outcome = Outcome::Fail;
        header.found = format!("block {} at {}", child.number, child.timestamp);
    }
}
