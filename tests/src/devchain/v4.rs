//! Uniswap v4: its real pool manager, and the two test callers of its authors.

use alloy::primitives::aliases::{I24, U24, U160};
use alloy::primitives::{Address, B256, Bytes, I256, U256, keccak256};
use alloy::sol_types::SolValue;

use super::{DevChain, Result, Tx, abi};
use crate::fixtures::Artifact;

/// The manager and its callers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct V4 {
    /// The manager of all pools.
    pub manager: Address,
    /// The contract that adds and removes liquidity.
    liquidity: Address,
    /// The contract that swaps.
    swapper: Address,
}

/// A pool of the manager.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct V4Pool {
    /// Its key.
    pub key: abi::V4Key,
    /// Its id, the key's hash.
    pub id: B256,
}

impl V4Pool {
    /// The pool of these tokens; zero stands for the chain's native coin.
    pub fn of(tokens: [Address; 2], fee: u32, tick_spacing: i32) -> Self {
        let [a, b] = tokens;
        let key = abi::V4Key {
            currency0: a.min(b),
            currency1: a.max(b),
            fee: U24::from(fee),
            tickSpacing: I24::unchecked_from(tick_spacing),
            hooks: Address::ZERO,
        };
        let id = keccak256(key.abi_encode());
        Self { key, id }
    }

    /// The amount of native coin to send if at most this amount is paid.
    fn value(&self, at_most: U256) -> U256 {
        if self.key.currency0 == Address::ZERO { at_most } else { U256::ZERO }
    }
}

/// More native coin than any position here needs; the rest is returned.
const ENOUGH: u128 = 100_000_000_000_000_000_000_000;

impl DevChain {
    /// Deploys the manager and its callers, which may spend these tokens of the operator.
    pub async fn deploy_v4(&self, tokens: &[Address]) -> Result<V4> {
        let nonce = self.nonce(self.operator).await?;
        let [manager, liquidity, swapper] =
            [0, 1, 2].map(|place| self.operator.create(nonce + place));
        let create = |artifact: Artifact, argument: Address| -> Result<Tx> {
            Ok(Tx::create(self.operator, &artifact.creation_code()?, &argument.abi_encode()))
        };
        let mut txs = vec![
            create(Artifact::PoolManager, self.operator)?,
            create(Artifact::PoolModifyLiquidityTest, manager)?,
            create(Artifact::PoolSwapTest, manager)?,
            Tx::call(
                self.operator,
                manager,
                &abi::V4Manager::setProtocolFeeControllerCall { controller: self.operator },
            ),
        ];
        for token in tokens {
            txs.extend([liquidity, swapper].map(|spender| {
                let approve = abi::Token::approveCall { spender, amount: U256::MAX };
                Tx::call(self.operator, *token, &approve)
            }));
        }
        self.mine_all(&txs).await?;
        Ok(V4 { manager, liquidity, swapper })
    }

    /// Initializes the pool at the price 1, with the protocol fee for selling token 0 and token 1, in millionths.
    pub async fn initialize_v4(
        &self,
        v4: &V4,
        pool: &V4Pool,
        protocol_fee: [u32; 2],
    ) -> Result<()> {
        let initialize = abi::V4Manager::initializeCall {
            key: pool.key.clone(),
            sqrtPriceX96: U160::from(1) << 96,
        };
        let [zero_for_one, one_for_zero] = protocol_fee;
        let set = abi::V4Manager::setProtocolFeeCall {
            key: pool.key.clone(),
            newProtocolFee: U24::from(one_for_zero << 12 | zero_for_one),
        };
        let txs = [
            Tx::call(self.operator, v4.manager, &initialize),
            Tx::call(self.operator, v4.manager, &set),
        ];
        self.mine_next(&txs).await?;
        Ok(())
    }

    /// Adds this much liquidity between two ticks, or removes it, in a separate block.
    pub async fn modify_v4(
        &self,
        v4: &V4,
        pool: &V4Pool,
        ticks: [i32; 2],
        liquidity: i128,
    ) -> Result<()> {
        let [lower, upper] = ticks.map(I24::unchecked_from);
        let modify = abi::V4Liquidity::modifyLiquidityCall {
            key: pool.key.clone(),
            params: abi::V4LiquidityParams {
                tickLower: lower,
                tickUpper: upper,
                liquidityDelta: I256::try_from(liquidity).unwrap_or_default(),
                salt: B256::ZERO,
            },
            hookData: Bytes::new(),
        };
        let tx = Tx::call(self.operator, v4.liquidity, &modify);
        let value = if liquidity > 0 { pool.value(U256::from(ENOUGH)) } else { U256::ZERO };
        self.mine_next(&[tx.with_value(value)]).await?;
        Ok(())
    }

    /// The transaction in which the operator sells `amount_in`.
    pub fn v4_swap_tx(&self, v4: &V4, pool: &V4Pool, zero_for_one: bool, amount_in: U256) -> Tx {
        // Within the manager's bounds, and far from any price in these tests.
        let one = U160::from(1);
        let limit = if zero_for_one { one << 33 } else { one << 159 };
        let swap = abi::V4Swap::swapCall {
            key: pool.key.clone(),
            params: abi::V4SwapParams {
                zeroForOne: zero_for_one,
                // The amount to sell is negative.
                amountSpecified: -I256::from_raw(amount_in),
                sqrtPriceLimitX96: limit,
            },
            testSettings: abi::V4SwapSettings { takeClaims: false, settleUsingBurn: false },
            hookData: Bytes::new(),
        };
        let value = if zero_for_one { pool.value(amount_in) } else { U256::ZERO };
        Tx::call(self.operator, v4.swapper, &swap).with_value(value)
    }

    /// A real swap of the whole offered amount, in a separate block: returns the amounts taken and paid.
    pub async fn swap_v4(
        &self,
        v4: &V4,
        pool: &V4Pool,
        zero_for_one: bool,
        amount_in: U256,
    ) -> Result<[U256; 2]> {
        let tx = self.v4_swap_tx(v4, pool, zero_for_one, amount_in);
        let mined = self.mine_next(&[tx]).await?;
        let swapped = mined.event::<abi::V4Manager::Swap>(0, v4.manager)?;
        let amounts =
            [swapped.amount0, swapped.amount1].map(|amount| U256::from(amount.unsigned_abs()));
        let sold = usize::from(!zero_for_one);
        Ok([amounts[sold], amounts[1 - sold]])
    }
}
