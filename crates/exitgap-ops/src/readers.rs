//! A small number of store readers on blocking threads, each used by one request at a time.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use exitgap_api::{Problem, ProblemCode};
use exitgap_store::{LogFolder, Reader, StoreError};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::IntoProblem;
use super::turns::{Turn, Turns};

/// Readers of one store.
#[derive(Clone)]
pub struct Readers {
    lane: BlockingPool,
    shared: Arc<ReaderPool>,
}

struct ReaderPool {
    path: PathBuf,
    days: Option<LogFolder>,
    /// Open readers that are not in use. Each request takes one from here before it opens another. At most as many
    /// requests run as the pool is wide, so there are never more open readers than that, in use and idle together.
    idle: Mutex<Vec<Reader>>,
}

impl Readers {
    /// Readers of the store at `path`, opened when needed: at most as many as the pool is wide.
    pub fn new(path: PathBuf, lane: BlockingPool) -> Self {
        Self { lane, shared: Arc::new(ReaderPool { path, days: None, idle: Mutex::default() }) }
    }

    /// The same, with archived data read from the closed days in its log's folder.
    #[must_use]
    pub fn with_days(self, folder: LogFolder) -> Self {
        let (path, days) = (self.shared.path.clone(), Some(folder));
        Self { shared: Arc::new(ReaderPool { path, days, idle: Mutex::default() }), ..self }
    }

    /// Runs a request with a reader.
    pub async fn read_store<T, E>(
        &self,
        ask: impl FnOnce(&Reader) -> Result<T, E> + Send + 'static,
    ) -> Result<T, Problem>
    where
        T: Send + 'static,
        E: IntoProblem + Send + 'static,
    {
        let shared = self.shared.clone();
        self.lane.run(move || shared.ask(ask)).await?
    }
}

impl ReaderPool {
    fn open(&self) -> Result<Reader, StoreError> {
        let reader = Reader::open(&self.path)?;
        Ok(match &self.days {
            Some(folder) => reader.with_days(folder.clone()),
            None => reader,
        })
    }

    fn ask<T, E: IntoProblem>(
        &self,
        ask: impl FnOnce(&Reader) -> Result<T, E>,
    ) -> Result<T, Problem> {
        let idle = || self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        let mut kept = idle().pop();
        // Also drop other idle readers whose connection a restarted server closed.
        while kept.as_ref().is_some_and(|reader| !reader.is_open()) {
            kept = idle().pop();
        }
        let reader = kept.map_or_else(|| self.open(), Ok).map_err(IntoProblem::into_problem)?;
        // If the request panics, its reader is dropped with it.
        let answer = ask(&reader).map_err(IntoProblem::into_problem);
        idle().push(reader);
        answer
    }
}

/// Limits work that blocks its thread: reading the store, reading a file, following a curve.
///
/// The permit is moved into the work. A request's future ends when its client disconnects, but a blocking thread does
/// not. If the future held the permit, the permit would be free while the work still runs, and clients that disconnect
/// could occupy every thread and open every file. For the same reason, a request that waits for a permit costs nothing
/// and ends with its client.
#[derive(Debug, Clone)]
pub struct BlockingPool {
    room: Room,
}

/// The order in which work gets a thread.
#[derive(Debug, Clone)]
enum Room {
    /// In the order of the requests.
    InOrder(Arc<Semaphore>),
    /// Clients take turns.
    InTurn(Arc<Turns>),
}

/// The permit for one piece of work, returned when dropped.
enum Place {
    InOrder { _permit: OwnedSemaphorePermit },
    InTurn { _turn: Turn },
}

impl BlockingPool {
    /// A pool that runs this many pieces of work in parallel, at least one.
    pub fn new(width: usize) -> Self {
        let free = Semaphore::new(width.clamp(1, Semaphore::MAX_PERMITS));
        Self { room: Room::InOrder(Arc::new(free)) }
    }

    /// The same for work that takes seconds. Each client has only one piece of work in progress, so it never occupies
    /// more of the pool, and waiting clients take turns.
    pub fn fair(width: usize) -> Self {
        Self { room: Room::InTurn(Turns::new(width, 1)) }
    }

    async fn place(&self) -> Option<Place> {
        match &self.room {
            Room::InOrder(free) => {
                let permit = Arc::clone(free).acquire_owned().await.ok()?;
                Some(Place::InOrder { _permit: permit })
            }
            Room::InTurn(turns) => {
                let turn = Arc::clone(turns).take().await?;
                Some(Place::InTurn { _turn: turn })
            }
        }
    }

    /// Runs the work on a blocking thread as soon as a permit is free.
    pub async fn run<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, Problem> {
        let ended = || Problem::new(ProblemCode::InternalError, "the answer was cut off");
        let place = self.place().await.ok_or_else(ended)?;
        let working = move || {
            // Returned when the work ends or panics.
            let _place = place;
            work()
        };
        tokio::task::spawn_blocking(working).await.map_err(|_| ended())
    }
}
