//! Swaps of a real block, with what their receipts say.

use alloy::primitives::{Address, I256, U256};
use exitgap_core::pools::PoolState;
use exitgap_tests::devchain::{Mined, Pool, PoolKind, abi};
use serde_json::Value;

use super::facts;

/// The fee of Uniswap v2's pairs, in millionths.
const PAIR_FEE: u32 = 3_000;

/// A swap of a case in `swaps.json`.
#[derive(Debug, Clone)]
pub struct RealSwap {
    pub pool: Pool,
    /// Of a pool of ranges.
    pub tick_spacing: Option<i32>,
    /// It sold token0.
    pub zero_for_one: bool,
    pub amount_in: U256,
    pub amount_out: U256,
    /// The order was for an output.
    pub is_exact_output: bool,
    /// A pair's reserves before it.
    pub reserves: Option<[U256; 2]>,
    /// The state after it: √price, liquidity and tick of a pool of ranges, or a pair's reserves.
    pub after: Vec<I256>,
}

impl RealSwap {
    /// The swaps of a block, in their order.
    pub fn of_block(block: u64) -> Vec<Self> {
        let file = facts::file("swaps");
        let cases = file["cases"].as_array().unwrap().iter();
        cases.filter(|case| case["block"] == block).map(Self::from_case).collect()
    }

    fn from_case(case: &Value) -> Self {
        let is_pair = case["venue"] == "uniswap_v2";
        let pool = Pool {
            address: facts::address(&case["pool"]),
            token0: facts::address(&case["tokens"][0]),
            token1: facts::address(&case["tokens"][1]),
            fee: case["fee"].as_u64().map_or(PAIR_FEE, |fee| u32::try_from(fee).unwrap()),
            kind: if is_pair { PoolKind::V2 } else { PoolKind::V3 },
        };
        let number = |name: &str| facts::number(&case[name]);
        let mut swap = Self {
            pool,
            tick_spacing: case["tick_spacing"].as_i64().map(|spacing| spacing.try_into().unwrap()),
            zero_for_one: case["zero_for_one"].as_bool().unwrap(),
            amount_in: number("amount_in"),
            amount_out: number("amount_out"),
            is_exact_output: case["expect"] == "exact_output",
            reserves: is_pair.then(|| [0, 1].map(|side| facts::number(&case["reserves"][side]))),
            after: Vec::new(),
        };
        swap.after = match swap.reserves {
            Some([reserve0, reserve1]) => {
                let ([in0, in1], [out0, out1]) = (swap.ins(), swap.outs());
                [reserve0 + in0 - out0, reserve1 + in1 - out1].map(I256::from_raw).to_vec()
            }
            None => vec![
                I256::from_raw(number("sqrt_price_after")),
                I256::from_raw(number("liquidity_after")),
                I256::try_from(case["tick_after"].as_i64().unwrap()).unwrap(),
            ],
        };
        swap
    }

    pub fn token_in(&self) -> Address {
        if self.zero_for_one { self.pool.token0 } else { self.pool.token1 }
    }

    /// What the pool took of each token.
    pub fn ins(&self) -> [U256; 2] {
        if self.zero_for_one { [self.amount_in, U256::ZERO] } else { [U256::ZERO, self.amount_in] }
    }

    /// What the pool paid of each token.
    pub fn outs(&self) -> [U256; 2] {
        if self.zero_for_one {
            [U256::ZERO, self.amount_out]
        } else {
            [self.amount_out, U256::ZERO]
        }
    }

    /// The numbers that its log must have: of a pool of ranges both amounts, √price, liquidity and tick, of a pair
    /// both amounts in and both amounts out.
    pub fn logged(&self) -> Vec<I256> {
        let ([in0, in1], [out0, out1]) = (self.ins(), self.outs());
        match self.pool.kind {
            PoolKind::V3 => {
                let amounts = [(in0, out0), (in1, out1)]
                    .map(|(taken, paid)| I256::from_raw(taken) - I256::from_raw(paid));
                [&amounts, &self.after[..]].concat()
            }
            PoolKind::V2 => [in0, in1, out0, out1].map(I256::from_raw).to_vec(),
        }
    }
}

/// The same numbers of the log that a block's last transaction left.
pub fn log_of(pool: &Pool, mined: &Mined) -> Vec<I256> {
    let last = mined.receipts.len() - 1;
    match pool.kind {
        PoolKind::V3 => {
            let swap: abi::V3Pool::Swap = mined.event(last, pool.address).unwrap();
            vec![
                swap.amount0,
                swap.amount1,
                I256::from_raw(U256::from(swap.sqrtPriceX96)),
                I256::from_raw(U256::from(swap.liquidity)),
                I256::try_from(swap.tick.as_i32()).unwrap(),
            ]
        }
        PoolKind::V2 => {
            let swap: abi::V2Pair::Swap = mined.event(last, pool.address).unwrap();
            [swap.amount0In, swap.amount1In, swap.amount0Out, swap.amount1Out]
                .map(I256::from_raw)
                .to_vec()
        }
    }
}

/// A recorded state in the form of [`RealSwap::after`].
pub fn numbers_of(state: &PoolState) -> Vec<I256> {
    match state {
        PoolState::Concentrated(pool) => vec![
            I256::from_raw(pool.ranges().sqrt_price_x96()),
            I256::from_raw(U256::from(pool.ranges().liquidity())),
            I256::try_from(pool.ranges().tick()).unwrap(),
        ],
        PoolState::ConstantProduct(pair) => {
            pair.reserves().map(|reserve| I256::from_raw(U256::from(reserve))).to_vec()
        }
        other => panic!("a pool of another kind: {other:?}"),
    }
}
