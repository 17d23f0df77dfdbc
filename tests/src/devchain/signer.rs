//! Keys of accounts that tests and the demonstration sign with.

use alloy::primitives::{Address, B256, Signature, eip191_hash_message};
use k256::ecdsa::SigningKey;

/// A private key, with the names that `alloy-signer-local` has for what it does.
#[derive(Debug, Clone)]
pub struct PrivateKeySigner(SigningKey);

impl PrivateKeySigner {
    /// The key of 32 bytes; not every such number is one.
    pub fn from_slice(bytes: &[u8]) -> Result<Self, String> {
        SigningKey::from_slice(bytes).map(Self).map_err(|error| error.to_string())
    }

    /// The same, of a hash.
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

    /// Signs a text as wallets do, by EIP-191.
    pub fn sign_message_sync(&self, message: &[u8]) -> Result<Signature, String> {
        self.sign_hash_sync(&eip191_hash_message(message))
    }
}
