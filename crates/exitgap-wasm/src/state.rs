//! Evidence held against the chain's own state.

use exitgap_api::{Problem, ProblemCode, StateReport};
use exitgap_core::evidence::Evidence;
use exitgap_core::ids::BlockHash;

/// Holds an evidence file against a state proof. `by` are those whom the caller asked for the block at its number, and `hashes`
/// what each of them has there; an empty one did not answer.
pub fn verify_state(
    evidence: &[u8],
    proof: &[u8],
    by: Vec<String>,
    hashes: &[String],
) -> Result<StateReport, Problem> {
    let hash = |text: &String| match text.as_str() {
        "" => Ok(None),
        text => text.parse::<BlockHash>().map(Some).map_err(|error| {
            Problem::new(ProblemCode::InvalidParameter, format!("blocks: {error}")).field("blocks")
        }),
    };
    let hashes = hashes.iter().map(hash).collect::<Result<Vec<_>, _>>()?;
    let asked: Vec<(String, Option<BlockHash>)> = by.into_iter().zip(hashes).collect();
    StateReport::of(&Evidence::read(evidence), proof, &asked)
}
