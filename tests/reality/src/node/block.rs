//! Blocks: headers that have their hashes, and logs, which receipts prove.

use std::collections::BTreeMap;

use alloy::consensus::proofs::calculate_receipt_root;
use alloy::rlp::encode;
use alloy_rpc_types_eth::{Header as WireHeader, Log as WireLog, TransactionReceipt};
use exitgap_core::ids::{Address, BlockHash, Word};
use exitgap_core::proof::{BlockHeader, StateProof};
use serde_json::{Value, json};

use super::rpc::{Node, NodeError};

/// Fields of a block that are none of its header's, and that some nodes write in types of their own.
const NOT_COVERED: [&str; 5] = ["totalDifficulty", "size", "transactions", "uncles", "withdrawals"];

/// A header whose bytes have its hash.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Header {
    /// What is in it.
    pub block: BlockHeader,
    /// Its bytes.
    pub rlp: Vec<u8>,
    receipts_root: [u8; 32],
}

/// A log of a block.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Log {
    /// The contract.
    pub address: Address,
    /// Indexed words, the event first.
    pub topics: Vec<Word>,
    /// The other words.
    pub data: Vec<u8>,
    /// The transaction's place in the block.
    pub tx: u64,
    /// The log's place in the block.
    pub index: u64,
}

/// The logs of a block.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Logs {
    /// In their order.
    pub logs: Vec<Log>,
    /// Whether they are those of the receipts that the header has; else the node is believed.
    pub are_proven: bool,
}

impl Header {
    /// The header of the block of this number, or of that with this name.
    pub async fn by_name(node: &Node, block: &str) -> Result<Self, NodeError> {
        let params = json!([block, false]);
        let mut fields: BTreeMap<String, Value> = node.ask("eth_getBlockByNumber", params).await?;
        for name in NOT_COVERED {
            fields.remove(name);
        }
        let unreadable = |error: serde_json::Error| NodeError::Refused {
            method: "eth_getBlockByNumber",
            message: format!("a header that is unreadable: {error}"),
        };
        let fields = Value::Object(fields.into_iter().collect());
        let wire: WireHeader = serde_json::from_value(fields).map_err(unreadable)?;
        let (rlp, named) = (encode(&wire.inner), BlockHash(wire.hash.0));
        let header =
            BlockHeader::from_rlp(&rlp).filter(|_| StateProof::block_of(&rlp) == Some(named));
        let header = header.ok_or_else(|| {
            let number = wire.inner.number;
            NodeError::Contradiction(format!(
                "the header of block {number} does not have the hash {named}"
            ))
        })?;
        Ok(Self { block: header, rlp, receipts_root: wire.inner.receipts_root.0 })
    }

    /// The header of the block of this number.
    pub async fn at(node: &Node, number: u64) -> Result<Self, NodeError> {
        let found = Self::by_name(node, &format!("{number:#x}")).await?;
        if found.block.number == number {
            return Ok(found);
        }
        let words = format!("asked for block {number}, it answered {}", found.block.number);
        Err(NodeError::Contradiction(words))
    }

    /// The block's logs: out of its receipts, where the node serves them.
    pub async fn logs(&self, node: &Node) -> Result<Logs, NodeError> {
        let number = self.block.number;
        let params = json!([format!("{number:#x}")]);
        match node.ask::<Vec<TransactionReceipt>>("eth_getBlockReceipts", params).await {
            Ok(receipts) => {
                let logs = receipts.iter().flat_map(|receipt| receipt.logs().iter().map(read_log));
                let logs = logs.collect::<Option<Vec<_>>>();
                let receipts: Vec<_> =
                    receipts.into_iter().map(|one| one.into_primitives_receipt().inner).collect();
                if calculate_receipt_root(&receipts).0 != self.receipts_root {
                    let words =
                        format!("the receipts of block {number} are not those of its header");
                    return Err(NodeError::Contradiction(words));
                }
                let logs = logs.ok_or_else(|| {
                    NodeError::Contradiction(format!("a log of block {number} has no place in it"))
                })?;
                Ok(Logs { logs, are_proven: true })
            }
            Err(NodeError::Refused { .. }) => {
                let params = json!([{ "blockHash": self.block.hash.to_string() }]);
                let logs: Vec<WireLog> = node.ask("eth_getLogs", params).await?;
                let logs = logs.iter().map(read_log).collect::<Option<Vec<_>>>();
                let logs = logs.ok_or_else(|| {
                    NodeError::Contradiction(format!("a log of block {number} has no place in it"))
                })?;
                Ok(Logs { logs, are_proven: false })
            }
            Err(error) => Err(error),
        }
    }
}

fn read_log(log: &WireLog) -> Option<Log> {
    Some(Log {
        address: Address(log.address().0.0),
        topics: log.topics().iter().map(|topic| Word(topic.0)).collect(),
        data: log.data().data.to_vec(),
        tx: log.transaction_index?,
        index: log.log_index?,
    })
}
