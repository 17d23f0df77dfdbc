//! The child processes of the benchmark: the service, and a crowd of idle connections.

use std::io::{BufRead, BufReader, Lines, Read, Write};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use exitgap_core::series::Slot;
use exitgap_server::http::{App, Connections, Limits, Listener, Operators, empty_router, router};
use exitgap_server::ops::{Bounds, Service, Urls};
use tokio::net::TcpStream;
use tokio::sync::watch;

use super::failed;
use super::flood;
use crate::{BenchError, alerts};

/// The argument that makes this program a child process.
pub const ROLE: &str = "as-child";

/// Maximum number of connections of the service.
const MAX_CONNECTIONS: usize = 19_000;

/// Number of open files that a child requests.
const OPEN_FILES: u32 = 20_000;

/// Runs the role given by the arguments after [`ROLE`], until standard input ends.
pub fn play(words: &[String]) -> Result<(), BenchError> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build();
    let runtime = runtime.map_err(failed)?;
    match words.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["serve", store, last] => runtime.block_on(serve(store.into(), last, false))?,
        ["serve-recording", store, last] => runtime.block_on(serve(store.into(), last, true))?,
        ["sealing", store] => runtime.block_on(alerts::streams::sealing(store.into()))?,
        ["streams", address, count] => runtime.block_on(alerts::streams::crowd(
            address.parse().map_err(failed)?,
            count.parse().map_err(failed)?,
        ))?,
        ["idle", address, count] => runtime
            .block_on(idle(address.parse().map_err(failed)?, count.parse().map_err(failed)?))?,
        _ => return Err(BenchError::Http("no such part".to_owned())),
    }
    runtime.shutdown_background();
    Ok(())
}

/// Number of bytes that the empty handler sends at `/bytes`: the size of an exit's answer.
const SENT_BYTES: usize = 2_100;

/// Serves a store, and the empty handler beside it; with `recording`, slots are sealed meanwhile. Prints the two
/// addresses, then the recorder's output.
async fn serve(store: PathBuf, last: &str, recording: bool) -> Result<(), BenchError> {
    let last = Slot::new(last.parse().map_err(failed)?).map_err(failed)?;
    let now = last.unix_s() + 60;
    let urls = Urls { base: "http://bench.example".into(), web: "http://bench.example".into() };
    let service = Service::new(store.clone(), urls, Arc::new(move || now), Bounds::default());
    let log_folder = store.with_file_name("log");
    let app = App {
        till: None,
        service: Arc::new(service),
        telemetry: Arc::default(),
        log_folder: log_folder.into(),
        site: Arc::default(),
        described: Arc::default(),
        streams: Arc::default(),
        challenges: None,
        witness: None,
        desk: None,
    };
    app.service.refresh().await.map_err(|problem| BenchError::Http(problem.detail))?;
    let looking = app.clone();
    tokio::spawn(async move {
        loop {
            tokio::time::sleep(Duration::from_millis(500)).await;
            // If a refresh fails, the next one repeats the error or finds the data.
            let _ = looking.service.refresh().await;
        }
    });
    let limits = Limits::default();
    let routers = [
        router(app.clone(), &limits, Operators::Public),
        empty_router(&limits, vec![b' '; SENT_BYTES]),
    ];
    // All load comes from one address.
    let connections =
        Connections { most: MAX_CONNECTIONS, most_per_address: None, ..Connections::default() };
    // Kept alive: no one requests the end.
    let (_sender, stop) = watch::channel(false);
    for router in routers {
        let any = SocketAddr::from(([127, 0, 0, 1], 0));
        let listener = Listener::bind(any, "none").map_err(failed)?;
        println!("{}", listener.address());
        let (telemetry, stop) = (app.telemetry.clone(), stop.clone());
        tokio::spawn(listener.serve(router, connections.clone(), telemetry, stop));
    }
    if recording {
        std::thread::spawn(move || {
            if let Err(error) = flood::record(&store, last) {
                println!("failed {error}");
            }
        });
    }
    until_told().await
}

/// Opens idle connections, prints how many are open, and waits.
async fn idle(address: SocketAddr, count: u32) -> Result<(), BenchError> {
    let mut kept = Vec::new();
    for _ in 0..count {
        match TcpStream::connect(address).await {
            Ok(stream) => kept.push(stream),
            Err(error) => {
                eprintln!("http: connection {} could not be opened: {error}", kept.len() + 1);
                break;
            }
        }
    }
    println!("{}", kept.len());
    until_told().await
}

/// Waits until standard input ends.
async fn until_told() -> Result<(), BenchError> {
    let reading = tokio::task::spawn_blocking(|| std::io::stdin().read_to_end(&mut Vec::new()));
    reading.await.map_err(failed)?.map_err(failed).map(|_| ())
}

/// A child process, killed when dropped.
pub struct Part {
    child: Child,
    stdin: Option<ChildStdin>,
    lines: Lines<BufReader<ChildStdout>>,
}

impl Part {
    /// Starts this program in a role, with the maximum number of open files.
    pub fn start(words: &[&str]) -> Result<Self, BenchError> {
        let program = std::env::current_exe().map_err(failed)?;
        let raise = format!("ulimit -n {OPEN_FILES} 2>/dev/null; exec \"$0\" \"$@\"");
        let mut command = Command::new("sh");
        command.args(["-c", &raise]).arg(program).arg(ROLE).args(words);
        let mut child =
            command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().map_err(failed)?;
        let stdin = child.stdin.take();
        let stdout = child.stdout.take().ok_or_else(|| failed("a child without output"))?;
        Ok(Self { child, stdin, lines: BufReader::new(stdout).lines() })
    }

    /// The next line of its output.
    pub fn line(&mut self) -> Result<String, BenchError> {
        let line = self.lines.next().ok_or_else(|| failed("a part of the bench ended early"))?;
        line.map_err(failed)
    }

    /// Sends it a line.
    pub fn say(&mut self, line: &str) -> Result<(), BenchError> {
        let stdin = self.stdin.as_mut().ok_or_else(|| failed("a part of the bench ended early"))?;
        writeln!(stdin, "{line}").and_then(|()| stdin.flush()).map_err(failed)
    }

    /// Ends it, and returns the output lines that were not read yet.
    pub fn end(mut self) -> Vec<String> {
        self.stdin = None;
        self.lines.by_ref().map_while(Result::ok).collect()
    }

    /// Its resident memory, MB of 10^6 bytes.
    pub fn rss_mb(&self) -> Result<f64, BenchError> {
        let path = format!("/proc/{}/status", self.child.id());
        let text = std::fs::read_to_string(path).map_err(failed)?;
        let line = text.lines().find_map(|line| line.strip_prefix("VmRSS:"));
        let kib = line.and_then(|line| line.split_whitespace().next()?.parse::<f64>().ok());
        kib.map(|kib| kib * 1.024e-3).ok_or_else(|| failed("no VmRSS in /proc"))
    }
}

impl Drop for Part {
    fn drop(&mut self) {
        self.stdin = None;
        // It may have ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A running service.
pub struct Served {
    /// Its process.
    pub part: Part,
    /// Its address.
    pub address: SocketAddr,
    /// The address of the empty handler.
    pub empty: SocketAddr,
}

impl Served {
    /// Starts it on a store whose newest slot is `last`.
    pub fn start(store: &Path, last: Slot, recording: bool) -> Result<Self, BenchError> {
        let role = if recording { "serve-recording" } else { "serve" };
        let store = store.display().to_string();
        let mut part = Part::start(&[role, &store, &last.number().to_string()])?;
        let address = part.line()?.parse().map_err(failed)?;
        let empty = part.line()?.parse().map_err(failed)?;
        std::io::stderr().flush().map_err(failed)?;
        Ok(Self { part, address, empty })
    }
}
