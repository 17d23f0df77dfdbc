//! Shared by the tests of the chain reader: configurations of real pools, and small limits.

use std::time::Duration;

use alloy::eips::BlockId;
use alloy::primitives::U256;
use exitgap_chain::config::{
    BaseToken, ChainConfig, Config, FeeConfig, LogsCheck, OracleConfig, Plan, PoolConfig,
};
use exitgap_chain::{ChainReader, Limits, SlotReading};
use exitgap_core::ids::Address;
use exitgap_core::pools::{Direction, FillError};
use exitgap_core::series::Slot;
use exitgap_core::snapshot::{Observation, Snapshot};
use exitgap_tests::devchain::{DevChain, Pool, PoolKind, SLOT_SECONDS, World};
use tokio::time::Instant;

pub async fn scene() -> (DevChain, World) {
    DevChain::standard().await.unwrap()
}

/// The configuration of a chain with these nodes and the feeds of the world's assets, without pools.
pub async fn chain_config(chain: &DevChain, world: &World, urls: &[String]) -> Config {
    // An unreachable node fails here instead of as a missing slot.
    chain.block(0.into()).await.unwrap().unwrap();
    let slug: exitgap_core::ids::ChainSlug = "anvil".parse().unwrap();
    let chains = vec![ChainConfig {
        slug: slug.clone(),
        chain_id: 31_337,
        rpc_urls: urls.iter().map(|url| url.parse().unwrap()).collect(),
        genesis_hash: None,
        known_block: None,
        number_source: None,
        check_logs_by: LogsCheck::Auto,
        second_rpc_url: None,
        sequencer_uptime_feed: None,
        sequencer_grace_s: None,
        multicall3: None,
        confirmations: None,
        factory: Vec::new(),
    }];
    let oracle = world
        .assets
        .iter()
        .map(|asset| OracleConfig::Chainlink {
            name: asset.token.symbol.clone(),
            chain: slug.clone(),
            feed: Address(asset.feed.proxy.into_array()),
            heartbeat_s: u32::try_from(asset.heartbeat).unwrap(),
            heartbeat_grace_s: 0,
        })
        .collect();
    Config { chain: chains, oracle, ..Config::default() }
}

/// The configuration of a pool with the oracles of these names for its tokens.
pub fn pool_config(pool: &Pool, oracles: [&str; 2]) -> PoolConfig {
    let fee = FeeConfig { numerator: 3, denominator: 1_000 };
    PoolConfig {
        chain: "anvil".parse().unwrap(),
        address: Address(pool.address.into_array()).into(),
        pair: None,
        key: None,
        base: BaseToken::Token0,
        fee: (pool.kind == PoolKind::V2).then_some(fee),
        token0_usd: vec![oracles[0].to_owned()],
        token1_usd: vec![oracles[1].to_owned()],
    }
}

/// The configuration of these pools of the world.
pub async fn world_config(
    chain: &DevChain,
    world: &World,
    urls: &[String],
    pools: impl IntoIterator<Item = usize>,
) -> Config {
    let mut config = chain_config(chain, world, urls).await;
    for index in pools {
        let pool = world.pools[index].pool;
        let oracle = |token| world.asset(token).unwrap().token.symbol.as_str();
        config.pool.push(pool_config(&pool, [oracle(pool.token0), oracle(pool.token1)]));
    }
    config
}

/// Limits for a node on the same machine: pauses of a millisecond, few polls.
pub fn small_limits() -> Limits {
    Limits {
        rounds: 2,
        outage_rounds: 2,
        backoff_first: Duration::from_millis(1),
        lag_polls: 1,
        lag_pause: Duration::from_millis(1),
        ..Limits::default()
    }
}

pub fn reader(config: &Config, limits: Limits) -> ChainReader {
    let plan = Plan::new(config).unwrap();
    ChainReader::new(plan.into_chains().remove(0), limits).unwrap()
}

/// A deadline that is never reached in a working test.
pub fn deadline() -> Instant {
    Instant::now() + Duration::from_mins(2)
}

pub async fn read(reader: &mut ChainReader, slot: u64) -> SlotReading {
    reader.read_slot(Slot::new(slot).unwrap(), deadline()).await
}

/// All snapshots of a reading; every pool must have one.
pub fn snapshots(reading: SlotReading) -> Vec<Snapshot> {
    reading
        .pools
        .into_iter()
        .map(|(pool, snapshot)| snapshot.unwrap_or_else(|missing| panic!("{pool}: {missing}")))
        .collect()
}

/// Compares the fills of the contracts with those of core, in both directions, at the observed block.
pub async fn assert_fills_equal(chain: &DevChain, pool: &Pool, observation: &Observation) {
    let at = BlockId::hash(observation.block().hash.0.into());
    for direction in Direction::BOTH {
        let base = direction.base_index();
        let token_in = [pool.token0, pool.token1][base];
        let unit = U256::from(10).pow(U256::from(observation.tokens()[base].decimals));
        let curve = observation.state().curve(direction);
        for (parts, of) in [(1_u64, 1_000_u64), (1, 1), (7, 1), (50, 1)] {
            let amount = unit * U256::from(parts) / U256::from(of);
            let ours = match curve.fill(amount) {
                Ok(fill) => fill.amount_out,
                Err(FillError::BeyondLiquidity { paid, .. }) => paid,
                Err(other) => panic!("{other}"),
            };
            let theirs = chain.quote(pool, token_in, amount, at).await.unwrap();
            assert_eq!(ours, theirs, "{} {direction:?} {amount}", observation.pool());
        }
    }
}

/// Mines blocks before and after the instant of a slot.
pub async fn pass_slot(chain: &DevChain, slot: u64) {
    chain.mine(slot * SLOT_SECONDS - 5, &[]).await.unwrap();
    chain.mine(slot * SLOT_SECONDS + 5, &[]).await.unwrap();
}
