//! Tokens: creation, minting, balances.

use alloy::eips::BlockId;
use alloy::primitives::{Address, U256};
use alloy::sol_types::SolConstructor;
use serde::{Deserialize, Serialize};

use super::{DevChain, Result, Tx, abi};
use crate::fixtures::Artifact;

/// A token on the chain.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Token {
    /// The token contract.
    pub address: Address,
    /// Its symbol.
    pub symbol: String,
    /// Its decimals.
    pub decimals: u8,
}

impl Token {
    /// `whole` tokens in base units.
    pub fn units(&self, whole: u64) -> U256 {
        U256::from(whole) * U256::from(10).pow(U256::from(self.decimals))
    }
}

/// The initial balance of each account in each token: more than any test can spend, and far below the contracts'
/// maximum amounts.
const PLENTY: u128 = 1 << 100;

impl DevChain {
    /// Creates freely mintable ERC-20 tokens, in two blocks regardless of their number.
    ///
    /// Operator and trader have plenty of each, and have approved the routers and the position manager, so that every
    /// other helper works with them immediately.
    pub async fn create_tokens(&self, kinds: &[(&str, u8)]) -> Result<Vec<Token>> {
        let code = Artifact::MintableErc20.creation_code()?;
        let nonce = self.nonce(self.operator).await?;
        let mut creations = Vec::new();
        let mut tokens = Vec::new();
        for ((symbol, decimals), nonce) in kinds.iter().zip(nonce..) {
            let arguments = abi::Token::constructorCall {
                name: format!("{symbol} (development)"),
                symbol: (*symbol).to_owned(),
                decimals: *decimals,
            };
            creations.push(Tx::create(self.operator, &code, &arguments.abi_encode()));
            tokens.push(Token {
                address: self.operator.create(nonce),
                symbol: (*symbol).to_owned(),
                decimals: *decimals,
            });
        }
        self.mine_all(&creations).await?;
        let mut txs = Vec::new();
        for token in &tokens {
            for account in [self.operator, self.trader] {
                let mint = abi::Token::mintCall { account, value: U256::from(PLENTY) };
                txs.push(Tx::call(self.operator, token.address, &mint));
            }
            txs.extend(self.approvals(token.address));
        }
        self.mine_all(&txs).await?;
        Ok(tokens)
    }

    /// Wrapped ether as a token; operator and trader wrap half of their ether and approve it.
    pub async fn wrap_ether(&self) -> Result<Token> {
        let weth = self.contracts.weth;
        let half = U256::from(500_000_000) * U256::from(10).pow(U256::from(18));
        let mut txs: Vec<Tx> = [self.operator, self.trader]
            .map(|account| Tx::call(account, weth, &abi::Token::depositCall {}).with_value(half))
            .into();
        txs.extend(self.approvals(weth));
        self.mine_next(&txs).await?;
        Ok(Token { address: weth, symbol: "WETH".to_owned(), decimals: 18 })
    }

    /// An account's balance of a token, in base units.
    pub async fn balance_of(&self, token: Address, owner: Address, at: BlockId) -> Result<U256> {
        self.call(token, &abi::Token::balanceOfCall { owner }, at).await
    }

    /// Approvals of a token for all contracts that transfer it from operator or trader.
    pub(super) fn approvals(&self, token: Address) -> Vec<Tx> {
        let Self { operator, trader, contracts, .. } = self;
        [
            (operator, contracts.v3_positions),
            (operator, contracts.v2_router),
            (trader, contracts.v3_router),
            (trader, contracts.v2_router),
        ]
        .into_iter()
        .map(|(owner, spender)| {
            let approve = abi::Token::approveCall { spender, amount: U256::MAX };
            Tx::call(*owner, token, &approve)
        })
        .collect()
    }
}
