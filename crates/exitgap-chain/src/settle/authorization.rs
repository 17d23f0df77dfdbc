//! Authorizations of transfers, and whether they would succeed.

use alloy::primitives::{B256, Bytes, U256};
use alloy::sol_types::SolCall;
use exitgap_core::ids::{Address, Word};

use super::abi::FiatToken::transferWithAuthorizationCall;
use crate::abi::wire;

/// EIP-3009's `TransferWithAuthorization` with its signature.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Authorization {
    /// The payer.
    pub from: Address,
    /// The payee.
    pub to: Address,
    /// The amount, in the token's units.
    pub value: u128,
    /// The authorization is valid after this Unix second.
    pub valid_after_s: u64,
    /// The authorization is valid before this Unix second.
    pub valid_before_s: u64,
    /// This payer can use it only once.
    pub nonce: Word,
    /// 65 bytes from an account, or bytes that the payer's contract verifies (EIP-1271).
    pub signature: Vec<u8>,
}

/// The token's verdict on an authorization, from the same call that would settle it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// It would succeed on the newest block.
    Good,
    /// The signature is not the payer's.
    Signature,
    /// The signature is from a wallet that is not deployed yet (EIP-6492). Such payments are not settled.
    Undeployed,
    /// The authorization was already used or cancelled.
    Used,
    /// It is not valid yet.
    NotYet,
    /// Its time is over.
    Expired,
    /// The payer has less.
    Funds,
    /// The token refuses it for another reason: it is paused, an account is blocked, or a rule of its own.
    Refused,
}

/// The last bytes of every EIP-6492 signature.
const UNDEPLOYED: [u8; 2] = [0x64, 0x92];

impl Authorization {
    /// The call that settles it.
    pub(super) fn call_data(&self) -> Bytes {
        let call = transferWithAuthorizationCall {
            from: wire(self.from),
            to: wire(self.to),
            value: U256::from(self.value),
            validAfter: U256::from(self.valid_after_s),
            validBefore: U256::from(self.valid_before_s),
            nonce: B256::from(self.nonce.0),
            signature: self.signature.clone().into(),
        };
        call.abi_encode().into()
    }

    /// Bytes for storage: the payer (20), the payee (20), the amount (16), the two instants (8 each), the nonce (32),
    /// with numbers in big-endian order, and then the signature.
    pub fn to_bytes(&self) -> Vec<u8> {
        let Self { from, to, value, valid_after_s, valid_before_s, nonce, signature } = self;
        let instants = [valid_after_s.to_be_bytes(), valid_before_s.to_be_bytes()].concat();
        [&from.0[..], &to.0, &value.to_be_bytes(), &instants, &nonce.0, signature].concat()
    }

    /// Parses the bytes from [`Self::to_bytes`]; `None` if they are too short.
    pub fn of_bytes(bytes: &[u8]) -> Option<Self> {
        let (from, rest) = bytes.split_first_chunk()?;
        let (to, rest) = rest.split_first_chunk()?;
        let (value, rest) = rest.split_first_chunk()?;
        let (after, rest) = rest.split_first_chunk()?;
        let (before, rest) = rest.split_first_chunk()?;
        let (nonce, signature) = rest.split_first_chunk()?;
        Some(Self {
            from: Address(*from),
            to: Address(*to),
            value: u128::from_be_bytes(*value),
            valid_after_s: u64::from_be_bytes(*after),
            valid_before_s: u64::from_be_bytes(*before),
            nonce: Word(*nonce),
            signature: signature.to_vec(),
        })
    }

    /// Whether the signature is wrapped for a wallet that is not deployed yet.
    pub(super) fn is_undeployed(&self) -> bool {
        let end = self.signature.last_chunk::<32>();
        end.is_some_and(|end| end.chunks_exact(2).all(|pair| pair == UNDEPLOYED))
    }
}

impl Verdict {
    /// Classifies the text of a revert, as written by `FiatTokenV2_2.sol` and its parts.
    pub(super) fn of_revert(message: &str) -> Self {
        let lower = message.to_ascii_lowercase();
        let says = |words: &[&str]| words.iter().any(|word| lower.contains(word));
        if says(&["authorization is used or canceled"]) {
            Self::Used
        } else if says(&["invalid signature", "ecrecover"]) {
            Self::Signature
        } else if says(&["not yet valid"]) {
            Self::NotYet
        } else if says(&["authorization is expired"]) {
            Self::Expired
        } else if says(&["exceeds balance"]) {
            Self::Funds
        } else {
            Self::Refused
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_kept_is_read_as_it_was() {
        let authorization = Authorization {
            from: Address([1; 20]),
            to: Address([2; 20]),
            value: u128::MAX - 3,
            valid_after_s: 4,
            valid_before_s: u64::MAX - 5,
            nonce: Word([6; 32]),
            signature: vec![7; 65],
        };
        let bytes = authorization.to_bytes();
        assert_eq!(Authorization::of_bytes(&bytes), Some(authorization));
        assert_eq!(Authorization::of_bytes(&bytes[..103]), None);
        assert_eq!(Authorization::of_bytes(&[]), None);
    }

    #[test]
    fn a_wallet_that_does_not_exist_yet_is_known_by_its_signatures_end() {
        let with = |signature: Vec<u8>| Authorization {
            from: Address([1; 20]),
            to: Address([2; 20]),
            value: 1,
            valid_after_s: 0,
            valid_before_s: 1,
            nonce: Word([3; 32]),
            signature,
        };
        assert!(with([vec![7; 96], UNDEPLOYED.repeat(16)].concat()).is_undeployed());
        assert!(
            !with([vec![7; 96], UNDEPLOYED.repeat(15), vec![0x64, 0x93]].concat()).is_undeployed()
        );
        assert!(!with(vec![0x64, 0x92]).is_undeployed());
        assert!(!with(vec![0; 65]).is_undeployed());
    }
}
