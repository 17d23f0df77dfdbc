//! A pool and its snapshots, for the tests of figures computed from a store.

use exitgap_core::U256;
use exitgap_core::ids::{Address, BlockHash, PoolId};
use exitgap_core::pools::{Concentrated, Tick, sqrt_ratio_at_tick};
use exitgap_core::series::Slot;
use exitgap_core::snapshot::{
    BlockRef, ChainKind, ChainTag, Observation, OracleReading, OracleRole, OracleSource, Snapshot,
    Symbol, Token,
};

pub fn slot(index: u32) -> Slot {
    Slot::new(u64::from(Slot::FIRST.number() + index)).unwrap()
}

pub fn pool() -> PoolId {
    PoolId::new("anvil".parse().unwrap(), Address([0xaa; 20]))
}

/// The price rises by three percent at slot 10, and half of the liquidity is removed one slot later.
pub fn snapshot(index: u32) -> Snapshot {
    snapshot_with(index, if index > 10 { 40_000_000_000_000 } else { 80_000_000_000_000 })
}

/// The same with another liquidity.
pub fn snapshot_with(index: u32, liquidity: u128) -> Snapshot {
    let tick = if index >= 10 { 300 } else { 0 };
    let net = i128::try_from(liquidity).unwrap();
    let ticks = vec![Tick::new(-6_000, net), Tick::new(6_000, -net)];
    let price = sqrt_ratio_at_tick(tick).unwrap();
    let state = Concentrated::new(price, tick, liquidity, 3_000, 60, ticks).unwrap();
    let token = |last: u8| Token {
        address: Address([last; 20]),
        decimals: 6,
        symbol: Symbol::clean("TOK"),
    };
    let price = |index: u8| OracleReading {
        role: OracleRole::TokenUsd(index),
        answer: U256::from(2_u32),
        decimals: 0,
        source: OracleSource::Fixed,
    };
    let at = slot(index);
    let number = u64::from(at.number());
    let chain = ChainTag { caip2: "eip155:31337".parse().unwrap(), kind: ChainKind::Preview };
    let block = BlockRef { hash: BlockHash([5; 32]), number, timestamp: at.unix_s() - 12 };
    let (tokens, oracles) = ([token(1), token(2)], vec![price(0), price(1)]);
    let state = state.into();
    let observed = Observation::new(pool(), chain, block, tokens, state, oracles, Vec::new());
    Snapshot::new(at, observed.unwrap()).unwrap()
}
