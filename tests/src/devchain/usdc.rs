//! The payment token: Circle's own code, at its address on Base Sepolia.

use crate::devchain::PrivateKeySigner;
use alloy::eips::BlockId;
use alloy::primitives::{Address, B256, Bytes, U256, address};
use alloy::sol_types::{Eip712Domain, SolCall, SolStruct, eip712_domain};

use super::abi::{CancelAuthorization, FiatToken, TransferWithAuthorization};
use super::{DevChain, Result, Tx};
use crate::fixtures::Artifact;

/// The address of the library that checks the token's signatures.
const LIBRARY: Address = address!("0x00000000000000000000000000000000000051C4");

/// The token, initialised and with a minter.
#[derive(Debug, Clone)]
pub struct Usdc {
    /// Its contract.
    pub address: Address,
    /// The signing domain of its authorizations.
    pub domain: Eip712Domain,
}

/// A signed authorization.
#[derive(Debug, Clone)]
pub struct Authorized {
    /// The signed message.
    pub message: TransferWithAuthorization,
    /// The signature.
    pub signature: Bytes,
}

impl Usdc {
    /// The address that the official clients expect for the token on chain 84532.
    pub const ADDRESS: Address = address!("0x036CbD53842c5426634e7929541eC2318f3dCF7e");

    /// Deploys the token on a chain without automatic mining. The chain's operator may mint, pause and block accounts.
    pub async fn deploy(chain: &DevChain, chain_id: u64) -> Result<Self> {
        let operator = chain.operator;
        chain.set_code(LIBRARY, Artifact::SignatureChecker.deployed_code()?).await?;
        let code = Artifact::FiatTokenV2_2.deployed_code_with(LIBRARY)?;
        chain.set_code(Self::ADDRESS, code).await?;
        let [name, symbol, version] = ["USDC", "USDC", "2"].map(str::to_owned);
        let calls: [Vec<u8>; 6] = [
            FiatToken::initializeCall {
                tokenName: name.clone(),
                tokenSymbol: symbol.clone(),
                tokenCurrency: "USD".to_owned(),
                tokenDecimals: 6,
                newMasterMinter: operator,
                newPauser: operator,
                newBlacklister: operator,
                newOwner: operator,
            }
            .abi_encode(),
            FiatToken::initializeV2Call { newName: name.clone() }.abi_encode(),
            FiatToken::initializeV2_1Call { lostAndFound: operator }.abi_encode(),
            FiatToken::initializeV2_2Call { accountsToBlacklist: Vec::new(), newSymbol: symbol }
                .abi_encode(),
            FiatToken::configureMinterCall {
                minter: operator,
                minterAllowedAmount: U256::from(u64::MAX),
            }
            .abi_encode(),
            FiatToken::mintCall { to: operator, amount: U256::from(1_000_000_000_000_u64) }
                .abi_encode(),
        ];
        let txs = calls.map(|data| Tx {
            from: operator,
            to: Some(Self::ADDRESS),
            data: data.into(),
            value: U256::ZERO,
        });
        chain.mine_next(&txs).await?;
        let domain = eip712_domain! {
            name: name,
            version: version,
            chain_id: chain_id,
            verifying_contract: Self::ADDRESS,
        };
        Ok(Self { address: Self::ADDRESS, domain })
    }

    /// The operator's transaction that mints this many units for an account.
    pub fn fund(&self, chain: &DevChain, account: Address, units: u64) -> Tx {
        let mint = FiatToken::mintCall { to: account, amount: U256::from(units) };
        Tx::call(chain.operator, self.address, &mint)
    }

    /// An account's balance at the newest block.
    pub async fn balance(&self, chain: &DevChain, account: Address) -> Result<U256> {
        chain.call(self.address, &FiatToken::balanceOfCall { account }, BlockId::latest()).await
    }

    /// Signs an authorization.
    pub fn authorize(
        &self,
        signer: &PrivateKeySigner,
        message: TransferWithAuthorization,
    ) -> Authorized {
        let signature = sign(signer, message.eip712_signing_hash(&self.domain));
        Authorized { message, signature }
    }

    /// The payer's call that cancels an authorization.
    pub fn cancel(
        &self,
        signer: &PrivateKeySigner,
        nonce: B256,
    ) -> FiatToken::cancelAuthorizationCall {
        let authorizer = signer.address();
        let hash = CancelAuthorization { authorizer, nonce }.eip712_signing_hash(&self.domain);
        let signature = sign(signer, hash);
        FiatToken::cancelAuthorizationCall { authorizer, nonce, signature }
    }
}

fn sign(signer: &PrivateKeySigner, hash: B256) -> Bytes {
    // A local key can sign practically every hash.
    let signature = signer.sign_hash_sync(&hash).map(|signature| signature.as_bytes().to_vec());
    signature.unwrap_or_default().into()
}

impl Authorized {
    /// The call that settles the authorization.
    pub fn call(&self) -> FiatToken::transferWithAuthorizationCall {
        let TransferWithAuthorization { from, to, value, validAfter, validBefore, nonce } =
            self.message;
        let signature = self.signature.clone();
        FiatToken::transferWithAuthorizationCall {
            from,
            to,
            value,
            validAfter,
            validBefore,
            nonce,
            signature,
        }
    }
}
