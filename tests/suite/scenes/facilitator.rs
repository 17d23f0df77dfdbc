//! An x402 facilitator over HTTP that settles on the real node: honestly, or with one of the faults that facilitators
//! may have.

use std::io::Write;
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use alloy::primitives::{U256, hex};
use exitgap_chain::settle::{Authorization, HotKey, TokenNode};
use exitgap_core::ids::Word;
use serde_json::{Value, json};
use tokio::time::Instant;

use super::usdc::{Scene, soon, write_key};
use exitgap_tests::message::Message;

/// The behavior of the facilitator.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Way {
    Honest,
    /// Settles, but its proxy answers 504.
    SilentAfterSettling,
    /// Reports a settlement and a transaction without doing anything.
    LiesOfSuccess,
    /// Settles with two transactions.
    SettlesTwice,
    /// Settles and reports a failure.
    SaysFailed,
    /// Refuses to settle.
    Refuses,
    /// Answers with more bytes than a client reads.
    Floods,
}

pub struct Facilitator {
    pub url: String,
    /// The account that pays its fees.
    pub key: HotKey,
    shared: Arc<Shared>,
}

struct Shared {
    way: Mutex<Way>,
    /// The path and the body of each request.
    asked: Mutex<Vec<(String, Value)>>,
    key: HotKey,
    urls: Vec<String>,
    asset: exitgap_core::ids::Address,
}

impl Facilitator {
    /// A facilitator that settles on the scene's chain.
    pub async fn new(scene: &Scene, way: Way) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("key");
        write_key(&file, 0x55);
        let key = HotKey::from_file(&file).unwrap();
        let coin = U256::from(10).pow(U256::from(18));
        scene.chain.set_balance(key.address().0.into(), coin).await.unwrap();
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}/facilitator", listener.local_addr().unwrap());
        let shared = Arc::new(Shared {
            way: Mutex::new(way),
            asked: Mutex::default(),
            key: key.clone(),
            urls: vec![scene.chain.url()],
            asset: super::usdc::own(scene.usdc.address),
        });
        let serving = shared.clone();
        thread::spawn(move || {
            for client in listener.incoming().map_while(Result::ok) {
                let serving = serving.clone();
                // Ignores clients that hang up.
                thread::spawn(move || drop(serving.serve(&client)));
            }
        });
        Self { url, key, shared }
    }

    /// Changes the behavior from now on.
    pub fn turn(&self, way: Way) {
        *self.shared.way.lock().unwrap() = way;
    }

    /// The bodies of the requests to this path.
    pub fn asked(&self, path: &str) -> Vec<Value> {
        let asked = self.shared.asked.lock().unwrap();
        asked.iter().filter(|(to, _)| to == path).map(|(_, body)| body.clone()).collect()
    }
}

impl Shared {
    fn serve(&self, mut client: &TcpStream) -> std::io::Result<()> {
        let (path, body) = request(client)?;
        self.asked.lock().unwrap().push((path.clone(), body.clone()));
        let way = *self.way.lock().unwrap();
        let (status, answer) = match (path.as_str(), way) {
            (_, Way::Floods) => (200, vec![b' '; 200_000]),
            ("/facilitator/verify", Way::Refuses) => {
                (200, text(&json!({"isValid": false, "invalidReason": "unsupported_scheme"})))
            }
            ("/facilitator/verify", _) => (200, text(&json!({"isValid": true, "payer": "0x"}))),
            ("/facilitator/settle", _) => self.settle(&body, way),
            _ => (404, Vec::new()),
        };
        let head = format!(
            "HTTP/1.1 {status} As it is\r\nContent-Type: application/json\r\nConnection: close\r\n\
             Content-Length: {}\r\n\r\n",
            answer.len()
        );
        client.write_all(head.as_bytes())?;
        client.write_all(&answer)
    }

    fn settle(&self, body: &Value, way: Way) -> (u16, Vec<u8>) {
        let settled = |success: bool, transaction: String| {
            let network = &body["paymentPayload"]["network"];
            (
                200,
                text(&json!({"success": success, "transaction": transaction, "network": network,
                "errorReason": if success { Value::Null } else { json!("invalid_transaction_state") }})),
            )
        };
        if way == Way::LiesOfSuccess {
            return settled(true, format!("0x{}", "12".repeat(32)));
        }
        let times = if way == Way::SettlesTwice { 2 } else { 1 };
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let hash = runtime.block_on(self.send(&body["paymentPayload"]["payload"], times));
        match way {
            Way::SilentAfterSettling => (504, Vec::new()),
            Way::SaysFailed => settled(false, String::new()),
            _ => settled(true, hash.to_string()),
        }
    }

    /// Sends the transactions and waits until the first is mined.
    async fn send(&self, payload: &Value, times: u64) -> Word {
        let config = exitgap_chain::config::Config {
            chain: vec![Scene::chain_config(&self.urls)],
            ..Default::default()
        };
        let plan = exitgap_chain::config::Plan::new(&config).unwrap();
        let node = TokenNode::new(&plan.chains()[0], self.asset).unwrap();
        let authorization = authorization(payload);
        let fees = node.fees(100_000_000_000, soon()).await.unwrap();
        let count = node.count(self.key.address(), soon()).await.unwrap();
        let target = (super::usdc::CHAIN_ID, self.asset);
        let mut first = None;
        for nonce in count..count + times {
            let signed = authorization.sign(&self.key, target, nonce, fees).unwrap();
            node.broadcast(&signed, soon()).await.unwrap();
            first.get_or_insert(signed.hash);
        }
        let (first, until) = (first.unwrap(), Instant::now() + Duration::from_secs(20));
        while node.receipt(first, soon()).await.unwrap().is_none() && Instant::now() < until {
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        first
    }
}

fn authorization(payload: &Value) -> Authorization {
    let of = &payload["authorization"];
    let text = |name: &str| of[name].as_str().unwrap_or_else(|| panic!("{name} in {payload}"));
    let number = |name: &str| text(name).parse().unwrap();
    Authorization {
        from: text("from").parse().unwrap(),
        to: text("to").parse().unwrap(),
        value: text("value").parse().unwrap(),
        valid_after_s: number("validAfter"),
        valid_before_s: number("validBefore"),
        nonce: text("nonce").parse().unwrap(),
        signature: hex::decode(payload["signature"].as_str().unwrap()).unwrap(),
    }
}

fn text(body: &Value) -> Vec<u8> {
    body.to_string().into_bytes()
}

/// Reads the path and the body of a request.
fn request(stream: &TcpStream) -> std::io::Result<(String, Value)> {
    let message = Message::read(stream)?;
    let path = message.first_line.split(' ').nth(1).unwrap_or_default().to_owned();
    Ok((path, serde_json::from_slice(&message.body)?))
}
