//! Many clients at once: abandoned and slow requests on every costly address of a service that
//! records a hundred pools meanwhile.
//!
//! Twelve loopback addresses ask together, in waves, each about as often as one client may. What
//! is measured is what the flood leaves behind (open files, memory) and whom it holds up (the next
//! slots, `/livez` for somebody else). The control is the same flood on a service whose bounds are
//! configured away; there at least one of the figures has to be beyond its target.

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

/// How many times as fast slots come: one every ten seconds.
const PACE: u64 = 30;
/// Slots before the flood, of which the first reads all pools anew and is no measure.
const CALM_SLOTS: u64 = 4;
/// Slots under the flood.
const FLOODED_SLOTS: u64 = 3;
/// How long what is left of the flood may take to end.
const SETTLE_WITHIN: Duration = Duration::from_secs(15);
/// How often somebody else asks whether the service lives: within a client's rate.
const ASK_EVERY: Duration = Duration::from_millis(250);
/// What counts as never, for an answer or a slot.
const NEVER: Duration = Duration::from_mins(1);

/// The targets, by figure.
const TARGETS: [(&str, u64); 4] =
    [("files_left", 16), ("rss_mb_left", 64), ("slot_delay_ms", 1_000), ("livez_ms_max", 1_000)];

/// No bound that counts: what the service would be without them.
const UNBOUNDED: [(&str, &str); 5] = [
    ("EXITGAP_HTTP_RATE_PER_MINUTE", "0"),
    ("EXITGAP_HTTP_TOOLS_PER_MINUTE", "0"),
    ("EXITGAP_HTTP_MAX_CONNECTIONS_PER_ADDRESS", "0"),
    ("EXITGAP_SERVE_READERS", "256"),
    ("EXITGAP_SERVE_CACHE_MIB", "65536"),
];

/// Floods the service as it is configured by itself, and one without bounds, and requires that the
/// first holds and the second does not.
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

/// What a flood did.
struct Measured {
    requests: u64,
    files_left: u64,
    rss_mb_left: u64,
    slot_delay_ms: u64,
    livez_ms_max: u64,
    /// Slots under the flood in which a pool is missing.
    incomplete: u64,
}

impl Measured {
    /// In the order of the targets.
    fn figures(&self) -> [u64; 4] {
        [self.files_left, self.rss_mb_left, self.slot_delay_ms, self.livez_ms_max]
    }
}

/// Starts the service, lets it record in peace, floods it, and looks at what is left.
fn flood(scene: &Scene, bounds: &[(&str, &str)]) -> Result<Measured> {
    let folder = TempDir::new()?;
    let mut service = Service::start(folder.path(), scene, bounds)?;
    let mut calm = Vec::new();
    while calm.len() < usize::try_from(CALM_SLOTS)? {
        calm.push(service.slot(NEVER)?.ok_or("the service records nothing")?);
    }
    // Whoever asks for the first time has a reader opened, which is kept.
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
    let incomplete = flooded.iter().filter(|slot| slot.pools < scene.pools.len() as u64);
    Ok(Measured {
        requests,
        files_left,
        rss_mb_left,
        slot_delay_ms: u64::try_from(slot_delay.as_millis())?,
        livez_ms_max,
        incomplete: incomplete.count() as u64,
    })
}

/// A slot that was recorded, and when the service said so.
struct Recorded {
    number: u64,
    pools: u64,
    at: Instant,
}

/// How much later than in peace the latest of the flooded slots was recorded. Slots are due at one
/// pace, so that each calm slot says when any other would be recorded in peace.
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

/// Asks whether the service lives for as long as the crowd asks other things, and gives the longest
/// time that took, ms.
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

/// The clients, in a process of their own, which yields to the service: on a machine of their own
/// they would take nothing from it.
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

    /// How many requests they made, once they have ended.
    fn requests(mut self) -> Result<u64> {
        let mut said = String::new();
        if let Some(stdout) = &mut self.child.stdout {
            stdout.read_to_string(&mut said)?;
        }
        self.child.wait()?;
        Ok(said.trim().parse()?)
    }
}

/// A running `exitgap-server serve`, ended when dropped.
struct Service {
    child: Child,
    address: SocketAddr,
    lines: Receiver<(Instant, Value)>,
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
                // Nobody hears it once the service is dropped.
                let _ = said.send((Instant::now(), line));
            }
        });
        let address = SocketAddr::from(([0, 0, 0, 0], 0));
        let mut service = Self { child, address, lines };
        while let Some((_, line)) = service.line(NEVER)? {
            if line["message"] == "serving" {
                let listen = line["listen"].as_str().ok_or("no address to listen on")?;
                service.address = listen.parse()?;
                return Ok(service);
            }
        }
        Err("the service does not say where it listens".into())
    }

    /// The next line that it says; `None` where it takes longer.
    fn line(&mut self, within: Duration) -> Result<Option<(Instant, Value)>> {
        match self.lines.recv_timeout(within) {
            Ok(line) => Ok(Some(line)),
            Err(RecvTimeoutError::Timeout) => Ok(None),
            Err(RecvTimeoutError::Disconnected) => {
                Err(format!("the service ended: {}", self.child.wait()?).into())
            }
        }
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

    /// The names of some newest snapshots, as results name them.
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

    /// How many files and how much memory it holds more than before, once that does not change.
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

    /// Files that it has open, connections among them.
    fn files(&self) -> Result<u64> {
        Ok(std::fs::read_dir(format!("/proc/{}/fd", self.child.id()))?.count() as u64)
    }

    /// The memory that it holds, MB of 10^6 bytes.
    fn rss_mb(&self) -> Result<u64> {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id()))?;
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
        let kib = line.and_then(|line| line.split_whitespace().next()).ok_or("no VmRSS")?;
        Ok(kib.parse::<u64>()? * 1_024 / 1_000_000)
    }
}
