//! Whether a pool's contract runs the published code of its kind.

use super::{StateCheck, StateCheckName, is_of};
use crate::evidence::Outcome;
use crate::ids::{Address, Word};
use crate::proof::claim::{ClaimedCode, StateClaim};
use crate::proof::code::{V3Immutables, is_published, is_v2_pair};
use crate::proof::file::{ProofError, StateProof};
use crate::proof::trie::keccak256;

/// What no longer rests on trust if the code is known. The fee of a pair is in its code.
const SETTLED_BY_PAIRS: &[&str] = &[StateCheck::CODE_UNPROVEN, "fee"];
const SETTLED_BY_RANGES: &[&str] = &[StateCheck::CODE_UNPROVEN, "tokens", "fee", "tick spacing"];

const V2: &str = "the published code of Uniswap v2";
const V3: &str = "the published code of Uniswap v3";

/// The fee of every pair of Uniswap v2.
const V2_FEE: [u64; 2] = [3, 1_000];

/// Factories that make nothing but the published code, with the ids of their chains.
const V2_FACTORIES: [(u64, Address); 1] =
    [(1, address(*b"5c69bee701ef814a2b6a3edd4b1652cb9cc5aa6f"))];
const V3_FACTORY: Address = address(*b"1f98431c8ad98523631ae4a59f267346ea31f984");
const V3_FACTORIES: [(u64, Address); 4] =
    [(1, V3_FACTORY), (10, V3_FACTORY), (137, V3_FACTORY), (42_161, V3_FACTORY)];

/// Whether the contract of a claim's pool runs the published code of its kind. `code` is what a node returned as its code:
/// a pool of Uniswap v3 cannot be judged without it, and it counts only under the hash that the proof has.
///
/// `None`: there is nothing to be judged. The pool's kind has no published code that is known here, its contract has code of
/// its own, the proof is of something else, or no code was returned.
pub fn check_code(
    proof: &Result<StateProof, ProofError>,
    claim: &StateClaim,
    code: Option<&[u8]>,
) -> Option<StateCheck> {
    let proof = proof.as_ref().ok().filter(|proof| is_of(proof, claim).is_ok())?;
    let code_hash = proof.code_hash?;
    match claim.code.as_ref()? {
        ClaimedCode::UniswapV2 { factory, fee } => {
            let is_official = V2_FACTORIES.contains(&(claim.chain.0, *factory));
            pair(code_hash, *fee, is_official)
        }
        ClaimedCode::UniswapV3 { factory, tokens, fee_pips, tick_spacing } => {
            let expected = V3Immutables {
                pool: proof.subject.address,
                factory: *factory,
                tokens: *tokens,
                fee_pips: *fee_pips,
                tick_spacing: *tick_spacing,
            };
            let is_official = V3_FACTORIES.contains(&(claim.chain.0, *factory));
            ranges(code_hash, code?, &expected, is_official)
        }
    }
}

fn pair(code_hash: [u8; 32], fee: [u64; 2], is_official: bool) -> Option<StateCheck> {
    if !is_v2_pair(code_hash) {
        return is_official.then(|| differs([V2.to_owned(), with_hash(code_hash)]));
    }
    let is_its_fee =
        u128::from(fee[0]) * u128::from(V2_FEE[1]) == u128::from(V2_FEE[0]) * u128::from(fee[1]);
    if !is_its_fee {
        return Some(differs(
            [V2_FEE, fee].map(|[part, whole]| format!("a fee of {part}/{whole}")),
        ));
    }
    Some(passed(V2.to_owned(), SETTLED_BY_PAIRS))
}

fn ranges(
    code_hash: [u8; 32],
    code: &[u8],
    expected: &V3Immutables,
    is_official: bool,
) -> Option<StateCheck> {
    let found = keccak256(code);
    if found != code_hash {
        // Nothing is known of the contract's own code.
        let words = [with_hash(code_hash), with_hash(found)];
        let name = StateCheckName::Code;
        return Some(StateCheck::with_outcome(name, Outcome::NotChecked, "code_unusable", words));
    }
    let V3Immutables { factory, tokens: [token0, token1], fee_pips, tick_spacing, .. } = expected;
    let described = format!(
        "{V3} for the tokens {token0} and {token1}, the fee {fee_pips}, the tick spacing {tick_spacing} and the factory {factory}"
    );
    if expected.have_code(code) {
        return Some(passed(described, SETTLED_BY_RANGES));
    }
    if is_published(code) {
        return Some(differs([described, "the same code for a different pool".to_owned()]));
    }
    is_official.then(|| differs([described, with_hash(code_hash)]))
}

fn with_hash(code_hash: [u8; 32]) -> String {
    format!("code with the hash {}", Word(code_hash))
}

fn passed(found: String, settled: &[&'static str]) -> StateCheck {
    let mut check = StateCheck::pass(StateCheckName::Code, found, &[]);
    check.settled = settled.to_vec();
    check
}

fn differs(words: [String; 2]) -> StateCheck {
    StateCheck::with_outcome(StateCheckName::Code, Outcome::Fail, "code_differs", words)
}

/// The address of these digits, which are in lower case.
const fn address(digits: [u8; 40]) -> Address {
    const fn value(digit: u8) -> u8 {
        if digit >= b'a' { digit - b'a' + 10 } else { digit - b'0' }
    }
    let (mut bytes, mut at) = ([0; 20], 0);
    while at < 20 {
        bytes[at] = value(digits[2 * at]) << 4 | value(digits[2 * at + 1]);
        at += 1;
    }
    Address(bytes)
}
