//! A real HTTP server between a reader and its node, in its own threads, that can lie.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Instant;

use exitgap_tests::message::Message;
use serde_json::{Value, json};

/// A false answer of the proxy.
pub enum Lie {
    /// Another `result`.
    Result(Value),
    /// An `error` with this code and message.
    Error(i64, &'static str),
    /// This body.
    Body(Vec<u8>),
    /// This many bytes without a declared length.
    Flood(usize),
    /// An empty answer with this HTTP status.
    Status(u16),
    /// Status 429 with this `Retry-After`.
    Busy(&'static str),
    /// The true answer to another request.
    Instead(Value),
    /// No answer until the client gives up.
    Hang,
}

/// Decides whether to lie, from the request and the node's answer.
type Liar = dyn Fn(&Value, &Value) -> Option<Lie> + Send + Sync;

pub struct Proxy {
    port: u16,
    shared: Arc<Shared>,
}

struct Shared {
    upstream: Mutex<String>,
    liar: Mutex<Option<Box<Liar>>>,
    fired: AtomicUsize,
    served: AtomicUsize,
    /// The time and the method of each request.
    asked: Mutex<Vec<(Instant, String)>>,
}

impl Proxy {
    /// Starts a proxy that forwards the true answers of the node at this URL.
    pub fn start(upstream: &str) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let shared = Arc::new(Shared {
            upstream: Mutex::new(host_of(upstream)),
            liar: Mutex::new(None),
            fired: AtomicUsize::new(0),
            served: AtomicUsize::new(0),
            asked: Mutex::new(Vec::new()),
        });
        let serving = Arc::clone(&shared);
        thread::spawn(move || {
            for client in listener.incoming().map_while(Result::ok) {
                let serving = Arc::clone(&serving);
                // Errors are ignored: some tests are about clients that hang up.
                thread::spawn(move || drop(serving.serve(&client)));
            }
        });
        Self { port, shared }
    }

    pub fn url(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    /// From now on, lies as `liar` decides.
    pub fn lie(&self, liar: impl Fn(&Value, &Value) -> Option<Lie> + Send + Sync + 'static) {
        *self.shared.liar.lock().unwrap() = Some(Box::new(liar));
        self.shared.fired.store(0, Ordering::SeqCst);
    }

    /// From now on, forwards to another node.
    pub fn point_to(&self, upstream: &str) {
        *self.shared.upstream.lock().unwrap() = host_of(upstream);
    }

    /// The times of the requests with this method.
    pub fn asked(&self, method: &str) -> Vec<Instant> {
        let asked = self.shared.asked.lock().unwrap();
        asked.iter().filter(|(_, of)| of == method).map(|(at, _)| *at).collect()
    }

    /// From now on, tells the truth.
    pub fn be_honest(&self) {
        *self.shared.liar.lock().unwrap() = None;
    }

    /// Number of false answers.
    pub fn fired(&self) -> usize {
        self.shared.fired.load(Ordering::SeqCst)
    }

    /// Number of requests.
    pub fn served(&self) -> usize {
        self.shared.served.load(Ordering::SeqCst)
    }
}

impl Shared {
    /// Answers one request and closes the connection.
    fn serve(&self, mut client: &TcpStream) -> std::io::Result<()> {
        let request = Message::read(client)?.body;
        self.served.fetch_add(1, Ordering::SeqCst);
        let came = Instant::now();
        let truth = self.ask(&request)?;
        let asked: Value = serde_json::from_slice(&request)?;
        let method = asked["method"].as_str().unwrap_or_default().to_owned();
        self.asked.lock().unwrap().push((came, method));
        let told: Value = serde_json::from_slice(&truth)?;
        let lie = self.liar.lock().unwrap().as_ref().and_then(|liar| liar(&asked, &told));
        if lie.is_some() {
            self.fired.fetch_add(1, Ordering::SeqCst);
        }
        let id = &asked["id"];
        let body = match lie {
            None => truth,
            Some(Lie::Result(result)) => answer(&json!({ "id": id, "result": result })),
            Some(Lie::Error(code, message)) => {
                answer(&json!({ "id": id, "error": { "code": code, "message": message } }))
            }
            Some(Lie::Body(body)) => body,
            Some(Lie::Instead(request)) => self.ask(request.to_string().as_bytes())?,
            Some(Lie::Status(status)) => {
                let head = format!("HTTP/1.1 {status} Sorry\r\nContent-Length: 0\r\n\r\n");
                return client.write_all(head.as_bytes());
            }
            Some(Lie::Busy(wait)) => {
                let head = format!(
                    "HTTP/1.1 429 Busy\r\nRetry-After: {wait}\r\nContent-Length: 0\r\n\r\n"
                );
                return client.write_all(head.as_bytes());
            }
            Some(Lie::Flood(bytes)) => {
                client.write_all(b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n")?;
                return client.write_all(&vec![b' '; bytes]);
            }
            Some(Lie::Hang) => return client.read(&mut [0]).map(drop),
        };
        write_answer(client, &body)
    }

    /// Returns the node's answer.
    fn ask(&self, request: &[u8]) -> std::io::Result<Vec<u8>> {
        let upstream = self.upstream.lock().unwrap().clone();
        ask_node(&upstream, request)
    }
}

/// The answer of a node, given by host and port.
pub(super) fn ask_node(node: &str, request: &[u8]) -> std::io::Result<Vec<u8>> {
    let mut node = TcpStream::connect(node)?;
    let head = format!(
        "POST / HTTP/1.1\r\nHost: node\r\nContent-Type: application/json\r\n\
         Connection: close\r\nContent-Length: {}\r\n\r\n",
        request.len()
    );
    node.write_all(head.as_bytes())?;
    node.write_all(request)?;
    Ok(Message::read(&node)?.body)
}

/// Writes a successful answer with this body.
pub(super) fn write_answer(mut client: &TcpStream, body: &[u8]) -> std::io::Result<()> {
    let head = format!(
        "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nConnection: close\r\n\
         Content-Length: {}\r\n\r\n",
        body.len()
    );
    client.write_all(head.as_bytes())?;
    client.write_all(body)
}

/// Host and port in a node's URL.
pub(super) fn host_of(url: &str) -> String {
    url.strip_prefix("http://").unwrap().trim_end_matches('/').to_owned()
}

fn answer(body: &Value) -> Vec<u8> {
    body.to_string().into_bytes()
}
