//! An S3-compatible server (`moto`), and a proxy in front of it that injects faults into some requests.

use std::collections::HashMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use super::Result;
use crate::devchain::Rng;
use crate::fixtures;

/// The existing bucket.
pub const BUCKET: &str = "exits";

/// Maximum size of a forwarded request.
const MAX_REQUEST_BYTES: usize = 80 << 20;

/// A running server with an empty bucket, ended when dropped.
pub struct Moto {
    child: Child,
    address: SocketAddr,
}

impl Moto {
    /// Starts it on a free port of this machine.
    pub fn start() -> Result<Self> {
        let program = fixtures::folder().join("moto/bin/moto_server");
        if !program.is_file() {
            return Err(
                "moto is not installed: run `cargo xtask faults s3` or `cargo xtask test --all`"
                    .into(),
            );
        }
        let address = TcpListener::bind("127.0.0.1:0")?.local_addr()?;
        let mut command = Command::new(program);
        command.args(["-H", "127.0.0.1", "-p", &address.port().to_string()]);
        let child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn()?;
        let server = Self { child, address };
        let until = Instant::now() + Duration::from_mins(1);
        while TcpStream::connect(address).is_err() {
            if Instant::now() > until {
                return Err("moto does not listen".into());
            }
            thread::sleep(Duration::from_millis(100));
        }
        let open = format!(
            r#"{{"Version":"2012-10-17","Statement":[{{"Effect":"Allow","Principal":"*","Action":"s3:GetObject","Resource":"arn:aws:s3:::{BUCKET}/*"}}]}}"#
        );
        // Make the bucket's objects publicly readable.
        let policy = format!("/{BUCKET}?policy");
        for (path, body) in [(format!("/{BUCKET}"), ""), (policy, open.as_str())] {
            let made = raw(address, "PUT", &path, body.as_bytes())?;
            if !made.starts_with(b"HTTP/1.1 20") {
                return Err(format!("no bucket: {}", String::from_utf8_lossy(&made)).into());
            }
        }
        Ok(server)
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }
}

impl Drop for Moto {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Sends a request with a body, and returns the whole answer.
fn raw(address: SocketAddr, method: &str, path: &str, body: &[u8]) -> Result<Vec<u8>> {
    let mut server = TcpStream::connect(address)?;
    let length = body.len();
    let head = format!(
        "{method} {path} HTTP/1.1\r\nHost: {address}\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n"
    );
    server.write_all(head.as_bytes())?;
    server.write_all(body)?;
    let mut answer = Vec::new();
    server.read_to_end(&mut answer)?;
    Ok(answer)
}

/// A fault of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Fault {
    /// 500, and the request was not applied.
    Failed,
    /// 500, but the request was applied.
    FailedAfter,
    /// The connection is closed before the answer, but the request was applied.
    Lost,
    /// 409 to a conditional write: another one was in progress.
    Conflict,
    /// 503, as for too many requests.
    SlowDown,
    /// An answer that is half a second late.
    Slow,
    /// The object's content before its last write.
    Stale,
    /// 507: there is no space for the write.
    Full,
}

impl Fault {
    /// All of them.
    pub const ALL: [Self; 8] = [
        Self::Failed,
        Self::FailedAfter,
        Self::Lost,
        Self::Conflict,
        Self::SlowDown,
        Self::Slow,
        Self::Stale,
        Self::Full,
    ];

    /// Its name in figures.
    pub fn name(self) -> &'static str {
        match self {
            Self::Failed => "failed",
            Self::FailedAfter => "failed_after",
            Self::Lost => "lost",
            Self::Conflict => "conflict",
            Self::SlowDown => "slow_down",
            Self::Slow => "slow",
            Self::Stale => "stale",
            Self::Full => "full",
        }
    }
}

/// The proxy: one in this many requests has a fault.
pub struct Between {
    address: SocketAddr,
    shared: Arc<Shared>,
}

struct Shared {
    server: SocketAddr,
    rng: Mutex<Rng>,
    /// One in this many requests; 0: none.
    one_in: AtomicU64,
    fired: Mutex<HashMap<Fault, u64>>,
    /// For each path, the last two different answers to reading it.
    answers: Mutex<HashMap<String, [Vec<u8>; 2]>>,
}

impl Between {
    /// Listens in front of `server`.
    pub fn start(server: SocketAddr, seed: u64) -> Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0")?;
        let address = listener.local_addr()?;
        let shared = Arc::new(Shared {
            server,
            rng: Mutex::new(Rng::new(seed)),
            one_in: AtomicU64::new(0),
            fired: Mutex::default(),
            answers: Mutex::default(),
        });
        let of_threads = Arc::clone(&shared);
        thread::spawn(move || {
            for client in listener.incoming().flatten() {
                let shared = Arc::clone(&of_threads);
                // Broken connections are expected here.
                thread::spawn(move || drop(shared.pass(client)));
            }
        });
        Ok(Self { address, shared })
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Sets the fault rate: one in this many requests; 0: none.
    pub fn faults(&self, one_in: u64) {
        self.shared.one_in.store(one_in, Ordering::SeqCst);
    }

    /// How often each fault occurred.
    pub fn fired(&self) -> HashMap<Fault, u64> {
        self.shared.fired.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

struct Request {
    head: String,
    method: String,
    path: String,
    is_conditional: bool,
    body: Vec<u8>,
}

impl Shared {
    fn pass(&self, mut client: TcpStream) -> Result<()> {
        let request = read(&client)?;
        let fault = self.drawn(&request);
        if let Some(fault) = fault {
            *self.fired.lock().unwrap_or_else(PoisonError::into_inner).entry(fault).or_default() +=
                1;
        }
        let refused = match fault {
            Some(Fault::Failed) => Some((500, "InternalError")),
            Some(Fault::Conflict) => Some((409, "ConditionalRequestConflict")),
            Some(Fault::SlowDown) => Some((503, "SlowDown")),
            Some(Fault::Full) => Some((507, "InsufficientStorage")),
            _ => None,
        };
        if let Some((status, code)) = refused {
            return Ok(client.write_all(&problem(status, code))?);
        }
        if fault == Some(Fault::Stale)
            && let Some(answer) = self.before(&request.path)
        {
            return Ok(client.write_all(&answer)?);
        }
        let answer = self.answered(&request)?;
        match fault {
            Some(Fault::FailedAfter) => client.write_all(&problem(500, "InternalError"))?,
            Some(Fault::Lost) => {}
            Some(Fault::Slow) => {
                thread::sleep(Duration::from_millis(500));
                client.write_all(&answer)?;
            }
            _ => client.write_all(&answer)?,
        }
        Ok(())
    }

    /// The fault for a request, among those that apply to it.
    fn drawn(&self, request: &Request) -> Option<Fault> {
        let one_in = self.one_in.load(Ordering::SeqCst);
        let mut rng = self.rng.lock().unwrap_or_else(PoisonError::into_inner);
        if one_in == 0 || !rng.once_in(one_in) {
            return None;
        }
        let is_write = request.method == "PUT";
        let fits = |fault: &Fault| match fault {
            Fault::Conflict => is_write && request.is_conditional,
            Fault::Full => is_write,
            Fault::FailedAfter | Fault::Lost => request.method != "GET",
            Fault::Stale => request.method == "GET" && self.before(&request.path).is_some(),
            Fault::Failed | Fault::SlowDown | Fault::Slow => true,
        };
        let mut fitting: Vec<Fault> = Fault::ALL.into_iter().filter(fits).collect();
        // One of the least frequent faults so far, so that a short run has them all.
        let fired = self.fired.lock().unwrap_or_else(PoisonError::into_inner);
        let times = |fault: &Fault| fired.get(fault).copied().unwrap_or(0);
        let least = fitting.iter().map(times).min();
        fitting.retain(|fault| Some(times(fault)) == least);
        let at = usize::try_from(rng.below(fitting.len() as u64)).unwrap_or(0);
        fitting.get(at).copied()
    }

    fn answered(&self, request: &Request) -> Result<Vec<u8>> {
        let mut server = TcpStream::connect(self.server)?;
        server.write_all(request.head.as_bytes())?;
        server.write_all(b"Connection: close\r\n\r\n")?;
        server.write_all(&request.body)?;
        let mut answer = Vec::new();
        server.read_to_end(&mut answer)?;
        if request.method == "GET" {
            let mut answers = self.answers.lock().unwrap_or_else(PoisonError::into_inner);
            let [_, newest] = answers.entry(request.path.clone()).or_default();
            if body_of(newest) != body_of(&answer) {
                let before = std::mem::replace(newest, answer.clone());
                answers.insert(request.path.clone(), [before, answer.clone()]);
            }
        }
        Ok(answer)
    }

    /// A path's answer before the newest one.
    fn before(&self, path: &str) -> Option<Vec<u8>> {
        let answers = self.answers.lock().unwrap_or_else(PoisonError::into_inner);
        answers.get(path).map(|[before, _]| before.clone()).filter(|before| !before.is_empty())
    }
}

fn body_of(answer: &[u8]) -> &[u8] {
    let end = answer.windows(4).position(|four| four == b"\r\n\r\n");
    end.and_then(|end| answer.get(end + 4..)).unwrap_or_default()
}

fn read(client: &TcpStream) -> Result<Request> {
    client.set_read_timeout(Some(Duration::from_secs(30)))?;
    let mut reader = BufReader::new(client);
    let (mut head, mut length, mut is_conditional) = (String::new(), 0_usize, false);
    loop {
        let mut line = String::new();
        if reader.by_ref().take(64 << 10).read_line(&mut line)? == 0 {
            return Err("no request".into());
        }
        let lower = line.to_ascii_lowercase();
        if line == "\r\n" {
            break;
        }
        if let Some(found) = lower.strip_prefix("content-length:") {
            length = found.trim().parse()?;
        }
        is_conditional |= lower.starts_with("if-match:") || lower.starts_with("if-none-match:");
        if !lower.starts_with("connection:") {
            head.push_str(&line);
        }
    }
    if length > MAX_REQUEST_BYTES {
        return Err("the request is too large".into());
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body)?;
    let mut words = head.split_whitespace();
    let (method, path) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
    let (method, path) = (method.to_owned(), path.to_owned());
    Ok(Request { head, method, path, is_conditional, body })
}

fn problem(status: u16, code: &str) -> Vec<u8> {
    let body = format!(
        "<?xml version=\"1.0\"?><Error><Code>{code}</Code><Message>a fault of the harness</Message></Error>"
    );
    let length = body.len();
    format!("HTTP/1.1 {status} Fault\r\nContent-Type: application/xml\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n{body}").into_bytes()
}
