//! Kept rules under kills: two processes evaluate and tell them side by side, are killed (-9) at random, and what
//! endpoints were told is compared with what whoever has rule and log computes.
//!
//! Slots are sealed all the while, here and not by a recorder. Some endpoints fail now and then.

use std::collections::{BTreeMap, BTreeSet};
use std::net::Ipv4Addr;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use exitgap_store::alerts::{Alerts, EndpointState, KeptAlert};

use super::alerts_scene::{Expected, Scene};
use super::{Part, Progress, Result, alerts_replayed, alerts_ssrf, alerts_stream};
use crate::binaries;
use crate::devchain::Rng;
use crate::receiver::{Does, Received, Receiver};

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

const RULES: u32 = 24;

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
    let (slots, rules) = (extent.replayed_slots, extent.replayed_rules);
    alerts_replayed::run(slots, rules, seed, &mut part, progress)?;
    alerts_stream::run(extent.kills.div_ceil(10), seed, &mut part, progress)?;
    alerts_ssrf::run(&mut part, progress)?;
    Ok(part)
}

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
    let first = (start(scene.folder())?, Instant::now());
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
            processes.push((start(scene.folder())?, Instant::now()));
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
    let expected = scene.expected(&rules)?;
    let whole: usize = expected.values().map(Vec::len).sum();
    part.set("alerts.events", whole as u64);
    while processes.len() < PROCESSES {
        processes.push((start(scene.folder())?, Instant::now()));
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
