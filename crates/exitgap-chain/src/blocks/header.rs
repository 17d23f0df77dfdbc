//! Headers, and the proof that a header's hash is its own.

use core::fmt;
use std::collections::BTreeMap;

use alloy::primitives::B256;
use exitgap_core::ids::BlockHash;
use exitgap_core::snapshot::BlockRef;
use serde_json::value::RawValue;

use crate::rpc::{RpcError, value};

/// What is kept of a block's header.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Header {
    /// Number, hash and timestamp.
    pub(crate) block: BlockRef,
    /// The hash of the block before it.
    pub(crate) parent: BlockHash,
    /// Whether the hash was computed from the header.
    pub(crate) recomputed: bool,
}

/// Names of a block's JSON fields, upper- and lower-case letters as nodes write them: those the
/// hash covers, and those that are known not to be part of the header (the last three are
/// Arbitrum's, which its header holds in `extraData` and `mixHash`).
const KNOWN_FIELDS: [&str; 35] = [
    "parentHash",
    "sha3Uncles",
    "miner",
    "stateRoot",
    "transactionsRoot",
    "receiptsRoot",
    "logsBloom",
    "difficulty",
    "number",
    "gasLimit",
    "gasUsed",
    "timestamp",
    "extraData",
    "mixHash",
    "nonce",
    "baseFeePerGas",
    "withdrawalsRoot",
    "blobGasUsed",
    "excessBlobGas",
    "parentBeaconBlockRoot",
    "requestsHash",
    "blockAccessListHash",
    "slotNumber",
    "hash",
    "totalDifficulty",
    "size",
    "transactions",
    "uncles",
    "withdrawals",
    "author",
    "milliTimestamp",
    "sealFields",
    "l1BlockNumber",
    "sendCount",
    "sendRoot",
];

impl Header {
    /// Reads the answer to `eth_getBlockByNumber`; `asked` is the number asked for, or `None`
    /// for the latest block.
    ///
    /// The hash must be the Keccak-256 of the header's RLP. Only where the block has a field this
    /// build does not know (a later fork may have added it to the header) is a hash accepted
    /// that does not recompute.
    pub(crate) fn from_json(raw: &RawValue, asked: Option<u64>) -> Result<Self, RpcError> {
        let wire: Option<alloy_rpc_types_eth::Header> = value(raw)?;
        let Some(wire) = wire else {
            let which = asked.map_or_else(|| "latest".to_owned(), |number| number.to_string());
            return Err(RpcError::NoBlock(format!("block {which} is null")));
        };
        if let Some(asked) = asked
            && wire.inner.number != asked
        {
            return Err(contradiction("the block's number", asked, wire.inner.number));
        }
        let computed: B256 = wire.inner.hash_slow();
        if computed != wire.hash {
            let fields: BTreeMap<&str, &RawValue> = value(raw)?;
            if fields.keys().all(|name| KNOWN_FIELDS.contains(name)) {
                return Err(contradiction("the block's hash", computed, wire.hash));
            }
        }
        let block = BlockRef {
            hash: BlockHash(wire.hash.0),
            number: wire.inner.number,
            timestamp: wire.inner.timestamp,
        };
        let recomputed = computed == wire.hash;
        Ok(Self { block, parent: BlockHash(wire.inner.parent_hash.0), recomputed })
    }
}

/// An answer at odds with what was expected.
#[allow(clippy::needless_pass_by_value)] // Numbers and hashes: references would only be noise.
pub(crate) fn contradiction(
    what: &'static str,
    expected: impl fmt::Display,
    found: impl fmt::Display,
) -> RpcError {
    RpcError::Contradiction { what, expected: expected.to_string(), found: found.to_string() }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Ethereum's block 0 as nodes serve it.
    fn genesis() -> serde_json::Value {
        let zero = |bytes: usize| format!("0x{}", "00".repeat(bytes));
        serde_json::json!({
            "number": "0x0",
            "hash": "0xd4e56740f876aef8c010b86a40d5f56745a118d0906a34e69aec8c0db1cb8fa3",
            "parentHash": zero(32),
            "nonce": "0x0000000000000042",
            "mixHash": zero(32),
            "sha3Uncles": "0x1dcc4de8dec75d7aab85b567b6ccd41ad312451b948a7413f0a142fd40d49347",
            "logsBloom": zero(256),
            "transactionsRoot": "0x56e81f171bcc55a6ff8345e692c0f86e5b48e01b996cadc001622fb5e363b421",
            "stateRoot": "0xd7f8974fb5ac78d9ac099b9ad5018bedc2ce0a72dad1827a1709da30580f0544",
            "receiptsRoot": "0x56e81f171bcc55a6ff8345e692c0f86e5b48e01b996cadc001622fb5e363b421",
            "miner": zero(20),
            "difficulty": "0x400000000",
            "extraData": "0x11bbe8db4e347b4e8c937c1c8370e4b5ed33adb3db69cbdb7a38e1e50b1b82fa",
            "gasLimit": "0x1388",
            "gasUsed": "0x0",
            "timestamp": "0x0",
            "uncles": [],
            "transactions": []
        })
    }

    fn read(block: &serde_json::Value, asked: Option<u64>) -> Result<Header, RpcError> {
        Header::from_json(&RawValue::from_string(block.to_string()).unwrap(), asked)
    }

    #[test]
    fn a_real_header_recomputes_and_a_changed_one_does_not() {
        let header = read(&genesis(), Some(0)).unwrap();
        assert!(header.block.timestamp == 0 && header.recomputed);
        for (field, changed) in [
            ("timestamp", "0x1"),
            ("gasUsed", "0x1"),
            ("hash", "0xd4e56740f876aef8c010b86a40d5f56745a118d0906a34e69aec8c0db1cb8fa4"),
        ] {
            let mut block = genesis();
            block[field] = changed.into();
            assert!(
                matches!(
                    read(&block, Some(0)),
                    Err(RpcError::Contradiction { what: "the block's hash", .. })
                ),
                "{field}"
            );
            // A field of a fork that is not known yet: the hash cannot be judged.
            block["futureRoot"] = "0x00".into();
            assert!(!read(&block, Some(0)).unwrap().recomputed, "{field}");
        }
    }

    #[test]
    fn another_block_than_asked_is_no_answer() {
        assert!(matches!(
            read(&genesis(), Some(1)),
            Err(RpcError::Contradiction { what: "the block's number", .. })
        ));
        assert!(matches!(read(&serde_json::Value::Null, None), Err(RpcError::NoBlock(_))));
        assert!(matches!(read(&serde_json::json!({}), None), Err(RpcError::Malformed(_))));
    }
}
