//! Pools of other venues with a [`World`]'s tokens: Uniswap v4 and Aerodrome v2.

use alloy::eips::BlockId;
use alloy::primitives::{Address, U256};

use super::market::balancing;
use super::world::in_order;
use super::{
    Asset, DevChain, DevChainError, Pool, PoolKind, PoolReading, Result, Rng, SolidlyPool, Tx, V4,
    V4Pool, World,
};

/// The venues and their pools.
#[derive(Debug, Clone)]
pub struct Venues {
    /// Uniswap v4's manager.
    pub v4: V4,
    /// USDT and USDC with the fee [`Venues::V4_FEE`], around the price 1.
    pub v4_pool: V4Pool,
    /// DAI and USDC, a stable pool.
    pub stable: SolidlyPool,
    /// WETH and USDC, a volatile one.
    pub volatile: SolidlyPool,
    usdc: Address,
}

/// The trades at venues so far.
#[derive(Debug)]
pub struct Visits {
    rng: Rng,
    /// Dollars of the first token sold minus those bought: for the v4 pool, and for the stable one.
    sold: [i64; 2],
}

impl Visits {
    pub(super) fn new(seed: u64) -> Self {
        Self { rng: Rng::new(seed), sold: [0; 2] }
    }

    /// The next trade of a stablecoin pool: whether its first token is sold, and for how many dollars. Trades reverse
    /// the accumulated sales sooner or later.
    fn next(&mut self, pool: usize) -> (bool, u64) {
        const SIZES: [u64; 5] = [150, 900, 4_000, 15_000, 40_000];
        let usd = SIZES[usize::try_from(self.rng.below(5)).unwrap_or(0)] * self.rng.between(1, 3);
        let back = self.sold[pool].unsigned_abs() > self.rng.below(150_000);
        let sells = if back { self.sold[pool] < 0 } else { self.rng.once_in(2) };
        let change = i64::try_from(usd).unwrap_or(0);
        self.sold[pool] += if sells { change } else { -change };
        (sells, usd)
    }
}

impl Venues {
    /// The fee of the pool of Uniswap v4, in millionths.
    pub const V4_FEE: u32 = 80;
    /// Its tick spacing.
    pub const V4_SPACING: i32 = 1;

    /// Deploys them with liquidity: a dozen blocks, one second apart.
    pub async fn deploy(chain: &DevChain, world: &World) -> Result<Self> {
        let [usdc, usdt, dai, weth] =
            [World::USDC, World::USDT, World::DAI, World::WETH].map(|index| &world.assets[index]);
        let pair = [usdt.token.address, usdc.token.address];
        let v4 = chain.deploy_v4(&pair).await?;
        let v4_pool = V4Pool::of(pair, Self::V4_FEE, Self::V4_SPACING);
        chain.initialize_v4(&v4, &v4_pool, [0, 0]).await?;
        // About a million dollars of each within ten percent, and as much closer to the price.
        for (half, liquidity) in [(1_000, 20_000_000_000_000), (60, 100_000_000_000_000)] {
            chain.modify_v4(&v4, &v4_pool, [-half, half], liquidity).await?;
        }
        let factory = chain.deploy_solidly().await?;
        let fund = async |a: &Asset, b: &Asset, usd: u64, stable: bool| {
            let tokens = [&a.token, &b.token];
            let pool = chain.create_solidly_pool(factory, tokens, stable).await?;
            let (zero, one) = in_order(a, b);
            // A stable pool starts with equal amounts of both.
            let of = |asset: &Asset| if stable { asset.token.units(usd) } else { asset.worth(usd) };
            chain.mint_solidly(&pool, [of(zero), of(one)]).await?;
            Ok::<_, DevChainError>(pool)
        };
        let stable = fund(dai, usdc, 2_000_000, true).await?;
        let volatile = fund(weth, usdc, 1_500_000, false).await?;
        Ok(Self { v4, v4_pool, stable, volatile, usdc: usdc.token.address })
    }

    /// The trades of one slot; `units` returns how much of an asset some dollars currently are.
    pub(super) async fn trades(
        &self,
        chain: &DevChain,
        visits: &mut Visits,
        units: impl Fn(usize, u64) -> U256,
    ) -> Result<Vec<Tx>> {
        let amount = |sells: bool, base, usd| units(if sells { base } else { World::USDC }, usd);
        let (sells, usd) = visits.next(0);
        let sold = amount(sells, World::USDT, usd);
        let zero_for_one = self.sells_zero(self.v4_pool.key.currency0, sells);
        let mut txs = vec![chain.v4_swap_tx(&self.v4, &self.v4_pool, zero_for_one, sold)];
        let (sells, usd) = visits.next(1);
        let sold = amount(sells, World::DAI, usd);
        let zero_for_one = self.sells_zero(self.stable.token0, sells);
        txs.extend(chain.solidly_swap_txs(&self.stable, zero_for_one, sold).await?);
        if let Some((zero_for_one, sold)) = self.arbitrage(chain, units).await? {
            txs.extend(chain.solidly_swap_txs(&self.volatile, zero_for_one, sold).await?);
        }
        Ok(txs)
    }

    /// Whether a trade sells token 0 of a pool, given whether it sells the pool's base.
    pub fn sells_zero(&self, token0: Address, sells_base: bool) -> bool {
        (token0 != self.usdc) == sells_base
    }

    /// The sale that moves the volatile pool back to the price.
    async fn arbitrage(
        &self,
        chain: &DevChain,
        units: impl Fn(usize, u64) -> U256,
    ) -> Result<Option<(bool, U256)>> {
        const USD: u64 = 1_000_000_000;
        let SolidlyPool { address, token0, token1, .. } = self.volatile;
        // It logs its reserves like a pair.
        let as_pair = Pool { address, token0, token1, fee: 3000, kind: PoolKind::V2 };
        let readings = chain.read_pools(&[as_pair], BlockId::latest()).await?;
        let Some(PoolReading::V2 { reserve0, reserve1 }) = readings.first().copied() else {
            return Ok(None);
        };
        let mut worth = [units(World::WETH, USD), units(World::USDC, USD)];
        if token0 == self.usdc {
            worth.reverse();
        }
        Ok(balancing([reserve0, reserve1], worth))
    }
}
