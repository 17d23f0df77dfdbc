//! Checks whether the payer signed an authorization. This is separate from the token's verdict, because the token
//! checks validity and use first, and reports only that for used or expired authorizations.

use alloy::primitives::{B256, Signature, U256, keccak256};
use alloy::sol_types::{SolCall, SolStruct};
use exitgap_core::ids::Word;
use tokio::time::Instant;

use super::abi::TransferWithAuthorization;
use super::abi::Wallet::isValidSignatureCall;
use super::{Authorization, SettleError, TokenNode};
use crate::abi::{own, wire};

/// A contract's answer if a signature is valid.
const GOOD: [u8; 4] = isValidSignatureCall::SELECTOR;

impl Authorization {
    /// The digest that is signed, for a token with this signing domain.
    fn digest(&self, domain_separator: Word) -> B256 {
        let message = TransferWithAuthorization {
            from: wire(self.from),
            to: wire(self.to),
            value: U256::from(self.value),
            validAfter: U256::from(self.valid_after_s),
            validBefore: U256::from(self.valid_before_s),
            nonce: B256::from(self.nonce.0),
        };
        let hash = message.eip712_hash_struct();
        keccak256([&[0x19, 0x01][..], &domain_separator.0, hash.as_slice()].concat())
    }

    /// Whether the payer's own account signed it: 65 bytes, with the lower s.
    fn is_signed_by_account(&self, domain_separator: Word) -> bool {
        let signature = self.signature.as_slice().try_into().ok();
        let signature = signature.and_then(|raw| Signature::from_raw_array(raw).ok());
        signature.filter(|signature| signature.normalize_s().is_none()).is_some_and(|signature| {
            let signer = signature.recover_address_from_prehash(&self.digest(domain_separator));
            signer.is_ok_and(|signer| own(signer) == self.from)
        })
    }
}

impl TokenNode {
    /// Whether the payer signed this authorization: with its key or, if it is a contract, according to the contract.
    pub async fn is_signed(
        &self,
        authorization: &Authorization,
        domain_separator: Word,
        deadline: Instant,
    ) -> Result<bool, SettleError> {
        if authorization.is_signed_by_account(domain_separator) {
            return Ok(true);
        }
        let call = isValidSignatureCall {
            hash: authorization.digest(domain_separator),
            signature: authorization.signature.clone().into(),
        };
        let payer = authorization.from;
        let answered = self.call_of(payer, call.abi_encode().into(), None, deadline).await?;
        Ok(answered.is_ok_and(|answer| {
            let answer = isValidSignatureCall::abi_decode_returns_validate(&answer);
            answer.is_ok_and(|answer| answer.0 == GOOD)
        }))
    }
}
