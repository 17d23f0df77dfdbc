//! Work that is begun in order, some of it at once, and taken in the same order.

use std::collections::VecDeque;

use tokio::task::JoinHandle;

use super::error::CopyError;

/// Work in hand. What is left of it ends when this is dropped.
pub struct Ordered<T> {
    begun: VecDeque<JoinHandle<Result<T, CopyError>>>,
}

impl<T: Send + 'static> Ordered<T> {
    /// Nothing is begun.
    pub fn new() -> Self {
        Self { begun: VecDeque::new() }
    }

    /// How much is in hand.
    pub fn len(&self) -> usize {
        self.begun.len()
    }

    /// Begins a piece of work, after all others.
    pub fn begin(&mut self, work: impl Future<Output = Result<T, CopyError>> + Send + 'static) {
        self.begun.push_back(tokio::spawn(work));
    }

    /// Waits for the first that was begun; `None` where nothing is in hand.
    pub async fn next(&mut self) -> Option<Result<T, CopyError>> {
        let first = self.begun.front_mut()?;
        let ended = first.await;
        self.begun.pop_front();
        match ended {
            Ok(ended) => Some(ended),
            Err(error) => match error.try_into_panic() {
                Ok(panic) => std::panic::resume_unwind(panic),
                // Nothing else ends it but the end of its runtime.
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
