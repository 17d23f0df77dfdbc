//! The fixed scene: tokens, feeds, v3 pools of every fee, v2 pairs, one very thin pool.

use alloy::eips::BlockId;
use alloy::primitives::U256;
use serde::{Deserialize, Serialize};

use super::{
    DevChain, DevChainError, Feed, MintedPosition, Pool, PoolReading, PoolSpec, PositionSpec,
    Result, Token, sqrt_price_x96,
};

/// Decimals of every feed here, the same as in Chainlink's USD feeds.
pub const FEED_DECIMALS: u8 = 8;

/// A token with its feed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Asset {
    /// The token.
    pub token: Token,
    /// Its USD feed, with [`FEED_DECIMALS`] decimals.
    pub feed: Feed,
    /// Maximum age of an answer, in seconds; the market renews it well before.
    pub heartbeat: u64,
    /// The initial answer, which is also the initial price of the pools.
    pub initial_answer: u128,
}

impl Asset {
    /// How many base units `usd` whole dollars buy at the initial answer, rounded down.
    pub fn worth(&self, usd: u64) -> U256 {
        let scale = U256::from(10).pow(U256::from(FEED_DECIMALS));
        self.token.units(1) * U256::from(usd) * scale / U256::from(self.initial_answer)
    }
}

/// A pool of the scene.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct WorldPool {
    /// A name such as `WETH/USDC 0.05% v3`; the first token is the natural base.
    pub name: String,
    /// The pool.
    pub pool: Pool,
    /// Index of the natural base in [`World::assets`].
    pub base: usize,
    /// Index of the natural quote in [`World::assets`].
    pub quote: usize,
    /// The amount offered per side of a usual position, in whole dollars: a measure of size.
    pub scale_usd: u64,
    /// The initial positions of a v3 pool.
    pub positions: Vec<MintedPosition>,
}

/// The scene, with the same addresses and amounts on every deployment.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct World {
    /// Tokens with feeds, in the order of the constants of this type.
    pub assets: Vec<Asset>,
    /// The pools: v3 with fees 100, 500, 3000 and 10000, then two v2 pairs. The last v3 pool ([`World::THIN`]) is very
    /// thin.
    pub pools: Vec<WorldPool>,
}

/// Symbol, decimals, heartbeat in seconds and initial answer of the assets, in order.
const ASSETS: [(&str, u8, u64, u128); 6] = [
    ("USDC", 6, 86_400, 100_000_000),
    ("USDT", 6, 86_400, 99_980_000),
    ("DAI", 18, 86_400, 99_990_000),
    ("WBTC", 8, 3600, 6_512_345_000_000),
    ("ALT", 18, 3600, 73_125_000),
    ("WETH", 18, 3600, 250_123_000_000),
];

/// Name, base, quote, fee, dollars per side of a usual position, number of positions.
const V3_POOLS: [(&str, usize, usize, u32, u64, usize); 6] = [
    ("WETH/USDC 0.05% v3", World::WETH, World::USDC, 500, 400_000, 40),
    ("WETH/USDT 0.3% v3", World::WETH, World::USDT, 3000, 150_000, 32),
    ("WBTC/WETH 0.3% v3", World::WBTC, World::WETH, 3000, 200_000, 32),
    ("USDT/USDC 0.01% v3", World::USDT, World::USDC, 100, 500_000, 36),
    ("DAI/USDC 0.01% v3", World::DAI, World::USDC, 100, 200_000, 24),
    ("ALT/WETH 1% v3", World::ALT, World::WETH, 10_000, 900, 5),
];

/// Name, base, quote, dollars per side.
const V2_PAIRS: [(&str, usize, usize, u64); 2] = [
    ("WETH/USDC v2", World::WETH, World::USDC, 3_000_000),
    ("WBTC/DAI v2", World::WBTC, World::DAI, 800_000),
];

impl World {
    /// Index of USDC (6 decimals) in [`World::assets`].
    pub const USDC: usize = 0;
    /// Index of USDT (6 decimals).
    pub const USDT: usize = 1;
    /// Index of DAI (18 decimals).
    pub const DAI: usize = 2;
    /// Index of WBTC (8 decimals).
    pub const WBTC: usize = 3;
    /// Index of ALT (18 decimals), a thinly traded token.
    pub const ALT: usize = 4;
    /// Index of WETH (18 decimals), the real WETH9.
    pub const WETH: usize = 5;
    /// Index of the very thin pool in [`World::pools`].
    pub const THIN: usize = 5;
    /// Index of the first v2 pair in [`World::pools`].
    pub const FIRST_V2: usize = 6;

    /// Deploys the scene: about two dozen blocks, one second apart.
    pub async fn deploy(chain: &DevChain) -> Result<Self> {
        let assets = deploy_assets(chain).await?;
        let mut pools = deploy_v3(chain, &assets).await?;
        for (name, base, quote, usd) in V2_PAIRS {
            let side = |index: usize| (&assets[index].token, assets[index].worth(usd));
            pools.push(WorldPool {
                name: name.to_owned(),
                pool: chain.create_v2_pair(side(base), side(quote)).await?,
                base,
                quote,
                scale_usd: usd / 10,
                positions: Vec::new(),
            });
        }
        Ok(Self { assets, pools })
    }

    /// The pools' handles, in order.
    pub fn handles(&self) -> Vec<Pool> {
        self.pools.iter().map(|pool| pool.pool).collect()
    }

    /// The asset whose token is at this address.
    pub fn asset(&self, token: alloy::primitives::Address) -> Option<&Asset> {
        self.assets.iter().find(|asset| asset.token.address == token)
    }
}

async fn deploy_assets(chain: &DevChain) -> Result<Vec<Asset>> {
    let (erc20, weth) = ASSETS.split_at(World::WETH);
    let kinds: Vec<(&str, u8)> = erc20.iter().map(|asset| (asset.0, asset.1)).collect();
    let mut tokens = chain.create_tokens(&kinds).await?;
    tokens.push(chain.wrap_ether().await?);
    let names = erc20
        .iter()
        .map(|asset| format!("{} / USD", asset.0))
        .chain(weth.iter().map(|_| "ETH / USD".to_owned()));
    let names: Vec<String> = names.collect();
    let kinds: Vec<(&str, u8, i128)> = names
        .iter()
        .zip(ASSETS)
        .map(|(name, asset)| (name.as_str(), FEED_DECIMALS, asset.3.cast_signed()))
        .collect();
    let feeds = chain.create_feeds(&kinds).await?;
    Ok(tokens
        .into_iter()
        .zip(feeds)
        .zip(ASSETS)
        .map(|((token, feed), (_, _, heartbeat, initial_answer))| Asset {
            token,
            feed,
            heartbeat,
            initial_answer,
        })
        .collect())
}

async fn deploy_v3(chain: &DevChain, assets: &[Asset]) -> Result<Vec<WorldPool>> {
    let specs: Vec<PoolSpec> = V3_POOLS
        .iter()
        .map(|&(_, base, quote, fee, ..)| {
            let (zero, one) = in_order(&assets[base], &assets[quote]);
            PoolSpec {
                token_a: zero.token.address,
                token_b: one.token.address,
                fee,
                sqrt_price_x96: sqrt_price_x96(one.worth(1_000_000), zero.worth(1_000_000)),
                positions: Vec::new(),
            }
        })
        .collect();
    let created = chain.create_v3_pools(&specs).await?;
    let handles: Vec<Pool> = created.iter().map(|(pool, _)| *pool).collect();
    let readings = chain.read_pools(&handles, BlockId::latest()).await?;
    let mut pools = Vec::new();
    let mut wanted = Vec::new();
    for ((spec, pool), reading) in V3_POOLS.into_iter().zip(handles).zip(readings) {
        let (name, base, quote, fee, scale_usd, count) = spec;
        let PoolReading::V3 { tick, .. } = reading else {
            return Err(DevChainError::Unexpected {
                what: name.to_owned(),
                reason: "a v3 pool read as a v2 pair".to_owned(),
            });
        };
        let (zero, one) = in_order(&assets[base], &assets[quote]);
        for index in 0..count {
            let (tick_lower, tick_upper) = overlapping_range(tick, tick_spacing(fee), index);
            let position = PositionSpec {
                tick_lower,
                tick_upper,
                amount0: zero.worth(scale_usd),
                amount1: one.worth(scale_usd),
            };
            wanted.push((pool, position));
        }
        pools.push(WorldPool {
            name: name.to_owned(),
            pool,
            base,
            quote,
            scale_usd,
            positions: Vec::new(),
        });
    }
    for position in chain.mint_positions(&wanted).await? {
        let owner = pools.iter_mut().find(|pool| pool.pool == position.pool);
        if let Some(pool) = owner {
            pool.positions.push(position);
        }
    }
    Ok(pools)
}

/// The two assets by token address, as pools order them.
pub(super) fn in_order<'a>(a: &'a Asset, b: &'a Asset) -> (&'a Asset, &'a Asset) {
    if a.token.address < b.token.address { (a, b) } else { (b, a) }
}

/// The tick spacing that the v3 factory assigns to a fee.
pub(super) fn tick_spacing(fee: u32) -> i32 {
    match fee {
        100 => 1,
        500 => 10,
        3000 => 60,
        _ => 200,
    }
}

/// Range `index` of a pool: widths grow from a few spacings to very wide, and centres alternate between both sides, so
/// that neighbours overlap and some are completely on one side of the price.
fn overlapping_range(tick: i32, spacing: i32, index: usize) -> (i32, i32) {
    const HALF_WIDTHS: [i32; 8] = [4, 10, 24, 60, 130, 300, 700, 1600];
    let index = i32::try_from(index).unwrap_or(0);
    let half = HALF_WIDTHS[index.unsigned_abs() as usize % HALF_WIDTHS.len()];
    let round = index / 8;
    let side = if round % 2 == 0 { 1 } else { -1 };
    let offset = side * round * (half / 3 + 1) + index % 3;
    let middle = tick.div_euclid(spacing) + offset;
    let limit = 887_272 / spacing;
    ((middle - half).max(-limit) * spacing, (middle + half).min(limit) * spacing)
}
