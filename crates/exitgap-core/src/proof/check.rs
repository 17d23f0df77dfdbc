//! A snapshot beside what the chain's own state says.

use serde::Serialize;

use super::file::{ProofError, ProvenWords, RangeSubject, StateProof, TickRange};
use super::layout::Layout;
use crate::evidence::Outcome;
use crate::exit::{Exit, Refusal};
use crate::ids::{Address, BlockHash, Word};
use crate::pools::{
    ConcentratedV4, ConstantProduct, Direction, PoolState, Ranges, Solidly, Tick,
    tick_at_sqrt_ratio,
};
use crate::snapshot::{Fact, Observation, Snapshot};
use crate::units::{GapLimit, SizeUsd};
use crate::wide::U256;

/// A check of a state proof.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum StateCheckName {
    /// The header is that of the snapshot's block, and the next block came after the slot's instant.
    Header,
    /// The pool's state is what the block's state holds.
    PoolState,
    /// The chain has this block, as whoever the reader chose to ask says.
    Canonical,
}

/// What came of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct StateCheck {
    /// Which check.
    pub name: StateCheckName,
    /// How it came out.
    pub outcome: Outcome,
    /// A stable code: `ok`, or what failed or was absent.
    pub code: &'static str,
    /// What would have passed.
    pub expected: String,
    /// What was found.
    pub found: String,
    /// What stays the operator's word all the same.
    pub unproven: Vec<&'static str>,
}

/// What no proof of a pool's storage says.
const HEADER_UNPROVEN: [&str; 1] = ["that the chain has a block with this hash"];

impl StateCheck {
    fn pass(name: StateCheckName, found: String, unproven: &[&'static str]) -> Self {
        let (outcome, expected) = (Outcome::Pass, found.clone());
        Self { name, outcome, code: "ok", expected, found, unproven: unproven.to_vec() }
    }

    fn of(
        name: StateCheckName,
        outcome: Outcome,
        code: &'static str,
        [expected, found]: [String; 2],
    ) -> Self {
        Self { name, outcome, code, expected, found, unproven: Vec::new() }
    }

    fn not_checked(name: StateCheckName, code: &'static str, why: String) -> Self {
        Self::of(
            name,
            Outcome::NotChecked,
            code,
            ["a proof of this snapshot's state".to_owned(), why],
        )
    }
}

/// Holds a snapshot against a proof. `size` is the sale whose fill must be covered, beside the depths at 2 %, which a head
/// states of every snapshot.
pub fn check_state(
    proof: &Result<StateProof, ProofError>,
    snapshot: &Snapshot,
    size: Option<(Direction, SizeUsd)>,
) -> [StateCheck; 2] {
    let unusable = |why: String| {
        [StateCheckName::Header, StateCheckName::PoolState]
            .map(|name| StateCheck::not_checked(name, "proof_unusable", why.clone()))
    };
    let proof = match proof {
        Ok(proof) => proof,
        Err(error) => return unusable(error.to_string()),
    };
    if let Err(why) = is_of(proof, snapshot) {
        return unusable(why);
    }
    [header(proof, snapshot), pool_state(proof, snapshot, size)]
}

/// Where a snapshot says that its pool is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Place {
    /// The contract whose storage holds it; `None`: a manager that the snapshot does not name.
    pub address: Option<Address>,
    /// Its id, where a manager holds it.
    pub id: Option<Word>,
    /// How that storage is laid out; `None`: no fact says whose factory made it.
    pub layout: Option<Layout>,
}

impl Place {
    /// What a pool's name and facts say.
    pub fn of(observation: &Observation) -> Self {
        let (contract, facts) = (observation.pool().contract(), observation.facts());
        let manager = || facts.iter().find(|fact| fact.name.as_str() == Fact::POOL_KEY);
        let address = contract.address().or_else(|| Some(manager()?.contract));
        Self { address, id: contract.id(), layout: Layout::of_facts(facts) }
    }
}

/// Whether the chain has a snapshot's block, by those whom the reader asked: each by its name, with the hash that it has at the
/// block's number.
pub fn check_canonical(snapshot: &Snapshot, asked: &[(String, Option<BlockHash>)]) -> StateCheck {
    let name = StateCheckName::Canonical;
    let block = snapshot.observation().block();
    let other =
        asked.iter().find_map(|(by, hash)| Some((by, hash.filter(|hash| *hash != block.hash)?)));
    if let Some((by, hash)) = other {
        let words = [format!("{hash}, by {by}"), block.hash.to_string()];
        return StateCheck::of(name, Outcome::Fail, "other_block", words);
    }
    let named: Vec<&str> =
        asked.iter().filter(|(_, hash)| hash.is_some()).map(|(by, _)| by.as_str()).collect();
    if named.len() < asked.len() || named.is_empty() {
        let found = format!("{} of {} answered", named.len(), asked.len());
        let words = ["an answer of everybody who was asked".to_owned(), found];
        return StateCheck::of(name, Outcome::NotChecked, "not_answered", words);
    }
    let found = format!("block {} is {} by {}", block.number, block.hash, named.join(", "));
    StateCheck::pass(name, found, &["that those who were asked do not lie together"])
}

/// Whether a proof is of a snapshot's pool and block at all.
fn is_of(proof: &StateProof, snapshot: &Snapshot) -> Result<(), String> {
    let (observation, subject) = (snapshot.observation(), &proof.subject);
    let block = observation.block();
    if proof.header.hash != block.hash {
        return Err(format!(
            "it is of block {}, the snapshot of {}",
            proof.header.hash, block.hash
        ));
    }
    if subject.chain != observation.chain().caip2 {
        return Err(format!("it is of chain {}", subject.chain));
    }
    let own = Place::of(observation);
    if subject.id != own.id || own.address.is_some_and(|own| own != subject.address) {
        return Err(format!("it is of contract {}", subject.address));
    }
    match own.layout {
        Some(layout) if layout != subject.layout => {
            let [of, found] = [layout, subject.layout].map(Layout::code);
            Err(format!("it reads {found} where the pool is of {of}"))
        }
        _ => Ok(()),
    }
}

fn header(proof: &StateProof, snapshot: &Snapshot) -> StateCheck {
    let name = StateCheckName::Header;
    let (block, header) = (snapshot.observation().block(), &proof.header);
    if (header.number, header.timestamp) != (block.number, block.timestamp) {
        let of = |number, timestamp| format!("number {number}, timestamp {timestamp}");
        let expected = of(header.number, header.timestamp);
        let found = of(block.number, block.timestamp);
        return StateCheck::of(name, Outcome::Fail, "block_differs", [expected, found]);
    }
    let instant = snapshot.slot().unix_s();
    match proof.child {
        Some(child) if child.timestamp <= instant => {
            let expected = format!("a next block after {instant}");
            let found = format!("block {} of {}", child.number, child.timestamp);
            StateCheck::of(name, Outcome::Fail, "not_the_last_block", [expected, found])
        }
        Some(child) => {
            let found = format!("{}, followed by {}", header.hash, child.hash);
            StateCheck::pass(name, found, &HEADER_UNPROVEN)
        }
        None => {
            let unproven =
                [HEADER_UNPROVEN[0], "that no later block came before the slot's instant"];
            StateCheck::pass(name, header.hash.to_string(), &unproven)
        }
    }
}

/// What a snapshot's state says, and what stays the operator's word.
struct Claimed<'a> {
    /// What the price's word ends with.
    price: Vec<u8>,
    ranges: &'a Ranges,
    unproven: &'static [&'static str],
}

const UNPROVEN_OF_PAIRS: &[&str] =
    &["the oracle's readings", "tokens", "decimals", "fee", "what the contract's code does"];
const UNPROVEN_OF_RANGES: &[&str] = &[
    "the oracle's readings",
    "tokens",
    "decimals",
    "fee",
    "tick spacing",
    "what the contract's code does",
];
const UNPROVEN_OF_V4: &[&str] =
    &["the oracle's readings", "decimals", "which contract is the manager", "what its code does"];

fn pool_state(
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

/// The number of these bytes, at most 32, most significant first.
fn number(bytes: &[u8]) -> U256 {
    let mut limbs = [0; 4];
    for (limb, eight) in limbs.iter_mut().zip(bytes.rchunks(8)) {
        *limb = eight.iter().fold(0, |sum, byte| sum << 8 | u64::from(*byte));
    }
    U256::from_limbs(limbs)
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
