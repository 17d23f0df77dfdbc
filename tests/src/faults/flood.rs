//! Many clients at once: abandoned and slow requests to every expensive address of a service that records a hundred
//! pools at the same time.
//!
//! Twelve loopback addresses send requests together, in waves, each about as often as one client may. The test measures
//! what the flood leaves behind (open files, memory) and what it delays (the next slots, `/livez` for another client).
//! The control is the same flood on a service with its limits disabled; there at least one of the figures must exceed
//! its target.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use serde_json::Value;
use tempfile::TempDir;

use super::flood_clients::{CrowdOrder, connect};
use super::flood_scene::Scene;
use super::{Part, Progress, Result};
use crate::binaries;
use crate::devchain::{FIRST_SLOT, SLOT_SECONDS};

/// Speed factor of slots: one every ten seconds.
const PACE: u64 = 30;
/// Number of slots before the flood; the first one reads all pools completely and is not measured.
const CALM_SLOTS: u64 = 4;
/// Number of slots during the flood.
const FLOODED_SLOTS: u64 = 3;
/// Time limit for the remaining requests of the flood.
const SETTLE_WITHIN: Duration = Duration::from_secs(15);
/// Interval of another client's liveness requests: within a client's rate limit.
const ASK_EVERY: Duration = Duration::from_millis(250);
/// After this time an answer or a slot counts as missing.
const NEVER: Duration = Duration::from_mins(1);

/// The targets for each figure.
const TARGETS: [(&str, u64); 4] =
    [("files_left", 16), ("rss_mb_left", 64), ("slot_delay_ms", 1_000), ("livez_ms_max", 1_000)];

/// Disabled limits: the service as it would be without them.
const UNBOUNDED: [(&str, &str); 5] = [
    ("EXITGAP_HTTP_RATE_PER_MINUTE", "0"),
    ("EXITGAP_HTTP_TOOLS_PER_MINUTE", "0"),
    ("EXITGAP_HTTP_MAX_CONNECTIONS_PER_ADDRESS", "0"),
    ("EXITGAP_SERVE_READERS", "256"),
    ("EXITGAP_SERVE_CACHE_MIB", "65536"),
];

/// Floods the service with its default configuration, and one without limits, and requires that the first meets the
/// targets and the second does not.
pub fn run(progress: Progress<'_>) -> Result<Part> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    progress("flood: a chain of 100 pools", 0, 2);
    let slots = CALM_SLOTS + FLOODED_SLOTS + 2;
    let scene = runtime.block_on(Scene::new(slots))?;
    let mut part = Part::default();
    progress("flood", 0, 2);
    let bounded = flood(&scene, &[])?;
    part.set("flood.requests", bounded.requests);
    for ((figure, target), found) in TARGETS.iter().zip(bounded.figures()) {
        let key = format!("flood.{figure}");
        part.set(&key, found);
        if found > *target {
            part.problems.push(format!("{key}: {found} is more than {target}"));
        }
    }
    if bounded.incomplete > 0 {
        let words = format!("{} slots under the flood lack pools", bounded.incomplete);
        part.problems.push(words);
    }
    part.set("flood.errors_logged", bounded.errors_logged);
    if bounded.errors_logged > 0 {
        part.problems.push("what clients did is an error in the operator's log".to_owned());
    }
    progress("flood", 1, 2);
    let control = flood(&scene, &UNBOUNDED)?;
    let mut bites = false;
    for ((figure, target), found) in TARGETS.iter().zip(control.figures()) {
        part.set(&format!("flood.control_{figure}"), found);
        bites |= found > *target;
    }
    if !bites {
        part.problems.push("the flood does nothing to a service without bounds".to_owned());
    }
    progress("flood", 2, 2);
    Ok(part)
}

/// The effects of a flood.
struct Measured {
    requests: u64,
    files_left: u64,
    rss_mb_left: u64,
    slot_delay_ms: u64,
    livez_ms_max: u64,
    /// Number of slots during the flood in which a pool is missing.
    incomplete: u64,
    /// Number of errors that the service logged.
    errors_logged: u64,
}

impl Measured {
    /// The figures, in the order of the targets.
    fn figures(&self) -> [u64; 4] {
        [self.files_left, self.rss_mb_left, self.slot_delay_ms, self.livez_ms_max]
    }
}

/// Starts the service, lets it record undisturbed, floods it, and measures what is left.
fn flood(scene: &Scene, bounds: &[(&str, &str)]) -> Result<Measured> {
    let folder = TempDir::new()?;
    let mut service = Service::start(folder.path(), scene, bounds)?;
    let mut calm = Vec::new();
    while calm.len() < usize::try_from(CALM_SLOTS)? {
        calm.push(service.slot(NEVER)?.ok_or("the service records nothing")?);
    }
    // The first request opens a reader, which stays open.
    let hashes = service.snapshots(scene)?;
    let (files, rss_mb) = (service.files()?, service.rss_mb()?);
    let plan = CrowdOrder {
        address: service.address,
        pools: scene.pools.clone(),
        slots: calm.iter().map(|slot| slot.number).collect(),
        hashes,
        seconds: FLOODED_SLOTS * SLOT_SECONDS / PACE,
    };
    let crowd = Crowd::start(folder.path(), &plan)?;
    let livez_ms_max = slowest_livez(service.address, &crowd)?;
    let requests = crowd.requests()?;
    let mut flooded = Vec::new();
    while flooded.len() < usize::try_from(FLOODED_SLOTS)? {
        match service.slot(NEVER)? {
            Some(slot) => flooded.push(slot),
            None => break,
        }
    }
    let never = flooded.len() < usize::try_from(FLOODED_SLOTS)?;
    let slot_delay = if never { NEVER } else { delay(&calm[1..], &flooded) };
    let (files_left, rss_mb_left) = service.settle(files, rss_mb)?;
    let errors_logged = service.errors_logged();
    let incomplete = flooded.iter().filter(|slot| slot.pools < scene.pools.len() as u64);
    Ok(Measured {
        requests,
        files_left,
        rss_mb_left,
        slot_delay_ms: u64::try_from(slot_delay.as_millis())?,
        livez_ms_max,
        incomplete: incomplete.count() as u64,
        errors_logged,
    })
}

/// A recorded slot, and when the service reported it.
struct Recorded {
    number: u64,
    pools: u64,
    at: Instant,
}

/// How much later than without the flood the latest of the flooded slots was recorded. Slots are due at a fixed
/// interval, so each undisturbed slot shows when any other would be recorded without the flood.
fn delay(calm: &[Recorded], flooded: &[Recorded]) -> Duration {
    let from_first = |slot: &Recorded| {
        let slots = slot.number - calm[0].number;
        Duration::from_secs(slots * SLOT_SECONDS) / u32::try_from(PACE).unwrap_or(1)
    };
    let late = |slot: &Recorded| {
        let passed = slot.at.saturating_duration_since(calm[0].at);
        passed.saturating_sub(from_first(slot))
    };
    let in_peace = calm.iter().map(late).max().unwrap_or_default();
    let flooded = flooded.iter().map(late).max().unwrap_or_default();
    flooded.saturating_sub(in_peace)
}

/// Requests `/livez` as long as the crowd sends requests, and returns the longest time, ms.
fn slowest_livez(service: SocketAddr, crowd: &Crowd) -> Result<u64> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let somebody = IpAddr::V4(Ipv4Addr::new(127, 0, 0, 99));
    let mut longest = Duration::ZERO;
    let began = Instant::now();
    while began.elapsed() < crowd.lasts {
        let asked = Instant::now();
        let answered = runtime.block_on(connect(somebody, service)).and_then(|stream| {
            let mut stream = stream.into_std()?;
            stream.set_nonblocking(false)?;
            stream.set_read_timeout(Some(NEVER))?;
            stream.write_all(b"GET /livez HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")?;
            let mut answer = String::new();
            stream.read_to_string(&mut answer)?;
            Ok(answer.starts_with("HTTP/1.1 200"))
        });
        let took = if matches!(answered, Ok(true)) { asked.elapsed() } else { NEVER };
        longest = longest.max(took);
        std::thread::sleep(ASK_EVERY.saturating_sub(asked.elapsed()));
    }
    Ok(u64::try_from(longest.as_millis())?)
}

/// The clients, in a separate process with lower priority than the service: on separate machines they would not use the
/// service's CPU.
struct Crowd {
    child: Child,
    lasts: Duration,
}

impl Crowd {
    fn start(folder: &Path, plan: &CrowdOrder) -> Result<Self> {
        let path = folder.join("crowd.json");
        std::fs::write(&path, serde_json::to_vec(plan)?)?;
        let mut command = Command::new("nice");
        command.args(["-n", "10"]).arg(binaries::path("faults")).arg("crowd").arg(&path);
        let child = command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn()?;
        Ok(Self { child, lasts: Duration::from_secs(plan.seconds) })
    }

    /// The number of their requests, once they have ended.
    fn requests(mut self) -> Result<u64> {
        let mut said = String::new();
        if let Some(stdout) = &mut self.child.stdout {
            stdout.read_to_string(&mut said)?;
        }
        self.child.wait()?;
        Ok(said.trim().parse()?)
    }
}

/// A running `exitgap-server serve`, killed when dropped.
struct Service {
    child: Child,
    address: SocketAddr,
    lines: Receiver<(Instant, Value)>,
    /// Number of errors among the lines that were read.
    errors: u64,
}

impl Drop for Service {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Service {
    fn start(folder: &Path, scene: &Scene, bounds: &[(&str, &str)]) -> Result<Self> {
        std::fs::write(folder.join("exitgap.toml"), &scene.config)?;
        let program = binaries::path("exitgap-server");
        let key = ["key", "new", "--out", "exitgap.key", "--name", "example.org/flood"];
        let made = Command::new(&program).args(key).current_dir(folder).output()?;
        if !made.status.success() {
            return Err(String::from_utf8_lossy(&made.stderr).into());
        }
        let mut command = Command::new(program);
        command.args(["serve", "--listen", "127.0.0.1:0"]);
        command.args(["--rehearse-at", &FIRST_SLOT.to_string()]);
        command.args(["--rehearse-pace", &PACE.to_string()]);
        command.envs([("EXITGAP_LOG_FORMAT", "json"), ("EXITGAP_LOG_LEVEL", "info")]);
        command.envs(bounds.iter().copied()).current_dir(folder);
        let mut child = command.stderr(Stdio::piped()).spawn()?;
        let stderr = child.stderr.take().ok_or("a child without standard error")?;
        let (said, lines) = channel();
        std::thread::spawn(move || {
            for line in BufReader::new(stderr).lines().map_while(std::result::Result::ok) {
                let line = serde_json::from_str(&line).unwrap_or(Value::String(line));
                // The receiver is gone once the service is dropped.
                let _ = said.send((Instant::now(), line));
            }
        });
        let address = SocketAddr::from(([0, 0, 0, 0], 0));
        let mut service = Self { child, address, lines, errors: 0 };
        while let Some((_, line)) = service.line(NEVER)? {
            if line["message"] == "serving" {
                let listen = line["listen"].as_str().ok_or("no address to listen on")?;
                service.address = listen.parse()?;
                return Ok(service);
            }
        }
        Err("the service does not say where it listens".into())
    }

    /// Its next output line; `None` if that takes longer.
    fn line(&mut self, within: Duration) -> Result<Option<(Instant, Value)>> {
        match self.lines.recv_timeout(within) {
            Ok(line) => {
                self.errors += u64::from(line.1["level"] == "ERROR");
                Ok(Some(line))
            }
            Err(RecvTimeoutError::Timeout) => Ok(None),
            Err(RecvTimeoutError::Disconnected) => {
                Err(format!("the service ended: {}", self.child.wait()?).into())
            }
        }
    }

    /// The number of errors that it has logged so far.
    fn errors_logged(&mut self) -> u64 {
        let unread = self.lines.try_iter().filter(|(_, line)| line["level"] == "ERROR");
        self.errors += unread.count() as u64;
        self.errors
    }

    /// The next slot that it records.
    fn slot(&mut self, within: Duration) -> Result<Option<Recorded>> {
        let until = Instant::now() + within;
        while let Some((at, line)) = self.line(until.saturating_duration_since(Instant::now()))? {
            if line["message"] == "slot" {
                let slot = line["slot"].as_str().ok_or("a slot without its instant")?;
                let number = exitgap_core::series::unix_s_of(slot)? / SLOT_SECONDS;
                let pools = line["recorded"].as_u64().unwrap_or(0);
                return Ok(Some(Recorded { number, pools, at }));
            }
        }
        Ok(None)
    }

    /// The hashes of some newest snapshots, as in results.
    fn snapshots(&self, scene: &Scene) -> Result<Vec<String>> {
        let mut hashes = Vec::new();
        for pool in scene.pools.iter().take(20) {
            let mut stream = std::net::TcpStream::connect(self.address)?;
            let head = "HTTP/1.1\r\nHost: a\r\nConnection: close";
            write!(stream, "GET /v1/ladder/{pool} {head}\r\n\r\n")?;
            let mut answer = String::new();
            stream.read_to_string(&mut answer)?;
            let (_, body) = answer.split_once("\r\n\r\n").ok_or("an answer without a body")?;
            let ladder: Value = serde_json::from_str(body)?;
            let hash = ladder["method"]["depth_source"]["snapshot_hash"].as_str();
            hashes.push(hash.ok_or("a ladder without its snapshot")?.to_owned());
        }
        Ok(hashes)
    }

    /// How many more files and how much more memory it uses than before, once that is stable.
    fn settle(&self, files: u64, rss_mb: u64) -> Result<(u64, u64)> {
        let began = Instant::now();
        loop {
            let left = (self.files()?.saturating_sub(files), self.rss_mb()?.saturating_sub(rss_mb));
            let held = left.0 > TARGETS[0].1 || left.1 > TARGETS[1].1;
            if !held || began.elapsed() > SETTLE_WITHIN {
                return Ok(left);
            }
            std::thread::sleep(Duration::from_millis(200));
        }
    }

    /// The number of its open files, including connections.
    fn files(&self) -> Result<u64> {
        Ok(std::fs::read_dir(format!("/proc/{}/fd", self.child.id()))?.count() as u64)
    }

    /// Its resident memory, MB of 10^6 bytes.
    fn rss_mb(&self) -> Result<u64> {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id()))?;
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
        let kib = line.and_then(|line| line.split_whitespace().next()).ok_or("no VmRSS")?;
        Ok(kib.parse::<u64>()? * 1_024 / 1_000_000)
    }
}
