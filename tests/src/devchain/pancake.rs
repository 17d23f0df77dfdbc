//! `PancakeSwap` v3: its real factory and pool. The deployer that creates the factory's pools is ours, because the
//! original is not published as bytecode.

use alloy::primitives::aliases::{U24, U160};
use alloy::primitives::{Address, Bytes, hex};
use alloy::sol_types::SolValue;

use super::{DevChain, DevChainError, PaidPool, Result, Token, Tx, abi};
use crate::fixtures::Artifact;

/// The deployer's address.
const DEPLOYER: Address = Address::repeat_byte(0xd1);

/// The deployer's code: `parameters()` returns the five words of the previous call; any other call creates a pool and
/// returns its address.
fn deployer_code(creation: &[u8]) -> Bytes {
    let start = hex!("60003560e01c638903573014").to_vec(); // parameters() jumps
    let mut deploy = Vec::new();
    for (slot, offset) in (0_u8..5).zip([0x04, 0x24, 0x44, 0x64, 0x84]) {
        deploy.extend([0x60, offset, 0x35, 0x60, slot, 0x55]);
    }
    let size = u32::try_from(creation.len()).unwrap_or(0).to_be_bytes();
    let mut answer = vec![0x5b];
    for slot in 0_u8..5 {
        answer.extend([0x60, slot, 0x54, 0x60, 32 * slot, 0x52]);
    }
    answer.extend(hex!("60a06000f3"));
    // Copies the creation code, creates, returns the address.
    let create = |at: u16| {
        let at = at.to_be_bytes();
        [&[0x63][..], &size, &[0x61], &at, &hex!("600039"), &[0x63], &size, &hex!("60006000f0")]
            .concat()
    };
    let ending = hex!("60005260206000f3");
    let jump = start.len() + 3 + deploy.len() + create(0).len() + ending.len();
    let code_end = u16::try_from(jump + answer.len()).unwrap_or(0);
    let jump = u8::try_from(jump).unwrap_or(0);
    let parts: [&[u8]; 7] =
        [&start, &[0x60, jump, 0x57], &deploy, &create(code_end), &ending, &answer, creation];
    parts.concat().into()
}

impl DevChain {
    /// Deploys the factory and one pool at the price 1, and gives the payer plenty of both tokens. The fee is 100, 500,
    /// 2500 or 10000.
    pub async fn create_pancake_pool(&self, tokens: [&Token; 2], fee: u32) -> Result<PaidPool> {
        let [a, b] = tokens.map(|token| token.address);
        let (token0, token1) = (a.min(b), a.max(b));
        self.set_code(DEPLOYER, deployer_code(&Artifact::PancakeV3Pool.creation_code()?)).await?;
        self.stand_payer([token0, token1]).await?;
        let factory = self.operator.create(self.nonce(self.operator).await?);
        let code = Artifact::PancakeV3Factory.creation_code()?;
        let create = abi::PancakeFactory::createPoolCall {
            tokenA: token0,
            tokenB: token1,
            fee: U24::from(fee),
        };
        let deploy = Tx::create(self.operator, &code, &DEPLOYER.abi_encode());
        self.mine_next(&[deploy]).await?;
        self.mine_next(&[Tx::call(self.operator, factory, &create)]).await?;
        let asked =
            abi::V3Factory::getPoolCall { tokenA: token0, tokenB: token1, fee: U24::from(fee) };
        let address = self.call(factory, &asked, self.head().await?.number.into()).await?;
        if address == Address::ZERO {
            let (what, reason) = ("the created pool".to_owned(), "there is none".to_owned());
            return Err(DevChainError::Unexpected { what, reason });
        }
        let price = abi::PancakePool::initializeCall { sqrtPriceX96: U160::from(1) << 96 };
        self.mine_next(&[Tx::call(self.operator, address, &price)]).await?;
        Ok(PaidPool { factory, address, token0, token1 })
    }
}
