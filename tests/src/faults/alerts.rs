//! Kept rules under kills: two processes evaluate and tell them side by side, are killed (-9) at random, and what
//! endpoints were told is compared with what whoever has rule and log computes.
//!
//! Slots are sealed all the while, here and not by a recorder. Some endpoints fail now and then.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::net::Ipv4Addr;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use exitgap_core::alerts::{AlertRule, AlertRun};
use exitgap_core::series::{MissingReason, Slot};
use exitgap_server::alerts::{AlertKey, Evaluator};
use exitgap_store::alerts::{
    AlertBounds, Alerts, EndpointState, Kept, KeptAlert, NewAlert, NewEndpoint,
};
use exitgap_store::{Reader, Store, Watching};
use serde_json::json;
use tempfile::TempDir;

use super::scene::{BusyPool, key, slot};
use super::{Part, Progress, Result, alerts_ssrf, alerts_stream};
use crate::binaries;
use crate::devchain::Rng;
use crate::receiver::{Does, Received, Receiver};

/// The events of each rule, as id and bytes.
type Expected = BTreeMap<String, Vec<(String, Vec<u8>)>>;

/// How much is done.
#[derive(Debug, Clone, Copy)]
pub struct Extent {
    /// Kills.
    pub kills: u64,
    /// Slots that are evaluated again and again, and compared.
    pub replayed_slots: u32,
    /// Rules over them.
    pub replayed_rules: u32,
}

/// All of it: thirty days of slots.
pub const WHOLE: Extent = Extent { kills: 500, replayed_slots: 8_640, replayed_rules: 60 };

const POOLS: u8 = 3;
const RULES: u32 = 24;
const BOUNDS: AlertBounds =
    AlertBounds { per_client: 1_000_000, per_host: 1_000_000, most: 1_000_000 };

/// Processes side by side.
const PROCESSES: usize = 2;

/// The latest moment of a kill after its process was started.
const LATEST_MS: u64 = 300;

/// What passes between two slots, so that there are thousands of them and not more.
const BETWEEN_SLOTS: Duration = Duration::from_millis(30);

/// How long what is left over may take once nobody is killed any more.
const PATIENCE: Duration = Duration::from_mins(3);

/// All of it.
pub fn run(extent: Extent, seed: u64, progress: Progress<'_>) -> Result<Part> {
    let mut part = Part::default();
    for key in ["kills", "lost", "duplicates_other_id", "duplicates_same_id", "out_of_order"] {
        part.set(&format!("alerts.{key}"), 0_u64);
    }
    killed(extent, seed, &mut part, progress)?;
    replayed(extent, seed, &mut part, progress)?;
    alerts_stream::run(extent.kills.div_ceil(10), seed, &mut part, progress)?;
    alerts_ssrf::run(&mut part, progress)?;
    Ok(part)
}

/// A folder with a store that grows, rules over it, and their endpoints.
pub(super) struct Scene {
    folder: TempDir,
    store: Store,
    pools: Vec<BusyPool>,
    rng: Rng,
    next: u32,
}

impl Scene {
    pub(super) fn new(seed: u64) -> Result<Self> {
        let folder = TempDir::new()?;
        let store = Store::create(folder.path().join("series.db"), &key())?;
        AlertKey::from_seed([3; 32]).write(&folder.path().join("alerts.key"))?;
        fs::write(folder.path().join("exitgap.toml"), CONFIG)?;
        let pools = (0..POOLS).map(|number| BusyPool::new(number, 2)).collect();
        let mut scene = Self { folder, store, pools, rng: Rng::new(seed), next: 0 };
        scene.seal(0)?;
        Ok(scene)
    }

    /// Where all of it is.
    pub(super) fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// The last slot that was sealed.
    pub(super) fn last(&self) -> Slot {
        slot(self.next.saturating_sub(1))
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Seals a slot in which about one pool in `once_in` is missing.
    pub(super) fn seal(&mut self, once_in: u64) -> Result<()> {
        let at = slot(self.next);
        let (rng, pools) = (&mut self.rng, &mut self.pools);
        let entry = |pool: &mut BusyPool| {
            if once_in > 0 && rng.once_in(once_in) {
                return pool.missing(MissingReason::ChainLagging);
            }
            pool.recorded(at)
        };
        let entries: Vec<_> = pools.iter_mut().map(entry).collect();
        self.store.append_slot(at, &entries)?;
        self.next += 1;
        Ok(())
    }

    /// Keeps a rule: every other one of missing slots, the others of depths, gaps and prices that are old.
    fn keep(&self, alerts: &Alerts, number: u32, url: Option<&str>) -> Result<AlertRule> {
        let pool = &self.pools[usize::try_from(number % u32::from(POOLS))?];
        let mut rule = json!({
            "v": 1, "alert": format!("al_{number}"), "pool": pool.id.to_string(), "base": "token0",
            "first_slot": slot(self.next).number(), "web_url": "https://exits.example",
            "for_slots": 1 + number % 2, "clear_for_slots": 1 + number / 2 % 2, "refire_slots": 0,
            "no_data_slots": number % 3,
        });
        let kinds = [
            json!({"kind": "missing"}),
            json!({"kind": "gap_above", "size_usd": "1000", "pct": "0.2", "clear_pct": "0.2"}),
            json!({"kind": "missing", "reasons": ["chain_lagging"]}),
            json!({"kind": "depth_below", "usd": "1000", "clear_usd": "1000", "on_missing": "breach"}),
        ];
        let kind = &kinds[usize::try_from(number / u32::from(POOLS) % 4)?];
        for (name, value) in kind.as_object().into_iter().flatten() {
            rule[name] = value.clone();
        }
        let rule = AlertRule::read(rule.to_string().as_bytes())?;
        let host = |url: &str| url.split(['/', ':']).nth(3).unwrap_or_default().to_owned();
        let endpoint = url.map(|url| NewEndpoint {
            url: url.to_owned(),
            host: host(url),
            salt: [u8::try_from(number % 256).unwrap_or(0); 16],
        });
        let new = NewAlert {
            id: format!("al_{number}"),
            owner: [u8::try_from(number % 256).unwrap_or(0); 32],
            client: [0; 16],
            idempotency: None,
            request: [0; 32],
            rule: rule.to_canonical(),
            endpoint,
            expires_s: u64::from(u32::MAX),
            run: AlertRun::new(rule.clone()).keep(),
            state: String::new(),
        };
        match alerts.keep(&new, &BOUNDS, 0)? {
            Kept::New(_) => Ok(rule),
            other => Err(format!("a rule was not kept: {other:?}").into()),
        }
    }
}

/// A configuration whose chain nobody asks.
const CONFIG: &str = r#"
[store]
path = "series.db"

[alerts]
enabled = true
timeout_s = 1
allow_networks = ["127.0.0.0/8"]

[[chain]]
slug = "anvil"
chain_id = 31337
rpc_urls = ["http://127.0.0.1:1"]

[[oracle]]
name = "one"
chain = "anvil"
source = "chainlink"
feed = "0x0000000000000000000000000000000000000007"
heartbeat_s = 3600

[[pool]]
chain = "anvil"
address = "0x000000000000000000000000000000000000aa00"
base = "token0"
token0_usd = ["one"]
token1_usd = ["one"]
"#;

fn start(folder: &Path) -> Result<Child> {
    let mut command = Command::new(binaries::path("exitgap-server"));
    command.arg("alerts").current_dir(folder).stdout(Stdio::null());
    Ok(command.env("EXITGAP_LOG_LEVEL", "error").spawn()?)
}

/// Kills processes while slots are sealed, lets what is left over come, and compares.
fn killed(extent: Extent, seed: u64, part: &mut Part, progress: Progress<'_>) -> Result<()> {
    let mut scene = Scene::new(seed)?;
    let (turns, failed) = (AtomicU32::new(0), Mutex::new(BTreeSet::new()));
    let receiver = Receiver::start(Ipv4Addr::UNSPECIFIED, move |received| {
        // Now and then an endpoint fails, once with an event: then all later ones of its rule wait.
        let turn = turns.fetch_add(1, Ordering::Relaxed);
        let fails = received.kind() != "endpoint.challenge"
            && turn % 97 == 96
            && failed
                .lock()
                .is_ok_and(|mut all| all.insert(received.header("webhook-id").to_owned()));
        if fails { Does::Answers(500, String::new()) } else { Does::Takes }
    })?;
    let alerts = Alerts::open(&scene.path("alerts.db"))?;
    let mut rules = Vec::new();
    for number in 0..RULES {
        // Three endpoints of a host are asked in an hour: here all rules have hosts of their own.
        let url = format!("http://127.0.1.{number}:{}/{number}", receiver.address().port());
        rules.push(scene.keep(&alerts, number, Some(&url))?);
    }
    let mut processes: Vec<(Child, Instant)> = Vec::new();
    // A host is asked three times an hour: who is killed in between uses that up.
    let first = (start(scene.folder.path())?, Instant::now());
    let verified = || {
        let of =
            |n: u32| alerts.one(&[u8::try_from(n % 256).unwrap_or(0); 32], &format!("al_{n}"), 0);
        let is = |alert: KeptAlert| {
            alert.endpoint.is_some_and(|one| one.state == EndpointState::Verified)
        };
        (0..RULES).all(|n| of(n).ok().flatten().is_some_and(is))
    };
    while !verified() {
        if first.1.elapsed() > PATIENCE {
            return Err("the endpoints were not asked".into());
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    processes.push(first);
    let mut rng = Rng::new(seed ^ 0xa1e7);
    for done in 0..extent.kills {
        while processes.len() < PROCESSES {
            processes.push((start(scene.folder.path())?, Instant::now()));
        }
        let victim = usize::try_from(rng.below(PROCESSES as u64))?;
        let at = Duration::from_millis(rng.below(LATEST_MS));
        while processes[victim].1.elapsed() < at {
            scene.seal(3)?;
            std::thread::sleep(BETWEEN_SLOTS);
        }
        let (mut child, _) = processes.swap_remove(victim);
        if child.try_wait()?.is_some() {
            return Err("a process ended before it was killed".into());
        }
        child.kill()?;
        child.wait()?;
        part.count("alerts.kills");
        progress("alerts: kills", done + 1, extent.kills);
    }
    let expected = expected(&scene, &rules)?;
    let whole: usize = expected.values().map(Vec::len).sum();
    part.set("alerts.events", whole as u64);
    while processes.len() < PROCESSES {
        processes.push((start(scene.folder.path())?, Instant::now()));
    }
    let begun = Instant::now();
    while begun.elapsed() < PATIENCE {
        let counts = alerts.counts()?;
        if counts.events == whole as u64 && counts.pending == 0 {
            break;
        }
        progress("alerts: told", counts.delivered, whole as u64);
        std::thread::sleep(Duration::from_millis(200));
    }
    for (mut child, _) in processes {
        child.kill()?;
        child.wait()?;
    }
    judge(&receiver.received(), &expected, part);
    Ok(())
}

/// What whoever has the rules and the store computes: the events of each rule, as bytes.
fn expected(scene: &Scene, rules: &[AlertRule]) -> Result<Expected> {
    let reader = Reader::open(scene.path("series.db"))?;
    let mut expected = Expected::new();
    for pool in &scene.pools {
        let of_pool = rules.iter().filter(|rule| rule.pool == pool.id);
        let mut runs: Vec<AlertRun> = of_pool.cloned().map(AlertRun::new).collect();
        let pool = reader.pool(&pool.id)?.ok_or("a pool is gone")?;
        let mut watching = Watching::default();
        for at in (0..scene.next).map(slot) {
            let sealed = reader.watched(&pool, at, &mut watching)?.ok_or("a slot is gone")?;
            for run in runs.iter_mut().filter(|run| run.next() == Some(at)) {
                let told = run.take(sealed.sealed())?;
                let events = told.into_iter().map(|event| (event.id, event.canonical));
                let name = run.rule().alert.as_str().to_owned();
                expected.entry(name).or_default().extend(events);
            }
        }
    }
    Ok(expected)
}

/// Compares what endpoints were told with what they should have been.
fn judge(received: &[Received], expected: &Expected, part: &mut Part) {
    let mut seen: BTreeMap<&str, BTreeSet<usize>> = BTreeMap::new();
    for one in received.iter().filter(|one| one.kind() != "endpoint.challenge") {
        let document = one.json();
        let alert = document["data"]["alert"].as_str().unwrap_or_default();
        let seq = document["data"]["seq"].as_u64().unwrap_or(0);
        let place = usize::try_from(seq).unwrap_or(0);
        let Some((name, events)) = expected.get_key_value(alert) else {
            part.problem("alerts.duplicates_other_id", format!("{alert}: there is no such rule"));
            continue;
        };
        let should = place.checked_sub(1).and_then(|place| events.get(place));
        if should.is_none_or(|(id, body)| *id != one.header("webhook-id") || *body != one.body) {
            part.problem("alerts.duplicates_other_id", format!("{alert} {seq} is another event"));
            continue;
        }
        let of_alert = seen.entry(name).or_default();
        if of_alert.contains(&place) {
            part.count("alerts.duplicates_same_id");
            continue;
        }
        if of_alert.last().copied().unwrap_or(0) + 1 != place {
            part.problem(
                "alerts.out_of_order",
                format!("{alert}: {seq} came before the one before"),
            );
        }
        of_alert.insert(place);
    }
    for (alert, events) in expected {
        let came = seen.get(alert.as_str()).map_or(0, BTreeSet::len);
        for seq in came..events.len() {
            part.problem("alerts.lost", format!("{alert}: {} never came", seq + 1));
        }
    }
}

/// Evaluates many slots once by a process that forgets everything now and then, and once at the end, and compares.
fn replayed(extent: Extent, seed: u64, part: &mut Part, progress: Progress<'_>) -> Result<()> {
    let mut scene = Scene::new(seed + 1)?;
    let alerts = Arc::new(Alerts::open(&scene.path("alerts.db"))?);
    let mut rules = Vec::new();
    for number in 0..extent.replayed_rules {
        rules.push(scene.keep(&alerts, number, None)?);
    }
    let mut rng = Rng::new(seed ^ 0x5e9);
    let begin = |alerts: &Arc<Alerts>| Evaluator::new(alerts.clone(), scene_store(&scene.folder));
    let mut evaluator = begin(&alerts);
    for done in 0..extent.replayed_slots {
        scene.seal(3)?;
        if rng.once_in(2) {
            evaluator.turn(1_000)?;
        }
        // What was in memory is gone, in the middle of what it did not write down.
        if rng.once_in(7) {
            evaluator = Evaluator::new(alerts.clone(), scene_store(&scene.folder));
        }
        if done % 64 == 0 {
            progress("alerts: slots", done.into(), extent.replayed_slots.into());
        }
    }
    while evaluator.turn(1_000)?.more {}
    let (mut compared, mut mismatches) = (0_u64, 0_u64);
    let expected = expected(&scene, &rules)?;
    for (number, rule) in (0..).zip(&rules) {
        let owner = [u8::try_from(number % 256_u32).unwrap_or(0); 32];
        let alert = alerts.one(&owner, rule.alert.as_str(), 0)?.ok_or("a rule is gone")?;
        let told = alerts.events(alert.no, 0, u32::MAX)?;
        let none = Vec::new();
        let should = expected.get(rule.alert.as_str()).unwrap_or(&none);
        compared += should.len().max(told.len()) as u64;
        let same = told.iter().zip(should);
        let same =
            same.filter(|(told, (id, body))| told.id == *id && told.document == *body).count();
        mismatches += (should.len().max(told.len()) - same) as u64;
    }
    part.set("alerts.replayed", compared);
    part.set("alerts.replay_mismatches", mismatches);
    if mismatches > 0 {
        part.problems.push(format!("alerts.replay_mismatches: {mismatches} of {compared}"));
    }
    Ok(())
}

fn scene_store(folder: &TempDir) -> PathBuf {
    folder.path().join("series.db")
}
