//! Pools as busy ones are from slot to slot, without a chain: the price wanders, the oracle
//! follows it, liquidity comes and goes. So depths vary as recorded ones do.

use std::collections::BTreeMap;

use alloy_primitives::U256;
use exitgap_core::ids::{Address, BlockHash, PoolId};
use exitgap_core::pools::{Concentrated, Direction, PoolState, Tick, sqrt_ratio_at_tick};
use exitgap_core::series::Slot;
use exitgap_core::snapshot::{
    BlockRef, ChainKind, ChainTag, Observation, OracleReading, OracleRole, OracleSource, RoundData,
    Snapshot, Symbol, Token,
};
use exitgap_store::NewEntry;
use exitgap_tests::devchain::Rng;

use crate::BenchError;

/// Positions per pool, half of its ticks: each end is a tick of its own.
pub const POSITIONS: i32 = 600;

const FEE_PIPS: u32 = 500;
const SPACING: i32 = 10;

/// Where the price begins: about 2,500 of token 1 for one of token 0.
const CENTRE: i32 = 78_240;

/// How far the price moves in a slot at most, in ticks of 0.01 %.
const STEP: u32 = 25;

/// How far the oracle lies from the pool at most, in millionths.
const BASIS: u32 = 1_500;

/// How many positions change size in a slot.
const CHANGES: u32 = 3;

/// A pool of 1,200 initialised ticks and its market.
pub struct BusyPool {
    /// Its name.
    pub id: PoolId,
    rng: Rng,
    tick: i32,
    /// The liquidity of the position from `CENTRE - SPACING * n` to `CENTRE + SPACING * n`.
    positions: Vec<u128>,
    round: u128,
}

impl BusyPool {
    /// The pool of this number; the same number has the same market.
    pub fn new(number: u16) -> Self {
        Self::of("anvil", number, POSITIONS)
    }

    /// The pool of this number on a chain, with so many positions.
    pub fn of(chain: &str, number: u16, positions: i32) -> Self {
        let mut rng = Rng::new(number.into());
        let positions = (0..positions).map(|_| liquidity(&mut rng)).collect();
        let mut address = [0xaa; 20];
        address[18..].copy_from_slice(&number.to_be_bytes());
        let chain = chain.parse().expect("it is a slug");
        let id = PoolId::new(chain, Address(address));
        Self { id, rng, tick: CENTRE, positions, round: 18_446_744_073_709_551_616 }
    }

    /// An entry with the pool's snapshot at `slot`, one slot after the last.
    pub fn recorded(&mut self, slot: Slot) -> Result<NewEntry, BenchError> {
        let snapshot = self.snapshot(slot);
        let reading = Ok(snapshot.map_err(|error| BenchError::Evidence(error.to_string()))?);
        Ok(NewEntry { pool: self.id.clone(), default_base: Direction::ZeroForOne, reading })
    }

    fn snapshot(&mut self, slot: Slot) -> Result<Snapshot, Box<dyn std::error::Error>> {
        let reach = i32::try_from(self.positions.len())? * SPACING - 1;
        let step = i32::try_from(self.rng.bell(STEP))?;
        self.tick = (self.tick + step).clamp(CENTRE - reach, CENTRE + reach);
        for _ in 0..CHANGES {
            let changed = usize::try_from(self.rng.below(self.positions.len() as u64))?;
            self.positions[changed] = liquidity(&mut self.rng);
        }
        self.round += 1;
        let timestamp = slot.unix_s() - self.rng.below(12);
        let state = self.state()?;
        let oracles = self.oracles(state.sqrt_price_x96(), timestamp);
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
            PoolState::Concentrated(state),
            oracles.into(),
            Vec::new(),
        )?;
        Ok(Snapshot::new(slot, observation)?)
    }

    fn state(&mut self) -> Result<Concentrated, Box<dyn std::error::Error>> {
        let mut nets: BTreeMap<i32, i128> = BTreeMap::new();
        let mut active = 0;
        for (n, &liquidity) in (1..).zip(&self.positions) {
            let (lower, upper) = (CENTRE - n * SPACING, CENTRE + n * SPACING);
            *nets.entry(lower).or_default() += liquidity.cast_signed();
            *nets.entry(upper).or_default() -= liquidity.cast_signed();
            if (lower..upper).contains(&self.tick) {
                active += liquidity;
            }
        }
        let ticks =
            nets.into_iter().map(|(tick, liquidity_net)| Tick::new(tick, liquidity_net)).collect();
        let price = |tick| sqrt_ratio_at_tick(tick).ok_or("no price at this tick");
        let (below, above) = (price(self.tick)?, price(self.tick + 1)?);
        let within = (above - below) / U256::from(1_000) * U256::from(self.rng.below(1_000));
        Ok(Concentrated::new(below + within, self.tick, active, FEE_PIPS, SPACING, ticks)?)
    }

    /// Two feeds of eight decimals: the pool's price and a little, and about a dollar.
    fn oracles(&mut self, sqrt_price_x96: U256, timestamp: u64) -> [OracleReading; 2] {
        let price: U256 = (sqrt_price_x96 >> 32) * (sqrt_price_x96 >> 32);
        let answer: U256 = (price * U256::from(100_000_000)) >> 128;
        let near = |rng: &mut Rng, answer: U256, by: u32| {
            let millionths = 1_000_000 + rng.bell(by);
            answer * U256::from(millionths.unsigned_abs()) / U256::from(1_000_000)
        };
        let answers = [
            (OracleRole::Token0Usd, near(&mut self.rng, answer, BASIS)),
            (OracleRole::Token1Usd, near(&mut self.rng, U256::from(100_000_000), 200)),
        ];
        answers.map(|(role, answer)| {
            let source = OracleSource::Chainlink(RoundData {
                feed: Address([if role == OracleRole::Token0Usd { 7 } else { 8 }; 20]),
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

/// What one position adds: together some millions of dollars of depth, in unpredictable digits.
fn liquidity(rng: &mut Rng) -> u128 {
    u128::from(rng.next_u64()) * u128::from(rng.between(100, 2_000))
}
