//! Store readers: a few, each used by one question at a time, on threads that may block.

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
    /// Opened and not in use. Each question takes one from here before it opens another, and at
    /// most so many questions are in hand as the lane is wide: no more readers than that are ever
    /// open, in use and idle together.
    idle: Mutex<Vec<Reader>>,
}

impl Readers {
    /// Readers of the store at `path`, opened when needed: at most as many as the lane is wide.
    pub fn new(path: PathBuf, lane: BlockingPool) -> Self {
        Self { lane, shared: Arc::new(ReaderPool { path, days: None, idle: Mutex::default() }) }
    }

    /// The same, with what has left the store's database read from the closed days in its log's folder.
    #[must_use]
    pub fn with_days(self, folder: LogFolder) -> Self {
        let (path, days) = (self.shared.path.clone(), Some(folder));
        Self { shared: Arc::new(ReaderPool { path, days, idle: Mutex::default() }), ..self }
    }

    /// Asks a reader.
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
        // What a server that went away left behind goes, too.
        while kept.as_ref().is_some_and(|reader| !reader.is_open()) {
            kept = idle().pop();
        }
        let reader = kept.map_or_else(|| self.open(), Ok).map_err(IntoProblem::into_problem)?;
        // A question that panics takes its reader with it.
        let answer = ask(&reader).map_err(IntoProblem::into_problem);
        idle().push(reader);
        answer
    }
}

/// A bound on work that blocks its thread: reading the store, reading a file, following a curve.
///
/// The permit travels into the work. A request's future ends when its client hangs up, and a
/// thread that blocks does not: a permit that the future held would be free again while the work
/// still ran, and clients that hang up could fill every thread and open every file. For the same
/// reason what waits for a permit is not work yet: it costs nothing, and ends with its client.
#[derive(Debug, Clone)]
pub struct BlockingPool {
    room: Room,
}

/// The order in which work gets a thread.
#[derive(Debug, Clone)]
enum Room {
    /// In the order of the requests.
    InOrder(Arc<Semaphore>),
    /// One client after another.
    InTurn(Arc<Turns>),
}

/// Room for one piece of work, given back when dropped.
enum Place {
    InOrder { _permit: OwnedSemaphorePermit },
    InTurn { _turn: Turn },
}

impl BlockingPool {
    /// A lane in which so much is done side by side; at least one thing.
    pub fn new(width: usize) -> Self {
        let free = Semaphore::new(width.clamp(1, Semaphore::MAX_PERMITS));
        Self { room: Room::InOrder(Arc::new(free)) }
    }

    /// The same for work that takes seconds: one client has one thing in hand at once, so that it never occupies a
    /// lane of more, and clients that wait have their turns one after the other.
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

    /// Does the work on a thread that may block, once there is room for it.
    pub async fn run<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, Problem> {
        let ended = || Problem::new(ProblemCode::InternalError, "the answer was cut off");
        let place = self.place().await.ok_or_else(ended)?;
        let working = move || {
            // Given back when the work is done, and also when it panics.
            let _place = place;
            work()
        };
        tokio::task::spawn_blocking(working).await.map_err(|_| ended())
    }
}
