//! Slipstream, Aerodrome's concentrated liquidity: its real factory and pool.

use alloy::primitives::aliases::{I24, U160};
use alloy::primitives::{Address, Bytes, hex};
use alloy::sol_types::SolConstructor;

use super::{DevChain, PaidPool, Result, Token, Tx, abi};
use crate::fixtures::Artifact;

/// Stands in for the voter and for the previous factory: nothing is staked, and the previous factory created no pool.
const NOBODY: Address = Address::repeat_byte(0xd3);

/// Code that answers every call with this number.
fn answering(number: u32) -> Bytes {
    [&[0x63][..], &number.to_be_bytes(), &hex!("60005260206000f3")].concat().into()
}

impl DevChain {
    /// Deploys the factory, which the operator owns, and one pool at the price 1, and gives the payer plenty of both
    /// tokens. The tick spacing is 1, 50, 100, 200 or 2000, with a fee of 100, 500, 500, 3000 or 10000 millionths.
    pub async fn create_slipstream_pool(
        &self,
        tokens: [&Token; 2],
        tick_spacing: i32,
    ) -> Result<PaidPool> {
        let [a, b] = tokens.map(|token| token.address);
        let (token0, token1) = (a.min(b), a.max(b));
        self.set_code(NOBODY, answering(0)).await?;
        self.stand_payer([token0, token1]).await?;
        let nonce = self.nonce(self.operator).await?;
        let [implementation, factory] = [0, 1].map(|place| self.operator.create(nonce + place));
        let of_factory = abi::SlipstreamFactory::constructorCall {
            voter: NOBODY,
            legacyFactory: NOBODY,
            implementation,
        };
        let create = |artifact: Artifact, arguments: Vec<u8>| -> Result<Tx> {
            Ok(Tx::create(self.operator, &artifact.creation_code()?, &arguments))
        };
        let pool = abi::SlipstreamFactory::createPoolCall {
            tokenA: token0,
            tokenB: token1,
            tickSpacing: I24::unchecked_from(tick_spacing),
            sqrtPriceX96: U160::from(1) << 96,
        };
        self.mine_all(&[
            create(Artifact::SlipstreamPool, Vec::new())?,
            create(Artifact::SlipstreamFactory, of_factory.abi_encode())?,
        ])
        .await?;
        let mined = self.mine_next(&[Tx::call(self.operator, factory, &pool)]).await?;
        let address = mined.event::<abi::SlipstreamFactory::PoolCreated>(0, factory)?.pool;
        Ok(PaidPool { factory, address, token0, token1 })
    }

    /// Makes the factory ask a module at this address for every fee; the module returns this many millionths.
    pub async fn module_slipstream(
        &self,
        pool: &PaidPool,
        module: Address,
        fee: u32,
    ) -> Result<()> {
        self.set_code(module, answering(fee)).await?;
        let set = abi::SlipstreamFactory::setSwapFeeModuleCall { module };
        self.mine_next(&[Tx::call(self.operator, pool.factory, &set)]).await?;
        Ok(())
    }
}
