//! Aerodrome v2: its real factory and pools, volatile and stable.

use alloy::primitives::{Address, Bytes, U256};
use alloy::sol_types::SolValue;

use super::{DevChain, DevChainError, Result, Token, Tx, abi};
use crate::fixtures::Artifact;

/// The recipient of swaps, which receives nothing else.
const PAID: Address = Address::repeat_byte(0xd3);

/// A pool of the real contracts, and its factory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SolidlyPool {
    /// The factory.
    pub factory: Address,
    /// The pool.
    pub address: Address,
    /// The token with the lower address.
    pub token0: Address,
    /// The token with the higher address.
    pub token1: Address,
    /// Whether it is a stable pool, for tokens of about the same price.
    pub stable: bool,
}

impl SolidlyPool {
    fn sold_and_bought(&self, zero_for_one: bool) -> (Address, Address) {
        if zero_for_one { (self.token0, self.token1) } else { (self.token1, self.token0) }
    }
}

impl DevChain {
    /// Deploys the factory; the operator can set its fees and pause it.
    pub async fn deploy_solidly(&self) -> Result<Address> {
        let nonce = self.nonce(self.operator).await?;
        let (pool, factory) = (self.operator.create(nonce), self.operator.create(nonce + 1));
        let code = |artifact: Artifact| artifact.creation_code();
        self.mine_all(&[
            Tx::create(self.operator, &code(Artifact::AerodromePool)?, &[]),
            Tx::create(self.operator, &code(Artifact::AerodromePoolFactory)?, &pool.abi_encode()),
        ])
        .await?;
        Ok(factory)
    }

    /// Creates a pool without liquidity.
    pub async fn create_solidly_pool(
        &self,
        factory: Address,
        tokens: [&Token; 2],
        stable: bool,
    ) -> Result<SolidlyPool> {
        let [a, b] = tokens.map(|token| token.address);
        let (token0, token1) = (a.min(b), a.max(b));
        let create = abi::SolidlyFactory::createPoolCall { tokenA: token0, tokenB: token1, stable };
        self.mine_next(&[Tx::call(self.operator, factory, &create)]).await?;
        let asked = abi::SolidlyFactory::getPoolCall { tokenA: token0, tokenB: token1, stable };
        let address = self.call(factory, &asked, self.head().await?.number.into()).await?;
        if address == Address::ZERO {
            let (what, reason) = ("the created pool".to_owned(), "there is none".to_owned());
            return Err(DevChainError::Unexpected { what, reason });
        }
        Ok(SolidlyPool { factory, address, token0, token1, stable })
    }

    /// Adds these raw amounts of token 0 and token 1 as liquidity, in a separate block.
    pub async fn mint_solidly(&self, pool: &SolidlyPool, amounts: [U256; 2]) -> Result<()> {
        let [first, second] = self.pay_solidly(pool, amounts);
        let mint = abi::SolidlyPool::mintCall { to: self.operator };
        let mint = Tx::call(self.operator, pool.address, &mint);
        self.mine_next(&[first, second, mint]).await?;
        Ok(())
    }

    /// Adds reserves to the pool without minting liquidity for them, in a separate block.
    pub async fn donate_solidly(&self, pool: &SolidlyPool, amounts: [U256; 2]) -> Result<()> {
        let [first, second] = self.pay_solidly(pool, amounts);
        let sync = Tx::call(self.operator, pool.address, &abi::SolidlyPool::syncCall {});
        self.mine_next(&[first, second, sync]).await?;
        Ok(())
    }

    /// The two transactions of a sale through the pool's own function, for the amount that the pool currently quotes;
    /// its router combines them into one.
    pub async fn solidly_swap_txs(
        &self,
        pool: &SolidlyPool,
        zero_for_one: bool,
        amount_in: U256,
    ) -> Result<[Tx; 2]> {
        let (sold, bought) = pool.sold_and_bought(zero_for_one);
        let quote = abi::SolidlyPool::getAmountOutCall { amountIn: amount_in, tokenIn: sold };
        let quoted = self.call(pool.address, &quote, self.head().await?.number.into()).await?;
        let of = |token: Address| if token == bought { quoted } else { U256::ZERO };
        let pay = abi::Token::transferCall { to: pool.address, amount: amount_in };
        let swap = abi::SolidlyPool::swapCall {
            amount0Out: of(pool.token0),
            amount1Out: of(pool.token1),
            to: PAID,
            data: Bytes::new(),
        };
        Ok([Tx::call(self.operator, sold, &pay), Tx::call(self.operator, pool.address, &swap)])
    }

    /// A real swap through the pool's own function, for the amount that the pool itself quotes, like its router, in a
    /// separate block: returns the amount transferred to the buyer.
    pub async fn swap_solidly(
        &self,
        pool: &SolidlyPool,
        zero_for_one: bool,
        amount_in: U256,
    ) -> Result<U256> {
        let (_, bought) = pool.sold_and_bought(zero_for_one);
        let before = self.balance_of(bought, PAID, self.head().await?.number.into()).await?;
        let txs = self.solidly_swap_txs(pool, zero_for_one, amount_in).await?;
        let mined = self.mine_next(&txs).await?;
        Ok(self.balance_of(bought, PAID, mined.number.into()).await? - before)
    }

    /// Sets a fee for one pool, in parts of 10,000; the factory interprets 420 as zero.
    pub async fn set_solidly_fee(&self, pool: &SolidlyPool, fee: u64) -> Result<()> {
        let set =
            abi::SolidlyFactory::setCustomFeeCall { pool: pool.address, fee: U256::from(fee) };
        self.mine_next(&[Tx::call(self.operator, pool.factory, &set)]).await?;
        Ok(())
    }

    /// Pauses or unpauses all swaps of the factory's pools.
    pub async fn pause_solidly(&self, factory: Address, paused: bool) -> Result<()> {
        let pause = abi::SolidlyFactory::setPauseStateCall { state: paused };
        self.mine_next(&[Tx::call(self.operator, factory, &pause)]).await?;
        Ok(())
    }

    fn pay_solidly(&self, pool: &SolidlyPool, amounts: [U256; 2]) -> [Tx; 2] {
        let pay = |token: Address, amount: U256| {
            let pay = abi::Token::transferCall { to: pool.address, amount };
            Tx::call(self.operator, token, &pay)
        };
        [pay(pool.token0, amounts[0]), pay(pool.token1, amounts[1])]
    }
}
