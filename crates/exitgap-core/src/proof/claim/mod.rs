//! A snapshot's claim in terms of the chain's storage: everything that is compared with a proof.
//!
//! Making a claim requires the pool's arithmetic, which determines how far a proof must reach.
//! Checking a claim does not, so a page loads the checker only when it is needed. A claim is passed
//! to it as `bytes`.

mod bytes;

use super::check::Place;
use super::layout::Layout;
use super::subject::TickRange;
use crate::exit::{Exit, Refusal};
use crate::ids::{Address, Caip2, Word};
use crate::pools::{
    ConcentratedV4, ConstantProduct, Direction, FeeRate, PoolState, Ranges, Solidly, Tick,
    tick_at_sqrt_ratio,
};
use crate::snapshot::{BlockRef, Observation, OracleReading, OracleRole, OracleSource, Snapshot};
use crate::units::{GapLimit, SizeUsd};
use crate::wide::U256;

/// A snapshot's claim.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StateClaim {
    /// Its chain.
    pub chain: Caip2,
    /// Its block.
    pub block: BlockRef,
    /// The slot's instant, seconds UTC.
    pub instant: u64,
    /// Where the chain stores its pool.
    pub place: Place,
    /// The kind of its state, as spelled in states.
    pub protocol: String,
    /// Which published code its contract runs; `None`: no fact says one that is known.
    pub code: Option<ClaimedCode>,
    /// The pool's storage words.
    pub state: ClaimedState,
    /// The oracles' answers, in the snapshot's order.
    pub readings: Vec<ClaimedReading>,
}

/// Published code that a snapshot's facts say a pool's contract runs, and what is claimed of the numbers in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ClaimedCode {
    /// That of Uniswap v2's pairs.
    UniswapV2 {
        /// The pair's factory.
        factory: Address,
        /// Its fee: a numerator and a denominator.
        fee: [u64; 2],
    },
    /// That of Uniswap v3's pools.
    UniswapV3 {
        /// The pool's factory.
        factory: Address,
        /// Its tokens.
        tokens: [Address; 2],
        /// Its fee in millionths.
        fee_pips: u32,
        /// Its tick spacing.
        tick_spacing: i32,
    },
}

/// A pool's storage words, by the kind of its state.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ClaimedState {
    /// The reserves of a pair, with the only layout that has such pairs.
    Reserves(Layout, [U256; 2]),
    /// Concentrated liquidity.
    Ranges(ClaimedRanges),
    /// A kind that no layout supports.
    Other,
}

/// The storage words of a concentrated-liquidity pool.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClaimedRanges {
    /// Whether the pool belongs to a manager contract. In that case its fees are stored above the tick.
    pub is_managed: bool,
    /// √price, tick, and those fees; the bits above are zero.
    pub price: Word,
    /// Active liquidity.
    pub liquidity: u128,
    /// The tick spacing.
    pub tick_spacing: i32,
    /// Every initialised tick, ascending, with the first word of its storage.
    pub ticks: Vec<(i32, Word)>,
    /// The ticks that the numbers depend on.
    pub needed: TickRange,
}

/// An oracle's answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClaimedReading {
    /// Whether it reports a sequencer's status instead of a price.
    pub is_sequencer: bool,
    /// The feed; `None` if the price is configured.
    pub feed: Option<Address>,
    /// The feed's round.
    pub round: u128,
    /// The answer.
    pub answer: U256,
    /// When the round was written, seconds UTC.
    pub updated_at: u64,
}

impl StateClaim {
    /// A snapshot's claim. The proof must cover the depths at 2 %, and the fill of a sale of `size` if one is given.
    pub fn from_snapshot(snapshot: &Snapshot, size: Option<(Direction, SizeUsd)>) -> Self {
        let observation = snapshot.observation();
        Self {
            chain: observation.chain().caip2,
            block: observation.block(),
            instant: snapshot.slot().unix_s(),
            place: Place::from_observation(observation),
            protocol: observation.state().protocol().to_owned(),
            code: ClaimedCode::from_observation(observation),
            state: ClaimedState::from_observation(observation, size),
            readings: observation.oracles().iter().map(ClaimedReading::from_reading).collect(),
        }
    }
}

impl ClaimedCode {
    fn from_observation(observation: &Observation) -> Option<Self> {
        let facts = observation.facts();
        let factory = |name: &str| {
            facts.iter().find(|fact| fact.name.as_str() == name).map(|fact| fact.contract)
        };
        match observation.state() {
            PoolState::ConstantProduct(pair) => {
                let FeeRate { numerator, denominator } = pair.fee();
                let factory = factory("uniswap_v2")?;
                Some(Self::UniswapV2 { factory, fee: [numerator, denominator] })
            }
            PoolState::Concentrated(pool) => {
                let [token0, token1] = observation.contract_tokens() else { return None };
                Some(Self::UniswapV3 {
                    factory: factory("uniswap_v3")?,
                    tokens: [token0.address, token1.address],
                    fee_pips: pool.fee_pips(),
                    tick_spacing: pool.tick_spacing(),
                })
            }
            _ => None,
        }
    }
}

impl ClaimedState {
    fn from_observation(observation: &Observation, size: Option<(Direction, SizeUsd)>) -> Self {
        let state = observation.state();
        if let Some(pair) = ConstantProduct::from_state(state) {
            return Self::Reserves(Layout::UniswapV2, pair.reserves().map(U256::from));
        }
        if let Some(pair) = Solidly::from_state(state) {
            return Self::Reserves(Layout::AerodromeV2, pair.reserves());
        }
        let Some(ranges) = ranges_of(state) else {
            return Self::Other;
        };
        let fees = match state {
            PoolState::ConcentratedV4(pool) => Some(fees_of(pool)),
            _ => None,
        };
        Self::Ranges(ClaimedRanges {
            is_managed: fees.is_some(),
            price: price_of(ranges, fees.unwrap_or_default()),
            liquidity: ranges.liquidity(),
            tick_spacing: ranges.tick_spacing(),
            ticks: ranges.ticks().iter().map(|tick| (tick.tick, word_of(tick))).collect(),
            needed: compute_tick_range(observation, ranges, size),
        })
    }
}

impl ClaimedReading {
    fn from_reading(reading: &OracleReading) -> Self {
        let (feed, round, updated_at) = match &reading.source {
            OracleSource::Fixed => (None, 0, 0),
            OracleSource::Chainlink(round) => (Some(round.feed), round.round, round.updated_at),
        };
        let is_sequencer = reading.role == OracleRole::SequencerUptime;
        Self { is_sequencer, feed, round, answer: reading.answer, updated_at }
    }
}

/// √price, with the tick and the fees in the bits above it.
fn price_of(ranges: &Ranges, fees: [u8; 6]) -> Word {
    let mut word = bytes_of(ranges.sqrt_price_x96());
    word[9..12].copy_from_slice(&ranges.tick().to_be_bytes()[1..]);
    word[3..9].copy_from_slice(&fees);
    Word(word)
}

/// The fees of a Uniswap v4 pool as stored in its word: the providers' fee, then the protocol's fee for each direction.
fn fees_of(pool: &ConcentratedV4) -> [u8; 6] {
    let [zero, one] = pool.protocol_fee();
    let protocol = one << 12 | zero;
    let mut fees = [0; 6];
    fees[..3].copy_from_slice(&pool.lp_fee_pips().to_be_bytes()[1..]);
    fees[3..].copy_from_slice(&protocol.to_be_bytes()[1..]);
    fees
}

/// A tick's first storage word.
fn word_of(tick: &Tick) -> Word {
    let mut word = [0; 32];
    word[..16].copy_from_slice(&tick.liquidity_net.to_be_bytes());
    word[16..].copy_from_slice(&tick.liquidity_gross.to_be_bytes());
    Word(word)
}

/// A number as 32 bytes, most significant first.
fn bytes_of(number: U256) -> [u8; 32] {
    let mut bytes = [0; 32];
    for (place, limb) in bytes.rchunks_mut(8).zip(number.as_limbs()) {
        place.copy_from_slice(&limb.to_be_bytes());
    }
    bytes
}

/// The ticks that the depths at 2 % and a fill of `size` depend on, which a proof must cover; `None` for pools without
/// ticks.
pub fn needed_ticks(snapshot: &Snapshot, size: Option<(Direction, SizeUsd)>) -> Option<TickRange> {
    let observation = snapshot.observation();
    Some(compute_tick_range(observation, ranges_of(observation.state())?, size))
}

/// The ranges of a pool whose ticks have a known layout; `None` for other pools.
pub fn ranges_of(state: &PoolState) -> Option<&Ranges> {
    match state {
        PoolState::Concentrated(pool) => Some(pool.ranges()),
        PoolState::ConcentratedV4(pool) => Some(pool.ranges()),
        _ => None,
    }
}

fn compute_tick_range(
    observation: &Observation,
    ranges: &Ranges,
    size: Option<(Direction, SizeUsd)>,
) -> TickRange {
    let mut needed = TickRange { low: ranges.tick(), high: ranges.tick() };
    for direction in [Direction::ZeroForOne, Direction::OneForZero] {
        let exit = Exit::from_pool(observation, direction);
        let asked = size.filter(|(of, _)| *of == direction).map(|(_, size)| size);
        // Up to the first dollar above the depth, because the head also states that this dollar exceeds it.
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

/// The tick at which a sale leaves the price; `None` if the sale uses up all liquidity.
fn end_of(exit: &Exit, size: SizeUsd) -> Option<i32> {
    match exit.estimate(size).and_then(|estimate| exit.fill(estimate.amount_in)) {
        Ok(fill) => fill.sqrt_price_after_x96().map(tick_at_sqrt_ratio),
        Err(Refusal::NoInput | Refusal::NoOutput | Refusal::GapOutOfRange) => {
            exit.sqrt_price_after_one_unit().map(tick_at_sqrt_ratio)
        }
        Err(_) => None,
    }
}
