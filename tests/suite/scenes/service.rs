//! A recorded series of real contracts with a service for it, and a client that returns raw answers.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use exitgap_chain::{ChainReader, Limits};
use exitgap_core::series::Slot;
use exitgap_server::config::CheckedConfig;
use exitgap_server::recorder::{Recorder, Source};
use exitgap_store::{LogFolder, Store};
use exitgap_tests::binaries;
use exitgap_tests::demo::recorder_config;
use exitgap_tests::devchain::{DevChain, FIRST_SLOT, Market, Tx, World};
use exitgap_tests::folders;
use exitgap_tests::saved;
use serde_json::Value;
use tempfile::TempDir;

use crate::scenes::chain::scene;

/// A folder with configuration, store and published log.
pub struct Recorded {
    pub folder: TempDir,
    pub world: World,
    pub last: Slot,
}

impl Recorded {
    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// The id of a pool of the scene.
    pub fn pool(&self, index: usize) -> String {
        format!("anvil:{:#x}", self.world.pools[index].pool.address)
    }
}

/// The configuration and key of a recorder for this chain, in their own folder.
pub fn configured(chain: &DevChain, world: &World) -> TempDir {
    configured_with(chain, world, "")
}

/// The same with additional tables.
pub fn configured_with(chain: &DevChain, world: &World, tables: &str) -> TempDir {
    let folder = TempDir::new().unwrap();
    let config = recorder_config(chain, world) + tables;
    fs::write(folder.path().join("exitgap.toml"), config).unwrap();
    let key = ["key", "new", "--out", "exitgap.key", "--name", "example.org/exits"];
    let mut made = Command::new(binaries::path("exitgap-server"));
    assert!(made.args(key).current_dir(folder.path()).output().unwrap().status.success());
    folder
}

/// A copy of a recording of this many slots from the series' first. The recording is made once, and its node has ended.
pub async fn recorded(slots: u64) -> Recorded {
    let saved = saved::Fixture::lock(&format!("recorded-{slots}")).unwrap();
    if let Some(unfinished) = &saved.unfinished {
        let (chain, world) = scene().await;
        let folder = configured(&chain, &world);
        let made = record_in(&chain, world, folder, slots).await;
        folders::copy(made.folder.path(), &unfinished.join("folder")).unwrap();
        fs::write(unfinished.join("world.json"), serde_json::to_vec(&made.world).unwrap()).unwrap();
    }
    let made = saved.finish().unwrap();
    let folder = TempDir::new().unwrap();
    folders::copy(&made.join("folder"), folder.path()).unwrap();
    let world = serde_json::from_slice(&fs::read(made.join("world.json")).unwrap()).unwrap();
    Recorded { folder, world, last: Slot::new(FIRST_SLOT + slots - 1).unwrap() }
}

/// The same for a chain with a recorder's folder.
pub async fn record_in(chain: &DevChain, world: World, folder: TempDir, slots: u64) -> Recorded {
    let last = record(chain, &world, &folder, slots).await;
    Recorded { folder, world, last }
}

/// Simulates and records this many slots of the chain with the configuration in the folder.
pub async fn record(chain: &DevChain, world: &World, folder: &TempDir, slots: u64) -> Slot {
    let (checked, mut recorder) = recorder_of(folder);
    let mut market = Market::new(chain, world, 4).await.unwrap();
    let mut last = Slot::FIRST;
    for number in FIRST_SLOT..FIRST_SLOT + slots {
        market.play_slot(number).await.unwrap();
        last = Slot::new(number).unwrap();
        let report = recorder.record_slot(last).await.unwrap();
        assert!(report.missing.is_empty(), "{report:?}");
    }
    recorder.publish_in(LogFolder::new(&checked.config.evidence.folder)).unwrap();
    last
}

/// Records this many slots. Only the transactions of `happens` occur, by slot position: each slot has one block before
/// its instant and an empty one after it.
pub async fn record_blocks(
    chain: &DevChain,
    world: &World,
    folder: &TempDir,
    slots: u64,
    happens: impl Fn(u64) -> Vec<Tx>,
) -> Slot {
    let (checked, mut recorder) = recorder_of(folder);
    let mut last = Slot::FIRST;
    for place in 0..slots {
        last = Slot::new(FIRST_SLOT + place).unwrap();
        let mut txs = happens(place);
        if place == 0 {
            for asset in &world.assets {
                let round = chain.latest_round(&asset.feed).await.unwrap() + 1;
                let answer = asset.initial_answer.cast_signed();
                txs.push(chain.answer_tx(&asset.feed, round, answer));
            }
        }
        chain.mine(last.unix_s() - 60, &txs).await.unwrap();
        chain.mine(last.unix_s() + 1, &[]).await.unwrap();
        let report = recorder.record_slot(last).await.unwrap();
        assert!(report.missing.is_empty(), "{report:?}");
    }
    recorder.publish_in(LogFolder::new(&checked.config.evidence.folder)).unwrap();
    last
}

/// The recorder of the folder's configuration, with its own store.
fn recorder_of(folder: &TempDir) -> (CheckedConfig, Recorder<ChainReader>) {
    let checked = CheckedConfig::from_file(&folder.path().join("exitgap.toml")).unwrap();
    let key = fs::read_to_string(&checked.config.evidence.key_file).unwrap();
    let store = Store::create(&checked.config.store.path, &key.trim_end().parse().unwrap());
    let sources = Source::of_plan(&checked.plan, &Limits::default());
    let mut recorder = Recorder::new(store.unwrap(), sources, Duration::from_mins(1));
    recorder.prove_states(checked.config.proofs.open().unwrap());
    (checked, recorder)
}

/// A running `exitgap-server serve`.
pub struct Service {
    child: Child,
    pub address: SocketAddr,
    /// The operators' address, if it differs.
    pub operators: Option<SocketAddr>,
}

impl Drop for Service {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Service {
    /// Starts it in `folder`, with these environment variables.
    pub fn start(folder: &std::path::Path, arguments: &[&str], variables: &[(&str, &str)]) -> Self {
        let mut command = Command::new(binaries::path("exitgap-server"));
        command.arg("serve").args(arguments).current_dir(folder);
        command.envs(variables.iter().copied()).env("EXITGAP_LOG_LEVEL", "info");
        Self::of(command)
    }

    /// Starts a replica of the log at this address, with its data in `folder`.
    pub fn follow(folder: &std::path::Path, log: &str, arguments: &[&str]) -> Self {
        let mut command = Command::new(binaries::path("exitgap-server"));
        command.args(["follow", "--data", ".", "--log", log]).args(arguments).current_dir(folder);
        Self::of(command)
    }

    fn of(mut command: Command) -> Self {
        command.args(["--listen", "127.0.0.1:0"]);
        let mut child = command.stderr(Stdio::piped()).spawn().unwrap();
        let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
        let mut operators = None;
        let said =
            |line: &str, what: &str| line.split_once(what)?.1.split(' ').next()?.parse().ok();
        let address = lines
            .by_ref()
            .map(|line| line.unwrap())
            .find_map(|line| {
                operators = operators.or_else(|| said(&line, "operators="));
                said(&line, "listen=")
            })
            .expect("the service says where it listens");
        std::thread::spawn(move || lines.for_each(drop));
        let service = Self { child, address, operators };
        service.wait_for_slot();
        service
    }

    /// Waits until the service has read the store.
    fn wait_for_slot(&self) {
        for _ in 0..200 {
            if self.get("/v1/pools").json()["pools"].as_array().is_some_and(|all| !all.is_empty()) {
                return;
            }
            std::thread::sleep(Duration::from_millis(50));
        }
        panic!("the service does not show the store's pools");
    }

    /// Sends the stop signal; returns the exit code.
    pub fn end(mut self) -> Option<i32> {
        self.ask_to_end();
        self.child.wait().unwrap().code()
    }

    /// Sends the stop signal without waiting.
    pub fn ask_to_end(&self) {
        let pid = self.child.id().to_string();
        assert!(Command::new("kill").args(["-TERM", &pid]).status().unwrap().success());
    }

    /// Its process id.
    pub fn process_id(&self) -> u32 {
        self.child.id()
    }

    /// Number of its threads.
    pub fn threads(&self) -> usize {
        fs::read_dir(format!("/proc/{}/task", self.child.id())).unwrap().count()
    }

    /// Its exit code, after it has ended.
    pub fn exit_code(&mut self) -> Option<i32> {
        self.child.wait().unwrap().code()
    }

    /// Sends an operator's request to the operators' address.
    pub fn at_operators(&self, target: &str) -> Answer {
        let operators = self.operators.expect("operators have an address");
        let request = format!("GET {target} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n");
        exchange(operators, request.as_bytes())
    }

    pub fn get(&self, target: &str) -> Answer {
        self.ask("GET", target, &[])
    }

    /// Sends a request on a separate connection and reads the whole answer.
    pub fn ask(&self, method: &str, target: &str, headers: &[(&str, &str)]) -> Answer {
        let mut request = format!("{method} {target} HTTP/1.1\r\nHost: any.example\r\n");
        for (name, value) in headers {
            request.extend([*name, ": ", *value, "\r\n"]);
        }
        request.push_str("Connection: close\r\n\r\n");
        self.send(request.as_bytes())
    }

    /// Sends a body and reads the whole answer. The given headers precede those of the body.
    pub fn post(&self, target: &str, headers: &[(&str, &str)], body: &[u8]) -> Answer {
        post(self.address, target, headers, body)
    }

    /// Sends bytes and reads until the service closes the connection.
    pub fn send(&self, bytes: &[u8]) -> Answer {
        exchange(self.address, bytes)
    }
}

/// Sends a body on a separate connection and reads the whole answer.
pub fn post(address: SocketAddr, target: &str, headers: &[(&str, &str)], body: &[u8]) -> Answer {
    let mut request = format!("POST {target} HTTP/1.1\r\n");
    if !headers.iter().any(|(name, _)| name.eq_ignore_ascii_case("host")) {
        request.push_str("Host: a\r\n");
    }
    for (name, value) in headers {
        request.extend([*name, ": ", *value, "\r\n"]);
    }
    let length = body.len().to_string();
    request.extend(["Content-Length: ", &length, "\r\nConnection: close\r\n\r\n"]);
    exchange(address, &[request.as_bytes(), body].concat())
}

/// Sends bytes on a separate connection and reads until it is closed.
pub fn exchange(address: SocketAddr, bytes: &[u8]) -> Answer {
    let mut stream = TcpStream::connect(address).unwrap();
    // The service may answer and close the connection before it has read everything.
    let _ = stream.write_all(bytes);
    rest_of(stream)
}

/// Reads a connection until it is closed.
pub fn rest_of(mut stream: TcpStream) -> Answer {
    stream.set_read_timeout(Some(Duration::from_mins(1))).unwrap();
    let mut raw = Vec::new();
    let _ = stream.read_to_end(&mut raw);
    Answer::parse(&raw)
}

/// A parsed answer.
#[derive(Debug)]
pub struct Answer {
    pub status: u16,
    pub headers: Vec<(String, String)>,
    pub body: Vec<u8>,
}

impl Answer {
    fn parse(raw: &[u8]) -> Self {
        let end = raw.windows(4).position(|four| four == b"\r\n\r\n").unwrap_or(raw.len());
        let head = String::from_utf8_lossy(&raw[..end]);
        let mut lines = head.lines();
        let status = lines.next().and_then(|line| line.split(' ').nth(1)?.parse().ok());
        let headers: Vec<(String, String)> = lines
            .filter_map(|line| line.split_once(':'))
            .map(|(name, value)| (name.to_ascii_lowercase(), value.trim().to_owned()))
            .collect();
        let body = raw.get(end + 4..).unwrap_or_default().to_vec();
        let answer = Self { status: status.unwrap_or(0), headers, body };
        if answer.header("transfer-encoding") == Some("chunked") {
            let body = unchunk(&answer.body);
            return Self { body, ..answer };
        }
        answer
    }

    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(found, _)| found == name).map(|(_, value)| value.as_str())
    }

    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body)
            .unwrap_or_else(|error| panic!("{error}: {}", String::from_utf8_lossy(&self.body)))
    }

    /// The body as text.
    pub fn body_text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    /// The JSON document of a successful answer.
    pub fn found(&self) -> Value {
        assert_eq!(self.status, 200, "{}", String::from_utf8_lossy(&self.body));
        self.json()
    }

    /// The status, code and field of an answer with a problem.
    pub fn problem(&self) -> (u16, String, Option<String>) {
        let said = String::from_utf8_lossy(&self.body);
        let media_type = self.header("content-type");
        assert_eq!(media_type, Some("application/problem+json"), "{} {said}", self.status);
        let document = self.json();
        assert_eq!(document["status"], self.status, "{document}");
        assert!(!document["detail"].as_str().unwrap().is_empty());
        assert_eq!(document["request_id"].as_str(), self.header("x-request-id"), "{document}");
        let code = document["code"].as_str().unwrap().to_owned();
        assert_eq!(document["type"], format!("urn:exitgap:problem:{code}"));
        let field = document["field"].as_str().map(str::to_owned);
        (self.status, code, field)
    }
}

fn unchunk(mut bytes: &[u8]) -> Vec<u8> {
    let mut body = Vec::new();
    while let Some(end) = bytes.windows(2).position(|two| two == b"\r\n") {
        let size = std::str::from_utf8(&bytes[..end]).unwrap().trim();
        let size = usize::from_str_radix(size, 16).unwrap();
        if size == 0 {
            break;
        }
        body.extend_from_slice(&bytes[end + 2..end + 2 + size]);
        bytes = &bytes[end + 4 + size..];
    }
    body
}
