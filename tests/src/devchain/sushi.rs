//! `SushiSwap` v3: its contracts are Uniswap v3's, according to its deployments, with a separate factory.

use alloy::primitives::aliases::{U24, U160};

use super::{DevChain, PaidPool, Result, Token, Tx, abi};
use crate::fixtures::Artifact;

impl DevChain {
    /// Deploys another Uniswap v3 factory and one pool at the price 1, and gives the payer plenty of both tokens. The
    /// fee is 500, 3000 or 10000.
    pub async fn create_sushi_pool(&self, tokens: [&Token; 2], fee: u32) -> Result<PaidPool> {
        let [a, b] = tokens.map(|token| token.address);
        let (token0, token1) = (a.min(b), a.max(b));
        self.stand_payer([token0, token1]).await?;
        let factory = self.operator.create(self.nonce(self.operator).await?);
        let code = Artifact::UniswapV3Factory.creation_code()?;
        self.mine_next(&[Tx::create(self.operator, &code, &[])]).await?;
        let fee = U24::from(fee);
        let create = abi::PancakeFactory::createPoolCall { tokenA: token0, tokenB: token1, fee };
        self.mine_next(&[Tx::call(self.operator, factory, &create)]).await?;
        let asked = abi::V3Factory::getPoolCall { tokenA: token0, tokenB: token1, fee };
        let address = self.call(factory, &asked, self.head().await?.number.into()).await?;
        let price = abi::PancakePool::initializeCall { sqrtPriceX96: U160::from(1) << 96 };
        self.mine_next(&[Tx::call(self.operator, address, &price)]).await?;
        Ok(PaidPool { factory, address, token0, token1 })
    }
}
