//! Signers of payments.

use core::fmt;
use core::future::Future;
use std::borrow::Cow;

use alloy::primitives::{Address as EvmAddress, B256, Signature, U256, hex};
use alloy::sol;
use alloy::sol_types::{Eip712Domain, SolStruct};
use exitgap_api::x402::{Authorization, TokenDomain};
use exitgap_core::ids::{Address, Caip2};
use k256::ecdsa::SigningKey;

sol! {
    /// EIP-3009's message.
    struct TransferWithAuthorization {
        address from;
        address to;
        uint256 value;
        uint256 validAfter;
        uint256 validBefore;
        bytes32 nonce;
    }
}

/// Signs EIP-712 messages for one account: a key in memory, a device, a remote service.
pub trait Signer {
    /// The account.
    fn address(&self) -> Address;

    /// Its signature, `r ‖ s ‖ v`. The error is the signer's own message.
    fn sign(&self, data: &TypedData) -> impl Future<Output = Result<[u8; 65], String>>;
}

/// An authorization with its signing domain.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TypedData {
    /// The chain.
    pub network: Caip2,
    /// The token's contract.
    pub asset: Address,
    /// The token's signing domain.
    pub domain: TokenDomain,
    /// The message.
    pub authorization: Authorization,
}

impl TypedData {
    /// The hash to sign: EIP-712's hash of domain and message.
    pub fn hash(&self) -> [u8; 32] {
        let Authorization { from, to, value, valid_after_s, valid_before_s, nonce } =
            &self.authorization;
        let message = TransferWithAuthorization {
            from: EvmAddress::from(from.0),
            to: EvmAddress::from(to.0),
            value: U256::from(value.0),
            validAfter: U256::from(*valid_after_s),
            validBefore: U256::from(*valid_before_s),
            nonce: B256::from(nonce.0),
        };
        let TokenDomain { name, version } = &self.domain;
        let domain = Eip712Domain::new(
            Some(Cow::Owned(name.clone())),
            Some(Cow::Owned(version.clone())),
            Some(U256::from(self.network.0)),
            Some(EvmAddress::from(self.asset.0)),
            None,
        );
        message.eip712_signing_hash(&domain).0
    }

    /// The JSON for wallets: the second parameter of `eth_signTypedData_v4`.
    pub fn to_json(&self) -> serde_json::Value {
        let field = |name: &str, of: &str| serde_json::json!({"name": name, "type": of});
        let Authorization { from, to, value, valid_after_s, valid_before_s, nonce } =
            &self.authorization;
        serde_json::json!({
            "types": {
                "EIP712Domain": [
                    field("name", "string"), field("version", "string"),
                    field("chainId", "uint256"), field("verifyingContract", "address"),
                ],
                "TransferWithAuthorization": [
                    field("from", "address"), field("to", "address"), field("value", "uint256"),
                    field("validAfter", "uint256"), field("validBefore", "uint256"),
                    field("nonce", "bytes32"),
                ],
            },
            "primaryType": "TransferWithAuthorization",
            "domain": {
                "name": self.domain.name,
                "version": self.domain.version,
                "chainId": self.network.0,
                "verifyingContract": self.asset,
            },
            "message": {
                "from": from,
                "to": to,
                "value": value,
                "validAfter": valid_after_s.to_string(),
                "validBefore": valid_before_s.to_string(),
                "nonce": nonce,
            },
        })
    }
}

/// A private key in this process's memory, for small amounts: anyone who can read the memory has the key.
#[derive(Clone)]
pub struct LocalSigner(SigningKey);

impl fmt::Debug for LocalSigner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("LocalSigner").field(&self.address()).finish()
    }
}

impl LocalSigner {
    /// Parses a key of 64 hex digits, with or without `0x`. An error does not contain them.
    pub fn of_hex(text: &str) -> Result<Self, String> {
        let digits = text.strip_prefix("0x").unwrap_or(text);
        let is_hex = digits.len() == 64 && digits.bytes().all(|byte| byte.is_ascii_hexdigit());
        let key = is_hex.then(|| hex::decode_to_array::<_, 32>(digits).ok()).flatten();
        let key = key.and_then(|bytes| SigningKey::from_slice(&bytes).ok());
        key.map(Self).ok_or_else(|| "it is not a private key of 64 hex digits".to_owned())
    }
}

impl Signer for LocalSigner {
    fn address(&self) -> Address {
        Address(EvmAddress::from_private_key(&self.0).into_array())
    }

    async fn sign(&self, data: &TypedData) -> Result<[u8; 65], String> {
        let signature = self.0.sign_prehash_recoverable(&data.hash()).map(Signature::from);
        signature.map(|signature| signature.as_bytes()).map_err(|error| error.to_string())
    }
}
