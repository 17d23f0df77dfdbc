//! Replicas: how long after a slot's publication a replica answers from it, and how fast a new one catches up. Log and
//! replica are separate processes on this machine, with everything synced to disk.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use exitgap_core::series::Slot;
use exitgap_core::tlog::SignerKey;
use exitgap_store::{LogFolder, Store};
use tempfile::TempDir;

use crate::BenchError;
use crate::clock::median;
use crate::effort::Effort;
use crate::evidence::{float, slot};
use crate::http::child::Served;
use crate::market::{BUSY_TICKS, BusyPool};
use crate::report::Report;

/// Number of pools in the log.
const POOLS: Effort<u16> = Effort::new(100, 4);

/// Number of slots that a new replica must catch up with.
const BEFORE: Effort<u32> = Effort::new(96, 4);

/// Number of slots published while it answers.
const WHILE: Effort<u32> = Effort::new(24, 2);

/// A longer time is a failure.
const WITHIN: Duration = Duration::from_secs(60);

/// Adds `replica.lag_ms`, `replica.lag_worst_ms` and `replica.catch_up_slots_per_s`.
pub fn measure(report: &mut Report) -> Result<(), BenchError> {
    eprintln!("replica: a log of {BEFORE} slots of {POOLS} pools, followed; then {WHILE} more");
    let mut log = Log::new()?;
    for _ in 0..BEFORE.get() {
        log.seal()?;
    }
    let served = Served::start(&log.folder.path().join("series.db"), log.last()?, false)?;
    let begun = tempfile::tempdir().map_err(failed)?;
    let start = Instant::now();
    let once = log.follow(&served, begun.path()).arg("--once").status().map_err(failed)?;
    if !once.success() {
        return Err(failed("the replica did not catch up"));
    }
    report.add(
        "replica.catch_up_slots_per_s",
        float(u64::from(BEFORE.get())) / start.elapsed().as_secs_f64(),
    );
    let replica = Replica::start(log.follow(&served, begun.path()))?;
    replica.wait_for(&log)?;
    let mut lag_ms = Vec::new();
    for round in 0..WHILE.get() {
        // Out of step with the replica's polling.
        std::thread::sleep(Duration::from_millis(u64::from(round * 397 % 2_000)));
        log.seal()?;
        let published = Instant::now();
        replica.wait_for(&log)?;
        lag_ms.push(published.elapsed().as_secs_f64() * 1e3);
    }
    report.add("replica.lag_worst_ms", lag_ms.iter().copied().fold(0.0, f64::max));
    report.add("replica.lag_ms", median(lag_ms));
    Ok(())
}

/// A published log.
struct Log {
    folder: TempDir,
    store: Store,
    key: SignerKey,
    pools: Vec<BusyPool>,
    next: u32,
}

impl Log {
    fn new() -> Result<Self, BenchError> {
        let folder = tempfile::tempdir().map_err(failed)?;
        let key = SignerKey::from_seed("exitgap.example/bench", [7; 32]).map_err(failed)?;
        let store = Store::create(folder.path().join("series.db"), &key).map_err(failed)?;
        let pools = (0..POOLS.get()).map(|number| BusyPool::real(number, BUSY_TICKS)).collect();
        Ok(Self { folder, store, key, pools, next: 0 })
    }

    fn path(&self) -> PathBuf {
        self.folder.path().join("log")
    }

    fn last(&self) -> Result<Slot, BenchError> {
        slot(self.next - 1)
    }

    fn seal(&mut self) -> Result<(), BenchError> {
        let slot = slot(self.next)?;
        let entries: Result<Vec<_>, _> =
            self.pools.iter_mut().map(|pool| pool.recorded(slot)).collect();
        self.store.append_slot(slot, &entries?).map_err(failed)?;
        LogFolder::new(self.path()).publish_newest(&mut self.store).map_err(failed)?;
        self.next += 1;
        Ok(())
    }

    /// The command for a replica in a folder.
    fn follow(&self, served: &Served, data: &Path) -> Command {
        let program = std::env::current_exe().unwrap_or_default();
        let mut command = Command::new(program.with_file_name("exitgap-server"));
        let origin = format!("{}/{}", self.key.verifier().name(), Slot::FIRST.number());
        let trust = self.key.with_name(&origin).map(|key| key.verifier().to_string());
        command.args(["follow", "--log", &format!("http://{}/log", served.address)]);
        command.args(["--trust", &trust.unwrap_or_default()]).arg("--data").arg(data);
        command
    }
}

/// A running replica.
struct Replica {
    child: Child,
    address: SocketAddr,
    operators: SocketAddr,
}

impl Replica {
    fn start(mut command: Command) -> Result<Self, BenchError> {
        command.args(["--listen", "127.0.0.1:0", "--operators", "127.0.0.1:0"]);
        command.stderr(Stdio::piped());
        let mut child = command.spawn().map_err(failed)?;
        let stderr = child.stderr.take().ok_or_else(|| failed("a replica without words"))?;
        let mut lines = BufReader::new(stderr).lines();
        let said =
            |line: &str, what: &str| line.split_once(what)?.1.split(' ').next()?.parse().ok();
        let mut operators = None;
        let address = lines.by_ref().map_while(Result::ok).find_map(|line| {
            operators = operators.or_else(|| said(&line, "operators="));
            said(&line, "listen=")
        });
        std::thread::spawn(move || lines.for_each(drop));
        let started = address.zip(operators).ok_or_else(|| failed("the replica did not start"));
        started.map(|(address, operators)| Self { child, address, operators })
    }

    /// Waits until it answers from the log's newest slot.
    fn wait_for(&self, log: &Log) -> Result<(), BenchError> {
        // The operators' address has no rate limit, so it can be polled freely.
        let holds = format!("exitgap_replica_slots_held {}\n", log.next);
        until(Duration::from_millis(5), &holds, || ask(self.operators, "/metrics"))?;
        let says = format!("\"slot\":{}", log.last()?.number());
        let exit = format!("/v1/exit/{}?size_usd=25000", log.pools[0].id);
        until(Duration::from_millis(50), &says, || ask(self.address, &exit))
    }
}

/// Sends requests until the answer contains the expected text.
fn until(
    every: Duration,
    holds: &str,
    asked: impl Fn() -> Result<String, BenchError>,
) -> Result<(), BenchError> {
    let began = Instant::now();
    loop {
        let answer = asked()?;
        if answer.contains(holds) {
            return Ok(());
        }
        if began.elapsed() > WITHIN {
            let begin: String = answer.chars().take(600).collect();
            return Err(failed(format!("the replica never answered {holds:?}, but: {begin}")));
        }
        std::thread::sleep(every);
    }
}

fn ask(address: SocketAddr, target: &str) -> Result<String, BenchError> {
    let mut stream = TcpStream::connect(address).map_err(failed)?;
    let request = format!("GET {target} HTTP/1.1\r\nHost: replica\r\nConnection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).map_err(failed)?;
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).map_err(failed)?;
    Ok(String::from_utf8_lossy(&answer).into_owned())
}

impl Drop for Replica {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn failed(error: impl std::fmt::Display) -> BenchError {
    BenchError::Http(error.to_string())
}
