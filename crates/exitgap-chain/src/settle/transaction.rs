//! Transactions that settle an authorization: their fees and their bytes.

use alloy::consensus::{SignableTransaction, TxEip1559};
use alloy::eips::eip2718::Encodable2718;
use alloy::primitives::{TxKind, U256};
use exitgap_core::ids::{Address, Word};

use super::{Authorization, HotKey, SettleError};
use crate::abi::wire;

/// The gas limit for settling, which is also used for verification. A transfer needs a third of it, and a contract that
/// verifies its owner's signature cannot use more.
pub const SETTLE_GAS: u64 = 300_000;

/// The fees that a transaction offers per unit of gas, in wei.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fees {
    /// The maximum in total.
    pub max_fee: u128,
    /// The part for the block's producer.
    pub tip: u128,
}

impl Fees {
    /// Twice the current base fee plus the tip, at most `most`; [`SettleError::TooDear`] if `most` does not cover the
    /// current base fee plus the tip.
    pub(super) fn of_now(base_fee: u128, tip: u128, most: u128) -> Result<Self, SettleError> {
        let tip = tip.min(most);
        let least = base_fee.saturating_add(tip);
        if least > most {
            return Err(SettleError::TooDear { found: least, most });
        }
        Ok(Self { max_fee: base_fee.saturating_mul(2).saturating_add(tip).min(most), tip })
    }

    /// The fees for replacing a transaction with these fees: an eighth more of both, because nodes require at least a
    /// tenth, and not less than `now`. `None` if that is above `most`.
    pub fn bump(self, now: Self, most: u128) -> Option<Self> {
        let more = |fee: u128| fee.saturating_add(fee.div_ceil(8)).max(1);
        let max_fee = more(self.max_fee).max(now.max_fee);
        let tip = more(self.tip).max(now.tip);
        (max_fee <= most).then_some(Self { max_fee, tip: tip.min(max_fee) })
    }

    /// The maximum cost of a transaction, in wei.
    pub fn cost(self) -> u128 {
        self.max_fee.saturating_mul(SETTLE_GAS.into())
    }
}

/// A signed transaction.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SignedTransaction {
    /// Its bytes, ready to send.
    pub raw: Vec<u8>,
    /// The hash of these bytes.
    pub hash: Word,
}

impl Authorization {
    /// Signs the transaction that settles this on `chain_id` in the token `asset`, with `nonce` as the nonce of the
    /// key's account.
    pub fn sign(
        &self,
        key: &HotKey,
        (chain_id, asset): (u64, Address),
        nonce: u64,
        fees: Fees,
    ) -> Result<SignedTransaction, SettleError> {
        let transaction = TxEip1559 {
            chain_id,
            nonce,
            gas_limit: SETTLE_GAS,
            max_fee_per_gas: fees.max_fee,
            max_priority_fee_per_gas: fees.tip,
            to: TxKind::Call(wire(asset)),
            value: U256::ZERO,
            access_list: alloy::eips::eip2930::AccessList::default(),
            input: self.call_data(),
        };
        let signature = key.sign(transaction.signature_hash());
        let signature = signature.map_err(|error| SettleError::Refused(error.to_string()))?;
        let signed = transaction.into_signed(signature);
        let hash = Word(signed.hash().0);
        let mut raw = Vec::new();
        signed.encode_2718(&mut raw);
        Ok(SignedTransaction { raw, hash })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fees_stay_within_the_bound_and_a_bump_is_one_that_nodes_take() {
        assert_eq!(Fees::of_now(10, 2, 100), Ok(Fees { max_fee: 22, tip: 2 }));
        assert_eq!(Fees::of_now(10, 2, 15), Ok(Fees { max_fee: 15, tip: 2 }));
        assert_eq!(Fees::of_now(10, 2, 11), Err(SettleError::TooDear { found: 12, most: 11 }));
        let too_dear = SettleError::TooDear { found: u128::MAX, most: 9 };
        assert_eq!(Fees::of_now(u128::MAX, 2, 9), Err(too_dear));
        let first = Fees { max_fee: 80, tip: 0 };
        let now = Fees { max_fee: 20, tip: 0 };
        assert_eq!(first.bump(now, 100), Some(Fees { max_fee: 90, tip: 1 }));
        let now = Fees { max_fee: 99, tip: 9 };
        assert_eq!(first.bump(now, 100), Some(now));
        assert_eq!(first.bump(now, 98), None);
        assert_eq!(
            Fees { max_fee: u128::MAX, tip: 1 }.bump(now, u128::MAX).unwrap().max_fee,
            u128::MAX
        );
    }
}
