//! Reads single files of a published log, without copying all of it.

use exitgap_core::log_folder::LogFile;
use tokio::runtime::Runtime;

use super::address_of;
use super::error::CopyError;
use super::fetch::Fetcher;
use crate::{BaseUrl, Native};

/// The files of a log, downloaded one by one.
pub struct LogFiles {
    runtime: Runtime,
    fetcher: Fetcher,
}

impl LogFiles {
    /// The log of the service at `base`, or the log published at a URL that ends with `/log`.
    pub fn at(base: BaseUrl) -> Result<Self, CopyError> {
        let url = base.to_string();
        let unanswered = |error| CopyError::Unanswered { url: url.clone(), error };
        let native = Native::new().map_err(unanswered)?;
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let runtime = runtime.map_err(|error| CopyError::Folder { path: ".".into(), error })?;
        let (_, log) = runtime.block_on(address_of(&native, base))?;
        Ok(Self { runtime, fetcher: Fetcher::new(native, log) })
    }

    /// The URL of a file.
    pub fn url(&self, file: &LogFile) -> String {
        self.fetcher.url(file)
    }

    /// A file of at most this many bytes; `None` if it does not exist.
    pub fn bytes(&self, file: &LogFile, most: usize) -> Result<Option<Vec<u8>>, CopyError> {
        self.runtime.block_on(self.fetcher.bytes(file, most))
    }
}
