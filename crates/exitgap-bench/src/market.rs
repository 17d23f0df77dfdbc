//! Simulates busy pools from slot to slot, without a chain: the price moves, the oracle follows it, liquidity changes.
//! So depths vary as recorded ones do.

use std::collections::{BTreeMap, BTreeSet};

use alloy_primitives::U256;
use exitgap_core::ids::{Address, BlockHash, PoolId};
use exitgap_core::pools::{
    Concentrated, ConstantProduct, Direction, FeeRate, PoolState, Tick, sqrt_ratio_at_tick,
};
use exitgap_core::series::Slot;
use exitgap_core::snapshot::{
    BlockRef, ChainKind, ChainTag, Observation, OracleReading, OracleRole, OracleSource, RoundData,
    Snapshot, Symbol, Token,
};
use exitgap_store::NewEntry;
use exitgap_tests::devchain::Rng;

use crate::BenchError;

/// Number of positions per pool, half the number of its ticks: each end is a separate tick.
pub const POSITIONS: i32 = 600;

const FEE_PIPS: u32 = 500;
const SPACING: i32 = 10;

/// The initial price: about 2,500 of token 1 for one of token 0.
const CENTRE: i32 = 78_240;

/// The maximum price move per slot, in ticks of 0.01%.
const STEP: u32 = 25;

/// The maximum distance between the oracle and the pool, in millionths.
const BASIS: u32 = 1_500;

/// Number of positions that change size in a slot.
const CHANGES: u32 = 3;

/// Number of initialised ticks in a busy real pool, and in an ordinary one.
pub const BUSY_TICKS: usize = 1_200;
pub const QUIET_TICKS: usize = 280;

/// The maximum price move of a real pool per slot, in ticks of 0.01%.
const REAL_STEP: u32 = 12;

/// The widths of positions, in hundredths of a percent to either side: round numbers, narrow ones more often.
const WIDTHS: [i32; 10] = [100, 100, 200, 200, 500, 500, 1_000, 2_000, 5_000, 10_000];

/// The values of positions, in dollars.
const WORTH: [u64; 8] = [500, 1_000, 2_000, 5_000, 10_000, 25_000, 100_000, 500_000];

/// The fee of a pair.
const PAIR_FEE: FeeRate = FeeRate { numerator: 3, denominator: 1_000 };

/// How a pool's liquidity is distributed, and how it changes from slot to slot.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// Positions change size randomly in every slot.
    Random,
    /// Positions are opened and closed as in real pools.
    Real,
    /// Two reserves: a constant product.
    Pair,
}

/// A pool and its market.
pub struct BusyPool {
    /// Its id.
    pub id: PoolId,
    rng: Rng,
    tick: i32,
    /// Lower tick, upper tick, liquidity.
    positions: Vec<(i32, i32, u128)>,
    kind: Kind,
    round: u128,
}

impl BusyPool {
    /// The pool with this number; the same number always has the same market.
    pub fn new(number: u16) -> Self {
        Self::of("anvil", number, POSITIONS)
    }

    /// The pool with this number on a chain, with this many positions.
    pub fn of(chain: &str, number: u16, positions: i32) -> Self {
        let mut rng = Rng::new(number.into());
        let positions = (1..=positions).map(|n| {
            let reach = n * SPACING;
            (CENTRE - reach, CENTRE + reach, liquidity(&mut rng))
        });
        let positions = positions.collect();
        Self::with(chain, number, rng, positions, Kind::Random)
    }

    /// A pool like real ones: positions of round widths around the price at which they were opened, each with a round
    /// value, until `ticks` ticks are initialised. Between slots the price moves a little, and occasionally a position
    /// is opened or closed.
    pub fn real(number: u16, ticks: usize) -> Self {
        let mut rng = Rng::new(u64::from(number) + (1 << 32));
        let (mut positions, mut initialised) = (Vec::new(), BTreeSet::new());
        while initialised.len() < ticks {
            let opened = CENTRE + i32::try_from(rng.bell(3_000)).unwrap_or(0);
            let position = position(&mut rng, opened);
            initialised.extend([position.0, position.1]);
            positions.push(position);
        }
        Self::with("anvil", number, rng, positions, Kind::Real)
    }

    /// A pool of two reserves, worth some hundred thousand to some million dollars.
    pub fn pair(number: u16) -> Self {
        let mut rng = Rng::new(u64::from(number) + (1 << 33));
        let liquidity = u128::from(rng.between(2_000, 20_000)) * 10_u128.pow(18);
        let all = vec![(i32::MIN, i32::MAX, liquidity)];
        Self::with("anvil", number, rng, all, Kind::Pair)
    }

    fn with(
        chain: &str,
        number: u16,
        rng: Rng,
        positions: Vec<(i32, i32, u128)>,
        kind: Kind,
    ) -> Self {
        let mut address = [0xaa; 20];
        address[18..].copy_from_slice(&number.to_be_bytes());
        let chain = chain.parse().expect("it is a slug");
        let id = PoolId::new(chain, Address(address));
        Self { id, rng, tick: CENTRE, positions, kind, round: 18_446_744_073_709_551_616 }
    }

    /// An entry with the pool's snapshot at `slot`, one slot after the last.
    pub fn recorded(&mut self, slot: Slot) -> Result<NewEntry, BenchError> {
        let snapshot = self.snapshot(slot);
        let reading = Ok(snapshot.map_err(|error| BenchError::Evidence(error.to_string()))?);
        Ok(NewEntry { pool: self.id.clone(), default_base: Direction::ZeroForOne, reading })
    }

    fn snapshot(&mut self, slot: Slot) -> Result<Snapshot, Box<dyn std::error::Error>> {
        let (most, reach) = match self.kind {
            Kind::Random => (STEP, i32::try_from(self.positions.len())? * SPACING - 1),
            Kind::Real | Kind::Pair => (REAL_STEP, 2_000),
        };
        let step = i32::try_from(self.rng.bell(most))?;
        self.tick = (self.tick + step).clamp(CENTRE - reach, CENTRE + reach);
        self.change()?;
        self.round += 1;
        let timestamp = slot.unix_s() - self.rng.below(12);
        let sqrt_price_x96 = self.sqrt_price_x96()?;
        let state = self.state(sqrt_price_x96)?;
        let oracles = self.oracles(sqrt_price_x96, timestamp);
        let token = |last, symbol| Token {
            address: Address([last; 20]),
            decimals: 18,
            symbol: Symbol::clean(symbol),
        };
        let observation = Observation::new(
            self.id.clone(),
            ChainTag { caip2: "eip155:31337".parse()?, kind: ChainKind::Preview },
            BlockRef { hash: self.block_hash(), number: timestamp / 12, timestamp },
            [token(1, "WETH"), token(2, "USD")],
            state,
            oracles.into(),
            Vec::new(),
        )?;
        Ok(Snapshot::new(slot, observation)?)
    }

    /// Changes some of the deposits.
    fn change(&mut self) -> Result<(), Box<dyn std::error::Error>> {
        let changes = match self.kind {
            Kind::Random => CHANGES,
            Kind::Real => u32::try_from(self.rng.below(2))?,
            Kind::Pair => 0,
        };
        for _ in 0..changes {
            let changed = usize::try_from(self.rng.below(self.positions.len() as u64))?;
            if self.kind == Kind::Real {
                // One position is closed, another opened at the current price.
                self.positions[changed] = position(&mut self.rng, self.tick);
            } else {
                self.positions[changed].2 = liquidity(&mut self.rng);
            }
        }
        Ok(())
    }

    /// A price within the current tick.
    fn sqrt_price_x96(&mut self) -> Result<U256, Box<dyn std::error::Error>> {
        let price = |tick| sqrt_ratio_at_tick(tick).ok_or("no price at this tick");
        let (below, above) = (price(self.tick)?, price(self.tick + 1)?);
        Ok(below + (above - below) / U256::from(1_000) * U256::from(self.rng.below(1_000)))
    }

    fn state(&self, sqrt_price_x96: U256) -> Result<PoolState, Box<dyn std::error::Error>> {
        if self.kind == Kind::Pair {
            let liquidity = U256::from(self.positions[0].2);
            let reserves: [U256; 2] =
                [(liquidity << 96) / sqrt_price_x96, (liquidity * sqrt_price_x96) >> 96];
            let pair = ConstantProduct::new(reserves.map(|reserve| reserve.to()), PAIR_FEE)?;
            return Ok(PoolState::ConstantProduct(pair));
        }
        let mut nets: BTreeMap<i32, i128> = BTreeMap::new();
        let mut active = 0;
        for &(lower, upper, liquidity) in &self.positions {
            *nets.entry(lower).or_default() += liquidity.cast_signed();
            *nets.entry(upper).or_default() -= liquidity.cast_signed();
            if (lower..upper).contains(&self.tick) {
                active += liquidity;
            }
        }
        // If equal amounts begin and end at a tick, it stays initialised on chain; it is left out here.
        let ticks = nets.into_iter().filter(|(_, net)| *net != 0);
        let ticks = ticks.map(|(tick, net)| Tick::new(tick, net)).collect();
        let pool = Concentrated::new(sqrt_price_x96, self.tick, active, FEE_PIPS, SPACING, ticks)?;
        Ok(PoolState::Concentrated(pool))
    }

    /// Two feeds with eight decimals: the pool's price plus a small difference, and about a dollar.
    fn oracles(&mut self, sqrt_price_x96: U256, timestamp: u64) -> [OracleReading; 2] {
        let price: U256 = (sqrt_price_x96 >> 32) * (sqrt_price_x96 >> 32);
        let answer: U256 = (price * U256::from(100_000_000)) >> 128;
        let near = |rng: &mut Rng, answer: U256, by: u32| {
            let millionths = 1_000_000 + rng.bell(by);
            answer * U256::from(millionths.unsigned_abs()) / U256::from(1_000_000)
        };
        let answers = [
            (OracleRole::TokenUsd(0), near(&mut self.rng, answer, BASIS)),
            (OracleRole::TokenUsd(1), near(&mut self.rng, U256::from(100_000_000), 200)),
        ];
        answers.map(|(role, answer)| {
            let source = OracleSource::Chainlink(RoundData {
                feed: Address([if role == OracleRole::TokenUsd(0) { 7 } else { 8 }; 20]),
                round: self.round,
                updated_at: timestamp - self.rng.below(1_200),
                heartbeat_s: 3_600,
            });
            OracleReading { role, answer, decimals: 8, source }
        })
    }

    fn block_hash(&mut self) -> BlockHash {
        let mut hash = [0; 32];
        for part in hash.chunks_exact_mut(8) {
            part.copy_from_slice(&self.rng.next_u64().to_be_bytes());
        }
        BlockHash(hash)
    }
}

/// A position of a round width and value, opened at this tick. Its liquidity follows from both, as a contract computes
/// it: the value in units of 10^-18 dollars over twice the width, so that its digits look arbitrary and its size is
/// realistic.
fn position(rng: &mut Rng, at: i32) -> (i32, i32, u128) {
    let pick = |rng: &mut Rng, of: usize| usize::try_from(rng.below(of as u64)).unwrap_or(0);
    let width = WIDTHS[pick(rng, WIDTHS.len())];
    let worth = WORTH[pick(rng, WORTH.len())] * rng.between(1, 3);
    let lower = (at - width).div_euclid(SPACING) * SPACING;
    let upper = (at + width).div_euclid(SPACING) * SPACING;
    // Half of the value lies below the price: liquidity is about worth / (2 sqrt(price) (1 - r)), where r is the square
    // root of the ratio of the lower price to the price, and sqrt(price) is 50.
    let within = u128::from((at - lower).unsigned_abs()) + 1;
    let liquidity = u128::from(worth) * 10_u128.pow(18) * 20_000 / (100 * within);
    (lower, upper, liquidity + u128::from(rng.below(1_000_000_000)))
}

/// The liquidity of one position: together some millions of dollars of depth, with arbitrary digits.
fn liquidity(rng: &mut Rng) -> u128 {
    u128::from(rng.next_u64()) * u128::from(rng.between(100, 2_000))
}
