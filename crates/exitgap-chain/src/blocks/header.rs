//! Block headers, and the verification of their hashes.

use core::fmt;
use std::collections::BTreeMap;

use alloy::primitives::{B256, Bloom};
use exitgap_core::ids::BlockHash;
use exitgap_core::snapshot::BlockRef;
use serde_json::Value;
use serde_json::value::RawValue;

use crate::rpc::{RpcError, value};

/// The fields of a block's header that are kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Header {
    /// Number, hash and timestamp.
    pub(crate) block: BlockRef,
    /// The hash of the previous block.
    pub(crate) parent: BlockHash,
    /// Whether the hash was computed from the header.
    pub(crate) recomputed: bool,
}

/// A header with what it commits to of its block's logs.
#[derive(Debug, Clone)]
pub(crate) struct LogsHeader {
    /// The header.
    pub(crate) header: Header,
    /// The bloom of the logs' emitters and topics.
    pub(crate) bloom: Bloom,
    /// The root of the receipts.
    pub(crate) receipts_root: B256,
    /// The length of the node's answer, in bytes.
    pub(crate) answer_bytes: usize,
}

impl LogsHeader {
    /// Parses the answer to `eth_getBlockByNumber` for this number.
    pub(crate) fn from_json(raw: &RawValue, asked: u64) -> Result<Self, RpcError> {
        let header = Header::from_json(raw, Some(asked))?;
        let wire = Header::wire(raw)?.map(|(wire, _)| wire.inner).unwrap_or_default();
        Ok(Self {
            header,
            bloom: wire.logs_bloom,
            receipts_root: wire.receipts_root,
            answer_bytes: raw.get().len(),
        })
    }
}

/// Names of a block's JSON fields, with the letter case that nodes use: those that the hash covers, and those that are
/// known not to be part of the header. The last three are Arbitrum's, which its header contains in `extraData` and
/// `mixHash`.
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

/// Fields that the hash does not cover and that some nodes write with types of their own.
const NOT_COVERED: [&str; 6] =
    ["totalDifficulty", "size", "transactions", "uncles", "withdrawals", "author"];

/// Fields that some nodes omit, with the values used instead.
const LEFT_OUT: [(&str, &str); 2] = [
    ("mixHash", "0x0000000000000000000000000000000000000000000000000000000000000000"),
    ("nonce", "0x0000000000000000"),
];

impl Header {
    /// Parses the answer to `eth_getBlockByNumber`. `asked` is the requested number, or `None` for the latest block.
    ///
    /// The hash must be the Keccak-256 of the header's RLP. Another hash is accepted only if the block has a field that
    /// this build does not know, because a later fork may have added it to the header.
    pub(crate) fn from_json(raw: &RawValue, asked: Option<u64>) -> Result<Self, RpcError> {
        let Some((wire, is_known)) = Self::wire(raw)? else {
            let which = asked.map_or_else(|| "latest".to_owned(), |number| number.to_string());
            return Err(RpcError::NoBlock(format!("block {which} is null")));
        };
        if let Some(asked) = asked
            && wire.inner.number != asked
        {
            return Err(contradiction("the block's number", asked, wire.inner.number));
        }
        let computed: B256 = wire.inner.hash_slow();
        if computed != wire.hash && is_known {
            return Err(contradiction("the block's hash", computed, wire.hash));
        }
        let block = BlockRef {
            hash: BlockHash(wire.hash.0),
            number: wire.inner.number,
            timestamp: wire.inner.timestamp,
        };
        let recomputed = computed == wire.hash;
        Ok(Self { block, parent: BlockHash(wire.inner.parent_hash.0), recomputed })
    }

    /// A header as nodes write it, and whether its form is known; `None` if the answer is `null`.
    ///
    /// Fields that the hash does not cover are ignored. Some nodes omit fields that the hash covers. Those are read as
    /// zero, and the form then counts as unknown, in case the hash does not match.
    pub(crate) fn wire(
        raw: &RawValue,
    ) -> Result<Option<(alloy_rpc_types_eth::Header, bool)>, RpcError> {
        let fields: Option<BTreeMap<String, Value>> = value(raw)?;
        let Some(mut fields) = fields else { return Ok(None) };
        let mut is_known = fields.keys().all(|name| KNOWN_FIELDS.contains(&name.as_str()));
        for name in NOT_COVERED {
            fields.remove(name);
        }
        for (name, zero) in LEFT_OUT {
            let field = fields.entry(name.to_owned()).or_insert(Value::Null);
            if field.is_null() {
                *field = Value::from(zero);
                is_known = false;
            }
        }
        let fields = Value::Object(fields.into_iter().collect());
        let wire = serde_json::from_value(fields)
            .map_err(|error| RpcError::Malformed(error.to_string()))?;
        Ok(Some((wire, is_known)))
    }
}

/// An answer that contradicts the expected value.
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

    /// Ethereum's block 0 as nodes return it.
    fn genesis() -> Value {
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

    fn read(block: &Value, asked: Option<u64>) -> Result<Header, RpcError> {
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
            // A field of a fork that is not known yet: the hash cannot be verified.
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
        assert!(matches!(read(&Value::Null, None), Err(RpcError::NoBlock(_))));
        assert!(matches!(read(&serde_json::json!({}), None), Err(RpcError::Malformed(_))));
    }

    #[test]
    fn what_the_hash_does_not_cover_may_have_any_type() {
        for (field, value) in [
            ("totalDifficulty", serde_json::json!(17_179_869_184_u64)),
            ("totalDifficulty", serde_json::json!("17179869184")),
            ("size", serde_json::json!(540)),
            ("uncles", Value::Null),
            ("transactions", serde_json::json!("none")),
        ] {
            let mut block = genesis();
            block[field] = value;
            assert!(read(&block, Some(0)).unwrap().recomputed, "{field}");
        }
        // The genesis block's mix hash is zero, so omitting it does not matter. As a control, its nonce is not zero.
        for (field, recomputes) in [("mixHash", true), ("nonce", false)] {
            let mut block = genesis();
            block.as_object_mut().unwrap().remove(field);
            assert_eq!(read(&block, Some(0)).unwrap().recomputed, recomputes, "{field}");
        }
        // Fields that the hash covers are checked as strictly as before.
        let mut block = genesis();
        block["timestamp"] = serde_json::json!(0);
        block["gasUsed"] = serde_json::json!("none");
        assert!(matches!(read(&block, Some(0)), Err(RpcError::Malformed(_))));
    }
}
