//! A payer for pools derived from Uniswap v3 without a published caller contract: it pays what their callbacks ask for.

use alloy::primitives::aliases::{I24, U160};
use alloy::primitives::{Address, Bytes, I256, U256, hex};
use alloy::sol_types::{SolCall, SolValue};

use super::{DevChain, Result, Tx, abi};

/// The payer's address.
const PAYER: Address = Address::repeat_byte(0xd2);

/// A pool of the real contracts, and its factory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PaidPool {
    /// The factory.
    pub factory: Address,
    /// The pool.
    pub address: Address,
    /// The token with the lower address.
    pub token0: Address,
    /// The token with the higher address.
    pub token1: Address,
}

/// The payer's code. A call that begins with `1` in four bytes is forwarded to the contract in the next 32 bytes, with
/// the rest as data. Any other call is a pool's callback: the payer sends the pool as much of each token as the first
/// two words say (the transfer of a negative amount fails, which does not matter).
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
    /// Installs the payer for a pool of these tokens, and gives it plenty of both.
    pub(super) async fn stand_payer(&self, tokens: [Address; 2]) -> Result<()> {
        self.set_code(PAYER, payer_code(tokens)).await?;
        let plenty = U256::from(1_u128 << 100);
        let mint = |token| {
            let call = abi::Token::mintCall { account: PAYER, value: plenty };
            Tx::call(self.operator, token, &call)
        };
        self.mine_next(&tokens.map(mint)).await?;
        Ok(())
    }

    /// Adds liquidity to the pool, in a separate block.
    pub async fn mint_paid(&self, pool: &PaidPool, ticks: [i32; 2], liquidity: u128) -> Result<()> {
        let [lower, upper] = ticks.map(I24::unchecked_from);
        let mint = abi::PaidPool::mintCall {
            recipient: PAYER,
            tickLower: lower,
            tickUpper: upper,
            amount: liquidity,
            data: Bytes::new(),
        };
        self.through_payer(pool, &mint).await
    }

    /// A real swap through the pool's own function, in a separate block: returns the amount paid.
    pub async fn swap_paid(
        &self,
        pool: &PaidPool,
        zero_for_one: bool,
        amount_in: U256,
    ) -> Result<U256> {
        let bought = if zero_for_one { pool.token1 } else { pool.token0 };
        let held = async || {
            let now = self.head().await?.number.into();
            self.balance_of(bought, PAYER, now).await
        };
        let before = held().await?;
        // Within the contract's bounds, and far from any price in these tests.
        let one = U160::from(1);
        let limit = if zero_for_one { one << 33 } else { one << 159 };
        let swap = abi::PaidPool::swapCall {
            recipient: PAYER,
            zeroForOne: zero_for_one,
            amountSpecified: I256::from_raw(amount_in),
            sqrtPriceLimitX96: limit,
            data: Bytes::new(),
        };
        self.through_payer(pool, &swap).await?;
        Ok(held().await? - before)
    }

    async fn through_payer(&self, pool: &PaidPool, call: &impl SolCall) -> Result<()> {
        let data = [&[0, 0, 0, 1][..], &pool.address.abi_encode(), &call.abi_encode()].concat();
        let (from, to) = (self.operator, Some(PAYER));
        self.mine_next(&[Tx { from, to, data: data.into(), value: U256::ZERO }]).await?;
        Ok(())
    }
}
