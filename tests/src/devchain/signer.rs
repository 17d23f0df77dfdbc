//! Account keys for tests and the demonstration.

use alloy::primitives::{Address, B256, Signature, eip191_hash_message};
use k256::ecdsa::SigningKey;

/// A private key, with the same function names as in `alloy-signer-local`.
#[derive(Debug, Clone)]
pub struct PrivateKeySigner(SigningKey);

impl PrivateKeySigner {
    /// A key from 32 bytes, which must be a valid key.
    pub fn from_slice(bytes: &[u8]) -> Result<Self, String> {
        SigningKey::from_slice(bytes).map(Self).map_err(|error| error.to_string())
    }

    /// The same, from a hash.
    pub fn from_bytes(bytes: &B256) -> Result<Self, String> {
        Self::from_slice(bytes.as_slice())
    }

    /// Its account.
    pub fn address(&self) -> Address {
        Address::from_private_key(&self.0)
    }

    /// Signs a hash.
    pub fn sign_hash_sync(&self, hash: &B256) -> Result<Signature, String> {
        let signed = self.0.sign_prehash_recoverable(hash.as_slice());
        signed.map(Signature::from).map_err(|error| error.to_string())
    }

    /// Signs a text like a wallet, by EIP-191.
    pub fn sign_message_sync(&self, message: &[u8]) -> Result<Signature, String> {
        self.sign_hash_sync(&eip191_hash_message(message))
    }
}
