//! Store readers: a few, each used by one question at a time, on threads that may block.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use exitgap_api::{Problem, ProblemCode};
use exitgap_store::Reader;
use tokio::sync::Semaphore;

use super::IntoProblem;

/// How many questions read the store side by side. More would only wait for the processor.
const READERS: usize = 4;

/// Readers of one store.
pub struct Readers {
    shared: Arc<Shared>,
}

struct Shared {
    path: PathBuf,
    idle: Mutex<Vec<Reader>>,
    free: Semaphore,
}

impl Readers {
    /// Readers of the store at `path`, opened when needed.
    pub fn new(path: PathBuf) -> Self {
        let (idle, free) = (Mutex::default(), Semaphore::new(READERS));
        Self { shared: Arc::new(Shared { path, idle, free }) }
    }

    /// Asks a reader.
    pub async fn read<T, E>(
        &self,
        ask: impl FnOnce(&Reader) -> Result<T, E> + Send + 'static,
    ) -> Result<T, Problem>
    where
        T: Send + 'static,
        E: IntoProblem + Send + 'static,
    {
        let shared = self.shared.clone();
        let ended = || Problem::new(ProblemCode::InternalError, "reading the series was cut off");
        let permit = shared.free.acquire().await.map_err(|_| ended())?;
        let asking = {
            let shared = shared.clone();
            move || shared.ask(ask)
        };
        let answer = tokio::task::spawn_blocking(asking).await.map_err(|_| ended())?;
        drop(permit);
        answer
    }
}

impl Shared {
    fn ask<T, E: IntoProblem>(
        &self,
        ask: impl FnOnce(&Reader) -> Result<T, E>,
    ) -> Result<T, Problem> {
        let idle = || self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        let kept = idle().pop();
        let reader = match kept {
            Some(reader) => reader,
            None => Reader::open(&self.path).map_err(IntoProblem::into_problem)?,
        };
        // A question that panics takes its reader with it.
        let answer = ask(&reader).map_err(IntoProblem::into_problem);
        idle().push(reader);
        answer
    }
}
