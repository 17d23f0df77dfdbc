//! The market script: the events on a [`World`] in each five minutes, from a seed.
//!
//! Hidden prices follow a random walk, with one sharp fall two thirds through each day. Within a slot, traders of
//! various sizes move the pools, liquidity is added and removed (removed mostly after the fall), feeds are renewed when
//! they deviate or are old, and arbitrage moves every pool back to within its fee of the price. All arithmetic is on
//! integers, so a seed gives the same result everywhere.

use alloy::eips::BlockId;
use alloy::primitives::{Address, U256, U512};

use super::root::square_root;
use super::world::{in_order, tick_spacing};
use super::{
    DevChain, DevChainError, FIRST_SLOT, Head, Mined, MintedPosition, PoolKind, PoolReading,
    PositionSpec, Result, Rng, SLOT_SECONDS, SLOTS_PER_DAY, Tx, Venues, Visits, World, WorldPool,
};

/// Hidden prices have this many more decimals than the feeds' answers, so that small moves add up.
const HIDDEN_SCALE: u128 = 10_000;

/// The slots of a day in which prices fall sharply.
const FALL: std::ops::Range<u64> = 192..195;

/// The slots of a day in which liquidity is removed after the fall, and those in which it returns.
const FLIGHT: std::ops::Range<u64> = 193..208;
const RETURN: std::ops::Range<u64> = 232..280;

/// A feed is renewed when it deviates from the price by this many millionths …
const DEVIATION_PPM: u128 = 5000;

/// … or this many seconds before its heartbeat would pass.
const RENEW_BEFORE_SECONDS: u64 = 900;

/// The result of a slot.
#[derive(Debug, Clone)]
pub struct PlayedSlot {
    /// The slot.
    pub slot: u64,
    /// The last block with a timestamp at or before the slot's instant: the one to record.
    pub last_block: Head,
    /// The block after it, which moves the pools again.
    pub later_block: Head,
    /// Number of transactions in the slot's three blocks.
    pub transactions: usize,
}

/// Simulates slots on a world. One world has one market.
#[derive(Debug)]
pub struct Market<'a> {
    chain: &'a DevChain,
    world: &'a World,
    rng: Rng,
    /// Hidden USD price per asset, with the feeds' decimals and [`HIDDEN_SCALE`].
    prices: Vec<u128>,
    feeds: Vec<FeedState>,
    /// Positions with remaining liquidity, with the index of their pool.
    positions: Vec<(usize, MintedPosition)>,
    /// Initial number of positions in the world. The number never exceeds it: the node hashes its whole state for every
    /// block, so a growing state would slow each day down.
    usual_positions: usize,
    /// Additional venues for trades.
    visited: Option<(&'a Venues, Visits)>,
}

/// The last answer that the market submitted to a feed.
#[derive(Debug, Clone, Copy)]
struct FeedState {
    round: u64,
    answer: u128,
    updated_at: u64,
}

/// The liquidity changes in the first block of a slot, applied here once it is mined.
#[derive(Debug, Default)]
struct LiquidityPlan {
    /// Indices into [`Market::positions`], with the liquidity to remove from each.
    burns: Vec<(usize, u128)>,
    /// A pool index, and the position to mint there.
    mint: Option<(usize, PositionSpec)>,
}

impl<'a> Market<'a> {
    /// A market on `world`, whose feeds may already have answers.
    pub async fn new(chain: &'a DevChain, world: &'a World, seed: u64) -> Result<Self> {
        let now = chain.head().await?.timestamp;
        let mut feeds = Vec::new();
        for asset in &world.assets {
            feeds.push(FeedState {
                round: chain.latest_round(&asset.feed).await?,
                answer: asset.initial_answer,
                updated_at: now,
            });
        }
        let prices = world.assets.iter().map(|asset| asset.initial_answer * HIDDEN_SCALE).collect();
        let positions: Vec<(usize, MintedPosition)> = world
            .pools
            .iter()
            .enumerate()
            .flat_map(|(index, pool)| pool.positions.iter().map(move |one| (index, *one)))
            .collect();
        Ok(Self {
            chain,
            world,
            rng: Rng::new(seed),
            prices,
            feeds,
            usual_positions: positions.len(),
            positions,
            visited: None,
        })
    }

    /// The same, with trades at these venues too. This does not change what happens elsewhere.
    #[must_use]
    pub fn visiting(self, venues: &'a Venues, seed: u64) -> Self {
        Self { visited: Some((venues, Visits::new(seed))), ..self }
    }

    /// The hidden USD price of an asset, as a feed with perfect knowledge would answer.
    pub fn hidden_answer(&self, asset: usize) -> u128 {
        self.prices[asset] / HIDDEN_SCALE
    }

    /// Simulates everything up to the slot's instant, and one block after it.
    ///
    /// Slots must be simulated in ascending order (gaps are allowed); the newest block must be at least 240 seconds
    /// before the instant, which is always true for consecutive slots.
    pub async fn play_slot(&mut self, slot: u64) -> Result<PlayedSlot> {
        let instant = slot * SLOT_SECONDS;
        let first = instant - 150 - self.rng.below(60);
        let last = instant - self.rng.below(12);
        let head = self.chain.head().await?;
        if head.timestamp >= first {
            return Err(DevChainError::Unexpected {
                what: format!("slot {slot}"),
                reason: format!(
                    "the chain is at {} already, the slot would begin at {first}",
                    head.timestamp
                ),
            });
        }
        let day_slot = (slot.saturating_sub(FIRST_SLOT)) % SLOTS_PER_DAY;
        let mut txs = self.feed_txs(first);
        self.move_prices(day_slot);
        txs.extend(self.trades());
        let plan = self.plan_liquidity(day_slot).await?;
        let liquidity_at = txs.len();
        txs.extend(self.liquidity_txs(&plan));
        txs.extend(self.v2_liquidity(day_slot).await?);
        if let Some((venues, mut visits)) = self.visited.take() {
            let units = |asset, usd| self.units(asset, usd);
            txs.extend(venues.trades(self.chain, &mut visits, units).await?);
            self.visited = Some((venues, visits));
        }
        let mined = self.chain.mine(first, &txs).await?;
        self.take_over(&plan, &mined, liquidity_at)?;

        let arbitrage = self.arbitrage().await?;
        let recorded = self.chain.mine(last, &arbitrage).await?;
        let after = [self.trade()];
        let later = self.chain.mine(last + 12, &after).await?;
        Ok(PlayedSlot {
            slot,
            last_block: head_of(&recorded),
            later_block: head_of(&later),
            transactions: txs.len() + arbitrage.len() + after.len(),
        })
    }

    /// The answers for feeds that deviate or are old, with the price before this slot's move.
    fn feed_txs(&mut self, timestamp: u64) -> Vec<Tx> {
        let mut txs = Vec::new();
        for (index, asset) in self.world.assets.iter().enumerate() {
            let price = self.hidden_answer(index);
            let state = &mut self.feeds[index];
            let off = price.abs_diff(state.answer) * 1_000_000 > state.answer * DEVIATION_PPM;
            let age = timestamp.saturating_sub(state.updated_at);
            if off || age + RENEW_BEFORE_SECONDS > asset.heartbeat {
                *state = FeedState { round: state.round + 1, answer: price, updated_at: timestamp };
                let answer = price.cast_signed();
                txs.push(self.chain.answer_tx(&asset.feed, state.round, answer));
            }
        }
        txs
    }

    /// One step of the hidden prices.
    fn move_prices(&mut self, day_slot: u64) {
        for (index, price) in self.prices.iter_mut().enumerate() {
            let initial = self.world.assets[index].initial_answer * HIDDEN_SCALE;
            let (amplitude_ppm, fall_ppm) = match index {
                World::WETH => (4500, 60_000),
                World::WBTC => (3500, 50_000),
                World::ALT => (9000, 110_000),
                _ => (120, 0),
            };
            let mut change = self.rng.bell(amplitude_ppm);
            if FALL.contains(&day_slot) {
                change -= fall_ppm;
            }
            if fall_ppm == 0 {
                // Stable assets drift back to their initial price.
                *price = (*price * 9 + initial) / 10;
            } else if !(FALL.start..RETURN.start).contains(&day_slot) {
                // The others do so slowly, so that a week of falls does not end near zero.
                *price = (*price * 299 + initial) / 300;
            }
            let factor = (1_000_000 + change).max(1).unsigned_abs();
            *price = *price * u128::from(factor) / 1_000_000;
        }
    }

    /// A few trades of mixed sizes.
    fn trades(&mut self) -> Vec<Tx> {
        let count = self.rng.between(2, 5);
        (0..count).map(|_| self.trade()).collect()
    }

    /// One trade: most are small relative to the pool, a few are not.
    fn trade(&mut self) -> Tx {
        const SHARE_PPM: [u64; 8] = [50, 300, 1000, 3000, 10_000, 30_000, 100_000, 300_000];
        let which = self.rng.below(self.world.pools.len() as u64);
        let pool = &self.world.pools[usize::try_from(which).unwrap_or(0)];
        let share = SHARE_PPM[usize::try_from(self.rng.below(8)).unwrap_or(0)];
        let usd = (pool.scale_usd * share * self.rng.between(1, 3) / 1_000_000).max(1);
        let asset = if self.rng.once_in(2) { pool.base } else { pool.quote };
        let token = self.world.assets[asset].token.address;
        self.chain.swap_tx(&pool.pool, token, self.units(asset, usd))
    }

    /// How many base units `usd` whole dollars buy at the hidden price.
    fn units(&self, asset: usize, usd: u64) -> U256 {
        let scale = U256::from(10).pow(U256::from(super::FEED_DECIMALS));
        self.world.assets[asset].token.units(1) * U256::from(usd) * scale
            / U256::from(self.hidden_answer(asset).max(1))
    }

    /// Decides which positions shrink and what is minted.
    async fn plan_liquidity(&mut self, day_slot: u64) -> Result<LiquidityPlan> {
        let mut plan = LiquidityPlan::default();
        let crowded = self.positions.len() > self.usual_positions;
        let leaving =
            if FLIGHT.contains(&day_slot) { 6 } else { u64::from(crowded || self.rng.once_in(4)) };
        for _ in 0..leaving.min(self.positions.len() as u64) {
            let index = usize::try_from(self.rng.below(self.positions.len() as u64)).unwrap_or(0);
            let quarters = if crowded { 4 } else { self.rng.between(1, 4) };
            let (pool, position) = self.positions[index];
            // The thin pool keeps some liquidity, and each position occurs at most once.
            if plan.burns.iter().any(|(taken, _)| *taken == index)
                || (pool == World::THIN && quarters == 4)
            {
                continue;
            }
            let amount = match quarters {
                4 => position.liquidity,
                part => position.liquidity / 4 * u128::from(part),
            };
            if amount > 0 {
                plan.burns.push((index, amount));
            }
        }
        let arriving = if RETURN.contains(&day_slot) {
            true
        } else {
            !FLIGHT.contains(&day_slot) && self.rng.once_in(4)
        };
        if arriving {
            plan.mint = self.new_position().await?;
        }
        Ok(plan)
    }

    /// A new position around the current price of a v3 pool.
    async fn new_position(&mut self) -> Result<Option<(usize, PositionSpec)>> {
        let index = usize::try_from(self.rng.below(World::FIRST_V2 as u64)).unwrap_or(0);
        let pool = &self.world.pools[index];
        let reading = self.chain.read_pools(&[pool.pool], BlockId::latest()).await?;
        let Some(PoolReading::V3 { tick, .. }) = reading.first().copied() else {
            return Ok(None);
        };
        let spacing = tick_spacing(pool.pool.fee);
        let half = i32::try_from(self.rng.between(3, 400)).unwrap_or(3);
        let middle = tick.div_euclid(spacing) + i32::try_from(self.rng.bell(30)).unwrap_or(0);
        // After an extreme fill the price may be near the contract's limit, where no one provides liquidity.
        if middle.abs() + half > 880_000 / spacing {
            return Ok(None);
        }
        let usd = pool.scale_usd * self.rng.between(1, 10) / 5;
        let (zero, one) = if pool.pool.token0 == self.world.assets[pool.base].token.address {
            (pool.base, pool.quote)
        } else {
            (pool.quote, pool.base)
        };
        let position = PositionSpec {
            tick_lower: (middle - half) * spacing,
            tick_upper: (middle + half) * spacing,
            amount0: self.units(zero, usd),
            amount1: self.units(one, usd),
        };
        Ok(Some((index, position)))
    }

    fn liquidity_txs(&self, plan: &LiquidityPlan) -> Vec<Tx> {
        let mint = plan.mint.iter().map(|(pool, position)| {
            self.chain.mint_tx(&[(self.world.pools[*pool].pool, *position)])
        });
        let burns = plan
            .burns
            .iter()
            .map(|(index, amount)| self.chain.burn_tx(&self.positions[*index].1, *amount));
        mint.chain(burns).collect()
    }

    /// Updates [`Market::positions`] with the transactions that were mined from `first_tx` on.
    fn take_over(&mut self, plan: &LiquidityPlan, mined: &Mined, first_tx: usize) -> Result<()> {
        for (index, amount) in &plan.burns {
            self.positions[*index].1.liquidity -= amount;
        }
        if let Some((pool, position)) = plan.mint {
            let asked = [(self.world.pools[pool].pool, position)];
            let minted = self.chain.minted_in(mined, first_tx, &asked)?;
            self.positions.extend(minted.into_iter().map(|position| (pool, position)));
        }
        self.positions.retain(|(_, position)| position.liquidity > 0);
        Ok(())
    }

    /// Pairs lose liquidity after the fall, and regain some when liquidity returns.
    async fn v2_liquidity(&mut self, day_slot: u64) -> Result<Vec<Tx>> {
        let mut txs = Vec::new();
        for pool in self.world.pools.iter().filter(|one| one.pool.kind == PoolKind::V2) {
            if FLIGHT.contains(&day_slot) && self.rng.once_in(3) {
                let owner = self.chain.operator;
                let at = BlockId::latest();
                let shares = self.chain.balance_of(pool.pool.address, owner, at).await?;
                txs.push(self.chain.v2_remove_tx(&pool.pool, shares / U256::from(8)));
            } else if RETURN.contains(&day_slot) && self.rng.once_in(6) {
                let (zero, one) = self.pair_amounts(pool);
                txs.push(self.chain.v2_add_tx(&pool.pool, zero, one));
            }
        }
        Ok(txs)
    }

    fn pair_amounts(&self, pool: &WorldPool) -> (U256, U256) {
        let amount = |token: Address| {
            let asset = if self.world.assets[pool.base].token.address == token {
                pool.base
            } else {
                pool.quote
            };
            self.units(asset, pool.scale_usd)
        };
        (amount(pool.pool.token0), amount(pool.pool.token1))
    }

    /// One trade for each pool whose price differs from the hidden price by more than its fee.
    async fn arbitrage(&self) -> Result<Vec<Tx>> {
        let handles = self.world.handles();
        let readings = self.chain.read_pools(&handles, BlockId::latest()).await?;
        Ok(self
            .world
            .pools
            .iter()
            .zip(readings)
            .filter_map(|(pool, reading)| self.arbitrage_tx(pool, reading))
            .collect())
    }

    fn arbitrage_tx(&self, pool: &WorldPool, reading: PoolReading) -> Option<Tx> {
        let (asset0, _) = in_order(&self.world.assets[pool.base], &self.world.assets[pool.quote]);
        let base_is_0 = asset0.token.address == self.world.assets[pool.base].token.address;
        let (zero, one) = if base_is_0 { (pool.base, pool.quote) } else { (pool.quote, pool.base) };
        // The amounts of each token worth a billion dollars: their ratio is the hidden price.
        let (worth0, worth1) = (self.units(zero, 1_000_000_000), self.units(one, 1_000_000_000));
        match reading {
            PoolReading::V3 { sqrt_price_x96, .. } => {
                let target = super::sqrt_price_x96(worth1, worth0);
                let band = target * U256::from(pool.pool.fee) / U256::from(2_000_000);
                let offered = U256::from(pool.scale_usd * 100);
                let (token_in, limit, worth) = if sqrt_price_x96 > target + band {
                    (pool.pool.token0, target + band, worth0)
                } else if sqrt_price_x96 < target - band {
                    (pool.pool.token1, target - band, worth1)
                } else {
                    return None;
                };
                let amount = worth * offered / U256::from(1_000_000_000);
                Some(self.chain.v3_swap_tx(&pool.pool, token_in, amount, limit))
            }
            PoolReading::V2 { reserve0, reserve1 } => {
                let (zero_for_one, amount) = balancing([reserve0, reserve1], [worth0, worth1])?;
                let sold = if zero_for_one { pool.pool.token0 } else { pool.pool.token1 };
                Some(self.chain.swap_tx(&pool.pool, sold, amount))
            }
        }
    }
}

/// The sale after which the reserves of a constant product with a fee of 0.3% show the price at which these amounts are
/// worth the same: whether token 0 is sold, and how much.
pub(super) fn balancing(reserves: [U256; 2], worth: [U256; 2]) -> Option<(bool, U256)> {
    let product = U512::from(reserves[0]) * U512::from(reserves[1]);
    [0, 1].into_iter().find_map(|sold| {
        let (own, other) = (U512::from(worth[sold]), U512::from(worth[1 - sold]));
        let goal = U256::from(square_root(product * own / other));
        let reserve = reserves[sold];
        let least = reserve + reserve * U256::from(3) / U256::from(2000);
        (goal > least).then(|| (sold == 0, goal - least))
    })
}

fn head_of(mined: &Mined) -> Head {
    Head { number: mined.number, hash: mined.hash, timestamp: mined.timestamp }
}
