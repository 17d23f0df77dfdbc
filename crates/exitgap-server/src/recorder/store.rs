//! The recorder's store, called on the blocking pool.

use exitgap_store::Store;
use tokio::task::spawn_blocking;

use super::RecorderError;

/// A store for writing. Each call moves it to a blocking thread and back: if the caller is dropped meanwhile, the store
/// is lost, because it is then unknown whether the call wrote.
pub struct BlockingStore(Option<Store>);

impl BlockingStore {
    pub fn new(store: Store) -> Self {
        Self(Some(store))
    }

    /// The store, if no call was interrupted.
    pub fn get(&self) -> Result<&Store, RecorderError> {
        self.0.as_ref().ok_or(RecorderError::Interrupted)
    }

    /// The same, for work that does not block for long.
    pub fn get_mut(&mut self) -> Result<&mut Store, RecorderError> {
        self.0.as_mut().ok_or(RecorderError::Interrupted)
    }

    /// The store itself, for closing it.
    pub fn into_inner(self) -> Result<Store, RecorderError> {
        self.0.ok_or(RecorderError::Interrupted)
    }

    /// Whether a server's store was lost and should be reopened. False while an interrupted call has the store.
    pub fn is_disconnected(&self) -> bool {
        self.0.as_ref().is_some_and(|store| !store.is_open())
    }

    /// Runs `act` with the store on a blocking thread.
    pub async fn run_blocking<T: Send + 'static>(
        &mut self,
        act: impl FnOnce(&mut Store) -> T + Send + 'static,
    ) -> Result<T, RecorderError> {
        let mut store = self.0.take().ok_or(RecorderError::Interrupted)?;
        let acting = move || {
            let done = act(&mut store);
            (store, done)
        };
        let (store, done) = spawn_blocking(acting).await.map_err(|_| RecorderError::Interrupted)?;
        self.0 = Some(store);
        Ok(done)
    }
}
