//! Rules over many slots: evaluated by a process that occasionally loses its state, evaluated once at the end, and
//! written to files for an implementation in another language.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;
use std::sync::Arc;

use exitgap_core::alerts::{AlertCheckpoint, AlertRule};
use exitgap_server::alerts::Evaluator;
use exitgap_store::LogFolder;
use exitgap_store::alerts::Alerts;
use serde_json::json;

use super::alerts_scene::{Expected, POOLS, Scene, owner};
use super::{Part, Progress, Result};
use crate::devchain::Rng;

/// The sealed slots, and the rules' events.
pub struct Replayed {
    scene: Scene,
    rules: Vec<AlertRule>,
    expected: Expected,
}

/// Evaluates this many rules over this many slots, and compares.
pub fn run(
    slots: u32,
    rules: u32,
    seed: u64,
    part: &mut Part,
    progress: Progress<'_>,
) -> Result<Replayed> {
    let mut scene = Scene::new(seed + 1)?;
    let alerts = Arc::new(Alerts::open(&scene.path("alerts.db"))?);
    let rules = (0..rules).map(|number| scene.keep(&alerts, number, None));
    let rules = rules.collect::<Result<Vec<AlertRule>>>()?;
    let mut rng = Rng::new(seed ^ 0x5e9);
    let store = scene.path("series.db");
    let days = LogFolder::new(scene.path("log"));
    let mut evaluator = Evaluator::new(alerts.clone(), store.clone(), days.clone());
    for done in 0..slots {
        scene.seal(3)?;
        if rng.once_in(2) {
            evaluator.turn(1_000)?;
        }
        // Drops the memory, including what was not stored yet.
        if rng.once_in(7) {
            evaluator = Evaluator::new(alerts.clone(), store.clone(), days.clone());
            part.count("alerts.forgotten");
        }
        if done % 64 == 0 {
            progress("alerts: slots", done.into(), slots.into());
        }
    }
    while evaluator.turn(1_000)?.more {}
    let expected = scene.expected(&rules)?;
    let (mut compared, mut mismatches) = (0_u64, 0_u64);
    for (number, rule) in (0..).zip(&rules) {
        let alert =
            alerts.find_alert(&owner(number), rule.alert.as_str(), 0)?.ok_or("a rule is gone")?;
        let told = alerts.events(alert.no, 0, u32::MAX)?;
        let should = expected.get(rule.alert.as_str()).map_or(&[][..], Vec::as_slice);
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
    Ok(Replayed { scene, rules, expected })
}

impl Replayed {
    /// The number of events.
    pub fn events(&self) -> usize {
        self.expected.values().map(Vec::len).sum()
    }

    /// Writes `rules.jsonl`, each rule with its events, and `slots.jsonl`, the slots of each pool in order.
    pub fn write(&self, folder: &Path) -> Result<()> {
        let mut rules = BufWriter::new(File::create(folder.join("rules.jsonl"))?);
        for rule in &self.rules {
            let events = self.expected.get(rule.alert.as_str()).map_or(&[][..], Vec::as_slice);
            let events = events
                .iter()
                .map(|(id, body)| Ok((id.as_str(), std::str::from_utf8(body)?)))
                .collect::<Result<Vec<_>>>()?;
            let text = String::from_utf8(rule.to_canonical())?;
            let line = json!({"pool": rule.pool, "rule": text, "events": events});
            writeln!(rules, "{line}")?;
        }
        rules.flush()?;
        let mut slots = BufWriter::new(File::create(folder.join("slots.jsonl"))?);
        for pool in 0..usize::from(POOLS) {
            self.scene.each_slot(pool, |sealed| {
                let AlertCheckpoint { origin, size, root } = sealed.checkpoint;
                let head = String::from_utf8(sealed.head.to_canonical()?)?;
                let snapshot = match sealed.snapshot {
                    Some(snapshot) => {
                        let file = snapshot.to_canonical()?.to_file(&sealed.head.pool)?;
                        Some(String::from_utf8(file)?)
                    }
                    None => None,
                };
                let checkpoint = json!({"origin": origin, "size": size, "root": root.to_string()});
                let line = json!({
                    "pool": sealed.head.pool, "head": head, "snapshot": snapshot, "checkpoint": checkpoint
                });
                Ok(writeln!(slots, "{line}")?)
            })?;
        }
        Ok(slots.flush()?)
    }
}
