//! Uniswap v2: pairs and their liquidity.

use alloy::eips::BlockId;
use alloy::primitives::{Address, U256};

use super::{DevChain, Pool, PoolKind, Result, Token, Tx, abi};

/// The fee of every v2 pair, in millionths.
const V2_FEE: u32 = 3000;

impl DevChain {
    /// Creates a pair with these amounts, in base units.
    pub async fn create_v2_pair(&self, a: (&Token, U256), b: (&Token, U256)) -> Result<Pool> {
        let create = abi::V2Factory::createPairCall { tokenA: a.0.address, tokenB: b.0.address };
        let token0 = a.0.address.min(b.0.address);
        let (amount0, amount1) = if token0 == a.0.address { (a.1, b.1) } else { (b.1, a.1) };
        let mut pool = Pool {
            address: Address::ZERO,
            token0,
            token1: a.0.address.max(b.0.address),
            fee: V2_FEE,
            kind: PoolKind::V2,
        };
        self.mine_next(&[
            Tx::call(self.operator, self.contracts.v2_factory, &create),
            self.v2_add_tx(&pool, amount0, amount1),
        ])
        .await?;
        let get = abi::V2Factory::getPairCall { tokenA: pool.token0, tokenB: pool.token1 };
        pool.address = self.call(self.contracts.v2_factory, &get, BlockId::latest()).await?;
        // The router transfers the operator's liquidity tokens when liquidity is removed.
        let approve =
            abi::Token::approveCall { spender: self.contracts.v2_router, amount: U256::MAX };
        self.mine_next(&[Tx::call(self.operator, pool.address, &approve)]).await?;
        Ok(pool)
    }

    /// The transaction that adds up to these amounts, in the pair's current ratio.
    pub fn v2_add_tx(&self, pool: &Pool, amount0: U256, amount1: U256) -> Tx {
        let add = abi::V2Router::addLiquidityCall {
            tokenA: pool.token0,
            tokenB: pool.token1,
            amountADesired: amount0,
            amountBDesired: amount1,
            amountAMin: U256::ZERO,
            amountBMin: U256::ZERO,
            to: self.operator,
            deadline: U256::MAX,
        };
        Tx::call(self.operator, self.contracts.v2_router, &add)
    }

    /// The transaction that redeems this many of the operator's liquidity tokens of a pair.
    pub fn v2_remove_tx(&self, pool: &Pool, shares: U256) -> Tx {
        let remove = abi::V2Router::removeLiquidityCall {
            tokenA: pool.token0,
            tokenB: pool.token1,
            liquidity: shares,
            amountAMin: U256::ZERO,
            amountBMin: U256::ZERO,
            to: self.operator,
            deadline: U256::MAX,
        };
        Tx::call(self.operator, self.contracts.v2_router, &remove)
    }

    /// The router's quote for an exact input at a block.
    pub(super) async fn v2_quote(
        &self,
        pool: &Pool,
        token_in: Address,
        amount_in: U256,
        at: BlockId,
    ) -> Result<U256> {
        let call = abi::V2Router::getAmountsOutCall {
            amountIn: amount_in,
            path: vec![token_in, pool.other(token_in)],
        };
        let amounts = self.call(self.contracts.v2_router, &call, at).await?;
        Ok(amounts.last().copied().unwrap_or_default())
    }

    /// The transaction in which the trader sells `amount_in` to a pair.
    pub(super) fn v2_swap_tx(&self, pool: &Pool, token_in: Address, amount_in: U256) -> Tx {
        let call = abi::V2Router::swapExactTokensForTokensCall {
            amountIn: amount_in,
            amountOutMin: U256::ZERO,
            path: vec![token_in, pool.other(token_in)],
            to: self.trader,
            deadline: U256::MAX,
        };
        Tx::call(self.trader, self.contracts.v2_router, &call)
    }
}
