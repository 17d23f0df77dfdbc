//! A running `exitgap-server witness`.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::process::{Child, Command, Stdio};
use std::sync::Mutex;
use std::time::Duration;

use exitgap_core::tlog::WitnessKey;
use exitgap_tests::binaries;
use tempfile::TempDir;

use crate::scenes::operator::server;

/// A witness with its key and its memory in its own folder.
pub struct Witness {
    folder: TempDir,
    logs: Vec<String>,
    pub key: WitnessKey,
    pub address: SocketAddr,
    child: Mutex<Child>,
}

impl Drop for Witness {
    fn drop(&mut self) {
        self.kill();
    }
}

impl Witness {
    /// Starts a witness for these logs.
    pub fn start(logs: &[&str]) -> Self {
        let folder = TempDir::new().unwrap();
        let make = ["key", "witness", "--out", "witness.key", "--name", "witness.example/w1"];
        let (_, key, _) = server(folder.path(), &make);
        let logs: Vec<String> = logs.iter().map(|log| (*log).to_owned()).collect();
        let (child, address) = spawn(&folder, &logs, "127.0.0.1:0");
        let key = key.trim().parse().unwrap();
        Self { folder, logs, key, address, child: Mutex::new(child) }
    }

    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Its entry in a configuration.
    pub fn asked(&self) -> String {
        format!("{} {}/witness", self.key, self.url())
    }

    /// Kills it immediately.
    pub fn kill(&self) {
        let mut child = self.child.lock().unwrap();
        let _ = child.kill();
        let _ = child.wait();
    }

    /// Starts it again at the same address.
    pub fn restart(&mut self) {
        let (child, _) = spawn(&self.folder, &self.logs, &self.address.to_string());
        *self.child.lock().unwrap() = child;
    }

    /// The status of its answer to a request; `None` if it ended before answering.
    pub fn try_post(&self, body: &[u8]) -> Option<u16> {
        let mut stream = TcpStream::connect(self.address).ok()?;
        stream.set_read_timeout(Some(Duration::from_secs(30))).ok()?;
        let length = body.len();
        let head = format!(
            "POST /witness/add-checkpoint HTTP/1.1\r\nHost: w\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n"
        );
        stream.write_all(&[head.as_bytes(), body].concat()).ok()?;
        let mut answer = String::new();
        stream.read_to_string(&mut answer).ok()?;
        answer.split(' ').nth(1)?.parse().ok()
    }
}

fn spawn(folder: &TempDir, logs: &[String], listen: &str) -> (Child, SocketAddr) {
    let mut command = Command::new(binaries::path("exitgap-server"));
    command.args(["witness", "--listen", listen]).current_dir(folder.path());
    for log in logs {
        command.args(["--log", log]);
    }
    let mut child = command.stderr(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
    let listens = |line: String| line.split_once("listen=")?.1.split(' ').next()?.parse().ok();
    let address = lines.by_ref().map(|line| line.unwrap()).find_map(listens);
    std::thread::spawn(move || lines.for_each(drop));
    (child, address.expect("the witness says where it listens"))
}
