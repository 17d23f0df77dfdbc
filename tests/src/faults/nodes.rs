//! Faults of a node: its answers are changed in every way while a healthy node is configured too, and while it is the
//! only one. Nothing that one node answers may end the recorder, keep it from recording pools that the node did not lie
//! about, delay a slot, or be signed although it is false.
//!
//! A real recorder reads every pool of a real development node through proxies. In each slot the proxy that is asked
//! first changes the answers to one method in one way. An undisturbed recorder of the same node shows the truth.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::time::Instant;

use super::nodes_change::KINDS;
use super::nodes_lane::Lane;
use super::nodes_plan::{METHODS, Pair, UNCHANGED, all_pairs, some_of_each};
use super::nodes_recorder::FACTOR;
use super::nodes_scene::Scene;
use super::{Part, Progress, Result};
use crate::devchain::{Market, Rng};

/// The amount of work.
#[derive(Debug, Clone, Copy)]
pub struct Extent {
    /// Number of changed answers, at least, while another node is healthy; 0: none.
    pub changed_answers: u64,
    /// Of every method and kind, the most changes that are tried while another node is healthy.
    pub per_kind: usize,
    /// The same where the node is the only one.
    pub alone_per_kind: usize,
}

/// The full amount: every change of every method that can carry it.
pub const WHOLE: Extent =
    Extent { changed_answers: 2_000, per_kind: usize::MAX, alone_per_kind: 2 };

/// Slots in which a change that did not occur is tried again, with another contract.
const TRIES: u32 = 6;

/// Slots without a fault after the last one: in that time all ticks are read in full again, and compared.
const HONEST_AFTER: u32 = 13;

/// Slots within which a recorder whose only node has recovered must record every pool again.
const RECOVERED_WITHIN: u32 = 2;

/// Runs both parts.
pub fn run(extent: Extent, seed: u64, progress: Progress<'_>) -> Result<Part> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let mut part = Part::default();
    let begun = Instant::now();
    runtime.block_on(async {
        let mut rng = Rng::new(seed);
        let pairs = all_pairs(&mut rng);
        if extent.changed_answers > 0 {
            Box::pin(with_two_nodes(extent, &pairs, &mut rng, &mut part, progress)).await?;
        }
        if extent.alone_per_kind > 0 {
            Box::pin(with_one_node(extent, &pairs, &mut rng, &mut part, progress)).await?;
        }
        Result::Ok(())
    })?;
    part.set("nodes.factor", FACTOR);
    part.set("nodes.seconds", begun.elapsed().as_secs());
    part.note(format!(
        "deadlines and pauses of the recorder are {FACTOR} times shorter than real ones, so a slot is late {} s after its \
         instant",
        60 / FACTOR
    ));
    part.note(
        "A is the node that the recorder asks first for the method in the slot; B, its second node and the undisturbed \
         recorder have the chain's own answers",
    );
    part.note(
        "false data: a retraction, or a snapshot that differs from the undisturbed recorder's of the same slot, if the \
         recorder proves what differs, and no later reading put it in doubt. Not proven: ticks beyond those that figures \
         use, fees, tick spacings, tokens, decimals, facts (state-proof-v1.md)",
    );
    Ok(part)
}

/// What became of each pair.
#[derive(Debug, Default)]
struct Table {
    /// Changed answers by method and kind.
    changed: BTreeMap<(&'static str, &'static str), u64>,
    tried: BTreeSet<(&'static str, &'static str)>,
    fired: BTreeSet<(&'static str, &'static str)>,
}

impl Table {
    fn add(&mut self, pair: &Pair, changed: u64) {
        *self.changed.entry((pair.method, pair.change.kind)).or_default() += changed;
        self.tried.insert((pair.method, pair.change.name));
        if changed > 0 {
            self.fired.insert((pair.method, pair.change.name));
        }
    }

    fn all_changed(&self) -> u64 {
        self.changed.values().sum()
    }

    /// The share of the tried pairs that changed an answer, in percent, rounded down.
    fn fired_pct(&self) -> u64 {
        (self.fired.len() as u64 * 100).checked_div(self.tried.len() as u64).unwrap_or(0)
    }

    /// Changed answers by method and kind, in lines.
    fn lines(&self) -> String {
        let mut text = format!("changed answers\n{:22}", "");
        for kind in KINDS {
            // Writing to a String cannot fail.
            let _ = write!(text, "{kind:>14}");
        }
        for method in METHODS {
            let _ = write!(text, "\n{method:22}");
            for kind in KINDS {
                let changed = self.changed.get(&(method, kind)).copied().unwrap_or(0);
                let _ = write!(text, "{changed:>14}");
            }
        }
        text
    }

    /// Writes the figures, and a problem for each pair that never changed an answer.
    fn write(&self, part: &mut Part, prefix: &str) {
        let key = |name: &str| format!("{prefix}{name}");
        part.set(&key("changed_answers"), self.all_changed());
        part.set(&key("pairs"), self.tried.len());
        part.set(&key("control_fired_pct"), self.fired_pct());
        for (method, name) in self.tried.difference(&self.fired) {
            part.problem(&key("control_not_fired"), format!("{name} of {method} never occurred"));
        }
    }
}

/// Changes answers of one node while the other is healthy.
async fn with_two_nodes(
    extent: Extent,
    pairs: &[Pair],
    rng: &mut Rng,
    part: &mut Part,
    progress: Progress<'_>,
) -> Result<()> {
    for key in ["process_ended", "other_pools_missed", "slots_late", "false_data_signed"] {
        part.set(&format!("nodes.{key}"), 0_u64);
    }
    let scene = Scene::new().await?;
    let mut market = Market::new(&scene.chain, &scene.world, rng.next_u64()).await?;
    let mut lane = Lane::start(&scene, scene.with_two_nodes().await?, false).await?;
    lane.pass_without(&mut market).await?;
    let chosen = some_of_each(pairs, extent.per_kind);
    let (mut table, mut rounds) = (Table::default(), 0_u64);
    while table.all_changed() < extent.changed_answers {
        rounds += 1;
        let before = table.all_changed();
        for pair in &chosen {
            // Every pair is tried once.
            if rounds > 1 && table.all_changed() >= extent.changed_answers {
                break;
            }
            progress("nodes", table.all_changed(), extent.changed_answers);
            for _ in 0..TRIES {
                let passed = lane.pass_with(&mut market, pair, rng).await?;
                table.add(pair, passed.fired.changed);
                if passed.fired.changed > 0 {
                    break;
                }
            }
        }
        if table.all_changed() == before {
            return Err("no answer was changed".into());
        }
    }
    for _ in 0..HONEST_AFTER {
        lane.pass_without(&mut market).await?;
    }
    part.set("nodes.rounds", rounds);
    table.write(part, "nodes.");
    part.note(table.lines());
    require_methods(&scene, part);
    lane.finish(part, "nodes.").await
}

/// Changes answers of the only node, and looks how soon recording goes on.
async fn with_one_node(
    extent: Extent,
    pairs: &[Pair],
    rng: &mut Rng,
    part: &mut Part,
    progress: Progress<'_>,
) -> Result<()> {
    for key in ["process_ended", "false_data_signed", "not_recovered"] {
        part.set(&format!("nodes.alone_{key}"), 0_u64);
    }
    let scene = Scene::new().await?;
    let mut market = Market::new(&scene.chain, &scene.world, rng.next_u64()).await?;
    let mut lane = Lane::start(&scene, scene.with_one_node().await?, true).await?;
    lane.pass_without(&mut market).await?;
    let chosen = some_of_each(pairs, extent.alone_per_kind);
    let (mut table, mut slowest) = (Table::default(), 0);
    for (at, pair) in chosen.iter().enumerate() {
        progress("nodes, one alone", at as u64, chosen.len() as u64);
        for _ in 0..TRIES {
            let fired = lane.pass_with(&mut market, pair, rng).await?.fired;
            table.add(pair, fired.changed);
            let slots = recovery(&mut lane, &mut market).await?;
            slowest = slowest.max(slots);
            if slots > RECOVERED_WITHIN {
                let words = format!("after {} of {}", pair.change.name, pair.method);
                part.problem("nodes.alone_not_recovered", words);
            }
            if fired.changed > 0 {
                break;
            }
        }
    }
    for _ in 0..HONEST_AFTER {
        lane.pass_without(&mut market).await?;
    }
    part.set("nodes.alone_recovered_in_slots", slowest);
    table.write(part, "nodes.alone_");
    lane.finish(part, "nodes.alone_").await
}

/// How many slots without a fault it takes until every pool is recorded; one more than allowed if that is too many.
async fn recovery(lane: &mut Lane<'_>, market: &mut Market<'_>) -> Result<u32> {
    for slots in 1..=RECOVERED_WITHIN {
        if lane.pass_without(market).await?.judged.missing.is_empty() {
            return Ok(slots);
        }
    }
    Ok(RECOVERED_WITHIN + 1)
}

/// Requires that the recorder asked for the methods whose answers were changed, and for no others.
fn require_methods(scene: &Scene, part: &mut Part) {
    let asked = scene.stage.methods();
    part.set("nodes.methods", asked.len());
    part.set("nodes.requests", asked.values().sum::<u64>());
    part.note(format!("answers to {UNCHANGED} are not changed"));
    if !asked.keys().filter(|method| *method != UNCHANGED).eq(METHODS) {
        part.problem("nodes.control_not_fired", format!("the methods asked for are {asked:?}"));
    }
}
