//! A service that publishes a log, behind a proxy that counts requests and can lie.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use exitgap_tests::binaries;

use super::between::between;
use super::growing::Log;
use super::service::{Recorded, Service, recorded};

/// Receives the log file's path and the service's answer; returns the answer to send instead, if any.
type Liar = dyn Fn(&str, Vec<u8>) -> Option<Vec<u8>> + Send;

/// A service that publishes a growing log, behind a proxy that counts requests and can lie.
pub struct Origin {
    pub log: Log,
    pub url: String,
    shared: Arc<Shared>,
    _service: Service,
    _recorded: Recorded,
}

#[derive(Default)]
struct Shared {
    asked: Mutex<Vec<String>>,
    liar: Mutex<Option<Box<Liar>>>,
    fired: Mutex<usize>,
}

impl Origin {
    /// Starts with a log of this many slots, in a third of which a pool is missing.
    pub async fn start(slots: u32) -> Self {
        Self::start_with(slots, "60000").await
    }

    /// The same with a rate limit per client and minute.
    pub async fn start_with(slots: u32, rate: &str) -> Self {
        let recorded = recorded(1).await;
        let rate = [("EXITGAP_HTTP_RATE_PER_MINUTE", rate)];
        let service = Service::start(recorded.folder.path(), &["--no-record"], &rate);
        let mut log = Log::new();
        (0..slots).for_each(|index| log.append(index % 3 == 1));
        log.publish();
        let published = recorded.path("exitgap-log");
        fs::remove_dir_all(&published).unwrap();
        std::os::unix::fs::symlink(log.path().join("log"), &published).unwrap();
        let shared = Arc::new(Shared::default());
        let answering = Arc::clone(&shared);
        let address = between(service.address, move |head, answer| answering.answer(head, answer));
        let url = format!("http://{address}");
        Self { log, url, shared, _service: service, _recorded: recorded }
    }

    /// The log's address.
    pub fn log_url(&self) -> String {
        format!("{}/log", self.url)
    }

    /// The published folder.
    pub fn folder(&self) -> PathBuf {
        self.log.path().join("log")
    }

    /// From now on, lies as `liar` decides.
    pub fn lie(&self, liar: impl Fn(&str, Vec<u8>) -> Option<Vec<u8>> + Send + 'static) {
        *self.shared.liar.lock().unwrap_or_else(PoisonError::into_inner) = Some(Box::new(liar));
        *self.shared.fired.lock().unwrap() = 0;
    }

    /// From now on, tells the truth; returns how often it lied.
    pub fn be_honest(&self) -> usize {
        *self.shared.liar.lock().unwrap_or_else(PoisonError::into_inner) = None;
        self.fired()
    }

    pub fn fired(&self) -> usize {
        *self.shared.fired.lock().unwrap()
    }

    /// The log files requested since the last call of this function.
    pub fn asked(&self) -> Vec<String> {
        let mut asked = std::mem::take(&mut *self.shared.asked.lock().unwrap());
        asked.sort();
        asked
    }

    /// Number of log files requested since then.
    pub fn asked_so_far(&self) -> usize {
        self.shared.asked.lock().unwrap().len()
    }

    /// Runs the program in the log's folder, with its own folder for temporary files.
    pub fn run(&self, arguments: &[&str]) -> Output {
        self.command(arguments).output().unwrap()
    }

    pub fn command(&self, arguments: &[&str]) -> Command {
        let temporary = self.log.path().join("temporary");
        fs::create_dir_all(&temporary).unwrap();
        let mut command = Command::new(binaries::path("exitgap"));
        command.args(arguments).current_dir(self.log.path()).env("TMPDIR", temporary);
        command
    }

    /// Audits the log at its address with the published key, and copies it into this folder below the log's.
    pub fn audit(&self, copy: &str) -> Output {
        let url = self.log_url();
        self.run(&["audit", &url, "--copy", copy, "--trust", "log/verifier-key"])
    }

    /// The published files, except partial tiles that wider tiles replace: only earlier checkpoints need them.
    pub fn published(&self) -> BTreeMap<String, Vec<u8>> {
        without_narrower(files(&self.folder()))
    }

    /// The copy in this folder, which must equal the published files, each of them complete.
    pub fn copied(&self, copy: &str) -> BTreeMap<String, Vec<u8>> {
        let (here, there) = (files(&self.log.path().join(copy)), files(&self.folder()));
        for (file, bytes) in &here {
            assert!(there.get(file) == Some(bytes), "{file} is whole");
        }
        here
    }
}

impl Shared {
    fn answer(&self, head: &str, answer: Vec<u8>) -> Vec<u8> {
        let target = head.split(' ').nth(1).unwrap_or_default();
        let Some(file) = target.strip_prefix("/log/") else { return answer };
        self.asked.lock().unwrap().push(file.to_owned());
        let liar = self.liar.lock().unwrap_or_else(PoisonError::into_inner);
        match liar.as_ref().and_then(|liar| liar(file, answer.clone())) {
            Some(lie) => {
                *self.fired.lock().unwrap() += 1;
                lie
            }
            None => answer,
        }
    }
}

/// The files of a log below a folder, except the copier's own files.
pub fn files(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut found = BTreeMap::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(next) = folders.pop() {
        for entry in fs::read_dir(next).into_iter().flatten() {
            let path = entry.unwrap().path();
            let name = path.strip_prefix(folder).unwrap().to_str().unwrap().to_owned();
            match path.is_dir() {
                _ if name.starts_with(".copy-") => {}
                true => folders.push(path),
                false => drop(found.insert(name, fs::read(&path).unwrap())),
            }
        }
    }
    found
}

/// The files without partial tiles that wider tiles replace.
pub fn without_narrower(mut files: BTreeMap<String, Vec<u8>>) -> BTreeMap<String, Vec<u8>> {
    let tiles: Vec<_> = files.keys().filter(|file| file.contains(".p/")).cloned().collect();
    let read = |tile: &str| {
        let (place, width) = tile.rsplit_once('/').unwrap();
        (place.to_owned(), width.parse::<u32>().unwrap())
    };
    for tile in &tiles {
        let (place, width) = read(tile);
        let wider = |other: &String| read(other).0 == place && read(other).1 > width;
        if tiles.iter().any(wider) {
            files.remove(tile);
        }
    }
    files
}

pub fn words(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// An HTTP answer with this status, headers and body.
pub fn answer(status: &str, headers: &str, body: &[u8]) -> Vec<u8> {
    let length = body.len();
    let head = format!(
        "HTTP/1.1 {status}\r\nContent-Length: {length}\r\nConnection: close\r\n{headers}\r\n"
    );
    [head.as_bytes(), body].concat()
}

pub fn wait_until(holds: impl Fn() -> bool) {
    let began = Instant::now();
    while !holds() {
        assert!(began.elapsed() < Duration::from_secs(30), "it never came to that");
        thread::sleep(Duration::from_millis(10));
    }
}
