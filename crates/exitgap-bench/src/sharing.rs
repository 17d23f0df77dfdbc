//! Reading shared by four recorders, on a `PostgreSQL` primary whose commits wait for a standby: the cost of passing on
//! readings. The nodes answer instantly, so that nothing else is measured; all of it runs on this machine.

use std::collections::HashMap;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use exitgap_chain::SlotReading;
use exitgap_core::ids::{ChainSlug, PoolId};
use exitgap_core::pools::Direction;
use exitgap_core::series::Slot;
use exitgap_core::tlog::SignerKey;
use exitgap_server::recorder::shared_reading::{Shard, ShareConfig, SharedSource, Shares};
use exitgap_server::recorder::{ManualClock, Recorder, SlotReader, Source};
use exitgap_store::{LogFolder, Store};
use exitgap_tests::postgres::Cluster;
use tempfile::TempDir;

use crate::BenchError;
use crate::clock::median;
use crate::effort::Effort;
use crate::evidence::slot;
use crate::market::BusyPool;
use crate::report::Report;
use crate::scale::SETTINGS;

/// Number of pairs, of their measured slots, and of warm-up slots.
const POOLS: Effort<u16> = Effort::new(40_000, 500);
const SLOTS: u32 = 4;
const WARMING: u32 = 1;
/// Time limit until each recorder has its share.
const SHARED_WITHIN: Effort<Duration> =
    Effort::new(Duration::from_secs(30), Duration::from_secs(8));
/// Number of recorders, and the maximum number of pools per shard.
const RECORDERS: usize = 4;
const SHARD_POOLS: u32 = 250;
/// From a slot's instant to its seal: longer than a recorder needs, so that none is late.
const SEAL_AFTER: Duration = Duration::from_mins(4);

/// Nodes that answer instantly.
struct Played(Vec<Arc<Mutex<BusyPool>>>);

impl SlotReader for Played {
    async fn read_slot(&mut self, slot: Slot, _: tokio::time::Instant) -> SlotReading {
        let pools = self.0.iter().filter_map(|pool| {
            let mut pool = pool.lock().unwrap_or_else(PoisonError::into_inner);
            let entry = pool.recorded(slot).ok()?;
            Some((entry.pool, Ok(entry.reading.ok()?)))
        });
        let (pools, chain) = (pools.collect(), chain());
        SlotReading { slot, chain, block: None, pools, events: vec![], requests: 1 }
    }
}

fn chain() -> ChainSlug {
    "anvil".parse().expect("it is a slug")
}

type Market = Vec<(PoolId, Arc<Mutex<BusyPool>>)>;

fn source(pools: Market) -> Source<Played> {
    Source {
        chain: chain(),
        pools: pools.iter().map(|(id, _)| (id.clone(), Direction::ZeroForOne)).collect(),
        make: Box::new(move || Ok(Played(pools.iter().map(|(_, pool)| pool.clone()).collect()))),
    }
}

/// Adds `sharing.width_40000_ms` and `sharing.alone_40000_ms`.
pub fn measure(report: &mut Report) -> Result<(), BenchError> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build();
    let runtime = runtime.map_err(failed)?;
    for (key, recorders) in [("sharing.alone_40000_ms", 0), ("sharing.width_40000_ms", RECORDERS)] {
        eprintln!("sharing: {SLOTS} slots of {POOLS} pairs, read by {}", recorders.max(1));
        let primary = Cluster::start(&SETTINGS).map_err(failed)?;
        let standby = primary.standby(&SETTINGS).map_err(failed)?;
        let times = runtime.block_on(recorded(&primary.store(), recorders))?;
        eprintln!("sharing: {times:.0?} ms a slot, from its reading to its publication");
        report.add(key, median(times));
        if primary.waited_for() == 0 {
            return Err(failed("the primary did not wait for its standby"));
        }
        drop((primary, standby));
    }
    Ok(())
}

/// The time for each slot, in milliseconds, from its reading to its publication; without sharing, one recorder reads
/// all.
async fn recorded(store: &Path, recorders: usize) -> Result<Vec<f64>, BenchError> {
    let pools = (0..POOLS.get()).map(|number| {
        let pool = BusyPool::pair(number);
        (pool.id.clone(), Arc::new(Mutex::new(pool)))
    });
    let market: Market = pools.collect();
    let ids: Vec<PoolId> = market.iter().map(|(id, _)| id.clone()).collect();
    let by_id: HashMap<PoolId, _> = market.iter().cloned().collect();
    let shards = Shard::all_of(&chain(), &ids, SHARD_POOLS);
    let at = |n| Ok::<_, BenchError>(Duration::from_secs(slot(n)?.unix_s() + 2));
    let clock = ManualClock::new(at(0)? - Duration::from_mins(1));
    let share = |_| {
        let source = |shard: &Shard| {
            let of = |id: &PoolId| Some((id.clone(), by_id.get(id)?.clone()));
            let pools: Market = shard.pools.iter().filter_map(of).collect();
            let make = move || source(pools.clone());
            SharedSource { shard: shard.clone(), make: Arc::new(make) }
        };
        let sources = shards.iter().map(source).collect();
        let sharing = ShareConfig { store: store.to_owned(), seal_after: SEAL_AFTER, prove: false };
        Shares::start(sharing, sources, clock.clone()).map_err(failed)
    };
    let shares = (0..recorders).map(share).collect::<Result<Vec<_>, _>>()?;
    // Each recorder has its share before the first slot.
    tokio::time::sleep(if recorders > 0 { SHARED_WITHIN.get() } else { Duration::ZERO }).await;
    let key = SignerKey::from_seed("exitgap.example/bench", [7; 32]).map_err(failed)?;
    let opened = Store::create(store, &key).map_err(failed)?;
    let folder = TempDir::new().map_err(failed)?;
    let mut recorder = Recorder::new(opened, vec![source(market.clone())], SEAL_AFTER);
    if recorders > 0 {
        recorder.share_reading(shards.clone());
    }
    recorder.publish_in(LogFolder::new(folder.path().join("log"))).map_err(failed)?;
    let mut times = Vec::new();
    for n in 0..WARMING + SLOTS {
        clock.set(at(n)?);
        let start = Instant::now();
        let told = recorder.record_slot_within(slot(n)?, SEAL_AFTER).await.map_err(failed)?;
        if n >= WARMING {
            times.push(start.elapsed().as_secs_f64() * 1e3);
        }
        if told.recorded != u32::from(POOLS.get()) || told.unpublished.is_some() {
            return Err(failed(format!("a slot is not whole: {told:?}")));
        }
    }
    recorder.close().map_err(failed)?;
    drop(shares);
    Ok(times)
}

fn failed(error: impl std::fmt::Display) -> BenchError {
    BenchError::Evidence(error.to_string())
}
