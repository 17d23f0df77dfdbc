//! Shares the reading of a slot among the recorders of one store.
//!
//! - `shards`: which pools are read together
//! - `document`: a shard's readings, as stored in the database until the slot is sealed
//! - `seats`: a recorder's own part: the shards that it holds, and their readers
//! - `attend`: renews its presence every few seconds, and receives its shards
//! - `gather`: the recorder that seals gathers all readings
//!
//! Every recorder reads its share, including the one that seals. A committed reading is part of the sealed slot, even
//! if the recorder that read it, or the one that was about to seal, fails.

mod attend;
mod document;
mod gather;
mod seats;
mod shards;

use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::thread::{self, JoinHandle};
use std::time::Duration;

use exitgap_chain::config::{ChainPlan, Plan};
use exitgap_chain::{ChainReader, Limits};
use exitgap_core::ids::PoolId;
use tokio::sync::watch;

use super::clock::Clock;
use super::source::{SlotReader, Source};
use attend::ShardHeartbeat;
use seats::Seats;
pub use shards::Shard;

/// The part of the time from a slot's instant to its sealing within which readings must arrive: the rest is for
/// sealing.
const READ_WITHIN: (u32, u32) = (3, 4);

/// A shard with the means to read its pools.
pub struct SharedSource<R> {
    /// The shard.
    pub shard: Shard,
    /// Creates the source of its pools, each time that the shard is assigned to this recorder.
    pub make: Arc<dyn Fn() -> Source<R> + Send + Sync>,
}

impl SharedSource<ChainReader> {
    /// The shards of a plan, each with at most `most` pools.
    pub fn of_plan(plan: &Plan, limits: &Limits, most: u32) -> Vec<Self> {
        plan.chains().iter().flat_map(|chain| Self::of_chain(chain, limits, most)).collect()
    }

    fn of_chain(chain: &ChainPlan, limits: &Limits, most: u32) -> Vec<Self> {
        let pools: Vec<PoolId> = chain.pools().iter().map(|pool| pool.id.clone()).collect();
        let shards = Shard::all_of(chain.slug(), &pools, most).into_iter();
        let source = |shard: Shard| {
            let (plan, limits) = (chain.with_pools(&shard.pools), limits.clone());
            Self { shard, make: Arc::new(move || Source::of_chain(&plan, &limits)) }
        };
        shards.map(source).collect()
    }
}

/// Settings for reading a share.
#[derive(Debug, Clone)]
pub struct ShareConfig {
    /// The store's URL.
    pub store: PathBuf,
    /// From a slot's instant to its sealing.
    pub seal_after: Duration,
    /// Whether readings are checked against the chain's own state.
    pub prove: bool,
}

/// Reads a recorder's share, on separate threads. Dropping it releases the shards.
pub struct Shares {
    stop: watch::Sender<bool>,
    threads: Vec<JoinHandle<()>>,
}

impl Shares {
    /// Starts reading the shards that are assigned to this recorder.
    pub fn start<R: SlotReader, C: Clock + 'static>(
        sharing: ShareConfig,
        sources: Vec<SharedSource<R>>,
        clock: C,
    ) -> io::Result<Self> {
        let (stop, stopped) = watch::channel(false);
        let (tell, held) = watch::channel(Vec::new());
        let reading = Arc::<AtomicBool>::default();
        let names = sources.iter().map(|source| source.shard.name.clone()).collect();
        let attending = ShardHeartbeat {
            store: sharing.store.clone(),
            shards: names,
            reading: reading.clone(),
            tell,
            stop: stopped.clone(),
        };
        let seats = Seats::new(sharing, sources, held, reading);
        let attend = thread::Builder::new().name("shards".to_owned());
        let attend = attend.spawn(move || attending.run())?;
        let read = thread::Builder::new().name("shard-readers".to_owned());
        let read = read.spawn(move || {
            let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build();
            let runtime = match runtime {
                Ok(runtime) => runtime,
                Err(error) => return tracing::error!(%error, "no shard is read"),
            };
            runtime.block_on(seats.run(&clock, stopped));
            // A shard's thread may still wait for its node; its answer is no longer needed.
            runtime.shutdown_background();
        })?;
        Ok(Self { stop, threads: vec![attend, read] })
    }
}

impl Drop for Shares {
    fn drop(&mut self) {
        self.stop.send_replace(true);
        for thread in self.threads.drain(..) {
            // A panic has already been logged.
            let _ = thread.join();
        }
    }
}
