//! Quotes: ours and every peer, taking turns, on the same sizes.

use std::time::Duration;

use alloy_primitives::U256;

use crate::BenchError;
use crate::clock::{ROUNDS, median, repeats};
use crate::peers::{self, Peer};
use crate::report::Report;
use crate::scene::{SIZES, Scene, TICKS_CROSSED};

/// Most repetitions before measuring.
const WARMING: u32 = 50;

/// Nanoseconds per quote of one peer, by ticks crossed.
pub struct Speed {
    /// The peer's name.
    pub name: &'static str,
    /// In the order of [`TICKS_CROSSED`].
    pub nanoseconds: Vec<f64>,
}

/// Sizes that cross the same count of ticks, and what is known of them.
struct Trial {
    ticks: u32,
    amounts: Vec<U256>,
    /// What every peer must answer.
    amounts_out: Vec<U256>,
    /// Repetitions that fill a batch, by peer.
    repeats: Vec<u32>,
    /// Nanoseconds per quote, by peer and round.
    rounds: Vec<Vec<f64>>,
}

/// Measures all peers and adds `quote.<ticks>.<peer>_ns`. Within each round every peer has its
/// turn at every count of ticks, so that a busy moment of the machine falls on all alike.
pub fn measure(scene: &Scene, report: &mut Report) -> Result<Vec<Speed>, BenchError> {
    let mut peers = peers::all(scene)?;
    let mut trials = TICKS_CROSSED
        .into_iter()
        .map(|ticks| Trial::prepare(scene, &mut peers, ticks))
        .collect::<Result<Vec<_>, _>>()?;
    for _ in 0..ROUNDS {
        for trial in &mut trials {
            trial.round(&mut peers)?;
        }
    }
    let mut speeds: Vec<Speed> =
        peers.iter().map(|peer| Speed { name: peer.name(), nanoseconds: Vec::new() }).collect();
    for trial in trials {
        for (speed, rounds) in speeds.iter_mut().zip(trial.rounds) {
            let nanoseconds = median(rounds);
            report.add(format!("quote.{}.{}_ns", trial.ticks, speed.name), nanoseconds);
            speed.nanoseconds.push(nanoseconds);
        }
    }
    Ok(speeds)
}

impl Trial {
    /// Compares the peers' answers and finds out how often each can answer in a batch.
    fn prepare(scene: &Scene, peers: &mut [Box<dyn Peer>], ticks: u32) -> Result<Self, BenchError> {
        let amounts = scene.amounts(ticks)?;
        let mut trial = Self {
            ticks,
            amounts_out: scene.amounts_out(&amounts)?,
            amounts,
            repeats: Vec::new(),
            rounds: vec![Vec::new(); peers.len()],
        };
        for peer in peers {
            let first = trial.run(peer.as_mut(), 1)?;
            // That was cold; a compiler at run time needs some more.
            let warming = repeats(first).min(WARMING);
            let warm = trial.run(peer.as_mut(), warming)?;
            trial.repeats.push(repeats(warm / warming));
        }
        Ok(trial)
    }

    /// One batch of each peer.
    fn round(&mut self, peers: &mut [Box<dyn Peer>]) -> Result<(), BenchError> {
        for (index, peer) in peers.iter_mut().enumerate() {
            let repeats = self.repeats[index];
            let took = self.run(peer.as_mut(), repeats)?;
            let quotes = f64::from(repeats) * f64::from(SIZES);
            self.rounds[index].push(took.as_secs_f64() * 1e9 / quotes);
        }
        Ok(())
    }

    fn run(&self, peer: &mut dyn Peer, repeats: u32) -> Result<Duration, BenchError> {
        let run = peer.run(&self.amounts, repeats)?;
        if run.amounts_out != self.amounts_out {
            return Err(BenchError::Different { peer: peer.name(), ticks: self.ticks });
        }
        Ok(run.took)
    }
}
