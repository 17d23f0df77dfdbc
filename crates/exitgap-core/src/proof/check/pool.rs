//! A pool's state beside the words of its contract, and what of it a proof must cover.

use super::{StateCheck, StateCheckName};
use crate::evidence::Outcome;
use crate::exit::{Exit, Refusal};
use crate::ids::Word;
use crate::pools::{
    ConcentratedV4, ConstantProduct, Direction, PoolState, Ranges, Solidly, Tick,
    tick_at_sqrt_ratio,
};
use crate::proof::file::StateProof;
use crate::proof::layout::Layout;
use crate::proof::subject::{RangeSubject, TickRange};
use crate::proof::words::{ProvenWords, number};
use crate::snapshot::{Observation, Snapshot};
use crate::units::{GapLimit, SizeUsd};
use crate::wide::U256;

/// What a snapshot's state says, and what stays the operator's word.
struct Claimed<'a> {
    /// What the price's word ends with.
    price: Vec<u8>,
    ranges: &'a Ranges,
    unproven: &'static [&'static str],
}

const UNPROVEN_OF_PAIRS: &[&str] = &["tokens", "decimals", "fee", "what the contract's code does"];
const UNPROVEN_OF_RANGES: &[&str] =
    &["tokens", "decimals", "fee", "tick spacing", "what the contract's code does"];
const UNPROVEN_OF_V4: &[&str] =
    &["decimals", "which contract is the manager", "what its code does"];

pub(super) fn state(
    proof: &StateProof,
    snapshot: &Snapshot,
    size: Option<(Direction, SizeUsd)>,
) -> StateCheck {
    let name = StateCheckName::PoolState;
    let (state, layout) = (snapshot.observation().state(), proof.subject.layout);
    match &proof.words {
        ProvenWords::Reserves(words) => match (reserves(layout, words), reserves_of(layout, state))
        {
            (Some(proven), Some(claimed)) if proven == claimed => {
                StateCheck::pass(name, written(&proven), UNPROVEN_OF_PAIRS)
            }
            (Some(proven), Some(claimed)) => {
                let words = [written(&proven), written(&claimed)];
                StateCheck::of(name, Outcome::Fail, "state_differs", words)
            }
            _ => other_kind(state),
        },
        ProvenWords::Ranges { price, liquidity, ticks } => {
            let (Some(claimed), Some(subject)) = (claimed(layout, state), &proof.subject.ranges)
            else {
                return other_kind(state);
            };
            if let Some([expected, found]) =
                differing([*price, *liquidity], ticks, subject, &claimed)
            {
                return StateCheck::of(name, Outcome::Fail, "state_differs", [expected, found]);
            }
            let needed = needed(snapshot.observation(), claimed.ranges, size);
            if !subject.range.covers(needed) {
                let [expected, found] = [needed, subject.range]
                    .map(|TickRange { low, high }| format!("ticks {low} to {high}"));
                let code = "beyond_proven_range";
                return StateCheck::of(name, Outcome::NotChecked, code, [expected, found]);
            }
            let TickRange { low, high } = subject.range;
            let found = format!("√price, liquidity, {} ticks from {low} to {high}", ticks.len());
            StateCheck::pass(name, found, claimed.unproven)
        }
    }
}

fn other_kind(state: &PoolState) -> StateCheck {
    let why = format!("no layout of this version is of a {} state", state.protocol());
    StateCheck::not_checked(StateCheckName::PoolState, "unsupported_layout", why)
}

fn written(reserves: &[U256; 2]) -> String {
    format!("reserves {} and {}", reserves[0], reserves[1])
}

/// The reserves in a pool's words.
fn reserves(layout: Layout, words: &[Word]) -> Option<[U256; 2]> {
    match (layout, words) {
        (Layout::UniswapV2, [Word(word)]) => Some([number(&word[18..]), number(&word[4..18])]),
        (Layout::AerodromeV2, [first, second]) => Some([number(&first.0), number(&second.0)]),
        _ => None,
    }
}

fn reserves_of(layout: Layout, state: &PoolState) -> Option<[U256; 2]> {
    match layout {
        Layout::UniswapV2 => Some(ConstantProduct::of(state)?.reserves().map(U256::from)),
        Layout::AerodromeV2 => Some(Solidly::of(state)?.reserves()),
        _ => None,
    }
}

/// What a snapshot's state would have in its words.
fn claimed(layout: Layout, state: &PoolState) -> Option<Claimed<'_>> {
    let (fees, unproven) = match (layout, state) {
        (Layout::UniswapV4, PoolState::ConcentratedV4(pool)) => (fees_of(pool), UNPROVEN_OF_V4),
        (
            Layout::UniswapV3 | Layout::PancakeV3 | Layout::Slipstream,
            PoolState::Concentrated(_),
        ) => (Vec::new(), UNPROVEN_OF_RANGES),
        _ => return None,
    };
    let ranges = ranges_of(state)?;
    let price = ranges.sqrt_price_x96();
    let limbs = price.as_limbs().iter().rev().flat_map(|limb| limb.to_be_bytes());
    let tick = &ranges.tick().to_be_bytes()[1..];
    let price = fees.into_iter().chain(tick.iter().copied()).chain(limbs.skip(12)).collect();
    Some(Claimed { price, ranges, unproven })
}

/// The fees of a pool of Uniswap v4 as its word has them: the providers', then the protocol's for each token sold.
fn fees_of(pool: &ConcentratedV4) -> Vec<u8> {
    let [zero, one] = pool.protocol_fee();
    let protocol = one << 12 | zero;
    [pool.lp_fee_pips(), protocol].iter().flat_map(|fee| fee.to_be_bytes()[1..].to_vec()).collect()
}

/// Bytes, as they are written.
fn written_bytes(bytes: &[u8]) -> String {
    let digits = bytes.iter().map(|byte| format!("{byte:02x}"));
    digits.collect::<String>()
}

/// The first word that is another than the state has it: expected and found.
fn differing(
    [price, liquidity]: [Word; 2],
    ticks: &[Word],
    subject: &RangeSubject,
    claimed: &Claimed<'_>,
) -> Option<[String; 2]> {
    let ranges = claimed.ranges;
    // Above what a fill reads of it, a word may hold what it likes.
    let proven = &price.0[32 - claimed.price.len()..];
    if claimed.price != proven {
        return Some(
            [proven, &claimed.price].map(|word| format!("price word …{}", written_bytes(word))),
        );
    }
    let proven = number(&liquidity.0[16..]);
    if proven != U256::from(ranges.liquidity()) {
        return Some(
            [proven, U256::from(ranges.liquidity())].map(|one| format!("liquidity {one}")),
        );
    }
    if subject.tick_spacing != ranges.tick_spacing() {
        let of = |spacing: i32| format!("tick spacing {spacing}");
        return Some([of(subject.tick_spacing), of(ranges.tick_spacing())]);
    }
    let inside = |tick: &&Tick| (subject.range.low..=subject.range.high).contains(&tick.tick);
    let mut own = ranges.ticks().iter().filter(inside);
    for (tick, word) in subject.ticks.iter().zip(ticks) {
        let of = |tick: i32, word: Word| format!("tick {tick} with {word}");
        match own.next() {
            Some(own) if own.tick == *tick && word_of(own) == *word => {}
            Some(own) => return Some([of(*tick, *word), of(own.tick, word_of(own))]),
            None => return Some([of(*tick, *word), "no such tick".to_owned()]),
        }
    }
    own.next().map(|own| ["no such tick".to_owned(), format!("tick {}", own.tick)])
}

/// A tick's first word.
fn word_of(tick: &Tick) -> Word {
    let mut word = [0; 32];
    word[..16].copy_from_slice(&tick.liquidity_net.to_be_bytes());
    word[16..].copy_from_slice(&tick.liquidity_gross.to_be_bytes());
    Word(word)
}

/// The ticks that a fill of a size and the depths at 2 % read: what a proof must cover; `None`: of pools without ticks.
pub fn needed_ticks(snapshot: &Snapshot, size: Option<(Direction, SizeUsd)>) -> Option<TickRange> {
    let observation = snapshot.observation();
    Some(needed(observation, ranges_of(observation.state())?, size))
}

/// The ranges of a pool that keeps its ticks where a layout says; `None`: it has none.
pub fn ranges_of(state: &PoolState) -> Option<&Ranges> {
    match state {
        PoolState::Concentrated(pool) => Some(pool.ranges()),
        PoolState::ConcentratedV4(pool) => Some(pool.ranges()),
        _ => None,
    }
}

fn needed(
    observation: &Observation,
    ranges: &Ranges,
    size: Option<(Direction, SizeUsd)>,
) -> TickRange {
    let mut needed = TickRange { low: ranges.tick(), high: ranges.tick() };
    for direction in [Direction::ZeroForOne, Direction::OneForZero] {
        let exit = Exit::of(observation, direction);
        let asked = size.filter(|(of, _)| *of == direction).map(|(_, size)| size);
        // Up to the first dollar that does not pass any more: that it does not is stated, too.
        let depth = exit.depth_usd(GapLimit::DEPTH).ok();
        let beyond =
            depth.and_then(|usd| SizeUsd::from_micros((usd + 1).checked_mul(1_000_000)?).ok());
        for size in [asked, beyond].into_iter().flatten() {
            let Some(end) = end_of(&exit, size) else { return TickRange::ALL };
            (needed.low, needed.high) = (needed.low.min(end), needed.high.max(end));
        }
    }
    needed
}

/// The tick at which a sale leaves the price; `None`: it takes all there is.
fn end_of(exit: &Exit, size: SizeUsd) -> Option<i32> {
    match exit.estimate(size).and_then(|estimate| exit.fill(estimate.amount_in)) {
        Ok(fill) => fill.sqrt_price_after_x96().map(tick_at_sqrt_ratio),
        Err(Refusal::NoInput | Refusal::NoOutput | Refusal::GapOutOfRange) => {
            exit.fill(U256::from(1_u8)).ok()?.sqrt_price_after_x96().map(tick_at_sqrt_ratio)
        }
        Err(_) => None,
    }
}
