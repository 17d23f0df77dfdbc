//! The replaying node: it answers what was recorded of real blocks, and `not recorded` otherwise.

use std::collections::BTreeMap;
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;

use alloy::primitives::{Address, B256, Bytes, U256, hex, keccak256};
use alloy::rlp::Decodable;
use exitgap_tests::message::Message;
use serde_json::{Value, json};

use super::facts;
use super::proxy::{ask_node, host_of, write_answer};
use super::real_header::{RealHeader, items};

/// What a node recorded.
#[derive(Default)]
pub struct Recording {
    pub chain_id: u64,
    /// The hash of block 0.
    pub genesis: Option<Value>,
    /// Blocks, of which the last one is the newest.
    pub headers: Vec<RealHeader>,
    /// The answer in place of every block after block 0.
    pub shown: Option<Value>,
    /// Walks down their tries.
    pub walks: Option<Walks>,
    /// The URL of a node with the code and the words that calls read, whatever its own blocks are.
    pub calls: Option<String>,
}

pub struct Replay {
    port: u16,
    recording: Arc<Mutex<Recording>>,
}

impl Replay {
    pub fn start(recording: Recording) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let recording = Arc::new(Mutex::new(recording));
        let serving = Arc::clone(&recording);
        thread::spawn(move || {
            for client in listener.incoming().map_while(Result::ok) {
                let serving = Arc::clone(&serving);
                // A client may hang up.
                thread::spawn(move || drop(serve(&serving, &client)));
            }
        });
        Self { port, recording }
    }

    pub fn url(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    /// From now on answers so, whichever block is asked for after block 0.
    pub fn show(&self, block: Value) {
        self.recording.lock().unwrap().shown = Some(block);
    }
}

fn serve(recording: &Mutex<Recording>, client: &TcpStream) -> std::io::Result<()> {
    let request: Value = serde_json::from_slice(&Message::read(client)?.body)?;
    let (answer, calls) = {
        let recording = recording.lock().unwrap();
        (recording.answer(&request), recording.calls.clone())
    };
    let id = &request["id"];
    let body = match (answer, calls) {
        (Some(Answer::Result(result)), _) => json!({ "id": id, "result": result }),
        (Some(Answer::Call(params)), Some(node)) => {
            let call =
                json!({ "jsonrpc": "2.0", "id": id, "method": "eth_call", "params": params });
            serde_json::from_slice(&ask_node(&host_of(&node), call.to_string().as_bytes())?)?
        }
        _ => json!({ "id": id, "error": { "code": -32_000, "message": "not recorded" } }),
    };
    write_answer(client, body.to_string().as_bytes())
}

enum Answer {
    Result(Value),
    /// What the node of calls answers to these parameters.
    Call(Value),
}

impl Recording {
    fn answer(&self, request: &Value) -> Option<Answer> {
        let params = &request["params"];
        let result = match request["method"].as_str()? {
            "eth_chainId" => json!(format!("{:#x}", self.chain_id)),
            "eth_getBlockByNumber" => self.block(&params[0])?,
            "eth_getProof" => self.proof(params)?,
            "eth_call" => return self.call(params).map(Answer::Call),
            _ => return None,
        };
        Some(Answer::Result(result))
    }

    fn block(&self, named: &Value) -> Option<Value> {
        match named.as_str()? {
            "0x0" => self.genesis.as_ref().map(|hash| json!({ "hash": hash })),
            _ if self.shown.is_some() => self.shown.clone(),
            "latest" => self.headers.last().map(RealHeader::json),
            number => {
                let number: U256 = number.parse().ok()?;
                let is_beyond = self.headers.last()?.number() < number.to::<u64>();
                if is_beyond {
                    Some(Value::Null)
                } else {
                    self.header(number).map(RealHeader::json)
                }
            }
        }
    }

    fn header(&self, number: U256) -> Option<&RealHeader> {
        self.headers.iter().find(|header| U256::from(header.number()) == number)
    }

    fn proof(&self, params: &Value) -> Option<Value> {
        let header = self.header(params[2].as_str()?.parse().ok()?)?;
        let slots: Vec<B256> = serde_json::from_value(params[1].clone()).ok()?;
        let account = params[0].as_str()?.parse().ok()?;
        self.walks.as_ref()?.proof(header.state_root(), account, &slots)
    }

    /// A call at a recorded block, which sees that block's number and time.
    fn call(&self, params: &Value) -> Option<Value> {
        let hash: B256 = params[1]["blockHash"].as_str()?.parse().ok()?;
        let header = self.headers.iter().find(|header| header.hash() == hash)?;
        let block = json!({
            "number": format!("{:#x}", header.number()),
            "time": format!("{:#x}", header.timestamp()),
        });
        let accounts = if params[2].is_object() { params[2].clone() } else { json!({}) };
        Some(json!([params[0], "latest", accounts, block]))
    }
}

/// Walks down the tries of real blocks: the nodes that were met, and what was found.
pub struct Walks {
    nodes: Vec<Bytes>,
    /// By the trie's root, and the hash of the key.
    walks: BTreeMap<(B256, B256), Walk>,
}

struct Walk {
    /// Its RLP; empty where nothing was found.
    found: Vec<u8>,
    met: Vec<usize>,
}

impl Walks {
    pub fn read() -> Self {
        let file = facts::file("walks");
        let hash = |value: &Value| facts::text(value).parse::<B256>().unwrap();
        let walks = file["cases"].as_array().unwrap().iter().map(|case| {
            let found = match facts::text(&case[3]) {
                "-" => Vec::new(),
                found => hex::decode(found).unwrap(),
            };
            let met = serde_json::from_value(case[4].clone()).unwrap();
            ((hash(&case[1]), hash(&case[2])), Walk { found, met })
        });
        let nodes = file["nodes"].as_array().unwrap().iter().map(facts::bytes);
        Self { nodes: nodes.collect(), walks: walks.collect() }
    }

    fn walk(&self, root: B256, key: &[u8]) -> Option<(&[u8], Vec<&Bytes>)> {
        let walk = self.walks.get(&(root, keccak256(key)))?;
        Some((&walk.found, walk.met.iter().map(|place| &self.nodes[*place]).collect()))
    }

    /// The answer to `eth_getProof`, if every walk of it was recorded.
    pub fn proof(&self, state_root: B256, account: Address, slots: &[B256]) -> Option<Value> {
        let (found, met) = self.walk(state_root, account.as_slice())?;
        let fields = items(found);
        let [nonce, balance, storage_root, code_hash] = &fields[..] else { return None };
        let number = |bytes: &Bytes| format!("{:#x}", U256::from_be_slice(bytes));
        let words = slots.iter().map(|slot| {
            let (mut word, met) = self.walk(B256::from_slice(storage_root), slot.as_slice())?;
            let value =
                if word.is_empty() { Bytes::new() } else { Bytes::decode(&mut word).ok()? };
            Some(json!({ "key": slot, "value": number(&value), "proof": met }))
        });
        Some(json!({
            "address": account,
            "accountProof": met,
            "nonce": number(nonce),
            "balance": number(balance),
            "storageHash": storage_root,
            "codeHash": code_hash,
            "storageProof": words.collect::<Option<Vec<Value>>>()?,
        }))
    }

    /// The word that was found in an account's storage.
    pub fn word(&self, state_root: B256, account: Address, slot: u64) -> Option<B256> {
        let proof = self.proof(state_root, account, &[U256::from(slot).into()])?;
        Some(facts::number(&proof["storageProof"][0]["value"]).into())
    }
}
