//! Tasks that are started in order, some of them concurrently, and whose results are taken in the same order.

use std::collections::VecDeque;

use tokio::task::JoinHandle;

use super::error::CopyError;

/// Running tasks. Dropping this aborts them.
pub struct Ordered<T> {
    begun: VecDeque<JoinHandle<Result<T, CopyError>>>,
}

impl<T: Send + 'static> Ordered<T> {
    /// Creates an empty queue.
    pub fn new() -> Self {
        Self { begun: VecDeque::new() }
    }

    /// The number of running tasks.
    pub fn len(&self) -> usize {
        self.begun.len()
    }

    /// Starts a task, after all others.
    pub fn begin(&mut self, work: impl Future<Output = Result<T, CopyError>> + Send + 'static) {
        self.begun.push_back(tokio::spawn(work));
    }

    /// Waits for the oldest task; `None` if there is none.
    pub async fn next(&mut self) -> Option<Result<T, CopyError>> {
        let first = self.begun.front_mut()?;
        let ended = first.await;
        self.begun.pop_front();
        match ended {
            Ok(ended) => Some(ended),
            Err(error) => match error.try_into_panic() {
                Ok(panic) => std::panic::resume_unwind(panic),
                // Only the end of the runtime can abort the task.
                Err(_) => None,
            },
        }
    }
}

impl<T> Drop for Ordered<T> {
    fn drop(&mut self) {
        self.begun.iter().for_each(JoinHandle::abort);
    }
}
