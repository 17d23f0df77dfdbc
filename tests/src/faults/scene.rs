//! Snapshots that change from slot to slot like those of a busy pool, without a chain: for tests and faults of the
//! store alone.

use std::collections::BTreeMap;

use exitgap_core::U256;
use exitgap_core::analytics::accuracy::{Fills, IssuedReceipts, PoolEvent, PoolLog, SwapAmounts};
use exitgap_core::ids::{Address, BlockHash, PoolId, Word};
use exitgap_core::pools::{Concentrated, Direction, MAX_TICK, PoolState, Tick, sqrt_ratio_at_tick};
use exitgap_core::series::{MissingReason, Slot};
use exitgap_core::snapshot::{
    BlockRef, ChainKind, ChainTag, Observation, OracleReading, OracleRole, OracleSource, RoundData,
    Snapshot, Symbol, Token,
};
use exitgap_core::tlog::SignerKey;
use exitgap_store::{NewEntry, NewFills};

use crate::devchain::Rng;

const SPACING: i32 = 10;

/// A concentrated pool and its market. The same seed gives the same snapshots.
#[derive(Debug, Clone)]
pub struct BusyPool {
    /// Its id.
    pub id: PoolId,
    /// The decimals of both tokens: with fewer decimals, more sizes round down to the same amount.
    pub decimals: u8,
    /// Its tokens' symbols.
    pub symbols: [&'static str; 2],
    number: u8,
    rng: Rng,
    spacing: i32,
    tick: i32,
    /// Lower tick, upper tick and liquidity.
    positions: Vec<(i32, i32, u128)>,
    round: u128,
}

impl BusyPool {
    /// A pool of `positions` positions, each with two ticks of its own.
    pub fn new(number: u8, positions: i32) -> Self {
        let mut rng = Rng::new(number.into());
        let positions =
            (1..=positions).map(|n| (-n * SPACING, n * SPACING, liquidity(&mut rng))).collect();
        Self::with(number, rng, SPACING, positions)
    }

    /// A pool with one position over the whole price range, and tick spacing 1: it has two ticks, and the contract's
    /// loop makes some 6,930 steps between them.
    pub fn full_range(number: u8) -> Self {
        let rng = Rng::new(number.into());
        Self::with(number, rng, 1, vec![(-MAX_TICK, MAX_TICK, 1 << 90)])
    }

    fn with(number: u8, rng: Rng, spacing: i32, positions: Vec<(i32, i32, u128)>) -> Self {
        let id = format!("anvil:0x{:040x}", u64::from(number) + 0xaa00);
        let id = id.parse().expect("a pool id");
        let (decimals, symbols) = (12, ["ONE", "TWO"]);
        Self { id, decimals, symbols, number, rng, spacing, tick: 0, positions, round: 1 << 65 }
    }

    /// Its logs in a range of blocks: a swap in the last of them.
    pub fn fills(&self, [after_block, to_block]: [u64; 2]) -> NewFills {
        let sold = [U256::from(5_u8), U256::ZERO];
        let bought = [U256::ZERO, U256::from(4_u8)];
        let log = PoolLog {
            block: to_block,
            index: 3,
            transaction: [self.number; 32],
            parties: [Address([8; 20]); 2],
            event: PoolEvent::Swap(SwapAmounts { sold, bought }, None),
        };
        let (contract, logs) = (self.id.contract().clone(), vec![log]);
        let fills = Fills { contract, after_block, to_block, logs };
        NewFills { pool: self.id.clone(), fills }
    }

    /// Receipts of its estimates, each a repeated byte.
    pub fn issued(&self, receipts: &[u8]) -> IssuedReceipts {
        let receipts = receipts.iter().map(|byte| Word([*byte; 32])).collect();
        IssuedReceipts { pool: self.id.clone(), receipts }
    }

    /// The same pool with its randomness derived from `slot`: the snapshot of a slot is always the same, whatever was
    /// requested before.
    #[must_use]
    pub fn at(mut self, slot: Slot) -> Self {
        self.rng = Rng::new((u64::from(slot.number()) << 8) | u64::from(self.number));
        self
    }

    /// The pool at `slot`: since the last call the price has moved, two positions have changed size, and both feeds
    /// have new answers.
    pub fn snapshot(&mut self, slot: Slot) -> Snapshot {
        let limit = self.positions.last().map_or(1, |(_, upper, _)| *upper);
        let step = i32::try_from(self.rng.bell(30)).unwrap();
        self.tick = (self.tick + step).clamp(1 - limit, limit - 1);
        for _ in 0..2 {
            let changed = self.rng.below(self.positions.len() as u64);
            self.positions[usize::try_from(changed).unwrap()].2 = liquidity(&mut self.rng);
        }
        self.round += 1;
        let timestamp = slot.unix_s() - self.rng.below(12);
        let (decimals, [one, two]) = (self.decimals, self.symbols);
        let token = |last, symbol| Token {
            address: Address([last; 20]),
            decimals,
            symbol: Symbol::clean(symbol),
        };
        let feeds = [(OracleRole::TokenUsd(0), 7), (OracleRole::TokenUsd(1), 8)]
            .map(|(role, feed)| self.reading(role, feed, timestamp));
        let observation = Observation::new(
            self.id.clone(),
            ChainTag { caip2: "eip155:31337".parse().unwrap(), kind: ChainKind::Preview },
            BlockRef { hash: self.block_hash(), number: timestamp / 12, timestamp },
            [token(1, one), token(2, two)],
            PoolState::Concentrated(self.state()),
            feeds.into(),
            Vec::new(),
        );
        Snapshot::new(slot, observation.unwrap()).unwrap()
    }

    /// An entry with the pool's snapshot.
    pub fn recorded(&mut self, slot: Slot) -> NewEntry {
        let reading = Ok(self.snapshot(slot));
        NewEntry { pool: self.id.clone(), default_base: Direction::ZeroForOne, reading }
    }

    /// An entry without a snapshot.
    pub fn missing(&self, reason: MissingReason) -> NewEntry {
        let reading = Err(reason);
        NewEntry { pool: self.id.clone(), default_base: Direction::ZeroForOne, reading }
    }

    fn state(&mut self) -> Concentrated {
        let mut nets: BTreeMap<i32, i128> = BTreeMap::new();
        let mut active = 0;
        for &(lower, upper, liquidity) in &self.positions {
            *nets.entry(lower).or_default() += liquidity.cast_signed();
            *nets.entry(upper).or_default() -= liquidity.cast_signed();
            if (lower..upper).contains(&self.tick) {
                active += liquidity;
            }
        }
        let ticks =
            nets.into_iter().map(|(tick, liquidity_net)| Tick::new(tick, liquidity_net)).collect();
        let above = sqrt_ratio_at_tick(self.tick + 1).unwrap();
        let below = sqrt_ratio_at_tick(self.tick).unwrap();
        let within = (above - below) / U256::from(1000) * U256::from(self.rng.below(1000));
        Concentrated::new(below + within, self.tick, active, 500, self.spacing, ticks).unwrap()
    }

    fn reading(&mut self, role: OracleRole, feed: u8, timestamp: u64) -> OracleReading {
        let source = OracleSource::Chainlink(RoundData {
            feed: Address([feed; 20]),
            round: self.round,
            updated_at: timestamp - self.rng.below(600),
            heartbeat_s: 3_600,
        });
        let answer = U256::from(250_000_000_000 + self.rng.below(1_000_000_000));
        OracleReading { role, answer, decimals: 8, source }
    }

    fn block_hash(&mut self) -> BlockHash {
        let mut hash = [0; 32];
        for part in hash.chunks_exact_mut(8) {
            part.copy_from_slice(&self.rng.next_u64().to_be_bytes());
        }
        BlockHash(hash)
    }
}

/// A liquidity of 18 to 20 random digits.
fn liquidity(rng: &mut Rng) -> u128 {
    u128::from(rng.next_u64()) + 1_000_000_000
}

/// A throwaway key, always the same.
pub fn key() -> SignerKey {
    SignerKey::from_seed("exitgap.example/test", [7; 32]).unwrap()
}

/// Slot `n` of the series, counted from its first.
pub fn slot(n: u32) -> Slot {
    Slot::new(u64::from(Slot::FIRST.number() + n)).unwrap()
}

/// The harness's recording at slot `n`: of `pools` pools with `positions` positions each, the last one begins at slot
/// 4, and the first is missing in every fifth slot.
#[derive(Debug, Clone, Copy)]
pub struct Scene {
    /// Number of pools.
    pub pools: u8,
    /// Number of positions per pool, each with two ticks of its own.
    pub positions: i32,
}

impl Scene {
    /// The entries of slot `n`: always the same.
    pub fn entries(self, n: u32) -> Vec<NewEntry> {
        let known = if n < 4 { self.pools.saturating_sub(1).max(1) } else { self.pools };
        let entry = |number| {
            let pool = BusyPool::new(number, self.positions).at(slot(n));
            if number == 0 && n % 5 == 3 {
                return pool.missing(MissingReason::ChainLagging);
            }
            let mut pool = pool;
            pool.recorded(slot(n))
        };
        (0..known).map(entry).collect()
    }
}
