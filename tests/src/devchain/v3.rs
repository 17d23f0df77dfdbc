//! Uniswap v3: pools, positions, quotes.

use alloy::eips::BlockId;
use alloy::primitives::aliases::{I24, U24, U160};
use alloy::primitives::{Address, U256, U512, keccak256};
use alloy::sol_types::{SolCall, SolEvent, SolValue};
use alloy_rpc_types_eth::TransactionReceipt;
use serde::{Deserialize, Serialize};

use super::root::square_root;
use super::{DevChain, DevChainError, Mined, Pool, PoolKind, Result, Tx, abi};
use crate::fixtures::Artifact;

/// Number of positions minted per transaction, well below its gas limit.
const MINTS_PER_TX: usize = 25;

/// A v3 pool to be created.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PoolSpec {
    /// One token; the order does not matter.
    pub token_a: Address,
    /// The other token.
    pub token_b: Address,
    /// 100, 500, 3000 or 10000; determines the tick spacing (1, 10, 60 or 200).
    pub fee: u32,
    /// Initial √(token1/token0) in base units, times 2^96; see [`sqrt_price_x96`].
    pub sqrt_price_x96: U256,
    /// Positions to mint immediately.
    pub positions: Vec<PositionSpec>,
}

/// A position to mint: its range, and the amount of each token offered for it.
///
/// The position manager computes the liquidity from the offer and takes the required amounts: both tokens inside the
/// range, only one outside.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PositionSpec {
    /// Lower tick, a multiple of the pool's tick spacing.
    pub tick_lower: i32,
    /// Upper tick, a multiple of the pool's tick spacing, above the lower.
    pub tick_upper: i32,
    /// Offered base units of the pool's token0.
    pub amount0: U256,
    /// Offered base units of the pool's token1.
    pub amount1: U256,
}

/// A position the operator holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct MintedPosition {
    /// Its pool.
    pub pool: Pool,
    /// Its number at the position manager.
    pub token_id: U256,
    /// Lower tick.
    pub tick_lower: i32,
    /// Upper tick.
    pub tick_upper: i32,
    /// Liquidity the position manager gave it.
    pub liquidity: u128,
}

/// √(amount1/amount0) × 2^96, rounded down: the price at which these amounts are worth the same.
///
/// # Panics
/// If `amount0` is 0, or the price does not fit the contract's 160 bits.
pub fn sqrt_price_x96(amount1: U256, amount0: U256) -> U256 {
    let ratio: U512 = (U512::from(amount1) << 192_usize) / U512::from(amount0);
    let root = U256::from(square_root(ratio));
    assert!(root >> 160 == U256::ZERO, "the price exceeds 160 bits");
    root
}

impl DevChain {
    /// Creates one v3 pool with its positions.
    pub async fn create_v3_pool(&self, spec: PoolSpec) -> Result<(Pool, Vec<MintedPosition>)> {
        let created = self.create_v3_pools(&[spec]).await?;
        created.into_iter().next().ok_or_else(|| DevChainError::Unexpected {
            what: "the created pool".to_owned(),
            reason: "there is none".to_owned(),
        })
    }

    /// Creates v3 pools with their positions, about as fast as the node can execute it.
    pub async fn create_v3_pools(
        &self,
        specs: &[PoolSpec],
    ) -> Result<Vec<(Pool, Vec<MintedPosition>)>> {
        let init_code_hash = keccak256(Artifact::UniswapV3Pool.creation_code()?);
        let mut pools = Vec::new();
        let mut creations = Vec::new();
        let mut positions = Vec::new();
        for spec in specs {
            let token0 = spec.token_a.min(spec.token_b);
            let token1 = spec.token_a.max(spec.token_b);
            let salt = keccak256((token0, token1, U24::from(spec.fee)).abi_encode());
            let pool = Pool {
                address: self.contracts.v3_factory.create2(salt, init_code_hash),
                token0,
                token1,
                fee: spec.fee,
                kind: PoolKind::V3,
            };
            let create = abi::PositionManager::createAndInitializePoolIfNecessaryCall {
                token0,
                token1,
                fee: U24::from(spec.fee),
                sqrtPriceX96: U160::from(spec.sqrt_price_x96),
            };
            creations.push(Tx::call(self.operator, self.contracts.v3_positions, &create));
            positions.extend(spec.positions.iter().map(|position| (pool, *position)));
            pools.push(pool);
        }
        self.mine_all(&creations).await?;
        let mut minted = self.mint_positions(&positions).await?.into_iter();
        Ok(pools
            .into_iter()
            .zip(specs)
            .map(|(pool, spec)| (pool, minted.by_ref().take(spec.positions.len()).collect()))
            .collect())
    }

    /// Mints positions for the operator, many per transaction.
    pub async fn mint_positions(
        &self,
        positions: &[(Pool, PositionSpec)],
    ) -> Result<Vec<MintedPosition>> {
        let groups: Vec<_> = positions.chunks(MINTS_PER_TX).collect();
        let txs: Vec<Tx> = groups.iter().map(|group| self.mint_tx(group)).collect();
        let blocks = self.mine_all(&txs).await?;
        let receipts = blocks
            .iter()
            .flat_map(|block| (0..block.receipts.len()).map(move |index| (block, index)));
        let mut minted = Vec::new();
        for ((block, index), group) in receipts.zip(groups) {
            minted.extend(self.minted_in(block, index, group)?);
        }
        Ok(minted)
    }

    /// The transaction that mints these positions; [`Self::minted_in`] reads the result.
    pub fn mint_tx(&self, positions: &[(Pool, PositionSpec)]) -> Tx {
        let data = positions
            .iter()
            .map(|(pool, position)| {
                let params = abi::PositionManager::MintParams {
                    token0: pool.token0,
                    token1: pool.token1,
                    fee: U24::from(pool.fee),
                    tickLower: I24::unchecked_from(position.tick_lower),
                    tickUpper: I24::unchecked_from(position.tick_upper),
                    amount0Desired: position.amount0,
                    amount1Desired: position.amount1,
                    amount0Min: U256::ZERO,
                    amount1Min: U256::ZERO,
                    recipient: self.operator,
                    deadline: U256::MAX,
                };
                abi::PositionManager::mintCall { params }.abi_encode().into()
            })
            .collect();
        let multicall = abi::PositionManager::multicallCall { data };
        Tx::call(self.operator, self.contracts.v3_positions, &multicall)
    }

    /// The positions that transaction `index` of a block minted, given the request.
    pub fn minted_in(
        &self,
        block: &Mined,
        index: usize,
        asked: &[(Pool, PositionSpec)],
    ) -> Result<Vec<MintedPosition>> {
        let logs = block.receipts.get(index).map(TransactionReceipt::logs);
        let minted: Vec<MintedPosition> = logs
            .into_iter()
            .flatten()
            .filter(|log| log.address() == self.contracts.v3_positions)
            .filter_map(|log| abi::PositionManager::IncreaseLiquidity::decode_log(&log.inner).ok())
            .zip(asked)
            .map(|(event, (pool, position))| MintedPosition {
                pool: *pool,
                token_id: event.tokenId,
                tick_lower: position.tick_lower,
                tick_upper: position.tick_upper,
                liquidity: event.liquidity,
            })
            .collect();
        if minted.len() == asked.len() {
            return Ok(minted);
        }
        Err(DevChainError::Unexpected {
            what: format!("minted positions in transaction {index}"),
            reason: format!("{} events for {} positions", minted.len(), asked.len()),
        })
    }

    /// The transaction that removes `liquidity` from a position and collects its tokens; a position without remaining
    /// liquidity is deleted.
    pub fn burn_tx(&self, position: &MintedPosition, liquidity: u128) -> Tx {
        let decrease = abi::PositionManager::decreaseLiquidityCall {
            params: abi::PositionManager::DecreaseLiquidityParams {
                tokenId: position.token_id,
                liquidity,
                amount0Min: U256::ZERO,
                amount1Min: U256::ZERO,
                deadline: U256::MAX,
            },
        };
        let collect = abi::PositionManager::collectCall {
            params: abi::PositionManager::CollectParams {
                tokenId: position.token_id,
                recipient: self.operator,
                amount0Max: u128::MAX,
                amount1Max: u128::MAX,
            },
        };
        let mut data = vec![decrease.abi_encode().into(), collect.abi_encode().into()];
        if liquidity == position.liquidity {
            let burn = abi::PositionManager::burnCall { tokenId: position.token_id };
            data.push(burn.abi_encode().into());
        }
        let multicall = abi::PositionManager::multicallCall { data };
        Tx::call(self.operator, self.contracts.v3_positions, &multicall)
    }

    /// Removes `liquidity` from a position in a separate block.
    pub async fn burn_position(&self, position: &MintedPosition, liquidity: u128) -> Result<Mined> {
        self.mine_next(&[self.burn_tx(position, liquidity)]).await
    }

    /// The answer of `QuoterV2` for an exact input at a block: the amount out, the price after it, and the number of
    /// initialised ticks crossed. Beyond the pool's liquidity it returns what the pool would pay.
    pub async fn v3_quote(
        &self,
        pool: &Pool,
        token_in: Address,
        amount_in: U256,
        at: BlockId,
    ) -> Result<abi::Quoter::quoteExactInputSingleReturn> {
        let call = abi::Quoter::quoteExactInputSingleCall {
            params: abi::Quoter::QuoteExactInputSingleParams {
                tokenIn: token_in,
                tokenOut: pool.other(token_in),
                amountIn: amount_in,
                fee: U24::from(pool.fee),
                sqrtPriceLimitX96: U160::ZERO,
            },
        };
        self.call(self.contracts.v3_quoter, &call, at).await
    }

    /// The transaction in which the trader sells up to `amount_in` to a v3 pool, no further than the price `limit` (0:
    /// no limit).
    pub fn v3_swap_tx(&self, pool: &Pool, token_in: Address, amount_in: U256, limit: U256) -> Tx {
        let call = abi::V3Router::exactInputSingleCall {
            params: abi::V3Router::ExactInputSingleParams {
                tokenIn: token_in,
                tokenOut: pool.other(token_in),
                fee: U24::from(pool.fee),
                recipient: self.trader,
                deadline: U256::MAX,
                amountIn: amount_in,
                amountOutMinimum: U256::ZERO,
                sqrtPriceLimitX96: U160::from(limit),
            },
        };
        Tx::call(self.trader, self.contracts.v3_router, &call)
    }

    /// The transaction in which the trader buys exactly `amount_out` from a v3 pool, whatever it costs.
    pub fn v3_buy_tx(&self, pool: &Pool, token_in: Address, amount_out: U256) -> Tx {
        let call = abi::V3Router::exactOutputSingleCall {
            params: abi::V3Router::ExactOutputSingleParams {
                tokenIn: token_in,
                tokenOut: pool.other(token_in),
                fee: U24::from(pool.fee),
                recipient: self.trader,
                deadline: U256::MAX,
                amountOut: amount_out,
                amountInMaximum: U256::MAX,
                sqrtPriceLimitX96: U160::ZERO,
            },
        };
        Tx::call(self.trader, self.contracts.v3_router, &call)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_amounts_are_the_price_one() {
        let one = U256::from(1) << 96;
        assert_eq!(sqrt_price_x96(U256::from(5), U256::from(5)), one);
        assert_eq!(sqrt_price_x96(U256::from(4), U256::from(1)), one * U256::from(2));
    }

    #[test]
    #[should_panic(expected = "exceeds 160 bits")]
    fn a_price_beyond_the_contract_is_refused() {
        sqrt_price_x96(U256::MAX, U256::from(1));
    }
}
