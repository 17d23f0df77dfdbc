//! `PancakeSwap` v3: its real factory and pool. Two contracts are ours, because theirs are not
//! published as bytecode: a deployer that creates what the factory asks for, and somebody who pays
//! what the pool's callbacks ask for.

use alloy::primitives::aliases::{I24, U24, U160};
use alloy::primitives::{Address, Bytes, I256, U256, hex};
use alloy::sol_types::{SolCall, SolValue};

use super::{DevChain, DevChainError, Result, Token, Tx, abi};
use crate::fixtures::Artifact;

/// Where the deployer stands.
const DEPLOYER: Address = Address::repeat_byte(0xd1);
/// Where whoever pays stands.
const PAYER: Address = Address::repeat_byte(0xd2);

/// A pool of the real contracts, and its factory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PancakePool {
    /// The factory.
    pub factory: Address,
    /// The pool.
    pub address: Address,
    /// The token with the lower address.
    pub token0: Address,
    /// The token with the higher address.
    pub token1: Address,
}

/// The deployer's code: `parameters()` answers the five words that anything else is called with,
/// which also creates a pool and answers its address.
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

/// The payer's code. With `1` in four bytes it calls the contract in the next 32 with the rest;
/// anything else is a pool's callback, which it sends as much of each token as its first two words
/// say (a transfer of what it is to be paid fails, and that does not matter).
fn payer_code(tokens: [Address; 2]) -> Bytes {
    let mut pay = Vec::new();
    for (token, offset) in tokens.iter().zip([0x04, 0x24]) {
        pay.extend(hex!("63a9059cbb60e01b600052")); // transfer(
        pay.extend(hex!("33600452")); // to the pool,
        pay.extend([0x60, offset, 0x35, 0x60, 0x24, 0x52]); // the amount)
        pay.extend(hex!("60006000604460006000"));
        pay.push(0x73);
        pay.extend(token);
        pay.extend(hex!("5af150"));
    }
    pay.push(0x00);
    let start = hex!("60003560e01c600114");
    let jump = u8::try_from(start.len() + 3 + pay.len()).unwrap_or(0);
    let mut call = hex!("5b602436038060246000376000600082600060006004355af1").to_vec();
    let done = jump + u8::try_from(call.len()).unwrap_or(0) + 12;
    call.extend([0x60, done, 0x57]);
    call.extend(hex!("3d6000803e3d6000fd5b00"));
    [&start[..], &[0x60, jump, 0x57], &pay, &call].concat().into()
}

impl DevChain {
    /// Deploys the factory and one pool of it, at the price 1, and gives the payer plenty of both
    /// tokens. The fee is 100, 500, 2500 or 10000.
    pub async fn create_pancake_pool(&self, tokens: [&Token; 2], fee: u32) -> Result<PancakePool> {
        let [a, b] = tokens.map(|token| token.address);
        let (token0, token1) = (a.min(b), a.max(b));
        self.set_code(DEPLOYER, deployer_code(&Artifact::PancakeV3Pool.creation_code()?)).await?;
        self.set_code(PAYER, payer_code([token0, token1])).await?;
        let factory = self.operator.create(self.nonce(self.operator).await?);
        let code = Artifact::PancakeV3Factory.creation_code()?;
        let plenty = U256::from(1_u128 << 100);
        let mint = |token| {
            let call = abi::Token::mintCall { account: PAYER, value: plenty };
            Tx::call(self.operator, token, &call)
        };
        let create = abi::PancakeFactory::createPoolCall {
            tokenA: token0,
            tokenB: token1,
            fee: U24::from(fee),
        };
        let deploy = Tx::create(self.operator, &code, &DEPLOYER.abi_encode());
        self.mine_next(&[deploy, mint(token0), mint(token1)]).await?;
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
        Ok(PancakePool { factory, address, token0, token1 })
    }

    /// Adds liquidity to the pool, in a block of its own.
    pub async fn mint_pancake(
        &self,
        pool: &PancakePool,
        ticks: [i32; 2],
        liquidity: u128,
    ) -> Result<()> {
        let [lower, upper] = ticks.map(I24::unchecked_from);
        let mint = abi::PancakePool::mintCall {
            recipient: PAYER,
            tickLower: lower,
            tickUpper: upper,
            amount: liquidity,
            data: Bytes::new(),
        };
        self.through_payer(pool, &mint).await
    }

    /// A real swap by the pool's own function, in a block of its own: what it paid.
    pub async fn swap_pancake(
        &self,
        pool: &PancakePool,
        zero_for_one: bool,
        amount_in: U256,
    ) -> Result<U256> {
        let bought = if zero_for_one { pool.token1 } else { pool.token0 };
        let held = async || {
            let now = self.head().await?.number.into();
            self.balance_of(bought, PAYER, now).await
        };
        let before = held().await?;
        // Within the contract's bounds, and far from any price here.
        let one = U160::from(1);
        let limit = if zero_for_one { one << 33 } else { one << 159 };
        let swap = abi::PancakePool::swapCall {
            recipient: PAYER,
            zeroForOne: zero_for_one,
            amountSpecified: I256::from_raw(amount_in),
            sqrtPriceLimitX96: limit,
            data: Bytes::new(),
        };
        self.through_payer(pool, &swap).await?;
        Ok(held().await? - before)
    }

    async fn through_payer(&self, pool: &PancakePool, call: &impl SolCall) -> Result<()> {
        let data = [&[0, 0, 0, 1][..], &pool.address.abi_encode(), &call.abi_encode()].concat();
        let (from, to) = (self.operator, Some(PAYER));
        self.mine_next(&[Tx { from, to, data: data.into(), value: U256::ZERO }]).await?;
        Ok(())
    }
}
