//! Headers of real blocks, field by field.

use alloy::primitives::{B256, Bytes, U256, hex, keccak256};
use alloy::rlp::{Decodable, Header};
use serde_json::{Map, Value, json};

/// How a field is written in JSON.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Form {
    Data,
    Number,
}

/// The fields of a header, in its order. Each fork added some at the end.
const FIELDS: [(&str, Form); 21] = [
    ("parentHash", Form::Data),
    ("sha3Uncles", Form::Data),
    ("miner", Form::Data),
    ("stateRoot", Form::Data),
    ("transactionsRoot", Form::Data),
    ("receiptsRoot", Form::Data),
    ("logsBloom", Form::Data),
    ("difficulty", Form::Number),
    ("number", Form::Number),
    ("gasLimit", Form::Number),
    ("gasUsed", Form::Number),
    ("timestamp", Form::Number),
    ("extraData", Form::Data),
    ("mixHash", Form::Data),
    ("nonce", Form::Data),
    ("baseFeePerGas", Form::Number),
    ("withdrawalsRoot", Form::Data),
    ("blobGasUsed", Form::Number),
    ("excessBlobGas", Form::Number),
    ("parentBeaconBlockRoot", Form::Data),
    ("requestsHash", Form::Data),
];

/// The items of a list, none of which is a list.
pub fn items(mut list: &[u8]) -> Vec<Bytes> {
    assert!(Header::decode(&mut list).unwrap().list);
    let mut items = Vec::new();
    while !list.is_empty() {
        items.push(Bytes::decode(&mut list).unwrap());
    }
    items
}

/// A header.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RealHeader(Vec<Bytes>);

impl RealHeader {
    pub fn from_rlp(rlp: &[u8]) -> Self {
        let header = Self(items(rlp));
        assert_eq!(header.rlp(), rlp, "it is written in one way only");
        header
    }

    fn rlp(&self) -> Vec<u8> {
        alloy::rlp::encode(&self.0)
    }

    pub fn hash(&self) -> B256 {
        keccak256(self.rlp())
    }

    fn field(&self, name: &str) -> &Bytes {
        &self.0[Self::place(name)]
    }

    fn place(name: &str) -> usize {
        FIELDS.iter().position(|(field, _)| *field == name).unwrap()
    }

    pub fn number(&self) -> u64 {
        U256::from_be_slice(self.field("number")).to()
    }

    pub fn timestamp(&self) -> u64 {
        U256::from_be_slice(self.field("timestamp")).to()
    }

    pub fn state_root(&self) -> B256 {
        B256::from_slice(self.field("stateRoot"))
    }

    /// The same with another number.
    pub fn with_number(mut self, name: &str, number: u64) -> Self {
        self.0[Self::place(name)] = U256::from(number).to_be_bytes_trimmed_vec().into();
        self
    }

    /// The same after another block.
    pub fn after(mut self, parent: B256) -> Self {
        self.0[Self::place("parentHash")] = Bytes::copy_from_slice(parent.as_slice());
        self
    }

    /// The block as nodes answer it, without transactions.
    pub fn json(&self) -> Value {
        let fields = FIELDS.iter().zip(&self.0).map(|((name, form), bytes)| {
            let text = match form {
                Form::Data => hex::encode_prefixed(bytes),
                Form::Number => format!("{:#x}", U256::from_be_slice(bytes)),
            };
            ((*name).to_owned(), json!(text))
        });
        let mut block: Map<String, Value> = fields.collect();
        block.insert("hash".to_owned(), json!(self.hash()));
        block.insert("transactions".to_owned(), json!([]));
        block.insert("uncles".to_owned(), json!([]));
        block.into()
    }
}
