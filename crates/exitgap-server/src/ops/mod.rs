//! What is answered from the store: one operation per question, for every surface.
//!
//! An operation takes values that were checked, and gives a document or a [`Problem`]. It
//! knows nothing of HTTP; handlers know nothing of the store.
//!
//! - `current`: where every pool stands, read anew when a slot was sealed
//! - `prepared`: snapshots that were asked about, kept ready
//! - `answers`, `history`, `fragility`, `portfolio`, `pools`, `proofs`, `capabilities`: the
//!   questions

mod answers;
mod capabilities;
mod current;
mod fragility;
mod history;
mod pools;
mod portfolio;
mod prepared;
mod proofs;
mod readers;
mod urls;

use std::path::PathBuf;
use std::sync::{Arc, PoisonError, RwLock};

use exitgap_api::{Problem, ProblemCode};
use exitgap_core::ids::{PoolId, SnapshotHash};
use exitgap_core::series::Slot;
use exitgap_store::{FindError, Reader, StoreError};

pub use capabilities::Deployment;
pub use current::{Current, PoolNow};
pub use fragility::SortBy;
pub use history::SeriesAsked;
pub use portfolio::PositionAsked;
pub use prepared::Prepared;
pub use proofs::{EvidenceAsked, Proof};
pub use urls::Urls;

use prepared::PreparedCache;
use proofs::EvidenceCache;
use readers::Readers;

/// Tells the time: seconds since 1970.
pub type Now = Arc<dyn Fn() -> u64 + Send + Sync>;

/// The operations over one store.
pub struct Service {
    readers: Readers,
    current: RwLock<Arc<Current>>,
    prepared: PreparedCache,
    evidence: EvidenceCache,
    urls: Urls,
    now: Now,
    deployment: Deployment,
}

/// Which snapshot a question is about, and which of its tokens is sold.
#[derive(Debug, Clone)]
pub struct Asked {
    /// The pool.
    pub pool: PoolId,
    /// The token sold: `token0`, `token1`, a symbol or an address; else the pool's default.
    pub base: Option<String>,
    /// The slot, exactly; else the newest recorded one.
    pub at: Option<Slot>,
}

impl Service {
    /// Operations over the store at `path`, which may not be there yet. Nothing is read
    /// before [`Service::refresh`].
    pub fn new(path: PathBuf, urls: Urls, now: Now) -> Self {
        Self {
            readers: Readers::new(path),
            current: RwLock::default(),
            prepared: prepared::cache(),
            evidence: proofs::cache(),
            urls,
            now,
            deployment: Deployment::default(),
        }
    }

    /// The same in a process that does more than answer.
    #[must_use]
    pub fn deployed_as(self, deployment: Deployment) -> Self {
        Self { deployment, ..self }
    }

    /// Where every pool stands.
    pub fn current(&self) -> Arc<Current> {
        self.current.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Looks whether a slot was sealed since the last look, and reads where the pools stand
    /// now. Gives the newest slot where it is a new one.
    pub async fn refresh(&self) -> Result<Option<Slot>, Problem> {
        let before = self.current();
        let read = self.read(move |reader| Current::read(reader, &before)).await?;
        let Some(current) = read else { return Ok(None) };
        let last = current.last_slot;
        *self.current.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(current);
        Ok(last)
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

    /// The snapshot that a question is about.
    async fn find(&self, asked: &Asked) -> Result<Found, Problem> {
        if asked.at.is_none()
            && let Some(newest) = self.current().newest_of(&asked.pool)
        {
            let prepared = self.prepare(newest.slot, newest.hash, &asked.pool).await?;
            let newer_slots_missing = Some(newest.newer_slots_missing);
            return Ok(Found { prepared, newer_slots_missing });
        }
        let (pool, at) = (asked.pool.clone(), asked.at);
        let found = self.read(move |reader| reader.find(&pool, at)).await?;
        let prepared = self.prepare(found.slot, found.hash, &asked.pool).await?;
        Ok(Found { prepared, newer_slots_missing: found.newer_slots_missing.map(Into::into) })
    }

    async fn prepare(
        &self,
        slot: Slot,
        hash: SnapshotHash,
        pool: &PoolId,
    ) -> Result<Arc<Prepared>, Problem> {
        if let Some(prepared) = self.prepared.get(&hash) {
            return Ok(prepared);
        }
        let pool = pool.clone();
        let prepared = self.read(move |reader| Prepared::read(reader, &pool, slot, hash)).await?;
        let prepared = Arc::new(prepared);
        self.prepared.insert(hash, prepared.clone());
        Ok(prepared)
    }

    /// Reads the store on a thread that may block.
    async fn read<T, E>(
        &self,
        ask: impl FnOnce(&Reader) -> Result<T, E> + Send + 'static,
    ) -> Result<T, Problem>
    where
        T: Send + 'static,
        E: IntoProblem + Send + 'static,
    {
        self.readers.read(ask).await
    }
}

/// A snapshot, found.
struct Found {
    prepared: Arc<Prepared>,
    /// Slots after it that are missing, where the newest was asked for.
    newer_slots_missing: Option<u64>,
}

/// What failed, as the service tells it: what concerns the store in full to the log, and
/// without its innards to the client.
trait IntoProblem {
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
            .hint("the operator's log says why; ask again later")
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
