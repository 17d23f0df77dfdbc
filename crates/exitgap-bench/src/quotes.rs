//! Quotes of ours and every peer, alternating, on the same sizes.

use std::time::Duration;

use alloy_primitives::U256;

use crate::BenchError;
use crate::clock::{ROUNDS, median};
use crate::peers::{self, Peer};
use crate::report::Report;
use crate::scene::{Scene, TICKS_CROSSED};

/// Maximum number of warm-up repetitions.
const WARMING: u32 = 50;

/// Nanoseconds per quote of one peer, by trial.
pub struct Speed {
    /// The peer's name.
    pub name: &'static str,
    /// In the order of the trials.
    pub nanoseconds: Vec<f64>,
}

/// Sizes of one kind that every peer quotes, with the expected results.
pub struct Trial {
    /// Its name in the results.
    pub name: String,
    /// The sizes.
    pub amounts: Vec<U256>,
    /// The amounts that every peer must return.
    pub amounts_out: Vec<U256>,
}

/// A trial in progress.
struct Running {
    trial: Trial,
    /// Number of repetitions that fill a batch, by peer.
    repeats: Vec<u32>,
    /// Nanoseconds per quote, by peer and round.
    rounds: Vec<Vec<f64>>,
}

/// Measures all peers on the scene's pool and adds `quote.<ticks>.<peer>_ns`.
pub fn measure(scene: &Scene, report: &mut Report) -> Result<Vec<Speed>, BenchError> {
    let trials = of_ticks(scene, "")?;
    take_turns(&mut peers::all(scene)?, trials, report)
}

/// A trial for each count of ticks crossed.
pub fn of_ticks(scene: &Scene, prefix: &str) -> Result<Vec<Trial>, BenchError> {
    let trial = |ticks| {
        let amounts = scene.amounts(ticks)?;
        let amounts_out = scene.amounts_out(&amounts)?;
        Ok(Trial { name: format!("{prefix}{ticks}"), amounts, amounts_out })
    };
    TICKS_CROSSED.into_iter().map(trial).collect()
}

/// Measures these peers and adds `quote.<trial>.<peer>_ns`. Within each round every peer runs every trial, so that a
/// busy moment of the machine affects all alike.
pub fn take_turns(
    peers: &mut [Box<dyn Peer>],
    trials: Vec<Trial>,
    report: &mut Report,
) -> Result<Vec<Speed>, BenchError> {
    let mut running = trials
        .into_iter()
        .map(|trial| Running::prepare(trial, peers))
        .collect::<Result<Vec<_>, _>>()?;
    for _ in 0..ROUNDS.get() {
        for trial in &mut running {
            trial.round(peers)?;
        }
    }
    let mut speeds: Vec<Speed> =
        peers.iter().map(|peer| Speed { name: peer.name(), nanoseconds: Vec::new() }).collect();
    for Running { trial, rounds, .. } in running {
        for (speed, rounds) in speeds.iter_mut().zip(rounds) {
            let nanoseconds = median(rounds);
            report.add(format!("quote.{}.{}_ns", trial.name, speed.name), nanoseconds);
            speed.nanoseconds.push(nanoseconds);
        }
    }
    Ok(speeds)
}

impl Running {
    /// Compares the peers' answers, and determines how many repetitions fill a batch for each.
    fn prepare(trial: Trial, peers: &mut [Box<dyn Peer>]) -> Result<Self, BenchError> {
        let (repeats, rounds) = (Vec::new(), vec![Vec::new(); peers.len()]);
        let mut running = Self { trial, repeats, rounds };
        for peer in peers {
            let first = running.run(peer.as_mut(), 1)?;
            // The first run was cold; a just-in-time compiler needs some more.
            let warming = crate::clock::repeats(first).min(WARMING);
            let warm = running.run(peer.as_mut(), warming)?;
            running.repeats.push(crate::clock::repeats(warm / warming));
        }
        Ok(running)
    }

    /// One batch of each peer.
    fn round(&mut self, peers: &mut [Box<dyn Peer>]) -> Result<(), BenchError> {
        let sizes = f64::from(u32::try_from(self.trial.amounts.len()).unwrap_or(u32::MAX));
        for (index, peer) in peers.iter_mut().enumerate() {
            let repeats = self.repeats[index];
            let took = self.run(peer.as_mut(), repeats)?;
            self.rounds[index].push(took.as_secs_f64() * 1e9 / (f64::from(repeats) * sizes));
        }
        Ok(())
    }

    fn run(&self, peer: &mut dyn Peer, repeats: u32) -> Result<Duration, BenchError> {
        let run = peer.run(&self.trial.amounts, repeats)?;
        if run.amounts_out != self.trial.amounts_out {
            return Err(BenchError::Different { peer: peer.name(), what: self.trial.name.clone() });
        }
        Ok(run.took)
    }
}
