//! Answers from the store: one function per operation, used by every interface.
//!
//! **In scope**: finding recorded data, caching it and computing answers from it ([`Service`]). An operation takes
//! validated values and returns a document or a [`Problem`]. **Out of scope**, with the crate responsible: parsing
//! parameters (`exitgap-api`), HTTP (`exitgap-server`), tools for agents (`exitgap-mcp`), storing (`exitgap-store`).
//!
//! - `current`: the current state of all pools, reread after a slot was sealed
//! - `snapshot_cache`: recently used snapshots
//! - `legs`: what an answer says of all its legs together
//! - `lane`, `readers`: limits for work that blocks a thread
//! - `answers`, `accuracy`, `accuracy_table`, `alerts`, `cash`, `routes`, `history`, `stream`, `stress`, `hours`, `fragility`, `portfolio`, `redemption`, `equities`, `pools`, `evidence`, `figures`, `exposure`, `venue_stress`, `shocks`, `verification`,
//!   `capabilities`: the questions

#![allow(
    clippy::result_large_err,
    reason = "a problem carries what it found, and a request makes one at most"
)]

mod accuracy;
mod accuracy_table;
mod alerts;
mod answers;
mod capabilities;
mod cash;
mod current;
mod depths;
mod equities;
mod evidence;
mod exposure;
mod figures;
mod fragility;
mod history;
mod hours;
mod legs;
mod pools;
mod portfolio;
mod readers;
mod redemption;
mod routes;
mod shocks;
mod snapshot_cache;
mod stream;
mod stress;
mod turns;
mod urls;
mod venue_stress;
mod verification;
mod when;

use std::path::PathBuf;
use std::sync::{Arc, PoisonError, RwLock};

use exitgap_api::operations::SnapshotAsked;
use exitgap_api::{Exactness, GuardInputs, Problem, ProblemCode, inexact_detail};
use exitgap_core::ids::{PoolId, SnapshotHash};
use exitgap_core::series::Slot;
use exitgap_store::{FindError, LogFolder, Reader, StoreError};

pub use capabilities::Deployment;
pub use current::{Current, PoolNow};
pub use equities::EquityOfToken;
pub use evidence::Proof;
pub use figures::{FigureFile, ResolvedFigure, ServedFigure};
pub use readers::{BlockingPool, Readers};
pub use redemption::TermsOfToken;
pub use routes::QuoteGroup;
pub use shocks::ShockOf;
pub use snapshot_cache::PreparedSnapshot;
pub use stream::{LogProgress, StreamedEvents, too_many_streams};
pub use turns::ClientKey;
pub use urls::Urls;

use evidence::EvidenceCache;
use exitgap_core::exit::{Estimate, Refusal};
use exitgap_core::pools::Direction;
use exitgap_core::units::SizeUsd;
use snapshot_cache::{PreparedCache, WeighedSnapshot};

/// The clock: seconds since 1970.
pub type Now = Arc<dyn Fn() -> u64 + Send + Sync>;

/// Limits of the resources that answers use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bounds {
    /// The number of blocking tasks that run in parallel: reading the store, each with its own reader, reading files of
    /// the log, following curves.
    pub readers: usize,
    /// The maximum size of the caches, in bytes: snapshots with their curves, and proofs.
    pub cache_bytes: u64,
}

impl Default for Bounds {
    /// Four readers, because more would only wait for the processor, and 32 MiB: the newest snapshots of a hundred
    /// pools with some five hundred ticks each.
    fn default() -> Self {
        Self { readers: 4, cache_bytes: 32 << 20 }
    }
}

/// The number of long tasks that run in parallel: one client's, and one of another client that does not have to wait
/// for the first.
const LONG_AT_ONCE: usize = 2;

/// The operations over one store.
pub struct Service {
    readers: Readers,
    /// Readers that look for new slots. They are separate from the requests' queue, so that many requests do not make
    /// answers old.
    looking: Readers,
    /// Runs reads of the store and curve computations, because these would block the threads that serve all clients.
    lane: BlockingPool,
    /// Readers for figures over thousands of slots, one at a time per client. They take seconds, and other clients must
    /// not wait for them.
    figures: Readers,
    /// Searches for the largest size within a gap, one at a time for each client. The client chooses the gap, and some
    /// searches take seconds, so other clients must not wait for them.
    searches: BlockingPool,
    current: RwLock<Arc<Current>>,
    prepared: PreparedCache,
    evidence: EvidenceCache,
    log_checks: evidence::LogChecks,
    urls: Urls,
    now: Now,
    deployment: Deployment,
    quote_groups: Vec<QuoteGroup>,
    redemption: Vec<TermsOfToken>,
    equities: Vec<EquityOfToken>,
    equity_results: equities::EquityResults,
    paces: redemption::Paces,
    shocks: shocks::Shocks,
    streamed: stream::EventCache,
    accuracy_rows: accuracy_table::AccuracyRows,
}

impl Service {
    /// Operations over the store at `path`, which need not exist yet. Nothing is read before [`Service::refresh`].
    pub fn new(path: PathBuf, urls: Urls, now: Now, bounds: Bounds) -> Self {
        // Requests are mostly about the newest snapshots, which are larger.
        let proofs = bounds.cache_bytes / 4;
        let lane = BlockingPool::new(bounds.readers);
        Self {
            readers: Readers::new(path.clone(), lane.clone()),
            figures: Readers::new(path.clone(), BlockingPool::fair(LONG_AT_ONCE)),
            looking: Readers::new(path, BlockingPool::new(1)),
            lane,
            searches: BlockingPool::fair(LONG_AT_ONCE),
            current: RwLock::default(),
            prepared: snapshot_cache::cache(bounds.cache_bytes - proofs),
            evidence: evidence::cache(proofs),
            log_checks: evidence::LogChecks::default(),
            urls,
            now,
            deployment: Deployment::default(),
            quote_groups: Vec::new(),
            redemption: Vec::new(),
            equities: Vec::new(),
            equity_results: equities::EquityResults::default(),
            paces: redemption::Paces::default(),
            shocks: shocks::Shocks::default(),
            streamed: stream::EventCache::default(),
            accuracy_rows: accuracy_table::AccuracyRows::default(),
        }
    }

    /// The same service in a process with other functions.
    #[must_use]
    pub fn deployed_as(self, deployment: Deployment) -> Self {
        Self { deployment, ..self }
    }

    /// The same service, with archived data read from the closed days in its log's folder.
    #[must_use]
    pub fn with_days(self, folder: &LogFolder) -> Self {
        Self {
            readers: self.readers.with_days(folder.clone()),
            figures: self.figures.with_days(folder.clone()),
            looking: self.looking.with_days(folder.clone()),
            ..self
        }
    }

    /// The current state of all pools.
    pub fn current(&self) -> Arc<Current> {
        self.current.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Rereads the state of all pools if a slot was sealed since the last call. Returns the newest slot if it is new.
    pub async fn refresh(&self) -> Result<Option<Slot>, Problem> {
        let before = self.current();
        let read =
            self.looking.read_store(move |reader| Current::from_reader(reader, &before)).await?;
        let Some(current) = read else { return Ok(None) };
        let last = current.last_slot;
        *self.current.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(current);
        if let Some(last) = last {
            self.streamed.announce_slot(last);
        }
        Ok(last)
    }

    /// The pool for all blocking work.
    pub fn blocking_pool(&self) -> &BlockingPool {
        &self.lane
    }

    /// The URLs of the service.
    pub fn urls(&self) -> &Urls {
        &self.urls
    }

    /// A recorded pool with its newest slot and snapshot, for examples in the documentation.
    pub fn example(&self) -> Option<(String, u32, String)> {
        let current = self.current();
        current.pools.values().find_map(|now| {
            let (slot, hash) = now.latest.snapshot?;
            Some((now.pool.id.to_string(), slot.number(), hash.to_string()))
        })
    }

    /// The time, seconds since 1970.
    pub fn now(&self) -> u64 {
        (self.now)()
    }

    /// Seconds from a slot's instant to now.
    fn age_s(&self, slot: Slot) -> u64 {
        self.now().saturating_sub(slot.unix_s())
    }

    /// The size of the caches, in bytes.
    pub fn kept_bytes(&self) -> u64 {
        self.prepared.weight() + self.evidence.weight()
    }

    /// The snapshot of a request. The newest one is cached, because more requests for it will come. An earlier one is
    /// read for this request only, because there are as many as slots.
    ///
    /// Refuses snapshots that do not meet the request's guards. Every answer about a snapshot uses this function, so
    /// none can skip the guards.
    async fn find(&self, asked: &SnapshotAsked) -> Result<FoundSnapshot, Problem> {
        let found = self.find_any(asked).await?;
        asked.guards.check(&found.guard_inputs())?;
        Ok(found)
    }

    async fn find_any(&self, asked: &SnapshotAsked) -> Result<FoundSnapshot, Problem> {
        if let Some(newest) = self.current().newest_of(&asked.pool)
            && asked.at.is_none_or(|at| at == newest.slot)
        {
            let prepared = self.prepare(newest.slot, newest.hash, &asked.pool).await?;
            let newer_slots_missing = asked.at.is_none().then_some(newest.newer_slots_missing);
            return Ok(FoundSnapshot {
                age_s: self.age_s(newest.slot),
                prepared,
                newer_slots_missing,
                kept: true,
            });
        }
        let (pool, at) = (asked.pool.clone(), asked.at);
        let read = move |reader: &Reader| {
            let found = reader.find(&pool, at)?;
            let prepared =
                PreparedSnapshot::from_reader(reader, &pool, found.slot, found.hash, false)?;
            Ok::<_, FindError>((prepared, found.newer_slots_missing))
        };
        let (prepared, newer_slots_missing) = self.read_store(read).await?;
        let newer_slots_missing = newer_slots_missing.map(Into::into);
        let age_s = self.age_s(prepared.slot);
        Ok(FoundSnapshot { age_s, prepared: Arc::new(prepared), newer_slots_missing, kept: false })
    }

    /// Whether amounts of these pools are what a holder sends and receives, by their newest snapshots.
    async fn exactness(&self, pools: &[PoolId]) -> Exactness {
        let mut details = Vec::new();
        for pool in pools {
            let Some(newest) = self.current().newest_of(pool) else { continue };
            // A retired pool's newest snapshot may be in a day's files that are not available: nothing is stated of it then.
            let Ok(prepared) = self.prepare(newest.slot, newest.hash, pool).await else { continue };
            let detail = inexact_detail(prepared.snapshot.observation());
            details.extend(detail.filter(|detail| !details.contains(detail)));
        }
        Exactness::new((!details.is_empty()).then(|| details.join("; ")))
    }

    async fn prepare(
        &self,
        slot: Slot,
        hash: SnapshotHash,
        pool: &PoolId,
    ) -> Result<Arc<PreparedSnapshot>, Problem> {
        let key = (pool.clone(), hash);
        if let Some(kept) = self.prepared.get(&key) {
            return Ok(kept.prepared);
        }
        let pool = pool.clone();
        let read =
            move |reader: &Reader| PreparedSnapshot::from_reader(reader, &pool, slot, hash, true);
        let prepared = self.read_store(read).await?;
        let prepared = Arc::new(prepared);
        self.prepared.insert(key, WeighedSnapshot::from_prepared(&prepared));
        Ok(prepared)
    }

    /// The fill of a sale of `size`.
    async fn estimate(
        &self,
        found: &FoundSnapshot,
        direction: Direction,
        size: SizeUsd,
    ) -> Result<Result<Estimate, Refusal>, Problem> {
        if found.prepared.has_exit(direction) {
            return Ok(found.prepared.estimate(direction, size));
        }
        self.work_out(found, move |prepared| prepared.estimate(direction, size)).await
    }

    /// Computes a value from a snapshot, which may then cache it, outside the threads that serve requests.
    async fn work_out<T: Send + 'static>(
        &self,
        found: &FoundSnapshot,
        compute: impl FnOnce(&PreparedSnapshot) -> T + Send + 'static,
    ) -> Result<T, Problem> {
        self.work_out_in(&self.lane, found, compute).await
    }

    async fn work_out_in<T: Send + 'static>(
        &self,
        lane: &BlockingPool,
        found: &FoundSnapshot,
        compute: impl FnOnce(&PreparedSnapshot) -> T + Send + 'static,
    ) -> Result<T, Problem> {
        let prepared = found.prepared.clone();
        let computed = lane.run(move || compute(&prepared)).await?;
        if found.kept {
            // The snapshot is larger now. If the cache evicted it in the meantime, it stays out.
            let kept = WeighedSnapshot::from_prepared(&found.prepared);
            let _ = self.prepared.replace(found.prepared.key(), kept, true);
        }
        Ok(computed)
    }

    /// Reads the store on a blocking thread.
    async fn read_store<T, E>(
        &self,
        ask: impl FnOnce(&Reader) -> Result<T, E> + Send + 'static,
    ) -> Result<T, Problem>
    where
        T: Send + 'static,
        E: IntoProblem + Send + 'static,
    {
        self.readers.read_store(ask).await
    }
}

/// The snapshot of a request.
struct FoundSnapshot {
    prepared: Arc<PreparedSnapshot>,
    /// The number of later slots that are missing, if the newest slot was requested.
    newer_slots_missing: Option<u64>,
    /// Whether it is in the cache.
    kept: bool,
    /// Seconds from its slot's instant to the request.
    age_s: u64,
}

impl FoundSnapshot {
    /// The values that guards check.
    fn guard_inputs(&self) -> GuardInputs {
        let PreparedSnapshot { snapshot, recorded_count, .. } = &*self.prepared;
        GuardInputs {
            status: snapshot.observation().chain().kind.into(),
            recorded_slots: Some((*recorded_count).into()),
            age_s: Some(self.age_s),
        }
    }
}

/// Converts an error to a problem. Details of store errors go to the log and are not sent to the client.
pub trait IntoProblem {
    /// The problem for the client.
    fn into_problem(self) -> Problem;
}

impl IntoProblem for StoreError {
    fn into_problem(self) -> Problem {
        if let Self::NotFound { .. } = self {
            return Problem::new(ProblemCode::NoSnapshotYet, "nothing has been recorded yet")
                .hint("ask again in five minutes");
        }
        tracing::error!(error = %self, "the store could not be read");
        Problem::new(ProblemCode::SourceUnreadable, "the recorded series could not be read")
            .hint("the operator's log shows the cause; ask again later")
    }
}

impl IntoProblem for FindError {
    fn into_problem(self) -> Problem {
        match self {
            Self::Lookup(error) => Problem::from(&error),
            Self::Store(error) => error.into_problem(),
        }
    }
}

impl IntoProblem for Problem {
    fn into_problem(self) -> Problem {
        self
    }
}
