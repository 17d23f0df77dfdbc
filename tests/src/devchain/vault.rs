//! Vaults: tokens that are redeemed for an underlying token (ERC-4626).

use alloy::primitives::U256;
use alloy::sol_types::{SolCall as _, SolConstructor};

use super::{DevChain, Result, Token, Tx, abi};
use crate::fixtures::Artifact;

impl DevChain {
    /// Deploys a vault of a token, in which the operator deposits this amount, and returns its share token, which may
    /// be put into pools.
    pub async fn deploy_vault(&self, asset: &Token, assets: U256) -> Result<Token> {
        let address = self.operator.create(self.nonce(self.operator).await?);
        let arguments = abi::Vault::constructorCall { asset: asset.address }.abi_encode();
        let approve = abi::Token::approveCall { spender: address, amount: U256::MAX };
        let deposit = abi::Vault::depositCall { assets, receiver: self.operator };
        let code = Artifact::Vault.creation_code()?;
        let mut txs = vec![
            Tx::create(self.operator, &code, &arguments),
            Tx::call(self.operator, asset.address, &approve),
            Tx::call(self.operator, address, &deposit),
        ];
        txs.extend(self.approvals(address));
        self.mine_all(&txs).await?;
        Ok(Token { address, symbol: "vSHARE".to_owned(), decimals: asset.decimals })
    }

    /// The amount that the operator would receive now for this many shares of a vault: a call without a transaction.
    pub async fn redeems(&self, vault: &Token, shares: U256) -> Result<U256> {
        let owner = self.operator;
        let redeem = abi::Vault::redeemCall { shares, receiver: owner, owner };
        let request = serde_json::json!({
            "from": owner, "to": vault.address, "data": alloy::primitives::hex::encode_prefixed(redeem.abi_encode()),
        });
        self.rpc("eth_call", (request, "latest")).await
    }
}
