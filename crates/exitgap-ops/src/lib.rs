//! What is answered from the store: one operation per question, for every surface.
//!
//! **In scope**: finding, keeping ready and asking what was recorded ([`Service`]). An operation takes
//! values that were checked, and gives a document or a [`Problem`].
//! **Out of scope**, and who does it: reading what is asked (`exitgap-api`), HTTP (`exitgap-server`),
//! tools for agents (`exitgap-mcp`), storing (`exitgap-store`).
//!
//! - `current`: where every pool stands, read anew when a slot was sealed
//! - `snapshot_cache`: snapshots that were asked about, kept ready
//! - `lane`, `readers`: how much of what blocks a thread is done at a time
//! - `answers`, `accuracy`, `accuracy_table`, `alerts`, `routes`, `history`, `stream`, `stress`, `hours`, `fragility`, `portfolio`, `redemption`, `equities`, `pools`, `evidence`, `figures`, `exposure`, `venue_stress`, `shocks`, `verification`,
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
mod current;
mod equities;
mod evidence;
mod exposure;
mod figures;
mod fragility;
mod history;
mod hours;
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

use std::path::PathBuf;
use std::sync::{Arc, PoisonError, RwLock};

use exitgap_api::operations::SnapshotAsked;
use exitgap_api::{GuardInputs, Problem, ProblemCode};
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

/// Tells the time: seconds since 1970.
pub type Now = Arc<dyn Fn() -> u64 + Send + Sync>;

/// What answering may use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bounds {
    /// What blocks a thread and is done side by side: reading the store, each with a reader of its
    /// own, reading files of the log, following curves.
    pub readers: usize,
    /// What is kept for the next question, bytes: snapshots with their curves, and proofs.
    pub cache_bytes: u64,
}

impl Default for Bounds {
    /// Four readers, because more would only wait for the processor, and 32 MiB: the newest
    /// snapshots of a hundred pools of some five hundred ticks.
    fn default() -> Self {
        Self { readers: 4, cache_bytes: 32 << 20 }
    }
}

/// How much of what takes seconds is done at once: that of one client, and that of another, who does not wait for the
/// first.
const LONG_AT_ONCE: usize = 2;

/// The operations over one store.
pub struct Service {
    readers: Readers,
    /// Looks for new slots: not in the queue of those who ask, so that many of them do not make
    /// answers old.
    looking: Readers,
    /// Where readers read and curves are followed: what takes longer than a moment must not hold
    /// up the threads that talk to all clients.
    lane: BlockingPool,
    /// Figures of thousands of slots, one at a time for each client: they take seconds, and others must not wait for
    /// them.
    figures: Readers,
    /// Searches for the largest size within a gap, one at a time for each client. The client chooses the gap, and some
    /// searches take seconds, so other clients must not wait for them.
    searches: BlockingPool,
    current: RwLock<Arc<Current>>,
    prepared: PreparedCache,
    evidence: EvidenceCache,
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
    /// Operations over the store at `path`, which may not be there yet. Nothing is read
    /// before [`Service::refresh`].
    pub fn new(path: PathBuf, urls: Urls, now: Now, bounds: Bounds) -> Self {
        // What is asked about most are the newest snapshots, and those are heavier.
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

    /// The same in a process that does more than answer.
    #[must_use]
    pub fn deployed_as(self, deployment: Deployment) -> Self {
        Self { deployment, ..self }
    }

    /// The same where what has left the store's database is in the closed days of its log's folder.
    #[must_use]
    pub fn with_days(self, folder: &LogFolder) -> Self {
        Self {
            readers: self.readers.with_days(folder.clone()),
            figures: self.figures.with_days(folder.clone()),
            looking: self.looking.with_days(folder.clone()),
            ..self
        }
    }

    /// Where every pool stands.
    pub fn current(&self) -> Arc<Current> {
        self.current.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Looks whether a slot was sealed since the last look, and reads where the pools stand
    /// now. Gives the newest slot where it is a new one.
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

    /// Where all is done that blocks a thread.
    pub fn blocking_pool(&self) -> &BlockingPool {
        &self.lane
    }

    /// Where the service is reached.
    pub fn urls(&self) -> &Urls {
        &self.urls
    }

    /// A recorded pool, its newest slot and snapshot: for examples.
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

    /// What is kept for the next question weighs so many bytes.
    pub fn kept_bytes(&self) -> u64 {
        self.prepared.weight() + self.evidence.weight()
    }

    /// The snapshot that a question is about. Of the newest one more will be asked: it is kept.
    /// An earlier one is read for this question only, because there are as many as slots.
    ///
    /// Refuses what does not meet the question's guards: no answer about a snapshot comes by here
    /// without them.
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

    /// What selling `size` fills at.
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

    /// Computes something of a snapshot, which may then hold it, off the threads that answer others.
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
            // It weighs more now. Where it was pushed out meanwhile it stays out.
            let kept = WeighedSnapshot::from_prepared(&found.prepared);
            let _ = self.prepared.replace(found.prepared.key(), kept, true);
        }
        Ok(computed)
    }

    /// Reads the store on a thread that may block.
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

/// A snapshot, found.
struct FoundSnapshot {
    prepared: Arc<PreparedSnapshot>,
    /// Slots after it that are missing, where the newest was asked for.
    newer_slots_missing: Option<u64>,
    /// Whether it is kept for the next question.
    kept: bool,
    /// Seconds from its slot's instant to the question.
    age_s: u64,
}

impl FoundSnapshot {
    /// What guards look at.
    fn guard_inputs(&self) -> GuardInputs {
        let PreparedSnapshot { snapshot, recorded_count, .. } = &*self.prepared;
        GuardInputs {
            status: snapshot.observation().chain().kind.into(),
            recorded_slots: Some((*recorded_count).into()),
            age_s: Some(self.age_s),
        }
    }
}

/// What failed, as the service tells it: what concerns the store in full to the log, and
/// without its innards to the client.
pub trait IntoProblem {
    /// What the client is told.
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
