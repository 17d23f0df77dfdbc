//! The effects of a transaction: the token's transfers in it, and the key under which each pays only once.

use core::fmt;

use alloy::primitives::{B256, Bytes, Signature, U64, U256};
use alloy::sol_types::SolEvent;
use exitgap_core::ids::{Address, BlockHash, Caip2, Word};
use serde::Deserialize;

use super::abi::FiatToken::{AuthorizationUsed, Transfer as TransferEvent};
use crate::abi::own;
use crate::rpc::RpcError;

/// A mined transaction.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Receipt {
    /// The transaction's hash.
    pub transaction: Word,
    /// Number of its block.
    pub block: u64,
    /// Hash of its block.
    pub block_hash: BlockHash,
    /// Whether it succeeded. A reverted transaction has no logs.
    pub succeeded: bool,
    logs: Vec<WireLog>,
}

/// A transfer of the token in a transaction.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Transfer {
    /// The payer.
    pub from: Address,
    /// The amount, in the token's units, capped at 2^128 − 1.
    pub value: u128,
    /// The key under which it pays only once.
    pub key: ReplayKey,
}

/// The identity of one payment, however it is presented.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReplayKey {
    /// An authorization, identified by the payer and the nonce.
    Authorization {
        /// The chain.
        network: Caip2,
        /// The token.
        asset: Address,
        /// The payer.
        from: Address,
        /// The authorization's nonce.
        nonce: Word,
    },
    /// Another transfer, identified by its position among its transaction's logs, which a reorganisation does not
    /// change.
    Transfer {
        /// The chain.
        network: Caip2,
        /// The transaction's hash.
        transaction: Word,
        /// The index in the receipt's logs.
        ordinal: usize,
    },
}

impl fmt::Display for ReplayKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Authorization { network, asset, from, nonce } => {
                write!(f, "3009:{network}:{asset}:{from}:{nonce}")
            }
            Self::Transfer { network, transaction, ordinal } => {
                write!(f, "tx:{network}:{transaction}:{ordinal}")
            }
        }
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct WireReceipt {
    transaction_hash: B256,
    block_number: Option<U64>,
    block_hash: Option<B256>,
    status: Option<U64>,
    logs: Vec<WireLog>,
}

#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct WireLog {
    pub address: alloy::primitives::Address,
    pub topics: Vec<B256>,
    pub data: Bytes,
    #[serde(default)]
    pub block_number: Option<U64>,
    #[serde(default)]
    pub transaction_hash: Option<B256>,
}

impl Receipt {
    /// Parses a receipt, which must be that of `asked`; `None` if the transaction is not in a block yet.
    pub(super) fn from_wire(wire: WireReceipt, asked: Word) -> Result<Option<Self>, RpcError> {
        let WireReceipt { transaction_hash, block_number, block_hash, status, logs } = wire;
        if transaction_hash.0 != asked.0 {
            return Err(RpcError::Contradiction {
                what: "the receipt's transaction",
                expected: asked.to_string(),
                found: transaction_hash.to_string(),
            });
        }
        let (Some(block), Some(hash)) = (block_number, block_hash) else { return Ok(None) };
        let succeeded = match status.map(|status| status.to::<u64>()) {
            Some(1) => true,
            Some(0) => false,
            other => return Err(RpcError::Malformed(format!("a receipt's status is {other:?}"))),
        };
        let (block, block_hash) = (block.to(), BlockHash(hash.0));
        Ok(Some(Self { transaction: asked, block, block_hash, succeeded, logs }))
    }

    /// The transfers of `asset` to `pay_to`, in order. Logs of other contracts are ignored.
    pub fn transfers(&self, network: Caip2, asset: Address, pay_to: Address) -> Vec<Transfer> {
        let of_token = |log: &&WireLog| own(log.address) == asset;
        let transfer = |(ordinal, log): (usize, &WireLog)| {
            let (from, to, value) = transfer_of(Some(log).filter(of_token)?)?;
            if to != pay_to || !self.succeeded {
                return None;
            }
            let before = ordinal.checked_sub(1).and_then(|at| self.logs.get(at)).filter(of_token);
            let key = match before.and_then(used_of) {
                Some((authorizer, nonce)) if authorizer == from => {
                    ReplayKey::Authorization { network, asset, from, nonce }
                }
                _ => ReplayKey::Transfer { network, transaction: self.transaction, ordinal },
            };
            Some(Transfer { from, value, key })
        };
        self.logs.iter().enumerate().filter_map(transfer).collect()
    }
}

/// Payer, payee and amount, if the log is a transfer.
fn transfer_of(log: &WireLog) -> Option<(Address, Address, u128)> {
    let event =
        TransferEvent::decode_raw_log_validate(log.topics.iter().copied(), &log.data).ok()?;
    let value = if event.value > U256::from(u128::MAX) { u128::MAX } else { event.value.to() };
    Some((own(event.from), own(event.to), value))
}

/// Authorizer and nonce, if the log reports a used authorization.
fn used_of(log: &WireLog) -> Option<(Address, Word)> {
    let event = AuthorizationUsed::decode_raw_log_validate(log.topics.iter().copied(), &log.data);
    event.ok().map(|event| (own(event.authorizer), Word(event.nonce.0)))
}

/// The message that the sender of a transfer signs (EIP-191) to claim it for one request, given the request's
/// fingerprint.
///
/// ```
/// use exitgap_chain::settle::claim_text;
/// use exitgap_core::ids::{Caip2, Word};
/// let text = claim_text(Caip2(8453), Word([0xab; 32]), [1; 32]);
/// assert!(text.starts_with("exitgap-proof 1\neip155:8453\n0xabab"));
/// ```
pub fn claim_text(network: Caip2, transaction: Word, fingerprint: [u8; 32]) -> String {
    format!("exitgap-proof 1\n{network}\n{transaction}\n{}", Word(fingerprint))
}

/// The account that made this signature (EIP-191, 65 bytes) of `text`; `None` if the signature is invalid.
pub fn claimant(text: &str, signature: &[u8; 65]) -> Option<Address> {
    let signature = Signature::from_raw_array(signature).ok()?;
    // Only the canonical form of a signature, with the lower s, is accepted.
    if signature.normalize_s().is_some() {
        return None;
    }
    signature.recover_address_from_msg(text).ok().map(own)
}

#[cfg(test)]
mod tests {
    use super::*;

    const NETWORK: Caip2 = Caip2(84532);
    const HASH: Word = Word([9; 32]);
    const ASSET: Address = Address([0xaa; 20]);
    const PAYEE: Address = Address([0xbb; 20]);
    const PAYER: Address = Address([0xcc; 20]);

    fn word(address: Address) -> B256 {
        crate::abi::wire(address).into_word()
    }

    fn log(emitter: Address, topics: Vec<B256>, data: Vec<u8>) -> WireLog {
        let address = crate::abi::wire(emitter);
        WireLog { address, topics, data: data.into(), block_number: None, transaction_hash: None }
    }

    fn transfer(emitter: Address, from: Address, to: Address, value: U256) -> WireLog {
        let topics = vec![TransferEvent::SIGNATURE_HASH, word(from), word(to)];
        log(emitter, topics, value.to_be_bytes_vec())
    }

    fn used(emitter: Address, authorizer: Address, nonce: u8) -> WireLog {
        let topics =
            vec![AuthorizationUsed::SIGNATURE_HASH, word(authorizer), B256::repeat_byte(nonce)];
        log(emitter, topics, Vec::new())
    }

    fn receipt(succeeded: bool, logs: Vec<WireLog>) -> Receipt {
        Receipt { transaction: HASH, block: 1, block_hash: BlockHash([1; 32]), succeeded, logs }
    }

    fn keys(logs: Vec<WireLog>) -> Vec<String> {
        let found = receipt(true, logs).transfers(NETWORK, ASSET, PAYEE);
        found.iter().map(|transfer| transfer.key.to_string()).collect()
    }

    #[test]
    fn a_transfer_right_after_its_authorization_has_the_authorizations_key() {
        let one = U256::from(1);
        let paid = |from| transfer(ASSET, from, PAYEE, one);
        let other = Address([0xdd; 20]);
        let authorized = ReplayKey::Authorization {
            network: NETWORK,
            asset: ASSET,
            from: PAYER,
            nonce: Word([7; 32]),
        };
        let placed = |ordinal| format!("tx:{NETWORK}:{HASH}:{ordinal}");
        let authorized = authorized.to_string();
        assert_eq!(authorized, format!("3009:eip155:84532:{ASSET}:{PAYER}:{}", Word([7; 32])));
        let expect = |logs: Vec<WireLog>, expected: &[String]| assert_eq!(keys(logs), expected);
        expect(vec![used(ASSET, PAYER, 7), paid(PAYER)], std::slice::from_ref(&authorized));
        // An authorization of another payer, of another contract, or earlier in the logs: the transfer is identified by
        // its own position.
        expect(vec![used(ASSET, other, 7), paid(PAYER)], &[placed(1)]);
        expect(vec![used(other, PAYER, 7), paid(PAYER)], &[placed(1)]);
        expect(vec![used(ASSET, PAYER, 7), paid(other), paid(PAYER)], &[placed(1), placed(2)]);
        // A batch: each transfer is identified by its own authorization.
        let batch = vec![used(ASSET, PAYER, 7), paid(PAYER), paid(PAYER), used(ASSET, other, 8)];
        expect(batch, &[authorized, placed(2)]);
    }

    #[test]
    fn only_the_tokens_own_successful_transfers_to_the_payee_count() {
        let one = U256::from(1);
        let fake = Address([0xee; 20]);
        let good = transfer(ASSET, PAYER, PAYEE, one);
        let mut short = good.clone();
        short.data = vec![1; 31].into();
        let mut unindexed = good.clone();
        unindexed.topics.pop();
        let others = vec![
            transfer(fake, PAYER, PAYEE, one),
            transfer(ASSET, PAYER, fake, one),
            short,
            unindexed,
            log(ASSET, Vec::new(), Vec::new()),
        ];
        assert!(keys(others).is_empty());
        assert!(receipt(false, vec![good.clone()]).transfers(NETWORK, ASSET, PAYEE).is_empty());
        let beyond = receipt(true, vec![transfer(ASSET, PAYER, PAYEE, U256::MAX)]);
        assert_eq!(beyond.transfers(NETWORK, ASSET, PAYEE)[0].value, u128::MAX);
    }

    #[test]
    fn a_claim_names_its_signer_and_one_of_the_higher_s_nobody() {
        let key = k256::ecdsa::SigningKey::from_slice(&[0x11; 32]).unwrap();
        let signer = own(alloy::primitives::Address::from_private_key(&key));
        let text = claim_text(NETWORK, HASH, [3; 32]);
        let hash = alloy::primitives::eip191_hash_message(text.as_bytes());
        let signature = Signature::from(key.sign_prehash_recoverable(hash.as_slice()).unwrap());
        let bytes = signature.as_bytes();
        assert_eq!(claimant(&text, &bytes), Some(signer));
        assert_ne!(claimant(&claim_text(NETWORK, HASH, [4; 32]), &bytes), Some(signer));
        // The order of secp256k1 minus s, with the other parity: the same signature in its non-canonical form.
        let order = U256::from_str_radix(
            "fffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141",
            16,
        );
        let other = Signature::new(signature.r(), order.unwrap() - signature.s(), !signature.v());
        assert_eq!(claimant(&text, &other.as_bytes()), None);
        assert_eq!(claimant(&text, &[0xff; 65]), None);
    }
}
