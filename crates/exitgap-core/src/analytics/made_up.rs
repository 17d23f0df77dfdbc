//! Synthetic states and observations for tests.

use proptest::prelude::*;

use super::FigureVenue;
use crate::evidence::Base;
use crate::ids::{Address, BlockHash, PoolId};
use crate::pools::{Concentrated, ConstantProduct, FeeRate, PoolState, Tick, sqrt_ratio_at_tick};
use crate::series::Slot;
use crate::snapshot::{
    BlockRef, ChainKind, ChainTag, Observation, OracleReading, OracleRole, OracleSource, Symbol,
    Token,
};
use crate::wide::U256;

pub const FEE: FeeRate = FeeRate { numerator: 3, denominator: 1_000 };

pub fn slot(index: u32) -> Slot {
    Slot::new(u64::from(Slot::FIRST.number() + index)).unwrap()
}

pub fn pool() -> PoolId {
    PoolId::new("anvil".parse().unwrap(), Address([0xaa; 20]))
}

/// The pool with this number.
pub fn pool_of(number: u8) -> PoolId {
    PoolId::new("anvil".parse().unwrap(), Address([number; 20]))
}

/// The same pool as a venue that sells token 0.
pub fn venue(number: u8) -> FigureVenue {
    FigureVenue { pool: pool_of(number), base: Base::Token0 }
}

/// An observation in which both tokens are worth two dollars and have six decimals.
pub fn observation(at: Slot, state: PoolState) -> Observation {
    observation_of(&pool(), at, state)
}

pub fn observation_of(pool: &PoolId, at: Slot, state: PoolState) -> Observation {
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
    let number = u64::from(at.number());
    let chain = ChainTag { caip2: "eip155:31337".parse().unwrap(), kind: ChainKind::Preview };
    let block = BlockRef { hash: BlockHash([5; 32]), number, timestamp: at.unix_s() - 12 };
    let (tokens, oracles) = ([token(1), token(2)], vec![price(0), price(1)]);
    Observation::new(pool.clone(), chain, block, tokens, state, oracles, Vec::new()).unwrap()
}

/// A wide position, and a narrow position of 20 tick spacings around the origin, at a current tick.
pub fn ranges(tick: i32, wide: u128, narrow: u128) -> PoolState {
    let net = |liquidity: u128| i128::try_from(liquidity).unwrap();
    let mut ticks = vec![Tick::new(-60_000, net(wide)), Tick::new(60_000, -net(wide))];
    if narrow > 0 {
        ticks.insert(1, Tick::new(-1_200, net(narrow)));
        ticks.insert(2, Tick::new(1_200, -net(narrow)));
    }
    let active = wide + if (-1_200..1_200).contains(&tick) { narrow } else { 0 };
    let price = sqrt_ratio_at_tick(tick).unwrap();
    Concentrated::new(price, tick, active, 3_000, 60, ticks).unwrap().into()
}

pub fn pair(x: u128, y: u128) -> PoolState {
    ConstantProduct::new([x, y], FEE).unwrap().into()
}

/// A random state: liquidity in two ranges, or a pair.
pub fn some_state() -> impl Strategy<Value = PoolState> {
    let ranged = (-900_i32..900, 40_u32..48, 0_u32..50);
    let ranged =
        ranged.prop_map(|(tick, wide, narrow)| ranges(tick, 1 << wide, (1_u128 << narrow) >> 1));
    let reserves = (36_u32..50, 0_u64..1_000_000);
    prop_oneof![
        ranged,
        reserves.prop_map(|(bits, more)| pair((1 << bits) + u128::from(more), 1 << bits))
    ]
}
