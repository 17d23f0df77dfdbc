//! Proxies in front of a node: the recorder takes each for a node of its own. One of them changes its answers.

use std::collections::{BTreeMap, BTreeSet};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use alloy::primitives::Address;
use serde_json::Value;

use super::Result;
use super::nodes_change::{Change, Truth};
use super::nodes_records::Asked;
use super::nodes_reply::Reply;
use crate::devchain::Rng;
use crate::message::Message;

/// The fault of a slot.
#[derive(Debug, Clone)]
pub struct Fault {
    /// The method whose answers are changed.
    pub method: String,
    /// How.
    pub change: Change,
    /// The contract whose data is changed, where the change is of one contract's data.
    pub contract: Address,
    /// What is drawn in each answer.
    pub seed: u64,
}

/// What became of a fault.
#[derive(Debug, Clone, Default)]
pub struct Fired {
    /// Answers with the method that the faulty node was asked for.
    pub asked: u64,
    /// Answers that reached the recorder with other bytes than the node's.
    pub changed: u64,
    /// The contracts whose own data was changed.
    pub contracts: BTreeSet<Address>,
}

/// The fault that the proxies share.
#[derive(Debug, Default)]
pub struct Stage {
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    fault: Option<Fault>,
    fired: Fired,
    /// The proxy that is at fault: the first that is asked for the method, whichever the recorder prefers.
    faulty: Option<usize>,
    /// Number of requests by method.
    methods: BTreeMap<String, u64>,
}

impl Stage {
    /// From now on, the node that is asked first for the method has this fault.
    pub fn set(&self, fault: Fault) {
        let mut state = self.state();
        (state.fault, state.fired, state.faulty) = (Some(fault), Fired::default(), None);
    }

    /// From now on, all answers are true; returns what became of the last fault.
    pub fn clear(&self) -> Fired {
        let mut state = self.state();
        state.fault = None;
        std::mem::take(&mut state.fired)
    }

    /// The methods that were asked for so far, with the number of requests.
    pub fn methods(&self) -> BTreeMap<String, u64> {
        self.state().methods.clone()
    }

    /// The fault, where this proxy is to show it in an answer with this method, and the answer's number.
    fn fault_at(&self, place: usize, method: &str) -> Option<(Fault, u64)> {
        let mut state = self.state();
        *state.methods.entry(method.to_owned()).or_default() += 1;
        let fault = state.fault.clone().filter(|fault| fault.method == method)?;
        if *state.faulty.get_or_insert(place) != place {
            return None;
        }
        state.fired.asked += 1;
        Some((fault, state.fired.asked))
    }

    fn note_changed(&self, contracts: Vec<Address>) {
        let mut state = self.state();
        state.fired.changed += 1;
        state.fired.contracts.extend(contracts);
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A proxy, which listens until the process ends.
#[derive(Debug)]
pub struct Front {
    port: u16,
}

struct Serving {
    /// Its number.
    place: usize,
    /// Host and port of the node.
    node: String,
    stage: Arc<Stage>,
}

impl Front {
    /// Proxy number `place` in front of the node at this URL.
    pub fn open(node: &str, place: usize, stage: &Arc<Stage>) -> Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0")?;
        let port = listener.local_addr()?.port();
        let node = node.trim_start_matches("http://").trim_end_matches('/').to_owned();
        let serving = Arc::new(Serving { place, node, stage: Arc::clone(stage) });
        std::thread::spawn(move || {
            for client in listener.incoming().map_while(std::result::Result::ok) {
                let serving = Arc::clone(&serving);
                // A client that has read enough hangs up.
                std::thread::spawn(move || drop(serving.serve(&client)));
            }
        });
        Ok(Self { port })
    }

    /// Its URL.
    pub fn url(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }
}

impl Serving {
    /// Answers the request of a connection.
    fn serve(&self, client: &TcpStream) -> std::io::Result<()> {
        let request = Message::read(client)?.body;
        let asked: Value = serde_json::from_slice(&request)?;
        let method = asked["method"].as_str().unwrap_or_default();
        let truth = self.ask(&request)?;
        let Some((fault, number)) = self.stage.fault_at(self.place, method) else {
            return Reply::body(truth).send(client);
        };
        let reply = self.changed(&fault, &asked, &truth, number)?;
        let told: Value = serde_json::from_slice(&truth)?;
        let truth = Reply::body(truth);
        let Some(reply) = reply.filter(|reply| reply.bytes() != truth.bytes()) else {
            return truth.send(client);
        };
        self.stage.note_changed(contracts_of(&fault, &asked, &told));
        reply.send(client)
    }

    /// The answer as the fault changes it; `None`: it cannot be changed like this.
    fn changed(
        &self,
        fault: &Fault,
        asked: &Value,
        truth: &[u8],
        number: u64,
    ) -> std::io::Result<Option<Reply>> {
        let other = fault.change.request(asked);
        let body = match &other {
            Some(other) => self.ask(other.to_string().as_bytes())?,
            None => truth.to_vec(),
        };
        let told: Value = serde_json::from_slice(&body)?;
        let truth = Truth { id: &asked["id"], result: &told["result"], body: &body };
        let of = Asked {
            method: &fault.method,
            params: &asked["params"],
            result: &told["result"],
            contract: fault.contract,
        };
        let mut rng = Rng::new(fault.seed ^ number.wrapping_mul(0x9E37_79B9_7F4A_7C15));
        Ok(fault.change.apply(truth, of, &mut rng))
    }

    /// The node's own answer.
    fn ask(&self, request: &[u8]) -> std::io::Result<Vec<u8>> {
        let mut node = TcpStream::connect(&self.node)?;
        let head = format!(
            "POST / HTTP/1.1\r\nHost: node\r\nContent-Type: application/json\r\n\
             Connection: close\r\nContent-Length: {}\r\n\r\n",
            request.len()
        );
        std::io::Write::write_all(&mut node, &[head.as_bytes(), request].concat())?;
        Ok(Message::read(&node)?.body)
    }
}

/// The contracts of whose own data an answer says something else: what cannot be read is not data of any.
fn contracts_of(fault: &Fault, asked: &Value, truth: &Value) -> Vec<Address> {
    let address = |value: &Value| serde_json::from_value(value.clone()).ok();
    match fault.method.as_str() {
        "eth_chainId" | "eth_getBlockByNumber" => Vec::new(),
        _ if fault.change.is_of_contract() => vec![fault.contract],
        // A proof is of one contract.
        "eth_getProof" if fault.change.request(asked).is_some() => {
            address(&asked["params"][0]).into_iter().collect()
        }
        // No logs at all.
        "eth_getLogs" if fault.change.name == "list" => {
            let logs = truth["result"].as_array().into_iter().flatten();
            logs.filter_map(|log| address(&log["address"])).collect()
        }
        _ => Vec::new(),
    }
}
