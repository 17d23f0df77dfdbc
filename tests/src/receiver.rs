//! A receiver of events: a separate server on any address of this machine, with configurable behaviour, which records
//! what it receives.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use serde_json::Value;

/// A received request.
#[derive(Debug, Clone)]
pub struct Received {
    /// Its path.
    pub path: String,
    /// Its headers, in lower case.
    pub headers: BTreeMap<String, String>,
    /// Its body.
    pub body: Vec<u8>,
    /// When it arrived.
    pub at: Instant,
}

impl Received {
    /// The body as JSON.
    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_default()
    }

    /// The type of the event.
    pub fn kind(&self) -> String {
        self.json()["type"].as_str().unwrap_or_default().to_owned()
    }

    /// A header.
    pub fn header(&self, name: &str) -> &str {
        self.headers.get(name).map_or("", String::as_str)
    }
}

/// The behaviour of the receiver.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Does {
    /// 200, with the answer to a challenge.
    Takes,
    /// A status, with headers.
    Answers(u16, String),
    /// 200 and a gigabyte.
    Floods,
    /// No answer until the other side closes the connection.
    Hangs,
    /// The connection is reset.
    Resets,
    /// One byte of the head at a time.
    Trickles,
}

type Rule = dyn Fn(&Received) -> Does + Send + Sync;

/// The server.
pub struct Receiver {
    address: SocketAddr,
    received: Arc<Mutex<Vec<Received>>>,
    connections: Arc<AtomicUsize>,
}

impl Receiver {
    /// Listens on any port of an address of this machine.
    pub fn start(
        ip: Ipv4Addr,
        does: impl Fn(&Received) -> Does + Send + Sync + 'static,
    ) -> std::io::Result<Self> {
        let listener = TcpListener::bind((ip, 0))?;
        let address = listener.local_addr()?;
        let received: Arc<Mutex<Vec<Received>>> = Arc::default();
        let connections: Arc<AtomicUsize> = Arc::default();
        let (kept, count, does) =
            (received.clone(), connections.clone(), Arc::new(does) as Arc<Rule>);
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                count.fetch_add(1, Ordering::SeqCst);
                let (kept, does) = (kept.clone(), does.clone());
                std::thread::spawn(move || {
                    // The sender may be killed at any moment.
                    let _ = answer(&stream, &kept, &*does);
                });
            }
        });
        Ok(Self { address, received, connections })
    }

    /// A receiver that accepts everything, on the first address of this machine.
    pub fn taking() -> std::io::Result<Self> {
        Self::start(Ipv4Addr::LOCALHOST, |_| Does::Takes)
    }

    /// Its URL.
    pub fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    /// Its address.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The number of connections so far.
    pub fn connections(&self) -> usize {
        self.connections.load(Ordering::SeqCst)
    }

    /// The requests received so far.
    pub fn received(&self) -> Vec<Received> {
        self.received.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Waits until this many events arrived, not counting challenges; returns what arrived by the end of the time.
    pub fn wait_for(&self, events: usize, within: Duration) -> Vec<Received> {
        let begun = Instant::now();
        loop {
            let mut found = self.received();
            found.retain(|received| received.kind() != "endpoint.challenge");
            if found.len() >= events || begun.elapsed() > within {
                return found;
            }
            std::thread::sleep(Duration::from_millis(10));
        }
    }
}

fn answer(stream: &TcpStream, kept: &Mutex<Vec<Received>>, does: &Rule) -> std::io::Result<()> {
    stream.set_read_timeout(Some(Duration::from_secs(30)))?;
    let mut reader = BufReader::new(stream);
    let mut line = String::new();
    reader.read_line(&mut line)?;
    let path = line.split(' ').nth(1).unwrap_or_default().to_owned();
    let mut headers = BTreeMap::new();
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line)? == 0 {
            return Ok(());
        }
        let Some((name, value)) = line.trim_end().split_once(':') else { break };
        headers.insert(name.to_ascii_lowercase(), value.trim().to_owned());
    }
    let length = headers.get("content-length").and_then(|text| text.parse().ok()).unwrap_or(0);
    let mut body = vec![0; length];
    reader.read_exact(&mut body)?;
    let received = Received { path, headers, body, at: Instant::now() };
    let done = does(&received);
    let text = received.json()["data"]["challenge"].as_str().unwrap_or("taken").to_owned();
    kept.lock().unwrap_or_else(PoisonError::into_inner).push(received);
    let mut out = stream;
    match done {
        Does::Takes => {
            let length = text.len();
            write!(
                out,
                "HTTP/1.1 200 OK\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n{text}"
            )
        }
        Does::Answers(status, headers) => {
            let close = "content-length: 0\r\nconnection: close";
            write!(out, "HTTP/1.1 {status} Said\r\n{headers}{close}\r\n\r\n")
        }
        Does::Floods => {
            write!(out, "HTTP/1.1 200 OK\r\ncontent-length: 1000000000\r\n\r\n")?;
            for _ in 0..125_000 {
                out.write_all(&[b'a'; 8_000])?;
            }
            Ok(())
        }
        Does::Hangs => reader.read(&mut [0; 1]).map(drop),
        // Unread data causes a reset when the connection is closed.
        Does::Resets => Ok(()),
        Does::Trickles => {
            for byte in "HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n".bytes() {
                out.write_all(&[byte])?;
                std::thread::sleep(Duration::from_millis(500));
            }
            Ok(())
        }
    }
}
