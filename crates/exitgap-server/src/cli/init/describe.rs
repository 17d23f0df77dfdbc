//! Reads from the chain's nodes what kind of pools the given addresses are.

use std::time::Duration;

use exitgap_chain::config::{
    BaseToken, ChainConfig, Config as Sources, FeeConfig, LogsCheck, OracleConfig, Plan, PoolConfig,
};
use exitgap_chain::{ChainReader, Limits, PoolInfo, ReadFailure};
use tokio::time::Instant;

use super::{ConfigInputs, InitError, PoolGiven};

/// Time limit for the nodes.
const WITHIN: Duration = Duration::from_mins(2);

/// The fee of Uniswap v2 pairs, which no contract returns. `check` tests whether the pair accepts it.
pub const PAIR_FEE: FeeConfig = FeeConfig { numerator: 3, denominator: 1_000 };

/// Placeholder oracle for prices that are not read yet.
const UNREAD: &str = "unread";

/// A given pool, with what was found about it.
pub struct DescribedPool {
    pub given: PoolGiven,
    pub info: PoolInfo,
    /// The fee, if its entry needs one.
    pub fee: Option<FeeConfig>,
}

/// Reads the kind of each pool. If a pool is rejected as given, it may be a Uniswap v2 pair, so it is tried again with
/// that fee.
pub async fn pools(wanted: &ConfigInputs) -> Result<Vec<DescribedPool>, InitError> {
    let all = &wanted.pools;
    let first = query_pools(wanted, all, None).await?;
    let refused = |found: &Result<PoolInfo, ReadFailure>| found.is_err();
    let again: Vec<PoolGiven> = all
        .iter()
        .zip(&first)
        .filter_map(|(pool, found)| refused(found).then_some(*pool))
        .collect();
    let pairs = if again.is_empty() {
        Vec::new()
    } else {
        query_pools(wanted, &again, Some(PAIR_FEE)).await?
    };
    let mut pairs = pairs.into_iter();
    let found = all.iter().zip(first).map(|(&given, found)| match found {
        Ok(info) => Ok(DescribedPool { given, info, fee: None }),
        Err(missing) => match pairs.next() {
            Some(Ok(info)) => Ok(DescribedPool { given, info, fee: Some(PAIR_FEE) }),
            _ => Err(InitError::Pool { pool: given.to_string(), error: missing.to_string() }),
        },
    });
    found.collect()
}

async fn query_pools(
    wanted: &ConfigInputs,
    pools: &[PoolGiven],
    fee: Option<FeeConfig>,
) -> Result<Vec<Result<PoolInfo, ReadFailure>>, InitError> {
    let nodes = |error: String| InitError::Nodes { chain: wanted.chain.clone(), error };
    let plan = Plan::new(&sources(wanted, pools, fee)).map_err(|error| nodes(error.to_string()))?;
    let plan = plan.into_chains().remove(0);
    let mut reader = ChainReader::new(plan, Limits::for_one_answer())
        .map_err(|error| nodes(error.to_string()))?;
    let described = reader.describe(Instant::now() + WITHIN).await;
    Ok(described.into_iter().map(|(_, info)| info).collect())
}

/// The chain with these pools and without price sources: the kind of a pool does not depend on prices.
fn sources(wanted: &ConfigInputs, pools: &[PoolGiven], fee: Option<FeeConfig>) -> Sources {
    let chain = ChainConfig {
        slug: wanted.chain.clone(),
        chain_id: wanted.chain_id,
        rpc_urls: wanted.rpc.iter().map(|node| node.url.clone()).collect(),
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
    };
    let unread = OracleConfig::Chainlink {
        name: UNREAD.to_owned(),
        chain: wanted.chain.clone(),
        feed: pools[0].address,
        heartbeat_s: 3_600,
        heartbeat_grace_s: 0,
    };
    let pool = |given: &PoolGiven| PoolConfig {
        chain: wanted.chain.clone(),
        address: given.address.into(),
        pair: given.pair,
        key: None,
        base: BaseToken::Token0,
        fee,
        token0_usd: vec![UNREAD.to_owned()],
        token1_usd: vec![UNREAD.to_owned()],
    };
    let pool = pools.iter().map(pool).collect();
    Sources { chain: vec![chain], oracle: vec![unread], pool, ..Sources::default() }
}
