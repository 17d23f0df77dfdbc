//! Algebra Integral: its real factory, deployer and pool, and the test caller of its authors.

use alloy::primitives::aliases::{I24, U160};
use alloy::primitives::{Address, Bytes, I256, U256};
use alloy::sol_types::{SolCall, SolValue};

use super::{DevChain, DevChainError, Result, Token, Tx, abi};
use crate::fixtures::Artifact;

/// A pool of the real contracts, and its factory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LinkedPool {
    /// The factory.
    pub factory: Address,
    /// The pool.
    pub address: Address,
    /// The token with the lower address.
    pub token0: Address,
    /// The token with the higher address.
    pub token1: Address,
    /// The contract that adds liquidity and swaps.
    callee: Address,
}

impl DevChain {
    /// Deploys the factory and a pool without plugin at the price 1. The operator owns it and lets the caller spend
    /// both tokens.
    pub async fn create_linked_pool(
        &self,
        tokens: [&Token; 2],
        fee: u16,
        tick_spacing: i32,
    ) -> Result<LinkedPool> {
        let [a, b] = tokens.map(|token| token.address);
        let (token0, token1) = (a.min(b), a.max(b));
        let nonce = self.nonce(self.operator).await?;
        let [deployer, factory, callee] =
            [0, 1, 2].map(|place| self.operator.create(nonce + place));
        let create = |artifact: Artifact, arguments: Vec<u8>| -> Result<Tx> {
            Ok(Tx::create(self.operator, &artifact.creation_code()?, &arguments))
        };
        let approve = |token: Address| {
            let call = abi::Token::approveCall { spender: callee, amount: U256::MAX };
            Tx::call(self.operator, token, &call)
        };
        let pool = abi::AlgebraFactory::createPoolCall {
            tokenA: token0,
            tokenB: token1,
            data: Bytes::new(),
        };
        self.mine_all(&[
            // The two contracts refer to each other.
            create(Artifact::AlgebraPoolDeployer, factory.abi_encode())?,
            create(Artifact::AlgebraFactory, deployer.abi_encode())?,
            create(Artifact::TestAlgebraCallee, Vec::new())?,
            approve(token0),
            approve(token1),
            Tx::call(self.operator, factory, &pool),
        ])
        .await?;
        let asked = abi::AlgebraFactory::poolByPairCall { tokenA: token0, tokenB: token1 };
        let address = self.call(factory, &asked, self.head().await?.number.into()).await?;
        if address == Address::ZERO {
            let (what, reason) = ("the created pool".to_owned(), "there is none".to_owned());
            return Err(DevChainError::Unexpected { what, reason });
        }
        let created = LinkedPool { factory, address, token0, token1, callee };
        let price = abi::AlgebraPool::initializeCall { initialPrice: U160::from(1) << 96 };
        let fee = abi::AlgebraPool::setFeeCall { newFee: fee };
        self.call_linked(&created, &price).await?;
        self.call_linked(&created, &fee).await?;
        self.space_linked(&created, tick_spacing).await?;
        Ok(created)
    }

    /// Changes the tick spacing; existing ticks are unaffected.
    pub async fn space_linked(&self, pool: &LinkedPool, tick_spacing: i32) -> Result<()> {
        let spacing = I24::unchecked_from(tick_spacing);
        let call = abi::AlgebraPool::setTickSpacingCall { newTickSpacing: spacing };
        self.call_linked(pool, &call).await
    }

    /// Installs a plugin that is called for the events given by `flags`.
    pub async fn plug_linked(&self, pool: &LinkedPool, plugin: Address, flags: u8) -> Result<()> {
        let call = abi::AlgebraPool::setPluginCall { newPluginAddress: plugin };
        self.call_linked(pool, &call).await?;
        self.call_linked(pool, &abi::AlgebraPool::setPluginConfigCall { newConfig: flags }).await
    }

    /// Adds liquidity to the pool, in a separate block.
    pub async fn mint_linked(
        &self,
        pool: &LinkedPool,
        ticks: [i32; 2],
        amount: u128,
    ) -> Result<()> {
        let [bottom, top] = ticks.map(I24::unchecked_from);
        let mint = abi::AlgebraCallee::mintCall {
            pool: pool.address,
            recipient: self.operator,
            bottomTick: bottom,
            topTick: top,
            amount,
        };
        self.mine_next(&[Tx::call(self.operator, pool.callee, &mint)]).await?;
        Ok(())
    }

    /// A real swap of the whole offered amount, in a separate block: returns the amounts taken and paid.
    pub async fn swap_linked(
        &self,
        pool: &LinkedPool,
        zero_for_one: bool,
        amount_in: U256,
    ) -> Result<[U256; 2]> {
        // Within the contract's bounds, and far from any price in these tests.
        let one = U160::from(1);
        let (pool_address, recipient) = (pool.address, self.operator);
        let swap = if zero_for_one {
            abi::AlgebraCallee::swapExact0For1Call {
                pool: pool_address,
                amount0In: amount_in,
                recipient,
                limitSqrtPrice: one << 33,
            }
            .abi_encode()
        } else {
            abi::AlgebraCallee::swapExact1For0Call {
                pool: pool_address,
                amount1In: amount_in,
                recipient,
                limitSqrtPrice: one << 159,
            }
            .abi_encode()
        };
        let (from, to) = (self.operator, Some(pool.callee));
        let mined =
            self.mine_next(&[Tx { from, to, data: swap.into(), value: U256::ZERO }]).await?;
        let swapped = mined.event::<abi::AlgebraPool::Swap>(0, pool.address)?;
        let amounts = [swapped.amount0, swapped.amount1].map(I256::unsigned_abs);
        let sold = usize::from(!zero_for_one);
        Ok([amounts[sold], amounts[1 - sold]])
    }

    async fn call_linked(&self, pool: &LinkedPool, call: &impl SolCall) -> Result<()> {
        self.mine_next(&[Tx::call(self.operator, pool.address, call)]).await?;
        Ok(())
    }
}
