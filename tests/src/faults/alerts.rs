//! Stored rules under kills: two concurrent processes evaluate rules and send events, and are killed (-9) at random.
//! The events that endpoints received are compared with those computed from rules and log.
//!
//! Slots are sealed all the time, by this process and not by a recorder. Some endpoints fail occasionally.

use std::collections::BTreeSet;
use std::net::Ipv4Addr;
use std::process::Child;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use exitgap_store::alerts::Alerts;

use super::alerts_judge::{control, judge};
use super::alerts_scene::{Scene, start, until_told, until_verified};
use super::{Part, Progress, Result, alerts_disk, alerts_replayed, alerts_ssrf, alerts_stream};
use crate::devchain::Rng;
use crate::receiver::{Does, Receiver};

/// The amount of work.
#[derive(Debug, Clone, Copy)]
pub struct Extent {
    /// Number of kills.
    pub kills: u64,
    /// Number of slots that are evaluated repeatedly and compared.
    pub replayed_slots: u32,
    /// Number of rules for these slots.
    pub replayed_rules: u32,
}

/// The full amount: thirty days of slots.
pub const WHOLE: Extent = Extent { kills: 500, replayed_slots: 8_640, replayed_rules: 60 };

const RULES: u32 = 24;

/// Number of concurrent processes.
const PROCESSES: usize = 2;

/// Latest time of a kill after the start of its process.
const LATEST_MS: u64 = 300;

/// Pause between two slots, so that there are thousands and not more.
const BETWEEN_SLOTS: Duration = Duration::from_millis(30);

/// Runs all parts.
pub fn run(extent: Extent, seed: u64, progress: Progress<'_>) -> Result<Part> {
    let mut part = Part::default();
    let counted = [
        "kills",
        "lost",
        "duplicates_other_id",
        "duplicates_same_id",
        "out_of_order",
        "disk_full_cases",
    ];
    for key in counted {
        part.set(&format!("alerts.{key}"), 0_u64);
    }
    killed(extent, seed, &mut part, progress)?;
    let (slots, rules) = (extent.replayed_slots, extent.replayed_rules);
    alerts_disk::run(seed, &mut part, progress)?;
    alerts_replayed::run(slots, rules, seed, &mut part, progress)?;
    alerts_stream::run(extent.kills.div_ceil(10), seed, &mut part, progress)?;
    alerts_ssrf::run(&mut part, progress)?;
    Ok(part)
}

/// Kills processes while slots are sealed, waits for the remaining events, and compares.
fn killed(extent: Extent, seed: u64, part: &mut Part, progress: Progress<'_>) -> Result<()> {
    let mut scene = Scene::new(seed)?;
    let (turns, failed) = (AtomicU32::new(0), Mutex::new(BTreeSet::new()));
    let receiver = Receiver::start(Ipv4Addr::UNSPECIFIED, move |received| {
        // Occasionally an endpoint fails; if it fails for an event, all later events of the rule have to wait.
        let turn = turns.fetch_add(1, Ordering::Relaxed);
        let fails = received.kind() != "endpoint.challenge"
            && turn % 97 == 96
            && failed
                .lock()
                .is_ok_and(|mut all| all.insert(received.header("webhook-id").to_owned()));
        if fails { Does::Answers(500, String::new()) } else { Does::Takes }
    })?;
    let alerts = Alerts::open(&scene.path("alerts.db"))?;
    let rules = scene.keep_told(&alerts, RULES, &receiver)?;
    let mut processes: Vec<(Child, Instant)> = Vec::new();
    // A host is challenged at most three times an hour, and a process killed in between uses that up.
    let first = (start(scene.folder())?, Instant::now());
    until_verified(&alerts, RULES)?;
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
    until_told(&alerts, whole, progress)?;
    for (mut child, _) in processes {
        child.kill()?;
        child.wait()?;
    }
    let received = receiver.received();
    judge(&received, &expected, part);
    control(received, &expected, part)
}
