//! Compares a pool's claimed storage words with those of its contract.

use super::{StateCheck, StateCheckName};
use crate::evidence::Outcome;
use crate::ids::Word;
use crate::proof::claim::{ClaimedRanges, ClaimedState, StateClaim};
use crate::proof::file::StateProof;
use crate::proof::layout::Layout;
use crate::proof::subject::{RangeSubject, TickRange};
use crate::proof::words::{ProvenWords, number};
use crate::wide::U256;

const UNPROVEN_OF_PAIRS: &[&str] = &["tokens", "decimals", "fee", StateCheck::CODE_UNPROVEN];
const UNPROVEN_OF_RANGES: &[&str] =
    &["tokens", "decimals", "fee", "tick spacing", StateCheck::CODE_UNPROVEN];
const UNPROVEN_OF_V4: &[&str] =
    &["decimals", "which contract is the manager", "what its code does"];

/// The sizes, from the low end of a pool's first word, of √price and tick, and of these with the fees.
const PRICE_BYTES: usize = 23;
const PRICE_AND_FEE_BYTES: usize = 29;

pub(super) fn state(proof: &StateProof, claim: &StateClaim) -> StateCheck {
    let name = StateCheckName::PoolState;
    let layout = proof.subject.layout;
    match (&proof.words, &claim.state, &proof.subject.ranges) {
        (ProvenWords::Reserves(words), ClaimedState::Reserves(of, claimed), _) if *of == layout => {
            match reserves(layout, words) {
                Some(proven) if proven == *claimed => {
                    StateCheck::pass(name, written(&proven), UNPROVEN_OF_PAIRS)
                }
                Some(proven) => {
                    let words = [written(&proven), written(claimed)];
                    StateCheck::with_outcome(name, Outcome::Fail, "state_differs", words)
                }
                None => other_kind(claim),
            }
        }
        (
            ProvenWords::Ranges { price, liquidity, ticks },
            ClaimedState::Ranges(claimed),
            Some(subject),
        ) if claimed.is_managed == (layout == Layout::UniswapV4) => {
            if let Some(words) = find_difference([*price, *liquidity], ticks, subject, claimed) {
                return StateCheck::with_outcome(name, Outcome::Fail, "state_differs", words);
            }
            let (needed, range) = (claimed.needed, subject.range);
            if !range.covers(needed) {
                let words =
                    [needed, range].map(|TickRange { low, high }| format!("ticks {low} to {high}"));
                let code = "beyond_proven_range";
                return StateCheck::with_outcome(name, Outcome::NotChecked, code, words);
            }
            let TickRange { low, high } = range;
            let found = format!("√price, liquidity, {} ticks from {low} to {high}", ticks.len());
            let unproven = if claimed.is_managed { UNPROVEN_OF_V4 } else { UNPROVEN_OF_RANGES };
            StateCheck::pass(name, found, unproven)
        }
        _ => other_kind(claim),
    }
}

/// This version has no layout for this kind of state.
pub(super) fn other_kind(claim: &StateClaim) -> StateCheck {
    let why = format!("this version has no layout for a {} state", claim.protocol);
    StateCheck::not_checked(StateCheckName::PoolState, "unsupported_layout", why)
}

fn written(reserves: &[U256; 2]) -> String {
    format!("reserves {} and {}", reserves[0], reserves[1])
}

/// The reserves in a pair's storage words.
fn reserves(layout: Layout, words: &[Word]) -> Option<[U256; 2]> {
    match (layout, words) {
        (Layout::UniswapV2, [Word(word)]) => Some([number(&word[18..]), number(&word[4..18])]),
        (Layout::AerodromeV2, [first, second]) => Some([number(&first.0), number(&second.0)]),
        _ => None,
    }
}

/// The first word that differs from the claimed state: expected and found.
fn find_difference(
    [price, liquidity]: [Word; 2],
    ticks: &[Word],
    subject: &RangeSubject,
    claimed: &ClaimedRanges,
) -> Option<[String; 2]> {
    // Bits above those that a fill reads are ignored.
    let from = 32 - if claimed.is_managed { PRICE_AND_FEE_BYTES } else { PRICE_BYTES };
    if claimed.price.0[from..] != price.0[from..] {
        let of = |word: Word| {
            let mut word = word;
            word.0[..from].fill(0);
            format!("price word {word}")
        };
        return Some([price, claimed.price].map(of));
    }
    let proven = number(&liquidity.0[16..]);
    if proven != U256::from(claimed.liquidity) {
        let of = |one: U256| format!("liquidity {one}");
        return Some([proven, U256::from(claimed.liquidity)].map(of));
    }
    if subject.tick_spacing != claimed.tick_spacing {
        let of = |spacing: i32| format!("tick spacing {spacing}");
        return Some([subject.tick_spacing, claimed.tick_spacing].map(of));
    }
    let TickRange { low, high } = subject.range;
    let mut own = claimed.ticks.iter().filter(|(tick, _)| (low..=high).contains(tick));
    for (tick, word) in subject.ticks.iter().zip(ticks) {
        let of = |tick: i32, word: Word| format!("tick {tick} with {word}");
        match own.next() {
            Some(own) if *own == (*tick, *word) => {}
            Some(own) => return Some([of(*tick, *word), of(own.0, own.1)]),
            None => return Some([of(*tick, *word), "no such tick".to_owned()]),
        }
    }
    own.next().map(|(tick, _)| ["no such tick".to_owned(), format!("tick {tick}")])
}
