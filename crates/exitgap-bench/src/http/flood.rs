//! Recording during a flood of requests: do they delay each other?

use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use exitgap_chain::SlotReading;
use exitgap_core::series::Slot;
use exitgap_server::recorder::{Recorder, SlotReader, Source};
use exitgap_store::{LogFolder, Store};

use super::child::Served;
use super::failed;
use super::generate::{CHAIN, append, key, slot};
use super::load::{Targets, load};
use crate::BenchError;
use crate::effort::Effort;
use crate::market::{BusyPool, POSITIONS};

/// Pools recorded, of 1,200 ticks each.
const POOLS: Effort<u16> = Effort::new(100, 4);
/// Number of slots recorded before.
const SLOTS: u32 = 3;
/// Interval between recorded slots, instead of five minutes.
const EVERY: Duration = Duration::from_secs(4);
/// Duration of each measurement.
const TIME: Effort<Duration> = Effort::new(Duration::from_secs(20), Duration::from_secs(1));
/// Requests per second, cycling through pools and sizes.
const RATE: Effort<f64> = Effort::new(500.0, 20.0);
/// Time from a slot's reading to its seal; a longer time is late.
const SEAL_WITHIN: Duration = Duration::from_secs(60);

/// A simulated chain with the market's pools.
struct Played(Arc<Mutex<Vec<BusyPool>>>);

impl SlotReader for Played {
    async fn read_slot(&mut self, slot: Slot, _: tokio::time::Instant) -> SlotReading {
        let mut market = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let pools = market.iter_mut().filter_map(|pool| {
            let entry = pool.recorded(slot).ok()?;
            Some((entry.pool, Ok(entry.reading.ok()?)))
        });
        let (pools, chain) = (pools.collect(), CHAIN.parse().expect("it is a slug"));
        SlotReading { slot, chain, block: None, pools, events: vec![], requests: 1 }
    }
}

/// Measures answers without and with a recorder in the same process, and prints both.
pub async fn measure() -> Result<(), BenchError> {
    let folder = tempfile::tempdir().map_err(failed)?;
    let path = folder.path().join("generated.db");
    let mut market = market();
    let mut store = Store::create(&path, &key()?).map_err(failed)?;
    for index in 0..SLOTS {
        append(&mut store, &mut market, slot(index)?)?;
    }
    store.close().map_err(failed)?;
    let last = slot(SLOTS - 1)?;
    let names: Vec<String> = market.iter().map(|pool| pool.id.to_string()).collect();
    let targets: Targets = Arc::new(move |n| {
        let name = &names[usize::try_from(n).unwrap_or(0) % names.len()];
        format!("/v1/exit/{name}?size_usd={}", 1_000 + n % 5_000)
    });
    for recording in [false, true] {
        let served = Served::start(&path, last, recording)?;
        let found = load(served.address, &targets, TIME.get(), Some(RATE.get())).await?;
        let rss_mb = served.part.rss_mb()?;
        let said = served.part.end();
        if let Some(words) = said.iter().find_map(|line| line.strip_prefix("failed ")) {
            return Err(BenchError::Http(words.to_owned()));
        }
        let slots: Vec<Vec<f64>> = said
            .iter()
            .map(|line| line.split_whitespace().filter_map(|word| word.parse().ok()).collect())
            .collect();
        let of = |place: usize| slots.iter().filter_map(move |slot: &Vec<f64>| slot.get(place));
        let slowest = of(0).copied().fold(0.0, f64::max);
        let missing: f64 = of(1).sum();
        let late = of(0).filter(|ms| **ms > SEAL_WITHIN.as_secs_f64() * 1e3).count();
        eprintln!(
            "http: {RATE} requests/s, {}: p50 {:.2} ms, p99 {:.2} ms, {} slots sealed \
             (slowest {slowest:.0} ms, {late} late, {missing} pools missing), {rss_mb:.0} MB",
            if recording { "a slot of 100 pools every 4 s" } else { "nothing is recorded" },
            found.percentile(50),
            found.percentile(99),
            slots.len(),
        );
        if recording && (slots.is_empty() || late > 0 || missing > 0.0) {
            return Err(BenchError::Http("a slot was late, or was not read".to_owned()));
        }
    }
    Ok(())
}

fn market() -> Vec<BusyPool> {
    (0..POOLS.get()).map(|number| BusyPool::of(CHAIN, number, POSITIONS)).collect()
}

/// Records a slot every few seconds until the process ends; prints for each the time it took, ms, and the number of
/// missing pools.
pub fn record(path: &Path, last: Slot) -> Result<(), BenchError> {
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build();
    let runtime = runtime.map_err(failed)?;
    let market = market();
    let pools =
        market.iter().map(|pool| (pool.id.clone(), exitgap_core::pools::Direction::ZeroForOne));
    let pools = pools.collect();
    let market = Arc::new(Mutex::new(market));
    let make = move || Ok(Played(market.clone()));
    let chain = CHAIN.parse().map_err(failed)?;
    let source = Source { chain, pools, make: Box::new(make) };
    let store = Store::open(path, &key()?).map_err(failed)?;
    let mut recorder = Recorder::new(store, vec![source], SEAL_WITHIN);
    recorder.publish_in(LogFolder::new(path.with_file_name("log"))).map_err(failed)?;
    let mut next = last.next();
    while let Some(slot) = next {
        let begun = Instant::now();
        let report = runtime.block_on(recorder.record_slot(slot)).map_err(failed)?;
        let missing: u32 = report.missing.values().sum();
        println!("{} {missing}", report.elapsed.as_millis());
        std::thread::sleep(EVERY.saturating_sub(begun.elapsed()));
        next = slot.next();
    }
    Ok(())
}
