//! The chain recorded by a flooded service: a hundred pools, a quarter of them with steps over the whole price range,
//! whose curves are the largest possible.

use alloy::primitives::U256;

use super::Result;
use crate::demo::recorder_config;
use crate::devchain::{
    DevChain, FIRST_SLOT, Options, Pool, PositionSpec, SLOT_SECONDS, World, many_v3_pools,
};

/// Number of recorded pools.
const POOLS: usize = 100;
/// Every pool with an index divisible by this has a tick spacing of 1.
const TIERS: usize = 4;
/// The whole range of a pool with tick spacing 1.
const WHOLE_RANGE: i32 = 887_272;

/// The chain with its simulated slots, and the recorder's configuration.
pub struct Scene {
    /// Kept, because its node ends with it.
    _chain: DevChain,
    /// The recorder's configuration.
    pub config: String,
    /// The pools' ids.
    pub pools: Vec<String>,
}

impl Scene {
    /// Deploys the pools and simulates this many slots from the beginning of the series: every pool trades in each of
    /// them.
    pub async fn new(slots: u64) -> Result<Self> {
        let chain = DevChain::start(Options::default()).await?;
        let world = World::deploy(&chain).await?;
        let pools: Vec<Pool> =
            many_v3_pools(&chain, POOLS, 12, 4).await?.into_iter().map(|(pool, _)| pool).collect();
        let offer = U256::from(10).pow(U256::from(18));
        let whole = PositionSpec {
            tick_lower: -WHOLE_RANGE,
            tick_upper: WHOLE_RANGE,
            amount0: offer,
            amount1: offer,
        };
        let wide: Vec<_> = pools.iter().step_by(TIERS).map(|pool| (*pool, whole)).collect();
        let mints: Vec<_> = wide.iter().map(|wide| chain.mint_tx(&[*wide])).collect();
        for slot in FIRST_SLOT..FIRST_SLOT + slots {
            let instant = slot * SLOT_SECONDS;
            let trade = |(index, pool): (usize, &Pool)| {
                let sells_0 = (slot + index as u64).is_multiple_of(2);
                let sold = if sells_0 { pool.token0 } else { pool.token1 };
                chain.swap_tx(pool, sold, U256::from(10_000))
            };
            let trades: Vec<_> = pools.iter().enumerate().map(trade).collect();
            let first = if slot == FIRST_SLOT { mints.as_slice() } else { &[] };
            chain.mine(instant - 60, first).await?;
            chain.mine(instant - 5, &trades).await?;
            // The last block before the instant is only known once a later block exists.
            chain.mine(instant + 7, &[]).await?;
        }
        let config = config(&chain, &world, &pools);
        let names = pools.iter().map(|pool| format!("anvil:{:#x}", pool.address)).collect();
        Ok(Self { _chain: chain, config, pools: names })
    }
}

/// The configuration of these pools instead of the world's. Their tokens have no feeds of their own: any price is
/// suitable.
fn config(chain: &DevChain, world: &World, pools: &[Pool]) -> String {
    let of_world = recorder_config(chain, world);
    let head = of_world.split("[[pool]]").next().unwrap_or(&of_world);
    let table = |pool: &Pool| {
        format!(
            "\n[[pool]]\nchain = \"anvil\"\naddress = \"{:#x}\"\nbase = \"token0\"\n\
             token0_usd = [\"alt-usd\"]\ntoken1_usd = [\"usdc-usd\"]\n",
            pool.address
        )
    };
    let tables: Vec<_> = pools.iter().map(table).collect();
    // anvil computes each proof from its whole state: a hundred take it longer than a slot of this pace.
    format!("{head}\n[proofs]\neach_slot = false\n{}", tables.concat())
}
