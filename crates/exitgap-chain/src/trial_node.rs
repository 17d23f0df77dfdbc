//! A node for tests: an HTTP server in its own threads whose answers the test defines.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};

use crate::config::{Config, Plan};
use crate::limits::Limits;
use crate::rpc::Rpc;

/// The node's answer to a request.
#[derive(Debug, Clone)]
pub(crate) enum Reply {
    /// A `result`.
    Result(Value),
    /// An `error`.
    Error(Value),
    /// A status, headers, each with its line end, and a body.
    Raw(u16, &'static str, Vec<u8>),
    /// No answer, for this long.
    Hang(Duration),
}

type Answering = dyn Fn(&Value) -> (Reply, bool) + Send + Sync;

/// A node with the requests that it got.
pub(crate) struct TrialNode {
    port: u16,
    asked: Arc<Mutex<Vec<Value>>>,
}

/// The hash of its block 0.
pub(crate) const GENESIS: &str =
    "0x4444444444444444444444444444444444444444444444444444444444444444";

impl TrialNode {
    /// A node that answers the identity requests itself, and everything else with `answer`.
    pub(crate) fn start(answer: impl Fn(&Value) -> Reply + Send + Sync + 'static) -> Self {
        Self::with_genesis(|| json!({ "hash": GENESIS }), answer)
    }

    /// The same without block 0.
    pub(crate) fn without_genesis(
        answer: impl Fn(&Value) -> Reply + Send + Sync + 'static,
    ) -> Self {
        Self::with_genesis(|| Value::Null, answer)
    }

    /// The same with this block 0.
    pub(crate) fn with_genesis(
        genesis: impl Fn() -> Value + Send + Sync + 'static,
        answer: impl Fn(&Value) -> Reply + Send + Sync + 'static,
    ) -> Self {
        Self::serve_all(move |request| match request["method"].as_str() {
            Some("eth_chainId") => (Reply::Result(json!("0x7a69")), false),
            Some("eth_getBlockByNumber") if request["params"][0] == "0x0" => {
                (Reply::Result(genesis()), false)
            }
            _ => (answer(request), true),
        })
    }

    /// A node that answers the identity requests with this too.
    pub(crate) fn without_identity(reply: Reply) -> Self {
        Self::serve_all(move |_| (reply.clone(), true))
    }

    /// Serves these replies, each with whether its request is remembered.
    fn serve_all(answer: impl Fn(&Value) -> (Reply, bool) + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let asked = Arc::new(Mutex::new(Vec::new()));
        let (answer, heard): (Arc<Answering>, _) = (Arc::new(answer), Arc::clone(&asked));
        thread::spawn(move || {
            for client in listener.incoming().map_while(Result::ok) {
                let (answer, heard) = (Arc::clone(&answer), Arc::clone(&heard));
                thread::spawn(move || while serve(&client, &*answer, &heard).is_some() {});
            }
        });
        Self { port, asked }
    }

    pub(crate) fn url(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    /// The requests of a method, in order.
    pub(crate) fn asked(&self, method: &str) -> Vec<Value> {
        let asked = self.asked.lock().unwrap();
        asked.iter().filter(|request| request["method"] == method).cloned().collect()
    }
}

fn serve(mut client: &TcpStream, answer: &Answering, heard: &Mutex<Vec<Value>>) -> Option<()> {
    let mut reader = BufReader::new(client);
    let mut length = 0;
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line).ok()? == 0 {
            return None;
        }
        let line = line.trim_end().to_ascii_lowercase();
        if line.is_empty() {
            break;
        }
        if let Some(value) = line.strip_prefix("content-length:") {
            length = value.trim().parse().ok()?;
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    let request: Value = serde_json::from_slice(&body).ok()?;
    let (reply, is_remembered) = answer(&request);
    if is_remembered {
        heard.lock().ok()?.push(request.clone());
    }
    let id = &request["id"];
    let (status, headers, body) = match reply {
        Reply::Result(result) => {
            (200, "", json!({ "jsonrpc": "2.0", "id": id, "result": result }).to_string().into())
        }
        Reply::Error(error) => {
            (200, "", json!({ "jsonrpc": "2.0", "id": id, "error": error }).to_string().into())
        }
        Reply::Raw(status, headers, body) => {
            let text =
                String::from_utf8(body.clone()).map(|text| text.replace("$ID", &id.to_string()));
            (status, headers, text.map_or(body, String::into_bytes))
        }
        Reply::Hang(time) => {
            thread::sleep(time);
            return None;
        }
    };
    let length = body.len();
    let head = format!("HTTP/1.1 {status} X\r\ncontent-length: {length}\r\n{headers}\r\n");
    // In a single write, because a second one would wait for the client's acknowledgement.
    client.write_all(&[head.as_bytes(), &body].concat()).ok()
}

/// The JSON-RPC client for these nodes.
pub(crate) fn rpc(nodes: &[&TrialNode], limits: Limits) -> Rpc {
    let plan = plan(nodes);
    Rpc::new(&plan.into_chains().remove(0), limits).unwrap()
}

/// A plan of one chain with these nodes and a Uniswap v3 pool.
pub(crate) fn plan(nodes: &[&TrialNode]) -> Plan {
    let urls: Vec<String> = nodes.iter().map(|node| node.url()).collect();
    let text = format!(
        r#"
[[chain]]
slug = "anvil"
chain_id = 31337
rpc_urls = {urls:?}

[[oracle]]
name = "usd"
chain = "anvil"
source = "fixed"
answer = "100000000"
decimals = 8

[[pool]]
chain = "anvil"
address = "0x88e6a0c2ddd26feeb64f039a2c41296fcb3f5640"
base = "token1"
token0_usd = ["usd"]
token1_usd = ["usd"]
"#
    );
    let config: Config = toml::from_str(&text).unwrap();
    Plan::new(&config).unwrap()
}

/// These bytes, packed.
pub(crate) fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    packed.write_all(bytes).unwrap();
    packed.finish().unwrap()
}

/// Limits with pauses so short that a test does not wait for them.
pub(crate) fn short_limits() -> Limits {
    Limits {
        backoff_first: Duration::from_millis(1),
        backoff_most: Duration::from_millis(4),
        request_timeout: Duration::from_secs(5),
        cut_off_after: Duration::from_millis(100),
        ..Limits::default()
    }
}
