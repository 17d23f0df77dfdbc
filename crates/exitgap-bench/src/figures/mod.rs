//! Figures over many snapshots of a store: thirty days of one pool, a week of three venues, a split, a day at a size
//! that is not stored; swaps compared with estimates; and verification of a week's file, natively and in a browser.
//!
//! - `accuracy`: swaps; `route`: exits into cash; `verified`: files

#![expect(
    clippy::result_large_err,
    reason = "a store's error names what it is about, and one ends the bench"
)]

mod accuracy;
mod route;
mod verified;

use std::path::Path;
use std::time::Instant;

use exitgap_core::analytics::{FigureVenue, Reference};
use exitgap_core::analytics::decay::DecayTerms;
use exitgap_core::analytics::exposure::{ExposureTerms, Liquidation};
use exitgap_core::analytics::stress::{Shock, StressTerms};
use exitgap_core::evidence::Base;
use exitgap_core::exit::{Exit, SplitVenue, split_size};
use exitgap_core::ids::{Address, PoolId};
use exitgap_core::pools::Direction;
use exitgap_core::series::Slot;
use exitgap_core::snapshot::{Observation, Snapshot};
use exitgap_core::tlog::SignerKey;
use exitgap_core::units::{GapLimit, UsdMicros};
use exitgap_store::{Changes, NewEntry, Reader, Ready, Store};

use crate::BenchError;
use crate::clock::{median, nanoseconds};
use crate::effort::Effort;
use crate::evidence::slot;
use crate::market::BusyPool;
use crate::report::Report;

/// Number of ticks per pool.
const TICKS: Effort<usize> = Effort::new(250, 50);

/// Number of ticks of a busy pool.
const WIDE: Effort<usize> = Effort::new(1_200, 100);

/// Thirty days.
const SLOTS: Effort<u32> = Effort::new(30 * Slot::PER_DAY, Slot::PER_DAY + 12);

const WEEK: Effort<u32> = Effort::new(7 * Slot::PER_DAY, 12);

/// How often each figure is computed for the median.
const ROUNDS: usize = 3;

/// Number of venues in the split.
const VENUES: u16 = 8;

/// Adds `figures.*`.
pub fn measure(report: &mut Report) -> Result<(), BenchError> {
    route::measure(report)?;
    report.add("figures.split_8_venues_us", split_us()?);
    report.add("figures.accuracy_slot_us_per_swap", accuracy::us_per_swap()?);
    let folder = tempfile::tempdir().map_err(failed)?;
    let path = folder.path().join("series.db");
    let key = SignerKey::from_seed("exitgap.example/bench", [7; 32]).map_err(failed)?;
    let pools = record(&path, &key)?;
    let reader = Reader::open(&path).map_err(failed)?;
    let (to, week) = (slot(SLOTS.get() - 1)?, slot(SLOTS.get() - WEEK.get())?);
    let month = DecayTerms {
        pool: pools[0].clone(),
        base: Base::Token0,
        from: slot(0)?,
        to,
        move_e8: 100_000,
        within_slots: 3,
        gap: GapLimit::DEPTH,
    };
    let told = reader.figure(&month).map_err(failed)?;
    eprintln!("figures: {} events of 0.1% in 30 days", told.events.len());
    report.add("figures.decay_30d_ms", milliseconds(|| reader.figure(&month))?);
    let exposure = ExposureTerms {
        venues: pools
            .iter()
            .map(|pool| FigureVenue { pool: pool.clone(), base: Base::Token0 })
            .collect(),
        from: week,
        to,
        cascade: "2000000".parse().map_err(failed)?,
        liquidation: Liquidation { bonus_e8: 5_000_000, protocol_fee_e8: 0, fall_e8: 20_000_000 },
        reference: Some(Reference::Mid),
    };
    let told = reader.figure(&exposure).map_err(failed)?;
    eprintln!("figures: the exposure is {}, worst {:?}", told.band.code(), told.worst_gap_pct);
    report.add("figures.exposure_7d_ms", milliseconds(|| reader.figure(&exposure))?);
    let stress = StressTerms {
        venues: exposure.venues,
        from: week,
        to,
        size: exposure.cascade,
        shock: Shock { haircut_e8: 40_000_000, fall_e8: 20_000_000 },
        limit: None,
        after: None,
        reference: Some(Reference::Mid),
    };
    let told = reader.figure(&stress).map_err(failed)?;
    eprintln!("figures: a stress of {} slots, Q95 {:?}", told.have_slots, told.gap_q95_pct);
    report.add("figures.stress_7d_ms", milliseconds(|| reader.figure(&stress))?);
    let pool = reader.pool(&pools[0]).map_err(failed)?;
    let pool = pool.ok_or_else(|| failed("the pool is not recorded"))?;
    let (day, size) = (slot(SLOTS.get() - Slot::PER_DAY)?, "123456".parse().map_err(failed)?);
    let direction = Direction::ZeroForOne;
    let any_size = || reader.points_at(&pool, direction, size, day, to);
    report.add("figures.history_any_size_day_ms", milliseconds(any_size)?);
    let file = reader.figure_file(&DecayTerms { from: week, ..month.clone() }).map_err(failed)?;
    let file = verified::File::new(&reader, &key, file)?;
    report.add("figures.verify_7d_ms", file.natively_ms()?);
    report.add("figures.verify_7d_browser_ms", file.in_browser_ms()?);
    let wide = folder.path().join("wide.db");
    eprintln!("figures: {WEEK} slots of a pool of {WIDE} ticks");
    let pool = record_week(&wide, &key)?;
    let reader = Reader::open(&wide).map_err(failed)?;
    let (from, to) = (slot(0)?, slot(WEEK.get() - 1)?);
    let file = reader.figure_file(&DecayTerms { pool, from, to, ..month }).map_err(failed)?;
    let file = verified::File::new(&reader, &key, file)?;
    report.add("figures.verify_7d_1200_ticks_browser_ms", file.in_browser_ms()?);
    Ok(())
}

/// A store with a week of one busy pool.
fn record_week(path: &Path, key: &SignerKey) -> Result<PoolId, BenchError> {
    let mut store = Store::create(path, key).map_err(failed)?;
    let mut market = BusyPool::real(4, WIDE.get());
    for index in 0..WEEK.get() {
        let at = slot(index)?;
        let ready = Ready::prepare_entries(&[market.recorded(at)?]).map_err(failed)?;
        store.append_ready(at, ready, &Changes::default()).map_err(failed)?;
    }
    store.close().map_err(failed)?;
    Ok(market.id.clone())
}

/// A store with thirty days of one pool, and of two similar pools in the last week.
fn record(path: &Path, key: &SignerKey) -> Result<Vec<PoolId>, BenchError> {
    eprintln!("figures: {SLOTS} slots of a pool of {TICKS} ticks, and two more in the last week");
    let mut store = Store::create(path, key).map_err(failed)?;
    let mut market = BusyPool::real(1, TICKS.get());
    let mut pools = vec![market.id.clone()];
    pools.extend([2, 3].map(|number| PoolId::new(pools[0].chain().clone(), Address([number; 20]))));
    for index in 0..SLOTS.get() {
        let at = slot(index)?;
        let first = market.recorded(at)?;
        let like = |pool: &PoolId| -> Result<NewEntry, BenchError> {
            let drawn = first.reading.as_ref().map_err(|_| failed("nothing was drawn"))?;
            let reading = Ok(seen_as(drawn, pool, drawn.observation())?);
            Ok(NewEntry { pool: pool.clone(), default_base: first.default_base, reading })
        };
        let mut entries = Vec::new();
        if index >= SLOTS.get() - WEEK.get() {
            entries.extend([like(&pools[1])?, like(&pools[2])?]);
        }
        entries.insert(0, first);
        let ready = Ready::prepare_entries(&entries).map_err(failed)?;
        store.append_ready(at, ready, &Changes::default()).map_err(failed)?;
    }
    store.close().map_err(failed)?;
    Ok(pools)
}

/// A snapshot changed to another pool, with the oracle prices of another observation.
fn seen_as(drawn: &Snapshot, pool: &PoolId, priced: &Observation) -> Result<Snapshot, BenchError> {
    let observed = drawn.observation();
    let observation = Observation::new(
        pool.clone(),
        observed.chain(),
        observed.block(),
        observed.tokens().clone(),
        observed.state().clone(),
        priced.oracles().to_vec(),
        Vec::new(),
    );
    Snapshot::new(drawn.slot(), observation.map_err(failed)?).map_err(failed)
}

/// The time for one exit split over eight prepared pools.
fn split_us() -> Result<f64, BenchError> {
    let at = slot(0)?;
    let drawn = (0..VENUES).map(|number| {
        let entry = BusyPool::real(number, TICKS.get()).recorded(at)?;
        entry.reading.map_err(|_| failed("nothing was drawn"))
    });
    let drawn: Vec<Snapshot> = drawn.collect::<Result<_, BenchError>>()?;
    let priced = drawn[0].observation();
    let seen = drawn.iter().map(|one| seen_as(one, one.observation().pool(), priced));
    let seen: Vec<Snapshot> = seen.collect::<Result<_, BenchError>>()?;
    let exits: Vec<Exit> =
        seen.iter().map(|one| Exit::from_pool(one.observation(), Direction::ZeroForOne)).collect();
    let venues: Vec<SplitVenue<'_>> = seen
        .iter()
        .zip(&exits)
        .map(|(one, exit)| SplitVenue::from_pool(one.observation(), exit, UsdMicros(0)))
        .collect();
    let size = "1000000".parse().map_err(failed)?;
    let split = split_size(&venues, size).map_err(failed)?;
    eprintln!(
        "figures: a split over {} of {VENUES} venues, within {}% of the best there can be",
        split.sizes.len(),
        split.split.optimality_gap
    );
    Ok(nanoseconds(|| split_size(&venues, size)) / 1e3)
}

fn milliseconds<T, E: std::fmt::Display>(
    mut work: impl FnMut() -> Result<T, E>,
) -> Result<f64, BenchError> {
    let mut taken = Vec::new();
    for _ in 0..ROUNDS {
        let start = Instant::now();
        std::hint::black_box(work().map_err(failed)?);
        taken.push(start.elapsed().as_secs_f64() * 1e3);
    }
    Ok(median(taken))
}

fn failed(error: impl std::fmt::Display) -> BenchError {
    BenchError::Evidence(error.to_string())
}
