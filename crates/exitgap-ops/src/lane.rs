//! Work that blocks its thread, so much of it at a time and no more.

use std::sync::Arc;

use exitgap_api::{Problem, ProblemCode};
use tokio::sync::Semaphore;

/// A bound on work that blocks its thread: reading the store, reading a file, following a curve.
///
/// The permit travels into the work. A request's future ends when its client hangs up, and a
/// thread that blocks does not: a permit that the future held would be free again while the work
/// still ran, and clients that hang up could fill every thread and open every file. For the same
/// reason what waits for a permit is not work yet: it costs nothing, and ends with its client.
#[derive(Debug, Clone)]
pub struct Lane {
    free: Arc<Semaphore>,
}

impl Lane {
    /// A lane in which so much is done side by side; at least one thing.
    pub fn new(width: usize) -> Self {
        Self { free: Arc::new(Semaphore::new(width.clamp(1, Semaphore::MAX_PERMITS))) }
    }

    /// Does the work on a thread that may block, once there is room for it.
    pub async fn run<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, Problem> {
        let ended = || Problem::new(ProblemCode::InternalError, "the answer was cut off");
        let permit = self.free.clone().acquire_owned().await.map_err(|_| ended())?;
        let working = move || {
            // Given back when the work is done, and also when it panics.
            let _permit = permit;
            work()
        };
        tokio::task::spawn_blocking(working).await.map_err(|_| ended())
    }
}
