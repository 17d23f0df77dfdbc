//! The common parts of v2 and v3 pools: swaps, quotes and reading their state.

use alloy::eips::BlockId;
use alloy::primitives::{Address, U256};
use alloy::sol_types::SolCall;
use serde::{Deserialize, Serialize};

use super::{DevChain, DevChainError, MULTICALL3, Mined, Result, Tx, abi};

/// The kind of a pool's contracts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum PoolKind {
    /// A Uniswap v2 pair: constant product.
    V2,
    /// A Uniswap v3 pool: concentrated liquidity.
    V3,
}

/// A pool on the chain.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Pool {
    /// The pool contract.
    pub address: Address,
    /// The token with the lower address.
    pub token0: Address,
    /// The token with the higher address.
    pub token1: Address,
    /// The fee in millionths of the amount in: 500 is 0.05%. A v2 pair's is 3000.
    pub fee: u32,
    /// The kind of its contracts.
    pub kind: PoolKind,
}

impl Pool {
    /// The token that is not `token`.
    pub fn other(&self, token: Address) -> Address {
        if token == self.token0 { self.token1 } else { self.token0 }
    }
}

/// The effect of a real swap, from the pool's own event, in base units of the tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Swap {
    /// The amount that the pool took: less than offered if a v3 pool's liquidity was exhausted.
    pub amount_in: U256,
    /// The amount that the pool paid.
    pub amount_out: U256,
    /// Number of the block that holds the swap.
    pub block: u64,
}

/// The part of a pool's state that moves with every swap.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PoolReading {
    /// A v2 pair, in base units.
    V2 {
        /// Reserve of token0.
        reserve0: U256,
        /// Reserve of token1.
        reserve1: U256,
    },
    /// A v3 pool.
    V3 {
        /// √(token1/token0) × 2^96.
        sqrt_price_x96: U256,
        /// The current tick.
        tick: i32,
        /// Liquidity in range.
        liquidity: u128,
    },
}

impl DevChain {
    /// A real swap: the trader sells exactly `amount_in` through the router, in a separate block one second after the
    /// newest.
    pub async fn swap_exact_in(
        &self,
        pool: &Pool,
        token_in: Address,
        amount_in: U256,
    ) -> Result<Swap> {
        let tx = self.swap_tx(pool, token_in, amount_in);
        let mined = self.mine_next(&[tx]).await?;
        self.swap_in(&mined, 0, pool, token_in)
    }

    /// The transaction in which the trader sells `amount_in` through the pool's router.
    pub fn swap_tx(&self, pool: &Pool, token_in: Address, amount_in: U256) -> Tx {
        match pool.kind {
            PoolKind::V2 => self.v2_swap_tx(pool, token_in, amount_in),
            PoolKind::V3 => self.v3_swap_tx(pool, token_in, amount_in, U256::ZERO),
        }
    }

    /// The amounts taken and paid by the swap in transaction `index` of a block.
    pub fn swap_in(
        &self,
        mined: &Mined,
        index: usize,
        pool: &Pool,
        token_in: Address,
    ) -> Result<Swap> {
        let in_is_0 = token_in == pool.token0;
        let (amount_in, amount_out) = match pool.kind {
            PoolKind::V2 => {
                let event: abi::V2Pair::Swap = mined.event(index, pool.address)?;
                if in_is_0 {
                    (event.amount0In, event.amount1Out)
                } else {
                    (event.amount1In, event.amount0Out)
                }
            }
            PoolKind::V3 => {
                let event: abi::V3Pool::Swap = mined.event(index, pool.address)?;
                // From the pool's point of view: positive amounts came in, negative ones went out.
                let (zero, one) = (event.amount0.unsigned_abs(), event.amount1.unsigned_abs());
                if in_is_0 { (zero, one) } else { (one, zero) }
            }
        };
        Ok(Swap { amount_in, amount_out, block: mined.number })
    }

    /// The contracts' own quote for an exact input at a block: `QuoterV2` for v3, the router for v2.
    pub async fn quote(
        &self,
        pool: &Pool,
        token_in: Address,
        amount_in: U256,
        at: BlockId,
    ) -> Result<U256> {
        match pool.kind {
            PoolKind::V2 => self.v2_quote(pool, token_in, amount_in, at).await,
            PoolKind::V3 => Ok(self.v3_quote(pool, token_in, amount_in, at).await?.amountOut),
        }
    }

    /// Reads many pools at one block, in one request.
    pub async fn read_pools(&self, pools: &[Pool], at: BlockId) -> Result<Vec<PoolReading>> {
        let mut calls = Vec::new();
        for pool in pools {
            let mut add = |data: Vec<u8>| {
                calls.push(abi::Multicall3::Call3 {
                    target: pool.address,
                    allowFailure: false,
                    callData: data.into(),
                });
            };
            match pool.kind {
                PoolKind::V2 => add(abi::V2Pair::getReservesCall {}.abi_encode()),
                PoolKind::V3 => {
                    add(abi::V3Pool::slot0Call {}.abi_encode());
                    add(abi::V3Pool::liquidityCall {}.abi_encode());
                }
            }
        }
        let answers = self.call(MULTICALL3, &abi::Multicall3::aggregate3Call { calls }, at).await?;
        let mut answers = answers.into_iter().map(|answer| answer.returnData);
        pools.iter().map(|pool| read_pool(pool, || answers.next().unwrap_or_default())).collect()
    }
}

fn read_pool(
    pool: &Pool,
    mut next: impl FnMut() -> alloy::primitives::Bytes,
) -> Result<PoolReading> {
    let unexpected = |error: alloy::sol_types::Error| DevChainError::Unexpected {
        what: format!("state of pool {}", pool.address),
        reason: error.to_string(),
    };
    match pool.kind {
        PoolKind::V2 => {
            let reserves =
                abi::V2Pair::getReservesCall::abi_decode_returns(&next()).map_err(unexpected)?;
            Ok(PoolReading::V2 {
                reserve0: U256::from(reserves.reserve0),
                reserve1: U256::from(reserves.reserve1),
            })
        }
        PoolKind::V3 => {
            let slot0 = abi::V3Pool::slot0Call::abi_decode_returns(&next()).map_err(unexpected)?;
            let liquidity =
                abi::V3Pool::liquidityCall::abi_decode_returns(&next()).map_err(unexpected)?;
            Ok(PoolReading::V3 {
                sqrt_price_x96: U256::from(slot0.sqrtPriceX96),
                tick: slot0.tick.as_i32(),
                liquidity,
            })
        }
    }
}
