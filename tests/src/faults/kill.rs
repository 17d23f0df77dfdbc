//! `kill -9` at random moments, under load.

use std::io::{BufRead, BufReader};
use std::os::unix::process::ExitStatusExt;
use std::time::Duration;

use exitgap_store::Reader;
use tempfile::TempDir;

use super::home::{Acknowledged, Found, Home, next_slot};
use super::scene::Scene;
use super::writer::{arguments, command};
use super::{Part, Progress, Result};
use crate::devchain::Rng;

/// Number of kills per store. The whole store is checked each time, so it must not grow without limit.
const KILLS_PER_STORE: usize = 20;
/// Latest time of a kill after the first acknowledged slot.
const LATEST_US: u64 = 60_000;

/// Kills a writer `kills` times, continues with what it left, and checks everything each time.
pub fn run(kills: u64, seed: u64, progress: Progress<'_>) -> Result<Part> {
    let mut part = Part::default();
    for key in ["kill.count", "kill.lost", "kill.half_slots", "kill.within_publication"] {
        part.set(key, 0_u64);
    }
    let mut rng = Rng::new(seed);
    let scene = Scene { pools: 6, positions: 20 };
    let mut slots = 0;
    for begin in (0..kills).step_by(KILLS_PER_STORE) {
        let folder = TempDir::new()?;
        let home = Home::new(folder.path(), scene);
        home.open_or_create()?;
        for done in begin..kills.min(begin + KILLS_PER_STORE as u64) {
            // One in five kills may happen at any time from the start of the process on.
            let wait = !rng.once_in(5);
            let acknowledged = kill_once(&home, wait, rng.below(LATEST_US))?;
            part.count("kill.count");
            match home.check(acknowledged) {
                Ok(Found { recorded, published }) => {
                    slots = slots.max(recorded);
                    if published < recorded {
                        part.count("kill.within_publication");
                    }
                }
                Err(error) => judge(&home, acknowledged, &error.to_string(), &mut part),
            }
            progress("kill", done + 1, kills);
        }
        // The final check of a store: a recorder continues with it.
        if let Err(error) = home.go_on().and_then(|all| home.check(all)) {
            part.problem("kill.half_slots", error.to_string());
        }
    }
    part.set("kill.slots_max", slots);
    Ok(part)
}

/// Reports lost slots and incomplete data.
fn judge(home: &Home, acknowledged: Acknowledged, words: &str, part: &mut Part) {
    let recorded =
        Reader::open(home.store()).map_err(Into::into).and_then(|reader| next_slot(&reader));
    let there = |recorded: &u32| acknowledged.committed.is_none_or(|last| last < *recorded);
    let key = if recorded.as_ref().is_ok_and(there) { "kill.half_slots" } else { "kill.lost" };
    part.problem(key, words);
}

/// Starts a writer, kills it `after_us` after its first acknowledged slot or, without `wait`, after its start, and
/// returns what it had acknowledged by then.
fn kill_once(home: &Home, wait: bool, after_us: u64) -> Result<Acknowledged> {
    let mut child = command(&arguments("writer", home)).spawn()?;
    let stdout = child.stdout.take().ok_or("a child without output")?;
    let mut lines = BufReader::new(stdout).lines();
    let mut acknowledged = Acknowledged::default();
    while wait && acknowledged.committed.is_none() {
        acknowledged.hear(&lines.next().ok_or("the writer ended by itself")??);
    }
    // This does not wait for a state: the moment is random.
    std::thread::sleep(Duration::from_micros(after_us));
    child.kill()?;
    // Output between the decision to kill it and its end counts as well.
    for line in lines {
        acknowledged.hear(&line?);
    }
    let output = child.wait_with_output()?;
    if output.status.signal() != Some(9) {
        let words = String::from_utf8_lossy(&output.stderr).into_owned();
        return Err(format!("the writer was not killed, it {}: {words}", output.status).into());
    }
    Ok(acknowledged)
}
