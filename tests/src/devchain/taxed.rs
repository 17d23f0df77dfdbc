//! A token that takes a fee on transfer.

use alloy::primitives::U256;
use alloy::sol_types::SolConstructor;

use super::{DevChain, Result, Token, Tx, abi};
use crate::fixtures::Artifact;

impl DevChain {
    /// Deploys a token that does not take a fee yet, and mints this amount to the operator and to the trader. Pools may
    /// contain it.
    pub async fn deploy_taxed_token(&self, value: U256) -> Result<Token> {
        let address = self.operator.create(self.nonce(self.operator).await?);
        let symbol = "TAX".to_owned();
        let arguments = abi::TaxedToken::constructorCall {
            name: "Taxed (development)".to_owned(),
            symbol: symbol.clone(),
        };
        let code = Artifact::TaxedToken.creation_code()?;
        let mut txs = vec![Tx::create(self.operator, &code, &arguments.abi_encode())];
        for account in [self.operator, self.trader] {
            let mint = abi::TaxedToken::mintCall { account, value };
            txs.push(Tx::call(self.operator, address, &mint));
        }
        txs.extend(self.approvals(address));
        self.mine_all(&txs).await?;
        Ok(Token { address, symbol, decimals: 18 })
    }

    /// The transaction that sets this fee, in hundredths of a percent, on every later transfer.
    pub fn tax_tx(&self, token: &Token, bps: u64) -> Tx {
        let call = abi::TaxedToken::setFeeBpsCall { bps: U256::from(bps) };
        Tx::call(self.operator, token.address, &call)
    }
}
