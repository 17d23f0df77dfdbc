//! State proofs: their size, the time to check one compared with a client library, and whether a modified proof or a
//! node's lie is ever accepted.
//!
//! - `world`: a state as large as a busy pool's
//! - `anchors`: a day's anchors, with a full ring buffer
//! - `package`: the same in WebAssembly
//! - `witness`: how long a log waits for a witness, and whether a witness ever cosigns a different history

mod anchors;
mod package;
mod witness;
mod world;

use alloy_primitives::B256;
use alloy_trie::proof::verify_proof;
use exitgap_chain::{Proven, judge_snapshot, subject_to_record};
use exitgap_core::evidence::Outcome;
use exitgap_core::pools::{Concentrated, PoolState, Tick, sqrt_ratio_at_tick};
use exitgap_core::proof::{StateProof, TickRange, check_state};
use exitgap_core::snapshot::{Observation, OracleSource, Snapshot};
use exitgap_tests::devchain::Rng;

use crate::BenchError;
use crate::clock::nanoseconds;
use crate::effort::Effort;
use crate::report::Report;
use world::World;

/// The ticks that the figures of such a pool read: both depths at 2%.
const RANGE: TickRange = TickRange { low: -410, high: 410 };

/// A false snapshot, and the ticks at which it is false.
type Lie = (Snapshot, Vec<i32>);

const CHANGES: Effort<u64> = Effort::new(100_000, 200);
const LIES: Effort<u64> = Effort::new(12_000, 60);

fn failed(error: impl std::fmt::Display) -> BenchError {
    BenchError::Evidence(format!("proof: {error}"))
}

/// Adds `proof.range_bytes`, `proof.full_bytes`, `proof.verify_ms`, `proof.verify_full_ms`, the numbers of `package`,
/// `proof.alloy_trie_times`, `proof.changed`, `proof.changed_accepted`, `proof.lies`, `proof.lies_recorded`,
/// `proof.lies_unread`, and the numbers of anchors and witnesses.
pub fn measure(report: &mut Report) -> Result<(), BenchError> {
    eprintln!("proof: making a state of 97,000 words and 100,000 accounts");
    let world = World::new()?;
    let subject = world.subject(RANGE)?;
    let nodes = world.nodes(&subject)?;
    let range = subject.file(&world.parts(&nodes)).map_err(failed)?;
    report.add("proof.range_bytes", float(range.len() as u64));
    let all = world.subject(TickRange::ALL)?;
    let full = all.file(&world.parts(&world.nodes(&all)?)).map_err(failed)?;
    report.add("proof.full_bytes", float(full.len() as u64));
    for file in [&range, &full] {
        let checks = check_state(&StateProof::from_bytes(file), &world.snapshot, None);
        if let Some(wrong) = checks.iter().find(|check| check.outcome != Outcome::Pass) {
            return Err(failed(format!("the proof itself does not pass: {wrong:?}")));
        }
    }
    let checked = |file: &[u8]| check_state(&StateProof::from_bytes(file), &world.snapshot, None);
    let ours = nanoseconds(|| StateProof::from_bytes(&range).is_ok());
    report.add("proof.verify_ms", nanoseconds(|| checked(&range)) / 1e6);
    report.add("proof.verify_full_ms", nanoseconds(|| checked(&full)) / 1e6);
    package::measure(report, &world.snapshot, &range)?;
    // A client library walks from the root for each word.
    let singles = world.singly(&subject)?;
    let whole = |(root, path, value, way): &world::Single| {
        verify_proof::<'_, _>(B256::from(*root), *path, value.clone(), way).is_ok()
    };
    if !singles.iter().all(whole) {
        return Err(failed("alloy-trie does not take its own proofs"));
    }
    let theirs = nanoseconds(|| singles.iter().all(whole));
    report.add("proof.alloy_trie_times", theirs / ours);
    changed(report, &world, &range)?;
    lies(report, &world)?;
    anchors::measure(report)?;
    witness::measure(report)
}

fn float(number: u64) -> f64 {
    f64::from(u32::try_from(number).unwrap_or(u32::MAX))
}

/// Changes bytes of a file, one at a time.
fn changed(report: &mut Report, world: &World, file: &[u8]) -> Result<(), BenchError> {
    let honest = StateProof::from_bytes(file).map_err(failed)?;
    let mut rng = Rng::new(11);
    let (mut accepted, mut as_true) = (0_u64, 0_u64);
    for _ in 0..CHANGES.get() {
        let at = usize::try_from(rng.below(file.len() as u64)).map_err(failed)?;
        let mut other = file.to_vec();
        other[at] ^= u8::try_from(rng.between(1, 255)).map_err(failed)?;
        let read = StateProof::from_bytes(&other);
        let checks = check_state(&read, &world.snapshot, None);
        if checks.iter().all(|check| check.outcome == Outcome::Pass) {
            // A different next block, or a different range of the same words without other ticks, is also true.
            let is_true = read.is_ok_and(|mut read| {
                if let (Some(of), Some(own)) = (&mut read.subject.ranges, &honest.subject.ranges) {
                    of.range = own.range;
                }
                StateProof { child: honest.child, ..read } == honest
            });
            if is_true { as_true += 1 } else { accepted += 1 }
        }
    }
    eprintln!("proof: {as_true} changes made another file that says what is as true");
    report.add("proof.changed", float(CHANGES.get()));
    report.add("proof.changed_accepted", float(accepted));
    Ok(())
}

/// A node's lies about what the recorder reads, checked against the same node's proofs, which cannot lie. Lies outside
/// the proven range are counted separately: no figure in the head reads them.
fn lies(report: &mut Report, world: &World) -> Result<(), BenchError> {
    let mut rng = Rng::new(17);
    let (mut told, mut recorded, mut unread, mut kinds) = (0_u64, 0_u64, 0_u64, [0_u64; 6]);
    let (_, slots) = subject_to_record(&world.snapshot, world.feeds.clone())
        .map_err(|not| failed(format!("the honest state has no subject: {not:?}")))?;
    let whole = world.nodes(&world.subject(TickRange::ALL)?)?;
    let honest = recorded_as(world, &world.snapshot, &whole)?;
    if !matches!(honest, Proven::Held { has_oracles: true, .. }) {
        return Err(failed(format!("the honest state is not held: {honest:?}")));
    }
    eprintln!("proof: {} words each slot; lies of six kinds", slots.len());
    while told < LIES.get() {
        let kind = usize::try_from(rng.below(6)).map_err(failed)?;
        let Some((lie, touched)) = lie(world, kind, &mut rng)? else { continue };
        told += 1;
        kinds[kind] += 1;
        match recorded_as(world, &lie, &whole)? {
            Proven::Contradicted(_) => {}
            Proven::Held { .. } if !is_read(world, &lie, &touched) => unread += 1,
            _ => recorded += 1,
        }
    }
    eprintln!("proof: price, liquidity, net, gross, hidden positions, readings: {kinds:?}");
    report.add("proof.lies", float(told - unread));
    report.add("proof.lies_recorded", float(recorded));
    report.add("proof.lies_unread", float(unread));
    Ok(())
}

/// Whether any of these ticks is among the proven ones of a snapshot.
fn is_read(world: &World, snapshot: &Snapshot, ticks: &[i32]) -> bool {
    let subject = subject_to_record(snapshot, world.feeds.clone()).ok();
    let range = subject.and_then(|(subject, _)| Some(subject.ranges?.range));
    range.is_none_or(|range| ticks.iter().any(|tick| (range.low..=range.high).contains(tick)))
}

/// What the recorder would do with a snapshot.
fn recorded_as(
    world: &World,
    snapshot: &Snapshot,
    nodes: &[Vec<u8>],
) -> Result<Proven, BenchError> {
    match subject_to_record(snapshot, world.feeds.clone()) {
        Ok((subject, _)) => Ok(judge_snapshot(snapshot, &subject, &world.parts(nodes))),
        Err(not @ Proven::Contradicted(_)) => Ok(not),
        Err(not) => Err(failed(format!("a lie has no subject: {not:?}"))),
    }
}

/// A lie that obeys the pool's own rules, and the ticks that it is about; `None` if this one would break them.
fn lie(world: &World, kind: usize, rng: &mut Rng) -> Result<Option<Lie>, BenchError> {
    let of = world.snapshot.observation();
    let PoolState::Concentrated(pool) = of.state() else { return Ok(None) };
    let ranges = pool.ranges();
    let mut ticks = ranges.ticks().to_vec();
    let (mut at, mut oracles) = (ranges.tick(), of.oracles().to_vec());
    let place = usize::try_from(rng.below(ticks.len() as u64)).map_err(failed)?;
    // The other end of the position that begins or ends here.
    let other = ticks.iter().position(|tick| tick.liquidity_net == -ticks[place].liquidity_net);
    let Some(other) = other else { return Ok(None) };
    let (low, high) = (place.min(other), place.max(other));
    let by = i128::from(rng.between(1, 1_000_000));
    let mut touched = vec![ticks[low].tick, ticks[high].tick];
    match kind {
        // A price in the same range: the liquidity stays the same.
        0 => {
            at += i32::try_from(rng.between(1, 6)).map_err(failed)?;
            touched = vec![at];
        }
        1 => return other_liquidity(world, by),
        2 => {
            ticks[low].liquidity_net += by;
            ticks[high].liquidity_net -= by;
            ticks[low].liquidity_gross += by.unsigned_abs();
            ticks[high].liquidity_gross += by.unsigned_abs();
        }
        3 => {
            ticks[low].liquidity_gross += 2 * by.unsigned_abs();
            touched.truncate(1);
        }
        4 => {
            ticks.remove(high);
            ticks.remove(low);
        }
        _ => {
            let reading = &mut oracles[usize::try_from(rng.below(2)).map_err(failed)?];
            match (&mut reading.source, rng.below(3)) {
                (OracleSource::Chainlink(round), 0) => round.round -= 1,
                (OracleSource::Chainlink(round), 1) => round.updated_at -= 1,
                _ => reading.answer += exitgap_core::U256::from(by.unsigned_abs()),
            }
            touched = vec![at];
        }
    }
    let Some(state) = state_of(at, ticks, pool.fee_pips()) else { return Ok(None) };
    let (tokens, facts) = (of.contract_tokens().to_vec(), of.facts().to_vec());
    let made =
        Observation::new(of.pool().clone(), of.chain(), of.block(), tokens, state, oracles, facts);
    let Ok(made) = made else { return Ok(None) };
    Ok(Snapshot::new(world.snapshot.slot(), made).ok().map(|snapshot| (snapshot, touched)))
}

/// Increases all active liquidity, as if there were a position over all prices.
fn other_liquidity(world: &World, by: i128) -> Result<Option<Lie>, BenchError> {
    let of = world.snapshot.observation();
    let PoolState::Concentrated(pool) = of.state() else { return Ok(None) };
    let mut ticks = pool.ranges().ticks().to_vec();
    let last = ticks.len() - 1;
    ticks[0].liquidity_net += by;
    ticks[0].liquidity_gross += by.unsigned_abs();
    ticks[last].liquidity_net -= by;
    ticks[last].liquidity_gross += by.unsigned_abs();
    let state = state_of(pool.ranges().tick(), ticks, pool.fee_pips());
    let state = state.ok_or_else(|| failed("a pool with more liquidity is none"))?;
    let (tokens, facts) = (of.contract_tokens().to_vec(), of.facts().to_vec());
    let oracles = of.oracles().to_vec();
    let made =
        Observation::new(of.pool().clone(), of.chain(), of.block(), tokens, state, oracles, facts);
    let snapshot = Snapshot::new(world.snapshot.slot(), made.map_err(failed)?);
    Ok(Some((snapshot.map_err(failed)?, vec![pool.ranges().tick()])))
}

/// A pool at a tick, with the sum of its ticks as liquidity; `None` if it breaks a rule of pools.
fn state_of(at: i32, ticks: Vec<Tick>, fee_pips: u32) -> Option<PoolState> {
    let below = ticks.iter().filter(|tick| tick.tick <= at).map(|tick| tick.liquidity_net);
    let active = u128::try_from(below.sum::<i128>()).ok()?;
    let price = sqrt_ratio_at_tick(at)?;
    Some(Concentrated::new(price, at, active, fee_pips, 10, ticks).ok()?.into())
}
