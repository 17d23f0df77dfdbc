//! A transaction, and the block that contains it.

use alloy::primitives::{Address, B256, Bytes, TxKind, U256};
use alloy::sol_types::{SolCall, SolEvent};
use alloy_rpc_types_eth::{TransactionInput, TransactionReceipt, TransactionRequest};

use super::{DevChainError, Result};

/// Enough for every single call here; the chain's blocks have room for a thousand of them.
const GAS: u64 = 30_000_000;

/// In wei; above any base fee the chain reaches, and the same for all so that their order is kept.
const GAS_PRICE: u128 = 10_000_000_000;

/// A transaction from an account whose key the node has (or which it impersonates).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tx {
    /// The sender.
    pub from: Address,
    /// The contract called; `None` creates one.
    pub to: Option<Address>,
    /// Call data, or creation code with its arguments.
    pub data: Bytes,
    /// The amount of wei to send.
    pub value: U256,
}

impl Tx {
    /// A call of a contract's function.
    pub fn call(from: Address, to: Address, call: &impl SolCall) -> Self {
        Self { from, to: Some(to), data: call.abi_encode().into(), value: U256::ZERO }
    }

    /// The creation of a contract.
    pub fn create(from: Address, code: &[u8], arguments: &[u8]) -> Self {
        Self { from, to: None, data: [code, arguments].concat().into(), value: U256::ZERO }
    }

    /// The same with `value` wei.
    #[must_use]
    pub fn with_value(mut self, value: U256) -> Self {
        self.value = value;
        self
    }

    /// The request to the node, with the sender's `nonce`.
    pub(super) fn request(&self, nonce: u64) -> TransactionRequest {
        TransactionRequest {
            from: Some(self.from),
            to: Some(self.to.map_or(TxKind::Create, TxKind::Call)),
            gas_price: Some(GAS_PRICE),
            gas: Some(GAS),
            value: Some(self.value),
            input: TransactionInput::new(self.data.clone()),
            nonce: Some(nonce),
            ..TransactionRequest::default()
        }
    }
}

/// A mined block, with the receipts of its requested transactions, in their order.
#[derive(Debug, Clone)]
pub struct Mined {
    /// Block number.
    pub number: u64,
    /// Block hash.
    pub hash: B256,
    /// Block timestamp in unix seconds.
    pub timestamp: u64,
    /// One receipt for each transaction sent, all successful.
    pub receipts: Vec<TransactionReceipt>,
}

impl Mined {
    /// The first event of type `E` that `emitter` logged in transaction `index`.
    pub fn event<E: SolEvent>(&self, index: usize, emitter: Address) -> Result<E> {
        let logs = self.receipts.get(index).map(TransactionReceipt::logs);
        logs.into_iter()
            .flatten()
            .filter(|log| log.address() == emitter)
            .find_map(|log| E::decode_log(&log.inner).ok())
            .map(|log| log.data)
            .ok_or_else(|| DevChainError::Unexpected {
                what: format!("event {} of transaction {index}", E::SIGNATURE),
                reason: format!("{emitter} did not log it"),
            })
    }
}
